#pragma once

#include <vector>

#include <warpmat/cuda/libraries/blas_matrix.h>

// Small systems of equations, many in a call.

namespace warpmat::cuda::blas {

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
