#include <warpmat/assembler/cubin.h>
#include <warpmat/assembler/ptxas.h>
#include <warpmat/forms.h>
#include <warpmat/wgmma.h>

#include "tables/assembler.h"
#include "test.h"

// Where ptxas 13.0 is: what SASS names is one machine instruction in its code, and names and encodings belong to each other one to one.

namespace warpmat::sass_names_test {
namespace {

/// An entry that executes `form` once, on registers that it loads and whose results it stores.
std::string entry_of(const Form& form, std::size_t number) {
  std::string declared, loaded, stored, operands;
  for (const Operand& operand : form.operands) {
    operands += operands.empty() ? "" : ", ";
    switch (operand.kind) {
      case OperandKind::address: operands += form.opcode.find(".shared") != std::string::npos ? "[%shared]" : "[%in]"; continue;
      case OperandKind::selector: operands += "0"; continue;
      case OperandKind::ids: operands += "{0, 0}"; continue;
      case OperandKind::stride: operands += "64"; continue;
      case OperandKind::fragment: break;
    }
    const char* const type = operand.fragment.register_bits() == 64 ? "f64" : operand.format == Format::f32 ? "f32" : "b32";
    std::string list;
    for (int i = 0; i < operand.registers(); ++i) {
      const std::string reg = fmt::format("%{}_{}", static_cast<int>(operand.name), i);
      declared += fmt::format(".reg .{} {};\n", type, reg);
      loaded += operand.written ? "" : fmt::format("ld.volatile.global.{} {}, [%in+{}];\n", type, reg, 8 * i);
      stored += operand.written ? fmt::format("st.volatile.global.{} [%out+{}], {};\n", type, 8 * i, reg) : "";
      list += (i == 0 ? "" : ", ") + reg;
    }
    operands += operand.in_braces ? '{' + list + '}' : list;
  }
  return fmt::format(
      ".visible .entry k{}(.param .u64 p, .param .u64 q, .param .u32 s)\n{{\n.reg .b64 %in, %out;\n.reg .b32 %shared;\n{}"
      "ld.param.u64 %in, [p];\nld.param.u64 %out, [q];\nld.param.u32 %shared, [s];\n{}{} {};\n{}ret;\n}}\n",
      number, declared, loaded, form.opcode, operands, stored);
}

/// Families of machine instructions by the low 12 bits of their code.
const std::map<unsigned, std::string> families{{0x23c, "HMMA"}, {0x236, "HMMA"}, {0x237, "IMMA"}, {0x23d, "BMMA"},
                                               {0x23f, "DMMA"}, {0x27a, "QMMA"}, {0x47a, "QMMA"}, {0x47f, "OMMA"},
                                               {0x83b, "LDSM"}, {0x844, "STSM"}, {0x23a, "MOVM"}};
constexpr unsigned call = 0x944;

unsigned code_of(const MachineInstruction& instruction) {
  return static_cast<unsigned>(instruction.low & 0xfff);
}

/// Code and modifiers, without registers, predicate and scheduling: bits 72 to 103.
using Encoding = std::pair<unsigned, std::uint64_t>;

Encoding encoding_of(const MachineInstruction& instruction) {
  return {code_of(instruction), instruction.high >> 8 & 0xffffffff};
}

/// What ptxas makes of each form on `target`, in the order of `asked`; those that ptxas 13.0 does not take are left out.
std::map<const Form*, std::vector<MachineInstruction>> assembled(const Target& target) {
  std::string text = fmt::format(".version 9.0\n.target {}\n.address_size 64\n", target.name);
  std::vector<const Form*> asked;
  for (const Form& form : forms())
    if (!unavailable(form, target, {9, 0})) {
      text += entry_of(form, asked.size());
      asked.push_back(&form);
    }
  std::map<const Form*, std::vector<MachineInstruction>> code;
  for (MachineFunction& function : read_cubin(assemble(*find_ptxas(), text, target.name)))
    if (function.name.starts_with('k')) code[asked.at(std::stoul(function.name.substr(1)))] = std::move(function.instructions);
  CHECK(code.size() == asked.size());
  return code;
}

TEST_CASE("what SASS names is one machine instruction of ptxas 13.0, and each name has an encoding of its own", "[slow]") {
  if (!has_ptxas()) {
    WARN("skipped: no ptxas 13.0");
    return;
  }
  std::size_t named = 0;
  for (const char* const target_name :
       {"sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_110a", "sm_120a", "sm_121a"}) {
    const Target& on = target(target_name);
    std::map<std::string, Encoding> encodings;
    std::map<Encoding, std::string> names;
    for (const auto& [form, code] : assembled(on)) {
      CAPTURE(form->opcode, target_name);
      std::vector<MachineInstruction> found;
      bool calls = false;
      for (const MachineInstruction& instruction : code) {
        if (families.contains(code_of(instruction))) found.push_back(instruction);
        calls |= code_of(instruction) == call;
      }
      const auto name = sass_name(*form, *find_lowering(*form, on.hardware));
      if (!name) {
        // wmma's loads from shared memory are LDSM and more; IMMA of 16 rows serves 8 of them.
        if (multiplies(form->mnemonic) && !(on.number >= 100 && form->shape == Shape{8, 8, 16})) CHECK((found.size() != 1 || calls));
        continue;
      }
      ++named;
      CAPTURE(*name);
      CHECK_FALSE(calls);
      REQUIRE(found.size() == 1);
      CHECK(name->starts_with(families.at(code_of(found.front()))));
      const Encoding encoding = encoding_of(found.front());
      CHECK(encodings.try_emplace(*name, encoding).first->second == encoding);
      CHECK(names.try_emplace(encoding, *name).first->second == *name);
    }
  }
  CHECK(named > 2000);
}

}  // namespace
}  // namespace warpmat::sass_names_test
