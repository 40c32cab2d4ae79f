// Loads and stores. All addresses of a statement are checked before any byte is accessed.

#include <algorithm>
#include <cstring>

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

/// Loads one element of each lane into a register of Element; signed types are extended to `Register` bits.
template <typename Memory, typename Register, typename Element, typename Places>
void load_lanes(void* to, const Places& host, std::size_t at, LaneMask mask) {
  auto* const out = static_cast<Element*>(to);
  for_each_lane(mask, [&](std::size_t lane) { out[lane] = static_cast<Element>(static_cast<Register>(read<Memory>(host[lane] + at))); });
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

/// Whether the access moves a word between a register and memory, as it is.
bool moves_words(const Access& access) {
  return access.bytes == 4 && access.vector == 1 && access.register_bits == 32;
}

template <typename Memory, typename Element, typename Places>
void store_lanes(const void* from, const Places& host, std::size_t at, LaneMask mask) {
  const auto* const in = static_cast<const Element*>(from);
  for_each_lane(mask, [&](std::size_t lane) {
    const auto value = static_cast<Memory>(in[lane]);
    std::memcpy(host[lane] + at, &value, sizeof value);
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
  const bool narrow = source == 0 ? program_.accesses[operation.detail].narrow_address : program_.accesses[operation.detail].narrow_source;
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
  // Shared addresses have 32 bits, whatever the width of their registers.
  if (space == Space::shared)
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
    tell_mixed_access(operation, bytes, mask, reads, writes, addresses);
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

/// Generic addresses of several spaces: an access of each space.
void WarpState::tell_mixed_access(const Operation& operation, std::uint32_t bytes, LaneMask mask, bool reads, bool writes,
                                  const Addresses& addresses) const {
  if (!observers_.want(EventKinds::accesses | EventKinds::shared_accesses)) return;
  for (const Space space : {Space::shared, Space::local, Space::param, Space::global}) {
    Addresses mine = addresses;
    LaneMask lanes = 0;
    for_each_lane(mask, [&](std::size_t lane) {
      if (space_of(addresses.address[lane]) != space) return;
      lanes |= lane_bit(static_cast<int>(lane));
      if (space != Space::global) mine.address[lane] -= code::window_start(space);
    });
    if (lanes != 0) tell_access(operation, space, bytes, lanes, reads, writes, mine, false, 0);
  }
}

/// The memory that an access without an error may use, by its first lane. Without bytes where there is none.
inline WarpState::Region WarpState::find_region(const Operation& operation, const AddressOperand& operand, LaneMask mask) {
  if (operand.space == Space::shared) return {block_.shared().data(), program_.shared_base, block_.shared().size()};
  if (operand.narrow) return {};
  if (operand.space == Space::param && operation.semantics == catalogue::Semantics::load)
    return {const_cast<std::uint8_t*>(launch_.parameters.data()), 0, launch_.parameters.size()};
  if (operand.space != Space::global && operand.space != Space::generic) return {};
  const auto* const base = at<std::uint64_t>(source_slot(operation, operand.source));
  const std::uint64_t address = base[first_lane(mask)] + static_cast<std::uint64_t>(operand.offset);
  const DeviceMemory::Buffer*& buffer = block_.last_buffer(operation.detail);
  if (buffer == nullptr || address - buffer->address >= buffer->bytes) buffer = launch_.memory.find(address);
  return buffer == nullptr || buffer->freed ? Region{} : Region{buffer->data.get(), buffer->address, buffer->bytes};
}

/// The addresses in a region, where the access is of the usual kind: nothing for all others, which locate() finds or reports.
inline std::optional<scalar::LaneAddresses> WarpState::lane_addresses(const Operation& operation, const Access& access,
                                                                      const AddressOperand& operand, LaneMask mask,
                                                                      const Region& region) const {
  const std::uint32_t bytes = std::uint32_t{access.bytes} * access.vector;
  const bool wide_element = access.bytes > 8 && operation.semantics != catalogue::Semantics::cp_async;
  if (access.ordered || access.relative || wide_element || region.bytes < bytes || region.bytes > outside) return std::nullopt;
  return scalar::LaneAddresses{.base = at<std::uint8_t>(source_slot(operation, operand.source)),
                               .wide = !operand.narrow,
                               .wraps = operand.space == Space::shared,
                               .add = static_cast<std::uint64_t>(operand.offset) - region.start,
                               .lanes = mask,
                               .start = static_cast<std::uint32_t>(region.start),
                               .bytes = bytes,
                               .last = static_cast<std::uint32_t>(region.bytes - bytes),
                               .element = access.bytes};
}

/// The common case of an access: all lanes of `mask` access one memory, without an error. Lanes outside of `mask` get the offset of one
/// inside. False for all others.
bool WarpState::find_offsets(const Operation& operation, const Access& access, const AddressOperand& operand, LaneMask mask, Offsets& out) {
  const Region region = find_region(operation, operand, mask);
  const auto addresses = lane_addresses(operation, access, operand, mask, region);
  if (!addresses) return false;
  out.memory = region.memory;
  out.start = region.start;
  out.pattern = scalar::find_lane_offsets(*addresses, out.offset.data());
  return out.pattern != LanePattern::invalid;
}

/// A load of one element whose address is a constant, as of most parameters. False for all others, and where the address is bad.
bool WarpState::load_uniform(const Operation& operation, const Access& access, LaneMask mask) {
  if (access.narrow_address || access.vector != 1 || access.bytes < 4 || access.bytes * 8 != access.register_bits) return false;
  const Region region = find_region(operation, first_address(access), mask);
  const std::uint64_t offset = *at<std::uint64_t>(source_slot(operation, 0)) + static_cast<std::uint64_t>(access.offset) - region.start;
  if (region.bytes < access.bytes || offset > region.bytes - access.bytes || (region.start + offset) % access.bytes != 0) return false;
  const std::uint8_t* const from = region.memory + offset;
  if (access.bytes == 4)
    fill_lanes(at<std::uint32_t>(result_slot(operation, 0)), read<std::uint32_t>(from), mask);
  else
    fill_lanes(at<std::uint64_t>(result_slot(operation, 0)), read<std::uint64_t>(from), mask);
  return true;
}

/// The element of each lane in its own local memory, where the address is a constant, as of what calls pass, and no observer wants to know.
/// Nothing for all others, and where the address is bad.
inline std::optional<WarpState::LocalPlaces> WarpState::local_places(const Operation& operation, const Access& access) {
  const code::Slot base = source_slot(operation, 0);
  if (!access.relative || base >= 0 || access.narrow_address || access.ordered || observers_.want(events_of(Space::local)))
    return std::nullopt;
  const std::uint64_t address = *at<std::uint64_t>(base) + static_cast<std::uint64_t>(access.offset) + split().local;
  const std::uint64_t bytes = std::uint64_t{access.bytes} * access.vector, own = launch_.local_bytes;
  if (own < bytes || address > own - bytes || address % bytes != 0) return std::nullopt;
  return LocalPlaces{local_.data() + address, own};
}

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
  for (std::size_t lane = 0; lane < warp_size; ++lane) addresses.address[lane] = found.start + found.offset[lane];
  for (std::size_t lane = 0; lane < warp_size; ++lane) addresses.host[lane] = found[lane];
  if (kind.space == Space::shared) {
    told_range_ = scalar::find_lane_range(found.offset.data(), kind.bytes);
    told_range_->whole &= mask == all_lanes;
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
  told_range_.reset();
}

/// Whether all lanes access consecutive elements as their registers hold them.
bool WarpState::moves_rows(const Access& access, LaneMask mask, const Offsets& found) {
  return found.pattern == LanePattern::consecutive && mask == all_lanes && access.vector == 1 && access.bytes >= 4 &&
         access.bytes * 8 == access.register_bits;
}

/// Gives the lanes of `mask` the values that the first of them has loaded.
void WarpState::spread(const Operation& operation, const Access& access, LaneMask mask) {
  const auto spread_row = [mask](auto* row) { fill_lanes(row, row[first_lane(mask)], mask); };
  for (int e = 0; e < access.vector; ++e) {
    const code::Slot slot = result_slot(operation, e);
    if (access.register_bits <= 32)
      spread_row(at<std::uint32_t>(slot));
    else
      spread_row(at<std::uint64_t>(slot));
  }
}

template <typename Places>
void WarpState::load_from(const Operation& operation, const Access& access, const Places& places, LaneMask mask) {
  for (int e = 0; e < access.vector; ++e) {
    void* const to = at<std::uint8_t>(result_slot(operation, e));
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

void WarpState::load(const Operation& operation, LaneMask mask) {
  const Access& access = program_.accesses[operation.detail];
  if (const auto places = local_places(operation, access)) return load_from(operation, access, *places, mask);
  if (!observers_.want(events_of(access.space))) {
    if (access.uniform && !access.ordered && load_uniform(operation, access, mask)) return;
    if (moves_words(access)) {
      const Region region = find_region(operation, first_address(access), mask);
      const auto addresses = lane_addresses(operation, access, first_address(access), mask, region);
      auto* const row = at<std::uint32_t>(result_slot(operation, 0));
      if (addresses && scalar::load_lane_words(*addresses, region.memory, row) != LanePattern::invalid) return;
    }
  }
  if (Offsets found; find_offsets(operation, access, first_address(access), mask, found)) {
    tell_offsets(operation, kind_of(operation, access), mask, found);
    if (moves_rows(access, mask, found))
      copy_row(at<std::uint8_t>(result_slot(operation, 0)), found[0], access.bytes);
    else if (found.pattern == LanePattern::same) {
      load_from(operation, access, found, lane_bit(first_lane(mask)));
      spread(operation, access, mask);
    } else if (moves_words(access)) {
      scalar::load_words_at(found.offset.data(), mask, found.memory, at<std::uint32_t>(result_slot(operation, 0)));
    } else {
      load_from(operation, access, found, mask);
    }
    return;
  }
  Addresses addresses;
  find_addresses(operation, 0, access.offset, access.relative, addresses);
  locate(operation, access.space, access.bytes * access.vector, mask, true, false, addresses);
  load_from(operation, access, addresses.host, mask);
  if (access.ordered) {
    poll(operation, addresses, access.bytes * access.vector, mask);
    tell_order(Synchronisation::Kind::ordered_load, mask, addresses.host.data());
  }
}

namespace {

/// Stores each lane's words at once.
template <std::size_t count, typename Places>
void store_word_vectors(const std::array<const std::uint32_t*, count>& rows, const Places& host, LaneMask mask) {
  for_each_lane(mask, [&](std::size_t lane) {
    std::array<std::uint32_t, count> words;
    for (std::size_t e = 0; e < count; ++e) words[e] = rows[e][lane];
    std::memcpy(host[lane], words.data(), sizeof words);
  });
}

template <typename Places>
void store_elements(const WarpState& warp, const Operation& operation, const Access& access, const Places& places, LaneMask mask) {
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

}  // namespace

template <typename Places>
void WarpState::store_to(const Operation& operation, const Access& access, const Places& places, LaneMask mask) {
  const auto row = [&](int e) { return at<std::uint32_t>(source_slot(operation, 1 + e)); };
  if (access.bytes == 4 && access.register_bits == 32 && access.vector == 2) {
    store_word_vectors<2>({row(0), row(1)}, places, mask);
  } else if (access.bytes == 4 && access.register_bits == 32 && access.vector == 4) {
    store_word_vectors<4>({row(0), row(1), row(2), row(3)}, places, mask);
  } else {
    store_elements(*this, operation, access, places, mask);
  }
  if (access.space != Space::local) block_.make_progress();
}

void WarpState::store(const Operation& operation, LaneMask mask) {
  const Access& access = program_.accesses[operation.detail];
  if (const auto places = local_places(operation, access)) return store_to(operation, access, *places, mask);
  if (moves_words(access) && !observers_.want(events_of(access.space))) {
    const Region region = find_region(operation, first_address(access), mask);
    const auto addresses = lane_addresses(operation, access, first_address(access), mask, region);
    const auto* const row = at<std::uint32_t>(source_slot(operation, 1));
    if (addresses && scalar::store_lane_words(*addresses, region.memory, row) != LanePattern::invalid) return block_.make_progress();
  }
  if (Offsets found; find_offsets(operation, access, first_address(access), mask, found)) {
    tell_offsets(operation, kind_of(operation, access), mask, found);
    if (moves_rows(access, mask, found))
      copy_row(found[0], at<std::uint8_t>(source_slot(operation, 1)), access.bytes);
    else if (moves_words(access))
      scalar::store_words_at(found.offset.data(), mask, found.memory, at<std::uint32_t>(source_slot(operation, 1)));
    else
      return store_to(operation, access, found, mask);
    return block_.make_progress();
  }
  Addresses addresses;
  find_addresses(operation, 0, access.offset, access.relative, addresses);
  locate(operation, access.space, access.bytes * access.vector, mask, false, true, addresses);
  store_to(operation, access, addresses.host, mask);
  if (access.ordered) tell_order(Synchronisation::Kind::ordered_store, mask, addresses.host.data());
}

/// Whether the operation's order among blocks is visible, or its result depends on other blocks.
bool WarpState::is_ordered(const Operation& operation) const {
  if (!code::may_have_order(program_, operation)) return false;
  if (operation.semantics == catalogue::Semantics::fence) return true;
  const Access& access = program_.accesses[operation.detail];
  if (access.space != Space::generic) return true;
  Addresses addresses;
  find_addresses(operation, 0, access.offset, access.relative, addresses);
  return space_of(addresses.address[static_cast<std::size_t>(first_lane(split().lanes))]) == Space::global;
}

}  // namespace warpmat::inline v0_1::machine
