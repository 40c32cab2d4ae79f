#pragma once

#include <CLI/CLI.hpp>

namespace warpmat {

/// Options of the subcommands of `app` that take a target (--target, --versus, --against) take also the name of a card: "h100" for sm_90a.
void accept_card_names(CLI::App& app);

}  // namespace warpmat
