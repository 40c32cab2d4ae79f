#pragma once

#include <algorithm>
#include <vector>

#include <warpmat/cuda/libraries/blas.h>

// Level 2 of BLAS: every kind of matrix is a function of row and column.

namespace warpmat::cuda::blas {

/// Where an element of a matrix lies: in full columns, in a band's, or packed as a triangle's.
struct Storage {
  enum class Kind : std::uint8_t { full, band, packed };
  Kind kind = Kind::full;
  std::int64_t rows, columns, leading;
  std::int64_t below = 0, above = 0;  ///< diagonals of a band
  bool upper = false;                 ///< the triangle that is packed

  static Storage full(std::int64_t rows, std::int64_t columns, std::int64_t leading) {
    require_blas(leading >= std::max<std::int64_t>(1, rows));
    return {Kind::full, rows, columns, leading};
  }
  static Storage band(std::int64_t rows, std::int64_t columns, std::int64_t below, std::int64_t above, std::int64_t leading) {
    require_blas(below >= 0 && above >= 0 && leading > below + above);
    return {Kind::band, rows, columns, leading, below, above};
  }
  /// The band of a triangle.
  static Storage triangle_band(std::int64_t n, std::int64_t diagonals, int fill, std::int64_t leading) {
    return band(n, n, fill == fill_lower ? diagonals : 0, fill == fill_lower ? 0 : diagonals, leading);
  }
  static Storage packed(std::int64_t n, int fill) { return {Kind::packed, n, n, 0, 0, 0, fill == fill_upper}; }

  CheckedSize extent() const {
    if (rows <= 0 || columns <= 0) return 0;
    switch (kind) {
      case Kind::full: return matrix_extent(rows, columns, leading);
      case Kind::band: return CheckedSize(columns - 1) * leading + below + above + 1;
      case Kind::packed: break;
    }
    return CheckedSize(rows % 2 == 0 ? rows / 2 : rows) * (rows % 2 == 0 ? rows + 1 : rows / 2 + 1);
  }
  /// -1 outside of a band.
  std::int64_t place(std::int64_t i, std::int64_t j) const {
    switch (kind) {
      case Kind::full: return i + j * leading;
      case Kind::band: return i - j > below || j - i > above ? -1 : above + i - j + j * leading;
      case Kind::packed: break;
    }
    return upper ? i + j * (j + 1) / 2 : i + (2 * rows - j - 1) * j / 2;
  }
};

/// What the elements that are not stored are.
enum class Structure : std::uint8_t { general, symmetric, hermitian, triangular };

inline void check_fill(int fill) {
  require_blas(fill == fill_lower || fill == fill_upper);
}
inline void check_operation(int operation) {
  require_blas(operation == op_n || operation == op_t || operation == op_c);
}
inline void check_diagonal(int diagonal) {
  require_blas(diagonal == non_unit || diagonal == unit);
}

/// What is known of a matrix before its memory is looked at.
struct Shape2 {
  Storage storage;
  Structure structure = Structure::general;
  int fill = fill_full, operation = op_n;
  bool unit_diagonal = false;

  std::int64_t rows() const { return operation == op_n ? storage.rows : storage.columns; }
  std::int64_t columns() const { return operation == op_n ? storage.columns : storage.rows; }
  /// Whether the elements below the diagonal are those that differ from zero.
  bool is_lower() const { return (fill == fill_lower) == (operation == op_n); }
};

/// op(A) as a function of row and column.
template <typename T>
class Matrix2 {
 public:
  Matrix2(const Shape2& shape, const T* data) : shape_(shape), data_(data) {}
  Matrix2(const LibraryMemory& memory, const Shape2& shape, const T* at) : Matrix2(shape, memory.read(at, shape.storage.extent())) {}

  T operator()(std::int64_t i, std::int64_t j) const {
    switch (shape_.operation) {
      case op_n: return stored(i, j);
      case op_t: return stored(j, i);
      default: return conjugate(stored(j, i));
    }
  }
  const Shape2& shape() const { return shape_; }

 private:
  T stored(std::int64_t i, std::int64_t j) const {
    const bool given = i == j || shape_.structure == Structure::general || (i > j) == (shape_.fill == fill_lower);
    switch (shape_.structure) {
      case Structure::general: return at(i, j);
      case Structure::symmetric: return given ? at(i, j) : at(j, i);
      case Structure::hermitian: return i == j ? T(std::real(at(i, i))) : given ? at(i, j) : conjugate(at(j, i));
      case Structure::triangular: break;
    }
    return !given ? T(0) : i == j && shape_.unit_diagonal ? T(1) : at(i, j);
  }
  T at(std::int64_t i, std::int64_t j) const {
    const std::int64_t place = shape_.storage.place(i, j);
    return place < 0 ? T(0) : data_[place];
  }

  Shape2 shape_;
  const T* data_;
};

/// y = alpha * A * x + beta * y
template <typename T>
LibraryWork multiply_vector(Blas& blas, const Shape2& shape, const T* alpha, const T* a, const T* x, Size inc_x, const T* beta, T* y,
                            Size inc_y) {
  require_blas(inc_x != 0 && inc_y != 0);
  const Scalar<T> of_product(blas, alpha), of_before(blas, beta);
  if (shape.rows() == 0 || shape.columns() == 0) return {};
  return [=](const LibraryMemory& memory) {
    const T scale = of_product.read(memory), keep = of_before.read(memory);
    const Matrix2<T> matrix(memory, shape, a);
    const auto from = read_vector(memory, x, shape.columns(), inc_x);
    const auto to = write_vector(memory, y, shape.rows(), inc_y);
    run_library_tasks(memory.context(), static_cast<std::size_t>(shape.rows() + 255) / 256, [&](std::size_t task, std::size_t) {
      const auto first = static_cast<std::int64_t>(task) * 256;
      for (std::int64_t i = first; i < std::min(first + 256, shape.rows()); ++i) {
        T sum{};
        for (std::int64_t j = 0; j < shape.columns(); ++j) sum = multiply_add(matrix(i, j), from[j], sum);
        to[i] = is_zero(keep) ? multiply(scale, sum) : multiply_add(scale, sum, multiply(keep, to[i]));
      }
    });
  };
}

template <typename T>
int gemv(const char* call, Blas* handle, int operation, Size m, Size n, const T* alpha, const T* a, Size leading, const T* x, Size inc_x,
         const T* beta, T* y, Size inc_y) {
  return blas_call(call, handle, [&](Blas& blas) {
    check_operation(operation);
    require_blas(m >= 0 && n >= 0);
    return multiply_vector(blas, {Storage::full(m, n, leading), Structure::general, fill_full, operation}, alpha, a, x, inc_x, beta, y,
                           inc_y);
  });
}

template <typename T>
int gbmv(const char* call, Blas* handle, int operation, Size m, Size n, Size below, Size above, const T* alpha, const T* a, Size leading,
         const T* x, Size inc_x, const T* beta, T* y, Size inc_y) {
  return blas_call(call, handle, [&](Blas& blas) {
    check_operation(operation);
    require_blas(m >= 0 && n >= 0);
    return multiply_vector(blas, {Storage::band(m, n, below, above, leading), Structure::general, fill_full, operation}, alpha, a, x, inc_x,
                           beta, y, inc_y);
  });
}

/// symv, hemv, sbmv, hbmv, spmv, hpmv
template <typename T>
int symmetric_vector(const char* call, Blas* handle, Structure structure, int fill, Size n, const std::function<Storage()>& storage,
                     const T* alpha, const T* a, const T* x, Size inc_x, const T* beta, T* y, Size inc_y) {
  return blas_call(call, handle, [&](Blas& blas) {
    check_fill(fill);
    require_blas(n >= 0);
    return multiply_vector(blas, {storage(), structure, fill}, alpha, a, x, inc_x, beta, y, inc_y);
  });
}

#define WARPMAT_BLAS_SYMMETRIC(of_full, of_band, of_packed, structure)                                                                     \
  template <typename T>                                                                                                                    \
  int of_full(const char* call, Blas* handle, int fill, Size n, const T* alpha, const T* a, Size leading, const T* x, Size inc_x,          \
              const T* beta, T* y, Size inc_y) {                                                                                           \
    return symmetric_vector(                                                                                                               \
        call, handle, structure, fill, n, [&] { return Storage::full(n, n, leading); }, alpha, a, x, inc_x, beta, y, inc_y);               \
  }                                                                                                                                        \
  template <typename T>                                                                                                                    \
  int of_band(const char* call, Blas* handle, int fill, Size n, Size diagonals, const T* alpha, const T* a, Size leading, const T* x,      \
              Size inc_x, const T* beta, T* y, Size inc_y) {                                                                               \
    return symmetric_vector(                                                                                                               \
        call, handle, structure, fill, n, [&] { return Storage::triangle_band(n, diagonals, fill, leading); }, alpha, a, x, inc_x, beta,   \
        y, inc_y);                                                                                                                         \
  }                                                                                                                                        \
  template <typename T>                                                                                                                    \
  int of_packed(const char* call, Blas* handle, int fill, Size n, const T* alpha, const T* a, const T* x, Size inc_x, const T* beta, T* y, \
                Size inc_y) {                                                                                                              \
    return symmetric_vector(                                                                                                               \
        call, handle, structure, fill, n, [&] { return Storage::packed(n, fill); }, alpha, a, x, inc_x, beta, y, inc_y);                   \
  }
WARPMAT_BLAS_SYMMETRIC(symv, sbmv, spmv, Structure::symmetric)
WARPMAT_BLAS_SYMMETRIC(hemv, hbmv, hpmv, Structure::hermitian)
#undef WARPMAT_BLAS_SYMMETRIC

/// x = op(A)^-1 * x for each of `count` vectors, x(i, v).
template <typename T, typename Element>
void solve_triangle(const Matrix2<T>& matrix, std::int64_t count, const Element& x) {
  const std::int64_t n = matrix.shape().rows();
  const bool lower = matrix.shape().is_lower();
  for (std::int64_t v = 0; v < count; ++v)
    for (std::int64_t step = 0; step < n; ++step) {
      const std::int64_t i = lower ? step : n - 1 - step;
      T sum = x(i, v);
      for (std::int64_t j = lower ? 0 : i + 1; j < (lower ? i : n); ++j) sum = multiply_add(T(-matrix(i, j)), x(j, v), sum);
      x(i, v) = matrix.shape().unit_diagonal ? sum : sum / matrix(i, i);
    }
}

/// x = op(A) * x
template <typename T>
void multiply_triangle(const Matrix2<T>& matrix, const Strided<T>& x) {
  const std::int64_t n = matrix.shape().rows();
  const bool lower = matrix.shape().is_lower();
  std::vector<T> product(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    T sum{};
    for (std::int64_t j = lower ? 0 : i; j < (lower ? i + 1 : n); ++j) sum = multiply_add(matrix(i, j), x[j], sum);
    product[static_cast<std::size_t>(i)] = sum;
  }
  for (std::int64_t i = 0; i < n; ++i) x[i] = product[static_cast<std::size_t>(i)];
}

/// trmv, tbmv, tpmv, and trsv, tbsv, tpsv, which solve.
template <bool solves, typename T>
int triangular_vector(const char* call, Blas* handle, int fill, int operation, int diagonal, Size n,
                      const std::function<Storage()>& storage, const T* a, T* x, Size inc) {
  return blas_call(call, handle, [&](Blas&) -> LibraryWork {
    check_fill(fill);
    check_operation(operation);
    check_diagonal(diagonal);
    require_blas(n >= 0 && inc != 0);
    const Shape2 shape{storage(), Structure::triangular, fill, operation, diagonal == unit};
    if (n == 0) return {};
    return [=](const LibraryMemory& memory) {
      const Matrix2<T> matrix(memory, shape, a);
      const auto vector = write_vector(memory, x, n, inc);
      if constexpr (solves)
        solve_triangle(matrix, 1, [&](std::int64_t i, std::int64_t) -> T& { return vector[i]; });
      else
        multiply_triangle(matrix, vector);
    };
  });
}

#define WARPMAT_BLAS_TRIANGULAR(of_full, of_band, of_packed, solves)                                                                     \
  template <typename T>                                                                                                                  \
  int of_full(const char* call, Blas* handle, int fill, int operation, int diagonal, Size n, const T* a, Size leading, T* x, Size inc) { \
    return triangular_vector<solves>(                                                                                                    \
        call, handle, fill, operation, diagonal, n, [&] { return Storage::full(n, n, leading); }, a, x, inc);                            \
  }                                                                                                                                      \
  template <typename T>                                                                                                                  \
  int of_band(const char* call, Blas* handle, int fill, int operation, int diagonal, Size n, Size diagonals, const T* a, Size leading,   \
              T* x, Size inc) {                                                                                                          \
    return triangular_vector<solves>(                                                                                                    \
        call, handle, fill, operation, diagonal, n, [&] { return Storage::triangle_band(n, diagonals, fill, leading); }, a, x, inc);     \
  }                                                                                                                                      \
  template <typename T>                                                                                                                  \
  int of_packed(const char* call, Blas* handle, int fill, int operation, int diagonal, Size n, const T* a, T* x, Size inc) {             \
    return triangular_vector<solves>(                                                                                                    \
        call, handle, fill, operation, diagonal, n, [&] { return Storage::packed(n, fill); }, a, x, inc);                                \
  }
WARPMAT_BLAS_TRIANGULAR(trmv, tbmv, tpmv, false)
WARPMAT_BLAS_TRIANGULAR(trsv, tbsv, tpsv, true)
#undef WARPMAT_BLAS_TRIANGULAR

// ---- Rank one and two ----

/// A += alpha * x * op(y)^T
template <bool conjugated, typename T>
int rank_one(const char* call, Blas* handle, Size m, Size n, const T* alpha, const T* x, Size inc_x, const T* y, Size inc_y, T* a,
             Size leading) {
  return blas_call(call, handle, [&](Blas& blas) -> LibraryWork {
    require_blas(m >= 0 && n >= 0 && inc_x != 0 && inc_y != 0);
    const Storage storage = Storage::full(m, n, leading);
    const Scalar<T> factor(blas, alpha);
    if (m == 0 || n == 0) return {};
    return [=](const LibraryMemory& memory) {
      const T scale = factor.read(memory);
      const auto of_rows = read_vector(memory, x, m, inc_x);
      const auto of_columns = read_vector(memory, y, n, inc_y);
      T* const to = memory.write(a, storage.extent());
      for (Size j = 0; j < n; ++j) {
        const T right = multiply(scale, conjugated ? conjugate(of_columns[j]) : of_columns[j]);
        for (Size i = 0; i < m; ++i) to[storage.place(i, j)] = multiply_add(of_rows[i], right, to[storage.place(i, j)]);
      }
    };
  });
}
template <typename T>
int ger(const char* call, Blas* handle, Size m, Size n, const T* alpha, const T* x, Size inc_x, const T* y, Size inc_y, T* a,
        Size leading) {
  return rank_one<false>(call, handle, m, n, alpha, x, inc_x, y, inc_y, a, leading);
}
template <typename T>
int geru(const char* call, Blas* handle, Size m, Size n, const T* alpha, const T* x, Size inc_x, const T* y, Size inc_y, T* a,
         Size leading) {
  return rank_one<false>(call, handle, m, n, alpha, x, inc_x, y, inc_y, a, leading);
}
template <typename T>
int gerc(const char* call, Blas* handle, Size m, Size n, const T* alpha, const T* x, Size inc_x, const T* y, Size inc_y, T* a,
         Size leading) {
  return rank_one<true>(call, handle, m, n, alpha, x, inc_x, y, inc_y, a, leading);
}

/// Changes each element of a triangle: A(i, j) = change(i, j, A(i, j)). The diagonal of a Hermitian matrix stays real.
template <typename T, typename Change>
void change_triangle(const Storage& storage, int fill, bool hermitian, T* a, const Change& change) {
  for (std::int64_t j = 0; j < storage.columns; ++j) {
    const std::int64_t first = fill == fill_lower ? j : 0, last = fill == fill_lower ? storage.rows : j + 1;
    for (std::int64_t i = first; i < last; ++i) {
      T& element = a[storage.place(i, j)];
      element = change(i, j, element);
      if (hermitian && i == j) element = T(std::real(element));
    }
  }
}

/// syr, her, spr, hpr, and with `y` syr2, her2, spr2, hpr2.
template <bool hermitian, typename S, typename T>
int rank_update(const char* call, Blas* handle, int fill, Size n, const std::function<Storage()>& storage_of, const S* alpha, const T* x,
                Size inc_x, const T* y, Size inc_y, T* a) {
  return blas_call(call, handle, [&](Blas& blas) -> LibraryWork {
    check_fill(fill);
    require_blas(n >= 0 && inc_x != 0 && inc_y != 0);
    const Storage storage = storage_of();
    const Scalar<S> factor(blas, alpha);
    if (n == 0) return {};
    return [=](const LibraryMemory& memory) {
      const T scale(factor.read(memory));
      const auto other = [](T value) { return hermitian ? conjugate(value) : value; };
      const auto u = read_vector(memory, x, n, inc_x), v = y == nullptr ? u : read_vector(memory, y, n, inc_y);
      const bool is_second = y != nullptr;
      change_triangle(storage, fill, hermitian, memory.write(a, storage.extent()), [&](std::int64_t i, std::int64_t j, T before) {
        const T once = multiply_add(multiply(scale, u[i]), other(v[j]), before);
        return is_second ? multiply_add(multiply(other(scale), v[i]), other(u[j]), once) : once;
      });
    };
  });
}

#define WARPMAT_BLAS_UPDATE(of_full, of_packed, of_full2, of_packed2, hermitian)                                                           \
  template <typename S, typename T>                                                                                                        \
  int of_full(const char* call, Blas* handle, int fill, Size n, const S* alpha, const T* x, Size inc, T* a, Size leading) {                \
    return rank_update<hermitian>(                                                                                                         \
        call, handle, fill, n, [&] { return Storage::full(n, n, leading); }, alpha, x, inc, static_cast<const T*>(nullptr), Size(1), a);   \
  }                                                                                                                                        \
  template <typename S, typename T>                                                                                                        \
  int of_packed(const char* call, Blas* handle, int fill, Size n, const S* alpha, const T* x, Size inc, T* a) {                            \
    return rank_update<hermitian>(                                                                                                         \
        call, handle, fill, n, [&] { return Storage::packed(n, fill); }, alpha, x, inc, static_cast<const T*>(nullptr), Size(1), a);       \
  }                                                                                                                                        \
  template <typename T>                                                                                                                    \
  int of_full2(const char* call, Blas* handle, int fill, Size n, const T* alpha, const T* x, Size inc_x, const T* y, Size inc_y, T* a,     \
               Size leading) {                                                                                                             \
    return rank_update<hermitian>(                                                                                                         \
        call, handle, fill, n, [&] { return Storage::full(n, n, leading); }, alpha, x, inc_x, y, inc_y, a);                                \
  }                                                                                                                                        \
  template <typename T>                                                                                                                    \
  int of_packed2(const char* call, Blas* handle, int fill, Size n, const T* alpha, const T* x, Size inc_x, const T* y, Size inc_y, T* a) { \
    return rank_update<hermitian>(                                                                                                         \
        call, handle, fill, n, [&] { return Storage::packed(n, fill); }, alpha, x, inc_x, y, inc_y, a);                                    \
  }
WARPMAT_BLAS_UPDATE(syr, spr, syr2, spr2, false)
WARPMAT_BLAS_UPDATE(her, hpr, her2, hpr2, true)
#undef WARPMAT_BLAS_UPDATE

}  // namespace warpmat::cuda::blas
