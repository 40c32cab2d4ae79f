#include "gpu/models/variant.h"

#include <fmt/core.h>
#include <warpmat/text.h>
#include <warpmat/words/words.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace warpmat {
namespace {

constexpr std::string_view table_name = "table";
constexpr std::string_view none = "none";

bool any_form(const Form&) {
  return true;
}
bool sums_in_f32(const Form& form) {
  return form.accumulator() == Format::f32;
}
bool sums_in_f16(const Form& form) {
  return form.accumulator() == Format::f16;
}

constexpr ModelColumn columns[] = {
    {"step_bytes", &DotModel::step_bytes, 4, 256, any_form},
    {"fraction_bits", &DotModel::fraction_bits, 1, 50, any_form},
    {"result_fraction_bits", &DotModel::result_fraction_bits, 1, 23, sums_in_f32},
    {"floor_f32", &DotModel::floor_f32, -400, 127, sums_in_f32},
    {"floor_f16", &DotModel::floor_f16, -400, 127, sums_in_f16},
};

bool is_floor(const ModelColumn& column) {
  return column.name.starts_with("floor");
}

std::vector<std::string_view> known_names() {
  std::vector<std::string_view> names{table_name};
  for (const DotModel* model : dot_models_in_use()) names.push_back(model->name);
  return names;
}

const DotModel* parse_base(std::string_view name) {
  if (name == table_name) return nullptr;
  for (const DotModel* model : dot_models_in_use())
    if (model->name == name) return model;
  throw std::invalid_argument(fmt::format("no model '{}'; there are {}", name, joined(known_names(), ", ")));
}

int parse_value(const ModelColumn& column, std::string_view text) {
  if (is_floor(column) && text == none) return no_floor;
  const auto value = number_of<int>(text);
  if (!value || *value < column.least || *value > column.most)
    throw std::invalid_argument(fmt::format("{}={}: it must be a number from {} to {}{}", column.name, text, column.least, column.most,
                                            is_floor(column) ? ", or none" : ""));
  return *value;
}

void parse_change(std::string_view text, ModelVariant& variant) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    const DeviationRow* row = find_deviation(text);
    if (row == nullptr) throw std::invalid_argument(fmt::format("no deviation '{}'; 'warpmat distinguish --help' lists them", text));
    return variant.deviations.add(row->deviation);
  }
  const auto* column = std::ranges::find(columns, text.substr(0, equals), &ModelColumn::name);
  if (column == std::end(columns)) {
    std::vector<std::string_view> names;
    for (const ModelColumn& c : columns) names.push_back(c.name);
    throw std::invalid_argument(fmt::format("no constant '{}'; there are {}", text.substr(0, equals), joined(names, ", ")));
  }
  variant.constants.push_back({column, parse_value(*column, text.substr(equals + 1))});
}

}  // namespace

std::span<const ModelColumn> model_columns() {
  return columns;
}

std::string ModelVariant::text() const {
  std::vector<std::string> changes;
  for (const auto& [column, value] : constants)
    changes.push_back(fmt::format("{}={}", column->name, value == no_floor ? std::string(none) : std::to_string(value)));
  for (const DeviationRow& row : deviation_rows())
    if (deviations.has(row.deviation)) changes.emplace_back(row.name);
  const std::string_view name = base == nullptr ? table_name : base->name;
  return changes.empty() ? std::string(name) : fmt::format("{}:{}", name, joined(changes, ","));
}

ModelVariant parse_variant(std::string_view text) {
  ModelVariant variant;
  WordReader words(text);
  variant.base = parse_base(words.until(':'));
  while (!words.ended()) parse_change(words.until(','), variant);
  return variant;
}

std::span<const DotModel* const> dot_models_in_use() {
  static const std::vector<const DotModel*> models = [] {
    std::vector<const DotModel*> found;
    for (const Lowering* lowering : lowerings())
      if (lowering->model != nullptr && std::ranges::find(found, lowering->model) == found.end()) found.push_back(lowering->model);
    return found;
  }();
  return models;
}

VariedLowering::VariedLowering(const Form& form, const Lowering& row, const ModelVariant& variant)
    : form_(form),
      lowering_{row.machine, row.semantics, row.model == nullptr ? nullptr : &model_, row.evidence, row.source, row.exceptions},
      deviations_(variant.deviations) {
  const bool changes_model = variant.base != nullptr || !variant.constants.empty();
  if (changes_model && row.model == nullptr)
    throw std::invalid_argument(
        fmt::format("{} is not executed by a unit that has a model: 'table', with deviations, is what can be asked", form.opcode));
  if (row.model != nullptr) {
    model_ = variant.base != nullptr ? *variant.base : *row.model;
    for (const auto& [column, value] : variant.constants) {
      if (!column->concerns(form)) throw std::invalid_argument(fmt::format("{} does not concern {}", column->name, form.opcode));
      model_.*column->member = value;
    }
  }
  for (const DeviationRow& deviation : deviation_rows())
    if (variant.deviations.has(deviation.deviation) && !deviation.concerns(form, row))
      throw std::invalid_argument(
          fmt::format("{} does not concern {} as {} executes it", deviation.name, form.opcode, machine_name(form, row)));
}

}  // namespace warpmat
