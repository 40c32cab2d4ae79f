#pragma once

#include <cstdint>
#include <optional>

namespace warpmat::machine {

/// How far clocks leap where lanes only wait and read them: time may be what they wait for. Each leap is longer than the one before. Lanes
/// that wait after the last one wait for what never comes.
class ClockLeaps {
 public:
  /// The ticks of the next leap; nothing after the last. `progress`: what has come since the one before, by Cluster::progress().
  std::optional<std::uint64_t> next(std::uint64_t progress) {
    constexpr int most = 4, first_bit = 28, more_bits = 8;  // to 2^52 ticks: more than a month of nanoseconds
    constexpr std::uint64_t low_words = 0x60000000;         // %clock shows the low word alone: it is another one after each leap
    if (progress != seen_progress_) made_ = 0;
    seen_progress_ = progress;
    if (made_ == most) return std::nullopt;
    return (std::uint64_t{1} << (first_bit + more_bits * made_++)) + low_words;
  }

 private:
  int made_ = 0;
  std::uint64_t seen_progress_ = 0;
};

}  // namespace warpmat::machine
