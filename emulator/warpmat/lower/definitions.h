#pragma once

#include <span>
#include <vector>

#include <warpmat/lower/control_flow.h>
#include <warpmat/lower/draft.h>

namespace warpmat::code {

/// A move of one register of 16 bits or more, without a guard.
bool is_move(const DraftOperation& operation);

/// Which operation wrote a value that another reads, across blocks.
class Definitions {
 public:
  explicit Definitions(const DraftFunction& function);

  /// The only operation whose `value` an operation at `place` can read, on whatever path it is reached; -1 where there may be several,
  /// where a guarded operation writes it, and where nothing did.
  int find(int place, Value value) const;
  /// All operations whose `value` an operation at `place` may read, guarded ones too.
  std::vector<int> find_all(int place, Value value) const;
  /// find(), and through moves without a guard, what wrote the register that they read.
  int find_behind_moves(int place, Value value) const;

 private:
  std::size_t block_of(int place) const;
  int find_in(std::size_t block, int before, Value value) const;
  int last_write(std::size_t block, int before, Value value) const;
  /// The operations that write the register, in the order of the text.
  std::span<const int> writers(Value value) const;

  const DraftFunction& function_;
  std::vector<Block> blocks_;
  std::vector<std::vector<int>> previous_;  ///< by block
  std::vector<std::size_t> ends_;           ///< by register: where its writers end in writers_
  std::vector<int> writers_;                ///< of register 0, of register 1, ...
};

}  // namespace warpmat::code
