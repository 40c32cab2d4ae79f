#pragma once

#include <tuple>
#include <vector>

#include <warpmat/cuda/libraries/blas_matrix.h>
#include <warpmat/cuda/libraries/products.h>

// Products of full matrices, and cuBLAS's extensions of one pass over them.

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
      const S element = number_of<S>(load_element(matrix, type_of<T>, place));
      sum =
          multiply_add(shape.operation_a == op_c ? conjugate(element) : element, number_of<S>(load_element(&from[j], type_of<T>, 0)), sum);
    }
    const S kept = is_zero(beta) ? S{} : multiply(beta, number_of<S>(load_element(&to[i], type_of<U>, 0)));
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

}  // namespace warpmat::cuda::blas
