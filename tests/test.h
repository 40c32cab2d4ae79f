#pragma once

// What every test includes: Catch2, the standard library, {fmt}, where the build has put things, and a few words that tests share.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cctype>
#include <chrono>
#include <climits>
#include <cmath>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iomanip>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "catch.h"
#include "paths.h"
#include "sanitizers.h"

namespace warpmat {

/// Whether `part` stands in `text`.
inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The words of a text, between blanks and line ends.
inline std::vector<std::string> words_in(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

/// The numbers of a text, as C++ writes them.
inline std::vector<std::uint64_t> numbers_in(const std::string& text) {
  std::vector<std::uint64_t> numbers;
  for (const std::string& word : words_in(text)) numbers.push_back(std::stoull(word, nullptr, 0));
  return numbers;
}

/// What `action` throws, or "nothing".
template <typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace warpmat

/// A test reads every row_step-th row of a long table: all of them, but one in ten where sanitizers slow everything down about tenfold.
constexpr std::size_t row_step = WARPMAT_SANITIZED ? 10 : 1;

/// Random cases for a test: `cases` as users build it, a tenth where sanitizers slow everything down about tenfold.
constexpr std::size_t case_count(std::size_t cases) {
  return WARPMAT_SANITIZED ? (cases + 9) / 10 : cases;
}

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
