#include "tools/library/evidence_line.h"

#include <fmt/format.h>
#include <warpmat/ptx/program/code.h>
#include <warpmat/tables/floor.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "tools/library/offers.h"

namespace warpmat {
namespace {

const Labelled* weakest(const std::vector<Labelled>& instructions) {
  const auto found = std::ranges::min_element(instructions, {}, [](const Labelled& i) { return label_of(*i.lowering); });
  return found == instructions.end() ? nullptr : &*found;
}

std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

/// How many results stand behind a label; nothing behind those that rest on text.
std::string results_text(Label label, std::uint64_t compared) {
  if (label == Label::measured) return fmt::format(" ({} results on that hardware, none differs)", with_commas(compared));
  if (label == Label::replayed) return " (1,000 results for each pair of formats)";
  return "";
}

/// Of operands that reach below the floor of a unit's alignment less may be known than of the rest.
std::string floor_text(const Instruction& instruction) {
  const auto floor = find_floor(instruction.form(), instruction.target().hardware);
  if (!floor || floor->evidence >= instruction.lowering().evidence) return "";
  return fmt::format("; terms far below the largest: {}", name(floor->evidence));
}

std::string line_of(std::string_view target, const Labelled& instruction, bool alone) {
  const Label label = label_of(*instruction.lowering);
  return fmt::format("{}: {}{}: {}{}; {} ({}){}", target, name(label), alone ? "" : " at the weakest", meaning(label),
                     results_text(label, instruction.compared), instruction.opcode, instruction.lowering->source, instruction.remark);
}

}  // namespace

Labelled labelled(const Instruction& instruction) {
  return {instruction.form().opcode, &instruction.lowering(), floor_text(instruction), compared_on_h200};
}

std::vector<Labelled> labelled(const Program& program) {
  std::vector<Labelled> instructions;
  for (const Statement* statement : program.matrix_statements()) instructions.push_back(labelled(*statement->matrix()));
  return instructions;
}

std::vector<Labelled> labelled(const Kernel& kernel) {
  std::vector<Labelled> instructions;
  for (const code::Matrix& matrix : kernel.program().matrices) instructions.push_back(labelled(matrix.instruction));
  for (const code::WarpgroupProduct& product : kernel.program().products)
    instructions.push_back({product.instruction.form().opcode, &product.instruction.lowering(), "", compared_on_h200});
  return instructions;
}

std::string evidence_line(std::string_view target, const std::vector<Labelled>& instructions) {
  if (const Labelled* least = weakest(instructions)) return line_of(target, *least, instructions.size() == 1);
  return fmt::format("{}: no matrix instruction: docs/numerics.md says how scalar instructions are known", target);
}

void require_labels(const LabelOptions& options, std::string_view target, const std::vector<Labelled>& instructions) {
  const Labelled* least = weakest(instructions);
  if (options.require.empty() || least == nullptr || label_of(*least->lowering) >= *find_label(options.require)) return;
  throw std::runtime_error(fmt::format("--require {}: {}", options.require, line_of(target, *least, true)));
}

void print_evidence(const LabelOptions& options, std::string_view target, const std::vector<Labelled>& instructions) {
  if (!options.quiet) fmt::print(stderr, "warpmat: {}\n", evidence_line(target, instructions));
}

}  // namespace warpmat
