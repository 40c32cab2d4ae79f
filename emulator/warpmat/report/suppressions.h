#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/report/report.h>

namespace warpmat {

/// Reports that the user does not want, as a file lists them, one a line:
///
///   # what follows is a comment
///   unordered kernel=reduce* at=reduce.cu:41
///   * at=*/thrust/*
///
/// The first word is the kind of the report (name(Trap::Kind)), or * for all. `kernel` is the name in C++ without parameters, or that in
/// PTX; `at` is FILE:LINE of the report's place or of a call that is inlined there, with or without the folders, or ptx:LINE; `text` is the
/// headline, up to the end of the line. In each, * stands for any text, and ? for any letter.
class Suppressions {
 public:
  /// Throws std::runtime_error "NAME:LINE: ..." for a line that is none. `name` is that of the file.
  static Suppressions parse(std::string_view text, std::string name);
  Suppressions() = default;
  Suppressions(Suppressions&& other) noexcept : name_(std::move(other.name_)), all_(std::move(other.all_)) {}
  Suppressions& operator=(Suppressions&& other) noexcept;

  bool empty() const { return all_.empty(); }
  /// Whether one of them is of this report, and notes which. Several threads may call it at once.
  bool suppresses(const Report& report);
  /// "NAME:LINE: the suppression 'TEXT' has hidden no report", for each that did not.
  std::vector<std::string> unused() const;

 private:
  struct Entry {
    int line;
    std::string text, kind, kernel, at, headline;  ///< patterns; empty: any
    bool used = false;
  };
  static Entry parse_entry(std::string_view line);
  static bool is_of(const Entry& entry, const Report& report);

  std::string name_;
  std::vector<Entry> all_;
  std::mutex mutex_;
};

/// The suppressions of a file. Throws std::runtime_error.
Suppressions read_suppressions(const std::string& file);

/// The line that suppresses a report: its kind, its kernel and its place.
std::string suppression_of(const Report& report);

}  // namespace warpmat
