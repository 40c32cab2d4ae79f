#pragma once

#include <string>

#include "tools/command_line/command.h"

namespace warpmat {

/// The man page of the executable `name`, in troff's man macros: what --help of `app` and of each subcommand says.
std::string man_page(Command app, const std::string& name);

/// Adds the subcommand `man`, which prints that page.
void add_man(Command app, const std::string& name);

}  // namespace warpmat
