#include "test.h"

#include <warpmat/forms.h>
#include <warpmat/tables/types.h>

namespace warpmat::types_test {

TEST_CASE("a type's bits and name follow from its elements' format", "[types]") {
  for (const char* name : {"f16", "bf16", "tf32", "f32", "f64", "f16x2", "bf16x2", "f32x2", "e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2",
                           "e2m1x2", "ue8m0x2", "e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4", "e2m1x4"}) {
    INFO(name);
    const DataType* const type = find_ptx_type(name);
    REQUIRE(type != nullptr);
    REQUIRE(type->format);
    const FormatRow& format = row(*type->format);
    const bool packed = type->elements > 1;
    CHECK(type->name == (packed ? fmt::format("{}x{}", format.name, type->elements) : std::string(format.name)));
    const int stride = format.bits == 6 ? 8 : format.bits;  // 6-bit formats lie in bytes
    CHECK(type->bits == stride * type->elements);
    CHECK(type->is_signed == format.is_signed);
    CHECK(type->is_floating());
    CHECK((type->type_class == DataType::Class::packed_floating) == packed);
  }
}

TEST_CASE("lists declare the fundamental types; opcodes name others, too", "[types]") {
  for (const DataType& type : data_types()) {
    CHECK(find_ptx_type(type.name) == &type);
    CHECK(find_data_type(type.name) == &type);
  }
  for (const char* name : {"b128", "bf16", "tf32", "u16x2", "s8x4", "bf16x2", "f32x2", "e2m1x4"}) {
    INFO(name);
    CHECK(find_ptx_type(name) != nullptr);
    CHECK(find_data_type(name) == nullptr);
  }
  CHECK(find_ptx_type("u33") == nullptr);
  for (const int bits : {8, 16, 32, 64, 128}) CHECK(find_untyped(bits)->name == fmt::format("b{}", bits));
  for (const int bits : {0, 1, 10, 24, 256}) CHECK(find_untyped(bits) == nullptr);
}

// ptxas 13.0 was asked of each pair, as the sources of an add, and, shl or setp.
TEST_CASE("which registers an operand of a type takes", "[types]") {
  const auto taken = [](const char* type) {
    std::string names;
    for (const DataType& declared : data_types())
      if (declared.is_register && takes(*find_ptx_type(type), declared)) names += (names.empty() ? "" : " ") + std::string(declared.name);
    return names;
  };
  CHECK(taken("b32") == "b16 u16 s16 f16 b32 u32 s32 f32 f16x2 b64 u64 s64 f64");
  CHECK(taken("u32") == "b16 u16 s16 b32 u32 s32 f16x2 b64 u64 s64");
  CHECK(taken("u16x2") == "b16 b32 f16x2 b64");
  CHECK(taken("f32") == "b16 b32 f32 b64");
  CHECK(taken("f16x2") == "b16 b32 f16x2 b64");
  CHECK(taken("bf16x2") == "b16 b32 b64");
  CHECK(taken("bf16") == "b16 b32 b64");
  CHECK(taken("pred") == "pred");
}

}  // namespace warpmat::types_test
