#include <warpmat/tables/sass.h>

#include <algorithm>
#include <cctype>

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

const Form* find_sass(std::string_view name, const Target& target) {
  for (const Form& form : forms()) {
    if (unavailable(form, target)) continue;
    const Lowering* lowering = find_lowering(form, target.hardware);
    if (lowering != nullptr && sass_name(form, *lowering) == name) return &form;
  }
  return nullptr;
}

}  // namespace warpmat
