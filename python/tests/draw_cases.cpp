#include <warpmat/program.h>

#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gpu/cases/cases.h"
#include "gpu/runners/emulator_runner.h"

// draw_cases TARGET SEED WARPS [CLASS]: the C++ library's results for random operands, for the tests of the Python package. For every form
// of the target and every class of operands that applies, it writes a line of JSON to standard output, followed by the bytes that the line
// announces. These are the words of the operands, uint32 [warps][words][32] each; shared memory, uint8 [warps][bytes]; and the words of the
// written operand after the run, or for stores the memory again.

namespace warpmat {
namespace {

using Words = std::vector<std::uint32_t>;

/// The words of an operand in all warps; for immediates those of any lane.
Words words_of(const OperandText& operand, const WarpStates& states) {
  Words words;
  for (std::size_t warp = 0; warp < states.warps; ++warp)
    for (const Item& item : operand.items)
      for (int word = 0; word < item.words; ++word) {
        const auto slot = static_cast<std::size_t>(item.slot + word);
        const auto number = static_cast<std::uint32_t>(item.bits >> (32 * word));
        for (std::size_t lane = 0; lane < warp_size; ++lane)
          words.push_back(item.kind == Item::Kind::named ? states.registers_of(warp)[slot][lane] : number);
      }
  return words;
}

void write(const void* bytes, std::size_t count) {
  std::fwrite(bytes, 1, count, stdout);
}

void draw(const Form& form, const Target& target, const OperandClass& drawn, std::uint64_t seed, std::size_t warps) {
  const Program program = program_for(form, target, drawn);
  const Statement& statement = *program.matrix_statements().front();
  WarpStates states = make_case(program, form, drawn, seed, 0, warps, 0);
  nlohmann::json line{{"opcode", form.opcode}, {"class", drawn.name}, {"warps", warps}, {"shared_bytes", states.shared_bytes}};
  std::vector<Words> sources;
  const OperandText* written = nullptr;
  for (std::size_t i = 0; i < form.operands.size(); ++i) {
    const Operand& operand = form.operands[i];
    if (operand.written) written = &statement.operands()[i];
    if (operand.written || statement.operands()[i].kind == OperandText::Kind::omitted) continue;
    sources.push_back(words_of(statement.operands()[i], states));
    line["operands"].push_back({{"name", name(operand.name)}, {"words", sources.back().size() / warps / warp_size}});
    if (operand.kind == OperandKind::address) line["offset"] = statement.operands()[i].offset;
  }
  const std::vector<std::uint8_t> memory = states.shared;
  EmulatorRunner(0, 1).run(program, states);
  Words result;
  if (written != nullptr) result = words_of(*written, states);
  line["result_words"] = result.size() / warps / warp_size;
  const std::string text = line.dump() + "\n";
  write(text.data(), text.size());
  for (const Words& words : sources) write(words.data(), 4 * words.size());
  write(memory.data(), memory.size());
  if (written != nullptr) return write(result.data(), 4 * result.size());
  write(states.shared.data(), states.shared.size());
}

}  // namespace
}  // namespace warpmat

int main(int count, char** arguments) try {
  using namespace warpmat;
  if (count != 4 && count != 5) throw std::invalid_argument("draw_cases TARGET SEED WARPS [CLASS]");
  const Target& chosen = target(arguments[1]);
  for (const Form& form : forms())
    if (!unavailable(form, chosen))
      for (const OperandClass& drawn : operand_classes())
        if (applies(drawn, form) && (count == 4 || drawn.name == arguments[4]))
          draw(form, chosen, drawn, std::stoull(arguments[2]), std::stoull(arguments[3]));
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "draw_cases: %s\n", e.what());
  return 1;
}
