#pragma once

#include <tuple>
#include <vector>

#include <warpmat/cuda/libraries/blas_matrix.h>
#include <warpmat/cuda/libraries/products.h>

// Level 3 of BLAS, and cuBLAS's extensions.

namespace warpmat::cuda::blas {

template <typename T>
inline constexpr int type_of = r_32f;
template <>
inline constexpr int type_of<double> = r_64f;
template <>
inline constexpr int type_of<std::complex<float>> = c_32f;
template <>
inline constexpr int type_of<std::complex<double>> = c_64f;
template <>
inline constexpr int type_of<Half> = r_16f;
template <>
inline constexpr int type_of<BrainHalf> = r_16bf;

/// How cuBLAS multiplies numbers of a type: the math mode decides about f32.
template <typename T>
Compute compute_of_type(const Blas& blas) {
  if constexpr (std::is_same_v<T, Half>) return Compute::f16;
  if constexpr (std::is_same_v<Real<T>, double>) return Compute::f64;
  return (blas.math & 15) == math_tf32 ? Compute::f32_as_tf32 : Compute::f32;
}

/// The type of the factors alpha and beta.
inline int scale_type(const ProductShape& shape) {
  switch (shape.compute) {
    case Compute::f16: return r_16f;
    case Compute::f64: return shape.type_a == c_64f ? c_64f : r_64f;
    case Compute::s32: return shape.type_c == r_8i ? r_32f : r_32i;
    default: return shape.type_a == c_32f ? c_32f : r_32f;
  }
}

/// One product, or `count` of them.
struct ProductCall {
  ProductShape shape;
  const void *alpha, *beta;
  std::int64_t count = 1;
};

/// The matrices of product number `i`.
struct ProductMatrices {
  const void *a, *b;
  void* c;
};

/// Products one after another: `matrices(memory, i)` finds those of number i.
template <typename Find>
LibraryWork products(const Blas& blas, const ProductCall& call, Find matrices) {
  call.shape.check();
  require_blas(call.count >= 0);
  const int type = scale_type(call.shape);
  const AnyScalar of_product(blas.device_pointers, call.alpha, type), of_before(blas.device_pointers, call.beta, type);
  if (call.shape.m == 0 || call.shape.n == 0) return {};
  return [shape = call.shape, count = call.count, of_product, of_before, matrices](const LibraryMemory& memory) {
    const auto alpha = of_product.read(memory), beta = of_before.read(memory);
    for (std::int64_t i = 0; i < count; ++i) {
      const ProductMatrices of = matrices(memory, i);
      multiply_matrices(memory, shape, alpha, of.a, of.b, beta, of.c, of.c);
    }
  };
}

/// Matrices at a distance, in elements.
struct StridedMatrices {
  const void *a, *b;
  void* c;
  std::int64_t stride_a, stride_b, stride_c;
  int type_a, type_b, type_c;
  ProductMatrices operator()(const LibraryMemory&, std::int64_t i) const {
    const auto shift = [i](const void* at, std::int64_t stride, int type) {
      return reinterpret_cast<std::uintptr_t>(at) + static_cast<std::uintptr_t>(i * stride) * bytes_of_type(type);
    };
    return {reinterpret_cast<const void*>(shift(a, stride_a, type_a)), reinterpret_cast<const void*>(shift(b, stride_b, type_b)),
            reinterpret_cast<void*>(shift(c, stride_c, type_c))};
  }
};

/// Matrices whose addresses lie in arrays in device memory.
struct ListedMatrices {
  const void *const *a, *const *b;
  void* const* c;
  ProductMatrices operator()(const LibraryMemory& memory, std::int64_t i) const {
    return {*memory.read(a + i, 1), *memory.read(b + i, 1), *memory.read(c + i, 1)};
  }
};
template <typename A, typename C>
ListedMatrices listed(const A* const* a, const A* const* b, C* const* c) {
  return {reinterpret_cast<const void* const*>(a), reinterpret_cast<const void* const*>(b), reinterpret_cast<void* const*>(c)};
}

inline ProductShape shape_of(int type_a, int type_b, int type_c, Compute compute, int op_a, int op_b, std::int64_t m, std::int64_t n,
                             std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc) {
  return {op_a, op_b, m, n, k, type_a, type_b, type_c, type_c, lda, ldb, ldc, ldc, compute, 0};
}
template <typename T>
ProductShape shape_of(const Blas& blas, int op_a, int op_b, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t lda,
                      std::int64_t ldb, std::int64_t ldc) {
  return shape_of(type_of<T>, type_of<T>, type_of<T>, compute_of_type<T>(blas), op_a, op_b, m, n, k, lda, ldb, ldc);
}

template <typename T>
int gemmStridedBatched(const char* call, Blas* handle, int op_a, int op_b, Size m, Size n, Size k, const T* alpha, const T* a, Size lda,
                       long long stride_a, const T* b, Size ldb, long long stride_b, const T* beta, T* c, Size ldc, long long stride_c,
                       Size count) {
  return blas_call(call, handle, [&](Blas& blas) {
    return products(blas, {shape_of<T>(blas, op_a, op_b, m, n, k, lda, ldb, ldc), alpha, beta, count},
                    StridedMatrices{a, b, c, stride_a, stride_b, stride_c, type_of<T>, type_of<T>, type_of<T>});
  });
}
template <typename T>
int gemm3mStridedBatched(const char* call, Blas* handle, int op_a, int op_b, Size m, Size n, Size k, const T* alpha, const T* a, Size lda,
                         long long stride_a, const T* b, Size ldb, long long stride_b, const T* beta, T* c, Size ldc, long long stride_c,
                         Size count) {
  return gemmStridedBatched(call, handle, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, count);
}
template <typename T>
int gemm(const char* call, Blas* handle, int op_a, int op_b, Size m, Size n, Size k, const T* alpha, const T* a, Size lda, const T* b,
         Size ldb, const T* beta, T* c, Size ldc) {
  return gemmStridedBatched(call, handle, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, Size(1));
}
template <typename T>
int gemm3m(const char* call, Blas* handle, int op_a, int op_b, Size m, Size n, Size k, const T* alpha, const T* a, Size lda, const T* b,
           Size ldb, const T* beta, T* c, Size ldc) {
  return gemm(call, handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
template <typename T>
int gemmBatched(const char* call, Blas* handle, int op_a, int op_b, Size m, Size n, Size k, const T* alpha, const T* const* a, Size lda,
                const T* const* b, Size ldb, const T* beta, T* const* c, Size ldc, Size count) {
  return blas_call(call, handle, [&](Blas& blas) {
    return products(blas, {shape_of<T>(blas, op_a, op_b, m, n, k, lda, ldb, ldc), alpha, beta, count}, listed(a, b, c));
  });
}
template <typename T>
int gemm3mBatched(const char* call, Blas* handle, int op_a, int op_b, Size m, Size n, Size k, const T* alpha, const T* const* a, Size lda,
                  const T* const* b, Size ldb, const T* beta, T* const* c, Size ldc, Size count) {
  return gemmBatched(call, handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, count);
}

// ---- All types ----

inline int gemmStridedBatchedEx(const char* call, Blas* handle, int op_a, int op_b, Size m, Size n, Size k, const void* alpha,
                                const void* a, int type_a, Size lda, long long stride_a, const void* b, int type_b, Size ldb,
                                long long stride_b, const void* beta, void* c, int type_c, Size ldc, long long stride_c, Size count,
                                int compute, int) {
  return blas_call(call, handle, [&](Blas& blas) {
    Compute how = compute_of(compute);
    if (how == Compute::f32 && type_a == r_32f && (blas.math & 15) == math_tf32) how = Compute::f32_as_tf32;
    return products(blas, {shape_of(type_a, type_b, type_c, how, op_a, op_b, m, n, k, lda, ldb, ldc), alpha, beta, count},
                    StridedMatrices{a, b, c, stride_a, stride_b, stride_c, type_a, type_b, type_c});
  });
}
inline int gemmEx(const char* call, Blas* handle, int op_a, int op_b, Size m, Size n, Size k, const void* alpha, const void* a, int type_a,
                  Size lda, const void* b, int type_b, Size ldb, const void* beta, void* c, int type_c, Size ldc, int compute,
                  int algorithm) {
  return gemmStridedBatchedEx(call, handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, 0, b, type_b, ldb, 0, beta, c, type_c, ldc, 0,
                              Size(1), compute, algorithm);
}
inline constexpr int compute_f32 = 68;
template <typename T>
int sgemmEx(const char* call, Blas* handle, int op_a, int op_b, Size m, Size n, Size k, const T* alpha, const void* a, int type_a, Size lda,
            const void* b, int type_b, Size ldb, const T* beta, void* c, int type_c, Size ldc) {
  return gemmEx(call, handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, compute_f32, -1);
}
template <typename T>
int cgemmEx(const char* call, Blas* handle, int op_a, int op_b, Size m, Size n, Size k, const T* alpha, const void* a, int type_a, Size lda,
            const void* b, int type_b, Size ldb, const T* beta, void* c, int type_c, Size ldc) {
  return gemmEx(call, handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, compute_f32, -1);
}
template <typename T>
int cgemm3mEx(const char* call, Blas* handle, int op_a, int op_b, Size m, Size n, Size k, const T* alpha, const void* a, int type_a,
              Size lda, const void* b, int type_b, Size ldb, const T* beta, void* c, int type_c, Size ldc) {
  return gemmEx(call, handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, compute_f32, -1);
}
inline int gemmBatchedEx(const char* call, Blas* handle, int op_a, int op_b, Size m, Size n, Size k, const void* alpha,
                         const void* const* a, int type_a, Size lda, const void* const* b, int type_b, Size ldb, const void* beta,
                         void* const* c, int type_c, Size ldc, Size count, int compute, int) {
  return blas_call(call, handle, [&](Blas& blas) {
    return products(blas, {shape_of(type_a, type_b, type_c, compute_of(compute), op_a, op_b, m, n, k, lda, ldb, ldc), alpha, beta, count},
                    ListedMatrices{a, b, c});
  });
}

/// Groups of products: a size, two factors and a number of products for each; the addresses of all follow each other.
template <typename I>
int gemmGroupedBatchedEx(const char* call, Blas* handle, const int* op_a, const int* op_b, const I* m, const I* n, const I* k,
                         const void* alpha, const void* const* a, int type_a, const I* lda, const void* const* b, int type_b, const I* ldb,
                         const void* beta, void* const* c, int type_c, const I* ldc, I groups, const I* sizes, int compute) {
  return blas_call(call, handle, [&](Blas& blas) -> LibraryWork {
    require_blas(groups >= 0 && !blas.device_pointers);
    std::vector<LibraryWork> works;
    std::int64_t first = 0;
    for (I g = 0; g < groups; first += sizes[g++]) {
      const ProductShape shape =
          shape_of(type_a, type_b, type_c, compute_of(compute), op_a[g], op_b[g], m[g], n[g], k[g], lda[g], ldb[g], ldc[g]);
      const auto at = [&](const void* factors) {
        return static_cast<const std::uint8_t*>(factors) + static_cast<std::size_t>(g) * bytes_of_type(scale_type(shape));
      };
      if (LibraryWork work = products(blas, {shape, at(alpha), at(beta), sizes[g]}, ListedMatrices{a + first, b + first, c + first}))
        works.push_back(std::move(work));
    }
    return [works](const LibraryMemory& memory) {
      for (const LibraryWork& work : works) work(memory);
    };
  });
}
template <typename T, typename I>
int gemmGroupedBatched(const char* call, Blas* handle, const int* op_a, const int* op_b, const I* m, const I* n, const I* k, const T* alpha,
                       const T* const* a, const I* lda, const T* const* b, const I* ldb, const T* beta, T* const* c, const I* ldc, I groups,
                       const I* sizes) {
  const ListedMatrices of = listed(a, b, c);
  return gemmGroupedBatchedEx(call, handle, op_a, op_b, m, n, k, static_cast<const void*>(alpha), of.a, type_of<T>, lda, of.b, type_of<T>,
                              ldb, static_cast<const void*>(beta), of.c, type_of<T>, ldc, groups, sizes,
                              std::is_same_v<T, double> ? 70 : compute_f32);
}

// ---- Batched products with vectors ----

template <typename S>
S convert(std::complex<double> value) {
  if constexpr (is_complex<S>)
    return S(value);
  else
    return static_cast<S>(value.real());
}

/// y = alpha * op(A) * x + beta * y as a product with a matrix of one column: row i of it is at i * distance.
template <typename S, typename T, typename U>
void multiply_one(const LibraryMemory& memory, const ProductShape& shape, S alpha, const T* a, const T* x, std::int64_t inc_x, S beta, U* y,
                  std::int64_t inc_y) {
  const bool plain = shape.operation_a == op_n;
  const std::int64_t stored_rows = plain ? shape.m : shape.k, stored_columns = plain ? shape.k : shape.m;
  const T* const matrix = memory.read(a, matrix_extent(stored_rows, stored_columns, shape.leading_a));
  const auto from = read_vector(memory, x, shape.k, inc_x);
  const auto to = write_vector(memory, y, shape.m, inc_y);
  for (std::int64_t i = 0; i < shape.m; ++i) {
    S sum{};
    for (std::int64_t j = 0; j < shape.k; ++j) {
      const std::int64_t place = plain ? i + j * shape.leading_a : j + i * shape.leading_a;
      const S element = convert<S>(load_element(matrix, type_of<T>, place));
      sum = multiply_add(shape.operation_a == op_c ? conjugate(element) : element, convert<S>(load_element(&from[j], type_of<T>, 0)), sum);
    }
    const S kept = is_zero(beta) ? S{} : multiply(beta, convert<S>(load_element(&to[i], type_of<U>, 0)));
    store_element(&to[i], type_of<U>, 0, std::complex<double>(multiply_add(alpha, sum, kept)));
  }
}

template <typename S, typename T, typename U, typename Find>
int vector_products(const char* call, Blas* handle, int operation, Size m, Size n, const S* alpha, Size lda, Size inc_x, const S* beta,
                    Size inc_y, Size count, Find find) {
  return blas_call(call, handle, [&](Blas& blas) -> LibraryWork {
    check_operation(operation);
    require_blas(m >= 0 && n >= 0 && count >= 0 && inc_x != 0 && inc_y != 0 && lda >= std::max(Size(1), m));
    const Scalar<S> of_product(blas, alpha), of_before(blas, beta);
    if (m == 0 || n == 0) return {};
    ProductShape shape{.operation_a = operation, .m = operation == op_n ? m : n, .n = 1, .k = operation == op_n ? n : m};
    shape.leading_a = lda;
    return [=](const LibraryMemory& memory) {
      for (Size i = 0; i < count; ++i) {
        const auto [a, x, y] = find(memory, i);
        multiply_one<S, T, U>(memory, shape, of_product.read(memory), a, x, inc_x, of_before.read(memory), y, inc_y);
      }
    };
  });
}
template <typename S, typename T, typename U>
int gemvBatched(const char* call, Blas* handle, int operation, Size m, Size n, const S* alpha, const T* const* a, Size lda,
                const T* const* x, Size inc_x, const S* beta, U* const* y, Size inc_y, Size count) {
  return vector_products<S, T, U>(call, handle, operation, m, n, alpha, lda, inc_x, beta, inc_y, count,
                                  [=](const LibraryMemory& memory, Size i) {
                                    return std::tuple(*memory.read(a + i, 1), *memory.read(x + i, 1), *memory.read(y + i, 1));
                                  });
}
template <typename S, typename T, typename U>
int gemvStridedBatched(const char* call, Blas* handle, int operation, Size m, Size n, const S* alpha, const T* a, Size lda,
                       long long stride_a, const T* x, Size inc_x, long long stride_x, const S* beta, U* y, Size inc_y, long long stride_y,
                       Size count) {
  return vector_products<S, T, U>(call, handle, operation, m, n, alpha, lda, inc_x, beta, inc_y, count, [=](const LibraryMemory&, Size i) {
    return std::tuple(a + i * stride_a, x + i * stride_x, y + i * stride_y);
  });
}

// ---- Symmetric and triangular matrices ----

/// The elements of op(A) by columns.
template <typename T>
std::vector<T> dense_matrix(const Matrix2<T>& matrix) {
  std::vector<T> dense;
  dense.reserve(static_cast<std::size_t>(matrix.shape().rows() * matrix.shape().columns()));
  for (std::int64_t j = 0; j < matrix.shape().columns(); ++j)
    for (std::int64_t i = 0; i < matrix.shape().rows(); ++i) dense.push_back(matrix(i, j));
  return dense;
}

/// c = alpha * sum + beta * c for each element that `visits`.
template <typename T, typename Visits>
void add_sums(const std::vector<T>& sums, T alpha, T beta, const Storage& storage, T* c, Visits visits) {
  for (std::int64_t j = 0; j < storage.columns; ++j)
    for (std::int64_t i = 0; i < storage.rows; ++i) {
      if (!visits(i, j)) continue;
      T& to = c[storage.place(i, j)];
      const T kept = is_zero(beta) ? T{} : multiply(beta, to);
      to = multiply_add(alpha, sums[static_cast<std::size_t>(j * storage.rows + i)], kept);
    }
}
inline bool visit_all(std::int64_t, std::int64_t) {
  return true;
}

/// symm, hemm: C = alpha * A * B + beta * C, or B * A.
template <Structure structure, typename T>
int symmetric_product(const char* call, Blas* handle, int side, int fill, Size m, Size n, const T* alpha, const T* a, Size lda, const T* b,
                      Size ldb, const T* beta, T* c, Size ldc) {
  return blas_call(call, handle, [&](Blas& blas) -> LibraryWork {
    check_fill(fill);
    require_blas((side == side_left || side == side_right) && m >= 0 && n >= 0);
    const Size size = side == side_left ? m : n;
    const Shape2 of_a{Storage::full(size, size, lda), structure, fill}, of_b{Storage::full(m, n, ldb)};
    const Storage of_c = Storage::full(m, n, ldc);
    const Scalar<T> of_product(blas, alpha), of_before(blas, beta);
    if (m == 0 || n == 0) return {};
    return [=](const LibraryMemory& memory) {
      const auto x = dense_matrix(Matrix2<T>(memory, of_a, a)), y = dense_matrix(Matrix2<T>(memory, of_b, b));
      const bool left = side == side_left;
      const auto sums = multiply_dense(memory.context(), m, n, size, left ? x : y, left ? y : x);
      add_sums(sums, of_product.read(memory), of_before.read(memory), of_c, memory.write(c, of_c.extent()), visit_all);
    };
  });
}
template <typename T>
int symm(const char* call, Blas* handle, int side, int fill, Size m, Size n, const T* alpha, const T* a, Size lda, const T* b, Size ldb,
         const T* beta, T* c, Size ldc) {
  return symmetric_product<Structure::symmetric>(call, handle, side, fill, m, n, alpha, a, lda, b, ldb, beta, c, ldc);
}
template <typename T>
int hemm(const char* call, Blas* handle, int side, int fill, Size m, Size n, const T* alpha, const T* a, Size lda, const T* b, Size ldb,
         const T* beta, T* c, Size ldc) {
  return symmetric_product<Structure::hermitian>(call, handle, side, fill, m, n, alpha, a, lda, b, ldb, beta, c, ldc);
}

/// A triangle of C = alpha * op(A) * op(B)^T + beta * C, with `twice` alpha' * op(B) * op(A)^T, too; ^H and alpha' conjugated if Hermitian.
template <bool hermitian, bool twice, typename S, typename R, typename T>
int rank_k(const char* call, Blas* handle, int fill, int operation, Size n, Size k, const S* alpha, const T* a, Size lda, const T* b,
           Size ldb, const R* beta, T* c, Size ldc) {
  return blas_call(call, handle, [&](Blas& blas) -> LibraryWork {
    check_fill(fill);
    require_blas(operation == op_n || operation == (hermitian ? op_c : op_t) || (!is_complex<T> && operation == op_c));
    require_blas(n >= 0 && k >= 0);
    const bool plain = operation == op_n;
    const int other = hermitian ? op_c : op_t;
    const auto shape = [&](Size leading, int of) {
      return Shape2{Storage::full(plain ? n : k, plain ? k : n, leading), Structure::general, fill_full, of};
    };
    const Shape2 left_a = shape(lda, plain ? op_n : other), right_b = shape(ldb, plain ? other : op_n);
    const Shape2 left_b = shape(ldb, plain ? op_n : other), right_a = shape(lda, plain ? other : op_n);
    const Storage of_c = Storage::full(n, n, ldc);
    const Scalar<S> of_product(blas, alpha);
    const Scalar<R> of_before(blas, beta);
    if (n == 0) return {};
    return [=](const LibraryMemory& memory) {
      const T scale(of_product.read(memory)), keep(of_before.read(memory));
      const auto product = [&](const Shape2& x, const T* at_x, const Shape2& y, const T* at_y) {
        return multiply_dense(memory.context(), n, n, k, dense_matrix(Matrix2<T>(memory, x, at_x)),
                              dense_matrix(Matrix2<T>(memory, y, at_y)));
      };
      const auto visits = [fill](std::int64_t i, std::int64_t j) { return fill == fill_lower ? i >= j : i <= j; };
      T* const to = memory.write(c, of_c.extent());
      add_sums(product(left_a, a, right_b, b), scale, keep, of_c, to, visits);
      if (twice) add_sums(product(left_b, b, right_a, a), hermitian ? conjugate(scale) : scale, T(1), of_c, to, visits);
      for (std::int64_t i = 0; hermitian && i < n; ++i) to[of_c.place(i, i)] = T(std::real(to[of_c.place(i, i)]));
    };
  });
}
template <typename T>
int syrk(const char* call, Blas* handle, int fill, int operation, Size n, Size k, const T* alpha, const T* a, Size lda, const T* beta, T* c,
         Size ldc) {
  return rank_k<false, false>(call, handle, fill, operation, n, k, alpha, a, lda, a, lda, beta, c, ldc);
}
template <typename R, typename T>
int herk(const char* call, Blas* handle, int fill, int operation, Size n, Size k, const R* alpha, const T* a, Size lda, const R* beta, T* c,
         Size ldc) {
  return rank_k<true, false>(call, handle, fill, operation, n, k, alpha, a, lda, a, lda, beta, c, ldc);
}
template <typename T>
int syr2k(const char* call, Blas* handle, int fill, int operation, Size n, Size k, const T* alpha, const T* a, Size lda, const T* b,
          Size ldb, const T* beta, T* c, Size ldc) {
  return rank_k<false, true>(call, handle, fill, operation, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
template <typename R, typename T>
int her2k(const char* call, Blas* handle, int fill, int operation, Size n, Size k, const T* alpha, const T* a, Size lda, const T* b,
          Size ldb, const R* beta, T* c, Size ldc) {
  return rank_k<true, true>(call, handle, fill, operation, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
template <typename T>
int syrkx(const char* call, Blas* handle, int fill, int operation, Size n, Size k, const T* alpha, const T* a, Size lda, const T* b,
          Size ldb, const T* beta, T* c, Size ldc) {
  return rank_k<false, false>(call, handle, fill, operation, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
template <typename R, typename T>
int herkx(const char* call, Blas* handle, int fill, int operation, Size n, Size k, const T* alpha, const T* a, Size lda, const T* b,
          Size ldb, const R* beta, T* c, Size ldc) {
  return rank_k<true, false>(call, handle, fill, operation, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
template <bool hermitian, typename S>
int rank_k_of_c32(const char* call, Blas* handle, int fill, int operation, Size n, Size k, const S* alpha, const void* a, int type_a,
                  Size lda, const S* beta, void* c, int type_c, Size ldc) {
  using T = std::complex<float>;
  if (type_a != c_32f || type_c != c_32f) return blas_not_supported;
  const T* const from = static_cast<const T*>(a);
  return rank_k<hermitian, false>(call, handle, fill, operation, n, k, alpha, from, lda, from, lda, beta, static_cast<T*>(c), ldc);
}
#define WARPMAT_BLAS_RANK_K_EX(name, hermitian)                                                                                          \
  template <typename S>                                                                                                                  \
  int name(const char* call, Blas* handle, int fill, int operation, Size n, Size k, const S* alpha, const void* a, int type_a, Size lda, \
           const S* beta, void* c, int type_c, Size ldc) {                                                                               \
    return rank_k_of_c32<hermitian>(call, handle, fill, operation, n, k, alpha, a, type_a, lda, beta, c, type_c, ldc);                   \
  }
WARPMAT_BLAS_RANK_K_EX(csyrkEx, false)
WARPMAT_BLAS_RANK_K_EX(csyrk3mEx, false)
WARPMAT_BLAS_RANK_K_EX(cherkEx, true)
WARPMAT_BLAS_RANK_K_EX(cherk3mEx, true)
#undef WARPMAT_BLAS_RANK_K_EX

/// What trsm and trmm are given.
struct TriangularCall {
  int side, fill, operation, diagonal;
  std::int64_t m, n, lda, ldb;

  Shape2 matrix() const {
    check_fill(fill);
    check_operation(operation);
    check_diagonal(diagonal);
    require_blas((side == side_left || side == side_right) && m >= 0 && n >= 0);
    const std::int64_t size = side == side_left ? m : n;
    return {Storage::full(size, size, lda), Structure::triangular, fill, operation, diagonal == unit};
  }
};

/// X of op(A) X = alpha B or X op(A) = alpha B, in the place of B. From the right it is op(A)^T X^T = alpha B^T.
template <typename T>
void solve_matrix(const LibraryMemory& memory, const TriangularCall& call, T alpha, const T* a, T* b) {
  Shape2 shape = call.matrix();
  const Storage of_b = Storage::full(call.m, call.n, call.ldb);
  T* const x = memory.write(b, of_b.extent());
  for (std::int64_t j = 0; j < call.n; ++j)
    for (std::int64_t i = 0; i < call.m; ++i) x[of_b.place(i, j)] = is_zero(alpha) ? T{} : multiply(alpha, x[of_b.place(i, j)]);
  if (is_zero(alpha)) return;
  if (call.side == side_left)
    return solve_triangle(Matrix2<T>(memory, shape, a), call.n, [&](std::int64_t i, std::int64_t v) -> T& { return x[of_b.place(i, v)]; });
  std::vector<T> conjugated;
  const T* from = memory.read(a, shape.storage.extent());
  if (shape.operation == op_c) {  // op(A)^T is the conjugated A
    conjugated.assign(from, from + static_cast<std::ptrdiff_t>(*shape.storage.extent().value()));
    for (T& each : conjugated) each = conjugate(each);
    from = conjugated.data();
  }
  shape.operation = shape.operation == op_n ? op_t : op_n;
  solve_triangle(Matrix2<T>(shape, from), call.m, [&](std::int64_t i, std::int64_t v) -> T& { return x[of_b.place(v, i)]; });
}

template <typename T>
int trsm(const char* call, Blas* handle, int side, int fill, int operation, int diagonal, Size m, Size n, const T* alpha, const T* a,
         Size lda, T* b, Size ldb) {
  return blas_call(call, handle, [&](Blas& blas) -> LibraryWork {
    const TriangularCall given{side, fill, operation, diagonal, m, n, lda, ldb};
    static_cast<void>(given.matrix());
    static_cast<void>(Storage::full(m, n, ldb));
    const Scalar<T> factor(blas, alpha);
    if (m == 0 || n == 0) return {};
    return [=](const LibraryMemory& memory) { solve_matrix(memory, given, factor.read(memory), a, b); };
  });
}
template <typename T>
int trsmBatched(const char* call, Blas* handle, int side, int fill, int operation, int diagonal, Size m, Size n, const T* alpha,
                const T* const* a, Size lda, T* const* b, Size ldb, Size count) {
  return blas_call(call, handle, [&](Blas& blas) -> LibraryWork {
    const TriangularCall given{side, fill, operation, diagonal, m, n, lda, ldb};
    static_cast<void>(given.matrix());
    static_cast<void>(Storage::full(m, n, ldb));
    require_blas(count >= 0);
    const Scalar<T> factor(blas, alpha);
    if (m == 0 || n == 0) return {};
    return [=](const LibraryMemory& memory) {
      for (Size i = 0; i < count; ++i) solve_matrix(memory, given, factor.read(memory), *memory.read(a + i, 1), *memory.read(b + i, 1));
    };
  });
}

/// C = alpha * op(A) * B, or B * op(A)
template <typename T>
int trmm(const char* call, Blas* handle, int side, int fill, int operation, int diagonal, Size m, Size n, const T* alpha, const T* a,
         Size lda, const T* b, Size ldb, T* c, Size ldc) {
  return blas_call(call, handle, [&](Blas& blas) -> LibraryWork {
    const Shape2 of_a = TriangularCall{side, fill, operation, diagonal, m, n, lda, ldb}.matrix(), of_b{Storage::full(m, n, ldb)};
    const Storage of_c = Storage::full(m, n, ldc);
    const Scalar<T> factor(blas, alpha);
    if (m == 0 || n == 0) return {};
    return [=](const LibraryMemory& memory) {
      const auto x = dense_matrix(Matrix2<T>(memory, of_a, a)), y = dense_matrix(Matrix2<T>(memory, of_b, b));
      const bool left = side == side_left;
      const auto sums = multiply_dense(memory.context(), m, n, of_a.rows(), left ? x : y, left ? y : x);
      add_sums(sums, factor.read(memory), T{}, of_c, memory.write(c, of_c.extent()), visit_all);
    };
  });
}

// ---- Extensions ----

/// C = alpha * op(A) + beta * op(B). A matrix whose factor is zero is not read.
template <typename T>
int geam(const char* call, Blas* handle, int op_a, int op_b, Size m, Size n, const T* alpha, const T* a, Size lda, const T* beta,
         const T* b, Size ldb, T* c, Size ldc) {
  return blas_call(call, handle, [&](Blas& blas) -> LibraryWork {
    check_operation(op_a);
    check_operation(op_b);
    require_blas(m >= 0 && n >= 0);
    const auto shape = [&](int operation, Size leading) {
      return Shape2{Storage::full(operation == op_n ? m : n, operation == op_n ? n : m, leading), Structure::general, fill_full, operation};
    };
    const Shape2 of_a = shape(op_a, lda), of_b = shape(op_b, ldb);
    const Storage of_c = Storage::full(m, n, ldc);
    const Scalar<T> of_first(blas, alpha), of_second(blas, beta);
    if (m == 0 || n == 0) return {};
    return [=](const LibraryMemory& memory) {
      const auto scaled = [&](T factor, const Shape2& of, const T* at) {
        std::vector<T> all(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
        if (!is_zero(factor)) all = dense_matrix(Matrix2<T>(memory, of, at));
        return all;
      };
      const T first = of_first.read(memory), second = of_second.read(memory);
      const auto x = scaled(first, of_a, a), y = scaled(second, of_b, b);
      T* const to = memory.write(c, of_c.extent());
      for (Size j = 0; j < n; ++j)
        for (Size i = 0; i < m; ++i) {
          const auto at = static_cast<std::size_t>(j) * static_cast<std::size_t>(m) + static_cast<std::size_t>(i);
          to[of_c.place(i, j)] = multiply_add(first, x[at], multiply(second, y[at]));
        }
    };
  });
}

/// C = diag(x) * A, or A * diag(x)
template <typename T>
int dgmm(const char* call, Blas* handle, int side, Size m, Size n, const T* a, Size lda, const T* x, Size inc, T* c, Size ldc) {
  return blas_call(call, handle, [&](Blas&) -> LibraryWork {
    require_blas((side == side_left || side == side_right) && m >= 0 && n >= 0);
    const Storage of_a = Storage::full(m, n, lda), of_c = Storage::full(m, n, ldc);
    if (m == 0 || n == 0) return {};
    return [=](const LibraryMemory& memory) {
      const T* const from = memory.read(a, of_a.extent());
      const Size count = side == side_left ? m : n;
      const T* const diagonal = memory.read(x, vector_extent(count, inc));
      T* const to = memory.write(c, of_c.extent());
      for (Size j = 0; j < n; ++j)
        for (Size i = 0; i < m; ++i) {
          const std::int64_t at = side == side_left ? i : j;
          const T factor = diagonal[inc >= 0 ? at * inc : (at - count + 1) * inc];
          to[of_c.place(i, j)] = multiply(factor, from[of_a.place(i, j)]);
        }
    };
  });
}

/// A packed triangle into a full matrix, and back.
template <typename T>
int tpttr(const char* call, Blas* handle, int fill, Size n, const T* packed, T* a, Size lda) {
  return blas_call(call, handle, [&](Blas&) -> LibraryWork {
    check_fill(fill);
    require_blas(n >= 0);
    const Storage from = Storage::packed(n, fill), to = Storage::full(n, n, lda);
    return [=](const LibraryMemory& memory) {
      const T* const source = memory.read(packed, from.extent());
      change_triangle(to, fill, false, memory.write(a, to.extent()),
                      [&](std::int64_t i, std::int64_t j, T) { return source[from.place(i, j)]; });
    };
  });
}
template <typename T>
int trttp(const char* call, Blas* handle, int fill, Size n, const T* a, Size lda, T* packed) {
  return blas_call(call, handle, [&](Blas&) -> LibraryWork {
    check_fill(fill);
    require_blas(n >= 0);
    const Storage from = Storage::full(n, n, lda), to = Storage::packed(n, fill);
    return [=](const LibraryMemory& memory) {
      const T* const source = memory.read(a, from.extent());
      change_triangle(to, fill, false, memory.write(packed, to.extent()),
                      [&](std::int64_t i, std::int64_t j, T) { return source[from.place(i, j)]; });
    };
  });
}

// ---- Small systems of equations ----

/// P A = L U in the place of A, by columns. Returns the number from 1 of the first pivot that is zero; 0: none is. `pivots` may be null: no
/// rows are exchanged.
template <typename T>
int factor_lu(T* a, std::int64_t n, std::int64_t leading, int* pivots) {
  int zero = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    std::int64_t pivot = j;
    for (std::int64_t i = j + 1; pivots != nullptr && i < n; ++i)
      if (magnitude(a[i + j * leading]) > magnitude(a[pivot + j * leading])) pivot = i;
    if (pivots != nullptr) pivots[j] = static_cast<int>(pivot + 1);
    if (is_zero(a[pivot + j * leading])) {
      if (zero == 0) zero = static_cast<int>(j + 1);
      continue;
    }
    if (pivot != j)
      for (std::int64_t column = 0; column < n; ++column) std::swap(a[j + column * leading], a[pivot + column * leading]);
    for (std::int64_t i = j + 1; i < n; ++i) {
      a[i + j * leading] /= a[j + j * leading];
      for (std::int64_t column = j + 1; column < n; ++column)
        a[i + column * leading] = multiply_add(T(-a[i + j * leading]), a[j + column * leading], a[i + column * leading]);
    }
  }
  return zero;
}

/// X of op(A) X = B, of factors of A, in the place of B with `columns` columns.
template <typename T>
void solve_lu(const T* lu, std::int64_t n, std::int64_t leading, const int* pivots, int operation, T* b, std::int64_t columns,
              std::int64_t leading_b) {
  const auto triangle = [&](int fill, bool unit_diagonal) {
    const Shape2 shape{Storage::full(n, n, leading), Structure::triangular, fill, operation, unit_diagonal};
    solve_triangle(Matrix2<T>(shape, lu), columns, [&](std::int64_t i, std::int64_t v) -> T& { return b[i + v * leading_b]; });
  };
  const auto exchange = [&](std::int64_t i) {
    if (pivots == nullptr || pivots[i] == i + 1) return;
    for (std::int64_t v = 0; v < columns; ++v) std::swap(b[i + v * leading_b], b[pivots[i] - 1 + v * leading_b]);
  };
  if (operation == op_n) {
    for (std::int64_t i = 0; i < n; ++i) exchange(i);
    triangle(fill_lower, true);
    triangle(fill_upper, false);
  } else {
    triangle(fill_upper, false);
    triangle(fill_lower, true);
    for (std::int64_t i = n; i-- > 0;) exchange(i);
  }
}

/// The inverse of factored matrices.
template <typename T>
void invert_lu(const T* lu, std::int64_t n, std::int64_t leading, const int* pivots, T* inverse, std::int64_t leading_inverse) {
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) inverse[i + j * leading_inverse] = T(i == j ? 1 : 0);
  solve_lu(lu, n, leading, pivots, op_n, inverse, n, leading_inverse);
}

/// The numbers of the pivots of matrix `i`, which a program may have spoilt.
inline const int* read_pivots(const LibraryMemory& memory, const int* pivots, std::int64_t i, std::int64_t n) {
  if (pivots == nullptr) return nullptr;
  const int* const first = memory.read(pivots + i * n, n);
  require(std::all_of(first, first + n, [n](int pivot) { return pivot >= 1 && pivot <= n; }), cudaErrorIllegalAddress);
  return first;
}

template <typename T>
int getrfBatched(const char* call, Blas* handle, int n, T* const* a, int lda, int* pivots, int* info, int count) {
  return blas_call(call, handle, [&](Blas&) -> LibraryWork {
    require_blas(n >= 0 && count >= 0 && lda >= std::max(1, n));
    return [=](const LibraryMemory& memory) {
      for (std::int64_t i = 0; i < count; ++i) {
        T* const matrix = memory.write(*memory.read(a + i, 1), matrix_extent(n, n, lda));
        *memory.write(info + i, 1) = factor_lu(matrix, n, lda, pivots == nullptr ? nullptr : memory.write(pivots + i * n, n));
      }
    };
  });
}
template <typename T>
int getriBatched(const char* call, Blas* handle, int n, const T* const* a, int lda, const int* pivots, T* const* c, int ldc, int* info,
                 int count) {
  return blas_call(call, handle, [&](Blas&) -> LibraryWork {
    require_blas(n >= 0 && count >= 0 && lda >= std::max(1, n) && ldc >= std::max(1, n));
    return [=](const LibraryMemory& memory) {
      for (std::int64_t i = 0; i < count; ++i) {
        const T* const lu = memory.read(*memory.read(a + i, 1), matrix_extent(n, n, lda));
        int zero = 0;
        for (int j = n; j-- > 0;)
          if (is_zero(lu[j + std::int64_t{j} * lda])) zero = j + 1;
        *memory.write(info + i, 1) = zero;
        T* const inverse = memory.write(*memory.read(c + i, 1), matrix_extent(n, n, ldc));
        if (zero == 0) invert_lu(lu, n, lda, read_pivots(memory, pivots, i, n), inverse, ldc);
      }
    };
  });
}
template <typename T>
int getrsBatched(const char* call, Blas* handle, int operation, int n, int columns, const T* const* a, int lda, const int* pivots,
                 T* const* b, int ldb, int* info, int count) {
  if (info == nullptr) return blas_invalid_value;
  *info = 0;  // of the host: the numbers of wrong parameters are statuses here
  return blas_call(call, handle, [&](Blas&) -> LibraryWork {
    check_operation(operation);
    require_blas(n >= 0 && columns >= 0 && count >= 0 && lda >= std::max(1, n) && ldb >= std::max(1, n));
    return [=](const LibraryMemory& memory) {
      for (std::int64_t i = 0; i < count; ++i)
        solve_lu(memory.read(*memory.read(a + i, 1), matrix_extent(n, n, lda)), n, lda, read_pivots(memory, pivots, i, n), operation,
                 memory.write(*memory.read(b + i, 1), matrix_extent(n, columns, ldb)), columns, ldb);
    };
  });
}
template <typename T>
int matinvBatched(const char* call, Blas* handle, int n, const T* const* a, int lda, T* const* c, int ldc, int* info, int count) {
  return blas_call(call, handle, [&](Blas&) -> LibraryWork {
    require_blas(n >= 0 && n <= 32 && count >= 0 && lda >= std::max(1, n) && ldc >= std::max(1, n));
    return [=](const LibraryMemory& memory) {
      for (std::int64_t i = 0; i < count; ++i) {
        std::vector<T> lu = dense_matrix(Matrix2<T>(memory, {Storage::full(n, n, lda)}, *memory.read(a + i, 1)));
        std::vector<int> pivots(static_cast<std::size_t>(n));
        const int zero = factor_lu(lu.data(), n, n, pivots.data());
        *memory.write(info + i, 1) = zero;
        T* const inverse = memory.write(*memory.read(c + i, 1), matrix_extent(n, n, ldc));
        if (zero == 0) invert_lu(lu.data(), n, n, pivots.data(), inverse, ldc);
      }
    };
  });
}

}  // namespace warpmat::cuda::blas
