#include <warpmat/tables/sass.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include <warpmat/tables/opcode.h>
#include <warpmat/text.h>

namespace warpmat {
namespace {

/// A format as SASS spells it: "E4M3".
std::string upper(Format format) {
  std::string text(name(format));
  std::ranges::transform(text, text.begin(), [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
  return text;
}

std::string rounding_suffix(Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest_even: return "";
    case Rounding::toward_zero: return ".RZ";
    case Rounding::down: return ".RM";
    case Rounding::up: return ".RP";
  }
  return "";
}

/// ldmatrix, stmatrix and movmatrix of 8x8 matrices of 16-bit elements. The spelling of the others is not known.
std::optional<std::string> move_name(const Form& form, const Lowering& lowering) {
  if (form.memory_bits != 16 || form.shape.m != 8 || form.shape.n != 8) return std::nullopt;
  const bool across = form.transposed || lowering.semantics == Semantics::movmatrix;
  return format_text("{}.16.{}{}", lowering.machine, across ? "MT88" : "M88", form.number == 1 ? "" : format_text(".{}", form.number));
}

/// The text after the machine instruction's name and shape in an mma.
std::optional<std::string> type_suffix(const Form& form, const Lowering& lowering) {
  const Format a = form.format(OperandName::a), b = form.format(OperandName::b), d = form.format(OperandName::d);
  switch (lowering.semantics) {
    case Semantics::dot:
      if (form.scale_vector != 0) return std::nullopt;
      if (a == Format::f16) return format_text(".{}", upper(d));
      if (a == Format::bf16 || a == Format::tf32) return format_text(".{}.{}", upper(d), upper(a));
      return format_text(".{}.{}.{}", upper(d), upper(a), upper(b));
    case Semantics::integer_dot: return format_text(".{}.{}{}", upper(a), upper(b), form.satfinite ? ".SAT" : "");
    case Semantics::bit_dot: return form.bit_operation == BitOperation::bit_xor ? ".XOR.POPC" : ".AND.POPC";
    case Semantics::f64_chain: return rounding_suffix(form.rounding);
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<std::string> sass_name(const Form& form, const Lowering& lowering) {
  switch (form.mnemonic) {
    case Mnemonic::ldmatrix:
    case Mnemonic::stmatrix:
    case Mnemonic::movmatrix: return move_name(form, lowering);
    case Mnemonic::mma: break;
    default: return std::nullopt;  // wmma: loads and stores of words, and the machine instructions of mma
  }
  if (!lowering.exceptions.one_instruction) return std::nullopt;
  std::string machine = machine_name(form, lowering);
  const auto suffix = type_suffix(form, lowering);
  if (!suffix) return std::nullopt;
  // SASS writes the shape with crosses for f64 only: DMMA.16x8x4.
  if (lowering.semantics == Semantics::f64_chain) machine = format_text("DMMA.{}x{}x{}", form.shape.m, form.shape.n, form.shape.k);
  return machine + *suffix;
}

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Whether `name` is `sass`, whose shape may have crosses that `name` lacks: "DMMA.884" of "DMMA.8x8x4".
bool spells(std::string_view name, std::string_view sass) {
  if (name == sass) return true;
  std::string plain;
  for (std::size_t i = 0; i < sass.size(); ++i)
    if (sass[i] != 'x' || i == 0 || !is_digit(sass[i - 1])) plain += sass[i];
  return name == plain;
}

/// Calls visit(form, lowering) for the forms that `target` has.
template <typename Visit>
void for_each_form(const Target& target, Visit visit) {
  for (const Form& form : forms())
    if (const Lowering* const lowering = find_lowering(form, target.hardware); lowering != nullptr && !unavailable(form, target))
      visit(form, *lowering);
}

/// "A, B or C".
std::string alternatives(const std::vector<std::string>& names) {
  std::string text = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) text += (i + 1 < names.size() ? ", " : " or ") + names[i];
  return text;
}

/// "HMMA" of "HMMA.16816.F32".
std::string_view family_of(std::string_view name) {
  return name.substr(0, name.find('.'));
}

}  // namespace

const Form* find_sass(std::string_view name, const Target& target) {
  for (const Form& form : forms()) {
    if (unavailable(form, target)) continue;
    const Lowering* lowering = find_lowering(form, target.hardware);
    if (lowering == nullptr) continue;
    if (const auto sass = sass_name(form, *lowering); sass && spells(name, *sass)) return &form;
  }
  return nullptr;
}

std::string explain_unknown_sass(std::string_view name, const Target& target) {
  std::vector<KnownOpcode> known;
  std::vector<std::string> longer, families;
  std::string pieces;  // a form of several machine instructions, of which `name` is one
  for_each_form(target, [&](const Form& form, const Lowering& lowering) {
    const auto sass = sass_name(form, lowering);
    const std::string machine = machine_name(form, lowering);
    if (!sass) {
      if (pieces.empty() && !name.empty() && machine.find(name) != std::string::npos)
        pieces = format_text("{} becomes {}", form.opcode, machine);
      return;
    }
    if (std::ranges::find(known, *sass, &KnownOpcode::opcode) != known.end()) return;
    known.emplace_back(*sass);
    if (machine == name) longer.push_back(*sass);
    const std::string family(family_of(*sass));
    if (std::ranges::find(families, family) == families.end()) families.push_back(family);
  });
  constexpr std::size_t most_listed = 8;
  if (longer.size() > most_listed) longer.resize(most_listed);
  if (!longer.empty()) return format_text("'{}' leaves its types open on {}: {}", name, target.name, alternatives(longer));
  const std::string beginning = format_text("no form is the one machine instruction '{}' on {}", name, target.name);
  if (!pieces.empty()) return format_text("{}: {}, which warpmat_find finds by PTX's opcode", beginning, pieces);
  if (std::ranges::find(families, family_of(name)) != families.end()) return format_text("{}: {}", beginning, explain_unknown(name, known));
  if (families.empty()) return format_text("{}: there is none whose name is known; warpmat_find finds forms by PTX's opcode", beginning);
  return format_text("{}; names that are known begin with {}", beginning, alternatives(families));
}

}  // namespace warpmat
