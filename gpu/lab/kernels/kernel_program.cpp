#include "gpu/lab/kernels/kernel_program.h"

#include <algorithm>
#include <utility>

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

/// Removes units one by one, the last first, and also units inside those that remain.
bool leave_out(KernelProgram& whole, const std::function<std::vector<KernelUnit>&(KernelProgram&)>& list,
               const std::function<bool(const KernelProgram&)>& fails) {
  bool shortened = false;
  for (std::size_t i = list(whole).size(); i-- > 0;) {
    KernelProgram shorter = whole;
    list(shorter).erase(list(shorter).begin() + static_cast<std::ptrdiff_t>(i));
    if (fails(shorter)) {
      whole = std::move(shorter);
      shortened = true;
      continue;
    }
    for (std::size_t b = 0; b < list(whole)[i].blocks.size(); ++b)
      shortened |= leave_out(
          whole, [&](KernelProgram& p) -> std::vector<KernelUnit>& { return list(p)[i].blocks[b]; }, fails);
  }
  return shortened;
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
  KernelProgram shortest = kernel;
  while (leave_out(
      shortest, [](KernelProgram& p) -> std::vector<KernelUnit>& { return p.units; }, fails)) {
  }
  return shortest;
}

}  // namespace warpmat
