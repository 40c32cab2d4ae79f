#pragma once

#include "tools/command_line/command.h"

namespace warpmat {

/// Options of the subcommands of `app` that take a target (--target, --versus, --against) take also the name of a card: "h100" for sm_90a.
void accept_card_names(Command app);

}  // namespace warpmat
