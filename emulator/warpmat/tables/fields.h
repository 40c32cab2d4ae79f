#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/forms.h>

namespace warpmat::inline v0_1 {

/// An opcode taken apart: what the decoder of a simulator has. Each field is as PTX spells it, without the dot; empty if the opcode has
/// none.
struct FormFields {
  std::string mnemonic;            ///< "mma", also of mma.sp; "wmma.load.a"
  std::string shape;               ///< "m16n8k16"
  std::string d, a, b, c;          ///< types of mma and wmma.mma
  std::string type;                ///< of the other instructions: "b16", "b8x16.b6x16_p32", "f16"
  std::string layout_a, layout_b;  ///< "row", "col"; of wmma.load and wmma.store the first alone
  std::string kind;                ///< "mxf8f6f4"
  std::string sparsity;            ///< "sp", "sp::ordered_metadata"
  std::string scale_vec;           ///< "2X"
  std::string scale_type;          ///< "ue8m0"
  std::string rounding;            ///< "rn"
  std::string space;               ///< "shared", "global"
  std::string operation;           ///< "xor", "and"
  std::string number;              ///< "x4"
  std::string trans, satfinite;    ///< the qualifier itself

  friend bool operator==(const FormFields&, const FormFields&) = default;
};

/// A field's name, its place, and whether an empty one in a question stands for any; otherwise for an opcode without it.
struct FieldRow {
  std::string_view name;
  std::string FormFields::*member;
  bool empty_is_any;
};
std::span<const FieldRow> field_rows();

FormFields fields_of(const Form& form);

/// The forms that `target` has and whose fields are `wanted`, in the table's order.
std::vector<const Form*> find_forms(const FormFields& wanted, const Target& target);

/// Why find_forms(wanted, target) is not one form: which field would have to be another, or which fields tell the forms apart. One
/// sentence.
std::string explain_fields(const FormFields& wanted, const Target& target);

}  // namespace warpmat::inline v0_1
