#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <warpmat/ptx/catalogue/row.h>
#include <warpmat/tables/requirement.h>

namespace warpmat::catalogue {

inline constexpr Requirement any_target = since(1, {1, 0});
/// What most instructions of a generation need; rows that need another version of PTX say so.
inline constexpr Requirement sm20 = since(20, {2, 0}), sm53 = since(53, {4, 2}), sm75 = since(75, {6, 5}), sm80 = since(80, {7, 0}),
                             sm89 = since(89, {8, 1}), sm90 = since(90, {7, 8}), sm100 = since(100, {8, 6});

/// A row executed by one kernel of scalar/kernel.h; without a name by that which its opcode names (row.h).
struct KernelRow {
  std::string opcode, operands;
  Requirement requirement = any_target;
  std::string kernel = {};
  std::uint8_t format_from = 0;  ///< as Row's
};

inline void add_kernel_rows(std::vector<Row>& rows, std::span<const KernelRow> table) {
  for (const KernelRow& row : table)
    rows.push_back({row.opcode, row.operands, nullptr, Semantics::compute, row.requirement, row.kernel, 0, row.format_from});
}

}  // namespace warpmat::catalogue
