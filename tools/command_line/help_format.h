#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace warpmat {

/// The words of --help, which the man page has too.
class HelpFormat : public CLI::Formatter {
 public:
  /// "Usage: warpmat cuda [OPTIONS] PROGRAM [ARGUMENTS]", also with the words that the command takes but CLI11 does not parse.
  std::string make_usage(const CLI::App* app, std::string name) const override;
};

}  // namespace warpmat
