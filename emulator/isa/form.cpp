#include <warpmat/isa/form.h>

#include <algorithm>
#include <cassert>
#include <map>

#include <fmt/format.h>

#include <warpmat/isa/opcode.h>

namespace warpmat {
namespace {

// ---- The table ----------------------------------------------------------------------------------------------------------------------

/// The accumulator and result types that an mma row offers: D and C always agree here.
using Formats = std::span<const Format>;

enum class Pairing : std::uint8_t { same, any };  ///< whether B's type must be A's

struct MmaRow {
  Shape shape;
  Formats multiplicands;
  Pairing pairing;
  Formats accumulators;
  bool satfinite;  ///< the form exists without and with .satfinite
  Requirement requirement;
};

constexpr Format f16[] = {Format::f16};
constexpr Format bf16[] = {Format::bf16};
constexpr Format tf32[] = {Format::tf32};
constexpr Format bytes[] = {Format::s8, Format::u8};
constexpr Format f32[] = {Format::f32};
constexpr Format f32_or_f16[] = {Format::f32, Format::f16};
constexpr Format s32[] = {Format::s32};

// PTX ISA 9.1 section 9.7.14.5.14, syntax and notes.
constexpr MmaRow mma_rows[] = {
    // shape      A and B  pairing        C and D     satfinite  requires
    {{16, 8, 8},  f16,     Pairing::same, f32_or_f16, false,     {75, {6, 5}}},
    {{16, 8, 16}, f16,     Pairing::same, f32_or_f16, false,     {80, {7, 0}}},
    {{16, 8, 8},  bf16,    Pairing::same, f32,        false,     {80, {7, 0}}},
    {{16, 8, 16}, bf16,    Pairing::same, f32,        false,     {80, {7, 0}}},
    {{16, 8, 4},  tf32,    Pairing::same, f32,        false,     {80, {7, 0}}},
    {{16, 8, 8},  tf32,    Pairing::same, f32,        false,     {80, {7, 0}}},
    {{8, 8, 16},  bytes,   Pairing::any,  s32,        true,      {75, {6, 5}}},
    {{16, 8, 16}, bytes,   Pairing::any,  s32,        true,      {80, {7, 0}}},
    {{16, 8, 32}, bytes,   Pairing::any,  s32,        true,      {80, {7, 0}}},
};

/// ldmatrix, stmatrix and movmatrix: m8n8 matrices of 16-bit elements.
struct MoveRow {
  Mnemonic mnemonic;
  std::span<const int> numbers;    ///< matrices a form moves: .x1, .x2, .x4
  std::span<const bool> transposed;
  Requirement requirement;
};

constexpr int one[] = {1};
constexpr int one_two_four[] = {1, 2, 4};
constexpr bool plain_and_trans[] = {false, true};
constexpr bool trans_only[] = {true};

// PTX ISA 9.1 sections 9.7.14.5.15 to 9.7.14.5.17.
constexpr MoveRow move_rows[] = {
    {Mnemonic::ldmatrix,  one_two_four, plain_and_trans, {75, {6, 5}}},
    {Mnemonic::stmatrix,  one_two_four, plain_and_trans, {90, {7, 8}}},
    {Mnemonic::movmatrix, one,          trans_only,      {75, {7, 8}}},
};

// ---- Expansion of rows into forms ---------------------------------------------------------------------------------------------------

Operand fragment_operand(OperandName name, std::optional<Format> format, const Fragment& fragment, bool written = false) {
  return {.name = name, .written = written, .format = format, .fragment = fragment};
}

Form mma_form(const MmaRow& r, Format a, Format b, Format accumulator, bool satfinite) {
  const auto bits = [](Format format) { return row(format).bits; };
  Form form{.mnemonic = Mnemonic::mma, .opcode = {}, .requirement = r.requirement, .operands = {}, .shape = r.shape, .satfinite = satfinite};
  form.opcode = fmt::format("mma.sync.aligned.m{}n{}k{}.row.col{}.{}.{}.{}.{}", r.shape.m, r.shape.n, r.shape.k, satfinite ? ".satfinite" : "",
                            name(accumulator), name(a), name(b), name(accumulator));
  const Fragment c = fragment_c(r.shape, bits(accumulator));
  form.operands = {fragment_operand(OperandName::d, accumulator, c, true), fragment_operand(OperandName::a, a, fragment_a(r.shape, bits(a))),
                   fragment_operand(OperandName::b, b, fragment_b(r.shape, bits(b))), fragment_operand(OperandName::c, accumulator, c)};
  return form;
}

void expand(const MmaRow& r, std::vector<Form>& out) {
  for (const Format a : r.multiplicands)
    for (const Format b : r.multiplicands) {
      if (r.pairing == Pairing::same && a != b) continue;
      for (const Format accumulator : r.accumulators)
        for (const bool satfinite : {false, true})
          if (!satfinite || r.satfinite) out.push_back(mma_form(r, a, b, accumulator, satfinite));
    }
}

Form move_form(const MoveRow& r, int number, bool transposed) {
  Form form{.mnemonic = r.mnemonic, .opcode = {}, .requirement = r.requirement, .operands = {}, .shape = {8, 8, 0}, .number = number,
            .transposed = transposed};
  const Operand address{.name = OperandName::p, .kind = OperandKind::address, .format = std::nullopt, .fragment = {}};
  const Fragment fragment = fragment_m8n8(number, transposed);
  if (r.mnemonic == Mnemonic::movmatrix) {
    form.opcode = "movmatrix.sync.aligned.m8n8.trans.b16";
    form.operands = {fragment_operand(OperandName::d, std::nullopt, fragment, true), fragment_operand(OperandName::a, std::nullopt, fragment_m8n8(1, false))};
    for (Operand& operand : form.operands) operand.in_braces = false;
    return form;
  }
  form.opcode = fmt::format("{}.sync.aligned.m8n8.x{}{}.shared.b16", name(r.mnemonic), number, transposed ? ".trans" : "");
  const bool load = r.mnemonic == Mnemonic::ldmatrix;
  const Operand registers = fragment_operand(OperandName::r, std::nullopt, fragment, load);
  form.operands = load ? std::vector{registers, address} : std::vector{address, registers};
  return form;
}

std::vector<Form> expand_all() {
  std::vector<Form> out;
  for (const MoveRow& r : move_rows)
    for (const int number : r.numbers)
      for (const bool transposed : r.transposed) out.push_back(move_form(r, number, transposed));
  for (const MmaRow& r : mma_rows) expand(r, out);
  return out;
}

using OpcodeIndex = std::map<OpcodeKey, const Form*>;

const OpcodeIndex& opcode_index() {
  static const OpcodeIndex index = [] {
    OpcodeIndex by_opcode;
    for (const Form& form : forms()) by_opcode.emplace(opcode_key(form.opcode), &form);
    assert(by_opcode.size() == forms().size());  // no two rows make the same form
    return by_opcode;
  }();
  return index;
}

}  // namespace

std::string_view name(Mnemonic mnemonic) {
  switch (mnemonic) {
    case Mnemonic::ldmatrix: return "ldmatrix";
    case Mnemonic::stmatrix: return "stmatrix";
    case Mnemonic::movmatrix: return "movmatrix";
    case Mnemonic::mma: return "mma";
  }
  return "";
}

std::string_view name(OperandName name) {
  static constexpr std::string_view names[operand_names] = {"d", "a", "b", "c", "r", "p"};
  return names[static_cast<std::size_t>(name)];
}

std::optional<OperandName> find_operand_name(std::string_view text) {
  for (std::size_t i = 0; i < operand_names; ++i)
    if (const auto candidate = static_cast<OperandName>(i); name(candidate) == text) return candidate;
  return std::nullopt;
}

const Operand* Form::find_operand(OperandName operand_name) const {
  const auto found = std::ranges::find(operands, operand_name, &Operand::name);
  return found == operands.end() ? nullptr : &*found;
}

const Operand& Form::operand(OperandName operand_name) const {
  const Operand* found = find_operand(operand_name);
  assert(found != nullptr);
  return *found;
}

std::span<const Form> forms() {
  static const std::vector<Form> all = expand_all();
  return all;
}

const Form* find_form(std::string_view opcode) {
  const auto found = opcode_index().find(opcode_key(opcode));
  return found == opcode_index().end() ? nullptr : found->second;
}

std::string explain_unknown_opcode(std::string_view opcode) {
  const std::string mnemonic = opcode_key(opcode).front();
  if (!is_matrix_mnemonic(mnemonic))
    return fmt::format("unknown instruction '{}': the matrix instructions are ldmatrix, stmatrix, movmatrix and mma", mnemonic);
  std::vector<std::string> known;
  for (const Form& form : forms()) known.push_back(form.opcode);
  return explain_unknown(opcode, known);
}

std::optional<std::string> unavailable(const Form& form, const Target& target, PtxVersion version) {
  const Requirement& r = form.requirement;
  if (target.number < r.baseline) return fmt::format("{} needs sm_{} or later; the target is {}", form.opcode, r.baseline, target.name);
  if (version < r.ptx) return fmt::format("{} needs PTX {} or later; the version is {}", form.opcode, to_string(r.ptx), to_string(version));
  return std::nullopt;
}

bool is_matrix_mnemonic(std::string_view mnemonic) {
  return std::ranges::any_of(forms(), [&](const Form& form) { return name(form.mnemonic) == mnemonic; });
}

}  // namespace warpmat
