#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <warpmat/ptx/catalogue/names.h>

namespace warpmat::code {

/// The operation of an atomic on the old value and its sources.
enum class AtomicOperation : std::uint8_t { add, min, max, increase, decrease, bit_and, bit_or, bit_xor, exchange, compare_and_swap };

/// The qualifiers of atom, red and reducing copies (PTX ISA 9.1 section 9.7.13.5) with their operations.
inline constexpr auto atomic_names =
    std::to_array<std::pair<catalogue::Qualifier, AtomicOperation>>({{catalogue::Qualifier::add, AtomicOperation::add},
                                                                     {catalogue::Qualifier::min, AtomicOperation::min},
                                                                     {catalogue::Qualifier::max, AtomicOperation::max},
                                                                     {catalogue::Qualifier::inc, AtomicOperation::increase},
                                                                     {catalogue::Qualifier::dec, AtomicOperation::decrease},
                                                                     {catalogue::Qualifier::and_, AtomicOperation::bit_and},
                                                                     {catalogue::Qualifier::or_, AtomicOperation::bit_or},
                                                                     {catalogue::Qualifier::xor_, AtomicOperation::bit_xor},
                                                                     {catalogue::Qualifier::exch, AtomicOperation::exchange},
                                                                     {catalogue::Qualifier::cas, AtomicOperation::compare_and_swap}});

/// Operations are numbered in the order of the names, so that tables can be made of all.
static_assert([] {
  for (std::size_t i = 0; i < atomic_names.size(); ++i)
    if (atomic_names[i].second != static_cast<AtomicOperation>(i)) return false;
  return true;
}());

}  // namespace warpmat::code
