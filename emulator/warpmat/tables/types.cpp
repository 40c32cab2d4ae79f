#include <warpmat/tables/types.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace warpmat {
namespace {

using enum DataType::Class;
using enum Format;

constexpr std::array types{
    //       name    bits class       signed register format
    DataType{"b8", 8, bits, false, false},
    DataType{"u8", 8, integer, false, false},
    DataType{"s8", 8, integer, true, false},
    DataType{"b16", 16, bits, false, true},
    DataType{"u16", 16, integer, false, true},
    DataType{"s16", 16, integer, true, true},
    DataType{"f16", 16, floating, true, true, f16},
    DataType{"b32", 32, bits, false, true},
    DataType{"u32", 32, integer, false, true},
    DataType{"s32", 32, integer, true, true},
    DataType{"f32", 32, floating, true, true, f32},
    DataType{"f16x2", 32, packed_floating, true, true, f16, 2},
    DataType{"b64", 64, bits, false, true},
    DataType{"u64", 64, integer, false, true},
    DataType{"s64", 64, integer, true, true},
    DataType{"f64", 64, floating, true, true, f64},
    DataType{"pred", 1, predicate, false, true},
    // Of opcodes, and of modules' registers; those above are data_types().
    DataType{"b128", 128, bits, false, false},
    DataType{"bf16", 16, floating, true, false, bf16},
    DataType{"tf32", 32, floating, true, false, tf32},
    DataType{"u16x2", 32, packed_integer, false, false, {}, 2},
    DataType{"s16x2", 32, packed_integer, true, false, {}, 2},
    DataType{"u8x4", 32, packed_integer, false, false, {}, 4},
    DataType{"s8x4", 32, packed_integer, true, false, {}, 4},
    DataType{"bf16x2", 32, packed_floating, true, false, bf16, 2},
    DataType{"f32x2", 64, packed_floating, true, false, f32, 2},
    DataType{"e4m3x2", 16, packed_floating, true, false, e4m3, 2},
    DataType{"e5m2x2", 16, packed_floating, true, false, e5m2, 2},
    DataType{"e2m3x2", 16, packed_floating, true, false, e2m3, 2},
    DataType{"e3m2x2", 16, packed_floating, true, false, e3m2, 2},
    DataType{"e2m1x2", 8, packed_floating, true, false, e2m1, 2},
    DataType{"ue8m0x2", 16, packed_floating, false, false, ue8m0, 2},
    DataType{"e4m3x4", 32, packed_floating, true, false, e4m3, 4},
    DataType{"e5m2x4", 32, packed_floating, true, false, e5m2, 4},
    DataType{"e2m3x4", 32, packed_floating, true, false, e2m3, 4},
    DataType{"e3m2x4", 32, packed_floating, true, false, e3m2, 4},
    DataType{"e2m1x4", 16, packed_floating, true, false, e2m1, 4},
};
constexpr std::size_t fundamental_types = 17;
static_assert(types[fundamental_types - 1].is_predicate() && types[fundamental_types].bits == 128);

/// A name as a number: nearly every word of a module is compared with all names. Nothing of one that is longer than those of types.
constexpr std::optional<std::uint64_t> number_of(std::string_view name) {
  if (name.size() > sizeof(std::uint64_t)) return std::nullopt;
  std::uint64_t number = 0;
  for (const char letter : name) number = number << 8 | static_cast<unsigned char>(letter);
  return number;
}

constexpr std::array<std::uint64_t, types.size()> numbers = [] {
  std::array<std::uint64_t, types.size()> all{};
  std::ranges::transform(types, all.begin(), [](const DataType& type) { return number_of(type.name).value(); });
  return all;
}();

/// The type of that name among the first `count`.
const DataType* find(std::size_t count, std::string_view name) {
  const std::optional<std::uint64_t> number = number_of(name);
  const auto end = numbers.begin() + static_cast<std::ptrdiff_t>(count), found = number ? std::find(numbers.begin(), end, *number) : end;
  if (found == end) return nullptr;
  const DataType& type = types[static_cast<std::size_t>(found - numbers.begin())];
  return type.name.size() == name.size() ? &type : nullptr;  // zero bytes before a name change no number
}

}  // namespace

std::span<const DataType> data_types() {
  return std::span(types).first<fundamental_types>();
}

const DataType* find_data_type(std::string_view name) {
  return find(fundamental_types, name);
}

const DataType* find_ptx_type(std::string_view name) {
  return find(types.size(), name);
}

bool is_fundamental(const DataType& type) {
  return std::ranges::any_of(data_types(), [&](const DataType& one) { return &one == &type; });
}

const DataType* find_untyped(int width) {
  const auto found = std::ranges::find_if(types, [&](const DataType& type) { return type.type_class == bits && type.bits == width; });
  return found == types.end() ? nullptr : &*found;
}

bool takes(const DataType& type, const DataType& declared) {
  if (type.is_floating() && declared.is_floating()) return &declared == &type;
  return accepts(accepted_by(type), declared);
}

std::string_view name(Space space) {
  constexpr std::array<std::string_view, 6> names{"generic", "global", "const", "shared", "local", "param"};
  return names[static_cast<std::size_t>(space)];
}

bool accepts(const Accepts& accepted, const DataType& register_type) {
  switch (register_type.type_class) {
    case bits: return !accepted.predicate;
    case integer: return accepted.integer;
    case floating: return accepted.floating;
    case packed_integer: return false;
    case packed_floating: return accepted.packed_f16;
    case predicate: return accepted.predicate;
  }
  return false;
}

Accepts accepted_by(const DataType& type) {
  switch (type.type_class) {
    case bits: return accepts_all;
    case integer: return accepts_integers_and_packed;
    case floating: return type.is_register ? accepts_floating : accepts_untyped;
    case packed_integer: return accepts_packed;
    case packed_floating: return type.is_register ? accepts_packed : accepts_untyped;
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
    case Format::s32: return accepts_integers;
    case Format::s8:
    case Format::u8:
    case Format::s4:
    case Format::u4:
    case Format::b1: return form.mnemonic == Mnemonic::mma && form.shape != Shape{8, 8, 16} ? accepts_all : accepts_integers;
    default: return accepts_all;
  }
}

}  // namespace warpmat
