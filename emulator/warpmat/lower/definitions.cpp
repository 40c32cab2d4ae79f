#include <warpmat/lower/definitions.h>

#include <algorithm>

#include <warpmat/lower/arithmetic.h>

namespace warpmat::code {

bool is_move(const DraftOperation& operation) {
  return is_of(operation, catalogue::Name::mov) && operation.results.size() == 1 && operation.sources.size() == 1 &&
         !operation.operation.guarded && !is_constant(operation.sources[0]);
}

Definitions::Definitions(const DraftFunction& function)
    : function_(function), blocks_(find_blocks(function)), previous_(predecessors(blocks_)), ends_(function.registers.size() + 1) {
  const auto for_each_written = [&](auto&& visit) {
    for (std::size_t i = 0; i < function.operations.size(); ++i) {
      for (const Value value : function.operations[i].results) visit(static_cast<int>(i), static_cast<std::size_t>(value));
      for (const Value value : function.operations[i].keeps) visit(static_cast<int>(i), static_cast<std::size_t>(value));
    }
  };
  for_each_written([&](int, std::size_t value) { ++ends_[value + 1]; });
  for (std::size_t value = 1; value < ends_.size(); ++value) ends_[value] += ends_[value - 1];
  writers_.resize(ends_.back());
  for_each_written([&](int i, std::size_t value) { writers_[ends_[value]++] = i; });  // from their begins to their ends
}

std::span<const int> Definitions::writers(Value value) const {
  const auto index = static_cast<std::size_t>(value);
  const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
  return std::span(writers_).subspan(begin, ends_[index] - begin);
}

/// In the block, before the operation `before`; or -1.
int Definitions::last_write(std::size_t block, int before, Value value) const {
  const std::span<const int> all = writers(value);
  const auto behind = std::ranges::lower_bound(all, before);
  return behind != all.begin() && *(behind - 1) >= blocks_[block].first ? *(behind - 1) : -1;
}

int Definitions::find(int place, Value value) const {
  return find_in(block_of(place), place, value);
}

int Definitions::find_behind_moves(int place, Value value) const {
  int found = find(place, value);
  for (std::size_t steps = 0; found >= 0 && steps < function_.operations.size(); ++steps) {
    const DraftOperation& operation = function_.operations[static_cast<std::size_t>(found)];
    if (!is_move(operation)) break;
    found = find(found, operation.sources[0]);
  }
  return found;
}

std::size_t Definitions::block_of(int place) const {
  const auto after = std::ranges::upper_bound(blocks_, place, {}, &Block::first);
  return static_cast<std::size_t>(after - blocks_.begin()) - 1;
}

int Definitions::find_in(std::size_t start, int place, Value value) const {
  if (is_constant(value)) return -1;
  int found = last_write(start, place, value);
  if (found < 0) {
    std::vector<bool> seen(blocks_.size());
    std::vector<std::size_t> open{start};
    while (!open.empty()) {
      const std::size_t block = open.back();
      open.pop_back();
      if (block == 0) return -1;  // from the function's begin nothing may have written it
      for (const int previous : previous_[block]) {
        const auto before = static_cast<std::size_t>(previous);
        if (seen[before]) continue;
        seen[before] = true;
        const int write = last_write(before, blocks_[before].last, value);
        if (write < 0) {
          open.push_back(before);
        } else if (found >= 0 && write != found) {
          return -1;
        } else {
          found = write;
        }
      }
    }
  }
  return found >= 0 && !function_.operations[static_cast<std::size_t>(found)].operation.guarded ? found : -1;
}

std::vector<int> Definitions::find_all(int place, Value value) const {
  std::vector<int> found;
  if (is_constant(value)) return found;
  const auto collect = [&](std::size_t block, int before) {  // whether an unguarded write ends the search
    for (int write = last_write(block, before, value); write >= 0; write = last_write(block, write, value)) {
      found.push_back(write);
      if (!function_.operations[static_cast<std::size_t>(write)].operation.guarded) return true;
    }
    return false;
  };
  const std::size_t start = block_of(place);
  if (collect(start, place)) return found;
  std::vector<bool> seen(blocks_.size());
  std::vector<std::size_t> open{start};
  while (!open.empty()) {
    const std::size_t block = open.back();
    open.pop_back();
    for (const int previous : previous_[block]) {
      const auto before = static_cast<std::size_t>(previous);
      if (seen[before]) continue;
      seen[before] = true;
      if (!collect(before, blocks_[before].last)) open.push_back(before);
    }
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace warpmat::code
