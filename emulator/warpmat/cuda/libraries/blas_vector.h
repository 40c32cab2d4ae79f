#pragma once

#include <warpmat/cuda/libraries/blas.h>

// Level 1 of BLAS. Sums run in ascending order of the elements, by fused multiply-adds of f64, and are rounded once.

namespace warpmat::cuda::blas {

template <typename T>
int copy(const char* call, Blas* handle, Size n, const T* x, Size inc_x, T* y, Size inc_y) {
  return blas_call(call, handle, [&](Blas&) -> LibraryWork {
    return [=](const LibraryMemory& memory) {
      const auto from = read_vector(memory, x, n, inc_x);
      const auto to = write_vector(memory, y, n, inc_y);
      for (Size i = 0; i < n; ++i) to[i] = from[i];
    };
  });
}

template <typename T>
int swap(const char* call, Blas* handle, Size n, T* x, Size inc_x, T* y, Size inc_y) {
  return blas_call(call, handle, [&](Blas&) -> LibraryWork {
    return [=](const LibraryMemory& memory) {
      const auto a = write_vector(memory, x, n, inc_x), b = write_vector(memory, y, n, inc_y);
      for (Size i = 0; i < n; ++i) std::swap(a[i], b[i]);
    };
  });
}

template <typename S, typename T>
int scal(const char* call, Blas* handle, Size n, const S* alpha, T* x, Size inc) {
  return blas_call(call, handle, [&](Blas& blas) -> LibraryWork {
    const Scalar<S> factor(blas, alpha);
    if (n <= 0 || inc <= 0) return {};
    return [=](const LibraryMemory& memory) {
      const S a = factor.read(memory);
      const auto to = write_vector(memory, x, n, inc);
      for (Size i = 0; i < n; ++i) {
        if constexpr (std::is_same_v<S, T>)
          to[i] = multiply(a, to[i]);
        else
          to[i] = T(a * to[i].real(), a * to[i].imag());
      }
    };
  });
}

template <typename T>
int axpy(const char* call, Blas* handle, Size n, const T* alpha, const T* x, Size inc_x, T* y, Size inc_y) {
  return blas_call(call, handle, [&](Blas& blas) -> LibraryWork {
    const Scalar<T> factor(blas, alpha);
    return [=](const LibraryMemory& memory) {
      const T a = factor.read(memory);
      const auto from = read_vector(memory, x, n, inc_x);
      const auto to = write_vector(memory, y, n, inc_y);
      for (Size i = 0; i < n; ++i) to[i] = multiply_add(a, from[i], to[i]);
    };
  });
}

template <bool conjugated, typename T>
int dot_of(const char* call, Blas* handle, Size n, const T* x, Size inc_x, const T* y, Size inc_y, T* result) {
  return blas_result_call(call, handle, result, [&](Blas&) {
    return [=](const LibraryMemory& memory) {
      const auto a = read_vector(memory, x, n, inc_x), b = read_vector(memory, y, n, inc_y);
      Chain<T> sum{};
      for (Size i = 0; i < n; ++i) sum = multiply_add(Chain<T>(conjugated ? conjugate(a[i]) : a[i]), Chain<T>(b[i]), sum);
      return T(sum);
    };
  });
}
template <typename T>
int dot(const char* call, Blas* handle, Size n, const T* x, Size inc_x, const T* y, Size inc_y, T* result) {
  return dot_of<false>(call, handle, n, x, inc_x, y, inc_y, result);
}
template <typename T>
int dotu(const char* call, Blas* handle, Size n, const T* x, Size inc_x, const T* y, Size inc_y, T* result) {
  return dot_of<false>(call, handle, n, x, inc_x, y, inc_y, result);
}
template <typename T>
int dotc(const char* call, Blas* handle, Size n, const T* x, Size inc_x, const T* y, Size inc_y, T* result) {
  return dot_of<true>(call, handle, n, x, inc_x, y, inc_y, result);
}

/// The square root of the sum of squares, which is scaled where it leaves the range.
template <typename T>
Real<T> norm_of(const Strided<const T>& x) {
  using R = Real<T>;
  R largest = 0;
  for (std::int64_t i = 0; i < x.count; ++i) {
    const R each = magnitude(x[i]);
    if (!(each <= largest)) largest = each;
  }
  if (largest == 0 || !std::isfinite(largest)) return largest;
  int exponent = 0;
  std::frexp(largest, &exponent);
  const bool scales = std::abs(exponent) > std::numeric_limits<R>::max_exponent / 4;
  const R factor = scales ? std::ldexp(R(1), -exponent) : R(1);
  double sum = 0;
  for (std::int64_t i = 0; i < x.count; ++i) {
    const std::complex<R> each = x[i];
    const double real = each.real() * factor, imag = each.imag() * factor;
    sum = std::fma(imag, imag, std::fma(real, real, sum));
  }
  return static_cast<R>(std::sqrt(sum)) / factor;
}

template <typename T>
int nrm2(const char* call, Blas* handle, Size n, const T* x, Size inc, Real<T>* result) {
  return blas_result_call(call, handle, result, [&](Blas&) {
    return [=](const LibraryMemory& memory) { return n <= 0 || inc <= 0 ? Real<T>(0) : norm_of(read_vector(memory, x, n, inc)); };
  });
}

template <typename T>
int asum(const char* call, Blas* handle, Size n, const T* x, Size inc, Real<T>* result) {
  return blas_result_call(call, handle, result, [&](Blas&) {
    return [=](const LibraryMemory& memory) {
      if (n <= 0 || inc <= 0) return Real<T>(0);
      const auto from = read_vector(memory, x, n, inc);
      double sum = 0;
      for (Size i = 0; i < n; ++i) sum += magnitude(from[i]);
      return static_cast<Real<T>>(sum);
    };
  });
}

/// The number from 1 of the first element whose magnitude is `better` than all before; 0 where there is none.
template <typename T, typename I, typename Better>
int first_of(const char* call, Blas* handle, I n, const T* x, I inc, I* result, Better better) {
  return blas_result_call(call, handle, result, [&](Blas&) {
    return [=](const LibraryMemory& memory) {
      if (n <= 0 || inc <= 0) return I(0);
      const auto from = read_vector(memory, x, n, inc);
      I best = 0;
      for (I i = 1; i < n; ++i)
        if (better(magnitude(from[i]), magnitude(from[best]))) best = i;
      return I(best + 1);
    };
  });
}
template <typename T, typename I>
int amax(const char* call, Blas* handle, I n, const T* x, I inc, I* result) {
  return first_of(call, handle, n, x, inc, result, [](Real<T> a, Real<T> b) { return a > b; });
}
template <typename T, typename I>
int amin(const char* call, Blas* handle, I n, const T* x, I inc, I* result) {
  return first_of(call, handle, n, x, inc, result, [](Real<T> a, Real<T> b) { return a < b; });
}

/// s is real or of the type of the vectors.
template <typename T, typename S>
int rot(const char* call, Blas* handle, Size n, T* x, Size inc_x, T* y, Size inc_y, const Real<T>* c, const S* s) {
  return blas_call(call, handle, [&](Blas& blas) -> LibraryWork {
    const Scalar<Real<T>> cosine(blas, c);
    const Scalar<S> sine(blas, s);
    return [=](const LibraryMemory& memory) {
      const T of_c(cosine.read(memory)), of_s(sine.read(memory));
      const auto a = write_vector(memory, x, n, inc_x), b = write_vector(memory, y, n, inc_y);
      for (Size i = 0; i < n; ++i) {
        const T turned = multiply_add(of_c, a[i], multiply(of_s, b[i]));
        b[i] = multiply_add(of_c, b[i], multiply(T(-conjugate(of_s)), a[i]));
        a[i] = turned;
      }
    };
  });
}

/// What the work of rotg and rotmg changes: numbers of the host or of the device, as the pointer mode says.
template <typename T>
T* place_of_number(const Blas& blas, const LibraryMemory& memory, T* at) {
  return blas.device_pointers ? memory.write(at, 1) : at;
}

/// A call that changes numbers.
template <typename Change>
int change_call(const char* call, Blas* handle, bool given, Change change) {
  return library_call(blas_library, call, true, [&](Context& context) {
    Blas& blas = blas_of(handle);
    require_blas(given);
    const LibraryWork work = [change, state = blas](const LibraryMemory& memory) { change(state, memory); };
    if (blas.device_pointers) return submit_work(context, blas_library, call, blas.stream, work);
    run_work(context, blas_library, call, blas.stream, work);
  });
}

/// LAPACK's reference, BLAS 3.1.
template <typename T>
int rotg(const char* call, Blas* handle, T* a, T* b, Real<T>* c, T* s) {
  const bool given = a != nullptr && b != nullptr && c != nullptr && s != nullptr;
  return change_call(call, handle, given, [=](const Blas& blas, const LibraryMemory& memory) {
    using R = Real<T>;
    T &x = *place_of_number(blas, memory, a), &y = *place_of_number(blas, memory, b), &sine = *place_of_number(blas, memory, s);
    R& cosine = *place_of_number(blas, memory, c);
    const R scale = std::abs(x) + std::abs(y);
    if constexpr (is_complex<T>) {
      if (std::abs(x) == 0) {
        cosine = 0, sine = T(1), x = y;
        return;
      }
      const R norm = scale * std::hypot(std::abs(x) / scale, std::abs(y) / scale);
      const T direction = x / std::abs(x);
      cosine = std::abs(x) / norm;
      sine = multiply(direction, std::conj(y)) / norm;
      x = direction * norm;
    } else {
      const R larger = std::abs(x) > std::abs(y) ? x : y;
      if (scale == 0) {
        cosine = 1, sine = x = y = 0;
        return;
      }
      const R norm = std::copysign(std::hypot(x, y), larger);
      cosine = x / norm, sine = y / norm;
      const R code = std::abs(x) > std::abs(y) ? sine : cosine != 0 ? 1 / cosine : R(1);
      x = norm, y = code;
    }
  });
}

/// The matrix H of a modified rotation: param[0] says which of its elements are given.
template <typename R>
struct ModifiedRotation {
  R flag, h11, h21, h12, h22;
  static ModifiedRotation of(const R* parameters) {
    ModifiedRotation h{parameters[0], parameters[1], parameters[2], parameters[3], parameters[4]};
    if (h.flag == 0) h.h11 = h.h22 = 1;
    if (h.flag == 1) h.h12 = 1, h.h21 = -1;
    if (h.flag == -2) h.h11 = h.h22 = 1, h.h12 = h.h21 = 0;
    return h;
  }
};

template <typename T>
int rotm(const char* call, Blas* handle, Size n, T* x, Size inc_x, T* y, Size inc_y, const T* parameters) {
  return blas_call(call, handle, [&](Blas& blas) -> LibraryWork {
    require_blas(parameters != nullptr);
    const bool is_of_device = blas.device_pointers;
    const auto given = is_of_device ? ModifiedRotation<T>{} : ModifiedRotation<T>::of(parameters);
    return [=](const LibraryMemory& memory) {
      const auto h = is_of_device ? ModifiedRotation<T>::of(memory.read(parameters, 5)) : given;
      const auto a = write_vector(memory, x, n, inc_x), b = write_vector(memory, y, n, inc_y);
      for (Size i = 0; i < n && h.flag != -2; ++i) {
        const T turned = multiply_add(a[i], h.h11, b[i] * h.h12);
        b[i] = multiply_add(a[i], h.h21, b[i] * h.h22);
        a[i] = turned;
      }
    };
  });
}

/// LAPACK's reference, with its limits of scaling.
template <typename R>
void modified_rotation(R& d1, R& d2, R& x1, R y1, R* parameters) {
  constexpr R limit = 4096;
  R flag = -1, h11 = 0, h12 = 0, h21 = 0, h22 = 0;
  const R p2 = d2 * y1;
  if (d1 < 0) {
    d1 = d2 = x1 = 0;
  } else if (p2 == 0) {
    parameters[0] = -2;
    return;
  } else {
    const R p1 = d1 * x1, q2 = p2 * y1, q1 = p1 * x1;
    if (std::abs(q1) > std::abs(q2)) {
      h21 = -y1 / x1, h12 = p2 / p1;
      const R u = 1 - h12 * h21;
      if (u > 0) flag = 0, d1 /= u, d2 /= u, x1 *= u;
    } else if (q2 < 0) {
      d1 = d2 = x1 = 0;
    } else {
      flag = 1, h11 = p1 / p2, h22 = x1 / y1;
      const R u = 1 + h11 * h22, kept = d2 / u;
      d2 = d1 / u, d1 = kept, x1 = y1 * u;
    }
    const auto spell_out = [&] {
      if (flag == 0) h11 = h22 = 1;
      if (flag > 0) h21 = -1, h12 = 1;
      flag = -1;
    };
    for (; d1 != 0 && d1 <= 1 / (limit * limit); d1 *= limit * limit) spell_out(), x1 /= limit, h11 /= limit, h12 /= limit;
    for (; d1 >= limit * limit; d1 /= limit * limit) spell_out(), x1 *= limit, h11 *= limit, h12 *= limit;
    for (; d2 != 0 && std::abs(d2) <= 1 / (limit * limit); d2 *= limit * limit) spell_out(), h21 /= limit, h22 /= limit;
    for (; std::abs(d2) >= limit * limit; d2 /= limit * limit) spell_out(), h21 *= limit, h22 *= limit;
  }
  parameters[0] = flag;
  if (flag <= 0) parameters[2] = h21, parameters[3] = h12;
  if (flag != 0) parameters[1] = h11, parameters[4] = h22;
}

template <typename T>
int rotmg(const char* call, Blas* handle, T* d1, T* d2, T* x1, const T* y1, T* parameters) {
  const bool given = d1 != nullptr && d2 != nullptr && x1 != nullptr && y1 != nullptr && parameters != nullptr;
  return change_call(call, handle, given, [=](const Blas& blas, const LibraryMemory& memory) {
    const T y = blas.device_pointers ? *memory.read(y1, 1) : *y1;
    modified_rotation(*place_of_number(blas, memory, d1), *place_of_number(blas, memory, d2), *place_of_number(blas, memory, x1), y,
                      blas.device_pointers ? memory.write(parameters, 5) : parameters);
  });
}

}  // namespace warpmat::cuda::blas
