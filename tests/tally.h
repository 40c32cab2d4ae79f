#pragma once

#include <cstddef>
#include <string>

/// Counts comparisons and keeps the first few that failed. A test that compares many cases checks failures() and comparisons() once, after
/// its loops: the second says that the loops ran.
class Tally {
 public:
  /// `describe` is called for the failures that are kept.
  template <typename Describe>
  void expect(bool holds, Describe describe) {
    ++comparisons_;
    if (holds) return;
    if (++failed_ <= kept) text_ += std::string(describe()) + '\n';
  }

  std::size_t comparisons() const { return comparisons_; }

  /// The first failures, a line each, and how many there are; empty if there is none.
  std::string failures() const {
    return failed_ == 0 ? "" : text_ + std::to_string(failed_) + " of " + std::to_string(comparisons_) + " comparisons failed";
  }

 private:
  static constexpr std::size_t kept = 6;

  std::size_t comparisons_ = 0, failed_ = 0;
  std::string text_;
};
