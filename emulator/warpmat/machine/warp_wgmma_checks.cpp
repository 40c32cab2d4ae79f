// Reports errors around wgmma: access to accumulators and registers of A before the wait, a missing wgmma.fence or proxy fence, operands in
// shared memory that are uninitialised or change before the wait. PTX ISA 9.1 section 9.7.15.

#include <algorithm>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/machine/warpgroup.h>

namespace warpmat::machine {

using catalogue::Semantics;
using code::Operation;
using code::WarpgroupProduct;

namespace {

constexpr std::uint32_t chunk_bytes = 16;  // contiguous bytes of shared memory, whatever the descriptor

/// The addresses of the chunks of shared memory that warp `warp` of a warpgroup reads for a product.
std::vector<std::uint32_t> operand_chunks(const PendingProduct& product, int warp) {
  const Wgmma& instruction = product.product->instruction;
  std::vector<std::uint32_t> chunks = instruction.b_chunks(product.b_descriptor);
  if (!product.product->a_in_registers) {
    const std::vector<std::uint32_t> of_a = instruction.a_chunks(product.a_descriptor, warp);
    chunks.insert(chunks.end(), of_a.begin(), of_a.end());
  }
  return chunks;
}

}  // namespace

/// Called before `operation`. Traps if it accesses pending accumulators, or writes registers of A that may still be read. Records its
/// writes for the next wgmma.
void WarpState::follow_wgmma(const Operation& operation) {
  if (operation.semantics == Semantics::wgmma) return;
  WarpgroupState& state = *wgmma_;
  const auto check = [&](const std::vector<std::uint32_t>& uses, std::vector<std::size_t> PendingProduct::*registers, std::size_t place,
                         const char* what, const char* may) {
    if (uses[place] == 0) return;
    const auto user = std::ranges::find_if(
        state.pending, [&](const PendingProduct& p) { return std::ranges::find(p.*registers, place) != (p.*registers).end(); });
    trap(-1, std::nullopt,
         fmt::format("{} before wgmma.wait_group: the product at {} may still {} it", what, statement_name(user->statement), may));
  };
  const code::Slot* const all = slots(operation);
  const std::uint32_t frame = split().frame;
  if (!state.pending.empty()) {
    for_each_place(all + operation.results, operation.sources, frame,
                   [&](std::size_t place) { check(state.users, &PendingProduct::places, place, "an accumulator is read", "write"); });
    for_each_place(all, operation.results, frame, [&](std::size_t place) {
      check(state.users, &PendingProduct::places, place, "an accumulator is written", "write");
      check(state.readers, &PendingProduct::reads, place, "a register of operand a is written", "read");
    });
  }
  for_each_place(all, operation.results, frame, [&](std::size_t place) { state.writes[place] = {operations_, operation.statement}; });
}

/// Traps if registers of the statement were written since the last wgmma.fence.
void WarpState::check_fence(const Operation& operation, const WarpgroupProduct& product) const {
  const WarpgroupState& state = *wgmma_;
  if (state.fenced_at == 0) trap(-1, std::nullopt, "no wgmma.fence comes before the warp's first wgmma.mma_async");
  const auto check = [&](std::size_t place, const char* what) {
    const WarpgroupState::Write& write = state.writes[place];
    if (write.time > state.fenced_at)
      trap(-1, std::nullopt, fmt::format("{} was written at {}, without a wgmma.fence since", what, statement_name(write.statement)));
  };
  const code::Slot* const all = slots(operation);
  for_each_place(all, operation.results, split().frame, [&](std::size_t place) { check(place, "an accumulator"); });
  if (product.a_in_registers)
    for_each_place(all + operation.results, product.instruction.form().a_registers(), split().frame,
                   [&](std::size_t place) { check(place, "a register of operand a"); });
}

/// A store that wgmma reads needs a proxy fence. Bytes of cp.async do not: an H200 shows them to wgmma without one, and CuTe's wgmma_sm90
/// relies on it.
void WarpState::check_unfenced(OperandName operand, std::uint32_t chunk) const {
  if (block_.proxies() == nullptr) return;
  const auto store = block_.proxies()->unfenced(chunk - program_.shared_base, chunk_bytes);
  if (!store || store->copied) return;
  trap(-1, chunk,
       fmt::format("operand {} has been stored by warp {} at {}, and no fence.proxy.async since then lets wgmma see that: {}",
                   name(operand), store->warp, statement_name(store->statement), describe_shared(chunk)),
       KernelTrap::Kind::unordered);
}

/// Checks the 16-byte chunks of operand a or b in shared memory; calls undefined(i) for chunks with uninitialised bytes.
void WarpState::check_chunks(const Operation& operation, OperandName operand, const std::vector<std::uint32_t>& chunks,
                             const std::function<void(std::size_t)>& undefined) {
  for (std::size_t first = 0; first < chunks.size(); first += warp_size) {
    const std::size_t count = std::min<std::size_t>(chunks.size() - first, warp_size);
    SharedShadow::Places places{};
    for (std::size_t i = 0; i < count; ++i) {
      check_unfenced(operand, chunks[first + i]);
      places[i] = block_.shared().data() + (chunks[first + i] - program_.shared_base);
    }
    undefined_ = 0;
    check_shared(operation, places, chunk_bytes, count == warp_size ? all_lanes : lane_bit(static_cast<int>(count)) - 1, SharedUse::load);
    for (LaneMask rest = undefined_; rest != 0; rest &= rest - 1) {
      const std::size_t i = first + static_cast<std::size_t>(first_lane(rest));
      if (!block_.shadow()->landed_for(chunks[i] - program_.shared_base, chunk_bytes, index_)) undefined(i);
    }
  }
  undefined_ = 0;
}

/// Checks the bytes that a product reads. Uninitialised bytes make the rows and columns of D that use them uninitialised.
void WarpState::check_operands(const Operation& operation, const PendingProduct& product) {
  if (block_.shadow() == nullptr) return;
  const Wgmma& instruction = product.product->instruction;
  const WgmmaForm& form = instruction.form();
  std::vector<bool> rows(static_cast<std::size_t>(form.tile->shape.m)), columns(static_cast<std::size_t>(form.shape.n));
  std::uint64_t address = 0;
  const auto check = [&](OperandName operand, Major major, const std::vector<std::uint32_t>& chunks, std::vector<bool>& uninitialised) {
    // A chunk is a part of one line along k, or holds elements of eight lines (16-bit types).
    constexpr std::size_t elements = 8;
    const std::size_t in_line = major == Major::k ? chunks.size() / uninitialised.size() : uninitialised.size() / elements;
    check_chunks(operation, operand, chunks, [&](std::size_t i) {
      address = chunks[i];
      const std::size_t first = major == Major::k ? i / in_line : i % in_line * elements;
      std::fill_n(uninitialised.begin() + static_cast<std::ptrdiff_t>(first), major == Major::k ? 1 : elements, true);
    });
  };
  if (!product.product->a_in_registers)
    check(OperandName::a, instruction.immediates().major_a, instruction.a_chunks(product.a_descriptor, index_ % WgmmaForm::warps), rows);
  check(OperandName::b, instruction.immediates().major_b, instruction.b_chunks(product.b_descriptor), columns);
  if (address != 0 || uninitialised_.any()) mark_product(operation, product, rows, columns, address);
}

/// Marks elements of D as uninitialised if their row or column is, including registers of A and metadata, or if the accumulated old element
/// is. `address` is where uninitialised shared memory was read, or 0.
void WarpState::mark_product(const Operation& operation, const PendingProduct& product, std::vector<bool> rows,
                             const std::vector<bool>& columns, std::uint64_t address) {
  const WgmmaForm& form = product.product->instruction.form();
  const Form& tile = *form.tile;
  UninitialisedValues::Origin origin{operation.statement, address};
  const auto mark_rows = [&](int source, OperandName operand) {
    const Fragment& fragment = tile.operand(operand).fragment;
    for (int reg = 0; reg < fragment.registers(); ++reg) {
      const code::Slot slot = source_slot(operation, source + reg);
      if (uninitialised_of(slot) != 0) origin = uninitialised_.origin(split().frame + static_cast<std::size_t>(slot));
      for (LaneMask rest = uninitialised_of(slot); rest != 0; rest &= rest - 1)
        for (int i = 0; i < fragment.elements_per_register(); ++i)
          rows[static_cast<std::size_t>(fragment.element({first_lane(rest), reg, i * fragment.element_bits}).row)] = true;
    }
  };
  if (product.product->a_in_registers) mark_rows(0, OperandName::a);
  if (form.sparse()) mark_rows(product.product->metadata_source(), OperandName::e);
  must_be_defined(source_slot(operation, product.product->scale_source()), all_lanes, "scale-d");
  const Fragment& d = tile.operand(OperandName::d).fragment;
  for (int i = 0; i < operation.results; ++i) {
    const code::Slot slot = result_slot(operation, i);
    LaneMask uninitialised = product.accumulates ? uninitialised_of(slot) : 0;
    if (uninitialised != 0) origin = uninitialised_.origin(split().frame + static_cast<std::size_t>(slot));
    const int first_column = i / d.registers() * tile.shape.n;
    for (int lane = 0; lane < warp_size; ++lane)
      for (int j = 0; j < d.elements_per_register(); ++j) {
        const Element e = d.element({lane, i % d.registers(), j * d.element_bits});
        if (rows[static_cast<std::size_t>(e.row)] || columns[static_cast<std::size_t>(first_column + e.column)])
          uninitialised |= lane_bit(lane);
      }
    uninitialised_.set(split().frame + static_cast<std::size_t>(slot), all_lanes, uninitialised, origin);
  }
}

/// Completed products have read their operands: later writes to them are allowed only after the wait.
void WarpState::release_operands(std::uint32_t groups) {
  const BulkCopies& copies = block_.cluster().copies();
  const bool checks_copies = launch_.options.checks.copies && !copies.empty();
  if (!checks_copies && block_.races() == nullptr) return;
  for (const PendingProduct& product : wgmma_->pending) {
    if (!is_done(product, groups)) break;
    for (const std::uint32_t chunk : operand_chunks(product, index_ % WgmmaForm::warps)) {
      const std::uint32_t offset = chunk - program_.shared_base;
      if (block_.races() != nullptr) block_.races()->read(index_, offset, chunk_bytes, product.statement, RaceDetector::Kind::plain);
      if (!checks_copies) continue;
      if (const BulkTransfer* const other = copies.overlapping({block_.rank(), offset}, chunk_bytes, SharedAccess::read))
        trap(-1, chunk,
             fmt::format("the bulk copy of warp {} at {} overwrites what the product at {} may read until here: {}", other->warp,
                         statement_name(other->statement), statement_name(product.statement), describe_shared(chunk)),
             KernelTrap::Kind::unordered);
    }
  }
}

}  // namespace warpmat::machine
