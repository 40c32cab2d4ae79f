#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warpmat::machine {

/// An mbarrier (PTX ISA 9.1 section 9.7.13.15) as the 64 bits that hold it in shared memory. The layout is warpmat's own, because NVIDIA's
/// is opaque. The state that an arrival returns is the previous word.
class MbarrierWord {
 public:
  /// A barrier of `count` arrivals, in phase 0. `count` is from 1 to max_mbarrier_count.
  static MbarrierWord begin(std::uint64_t count);
  explicit MbarrierWord(std::uint64_t bits) : bits_(bits) {}

  std::uint64_t bits() const { return bits_; }
  std::uint64_t missing() const;   ///< arrivals
  std::uint64_t expected() const;  ///< arrivals of each phase
  std::int64_t bytes() const;      ///< pending bytes of transactions; negative if they arrived before they were expected
  std::uint64_t phase() const;     ///< its parity

  /// The error of the step, as the end of a sentence; nothing if there is none. Completing a phase begins the next one.
  std::optional<std::string> arrive(std::uint64_t count);
  std::optional<std::string> arrive_and_drop(std::uint64_t count);
  std::optional<std::string> expect(std::uint64_t bytes);
  std::optional<std::string> complete(std::uint64_t bytes);
  std::optional<std::string> add_missing();  ///< one more arrival in this phase

 private:
  void set(std::uint64_t missing, std::uint64_t expected, std::int64_t bytes, std::uint64_t phase);
  void complete_phase();

  std::uint64_t bits_;
};

/// Who changed an mbarrier, for reports.
class MbarrierHistory {
 public:
  /// Who initialised it, to `count` arrivals a phase.
  struct Beginning {
    int warp;
    std::uint32_t statement;
    std::uint64_t count;
  };
  MbarrierHistory() = default;
  explicit MbarrierHistory(const Beginning& beginning) : beginning_(beginning) {}
  const std::optional<Beginning>& beginning() const { return beginning_; }

  /// A change by an arrival, an expectation or a copy of this warp; `completes` the phase.
  void add(int warp, std::uint32_t statement, bool completes);
  /// Before add(): so many bytes are announced by it, or have come.
  void announce(int warp, std::uint32_t statement, std::uint64_t bytes);
  void come(std::uint64_t bytes) { phase_.came += bytes; }

  struct Change {
    int warp;
    std::uint32_t statement;
    std::uint64_t times;  ///< in a row, as by several lanes
  };
  /// The bytes of a phase.
  struct Phase {
    std::uint64_t announced = 0, came = 0;
    int statements = 0;  ///< that announced some
    Change announcer{};  ///< the last of them
  };
  const Phase& phase() const { return phase_; }
  const Phase& last_phase() const { return last_phase_; }               ///< the one that ended last
  std::uint64_t phases() const { return phases_; }                      ///< that have ended
  const std::vector<Change>& last_changes() const { return changes_; }  ///< of the phase, the last three
  std::uint64_t earlier_changes() const { return earlier_; }            ///< of the phase, besides these

 private:
  std::optional<Beginning> beginning_;
  std::uint64_t phases_ = 0, earlier_ = 0;
  Phase phase_, last_phase_;
  std::vector<Change> changes_;
};

}  // namespace warpmat::machine
