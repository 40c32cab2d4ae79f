#pragma once

#include <vector>

#include <warpmat/cuda/libraries/blas_matrix.h>
#include <warpmat/cuda/libraries/products.h>

// Level 3 of BLAS of symmetric, Hermitian and triangular matrices.

namespace warpmat::cuda::blas {

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

}  // namespace warpmat::cuda::blas
