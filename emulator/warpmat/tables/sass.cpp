#include <warpmat/forms.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include <warpmat/tables/nearest_opcode.h>
#include <warpmat/tables/opcode_text.h>
#include <warpmat/text.h>
#include <warpmat/wgmma.h>

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

/// How SASS spells the matrices that ldmatrix, stmatrix and movmatrix move: width of the elements in memory, rows and columns.
struct MovedMatrix {
  Mnemonic mnemonic;
  int memory_bits, m, n;
  std::string_view as_is, transposed;  ///< empty: there is none
};

constexpr MovedMatrix moved_matrices[] = {
    {Mnemonic::ldmatrix, 16, 8, 8, "16.M88", "16.MT88"},    {Mnemonic::ldmatrix, 8, 16, 16, {}, "8.MT1616"},
    {Mnemonic::ldmatrix, 6, 8, 16, "U6x16P32TO8.M816", {}}, {Mnemonic::ldmatrix, 6, 16, 16, {}, "U6x16P32TO8.MT1616"},
    {Mnemonic::ldmatrix, 4, 8, 16, "U4x16P64TO8.M816", {}}, {Mnemonic::ldmatrix, 4, 16, 16, {}, "U4x16P64TO8.MT1616"},
    {Mnemonic::stmatrix, 16, 8, 8, "16.M88", "16.MT88"},    {Mnemonic::stmatrix, 8, 8, 16, {}, "8.MT168"},
    {Mnemonic::movmatrix, 16, 8, 8, {}, "16.MT88"},
};

std::optional<std::string> move_name(const Form& form, const Lowering& lowering) {
  const auto* const found = std::ranges::find_if(moved_matrices, [&](const MovedMatrix& row) {
    return row.mnemonic == form.mnemonic && row.memory_bits == form.memory_bits && row.m == form.shape.m && row.n == form.shape.n;
  });
  if (found == std::end(moved_matrices)) return std::nullopt;
  const bool across = form.transposed || lowering.semantics == Semantics::movmatrix;
  return format_text("{}.{}{}", lowering.machine, across ? found->transposed : found->as_is,
                     form.number == 1 ? "" : format_text(".{}", form.number));
}

/// The scale factors of a block-scaled mma: one for each 32 elements, unless it says how many there are.
std::string scale_suffix(const Form& form) {
  const std::string_view type = form.format(OperandName::scale_a) == Format::ue8m0 ? ".E8" : ".UE4M3";
  return format_text("{}{}", type, form.scale_vector == 4 ? ".4X" : "");
}

/// The text after the machine instruction's name and shape in a product.
std::optional<std::string> type_suffix(const Form& form, const Lowering& lowering) {
  const Format a = form.format(OperandName::a), b = form.format(OperandName::b), d = form.format(OperandName::d);
  switch (lowering.semantics) {
    case Semantics::dot:
    case Semantics::grouped_dot:
      if (a == Format::f16) return format_text(".{}", upper(d));
      if (a == Format::bf16 || a == Format::tf32) return format_text(".{}.{}", upper(d), upper(a));
      return format_text(".{}.{}.{}{}", upper(d), upper(a), upper(b), form.scale_vector != 0 ? scale_suffix(form) : "");
    case Semantics::integer_dot: return format_text(".{}.{}{}", upper(a), upper(b), form.satfinite ? ".SAT" : "");
    case Semantics::bit_dot: return form.bit_operation == BitOperation::bit_xor ? ".XOR.POPC" : ".AND.POPC";
    case Semantics::f64_chain: return rounding_suffix(form.rounding);
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<std::string> sass_name(const Form& form, const Lowering& lowering) {
  if (lowering.semantics == Semantics::wmma_load || lowering.semantics == Semantics::wmma_store) return std::nullopt;  // of several words
  if (!multiplies(form.mnemonic)) return move_name(form, lowering);
  if (!lowering.exceptions.one_instruction) return std::nullopt;
  std::string machine = machine_name(form, lowering);
  const auto suffix = type_suffix(form, lowering);
  if (!suffix) return std::nullopt;
  // SASS writes the shape with crosses for f64 only: DMMA.16x8x4.
  if (lowering.semantics == Semantics::f64_chain) machine = format_text("DMMA.{}x{}x{}", form.shape.m, form.shape.n, form.shape.k);
  return machine + *suffix;
}

std::string sass_name(const WgmmaForm& form) {
  const Lowering& lowering = lowering_of(form);
  return format_text("{}{}.{}x{}x{}{}", lowering.machine, form.sparse() ? ".SP" : "", form.shape.m, form.shape.n, form.shape.k,
                     *type_suffix(*form.tile, lowering));
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

const WgmmaForm* find_wgmma_sass(std::string_view name) {
  const auto found = std::ranges::find_if(wgmma_forms(), [&](const WgmmaForm& form) { return sass_name(form) == name; });
  return found == wgmma_forms().end() ? nullptr : &*found;
}

namespace {

/// What SASS of sm_70 writes before the number of a step: "HMMA.884.F32.F32.STEP". Empty for forms without known steps; where C and D have
/// two types none is known.
std::string step_prefix(const Form& form, const Target& target) {
  if (target.hardware != Hardware::sm_70 || form.mnemonic != Mnemonic::mma || unavailable(form, target)) return {};
  const Format d = form.format(OperandName::d);
  return d == form.format(OperandName::c) ? format_text("HMMA.884.{0}.{0}.STEP", upper(d)) : std::string();
}

bool has_layouts(const Form& form, std::string_view a, std::string_view b) {
  return form.opcode.find(format_text("m8n8k4.{}.{}.", a, b)) != std::string::npos;
}

}  // namespace

std::optional<SassStep> find_sass_step(std::string_view name, std::string_view layout_a, std::string_view layout_b, const Target& target) {
  for (const Form& form : forms()) {
    const std::string prefix = step_prefix(form, target);
    if (prefix.empty() || !name.starts_with(prefix) || name.size() != prefix.size() + 1 || !has_layouts(form, layout_a, layout_b)) continue;
    const int step = name.back() - '0', steps = form.operand(OperandName::d).registers() / SassStep::registers;
    if (step >= 0 && step < steps) return SassStep{&form, step, steps};
  }
  return std::nullopt;
}

std::string explain_unknown_sass(std::string_view name, const Target& target) {
  if (is_wgmma_sass(name)) return explain_unknown_wgmma(name);
  if (const OpcodeText text = machine_name_in(name); !text.beside.empty() && !text.opcode.empty()) {
    const bool known = find_sass(text.opcode, target) != nullptr || find_wgmma_sass(text.opcode) != nullptr;
    const std::string rest = known ? format_text("the name is {}", text.opcode) : explain_unknown_sass(text.opcode, target);
    return format_text("'{}' has {} beside the name: {}", name, text.listed(), rest);
  }
  if (const auto step = find_sass_step(name, "row", "col", target))
    return format_text("'{}' is step {} of {} of mma.m8n8k4: warpmat_find_machine_step finds it", name, step->step, step->steps);
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
