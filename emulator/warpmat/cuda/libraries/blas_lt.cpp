// cuBLASLt: one algorithm, whose products are those of cublasGemmEx with an epilogue.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include <warpmat/cuda/libraries/blas_handle.h>
#include <warpmat/cuda/libraries/blas_lt_descriptions.h>
#include <warpmat/cuda/libraries/products.h>

namespace warpmat::cuda::lt {
namespace {

// ---- The epilogue ----

enum EpilogueBits : int {
  does_relu = 2,
  adds_bias = 4,
  d_relu = 8,
  sums_bias = 16,
  does_gelu = 32,
  d_gelu = 64,
  has_aux = 128,
  sums_factor = 256 | 512
};

/// The approximation by tanh.
float gelu(float x) {
  return 0.5f * x * (1.0f + std::tanh(0.7978845608028654f * (x + 0.044715f * x * x * x)));
}
float gelu_slope(float x) {
  const float t = std::tanh(0.7978845608028654f * (x + 0.044715f * x * x * x));
  return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * 0.7978845608028654f * (1.0f + 3.0f * 0.044715f * x * x);
}

/// A matrix product as Lt is asked for it, checked.
struct Matmul {
  MatmulDescription with;
  ProductShape shape;    ///< of matrices by columns
  bool swapped = false;  ///< D is stored by rows: its transposed matrix is computed
  bool listed = false;   ///< the matrices' addresses lie in arrays in device memory
  std::int64_t count, stride_a, stride_b, stride_c, stride_d;

  int bias_type() const { return with.bias_type >= 0 ? with.bias_type : is_8_bits(shape.type_d) ? int(r_16bf) : shape.type_d; }
  int aux_type() const { return with.aux_type >= 0 ? with.aux_type : shape.type_d; }
  static bool is_8_bits(int type) { return type == r_e4m3 || type == r_e5m2; }
};

/// op of the matrix by columns that a matrix by rows is, too.
int operation_of(const Layout& layout, int operation) {
  require_blas(layout.order == by_columns || layout.order == by_rows, blas_not_supported,
               "only orders by columns and by rows are supported");
  if (layout.order == by_columns) return operation;
  require_blas(operation != op_c || (layout.type != c_32f && layout.type != c_64f), blas_not_supported);
  return operation == op_n ? op_t : op_n;
}

std::int64_t signed_size(std::uint64_t size) {
  require_blas(size <= INT64_MAX);
  return static_cast<std::int64_t>(size);
}

Matmul checked(const MatmulDescription& with, const Layout& a, const Layout& b, const Layout& c, const Layout& d) {
  require_blas(with.operation_c == op_n && (with.pointer_mode == 0 || with.pointer_mode == 1), blas_not_supported,
               "this pointer mode or operation of C is not supported");
  const auto known_scale = [](int mode) { return mode == 0 || mode == 3; };
  require_blas(known_scale(with.mode_a) && known_scale(with.mode_b) && with.mode_c == 0 && with.mode_d == 0 && with.mode_aux == 0,
               blas_not_supported, "block scales are not supported");
  require_blas((with.epilogue & sums_factor) == 0, blas_not_supported, "this epilogue is not supported");
  for (const Layout* const layout : {&a, &b, &c, &d}) {
    require_blas(layout->plane == 0, blas_not_supported, "planar complex matrices are not supported");
    require_blas(layout->mode == d.mode && d.mode <= listed_batch && layout->count == d.count && d.count >= 1, blas_not_supported,
                 "these batches are not supported");
  }
  require_blas(c.order == d.order && c.rows == d.rows && c.columns == d.columns);
  Matmul matmul{.with = with,
                .shape = {},
                .listed = d.mode == listed_batch,
                .count = d.count,
                .stride_a = a.stride,
                .stride_b = b.stride,
                .stride_c = c.stride,
                .stride_d = d.stride};
  const bool plain_a = with.operation_a == op_n, plain_b = with.operation_b == op_n;
  const auto m = signed_size(plain_a ? a.rows : a.columns), k = signed_size(plain_a ? a.columns : a.rows);
  const auto k_of_b = signed_size(plain_b ? b.rows : b.columns), n = signed_size(plain_b ? b.columns : b.rows);
  require_blas(k == k_of_b && m == signed_size(d.rows) && n == signed_size(d.columns));
  matmul.shape = {.operation_a = operation_of(a, with.operation_a),
                  .operation_b = operation_of(b, with.operation_b),
                  .m = m,
                  .n = n,
                  .k = k,
                  .type_a = a.type,
                  .type_b = b.type,
                  .type_c = c.type,
                  .type_d = d.type,
                  .leading_a = a.leading,
                  .leading_b = b.leading,
                  .leading_c = c.leading,
                  .leading_d = d.leading,
                  .compute = compute_of(with.compute),
                  .promote_every = Matmul::is_8_bits(a.type) && with.fast == 0 ? 4 : 0};  // 128 elements, as was measured
  if (d.order == by_rows) {
    ProductShape& shape = matmul.shape;
    matmul.swapped = true;
    std::swap(shape.m, shape.n);
    std::swap(shape.operation_a, shape.operation_b);
    std::swap(shape.type_a, shape.type_b);
    std::swap(shape.leading_a, shape.leading_b);
    std::swap(matmul.stride_a, matmul.stride_b);
    for (int* const operation : {&shape.operation_a, &shape.operation_b}) {
      require_blas(*operation != op_c || (a.type != c_32f && a.type != c_64f), blas_not_supported);
      *operation = *operation == op_n ? op_t : op_n;
    }
  }
  matmul.shape.check();
  return matmul;
}

const std::uint8_t* shifted(const void* at, std::int64_t elements, int type) {
  return reinterpret_cast<const std::uint8_t*>(reinterpret_cast<std::uintptr_t>(at) +
                                               static_cast<std::uintptr_t>(elements) * bytes_of_type(type));
}
std::uint8_t* shifted(void* at, std::int64_t elements, int type) {
  return const_cast<std::uint8_t*>(shifted(static_cast<const void*>(at), elements, type));
}

/// A factor of f32 in device memory: one for all, or one for each row of A or column of B.
class ScaleVector {
 public:
  ScaleVector(const LibraryMemory& memory, const void* at, int mode, std::int64_t count)
      : factors_(at == nullptr ? nullptr : memory.read(static_cast<const float*>(at), mode == 3 ? count : 1)), each_(mode == 3) {}
  float operator[](std::int64_t i) const { return factors_ == nullptr ? 1.0f : factors_[each_ ? i : 0]; }
  bool each() const { return each_ && factors_ != nullptr; }

 private:
  const float* factors_;
  bool each_;
};

/// What the epilogue of one product reads and writes.
class LtEpilogue {
 public:
  LtEpilogue(const LibraryMemory& memory, const Matmul& matmul, std::int64_t number)
      : matmul_(matmul),
        kind_(matmul.with.epilogue),
        rows_(matmul.swapped ? matmul.shape.n : matmul.shape.m),
        columns_(matmul.swapped ? matmul.shape.m : matmul.shape.n),
        of_a_(memory, matmul.with.scale_a, matmul.with.mode_a, rows_),
        of_b_(memory, matmul.with.scale_b, matmul.with.mode_b, columns_),
        of_d_(memory, Matmul::is_8_bits(matmul.shape.type_d) ? matmul.with.scale_d : nullptr, 0, 1) {
    const MatmulDescription& with = matmul.with;
    if ((kind_ & adds_bias) != 0) {
      require(with.bias != nullptr, cudaErrorIllegalAddress);
      bias_ = memory.read(shifted(with.bias, number * with.bias_stride, matmul.bias_type()),
                          CheckedSize(rows_) * bytes_of_type(matmul.bias_type()));
    }
    if ((kind_ & sums_bias) != 0) {
      gradient_ = memory.write(shifted(const_cast<void*>(with.bias), number * with.bias_stride, matmul.bias_type()),
                               CheckedSize(rows_) * bytes_of_type(matmul.bias_type()));
      sums_.resize(static_cast<std::size_t>(rows_));
    }
    if ((kind_ & has_aux) != 0) {
      masks_ = (kind_ & (does_relu | d_relu)) != 0;  // a bit for each element, columns aux_leading bits apart
      const CheckedSize elements = matrix_extent(rows_, columns_, with.aux_leading);
      const int type = matmul.aux_type();
      const CheckedSize bytes = masks_ ? CheckedSize(elements.value().value_or(0) / 8 + 1) : elements * bytes_of_type(type);
      auto* const at =
          masks_ ? static_cast<std::uint8_t*>(with.aux) + number * with.aux_stride / 8 : shifted(with.aux, number * with.aux_stride, type);
      aux_ =
          memory.write(at, masks_ ? CheckedSize((static_cast<std::uint64_t>((columns_ - 1) * with.aux_leading + rows_) + 7) / 8) : bytes);
    }
    if (with.amax != nullptr && Matmul::is_8_bits(matmul.shape.type_d)) amax_ = memory.write(static_cast<float*>(with.amax), 1);
  }

  bool is_plain() const { return kind_ == 1 && !scales_each() && amax_ == nullptr && of_d_[0] == 1.0f; }
  /// The factor of all sums.
  float scale() const { return scales_each() ? 1.0f : of_a_[0] * of_b_[0]; }

  double operator()(double value, std::int64_t i, std::int64_t j) {
    if (matmul_.swapped) std::swap(i, j);
    auto x = static_cast<float>(value);
    if (scales_each()) x = x * of_a_[i] * of_b_[j];
    if (bias_ != nullptr) x += static_cast<float>(load_element(bias_, matmul_.bias_type(), i).real());
    x = activated(x, i, j);
    if (gradient_ != nullptr) sums_[static_cast<std::size_t>(i)] += x;
    largest_ = std::max(largest_, std::abs(x));
    return x * of_d_[0];
  }

  void finish() {
    for (std::int64_t i = 0; gradient_ != nullptr && i < rows_; ++i)
      store_element(gradient_, matmul_.bias_type(), i, double(sums_[static_cast<std::size_t>(i)]));
    if (amax_ != nullptr) *amax_ = largest_;
  }

 private:
  bool scales_each() const { return of_a_.each() || of_b_.each(); }

  float activated(float x, std::int64_t i, std::int64_t j) {
    const std::int64_t place = i + j * matmul_.with.aux_leading;
    if ((kind_ & d_relu) != 0) return (aux_[place / 8] >> (place % 8) & 1) != 0 ? x : 0.0f;
    if ((kind_ & d_gelu) != 0) return x * gelu_slope(static_cast<float>(load_element(aux_, matmul_.aux_type(), place).real()));
    if ((kind_ & does_relu) != 0) {
      if (aux_ != nullptr) mark(place, x > 0);
      return x > 0 || std::isnan(x) ? x : 0.0f;
    }
    if ((kind_ & does_gelu) == 0) return x;
    if (aux_ != nullptr) store_element(aux_, matmul_.aux_type(), place, double(x));
    return gelu(x);
  }

  void mark(std::int64_t place, bool positive) {
    const auto bit = static_cast<std::uint8_t>(1u << (place % 8));
    aux_[place / 8] = static_cast<std::uint8_t>(positive ? aux_[place / 8] | bit : aux_[place / 8] & ~bit);
  }

  const Matmul& matmul_;
  const int kind_;
  const std::int64_t rows_, columns_;
  ScaleVector of_a_, of_b_, of_d_;
  const std::uint8_t* bias_ = nullptr;
  std::uint8_t *gradient_ = nullptr, *aux_ = nullptr;
  bool masks_ = false;
  float* amax_ = nullptr;
  float largest_ = 0;
  std::vector<float> sums_;
};

void run(const LibraryMemory& memory, const Matmul& matmul, std::complex<double> alpha, const void* a, const void* b,
         std::complex<double> beta, const void* c, void* d) {
  const ProductShape& shape = matmul.shape;
  for (std::int64_t i = 0; i < matmul.count; ++i) {
    LtEpilogue epilogue(memory, matmul, i);
    const auto place = [&](const void* at, std::int64_t stride, int type) {
      return matmul.listed ? *memory.read(static_cast<const std::uint8_t* const*>(at) + i, 1) : shifted(at, i * stride, type);
    };
    const auto* const x = place(matmul.swapped ? b : a, matmul.stride_a, shape.type_a);
    const auto* const y = place(matmul.swapped ? a : b, matmul.stride_b, shape.type_b);
    const auto scale = [&](const void* at) { return at == nullptr ? 1.0f : *memory.read(static_cast<const float*>(at), 1); };
    const auto scaled = [](std::complex<double> factor, float by) {
      return by == 1.0f ? factor : std::complex<double>(double(static_cast<float>(factor.real()) * by));
    };
    const float of_c = Matmul::is_8_bits(shape.type_c) ? scale(matmul.with.scale_c) : 1.0f;
    multiply_matrices(
        memory, shape, scaled(alpha, epilogue.scale()), x, y, scaled(beta, of_c), place(c, matmul.stride_c, shape.type_c),
        const_cast<std::uint8_t*>(place(d, matmul.stride_d, shape.type_d)),
        epilogue.is_plain() ? Epilogue()
                            : [&](double value, std::int64_t row, std::int64_t column) { return epilogue(value, row, column); });
    epilogue.finish();
  }
}

using blas::create;
using blas::destroy;
using blas::getCudartVersion;
using blas::getProperty;
using blas::getStatusName;
using blas::getStatusString;

std::size_t getVersion(const char*) {
  return 130002;
}

int heuristicsCacheGetCapacity(const char*, std::size_t* capacity) {
  if (capacity == nullptr) return blas_invalid_value;
  *capacity = 0;
  return blas_success;
}
int heuristicsCacheSetCapacity(const char*, std::size_t) {
  return blas_success;
}

// Calls are not logged.
int loggerSetCallback(const char*, void*) {
  return blas_success;
}
int loggerSetFile(const char*, void*) {
  return blas_success;
}
int loggerOpenFile(const char*, const char*) {
  return blas_success;
}
int loggerSetLevel(const char*, int) {
  return blas_success;
}
int loggerSetMask(const char*, int) {
  return blas_success;
}
int loggerForceDisable(const char*) {
  return blas_success;
}

int matrixLayoutInit_internal(const char*, Descriptor* layout, std::size_t bytes, int type, std::uint64_t rows, std::uint64_t columns,
                              std::int64_t leading) {
  return place_description(layout, bytes, layout_of(type, rows, columns, leading));
}
int matrixLayoutCreate(const char*, Descriptor** layout, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t leading) {
  return make_description(layout, layout_of(type, rows, columns, leading));
}
int matrixLayoutDestroy(const char*, Descriptor* layout) {
  return end_description<Layout>(layout);
}
int matrixLayoutSetAttribute(const char*, Descriptor* layout, int number, const void* from, std::size_t bytes) {
  return set_attribute(layout_attributes, layout, number, from, bytes);
}
int matrixLayoutGetAttribute(const char*, Descriptor* layout, int number, void* to, std::size_t bytes, std::size_t* written) {
  return get_attribute(layout_attributes, layout, number, to, bytes, written);
}

int matmulDescInit_internal(const char*, Descriptor* description, std::size_t bytes, int compute, int scale) {
  return place_description(description, bytes, MatmulDescription{.compute = compute, .scale = scale});
}
int matmulDescCreate(const char*, Descriptor** description, int compute, int scale) {
  return make_description(description, MatmulDescription{.compute = compute, .scale = scale});
}
int matmulDescDestroy(const char*, Descriptor* description) {
  return end_description<MatmulDescription>(description);
}
int matmulDescSetAttribute(const char*, Descriptor* description, int number, const void* from, std::size_t bytes) {
  return set_attribute(matmul_attributes, description, number, from, bytes);
}
int matmulDescGetAttribute(const char*, Descriptor* description, int number, void* to, std::size_t bytes, std::size_t* written) {
  return get_attribute(matmul_attributes, description, number, to, bytes, written);
}

int matmulPreferenceInit_internal(const char*, Descriptor* preference, std::size_t bytes) {
  return place_description(preference, bytes, Preference{});
}
int matmulPreferenceCreate(const char*, Descriptor** preference) {
  return make_description(preference, Preference{});
}
int matmulPreferenceDestroy(const char*, Descriptor* preference) {
  return end_description<Preference>(preference);
}
int matmulPreferenceSetAttribute(const char*, Descriptor* preference, int number, const void* from, std::size_t bytes) {
  return set_attribute(preference_attributes, preference, number, from, bytes);
}
int matmulPreferenceGetAttribute(const char*, Descriptor* preference, int number, void* to, std::size_t bytes, std::size_t* written) {
  return get_attribute(preference_attributes, preference, number, to, bytes, written);
}

int emulationDescInit_internal(const char*, Descriptor* description, std::size_t bytes) {
  return place_description(description, bytes, Emulation{});
}
int emulationDescCreate(const char*, Descriptor** description) {
  return make_description(description, Emulation{});
}
int emulationDescDestroy(const char*, Descriptor* description) {
  return end_description<Emulation>(description);
}
int emulationDescSetAttribute(const char*, Descriptor* description, int number, const void* from, std::size_t bytes) {
  return set_attribute(emulation_attributes, description, number, from, bytes);
}
int emulationDescGetAttribute(const char*, Descriptor* description, int number, void* to, std::size_t bytes, std::size_t* written) {
  return get_attribute(emulation_attributes, description, number, to, bytes, written);
}

int matrixTransformDescInit_internal(const char*, Descriptor* description, std::size_t bytes, int scale) {
  return place_description(description, bytes, TransformDescription{.scale = scale});
}
int matrixTransformDescCreate(const char*, Descriptor** description, int scale) {
  return make_description(description, TransformDescription{.scale = scale});
}
int matrixTransformDescDestroy(const char*, Descriptor* description) {
  return end_description<TransformDescription>(description);
}
int matrixTransformDescSetAttribute(const char*, Descriptor* description, int number, const void* from, std::size_t bytes) {
  return set_attribute(transform_attributes, description, number, from, bytes);
}
int matrixTransformDescGetAttribute(const char*, Descriptor* description, int number, void* to, std::size_t bytes, std::size_t* written) {
  return get_attribute(transform_attributes, description, number, to, bytes, written);
}

int matmul(const char* call, Blas* handle, const Descriptor* description, const void* alpha, const void* a, const Descriptor* layout_a,
           const void* b, const Descriptor* layout_b, const void* beta, const void* c, const Descriptor* layout_c, void* d,
           const Descriptor* layout_d, const Algorithm*, void*, std::size_t, Stream* stream) {
  return library_call(blas_library, call, false, [&](Context& context) {
    static_cast<void>(blas_of(handle));
    const auto& with = description_of<MatmulDescription>(description);
    const auto& of_d = description_of<Layout>(layout_d);
    const Matmul product = checked(with, description_of<Layout>(layout_a), description_of<Layout>(layout_b),
                                   layout_c == nullptr ? of_d : description_of<Layout>(layout_c), of_d);
    const AnyScalar of_product(with.pointer_mode == 1, alpha, with.scale), of_before(with.pointer_mode == 1, beta, with.scale);
    if (product.shape.m == 0 || product.shape.n == 0) return;
    submit_work(context, blas_library, call, stream,
                [=](const LibraryMemory& memory) { run(memory, product, of_product.read(memory), a, b, of_before.read(memory), c, d); });
  });
}

/// What is known of the one algorithm for a product.
int check(const char* call, Blas* handle, const Descriptor* description, const Descriptor* a, const Descriptor* b, const Descriptor* c,
          const Descriptor* d) {
  return library_call(blas_library, call, false, [&](Context&) {
    static_cast<void>(blas_of(handle));
    const auto& of_d = description_of<Layout>(d);
    static_cast<void>(checked(description_of<MatmulDescription>(description), description_of<Layout>(a), description_of<Layout>(b),
                              c == nullptr ? of_d : description_of<Layout>(c), of_d));
  });
}

int matmulAlgoGetHeuristic(const char* call, Blas* handle, const Descriptor* description, const Descriptor* a, const Descriptor* b,
                           const Descriptor* c, const Descriptor* d, const Descriptor*, int asked, Heuristic* results, int* found) {
  if (results == nullptr || found == nullptr || asked < 1) return blas_invalid_value;
  const int status = check(call, handle, description, a, b, c, d);
  *found = status == blas_success ? 1 : 0;
  if (status == blas_success) results[0] = {};
  return status;
}
int matmulAlgoCheck(const char* call, Blas* handle, const Descriptor* description, const Descriptor* a, const Descriptor* b,
                    const Descriptor* c, const Descriptor* d, const Algorithm* algorithm, Heuristic* result) {
  if (algorithm == nullptr || result == nullptr) return blas_invalid_value;
  const int status = check(call, handle, description, a, b, c, d);
  *result = {.algorithm = *algorithm, .state = status};
  return status;
}
int matmulAlgoGetIds(const char*, Blas*, int, int, int, int, int, int, int asked, int* ids, int* found) {
  if (ids == nullptr || asked < 1) return blas_invalid_value;
  ids[0] = 0;
  if (found != nullptr) *found = 1;
  return blas_success;
}
int matmulAlgoInit(const char*, Blas*, int, int, int, int, int, int, int id, Algorithm* algorithm) {
  if (algorithm == nullptr || id < 0) return blas_invalid_value;
  *algorithm = {};
  algorithm->configured[0] = static_cast<std::uint32_t>(id);  // all compute the same
  return blas_success;
}

/// An algorithm can what a product can be asked for; there is one tile, and no split.
int matmulAlgoCapGetAttribute(const char*, const Algorithm* algorithm, int attribute, void* to, std::size_t bytes, std::size_t* written) {
  constexpr struct {
    int attribute;
    std::uint64_t value;
    std::size_t bytes = 4;
  } capabilities[] = {{0, 0},
                      {1, 0},
                      {2, 0},
                      {3, 1},
                      {4, 1},
                      {5, 0},
                      {6, 0},
                      {7, 0},
                      {10, 1},
                      {11, 3},
                      {12, does_relu | adds_bias | d_relu | sums_bias | does_gelu | d_gelu | has_aux | 1},
                      {13, 0},
                      {14, 0},
                      {15, ~0ull, 8},
                      {16, 1},
                      {17, 1},
                      {18, 1},
                      {19, 1},
                      {21, 1},
                      {22, 0}};
  const auto* const found = std::ranges::find(capabilities, attribute, [](const auto& each) { return each.attribute; });
  if (algorithm == nullptr || found == std::end(capabilities) || (bytes == 0 && written == nullptr)) return blas_invalid_value;
  if (written != nullptr) *written = found->bytes;
  if (bytes == 0) return blas_success;
  if (to == nullptr || bytes < found->bytes) return blas_invalid_value;
  std::memcpy(to, &found->value, found->bytes);
  return blas_success;
}

/// Configurations decide about time alone: they are kept. The last two are of two bytes.
std::size_t configuration_bytes(int attribute) {
  return attribute >= last_configuration - 1 ? 2 : 4;
}
int matmulAlgoConfigSetAttribute(const char*, Algorithm* algorithm, int attribute, const void* from, std::size_t bytes) {
  if (algorithm == nullptr || from == nullptr || attribute < 0 || attribute > last_configuration || bytes != configuration_bytes(attribute))
    return blas_invalid_value;
  std::memcpy(&algorithm->configured[attribute], from, bytes);
  return blas_success;
}
int matmulAlgoConfigGetAttribute(const char*, const Algorithm* algorithm, int attribute, void* to, std::size_t bytes,
                                 std::size_t* written) {
  if (algorithm == nullptr || attribute < 0 || attribute > last_configuration) return blas_invalid_value;
  if (written != nullptr) *written = configuration_bytes(attribute);
  if (bytes == 0) return written == nullptr ? blas_invalid_value : blas_success;
  if (to == nullptr || bytes != configuration_bytes(attribute)) return blas_invalid_value;
  std::memcpy(to, &algorithm->configured[attribute], bytes);
  return blas_success;
}

/// A matrix of a transformation, in memory.
struct Elements {
  const Layout& layout;
  int operation;
  const std::uint8_t* first;

  std::int64_t place(std::int64_t i, std::int64_t j) const {
    if (operation != op_n) std::swap(i, j);
    return layout.order == by_columns ? i + j * layout.leading : i * layout.leading + j;
  }
  std::complex<double> load(std::int64_t i, std::int64_t j) const {
    const auto value = load_element(first, layout.type, place(i, j));
    return operation == op_c ? std::conj(value) : value;
  }
};

CheckedSize bytes_of(const Layout& layout) {
  const bool columns = layout.order == by_columns;
  const std::int64_t inner = signed_size(columns ? layout.rows : layout.columns),
                     outer = signed_size(columns ? layout.columns : layout.rows);
  require_blas(layout.leading >= inner);
  return matrix_extent(inner, outer, layout.leading) * bytes_of_type(layout.type);
}

int matrixTransform(const char* call, Blas* handle, const Descriptor* description, const void* alpha, const void* a,
                    const Descriptor* layout_a, const void* beta, const void* b, const Descriptor* layout_b, void* c,
                    const Descriptor* layout_c, Stream* stream) {
  return library_call(blas_library, call, false, [&](Context& context) {
    static_cast<void>(blas_of(handle));
    const auto with = description_of<TransformDescription>(description);
    const auto of_c = description_of<Layout>(layout_c), of_a = description_of<Layout>(layout_a);
    const auto of_b = b == nullptr || layout_b == nullptr ? of_a : description_of<Layout>(layout_b);
    for (const Layout& layout : {of_a, of_b, of_c})
      require_blas((layout.order == by_columns || layout.order == by_rows) && layout.count == 1, blas_not_supported,
                   "only single matrices by columns or by rows are supported");
    const auto fits = [&](const Layout& layout, int operation) {
      return (operation == op_n ? layout.rows : layout.columns) == of_c.rows &&
             (operation == op_n ? layout.columns : layout.rows) == of_c.columns;
    };
    require_blas(fits(of_a, with.operation_a) && (b == nullptr || fits(of_b, with.operation_b)));
    const AnyScalar first(with.pointer_mode == 1, alpha, with.scale);
    const AnyScalar second = b == nullptr ? first : AnyScalar(with.pointer_mode == 1, beta, with.scale);
    const CheckedSize bytes_a = bytes_of(of_a), bytes_b = bytes_of(of_b), bytes_c = bytes_of(of_c);
    submit_work(context, blas_library, call, stream, [=](const LibraryMemory& memory) {
      const auto read = [&](const void* at, CheckedSize bytes) { return memory.read(static_cast<const std::uint8_t*>(at), bytes); };
      const auto x = first.read(memory), y = b == nullptr ? 0.0 : second.read(memory);
      const Elements from{of_a, with.operation_a, read(a, bytes_a)};
      const Elements other{of_b, with.operation_b, y == 0.0 ? nullptr : read(b, bytes_b)};
      std::uint8_t* const to = memory.write(static_cast<std::uint8_t*>(c), bytes_c);
      const Elements result{of_c, op_n, to};
      for (std::int64_t j = 0; j < signed_size(of_c.columns); ++j)
        for (std::int64_t i = 0; i < signed_size(of_c.rows); ++i)
          store_element(to, of_c.type, result.place(i, j), x * from.load(i, j) + (y == 0.0 ? 0.0 : y * other.load(i, j)));
    });
  });
}

}  // namespace

}  // namespace warpmat::cuda::lt

namespace warpmat::cuda {

// Types of the functions' parameters.
using lt::Algorithm;
using lt::Descriptor;
using lt::Heuristic;

#define WARPMAT_LIBRARY_ROUTINES lt
#define WARPMAT_LIBRARY_REFUSAL blas_not_supported
#define WARPMAT_LIBRARY_TABLE <warpmat/cuda/libraries/blas_lt_functions.inc>
#include <warpmat/cuda/libraries/implement.inc>

}  // namespace warpmat::cuda
