// Atomic operations on one address.

#include <warpmat/machine/atomic_update.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include <warpmat/ir/atomic_operation.h>
#include <warpmat/machine/each_lane.h>
#include <warpmat/scalar/floating.h>
#include <warpmat/warp.h>

namespace warpmat::machine {

using code::AtomicOperation;

namespace {

/// Atomic among blocks that run at the same time: operations without a result need no reservation order.
template <typename T>
[[gnu::always_inline]] inline AtomicUpdate update(std::uint8_t* place, AtomicOperation operation, std::uint64_t operand_b,
                                                  std::uint64_t operand_c, bool shared) {
  const auto b = static_cast<T>(operand_b), c = static_cast<T>(operand_c);
  const auto left_of = [&](T found) { return code::left_by(operation, found, b, c); };
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

/// The lanes' words in shared memory.
struct SharedWords {
  static constexpr bool shared = true;
  std::uint8_t* memory;
  const std::uint32_t* offset;
  std::uint8_t* operator[](std::size_t lane) const { return memory + offset[lane]; }
};

/// The same in memory that other blocks share.
struct GlobalWords {
  static constexpr bool shared = false;
  std::uint8_t* const* host;
  std::uint8_t* operator[](std::size_t lane) const { return host[lane]; }
};

template <typename T, AtomicOperation operation, typename Words>
bool update_words(Words words, const std::uint32_t* b, const std::uint32_t* c, LaneMask mask, std::uint32_t* old) {
  bool changed = false;
  for_each_lane(mask, [&](std::size_t lane) {
    const AtomicUpdate word = update<T>(words[lane], operation, b[lane], c[lane], Words::shared);
    old[lane] = static_cast<std::uint32_t>(word.old);
    changed |= word.left != word.old;
  });
  return changed;
}

template <typename Words>
using WordsFunction = bool (*)(Words words, const std::uint32_t* b, const std::uint32_t* c, LaneMask mask, std::uint32_t* old);

/// update_words of each operation.
template <typename T, typename Words, std::size_t... operation>
constexpr std::array<WordsFunction<Words>, sizeof...(operation)> words_functions(std::index_sequence<operation...>) {
  return {update_words<T, static_cast<AtomicOperation>(operation), Words>...};
}

template <typename T, typename Words>
WordsFunction<Words> words_function(AtomicOperation operation) {
  static constexpr auto functions = words_functions<T, Words>(std::make_index_sequence<code::atomic_rows.size()>());
  return functions[static_cast<std::size_t>(operation)];
}

template <typename Words>
bool update_all(AtomicOperation operation, bool is_signed, Words words, const std::uint32_t* b, const std::uint32_t* c, LaneMask mask,
                std::uint32_t* old) {
  const auto update_them = is_signed ? words_function<std::int32_t, Words>(operation) : words_function<std::uint32_t, Words>(operation);
  return update_them(words, b, c, mask, old);
}

}  // namespace

bool update_shared_words(AtomicOperation operation, bool is_signed, std::uint8_t* memory, const std::uint32_t* offset,
                         const std::uint32_t* b, const std::uint32_t* c, LaneMask mask, std::uint32_t* old) {
  return update_all(operation, is_signed, SharedWords{memory, offset}, b, c, mask, old);
}

bool update_global_words(AtomicOperation operation, bool is_signed, std::uint8_t* const* host, const std::uint32_t* b,
                         const std::uint32_t* c, LaneMask mask, std::uint32_t* old) {
  return update_all(operation, is_signed, GlobalWords{host}, b, c, mask, old);
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
