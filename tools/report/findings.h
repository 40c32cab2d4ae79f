#pragma once

#include <warpmat/warp.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace warpmat {

/// What is wrong with what ran, for a person's or another program's eyes.
struct Finding {
  enum class Level { error, warning };
  Level level = Level::error;
  std::string rule = {};  ///< the kind of a trap, "out_of_range"; or what else it is about: "product", "launch"
  std::string file = {};  ///< of the source, as the compiler wrote it; empty where that is not known
  int line = 0;           ///< from 1 on; 0 where that is not known
  std::string text = {};

  friend bool operator==(const Finding&, const Finding&) = default;
};

/// An error of a kernel, at the line of the source that Trap::Site has.
Finding finding_of(const Trap& trap);

/// The same of what was written of a trap: its kind, the place, "file.cu:12 in f(), inlined at ...", and the text.
Finding finding_of(std::string_view kind, std::string_view source, std::string text);

/// A command of GitHub's workflows that shows the finding at its line: "::error file=a.cu,line=12,title=out_of_range::text". Files below
/// `root` are named from there.
std::string github_command(const Finding& finding, const std::filesystem::path& root);

/// SARIF 2.1.0, which code-scanning services read.
std::string sarif_text(const std::vector<Finding>& findings, const std::filesystem::path& root);

/// A test suite of one test, as JUnit's XML, which CI servers read: `name` failed if a finding is an error.
std::string junit_text(std::string_view name, double seconds, const std::vector<Finding>& findings);

}  // namespace warpmat
