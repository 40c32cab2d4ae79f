#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/runners/scalar_case.h"

namespace warpmat {

inline constexpr std::size_t lane_count = 32;  ///< threads of an entry, a warp

// Kernels whose instructions have constants for operands, as ptxas may compute such instructions itself.

/// One spelling with some of its operands constant: those whose bit is not in `variable`.
struct ConstantCase {
  const ScalarCase* shown = nullptr;
  std::uint32_t variable = 0;  ///< bit i: source i comes from memory

  bool is_variable(std::size_t source) const { return (variable >> source & 1) != 0; }
  std::string title() const;  ///< "div.full.f32, a varies"
};

/// The first case of each row of the catalogue.
std::vector<ScalarCase> first_spellings(std::vector<ScalarCase> cases);

/// For each of `cases` all operands constant, each alone variable, and each alone constant.
std::vector<ConstantCase> constant_cases(const std::vector<ScalarCase>& cases);

/// The operand `source` of tuple number `tuple` in a lane; of a constant the lane is 0. A register's bits.
std::uint64_t constant_operand(const ConstantCase& shown, std::size_t source, std::uint64_t tuple, unsigned lane);

/// PTX of an entry NAME(results, operands), which executes the instruction once for each of `count` tuples from `first` on, in each lane.
/// Results lie at word (tuple * results + result) * 32 + lane, variable operands at (tuple * sources + source) * 32 + lane, of 64 bits
/// each.
std::string constant_entry(const ConstantCase& shown, const std::string& name, std::uint64_t first, std::size_t count);

/// The operands that the entry reads.
std::vector<std::uint64_t> constant_operands(const ConstantCase& shown, std::uint64_t first, std::size_t count);

}  // namespace warpmat
