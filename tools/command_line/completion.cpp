#include "tools/command_line/completion.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <warpmat/forms.h>
#include <warpmat/wgmma.h>

namespace warpmat {
namespace {

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const Target& target : targets()) names.emplace_back(target.name);
  return names;
}

std::vector<std::string> opcodes() {
  std::vector<std::string> found;
  for (const Form& form : forms()) found.emplace_back(form.opcode);
  for (const WgmmaForm& form : wgmma_forms()) found.emplace_back(form.opcode);
  return found;
}

/// The arguments whose values are rows of the emulator's tables.
struct TableValues {
  std::string_view argument;
  std::vector<std::string> (*values)();
};
constexpr TableValues table_values[] = {
    {"--target", target_names}, {"--versus", target_names}, {"--against", target_names}, {"OPCODE", opcodes}, {"--opcode", opcodes},
};

std::string argument_name(const CLI::Option& option) {
  return option.get_positional() ? option.get_name(true) : option.get_name();
}

bool takes_value(const CLI::Option& option) {
  return option.get_type_size_max() != 0;
}

/// Whether a validator of `option` refuses `text`.
bool refuses(CLI::Option& option, const std::string& text) {
  try {
    for (int i = 0;; ++i)
      if (!(*option.get_validator(i))(text).empty()) return true;
  } catch (const CLI::OptionNotFound&) {  // there are only i of them
    return false;
  }
}

/// The words of an option's help that are values of it, as its validators say. None where they take any text.
std::vector<std::string> words_of_help(CLI::Option& option) {
  if (!refuses(option, "?")) return {};
  make_help_texts();
  std::vector<std::string> found;
  const std::string text = option.get_type_name() + ' ' + option.get_description() + ' ';
  std::string word;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-') {
      word += c;
      continue;
    }
    const bool named = !word.empty() && std::isalpha(static_cast<unsigned char>(word[0])) != 0;  // a number is one of a range
    if (named && !refuses(option, word) && std::ranges::find(found, word) == found.end()) found.push_back(word);
    word.clear();
  }
  return found;
}

std::vector<std::string> values(CLI::Option& option) {
  const auto row = std::ranges::find(table_values, argument_name(option), &TableValues::argument);
  return row != std::end(table_values) ? row->values() : words_of_help(option);
}

CLI::App* find_subcommand(CLI::App& app, const std::string& name) {
  const auto found = app.get_subcommands([&](CLI::App* subcommand) { return !name.empty() && subcommand->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

/// What words say until the one that is being typed.
struct Position {
  CLI::App* app = nullptr;          // the command, or its subcommand
  CLI::Option* awaiting = nullptr;  // an option whose value comes next
  std::set<const CLI::Option*> given;
  std::size_t positionals = 0;
  bool options_ended = false;  // by --

  void read(const std::string& word) {
    if (std::exchange(awaiting, nullptr) != nullptr) return;
    if (!options_ended && word == "--") {
      options_ended = true;
    } else if (!options_ended && word.starts_with('-')) {
      const std::size_t equals = word.find('=');
      CLI::Option* const option = app->get_option_no_throw(word.substr(0, equals));
      if (option == nullptr) return;
      given.insert(option);
      if (takes_value(*option) && equals == std::string::npos) awaiting = option;
    } else if (CLI::App* const subcommand = find_subcommand(*app, word); subcommand != nullptr) {
      app = subcommand;
    } else {
      ++positionals;
    }
  }
};

void visit_options(CLI::App& app, const std::function<void(CLI::Option&)>& visit) {
  for (CLI::Option* const option : app.get_options())
    if (!app.get_name().empty() || option != app.get_help_ptr()) visit(*option);  // a group's --help is its command's
  for (CLI::App* const group : app.get_subcommands(std::function<bool(CLI::App*)>()))
    if (group->get_name().empty()) visit_options(*group, visit);
}

std::vector<Candidate> option_names(const Position& position) {
  make_help_texts();
  std::vector<Candidate> found;
  visit_options(*position.app, [&](CLI::Option& option) {
    const bool again = option.get_expected_max() > 1 || !position.given.contains(&option);
    if (!again || option.get_group().empty()) return;
    for (const std::string& name : option.get_lnames()) found.push_back({"--" + name, option.get_description()});
  });
  return found;
}

std::vector<Candidate> subcommand_names(CLI::App& app) {
  std::vector<Candidate> found;
  for (const CLI::App* const subcommand : app.get_subcommands(std::function<bool(CLI::App*)>()))
    if (!subcommand->get_name().empty() && !subcommand->get_group().empty())
      found.push_back({subcommand->get_name(), subcommand->get_description()});
  return found;
}

/// The candidates for values of `option`, each behind `before`.
std::vector<Candidate> value_candidates(CLI::Option& option, const std::string& before) {
  std::vector<Candidate> found;
  for (const std::string& value : values(option)) found.push_back({before + value, ""});
  return found;
}

std::vector<Candidate> positional_candidates(const Position& position) {
  std::vector<CLI::Option*> places;
  visit_options(*position.app, [&](CLI::Option& option) {
    if (option.get_positional()) places.push_back(&option);
  });
  return position.positionals < places.size() ? value_candidates(*places[position.positionals], "") : std::vector<Candidate>();
}

std::vector<Candidate> candidates(const Position& position, const std::string& word) {
  if (position.awaiting != nullptr) return value_candidates(*position.awaiting, "");
  if (!position.options_ended && word.starts_with('-')) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) return option_names(position);
    CLI::Option* const option = position.app->get_option_no_throw(word.substr(0, equals));
    return option != nullptr && takes_value(*option) ? value_candidates(*option, word.substr(0, equals + 1)) : std::vector<Candidate>();
  }
  std::vector<Candidate> found = subcommand_names(*position.app);
  return found.empty() ? positional_candidates(position) : found;
}

/// `text` with `to` in each place of `from`.
std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
  return text;
}

/// A candidate as the script of `shell` reads it.
std::string line(const Candidate& candidate, const std::string& shell) {
  std::string word = candidate.word, what = candidate.what;
  std::ranges::replace(what, '\n', ' ');
  if (shell == "bash" || what.empty()) what.clear();
  if (shell == "zsh") word = replaced(std::move(word), ":", "\\:");
  const std::string_view separator = what.empty() ? "" : shell == "zsh" ? ":" : "\t";
  return fmt::format("{}{}{}\n", word, separator, what);
}

constexpr std::string_view bash_script = R"sh(# Completion of the command NAME for bash: source <(NAME completion bash)
_FUNCTION() {
  local line=${COMP_LINE:0:COMP_POINT} words IFS=$' \t\n'
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  local word=${words[-1]}
  IFS=$'\n'
  COMPREPLY=($("$1" completion bash -- "${words[@]:1}" 2>/dev/null))
  local kept=${word%"$2"}  # what stands before $2, the part after = or : that bash replaces
  COMPREPLY=("${COMPREPLY[@]#"$kept"}")
}
complete -o default -F _FUNCTION NAME
)sh";

constexpr std::string_view zsh_script = R"sh(#compdef NAME
# Completion of the command NAME for zsh: source <(NAME completion zsh), or this file as _NAME in a directory of fpath
_FUNCTION() {
  local -a candidates
  candidates=("${(@f)$(${(Q)~words[1]} completion zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n ${candidates[1]} ]]; then
    _describe NAME candidates
  else
    compset -P '*='
    _files
  fi
}
if [[ ${funcstack[1]} == _NAME ]]; then _FUNCTION "$@"; else compdef _FUNCTION NAME; fi
)sh";

constexpr std::string_view fish_script = R"sh(# Completion of the command NAME for fish: NAME completion fish | source
function __FUNCTION_candidates
    set -l words (commandline -opc) (commandline -ct)
    $words[1] completion fish -- $words[2..-1] 2>/dev/null
end
complete -c NAME -f -a '(__FUNCTION_candidates)'
complete -c NAME -n 'test -z "$(__FUNCTION_candidates)"' -F
)sh";

struct Shell {
  std::string name;
  std::string_view script;
};
const std::vector<Shell>& shells() {
  static const std::vector<Shell> all{{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};
  return all;
}

std::vector<std::string> shell_names() {
  std::vector<std::string> names;
  for (const Shell& shell : shells()) names.push_back(shell.name);
  return names;
}

struct Options {
  std::string name, shell;
  std::vector<std::string> words;
};

void print_completion(Command app, const Options& options) {
  if (options.words.empty()) {
    fmt::print("{}", completion_script(options.shell, options.name));
    return;
  }
  for (const Candidate& candidate : complete(app, options.words)) fmt::print("{}", line(candidate, options.shell));
}

}  // namespace

std::vector<Candidate> complete(Command app, const std::vector<std::string>& words) {
  Position position;
  position.app = &app.app();
  for (std::size_t i = 0; i + 1 < words.size(); ++i) position.read(words[i]);
  const std::string word = words.empty() ? "" : words.back();
  std::vector<Candidate> found = candidates(position, word);
  std::erase_if(found, [&](const Candidate& candidate) { return !candidate.word.starts_with(word); });
  return found;
}

std::string completion_script(const std::string& shell, const std::string& name) {
  const auto found = std::ranges::find(shells(), shell, &Shell::name);
  if (found == shells().end())
    throw std::invalid_argument(fmt::format("no completion for the shell '{}': there are bash, zsh and fish", shell));
  return replaced(replaced(std::string(found->script), "FUNCTION", replaced(name, "-", "_")), "NAME", name);
}

void add_completion(Command app, const std::string& name) {
  const auto options = std::make_shared<Options>();
  options->name = name;
  const Command command = app.add_subcommand("completion", "Print the script with which a shell completes this command's arguments");
  command.add_option("SHELL", options->shell, "bash, zsh or fish").required().one_of(shell_names());
  command.add_option("WORD", options->words, "After --: print what may stand in place of the last word; the script asks so");
  command.footer(
      fmt::format("Subcommands, options, targets, instructions and fixed values are completed; where a file belongs, its name.\n"
                  "\n"
                  "Examples:\n"
                  "  source <({0} completion bash)\n"
                  "  {0} completion zsh > ~/.zfunc/_{0}\n"
                  "  {0} completion fish | source",
                  name));
  command.callback([options, app] { print_completion(app, *options); });
}

}  // namespace warpmat
