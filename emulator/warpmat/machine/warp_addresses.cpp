// The addresses of loads, stores, atomic operations and copies: where their bytes are, what traps, what observers are told. All addresses
// of a statement are checked before any byte is accessed.

#include <fmt/core.h>

#include <warpmat/machine/device_heap.h>
#include <warpmat/machine/each_lane.h>
#include <warpmat/machine/operations.h>
#include <warpmat/machine/region.h>
#include <warpmat/machine/stored_buffer.h>

namespace warpmat::machine {

using code::Access;
using code::Operation;
using scalar::LanePattern;

namespace {

/// Whether kernels may access these bytes of a buffer: of the heap of malloc() those of its parts.
bool is_live(const StoredBuffer& buffer, std::uint64_t address, std::uint64_t bytes) {
  return buffer.live == nullptr || buffer.live->has_all(address - buffer.address, bytes);
}

/// Why an `access` that find_range() does not find fails.
Trap::Reason reason_of(const DeviceMemory& memory, const std::string& access, std::uint64_t address, std::uint64_t bytes) {
  const Trap::Note place{fmt::format("address {:#x}: {}", address, describe_range(memory, address, bytes))};
  const StoredBuffer* const buffer = find_buffer(memory, address);
  if (buffer != nullptr && !buffer->copies.empty())
    return {fmt::format("{} of a multicast object, which multimem statements alone access", access), {place}};
  if (buffer != nullptr && !buffer->freed && buffer->closed)
    return {fmt::format("{} of GPU {} by GPU {}, which has no access to it", access, buffer->gpu, gpu_of(memory)),
            {place},
            "cudaDeviceEnablePeerAccess gives access to what cudaMalloc has allocated, cudaMemPoolSetAccess to memory of pools, and "
            "cuMemSetAccess to mapped memory"};
  const bool begins_inside = find_range(memory, address, 1).has_value();
  return {fmt::format("{} {}", access, begins_inside ? "across the end of a buffer" : "outside of any buffer"),
          {place},
          find_range(memory, address - 1, 1) && !begins_inside
              ? "this is the first byte behind the buffer: a bound may be one too large, as with <= for <"
              : ""};
}

}  // namespace

void WarpState::find_addresses(const Operation& operation, const AddressOperand& operand, Addresses& out) const {
  const std::uint64_t add = static_cast<std::uint64_t>(operand.offset) + (operand.relative ? split().local : 0);
  if (operand.narrow) {
    const auto* const base = at<std::uint32_t>(source_slot(operation, operand.source));
    for (std::size_t lane = 0; lane < warp_size; ++lane) out.address[lane] = static_cast<std::uint32_t>(base[lane] + add);
  } else {
    const auto* const base = at<std::uint64_t>(source_slot(operation, operand.source));
    for (std::size_t lane = 0; lane < warp_size; ++lane) out.address[lane] = base[lane] + add;
  }
}

std::span<std::uint8_t> WarpState::range(Space space, int lane, std::uint64_t address, std::uint64_t bytes, std::uint64_t alignment,
                                         bool writes) {
  const char* const what = writes ? "store" : "load";
  if (space == Space::generic) {
    space = space_of(address);
    address -= space == Space::global ? 0 : code::window_start(space);
  }
  if (address % alignment != 0)
    trap(lane, address,
         fmt::format("{} of {} bytes {} {} memory: the address is not a multiple of {}", what, bytes, writes ? "to" : "from", name(space),
                     alignment),
         Trap::Kind::misaligned);
  switch (space) {
    case Space::shared: {
      const std::span<std::uint8_t> memory = block_.shared();
      const std::uint64_t offset = address - block_.shared_base();
      if (offset < memory.size() && bytes <= memory.size() - offset) return memory.subspan(offset, bytes);
      if (code::rank_in(address) != block_.rank()) return range_in_cluster(*this, lane, address, bytes, alignment, writes);
      trap(lane, address,
           fmt::format("{} of {} bytes outside of shared memory, which has {} bytes from {:#x} on", what, bytes, memory.size(),
                       block_.shared_base()),
           Trap::Kind::out_of_range);
    }
    case Space::local: {
      if (address < launch_.local_bytes && bytes <= launch_.local_bytes - address)
        return {whole_local_memory(lane) + address, static_cast<std::size_t>(bytes)};
      trap(lane, address, fmt::format("{} of {} bytes outside of local memory, which has {} bytes", what, bytes, launch_.local_bytes),
           Trap::Kind::out_of_range);
    }
    case Space::param: {
      if (writes) trap(lane, address, "parameters cannot be written");
      if (address < launch_.parameters.size() && bytes <= launch_.parameters.size() - address)
        return {const_cast<std::uint8_t*>(launch_.parameters.data()) + address, static_cast<std::size_t>(bytes)};
      trap(lane, address, fmt::format("load of {} bytes outside of the parameters, which have {} bytes", bytes, launch_.parameters.size()),
           Trap::Kind::out_of_range);
    }
    case Space::generic:
    case Space::global:
    case Space::constant: break;
  }
  if (const auto found = find_range(launch_.memory, address, bytes)) {
    if (is_live(*find_buffer(launch_.memory, address), address, bytes)) return *found;
    trap(lane, address,
         fmt::format("{} of {} bytes {} {} memory in no part that malloc() has given: {}", what, bytes, writes ? "to" : "from", name(space),
                     heap_of(launch_.memory).describe(address)),
         Trap::Kind::out_of_range);
  }
  trap(lane, address,
       reason_of(launch_.memory, fmt::format("{} of {} bytes {} {} memory", what, bytes, writes ? "to" : "from", name(space)), address,
                 bytes),
       Trap::Kind::out_of_range);
}

namespace {

/// Traps where a lane leaves the shared variable from whose address alone its address is computed, for what lies behind it. Addresses
/// before it are not looked at.
void check_variable(const WarpState& warp, const Operation& operation, std::uint32_t bytes, LaneMask mask,
                    const WarpState::Addresses& addresses) {
  if (operation.semantics == catalogue::Semantics::matrix) return;
  const std::uint64_t end = warp.program().access(operation).shared_end;
  if (end == Access::no_end) return;
  for_each_lane(mask, [&](std::size_t lane) {
    const std::uint64_t address = addresses.address[lane], offset = address - warp.block().shared_base();
    if (offset < end || code::rank_in(address) != warp.block().rank()) return;  // what reaches across the end is a check's
    const std::uint64_t last = warp.program().shared_base + end - 1;
    warp.trap(static_cast<int>(lane), address,
              fmt::format("{} bytes behind the end of the variable whose address they are computed from: its last byte is {}; this is {}",
                          bytes, warp.describe_shared(last), warp.describe_shared(address)),
              Trap::Kind::out_of_range);
  });
}

/// Generic addresses of several spaces: an access of each space.
void tell_mixed_access(WarpState& warp, const Operation& operation, std::uint32_t bytes, LaneMask mask, bool reads, bool writes,
                       const WarpState::Addresses& addresses) {
  if (!warp.observers().want(EventKinds::accesses | EventKinds::shared_accesses)) return;
  for (const Space space : {Space::shared, Space::local, Space::param, Space::global}) {
    WarpState::Addresses mine = addresses;
    LaneMask lanes = 0;
    for_each_lane(mask, [&](std::size_t lane) {
      if (space_of(addresses.address[lane]) != space) return;
      lanes |= lane_bit(static_cast<int>(lane));
      if (space != Space::global) mine.address[lane] -= code::window_start(space);
    });
    if (lanes != 0) warp.tell_access(operation, space, bytes, lanes, reads, writes, mine, false, 0);
  }
}

}  // namespace

/// Finds the bytes of all lanes of `mask`, of a load, store or atomic operation.
Space WarpState::locate(const Operation& operation, const Access& access, LaneMask mask, Addresses& addresses) {
  find_addresses(operation, first_address(access), addresses);
  const AccessKind kind = kind_of(operation, access);
  return locate(operation, access.space, kind.bytes, mask, kind.reads, kind.writes, addresses);
}

/// Finds the bytes at these addresses, which then become relative to their space. Returns that of all lanes, or generic.
Space WarpState::locate(const Operation& operation, Space space, std::uint32_t bytes, LaneMask mask, bool reads, bool writes,
                        Addresses& addresses, bool asynchronous, int first_register) {
  auto& address = addresses.address;
  const auto first = static_cast<std::size_t>(first_lane(mask));
  bool one_space = true;
  if (space == Space::generic) {
    const Space guess = space_of(address[first]);
    for_each_lane(mask, [&](std::size_t lane) { one_space &= space_of(address[lane]) == guess; });
    if (one_space) {
      space = guess;
      if (space != Space::global)
        for (std::uint64_t& a : address) a -= code::window_start(space);
    }
  }
  if (space == Space::shared)  // whose addresses have 32 bits, whatever the width of their registers
    for (std::uint64_t& a : address) a = static_cast<std::uint32_t>(a);

  std::uint8_t* memory = nullptr;
  std::uint64_t start = 0, size = 0, own = 0;
  if (space == Space::shared) {
    memory = block_.shared().data();
    start = block_.shared_base();
    size = block_.shared().size();
  } else if (space == Space::global || space == Space::constant) {
    if (last_buffer_ == nullptr || address[first] - last_buffer_->address >= last_buffer_->bytes) {
      static_cast<void>(range(space, static_cast<int>(first), address[first], bytes, bytes, writes));
      last_buffer_ = find_buffer(launch_.memory, address[first]);
    }
    memory = last_buffer_->data.get();
    start = last_buffer_->address;
    size = last_buffer_->bytes;
  } else if (space == Space::param && !writes) {
    memory = const_cast<std::uint8_t*>(launch_.parameters.data());
    size = launch_.parameters.size();
  } else if (space == Space::local) {
    memory = local_.data();
    size = launch_.local_bytes;
    own = size;  // each lane has its own local memory
  }
  bool good = memory != nullptr && size >= bytes;
  if (good) {
    const std::uint64_t last = size - bytes, low_bits = bytes - 1;
    LaneMask bad = 0;
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      const std::uint64_t offset = address[lane] - start;
      // Addresses outside are never accessed.
      addresses.host[lane] = reinterpret_cast<std::uint8_t*>(reinterpret_cast<std::uintptr_t>(memory) + offset + own * lane);
      bad |= static_cast<LaneMask>(offset > last || (address[lane] & low_bits) != 0) << lane;
    }
    good = (bad & mask) == 0;
  }
  if (const bool in_heap =
          memory != nullptr && last_buffer_ != nullptr && memory == last_buffer_->data.get() && last_buffer_->live != nullptr;
      good && in_heap)
    for_each_lane(mask, [&](std::size_t lane) { good &= is_live(*last_buffer_, address[lane], bytes); });
  if (!good)
    for_each_lane(mask, [&](std::size_t lane) {
      addresses.host[lane] = range(space, static_cast<int>(lane), address[lane], bytes, bytes, writes).data();
    });
  if (space == Space::shared) check_variable(*this, operation, bytes, mask, addresses);
  if (one_space)
    tell_access(operation, space, bytes, mask, reads, writes, addresses, asynchronous, first_register);
  else
    tell_mixed_access(*this, operation, bytes, mask, reads, writes, addresses);
  return space;
}

void WarpState::tell_access(const Operation& operation, Space space, std::uint32_t bytes, LaneMask mask, bool reads, bool writes,
                            const Addresses& addresses, bool asynchronous, int first_register) const {
  const EventKinds events = events_of(space);
  if (!observers_.want(events)) return;
  observers_.tell(events, &Observer::access,
                  AccessEvent{Event(*this, operation, mask), space, reads, writes, bytes, addresses.address, addresses.host, asynchronous,
                              first_register});
}

namespace {

/// WarpState::find_offsets() of local memory, of which each lane has its own, unless an observer wants to know of the access.
bool find_local_offsets(WarpState& warp, const Operation& operation, const Access& access, const WarpState::AddressOperand& operand,
                        LaneMask mask, WarpState::Offsets& out) {
  const std::uint64_t own = warp.launch().local_bytes;
  if (operand.narrow || own * warp_size > largest_region || warp.observers().want(events_of(Space::local))) return false;
  const Region region{warp.whole_local_memory(0), 0, own};
  auto addresses = lane_addresses(warp, operation, access, operand, mask, region);
  if (!addresses) return false;
  if (access.relative) addresses->add += warp.split().local;
  if (scalar::find_lane_offsets(*addresses, out.offset.data()) == LanePattern::invalid) return false;
  for (std::uint32_t lane = 0; lane < warp_size; ++lane) out.offset[lane] += lane * warp.launch().local_bytes;
  out.memory = region.memory;
  out.start = 0;
  out.pattern = LanePattern::scattered;
  return true;
}

}  // namespace

/// The common case of an access: all lanes of `mask` access one memory, without an error. In one that they share, lanes
/// outside of `mask` get the offset of one inside. False for all others.
bool WarpState::find_offsets(const Operation& operation, const Access& access, const AddressOperand& operand, LaneMask mask, Offsets& out) {
  if (operand.space == Space::local) return find_local_offsets(*this, operation, access, operand, mask, out);
  const Region region = find_region(*this, operation, operand, mask);
  const auto addresses = lane_addresses(*this, operation, access, operand, mask, region);
  if (!addresses) return false;
  out.memory = region.memory;
  out.start = region.start;
  out.pattern = scalar::find_lane_offsets(*addresses, out.offset.data());
  return out.pattern != LanePattern::invalid;
}

/// Tells observers of an access that find_offsets() has found.
void WarpState::tell_offsets(const Operation& operation, const AccessKind& kind, LaneMask mask, const Offsets& found) {
  const EventKinds events = events_of(kind.space);
  if (!observers_.want(events)) return;
  const bool consecutive = found.pattern == LanePattern::consecutive;
  if (kind.space == Space::shared && !kind.asynchronous && kind.reads != kind.writes &&
      observers_.note({block_.rank(), found.offset.data(), kind.bytes, consecutive, kind.writes}))
    return;
  const struct Forgets {  // also where an observer throws
    std::optional<scalar::LanePlaces>& places;
    ~Forgets() { places.reset(); }
  } forgets{told_places_};
  if (kind.space == Space::shared) {
    scalar::LanePlaces& told = told_places_.emplace();
    told.offsets = found.offset.data();
    if (consecutive)
      told.range = {found.offset[0], found.offset[warp_size - 1], true, 1, all_lanes & ~1u};
    else
      scalar::find_lane_range(found.offset.data(), kind.bytes, told.range);
    told.range.whole &= mask == all_lanes;
  }
  Addresses addresses;
  scalar::find_lane_places(found.offset.data(), found.start, found.memory, addresses.address.data(),
                           const_cast<const std::uint8_t**>(addresses.host.data()));
  observers_.tell(events, &Observer::access,
                  AccessEvent{.event = Event(*this, operation, mask),
                              .space = kind.space,
                              .reads = kind.reads,
                              .writes = kind.writes,
                              .bytes = kind.bytes,
                              .addresses = addresses.address,
                              .places = addresses.host,
                              .asynchronous = kind.asynchronous,
                              .consecutive = consecutive && found.offset[1] == found.offset[0] + kind.bytes});
}

/// Whether the operation's order among blocks is visible, or its result depends on other blocks.
bool WarpState::is_ordered(const Operation& operation) const {
  using catalogue::Semantics;
  return code::may_have_order(program_, operation) &&
         (operation.semantics == Semantics::fence || operation.semantics == Semantics::multimem || is_global(operation));
}

/// Whether other clusters may access what this load, store or atomic accesses.
bool WarpState::is_global(const Operation& operation) const {
  const Access& access = program_.access(operation);
  if (!code::is_shared_by_clusters(access.space)) return false;
  if (access.space != Space::generic) return true;
  Addresses addresses;
  find_addresses(operation, first_address(access), addresses);
  return space_of(addresses.address[static_cast<std::size_t>(first_lane(split().lanes))]) == Space::global;
}

}  // namespace warpmat::machine
