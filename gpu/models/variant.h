#pragma once

#include <warpmat/forms.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/models/deviation.h"

namespace warpmat {

/// A constant of a unit's model.
struct ModelColumn {
  std::string_view name;  ///< as DotModel spells it: "fraction_bits"
  int DotModel::*member;
  int least, most;                     ///< the values that the arithmetic supports
  bool (*concerns)(const Form& form);  ///< whether the form's results can depend on it
};

std::span<const ModelColumn> model_columns();

/// A model of the arithmetic as text: a row of the model table, or `table` for the lowering table's choice, and after a colon the changes,
/// constants and deviations:
///
///   hopper
///   hopper:fraction_bits=24
///   table:zero_terms_aligned,floor_f32=none
struct ModelVariant {
  struct Constant {
    const ModelColumn* column;
    int value;
  };

  const DotModel* base = nullptr;  ///< nullptr: the lowering table's choice
  std::vector<Constant> constants;
  Deviations deviations;

  std::string text() const;
};

/// Throws std::invalid_argument; the message says what would be right.
ModelVariant parse_variant(std::string_view text);

/// The rows of the model table that the lowering table uses.
std::span<const DotModel* const> dot_models_in_use();

/// A row of the lowering table with a variant's changes.
class VariedLowering {
 public:
  /// Throws std::invalid_argument if `variant` changes something that `form` lacks: "…: integer products have no model to change".
  VariedLowering(const Form& form, const Lowering& row, const ModelVariant& variant);
  VariedLowering(const VariedLowering&) = delete;
  VariedLowering& operator=(const VariedLowering&) = delete;

  const Form& form() const { return form_; }
  const Lowering& lowering() const { return lowering_; }
  Deviations deviations() const { return deviations_; }

 private:
  const Form& form_;
  DotModel model_{};
  Lowering lowering_;
  Deviations deviations_;
};

}  // namespace warpmat
