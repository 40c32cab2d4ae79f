// Bulk copies (PTX ISA 9.1 sections 9.7.9.25 and 9.7.9.27). A copy is checked when it is issued; bulk_copies.cpp performs it when its
// bytes are waited for: a program that forgets to wait finds what was there before, as it may on a GPU.

#include <algorithm>

#include <fmt/format.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/ptx/program/address_windows.h>

namespace warpmat::machine {

using code::BulkCopy;
using code::Operation;
using code::Space;

namespace {

constexpr std::uint64_t linear_unit = 16;        // linear copies: sizes and addresses are multiples of it
constexpr std::uint64_t tensor_alignment = 128;  // of a box in shared memory

}  // namespace

void WarpState::bulk_copy(const Operation& operation, LaneMask mask) {
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) issue_copy(operation, first_lane(rest));
}

void WarpState::issue_copy(const Operation& operation, int lane) {
  const BulkCopy& copy = program_.bulk_copies[operation.detail];
  const auto wide = [&](int source) { return at<std::uint64_t>(source_slot(operation, source))[lane]; };
  BulkTransfer transfer{.copy = &copy,
                        .statement = operation.statement,
                        .issuer = {block_.rank(), 0},
                        .warp = index_,
                        .lane = lane,
                        .shared = {},
                        .group = bulk_committed_[static_cast<std::size_t>(lane)]};
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
      transfer.coordinates[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(source_word(operation, next++, lane));
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
  check_global(copy, lane, transfer);
  if (copy.kind == Kind::store) return add_copy(lane, std::move(transfer));
  transfer.barrier = shared_place(lane, wide(next++), 8, 8, Space::shared, copy.remote);
  if (!copy.multicast) return add_copy(lane, std::move(transfer));
  const std::uint32_t blocks = source_word(operation, next, lane) & 0xffff;
  if (blocks >> block_.cluster().size() != 0)
    trap(lane, std::nullopt,
         fmt::format("the mask {:#x} names blocks that a cluster of {} does not have", blocks, block_.cluster().size()));
  for (int rank = 0; rank < block_.cluster().size(); ++rank) {
    if ((blocks >> rank & 1) == 0) continue;
    BulkTransfer one = transfer;
    one.shared.rank = one.barrier->rank = rank;
    if (block_.cluster().block(rank).finished()) trap(lane, std::nullopt, fmt::format("block {} of the cluster has ended", rank));
    add_copy(lane, std::move(one));
  }
}

/// The tensor map at a generic address, and what the accelerator asks of the coordinates: each row begins at 16 bytes, and stores have no
/// negative coordinates (both measured on an H200, which says "illegal instruction").
void WarpState::read_tensor_map(const BulkCopy& copy, int lane, std::uint64_t address, BulkTransfer& transfer) {
  if (address % TensorMap::alignment != 0) trap(lane, address, "a tensor map's address is a multiple of 64");
  const std::uint8_t* const bytes = locate_map(Space::generic, lane, address, false);
  transfer.map = TensorMap::decode({bytes, TensorMap::bytes});
  if (!transfer.map) trap(lane, address, "there is no tensor map here: pass one with the launch, by value or by address");
  const TensorMap& map = *transfer.map;
  if (static_cast<int>(map.rank) != copy.rank)
    trap(lane, address, fmt::format("the tensor map has {} dimensions, the statement {}", map.rank, copy.rank));
  if (const auto problem = map.problem()) trap(lane, address, "tensor map: " + *problem);
  if (map.interleave != TensorMap::Interleave::none) trap(lane, address, "interleaved tensors are not executed yet");
  const std::int64_t row_start = std::int64_t{transfer.coordinates[0]} * static_cast<std::int64_t>(map.element_bytes());
  if (row_start % 16 != 0)
    trap(lane, std::nullopt,
         fmt::format("coordinate {} of dimension 0: elements of {} bytes are copied from multiples of 16 bytes on", transfer.coordinates[0],
                     map.element_bytes()));
  if (copy.kind == BulkCopy::Kind::store)
    for (std::size_t i = 0; i < map.rank; ++i)
      if (transfer.coordinates[i] < 0)
        trap(lane, std::nullopt, fmt::format("coordinate {} of dimension {}: stores take none below 0", transfer.coordinates[i], i));
  if (!copy.reductions.empty() && reduction_of(copy, &map) == nullptr)
    trap(lane, address, fmt::format("{} has no elements of type {}", program_.statements[transfer.statement]->opcode, name(map.type)));
  transfer.bytes = map.shared_bytes();
}

/// Every byte in global memory that the copy touches lies in one buffer.
void WarpState::check_global(const BulkCopy& copy, int lane, const BulkTransfer& transfer) {
  const bool writes = copy.kind == BulkCopy::Kind::store;
  if (copy.kind == BulkCopy::Kind::between_blocks) return;
  if (!transfer.map) {
    if (transfer.global % linear_unit != 0) trap(lane, transfer.global, "the address is not a multiple of 16");
    if (transfer.bytes != 0) locate_bytes(lane, transfer.global, transfer.bytes, writes);
    return;
  }
  const TensorBox box(*transfer.map, transfer.coordinates);
  for (std::uint32_t i = 0; i < box.rows(); ++i)
    if (const TensorRow row = writes ? box.stored_row(i) : box.row(i); row.end > row.begin)
      locate_bytes(lane, row.address, row.end - row.begin, writes);
}

/// The place of these bytes of global memory, or a trap.
std::uint8_t* WarpState::locate_bytes(int lane, std::uint64_t address, std::uint64_t bytes, bool writes) {
  std::uint8_t* const first = locate_lane(Space::global, lane, address, 1, writes);
  if (bytes - 1 > last_buffer_->end() - 1 - address) locate_lane(Space::global, lane, last_buffer_->end(), 1, writes);
  return first;
}

std::uint8_t* WarpState::locate_map(Space space, int lane, std::uint64_t address, bool writes) {
  locate_lane(space, lane, address + TensorMap::bytes - 1, 1, writes);
  return locate_lane(space, lane, address, 1, writes);
}

/// Notes the copy, if what it touches in shared memory is free.
void WarpState::add_copy(int lane, BulkTransfer transfer) {
  BulkCopies& copies = block_.cluster().copies();
  const bool checked = launch_.options.checks.copies;
  const bool between = transfer.copy->kind == BulkCopy::Kind::between_blocks;
  if (checked && (transfer.loads() || between)) report_overlap(lane, between ? transfer.to : transfer.shared, transfer.bytes, true);
  if (checked && !transfer.loads()) check_source(lane, transfer);
  copies.issue(std::move(transfer));
}

/// What a copy reads of shared memory has come there, has been written by somebody, and is visible to it.
void WarpState::check_source(int lane, const BulkTransfer& transfer) {
  report_overlap(lane, transfer.shared, transfer.bytes, false);
  const std::uint64_t address = program_.shared_base + transfer.shared.offset;
  if (block_.proxies() != nullptr)
    if (const auto writer = block_.proxies()->unfenced(transfer.shared.offset, std::max<std::uint64_t>(transfer.bytes, 1)))
      trap(lane, address,
           fmt::format("the copy reads what warp {} has stored, and no fence.proxy.async since then lets it see that: {}", *writer,
                       describe_shared(address)));
  if (launch_.options.checks.uninitialised && !transfer.map && block_.shadow() != nullptr && transfer.bytes != 0 &&
      block_.shadow()->undefined(transfer.shared.offset, transfer.bytes))
    trap(lane, address, fmt::format("the copy reads shared memory that nobody has written: {}", describe_shared(address)));
}

/// Traps if a copy that has not been waited for writes, or where `also_reads` reads, these bytes.
void WarpState::report_overlap(int lane, const SharedPlace& place, std::uint64_t bytes, bool also_reads) const {
  const BulkTransfer* const other = block_.cluster().copies().overlapping(place, bytes, also_reads);
  if (other == nullptr) return;
  const std::uint64_t address = program_.shared_base + place.offset;
  trap(lane, address,
       fmt::format("{} at {}: the bulk copy of warp {} at {} {}", also_reads ? "store" : "load", describe_shared(address), other->warp,
                   statement_name(other->statement),
                   other->reads_shared() ? "may still read it: its group has not been waited for" : "has not been waited for"));
}

/// An ordinary access of these lanes to shared memory, which bulk copies must have left.
void WarpState::check_bulk(const SharedShadow::Places& places, std::uint32_t bytes, LaneMask mask, bool writes) {
  const SharedShadow& shadow = *block_.shadow();
  const bool pending = launch_.options.checks.copies && !block_.cluster().copies().empty();
  for (; mask != 0; mask &= mask - 1) {
    const int lane = first_lane(mask);
    const std::size_t offset = shadow.offset(places[static_cast<std::size_t>(lane)]);
    if (offset >= shadow.size()) continue;
    if (pending) report_overlap(lane, {block_.rank(), static_cast<std::uint32_t>(offset)}, bytes, writes);
    if (writes && block_.proxies() != nullptr) block_.proxies()->write(offset, bytes, index_);
  }
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

/// What lanes that exit have not waited for: stores take effect now.
void WarpState::finish_stores(LaneMask mask) {
  if (block_.cluster().copies().empty()) return;
  for (; mask != 0; mask &= mask - 1) block_.cluster().copies().finish({block_.rank(), 0}, index_, first_lane(mask), 0, 0, false, true);
}

/// Whether stores that the operation waits for add floating-point numbers: the order among blocks shows.
bool WarpState::waits_for_sums(const Operation& operation, LaneMask mask) const {
  const BulkCopies& copies = block_.cluster().copies();
  if (copies.empty() || (operation.detail & 1) != 0) return false;
  for (; mask != 0; mask &= mask - 1)
    if (copies.adds_floats({block_.rank(), 0}, index_, first_lane(mask))) return true;
  return false;
}

}  // namespace warpmat::machine
