#include <warpmat/assembler/immediates.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace warpmat {
namespace {

// Opcodes and forms as in fused_sums.cpp.
constexpr std::uint64_t mov = 0x002, imad = 0x024, hfma2 = 0x031, hfma2_mma = 0x035, uniform_mov = 0x082, store = 0x186;
constexpr std::uint64_t immediate_b = 4, immediate_c = 2, of_uniform = 6, zero_register = 255;

/// What the registers of a function hold, as far as that is known, from instruction to instruction in the order of the addresses.
class Registers {
 public:
  std::optional<std::uint32_t> number(std::uint64_t place) const {
    return place == zero_register ? std::optional<std::uint32_t>{0} : numbers_[static_cast<std::size_t>(place)];
  }

  void step(const MachineInstruction& instruction) {
    const std::uint64_t code = instruction.low & 0x1ff, to = instruction.low >> 16 & 0xff;
    const auto moved = moved_by(instruction);
    if (code == uniform_mov) {
      uniform_[static_cast<std::size_t>(to) % uniform_.size()] = moved;
      return;
    }
    for (std::uint64_t place = to; place < to + (moved ? 1 : most_written) && place < zero_register; ++place)
      numbers_[static_cast<std::size_t>(place)] = moved;
  }

 private:
  static constexpr std::uint64_t most_written = 4;  ///< registers, by one instruction

  std::optional<std::uint32_t> moved_by(const MachineInstruction& instruction) const {
    const std::uint64_t code = instruction.low & 0x1ff, form = instruction.low >> 9 & 7;
    const bool guarded = (instruction.low >> 12 & 0xf) != 7, of_zero = (instruction.low >> 24 & 0xff) == zero_register;
    if (guarded) return std::nullopt;
    if (code == mov && form == of_uniform) return uniform_[static_cast<std::size_t>(instruction.low >> 32 & 0x3f)];
    const bool moves = (code == mov && form == immediate_b) || code == uniform_mov ||
                       ((code == imad || code == hfma2 || code == hfma2_mma) && form == immediate_c && of_zero);
    return moves ? std::optional(static_cast<std::uint32_t>(instruction.low >> 32)) : std::nullopt;
  }

  std::array<std::optional<std::uint32_t>, 256> numbers_{};
  std::array<std::optional<std::uint32_t>, 64> uniform_{};
};

/// What the probes of one statement store.
struct Stored {
  bool computed = false;
  std::set<std::uint32_t> immediates;
};

void scan_probes(const NumberedModule& module, const MachineFunction& function, std::map<int, Stored>& seen) {
  Registers registers;
  for (const MachineInstruction& instruction : function.instructions) {
    const bool probe = module.at_line(instruction.line) != nullptr && module.lines[static_cast<std::size_t>(instruction.line) - 1].probe;
    if (probe && (instruction.low & 0x1ff) == store) {
      const auto number = registers.number(instruction.low >> 32 & 0xff);
      Stored& statement = seen[instruction.line];
      if (number)
        statement.immediates.insert(*number);
      else
        statement.computed = true;
    }
    if ((instruction.low & 0x1ff) != store) registers.step(instruction);
  }
}

}  // namespace

bool is_approximate(const syntax::Statement& statement) {
  constexpr std::array<std::string_view, 8> functions{"ex2.", "lg2.", "rcp.", "rsqrt.", "sqrt.", "sin.", "cos.", "tanh."};
  const std::string& opcode = statement.opcode;
  const bool named = std::ranges::any_of(functions, [&](std::string_view name) { return opcode.starts_with(name); });
  return named && !statement.guard && opcode.find(".approx") != std::string::npos && opcode.ends_with(".f32");
}

std::vector<AssemblerDecisions::Result> read_results(const NumberedModule& module, const std::vector<MachineFunction>& code,
                                                     std::string_view entry) {
  const auto is_other = [&](const syntax::Function& function) { return function.entry && function.name != entry; };
  std::set<std::string_view> others;
  for (const NumberedModule::Line& line : module.lines)
    if (is_other(*line.function)) others.insert(line.function->name);
  std::map<int, Stored> seen;
  for (const MachineFunction& function : code)
    if (!others.contains(function.name)) scan_probes(module, function, seen);
  std::vector<AssemblerDecisions::Result> results;
  for (std::size_t i = 0; i < module.lines.size(); ++i) {
    const auto found = seen.find(static_cast<int>(i) + 1);
    if (found == seen.end() || is_other(*module.lines[i].function)) continue;
    const auto& [computed, immediates] = found->second;
    const Location& at = module.lines[i].statement->location;
    if (computed && immediates.empty()) results.push_back({.at = at});
    if (!computed && immediates.size() == 1) results.push_back({.at = at, .immediate = true, .bits = *immediates.begin()});
  }
  return results;
}

}  // namespace warpmat
