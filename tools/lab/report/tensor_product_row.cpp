#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "tools/lab/report/tensor_question.h"

namespace warpmat {
namespace {

using enum Format;

/// Types of a kind; the scale vector and the type of its factors of block-scaled ones.
struct TensorTypes {
  const char* kind;
  Format a, b, d;
  int vector = 0;
  Format scale = ue8m0;
  bool saturates = false;
  bool in_all_variants = false;  ///< asked of sparse A, two blocks and .ws, too
};

constexpr std::array types_of_kinds{
    TensorTypes{.kind = "kind::f16", .a = f16, .b = f16, .d = f32, .in_all_variants = true},
    TensorTypes{.kind = "kind::f16", .a = f16, .b = f16, .d = f16, .in_all_variants = true},
    TensorTypes{.kind = "kind::f16", .a = bf16, .b = bf16, .d = f32},
    TensorTypes{.kind = "kind::tf32", .a = tf32, .b = tf32, .d = f32, .in_all_variants = true},
    TensorTypes{.kind = "kind::f8f6f4", .a = e4m3, .b = e4m3, .d = f32, .in_all_variants = true},
    TensorTypes{.kind = "kind::f8f6f4", .a = e4m3, .b = e4m3, .d = f16},
    TensorTypes{.kind = "kind::f8f6f4", .a = e5m2, .b = e5m2, .d = f32},
    TensorTypes{.kind = "kind::f8f6f4", .a = e5m2, .b = e4m3, .d = f32},
    TensorTypes{.kind = "kind::f8f6f4", .a = e4m3, .b = e2m1, .d = f32},
    TensorTypes{.kind = "kind::f8f6f4", .a = e2m3, .b = e2m3, .d = f32},
    TensorTypes{.kind = "kind::f8f6f4", .a = e3m2, .b = e3m2, .d = f32},
    TensorTypes{.kind = "kind::f8f6f4", .a = e2m1, .b = e2m1, .d = f32},
    TensorTypes{.kind = "kind::i8", .a = s8, .b = s8, .d = s32, .in_all_variants = true},
    TensorTypes{.kind = "kind::i8", .a = s8, .b = u8, .d = s32, .saturates = true},
    TensorTypes{.kind = "kind::mxf8f6f4", .a = e4m3, .b = e4m3, .d = f32, .vector = 1, .in_all_variants = true},
    TensorTypes{.kind = "kind::mxf8f6f4", .a = e5m2, .b = e3m2, .d = f32, .vector = 1},
    TensorTypes{.kind = "kind::mxf8f6f4", .a = e2m3, .b = e2m1, .d = f32, .vector = 1},
    TensorTypes{.kind = "kind::mxf4", .a = e2m1, .b = e2m1, .d = f32, .vector = 2, .in_all_variants = true},
    TensorTypes{.kind = "kind::mxf4nvf4", .a = e2m1, .b = e2m1, .d = f32, .vector = 4, .scale = ue4m3, .in_all_variants = true},
    TensorTypes{.kind = "kind::mxf4nvf4", .a = e2m1, .b = e2m1, .d = f32, .vector = 4, .scale = ue8m0},
};

struct Variant {
  int group;
  bool sparse, weights;
  int m, n;
};
constexpr std::array asked_variants{Variant{1, false, false, 128, 16}, Variant{1, true, false, 128, 16}, Variant{1, false, false, 64, 16},
                                    Variant{2, false, false, 256, 32}, Variant{2, true, false, 256, 32}, Variant{2, false, false, 128, 32},
                                    Variant{1, false, true, 32, 64},   Variant{1, true, true, 64, 64}};

std::uint32_t code_of(std::span<const TensorKind::Code> codes, Format format) {
  return static_cast<std::uint32_t>(std::ranges::find(codes, format, &TensorKind::Code::format)->code);
}

/// The instruction descriptor (PTX ISA 9.1 tables 42 to 44).
std::uint32_t descriptor_of(const TensorKind& kind, const TensorTypes& types, const Variant& variant) {
  std::uint32_t bits = std::uint32_t{variant.sparse} << 2 | code_of(kind.multiplicands, types.a) << 7 |
                       code_of(kind.multiplicands, types.b) << 10 | static_cast<std::uint32_t>(variant.n / 8) << 17 |
                       static_cast<std::uint32_t>(variant.m / 16) << 24;
  if (kind.scaled()) return bits | code_of(kind.scales, types.scale) << 23;
  return bits | std::uint32_t{types.saturates} << 3 | code_of(kind.results, types.d) << 4;
}

std::optional<TensorProductRow> row_of(const TensorTypes& types, const Variant& variant) {
  const TensorKind& kind = *find_tensor_kind(types.kind);
  if (kind.scaled() && variant.weights) return std::nullopt;  // no such opcode
  TensorProductRow row{.opcode = fmt::format("tcgen05.mma{}{}.cta_group::{}.{}", variant.weights ? ".ws" : "", variant.sparse ? ".sp" : "",
                                             variant.group, types.kind),
                       .descriptor = descriptor_of(kind, types, variant),
                       .product = {}};
  if (kind.scaled()) row.opcode += fmt::format(".block_scale.scale_vec::{}X", types.vector);
  const DecodedTensorProduct decoded = decode_tensor_product(
      kind, {.group = variant.group, .sparse = variant.sparse, .weights = variant.weights, .scale_vector = types.vector}, row.descriptor);
  if (decoded.problem) return std::nullopt;  // such as block scales with 64 rows in one block
  row.product = decoded.product;
  return row;
}

}  // namespace

std::string TensorProductRow::name() const {
  const Form& tile = *product.tile;
  const auto type = [&](OperandName operand) { return warpmat::name(tile.format(operand)); };
  std::string text = fmt::format("{} {}.{}.{} m{}n{}k{}", opcode, type(OperandName::d), type(OperandName::a), type(OperandName::b),
                                 product.shape.m, product.shape.n, product.shape.k);
  if (product.scale_vector != 0) text += fmt::format(" {}", type(OperandName::scale_a));
  return tile.satfinite ? text + " saturated" : text;
}

const std::vector<TensorProductRow>& tensor_product_rows() {
  static const std::vector<TensorProductRow> rows = [] {
    std::vector<TensorProductRow> all;
    for (const TensorTypes& types : types_of_kinds)
      for (const Variant& variant : asked_variants)
        if (types.in_all_variants || &variant == &asked_variants.front())
          if (auto row = row_of(types, variant)) all.push_back(std::move(*row));
    return all;
  }();
  return rows;
}

}  // namespace warpmat
