#pragma once

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>

#include "gpu/cases/shard.h"

namespace warpmat {

/// Adds the option --shard I/N, which sets `shard`. Both must outlive the parsing.
inline CLI::Option* add_shard_option(CLI::App& command, Shard& shard) {
  const auto parse = [&shard](const std::string& text) {
    try {
      shard = parse_shard(text);
    } catch (const std::invalid_argument& e) {
      throw CLI::ValidationError("--shard", e.what());
    }
  };
  return command.add_option_function<std::string>("--shard", parse, "Do only part I of N; 'warpmat evidence' puts the parts together")
      ->type_name("I/N");
}

}  // namespace warpmat
