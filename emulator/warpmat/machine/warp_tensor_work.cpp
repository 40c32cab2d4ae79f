// tcgen05.mma, .cp, .shift and .commit (PTX ISA 9.1 section 9.7.16): one lane issues them, for its block or a pair of blocks. What they do
// happens when a thread waits for the mbarrier of a commit, in the order of the statements. Shared memory that they read must not change
// before; what a program may not touch of tensor memory before traps (warp_tensor_memory.cpp).

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/tensor_core.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::inline v0_1::machine {

using code::Operation;
using code::TensorStatement;
using TensorAction = code::TensorStatement::Action;
using Kind = PendingTensorWork::Kind;

namespace {

constexpr std::uint32_t chunk_bytes = 16;  // of shared memory, contiguous in every layout
constexpr int shifted_columns = 8;         // of tcgen05.shift: 32 bytes

/// The bytes of a copy's source, line by line, as they go to tensor memory.
ProductBytes copied_bytes(const PendingTensorWork& work, const SharedMemory& memory) {
  ProductBytes bytes;
  for (int row = 0; row < work.shape->rows; ++row)
    for (std::uint32_t byte = 0; byte < static_cast<std::uint32_t>(work.shape->columns) * 4; byte += chunk_bytes) {
      const std::uint32_t address = work.source.address(Major::k, static_cast<std::uint32_t>(row), byte), offset = address - memory.base();
      if (address < memory.base() || offset + chunk_bytes > memory.size())
        throw Trap(0, address,
                   fmt::format("the matrix that the descriptor names leaves shared memory, which has {} bytes from {:#x} on", memory.size(),
                               memory.base()));
      const std::uint8_t* const chunk = memory.bytes().data() + offset;
      if (work.unpacked_bits == 0) {
        bytes.insert(bytes.end(), chunk, chunk + chunk_bytes);
      } else {
        const auto wide = unpacked(chunk, work.unpacked_bits);
        bytes.insert(bytes.end(), wide.begin(), wide.end());
      }
    }
  return bytes;
}

/// The address of scale factors and of metadata: CuTe puts the id of scale factors into bits 30 and 31, which name no lane.
TensorCell scale_cell(std::uint32_t address) {
  return tensor_place(address & 0x3fffffff);
}

}  // namespace

void WarpState::issue_tensor_work(const Operation& operation, int lane) {
  const TensorStatement& statement = program_.tensor_statements[operation.detail];
  PendingTensorWork work{.statement = operation.statement, .warp = index_, .lane = lane, .group = statement.variant.group};
  switch (statement.action) {
    case TensorAction::multiply: issue_tensor_product(operation, lane, work); break;
    case TensorAction::copy: issue_tensor_copy(operation, lane, work); break;
    case TensorAction::shift: issue_tensor_shift(operation, lane, work); break;
    default: issue_tensor_commit(operation, lane, work); break;
  }
  TensorCore& core = block_.tensor_core();
  if (!work.is_commit()) ++core.issued;
  work.issued = core.issued;
  if (!work.is_commit())
    for (const Block* block : tensor_blocks(work.group, lane))
      tell_tensor_access(operation, lane_bit(lane), *block, work.reads, work.writes, work.issued);
  core.work.push_back(std::move(work));
}

/// The descriptor of `operand`; traps if it is none.
TensorDescriptor WarpState::tensor_descriptor(const Operation& operation, int source, const char* operand, int lane, bool absolute) const {
  const DecodedTensorDescriptor decoded = decode_tensor_descriptor(at<std::uint64_t>(source_slot(operation, source))[lane], absolute);
  if (decoded.problem) trap(lane, std::nullopt, fmt::format("the descriptor of {} {}", operand, *decoded.problem));
  return decoded.descriptor;
}

/// Traps if stores that touch the work's cells were not waited for, or if its columns are not allocated, in each of its blocks.
void WarpState::must_be_ready(const PendingTensorWork& work, int lane) const {
  must_have_peer(work.group, lane);
  for (Block* block : tensor_blocks(work.group, lane)) {
    for (const TensorRegion& region : work.reads) must_be_stored(region, *block);
    for (const TensorRegion& region : work.writes) must_be_stored(region, *block);
  }
}

void WarpState::issue_tensor_product(const Operation& operation, int lane, PendingTensorWork& work) {
  const TensorStatement& statement = program_.tensor_statements[operation.detail];
  work.kind = Kind::product;
  const DecodedTensorProduct decoded =
      decode_tensor_product(*statement.kind, statement.variant, source_word(operation, statement.descriptor_source(), lane));
  if (decoded.problem) trap(lane, std::nullopt, *decoded.problem);
  work.product = decoded.product;
  work.shifts_a = statement.shifts_a;
  if (work.shifts_a && work.product.path->rows != tensor_lanes)
    trap(lane, std::nullopt, fmt::format(".ashift goes with M = {}; M is {}", tensor_lanes * work.group, work.product.shape.m));
  place_tensor_operands(operation, lane, work);
  must_be_ready(work, lane);
  if (!work.a_place) work.a_descriptor = tensor_descriptor(operation, 1, "operand a", lane, work.product.k96());
  work.b_descriptor = tensor_descriptor(operation, 2, "operand b", lane, work.product.k96());
  for (std::size_t i = 0; i < statement.disabled_words; ++i)
    work.disabled[i / 4][i % 4] = source_word(operation, statement.disabled_source() + static_cast<int>(i), lane);
  const LaneMask enabled = *at<LaneMask>(source_slot(operation, statement.enable_source()));
  work.accumulates = (enabled & lane_bit(lane)) != 0;
  work.scale_d = statement.scale_d;
  if (statement.masks_columns) {
    work.zero = decode_zero_columns(at<std::uint64_t>(source_slot(operation, statement.mask_source()))[lane], work.product.shape.m,
                                    work.product.shape.n);
    if (work.zero.shift > work.product.max_shift)
      trap(lane, std::nullopt,
           fmt::format("the zero-column mask shifts B by {} columns; bits 30 and 31 of the instruction descriptor allow {}",
                       work.zero.shift, work.product.max_shift));
  }
  work.shared = shared_operands(work);
}

/// Where D, A, metadata and scale factors are in tensor memory; traps if they may not be there.
void WarpState::place_tensor_operands(const Operation& operation, int lane, PendingTensorWork& work) const {
  const TensorStatement& statement = program_.tensor_statements[operation.detail];
  const TensorProduct& product = work.product;
  const DataPath& path = *product.path;
  const auto place = [&](TensorCell at, int columns, const char* what, bool in_rows) {
    if (at.lane != 0 && (!in_rows || !path.halves || at.lane != 16))
      trap(lane, std::nullopt,
           fmt::format("{} begins in lane {}; with M = {} it begins in lane {}", what, at.lane, product.shape.m,
                       in_rows && path.halves ? "0 or 16" : "0"));
    for (Block* block : tensor_blocks(work.group, lane)) must_be_allocated(at, columns, what, *block);
    return at;
  };
  const auto cell = [&](int source) { return tensor_place(source_word(operation, source, lane)); };
  work.d = place(cell(0), product.d_columns(), "D", true);
  work.writes.push_back(region_of(path, work.d, product.d_columns()));
  const auto same_half = [&](TensorCell at, const char* what) {
    if (at.lane != work.d.lane)
      trap(lane, std::nullopt,
           fmt::format("{} begins in lane {} and D in lane {}; both must begin in the same", what, at.lane, work.d.lane));
  };
  if (statement.a_in_tensor_memory) {
    if (product.major_a == Major::mn) trap(lane, std::nullopt, "A in tensor memory is K-major; bit 15 of the instruction descriptor is 1");
    work.a_place = place(cell(1), a_columns(product), "A", true);
    same_half(*work.a_place, "A");
    work.reads.push_back(region_of(path, *work.a_place, a_columns(product)));
  }
  if (product.sparse()) {
    const TensorCell named = metadata_cell(product, cell(statement.metadata_source()));
    work.metadata = cell(statement.metadata_source());
    place(named, metadata_columns(product), "the metadata", true);
    same_half(named, "the metadata");
    work.reads.push_back(region_of(path, named, metadata_columns(product)));
  }
  if (statement.variant.scale_vector == 0) return;
  for (const OperandName operand : {OperandName::scale_a, OperandName::scale_b}) {
    const bool of_a = operand == OperandName::scale_a;
    const int columns = scale_columns(product, operand);
    const TensorCell at = place(scale_cell(source_word(operation, statement.scale_source() + (of_a ? 0 : 1), lane)), columns,
                                of_a ? "scale_A" : "scale_B", false);
    (of_a ? work.scale_a : work.scale_b) = at;
    work.reads.push_back(all_lanes_of(at.column, columns));
  }
}

void WarpState::issue_tensor_copy(const Operation& operation, int lane, PendingTensorWork& work) {
  const TensorStatement& statement = program_.tensor_statements[operation.detail];
  work.kind = Kind::copy;
  work.shape = statement.shape;
  work.unpacked_bits = statement.unpacked_bits;
  work.to = tensor_place(source_word(operation, 0, lane));
  const int most = work.shape->rows == 4 ? tensor_quarter - 1 : 0;  // 4x256b writes one lane of each quarter
  if (work.to.lane > most)
    trap(lane, std::nullopt,
         fmt::format("the copy begins in lane {}; .{} begins in lane {}", work.to.lane, work.shape->name, most == 0 ? "0" : "0 to 31"));
  for (Block* block : tensor_blocks(work.group, lane)) must_be_allocated(work.to, work.shape->columns, "the copy", *block);
  TensorRegion region{{}, work.to.column, work.shape->columns};
  for (int row = 0; row < work.shape->rows; ++row)
    for (int copy = 0; copy < work.shape->copy_count(); ++copy) {
      const int to = work.to.lane + work.shape->lane(row, copy);
      region.lanes[static_cast<std::size_t>(to / tensor_quarter)] |= std::uint32_t{1} << to % tensor_quarter;
    }
  work.writes.push_back(region);
  must_be_ready(work, lane);
  work.source = tensor_descriptor(operation, 1, "the copy", lane);
  work.shared = shared_operands(work);
}

/// The 32 lanes of a warp from the address on (assumed: the section's title speaks of a warp, and .4x256b writes one lane of each).
void WarpState::issue_tensor_shift(const Operation& operation, int lane, PendingTensorWork& work) {
  work.kind = Kind::shift;
  work.to = tensor_place(source_word(operation, 0, lane));
  if (work.to.lane % tensor_quarter != 0 || work.to.lane >= tensor_lanes)
    trap(lane, std::nullopt, fmt::format("the lane of the address is 0, 32, 64 or 96; it is {}", work.to.lane));
  for (Block* block : tensor_blocks(work.group, lane)) must_be_allocated(work.to, shifted_columns, "the shift", *block);
  TensorRegion region{{}, work.to.column, shifted_columns};
  region.lanes[static_cast<std::size_t>(work.to.lane / tensor_quarter)] = all_lanes;
  work.writes.push_back(region);
  must_be_ready(work, lane);
}

void WarpState::issue_tensor_commit(const Operation& operation, int lane, PendingTensorWork& work) {
  const TensorStatement& statement = program_.tensor_statements[operation.detail];
  const std::uint64_t address = at<std::uint64_t>(source_slot(operation, 0))[lane];
  SharedPlace place = shared_place(lane, address, 8, 8, statement.space, true);
  if (statement.multicast) {
    const std::uint32_t blocks = source_word(operation, 1, lane) & 0xffff;
    const int count = block_.cluster().size();
    if (blocks >> count != 0)
      trap(lane, std::nullopt, fmt::format("the mask {:#x} names blocks that a cluster of {} does not have", blocks, count));
    for (place.rank = 0; place.rank < count; ++place.rank)
      if ((blocks >> place.rank & 1) != 0) work.arrivals.push_back(place);
  } else {
    if (work.group == 2) place.rank = pair_rank(address, place.rank);
    work.arrivals.push_back(place);
  }
  for (const SharedPlace& arrival : work.arrivals) must_be_mbarrier(lane, arrival);
}

/// What the work takes from shared memory, of each of its blocks.
SharedOperands WarpState::shared_operands(const PendingTensorWork& work) const {
  const std::vector<Block*> blocks = tensor_blocks(work.group, work.lane);
  SharedOperands operands;
  try {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const SharedMemory shared = SharedMemory::borrowing(blocks[i]->shared(), program_.shared_base);
      if (work.kind == Kind::copy) {
        operands.bytes[i] = copied_bytes(work, shared);
        continue;
      }
      if (!work.a_place) operands.a[i] = warpmat::read_a(work.product, work.a_descriptor, shared);
      operands.b[i] = warpmat::read_b(work.product, work.b_descriptor, shared, work.zero.shift);
    }
  } catch (const Trap& error) {
    trap(work.lane, error.address, error.reason);
  }
  return operands;
}

/// Performs the oldest commit that arrives at `place`, after the work before it. Returns false if there is none.
bool WarpState::arrive_products(const SharedPlace& place) {
  Cluster& cluster = block_.cluster();
  for (int rank = 0; rank < cluster.size(); ++rank) {
    Block& block = cluster.block(rank);
    if (!block.has_tensor_core()) continue;
    std::deque<PendingTensorWork>& work = block.tensor_core().work;
    const auto commit =
        std::ranges::find_if(work, [&](const PendingTensorWork& w) { return std::ranges::find(w.arrivals, place) != w.arrivals.end(); });
    if (commit == work.end()) continue;
    for (auto left = commit - work.begin() + 1; left > 0; --left) {
      const PendingTensorWork next = std::move(work.front());
      work.pop_front();
      block.warps()[static_cast<std::size_t>(next.warp)]->perform_tensor_work(next);
    }
    return true;
  }
  return false;
}

/// Traps if shared memory that the work reads has changed since its statement.
void WarpState::must_be_unchanged(const PendingTensorWork& work) const {
  if (work.kind == Kind::shift) return;
  const SharedOperands now = shared_operands(work);
  if (now == work.shared) return;
  const char* const operand = work.kind == Kind::copy ? "" : now.a == work.shared.a ? "operand b of " : "operand a of ";
  trap(work.lane, std::nullopt,
       fmt::format("memory that {}the {} at {} reads has changed since that statement: it may be read until a thread has waited for the "
                   "mbarrier of a tcgen05.commit behind it",
                   operand, work.noun(), statement_name(work.statement)));
}

/// By the warp that issued it.
void WarpState::perform_tensor_work(const PendingTensorWork& work) {
  if (work.is_commit()) {
    tell_tensor_order(TensorOrder::Kind::commit, work.issued);
    for (const SharedPlace& place : work.arrivals) arrive_at_mbarrier(place, work.lane, work.statement);
    return;
  }
  must_be_unchanged(work);
  const std::vector<Block*> blocks = tensor_blocks(work.group, work.lane);
  try {
    for (std::size_t i = 0; i < blocks.size(); ++i)
      if (work.kind == Kind::product)
        multiply_in_block(work, i, *blocks[i]);
      else
        move_in_block(work, i, *blocks[i]);
  } catch (const Trap& error) {
    trap(work.lane, error.address, fmt::format("{}, of the {} at {}", error.reason, work.noun(), statement_name(work.statement)));
  }
}

/// The part of a product in block `number` of its blocks. Each has all of its own rows, and all columns of B.
void WarpState::multiply_in_block(const PendingTensorWork& work, std::size_t number, Block& block) {
  const TensorProduct& product = work.product;
  TensorMemory& memory = block.tensor_core().memory;
  ProductOperands operands{.a = work.a_place ? warpmat::read_a(product, *work.a_place, memory, work.shifts_a) : work.shared.a[number],
                           .b = work.shared.b[0],
                           .metadata = {},
                           .scales_a = {},
                           .scales_b = {},
                           .accumulates = work.accumulates,
                           .scale_d = work.scale_d};
  operands.b.insert(operands.b.end(), work.shared.b[1].begin(), work.shared.b[1].end());
  clear_columns(product, work.zero, operands.b);
  if (product.sparse()) operands.metadata = read_metadata(product, work.metadata, memory);
  if (product.scale_vector != 0) {
    operands.scales_a = read_scales(product, OperandName::scale_a, work.scale_a, memory);
    operands.scales_b = read_scales(product, OperandName::scale_b, work.scale_b, memory);
  }
  multiply(product, operands, memory, work.d, work.disabled[number], launch_.options.execution);
}

/// A copy or a shift in block `number` of its blocks. A shift gives every lane of the warp but the last the words of the next one (the
/// ISA's text leaves the direction open; assumed: .4x256b then writes the last lane anew).
void WarpState::move_in_block(const PendingTensorWork& work, std::size_t number, Block& block) {
  TensorMemory& memory = block.tensor_core().memory;
  if (work.kind == Kind::shift) {
    for (int lane = work.to.lane; lane + 1 < work.to.lane + tensor_quarter; ++lane)
      for (int column = work.to.column; column < work.to.column + shifted_columns; ++column)
        memory.word(lane, column) = memory.word(lane + 1, column);
    return;
  }
  const std::uint8_t* from = work.shared.bytes[number].data();
  for (int row = 0; row < work.shape->rows; ++row)
    for (int column = 0; column < work.shape->columns; ++column, from += 4)
      for (int copy = 0; copy < work.shape->copy_count(); ++copy)
        std::memcpy(&memory.word(work.to.lane + work.shape->lane(row, copy), work.to.column + column), from, 4);
}

}  // namespace warpmat::inline v0_1::machine
