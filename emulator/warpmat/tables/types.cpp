#include <warpmat/forms.h>

#include <algorithm>
#include <array>

namespace warpmat::inline v0_1 {
namespace {

using enum DataType::Class;

constexpr std::array types{
    //       name    bits class       signed register
    DataType{"b8", 8, bits, false, false},     DataType{"u8", 8, integer, false, false},    DataType{"s8", 8, integer, true, false},
    DataType{"b16", 16, bits, false, true},    DataType{"u16", 16, integer, false, true},   DataType{"s16", 16, integer, true, true},
    DataType{"f16", 16, floating, true, true}, DataType{"b32", 32, bits, false, true},      DataType{"u32", 32, integer, false, true},
    DataType{"s32", 32, integer, true, true},  DataType{"f32", 32, floating, true, true},   DataType{"f16x2", 32, packed_f16, true, true},
    DataType{"b64", 64, bits, false, true},    DataType{"u64", 64, integer, false, true},   DataType{"s64", 64, integer, true, true},
    DataType{"f64", 64, floating, true, true}, DataType{"pred", 1, predicate, false, true},
};

}  // namespace

std::span<const DataType> data_types() {
  return types;
}

const DataType* find_data_type(std::string_view name) {
  const auto found = std::ranges::find(types, name, &DataType::name);
  return found == types.end() ? nullptr : &*found;
}

bool accepts(const Accepts& accepted, const DataType& register_type) {
  switch (register_type.type_class) {
    case bits: return true;
    case integer: return accepted.integer;
    case floating: return accepted.floating;
    case packed_f16: return accepted.packed_f16;
    case predicate: return accepted.predicate;
  }
  return false;
}

Accepts accepted_by(const DataType& type) {
  switch (type.type_class) {
    case bits: return accepts_all;
    case integer: return accepts_integers_and_packed;
    case floating: return accepts_floating;
    case packed_f16: return accepts_packed;
    case predicate: return accepts_predicates;
  }
  return accepts_untyped;
}

Accepts accepted_by(const Form& form, const Operand& operand) {
  if (operand.kind == OperandKind::ids) return accepts_integers;
  const bool multiplicand = operand.name == OperandName::a || operand.name == OperandName::b;
  if (multiplicand && form.kind != Kind::plain) return accepts_untyped;
  if (!operand.format) return accepts_all;
  switch (*operand.format) {
    case Format::f32: return accepts_floating;
    case Format::f64: return {true, true, false};
    case Format::f16: return accepts_packed;
    case Format::bf16:
    case Format::tf32: return accepts_untyped;
    // ptxas accepts other registers of 32 bits for integer a and b of the m16n8 shapes, but not of m8n8k16.
    case Format::s32:
    case Format::s8:
    case Format::u8:
    case Format::s4:
    case Format::u4:
    case Format::b1: return accepts_integers;
    default: return accepts_all;
  }
}

}  // namespace warpmat::inline v0_1
