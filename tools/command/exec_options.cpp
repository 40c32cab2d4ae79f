#include "exec_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/forms.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

namespace warpmat {

const std::vector<NumberRole>& number_roles() {
  static const std::vector<NumberRole> roles{{"selector", OperandName::selector, 0}, {"byte-id-a", OperandName::ids_a, 0},
                                             {"thread-id-a", OperandName::ids_a, 1}, {"byte-id-b", OperandName::ids_b, 0},
                                             {"thread-id-b", OperandName::ids_b, 1}, {"stride", OperandName::stride, 0}};
  return roles;
}

namespace {

std::vector<std::string> file_options() {
  std::vector<std::string> options;
  for (std::size_t i = 0; i < operand_name_count; ++i)
    if (const auto operand = static_cast<OperandName>(i);
        std::ranges::find(number_roles(), operand, &NumberRole::operand) == number_roles().end())
      options.emplace_back(name(operand));
  options.insert(options.end(), {memory_option, memory_out_option, sparse_a_option});
  return options;
}

/// The forms that use the files of one option, and the files' contents.
struct FileUse {
  std::set<std::string> readers, writers, layouts;
  std::string content;
};

/// Of all forms, by option.
std::map<std::string, FileUse> make_file_uses() {
  std::map<std::string, FileUse> uses;
  for (const Form& form : forms())
    for (const FileRole& file : file_roles(form)) {
      FileUse& use = uses[file.option];
      (file.written ? use.writers : use.readers).emplace(name(form.mnemonic));
      use.layouts.insert(layout_text(file, false));
      use.content = file.content;
    }
  return uses;
}

/// The same, computed once for all commands.
const std::map<std::string, FileUse>& file_uses() {
  static const std::map<std::string, FileUse> uses = make_file_uses();
  return uses;
}

/// "read by stmatrix, written by ldmatrix: registers, uint32 [cases][registers][32]"
std::string description(const FileUse& use) {
  std::vector<std::string> users;
  if (!use.readers.empty()) users.push_back(fmt::format("read by {}", fmt::join(use.readers, ", ")));
  if (!use.writers.empty()) users.push_back(fmt::format("written by {}", fmt::join(use.writers, ", ")));
  const std::string or_matrix = use.content == "registers" ? "; or [cases][rows][columns]" : "";
  return fmt::format("{}: {}, {}{}", fmt::join(users, "; "), use.content, fmt::join(use.layouts, " or "), or_matrix);
}

/// The options of `form`, for messages.
std::string wanted_options(const Form& form, bool with_result) {
  std::vector<std::string> wanted;
  for (const FileRole& file : file_roles(form))
    if (with_result || !file.written) wanted.push_back("--" + file.option);
  if (form.sparsity != Sparsity::dense) wanted.push_back(fmt::format("--{}", sparse_a_option));
  return fmt::format("{}", fmt::join(wanted, ", "));
}

/// "a matrix, [cases][16][8], or " where a file may also hold the operand's matrix.
std::string matrix_choice(const FileRole& file) {
  if (file.operand == nullptr || file.operand->kind != OperandKind::fragment || file.operand->fragment.matrices() > 1) return "";
  const MatrixSize size = matrix_size(*file.operand);
  return fmt::format("a matrix, [cases][{}][{}], or ", size.rows, size.columns);
}

}  // namespace

void add_operand_options(Command command, OperandOptions& options) {
  command.add_option("OPCODE", options.opcode, "The instruction with its qualifiers; 'warpmat list' shows all").required();
  for (const std::string& option : file_options()) {
    const CommandOption file = command.add_option("--" + option, options.paths[option], "").type_name("FILE.npy");
    file.described_by([option] {
      return option == sparse_a_option ? "in place of --a and --e of mma.sp: the dense A, [cases][m][k], which is compressed"
                                       : description(file_uses().at(option));
    });
  }
  for (const NumberRole& number : number_roles())
    command
        .add_option("--" + number.option, options.numbers[number.option],
                    fmt::format("A number, for forms with operand {} (default: 0)", name(number.operand)))
        .type_name("N");
}

std::vector<FileRole> checked_roles(const Form& form, const OperandOptions& options, bool with_result) {
  std::vector<FileRole> roles = file_roles(form);
  if (!with_result) std::erase_if(roles, [](const FileRole& file) { return file.written; });
  const bool sparse_a = !options.paths.at(sparse_a_option).empty();
  const auto from_sparse_a = [&](const FileRole& file) { return sparse_a && (file.option == "a" || file.option == "e"); };
  for (const FileRole& file : roles) {
    const bool given = !options.file(file).empty();
    if (!given && !from_sparse_a(file))
      throw std::runtime_error(fmt::format("{} needs --{} FILE.npy: {}{}, {}{}", form.opcode, file.option, matrix_choice(file),
                                           file.content, layout_text(file),
                                           file.written  ? ""
                                           : with_result ? "; or zeros"
                                                         : "; or zeros, iota, random:1"));
    if (given && from_sparse_a(file))
      throw std::runtime_error(fmt::format("--{} comes from --{}: give one of them", file.option, sparse_a_option));
  }
  for (const auto& [option, path] : options.paths) {
    const bool known =
        option == sparse_a_option ? form.sparsity != Sparsity::dense : std::ranges::find(roles, option, &FileRole::option) != roles.end();
    if (!path.empty() && !known)
      throw std::runtime_error(fmt::format("{} takes no --{}; it takes {}", form.opcode, option, wanted_options(form, with_result)));
  }
  for (const NumberRole& number : number_roles())
    if (options.numbers.at(number.option) && form.find_operand(number.operand) == nullptr)
      throw std::runtime_error(fmt::format("{} takes no --{}", form.opcode, number.option));
  return roles;
}

Inputs::Inputs(const Form& form, const std::vector<FileRole>& roles, const OperandOptions& options) {
  const FileArgument dense = FileArgument::parse(options.paths.at(sparse_a_option));
  if (!dense.path.empty()) sparse_a = Input::sparse_a(form, dense);
  if (sparse_a) count(*sparse_a);
  for (const FileRole& role : roles) {
    const FileArgument argument = FileArgument::parse(options.file(role));
    if (role.written || argument.path.empty()) continue;
    count(*files.emplace_back(std::make_unique<Input>(role, argument)));
    if (role.operand == nullptr) memory_bytes = files.back()->header().shape[1];
  }
}

void Inputs::count(const Input& input) {
  if (first_ == nullptr) first_ = &input, cases = input.header().shape[0];
  if (input.header().shape[0] != *cases)
    throw std::runtime_error(fmt::format("{} holds {} cases but {} holds {}; all files must hold the same number of cases", first_->path(),
                                         *cases, input.path(), input.header().shape[0]));
  bytes += *input.header().byte_count();
}

int selected_matrix(const Form& form, const OperandOptions& options, OperandName operand) {
  const auto number = [&](const char* option) { return options.numbers.at(option).value_or(0); };
  if (operand == OperandName::e) return static_cast<int>(number("selector"));
  if (operand == OperandName::scale_a) return scale_matrix(form, OperandName::ids_a, {number("byte-id-a"), number("thread-id-a")});
  if (operand == OperandName::scale_b) return scale_matrix(form, OperandName::ids_b, {number("byte-id-b"), number("thread-id-b")});
  return 0;
}

}  // namespace warpmat
