#pragma once

#include <span>
#include <string>
#include <vector>

#include <warpmat/ptx/catalogue/row.h>

namespace warpmat::catalogue {

/// sm_`baseline` and every later target.
constexpr Requirement since(int baseline, PtxVersion ptx) {
  return {.baseline = baseline, .ptx = ptx};
}

inline constexpr Requirement any_target = since(1, {1, 0});

/// A row executed by one kernel of scalar/kernel.h.
struct KernelRow {
  std::string opcode, operands, kernel;
  Requirement requirement = any_target;
};

inline void add_kernel_rows(std::vector<Row>& rows, std::span<const KernelRow> table) {
  for (const KernelRow& row : table) rows.push_back({row.opcode, row.operands, nullptr, Semantics::compute, row.requirement, row.kernel});
}

}  // namespace warpmat::catalogue
