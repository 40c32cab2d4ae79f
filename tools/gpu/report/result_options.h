#pragma once

#include <stdexcept>
#include <string>

#include <warpmat/files/output_file.h>

#include "gpu/cases/shard.h"
#include "tools/command_line/command.h"

namespace warpmat {

/// Adds the option --shard I/N, which sets `shard`. Both must outlive the parsing. `joined_by`: what puts the parts together.
inline CommandOption add_shard_option(Command command, Shard& shard, const std::string& joined_by) {
  const auto parse = [&shard](const std::string& text) {
    try {
      shard = parse_shard(text);
    } catch (const std::invalid_argument& e) {
      refuse_option("--shard", e.what());
    }
  };
  return command.add_option_function("--shard", parse, "Do only part I of N; 'warpmat " + joined_by + "' puts the parts together")
      .type_name("I/N");
}

/// Which part of a run to do, and the file for its RunResult: empty for none.
struct ResultOptions {
  Shard shard;
  std::string json;

  /// Fails before the work does, if the file cannot be written.
  void check() const {
    if (!json.empty()) check_output_place(json);
  }
};

/// Adds the options --shard and --json. All must outlive the parsing.
inline void add_result_options(Command command, ResultOptions& options) {
  add_shard_option(command, options.shard, "merge");
  command.add_option("--json", options.json, "Write the counts and where they come from to this file").type_name("FILE.json");
}

}  // namespace warpmat
