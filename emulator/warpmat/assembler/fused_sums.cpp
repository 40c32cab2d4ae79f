#include <warpmat/assembler/fused_sums.h>

#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

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

/// Opcodes whose bits for a destination hold something else: comparisons, control flow, barriers, stores.
constexpr std::array<std::uint64_t, 21> without_result{0x00b, 0x00c, 0x01c, 0x02a, 0x034, 0x118, 0x11d, 0x141, 0x142, 0x144, 0x145,
                                                       0x146, 0x147, 0x148, 0x14d, 0x150, 0x185, 0x186, 0x187, 0x188, 0x18e};

constexpr unsigned no_register = 255;
constexpr int no_scale = 4;

/// The numbers of a sum or product, and whether it flushes.
struct SumType {
  std::string_view type;  ///< "f32", "f64", "f16", "bf16"
  bool flushes = false;
  friend bool operator==(const SumType&, const SumType&) = default;
  friend bool operator<(const SumType& a, const SumType& b) { return std::tie(a.type, a.flushes) < std::tie(b.type, b.flushes); }
};

struct Decoded {
  SumKind kind = SumKind::other;
  SumType numbers{};
  int scale = no_scale;   ///< of FMUL: the code of a power of two
  bool of_pairs = false;  ///< of halves: computes both, and not one of each register
  int registers = 4;      ///< at most, that others write
  unsigned destination = no_register, addend = no_register;
  unsigned moved = no_register;  ///< what MOV, or IMAD with zeros, copies
};

/// HFMA2 is also how a pair's sum (times 1) or product (plus 0) is computed, and how a number is moved (0 times 0 plus it).
SumKind kind_of_half(std::uint32_t immediate, bool has_immediate, unsigned addend) {
  constexpr std::uint32_t f16_ones = 0x3c003c00, bf16_ones = 0x3f803f80;
  if (has_immediate && (immediate == f16_ones || immediate == bf16_ones)) return SumKind::add;
  return addend == no_register ? SumKind::multiply : SumKind::fuse;
}

/// HADD2 is also how halves change their sign or become f32: a sum with zero.
bool adds_zero(const MachineInstruction& instruction) {
  const std::uint64_t form = instruction.low >> 9 & 7, a = instruction.low >> 24 & 0xff, b = instruction.low >> 32 & 0xff;
  return a == no_register || (form == 1 && b == no_register);
}

/// Whether an instruction of halves takes both of a register that is its operand A, B or, of HFMA2, C. HFMA2.MMA does so always.
bool takes_pairs(const MachineInstruction& instruction) {
  constexpr std::uint64_t both = 0;
  const std::uint64_t code = instruction.low & 0x1ff, form = instruction.low >> 9 & 7;
  const std::uint64_t of_a = instruction.high >> 10 & 3, of_b = instruction.low >> 60 & 3, of_c = instruction.high >> 17 & 3;
  const bool has_addend = code == 0x031 && form == 1 && (instruction.high & 0xff) != no_register;
  return code == 0x035 || of_a == both || (form == 1 && of_b == both) || (has_addend && of_c == both);
}

Decoded decode(const MachineInstruction& instruction) {
  Decoded decoded;
  const std::uint64_t code = instruction.low & 0x1ff, form = instruction.low >> 9 & 7;
  if (std::ranges::find(without_result, code) != without_result.end()) return decoded;
  decoded.destination = static_cast<unsigned>(instruction.low >> 16 & 0xff);
  const auto* const opcode = std::ranges::find(opcodes, code, &Opcode::code);
  if (opcode == opcodes.end()) {
    const unsigned b = instruction.low >> 32 & 0xff, c = instruction.high & 0xff, a = instruction.low >> 24 & 0xff;
    if (code == 0x002 && form == 1) decoded.moved = b;                                          // MOV
    if (code == 0x024 && form == 1 && a == no_register && b == no_register) decoded.moved = c;  // IMAD.MOV
    return decoded;
  }
  constexpr std::uint64_t flush_bit = 1 << 16, bf16_bit = 1 << 21;
  const bool of_halves = code >= 0x030;
  decoded.kind = opcode->kind;
  decoded.registers = opcode->registers;
  decoded.numbers = {opcode->registers == 2               ? "f64"
                     : !of_halves                         ? "f32"
                     : (instruction.high & bf16_bit) != 0 ? "bf16"
                                                          : "f16",
                     opcode->registers == 1 && (instruction.high & flush_bit) != 0};
  if (code == 0x020) decoded.scale = static_cast<int>(instruction.high >> 20 & 7);
  decoded.of_pairs = of_halves && takes_pairs(instruction);
  if (of_halves && opcode->kind == SumKind::add && adds_zero(instruction)) decoded.kind = SumKind::other;
  if (opcode->kind != SumKind::fuse) return decoded;
  const bool addend_is_register = form != 2 && form != 3 && form != 7;  // else B is, and C is a constant
  if (addend_is_register) decoded.addend = static_cast<unsigned>(instruction.high & 0xff);
  if (code == 0x031 || code == 0x035) {
    const bool of_zero = (instruction.low >> 24 & 0xff) == no_register;
    if (of_zero) decoded.kind = SumKind::other;
    if (of_zero) return decoded;
    const auto immediate = static_cast<std::uint32_t>(instruction.low >> 32);
    decoded.kind = addend_is_register ? kind_of_half(immediate, form == 4, decoded.addend) : SumKind::fuse;
    if (form == 2 && kind_of_half(immediate, true, 0) == SumKind::add) decoded.kind = SumKind::add;
  }
  return decoded;
}

/// How an instruction computes a statement: its kind, and of an fma the line of what wrote its addend, 0 where that is not known.
struct Variant {
  SumKind kind = SumKind::other;
  int addend = 0;
  friend auto operator<=>(const Variant&, const Variant&) = default;
};

/// The instructions of one statement.
struct Seen {
  std::set<Variant> variants;
  std::set<Variant> pairs{};  ///< of a half's statement: instructions that compute two
  std::set<bool> scaled{};    ///< of products of f32: whether they have a scale

  bool contains(SumKind kind) const {
    return std::ranges::any_of(variants, [&](const Variant& variant) { return variant.kind == kind; });
  }
  /// A pair with the statement's line is that of two others where the statement has an instruction of its own.
  void settle_pairs() {
    if (!contains(SumKind::add) && !contains(SumKind::fuse)) variants.merge(pairs);
    pairs.clear();
  }
};

/// What wrote a register last, in the order of the addresses.
struct Writer {
  int line = 0;  ///< of an instruction of floating point; else 0
  Variant variant{};
  bool overwritten = false;  ///< perhaps: by an instruction that may write several registers
};

SumType sum_type(const syntax::Statement& statement) {
  const std::string& opcode = statement.opcode;
  std::string_view type = std::string_view(opcode).substr(opcode.rfind('.') + 1);
  if (type.ends_with("x2")) type.remove_suffix(2);
  return {type, opcode.find(".ftz") != std::string::npos};
}

/// Whether ptxas has given an instruction of halves, which may be a pair of two statements' results, the line of another statement, or that
/// of one of the two.
bool has_other_line(const Decoded& decoded, const syntax::Statement* statement) {
  if (!decoded.numbers.type.ends_with("f16")) return false;
  if (statement == nullptr || statement->opcode.find("f16") == std::string::npos) return true;
  if (decoded.of_pairs && !statement->opcode.ends_with("x2")) return true;
  return (may_be_fused(*statement) || statement->opcode.starts_with("mul.")) && sum_type(*statement) != decoded.numbers;
}

/// What the instructions of a module show: by line, and of those with a line of another statement, by their numbers.
struct Code {
  std::map<int, Seen> lines;
  std::map<SumType, std::set<SumKind>> strays;
};

bool is_product(const syntax::Statement* statement) {
  return statement != nullptr && (statement->opcode.starts_with("mul.") || statement->opcode.starts_with("div."));
}

bool is_name(const syntax::Statement& statement) {
  const std::string& opcode = statement.opcode;
  return opcode.starts_with("mov.") || opcode.starts_with("neg.") || opcode.starts_with("abs.");
}

std::string_view number_type(const syntax::Statement& statement) {
  return std::string_view(statement.opcode).substr(statement.opcode.rfind('.'));
}

/// The lines of the products that sum `line` has by the module's text, behind moves and signs: the last statements before it that write its
/// operands.
std::vector<int> products_before(const NumberedModule& module, int line) {
  std::vector<int> products;
  for (std::size_t operand = 1; operand < 3; ++operand) {
    if (module.at_line(line)->operands.size() <= operand) continue;
    std::string_view wanted = module.at_line(line)->operands[operand].text;
    for (int before = line - 1; before > 0; --before) {
      const syntax::Statement& writer = *module.at_line(before);
      const auto at = static_cast<std::size_t>(before) - 1, of = static_cast<std::size_t>(line) - 1;
      if (module.lines[at].function != module.lines[of].function) break;
      if (writer.operands.size() < 2 || writer.operands[0].text != wanted) continue;
      if (writer.opcode.starts_with("mul.") && number_type(writer) == number_type(*module.at_line(line))) products.push_back(before);
      if (!is_name(writer)) break;
      wanted = writer.operands[1].text;
    }
  }
  return products;
}

/// The line of what wrote the addend. Of a register that is perhaps overwritten only where it is a product of the sum.
int addend_line(const NumberedModule& module, int line, const Writer& writer) {
  if (!writer.overwritten || writer.line == 0) return writer.line;
  const std::vector<int> products = products_before(module, line);
  return std::ranges::find(products, writer.line) != products.end() ? writer.line : 0;
}

void scan(const MachineFunction& function, const NumberedModule& module, Code& code) {
  std::map<int, Seen>& seen = code.lines;
  std::array<Writer, 256> writers{};
  for (const MachineInstruction& instruction : function.instructions) {
    const Decoded decoded = decode(instruction);
    const syntax::Statement* const named = module.at_line(instruction.line);
    const bool sums = decoded.kind == SumKind::add || decoded.kind == SumKind::fuse;
    if (sums && has_other_line(decoded, named)) code.strays[decoded.numbers].insert(decoded.kind);
    const bool own = decoded.kind != SumKind::other && named != nullptr && decoded.numbers == sum_type(*named);
    const bool has_addend = decoded.kind == SumKind::fuse && decoded.addend != no_register;
    const Variant variant =
        own ? Variant{decoded.kind, has_addend ? addend_line(module, instruction.line, writers[decoded.addend]) : 0} : Variant{};
    if (named != nullptr && decoded.kind == SumKind::multiply && decoded.numbers.type == "f32" && is_product(named))
      seen[instruction.line].scaled.insert(decoded.scale != no_scale);
    const bool of_two = own && decoded.of_pairs && !named->opcode.ends_with("x2");
    if (own) (of_two ? seen[instruction.line].pairs : seen[instruction.line].variants).insert(variant);
    const Writer made = decoded.moved != no_register ? writers[decoded.moved] : own ? Writer{instruction.line, variant} : Writer{};
    const int registers = decoded.moved == no_register ? decoded.registers : 1;
    for (unsigned r = decoded.destination; r < decoded.destination + static_cast<unsigned>(registers) && r < no_register; ++r) {
      if (decoded.kind == SumKind::other && r != decoded.destination)
        writers[r].overwritten = true;
      else
        writers[r] = made;
    }
  }
}

/// The instruction of a sum without one of its own: an fma that ptxas has moved and given the line of its product; of halves, one with any
/// line, if all of the sum's numbers are fused or all are rounded. Else null.
std::optional<Seen> moved_sum(const NumberedModule& module, const Code& code, int line) {
  for (const int product : products_before(module, line))
    if (const auto found = code.lines.find(product); found != code.lines.end() && found->second.contains(SumKind::fuse))
      return found->second;
  const auto strays = code.strays.find(sum_type(*module.at_line(line)));
  if (strays == code.strays.end() || strays->second.size() != 1) return std::nullopt;
  return Seen{.variants = {{*strays->second.begin(), 0}}};
}

/// Whether an instruction of halves with any line may be another copy of a sum, computed in the other way.
bool may_have_stray_copy(const Code& code, const syntax::Statement& statement, bool fused) {
  const auto strays = code.strays.find(sum_type(statement));
  return strays != code.strays.end() && strays->second.contains(fused ? SumKind::add : SumKind::fuse);
}

/// One or two ways in which a sum is computed: rounded before fused. Of two fma with different products as addends both count.
std::vector<Variant> ways_of(const NumberedModule& module, const Seen& sum) {
  std::set<int> addends;
  for (const Variant& variant : sum.variants)
    if (variant.kind == SumKind::fuse) addends.insert(is_product(module.at_line(variant.addend)) ? variant.addend : 0);
  const int addend = addends.size() == 1 ? *addends.begin() : 0;
  std::vector<Variant> ways;
  if (sum.contains(SumKind::add)) ways.push_back({SumKind::add, 0});
  if (addends.size() == 2 && !addends.contains(0) && ways.empty()) ways.push_back({SumKind::fuse, *addends.begin()});
  if (!addends.empty()) ways.push_back({SumKind::fuse, ways.empty() || ways[0].kind == SumKind::add ? addend : *addends.rbegin()});
  return ways;
}

/// What the instructions show of the sum with line `line`.
void read_sum(const NumberedModule& module, const Code& seen, int line, AssemblerDecisions& decisions) {
  const syntax::Statement& statement = *module.at_line(line);
  const auto own = seen.lines.find(line);
  const auto has = [&](SumKind kind) { return own != seen.lines.end() && own->second.contains(kind); };
  const bool absent = !has(SumKind::fuse) && !has(SumKind::add);
  const std::optional<Seen> found = absent ? moved_sum(module, seen, line) : std::optional(own->second);
  const std::vector<Variant> ways = found ? ways_of(module, *found) : std::vector<Variant>{};
  if (ways.empty() || (ways.size() > 1 && ways[0].kind != SumKind::fuse)) {
    decisions.open.push_back(statement.location);
    return;
  }
  AssemblerDecisions::Sum sum{.at = statement.location, .fused = ways[0].kind == SumKind::fuse};
  const syntax::Statement* const product = module.at_line(ways[0].addend);
  if (is_product(product) && ways.size() == 1) sum.addend = product->location;
  sum.inferred = absent || ways.size() > 1 || may_have_stray_copy(seen, statement, sum.fused);
  decisions.sums.push_back(sum);
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

void read_sums(const NumberedModule& module, const std::vector<MachineFunction>& code, std::string_view entry,
               AssemblerDecisions& decisions) {
  const auto is_other = [&](const syntax::Function& function) { return function.entry && function.name != entry; };
  std::set<std::string_view> others;
  for (const NumberedModule::Line& line : module.lines)
    if (is_other(*line.function)) others.insert(line.function->name);
  Code seen;
  for (const MachineFunction& function : code)
    if (!others.contains(function.name)) scan(function, module, seen);
  for (auto& [line, sum] : seen.lines) sum.settle_pairs();
  for (std::size_t i = 0; i < module.lines.size(); ++i) {
    const syntax::Statement& statement = *module.lines[i].statement;
    const auto own = seen.lines.find(static_cast<int>(i) + 1);
    if (is_other(*module.lines[i].function)) continue;
    if (own != seen.lines.end() && own->second.scaled.size() == 1)
      decisions.products.push_back({statement.location, *own->second.scaled.begin()});
    if (may_be_fused(statement)) read_sum(module, seen, static_cast<int>(i) + 1, decisions);
  }
}

void read_kinds_of_sums(const syntax::Module& module, const MachineFunction& code, std::string_view entry, AssemblerDecisions& decisions) {
  const bool has_lines = std::ranges::any_of(code.instructions, [](const MachineInstruction& i) { return i.line != 0; });
  std::map<std::pair<int, SumType>, std::set<SumKind>> kinds;  // by line, or of the whole function
  for (const MachineInstruction& instruction : code.instructions) {
    const Decoded decoded = decode(instruction);
    if (decoded.kind == SumKind::other || decoded.kind == SumKind::multiply) continue;
    kinds[{has_lines ? instruction.line : 0, decoded.numbers}].insert(decoded.kind);
  }
  for (const syntax::Function& function : module.functions)
    for (const syntax::Element& element : function.body) {
      const auto* const statement = std::get_if<syntax::Statement>(&element);
      if (statement == nullptr || (function.entry && function.name != entry) || !may_be_fused(*statement)) continue;
      const int line =
          !has_lines || statement->source_line < 0 ? 0 : module.source_lines[static_cast<std::size_t>(statement->source_line)].line;
      const auto found = kinds.find({line, sum_type(*statement)});
      if (found == kinds.end() || found->second.size() != 1)
        decisions.open.push_back(statement->location);
      else
        decisions.sums.push_back({.at = statement->location, .fused = *found->second.begin() == SumKind::fuse});
    }
}

}  // namespace warpmat
