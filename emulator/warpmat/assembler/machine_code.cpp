#include <warpmat/assembler.h>
#include <warpmat/assembler/cubin.h>
#include <warpmat/assembler/decisions_file.h>
#include <warpmat/assembler/fused_sums.h>
#include <warpmat/assembler/immediates.h>
#include <warpmat/assembler/numbered_module.h>
#include <warpmat/assembler/options.h>
#include <warpmat/assembler/ptxas.h>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>
#include <variant>

#include <warpmat/lower/resolve.h>
#include <warpmat/machine/internals.h>

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

/// What is asked of ptxas about the entries of one module. An answer is kept in a file, and where one must be asked for, others are with
/// it: ptxas reads the whole module each time, so that a run for each of many kernels takes long. As many as are known already, so that a
/// program with one kernel of a large module does not wait for all.
class Answers {
 public:
  /// `program`: the machine code that must be made; null: any.
  Answers(const Question& question, Assembler assembler, const std::vector<MachineFunction>* program)
      : question_(question), assembler_(std::move(assembler)), program_(program) {
    common_ = decisions_digest({assembler_.identity, *question.module.text, question.target, question.options});
  }

  /// Nothing where ptxas makes other machine code than the program's.
  std::optional<AssemblerDecisions> find() const {
    auto found = kept(question_.entry);
    if (!found) found = ask_together();
    return found->assembler.empty() ? std::nullopt : found;
  }

 private:
  const MachineFunction* code_of(const std::string& entry) const { return program_ == nullptr ? nullptr : find_function(*program_, entry); }

  std::optional<fs::path> file_of(const std::string& entry) const {
    const MachineFunction* const code = code_of(entry);
    return decisions_file({common_, entry, code == nullptr ? std::string() : bytes_of(*code)});
  }

  /// An answer without an assembler's name says that the machine code is another.
  std::optional<AssemblerDecisions> kept(const std::string& entry) const {
    const auto file = file_of(entry);
    return file ? read_decisions(*file) : std::nullopt;
  }

  /// Asks for the question's entry and for others of the module about which nothing is known, as many as are known.
  AssemblerDecisions ask_together() const {
    std::vector<std::string> entries{question_.entry}, unknown;
    std::size_t known = 0;
    for (const syntax::Function& function : question_.module.functions) {
      if (!function.entry || function.name == question_.entry) continue;
      const std::string name(function.name);
      if ((program_ != nullptr && code_of(name) == nullptr) || !has_open_statement(question_.module, name)) continue;
      const auto file = file_of(name);
      if (file && fs::exists(*file))
        ++known;
      else if (file)
        unknown.push_back(name);
    }
    unknown.resize(std::min(unknown.size(), known));
    entries.insert(entries.end(), unknown.begin(), unknown.end());
    try {
      return ask(entries);
    } catch (const std::runtime_error&) {  // ptxas does not assemble one of them
      if (entries.size() == 1) throw;
      return ask({question_.entry});
    }
  }

  /// Returns the answer about the first of the entries.
  AssemblerDecisions ask(const std::vector<std::string>& entries) const {
    const NumberedModule numbered = number_statements(question_.module), probed = number_statements(question_.module, is_approximate);
    const std::string names = fmt::format("{}", fmt::join(entries, ","));
    const auto made = [&](const NumberedModule& module) {
      return read_cubin(assemble(assembler_.file, module.text, question_.target, names, question_.options));
    };
    const std::vector<MachineFunction> own = made(numbered);
    const bool has_probes = std::ranges::any_of(probed.lines, &NumberedModule::Line::probe);
    const std::vector<MachineFunction> with_probes = has_probes ? made(probed) : std::vector<MachineFunction>{};
    const std::string version = version_of(assembler_.file);
    AssemblerDecisions first;
    for (const std::string& entry : entries) {
      AssemblerDecisions decisions;
      const MachineFunction *const function = find_function(own, entry), *const code = code_of(entry);
      if (code == nullptr || (function != nullptr && is_same_code(*function, *code))) {
        decisions.assembler = version;
        read_sums(numbered, own, entry, decisions);
        if (has_probes) decisions.results = read_results(probed, with_probes, entry);
      }
      if (const auto file = file_of(entry)) write_decisions(*file, decisions);
      if (entry == question_.entry) first = std::move(decisions);
    }
    return first;
  }

  const Question& question_;
  Assembler assembler_;
  const std::vector<MachineFunction>* program_;
  std::string common_;  ///< a digest of what all entries' questions have in common
};

}  // namespace

std::optional<AssemblerDecisions> ask_ptxas(const Module& module, std::string_view entry, const KernelOptions& options) {
  const Question question = question_of(module, entry, options);
  const auto assembler = find_assembler();
  if (!assembler) return std::nullopt;
  if (question.is_settled) return AssemblerDecisions{.assembler = version_of(assembler->file)};
  return Answers(question, *assembler, nullptr).find();
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
      if (auto decisions = Answers(question, *assembler, &functions).find()) {
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
