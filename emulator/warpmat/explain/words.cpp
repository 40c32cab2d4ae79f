#include <warpmat/explain/words.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <warpmat/explain/bit_picture.h>
#include <warpmat/forms.h>

namespace warpmat {
namespace {

using StepKind = ExplainedStep::Kind;

bool is_zero(const Term& term) {
  return term.value.kind == Value::Kind::zero;
}

/// The shortest exact decimal number, or significand and exponent if a double is too narrow.
std::string value_text(const Value& value) {
  switch (value.kind) {
    case Value::Kind::zero: return "0";
    case Value::Kind::nan: return "NaN";
    case Value::Kind::infinity: return value.negative ? "-inf" : "inf";
    case Value::Kind::finite: break;
  }
  const int unit = value.exponent - value.fraction_bits;
  constexpr int exact_bits = 53, least = -1074, most = 960;
  const char* const sign = value.negative ? "-" : "";
  if (value.significand >> exact_bits != 0 || unit < least || unit > most)
    return fmt::format("{}{:#x} * 2^{}", sign, value.significand, unit);
  return fmt::format("{}{}", sign, std::ldexp(static_cast<double>(value.significand), unit));
}

std::string place_text(const Place& place) {
  return fmt::format("lane {}, register {}, bit {}", place.lane, place.reg, place.bit);
}

/// "A[3][0]" with the operand's letter.
std::string element_text(const Factor& factor) {
  const std::string matrix = factor.element.matrix == 0 ? "" : fmt::format(" of {}", factor.element.matrix);
  return fmt::format("{}[{}][{}]{}", name(factor.operand), factor.element.row, factor.element.column, matrix);
}

/// "12:0.16": lane, register and lowest bit.
std::string short_place(const Place& place) {
  return fmt::format("{}:{}.{}", place.lane, place.reg, place.bit);
}

/// Element, place, bits and value of a factor, a cell each.
void add_cells(std::vector<std::string>& cells, const Form& form, const Factor& factor) {
  const int digits = (row(form.format(factor.operand)).bits + 3) / 4;
  cells.insert(cells.end(), {element_text(factor), short_place(factor.place), fmt::format("{:#0{}x}", factor.bits, digits + 2),
                             value_text(factor.value)});
}

std::string exponent_text(const Value& value) {
  return value.kind == Value::Kind::finite ? fmt::format("{}", value.exponent) : "";
}

std::string scales_text(const Form& form, const std::vector<Factor>& scales) {
  std::vector<std::string> texts;
  for (const Factor& scale : scales)
    texts.push_back(
        fmt::format("{} = {} in {}", element_text(scale), bits_text(form.format(scale.operand), scale.bits), place_text(scale.place)));
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::size_t products_of(const ExplainedStep& step) {
  std::size_t count = 0;
  for (const Term& term : step.terms) count += term.products.size();
  return count;
}

}  // namespace

std::string bits_text(Format format, std::uint64_t bits) {
  const int digits = (row(format).bits + 3) / 4;
  return fmt::format("{:#0{}x} ({})", bits, digits + 2, value_text(decode(format, bits)));
}

std::string what(const Explanation& explanation) {
  const Element& e = explanation.element;
  const bool several = explanation.form->operand(explanation.operand).fragment.matrices() > 1;
  const std::string_view opcode = explanation.tile_of.empty() ? explanation.form->opcode : explanation.tile_of;
  return fmt::format("{}row {}, column {} of {} ({}) of {}{}", several ? fmt::format("matrix {}, ", e.matrix) : "", e.row, e.column,
                     name(explanation.operand), place_text(explanation.place),
                     explanation.tile_of.empty() ? "" : "a tile of 16 rows and 8 columns of ", opcode);
}

std::vector<std::string> machine_sentences(const Explanation& explanation) {
  if (explanation.plain_f32) return {"A loop in f32: multiply-adds from C on, K ascending, each rounded once to nearest even."};
  const Lowering& lowering = *explanation.lowering;
  std::vector<std::string> sentences{
      fmt::format("Machine instructions: {}. Label: {} ({}).", explanation.machine, name(label_of(lowering)), lowering.source)};
  if (lowering.model == nullptr) return sentences;
  const DotModel& model = *lowering.model;
  std::string text = fmt::format("Unit {}: {} bytes of a row of A a step, {} bits kept below the largest exponent", model.name,
                                 model.step_bytes, model.fraction_bits);
  if (const int floor = model.floor(explanation.form->accumulator()); floor != no_floor)
    text += fmt::format(", which counts as {} at least", floor);
  if (model.result_fraction_bits < 23) text += fmt::format(", {} fraction bits of an f32 result", model.result_fraction_bits);
  sentences.push_back(text + ".");
  return sentences;
}

std::string step_title(const Explanation& explanation, std::size_t number) {
  const ExplainedStep& step = explanation.steps[number];
  const std::string position = fmt::format("Step {} of {}", number + 1, explanation.steps.size());
  const std::size_t products = products_of(step);
  const char* const s = products == 1 ? "" : "s";
  switch (step.kind) {
    case StepKind::unit_sum:
      return fmt::format("{}: {} product{} and {} in one addition of the unit", position, products, s, bits_text(step.format, step.addend));
    case StepKind::fused:
      return fmt::format("{}: {} in a fused multiply-add of {}", position, term_name(step.terms.front()), name(step.format));
    case StepKind::addition: return fmt::format("{}: an addition of {}", position, name(step.format));
    case StepKind::integer_sum: return fmt::format("{}: {} product{} and C, exactly", position, products, s);
    case StepKind::conversion: return fmt::format("{}: {} becomes {}", position, name(step.from), name(step.format));
    case StepKind::nan_of_scale: return fmt::format("{}: a scale factor is NaN", position);
  }
  return position;
}

ProductTable product_table(const Explanation& explanation, const ExplainedStep& step) {
  const Form& form = *explanation.form;
  ProductTable table{{"term", "a", "lane:reg.bit", "bits", "value", "b", "lane:reg.bit", "bits", "value", "product", "exponent"}, {}, ""};
  std::vector<std::string> zeros;
  for (const Term& term : step.terms)
    for (const Term::Product& product : term.products) {
      const bool wide = form.format(OperandName::a) == Format::f64;  // no Value holds the product
      const Value value = wide ? Value::special(Value::Kind::zero) : multiply(product.a.value, product.b.value);
      if (value.kind == Value::Kind::zero && term.products.size() == 1 && (is_zero(term) && step.kind != StepKind::fused)) {
        zeros.push_back(fmt::format("{}", product.a.element.column));
        continue;
      }
      std::vector<std::string> cells{term_name(term)};
      add_cells(cells, form, product.a);
      add_cells(cells, form, product.b);
      const bool integers = step.kind == StepKind::integer_sum;
      cells.push_back(wide ? "" : value_text(integers ? term.value : value));
      cells.push_back(wide || integers ? ""
                                       : exponent_text(step.kind == StepKind::unit_sum && term.products.size() == 1 ? term.value : value));
      table.rows.push_back(std::move(cells));
    }
  if (!zeros.empty()) table.zeros = fmt::format("Products that are zero: k = {}.", fmt::join(zeros, ", "));
  return table;
}

std::vector<std::string> alignment_sentences(const Explanation& explanation, const ExplainedStep& step) {
  const Form& form = *explanation.form;
  std::vector<std::string> sentences;
  for (const Term& term : step.terms) {
    if (term.scales.empty()) continue;
    const bool group = term.products.size() > 1;
    if (group || &term == &step.terms.front())
      sentences.push_back(fmt::format("{}: scale factors {}{}", group ? term_name(term) : "every product", scales_text(form, term.scales),
                                      group ? fmt::format("; the sum times both is {}", value_text(term.value)) : ""));
  }
  if (step.kind != StepKind::unit_sum || step.special || step.largest_exponent == no_floor) return sentences;
  const int floor = explanation.lowering->model->floor(step.format), e = step.unit_exponent + explanation.lowering->model->fraction_bits;
  std::vector<std::string> largest;
  for (const Term& term : step.terms)
    if (term.value.kind == Value::Kind::finite && term.value.exponent == step.largest_exponent) largest.push_back(term_name(term));
  constexpr std::size_t named = 4;
  const std::string others = largest.size() > named ? fmt::format(" and {} more", largest.size() - named) : "";
  largest.resize(std::min(largest.size(), named));
  sentences.push_back(e > step.largest_exponent
                          ? fmt::format("E = {}: the floor, as no term has an exponent above {}.", floor, step.largest_exponent)
                          : fmt::format("E = {}: the largest exponent, that of {}{}.", e, fmt::join(largest, ", "), others));
  sentences.push_back(fmt::format("The register's lowest bit is 2^{}: every term is cut below it, toward zero.", step.unit_exponent));
  return sentences;
}

std::string result_sentence(const Explanation& explanation, const ExplainedStep& step) {
  const std::string result = bits_text(step.format, step.result);
  const char* const how = step.rounding == Rounding::nearest_even  ? "to nearest even"
                          : step.rounding == Rounding::toward_zero ? "toward zero"
                          : step.rounding == Rounding::down        ? "down"
                                                                   : "up";
  switch (step.kind) {
    case StepKind::unit_sum:
      if (step.special) return fmt::format("A term is NaN or infinite, so nothing is aligned: the result is {}.", result);
      return fmt::format("Sum: {} * 2^{}; rounded {} to {}: {}.", step.sum, step.unit_exponent, how, name(step.format), result);
    case StepKind::fused: return fmt::format("Product + {}, rounded {}: {}.", bits_text(step.format, step.addend), how, result);
    case StepKind::addition:
      return fmt::format("{} + {}, rounded {}: {}.", bits_text(step.format, step.other), bits_text(step.format, step.addend), how, result);
    case StepKind::integer_sum:
      return fmt::format("C is {}, the sum {}, {}: {}.", value_text(decode(step.format, step.addend)), step.sum,
                         explanation.form->satfinite ? "clamped to s32" : "modulo 2^32", result);
    case StepKind::conversion: return fmt::format("{} becomes {}, rounded {}.", bits_text(step.from, step.addend), result, how);
    case StepKind::nan_of_scale: return fmt::format("The result is {}, whatever the products.", result);
  }
  return result;
}

std::vector<std::string> move_sentences(const Explanation& explanation) {
  const ExplainedMove& move = *explanation.move;
  std::vector<std::string> sentences;
  std::string memory;
  if (move.memory) {
    const ExplainedMove::Memory& m = *move.memory;
    const std::uint64_t last = m.bit + static_cast<std::uint64_t>(m.bits) - 1;
    memory = m.bits % 8 == 0 ? fmt::format("bytes {:#x} to {:#x}", m.address + m.bit / 8, m.address + last / 8)
                             : fmt::format("bits {} to {} from byte {:#x} on", m.bit % 8,
                                           m.bit % 8 + static_cast<std::uint64_t>(m.bits) - 1, m.address + m.bit / 8);
    sentences.push_back(moves_matrix(*explanation.form)
                            ? fmt::format("The matrix begins at address {:#x}; the element lies {} bits behind that.", m.address, m.bit)
                            : fmt::format("Lane {} holds the address of the row, {:#x}; the element begins at bit {} of the row.", m.lane,
                                          m.address, m.bit));
  }
  const std::string from = move.from_register ? place_text(*move.from_register) : memory;
  const std::string to = move.to_register ? place_text(*move.to_register) : memory;
  const int bits = explanation.form->operand(explanation.operand).fragment.payload_bits();
  sentences.push_back(fmt::format("{:#0{}x} goes from {} to {}.", explanation.result, (bits + 3) / 4 + 2, from, to));
  return sentences;
}

}  // namespace warpmat
