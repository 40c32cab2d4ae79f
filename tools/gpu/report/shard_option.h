#pragma once

#include <stdexcept>
#include <string>
#include "tools/command_line/command.h"

#include "gpu/cases/shard.h"

namespace warpmat {

/// Adds the option --shard I/N, which sets `shard`. Both must outlive the parsing.
inline CommandOption add_shard_option(Command command, Shard& shard) {
  const auto parse = [&shard](const std::string& text) {
    try {
      shard = parse_shard(text);
    } catch (const std::invalid_argument& e) {
      refuse_option("--shard", e.what());
    }
  };
  return command.add_option_function("--shard", parse, "Do only part I of N; 'warpmat evidence' puts the parts together").type_name("I/N");
}

}  // namespace warpmat
