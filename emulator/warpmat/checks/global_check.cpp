// Bytes of global memory that nobody has written: which of them an access reads, and where copies bring them.

#include <array>
#include <vector>

#include <fmt/core.h>

#include <warpmat/checks/shared_memory_check.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/bulk_copies.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/stored_buffer.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::checks {

using machine::AccessEvent;

const StoredBuffer* SharedMemoryCheck::buffer_at(std::uint64_t address) {
  if (last_buffer_ == nullptr || address - last_buffer_->address >= last_buffer_->bytes)
    last_buffer_ = find_buffer(*setup_.memory, address);
  return last_buffer_;
}

/// Notes what an access writes. Returns the lanes that read bytes which nobody has written, perhaps beside others.
LaneMask SharedMemoryCheck::check_global(const AccessEvent& event) {
  const LaneMask undefined = event.reads ? unwritten_lanes(event) : 0;
  if (event.asynchronous) {
    if (undefined != 0) note_late_copies(event, undefined);
    return 0;
  }
  if (event.writes && !event.reads) write_global(event);
  if (event.writes && undefined != 0 && !exchanges(event)) report_atomic(event, first_lane(undefined));
  return undefined;
}

/// Whether it is an atomic that replaces what it reads.
bool SharedMemoryCheck::exchanges(const AccessEvent& event) const {
  return event.reads && event.writes &&
         setup_.program.of<code::AtomicAccess>(operation_of(event.event)).operation == code::AtomicOperation::exchange;
}

namespace {

/// The bytes of an access whose lanes follow each other without gaps.
std::uint64_t bytes_of_all(const AccessEvent& event) {
  return std::uint64_t{event.bytes} * warp_size;
}

}  // namespace

/// The address of the first of these bytes of global memory that was never written.
std::optional<std::uint64_t> SharedMemoryCheck::first_unwritten(std::uint64_t address, std::uint64_t bytes) {
  const StoredBuffer* const buffer = buffer_at(address);
  if (buffer == nullptr || buffer->written == nullptr) return std::nullopt;
  const auto found = buffer->written->find(address - buffer->address, bytes, false);
  return found ? std::optional(buffer->address + *found) : std::nullopt;
}

LaneMask SharedMemoryCheck::unwritten_lanes(const AccessEvent& event) {
  if (event.consecutive && !first_unwritten(event.addresses[0], bytes_of_all(event))) return 0;
  LaneMask undefined = 0;
  for (LaneMask rest = event.event.lanes(); rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    if (first_unwritten(event.addresses[static_cast<std::size_t>(lane)], event.bytes)) undefined |= lane_bit(lane);
  }
  return undefined;
}

void SharedMemoryCheck::write_global(const AccessEvent& event) {
  const auto write = [&](std::uint64_t address, std::uint64_t bytes) {
    const StoredBuffer* const buffer = buffer_at(address);
    if (buffer != nullptr && buffer->written != nullptr) buffer->written->add(address - buffer->address, bytes);
  };
  if (event.consecutive) return write(event.addresses[0], bytes_of_all(event));
  for (LaneMask rest = event.event.lanes(); rest != 0; rest &= rest - 1)
    write(event.addresses[static_cast<std::size_t>(first_lane(rest))], event.bytes);
}

/// Warns of an atomic that changes what nobody has written; the bytes stay so.
void SharedMemoryCheck::report_atomic(const AccessEvent& event, int lane) {
  const std::uint64_t address = event.addresses[static_cast<std::size_t>(lane)];
  const std::uint32_t line = line_of(event.event.statement());
  if (!reads_nothing(event, lane, 0, event.bytes) || !setup_.reports.unwritten_stores.wants(line, cluster_)) return;
  warn(setup_.reports.unwritten_stores, line, event.event, cluster_, lane, address,
       fmt::format("it changes global memory that nobody has written: {}", setup_.memory->describe(address)));
}

/// Whether a lane stores a value of unwritten global memory as it was read. The bytes are then unwritten, too.
bool SharedMemoryCheck::keep_unwritten(const AccessEvent& event, code::Slot slot, int lane, std::size_t at, std::uint32_t bytes) {
  const Origin& origin = values(event.event).origin(place(event.event, slot));
  if (!origin.global || origin.computed || event.reads) return false;
  if (origin.partial) return true;  // which of its bytes are written is not known
  const std::uint64_t address = event.addresses[static_cast<std::size_t>(lane)] + at;
  const StoredBuffer* const buffer = buffer_at(address);
  if (buffer == nullptr || buffer->written == nullptr) return false;
  buffer->written->remove(address - buffer->address, bytes);
  return true;
}

// ---- Copies into shared memory, and from there

void SharedMemoryCheck::note_late_copies(const AccessEvent& event, LaneMask undefined) {
  const int rank = event.event.rank();
  for (; undefined != 0; undefined &= undefined - 1) {
    const auto lane = static_cast<std::size_t>(first_lane(undefined));
    const std::size_t offset = block(rank).shadow.offset(copied_to_[lane]);
    if (setup_.checks.copies)
      block(rank).late.push_back({event.event.warp(), offset, event.addresses[lane], event.bytes, event.event.statement()});
    else
      bring_unwritten(rank, offset, event.addresses[lane], event.bytes, event.event.statement());
  }
}

void SharedMemoryCheck::land_late_copies(const machine::CopiesEvent& event) {
  BlockState& here = block(event.rank);
  for (LaneMask rest = event.lanes; rest != 0; rest &= rest - 1) {
    const std::size_t offset = here.shadow.offset(event.places[static_cast<std::size_t>(first_lane(rest))]);
    for (LateCopy& copy : here.late) copy.landed |= copy.warp == event.warp && copy.offset == offset;
  }
}

/// What the warp has copied is initialised for others now, but for these bytes.
void SharedMemoryCheck::publish_late_copies(int rank, int warp) {
  std::erase_if(block(rank).late, [&](const LateCopy& copy) {
    if (copy.warp != warp || !copy.landed) return false;
    bring_unwritten(rank, copy.offset, copy.address, copy.bytes, copy.statement);
    return true;
  });
}

/// A copy from global to shared memory has brought what nobody has written.
void SharedMemoryCheck::bring_unwritten(int rank, std::size_t offset, std::uint64_t address, std::uint64_t bytes, std::uint32_t statement) {
  const StoredBuffer* const buffer = buffer_at(address);
  if (buffer == nullptr || buffer->written == nullptr) return;
  const std::uint64_t begin = address - buffer->address, end = begin + bytes;
  for (auto first = buffer->written->find(begin, bytes, false); first;) {
    const std::uint64_t last = buffer->written->find(*first, end - *first, true).value_or(end);
    undefine(rank, offset + (*first - begin), last - *first, {statement, buffer->address + *first, true});
    first = buffer->written->find(last, end - last, false);
  }
}

/// A bulk copy has moved the bytes of its global memory to shared memory, or from there.
void SharedMemoryCheck::follow_bulk(const machine::BulkEvent& copy) {
  const machine::BulkTransfer& transfer = transfer_of(copy);
  if ((!transfer.loads() && !transfer.stores()) || copy.reduces) return;
  const int rank = transfer.shared.rank;
  machine::for_each_moved(transfer, setup_.program.shared_base, [&](std::uint64_t offset, std::uint64_t address, std::uint64_t bytes) {
    if (transfer.loads()) return bring_unwritten(rank, offset, address, bytes, copy.statement);
    const StoredBuffer* const buffer = buffer_at(address);
    if (buffer == nullptr || buffer->written == nullptr) return;
    buffer->written->add(address - buffer->address, bytes);
    for (std::uint64_t at = 0; at < bytes && block(rank).shadow.undefined(offset, bytes); ++at)
      if (block(rank).shadow.undefined(offset + at, 1)) buffer->written->remove(address - buffer->address + at, 1);
  });
}

}  // namespace warpmat::checks
