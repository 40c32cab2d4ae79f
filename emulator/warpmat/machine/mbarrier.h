#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace warpmat::machine {

/// An mbarrier (PTX ISA 9.1 section 9.7.13.15) as the 64 bits in shared memory that hold it. The layout is warpmat's own, as NVIDIA's is
/// opaque; a state that an arrival returns is the word before it.
class MbarrierWord {
 public:
  /// A barrier of `count` arrivals, in phase 0. `count` is from 1 to most_mbarrier_count.
  static MbarrierWord begin(std::uint64_t count);
  explicit MbarrierWord(std::uint64_t bits) : bits_(bits) {}

  std::uint64_t bits() const { return bits_; }
  std::uint64_t missing() const;   ///< arrivals
  std::uint64_t expected() const;  ///< arrivals of each phase
  std::int64_t bytes() const;      ///< that transactions still have to bring; less than 0 where they came before they were expected
  std::uint64_t phase() const;     ///< its parity

  /// What was wrong with the step, as the end of a sentence; nothing where it was right. A phase that is complete begins the next one.
  std::optional<std::string> arrive(std::uint64_t count);
  std::optional<std::string> arrive_and_drop(std::uint64_t count);
  std::optional<std::string> expect(std::uint64_t bytes);
  std::optional<std::string> complete(std::uint64_t bytes);
  std::optional<std::string> add_missing();  ///< one arrival more in this phase

 private:
  void set(std::uint64_t missing, std::uint64_t expected, std::int64_t bytes, std::uint64_t phase);
  void complete_phase();

  std::uint64_t bits_;
};

}  // namespace warpmat::machine
