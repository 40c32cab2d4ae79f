// tcgen05: tensor memory, and products in it (PTX ISA 9.1 section 9.7.16). Asynchronous statements happen as late as the ISA allows: a
// store at its wait, a product when a thread waits for the mbarrier of its commit. What a program may not touch before that traps.

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/tensor_core.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::machine {

using code::Operation;
using code::TensorStatement;
using TensorAction = code::TensorStatement::Action;

/// The value of a source that must be the same in all lanes.
std::uint32_t WarpState::uniform_word(const Operation& operation, int source, const char* what) const {
  const auto* const words = at<std::uint32_t>(source_slot(operation, source));
  for (int lane = 1; lane < warp_size; ++lane)
    if (words[lane] != words[0])
      trap(lane, std::nullopt, fmt::format("{} is {:#x}, and {:#x} in lane 0; all lanes must give the same", what, words[lane], words[0]));
  return words[0];
}

WarpState::Step WarpState::tensor_memory(const Operation& operation, LaneMask mask) {
  const TensorStatement& statement = program_.tensor_statements[operation.detail];
  if (statement.action == TensorAction::fence) {
    ++split().pc;
    return Step::next;
  }
  if (statement.action == TensorAction::multiply || statement.action == TensorAction::commit) {
    for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
      if (statement.action == TensorAction::multiply)
        issue_tensor_product(operation, first_lane(rest));
      else
        commit_tensor_products(operation, first_lane(rest));
    }
    ++split().pc;
    return Step::next;
  }
  if (!gather(operation, live_, mask, false)) return Step::leave_split;
  if (mask != all_lanes)
    trap(first_lane(mask), std::nullopt,
         fmt::format("{} is for whole warps; lanes {:#010x} have exited or do not exist", program_.statements[operation.statement]->opcode,
                     ~mask));
  if (observers_.want(EventKinds::operations)) observers_.tell(EventKinds::operations, &Observer::performs, Event(*this, operation, mask));
  if (statement.action == TensorAction::allocate && !allocate_columns(operation)) {
    note_wait(operation, mask, true);
    return Step::yield;
  }
  switch (statement.action) {
    case TensorAction::deallocate: deallocate_columns(operation); break;
    case TensorAction::relinquish: block_.tensor_core().relinquished = true; break;
    case TensorAction::load:
    case TensorAction::store: transfer_tensor(operation, statement); break;
    case TensorAction::wait_load: finish_transfers(false); break;
    case TensorAction::wait_store: finish_transfers(true); break;
    default: break;
  }
  advance_gathered(operation, mask, false);
  return Step::next;
}

// ---- Allocation

/// Returns false if the columns are not free yet.
bool WarpState::allocate_columns(const Operation& operation) {
  TensorCore& core = block_.tensor_core();
  const std::uint32_t count = uniform_word(operation, 1, "the number of columns");
  if (count < 32 || count > tensor_columns || !std::has_single_bit(count))
    trap(0, std::nullopt, fmt::format("the number of columns is 32, 64, 128, 256 or 512; it is {}", count));
  if (core.relinquished) trap(0, std::nullopt, "the block has given up allocating by tcgen05.relinquish_alloc_permit");
  if (core.last_count() != 0 && count > static_cast<std::uint32_t>(core.last_count()))
    trap(0, std::nullopt,
         fmt::format("{} columns are more than the {} of the allocation before; a block's allocations must not grow", count,
                     core.last_count()));
  const auto* const addresses = at<std::uint64_t>(source_slot(operation, 0));
  const SharedPlace place = shared_place(0, addresses[0], 4, 4, program_.tensor_statements[operation.detail].space, false);
  for (int lane = 1; lane < warp_size; ++lane)
    if (addresses[lane] != addresses[0])
      trap(lane, addresses[lane], "the address for the result of tcgen05.alloc is another one than in lane 0");
  const std::optional<int> first = core.allocate(static_cast<int>(count), index_, operation.statement);
  if (!first) return false;
  const auto address = static_cast<std::uint32_t>(*first);
  std::memcpy(host_of(place), &address, sizeof address);
  observers_.tell(EventKinds::shared_accesses, &Observer::shared_written, SharedRange{place.rank, place.offset, 4});
  forget_polls();
  block_.make_progress();
  return true;
}

void WarpState::deallocate_columns(const Operation& operation) {
  TensorCore& core = block_.tensor_core();
  const TensorCell at = tensor_place(uniform_word(operation, 0, "the address"));
  const auto count = static_cast<int>(uniform_word(operation, 1, "the number of columns"));
  TensorRegion region{{all_lanes, all_lanes, all_lanes, all_lanes}, at.column, count};
  must_be_idle(region, true);
  if (at.lane != 0 || !core.deallocate(at.column, count))
    trap(0, std::nullopt,
         fmt::format("{} columns from lane {}, column {} on are none that tcgen05.alloc has given: {}", count, at.lane, at.column,
                     core.describe_allocations()));
  block_.make_progress();
}

// ---- Loads and stores

/// Traps if a store to `region` has not been waited for; with `writes` also if a load from it has not.
void WarpState::must_be_moved(const TensorRegion& region, bool writes) const {
  for (const PendingTransfer& transfer : block_.tensor_core().transfers)
    if ((transfer.stores || writes) &&
        std::ranges::any_of(transfer.regions, [&](const TensorRegion& other) { return other.overlaps(region); }))
      trap(-1, std::nullopt,
           fmt::format("the {} of warp {} at {} may still be under way: tcgen05.wait::{} has not followed it",
                       transfer.stores ? "store" : "load", transfer.warp, statement_name(transfer.statement),
                       transfer.stores ? "st" : "ld"));
}

/// Traps if asynchronous work that was not waited for touches `region`: products that write it and stores; with `writes` also what reads
/// it.
void WarpState::must_be_idle(const TensorRegion& region, bool writes) const {
  const TensorCore& core = block_.tensor_core();
  for (const PendingTensorProduct& product : core.products) {
    if (product.is_commit()) continue;
    const bool reads_it = writes && product.a_place && product.a_region().overlaps(region);
    if (reads_it || product.d_region().overlaps(region))
      trap(-1, std::nullopt,
           fmt::format("the product at {} may still {} these columns: no thread has waited for the mbarrier of a tcgen05.commit behind it",
                       statement_name(product.statement), reads_it ? "read" : "write"));
  }
  must_be_moved(region, writes);
}

/// Traps unless `columns` from `at` on are allocated.
void WarpState::must_be_allocated(TensorCell at, int columns, const char* what) const {
  const TensorCore& core = block_.tensor_core();
  if (at.column < 0 || !core.has(at.column, columns))
    trap(-1, std::nullopt,
         fmt::format("{} takes {} columns from column {} on, and {}", what, columns, at.column, core.describe_allocations()));
}

void WarpState::transfer_tensor(const Operation& operation, const TensorStatement& statement) {
  const Transfer& transfer = statement.transfer;
  const bool stores = statement.action == TensorAction::store;
  const TensorCell from = tensor_place(uniform_word(operation, 0, "the address of tensor memory"));
  const int quarter = index_ % 4 * tensor_quarter;
  if (from.lane < quarter || from.lane + transfer.shape->lanes > quarter + tensor_quarter || from.lane % 16 != 0)
    trap(0, std::nullopt,
         fmt::format("warp {} reaches lanes {} to {} alone, and .{} takes {} lanes from lane {} or {} on; the address has lane {}", index_,
                     quarter, quarter + tensor_quarter - 1, transfer.shape->name, transfer.shape->lanes, quarter,
                     quarter + tensor_quarter - transfer.shape->lanes, from.lane));
  PendingTransfer pending{
      .statement = operation.statement, .warp = index_, .stores = stores, .regions = regions_of(transfer, from), .words = {}};
  for (const TensorRegion& region : pending.regions) {
    must_be_allocated({from.lane, region.first_column}, region.columns, stores ? "the store" : "the load");
    must_be_idle(region, stores);
  }
  if (stores)
    read_registers(operation, transfer, from, pending);
  else
    write_registers(operation, transfer, from);
  block_.tensor_core().transfers.push_back(std::move(pending));
}

/// A load happens at once: the ISA lets what reads its registers wait for them.
void WarpState::write_registers(const Operation& operation, const Transfer& transfer, TensorCell from) {
  const TensorMemory& memory = block_.tensor_core().memory;
  const auto word = [&](int lane, int reg, int half) {
    const TensorCell place = transfer.place(lane, reg, half);
    return memory.word(from.lane + place.lane, from.column + place.column);
  };
  for (int reg = 0; reg < transfer.registers(); ++reg) {
    auto* const to = at<std::uint32_t>(result_slot(operation, reg));
    for (int lane = 0; lane < warp_size; ++lane)
      to[lane] = transfer.halves ? (word(lane, reg, 0) & 0xffff) | word(lane, reg, 1) << 16 : word(lane, reg, 0);
  }
}

void WarpState::read_registers(const Operation& operation, const Transfer& transfer, TensorCell from, PendingTransfer& pending) const {
  for (int reg = 0; reg < transfer.registers(); ++reg)
    for (int lane = 0; lane < warp_size; ++lane) {
      const std::uint32_t bits = source_word(operation, 1 + reg, lane);
      for (int half = 0; half < (transfer.halves ? 2 : 1); ++half) {
        const TensorCell place = transfer.place(lane, reg, half);
        pending.words.push_back({{from.lane + place.lane, from.column + place.column}, bits >> 16 * half, transfer.halves});
      }
    }
}

/// The warp waits for its loads or stores: these write now. Unpacked halves leave the upper halves of their words (assumed: 0).
void WarpState::finish_transfers(bool stores) {
  TensorCore& core = block_.tensor_core();
  const auto is_done = [&](const PendingTransfer& transfer) { return transfer.warp == index_ && transfer.stores == stores; };
  for (const PendingTransfer& transfer : core.transfers)
    if (is_done(transfer))
      for (const PendingTransfer::Word& word : transfer.words)
        core.memory.word(word.place.lane, word.place.column) = word.half ? word.bits & 0xffff : word.bits;
  std::erase_if(core.transfers, is_done);
}

// ---- Products

/// The descriptor of operand `operand`; traps if it is none.
TensorDescriptor WarpState::tensor_descriptor(const Operation& operation, int source, OperandName operand, int lane) const {
  const DecodedTensorDescriptor decoded = decode_tensor_descriptor(at<std::uint64_t>(source_slot(operation, source))[lane]);
  if (decoded.problem) trap(lane, std::nullopt, fmt::format("the descriptor of operand {} {}", name(operand), *decoded.problem));
  return decoded.descriptor;
}

/// Operand a or b of a product as it is now.
ProductWords WarpState::read_tensor_operand(const PendingTensorProduct& product, OperandName operand) const {
  if (operand == OperandName::a && product.a_place) return read_operand_a(product.product, *product.a_place, block_.tensor_core().memory);
  try {
    return read_operand(product.product, operand, operand == OperandName::a ? product.a_descriptor : product.b_descriptor,
                        SharedMemory::borrowing(block_.shared(), program_.shared_base));
  } catch (const Trap& error) {
    trap(product.lane, error.address, error.reason);
  }
}

void WarpState::issue_tensor_product(const Operation& operation, int lane) {
  const TensorStatement& statement = program_.tensor_statements[operation.detail];
  const DecodedTensorProduct decoded = decode_tensor_product(*statement.kind, source_word(operation, 3, lane));
  if (decoded.problem) trap(lane, std::nullopt, *decoded.problem);
  PendingTensorProduct pending{.statement = operation.statement, .warp = index_, .lane = lane, .product = decoded.product};
  const int m = pending.product.shape.m;
  const auto place = [&](int source, int columns, const char* what) {
    const TensorCell at = tensor_place(source_word(operation, source, lane));
    if (at.lane != 0 && (m == 128 || at.lane != 16))
      trap(lane, std::nullopt,
           fmt::format("{} begins in lane {}; with M = {} it begins in lane {}", what, at.lane, m, m == 128 ? "0" : "0 or 16"));
    must_be_allocated(at, columns, what);
    return at;
  };
  pending.d = place(0, d_columns(pending.product), "D");
  if (statement.a_in_tensor_memory) {
    if (pending.product.major_a == Major::mn)
      trap(lane, std::nullopt, "A in tensor memory is K-major; bit 15 of the instruction descriptor is 1");
    pending.a_place = place(1, a_columns, "A");
    if (pending.a_place->lane != pending.d.lane)
      trap(lane, std::nullopt,
           fmt::format("A begins in lane {} and D in lane {}; both must begin in the same", pending.a_place->lane, pending.d.lane));
    must_be_moved(pending.a_region(), false);
  } else {
    pending.a_descriptor = tensor_descriptor(operation, 1, OperandName::a, lane);
  }
  must_be_moved(pending.d_region(), true);
  pending.b_descriptor = tensor_descriptor(operation, 2, OperandName::b, lane);
  for (std::size_t i = 0; i < statement.disabled_words; ++i) pending.disabled[i] = source_word(operation, 4 + static_cast<int>(i), lane);
  const LaneMask enabled = *at<LaneMask>(source_slot(operation, 4 + statement.disabled_words));
  pending.accumulates = (enabled & lane_bit(lane)) != 0;
  pending.a = read_tensor_operand(pending, OperandName::a);
  pending.b = read_tensor_operand(pending, OperandName::b);
  block_.tensor_core().products.push_back(std::move(pending));
}

void WarpState::commit_tensor_products(const Operation& operation, int lane) {
  const TensorStatement& statement = program_.tensor_statements[operation.detail];
  PendingTensorProduct pending{.statement = operation.statement, .warp = index_, .lane = lane};
  SharedPlace place = shared_place(lane, at<std::uint64_t>(source_slot(operation, 0))[lane], 8, 8, statement.space, true);
  if (statement.multicast) {
    const std::uint32_t blocks = source_word(operation, 1, lane) & 0xffff;
    const int count = block_.cluster().size();
    if (blocks >> count != 0)
      trap(lane, std::nullopt, fmt::format("the mask {:#x} names blocks that a cluster of {} does not have", blocks, count));
    for (place.rank = 0; place.rank < count; ++place.rank)
      if ((blocks >> place.rank & 1) != 0) pending.arrivals.push_back(place);
  } else {
    pending.arrivals.push_back(place);
  }
  for (const SharedPlace& arrival : pending.arrivals) must_be_mbarrier(lane, arrival);
  block_.tensor_core().products.push_back(std::move(pending));
}

/// Performs the oldest commit that arrives at `place`, after the products before it. Returns false if there is none.
bool WarpState::arrive_products(const SharedPlace& place) {
  Cluster& cluster = block_.cluster();
  for (int rank = 0; rank < cluster.size(); ++rank) {
    Block& block = cluster.block(rank);
    if (!block.has_tensor_core()) continue;
    std::deque<PendingTensorProduct>& products = block.tensor_core().products;
    const auto commit = std::ranges::find_if(
        products, [&](const PendingTensorProduct& p) { return std::ranges::find(p.arrivals, place) != p.arrivals.end(); });
    if (commit == products.end()) continue;
    for (auto left = commit - products.begin() + 1; left > 0; --left) {
      const PendingTensorProduct next = std::move(products.front());
      products.pop_front();
      block.warps()[static_cast<std::size_t>(next.warp)]->perform_tensor_product(next);
    }
    return true;
  }
  return false;
}

/// By the warp that issued it.
void WarpState::perform_tensor_product(const PendingTensorProduct& pending) {
  if (pending.is_commit()) {
    for (const SharedPlace& place : pending.arrivals) arrive_at_mbarrier(place, pending.lane, pending.statement);
    return;
  }
  for (const OperandName operand : {OperandName::a, OperandName::b})
    if (read_tensor_operand(pending, operand) != (operand == OperandName::a ? pending.a : pending.b))
      trap(pending.lane, std::nullopt,
           fmt::format(
               "memory that operand {} of the product at {} reads has changed since that statement: it may be read until a thread has "
               "waited for the mbarrier of a tcgen05.commit behind it",
               name(operand), statement_name(pending.statement)));
  try {
    multiply(pending.product, block_.tensor_core().memory, pending.d, pending.a, pending.b, pending.accumulates, pending.disabled,
             launch_.options.execution);
  } catch (const Trap& error) {
    trap(pending.lane, error.address, fmt::format("{}, of the product at {}", error.reason, statement_name(pending.statement)));
  }
}

}  // namespace warpmat::machine
