#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

/// What the scalar instruction `opcode` gives in one lane for these sources, in the order of the text: the first result's bits. The other
/// 31 lanes hold other numbers. A carry or a predicate is bit 0.
std::uint64_t run_scalar_lane(std::string_view opcode, std::initializer_list<std::uint64_t> sources);

/// The same of result number `result`.
std::uint64_t run_scalar_lane(std::string_view opcode, std::initializer_list<std::uint64_t> sources, std::size_t result);
