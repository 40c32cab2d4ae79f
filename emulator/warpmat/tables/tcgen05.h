#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <warpmat/forms.h>
#include <warpmat/layout.h>
#include <warpmat/layout/tensor_memory.h>

namespace warpmat {

// tcgen05.mma: one thread multiplies M rows of A by N columns of B; D is in tensor memory (PTX ISA 9.1 section 9.7.16.10).
//
// The statement names a kind; an instruction descriptor, 32 bits of a register, chooses types and sizes among those of the kind. Its K is
// 32 bytes of the stored A, as in wgmma, so a product consists of products of 16 rows by 8 columns of mma: `tile`. The tile defines how
// words hold elements and what the types are; the lowering here says what is computed, which differs from mma's.
//
// With .cta_group::2 two blocks compute one product. Each has half of the rows of A and D, and half of the columns of B.

/// A .kind of tcgen05.mma: a row of the table in tcgen05.cpp.
struct TensorKind {
  /// The value of a type field of the descriptor.
  struct Code {
    int code;
    Format format;
  };

  std::string_view name;  ///< "kind::f16"
  Kind of_tile;           ///< of mma
  int k;                  ///< of dense A
  std::span<const Code> multiplicands, results;
  bool negates;                    ///< whether the descriptor may negate A and B
  bool saturates;                  ///< whether it may saturate the result
  bool transposes;                 ///< whether it may transpose A and B
  std::span<const int> vectors{};  ///< scale factors of a row of A: of .scale_vec; empty without block scales
  std::span<const Code> scales{};  ///< by bit 23 of the descriptor

  bool scaled() const { return !vectors.empty(); }
};

std::span<const TensorKind> tensor_kinds();
/// The kind "kind::f16", or nullptr.
const TensorKind* find_tensor_kind(std::string_view name);

/// What the qualifiers of a tcgen05.mma say beside its kind.
struct TensorVariant {
  int group = 1;         ///< .cta_group: blocks that compute the product
  bool sparse = false;   ///< .sp
  bool weights = false;  ///< .ws
  int scale_vector = 0;  ///< .scale_vec; 0 without block scales
  bool has_k96 = false;  ///< the target has K = 96, chosen by the instruction descriptor
};

/// Whether `target` has products of K = 96 (kind::mxf4, kind::mxf4nvf4), and descriptors with an absolute address for them: sm_103a.
bool has_k96(const Target& target);

/// A tcgen05.mma as its kind and its instruction descriptor determine it.
struct TensorProduct {
  const TensorKind* kind = nullptr;
  int group = 1;
  Shape shape{};               ///< m is that of all blocks; k that of the expanded A if it is sparse
  const Form* tile = nullptr;  ///< the product of 16 rows by 8 columns; with K = 96, which mma has not, that of K = 64
  const Lowering* lowering = nullptr;
  const DataPath* path = nullptr;  ///< the lanes of each block
  bool negates_a = false, negates_b = false;
  Major major_a = Major::k, major_b = Major::k;  ///< of matrices in shared memory
  int scale_vector = 0;                          ///< scale factors of a row of A
  int scale_a_byte = 0, scale_b_byte = 0;        ///< of a word of scale factors, from which on they are used
  int selector = 0;                              ///< of the columns of metadata
  int max_shift = 0;                             ///< .ws: columns by which a zero-column mask may shift B

  bool k96() const { return shape.k == 96; }
  bool sparse() const { return tile->sparsity != Sparsity::dense; }
  int row_tiles() const { return path->rows / tile->shape.m; }  ///< of one block
  int column_tiles() const { return shape.n / tile->shape.n; }
  int d_columns() const { return shape.n / path->parts; }  ///< columns of tensor memory that D takes
  int b_columns() const { return shape.n / group; }        ///< of B that one block has

  friend bool operator==(const TensorProduct&, const TensorProduct&) = default;
};

/// Reads an instruction descriptor (PTX ISA 9.1 tables 42 to 44), or says which field is wrong, as a sentence.
struct DecodedTensorProduct {
  TensorProduct product;
  std::optional<std::string> problem;
};
DecodedTensorProduct decode_tensor_product(const TensorKind& kind, const TensorVariant& variant, std::uint32_t descriptor);

/// Every lowering of tcgen05.mma, for tests and lists.
std::span<const Lowering> tensor_lowerings();

}  // namespace warpmat
