#include "tools/assembler/fused_sums.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

namespace warpmat {
namespace {

enum class SumKind { other, multiply, add, fuse };

/// Opcodes are the low 9 bits of an instruction; the 3 above tell where operands B and C are. As ptxas 13.0 writes them for sm_75 to
/// sm_121.
struct Opcode {
  std::uint64_t code;
  SumKind kind;
  int registers;  ///< that hold a result
};
constexpr std::array opcodes{
    Opcode{0x020, SumKind::multiply, 1}, Opcode{0x021, SumKind::add, 1}, Opcode{0x023, SumKind::fuse, 1},  // FMUL FADD FFMA
    Opcode{0x028, SumKind::multiply, 2}, Opcode{0x029, SumKind::add, 2}, Opcode{0x02b, SumKind::fuse, 2},  // DMUL DADD DFMA
    Opcode{0x032, SumKind::multiply, 1}, Opcode{0x030, SumKind::add, 1}, Opcode{0x031, SumKind::fuse, 1},  // HMUL2 HADD2 HFMA2
    Opcode{0x035, SumKind::fuse, 1}};                                                                      // HFMA2.MMA

constexpr unsigned no_register = 255;

struct Decoded {
  SumKind kind = SumKind::other;
  int registers = 4;  ///< at most, that others write
  unsigned destination = no_register, addend = no_register;
};

/// HFMA2 is also how a pair's sum (times 1) or product (plus 0) is computed.
SumKind kind_of_half(std::uint32_t immediate, bool has_immediate, unsigned addend) {
  constexpr std::uint32_t f16_ones = 0x3c003c00, bf16_ones = 0x3f803f80;
  if (has_immediate && (immediate == f16_ones || immediate == bf16_ones)) return SumKind::add;
  return addend == no_register ? SumKind::multiply : SumKind::fuse;
}

Decoded decode(const MachineInstruction& instruction) {
  Decoded decoded;
  decoded.destination = static_cast<unsigned>(instruction.low >> 16 & 0xff);
  const std::uint64_t code = instruction.low & 0x1ff, form = instruction.low >> 9 & 7;
  const auto* const opcode = std::ranges::find(opcodes, code, &Opcode::code);
  if (opcode == opcodes.end()) return decoded;
  decoded.kind = opcode->kind;
  decoded.registers = opcode->registers;
  if (opcode->kind != SumKind::fuse) return decoded;
  const bool addend_is_register = form != 2 && form != 3 && form != 7;  // else B is, and C is a constant
  if (addend_is_register) decoded.addend = static_cast<unsigned>(instruction.high & 0xff);
  if (code == 0x031 || code == 0x035) {
    const auto immediate = static_cast<std::uint32_t>(instruction.low >> 32);
    decoded.kind = addend_is_register ? kind_of_half(immediate, form == 4, decoded.addend) : SumKind::fuse;
    if (form == 2 && kind_of_half(immediate, true, 0) == SumKind::add) decoded.kind = SumKind::add;
  }
  return decoded;
}

/// The instructions of one statement.
struct Seen {
  std::set<SumKind> kinds;
  std::set<int> addends;  ///< lines of what wrote the addends of its fma; 0 where it is not known
};

void scan(const MachineFunction& function, std::map<int, Seen>& seen) {
  std::array<int, 256> writers{};  // by register: the line of the instruction of floating point that wrote it last, or 0
  for (const MachineInstruction& instruction : function.instructions) {
    const Decoded decoded = decode(instruction);
    if (decoded.kind != SumKind::other) {
      Seen& statement = seen[instruction.line];
      statement.kinds.insert(decoded.kind);
      if (decoded.kind == SumKind::fuse) statement.addends.insert(decoded.addend == no_register ? 0 : writers[decoded.addend]);
    }
    for (unsigned r = decoded.destination; r < decoded.destination + static_cast<unsigned>(decoded.registers) && r < no_register; ++r)
      writers[r] = decoded.kind == SumKind::other ? 0 : instruction.line;
  }
}

bool is_product(const syntax::Statement* statement) {
  return statement != nullptr && (statement->opcode.starts_with("mul.") || statement->opcode.starts_with("div."));
}

}  // namespace

bool may_be_fused(const syntax::Statement& statement) {
  const std::string& opcode = statement.opcode;
  if (!opcode.starts_with("add.") && !opcode.starts_with("sub.")) return false;
  constexpr std::array<std::string_view, 6> types{".f32", ".f64", ".f16", ".f16x2", ".bf16", ".bf16x2"};
  if (std::ranges::none_of(types, [&](std::string_view type) { return opcode.ends_with(type); })) return false;
  return std::ranges::none_of(std::array{".rn", ".rz", ".rm", ".rp"}, [&](std::string_view q) {
    const std::size_t at = opcode.find(q);
    return at != std::string::npos && (at + 3 == opcode.size() || opcode[at + 3] == '.');
  });
}

SumsInCode read_sums(const NumberedModule& module, const std::vector<MachineFunction>& code, std::string_view entry) {
  const auto is_other = [&](const syntax::Function& function) { return function.entry && function.name != entry; };
  std::set<std::string_view> others;
  for (const NumberedModule::Line& line : module.lines)
    if (is_other(*line.function)) others.insert(line.function->name);
  std::map<int, Seen> seen;
  for (const MachineFunction& function : code)
    if (!others.contains(function.name)) scan(function, seen);
  SumsInCode result;
  for (std::size_t i = 0; i < module.lines.size(); ++i) {
    const syntax::Statement& statement = *module.lines[i].statement;
    if (is_other(*module.lines[i].function) || !may_be_fused(statement)) continue;
    const auto found = seen.find(static_cast<int>(i) + 1);
    const bool fused = found != seen.end() && found->second.kinds.contains(SumKind::fuse);
    const bool rounded = found != seen.end() && found->second.kinds.contains(SumKind::add);
    if (fused && rounded) ++result.mixed;
    if (!fused && !rounded) ++result.absent;
    if (fused == rounded) continue;
    SumInCode sum{.line = statement.location.line, .column = statement.location.column, .fused = fused};
    if (fused && found->second.addends.size() == 1)
      if (const syntax::Statement* addend = module.at_line(*found->second.addends.begin()); is_product(addend)) {
        sum.addend_line = addend->location.line;
        sum.addend_column = addend->location.column;
      }
    result.sums.push_back(sum);
  }
  return result;
}

}  // namespace warpmat
