#include "tools/command_line/man_page.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <warpmat/version.h>

#include "tools/command_line/help_format.h"

namespace warpmat {
namespace {

const HelpFormat help_format;  // types, REQUIRED, Needs, Excludes

std::string_view escape(char c) {
  switch (c) {
    case '\\': return "\\e";
    case '-': return "\\-";  // an option's, which can be copied; not a hyphen
    case '^': return "\\(ha";
    case '~': return "\\(ti";
    case '`': return "\\(ga";
    case '\'': return "\\(aq";
    default: return {};
  }
}

/// `text` as troff prints it unchanged.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool line_begins = out.empty() || out.back() == '\n';
    if (line_begins && c == '.') out += "\\&";
    if (const std::string_view escape_of = escape(c); !escape_of.empty()) {
      out += escape_of;
    } else {
      out += c;
    }
  }
  return out;
}

/// A paragraph, whose lines troff fills.
std::string filled(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return escaped(text) + '\n';
}

/// Text whose lines stay as they are, such as tables and examples.
std::string unfilled(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text.empty() ? "" : fmt::format(".PP\n.nf\n{}\n.fi\n", escaped(text));
}

std::string option_text(const CLI::Option& option) {
  std::string name = option.get_name(option.get_positional(), !option.get_positional());
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}", escaped(name), escaped(help_format.make_option_opts(&option)),
                     filled(option.get_description()));
}

/// Positionals first, as --help has them, then options; then the groups of options.
std::string options_text(const CLI::App& app) {
  std::string text;
  const bool is_group = app.get_name().empty();  // which CLI11 gives an option --help of its own, which is not shown
  for (const bool positional : {true, false})
    for (const CLI::Option* const option : app.get_options())
      if (!option->get_group().empty() && option->get_positional() == positional && !(is_group && option == app.get_help_ptr()))
        text += option_text(*option);
  for (const CLI::App* const group : app.get_subcommands(std::function<bool(const CLI::App*)>())) {
    if (!group->get_name().empty()) continue;
    text += fmt::format(".PP\n{}: {}{}", escaped(group->get_group()), filled(group->get_description()), options_text(*group));
  }
  return text;
}

/// "warpmat run [OPTIONS] FILE".
std::string usage(const CLI::App& app, const std::string& name) {
  std::string text = help_format.make_usage(&app, name);
  text.erase(0, text.find(name));
  return filled(text.substr(0, text.find_last_not_of('\n') + 1));
}

/// Whether another executable has the subcommand, and this one its name alone: it has no argument but --help, and no footer of its own.
bool is_handed_on(const CLI::App& app, const CLI::App& subcommand) {
  return subcommand.get_options().size() == 1 && subcommand.get_footer() == app.get_footer();
}

std::string subcommand_text(const CLI::App& app, const std::string& name, const CLI::App& subcommand) {
  if (is_handed_on(app, subcommand))
    return fmt::format(".TP\n\\fB{} {}\\fR\n{}", escaped(name), escaped(subcommand.get_name()), filled(subcommand.get_description()));
  return fmt::format(".SS {}{}.\n{}{}", usage(subcommand, name + ' ' + subcommand.get_name()), escaped(subcommand.get_description()),
                     options_text(subcommand), unfilled(subcommand.get_footer()));
}

std::vector<const CLI::App*> named_subcommands(const CLI::App& app) {
  return app.get_subcommands(
      [](const CLI::App* subcommand) { return !subcommand->get_name().empty() && !subcommand->get_group().empty(); });
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

/// A section for each group of subcommands.
std::string subcommands_text(const CLI::App& app, const std::string& name) {
  std::string text, group;
  std::vector<std::string> seen;
  for (const CLI::App* const first : named_subcommands(app)) {
    if (std::ranges::find(seen, first->get_group()) != seen.end()) continue;
    seen.push_back(first->get_group());
    text += fmt::format(".SH {}\n", escaped(upper(first->get_group())));
    for (const CLI::App* const subcommand : named_subcommands(app))
      if (subcommand->get_group() == first->get_group()) text += subcommand_text(app, name, *subcommand);
  }
  return text;
}

}  // namespace

std::string man_page(Command command, const std::string& name) {
  make_help_texts();
  const CLI::App& app = command.app();
  std::string text = fmt::format(".TH {} 1 \"\" \"warpmat {}\" \"User Commands\"\n.nh\n.ad l\n", escaped(upper(name)), version());
  text += fmt::format(".SH NAME\n{} \\- {}\n", escaped(name), escaped(app.get_description()));
  text += fmt::format(".SH SYNOPSIS\n{}", usage(app, name));
  text += fmt::format(".SH OPTIONS\n{}", options_text(app));
  return text + subcommands_text(app, name);
}

void add_man(Command app, const std::string& name) {
  const Command command = app.add_subcommand("man", "Print the man page of this command");
  command.footer(fmt::format("Examples:\n  {0} man | man -l -\n  {0} man > ~/.local/share/man/man1/{0}.1", name));
  command.callback([app, name] { fmt::print("{}", man_page(app, name)); });
}

}  // namespace warpmat
