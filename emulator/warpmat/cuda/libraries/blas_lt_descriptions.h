#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>

#include <warpmat/cuda/libraries/blas.h>

// What cuBLASLt is asked by: descriptions of matrices, products and transformations, with their numbered attributes.

namespace warpmat::cuda::lt {

/// What a program may also lay out itself (cublasLt...Opaque_t). The structs below fill its first bytes.
struct Descriptor;

struct Layout {  ///< cublasLtMatrixLayout_t, of 64 bytes
  std::int32_t type, order, count = 1, mode = 0;
  std::uint64_t rows, columns;
  std::int64_t leading, stride = 0, plane = 0;
};
static_assert(sizeof(Layout) <= 64);
enum Order : int { by_columns, by_rows };
enum BatchMode : int { strided_batch, listed_batch };

struct MatmulDescription {  ///< cublasLtMatmulDesc_t, of 256 bytes
  std::int32_t compute, scale, pointer_mode = 0, operation_a = 0, operation_b = 0, operation_c = 0, fill = fill_full, epilogue = 1;
  const void *bias = nullptr, *scale_a = nullptr, *scale_b = nullptr, *scale_c = nullptr, *scale_d = nullptr, *scale_aux = nullptr;
  void *aux = nullptr, *amax = nullptr, *amax_aux = nullptr, *scale_out = nullptr, *emulation = nullptr;
  std::int64_t bias_stride = 0, aux_leading = 0, aux_stride = 0, alpha_stride = 0;
  std::int32_t aux_type = -1, bias_type = -1, processors = 0, mode_a = 0, mode_b = 0, mode_c = 0, mode_d = 0, mode_aux = 0, mode_out = 0;
  std::int8_t fast = 0;
};
static_assert(sizeof(MatmulDescription) <= 256);

struct Preference {  ///< cublasLtMatmulPreference_t, of 64 bytes
  std::uint64_t workspace = 0, implementations = ~std::uint64_t{0};
  std::uint32_t search = 0, reductions = ~0u, alignments[4] = {256, 256, 256, 256};
  float waves = 0;
};
static_assert(sizeof(Preference) <= 64);

struct TransformDescription {  ///< cublasLtMatrixTransformDesc_t, of 64 bytes
  std::int32_t scale, pointer_mode = 0, operation_a = 0, operation_b = 0;
};

static_assert(sizeof(Emulation) <= 64);  // cublasLtEmulationDesc_t

struct Algorithm {  ///< cublasLtMatmulAlgo_t: what was configured, by cublasLtMatmulAlgoConfigAttributes_t
  std::uint32_t configured[16] = {};
};
inline constexpr int last_configuration = 8;

struct Heuristic {  ///< cublasLtMatmulHeuristicResult_t
  Algorithm algorithm;
  std::size_t workspace = 0;
  int state = blas_success;
  float waves = 1;
  int reserved[4] = {};
};

/// An attribute of a description: its number and its place.
struct Attribute {
  int number;
  std::size_t offset, bytes;
};
#define WARPMAT_LT_ATTRIBUTE(number, type, member) \
  { number, offsetof(type, member), sizeof(type::member) }
inline constexpr Attribute layout_attributes[] = {
    WARPMAT_LT_ATTRIBUTE(0, Layout, type),    WARPMAT_LT_ATTRIBUTE(1, Layout, order),   WARPMAT_LT_ATTRIBUTE(2, Layout, rows),
    WARPMAT_LT_ATTRIBUTE(3, Layout, columns), WARPMAT_LT_ATTRIBUTE(4, Layout, leading), WARPMAT_LT_ATTRIBUTE(5, Layout, count),
    WARPMAT_LT_ATTRIBUTE(6, Layout, stride),  WARPMAT_LT_ATTRIBUTE(7, Layout, plane),   WARPMAT_LT_ATTRIBUTE(8, Layout, mode),
};
inline constexpr Attribute matmul_attributes[] = {
    WARPMAT_LT_ATTRIBUTE(0, MatmulDescription, compute),      WARPMAT_LT_ATTRIBUTE(1, MatmulDescription, scale),
    WARPMAT_LT_ATTRIBUTE(2, MatmulDescription, pointer_mode), WARPMAT_LT_ATTRIBUTE(3, MatmulDescription, operation_a),
    WARPMAT_LT_ATTRIBUTE(4, MatmulDescription, operation_b),  WARPMAT_LT_ATTRIBUTE(5, MatmulDescription, operation_c),
    WARPMAT_LT_ATTRIBUTE(6, MatmulDescription, fill),         WARPMAT_LT_ATTRIBUTE(7, MatmulDescription, epilogue),
    WARPMAT_LT_ATTRIBUTE(8, MatmulDescription, bias),         WARPMAT_LT_ATTRIBUTE(10, MatmulDescription, bias_stride),
    WARPMAT_LT_ATTRIBUTE(11, MatmulDescription, aux),         WARPMAT_LT_ATTRIBUTE(12, MatmulDescription, aux_leading),
    WARPMAT_LT_ATTRIBUTE(13, MatmulDescription, aux_stride),  WARPMAT_LT_ATTRIBUTE(14, MatmulDescription, alpha_stride),
    WARPMAT_LT_ATTRIBUTE(15, MatmulDescription, processors),  WARPMAT_LT_ATTRIBUTE(17, MatmulDescription, scale_a),
    WARPMAT_LT_ATTRIBUTE(18, MatmulDescription, scale_b),     WARPMAT_LT_ATTRIBUTE(19, MatmulDescription, scale_c),
    WARPMAT_LT_ATTRIBUTE(20, MatmulDescription, scale_d),     WARPMAT_LT_ATTRIBUTE(21, MatmulDescription, amax),
    WARPMAT_LT_ATTRIBUTE(22, MatmulDescription, aux_type),    WARPMAT_LT_ATTRIBUTE(23, MatmulDescription, scale_aux),
    WARPMAT_LT_ATTRIBUTE(24, MatmulDescription, amax_aux),    WARPMAT_LT_ATTRIBUTE(25, MatmulDescription, fast),
    WARPMAT_LT_ATTRIBUTE(26, MatmulDescription, bias_type),   WARPMAT_LT_ATTRIBUTE(31, MatmulDescription, mode_a),
    WARPMAT_LT_ATTRIBUTE(32, MatmulDescription, mode_b),      WARPMAT_LT_ATTRIBUTE(33, MatmulDescription, mode_c),
    WARPMAT_LT_ATTRIBUTE(34, MatmulDescription, mode_d),      WARPMAT_LT_ATTRIBUTE(35, MatmulDescription, mode_aux),
    WARPMAT_LT_ATTRIBUTE(36, MatmulDescription, scale_out),   WARPMAT_LT_ATTRIBUTE(37, MatmulDescription, mode_out),
    WARPMAT_LT_ATTRIBUTE(38, MatmulDescription, emulation),
};
inline constexpr Attribute preference_attributes[] = {
    WARPMAT_LT_ATTRIBUTE(0, Preference, search),           WARPMAT_LT_ATTRIBUTE(1, Preference, workspace),
    WARPMAT_LT_ATTRIBUTE(3, Preference, reductions),       WARPMAT_LT_ATTRIBUTE(5, Preference, alignments[0]),
    WARPMAT_LT_ATTRIBUTE(6, Preference, alignments[1]),    WARPMAT_LT_ATTRIBUTE(7, Preference, alignments[2]),
    WARPMAT_LT_ATTRIBUTE(8, Preference, alignments[3]),    WARPMAT_LT_ATTRIBUTE(9, Preference, waves),
    WARPMAT_LT_ATTRIBUTE(12, Preference, implementations),
};
inline constexpr Attribute emulation_attributes[] = {
    WARPMAT_LT_ATTRIBUTE(0, Emulation, strategy),         WARPMAT_LT_ATTRIBUTE(1, Emulation, special_values),
    WARPMAT_LT_ATTRIBUTE(2, Emulation, mantissa_control), WARPMAT_LT_ATTRIBUTE(3, Emulation, largest_mantissa),
    WARPMAT_LT_ATTRIBUTE(4, Emulation, mantissa_offset),  WARPMAT_LT_ATTRIBUTE(5, Emulation, used_mantissa),
};
inline constexpr Attribute transform_attributes[] = {
    WARPMAT_LT_ATTRIBUTE(0, TransformDescription, scale),
    WARPMAT_LT_ATTRIBUTE(1, TransformDescription, pointer_mode),
    WARPMAT_LT_ATTRIBUTE(2, TransformDescription, operation_a),
    WARPMAT_LT_ATTRIBUTE(3, TransformDescription, operation_b),
};
#undef WARPMAT_LT_ATTRIBUTE

inline const Attribute* find(std::span<const Attribute> attributes, int number) {
  const auto found = std::ranges::find(attributes, number, &Attribute::number);
  return found == attributes.end() ? nullptr : &*found;
}

inline int set_attribute(std::span<const Attribute> attributes, Descriptor* description, int number, const void* from, std::size_t bytes) {
  const Attribute* const attribute = find(attributes, number);
  if (attribute == nullptr || description == nullptr || from == nullptr || bytes != attribute->bytes) return blas_invalid_value;
  std::memcpy(reinterpret_cast<std::uint8_t*>(description) + attribute->offset, from, bytes);
  return blas_success;
}

/// `written` alone asks for the size.
inline int get_attribute(std::span<const Attribute> attributes, const Descriptor* description, int number, void* to, std::size_t bytes,
                         std::size_t* written) {
  const Attribute* const attribute = find(attributes, number);
  if (attribute == nullptr || description == nullptr || (bytes == 0 && written == nullptr)) return blas_invalid_value;
  if (written != nullptr) *written = attribute->bytes;
  if (bytes == 0) return blas_success;
  if (to == nullptr || bytes != attribute->bytes) return blas_invalid_value;
  std::memcpy(to, reinterpret_cast<const std::uint8_t*>(description) + attribute->offset, bytes);
  return blas_success;
}

/// Descriptions of the library's own, which need neither GPU nor lock.
template <typename T>
int make_description(Descriptor** description, const T& value) {
  if (description == nullptr) return blas_invalid_value;
  *description = reinterpret_cast<Descriptor*>(new T(value));
  return blas_success;
}
template <typename T>
int end_description(Descriptor* description) {
  delete reinterpret_cast<T*>(description);
  return blas_success;
}
/// One in the program's own memory.
template <typename T>
int place_description(Descriptor* description, std::size_t bytes, const T& value) {
  if (description == nullptr || bytes < sizeof(T)) return blas_invalid_value;
  ::new (static_cast<void*>(description)) T(value);
  return blas_success;
}
template <typename T>
const T& description_of(const Descriptor* description) {
  require_blas(description != nullptr);
  return *reinterpret_cast<const T*>(description);
}

inline Layout layout_of(int type, std::uint64_t rows, std::uint64_t columns, std::int64_t leading) {
  return {.type = type, .order = by_columns, .rows = rows, .columns = columns, .leading = leading};
}

}  // namespace warpmat::cuda::lt
