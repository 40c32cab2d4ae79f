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

namespace warpmat {

/// A tcgen05.mma, of which the cases have one tile: a form of mma with the tcgen05.mma's lowering.
struct TensorTile {
  std::string name;  ///< "tcgen05.mma.cta_group::1.kind::f16 f32.f16.f16 m128n16k16"
  const Form* form = nullptr;
  const Lowering* lowering = nullptr;
};

/// An instruction under test: a form, which one warp executes from a program, or a product of a warpgroup, which is a kernel's block, or a
/// tile of tcgen05.mma, as if one warp executed it.
class TestedForm {
 public:
  TestedForm() = default;
  TestedForm(const Form& form) : form_(&form) {}
  TestedForm(const WgmmaForm& form) : form_(&form) {}
  /// `tile` must outlive the form.
  TestedForm(const TensorTile& tile) : form_(&tile) {}

  /// The form if it is one of that kind, else nullptr. A tile of tcgen05.mma has that of its mma.
  const Form* warp() const { return tensor() != nullptr ? tensor()->form : get<Form>(); }
  const TensorTile* tensor() const { return get<TensorTile>(); }
  const WgmmaForm* warpgroup() const { return get<WgmmaForm>(); }

  const std::string& opcode() const {
    if (tensor() != nullptr) return tensor()->name;
    return warpgroup() != nullptr ? warpgroup()->opcode : warp()->opcode;
  }

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

  std::variant<const Form*, const WgmmaForm*, const TensorTile*> form_ = static_cast<const Form*>(nullptr);
};

/// All instructions of `target`: the forms, then those of wgmma.
std::vector<TestedForm> tested_forms(const Target& target);

int variants(const TestedForm& form);
bool applies(const OperandClass& operand_class, const TestedForm& form);

}  // namespace warpmat
