// atom and red: lane after lane, so that lanes that name the same place see each other.

#include <atomic>
#include <cstring>

#include <warpmat/machine/block.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::machine {

using code::Access;
using code::AtomicOperation;
using code::Operation;

namespace {

template <typename T>
T combine(AtomicOperation operation, T old, T b) {
  switch (operation) {
    case AtomicOperation::add: return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) + static_cast<std::make_unsigned_t<T>>(b));
    case AtomicOperation::min: return b < old ? b : old;
    case AtomicOperation::max: return b > old ? b : old;
    case AtomicOperation::increase: return old >= b ? T{0} : static_cast<T>(old + 1);
    case AtomicOperation::decrease: return old == 0 || old > b ? b : static_cast<T>(old - 1);
    case AtomicOperation::bit_and: return old & b;
    case AtomicOperation::bit_or: return old | b;
    case AtomicOperation::bit_xor: return old ^ b;
    case AtomicOperation::exchange:
    case AtomicOperation::compare_and_swap: return b;
  }
  return old;
}

/// In one step for blocks that run at the same time: operations without a result need no turn.
template <typename T>
T update(std::uint8_t* place, AtomicOperation operation, T b, T c) {
  const std::atomic_ref<T> memory(*reinterpret_cast<T*>(place));
  T old = memory.load();
  if (operation == AtomicOperation::compare_and_swap) {
    T expected = b;
    memory.compare_exchange_strong(expected, c);
    return expected;
  }
  while (!memory.compare_exchange_weak(old, combine(operation, old, b))) {
  }
  return old;
}

std::uint64_t update_integer(const Access& access, std::uint8_t* place, std::uint64_t b, std::uint64_t c) {
  const bool is_signed = access.type->is_signed_integer();
  switch (access.bytes) {
    case 2: return update<std::uint16_t>(place, access.atomic, static_cast<std::uint16_t>(b), static_cast<std::uint16_t>(c));
    case 4:
      if (is_signed)
        return static_cast<std::uint32_t>(
            update<std::int32_t>(place, access.atomic, static_cast<std::int32_t>(b), static_cast<std::int32_t>(c)));
      return update<std::uint32_t>(place, access.atomic, static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(c));
    default:
      if (is_signed)
        return static_cast<std::uint64_t>(
            update<std::int64_t>(place, access.atomic, static_cast<std::int64_t>(b), static_cast<std::int64_t>(c)));
      return update<std::uint64_t>(place, access.atomic, b, c);
  }
}

/// What the catalogue's instruction makes of two numbers.
std::uint64_t compute_one(const Access& access, bool wide, std::uint64_t a, std::uint64_t b) {
  alignas(64) std::uint64_t left[lanes] = {}, right[lanes] = {}, result[lanes] = {};
  const auto put = [&](std::uint64_t* to, std::uint64_t value) {
    const auto narrow = static_cast<std::uint32_t>(value);
    wide ? std::memcpy(to, &value, 8) : std::memcpy(to, &narrow, 4);
  };
  put(left, a);
  put(right, b);
  void* const results[] = {result};
  const void* const sources[] = {left, right};
  access.arithmetic(results, sources, access.modifiers);
  return wide ? result[0] : result[0] & 0xffffffff;
}

/// atom.add.f32 on global memory takes subnormal numbers for zeros and makes none (PTX ISA 9.1 section 9.7.13.5); on shared memory it does
/// not.
std::uint64_t flush_f32(std::uint64_t bits) {
  return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;
}

bool is_nan_f64(std::uint64_t bits) {
  return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
}

/// The sum that an atomic operation leaves in memory. In shared memory it is an add.f64 whose second source is what was there, which
/// decides between two NaNs. In global memory a NaN of f64 stays as it is, the operand's before that of memory; add would make it quiet
/// [H200: 144 pairs each].
std::uint64_t atomic_sum(const Access& access, bool in_shared, std::uint64_t old, std::uint64_t operand) {
  const bool wide = access.register_bits == 64;
  if (in_shared) return compute_one(access, wide, operand, old);
  if (wide && is_nan_f64(operand)) return operand;
  if (wide && is_nan_f64(old)) return old;
  const bool flush = access.flush;
  const std::uint64_t sum = compute_one(access, wide, flush ? flush_f32(old) : old, flush ? flush_f32(operand) : operand);
  return flush ? flush_f32(sum) : sum;
}

}  // namespace

void WarpState::atomic(const Operation& operation, LaneMask mask) {
  const Access& access = program_.accesses[operation.detail];
  Addresses addresses;
  find_addresses(operation, 0, access.offset, access.relative, addresses);
  // Where the address is generic, what locate() makes of it tells the space: shared addresses are below all others.
  const std::uint64_t first_given = addresses.address[static_cast<std::size_t>(first_lane(mask))];
  undefined_ = 0;
  locate(operation, access.space, access.bytes * access.vector, mask, true, true, addresses);
  for (int e = 0; undefined_ != 0 && e < operation.results; ++e)
    taint_loaded(operation, result_slot(operation, e), addresses, static_cast<std::size_t>(e) * access.bytes, access.bytes);
  if (access.atomic == AtomicOperation::exchange && block_.shadow() != nullptr)
    block_.shadow()->define(addresses.host, access.bytes * access.vector, mask);
  for (int e = 0; taint_.any() && e < access.vector; ++e)
    store_tainted(source_slot(operation, 1 + e), addresses, static_cast<std::size_t>(e) * access.bytes, access.bytes, mask);
  publish_copies();
  synchronise(addresses, mask);
  const bool in_shared =
      access.space == code::Space::shared ||
      (access.space == code::Space::generic && addresses.address[static_cast<std::size_t>(first_lane(mask))] != first_given);
  const bool wide = access.register_bits == 64;
  const auto value_of = [&](int source, int lane) -> std::uint64_t {
    return wide ? at<std::uint64_t>(source_slot(operation, source))[lane] : at<std::uint32_t>(source_slot(operation, source))[lane];
  };
  bool changed = false;
  for (int lane = 0; lane < lanes; ++lane) {
    if ((mask & lane_bit(lane)) == 0) continue;
    for (int e = 0; e < access.vector; ++e) {
      std::uint8_t* const place = addresses.host[static_cast<std::size_t>(lane)] + e * access.bytes;
      const std::uint64_t b = access.bytes == 16 ? 0 : value_of(1 + e, lane);
      std::uint64_t old = 0;
      if (access.bytes == 16) {
        exchange_128(operation, access, place, lane);
        changed = true;
        continue;
      }
      if (access.arithmetic != nullptr) {
        std::memcpy(&old, place, access.bytes);
        const std::uint64_t sum = atomic_sum(access, in_shared, old, b);
        std::memcpy(place, &sum, access.bytes);
        changed = true;
      } else {
        old = update_integer(access, place, b,
                             access.atomic == AtomicOperation::compare_and_swap ? value_of(1 + access.vector + e, lane) : 0);
        changed |= std::memcmp(&old, place, access.bytes) != 0;
      }
      if (operation.results > 0) write_word(operation, e, lane, old);
    }
  }
  if (changed) block_.make_progress();
  poll(operation, addresses, access.bytes * access.vector, mask);
}

/// atom.exch.b128 and atom.cas.b128.
void WarpState::exchange_128(const Operation& operation, const Access& access, std::uint8_t* place, int lane) {
  std::array<std::uint64_t, 2> old;
  std::memcpy(old.data(), place, 16);
  const auto read = [&](int source) {
    const auto* const halves = at<std::uint64_t>(source_slot(operation, source));
    return std::array<std::uint64_t, 2>{halves[lane], halves[lanes + lane]};
  };
  std::array<std::uint64_t, 2> value = read(1);
  if (access.atomic == AtomicOperation::compare_and_swap) value = old == value ? read(2) : old;
  std::memcpy(place, value.data(), 16);
  if (operation.results == 0) return;
  auto* const to = at<std::uint64_t>(result_slot(operation, 0));
  to[lane] = old[0];
  to[lanes + lane] = old[1];
}

}  // namespace warpmat::machine
