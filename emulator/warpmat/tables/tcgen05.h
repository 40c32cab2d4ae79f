#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <warpmat/layout/matrix_descriptor.h>
#include <warpmat/tables/form.h>
#include <warpmat/tables/lowering.h>

namespace warpmat {

// tcgen05.mma: one thread multiplies M rows of A by N columns of B; D is in tensor memory (PTX ISA 9.1 section 9.7.16.10).
//
// The statement names a kind; an instruction descriptor, 32 bits of a register, chooses types and sizes among those of the kind. Its K is
// 32 bytes of A, as in wgmma, so a product consists of products of 16 rows by 8 columns of mma: `tile`. The tile defines how words hold
// elements and what the types are; the lowering here says what is computed, which differs from mma's.

/// A .kind of tcgen05.mma: a row of the table in tcgen05.cpp.
struct TensorKind {
  /// The value of a type field of the descriptor.
  struct Code {
    int code;
    Format format;
  };

  std::string_view name;  ///< "kind::f16"
  int k;                  ///< of dense A
  std::span<const Code> multiplicands, results;
  bool negates;       ///< whether the descriptor may negate A and B
  bool saturates;     ///< whether it may saturate the result
  int step_above_32;  ///< N above 32 is a multiple of this
};

std::span<const TensorKind> tensor_kinds();
/// The kind "kind::f16", or nullptr.
const TensorKind* find_tensor_kind(std::string_view name);

/// A tcgen05.mma as its kind and its instruction descriptor determine it.
struct TensorProduct {
  const TensorKind* kind = nullptr;
  Shape shape{};               ///< m is 64 or 128, n 8 to 256
  const Form* tile = nullptr;  ///< the product of 16 rows by 8 columns
  const Lowering* lowering = nullptr;
  bool negates_a = false, negates_b = false;
  Major major_a = Major::k, major_b = Major::k;  ///< of matrices in shared memory

  int row_tiles() const { return shape.m / tile->shape.m; }
  int column_tiles() const { return shape.n / tile->shape.n; }
  /// The lane of tensor memory that holds row `row` of D and A, from that of row 0 on. All lanes, or half of each warp's (data path layouts
  /// D and F, PTX ISA 9.1 section 9.7.16.10.5, whose figures are CuTe's `tmem_frg`; MMA-Sim's kernels for a B200 use the same).
  int lane(int row) const { return shape.m == 128 ? row : row % 16 + row / 16 * 32; }

  friend bool operator==(const TensorProduct&, const TensorProduct&) = default;
};

/// Reads an instruction descriptor (PTX ISA 9.1 table 42), or says which field is wrong, as a sentence.
struct DecodedTensorProduct {
  TensorProduct product;
  std::optional<std::string> problem;
};
DecodedTensorProduct decode_tensor_product(const TensorKind& kind, std::uint32_t descriptor);

/// Every lowering of tcgen05.mma, for tests and lists.
std::span<const Lowering> tensor_lowerings();

}  // namespace warpmat
