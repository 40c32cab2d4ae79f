#pragma once

#include <map>
#include <utility>

#include <warpmat/assembler.h>
#include <warpmat/ir/code.h>
#include <warpmat/ptx/syntax/module.h>

namespace warpmat::code {

inline const std::vector<AssemblerDecisions::Sum>& decisions_of(const AssemblerDecisions& all, const AssemblerDecisions::Sum*) {
  return all.sums;
}
inline const std::vector<AssemblerDecisions::Result>& decisions_of(const AssemblerDecisions& all, const AssemblerDecisions::Result*) {
  return all.results;
}
inline const std::vector<AssemblerDecisions::Product>& decisions_of(const AssemblerDecisions& all, const AssemblerDecisions::Product*) {
  return all.products;
}

/// The decisions of one kind, by the places of their statements: the first of each place.
template <typename Decision>
class ByPlace {
 public:
  explicit ByPlace(const AssemblerDecisions* all) {
    if (all == nullptr) return;
    for (const Decision& each : decisions_of(*all, static_cast<const Decision*>(nullptr)))
      by_place_.try_emplace({each.at.line, each.at.column}, &each);
  }

  /// What is decided about a statement of the program, or null.
  const Decision* find(const Program& program, std::uint32_t statement) const {
    const Location at = program.statements[statement]->location;
    const auto found = by_place_.find({at.line, at.column});
    return found == by_place_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::pair<int, int>, const Decision*> by_place_;
};

}  // namespace warpmat::code
