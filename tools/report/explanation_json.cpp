#include "tools/report/explanation_json.h"

#include <fmt/core.h>
#include <warpmat/forms.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tools/report/explanation_html.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

std::string hex(std::uint64_t bits) {
  return fmt::format("{:#x}", bits);
}

constexpr std::array<std::string_view, 6> step_kinds = {"unit_sum", "fused", "addition", "integer_sum", "conversion", "nan_of_scale"};
constexpr std::array<std::string_view, 4> roundings = {"nearest_even", "toward_zero", "down", "up"};
constexpr std::array<std::string_view, 4> value_kinds = {"zero", "finite", "infinity", "nan"};

template <typename Enum, std::size_t size>
std::string_view name_in(const std::array<std::string_view, size>& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

Json value_json(const Value& value) {
  Json json{{"kind", name_in(value_kinds, value.kind)}, {"negative", value.negative}};
  if (value.kind != Value::Kind::finite) return json;
  json["significand"] = value.significand;
  json["exponent"] = value.exponent;
  json["fraction_bits"] = value.fraction_bits;
  return json;
}

Json place_json(const Place& place) {
  return {{"lane", place.lane}, {"register", place.reg}, {"bit", place.bit}};
}

Json factor_json(const Form& form, const Factor& factor) {
  Json json{
      {"operand", name(factor.operand)}, {"matrix", factor.element.matrix}, {"row", factor.element.row}, {"column", factor.element.column}};
  json.update(place_json(factor.place));
  json["format"] = name(form.format(factor.operand));
  json["bits"] = hex(factor.bits);
  json["value"] = value_json(factor.value);
  return json;
}

/// For multiply-adds only the factors: a product of f64 does not fit a Value.
Json term_json(const Form& form, const Term& term, bool with_value) {
  Json products = Json::array(), scales = Json::array();
  for (const Term::Product& product : term.products)
    products.push_back({{"a", factor_json(form, product.a)}, {"b", factor_json(form, product.b)}});
  for (const Factor& scale : term.scales) scales.push_back(factor_json(form, scale));
  Json json{{"products", products}, {"scales", scales}};
  if (with_value) json.update({{"value", value_json(term.value)}, {"kept", term.kept}});
  return json;
}

Json step_json(const Form& form, const ExplainedStep& step) {
  using Kind = ExplainedStep::Kind;
  Json json{{"kind", name_in(step_kinds, step.kind)}, {"format", name(step.format)}};
  if (step.kind == Kind::conversion) json["from"] = name(step.from);
  if (step.kind != Kind::integer_sum && step.kind != Kind::nan_of_scale) json["rounding"] = name_in(roundings, step.rounding);
  if (step.kind != Kind::nan_of_scale) json["addend"] = hex(step.addend);
  if (step.kind == Kind::addition) json["other"] = hex(step.other);
  if (!step.terms.empty()) {
    json["terms"] = Json::array();
    for (const Term& term : step.terms) json["terms"].push_back(term_json(form, term, step.kind != Kind::fused));
  }
  if (step.kind == Kind::unit_sum) json["special"] = step.special;
  if (step.kind == Kind::unit_sum && !step.special) {
    json["largest_exponent"] = step.largest_exponent == no_floor ? Json(nullptr) : Json(step.largest_exponent);
    json["unit_exponent"] = step.unit_exponent;
  }
  if (step.kind == Kind::integer_sum || (step.kind == Kind::unit_sum && !step.special)) json["sum"] = step.sum;
  json["result"] = hex(step.result);
  return json;
}

Json move_json(const ExplainedMove& move) {
  Json json{{"store", move.store}};
  if (move.from_register) json["from"] = place_json(*move.from_register);
  if (move.to_register) json["to"] = place_json(*move.to_register);
  if (move.memory)
    json["memory"] = {
        {"lane", move.memory->lane}, {"address", move.memory->address}, {"bit", move.memory->bit}, {"bits", move.memory->bits}};
  return json;
}

Json model_json(const DotModel& model, Format accumulator) {
  const int floor = model.floor(accumulator);
  return {{"name", model.name},
          {"step_bytes", model.step_bytes},
          {"fraction_bits", model.fraction_bits},
          {"result_fraction_bits", model.result_fraction_bits},
          {"floor", floor == no_floor ? Json(nullptr) : Json(floor)}};
}

Json one_json(const Explanation& explanation) {
  const Form& form = *explanation.form;
  const Operand& operand = form.operand(explanation.operand);
  Json json{{"opcode", form.opcode}, {"as", explanation.as}, {"machine", explanation.machine}};
  if (!explanation.tile_of.empty()) json["tile_of"] = explanation.tile_of;
  if (!explanation.plain_f32) {
    json["label"] = name(label_of(*explanation.lowering));
    json["source"] = explanation.lowering->source;
    json["multiplied_as"] = explanation.lowering->semantics == Semantics::split_dot ? Json("f16") : Json(nullptr);
    if (explanation.lowering->model != nullptr) json["model"] = model_json(*explanation.lowering->model, form.accumulator());
  }
  json["operand"] = name(explanation.operand);
  json["matrix"] = explanation.element.matrix;
  json["row"] = explanation.element.row;
  json["column"] = explanation.element.column;
  json.update(place_json(explanation.place));
  json["format"] = operand.format ? Json(name(*operand.format)) : Json(nullptr);
  json["result"] = hex(explanation.result);
  if (explanation.move) {
    json["move"] = move_json(*explanation.move);
    return json;
  }
  json["steps"] = Json::array();
  for (const ExplainedStep& step : explanation.steps) json["steps"].push_back(step_json(form, step));
  return json;
}

}  // namespace

Json explanation_json(const Explanation& explanation, const Explanation* other) {
  Json json = one_json(explanation);
  if (other == nullptr) return json;
  json["against"] = one_json(*other);
  const auto part = parting(explanation, *other);
  json["parting"] = part ? Json{{"step", part->first}, {"step_against", part->second}} : Json(nullptr);
  return json;
}

}  // namespace warpmat
