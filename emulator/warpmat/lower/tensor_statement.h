#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <warpmat/forms.h>
#include <warpmat/ir/code.h>
#include <warpmat/ptx/catalogue/catalogue.h>

namespace warpmat::code {

/// What the opcode of a tcgen05 statement says, or why a target does not have it, as one sentence.
struct DescribedTensorStatement {
  TensorStatement statement;
  std::optional<std::string> problem;
};
/// What operands say is left at its initial value.
DescribedTensorStatement describe_tensor_statement(const catalogue::Match& match, const Target& target);

/// What a tcgen05.ld or .st moves, as its opcode says.
Transfer tensor_transfer_of(const catalogue::Match& match);

/// The kind of a tcgen05.mma, and its variant: .block16 and .block32 are .scale_vec::4X and the smallest one of the kind, which may also be
/// left out. Which K the target has is left at its initial value.
const TensorKind& tensor_kind_of(const catalogue::Match& match);
TensorVariant tensor_variant_of(const catalogue::Match& match);

/// Why `target` does not have that kind of tcgen05.mma, beyond its row; nothing if it has it.
std::optional<std::string> product_refusal(std::string_view opcode, const TensorKind& kind, const TensorVariant& variant,
                                           const Target& target);

/// The type of a tcgen05.ld.red's result; nullptr without a reduction.
const DataType* type_of(TensorStatement::Reduction reduction);

}  // namespace warpmat::code
