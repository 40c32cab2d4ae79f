// Bulk copies (PTX ISA 9.1 sections 9.7.9.25 and 9.7.9.27). A copy is checked when it is issued; bulk_copies.cpp performs it when a thread
// waits for its bytes. So a program without the wait reads the old data, as it may on a GPU.

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/ptx/catalogue/launch_answer.h>
#include <warpmat/ptx/program/address_windows.h>

namespace warpmat::inline v0_1::machine {

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

}  // namespace

void WarpState::bulk_copy(const Operation& operation, LaneMask mask) {
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    switch (program_.bulk_copies[operation.detail].kind) {
      case BulkCopy::Kind::from_registers: issue_store(operation, lane); break;
      case BulkCopy::Kind::cancel: issue_cancel(operation, lane); break;
      case BulkCopy::Kind::fill: fill_shared(operation, lane); break;
      default: issue_copy(operation, lane); break;
    }
  }
}

BulkTransfer WarpState::new_transfer(const Operation& operation, int lane) const {
  return {.copy = &program_.bulk_copies[operation.detail],
          .statement = operation.statement,
          .issuer = {block_.rank(), 0},
          .warp = index_,
          .lane = lane,
          .shared = {},
          .group = bulk_committed_[static_cast<std::size_t>(lane)]};
}

void WarpState::issue_copy(const Operation& operation, int lane) {
  BulkTransfer transfer = new_transfer(operation, lane);
  const BulkCopy& copy = *transfer.copy;
  const auto wide = [&](int source) { return at<std::uint64_t>(source_slot(operation, source))[lane]; };
  using Kind = BulkCopy::Kind;
  int next = 0;
  const bool prefetches = copy.kind == Kind::prefetch;
  const std::uint64_t first = wide(next++), second = prefetches ? first : wide(next++);
  const std::uint64_t outside = copy.kind == Kind::store ? first : second;
  if (copy.rank == 0) {
    transfer.bytes = source_word(operation, next++, lane);
    transfer.global = outside;
    if (transfer.bytes % linear_unit != 0) trap(lane, std::nullopt, fmt::format("{} bytes are copied: a multiple of 16", transfer.bytes));
  } else {
    for (int i = 0; i < copy.rank; ++i)
      transfer.tensor_place.coordinates[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(source_word(operation, next++, lane));
    read_tensor_map(copy, lane, outside, transfer);
  }
  if (prefetches) return;
  const std::uint64_t alignment = copy.rank == 0 ? linear_unit : tensor_alignment;
  const bool to_shared = copy.kind != Kind::store;
  const SharedPlace here =
      shared_place(lane, to_shared ? first : second, transfer.bytes, alignment, Space::shared, to_shared && copy.remote);
  if (copy.kind == Kind::between_blocks) {
    transfer.to = here;
    transfer.shared = shared_place(lane, second, transfer.bytes, alignment, Space::shared, false);
  } else {
    transfer.shared = here;
  }
  if (to_shared) transfer.barrier = barrier_of(copy, lane, wide(next++), transfer.written());
  if (copy.im2col && copy.kind == Kind::load)
    for (int i = 0; i < copy.rank - 2; ++i)
      transfer.tensor_place.offsets[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(source_word(operation, next++, lane));
  check_global(copy, lane, transfer);
  if (!copy.multicast) return add_copy(lane, std::move(transfer));
  add_multicast(lane, transfer, source_word(operation, next, lane) & 0xffff);
}

/// The mbarrier of a copy to `to`: with .cta_group::2 that of either block of the pair to which the destination belongs.
SharedPlace WarpState::barrier_of(const BulkCopy& copy, int lane, std::uint64_t address, const SharedPlace& to) const {
  SharedPlace place = shared_place(lane, address, 8, 8, Space::shared, copy.remote || copy.pair);
  if (!copy.pair) return place;
  tensor_blocks(2, lane);
  place.rank = pair_rank(address, place.rank);
  if (place.rank / 2 != to.rank / 2)
    trap(lane, address,
         fmt::format(
             "the mbarrier is one of block {} of the cluster, the destination one of block {}: with .cta_group::2 both belong to one "
             "pair",
             place.rank, to.rank));
  if (block_.cluster().block(place.rank).finished()) trap(lane, address, fmt::format("block {} of the cluster has ended", place.rank));
  return place;
}

/// The same copy into each block of the cluster whose bit in `blocks` is set, counted at the same offset of each, or with .cta_group::2 of
/// the block of its pair that has the parity of the mbarrier's.
void WarpState::add_multicast(int lane, const BulkTransfer& transfer, std::uint32_t blocks) {
  Cluster& cluster = block_.cluster();
  if (blocks >> cluster.size() != 0)
    trap(lane, std::nullopt, fmt::format("the mask {:#x} names blocks that a cluster of {} does not have", blocks, cluster.size()));
  for (int rank = 0; rank < cluster.size(); ++rank) {
    if ((blocks >> rank & 1) == 0) continue;
    BulkTransfer one = transfer;
    one.shared.rank = rank;
    one.barrier->rank = transfer.copy->pair ? (rank & ~1) | (transfer.barrier->rank & 1) : rank;
    if (cluster.block(rank).finished()) trap(lane, std::nullopt, fmt::format("block {} of the cluster has ended", rank));
    add_copy(lane, std::move(one));
  }
}

/// st.async and red.async: stores the current contents of the lane's registers.
void WarpState::issue_store(const Operation& operation, int lane) {
  BulkTransfer transfer = new_transfer(operation, lane);
  const BulkCopy& copy = *transfer.copy;
  transfer.bytes = std::uint64_t{copy.values} * copy.value_bytes;
  transfer.to = shared_place(lane, at<std::uint64_t>(source_slot(operation, 0))[lane], transfer.bytes, transfer.bytes, copy.space, true);
  transfer.barrier = shared_place(lane, at<std::uint64_t>(source_slot(operation, 1))[lane], 8, 8, copy.space, true);
  if (transfer.to.rank != transfer.barrier->rank)
    trap(lane, std::nullopt,
         fmt::format("the destination lies in block {} of the cluster, the mbarrier in block {}: both must be in the same block",
                     transfer.to.rank, transfer.barrier->rank));
  transfer.read.resize(transfer.bytes);
  transfer.has_read = true;
  for (int i = 0; i < copy.values; ++i) {
    const code::Slot slot = source_slot(operation, 2 + i);
    const std::uint64_t value = copy.value_bytes == 8 ? at<std::uint64_t>(slot)[lane] : at<std::uint32_t>(slot)[lane];
    std::memcpy(transfer.read.data() + static_cast<std::size_t>(i) * copy.value_bytes, &value, copy.value_bytes);
  }
  add_copy(lane, std::move(transfer));
}

/// clusterlaunchcontrol.try_cancel: an answer to the block, or to all blocks of the cluster. The cluster is taken now, the answer written
/// when a thread waits for it.
void WarpState::issue_cancel(const Operation& operation, int lane) {
  BulkTransfer transfer = new_transfer(operation, lane);
  const BulkCopy& copy = *transfer.copy;
  Cluster& cluster = block_.cluster();
  LaunchAnswer answer{};
  transfer.bytes = sizeof answer;
  transfer.to = shared_place(lane, at<std::uint64_t>(source_slot(operation, 0))[lane], transfer.bytes, transfer.bytes, copy.space, false);
  transfer.barrier = shared_place(lane, at<std::uint64_t>(source_slot(operation, 1))[lane], 8, 8, copy.space, false);
  if (const std::optional<Dim3> first = cluster.cancel_another()) answer = {first->x, first->y, first->z, cancelled_mark};
  transfer.read.resize(transfer.bytes);
  std::memcpy(transfer.read.data(), answer.data(), transfer.bytes);
  transfer.has_read = true;
  if (!copy.multicast) return add_copy(lane, std::move(transfer));
  for (int rank = 0; rank < cluster.size(); ++rank) {
    BulkTransfer one = transfer;
    one.to.rank = one.barrier->rank = rank;
    if (cluster.block(rank).finished()) trap(lane, std::nullopt, fmt::format("block {} of the cluster has ended", rank));
    add_copy(lane, std::move(one));
  }
}

/// st.bulk: zeros.
void WarpState::fill_shared(const Operation& operation, int lane) {
  constexpr std::uint64_t unit = 8, most = 16 << 20;
  const std::uint64_t address = at<std::uint64_t>(source_slot(operation, 0))[lane],
                      bytes = at<std::uint64_t>(source_slot(operation, 1))[lane];
  if (bytes % unit != 0 || bytes > most) trap(lane, address, fmt::format("{} bytes are set: a multiple of 8 up to 16777216", bytes));
  const SharedPlace place = shared_place(lane, address, bytes, unit, program_.bulk_copies[operation.detail].space, false);
  std::memset(host_of(place), 0, bytes);
  observers_.tell(EventKinds::shared_accesses, &Observer::shared_written, SharedRange{place.rank, place.offset, bytes});
  block_.make_progress();
}

/// Reads the tensor map at a generic address, and checks that the statement and its coordinates fit it.
void WarpState::read_tensor_map(const BulkCopy& copy, int lane, std::uint64_t address, BulkTransfer& transfer) {
  if (address % TensorMap::alignment != 0) trap(lane, address, "a tensor map's address is a multiple of 64");
  const std::uint8_t* const bytes = locate_map(Space::generic, lane, address, false);
  transfer.map = TensorMap::decode({bytes, TensorMap::bytes});
  if (!transfer.map) trap(lane, address, "there is no tensor map here: pass one with the launch, by value or by address");
  const TensorMap& map = *transfer.map;
  if (static_cast<int>(map.rank) != copy.rank)
    trap(lane, address, fmt::format("the tensor map has {} dimensions, the statement {}", map.rank, copy.rank));
  if (const auto problem = map.problem()) trap(lane, address, "tensor map: " + *problem);
  if (copy.im2col != (map.mode == TensorMap::Mode::im2col))
    trap(lane, address,
         fmt::format("the tensor map is one of {} mode, the statement of {}", copy.im2col ? "tile" : "im2col",
                     copy.im2col ? "im2col" : "tile"));
  if (const auto problem = coordinates_problem(map, transfer.tensor_place, copy.kind == BulkCopy::Kind::store))
    trap(lane, std::nullopt, *problem);
  if (!copy.reductions.empty() && reduction_of(copy, &map) == nullptr)
    trap(lane, address, fmt::format("{} has no elements of type {}", program_.statements[transfer.statement]->opcode, name(map.type)));
  transfer.bytes = map.shared_bytes();
}

/// Finds the rows of a tensor. Checks that one buffer contains every byte of global memory that the copy accesses.
void WarpState::check_global(const BulkCopy& copy, int lane, BulkTransfer& transfer) {
  const bool writes = copy.kind == BulkCopy::Kind::store;
  if (copy.kind == BulkCopy::Kind::between_blocks) return;
  if (!transfer.map) {
    if (transfer.global % linear_unit != 0) trap(lane, transfer.global, "the address is not a multiple of 16");
    if (transfer.bytes != 0) locate_bytes(lane, transfer.global, transfer.bytes, writes);
    return;
  }
  const TensorMap& map = *transfer.map;
  transfer.runs = writes ? stored_runs(map, transfer.tensor_place) : tensor_runs(map, transfer.tensor_place);
  for (const TensorRun& run : transfer.runs) {
    const std::uint32_t bytes = run.first.end - run.first.begin;
    if (bytes == 0) continue;
    const std::uint8_t* const first = locate_bytes(lane, run.first.address, bytes, writes);
    const std::uint64_t behind = last_buffer_->end() - run.first.address - bytes;  // the rows that are surely in the same buffer
    const std::size_t inside = run.step == 0 ? run.count : std::min<std::size_t>(run.count, behind / run.step + 1);
    for (std::size_t i = inside; i < run.count; ++i) locate_bytes(lane, run.row(i).address, bytes, writes);
    for (std::size_t i = 0; i < inside && !writes; ++i) prefetch(first + i * run.step, bytes);
  }
}

/// The host address of these bytes of global memory, or a trap.
std::uint8_t* WarpState::locate_bytes(int lane, std::uint64_t address, std::uint64_t bytes, bool writes) {
  std::uint8_t* const first = locate_lane(Space::global, lane, address, 1, writes);
  if (bytes - 1 > last_buffer_->end() - 1 - address) locate_lane(Space::global, lane, last_buffer_->end(), 1, writes);
  return first;
}

std::uint8_t* WarpState::locate_map(Space space, int lane, std::uint64_t address, bool writes) {
  locate_lane(space, lane, address + TensorMap::bytes - 1, 1, writes);
  return locate_lane(space, lane, address, 1, writes);
}

void WarpState::add_copy(int lane, BulkTransfer transfer) {
  BulkCopies& copies = block_.cluster().copies();
  transfer.number = copies.issued();
  if (observers_.want(EventKinds::copies)) {
    const Operation& operation = program_.operations[static_cast<std::size_t>(split().pc)];
    observers_.tell(EventKinds::copies, &Observer::bulk_issues, Event(*this, operation, lane_bit(lane)), transfer.event());
  }
  copies.issue(std::move(transfer));
}

void WarpState::bulk_commit(LaneMask mask) {
  for (; mask != 0; mask &= mask - 1) ++bulk_committed_[static_cast<std::size_t>(first_lane(mask))];
}

void WarpState::bulk_wait(const Operation& operation, LaneMask mask) {
  for (; mask != 0; mask &= mask - 1) {
    const int lane = first_lane(mask);
    block_.cluster().copies().finish({block_.rank(), 0}, index_, lane, bulk_committed_[static_cast<std::size_t>(lane)],
                                     operation.detail / 2, (operation.detail & 1) != 0, false);
  }
}

/// Performs the stores that exiting lanes have not waited for.
void WarpState::finish_stores(LaneMask mask) {
  if (block_.cluster().copies().empty()) return;
  for (; mask != 0; mask &= mask - 1) block_.cluster().copies().finish({block_.rank(), 0}, index_, first_lane(mask), 0, 0, false, true);
}

/// Whether stores that the operation waits for add floating-point numbers, so that the order among blocks is visible.
bool WarpState::waits_for_sums(const Operation& operation, LaneMask mask) const {
  const BulkCopies& copies = block_.cluster().copies();
  if (copies.empty() || (operation.detail & 1) != 0) return false;
  for (; mask != 0; mask &= mask - 1)
    if (copies.adds_floats({block_.rank(), 0}, index_, first_lane(mask))) return true;
  return false;
}

}  // namespace warpmat::inline v0_1::machine
