#include "tools/assembler/fused_sums.h"

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

/// The numbers of a sum or product, and whether it flushes.
struct SumType {
  std::string_view type;  ///< "f32", "f64", "f16", "bf16"
  bool flushes = false;
  friend auto operator<=>(const SumType&, const SumType&) = default;
};

struct Decoded {
  SumKind kind = SumKind::other;
  SumType numbers{};
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
  /// What reads them, by line and variant: which of them.
  std::map<std::pair<int, Variant>, std::set<Variant>> readers{};

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

/// The registers that an instruction may read: its operands A, B and C, where there may be one.
std::array<unsigned, 3> sources_of(const MachineInstruction& instruction) {
  const auto place = [](std::uint64_t word, int bit) { return static_cast<unsigned>(word >> bit & 0xff); };
  return {place(instruction.low, 24), place(instruction.low, 32), place(instruction.high, 0)};
}

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
    if (decoded.moved == no_register)
      for (const unsigned source : sources_of(instruction))
        if (const Writer& writer = writers[source]; source != no_register && writer.line != 0 && !writer.overwritten)
          seen[writer.line].readers[{instruction.line, variant}].insert(writer.variant);
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

/// The registers that hold what statement `line` writes, behind moves and signs, and products of it, which may be fused with their readers.
std::set<std::string_view> names_of_result(const NumberedModule& module, int line) {
  std::set<std::string_view> names{module.at_line(line)->operands[0].text};
  for (const NumberedModule::Line& other : module.lines)
    if (const auto& operands = other.statement->operands; operands.size() > 1)
      if ((is_name(*other.statement) && names.contains(operands[1].text)) ||
          (other.statement->opcode.starts_with("mul.") && (names.contains(operands[1].text) || names.contains(operands.back().text))))
        names.insert(operands[0].text);
  return names;
}

bool mentions(const syntax::Operand& operand, const std::set<std::string_view>& names) {
  return names.contains(operand.text) || std::ranges::any_of(operand.items, [&](const auto& item) { return mentions(item, names); });
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

/// Which of the ways `variant` is.
std::size_t index_in(const std::vector<Variant>& ways, const Variant& variant) {
  if (ways.size() < 2) return 0;
  return ways[0].kind != variant.kind || (ways[0].kind == SumKind::fuse && ways[1].addend == variant.addend) ? 1 : 0;
}

/// Adds the statements that read the other of two ways in which the sum of `line` is computed. Whether each reads one.
bool find_readers(const NumberedModule& module, const Code& code, int line, const std::vector<Variant>& ways, SumInCode& sum) {
  const std::set<std::string_view> names = names_of_result(module, line);
  std::map<int, std::map<std::size_t, std::set<std::size_t>>> read;  // by line of the reader and by its way: which
  for (const auto& [reader, variants] : code.lines.at(line).readers) {
    const syntax::Statement* const statement = module.at_line(reader.first);
    if (statement == nullptr || std::ranges::none_of(statement->operands, [&](const auto& operand) { return mentions(operand, names); }))
      continue;
    const auto own = code.lines.find(reader.first);
    const bool is_sum = may_be_fused(*statement) && own != code.lines.end();
    const std::size_t way = is_sum ? index_in(ways_of(module, own->second), reader.second) : 0;
    for (const Variant& variant : variants) read[reader.first][way].insert(index_in(ways, variant));
  }
  for (const auto& [reader, by_way] : read) {
    const Location place = module.at_line(reader)->location;
    const auto is = [&ways_of_reader = by_way](std::size_t way, std::size_t which) {
      const auto found = ways_of_reader.find(way);
      return found == ways_of_reader.end() || found->second == std::set{which};
    };
    if (is(0, 1) && is(1, 1))
      sum.fused_for.emplace_back(place.line, place.column);
    else if (is(0, 0) && is(1, 1) && by_way.contains(1))
      sum.fused_for_other.emplace_back(place.line, place.column);
    else if (!is(0, 0) || !is(1, 0))
      return false;
  }
  return sum.is_twice();
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
  Code seen;
  for (const MachineFunction& function : code)
    if (!others.contains(function.name)) scan(function, module, seen);
  for (auto& [line, sum] : seen.lines) sum.settle_pairs();
  SumsInCode result;
  for (std::size_t i = 0; i < module.lines.size(); ++i) {
    const syntax::Statement& statement = *module.lines[i].statement;
    if (is_other(*module.lines[i].function) || !may_be_fused(statement)) continue;
    const int line = static_cast<int>(i) + 1;
    const auto own = seen.lines.find(line);
    const auto has = [&](SumKind kind) { return own != seen.lines.end() && own->second.contains(kind); };
    const bool absent = !has(SumKind::fuse) && !has(SumKind::add);
    const std::optional<Seen> found = absent ? moved_sum(module, seen, line) : std::optional(own->second);
    if (!found) result.absent.push_back(statement.location);
    if (!found) continue;
    const std::vector<Variant> ways = ways_of(module, *found);
    SumInCode sum{.line = statement.location.line, .column = statement.location.column, .fused = ways[0].kind == SumKind::fuse};
    const auto addend = [&](const Variant& way) {
      const syntax::Statement* const product = module.at_line(way.addend);
      return is_product(product) ? std::pair(product->location.line, product->location.column) : std::pair(0, 0);
    };
    std::tie(sum.addend_line, sum.addend_column) = addend(ways[0]);
    if (ways.size() == 2) std::tie(sum.other_addend_line, sum.other_addend_column) = addend(ways[1]);
    sum.inferred = absent || ways.size() > 1 || may_have_stray_copy(seen, statement, sum.fused);
    if (absent || ways.size() == 1 || find_readers(module, seen, line, ways, sum)) {
      result.sums.push_back(sum);
      continue;
    }
    result.mixed.push_back(statement.location);
    if (ways[0].kind == SumKind::fuse) result.sums.push_back({.line = sum.line, .column = sum.column, .fused = true, .inferred = true});
  }
  return result;
}

}  // namespace warpmat
