// Loads and stores: the bytes, between registers and the places that warp_addresses.cpp finds.

#include <algorithm>
#include <cassert>
#include <cstring>
#include <type_traits>

#include <warpmat/machine/block.h>
#include <warpmat/machine/each_lane.h>
#include <warpmat/machine/execute_row.h>
#include <warpmat/machine/lane_rows.h>
#include <warpmat/machine/operations.h>
#include <warpmat/machine/region.h>

namespace warpmat::machine {

using code::Access;
using code::LoadAccess;
using code::Operation;
using scalar::LanePattern;

namespace {

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
void load_register(void* to, const Places& host, const LoadAccess& access, std::size_t at, LaneMask mask) {
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

/// The lanes' words. By vectors: GCC would choose `rep movs`, which takes longer than the rest of a load.
void copy_words(std::uint8_t* to, const std::uint8_t* from) {
  typedef std::uint8_t Piece __attribute__((vector_size(16)));
#pragma GCC unroll 8
  for (std::size_t at = 0; at < word_row; at += sizeof(Piece)) {
    const auto piece = read<Piece>(from + at);
    std::memcpy(to + at, &piece, sizeof piece);
  }
}

/// The lanes' elements of 4 or 8 bytes.
void copy_row(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) {
  copy_words(to, from);
  if (bytes == 8) copy_words(to + word_row, from + word_row);
}

/// Whether the access moves words between registers and memory, as they are.
bool moves_words(const Access& access) {
  return access.bytes == 4 && access.register_bits == 32;
}

bool moves_one_word(const Access& access) {
  return moves_words(access) && access.vector == 1;
}

/// An element of each lane, of the store's `whole` bytes.
template <typename Memory, typename Element, typename Places>
void store_lanes(const void* from, const Places& places, std::size_t at, std::size_t whole, LaneMask mask) {
  const Held<Places> host = places;
  const auto* const in = static_cast<const Element*>(from);
  const auto store_one = [&](std::size_t lane) {
    const auto value = static_cast<Memory>(in[lane]);
    std::memcpy(place_in<Memory>(host, lane) + at, &value, sizeof value);
  };
  if constexpr (std::is_same_v<Places, Consecutive>)
    for_each_lane(mask, store_one);  // each lane has its own place
  else
    for_each_storing_lane(mask, whole, store_one);
}

template <typename Element, typename Places>
void store_register(const void* from, const Places& host, const Access& access, std::size_t at, LaneMask mask) {
  const std::size_t whole = std::size_t{access.bytes} * static_cast<std::size_t>(access.vector);
  switch (access.bytes) {
    case 1: return store_lanes<std::uint8_t, Element>(from, host, at, whole, mask);
    case 2: return store_lanes<std::uint16_t, Element>(from, host, at, whole, mask);
    case 4: return store_lanes<std::uint32_t, Element>(from, host, at, whole, mask);
    default: return store_lanes<std::uint64_t, Element>(from, host, at, whole, mask);
  }
}

/// The same offset of each lane's local memory.
struct LocalPlaces {
  std::uint8_t* first;
  std::size_t stride;
  std::uint8_t* operator[](std::size_t lane) const { return first + stride * lane; }
};

/// A load of one element whose address is a constant, as of most parameters. False for all others, and where the address is bad.
bool load_uniform(WarpState& warp, const Operation& operation, const LoadAccess& access, LaneMask mask) {
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
  return LocalPlaces{warp.whole_local_memory(0) + address, static_cast<std::size_t>(own)};
}

/// Whether all lanes access one element each, behind that of the lane before.
bool is_row(const Access& access, LaneMask mask, const WarpState::Offsets& found) {
  assert(access.bytes <= 8);  // find_offsets() takes no wider elements; Consecutive has none
  return found.pattern == LanePattern::consecutive && mask == all_lanes && access.vector == 1;
}

/// Whether registers of 4 or 8 bytes hold an element as memory does.
bool keeps_elements(const Access& access) {
  return access.bytes >= 4 && access.bytes * 8 == access.register_bits;
}

/// Moves a word of each of 32 lanes in global memory: moves_row().
template <bool stores>
[[gnu::always_inline]] inline bool moves_global_row(WarpState& warp, const Operation& operation, const Access& access, const void* base,
                                                    std::uint32_t* row) {
  constexpr std::uint32_t word = 4;
  const std::uint64_t address = *static_cast<const std::uint64_t*>(base) + static_cast<std::uint64_t>(access.offset);
  LastAccess& last = warp.block().last_access(operation.payload);
  const StoredBuffer* buffer = last.buffer;
  if (buffer == nullptr || address - buffer->address >= buffer->bytes) {  // of a block's first access, most often
    buffer = last.buffer = find_buffer(warp.launch().memory, address);
    if (buffer == nullptr) return false;
  }
  if (!buffer->open() || buffer->live != nullptr) return false;
  if (buffer->address % word != 0 || buffer->bytes < word || buffer->bytes > largest_region) return false;
  const std::uint64_t add = static_cast<std::uint64_t>(access.offset) - buffer->address;
  const auto end = static_cast<std::uint32_t>(buffer->bytes) - word;
  if (stores ? !scalar::store_row_by_wides(base, add, end, buffer->data.get(), row, nullptr)
             : !scalar::load_row_by_wides(base, add, end, buffer->data.get(), row, nullptr))
    return false;
  const std::uint32_t stride = static_cast<std::uint32_t>(address) - last.address;
  if (stride == last.stride) fetch_ahead(warp, operation, *buffer, address - buffer->address, stride);
  last.address = static_cast<std::uint32_t>(address);
  last.stride = stride;
  return true;
}

/// The same in shared memory. `map`: that of the bytes which no observer is to be told of, or null.
template <bool stores>
[[gnu::always_inline]] inline bool moves_shared_row(WarpState& warp, const Access& access, const void* base, std::uint32_t* row,
                                                    const std::uint16_t* map) {
  constexpr std::uint32_t word = 4;
  const std::span<std::uint8_t> shared = warp.block().shared();
  const std::uint32_t start = warp.block().shared_base(), add = static_cast<std::uint32_t>(access.offset) - start;
  const std::uint64_t bytes = std::min<std::uint64_t>(shared.size(), access.shared_end);
  if (start % word != 0 || bytes < word) return false;
  const auto end = static_cast<std::uint32_t>(bytes) - word;
  return stores ? scalar::store_row_by_words(base, add, end, shared.data(), row, map)
                : scalar::load_row_by_words(base, add, end, shared.data(), row, map);
}

/// Moves a word of each of 32 lanes, in the usual case: consecutive words, or of a load one and the same, and no observer is to be told.
/// False for all others.
template <bool observed, bool stores>
[[gnu::always_inline]] inline bool moves_row(WarpState& warp, const Operation& operation, const Access& access, LaneMask mask) {
  const bool shared = access.space == Space::shared;
  if (mask != all_lanes || !moves_one_word(access) || access.ordered || access.relative || access.narrow_address != shared) return false;
  if (!shared && access.space != Space::global && access.space != Space::generic) return false;
  const std::uint16_t* map = nullptr;
  if (observed && warp.observers().want(events_of(access.space))) {
    if (!shared || (map = warp.observers().plain_bytes(warp.block().rank(), access.bytes)) == nullptr) return false;
  }
  const code::Slot* const slot = warp.slots(operation);
  std::uint8_t* const frame = warp.registers() + warp.split().frame;
  const void* const base = place_of(slot[stores ? 0 : 1], frame, warp.constants());
  auto* const row = static_cast<std::uint32_t*>(const_cast<void*>(place_of(slot[stores ? 1 : 0], frame, warp.constants())));
  return shared ? moves_shared_row<stores>(warp, access, base, row, map) : moves_global_row<stores>(warp, operation, access, base, row);
}

/// A load or store of one word of each lane in shared memory, in bytes of which no observer is to be told. False for all others.
[[gnu::noinline]] bool moves_plain_words(WarpState& warp, const Operation& operation, const Access& access, LaneMask mask) {
  if (access.space != Space::shared || !moves_one_word(access)) return false;
  const std::uint16_t* const plain = warp.observers().plain_bytes(warp.block().rank(), access.bytes);
  if (plain == nullptr) return false;
  const Region region = find_region(warp, operation, WarpState::first_address(access), mask);
  const auto addresses = lane_addresses(warp, operation, access, WarpState::first_address(access), mask, region);
  if (!addresses) return false;
  if (operation.semantics == catalogue::Semantics::store)
    return scalar::store_lane_words_in(plain, *addresses, region.memory, warp.at<std::uint32_t>(warp.source_slot(operation, 1))) !=
           LanePattern::invalid;
  return scalar::load_lane_words_in(plain, *addresses, region.memory, warp.at<std::uint32_t>(warp.result_slot(operation, 0))) !=
         LanePattern::invalid;
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
void load_from(WarpState& warp, const Operation& operation, const LoadAccess& access, const Places& places, LaneMask mask) {
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

/// Vectors of `count` words, each behind that of the lane before: every count-th word is the next lane's.
template <std::size_t count>
void load_vectors(WarpState& warp, const Operation& operation, const std::uint8_t* from) {
  for (std::size_t e = 0; e < count; ++e) {
    auto* const __restrict row = warp.at<std::uint32_t>(warp.result_slot(operation, static_cast<int>(e)));
    for (std::size_t lane = 0; lane < warp_size; ++lane) row[lane] = read<std::uint32_t>(from + (lane * count + e) * 4);
  }
}

template <std::size_t count>
void store_vectors(WarpState& warp, const Operation& operation, std::uint8_t* to) {
  alignas(64) std::array<std::uint32_t, count * warp_size> words;
  for (std::size_t e = 0; e < count; ++e) {
    const auto* const row = warp.at<std::uint32_t>(warp.source_slot(operation, 1 + static_cast<int>(e)));
    for (std::size_t lane = 0; lane < warp_size; ++lane) words[lane * count + e] = row[lane];
  }
  const auto* const from = reinterpret_cast<const std::uint8_t*>(words.data());
  for (std::size_t row = 0; row < count; ++row) copy_words(to + row * word_row, from + row * word_row);
}

/// Whether the access is one of those: a vector of two words, or of four.
bool is_row_of_vectors(const Access& access, LaneMask mask, const WarpState::Offsets& found) {
  return found.pattern == LanePattern::consecutive && mask == all_lanes && moves_words(access) &&
         (access.vector == 2 || access.vector == 4);
}

/// All other loads. Not inlined, so that the usual case needs no stack for addresses.
template <bool observed>
[[gnu::noinline]] void load_otherwise(WarpState& warp, const Operation& operation, const LoadAccess& access, LaneMask mask) {
  if (const auto places = local_places<observed>(warp, operation, access)) return load_from(warp, operation, access, *places, mask);
  const bool told = observed && warp.observers().want(events_of(access.space));
  if (!told) {
    if (access.uniform && !access.ordered && load_uniform(warp, operation, access, mask)) return;
    if (moves_one_word(access)) {
      const Region region = find_region(warp, operation, WarpState::first_address(access), mask);
      const auto addresses = lane_addresses(warp, operation, access, WarpState::first_address(access), mask, region);
      auto* const row = warp.at<std::uint32_t>(warp.result_slot(operation, 0));
      if (addresses && scalar::load_lane_words(*addresses, region.memory, row) != LanePattern::invalid) return;
    }
  } else if (moves_plain_words(warp, operation, access, mask)) {
    return;
  }
  if (WarpState::Offsets found; warp.find_offsets(operation, access, WarpState::first_address(access), mask, found)) {
    if (told) warp.tell_offsets(operation, WarpState::kind_of(operation, access), mask, found);
    if (is_row(access, mask, found)) {
      if (keeps_elements(access))
        copy_row(warp.at<std::uint8_t>(warp.result_slot(operation, 0)), found[0], access.bytes);
      else
        load_from(warp, operation, access, Consecutive{found[0]}, mask);
    } else if (is_row_of_vectors(access, mask, found)) {
      access.vector == 2 ? load_vectors<2>(warp, operation, found[0]) : load_vectors<4>(warp, operation, found[0]);
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
  warp.locate(operation, access, mask, addresses);
  load_from(warp, operation, access, addresses.host, mask);
  if (access.ordered) {
    warp.poll(operation, addresses, access.bytes * access.vector, mask);
    if (!access.polled) warp.tell_order(Synchronisation::Kind::ordered_load, mask, addresses.host.data());
  }
}

/// Stores each lane's words at once.
template <std::size_t count, typename Places>
void store_word_vectors(const std::array<const std::uint32_t*, count>& rows, const Places& host, LaneMask mask) {
  for_each_storing_lane(mask, 4 * count, [&](std::size_t lane) {
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
      store_register<std::uint64_t>(from, places, access, offset, mask);
      store_register<std::uint64_t>(static_cast<const std::uint64_t*>(from) + warp_size, places, access, offset + 8, mask);
    } else if (access.register_bits <= 32) {
      store_register<std::uint32_t>(from, places, access, offset, mask);
    } else {
      store_register<std::uint64_t>(from, places, access, offset, mask);
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

/// As load_otherwise().
template <bool observed>
[[gnu::noinline]] void store_otherwise(WarpState& warp, const Operation& operation, const Access& access, LaneMask mask) {
  if (const auto places = local_places<observed>(warp, operation, access)) return store_to(warp, operation, access, *places, mask);
  const bool told = observed && warp.observers().want(events_of(access.space));
  if (told) {
    if (moves_plain_words(warp, operation, access, mask)) return warp.block().make_progress();
  } else if (moves_one_word(access)) {
    const Region region = find_region(warp, operation, WarpState::first_address(access), mask);
    const auto addresses = lane_addresses(warp, operation, access, WarpState::first_address(access), mask, region);
    const auto* const row = warp.at<std::uint32_t>(warp.source_slot(operation, 1));
    if (addresses && scalar::store_lane_words(*addresses, region.memory, row) != LanePattern::invalid) return warp.block().make_progress();
  }
  if (WarpState::Offsets found; warp.find_offsets(operation, access, WarpState::first_address(access), mask, found)) {
    if (told) warp.tell_offsets(operation, WarpState::kind_of(operation, access), mask, found);
    if (is_row(access, mask, found)) {
      if (!keeps_elements(access)) return store_to(warp, operation, access, Consecutive{found[0]}, mask);
      copy_row(found[0], warp.at<std::uint8_t>(warp.source_slot(operation, 1)), access.bytes);
    } else if (is_row_of_vectors(access, mask, found)) {
      access.vector == 2 ? store_vectors<2>(warp, operation, found[0]) : store_vectors<4>(warp, operation, found[0]);
    } else if (moves_one_word(access)) {
      scalar::store_words_at(found.offset.data(), mask, found.memory, warp.at<std::uint32_t>(warp.source_slot(operation, 1)));
    } else {
      return store_to(warp, operation, access, found, mask);
    }
    if (access.space == Space::local) return;
    return warp.block().make_progress();
  }
  WarpState::Addresses addresses;
  warp.locate(operation, access, mask, addresses);
  store_to(warp, operation, access, addresses.host, mask);
  if (access.ordered) warp.tell_order(Synchronisation::Kind::ordered_store, mask, addresses.host.data());
}

}  // namespace

template <bool observed>
void load(WarpState& warp, const Operation& operation, LaneMask mask) {
  const auto& access = warp.program().of<LoadAccess>(operation);
  if (!moves_row<observed, false>(warp, operation, access, mask)) load_otherwise<observed>(warp, operation, access, mask);
}

template <bool observed>
void store(WarpState& warp, const Operation& operation, LaneMask mask) {
  const auto& access = warp.program().of<code::StoreAccess>(operation);
  if (moves_row<observed, true>(warp, operation, access, mask)) return warp.block().make_progress();
  store_otherwise<observed>(warp, operation, access, mask);
}

template void load<false>(WarpState& warp, const Operation& operation, LaneMask mask);
template void load<true>(WarpState& warp, const Operation& operation, LaneMask mask);
template void store<false>(WarpState& warp, const Operation& operation, LaneMask mask);
template void store<true>(WarpState& warp, const Operation& operation, LaneMask mask);

}  // namespace warpmat::machine
