#include <warpmat/ptx/catalogue/value_type.h>

#include <algorithm>
#include <array>

namespace warpmat::inline v0_1::catalogue {
namespace {

using enum ValueType::Class;

constexpr std::array types{
    ValueType{"pred", 1, predicate},
    ValueType{"b8", 8, bits},
    ValueType{"b16", 16, bits},
    ValueType{"b32", 32, bits},
    ValueType{"b64", 64, bits},
    ValueType{"b128", 128, bits},
    ValueType{"u8", 8, unsigned_integer},
    ValueType{"u16", 16, unsigned_integer},
    ValueType{"u32", 32, unsigned_integer},
    ValueType{"u64", 64, unsigned_integer},
    ValueType{"s8", 8, signed_integer},
    ValueType{"s16", 16, signed_integer},
    ValueType{"s32", 32, signed_integer},
    ValueType{"s64", 64, signed_integer},
    ValueType{"u16x2", 32, bits},
    ValueType{"s16x2", 32, bits},
    ValueType{"u8x4", 32, bits},
    ValueType{"s8x4", 32, bits},
    ValueType{"f16", 16, floating},
    ValueType{"bf16", 16, floating},
    ValueType{"tf32", 32, floating},
    ValueType{"f32", 32, floating},
    ValueType{"f64", 64, floating},
    ValueType{"f16x2", 32, floating},
    ValueType{"bf16x2", 32, floating},
    ValueType{"f32x2", 64, floating},
    ValueType{"e4m3x2", 16, floating},
    ValueType{"e5m2x2", 16, floating},
    ValueType{"e2m3x2", 16, floating},
    ValueType{"e3m2x2", 16, floating},
    ValueType{"e2m1x2", 8, floating},
    ValueType{"ue8m0x2", 16, floating},
    ValueType{"e4m3x4", 32, floating},
    ValueType{"e5m2x4", 32, floating},
    ValueType{"e2m3x4", 32, floating},
    ValueType{"e3m2x4", 32, floating},
    ValueType{"e2m1x4", 16, floating},
};

}  // namespace

bool takes(const ValueType& type, const ValueType& declared) {
  const bool packed = type.name.find('x') != std::string_view::npos;
  if (declared.is_predicate() || type.is_predicate()) return declared.type_class == type.type_class;
  if (declared.type_class == bits || declared.name == type.name) return true;
  if (declared.name == "f16x2") return type.type_class != floating;
  if (type.type_class == floating || packed) return false;
  return type.type_class == bits || declared.type_class != floating;
}

const ValueType* find_value_type(std::string_view name) {
  const auto found = std::ranges::find(types, name, &ValueType::name);
  return found == types.end() ? nullptr : &*found;
}

}  // namespace warpmat::inline v0_1::catalogue
