#pragma once

#include <warpmat/cuda/libraries/blas_product.h>
#include <warpmat/cuda/libraries/blas_solve.h>
#include <warpmat/cuda/libraries/blas_triangular.h>
#include <warpmat/cuda/libraries/blas_vector.h>

// The functions of level 1 that take types as numbers: those of f32, f64 and complex numbers by the typed ones, those of 16 bits in f32.

namespace warpmat::cuda::blas {

inline bool is_half(int type) {
  return type == r_16f || type == r_16bf;
}

/// Calls `body` with a number of the type. Where there is none the function is not supported.
template <typename Body>
int with_type(int type, Body&& body) {
  switch (type) {
    case r_32f: return body(float());
    case r_64f: return body(double());
    case c_32f: return body(std::complex<float>());
    case c_64f: return body(std::complex<double>());
    default: return blas_not_supported;
  }
}

/// A vector of 16-bit floats.
struct HalfVector {
  std::uint16_t* first;
  int type;
  std::int64_t count, distance;
  std::int64_t place(std::int64_t i) const { return distance > 0 ? i * distance : (i - count + 1) * distance; }
  float load(std::int64_t i) const { return static_cast<float>(load_element(first, type, place(i)).real()); }
  void store(std::int64_t i, float value) const { store_element(first, type, place(i), double(value)); }
};
inline HalfVector half_vector(const LibraryMemory& memory, const void* at, int type, std::int64_t n, std::int64_t distance, bool writes) {
  auto* const first = static_cast<std::uint16_t*>(const_cast<void*>(at));
  const CheckedSize extent = vector_extent(n, distance);
  return {writes ? memory.write(first, extent) : const_cast<std::uint16_t*>(memory.read(first, extent)), type, n, distance};
}

/// A call on vectors of 16-bit floats that gives one number.
template <typename Find>
int half_result(const char* call, Blas* handle, void* result, int type, Find find) {
  return change_call(call, handle, result != nullptr, [=](const Blas& blas, const LibraryMemory& memory) {
    auto* const to = static_cast<std::uint8_t*>(result);
    store_element(blas.device_pointers ? memory.write(to, bytes_of_type(type)) : to, type, 0, double(find(memory)));
  });
}

inline int scalEx(const char* call, Blas* handle, Size n, const void* alpha, int type_alpha, void* x, int type, Size inc, int) {
  if (is_half(type))
    return blas_call(call, handle, [&](Blas& blas) -> LibraryWork {
      const AnyScalar factor(blas.device_pointers, alpha, type_alpha);
      if (n <= 0 || inc <= 0) return {};
      return [=](const LibraryMemory& memory) {
        const auto scale = static_cast<float>(factor.read(memory).real());
        const HalfVector to = half_vector(memory, x, type, n, inc, true);
        for (Size i = 0; i < n; ++i) to.store(i, scale * to.load(i));
      };
    });
  if (type != type_alpha) return blas_not_supported;
  return with_type(type, [&](auto number) {
    using T = decltype(number);
    return scal(call, handle, n, static_cast<const T*>(alpha), static_cast<T*>(x), inc);
  });
}

inline int axpyEx(const char* call, Blas* handle, Size n, const void* alpha, int type_alpha, const void* x, int type_x, Size inc_x, void* y,
                  int type_y, Size inc_y, int) {
  if (type_x != type_y) return blas_not_supported;
  if (is_half(type_x))
    return blas_call(call, handle, [&](Blas& blas) -> LibraryWork {
      const AnyScalar factor(blas.device_pointers, alpha, type_alpha);
      return [=](const LibraryMemory& memory) {
        const auto scale = static_cast<float>(factor.read(memory).real());
        const HalfVector from = half_vector(memory, x, type_x, n, inc_x, false), to = half_vector(memory, y, type_y, n, inc_y, true);
        for (Size i = 0; i < n; ++i) to.store(i, std::fma(scale, from.load(i), to.load(i)));
      };
    });
  if (type_x != type_alpha) return blas_not_supported;
  return with_type(type_x, [&](auto number) {
    using T = decltype(number);
    return axpy(call, handle, n, static_cast<const T*>(alpha), static_cast<const T*>(x), inc_x, static_cast<T*>(y), inc_y);
  });
}

inline int dotEx(const char* call, Blas* handle, Size n, const void* x, int type_x, Size inc_x, const void* y, int type_y, Size inc_y,
                 void* result, int type_result, int) {
  if (type_x != type_y || type_x != type_result) return blas_not_supported;
  if (is_half(type_x))
    return half_result(call, handle, result, type_result, [=](const LibraryMemory& memory) {
      const HalfVector a = half_vector(memory, x, type_x, n, inc_x, false), b = half_vector(memory, y, type_y, n, inc_y, false);
      double sum = 0;
      for (Size i = 0; i < n; ++i) sum = std::fma(double(a.load(i)), double(b.load(i)), sum);
      return static_cast<float>(sum);
    });
  return with_type(type_x, [&](auto number) {
    using T = decltype(number);
    return dot(call, handle, n, static_cast<const T*>(x), inc_x, static_cast<const T*>(y), inc_y, static_cast<T*>(result));
  });
}
inline int dotcEx(const char* call, Blas* handle, Size n, const void* x, int type_x, Size inc_x, const void* y, int type_y, Size inc_y,
                  void* result, int type_result, int execution) {
  if (type_x != c_32f && type_x != c_64f) return dotEx(call, handle, n, x, type_x, inc_x, y, type_y, inc_y, result, type_result, execution);
  if (type_x != type_y || type_x != type_result) return blas_not_supported;
  return with_type(type_x, [&](auto number) {
    using T = decltype(number);
    return dotc(call, handle, n, static_cast<const T*>(x), inc_x, static_cast<const T*>(y), inc_y, static_cast<T*>(result));
  });
}

/// Nrm2Ex and AsumEx, by their typed functions and by one of 16-bit floats.
template <typename Typed, typename Find>
int real_result(const char* call, Blas* handle, Size n, const void* x, int type, Size inc, void* result, int type_result, Typed typed,
                Find find) {
  if (is_half(type) && type == type_result)
    return half_result(call, handle, result, type_result, [=](const LibraryMemory& memory) {
      return n <= 0 || inc <= 0 ? 0.0f : find(half_vector(memory, x, type, n, inc, false));
    });
  if (type_result != (type == c_32f ? int(r_32f) : type == c_64f ? int(r_64f) : type)) return blas_not_supported;
  return with_type(type, [&](auto number) {
    using T = decltype(number);
    return typed(static_cast<const T*>(x), static_cast<Real<T>*>(result));
  });
}
inline int nrm2Ex(const char* call, Blas* handle, Size n, const void* x, int type, Size inc, void* result, int type_result, int) {
  return real_result(
      call, handle, n, x, type, inc, result, type_result, [&](auto* from, auto* to) { return nrm2(call, handle, n, from, inc, to); },
      [](const HalfVector& from) {
        double sum = 0;
        for (std::int64_t i = 0; i < from.count; ++i) sum = std::fma(double(from.load(i)), double(from.load(i)), sum);
        return static_cast<float>(std::sqrt(sum));
      });
}
inline int asumEx(const char* call, Blas* handle, Size n, const void* x, int type, Size inc, void* result, int type_result, int) {
  return real_result(
      call, handle, n, x, type, inc, result, type_result, [&](auto* from, auto* to) { return asum(call, handle, n, from, inc, to); },
      [](const HalfVector& from) {
        double sum = 0;
        for (std::int64_t i = 0; i < from.count; ++i) sum += std::abs(from.load(i));
        return static_cast<float>(sum);
      });
}

template <typename I>
int iamaxEx(const char* call, Blas* handle, I n, const void* x, int type, I inc, I* result) {
  return with_type(type, [&](auto number) { return amax(call, handle, n, static_cast<const decltype(number)*>(x), inc, result); });
}
template <typename I>
int iaminEx(const char* call, Blas* handle, I n, const void* x, int type, I inc, I* result) {
  return with_type(type, [&](auto number) { return amin(call, handle, n, static_cast<const decltype(number)*>(x), inc, result); });
}

/// Moves only bits: 16-bit floats as any numbers of two bytes.
inline int copyEx(const char* call, Blas* handle, Size n, const void* x, int type_x, Size inc_x, void* y, int type_y, Size inc_y) {
  if (type_x != type_y) return blas_not_supported;
  if (is_half(type_x)) return copy(call, handle, n, static_cast<const std::uint16_t*>(x), inc_x, static_cast<std::uint16_t*>(y), inc_y);
  return with_type(type_x, [&](auto number) {
    using T = decltype(number);
    return copy(call, handle, n, static_cast<const T*>(x), inc_x, static_cast<T*>(y), inc_y);
  });
}
inline int swapEx(const char* call, Blas* handle, Size n, void* x, int type_x, Size inc_x, void* y, int type_y, Size inc_y) {
  if (type_x != type_y) return blas_not_supported;
  if (is_half(type_x)) return swap(call, handle, n, static_cast<std::uint16_t*>(x), inc_x, static_cast<std::uint16_t*>(y), inc_y);
  return with_type(type_x, [&](auto number) {
    using T = decltype(number);
    return swap(call, handle, n, static_cast<T*>(x), inc_x, static_cast<T*>(y), inc_y);
  });
}

inline int rotEx(const char* call, Blas* handle, Size n, void* x, int type_x, Size inc_x, void* y, int type_y, Size inc_y, const void* c,
                 const void* s, int type_of_turn, int) {
  if (type_x != type_y) return blas_not_supported;
  return with_type(type_x, [&](auto number) {
    using T = decltype(number);
    const auto turn = [&](auto sine) {
      return rot(call, handle, n, static_cast<T*>(x), inc_x, static_cast<T*>(y), inc_y, static_cast<const Real<T>*>(c),
                 static_cast<const decltype(sine)*>(s));
    };
    if (type_of_turn == type_of<Real<T>>) return turn(Real<T>());
    return type_of_turn == type_x ? turn(T()) : int(blas_not_supported);
  });
}

}  // namespace warpmat::cuda::blas
