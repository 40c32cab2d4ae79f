#include "gpu/cases/fuzz_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/forms.h>
#include <warpmat/layout.h>
#include <warpmat/numeric/low_mask.h>
#include <warpmat/numeric/persistent.h>

#include <algorithm>
#include <utility>

#include "gpu/cases/operand_classes.h"
#include "gpu/cases/shrink.h"

namespace warpmat {
namespace {

using std::uint64_t;

constexpr std::uint32_t list_memory_bytes = 1024;
constexpr std::uint32_t matrix_bytes = 3072;  // more, for wmma.load and wmma.store

/// Registers of one width. Few registers make statements use each other's results; each pool has more than any operand needs.
struct ListPool {
  int bits;
  const char* prefix;
  std::size_t size;
};

constexpr ListPool list_pools[] = {{16, "%h", 4}, {32, "%r", 24}, {64, "%q", 16}};
constexpr const ListPool& pool16 = list_pools[0];
constexpr const ListPool& pool32 = list_pools[1];
constexpr const ListPool& pool64 = list_pools[2];

/// The metadata register of a sparse mma, used for nothing else: it holds an immediate, which the assembler would propagate to other
/// statements.
constexpr const char* metadata_register = "%e";

const ListPool& pool_of(int bits) {
  return bits == 16 ? pool16 : bits == 64 ? pool64 : pool32;
}

std::string declarations_for(const Target& target, PtxVersion version) {
  std::string text = fmt::format(".version {}\n.target {}\n", to_string(version), target.name);
  for (const ListPool& pool : list_pools) text += fmt::format(".reg .b{} {}<{}>;\n", pool.bits, pool.prefix, pool.size);
  return text + fmt::format(".reg .b32 {};\n.shared .align 16 .b8 memory[{}];\n", metadata_register, matrix_bytes);
}

bool is_subroutine(const Form& form, const Target& target) {
  return find_lowering(form, target.hardware)->exceptions.subroutine;
}

/// The forms of `target` by mnemonic, so that mnemonics with few forms are drawn as often as others.
std::vector<std::vector<const Form*>> forms_of(const Target& target, const FuzzOptions& options) {
  std::vector<std::vector<const Form*>> by_mnemonic;
  for (const Form& form : forms()) {
    if (unavailable(form, target) || (is_subroutine(form, target) && !options.assembler_faults)) continue;
    const auto same = [&](const std::vector<const Form*>& group) { return group.front()->mnemonic == form.mnemonic; };
    auto found = std::ranges::find_if(by_mnemonic, same);
    if (found == by_mnemonic.end()) found = by_mnemonic.insert(found, std::vector<const Form*>{});
    found->push_back(&form);
  }
  return by_mnemonic;
}

class ListGenerator {
 public:
  ListGenerator(const Target& target, uint64_t key, const FuzzOptions& options)
      : target_(target), forms_(forms_of(target, options)), scalars_(fuzzed_scalar_instructions(target)), random_(key), options_(options) {}

  FuzzProgram program() {
    const auto wanted = static_cast<std::size_t>(random_.between(1, options_.max_statements));
    for (std::size_t count = 0; count < wanted;) {
      FuzzUnit unit{random_.one_in(2) ? matrix_unit() : scalar_unit()};
      if (count + unit.statements.size() > wanted) continue;
      count += unit.statements.size();
      program_.units.push_back(std::move(unit));
    }
    program_.declarations = declarations_for(target_, version_);
    return std::move(program_);
  }

 private:
  using Lines = std::vector<std::string>;

  void require(const Requirement& requirement) { version_ = std::max(version_, requirement.ptx); }

  // ---- Registers and numbers --------------------------------------------------------------------------------------------------------

  std::string any(const ListPool& pool) { return fmt::format("{}{}", pool.prefix, random_.below(pool.size)); }

  Lines sources(const ListPool& pool, int count) {
    Lines registers;
    for (int i = 0; i < count; ++i) registers.push_back(any(pool));
    return registers;
  }

  /// Distinct registers; in a list of several, occasionally _ for one of them.
  Lines destinations(const ListPool& pool, int count, bool in_braces) {
    Lines registers;
    while (registers.size() < static_cast<std::size_t>(count)) {
      const std::string candidate = any(pool);
      if (options_.repeated_destinations || std::ranges::find(registers, candidate) == registers.end()) registers.push_back(candidate);
    }
    if (in_braces && count > 1 && random_.one_in(10)) registers[random_.below(registers.size())] = "_";
    return registers;
  }

  static std::string list(const Lines& registers, bool in_braces) {
    const std::string joined = fmt::format("{}", fmt::join(registers, ", "));
    return in_braces ? "{" + joined + "}" : joined;
  }

  /// A number without the sign bits of the elements of a register, unless the options ask for it: see FuzzOptions.
  std::string number(int bits) {
    constexpr uint64_t signs = 0x8000800080008000;
    const uint64_t value = random_.next() >> random_.below(64) & ~(options_.assembler_faults ? 0 : signs);
    return fmt::format("{:#x}", value & low_mask(bits));
  }

  // ---- Addresses --------------------------------------------------------------------------------------------------------------------

  /// A register and an offset in brackets, for the statement that follows `lines`.
  struct Address {
    Lines lines;
    std::string text;
  };

  /// Two different registers: one for an address, one for computing it.
  std::pair<std::string, std::string> two_registers() {
    const uint64_t first = random_.below(pool32.size), second = (first + 1 + random_.below(pool32.size - 1)) % pool32.size;
    return {fmt::format("{}{}", pool32.prefix, first), fmt::format("{}{}", pool32.prefix, second)};
  }

  /// For each lane, `bytes` of aligned memory chosen by a register's bits; lanes may read the same bytes.
  Address load_address(std::uint32_t bytes) {
    const auto [address, base] = two_registers();
    constexpr std::uint32_t half = list_memory_bytes / 2;  // the register's bits select within one half, the offset selects the half
    const std::uint32_t offset = bytes * static_cast<std::uint32_t>(random_.below(half / bytes + 1));
    return {{fmt::format("and.b32 {}, {}, {:#x};", address, any(pool32), half - bytes), fmt::format("mov.u32 {}, memory;", base),
             fmt::format("add.u32 {}, {}, {};", address, base, address)},
            bracket(address, offset)};
  }

  /// For each lane, different `bytes` of aligned memory, with lanes in some order.
  Address store_address(std::uint32_t bytes) {
    const auto [address, base] = two_registers();
    const std::uint32_t most = list_memory_bytes / warp_size / bytes;
    const std::uint32_t stride = bytes * (1 + static_cast<std::uint32_t>(random_.below(most)));
    const std::uint32_t available = list_memory_bytes - (warp_size - 1) * stride - bytes;
    const std::uint32_t offset = bytes * static_cast<std::uint32_t>(random_.below(available / bytes + 1));
    return {{fmt::format("mov.u32 {}, %laneid;", address), fmt::format("mov.u32 {}, memory;", base),
             fmt::format("xor.b32 {}, {}, {};", address, address, random_.below(warp_size)),
             fmt::format("mad.lo.u32 {}, {}, {}, {};", address, address, stride, base)},
            bracket(address, offset)};
  }

  static std::string bracket(const std::string& base, std::uint32_t offset) {
    return offset == 0 ? fmt::format("[{}]", base) : fmt::format("[{}+{}]", base, offset);
  }

  /// `statement` after the lines that compute its address, between barriers if it writes memory.
  static Lines with_address(Lines lines, const std::string& statement, bool writes_memory) {
    constexpr const char* barrier = "bar.warp.sync 0xffffffff;";
    if (writes_memory) lines.emplace_back(barrier);
    lines.push_back(statement);
    if (writes_memory) lines.emplace_back(barrier);
    return lines;
  }

  // ---- Matrix instructions ----------------------------------------------------------------------------------------------------------

  Lines matrix_unit() {
    const auto& group = forms_[random_.below(forms_.size())];
    const Form& form = *group[random_.below(group.size())];
    require(form.requirement);
    may_discard_ = find_lowering(form, target_.hardware)->exceptions.discardable;
    const bool writes_register = std::ranges::any_of(form.operands, [](const Operand& o) { return o.written; });
    bool uses_memory = false;
    Lines lines, operands, written;
    for (const Operand& operand : form.operands) {
      if (operand.kind == OperandKind::address && moves_matrix(form)) {
        operands.push_back(matrix_address(form));
        uses_memory = true;
      } else if (operand.kind == OperandKind::stride) {
        operands.push_back(stride(form));
      } else if (operand.kind == OperandKind::address) {
        Address address = writes_register ? load_address(Form::row_bytes) : store_address(Form::row_bytes);
        lines.insert(lines.end(), address.lines.begin(), address.lines.end());
        operands.push_back(address.text);
        uses_memory = true;
      } else if (operand.kind == OperandKind::fragment && operand.name != OperandName::e) {
        const Lines registers = fragment(operand, written);
        operands.push_back(list(registers, operand.in_braces));
        if (padding_bits(operand.fragment) != 0) clear_padding(operand, registers, lines);
        if (form.mnemonic == Mnemonic::movmatrix && !operand.written && !options_.assembler_faults) lines = make_different(operands.back());
      } else {
        operands.push_back(number_operand(form, operand, lines));
      }
    }
    return with_address(lines, fmt::format("{} {};", form.opcode, fmt::join(operands, ", ")), uses_memory && !writes_register);
  }

  /// An immediate, so that all lanes have the same address; at most 32 bytes are between two rows of at most 2,048 bytes of elements.
  std::string matrix_address(const Form& form) {
    const auto alignment = static_cast<std::size_t>(form.memory_alignment());
    return fmt::format("[memory+{}]", alignment * random_.below(512 / alignment));
  }

  std::string stride(const Form& form) {
    const auto alignment = static_cast<std::size_t>(form.memory_alignment()), bits = static_cast<std::size_t>(form.memory_bits);
    return std::to_string(static_cast<std::size_t>(form.leading_dimension()) + alignment * random_.below(2) * 8 / bits);
  }

  /// Statements after which `reg` differs between lanes, also for the assembler's analysis: see FuzzOptions::assembler_faults.
  Lines make_different(const std::string& reg) {
    std::string lane = any(pool32);
    while (lane == reg) lane = any(pool32);
    return {fmt::format("mov.u32 {}, %laneid;", lane), fmt::format("add.u32 {}, {}, {};", reg, reg, lane),
            fmt::format("xor.b32 {}, {}, {};", lane, lane, reg)};  // the assembler knows that most bits of the lane's number are zero
  }

  /// Appends statements that make the padding of an operand zero to `lines`.
  static void clear_padding(const Operand& operand, const Lines& registers, Lines& lines) {
    for (const std::string& reg : registers)
      lines.push_back(fmt::format("and.b32 {}, {}, {:#x};", reg, reg, ~padding_bits(operand.fragment)));
  }

  /// Metadata that the ISA defines, moved into its register before the statement, or an immediate operand.
  std::string number_operand(const Form& form, const Operand& operand, Lines& lines) {
    if (operand.kind == OperandKind::selector)
      return std::to_string(random_.below(static_cast<std::size_t>(form.operand(OperandName::e).fragment.matrices())));
    if (operand.kind == OperandKind::ids) return fmt::format("{{0, {}}}", random_.below(static_cast<std::size_t>(operand.choices)));
    std::uint32_t codes = 0;
    for (int bit = 0; bit < 32; bit += 4) {
      std::uint32_t code = 0;
      do code = static_cast<std::uint32_t>(random_.below(16));
      while (!valid_metadata(form, code));
      codes |= code << bit;
    }
    lines.push_back(fmt::format("mov.b32 {}, {:#x};", metadata_register, codes));
    return metadata_register;
  }

  /// The registers of an operand. One in three of the sources with the destination's length is the destination.
  Lines fragment(const Operand& operand, Lines& written) {
    const ListPool& pool = pool_of(operand.fragment.register_bits());
    if (operand.written) {
      written = destinations(pool, operand.registers(), operand.in_braces && may_discard_);
      return written;
    }
    const bool same = written.size() == static_cast<std::size_t>(operand.registers()) && written.front().starts_with(pool.prefix) &&
                      std::ranges::find(written, "_") == written.end() && random_.one_in(3);
    return same ? written : sources(pool, operand.registers());
  }

  // ---- Scalar instructions ----------------------------------------------------------------------------------------------------------

  Lines scalar_unit() {
    const Instruction& instruction = scalars_[random_.below(scalars_.size())];
    require(instruction.requirement());
    if (instruction.kind() == InstructionKind::load) return load(instruction);
    if (instruction.kind() == InstructionKind::store) return store(instruction);
    if (instruction.kind() == InstructionKind::lanes) return {fmt::format("{} 0xffffffff;", instruction.opcode())};
    return {instruction.opcode().starts_with("mov") ? move(instruction) : compute(instruction)};
  }

  static bool is_floating(const DataType& type) { return type.type_class == DataType::Class::floating; }

  /// The registers that a load or store of `type` accepts: of its width, or wider unless it is floating-point.
  const ListPool& memory_pool(const DataType& type) {
    if (is_floating(type)) return pool_of(type.bits);
    const ListPool* chosen = &list_pools[random_.below(std::size(list_pools))];
    while (chosen->bits < type.bits) chosen = &list_pools[random_.below(std::size(list_pools))];
    return *chosen;
  }

  Lines load(const Instruction& instruction) {
    const InstructionOperand& data = instruction.operands()[0];
    const bool in_braces = data.registers() > 1;
    const Address address = load_address(static_cast<std::uint32_t>(instruction.access_bytes()));
    const Lines registers = destinations(memory_pool(*data.type()), data.registers(), in_braces);
    return with_address(address.lines, fmt::format("{} {}, {};", instruction.opcode(), list(registers, in_braces), address.text), false);
  }

  Lines store(const Instruction& instruction) {
    const InstructionOperand& data = instruction.operands()[1];
    const Address address = store_address(static_cast<std::uint32_t>(instruction.access_bytes()));
    const Lines registers = sources(memory_pool(*data.type()), data.registers());
    return with_address(address.lines, fmt::format("{} {}, {};", instruction.opcode(), address.text, list(registers, data.registers() > 1)),
                        true);
  }

  std::string move(const Instruction& instruction) {
    const DataType& type = *instruction.operands().front().type();
    const ListPool& pool = pool_of(type.bits);
    const std::string to = any(pool);
    std::string from = any(pool);
    if (!is_floating(type)) {
      if (random_.one_in(4)) from = number(type.bits);
      if (type.bits == 32 && options_.assembler_faults && random_.one_in(8)) from = "%laneid";
      if (type.bits >= 32 && random_.one_in(8)) from = fmt::format("memory+{}", random_.below(list_memory_bytes));
    }
    return fmt::format("{} {}, {};", instruction.opcode(), to, from);
  }

  std::string compute(const Instruction& instruction) {
    Lines operands;
    for (const InstructionOperand& operand : instruction.operands()) operands.push_back(any(pool_of(operand.type()->bits)));
    if (operands.size() > 2 && !is_floating(*instruction.operands().back().type()) && random_.one_in(3))
      operands.back() = number(random_.one_in(2) ? 5 : 32);
    return fmt::format("{} {};", instruction.opcode(), fmt::join(operands, ", "));
  }

  const Target& target_;
  PtxVersion version_ = std::max(target_.since, {7, 0});  ///< supports everything in the program
  bool may_discard_ = true;                               ///< whether the current form accepts _ as a destination
  std::vector<std::vector<const Form*>> forms_;
  const std::vector<Instruction>& scalars_;
  Random random_;
  FuzzOptions options_;
  FuzzProgram program_;
};

// ---- States -------------------------------------------------------------------------------------------------------------------------

/// The floating-point formats whose elements fill registers of `bits` bits.
std::vector<const FormatRow*> formats_in(int bits) {
  std::vector<const FormatRow*> found;
  for (const FormatRow& f : format_rows())
    if (!is_integer(f) && f.is_signed && bits % f.bits == 0 && (f.bits == 64) == (bits == 64)) found.push_back(&f);
  return found;
}

/// The way to fill one register in all warps.
struct Style {
  const FormatRow* format;
  const OperandClass* operand_class;
  ProductFormats product;

  Style(int bits, Random random) {
    const auto formats = formats_in(bits);
    format = formats[random.below(formats.size())];
    constexpr const char* classes[] = {"random", "finite", "close", "close", "wide", "special", "subnormal"};
    operand_class = find_operand_class(classes[random.below(std::size(classes))]);
    product = {format, format, format};
  }

  uint64_t draw(int bits, uint64_t warp_key, uint64_t key) const {
    uint64_t word = 0;
    for (int bit = 0; bit < bits; bit += format->bits) {
      const uint64_t element_key = combine(key, static_cast<uint64_t>(bit));
      word |= operand_class->element({&product, format, Role::other, warp_key, element_key, element_key, 0, 1}) << bit;
    }
    return word;
  }
};

void fill_register(const NamedRegister& reg, std::span<Register> words, uint64_t program_key, uint64_t warp_key) {
  const int bits = reg.type->bits;
  const auto slot = static_cast<std::size_t>(reg.slot);
  const Style style(bits, Random(combine(program_key, slot)));
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    const uint64_t value = style.draw(bits, warp_key, combine(warp_key, slot * warp_size + lane));
    words[slot][lane] = static_cast<std::uint32_t>(value);
    if (bits == 64) words[slot + 1][lane] = static_cast<std::uint32_t>(value >> 32);
  }
}

std::vector<Instruction> made_scalar_instructions(const Target& target) {
  struct Group {
    std::string_view mnemonic;  ///< with the qualifiers that precede the type
    std::vector<std::string_view> types;
    std::vector<std::string_view> vectors{""};
  };
  const std::vector<std::string_view> integers{"u32", "s32"}, untyped{"b32"};
  const std::vector<std::string_view> words{"b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"};
  const std::vector<std::string_view> vectors{"", ".v2", ".v4"};
  const Group groups[]{{"mov", {"b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"}},
                       {"add", integers},
                       {"sub", integers},
                       {"mul.lo", integers},
                       {"mad.lo", integers},
                       {"and", untyped},
                       {"or", untyped},
                       {"xor", untyped},
                       {"not", untyped},
                       {"shl", untyped},
                       {"shr", {"b32", "u32", "s32"}},
                       {"ld.shared", words, vectors},
                       {"st.shared", words, vectors},
                       {"cvt.rn", {"f16x2.f32", "bf16x2.f32"}}};
  constexpr int widest_access = 128;  // bits of a lane
  constexpr std::string_view with_all = "sm_90";
  std::vector<std::string> opcodes;
  for (const Group& group : groups)
    for (const std::string_view type : group.types)
      for (const std::string_view vector : group.vectors)
        if (vector != ".v4" || 4 * find_data_type(type)->bits <= widest_access)
          opcodes.push_back(fmt::format("{}{}.{}", group.mnemonic, vector, type));
  opcodes.emplace_back("bar.warp.sync");
  std::vector<Instruction> found;
  for (const std::string& opcode : opcodes)
    if (has_feature(find(opcode, with_all).requirement(), target)) found.push_back(find(opcode, target.name));
  return found;
}

}  // namespace

const std::vector<Instruction>& fuzzed_scalar_instructions(const Target& target) {
  static constinit PersistentMap<std::string, std::vector<Instruction>> all;
  return all.get(std::string(target.name), [&] { return made_scalar_instructions(target); });
}

std::size_t FuzzProgram::statements() const {
  std::size_t count = 0;
  for (const FuzzUnit& unit : units) count += unit.statements.size();
  return count;
}

std::string FuzzProgram::text() const {
  std::string all = declarations;
  for (const FuzzUnit& unit : units)
    for (const std::string& statement : unit.statements) all += statement + '\n';
  return all;
}

FuzzProgram random_fuzz_program(const Target& target, std::uint64_t seed, std::uint64_t index, const FuzzOptions& options) {
  return ListGenerator(target, combine(combine(seed, hash_name("program")), index), options).program();
}

WarpStates random_fuzz_states(const Program& program, std::uint64_t seed, std::uint64_t index, std::size_t warps) {
  const uint64_t program_key = combine(combine(seed, hash_name("states")), index);
  WarpStates states(program, warps);
  for (std::size_t warp = 0; warp < warps; ++warp) {
    const uint64_t warp_key = combine(combine(program_key, hash_name("warp")), warp);
    for (const NamedRegister& reg : program.registers()) fill_register(reg, states.registers_of(warp), program_key, warp_key);
    Random random(combine(warp_key, hash_name("memory")));
    for (std::uint8_t& byte : states.shared_of(warp)) byte = static_cast<std::uint8_t>(random.next());
  }
  return states;
}

FuzzProgram shrink(const FuzzProgram& program, const std::function<bool(const FuzzProgram&)>& fails) {
  return shrunk<FuzzProgram>(program, [&](const FuzzProgram& shorter) { return !shorter.units.empty() && fails(shorter); });
}

}  // namespace warpmat
