#include "gpu/ask/questions.h"

#include <fmt/core.h>
#include <warpmat/program.h>
#include <warpmat/text.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "gpu/cases/cases.h"
#include "gpu/runners/emulator_runner.h"

namespace warpmat::ask {
namespace {

bool is_asked(const Form& form) {
  if (form.mnemonic == Mnemonic::mma) return true;
  return form.mnemonic == Mnemonic::wmma_mma && form.opcode.find(".row.col.") != std::string::npos;  // wmma's layouts change no sum
}

std::uint32_t valid_codes(const Form& form) {
  std::uint32_t codes = 0;
  for (unsigned code = 0; code < 16; ++code) codes |= valid_metadata(form, code) ? 1U << code : 0U;
  return codes;
}

char role_of(OperandName name) {
  switch (name) {
    case OperandName::a: return 'a';
    case OperandName::b: return 'b';
    case OperandName::e: return 'e';
    case OperandName::scale_a:
    case OperandName::scale_b: return 's';
    default: return 'c';
  }
}

Elements elements_of(const Form& form, const Operand& operand) {
  const Fragment& f = operand.fragment;
  if (operand.name == OperandName::e) return {'e', 32, 4, 4, 0, 0, 0, false, valid_codes(form)};
  Elements e{operand.written ? 'd' : role_of(operand.name),
             f.register_bits(),
             f.element_bits(),
             f.payload_bits(),
             f.payload_shift(),
             0,
             0,
             true,
             0};
  if (!operand.format) return e;
  const FormatRow& format = row(*operand.format);
  e.exponent = format.exponent_bits;
  e.fraction = format.exponent_bits == 0 ? 0 : format.fraction_bits;
  e.is_signed = format.is_signed;
  if (e.exponent != 0 && format.ignored_low_bits != 0) e.fraction += format.ignored_low_bits;  // tf32: a register of f32
  return e;
}

/// The newest hardware that has the form.
Hardware any_hardware(const Form& form) {
  Hardware found{};
  for (const Target& target : targets())
    if (find_lowering(form, target.hardware) != nullptr) found = target.hardware;
  return found;
}

Question question_of(const Form& form) {
  const Program program = program_for(form, asking_target(any_hardware(form)), operand_classes().front(), 0);
  Question question{&form, print(program, program.statements().front()), {}};
  for (const Operand& operand : form.operands) {
    if (operand.kind != OperandKind::fragment) continue;
    std::string stem = fmt::format("%{}", name(operand.name));
    std::ranges::replace(stem, '-', '_');
    question.groups.push_back({std::move(stem), operand.registers(), elements_of(form, operand)});
  }
  return question;
}

std::vector<Question> all_questions() {
  std::vector<Question> all;
  for (const Form& form : forms())
    if (is_asked(form)) all.push_back(question_of(form));
  return all;
}

int slot_of(const Program& program, const std::string& name) {
  return std::ranges::find(program.registers(), name, &NamedRegister::name)->slot;
}

/// Calls visit(number, elements, slot) for each register of a question.
template <typename Visit>
void for_each_register(const Question& question, const Program& program, Visit visit) {
  unsigned number = 0;
  for (const Question::Group& group : question.groups)
    for (int i = 0; i < group.count; ++i) visit(number++, group.elements, slot_of(program, fmt::format("{}{}", group.stem, i)));
}

void draw(const Question& question, std::uint64_t number, const Program& program, unsigned of_class, WarpStates& states) {
  for (unsigned warp = 0; warp < warps; ++warp)
    for_each_register(question, program, [&](unsigned number_of_register, const Elements& elements, int slot) {
      if (elements.role == 'd') return;
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const std::uint64_t bits = register_bits(elements, number, of_class, warp, number_of_register, lane);
        const std::span<Register> words = states.registers_of(warp);
        words[static_cast<std::size_t>(slot)][lane] = static_cast<std::uint32_t>(bits);
        if (elements.register_bits == 64) words[static_cast<std::size_t>(slot) + 1][lane] = static_cast<std::uint32_t>(bits >> 32);
      }
    });
}

std::uint32_t digest_of(const Question& question, const Program& program, const WarpStates& states) {
  Digest digest;
  for (unsigned warp = 0; warp < warps; ++warp)
    for_each_register(question, program, [&](unsigned, const Elements& elements, int slot) {
      if (elements.role != 'd') return;
      const std::span<const Register> words = states.registers_of(warp);
      for (unsigned lane = 0; lane < lanes; ++lane) {
        std::uint64_t bits = words[static_cast<std::size_t>(slot)][lane];
        if (elements.register_bits == 64) bits |= std::uint64_t{words[static_cast<std::size_t>(slot) + 1][lane]} << 32;
        digest.add(bits);
      }
    });
  return digest.value();
}

}  // namespace

const std::vector<Question>& questions() {
  static const std::vector<Question> all = all_questions();
  return all;
}

std::uint32_t digest_of_questions() {
  Digest digest;
  for (const Question& question : questions())
    for (const char c : question.statement) digest.add(static_cast<unsigned char>(c));
  return digest.value();
}

const Target& asking_target(Hardware hardware) {
  const Target* found = nullptr;
  for (const Target& target : targets())
    if (target.hardware == hardware && (found == nullptr || target.name.ends_with('a'))) found = &target;
  return *found;
}

std::optional<Digests> expected(std::size_t number, Hardware hardware) {
  const Question& question = questions()[number];
  if (find_lowering(*question.form, hardware) == nullptr) return std::nullopt;
  const Program program = program_for(*question.form, asking_target(hardware), operand_classes().front(), 0);
  EmulatorRunner emulator(0, 1);
  Digests digests{};
  for (unsigned of_class = 0; of_class < classes; ++of_class) {
    WarpStates states(program, warps);
    draw(question, number, program, of_class, states);
    emulator.run(program, states);
    digests[of_class] = digest_of(question, program, states);
  }
  return digests;
}

}  // namespace warpmat::ask
