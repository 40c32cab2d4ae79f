// Atomic operations on one address.

#include <warpmat/machine/atomic_update.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include <warpmat/machine/each_lane.h>
#include <warpmat/ptx/program/atomic_operation.h>
#include <warpmat/scalar/floating.h>
#include <warpmat/warp.h>

namespace warpmat::machine {

using code::AtomicOperation;

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

/// What an operation leaves of `old`.
template <typename T>
T left_by(AtomicOperation operation, T old, T b, T c) {
  if (operation == AtomicOperation::compare_and_swap) return old == b ? c : old;
  return combine(operation, old, b);
}

/// Atomic among blocks that run at the same time: operations without a result need no reservation order.
template <typename T>
AtomicUpdate update(std::uint8_t* place, AtomicOperation operation, std::uint64_t operand_b, std::uint64_t operand_c, bool shared) {
  const auto b = static_cast<T>(operand_b), c = static_cast<T>(operand_c);
  const auto left_of = [&](T found) { return left_by(operation, found, b, c); };
  T old, left;
  if (shared) {
    std::memcpy(&old, place, sizeof old);
    left = left_of(old);
    std::memcpy(place, &left, sizeof left);
  } else {
    const std::atomic_ref<T> memory(*reinterpret_cast<T*>(place));
    old = memory.load();
    do left = left_of(old);
    while (!memory.compare_exchange_weak(old, left));
  }
  using Bits = std::make_unsigned_t<T>;
  return {static_cast<Bits>(old), static_cast<Bits>(left)};
}

template <typename T, AtomicOperation operation>
bool update_words(std::uint8_t* memory, const std::uint32_t* offset, const std::uint32_t* b, const std::uint32_t* c, LaneMask mask,
                  std::uint32_t* old) {
  bool changed = false;
  for_each_lane(mask, [&](std::size_t lane) {
    T found;
    std::memcpy(&found, memory + offset[lane], sizeof found);
    const T left = left_by(operation, found, static_cast<T>(b[lane]), static_cast<T>(c[lane]));
    std::memcpy(memory + offset[lane], &left, sizeof left);
    old[lane] = static_cast<std::uint32_t>(found);
    changed |= left != found;
  });
  return changed;
}

using WordsFunction = bool (*)(std::uint8_t* memory, const std::uint32_t* offset, const std::uint32_t* b, const std::uint32_t* c,
                               LaneMask mask, std::uint32_t* old);

/// update_words of each operation.
template <typename T, std::size_t... operation>
constexpr std::array<WordsFunction, sizeof...(operation)> words_functions(std::index_sequence<operation...>) {
  return {update_words<T, static_cast<AtomicOperation>(operation)>...};
}

template <typename T>
WordsFunction words_function(AtomicOperation operation) {
  static constexpr auto functions = words_functions<T>(std::make_index_sequence<code::atomic_names.size()>());
  return functions[static_cast<std::size_t>(operation)];
}

}  // namespace

bool update_shared_words(AtomicOperation operation, bool is_signed, std::uint8_t* memory, const std::uint32_t* offset,
                         const std::uint32_t* b, const std::uint32_t* c, LaneMask mask, std::uint32_t* old) {
  const auto update = is_signed ? words_function<std::int32_t>(operation) : words_function<std::uint32_t>(operation);
  return update(memory, offset, b, c, mask, old);
}

AtomicUpdate update_integer(AtomicOperation operation, const DataType& type, std::uint8_t* place, std::uint64_t b, std::uint64_t c,
                            bool shared) {
  const bool is_signed = type.is_signed_integer();
  switch (type.bytes()) {
    case 2: return update<std::uint16_t>(place, operation, b, c, shared);
    case 4: return is_signed ? update<std::int32_t>(place, operation, b, c, shared) : update<std::uint32_t>(place, operation, b, c, shared);
    default:
      return is_signed ? update<std::int64_t>(place, operation, b, c, shared) : update<std::uint64_t>(place, operation, b, c, shared);
  }
}

std::uint64_t combine_numbers(scalar::Function arithmetic, const scalar::Modifiers& modifiers, bool wide, std::uint64_t a,
                              std::uint64_t b) {
  alignas(64) std::uint64_t left[warp_size] = {}, right[warp_size] = {}, result[warp_size] = {};
  const auto put = [&](std::uint64_t* to, std::uint64_t value) {
    const auto narrow = static_cast<std::uint32_t>(value);
    wide ? std::memcpy(to, &value, 8) : std::memcpy(to, &narrow, 4);
  };
  put(left, a);
  put(right, b);
  void* const results[] = {result};
  const void* const sources[] = {left, right};
  arithmetic(results, sources, modifiers);
  return wide ? result[0] : result[0] & 0xffffffff;
}

std::uint64_t add_floats(bool wide, std::uint64_t a, std::uint64_t b) {
  if (wide) return std::bit_cast<std::uint64_t>(scalar::float_add(std::bit_cast<double>(a), std::bit_cast<double>(b)));
  const auto narrow = [](std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); };
  return std::bit_cast<std::uint32_t>(scalar::float_add(narrow(a), narrow(b)));
}

std::uint64_t flush_f32(std::uint64_t bits) {
  return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;
}

}  // namespace warpmat::machine
