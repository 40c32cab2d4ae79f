#pragma once

#include <cstdint>
#include <vector>

#include <warpmat/ir/code.h>

namespace warpmat::machine_code {

/// Which bytes of a function's registers something may read later, at the beginning of each piece. Predicates are not in it. A source
/// counts as 256 bytes, the most that one has but for those of 128 bits.
class LiveSlots {
 public:
  /// `begins`: by operation, whether a piece begins there.
  LiveSlots(const code::Program& program, const std::vector<bool>& begins);

  /// Whether one of these bytes may be read after operation `number`, behind which a piece begins or the program ends.
  bool is_live_behind(std::int32_t number, code::Slot slot, int bytes) const;
  /// The same before an operation of the piece [first, end), for which look_at() has been called.
  bool is_live_before(std::int32_t number, code::Slot slot, int bytes) const;
  void look_at(std::int32_t first, std::int32_t end);

 private:
  using Set = std::vector<std::uint64_t>;  ///< a bit for each 64 bytes

  static bool has(const Set& live, code::Slot slot, int bytes);
  Set behind(std::int32_t number) const;
  void step_back(std::int32_t number, Set& live) const;
  bool pass();

  const code::Program& program_;
  const std::vector<bool>& begins_;
  std::vector<Set> at_;      ///< by operation: live where its piece begins; empty of others
  std::vector<Set> before_;  ///< by operation of the piece that is looked at, from `first_` on
  std::int32_t first_ = 0;
  std::size_t words_ = 0;  ///< of a set
  bool knows_sources_;
};

}  // namespace warpmat::machine_code
