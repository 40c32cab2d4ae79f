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
constexpr std::array of_f4{Code{1, e2m1}};
constexpr std::array f32_alone{Code{1, f32}};
constexpr std::array f16_or_f32{Code{0, f16}, Code{1, f32}};
constexpr std::array s32_alone{Code{2, s32}};
constexpr std::array ue8m0_alone{Code{1, ue8m0}};
constexpr std::array ue4m3_or_ue8m0{Code{0, ue4m3}, Code{1, ue8m0}};
constexpr std::array one{1}, two{2};
constexpr std::array two_or_four{2, 4};

// PTX ISA 9.1 tables 39, 42 to 44, 51 and 56.
constexpr std::array kinds{
    TensorKind{"kind::f16", Kind::plain, 16, of_f16, f16_or_f32, true, false, true},
    TensorKind{"kind::tf32", Kind::plain, 8, of_tf32, f32_alone, true, false, true},
    TensorKind{"kind::f8f6f4", Kind::f8f6f4, 32, of_f8f6f4, f16_or_f32, true, false, true},
    TensorKind{"kind::i8", Kind::plain, 32, of_i8, s32_alone, false, true, true},
    TensorKind{"kind::mxf8f6f4", Kind::mxf8f6f4, 32, of_f8f6f4, f32_alone, true, false, true, one, ue8m0_alone},
    TensorKind{"kind::mxf4", Kind::mxf4, 64, of_f4, f32_alone, true, false, false, two, ue8m0_alone},
    TensorKind{"kind::mxf4nvf4", Kind::mxf4nvf4, 64, of_f4, f32_alone, true, false, false, two_or_four, ue4m3_or_ue8m0},
};

/// The sizes of table 39. N is a multiple of `step` from `step` to `most`; those of kind::i8 are rarer, see Reader::check_shape.
struct Sizes {
  bool weights;
  int group;
  std::array<int, 3> rows;  ///< M; 0: none
  int step, most;
};
constexpr std::array sizes{
    Sizes{false, 1, {64, 128, 0}, 8, 256},
    Sizes{false, 2, {128, 256, 0}, 16, 256},
    Sizes{true, 1, {32, 64, 128}, 64, 256},
};

// The arithmetic. MMA-Sim (arXiv 2511.10909, TCGen05MMA) adds all products of K and D in one step, 25 bits below the largest term, and was
// compared with a B200 by its authors: f16, bf16, tf32, e4m3, e5m2 and e2m1, each with itself. These are the numbers of the model `hopper`;
// scale factors of kind::mxf8f6f4 are added to the products' exponents before. Products of 4-bit elements are summed exactly in groups of
// 16; the groups, with their scale factors, and D are added 35 bits below the largest. The floors of the model are wgmma's and mma's on an
// H200; 4-bit kinds have none: FPy has -139, MMA-Sim an exponent of zero terms alone. No comparison covers 6-bit types, pairs of
// different types, sparse A, two blocks, .ws, and integers: exact sums, saturated as mma's .satfinite. K = 96 has six groups instead of
// four.
constexpr auto with_b200 = "MMA-Sim, arXiv 2511.10909, compared with a B200 by its authors; its smallest exponents as wgmma on an H200";
constexpr auto with_b200_no_floor =
    "MMA-Sim, arXiv 2511.10909, compared with a B200 by its authors; no smallest exponent, where other models have -139";
constexpr auto as_dense = "as dense products of one block, of K = 64";
constexpr std::array lowerings_of_kinds{
    Lowering{"UTCHMMA", Semantics::dot, &dot_models::hopper, Evidence::published, with_b200},
    Lowering{"UTCHMMA", Semantics::dot, &dot_models::hopper, Evidence::assumed, as_dense},
    Lowering{"UTCQMMA", Semantics::dot, &dot_models::hopper, Evidence::published, with_b200},
    Lowering{"UTCQMMA", Semantics::dot, &dot_models::hopper, Evidence::assumed, "as e4m3 with e4m3, dense, in one block"},
    Lowering{"UTCOMMA", Semantics::grouped_dot, &dot_models::blackwell_fp4, Evidence::published, with_b200_no_floor},
    Lowering{"UTCOMMA", Semantics::grouped_dot, &dot_models::blackwell_fp4, Evidence::assumed, as_dense},
    Lowering{"UTCIMMA", Semantics::integer_dot, nullptr, Evidence::assumed, "exact, and saturated as mma"},
};

const Lowering& lowering_for(const TensorKind& kind, const TensorVariant& variant, Format a, Format b, bool k96) {
  if (kind.saturates) return lowerings_of_kinds.back();
  const bool compared = !variant.sparse && !variant.weights && variant.group == 1 && !k96 && a == b && a != e2m3 && a != e3m2;
  const std::size_t published = kind.k < 32 ? 0 : kind.k == 32 ? 2 : 4;
  return lowerings_of_kinds[published + (compared ? 0 : 1)];
}

struct TileTypes {
  Format a, b, d;
  std::optional<Format> scale;
  bool saturates;
};

/// The mma of 16 rows by 8 columns with these types, or nullptr.
const Form* find_tile(const TensorKind& kind, const TensorVariant& variant, const TileTypes& types) {
  const Shape shape{16, 8, variant.sparse ? 2 * kind.k : kind.k};
  const auto fits = [&](const Form& form) {
    return form.mnemonic == Mnemonic::mma && form.shape == shape && form.kind == kind.of_tile &&
           form.sparsity == (variant.sparse ? Sparsity::sparse_ordered : Sparsity::dense) && form.bit_operation == BitOperation::none &&
           form.satfinite == types.saturates && form.scale_vector == variant.scale_vector && form.format(OperandName::a) == types.a &&
           form.format(OperandName::b) == types.b && form.format(OperandName::d) == types.d && form.format(OperandName::c) == types.d &&
           (!types.scale || form.format(OperandName::scale_a) == *types.scale);
  };
  const auto found = std::ranges::find_if(forms(), fits);
  return found == forms().end() ? nullptr : &*found;
}

/// The data path layout (PTX ISA 9.1 section 9.7.16.10.5).
const DataPath& path_for(const TensorVariant& variant, int m) {
  const int rows = m / variant.group;
  if (rows == 128) return data_path(variant.group == 2 ? 'A' : 'D');
  if (variant.weights) return data_path(rows == 64 ? 'E' : 'G');
  if (variant.group == 1) return data_path('F');
  return data_path(variant.sparse ? 'C' : 'B');
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
  Reader(const TensorKind& kind, const TensorVariant& variant, std::uint32_t bits) : kind_(kind), variant_(variant), bits_(bits) {}

  DecodedTensorProduct read() {
    TensorProduct product{.kind = &kind_, .group = variant_.group};
    read_first_bits(product);
    const Code* d = kind_.scaled() ? &kind_.results.front() : code(4, 2, "type of D", kind_.results);
    const Code *a = code(7, 3, "type of A", kind_.multiplicands), *b = code(10, kind_.transposes ? 3 : 2, "type of B", kind_.multiplicands);
    zero(6, 1, "is reserved");
    if (!kind_.transposes) zero(12, 1, "is reserved");
    if (!kind_.negates) zero(13, 2, "negates A or B, which the kind does not");
    if (!kind_.transposes) zero(15, 2, "transposes A or B, which the kind does not");
    const bool k96 = variant_.has_k96 && kind_.scaled() && !kind_.transposes && field(31, 1) != 0;
    const Code* scale = read_scales(product, k96);
    if (!kind_.scaled()) read_last_bits(product);
    product.negates_a = field(13, 1) != 0;
    product.negates_b = field(14, 1) != 0;
    product.major_a = field(15, 1) != 0 ? Major::mn : Major::k;
    product.major_b = field(16, 1) != 0 ? Major::mn : Major::k;
    product.shape = {static_cast<int>(field(24, 5)) * 16, static_cast<int>(field(17, 6)) * 8,
                     k96               ? 96
                     : variant_.sparse ? 2 * kind_.k
                                       : kind_.k};
    check_shape(product.shape);
    if (problem_) return {product, problem_};
    product.path = &path_for(variant_, product.shape.m);
    check_types(product, {a->format, b->format, d->format, scale != nullptr ? std::optional(scale->format) : std::nullopt,
                          kind_.saturates && field(3, 1) != 0});
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

  /// Bits 0 to 3: sparsity and saturation.
  void read_first_bits(TensorProduct& product) {
    const bool selects = variant_.sparse && kind_.k < 32;  // columns of metadata
    if (!selects)
      zero(0, 2, variant_.sparse ? "is the sparsity selector, which the kind does not use" : "is the sparsity selector, of sparse A only");
    product.selector = static_cast<int>(field(0, 2));
    if (product.selector > 1) complain(format_text("sparsity selector {} in bits 0 to 1; it is 0 or 1", product.selector));
    if (!variant_.sparse) zero(2, 1, "means a sparse A, which tcgen05.mma.sp takes");
    if (variant_.sparse && field(2, 1) == 0) complain("0 in bit 2, which means a dense A; it must be 1 with .sp");
    if (!kind_.saturates) zero(3, 1, kind_.scaled() ? "is reserved" : "saturates integers, and the kind has none");
  }

  /// The last bits of table 42.
  void read_last_bits(TensorProduct& product) {
    zero(23, 1, "is reserved");
    zero(29, 1, "is reserved");
    if (!variant_.weights) return zero(30, 2, "is the shift of tcgen05.mma.ws only");
    constexpr std::array shifts{0, 8, 16, 32};
    product.max_shift = shifts[field(30, 2)];
    if (product.max_shift == 32 && field(24, 5) == 2) complain("a maximum shift of 32 in bits 30 to 31; with M = 32 it is 16 at most");
  }

  /// The ids and the type of scale factors, of tables 43 and 44; nullptr without.
  const Code* read_scales(TensorProduct& product, bool k96) {
    if (!kind_.scaled()) return nullptr;
    product.scale_vector = k96 ? variant_.scale_vector / 2 * 3 : variant_.scale_vector;
    zero(24, 3, "is reserved");
    if (kind_.transposes)
      zero(31, 1, "is reserved");
    else if (!variant_.has_k96)
      zero(31, 1, "means K = 96, which sm_103a alone has");
    if (k96 && variant_.sparse) complain("1 in bit 31, which means K = 96, of dense A alone");
    product.scale_a_byte = scale_byte(29, "scale_A", k96);
    product.scale_b_byte = scale_byte(4, "scale_B", k96);
    const Code* const scale = code(23, 1, "type of scales", kind_.scales);
    if (scale != nullptr && scale->format == ue4m3 && variant_.scale_vector != 4)
      complain("scales of ue4m3 in bit 23, which go with blocks of 16 elements");
    return scale;
  }

  /// The factors of K = 96 may go on in the next words.
  int scale_byte(int first, const char* what, bool k96) {
    const auto id = static_cast<int>(field(first, 2));
    const int step = k96 ? variant_.scale_vector / 2 : variant_.scale_vector;
    if (id % step != 0)
      complain(format_text("{} as the id of {} in bits {} to {}; with {} factors a row it is {}", id, what, first, first + 1,
                           k96 ? 3 * step : step, step == 4 ? "0" : "0 or 2"));
    return id;
  }

  void check_shape(const Shape& shape) {
    const auto& row =
        *std::ranges::find_if(sizes, [&](const Sizes& s) { return s.weights == variant_.weights && s.group == variant_.group; });
    std::vector<std::string> rows;
    for (const int m : row.rows) {
      const bool whole = !kind_.scaled() || m / variant_.group == 128 ||
                         (m / variant_.group == 64 && variant_.group == 2 && !variant_.sparse && shape.k != 96);
      if (m != 0 && whole) rows.push_back(std::to_string(m));
    }
    if (std::ranges::find(rows, std::to_string(shape.m)) == rows.end())
      complain(format_text("M = {} in bits 24 to 28; M is {} with .cta_group::{}{}", shape.m, joined(rows, " or "), variant_.group,
                           variant_.weights ? " and .ws" : ""));
    const bool wide = kind_.saturates && !variant_.weights;  // kind::i8: multiples of 16 above 32, of 32 for two blocks
    const int step = wide && variant_.group == 2 ? 32 : row.step, most = variant_.weights && variant_.sparse ? 128 : row.most;
    const bool one_wide = wide && variant_.group == 1;
    const bool power = !variant_.weights || shape.n == 64 || shape.n == 128 || shape.n == 256;
    if (shape.n < step || shape.n > most || shape.n % step != 0 || !power || (one_wide && shape.n > 32 && shape.n % 16 != 0))
      complain(variant_.weights ? format_text("N = {} in bits 17 to 22; N is 64{} 128{} with .ws", shape.n, most == 256 ? "," : " or",
                                              most == 256 ? " or 256" : "")
                                : format_text("N = {} in bits 17 to 22; N is a multiple of {} from {} to {}{}", shape.n, step, step, most,
                                              one_wide ? ", and of 16 above 32" : ""));
  }

  void check_types(TensorProduct& product, const TileTypes& types) {
    product.tile = find_tile(kind_, variant_, types);
    if (product.tile == nullptr)
      return complain(
          format_text("A of {}, B of {} and D of {}, which do not go together: f16 goes with f16, bf16 with bf16 and a D of f32",
                      name(types.a), name(types.b), name(types.d)));
    product.lowering = &lowering_for(kind_, variant_, types.a, types.b, product.k96());
    const int step = 16 * variant_.group;
    if (product.major_b == Major::mn && row(types.b).bits <= 8 && product.shape.n % step != 0)
      complain(format_text("N = {} and a transposed B of elements of 8 bits or less, whose N is a multiple of {}", product.shape.n, step));
  }

  const TensorKind& kind_;
  const TensorVariant& variant_;
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

bool has_k96(const Target& target) {
  return target.number == 103 && target.features == Target::Features::architecture;
}

DecodedTensorProduct decode_tensor_product(const TensorKind& kind, const TensorVariant& variant, std::uint32_t descriptor) {
  return Reader(kind, variant, descriptor).read();
}

std::span<const Lowering> tensor_lowerings() {
  return lowerings_of_kinds;
}

}  // namespace warpmat
