#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <warpmat/ptx/catalogue/names.h>

namespace warpmat::code {

/// The operation of an atomic on the old value and its sources.
enum class AtomicOperation : std::uint8_t { add, min, max, increase, decrease, bit_and, bit_or, bit_xor, exchange, compare_and_swap };

/// A qualifier of atom, red and reducing copies (PTX ISA 9.1 section 9.7.13.5) with its operation.
struct AtomicRow {
  catalogue::Qualifier qualifier;
  AtomicOperation operation;
  bool ordered = false;  ///< the memory depends on which of two integers' came last
};
/// In the order of the operations.
inline constexpr std::array atomic_rows{AtomicRow{".add", AtomicOperation::add},
                                        AtomicRow{".min", AtomicOperation::min},
                                        AtomicRow{".max", AtomicOperation::max},
                                        AtomicRow{".inc", AtomicOperation::increase, true},
                                        AtomicRow{".dec", AtomicOperation::decrease, true},
                                        AtomicRow{".and", AtomicOperation::bit_and},
                                        AtomicRow{".or", AtomicOperation::bit_or},
                                        AtomicRow{".xor", AtomicOperation::bit_xor},
                                        AtomicRow{".exch", AtomicOperation::exchange, true},
                                        AtomicRow{".cas", AtomicOperation::compare_and_swap, true}};

static_assert([] {
  for (std::size_t i = 0; i < atomic_rows.size(); ++i)
    if (atomic_rows[i].operation != static_cast<AtomicOperation>(i)) return false;
  return true;
}());

/// What an operation on integers leaves of `old`. `c`: the third operand of compare-and-swap.
template <typename T>
constexpr T left_by(AtomicOperation operation, T old, T b, T c) {
  switch (operation) {
    case AtomicOperation::add: return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) + static_cast<std::make_unsigned_t<T>>(b));
    case AtomicOperation::min: return b < old ? b : old;
    case AtomicOperation::max: return b > old ? b : old;
    case AtomicOperation::increase: return old >= b ? T{0} : static_cast<T>(old + 1);
    case AtomicOperation::decrease: return old == 0 || old > b ? b : static_cast<T>(old - 1);
    case AtomicOperation::bit_and: return old & b;
    case AtomicOperation::bit_or: return old | b;
    case AtomicOperation::bit_xor: return old ^ b;
    case AtomicOperation::exchange: return b;
    case AtomicOperation::compare_and_swap: return old == b ? c : old;
  }
  return old;
}

}  // namespace warpmat::code
