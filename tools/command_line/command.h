#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace warpmat {

// What the subcommands say to CLI11, whose headers only this folder includes: each file that has them compiles the whole parser, seven
// seconds of it.

/// An option or an argument of a command: a handle, valid as long as the application. Each function but count() returns the handle.
class CommandOption {
 public:
  explicit CommandOption(CLI::Option& option) : option_(&option) {}

  CommandOption required(bool is = true) const;
  CommandOption type_name(const std::string& name) const;
  /// Whether one occurrence may have several values (CLI11's default for lists).
  CommandOption allow_extra_args(bool allowed) const;
  CommandOption needs(CommandOption other) const;
  CommandOption excludes(CommandOption other) const;
  /// Refuses all but these words. The help's text says them.
  CommandOption one_of(const std::vector<std::string>& words) const;
  /// Refuses numbers outside of [least, most], which the help shows with their type, or not if `hidden`.
  template <class T>
  CommandOption range(T least, T most, bool hidden = false) const;
  /// Refuses a text for which `error` returns one.
  CommandOption check(std::function<std::string(const std::string&)> error) const;
  /// Takes 2MB for 2,000,000.
  CommandOption size_of_bytes() const;
  /// The description as a function, which make_help_texts() evaluates: for one that takes time to build, such as a list of all forms.
  CommandOption described_by(std::function<std::string()> help) const;
  /// The help shows the value that the variable has now.
  CommandOption capture_default_str() const;

  std::size_t count() const;  ///< how often it was given

 private:
  CLI::Option* option_;
};

/// The application or one of its subcommands: a handle, valid as long as the application. Variables must outlive the parsing.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  Command add_subcommand(const std::string& name, const std::string& summary) const;
  /// A subcommand that the help lists under the heading `group`.
  Command add_subcommand(const std::string& name, const std::string& summary, const std::string& group) const;
  /// Options that the help lists under the heading `name`.
  Command add_option_group(const std::string& name, const std::string& summary) const;
  void footer(const std::string& text) const;
  void footer(std::function<std::string()> text) const;  ///< evaluated by make_help_texts()
  /// What the subcommand does. It reports a failure by an std::exception whose message is one sentence.
  void callback(std::function<void()> work) const;

  /// `names` is "--name", "--name,--alias" or, of an argument, "NAME". T is one of the types at the end of command.cpp.
  template <class T>
  CommandOption add_option(const std::string& names, T& value, const std::string& help) const;
  CommandOption add_option_function(const std::string& names, std::function<void(const std::string&)> read, const std::string& help) const;
  /// An option whose value is one of the words.
  template <class T>
  CommandOption add_choice(const std::string& names, T& value, const std::map<std::string, T>& words, const std::string& help) const {
    std::vector<std::string> list;
    for (const auto& word : words) list.push_back(word.first);
    return add_option_function(
               names, [&value, words](const std::string& word) { value = words.at(word); }, help)
        .one_of(list);
  }
  CommandOption add_flag(const std::string& names, bool& value, const std::string& help) const;
  /// A flag that may have a value, after a =, and may be repeated: `values` gets "true" where it has none.
  CommandOption add_flag(const std::string& names, std::vector<std::string>& values, const std::string& help) const;
  CommandOption add_flag_callback(const std::string& names, std::function<void()> set, const std::string& help) const;
  /// An option that was added. Throws where there is none of that name.
  CommandOption get_option(const std::string& name) const;

  /// The first word that is no option, and what follows it, is not parsed: remaining() has it. The help calls it `words`.
  void prefix_command(const std::string& words) const;
  std::vector<std::string> remaining() const;

  /// What follows the word "--", a program and its arguments, is not parsed: `words` gets it.
  void words_behind_dashes(std::vector<std::string>& words) const;

  CLI::App& app() const { return *app_; }
  std::string name() const;
  /// The options that were given, with their values.
  std::vector<std::pair<std::string, std::vector<std::string>>> given() const;

 private:
  CLI::App* app_;
};

/// Evaluates the help texts that were given as functions. Call it before descriptions of options or footers are read.
void make_help_texts();

/// Gives the words behind "--" to the subcommand of `app` that takes them. Returns the number of words that are left to be parsed.
int take_words_behind_dashes(CLI::App& app, int argc, char** argv);

/// Errors of the command line, found after the parsing; run_command_line reports them as it reports the parser's.
[[noreturn]] void refuse_option(const std::string& name, const std::string& why);
[[noreturn]] void require_option(const std::string& name);  ///< "NAME is required"
/// Ends the command with that status: what was wrong has been said.
[[noreturn]] void exit_with(int status);

}  // namespace warpmat
