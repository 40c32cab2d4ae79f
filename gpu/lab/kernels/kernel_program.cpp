#include "gpu/lab/kernels/kernel_program.h"

#include <algorithm>

#include "gpu/cases/shrink.h"

namespace warpmat {
namespace {

std::string text_of(const std::vector<KernelUnit>& units) {
  std::string text;
  for (const KernelUnit& unit : units)
    for (std::size_t i = 0; i < unit.lines.size(); ++i) {
      text += unit.lines[i] + '\n';
      if (i < unit.blocks.size()) text += text_of(unit.blocks[i]);
    }
  return text;
}

}  // namespace

std::size_t KernelProgram::statements() const {
  const std::string text = text_of(units);
  return static_cast<std::size_t>(std::ranges::count(text, ';'));
}

KernelLaunch KernelProgram::complete() const {
  KernelLaunch all = launch;
  all.ptx = begin + text_of(units) + end;
  return all;
}

KernelProgram shrink(const KernelProgram& kernel, const std::function<bool(const KernelProgram&)>& fails) {
  return shrunk(kernel, fails);
}

}  // namespace warpmat
