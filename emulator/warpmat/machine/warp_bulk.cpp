// Bulk copies (PTX ISA 9.1 sections 9.7.9.25 and 9.7.9.27). A copy is checked when it is issued; bulk_copies.cpp performs it when a thread
// waits for its bytes. So a program without the wait reads the old data, as it may on a GPU.

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>

#include <fmt/core.h>

#include <warpmat/ir/address_windows.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/operations.h>
#include <warpmat/machine/stored_buffer.h>
#include <warpmat/machine/tensor_map_bytes.h>
#include <warpmat/ptx/catalogue/launch_answer.h>

namespace warpmat::machine {

using code::BulkCopy;
using code::Operation;

namespace {

constexpr std::uint64_t linear_unit = 16;        // linear copies: sizes and addresses are multiples of it
constexpr std::uint64_t tensor_alignment = 128;  // of a box in shared memory

/// Bytes that are read soon: a load's, at the wait.
void prefetch(const std::uint8_t* first, std::uint32_t bytes) {
  constexpr std::uint32_t cache_line = 64;
  for (std::uint32_t at = 0; at < bytes; at += cache_line) __builtin_prefetch(first + at);
}

BulkTransfer new_transfer(WarpState& warp, const Operation& operation, int lane) {
  return {.copy = &warp.program().of<code::BulkCopy>(operation),
          .statement = operation.statement,
          .issuer = {warp.block().rank(), 0},
          .warp = warp.index(),
          .lane = lane,
          .shared = {},
          .group = warp.async().bulk_committed[static_cast<std::size_t>(lane)]};
}

/// The mbarrier of a copy to `to`: with .cta_group::2 that of either block of the pair to which the destination belongs.
SharedPlace barrier_of(WarpState& warp, const BulkCopy& copy, int lane, std::uint64_t address, const SharedPlace& to) {
  const SharedPlace place = shared_place(warp, lane, address, 8, 8, Space::shared, copy.remote || copy.pair);
  if (!copy.pair) return place;
  tensor_blocks(warp, 2, lane);
  if (place.rank / 2 != to.rank / 2)
    warp.trap(lane, address,
              fmt::format(
                  "the mbarrier is one of block {} of the cluster, the destination one of block {}: with .cta_group::2 both belong to one "
                  "pair",
                  place.rank, to.rank));
  return place;
}

void add_copy(WarpState& warp, int lane, BulkTransfer transfer) {
  BulkCopies& copies = warp.block().cluster().copies();
  check_waiting(warp, lane, copies.pending().size(), "bulk copies of the cluster");
  transfer.number = copies.issued();
  if (warp.observers().want(EventKinds::copies)) {
    const Operation& operation = warp.program().operations[static_cast<std::size_t>(warp.split().pc)];
    warp.observers().tell(EventKinds::copies, &Observer::bulk_issues, warp.event(operation, lane_bit(lane)), transfer.event());
  }
  copies.issue(std::move(transfer));
}

/// The same copy into each block of the cluster whose bit in `blocks` is set, counted at the same offset of each, or with .cta_group::2 of
/// the block of its pair that has the parity of the mbarrier's.
void add_multicast(WarpState& warp, int lane, const BulkTransfer& transfer, std::uint32_t blocks) {
  Cluster& cluster = warp.block().cluster();
  if (blocks >> cluster.size() != 0)
    warp.trap(lane, std::nullopt, fmt::format("the mask {:#x} names blocks that a cluster of {} does not have", blocks, cluster.size()));
  for (int rank = 0; rank < cluster.size(); ++rank) {
    if ((blocks >> rank & 1) == 0) continue;
    BulkTransfer one = transfer;
    one.shared.rank = rank;
    one.barrier->rank = transfer.copy->pair ? (rank & ~1) | (transfer.barrier->rank & 1) : rank;
    if (cluster.block(rank).finished()) warp.trap(lane, std::nullopt, fmt::format("block {} of the cluster has ended", rank));
    add_copy(warp, lane, std::move(one));
  }
}

/// Reads the tensor map at a generic address, and checks that the statement and its coordinates fit it.
void read_tensor_map(WarpState& warp, const BulkCopy& copy, int lane, std::uint64_t address, BulkTransfer& transfer) {
  const auto bytes = warp.range(Space::generic, lane, address, TensorMap::bytes, TensorMap::alignment, false);
  const std::optional<TensorMap::Arguments> given = tensor_map_arguments(bytes);
  if (!given) warp.trap(lane, address, "there is no tensor map here: pass one with the launch, by value or by address");
  if (static_cast<int>(given->rank) != copy.rank)
    warp.trap(lane, address, fmt::format("the tensor map has {} dimensions, the statement {}", given->rank, copy.rank));
  try {
    transfer.map.emplace(*given);
  } catch (const std::invalid_argument& refused) {
    warp.trap(lane, address, refused.what());
  }
  transfer.map_address = address;
  const TensorMap& map = *transfer.map;
  if (copy.im2col != (map.mode() == TensorMap::Mode::im2col))
    warp.trap(lane, address,
              fmt::format("the tensor map is one of {} mode, the statement of {}", copy.im2col ? "tile" : "im2col",
                          copy.im2col ? "im2col" : "tile"));
  if (const auto problem = coordinates_problem(map, transfer.tensor_place, copy.kind == BulkCopy::Kind::store))
    warp.trap(lane, std::nullopt, *problem);
  if (!copy.reductions.empty() && reduction_of(copy, &map) == nullptr)
    warp.trap(lane, address,
              fmt::format("{} has no elements of type {}", warp.program().statements[transfer.statement]->opcode, name(map.type())));
  transfer.bytes = map.shared_bytes();
}

/// Finds the rows of a tensor. Checks that a buffer contains each of them.
void check_global(WarpState& warp, const BulkCopy& copy, int lane, BulkTransfer& transfer) {
  const bool writes = copy.kind == BulkCopy::Kind::store;
  if (copy.kind == BulkCopy::Kind::between_blocks) return;
  if (!transfer.map) {
    if (transfer.bytes != 0) static_cast<void>(warp.range(Space::global, lane, transfer.global, transfer.bytes, linear_unit, writes));
    return;
  }
  const TensorMap& map = *transfer.map;
  transfer.runs = writes ? stored_runs(map, transfer.tensor_place) : tensor_runs(map, transfer.tensor_place);
  for (const TensorRun& run : transfer.runs) {
    const std::uint32_t bytes = run.first.end - run.first.begin;
    if (bytes == 0) continue;
    const auto whole = find_range(warp.launch().memory, run.first.address, run.reach());
    for (std::size_t i = 0; i < run.count; ++i) {
      const std::uint8_t* const row =
          whole ? whole->data() + i * run.step : warp.range(Space::global, lane, run.row(i).address, bytes, 1, writes).data();
      if (!writes) prefetch(row, bytes);
    }
  }
}

void issue_copy(WarpState& warp, const Operation& operation, int lane) {
  BulkTransfer transfer = new_transfer(warp, operation, lane);
  const BulkCopy& copy = *transfer.copy;
  const auto wide = [&](int source) { return warp.at<std::uint64_t>(warp.source_slot(operation, source))[lane]; };
  using Kind = BulkCopy::Kind;
  int next = 0;
  const bool prefetches = copy.kind == Kind::prefetch;
  const std::uint64_t first = wide(next++), second = prefetches ? first : wide(next++);
  const std::uint64_t elsewhere = copy.kind == Kind::store ? first : second;
  if (copy.rank == 0) {
    transfer.bytes = warp.source_word(operation, next++, lane);
    transfer.global = elsewhere;
    if (transfer.bytes % linear_unit != 0)
      warp.trap(lane, std::nullopt, fmt::format("{} bytes are copied: a multiple of 16", transfer.bytes));
  } else {
    for (int i = 0; i < copy.rank; ++i)
      transfer.tensor_place.coordinates[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(warp.source_word(operation, next++, lane));
    read_tensor_map(warp, copy, lane, elsewhere, transfer);
  }
  if (prefetches) return;
  const std::uint64_t alignment = copy.rank == 0 ? linear_unit : tensor_alignment;
  const bool to_shared = copy.kind != Kind::store;
  const SharedPlace here =
      shared_place(warp, lane, to_shared ? first : second, transfer.bytes, alignment, Space::shared, to_shared && copy.remote);
  if (copy.kind == Kind::between_blocks) {
    transfer.to = here;
    transfer.shared = shared_place(warp, lane, second, transfer.bytes, alignment, Space::shared, false);
  } else {
    transfer.shared = here;
  }
  if (to_shared) transfer.barrier = barrier_of(warp, copy, lane, wide(next++), transfer.written());
  if (copy.im2col && copy.kind == Kind::load)
    for (int i = 0; i < copy.rank - 2; ++i)
      transfer.tensor_place.offsets[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(warp.source_word(operation, next++, lane));
  check_global(warp, copy, lane, transfer);
  if (!copy.multicast) return add_copy(warp, lane, std::move(transfer));
  add_multicast(warp, lane, transfer, warp.source_word(operation, next, lane) & 0xffff);
}

/// st.async and red.async: stores the current contents of the lane's registers.
void issue_store(WarpState& warp, const Operation& operation, int lane) {
  BulkTransfer transfer = new_transfer(warp, operation, lane);
  const BulkCopy& copy = *transfer.copy;
  transfer.bytes = std::uint64_t{copy.values} * copy.value_bytes;
  transfer.to = shared_place(warp, lane, warp.at<std::uint64_t>(warp.source_slot(operation, 0))[lane], transfer.bytes, transfer.bytes,
                             copy.space, true);
  transfer.barrier = shared_place(warp, lane, warp.at<std::uint64_t>(warp.source_slot(operation, 1))[lane], 8, 8, copy.space, true);
  if (transfer.to.rank != transfer.barrier->rank)
    warp.trap(lane, std::nullopt,
              fmt::format("the destination lies in block {} of the cluster, the mbarrier in block {}: both must be in the same block",
                          transfer.to.rank, transfer.barrier->rank));
  transfer.read.resize(transfer.bytes);
  transfer.has_read = true;
  for (int i = 0; i < copy.values; ++i) {
    const code::Slot slot = warp.source_slot(operation, 2 + i);
    const std::uint64_t value = copy.value_bytes == 8 ? warp.at<std::uint64_t>(slot)[lane] : warp.at<std::uint32_t>(slot)[lane];
    std::memcpy(transfer.read.data() + static_cast<std::size_t>(i) * copy.value_bytes, &value, copy.value_bytes);
  }
  add_copy(warp, lane, std::move(transfer));
}

/// clusterlaunchcontrol.try_cancel: an answer to the block, or to all blocks of the cluster. The cluster is taken now, the answer written
/// when a thread waits for it.
void issue_cancel(WarpState& warp, const Operation& operation, int lane) {
  BulkTransfer transfer = new_transfer(warp, operation, lane);
  const BulkCopy& copy = *transfer.copy;
  Cluster& cluster = warp.block().cluster();
  LaunchAnswer answer{};
  transfer.bytes = sizeof answer;
  transfer.to = shared_place(warp, lane, warp.at<std::uint64_t>(warp.source_slot(operation, 0))[lane], transfer.bytes, transfer.bytes,
                             copy.space, false);
  transfer.barrier = shared_place(warp, lane, warp.at<std::uint64_t>(warp.source_slot(operation, 1))[lane], 8, 8, copy.space, false);
  if (const std::optional<Dim3> first = cluster.cancel_another()) answer = {first->x, first->y, first->z, cancelled_mark};
  transfer.read.resize(transfer.bytes);
  std::memcpy(transfer.read.data(), answer.data(), transfer.bytes);
  transfer.has_read = true;
  if (!copy.multicast) return add_copy(warp, lane, std::move(transfer));
  for (int rank = 0; rank < cluster.size(); ++rank) {
    BulkTransfer one = transfer;
    one.to.rank = one.barrier->rank = rank;
    if (cluster.block(rank).finished()) warp.trap(lane, std::nullopt, fmt::format("block {} of the cluster has ended", rank));
    add_copy(warp, lane, std::move(one));
  }
}

/// st.bulk: zeros.
void fill_shared(WarpState& warp, const Operation& operation, int lane) {
  constexpr std::uint64_t unit = 8, most = 16 << 20;
  const std::uint64_t address = warp.at<std::uint64_t>(warp.source_slot(operation, 0))[lane],
                      bytes = warp.at<std::uint64_t>(warp.source_slot(operation, 1))[lane];
  if (bytes % unit != 0 || bytes > most) warp.trap(lane, address, fmt::format("{} bytes are set: a multiple of 8 up to 16777216", bytes));
  const SharedPlace place = shared_place(warp, lane, address, bytes, unit, warp.program().of<code::BulkCopy>(operation).space, false);
  std::memset(host_of(warp, place), 0, bytes);
  warp.observers().tell(EventKinds::shared_accesses, &Observer::shared_written, SharedRange{place.rank, place.offset, bytes});
  warp.block().make_progress();
}

}  // namespace

Step body::bulk_copy(WarpState& warp, const Operation& operation, LaneMask mask) {
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    switch (warp.program().of<code::BulkCopy>(operation).kind) {
      case BulkCopy::Kind::from_registers: issue_store(warp, operation, lane); break;
      case BulkCopy::Kind::cancel: issue_cancel(warp, operation, lane); break;
      case BulkCopy::Kind::fill: fill_shared(warp, operation, lane); break;
      default: issue_copy(warp, operation, lane); break;
    }
  }
  return warp.advance();
}

Step body::bulk_commit(WarpState& warp, const Operation&, LaneMask mask) {
  for (; mask != 0; mask &= mask - 1) ++warp.async().bulk_committed[static_cast<std::size_t>(first_lane(mask))];
  return warp.advance();
}

Step body::bulk_wait(WarpState& warp, const Operation& operation, LaneMask mask) {
  if (waits_for_sums(warp, mask))
    if (const Step step = reserve(warp); step != Step::next) return step;
  const std::uint32_t pending = warp.program().of<code::WaitGroups>(operation).pending;
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const std::uint32_t committed = warp.async().bulk_committed[static_cast<std::size_t>(lane)];
    warp.block().cluster().copies().finish({warp.block().rank(), 0}, warp.index(), lane, committed, pending, false);
  }
  warp.observers().tell(EventKinds::copies, &Observer::copies_complete, warp.event(operation, mask));
  return warp.advance();
}

void finish_bulk_stores(WarpState& warp, LaneMask mask) {
  BulkCopies& copies = warp.block().cluster().copies();
  if (copies.empty()) return;
  for (; mask != 0; mask &= mask - 1) copies.finish({warp.block().rank(), 0}, warp.index(), first_lane(mask), 0, 0, true);
}

bool waits_for_sums(WarpState& warp, LaneMask mask) {
  const BulkCopies& copies = warp.block().cluster().copies();
  if (copies.empty()) return false;
  for (; mask != 0; mask &= mask - 1)
    if (copies.adds_floats({warp.block().rank(), 0}, warp.index(), first_lane(mask))) return true;
  return false;
}

}  // namespace warpmat::machine
