#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <warpmat/forms.h>
#include <warpmat/wgmma.h>

#include "gpu/cases/operand_classes.h"
#include "gpu/cases/shard.h"

namespace warpmat::inline v0_1 {

/// An instruction under test: a form, which one warp executes from a program, or a product of a warpgroup, which is a kernel's block.
class TestedForm {
 public:
  TestedForm() = default;
  TestedForm(const Form& form) : form_(&form) {}
  TestedForm(const WgmmaForm& form) : form_(&form) {}

  /// The form if it is one of that kind, else nullptr.
  const Form* warp() const { return get<Form>(); }
  const WgmmaForm* warpgroup() const { return get<WgmmaForm>(); }

  const std::string& opcode() const { return warpgroup() != nullptr ? warpgroup()->opcode : warp()->opcode; }

  /// This form's cases in a range counted in products of one warp and 8 columns. A case of a warpgroup counts as many as it has tiles. The
  /// parts of a range together give the cases of the whole.
  Shard::Range cases_of(const Shard::Range& products) const;

  friend bool operator==(const TestedForm&, const TestedForm&) = default;
  friend auto operator<=>(const TestedForm&, const TestedForm&) = default;

 private:
  template <typename T>
  const T* get() const {
    const auto* const found = std::get_if<const T*>(&form_);
    return found == nullptr ? nullptr : *found;
  }

  std::variant<const Form*, const WgmmaForm*> form_ = static_cast<const Form*>(nullptr);
};

/// All instructions of `target`: the forms, then those of wgmma.
std::vector<TestedForm> tested_forms(const Target& target);

int variants(const TestedForm& form);
bool applies(const OperandClass& operand_class, const TestedForm& form);

}  // namespace warpmat::inline v0_1
