#include "tools/assembler/assembler.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>

#include <warpmat/machine/internals.h>
#include <warpmat/ptx/program/code.h>

#include "tools/report/doubts.h"
#include "tools/report/input_file.h"
#include "tools/report/process.h"
#include "tools/report/toolkit_program.h"

namespace warpmat {
namespace {

namespace fs = std::filesystem;

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// Adds a line for each of `statements`, whose bits machine code does not settle.
void name_unsure(const code::Program& program, const std::set<std::uint32_t>& statements, std::string_view why,
                 std::vector<std::string>& remarks) {
  for (const std::uint32_t statement : statements) {
    const syntax::Statement& s = *program.statements[statement];
    remarks.push_back(fmt::format("line {}, {}: {}: its bits may differ from a GPU's", s.location.line, s.opcode, why));
  }
}

}  // namespace

std::optional<fs::path> find_ptxas() {
  return find_toolkit_program("ptxas");
}

std::string version_of(const fs::path& ptxas) {
  const TemporaryFolder folder;
  const fs::path output = folder / "version";
  const int status = run_program({ptxas.string(), "--version"}, {ProcessOutput::Kind::to_file, output});
  const std::string text = read_file(output);
  constexpr std::string_view before = "release ";
  const std::size_t at = text.find(before);
  if (status != 0 || at == std::string::npos)
    throw std::runtime_error(fmt::format("{} does not say its version: {}", ptxas.string(), first_line(text)));
  const std::size_t begin = at + before.size();
  return "ptxas " + text.substr(begin, text.find_first_of(",\n", begin) - begin);
}

std::string assemble(const fs::path& ptxas, std::string_view text, std::string_view target) {
  const TemporaryFolder folder;
  const fs::path source = folder / "module.ptx", object = folder / "module.cubin", output = folder / "output";
  std::ofstream file(source, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(fmt::format("cannot write {}", source.string()));
  const int status = run_program({ptxas.string(), fmt::format("-arch={}", target), "-lineinfo", source.string(), "-o", object.string()},
                                 {ProcessOutput::Kind::to_file, output});
  if (status != 0) throw std::runtime_error(fmt::format("ptxas does not assemble the module: {}", first_line(read_file(output))));
  return read_file(object);
}

std::vector<ResultInCode> results_by_ptxas(const fs::path& ptxas, const Module& module, std::string_view entry, std::string_view target) {
  const NumberedModule numbered = number_statements(syntax_of(module), is_approximate);
  const bool probes = std::ranges::any_of(numbered.lines, &NumberedModule::Line::probe);
  if (!probes) return {};
  return read_results(numbered, read_cubin(assemble(ptxas, numbered.text, target)), entry);
}

SumsInCode sums_by_ptxas(const fs::path& ptxas, const Module& module, std::string_view entry, std::string_view target) {
  const NumberedModule numbered = number_statements(syntax_of(module));
  return read_sums(numbered, read_cubin(assemble(ptxas, numbered.text, target)), entry);
}

std::optional<AssembledKernel> kernel_by_ptxas(const Module& module, std::string_view entry, KernelOptions options) {
  const auto ptxas = find_ptxas();
  if (!ptxas) return std::nullopt;
  const std::string_view target = program_of(Kernel(module, entry, options)).target->name;
  const SumsInCode code = sums_by_ptxas(*ptxas, module, entry, target);
  const std::vector<ResultInCode> results = results_by_ptxas(*ptxas, module, entry, target);
  options.sums = &code.sums;
  options.results = &results;
  AssembledKernel made{Kernel(module, entry, options), version_of(*ptxas), {}};
  const code::Program& program = program_of(made.kernel);
  const auto remark = [&](std::uint32_t statement, const std::string& what) {
    const syntax::Statement& s = *program.statements[statement];
    made.remarks.push_back(fmt::format("line {}, {}: {} for {} {}, the rule of docs/assembler.md does not: please file this as an issue",
                                       s.location.line, s.opcode, made.assembler, target, what));
  };
  for (const std::uint32_t differs : program.contraction_differs) {
    const bool fused = std::ranges::find(program.contracted, differs) != program.contracted.end();
    remark(differs, fused ? "fuses it" : "rounds the product of it");
  }
  for (const std::uint32_t differs : program.folding_differs) {
    const bool folded = std::ranges::find(program.folded, differs, &code::Folded::statement) != program.folded.end();
    remark(differs, folded ? "computes it itself" : "leaves it to the machine");
  }
  const std::size_t differing = made.remarks.size();
  const auto name = [&](const std::vector<std::uint32_t>& statements, std::string_view why) {
    name_unsure(program, {statements.begin(), statements.end()}, why, made.remarks);
  };
  name(program.contraction_open, "machine code leaves it to the rule");
  name(program.contraction_inferred, "no instruction of its own alone decides it");
  for (const code::Doubt::Why why : {code::Doubt::Why::merged_logic, code::Doubt::Why::sign, code::Doubt::Why::shuffle}) {
    std::vector<std::uint32_t> statements;
    for (const code::Doubt& doubt : program.doubted)
      if (doubt.why == why) statements.push_back(doubt.statement);
    name(statements, doubt_text(why));
  }
  made.unsure = made.remarks.size() - differing;
  return made;
}

}  // namespace warpmat
