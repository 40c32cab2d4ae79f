#include <warpmat/assembler/readers.h>

#include <algorithm>

namespace warpmat::code {

Readers::Readers(const DraftFunction& function, const Definitions& definitions)
    : function_(function), definitions_(definitions), readers_(function.registers.size()) {
  for (int i = 0; i < static_cast<int>(function.operations.size()); ++i)
    for_each_read(function.operations[static_cast<std::size_t>(i)], [&](Value value) {
      std::vector<int>& all = readers_[static_cast<std::size_t>(value)];
      if (all.empty() || all.back() != i) all.push_back(i);
    });
}

bool Readers::is_only_reader(int reader, int writer) const {
  const Value value = function_.operations[static_cast<std::size_t>(writer)].results[0];
  if (std::ranges::find(function_.return_registers, value) != function_.return_registers.end()) return false;
  return std::ranges::all_of(readers_[static_cast<std::size_t>(value)], [&](int i) {
    const int definition = definitions_.find(i, value);
    if (i == reader || (definition >= 0 && definition != writer)) return true;
    return definition == writer && is_move(function_.operations[static_cast<std::size_t>(i)]) && is_only_reader(reader, i);
  });
}

}  // namespace warpmat::code
