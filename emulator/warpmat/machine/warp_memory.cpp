// Loads and stores. All addresses of a statement are checked before any byte is accessed.

#include <algorithm>
#include <cassert>
#include <cstring>
#include <type_traits>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/each_lane.h>
#include <warpmat/machine/lane_rows.h>
#include <warpmat/machine/operations.h>
#include <warpmat/ptx/program/address_windows.h>

namespace warpmat::inline v0_1::machine {

using code::Access;
using code::Operation;
using scalar::LanePattern;

namespace {

constexpr std::uint64_t outside = 0xffffffff;  // an offset beyond all regions that find_offsets() takes

Space space_of(std::uint64_t address) {
  for (const Space space : {Space::shared, Space::local, Space::param})
    if (address - code::window_start(space) < code::window_bytes) return space;
  return Space::global;
}

EventKinds events_of(Space space) {
  return space == Space::shared ? EventKinds::accesses | EventKinds::shared_accesses : EventKinds::accesses;
}

template <typename T>
T read(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// The element of each lane behind that of the lane before.
struct Consecutive {
  std::uint8_t* first;
};

template <typename Memory, typename Places>
std::uint8_t* place_in(const Places& host, std::size_t lane) {
  return host[lane];
}
/// A distance that the compiler knows: a loop over all lanes becomes vectors.
template <typename Memory>
std::uint8_t* place_in(const Consecutive& host, std::size_t lane) {
  return host.first + lane * sizeof(Memory);
}

/// A copy of a pointer, which no store of bytes changes for all that the compiler knows; a reference to what is larger.
template <typename Places>
using Held = std::conditional_t<std::is_same_v<Places, Consecutive>, const Places, const Places&>;

/// Loads one element of each lane into a register of Element; signed types are extended to `Register` bits.
template <typename Memory, typename Register, typename Element, typename Places>
void load_lanes(void* to, const Places& places, std::size_t at, LaneMask mask) {
  const Held<Places> host = places;
  auto* const out = static_cast<Element*>(to);
  for_each_lane(mask, [&](std::size_t lane) {
    out[lane] = static_cast<Element>(static_cast<Register>(read<Memory>(place_in<Memory>(host, lane) + at)));
  });
}

template <typename Register, typename Element, typename Places>
void load_register(void* to, const Places& host, const Access& access, std::size_t at, LaneMask mask) {
  switch (access.bytes) {
    case 1:
      return access.sign_extend ? load_lanes<std::int8_t, Register, Element>(to, host, at, mask)
                                : load_lanes<std::uint8_t, Register, Element>(to, host, at, mask);
    case 2:
      return access.sign_extend ? load_lanes<std::int16_t, Register, Element>(to, host, at, mask)
                                : load_lanes<std::uint16_t, Register, Element>(to, host, at, mask);
    case 4:
      return access.sign_extend ? load_lanes<std::int32_t, Register, Element>(to, host, at, mask)
                                : load_lanes<std::uint32_t, Register, Element>(to, host, at, mask);
    default: return load_lanes<std::uint64_t, Register, Element>(to, host, at, mask);
  }
}

/// The lanes' elements of 4 or 8 bytes. Two sizes that the compiler knows: such a copy is no call.
void copy_row(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) {
  constexpr std::size_t words = warp_size * 4;
  if (bytes == 4)
    std::memcpy(to, from, words);
  else
    std::memcpy(to, from, 2 * words);
}

/// Whether the access moves words between registers and memory, as they are.
bool moves_words(const Access& access) {
  return access.bytes == 4 && access.register_bits == 32;
}

bool moves_one_word(const Access& access) {
  return moves_words(access) && access.vector == 1;
}

template <typename Memory, typename Element, typename Places>
void store_lanes(const void* from, const Places& places, std::size_t at, LaneMask mask) {
  const Held<Places> host = places;
  const auto* const in = static_cast<const Element*>(from);
  for_each_lane(mask, [&](std::size_t lane) {
    const auto value = static_cast<Memory>(in[lane]);
    std::memcpy(place_in<Memory>(host, lane) + at, &value, sizeof value);
  });
}

template <typename Element, typename Places>
void store_register(const void* from, const Places& host, std::size_t bytes, std::size_t at, LaneMask mask) {
  switch (bytes) {
    case 1: return store_lanes<std::uint8_t, Element>(from, host, at, mask);
    case 2: return store_lanes<std::uint16_t, Element>(from, host, at, mask);
    case 4: return store_lanes<std::uint32_t, Element>(from, host, at, mask);
    default: return store_lanes<std::uint64_t, Element>(from, host, at, mask);
  }
}

}  // namespace

void WarpState::find_addresses(const Operation& operation, int source, std::int64_t offset, bool relative, Addresses& out) const {
  const bool narrow =
      source == 0 ? program_.of<code::Access>(operation).narrow_address : program_.of<code::Access>(operation).narrow_source;
  const std::uint64_t add = static_cast<std::uint64_t>(offset) + (relative ? split().local : 0);
  if (narrow) {
    const auto* const base = at<std::uint32_t>(source_slot(operation, source));
    for (std::size_t lane = 0; lane < warp_size; ++lane) out.address[lane] = static_cast<std::uint32_t>(base[lane] + add);
  } else {
    const auto* const base = at<std::uint64_t>(source_slot(operation, source));
    for (std::size_t lane = 0; lane < warp_size; ++lane) out.address[lane] = base[lane] + add;
  }
}

/// The host address of one lane's bytes, or a trap.
std::uint8_t* WarpState::locate_lane(Space space, int lane, std::uint64_t address, std::uint32_t bytes, bool writes) {
  const char* const what = writes ? "store" : "load";
  if (program_.is_list) return SharedMemory::borrowing(block_.shared(), program_.shared_base).at(lane, address, bytes, what).data();
  if (space == Space::generic) {
    space = space_of(address);
    address -= space == Space::global ? 0 : code::window_start(space);
  }
  if (address % bytes != 0)
    trap(lane, address, fmt::format("{} of {} bytes from {} memory: the address is not a multiple of {}", what, bytes, name(space), bytes),
         Trap::Kind::misaligned);
  switch (space) {
    case Space::shared: {
      const std::span<std::uint8_t> memory = block_.shared();
      const std::uint64_t offset = address - program_.shared_base;
      if (offset < memory.size() && bytes <= memory.size() - offset) return memory.data() + offset;
      if (address >> Cluster::rank_at != 0) return locate_in_cluster(*this, lane, address, bytes, writes);
      trap(lane, address,
           fmt::format("{} of {} bytes outside of shared memory, which has {} bytes from {:#x} on", what, bytes, memory.size(),
                       program_.shared_base),
           Trap::Kind::out_of_range);
    }
    case Space::local: {
      if (address < launch_.local_bytes && bytes <= launch_.local_bytes - address)
        return local_.data() + std::size_t{launch_.local_bytes} * static_cast<std::size_t>(lane) + address;
      trap(lane, address, fmt::format("{} of {} bytes outside of local memory, which has {} bytes", what, bytes, launch_.local_bytes),
           Trap::Kind::out_of_range);
    }
    case Space::param: {
      if (writes) trap(lane, address, "parameters cannot be written");
      if (address < launch_.parameters.size() && bytes <= launch_.parameters.size() - address)
        return const_cast<std::uint8_t*>(launch_.parameters.data()) + address;
      trap(lane, address, fmt::format("load of {} bytes outside of the parameters, which have {} bytes", bytes, launch_.parameters.size()),
           Trap::Kind::out_of_range);
    }
    case Space::generic:
    case Space::global:
    case Space::constant: break;
  }
  const DeviceMemory::Buffer* buffer = launch_.memory.find(address);
  if (buffer != nullptr && !buffer->freed && bytes <= buffer->end() - address) {
    last_buffer_ = buffer;
    return buffer->data.get() + (address - buffer->address);
  }
  trap(lane, address,
       fmt::format("{} of {} bytes {} {} memory outside of any buffer: {}", what, bytes, writes ? "to" : "from", name(space),
                   launch_.memory.describe(address)),
       Trap::Kind::out_of_range);
}

namespace {

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

/// Finds the bytes of all lanes of `mask`; addresses then become relative to their space.
void WarpState::locate(const Operation& operation, Space space, std::uint32_t bytes, LaneMask mask, bool reads, bool writes,
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
  // Shared addresses have 32 bits, whatever the width of their registers; a list tells those of 64 that leave its memory.
  if (space == Space::shared && !program_.is_list)
    for (std::uint64_t& a : address) a = static_cast<std::uint32_t>(a);

  std::uint8_t* memory = nullptr;
  std::uint64_t start = 0, size = 0, own = 0;
  if (space == Space::shared) {
    memory = block_.shared().data();
    start = program_.shared_base;
    size = block_.shared().size();
  } else if (space == Space::global || space == Space::constant) {
    if (last_buffer_ == nullptr || address[first] - last_buffer_->address >= last_buffer_->bytes)
      locate_lane(space, static_cast<int>(first), address[first], bytes, writes);
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
  if (!good)
    for_each_lane(
        mask, [&](std::size_t lane) { addresses.host[lane] = locate_lane(space, static_cast<int>(lane), address[lane], bytes, writes); });
  if (one_space) {
    tell_access(operation, space, bytes, mask, reads, writes, addresses, asynchronous, first_register);
  } else {
    tell_mixed_access(*this, operation, bytes, mask, reads, writes, addresses);
  }
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

/// Memory of one kind: shared memory, or a buffer.
struct Region {
  std::uint8_t* memory = nullptr;
  std::uint64_t start = 0, bytes = 0;  ///< its first address
};

/// The same offset of each lane's local memory.
struct LocalPlaces {
  std::uint8_t* first;
  std::size_t stride;
  std::uint8_t* operator[](std::size_t lane) const { return first + stride * lane; }
};

/// The memory that an access without an error may use, by its first lane. Without bytes where there is none. Inlined whatever else the
/// compiler sees in the file: loads of one address for all lanes otherwise take a tenth longer.
[[gnu::always_inline]] inline Region find_region(WarpState& warp, const Operation& operation, const WarpState::AddressOperand& operand,
                                                 LaneMask mask) {
  if (operand.space == Space::shared) return {warp.block().shared().data(), warp.program().shared_base, warp.block().shared().size()};
  if (operand.narrow) return {};
  if (operand.space == Space::param && operation.semantics == catalogue::Semantics::load)
    return {const_cast<std::uint8_t*>(warp.launch().parameters.data()), 0, warp.launch().parameters.size()};
  if (operand.space != Space::global && operand.space != Space::generic) return {};
  const auto* const base = warp.at<std::uint64_t>(warp.source_slot(operation, operand.source));
  const std::uint64_t address = base[first_lane(mask)] + static_cast<std::uint64_t>(operand.offset);
  const DeviceMemory::Buffer*& buffer = warp.block().last_buffer(operation.payload);
  if (buffer == nullptr || address - buffer->address >= buffer->bytes) buffer = warp.launch().memory.find(address);
  return buffer == nullptr || buffer->freed ? Region{} : Region{buffer->data.get(), buffer->address, buffer->bytes};
}

/// The addresses in a region, where the access is of the usual kind: nothing for all others, which locate() finds or reports.
[[gnu::always_inline]] inline std::optional<scalar::LaneAddresses> lane_addresses(WarpState& warp, const Operation& operation,
                                                                                  const Access& access,
                                                                                  const WarpState::AddressOperand& operand, LaneMask mask,
                                                                                  const Region& region) {
  const std::uint32_t bytes = std::uint32_t{access.bytes} * access.vector;
  const bool wide_element = access.bytes > 8 && operation.semantics != catalogue::Semantics::cp_async;
  const bool relative = access.relative && access.space != Space::local;
  if (access.ordered || relative || wide_element || region.bytes < bytes || region.bytes > outside) return std::nullopt;
  return scalar::LaneAddresses{.base = warp.at<std::uint8_t>(warp.source_slot(operation, operand.source)),
                               .wide = !operand.narrow,
                               .wraps = operand.space == Space::shared && (operand.narrow || !warp.program().is_list),
                               .add = static_cast<std::uint64_t>(operand.offset) - region.start,
                               .lanes = mask,
                               .start = static_cast<std::uint32_t>(region.start),
                               .bytes = bytes,
                               .last = static_cast<std::uint32_t>(region.bytes - bytes),
                               .element = access.bytes};
}

/// WarpState::find_offsets() of local memory, of which each lane has its own, unless an observer wants to know of the access.
bool find_local_offsets(WarpState& warp, const Operation& operation, const Access& access, const WarpState::AddressOperand& operand,
                        LaneMask mask, WarpState::Offsets& out) {
  const std::uint64_t own = warp.launch().local_bytes;
  if (operand.narrow || own * warp_size > outside || warp.observers().want(events_of(Space::local))) return false;
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

namespace {

/// A load of one element whose address is a constant, as of most parameters. False for all others, and where the address is bad.
bool load_uniform(WarpState& warp, const Operation& operation, const Access& access, LaneMask mask) {
  if (access.narrow_address || access.vector != 1 || access.bytes < 4 || access.bytes * 8 != access.register_bits) return false;
  const Region region = find_region(warp, operation, WarpState::first_address(access), mask);
  const std::uint64_t offset =
      *warp.at<std::uint64_t>(warp.source_slot(operation, 0)) + static_cast<std::uint64_t>(access.offset) - region.start;
  if (region.bytes < access.bytes || offset > region.bytes - access.bytes || (region.start + offset) % access.bytes != 0) return false;
  const std::uint8_t* const from = region.memory + offset;
  if (access.bytes == 4)
    fill_lanes(warp.at<std::uint32_t>(warp.result_slot(operation, 0)), read<std::uint32_t>(from), mask);
  else
    fill_lanes(warp.at<std::uint64_t>(warp.result_slot(operation, 0)), read<std::uint64_t>(from), mask);
  return true;
}

/// The element of each lane in its own local memory, where the address is a constant, as of what calls pass, and no observer wants to know.
/// Nothing for all others, and where the address is bad.
template <bool observed>
inline std::optional<LocalPlaces> local_places(WarpState& warp, const Operation& operation, const Access& access) {
  const code::Slot base = warp.source_slot(operation, 0);
  if (!access.relative || base >= 0 || access.narrow_address || access.ordered ||
      (observed && warp.observers().want(events_of(Space::local))))
    return std::nullopt;
  const std::uint64_t address = *warp.at<std::uint64_t>(base) + static_cast<std::uint64_t>(access.offset) + warp.split().local;
  const std::uint64_t bytes = std::uint64_t{access.bytes} * access.vector, own = warp.launch().local_bytes;
  if (own < bytes || address > own - bytes || address % bytes != 0) return std::nullopt;
  return LocalPlaces{warp.whole_local_memory(0) + address, own};
}

}  // namespace

/// What a load or store that find_offsets() has found does.
WarpState::AccessKind WarpState::kind_of(const Operation& operation, const Access& access) {
  return {.space = access.space == Space::generic ? Space::global : access.space,
          .bytes = std::uint32_t{access.bytes} * access.vector,
          .reads = operation.semantics != catalogue::Semantics::store,
          .writes = operation.semantics != catalogue::Semantics::load};
}

/// Tells observers of an access that find_offsets() has found.
void WarpState::tell_offsets(const Operation& operation, const AccessKind& kind, LaneMask mask, const Offsets& found) {
  const EventKinds events = events_of(kind.space);
  if (!observers_.want(events)) return;
  Addresses addresses;
  scalar::find_lane_places(found.offset.data(), found.start, found.memory, addresses.address.data(),
                           const_cast<const std::uint8_t**>(addresses.host.data()));
  const struct Forgets {  // also where an observer throws
    std::optional<scalar::LanePlaces>& places;
    ~Forgets() { places.reset(); }
  } forgets{told_places_};
  if (kind.space == Space::shared) {
    scalar::LanePlaces& told = told_places_.emplace();
    told.offsets = found.offset.data();
    scalar::find_lane_range(found.offset.data(), kind.bytes, told.range);
    told.range.whole &= mask == all_lanes;
  }
  observers_.tell(events, &Observer::access,
                  AccessEvent{.event = Event(*this, operation, mask),
                              .space = kind.space,
                              .reads = kind.reads,
                              .writes = kind.writes,
                              .bytes = kind.bytes,
                              .addresses = addresses.address,
                              .places = addresses.host,
                              .asynchronous = kind.asynchronous,
                              .consecutive = found.pattern == LanePattern::consecutive && found.offset[1] == found.offset[0] + kind.bytes});
}

namespace {

/// Whether all lanes access one element each, behind that of the lane before.
bool is_row(const Access& access, LaneMask mask, const WarpState::Offsets& found) {
  assert(access.bytes <= 8);  // find_offsets() takes no wider elements; Consecutive has none
  return found.pattern == LanePattern::consecutive && mask == all_lanes && access.vector == 1;
}

/// Whether registers of 4 or 8 bytes hold an element as memory does.
bool keeps_elements(const Access& access) {
  return access.bytes >= 4 && access.bytes * 8 == access.register_bits;
}

/// Gives the lanes of `mask` the values that the first of them has loaded.
void spread(WarpState& warp, const Operation& operation, const Access& access, LaneMask mask) {
  const auto spread_row = [mask](auto* row) { fill_lanes(row, row[first_lane(mask)], mask); };
  for (int e = 0; e < access.vector; ++e) {
    const code::Slot slot = warp.result_slot(operation, e);
    if (access.register_bits <= 32)
      spread_row(warp.at<std::uint32_t>(slot));
    else
      spread_row(warp.at<std::uint64_t>(slot));
  }
}

template <typename Places>
void load_from(WarpState& warp, const Operation& operation, const Access& access, const Places& places, LaneMask mask) {
  for (int e = 0; e < access.vector; ++e) {
    void* const to = warp.at<std::uint8_t>(warp.result_slot(operation, e));
    const std::size_t offset = static_cast<std::size_t>(e) * access.bytes;
    switch (access.register_bits) {
      case 16: load_register<std::uint16_t, std::uint32_t>(to, places, access, offset, mask); break;
      case 32: load_register<std::uint32_t, std::uint32_t>(to, places, access, offset, mask); break;
      case 64: load_register<std::uint64_t, std::uint64_t>(to, places, access, offset, mask); break;
      default:
        load_lanes<std::uint64_t, std::uint64_t, std::uint64_t>(to, places, offset, mask);
        load_lanes<std::uint64_t, std::uint64_t, std::uint64_t>(static_cast<std::uint64_t*>(to) + warp_size, places, offset + 8, mask);
    }
  }
}

}  // namespace

template <bool observed>
void load(WarpState& warp, const Operation& operation, LaneMask mask) {
  const Access& access = warp.program().of<code::Access>(operation);
  if (const auto places = local_places<observed>(warp, operation, access)) return load_from(warp, operation, access, *places, mask);
  if (!observed || !warp.observers().want(events_of(access.space))) {
    if (access.uniform && !access.ordered && load_uniform(warp, operation, access, mask)) return;
    if (moves_one_word(access)) {
      const Region region = find_region(warp, operation, WarpState::first_address(access), mask);
      const auto addresses = lane_addresses(warp, operation, access, WarpState::first_address(access), mask, region);
      auto* const row = warp.at<std::uint32_t>(warp.result_slot(operation, 0));
      if (addresses && scalar::load_lane_words(*addresses, region.memory, row) != LanePattern::invalid) return;
    }
  }
  if (WarpState::Offsets found; warp.find_offsets(operation, access, WarpState::first_address(access), mask, found)) {
    if constexpr (observed) warp.tell_offsets(operation, WarpState::kind_of(operation, access), mask, found);
    if (is_row(access, mask, found)) {
      if (keeps_elements(access))
        copy_row(warp.at<std::uint8_t>(warp.result_slot(operation, 0)), found[0], access.bytes);
      else
        load_from(warp, operation, access, Consecutive{found[0]}, mask);
    } else if (found.pattern == LanePattern::same) {
      load_from(warp, operation, access, found, lane_bit(first_lane(mask)));
      spread(warp, operation, access, mask);
    } else if (moves_words(access)) {
      for (int e = 0; e < access.vector; ++e)
        scalar::load_words_at(found.offset.data(), mask, found.memory + e * access.bytes,
                              warp.at<std::uint32_t>(warp.result_slot(operation, e)));
    } else {
      load_from(warp, operation, access, found, mask);
    }
    return;
  }
  WarpState::Addresses addresses;
  warp.find_addresses(operation, 0, access.offset, access.relative, addresses);
  warp.locate(operation, access.space, access.bytes * access.vector, mask, true, false, addresses);
  load_from(warp, operation, access, addresses.host, mask);
  if (access.ordered) {
    warp.poll(operation, addresses, access.bytes * access.vector, mask);
    warp.tell_order(Synchronisation::Kind::ordered_load, mask, addresses.host.data());
  }
}

namespace {

/// Stores each lane's words at once.
template <std::size_t count, typename Places>
void store_word_vectors(const std::array<const std::uint32_t*, count>& rows, const Places& host, LaneMask mask) {
  for_each_lane(mask, [&](std::size_t lane) {
    std::array<std::uint32_t, count> words;
    for (std::size_t e = 0; e < count; ++e) words[e] = rows[e][lane];
    std::memcpy(place_in<std::array<std::uint32_t, count>>(host, lane), words.data(), sizeof words);
  });
}

template <typename Places>
void store_elements(WarpState& warp, const Operation& operation, const Access& access, const Places& places, LaneMask mask) {
  for (int e = 0; e < access.vector; ++e) {
    const void* const from = warp.at<std::uint8_t>(warp.source_slot(operation, 1 + e));
    const std::size_t offset = static_cast<std::size_t>(e) * access.bytes;
    if (access.bytes == 16) {
      store_lanes<std::uint64_t, std::uint64_t>(from, places, offset, mask);
      store_lanes<std::uint64_t, std::uint64_t>(static_cast<const std::uint64_t*>(from) + warp_size, places, offset + 8, mask);
    } else if (access.register_bits <= 32) {
      store_register<std::uint32_t>(from, places, access.bytes, offset, mask);
    } else {
      store_register<std::uint64_t>(from, places, access.bytes, offset, mask);
    }
  }
}

template <typename Places>
void store_to(WarpState& warp, const Operation& operation, const Access& access, const Places& places, LaneMask mask) {
  const auto row = [&](int e) { return warp.at<std::uint32_t>(warp.source_slot(operation, 1 + e)); };
  if (access.bytes == 4 && access.register_bits == 32 && access.vector == 2) {
    store_word_vectors<2>({row(0), row(1)}, places, mask);
  } else if (access.bytes == 4 && access.register_bits == 32 && access.vector == 4) {
    store_word_vectors<4>({row(0), row(1), row(2), row(3)}, places, mask);
  } else {
    store_elements(warp, operation, access, places, mask);
  }
  if (access.space != Space::local) warp.block().make_progress();
}

}  // namespace

template <bool observed>
void store(WarpState& warp, const Operation& operation, LaneMask mask) {
  const Access& access = warp.program().of<code::Access>(operation);
  if (const auto places = local_places<observed>(warp, operation, access)) return store_to(warp, operation, access, *places, mask);
  if (moves_one_word(access) && !(observed && warp.observers().want(events_of(access.space)))) {
    const Region region = find_region(warp, operation, WarpState::first_address(access), mask);
    const auto addresses = lane_addresses(warp, operation, access, WarpState::first_address(access), mask, region);
    const auto* const row = warp.at<std::uint32_t>(warp.source_slot(operation, 1));
    if (addresses && scalar::store_lane_words(*addresses, region.memory, row) != LanePattern::invalid) return warp.block().make_progress();
  }
  if (WarpState::Offsets found; warp.find_offsets(operation, access, WarpState::first_address(access), mask, found)) {
    if constexpr (observed) warp.tell_offsets(operation, WarpState::kind_of(operation, access), mask, found);
    if (is_row(access, mask, found)) {
      if (!keeps_elements(access)) return store_to(warp, operation, access, Consecutive{found[0]}, mask);
      copy_row(found[0], warp.at<std::uint8_t>(warp.source_slot(operation, 1)), access.bytes);
    } else if (moves_one_word(access)) {
      scalar::store_words_at(found.offset.data(), mask, found.memory, warp.at<std::uint32_t>(warp.source_slot(operation, 1)));
    } else {
      return store_to(warp, operation, access, found, mask);
    }
    if (access.space == Space::local) return;
    return warp.block().make_progress();
  }
  WarpState::Addresses addresses;
  warp.find_addresses(operation, 0, access.offset, access.relative, addresses);
  warp.locate(operation, access.space, access.bytes * access.vector, mask, false, true, addresses);
  store_to(warp, operation, access, addresses.host, mask);
  if (access.ordered) warp.tell_order(Synchronisation::Kind::ordered_store, mask, addresses.host.data());
}

template void load<false>(WarpState& warp, const Operation& operation, LaneMask mask);
template void load<true>(WarpState& warp, const Operation& operation, LaneMask mask);
template void store<false>(WarpState& warp, const Operation& operation, LaneMask mask);
template void store<true>(WarpState& warp, const Operation& operation, LaneMask mask);

/// Whether the operation's order among blocks is visible, or its result depends on other blocks.
bool WarpState::is_ordered(const Operation& operation) const {
  return code::may_have_order(program_, operation) && (operation.semantics == catalogue::Semantics::fence || is_global(operation));
}

/// Whether other clusters may access what this load, store or atomic accesses.
bool WarpState::is_global(const Operation& operation) const {
  const Access& access = program_.of<Access>(operation);
  if (!code::is_shared_by_clusters(access.space)) return false;
  if (access.space != Space::generic) return true;
  Addresses addresses;
  find_addresses(operation, 0, access.offset, access.relative, addresses);
  return space_of(addresses.address[static_cast<std::size_t>(first_lane(split().lanes))]) == Space::global;
}

}  // namespace warpmat::inline v0_1::machine
