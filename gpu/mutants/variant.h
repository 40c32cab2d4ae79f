#pragma once

#include <warpmat/execute/arguments.h>
#include <warpmat/tables/deviation.h>
#include <warpmat/tables/lowering.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpmat {

/// A constant of a unit's model.
struct ModelColumn {
  std::string_view name;  ///< as DotModel spells it: "fraction_bits"
  int DotModel::*member;
  int least, most;                     ///< the values that the arithmetic has room for
  bool (*concerns)(const Form& form);  ///< whether the form's results can depend on it
};

std::span<const ModelColumn> model_columns();

/// A model of the arithmetic, written as text: a row of the model table, or `table` for what the lowering table says of a form, and behind
/// a colon what is otherwise, constants and deviations:
///
///   hopper
///   hopper:fraction_bits=24
///   table:zero_terms_aligned,floor_f32=none
struct ModelVariant {
  struct Constant {
    const ModelColumn* column;
    int value;
  };

  const DotModel* base = nullptr;  ///< nullptr: as the lowering table says
  std::vector<Constant> constants;
  Deviations deviations;

  std::string text() const;
};

/// Throws std::invalid_argument that says what would be right.
ModelVariant parse_variant(std::string_view text);

/// The rows of the model table that the lowering table uses.
std::span<const DotModel* const> dot_models_in_use();

/// A row of the lowering table as a variant has it.
class VariedLowering {
 public:
  /// Throws std::invalid_argument where `variant` changes what `form` does not have: "…: integer products have no model to change".
  VariedLowering(const Form& form, const Lowering& row, const ModelVariant& variant);
  VariedLowering(const VariedLowering&) = delete;
  VariedLowering& operator=(const VariedLowering&) = delete;

  const Lowering& lowering() const { return lowering_; }
  Deviations deviations() const { return deviations_; }

  /// By the reference; with deviations by execute_deviating().
  void execute(const Arguments& arguments) const;

 private:
  const Form& form_;
  DotModel model_{};
  Lowering lowering_;
  Deviations deviations_;
};

}  // namespace warpmat
