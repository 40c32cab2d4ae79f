#include <warpmat/assembler.h>
#include <warpmat/assembler/cubin.h>
#include <warpmat/assembler/decisions_file.h>
#include <warpmat/assembler/fused_sums.h>
#include <warpmat/assembler/immediates.h>
#include <warpmat/assembler/numbered_module.h>
#include <warpmat/assembler/options.h>
#include <warpmat/assembler/ptxas.h>

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <variant>

#include <warpmat/machine/internals.h>
#include <warpmat/ptx/program/resolve.h>

namespace warpmat {
namespace {

namespace fs = std::filesystem;

/// A kernel about which ptxas is asked.
struct Question {
  const syntax::Module& module;
  std::string entry, target, options{};
  bool is_settled = false;  ///< the options, or the statements, leave nothing to decide
};

/// Whether an assembler may decide something about the statement.
bool is_open(const syntax::Statement& statement) {
  const bool product = statement.opcode.starts_with("mul.") && statement.opcode.ends_with(".f32");
  return product || may_be_fused(statement) || is_approximate(statement);
}

/// The same of a statement of the entry, or of a function that it may call.
bool has_open_statement(const syntax::Module& module, std::string_view entry) {
  const auto is_open_element = [](const syntax::Element& element) {
    const auto* const statement = std::get_if<syntax::Statement>(&element);
    return statement != nullptr && is_open(*statement);
  };
  return std::ranges::any_of(module.functions, [&](const syntax::Function& function) {
    return (!function.entry || function.name == entry) && std::ranges::any_of(function.body, is_open_element);
  });
}

Question question_of(const Module& module, std::string_view entry, const KernelOptions& options) {
  const Target* const wanted = options.target.empty() ? nullptr : &target(options.target);
  const syntax::Module& text = syntax_of(module);
  Question question{text, std::string(code::find_entry(text, entry).name), std::string(code::find_run_target(text, wanted).name),
                    std::string(options.assembler_options)};
  if (!options.contract) question.options += " --fmad false";
  code::AssemblerOptions all = code::parse_assembler_options(question.options);
  all |= code::options_of_module(question.module);
  question.is_settled = !all.optimise || !has_open_statement(text, question.entry);
  // What changes bits and nothing else: others may ask for files or forbid the line information.
  question.options = all.contract ? "" : "--fmad false";
  return question;
}

const MachineFunction* find_function(const std::vector<MachineFunction>& code, std::string_view name) {
  const auto found = std::ranges::find(code, name, &MachineFunction::name);
  return found == code.end() ? nullptr : &*found;
}

bool is_same_code(const MachineFunction& a, const MachineFunction& b) {
  return std::ranges::equal(a.instructions, b.instructions,
                            [](const MachineInstruction& x, const MachineInstruction& y) { return x.low == y.low && x.high == y.high; });
}

/// The bytes of the function's instructions.
std::string bytes_of(const MachineFunction& function) {
  std::string bytes(function.instructions.size() * 16, '\0');
  std::size_t at = 0;
  for (const MachineInstruction& instruction : function.instructions) {
    std::memcpy(bytes.data() + at, &instruction.low, 8);
    std::memcpy(bytes.data() + at + 8, &instruction.high, 8);
    at += 16;
  }
  return bytes;
}

/// ptxas, and how its answers are told from those of another one: its place, size and time.
struct Assembler {
  fs::path file;
  std::string identity;
};

std::optional<Assembler> find_assembler() {
  const auto file = find_ptxas();
  if (!file) return std::nullopt;
  std::error_code ignored;
  const auto time = fs::last_write_time(*file, ignored).time_since_epoch().count();
  return Assembler{*file, fmt::format("{} {} {}", file->string(), fs::file_size(*file, ignored), time)};
}

/// What ptxas says. With `code`, only if it makes the same machine code of the module.
std::optional<AssemblerDecisions> answer(const Question& question, const Assembler& assembler, const MachineFunction* code) {
  const NumberedModule numbered = number_statements(question.module);
  const auto made = [&](const NumberedModule& module) {
    return read_cubin(assemble(assembler.file, module.text, question.target, question.entry, question.options));
  };
  const std::vector<MachineFunction> own = made(numbered);
  const MachineFunction* const function = find_function(own, question.entry);
  if (code != nullptr && (function == nullptr || !is_same_code(*function, *code))) return std::nullopt;
  AssemblerDecisions decisions{.assembler = version_of(assembler.file)};
  read_sums(numbered, own, question.entry, decisions);
  const NumberedModule probed = number_statements(question.module, is_approximate);
  if (std::ranges::any_of(probed.lines, &NumberedModule::Line::probe))
    decisions.results = read_results(probed, made(probed), question.entry);
  return decisions;
}

/// The same out of the cache, where it is there. An answer without an assembler's name says that the machine code is another.
std::optional<AssemblerDecisions> kept_answer(const Question& question, const Assembler& assembler, const MachineFunction* code) {
  const auto file = decisions_file({assembler.identity, *question.module.text, question.entry, question.target, question.options,
                                    code == nullptr ? std::string() : bytes_of(*code)});
  auto found = file ? read_decisions(*file) : std::nullopt;
  if (!found) {
    found = answer(question, assembler, code).value_or(AssemblerDecisions{});
    if (file) write_decisions(*file, *found);
  }
  return found->assembler.empty() ? std::nullopt : found;
}

}  // namespace

std::optional<AssemblerDecisions> ask_ptxas(const Module& module, std::string_view entry, const KernelOptions& options) {
  const Question question = question_of(module, entry, options);
  const auto assembler = find_assembler();
  if (!assembler) return std::nullopt;
  if (question.is_settled) return AssemblerDecisions{.assembler = version_of(assembler->file)};
  return kept_answer(question, *assembler, nullptr);
}

std::optional<AssemblerDecisions> read_machine_code(const Module& module, std::string_view entry, std::string_view cubin,
                                                    const KernelOptions& options, bool with_ptxas) {
  constexpr std::string_view name = "machine code in the program";
  const Question question = question_of(module, entry, options);
  const std::vector<MachineFunction> functions = read_cubin(cubin);
  const MachineFunction* const code = find_function(functions, question.entry);
  if (code == nullptr) return std::nullopt;
  if (question.is_settled) return AssemblerDecisions{.assembler = std::string(name)};
  if (const auto assembler = with_ptxas ? find_assembler() : std::nullopt) try {
      if (auto decisions = kept_answer(question, *assembler, code)) {
        decisions->assembler = fmt::format("{}, {}", name, decisions->assembler);
        return decisions;
      }
    } catch (const std::runtime_error&) {  // this ptxas does not assemble it: another one did
    }
  AssemblerDecisions decisions{.assembler = std::string(name)};
  read_kinds_of_sums(question.module, *code, question.entry, decisions);
  return decisions;
}

}  // namespace warpmat
