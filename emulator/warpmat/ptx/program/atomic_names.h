#pragma once

#include <array>
#include <string_view>
#include <utility>

#include <warpmat/ptx/program/code.h>

namespace warpmat::inline v0_1::code {

/// The qualifiers of atom, red and reducing copies (PTX ISA 9.1 section 9.7.13.5) with their operations.
inline constexpr std::array<std::pair<std::string_view, AtomicOperation>, 10> atomic_names{{{".add", AtomicOperation::add},
                                                                                            {".min", AtomicOperation::min},
                                                                                            {".max", AtomicOperation::max},
                                                                                            {".inc", AtomicOperation::increase},
                                                                                            {".dec", AtomicOperation::decrease},
                                                                                            {".and", AtomicOperation::bit_and},
                                                                                            {".or", AtomicOperation::bit_or},
                                                                                            {".xor", AtomicOperation::bit_xor},
                                                                                            {".exch", AtomicOperation::exchange},
                                                                                            {".cas", AtomicOperation::compare_and_swap}}};

}  // namespace warpmat::inline v0_1::code
