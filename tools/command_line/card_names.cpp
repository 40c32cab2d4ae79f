#include "tools/command_line/card_names.h"

#include <warpmat/forms.h>

#include <string>

#include <CLI/CLI.hpp>

namespace warpmat {

void accept_card_names(Command app) {
  for (CLI::App* const subcommand : app.app().get_subcommands(nullptr))
    for (const char* const name : {"--target", "--versus", "--against"})
      if (CLI::Option* const option = subcommand->get_option_no_throw(name))
        option->transform([](std::string text) {
          const Target* const target = find_target_or_card(text);
          return target == nullptr ? text : std::string(target->name);
        });
}

}  // namespace warpmat
