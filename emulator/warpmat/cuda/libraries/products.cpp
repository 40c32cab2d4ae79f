#include <warpmat/cuda/libraries/products.h>

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <warpmat/cuda/libraries/measured_orders.h>
#include <warpmat/formats.h>
#include <warpmat/forms.h>
#include <warpmat/products/tiled_product.h>

namespace warpmat::cuda {
namespace {

// ---- Types ----

struct TypeRow {
  int type;
  std::size_t bytes;
  bool complex;
  std::optional<Format> format;  ///< of those that are not plain numbers of C++
};
constexpr TypeRow type_rows[] = {
    {r_32f, 4, false, {}},
    {r_64f, 8, false, {}},
    {r_16f, 2, false, Format::f16},
    {r_16bf, 2, false, Format::bf16},
    {r_e4m3, 1, false, Format::e4m3},
    {r_e5m2, 1, false, Format::e5m2},
    {r_8i, 1, false, {}},
    {r_8u, 1, false, {}},
    {r_32i, 4, false, {}},
    {c_32f, 8, true, {}},
    {c_64f, 16, true, {}},
};

const TypeRow& row_of_type(int type) {
  const auto* const found = std::ranges::find(type_rows, type, &TypeRow::type);
  require_blas(found != std::end(type_rows), blas_not_supported, "this type of elements is not supported");
  return *found;
}

template <typename T>
T element_at(const void* at, std::int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const T*>(at) + index, sizeof value);
  return value;
}
template <typename T>
void put_element(void* at, std::int64_t index, T value) {
  std::memcpy(static_cast<T*>(at) + index, &value, sizeof value);
}

/// Nearest, as a conversion to s32 or s8 saturates.
template <typename T>
T to_integer(double value) {
  if (std::isnan(value)) return 0;
  return static_cast<T>(std::clamp(std::nearbyint(value), double(std::numeric_limits<T>::min()), double(std::numeric_limits<T>::max())));
}

// ---- What multiplies what ----

/// Types that cuBLAS's documentation has for cublasGemmEx and cublasLtMatmul. D has the type of C, but for the products of 8-bit floats.
struct ProductRow {
  Compute compute;
  int a, b, c;
};
constexpr ProductRow product_rows[] = {
    {Compute::f16, r_16f, r_16f, r_16f},
    {Compute::s32, r_8i, r_8i, r_32i},
    {Compute::f32, r_16bf, r_16bf, r_16bf},
    {Compute::f32, r_16f, r_16f, r_16f},
    {Compute::f32, r_8i, r_8i, r_32f},
    {Compute::f32, r_16bf, r_16bf, r_32f},
    {Compute::f32, r_16f, r_16f, r_32f},
    {Compute::f32, r_32f, r_32f, r_32f},
    {Compute::f32, c_32f, c_32f, c_32f},
    {Compute::f32_as_tf32, r_32f, r_32f, r_32f},
    {Compute::f32_as_tf32, c_32f, c_32f, c_32f},
    {Compute::f64, r_64f, r_64f, r_64f},
    {Compute::f64, c_64f, c_64f, c_64f},
    {Compute::f32, r_e4m3, r_e4m3, r_32f},
    {Compute::f32, r_e4m3, r_e5m2, r_32f},
    {Compute::f32, r_e5m2, r_e4m3, r_32f},
    {Compute::f32, r_e4m3, r_e4m3, r_16f},
    {Compute::f32, r_e4m3, r_e5m2, r_16f},
    {Compute::f32, r_e5m2, r_e4m3, r_16f},
    {Compute::f32, r_e4m3, r_e4m3, r_16bf},
    {Compute::f32, r_e4m3, r_e5m2, r_16bf},
    {Compute::f32, r_e5m2, r_e4m3, r_16bf},
    {Compute::s32, r_8i, r_8i, r_8i},
};

bool is_fp8(int type) {
  return type == r_e4m3 || type == r_e5m2;
}

/// The formats that a matrix unit multiplies; nothing where products are chains of fused multiply-adds.
struct UnitFormats {
  Format a, b;
  bool half_sums = false;
};
std::optional<UnitFormats> unit_formats(const ProductShape& shape) {
  if (shape.compute == Compute::s32 || shape.type_a == r_8i || row_of_type(shape.type_a).complex) return std::nullopt;
  switch (shape.compute) {
    case Compute::f32_as_tf32: return UnitFormats{Format::tf32, Format::tf32};
    case Compute::f16: return UnitFormats{Format::f16, Format::f16, true};
    default: break;
  }
  const auto a = row_of_type(shape.type_a).format, b = row_of_type(shape.type_b).format;
  return a && b ? std::optional(UnitFormats{*a, *b}) : std::nullopt;
}

// ---- Factors ----

/// op(A): an element is at first + row * row_step + column * column_step.
struct Factor {
  const std::uint8_t* first;
  int type;
  std::int64_t rows, columns, row_step, column_step;
  bool conjugated;
};

Factor factor_of(const LibraryMemory& memory, const void* at, int type, int operation, std::int64_t rows, std::int64_t columns,
                 std::int64_t leading) {
  const bool plain = operation == op_n;
  const CheckedSize elements = plain ? matrix_extent(rows, columns, leading) : matrix_extent(columns, rows, leading);
  const auto* const first = memory.read(static_cast<const std::uint8_t*>(at), elements * bytes_of_type(type));
  return {first, type, rows, columns, plain ? 1 : leading, plain ? leading : 1, operation == op_c};
}

/// The elements by columns.
template <typename T>
std::vector<T> dense_of(const Factor& factor) {
  std::vector<T> dense(static_cast<std::size_t>(factor.rows * factor.columns));
  T* to = dense.data();
  for (std::int64_t j = 0; j < factor.columns; ++j)
    for (std::int64_t i = 0; i < factor.rows; ++i) {
      const T value = number_of<T>(load_element(factor.first, factor.type, i * factor.row_step + j * factor.column_step));
      *to++ = factor.conjugated ? conjugate(value) : value;
    }
  return dense;
}

// ---- Chains ----

/// `count` sums of a column: sums += a * b. Compiled for CPUs with and without fused multiply-adds; the result is the same.
template <typename T>
inline __attribute__((always_inline)) void add_column_body(T* __restrict sums, const T* __restrict a, T b, std::int64_t count) {
  if constexpr (std::is_integral_v<T>) {
    for (std::int64_t i = 0; i < count; ++i) sums[i] += a[i] * b;
  } else if constexpr (!is_complex<T>) {
    for (std::int64_t i = 0; i < count; ++i)
      sums[i] = sizeof(T) == 4 ? T(__builtin_fmaf(float(a[i]), float(b), float(sums[i]))) : T(__builtin_fma(a[i], b, sums[i]));
  } else {
    for (std::int64_t i = 0; i < count; ++i) sums[i] = multiply_add(a[i], b, sums[i]);
  }
}
#if defined(__x86_64__)
template <typename T>
__attribute__((target("avx2,fma"))) void add_column_fused(T* sums, const T* a, T b, std::int64_t count) {
  add_column_body(sums, a, b, count);
}
bool has_fma() {
  return __builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("avx2") != 0;
}
#else
template <typename T>
void add_column_fused(T* sums, const T* a, T b, std::int64_t count) {
  add_column_body(sums, a, b, count);
}
constexpr bool has_fma() {
  return true;
}
#endif
template <typename T>
void add_column_plain(T* sums, const T* a, T b, std::int64_t count) {
  add_column_body(sums, a, b, count);
}

/// Goes on with the chains of `sums` from one element of K to before another. B has `k` rows.
template <typename T>
void continue_chains(const Context& context, std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, const KRange& of,
                     std::vector<T>& sums) {
  constexpr std::int64_t block = 1024;  // rows whose part of A stays in the cache
  const auto add = has_fma() ? add_column_fused<T> : add_column_plain<T>;
  run_library_tasks(context, static_cast<std::size_t>(n), [&](std::size_t column, std::size_t) {
    const auto j = static_cast<std::int64_t>(column);
    for (std::int64_t first = 0; first < m; first += block)
      for (std::int64_t p = of.first; p < of.second; ++p)
        add(sums.data() + j * m + first, a + p * m + first, b[j * k + p], std::min(block, m - first));
  });
}
template <typename T>
std::vector<T> chains(const Context& context, std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b) {
  std::vector<T> sums(static_cast<std::size_t>(m * n));
  continue_chains(context, m, n, k, a, b, {0, k}, sums);
  return sums;
}

/// The sums of all parts, added in their order. `continue_sums(range, sums)` goes on with the sums of a part; `step`: its steps along K.
template <typename T, typename Continue>
std::vector<T> ordered_sums(const SumOrder& order, std::int64_t k, std::int64_t step, std::size_t count, Continue continue_sums) {
  const auto add_up = [&](const auto& pieces, auto sums_of) {
    std::vector<T> total;
    for (const auto& piece : pieces) {
      const std::vector<T> sums = sums_of(piece);
      if (total.empty())
        total = sums;
      else
        for (std::size_t i = 0; i < count; ++i) total[i] += sums[i];
    }
    return total;
  };
  const auto chain = [&](const std::vector<KRange>& ranges) {
    std::vector<T> sums(count);
    for (const KRange& range : ranges) continue_sums(range, sums);
    return sums;
  };
  return add_up(parts_of(order, k, step), [&](const std::vector<KRange>& part) { return add_up(slices_of(order, part), chain); });
}

// ---- Matrix units ----

/// The product of a target, made once.
const TileProduct& unit_product(const Context& context, const UnitFormats& formats, std::string_view instruction) {
  static std::map<std::array<std::string, 4>, std::unique_ptr<TileProduct>> made;  // under mutex()
  const std::string_view target = context.settings.target->name, d = formats.half_sums ? "f16" : "f32";
  const std::size_t dot = instruction.find(".m16");  // of "mma.m16n8k8.bf16"; other words name what is used by default
  const std::string shape(dot == std::string_view::npos ? "" : instruction.substr(dot + 1, instruction.rfind('.') - dot - 1));
  auto& product = made[{std::string(target), std::string(name(formats.a)) + "." + std::string(name(formats.b)), std::string(d), shape}];
  if (product == nullptr)
    product = std::make_unique<TileProduct>(
        WantedProduct{.unit = shape.empty() ? "" : "mma", .shape = shape, .a = name(formats.a), .b = name(formats.b), .d = d}, target);
  return *product;
}

/// The codes of a factor in the format that the unit multiplies: the matrix itself, or `converted`, by columns.
Plane plane_of(const Factor& factor, Format format, std::vector<std::uint32_t>& converted) {
  const auto rows = static_cast<int>(factor.rows), columns = static_cast<int>(factor.columns);
  const TypeRow& type = row_of_type(factor.type);
  const auto size = static_cast<std::ptrdiff_t>(type.bytes);
  if (type.format == format)
    return {const_cast<std::uint8_t*>(factor.first), type.bytes, rows, columns, factor.row_step * size, factor.column_step * size};
  converted.resize(static_cast<std::size_t>(factor.rows * factor.columns));
  std::uint32_t* to = converted.data();
  for (std::int64_t j = 0; j < factor.columns; ++j)
    for (std::int64_t i = 0; i < factor.rows; ++i)
      *to++ = static_cast<std::uint32_t>(
          from_double(format, load_element(factor.first, factor.type, i * factor.row_step + j * factor.column_step).real()));
  return {reinterpret_cast<std::uint8_t*>(converted.data()), 4, rows, columns, 4, std::ptrdiff_t{4} * rows};
}

void run_product(const Context& context, const TileProduct& product, const Planes& planes, std::int64_t k, int promote_every) {
  TiledProduct tiled(product, planes, steps_of(product, static_cast<int>(k)), promote_every, {});
  tiled.run(library_threads(context), [&](std::size_t tasks, const ProductTask& task) {
    run_library_tasks(context, tasks, [&](std::size_t number, std::size_t thread) { task(number, thread, [] {}); });
  });
}

/// The orders were measured on a card of sm_90.
std::optional<SumOrder> known_order(const Context& context, const ProductShape& shape) {
  return context.settings.target->name.starts_with("sm_90") ? measured_order(shape) : std::nullopt;
}

/// The elements of K of a range, which are rows of B and columns of A.
Plane rows_of(Plane plane, const KRange& of) {
  plane.data += of.first * plane.row_stride;
  plane.rows = static_cast<int>(of.second - of.first);
  return plane;
}
Plane columns_of(Plane plane, const KRange& of) {
  plane.data += of.first * plane.column_stride;
  plane.columns = static_cast<int>(of.second - of.first);
  return plane;
}

std::vector<float> ordered_unit_sums(const Context& context, const ProductShape& shape, const UnitFormats& formats, const Factor& a,
                                     const Factor& b, const SumOrder& order) {
  const TileProduct& product = unit_product(context, formats, order.instruction);
  std::vector<std::uint32_t> of_a, of_b;
  const Plane plane_a = plane_of(a, formats.a, of_a), plane_b = plane_of(b, formats.b, of_b);
  const std::int64_t step = product.tile().shape.k;
  return ordered_sums<float>(order, shape.k, step, static_cast<std::size_t>(shape.m * shape.n),
                             [&](const KRange& range, std::vector<float>& sums) {
                               const Plane d{reinterpret_cast<std::uint8_t*>(sums.data()),
                                             4,
                                             static_cast<int>(shape.m),
                                             static_cast<int>(shape.n),
                                             4,
                                             std::ptrdiff_t{4} * shape.m};
                               const Planes planes{.a = columns_of(plane_a, range), .b = rows_of(plane_b, range), .d = d, .c = d};
                               run_product(context, product, planes, range.second - range.first, 0);
                             });
}

std::vector<float> unit_sums(const Context& context, const ProductShape& shape, const UnitFormats& formats, const Factor& a,
                             const Factor& b) {
  require_blas(shape.m <= INT_MAX && shape.n <= INT_MAX && shape.k <= INT_MAX, blas_not_supported);
  if (const auto order = known_order(context, shape)) return ordered_unit_sums(context, shape, formats, a, b, *order);
  const TileProduct& product = unit_product(context, formats, "");
  std::vector<std::uint32_t> of_a, of_b;
  const auto count = static_cast<std::size_t>(shape.m * shape.n);
  std::vector<float> sums(count);
  std::vector<std::uint16_t> halves(formats.half_sums ? count : 0);
  const std::size_t bytes = formats.half_sums ? 2 : 4;
  auto* const to = formats.half_sums ? reinterpret_cast<std::uint8_t*>(halves.data()) : reinterpret_cast<std::uint8_t*>(sums.data());
  const auto step = static_cast<std::ptrdiff_t>(bytes);
  const Planes planes{.a = plane_of(a, formats.a, of_a),
                      .b = plane_of(b, formats.b, of_b),
                      .d = {to, bytes, static_cast<int>(shape.m), static_cast<int>(shape.n), step, step * shape.m}};
  run_product(context, product, planes, shape.k, shape.promote_every);
  for (std::size_t i = 0; i < halves.size(); ++i) sums[i] = static_cast<float>(to_double(Format::f16, halves[i]));
  return sums;
}

// ---- The epilogue ----

/// A number as memory of a type has it.
float rounded_to(int type, float value) {
  std::uint8_t memory[4] = {};
  store_element(memory, type, 0, double(value));
  return static_cast<float>(load_element(memory, type, 0).real());
}

/// Whether an H200 rounds scale * sum, and not keep * before, before it adds the two: where parts of K are added up by another kernel, and
/// by the kernels of s8 and of 16-bit formats whose rows are no multiples of 16 bytes.
bool rounds_sum(const Context& context, const ProductShape& shape) {
  if (shape.type_a == r_8i) return true;
  if (bytes_of_type(shape.type_a) == 2 && shape.k % 8 != 0) return true;
  const auto order = known_order(context, shape);
  return order && order->split_k > 1;
}

/// scale * sum + keep * before, where one of the products is rounded. Sums of f16 round it to f16. Where that is keep * before and keep is
/// 1, the sum is rounded to a D of 16 bits before C is added.
template <typename Number>
Number with_kept(const ProductShape& shape, bool sum_rounded, Number scale, Number sum, Number keep, Number before) {
  const auto rounded = [&](Number product) {
    if constexpr (std::is_same_v<Number, float>)
      if (shape.compute == Compute::f16) return rounded_to(r_16f, product);
    return product;
  };
  if (sum_rounded) return multiply_add(keep, before, rounded(multiply(scale, sum)));
  if constexpr (std::is_same_v<Number, float>)
    if (keep == 1 && shape.compute != Compute::f16 && bytes_of_type(shape.type_d) == 2)
      return rounded_to(shape.type_d, scale * sum) + before;
  return multiply_add(scale, sum, rounded(multiply(keep, before)));
}

template <typename Sum>
void store_sums(const LibraryMemory& memory, const ProductShape& shape, const std::vector<Sum>& sums, std::complex<double> alpha,
                std::complex<double> beta, const void* c, void* d, const Epilogue& epilogue) {
  using Number = std::conditional_t<std::is_integral_v<Sum>, float, Sum>;  // a factor of s32 may be one of f32
  const auto scale = number_of<Number>(alpha), keep = number_of<Number>(beta);
  const bool keeps = !is_zero(keep), whole = std::is_integral_v<Sum> && alpha == 1.0 && (beta == 0.0 || beta == 1.0);
  const bool sum_rounded = rounds_sum(memory.context(), shape);
  const auto* const before = keeps ? memory.read(static_cast<const std::uint8_t*>(c),
                                                 matrix_extent(shape.m, shape.n, shape.leading_c) * bytes_of_type(shape.type_c))
                                   : nullptr;
  auto* const to =
      memory.write(static_cast<std::uint8_t*>(d), matrix_extent(shape.m, shape.n, shape.leading_d) * bytes_of_type(shape.type_d));
  for (std::int64_t j = 0; j < shape.n; ++j)
    for (std::int64_t i = 0; i < shape.m; ++i) {
      const Sum sum = sums[static_cast<std::size_t>(j * shape.m + i)];
      if constexpr (std::is_integral_v<Sum>) {
        if (whole && shape.type_d == r_32i) {  // exact, and wraps
          const auto kept = keeps ? element_at<std::uint32_t>(before, i + j * shape.leading_c) : 0u;
          put_element(to, i + j * shape.leading_d, static_cast<std::uint32_t>(sum) + kept);
          continue;
        }
      }
      const Number number = static_cast<Number>(sum);
      Number value = multiply(scale, number);
      if (keeps)
        value = with_kept(shape, sum_rounded, scale, number, keep,
                          number_of<Number>(load_element(before, shape.type_c, i + j * shape.leading_c)));
      std::complex<double> stored(value);
      if (epilogue) stored = epilogue(stored.real(), i, j);
      store_element(to, shape.type_d, i + j * shape.leading_d, stored);
    }
}

template <typename Sum>
std::vector<Sum> chain_sums(const Context& context, const ProductShape& shape, const Factor& a, const Factor& b) {
  const std::vector<Sum> of_a = dense_of<Sum>(a), of_b = dense_of<Sum>(b);
  if constexpr (!is_complex<Sum>)
    if (const auto order = known_order(context, shape))
      return ordered_sums<Sum>(*order, shape.k, 1, static_cast<std::size_t>(shape.m * shape.n),
                               [&](const KRange& range, std::vector<Sum>& sums) {
                                 continue_chains(context, shape.m, shape.n, shape.k, of_a.data(), of_b.data(), range, sums);
                               });
  return chains(context, shape.m, shape.n, shape.k, of_a.data(), of_b.data());
}

}  // namespace

Compute compute_of(int type) {
  switch (type) {
    case 64:
    case 65: return Compute::f16;
    case 68:
    case 69:
    case 78: return Compute::f32;  // the last one emulates f32 by bf16, in more bits than f32 has
    case 70:
    case 71:
    case 79: return Compute::f64;  // the last one emulates f64 by fixed-point numbers
    case 72:
    case 73: return Compute::s32;
    case 74:
    case 75:  // _FAST_16F and _FAST_16BF have the bits of _FAST_TF32 on an H200
    case 77: return Compute::f32_as_tf32;
    default: throw Refusal(blas_not_supported, "this compute type is not supported");
  }
}

void ProductShape::check() const {
  for (const int operation : {operation_a, operation_b}) require_blas(operation >= op_n && operation <= op_c);
  require_blas(m >= 0 && n >= 0 && k >= 0);
  require_blas(leading_a >= std::max<std::int64_t>(1, operation_a == op_n ? m : k) &&
               leading_b >= std::max<std::int64_t>(1, operation_b == op_n ? k : n) && leading_c >= std::max<std::int64_t>(1, m) &&
               leading_d >= std::max<std::int64_t>(1, m));
  const bool found = std::ranges::any_of(product_rows, [&](const ProductRow& row) {
    return row.compute == compute && row.a == type_a && row.b == type_b && row.c == type_c && (type_d == type_c || is_fp8(type_d));
  });
  if (compute == Compute::s32 && type_c == r_32i)
    require_blas(leading_a % 4 == 0 && leading_b % 4 == 0, blas_not_supported,
                 "products of s8 need leading dimensions that are multiples of 4");
  require_blas(found && (!is_fp8(type_d) || is_fp8(type_a)), blas_not_supported, "cuBLAS has no product of these types");
}

std::size_t bytes_of_type(int type) {
  return row_of_type(type).bytes;
}

std::complex<double> load_element(const void* at, int type, std::int64_t index) {
  switch (type) {
    case r_32f: return double(element_at<float>(at, index));
    case r_64f: return element_at<double>(at, index);
    case c_32f: return std::complex<double>(element_at<std::complex<float>>(at, index));
    case c_64f: return element_at<std::complex<double>>(at, index);
    case r_8i: return double(element_at<std::int8_t>(at, index));
    case r_8u: return double(element_at<std::uint8_t>(at, index));
    case r_32i: return double(element_at<std::int32_t>(at, index));
    case r_16bf: return double(std::bit_cast<float>(static_cast<std::uint32_t>(element_at<std::uint16_t>(at, index)) << 16));
    default: break;
  }
  const TypeRow& row = row_of_type(type);
  const std::uint64_t code = row.bytes == 1 ? element_at<std::uint8_t>(at, index) : element_at<std::uint16_t>(at, index);
  return to_double(*row.format, code);
}

void store_element(void* at, int type, std::int64_t index, std::complex<double> value) {
  switch (type) {
    case r_32f: return put_element(at, index, static_cast<float>(value.real()));
    case r_64f: return put_element(at, index, value.real());
    case c_32f: return put_element(at, index, std::complex<float>(value));
    case c_64f: return put_element(at, index, value);
    case r_8i: return put_element(at, index, to_integer<std::int8_t>(value.real()));
    case r_8u: return put_element(at, index, to_integer<std::uint8_t>(value.real()));
    case r_32i: return put_element(at, index, to_integer<std::int32_t>(value.real()));
    default: break;
  }
  const TypeRow& row = row_of_type(type);
  const double real = value.real();
  // 8-bit floats saturate, as cuBLAS's conversions do
  const bool saturates = row.bytes == 1 && !std::isnan(real) && std::abs(real) > to_double(*row.format, largest_finite(*row.format, false));
  const std::uint64_t code = saturates ? largest_finite(*row.format, real < 0) : from_double(*row.format, real);
  if (row.bytes == 1)
    put_element(at, index, static_cast<std::uint8_t>(code));
  else
    put_element(at, index, static_cast<std::uint16_t>(code));
}

AnyScalar::AnyScalar(bool is_of_device, const void* at, int type) : type_(type), device_(is_of_device ? at : nullptr) {
  require_blas(at != nullptr);
  if (!is_of_device) value_ = load_element(at, type, 0);
}

std::complex<double> AnyScalar::read(const LibraryMemory& memory) const {
  if (device_ == nullptr) return value_;
  return load_element(memory.read(static_cast<const std::uint8_t*>(device_), bytes_of_type(type_)), type_, 0);
}

void multiply_matrices(const LibraryMemory& memory, const ProductShape& shape, std::complex<double> alpha, const void* a, const void* b,
                       std::complex<double> beta, const void* c, void* d, const Epilogue& epilogue) {
  if (shape.m == 0 || shape.n == 0) return;
  ProductShape multiplied = shape;
  if (alpha == 0.0) multiplied.k = 0;  // A and B are not read
  const Factor of_a = factor_of(memory, a, shape.type_a, shape.operation_a, shape.m, multiplied.k, shape.leading_a);
  const Factor of_b = factor_of(memory, b, shape.type_b, shape.operation_b, multiplied.k, shape.n, shape.leading_b);
  const Context& context = memory.context();
  const auto store = [&](const auto& sums) { store_sums(memory, shape, sums, alpha, beta, c, d, epilogue); };
  const auto formats = unit_formats(shape);
  if (formats && multiplied.k != 0) {
    std::vector<float> sums;
    try {
      sums = unit_sums(context, multiplied, *formats, of_a, of_b);
    } catch (const std::invalid_argument&) {  // the target has no such instruction
      sums = chain_sums<float>(context, multiplied, of_a, of_b);
    }
    return store(sums);
  }
  if (shape.type_a == c_64f) return store(chain_sums<std::complex<double>>(context, multiplied, of_a, of_b));
  if (shape.type_a == c_32f) return store(chain_sums<std::complex<float>>(context, multiplied, of_a, of_b));
  if (shape.type_a == r_64f) return store(chain_sums<double>(context, multiplied, of_a, of_b));
  if (shape.compute != Compute::s32) return store(chain_sums<float>(context, multiplied, of_a, of_b));
  const std::vector<std::uint32_t> sums = [&] {
    const auto x = dense_of<std::int32_t>(of_a), y = dense_of<std::int32_t>(of_b);
    const std::vector<std::uint32_t> left(x.begin(), x.end()), right(y.begin(), y.end());  // sums wrap
    return chains(context, multiplied.m, multiplied.n, multiplied.k, left.data(), right.data());
  }();
  store(std::vector<std::int32_t>(sums.begin(), sums.end()));
}

template <typename T>
std::vector<T> multiply_dense(const Context& context, std::int64_t m, std::int64_t n, std::int64_t k, const std::vector<T>& a,
                              const std::vector<T>& b) {
  return chains(context, m, n, k, a.data(), b.data());
}
template std::vector<float> multiply_dense(const Context&, std::int64_t, std::int64_t, std::int64_t, const std::vector<float>&,
                                           const std::vector<float>&);
template std::vector<double> multiply_dense(const Context&, std::int64_t, std::int64_t, std::int64_t, const std::vector<double>&,
                                            const std::vector<double>&);
template std::vector<std::complex<float>> multiply_dense(const Context&, std::int64_t, std::int64_t, std::int64_t,
                                                         const std::vector<std::complex<float>>&, const std::vector<std::complex<float>>&);
template std::vector<std::complex<double>> multiply_dense(const Context&, std::int64_t, std::int64_t, std::int64_t,
                                                          const std::vector<std::complex<double>>&,
                                                          const std::vector<std::complex<double>>&);

}  // namespace warpmat::cuda
