#include "tools/command_line/card_names.h"

#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "tools/report/cards.h"

namespace warpmat {

void accept_card_names(Command app) {
  for (CLI::App* const subcommand : app.app().get_subcommands(nullptr))
    for (const char* const name : {"--target", "--versus", "--against"})
      if (CLI::Option* const option = subcommand->get_option_no_throw(name))
        option->transform([](std::string text) {
          const std::string_view target = target_of_card(text);
          return target.empty() ? text : std::string(target);
        });
}

}  // namespace warpmat
