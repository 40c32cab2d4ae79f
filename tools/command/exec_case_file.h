#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "tools/report/npy.h"

namespace warpmat {

/// An input array of `warpmat exec`: `case_bytes` bytes for each case.
class CaseFile {
 public:
  CaseFile(const char* option, const std::string& path) : option_(option), path_(path), file_(path) {
    if (header().shape.empty()) refuse("an array with a dimension for the cases");
  }

  const NpyHeader& header() const { return file_.header(); }
  const std::string& path() const { return path_; }
  std::size_t cases() const { return header().shape[0]; }
  std::size_t case_bytes() const { return cases() == 0 ? 0 : *header().byte_count() / cases(); }
  bool has_shape(DType dtype, const std::vector<std::size_t>& of_a_case) const { return header().dtype == dtype && has_shape(of_a_case); }
  bool has_shape(const std::vector<std::size_t>& of_a_case) const {
    return std::vector(header().shape.begin() + 1, header().shape.end()) == of_a_case;
  }
  void read(std::size_t first, std::span<std::byte> bytes) { file_.read(first * case_bytes(), bytes); }

  [[noreturn]] void refuse(const std::string& wanted) const {
    throw std::runtime_error(fmt::format("{}: --{} must be {}; the file holds {}", path_, option_, wanted, describe(header())));
  }

 private:
  const char* option_;
  std::string path_;
  NpyReader file_;
};

/// Throws if two files hold different numbers of cases.
inline void check_equal_cases(const CaseFile& first, const CaseFile& file) {
  if (file.cases() != first.cases())
    throw std::runtime_error(fmt::format("{} holds {} cases but {} holds {}; all files must hold the same number of cases", first.path(),
                                         first.cases(), file.path(), file.cases()));
}

}  // namespace warpmat
