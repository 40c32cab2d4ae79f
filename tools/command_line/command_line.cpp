#include "tools/command_line/command_line.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <warpmat/version.h>
#include <CLI/CLI.hpp>

#include "tools/command_line/card_names.h"
#include "tools/command_line/help_format.h"
#include "tools/report/nearest.h"

namespace warpmat {
namespace {

/// "warpmat exec", or "warpmat" where no subcommand was reached.
std::string chosen(const CLI::App& app) {
  const auto subcommands = app.get_subcommands();
  return subcommands.empty() ? app.get_name() : app.get_name() + " " + subcommands.front()->get_name();
}

/// "there is no option '--targt'; the nearest is '--target'"
std::string unknown(std::string_view what, std::string_view word, const std::vector<std::string>& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view near = nearest(word, views);
  return fmt::format("there is no {} '{}'{}", what, word, near.empty() ? "" : fmt::format("; the nearest is '{}'", near));
}

/// Of an argument in the place of a subcommand that is none.
std::string unknown_subcommand(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* subcommand : app.get_subcommands([](const CLI::App*) { return true; })) names.push_back(subcommand->get_name());
  return unknown("subcommand", word, names);
}

/// "; the value of --profile is joined to it: --profile=p.json" where a word stands behind a flag that takes a value after a =; else empty.
std::string separate_value(const CLI::App& subcommand, std::span<char* const> words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string flag = words[i];
    const CLI::Option* const option = flag.starts_with("--") ? subcommand.get_option_no_throw(flag) : nullptr;
    const bool takes_value =
        option != nullptr && option->get_expected_max() == 0 && option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
    if (takes_value && *words[i + 1] != '-') return fmt::format("; the value of {0} is joined to it: {0}={1}", flag, words[i + 1]);
  }
  return {};
}

/// Of arguments that the subcommand does not take: the first unknown option, if there is one.
std::string unexpected(const CLI::App& app, const CLI::ParseError& error, std::span<char* const> words) {
  const CLI::App& subcommand = app.get_subcommands().empty() ? app : *app.get_subcommands().front();
  const auto left = app.get_subcommands().empty() ? std::vector<std::string>(words.begin() + 1, words.end()) : subcommand.remaining();
  const auto option = std::ranges::find_if(left, [](const std::string& word) { return word.starts_with("--"); });
  if (option == left.end()) return error.what() + (left.empty() ? std::string() : separate_value(subcommand, words));
  std::vector<std::string> names;
  for (const CLI::Option* known : subcommand.get_options())
    for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
  return unknown("option", option->substr(0, option->find('=')), names);
}

constexpr int usage_status = 2;  // of a command line that is wrong, as with most programs

/// The exit status of a run without an error, which needs all its output written.
int finish_output() {
  const bool streams = static_cast<bool>(std::cout.flush());
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && streams) return 0;
  return fail("cannot write to standard output", 1);
}

}  // namespace

int fail(std::string message, int status) {
  while (message.ends_with('\n')) message.pop_back();
  fmt::print(stderr, "warpmat: error: {}\n", message);
  return status;
}

int run_command_line(int argc, char** argv, std::span<const AddSubcommand> subcommands, AddSubcommand add_to_help) {
  CLI::App app("NVIDIA's warp matrix instructions on a CPU, bit for bit", "warpmat");
  app.formatter(std::make_shared<HelpFormat>());
  app.set_version_flag("--version", fmt::format("warpmat {}", version()), "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.require_subcommand(0, 1);  // a word that is no subcommand is then an unexpected argument, and the message names it
  app.callback([&app] {
    if (app.get_subcommands().empty()) throw CLI::RequiredError("A subcommand");
  });
  app.footer("Help of a subcommand: warpmat SUBCOMMAND --help");
  for (const AddSubcommand add : subcommands) add(Command(app));
  if (add_to_help != nullptr) add_to_help(Command(app));
  accept_card_names(Command(app));
  try {
    app.parse(take_words_behind_dashes(app, argc, argv), argv);
  } catch (const CLI::RuntimeError& e) {  // a subcommand that has already said what is wrong
    return e.get_exit_code();
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) {
      make_help_texts();
      return app.exit(e) == 0 ? finish_output() : 1;
    }
    if (app.get_subcommands().empty() && argc > 1 && argv[1][0] != '-')
      return fail(unknown_subcommand(app, argv[1]) + "; see 'warpmat --help'", usage_status);
    return fail(fmt::format("{}; see '{} --help'", unexpected(app, e, std::span(argv, static_cast<std::size_t>(argc))), chosen(app)),
                usage_status);
  }
  return finish_output();
}

}  // namespace warpmat
