// tcgen05.mma, .cp, .shift and .commit (PTX ISA 9.1 section 9.7.16): one lane issues them, for its block or a pair of blocks. What they do
// happens when a thread waits for the mbarrier of a commit, in the order of the statements. Shared memory that they read must not change
// before; what a program may not touch of tensor memory before traps (warp_tensor_memory.cpp).

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include <warpmat/ir/address_windows.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/operations.h>
#include <warpmat/machine/tensor_core.h>
#include <warpmat/machine/tensor_work.h>

namespace warpmat::machine {

using code::Operation;
using code::TensorStatement;
using TensorAction = code::TensorStatement::Action;
using Kind = PendingTensorWork::Kind;

namespace {

/// What the work takes from shared memory, of each of its blocks.
SharedOperands operands_now(WarpState& warp, const PendingTensorWork& work) {
  std::vector<SharedMemory> memories;
  for (Block* block : tensor_blocks(warp, work.group, work.lane))
    memories.push_back(SharedMemory::borrowing(block->shared(), warp.program().shared_base));
  try {
    return shared_operands(work, memories);
  } catch (const Trap& error) {
    warp.trap(work.lane, error.address, error.reason, error.kind);
  }
}

/// Traps if stores that touch the work's cells were not waited for, or if its columns are not allocated, in each of its blocks.
void must_be_ready(WarpState& warp, const PendingTensorWork& work, int lane) {
  must_have_peer(warp, work.group, lane);
  for (Block* block : tensor_blocks(warp, work.group, lane)) {
    for (const TensorRegion& region : work.reads) must_be_stored(warp, region, *block);
    for (const TensorRegion& region : work.writes) must_be_stored(warp, region, *block);
  }
}

/// Does what finds where the work is, with checks that its columns are allocated in each of its blocks, and what follows those checks.
template <typename Place, typename Decode>
void place_tensor_work(WarpState& warp, PendingTensorWork& work, Place place, Decode decode) {
  try {
    place([&](TensorCell at, int columns, const char* what) {
      for (Block* block : tensor_blocks(warp, work.group, work.lane)) must_be_allocated(warp, at, columns, what, *block);
    });
    must_be_ready(warp, work, work.lane);
    decode();
  } catch (const Trap& error) {
    warp.trap(work.lane, error.address, error.reason, error.kind);
  }
  if (work.kind != Kind::shift) work.shared = operands_now(warp, work);
}

}  // namespace

TensorOperands operands_of(const WarpState& warp, const Operation& operation, int lane) {
  const TensorStatement& statement = warp.program().of<code::TensorStatement>(operation);
  const auto word = [&](int source) { return warp.source_word(operation, source, lane); };
  const auto wide_word = [&](int source) { return warp.at<std::uint64_t>(warp.source_slot(operation, source))[lane]; };
  TensorOperands operands{.d = word(0),
                          .a = statement.a_in_tensor_memory ? word(1) : wide_word(1),
                          .b = wide_word(2),
                          .instruction = word(statement.descriptor_source())};
  if (statement.variant.sparse) operands.metadata = word(statement.metadata_source());
  if (statement.variant.scale_vector != 0) {
    operands.scale_a = word(statement.scale_source());
    operands.scale_b = word(statement.scale_source() + 1);
  }
  if (statement.masks_columns) operands.mask = wide_word(statement.mask_source());
  return operands;
}

namespace {

void issue_tensor_product(WarpState& warp, const Operation& operation, int lane, PendingTensorWork& work) {
  const TensorStatement& statement = warp.program().of<code::TensorStatement>(operation);
  const auto word = [&](int source) { return warp.source_word(operation, source, lane); };
  const TensorOperands operands = operands_of(warp, operation, lane);
  for (std::size_t i = 0; i < statement.disabled_words; ++i)
    work.disabled[i / 4][i % 4] = word(statement.disabled_source() + static_cast<int>(i));
  work.accumulates = (*warp.at<LaneMask>(warp.source_slot(operation, statement.enable_source())) & lane_bit(lane)) != 0;
  place_tensor_work(
      warp, work, [&](const CheckColumns& check) { place_product(statement, operands, check, work); },
      [&] { decode_matrices(statement, operands, work); });
}

void issue_tensor_copy(WarpState& warp, const Operation& operation, int lane, PendingTensorWork& work) {
  const TensorStatement& statement = warp.program().of<code::TensorStatement>(operation);
  place_tensor_work(
      warp, work, [&](const CheckColumns& check) { place_copy(statement, warp.source_word(operation, 0, lane), check, work); },
      [&] { decode_source(warp.at<std::uint64_t>(warp.source_slot(operation, 1))[lane], work); });
}

void issue_tensor_shift(WarpState& warp, const Operation& operation, int lane, PendingTensorWork& work) {
  place_tensor_work(
      warp, work, [&](const CheckColumns& check) { place_shift(warp.source_word(operation, 0, lane), check, work); }, [] {});
}

void issue_tensor_commit(WarpState& warp, const Operation& operation, int lane, PendingTensorWork& work) {
  const TensorStatement& statement = warp.program().of<code::TensorStatement>(operation);
  const std::uint64_t address = warp.at<std::uint64_t>(warp.source_slot(operation, 0))[lane];
  // Without .shared::cluster the ISA asks for a generic address, and leaves one outside of that window undefined. ThunderKittens and others
  // give one of shared memory, which means the same place (assumed). checks/tensor_fence_check.h warns: for it alone, the commit is told.
  const bool generic = statement.space == Space::generic && address >= code::window_bytes;
  SharedPlace place = shared_place(warp, lane, address, 8, 8, generic ? Space::generic : Space::shared, true);
  if (statement.multicast) {
    const std::uint32_t blocks = warp.source_word(operation, 1, lane) & 0xffff;
    const int count = warp.block().cluster().size();
    if (blocks >> count != 0)
      warp.trap(lane, std::nullopt, fmt::format("the mask {:#x} names blocks that a cluster of {} does not have", blocks, count));
    for (place.rank = 0; place.rank < count; ++place.rank)
      if ((blocks >> place.rank & 1) != 0) work.arrivals.push_back(place);
  } else {
    work.arrivals.push_back(place);
  }
  for (const SharedPlace& arrival : work.arrivals) must_be_mbarrier(warp, lane, arrival);
  if (!generic && statement.space == Space::generic)
    tell_tensor_access(warp, operation, lane_bit(lane), warp.block(), {}, {}, warp.block().tensor_core().issued);
}

/// Traps if shared memory that the work reads has changed since its statement.
void must_be_unchanged(WarpState& warp, const PendingTensorWork& work) {
  if (work.kind == Kind::shift) return;
  const SharedOperands now = operands_now(warp, work);
  if (now == work.shared) return;
  const char* const operand = work.kind == Kind::copy ? "" : now.a == work.shared.a ? "operand b of " : "operand a of ";
  warp.trap(work.lane, std::nullopt,
            {fmt::format("memory that {}the {} reads has changed since that statement", operand, work.noun()),
             {warp.note(fmt::format("the {}", work.noun()), work.statement)},
             "it may be read until a thread has waited for the mbarrier of a tcgen05.commit behind it"});
}

/// By the warp that issued it.
void perform_tensor_work(WarpState& warp, const PendingTensorWork& work) {
  if (work.is_commit()) {
    tell_tensor_order(warp, TensorOrder::Kind::commit, work.issued);
    for (const SharedPlace& place : work.arrivals) arrive_at_mbarrier(warp, place, work.lane, work.statement);
    return;
  }
  must_be_unchanged(warp, work);
  const std::vector<Block*> blocks = tensor_blocks(warp, work.group, work.lane);
  try {
    for (std::size_t i = 0; i < blocks.size(); ++i) perform(work, i, blocks[i]->tensor_core().memory, warp.launch().options.execution);
  } catch (const Trap& error) {
    warp.trap(work.lane, error.address, {error.reason, {warp.note(fmt::format("the {}", work.noun()), work.statement)}});
  }
}

}  // namespace

void issue_tensor_work(WarpState& warp, const Operation& operation, int lane) {
  const TensorStatement& statement = warp.program().of<code::TensorStatement>(operation);
  PendingTensorWork work{.statement = operation.statement, .warp = warp.index(), .lane = lane, .group = statement.variant.group};
  switch (statement.action) {
    case TensorAction::multiply: issue_tensor_product(warp, operation, lane, work); break;
    case TensorAction::copy: issue_tensor_copy(warp, operation, lane, work); break;
    case TensorAction::shift: issue_tensor_shift(warp, operation, lane, work); break;
    default: issue_tensor_commit(warp, operation, lane, work); break;
  }
  TensorCore& core = warp.block().tensor_core();
  if (!work.is_commit()) ++core.issued;
  work.issued = core.issued;
  if (!work.is_commit())
    for (const Block* block : tensor_blocks(warp, work.group, lane))
      tell_tensor_access(warp, operation, lane_bit(lane), *block, work.reads, work.writes, work.issued);
  check_waiting(warp, lane, core.work.size(), "products and copies of tcgen05");
  core.work.push_back(std::move(work));
}

/// Performs the oldest commit that arrives at `place`, after the work before it. Returns false if there is none.
bool arrive_products(WarpState& warp, const SharedPlace& place) {
  Cluster& cluster = warp.block().cluster();
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
      perform_tensor_work(*block.warps()[static_cast<std::size_t>(next.warp)], next);
    }
    return true;
  }
  return false;
}

}  // namespace warpmat::machine
