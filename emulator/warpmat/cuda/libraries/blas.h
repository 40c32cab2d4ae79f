#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

#include <warpmat/cuda/libraries/library.h>

// What the functions of cuBLAS share. Matrices are stored by columns; pointers are device addresses unless the pointer mode says otherwise.

namespace warpmat::cuda {

/// cublasStatus_t.
enum BlasStatus : int {
  blas_success = 0,
  blas_not_initialized = 1,
  blas_alloc_failed = 3,
  blas_invalid_value = 7,
  blas_arch_mismatch = 8,
  blas_mapping_error = 11,
  blas_execution_failed = 13,
  blas_internal_error = 14,
  blas_not_supported = 15,
  blas_license_error = 16,
};

enum BlasOperation : int { op_n, op_t, op_c };              ///< cublasOperation_t
enum BlasFill : int { fill_lower, fill_upper, fill_full };  ///< cublasFillMode_t
enum BlasSide : int { side_left, side_right };              ///< cublasSideMode_t
enum BlasDiagonal : int { non_unit, unit };                 ///< cublasDiagType_t

/// cudaDataType.
enum DataType : int {
  r_32f = 0,
  r_64f = 1,
  r_16f = 2,
  r_8i = 3,
  c_32f = 4,
  c_64f = 5,
  r_8u = 8,
  r_32i = 10,
  r_16bf = 14,
  r_e4m3 = 28,
  r_e5m2 = 29,
};

/// __half and __nv_bfloat16.
struct Half {
  std::uint16_t bits = 0;
};
struct BrainHalf {
  std::uint16_t bits = 0;
};

/// How products of f32 and f64 are to be emulated by other types: kept and told, for products are of their own types here.
struct Emulation {
  std::int32_t strategy = 0, special_values = 0xffff, mantissa_control = 0, largest_mantissa = 0, mantissa_offset = 0;
  std::int32_t* used_mantissa = nullptr;
};

/// cublasHandle_t and cublasLtHandle_t.
struct Blas {
  Stream* stream = nullptr;
  bool device_pointers = false;  ///< cublasPointerMode_t: scalars lie in device memory
  int math = 0;                  ///< cublasMath_t
  int atomics = 0;               ///< cublasAtomicsMode_t
  int processors = 0;            ///< cublasSetSmCountTarget
  Emulation emulation;
};

inline constexpr int math_tensor_op = 1, math_pedantic = 2, math_tf32 = 3, math_last = 5, math_emulated_f64 = 8;
inline constexpr int math_disallow_reduced = 16;

extern const Library blas_library;

/// Throws Refusal unless `good`.
inline void require_blas(bool good, int status = blas_invalid_value, const char* message = "") {
  if (!good) throw Refusal(status, message);
}
/// The handle of a program. Throws Refusal.
Blas& blas_of(Blas* handle);
Blas* make_blas();
void destroy_blas(Blas* handle);

/// Numbers of elements, distances and leading dimensions of functions for 32 and for 64 bits.
using Size = std::int64_t;

// ---- Numbers ----

template <typename T>
struct IsComplex : std::false_type {};
template <typename R>
struct IsComplex<std::complex<R>> : std::true_type {};
template <typename T>
inline constexpr bool is_complex = IsComplex<T>::value;

template <typename T>
struct RealOf {
  using type = T;
};
template <typename R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <typename T>
using Real = typename RealOf<T>::type;

/// a * b + c with one rounding for each multiplication and addition of reals.
template <typename R>
inline R multiply_add(R a, R b, R c) {
  return std::fma(a, b, c);
}
template <typename R>
inline std::complex<R> multiply_add(std::complex<R> a, std::complex<R> b, std::complex<R> c) {
  const R real = std::fma(-a.imag(), b.imag(), std::fma(a.real(), b.real(), c.real()));
  const R imag = std::fma(a.imag(), b.real(), std::fma(a.real(), b.imag(), c.imag()));
  return {real, imag};
}
/// Where sums over whole vectors run: cuBLAS adds up many parts, whose error one chain of f32 exceeds a thousandfold. So these chains are
/// of f64.
template <typename T>
struct ChainOf {
  using type = double;
};
template <typename R>
struct ChainOf<std::complex<R>> {
  using type = std::complex<double>;
};
template <typename T>
using Chain = typename ChainOf<T>::type;

template <typename T>
inline T multiply(T a, T b) {
  if constexpr (is_complex<T>)
    return multiply_add(a, b, T{});
  else
    return a * b;
}

template <typename T>
inline T conjugate(T value) {
  if constexpr (is_complex<T>)
    return std::conj(value);
  else
    return value;
}

template <typename T>
inline bool is_zero(T value) {
  return value == T(0);
}

/// |re| + |im|, by which BLAS compares and adds up complex numbers.
template <typename T>
inline Real<T> magnitude(T value) {
  if constexpr (is_complex<T>)
    return std::abs(value.real()) + std::abs(value.imag());
  else
    return std::abs(value);
}

// ---- Scalars and vectors ----

/// A factor, as the pointer mode has it: read when the function is called, or when the work runs.
template <typename T>
class Scalar {
 public:
  Scalar(const Blas& blas, const T* at) : device_(blas.device_pointers ? at : nullptr) {
    require_blas(at != nullptr);
    if (device_ == nullptr) value_ = *at;
  }
  explicit Scalar(T value) : value_(value) {}
  T read(const LibraryMemory& memory) const { return device_ == nullptr ? value_ : *memory.read(device_, 1); }

 private:
  T value_{};
  const T* device_;
};

/// The elements of a vector; a negative distance counts from the end.
template <typename T>
struct Strided {
  T* first;
  std::int64_t count, distance;
  T& operator[](std::int64_t i) const { return first[distance > 0 ? i * distance : (i - count + 1) * distance]; }
};

inline CheckedSize vector_extent(std::int64_t count, std::int64_t distance) {
  return count <= 0 ? CheckedSize(0) : CheckedSize(count - 1) * (distance < 0 ? -distance : distance) + 1;
}
template <typename T>
Strided<const T> read_vector(const LibraryMemory& memory, const T* at, std::int64_t count, std::int64_t distance) {
  return {memory.read(at, vector_extent(count, distance)), count, distance};
}
/// A vector that is read and written.
template <typename T>
Strided<T> write_vector(const LibraryMemory& memory, T* at, std::int64_t count, std::int64_t distance) {
  return {memory.write(at, vector_extent(count, distance)), count, distance};
}

/// Elements from the first of a matrix to its last.
inline CheckedSize matrix_extent(std::int64_t rows, std::int64_t columns, std::int64_t leading) {
  return rows <= 0 || columns <= 0 ? CheckedSize(0) : CheckedSize(columns - 1) * leading + rows;
}

/// The body of a function of cuBLAS that leaves `work` in the handle's stream: `check(blas)` gives the work, or nothing to do.
template <typename Check>
int blas_call(const char* call, Blas* handle, Check&& check) {
  return library_call(blas_library, call, false, [&](Context& context) {
    Blas& blas = blas_of(handle);
    if (LibraryWork work = check(blas)) submit_work(context, blas_library, call, blas.stream, std::move(work));
  });
}

/// The same for one whose result goes to `result`, to the host's memory where the pointer mode says so: `find(memory)` gives the result.
template <typename R, typename Check>
int blas_result_call(const char* call, Blas* handle, R* result, Check&& check) {
  return library_call(blas_library, call, true, [&](Context& context) {
    Blas& blas = blas_of(handle);
    require_blas(result != nullptr);
    const std::function<R(const LibraryMemory&)> find = check(blas);
    if (blas.device_pointers)
      return submit_work(context, blas_library, call, blas.stream,
                         [=](const LibraryMemory& memory) { *memory.write(result, 1) = find(memory); });
    run_work(context, blas_library, call, blas.stream, [&](const LibraryMemory& memory) { *result = find(memory); });
  });
}

}  // namespace warpmat::cuda
