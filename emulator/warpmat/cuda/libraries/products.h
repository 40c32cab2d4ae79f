#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <vector>

#include <warpmat/cuda/libraries/blas.h>

// Products of matrices of all types that cuBLAS documents, by the arithmetic of the target.

namespace warpmat::cuda {

/// cublasComputeType_t without _PEDANTIC, which asks for no other sums here.
enum class Compute : std::uint8_t { f16, f32, f32_as_tf32, f64, s32 };

/// The compute type of a number of cublasComputeType_t. Throws Refusal.
Compute compute_of(int type);

/// D = alpha * op(A) * op(B) + beta * C: op(A) has m rows and k columns, op(B) k rows and n columns. C and D may be one matrix. A, B, C and
/// D are stored by columns, or by rows where `by_rows` says so.
struct ProductShape {
  int operation_a = op_n, operation_b = op_n;
  std::int64_t m = 0, n = 0, k = 0;
  int type_a = r_32f, type_b = r_32f, type_c = r_32f, type_d = r_32f;
  std::int64_t leading_a = 1, leading_b = 1, leading_c = 1, leading_d = 1;
  Compute compute = Compute::f32;
  int promote_every = 0;  ///< steps of the instruction after which sums move on; 0: never

  /// Throws Refusal: for sizes that are none, and for types that cuBLAS does not multiply so.
  void check() const;
};

/// What becomes of the number of a row and a column before it is stored.
using Epilogue = std::function<double(double value, std::int64_t row, std::int64_t column)>;

/// A factor of any type as cuBLAS reads it: at once, or when the work runs.
class AnyScalar {
 public:
  AnyScalar(bool is_of_device, const void* at, int type);
  std::complex<double> read(const LibraryMemory& memory) const;

 private:
  int type_;
  const void* device_;
  std::complex<double> value_;
};

/// Bytes of an element. Throws Refusal for a type that is not supported.
std::size_t bytes_of_type(int type);
std::complex<double> load_element(const void* at, int type, std::int64_t index);
void store_element(void* at, int type, std::int64_t index, std::complex<double> value);

/// The number as a T; of a real T its real part.
template <typename T>
T number_of(std::complex<double> value) {
  if constexpr (is_complex<T>)
    return T(value);
  else
    return static_cast<T>(value.real());
}

/// Multiplies. Throws ApiError where memory lacks.
void multiply_matrices(const LibraryMemory& memory, const ProductShape& shape, std::complex<double> alpha, const void* a, const void* b,
                       std::complex<double> beta, const void* c, void* d, const Epilogue& epilogue = {});

/// The same of dense matrices of the program's types in host memory, stored by columns: sums alone, chains of fused multiply-adds. `T`:
/// float, double, or complex numbers of them.
template <typename T>
std::vector<T> multiply_dense(const Context& context, std::int64_t m, std::int64_t n, std::int64_t k, const std::vector<T>& a,
                              const std::vector<T>& b);

}  // namespace warpmat::cuda
