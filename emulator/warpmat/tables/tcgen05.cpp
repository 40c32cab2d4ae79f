#include <warpmat/tables/tcgen05.h>

#include <algorithm>
#include <array>
#include <vector>

#include <warpmat/text.h>

namespace warpmat {
namespace {

using enum Format;
using Code = TensorKind::Code;

constexpr std::array of_f16{Code{0, f16}, Code{1, bf16}};
constexpr std::array of_tf32{Code{2, tf32}};
constexpr std::array of_f8f6f4{Code{0, e4m3}, Code{1, e5m2}, Code{3, e2m3}, Code{4, e3m2}, Code{5, e2m1}};
constexpr std::array of_i8{Code{0, u8}, Code{1, s8}};
constexpr std::array f32_alone{Code{1, f32}};
constexpr std::array f16_or_f32{Code{0, f16}, Code{1, f32}};
constexpr std::array s32_alone{Code{2, s32}};

// PTX ISA 9.1 tables 39, 42 and 51.
constexpr std::array kinds{
    TensorKind{"kind::f16", 16, of_f16, f16_or_f32, true, false, 8},
    TensorKind{"kind::tf32", 8, of_tf32, f32_alone, true, false, 8},
    TensorKind{"kind::f8f6f4", 32, of_f8f6f4, f16_or_f32, true, false, 8},
    TensorKind{"kind::i8", 32, of_i8, s32_alone, false, true, 16},
};

// The arithmetic. MMA-Sim (arXiv 2511.10909, TCGen05MMA) adds all products of K and D in one step, 25 bits below the largest term, and was
// compared with a B200 by its authors: f16, bf16, tf32, e4m3, e5m2 and e2m1, each with itself. These are the numbers of the model `hopper`.
// No source has the floors; those of the model are wgmma's and mma's on an H200. No comparison covers 6-bit types, pairs of different
// types, and integers: exact sums, saturated as mma's .satfinite.
constexpr auto with_b200 = "MMA-Sim, arXiv 2511.10909, compared with a B200 by its authors; its smallest exponents as wgmma on an H200";
constexpr std::array lowerings_of_kinds{
    Lowering{"UTCHMMA", Semantics::dot, &dot_models::hopper, Evidence::published, with_b200},
    Lowering{"UTCQMMA", Semantics::dot, &dot_models::hopper, Evidence::published, with_b200},
    Lowering{"UTCQMMA", Semantics::dot, &dot_models::hopper, Evidence::assumed, "as e4m3 with e4m3"},
    Lowering{"UTCIMMA", Semantics::integer_dot, nullptr, Evidence::assumed, "exact, and saturated as mma"},
};

const Lowering& lowering_for(const TensorKind& kind, Format a, Format b) {
  if (kind.saturates) return lowerings_of_kinds[3];
  if (kind.k != 32) return lowerings_of_kinds[0];
  const bool compared = a == b && (a == e4m3 || a == e5m2 || a == e2m1);
  return lowerings_of_kinds[compared ? 1 : 2];
}

/// The mma of 16 rows by 8 columns with these types, or nullptr.
const Form* find_tile(const TensorKind& kind, Format a, Format b, Format d, bool saturates) {
  const Kind of_mma = kind.name == "kind::f8f6f4" ? Kind::f8f6f4 : Kind::plain;
  const auto fits = [&](const Form& form) {
    return form.mnemonic == Mnemonic::mma && form.shape == Shape{16, 8, kind.k} && form.kind == of_mma &&
           form.sparsity == Sparsity::dense && form.bit_operation == BitOperation::none && form.satfinite == saturates &&
           form.format(OperandName::a) == a && form.format(OperandName::b) == b && form.format(OperandName::d) == d &&
           form.format(OperandName::c) == d;
  };
  const auto found = std::ranges::find_if(forms(), fits);
  return found == forms().end() ? nullptr : &*found;
}

const Code* find_code(std::span<const Code> codes, std::uint32_t code) {
  const auto found = std::ranges::find(codes, static_cast<int>(code), &Code::code);
  return found == codes.end() ? nullptr : &*found;
}

std::string list_of(std::span<const Code> codes) {
  std::vector<std::string> all;
  for (const Code& code : codes) all.push_back(format_text("{} {}", code.code, name(code.format)));
  return joined(all, ", ");
}

/// A descriptor's fields, read from its bits one after the other. The first wrong one is the problem.
class Reader {
 public:
  Reader(const TensorKind& kind, std::uint32_t bits) : kind_(kind), bits_(bits) {}

  DecodedTensorProduct read() {
    TensorProduct product{.kind = &kind_};
    zero(0, 2, "is the sparsity selector, of sparse A only");
    zero(2, 1, "means a sparse A, which tcgen05.mma.sp takes");
    if (!kind_.saturates) zero(3, 1, "saturates integers, and the kind has none");
    const Code *d = code(4, 2, "type of D", kind_.results), *a = code(7, 3, "type of A", kind_.multiplicands),
               *b = code(10, 3, "type of B", kind_.multiplicands);
    zero(6, 1, "is reserved");
    if (!kind_.negates) zero(13, 2, "negates A or B, which the kind does not");
    zero(23, 1, "is reserved");
    zero(29, 1, "is reserved");
    zero(30, 2, "is the shift of tcgen05.mma.ws only");
    product.negates_a = field(13, 1) != 0;
    product.negates_b = field(14, 1) != 0;
    product.major_a = field(15, 1) != 0 ? Major::mn : Major::k;
    product.major_b = field(16, 1) != 0 ? Major::mn : Major::k;
    product.shape = {static_cast<int>(field(24, 5)) * 16, static_cast<int>(field(17, 6)) * 8, kind_.k};
    check_shape(product.shape);
    if (!problem_) check_types(product, a->format, b->format, d->format);
    return {product, problem_};
  }

 private:
  std::uint32_t field(int first, int count) const { return bits_ >> first & ((1u << count) - 1); }

  void complain(const std::string& what) {
    if (!problem_) problem_ = format_text("the instruction descriptor {:#010x} of {} has {}", bits_, kind_.name, what);
  }

  void zero(int first, int count, const char* reason) {
    if (field(first, count) != 0)
      complain(format_text("{} in {}, which {}; it must be 0", field(first, count),
                           count == 1 ? format_text("bit {}", first) : format_text("bits {} to {}", first, first + count - 1), reason));
  }

  const Code* code(int first, int count, const char* what, std::span<const Code> codes) {
    const Code* const found = find_code(codes, field(first, count));
    if (found == nullptr)
      complain(format_text("{} {} in bits {} to {}; the kind has {}", what, field(first, count), first, first + count - 1, list_of(codes)));
    return found;
  }

  void check_shape(const Shape& shape) {
    if (shape.m != 64 && shape.m != 128) complain(format_text("M = {} in bits 24 to 28; M is 64 or 128 with .cta_group::1", shape.m));
    const bool fits = shape.n >= 8 && shape.n <= 256 && (shape.n <= 32 || shape.n % kind_.step_above_32 == 0);
    if (!fits)
      complain(format_text("N = {} in bits 17 to 22; N is a multiple of 8 from 8 to 256{}", shape.n,
                           kind_.step_above_32 == 8 ? "" : ", and of 16 above 32"));
  }

  void check_types(TensorProduct& product, Format a, Format b, Format d) {
    product.tile = find_tile(kind_, a, b, d, field(3, 1) != 0);
    if (product.tile == nullptr)
      return complain(
          format_text("A of {}, B of {} and D of {}, which do not go together: f16 goes with f16, bf16 with bf16 and a D of f32", name(a),
                      name(b), name(d)));
    product.lowering = &lowering_for(kind_, a, b);
    const int bits_a = row(a).bits, bits_b = row(b).bits;
    if ((product.major_a == Major::mn && bits_a < 8) || (product.major_b == Major::mn && bits_b < 8))
      return complain("a transposed matrix of 4- or 6-bit elements; these are K-major");
    if (product.major_b == Major::mn && bits_b == 8 && product.shape.n % 16 != 0)
      complain(format_text("N = {} and a transposed B of 8-bit elements, whose N is a multiple of 16", product.shape.n));
  }

  const TensorKind& kind_;
  std::uint32_t bits_;
  std::optional<std::string> problem_;
};

}  // namespace

std::span<const TensorKind> tensor_kinds() {
  return kinds;
}

const TensorKind* find_tensor_kind(std::string_view name) {
  const auto found = std::ranges::find(kinds, name, &TensorKind::name);
  return found == kinds.end() ? nullptr : &*found;
}

DecodedTensorProduct decode_tensor_product(const TensorKind& kind, std::uint32_t descriptor) {
  return Reader(kind, descriptor).read();
}

std::span<const Lowering> tensor_lowerings() {
  return lowerings_of_kinds;
}

}  // namespace warpmat
