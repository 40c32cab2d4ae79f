#include "why.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tools/report/npy.h"

namespace warpmat {
namespace {

/// Registers of an operand, a case for each product.
void write_operand(const std::string& path, const Why& why, std::vector<std::uint32_t> Why::Step::*operand) {
  constexpr std::size_t lanes = 32;
  const std::size_t words = (why.steps.front().*operand).size();
  NpyArray array = NpyArray::zeros(DType::uint32, {why.steps.size(), words / lanes, lanes});
  std::byte* to = array.bytes.data();
  for (const Why::Step& step : why.steps) {
    std::memcpy(to, (step.*operand).data(), words * 4);
    to += words * 4;
  }
  write_npy(path, array);
}

}  // namespace

void print_why(const Why& why, const std::string& files, std::string_view target) {
  fmt::print("{}", why.text);
  const bool same = !why.steps.empty() && std::ranges::all_of(why.steps, [&](const Why::Step& step) {
    return step.opcode == why.steps.front().opcode && !step.a.empty();
  });
  if (!same) {
    if (!files.empty()) fmt::print("no files: the products are of several instructions, or their operands are not in registers\n");
    return;
  }
  if (files.empty()) {
    fmt::print("each product step by step: --why-files NAME writes its operands, and says the commands\n");
    return;
  }
  write_operand(files + ".a.npy", why, &Why::Step::a);
  write_operand(files + ".b.npy", why, &Why::Step::b);
  write_operand(files + ".c.npy", why, &Why::Step::c);
  for (std::size_t i = 0; i < why.steps.size(); ++i) {
    const Why::Step& step = why.steps[i];
    fmt::print("  product {}: warpmat explain {} --target {} --a {}.a.npy --b {}.b.npy --c {}.c.npy --case {} --row {} --column {}\n",
               i + 1, step.opcode, target, files, files, files, i, step.row, step.column);
  }
}

}  // namespace warpmat
