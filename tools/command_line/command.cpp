#include "tools/command_line/command.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include <CLI/CLI.hpp>

#include "tools/command_line/help_format.h"

namespace warpmat {
namespace {

/// Where the words behind "--" go, by subcommand.
std::map<const CLI::App*, std::vector<std::string>*>& takers_of_words() {
  static std::map<const CLI::App*, std::vector<std::string>*> takers;
  return takers;
}

/// What the usage line of a subcommand has behind options and arguments.
std::map<const CLI::App*, std::string>& ends_of_usage() {
  static std::map<const CLI::App*, std::string> ends;
  return ends;
}

/// Set the help texts that were given as functions and are not evaluated yet.
std::vector<std::function<void()>>& texts_to_make() {
  static std::vector<std::function<void()>> all;
  return all;
}

}  // namespace

CommandOption CommandOption::required(bool is) const {
  option_->required(is);
  return *this;
}
CommandOption CommandOption::type_name(const std::string& name) const {
  option_->type_name(name);
  return *this;
}
CommandOption CommandOption::allow_extra_args(bool allowed) const {
  option_->allow_extra_args(allowed);
  return *this;
}
CommandOption CommandOption::needs(CommandOption other) const {
  option_->needs(other.option_);
  return *this;
}
CommandOption CommandOption::excludes(CommandOption other) const {
  option_->excludes(other.option_);
  return *this;
}
CommandOption CommandOption::one_of(const std::vector<std::string>& words) const {
  option_->check(CLI::IsMember(words).description(""));
  return *this;
}
template <class T>
CommandOption CommandOption::range(T least, T most, bool hidden) const {
  CLI::Range range(least, most);
  if (hidden) range.description("");
  option_->check(range);
  return *this;
}
CommandOption CommandOption::check(std::function<std::string(const std::string&)> error) const {
  option_->check(CLI::Validator(error, "", ""));
  return *this;
}
CommandOption CommandOption::size_of_bytes() const {
  option_->transform(CLI::AsSizeValue(true).description(""));
  return *this;
}
CommandOption CommandOption::described_by(std::function<std::string()> help) const {
  texts_to_make().emplace_back([option = option_, help = std::move(help)] { option->description(help()); });
  return *this;
}
CommandOption CommandOption::capture_default_str() const {
  option_->capture_default_str();
  return *this;
}
std::size_t CommandOption::count() const {
  return option_->count();
}

Command Command::add_subcommand(const std::string& name, const std::string& summary) const {
  return Command(*app_->add_subcommand(name, summary));
}
Command Command::add_subcommand(const std::string& name, const std::string& summary, const std::string& group) const {
  return Command(*app_->add_subcommand(name, summary)->group(group));
}
Command Command::add_option_group(const std::string& name, const std::string& summary) const {
  return Command(*app_->add_option_group(name, summary));
}
void Command::footer(const std::string& text) const {
  app_->footer(text);
}
void Command::footer(std::function<std::string()> text) const {
  texts_to_make().emplace_back([app = app_, text = std::move(text)] { app->footer(text()); });
}
void Command::callback(std::function<void()> work) const {
  app_->callback(std::move(work));
}
template <class T>
CommandOption Command::add_option(const std::string& names, T& value, const std::string& help) const {
  return CommandOption(*app_->add_option(names, value, help));
}
CommandOption Command::add_option_function(const std::string& names, std::function<void(const std::string&)> read,
                                           const std::string& help) const {
  return CommandOption(*app_->add_option_function<std::string>(names, read, help));
}
CommandOption Command::add_flag(const std::string& names, bool& value, const std::string& help) const {
  return CommandOption(*app_->add_flag(names, value, help));
}
CommandOption Command::add_flag(const std::string& names, std::vector<std::string>& values, const std::string& help) const {
  return CommandOption(*app_->add_flag(names, values, help));
}
CommandOption Command::add_flag_callback(const std::string& names, std::function<void()> set, const std::string& help) const {
  return CommandOption(*app_->add_flag_callback(names, std::move(set), help));
}
CommandOption Command::get_option(const std::string& name) const {
  return CommandOption(*app_->get_option(name));
}
void Command::prefix_command(const std::string& words) const {
  app_->prefix_command();
  ends_of_usage()[app_] = words;
}
std::vector<std::string> Command::remaining() const {
  return app_->remaining();
}
void Command::words_behind_dashes(std::vector<std::string>& words) const {
  takers_of_words()[app_] = &words;
  ends_of_usage()[app_] = "[-- PROGRAM [ARGUMENTS]]";
}
std::string HelpFormat::make_usage(const CLI::App* app, std::string name) const {
  std::string usage = CLI::Formatter::make_usage(app, std::move(name));
  if (const auto end = ends_of_usage().find(app); end != ends_of_usage().end())
    usage.insert(usage.find_last_not_of('\n') + 1, ' ' + end->second);
  return usage;
}

void make_help_texts() {
  for (const auto& make : texts_to_make()) make();
  texts_to_make().clear();
}
int take_words_behind_dashes(CLI::App& app, int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  const auto subcommands = app.get_subcommands([&](const CLI::App* each) { return each->get_name() == name; });
  const auto taker = subcommands.empty() ? takers_of_words().end() : takers_of_words().find(subcommands.front());
  char** const end = argv + argc;
  char** const dashes = std::find(argv, end, std::string_view("--"));
  if (taker == takers_of_words().end() || dashes == end) return argc;
  taker->second->assign(dashes + 1, end);
  return static_cast<int>(dashes - argv);
}
std::string Command::name() const {
  return app_->get_name();
}
std::vector<std::pair<std::string, std::vector<std::string>>> Command::given() const {
  std::vector<std::pair<std::string, std::vector<std::string>>> found;
  for (const CLI::Option* option : app_->get_options())
    if (option->count() > 0) found.emplace_back(option->get_name(), option->results());
  return found;
}

void refuse_option(const std::string& name, const std::string& why) {
  throw CLI::ValidationError(name, why);
}
void require_option(const std::string& name) {
  throw CLI::RequiredError(name);
}
void exit_with(int status) {
  throw CLI::RuntimeError(status);
}

// The types of options' values.
template CommandOption Command::add_option(const std::string&, std::string&, const std::string&) const;
template CommandOption Command::add_option(const std::string&, std::vector<std::string>&, const std::string&) const;
template CommandOption Command::add_option(const std::string&, bool&, const std::string&) const;
template CommandOption Command::add_option(const std::string&, int&, const std::string&) const;
template CommandOption Command::add_option(const std::string&, unsigned&, const std::string&) const;
template CommandOption Command::add_option(const std::string&, double&, const std::string&) const;
template CommandOption Command::add_option(const std::string&, std::size_t&, const std::string&) const;
template CommandOption Command::add_option(const std::string&, std::optional<int>&, const std::string&) const;
template CommandOption Command::add_option(const std::string&, std::optional<std::size_t>&, const std::string&) const;
template CommandOption Command::add_option(const std::string&, std::optional<unsigned>&, const std::string&) const;
template CommandOption CommandOption::range(int, int, bool) const;
template CommandOption CommandOption::range(unsigned, unsigned, bool) const;
template CommandOption CommandOption::range(double, double, bool) const;
template CommandOption CommandOption::range(std::size_t, std::size_t, bool) const;

}  // namespace warpmat
