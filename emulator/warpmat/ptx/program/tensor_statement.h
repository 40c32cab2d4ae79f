#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <warpmat/forms.h>
#include <warpmat/ptx/catalogue/catalogue.h>
#include <warpmat/ptx/program/code.h>

namespace warpmat::inline v0_1::code {

/// What the opcode of a tcgen05 statement says, or why a target does not have it, as one sentence.
struct DescribedTensorStatement {
  TensorStatement statement;
  std::optional<std::string> problem;
};
/// `match` is the row that spells `opcode`. What operands say is left at its initial value.
DescribedTensorStatement describe_tensor_statement(const catalogue::Match& match, std::string_view opcode, const Target& target);

/// Why `target` does not have that kind of tcgen05.mma, beyond its row; nothing if it has it.
std::optional<std::string> product_refusal(std::string_view opcode, const TensorKind& kind, const TensorVariant& variant,
                                           const Target& target);

/// The type of a tcgen05.ld.red's result, "f32"; empty without a reduction.
std::string_view type_of(TensorStatement::Reduction reduction);

}  // namespace warpmat::inline v0_1::code
