#include "lists/random_program.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "gpu/cases/fuzz_program.h"

namespace warpmat {
namespace {

constexpr int registers_of_a_type = 4;
constexpr const char* variables[] = {"bytes", "word", "table"};

/// What may stand at a register's place.
struct Place {
  Accepts accepted;
  const DataType* type;
  bool written = false, wider = false, symbols = false, in_braces = false, may_discard = true;
};

class Generator {
 public:
  Generator(std::mt19937& random, bool declared) : random_(random), declared_(declared) {}

  std::string program(int statements) {
    std::string text = ".version 9.0\n.target sm_90a\n.address_size 64\n";
    for (const DataType& type : data_types())
      if (declared_ && type.is_register) text += fmt::format(".reg .{} %{}_<{}>;\n", type.name, type.name, registers_of_a_type);
    text += ".shared .align 16 .b8 bytes[256];\n.shared .u32 word;\n.shared .f64 table[4], other;\n";
    for (int i = 0; i < statements; ++i) text += statement() + blank();
    return text;
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool one_in(std::size_t n) { return below(n) == 0; }

  std::string blank() {
    const char* const blanks[] = {" ", "\n", "\t", " // remark\n", "/* two\nlines */", "\r\n"};
    return blanks[below(std::size(blanks))];
  }

  std::string gap() { return one_in(8) ? blank() : ""; }

  std::string statement() {
    if (one_in(2)) {
      const auto all = forms();
      const Form* form = nullptr;
      do form = &all[below(all.size())];
      while (unavailable(*form, *find_target("sm_90a"), {9, 0}));
      return matrix_statement(*form);
    }
    return scalar_statement(scalars_[below(scalars_.size())]);
  }

  std::string matrix_statement(const Form& form) {
    std::string operands;
    for (const Operand& operand : form.operands) {
      operands += (operands.empty() ? "" : ",") + gap();
      operands += matrix_operand(form, operand);
    }
    return shuffled_opcode(random_, form.opcode) + " " + operands + gap() + ";";
  }

  std::string matrix_operand(const Form& form, const Operand& operand) {
    switch (operand.kind) {
      case OperandKind::address: return address();
      case OperandKind::stride: return std::to_string(8 * below(100));
      case OperandKind::selector: return std::to_string(below(static_cast<std::size_t>(operand.choices)));
      case OperandKind::ids: return "{0, " + std::to_string(below(static_cast<std::size_t>(operand.choices))) + "}";
      case OperandKind::fragment: return fragment(form, operand);
    }
    return {};
  }

  std::string fragment(const Form& form, const Operand& operand) {
    const char* type = operand.format == Format::f64 ? "f64" : operand.format == Format::f32 ? "f32" : "b32";
    Place place{accepted_by(form, operand), find_data_type(type), operand.written};
    place.may_discard = find_lowering(form, Hardware::sm_90)->exceptions.discardable;
    if (!operand.in_braces) return named(place, place.type->bits);
    const bool accumulator = operand.name == OperandName::c || (operand.name == OperandName::r && form.mnemonic == Mnemonic::wmma_store);
    const bool only_numbers = accumulator && operand.fragment.elements_per_register() == 1 && one_in(4);
    return vector(place, operand.registers(), only_numbers);
  }

  std::string scalar_statement(const Instruction& instruction) {
    const std::string opcode(instruction.opcode());
    const bool load = instruction.kind() == InstructionKind::load, store = instruction.kind() == InstructionKind::store;
    const bool free_order = load || store || opcode.starts_with("cvt"), moves = opcode.starts_with("mov");
    std::string text = (free_order ? shuffled_opcode(random_, opcode) : opcode) + " ";
    for (const InstructionOperand& operand : instruction.operands()) {
      if (&operand != &instruction.operands().front()) text += "," + gap();
      text += operand.kind() == InstructionOperand::Kind::address ? address() : registers(operand, moves);
    }
    return text + gap() + ";";
  }

  std::string registers(const InstructionOperand& operand, bool moves) {
    const DataType* const declared = find_data_type(operand.type()->name);  // .reg knows no packed types
    const DataType* const type = declared != nullptr ? declared : find_data_type(fmt::format("b{}", operand.type()->bits));
    const Place place{operand.accepts(), type, operand.is_written(), operand.may_be_wider(), moves && !operand.is_written()};
    return group(place, operand.registers());
  }

  std::string group(const Place& place, int count) { return count == 1 ? item(place) : vector(place, count, false); }

  /// Registers of one width, at least one of them, and of one class of types besides the untyped; or numbers only.
  std::string vector(Place place, int count, bool only_numbers) {
    place.in_braces = true;
    place.accepted = one_class(place.accepted);
    const int bits = width(place);
    const auto certain = below(static_cast<std::size_t>(count));
    std::string items;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      items += (items.empty() ? "" : ",") + gap();
      if (only_numbers) {
        items += place.type->type_class == DataType::Class::floating ? pattern(*place.type) : integer(*place.type);
      } else {
        items += i == certain ? named(place, bits) : item(place, bits);
      }
    }
    return "{" + items + "}";
  }

  /// One of the classes that `accepted` has, or none.
  Accepts one_class(const Accepts& accepted) {
    switch (below(3)) {
      case 0: return {accepted.integer, false, false};
      case 1: return {false, accepted.floating, false};
      default: return {false, false, accepted.packed_f16};
    }
  }

  std::string item(const Place& place) { return item(place, width(place)); }

  std::string item(const Place& place, int bits) {
    const DataType::Class type_class = place.type->type_class;
    const bool floating = type_class == DataType::Class::floating;
    if (place.written) return place.in_braces && place.may_discard && one_in(5) ? "_" : named(place, bits);
    if (one_in(4) && type_class != DataType::Class::packed_floating) {
      if (!place.in_braces) return number(*place.type, place.accepted.floating);
      // Numbers are typed: they stand only beside registers of their class.
      if (place.accepted.integer && !floating) return integer(*place.type);
      if (place.accepted.floating && place.type->bits >= 32 && place.type->bits == bits &&
          (floating || type_class == DataType::Class::bits))
        return pattern(*place.type);
      return named(place, bits);
    }
    if (one_in(6) && (place.symbols || place.in_braces) && place.type->bits == 32 && bits == 32 && !floating) return "%laneid";
    if (one_in(6) && place.symbols && place.type->bits >= 32 && !floating) return variables[below(3)] + offset();
    return named(place, bits);
  }

  /// A width that registers at `place` may have.
  int width(const Place& place) {
    const int bits = place.type->bits;
    if (!place.wider || place.type->type_class == DataType::Class::floating) return bits;
    if (!declared_) return std::max(bits, 32);
    const int widths[] = {16, 32, 64};
    int chosen = 0;
    do chosen = widths[below(3)];
    while (chosen < bits);
    return chosen;
  }

  std::string named(const Place& place, int bits) {
    std::vector<std::string_view> names;
    for (const DataType& type : data_types())
      if (type.is_register && type.bits == bits && accepts(place.accepted, type) && (declared_ || type.name.starts_with("b")))
        names.push_back(type.name);
    return fmt::format("%{}_{}", names[below(names.size())], below(registers_of_a_type));
  }

  std::string number(const DataType& type, bool floating_accepted) {
    if (type.type_class == DataType::Class::floating && one_in(2))
      return fmt::format("{}{}.{}e{}", one_in(2) ? "-" : "", below(100), below(100), below(20));
    const bool untyped = type.type_class == DataType::Class::bits && type.bits >= 32 && floating_accepted;
    return type.type_class == DataType::Class::floating || (untyped && one_in(4)) ? pattern(type) : integer(type);
  }

  std::uint64_t random_bits(const DataType& type) { return (random_() | std::uint64_t{random_()} << 32) >> (64 - type.bits); }

  std::string pattern(const DataType& type) {
    return fmt::format(fmt::runtime(type.bits == 32 ? "0f{:08X}" : "0d{:016X}"), random_bits(type));
  }

  std::string integer(const DataType& type) {
    const std::uint64_t value = random_bits(type);
    switch (below(5)) {
      case 0: return fmt::format("0x{:x}", value);
      case 1: return fmt::format("0b{:b}", value);
      case 2: return fmt::format("0{:o}U", value);
      case 3: return fmt::format("-{}", value >> 1);
      default: return fmt::format("{}", value);
    }
  }

  std::string offset() {
    const char* const offsets[] = {"", "+16", "+-16", "+0x20+-4", " + 2147483647 + 2147483647", "+-2147483647+-2147483647", "+0"};
    return offsets[below(std::size(offsets))];
  }

  std::string address() {
    static const DataType& b32 = *find_data_type("b32");
    if (one_in(3)) return "[" + gap() + variables[below(3)] + offset() + "]";
    return "[" + named({accepts_integers, &b32}, declared_ && one_in(4) ? 64 : 32) + offset() + "]";
  }

  std::mt19937& random_;
  bool declared_;
  const std::vector<Instruction> scalars_ = fuzzed_scalar_instructions(target("sm_90a"));
};

bool is_type(const std::string& qualifier) {
  return find_data_type(qualifier) != nullptr || find_format(qualifier) != nullptr || qualifier == "bf16x2";
}

}  // namespace

std::string random_program(std::mt19937& random, int statements, bool declared) {
  return Generator(random, declared).program(statements);
}

std::string shuffled_opcode(std::mt19937& random, const std::string& opcode) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= opcode.size();) {
    const std::size_t end = std::min(opcode.find('.', begin), opcode.size());
    parts.push_back(opcode.substr(begin, end - begin));
    begin = end + 1;
  }
  std::vector<std::string> shuffled = parts;
  // wmma.load.a and wmma.mma are one word.
  const std::ptrdiff_t mnemonic = parts.front() != "wmma" ? 1 : parts[1] == "mma" ? 2 : 3;
  std::shuffle(shuffled.begin() + mnemonic, shuffled.end(), random);
  const auto restore_order = [&](auto in_class) {
    std::vector<std::string> ordered;
    std::ranges::copy_if(parts, std::back_inserter(ordered), in_class);
    std::size_t next = 0;
    for (std::string& part : shuffled)
      if (in_class(part)) part = ordered[next++];
  };
  restore_order(is_type);
  restore_order([](const std::string& q) { return q == "row" || q == "col"; });
  restore_order([](const std::string& q) { return q == "xor" || q == "and" || q == "popc"; });
  restore_order([](const std::string& q) { return q == "b8x16" || q == "b6x16_p32" || q == "b4x16_p64"; });
  std::string text = shuffled[0];
  for (std::size_t i = 1; i < shuffled.size(); ++i) text += "." + shuffled[i];
  return text;
}

}  // namespace warpmat
