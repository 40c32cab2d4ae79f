#include <warpmat/cuda/libraries/blas_handle.h>

#include <algorithm>
#include <mutex>

#include <warpmat/cuda/types.h>

namespace warpmat::cuda {

// The runtime's functions that move data.
extern "C" {
Error cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width, std::size_t height,
                   CopyKind kind);
Error cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width, std::size_t height,
                        CopyKind kind, Stream* stream);
}

const Library blas_library{
    .failed = blas_execution_failed, .measured_on = 0, .source = "the order in which cuBLAS's kernels add up is not modelled"};

namespace {

constexpr int library_version[] = {13, 0, 2};  ///< as programs ask for it: that of CUDA 13.0

struct BlasHandles {
  Handles<Blas> all;
  void leave(Context&, Owner owner) { all.drop(owner); }
};

Handles<Blas>& handles() {
  return context().part<BlasHandles>().all;
}

struct StatusRow {
  int status;
  const char *name, *text;
};
constexpr StatusRow statuses[] = {
    {blas_success, "CUBLAS_STATUS_SUCCESS", "success"},
    {blas_not_initialized, "CUBLAS_STATUS_NOT_INITIALIZED", "the handle is none"},
    {blas_alloc_failed, "CUBLAS_STATUS_ALLOC_FAILED", "memory is used up"},
    {blas_invalid_value, "CUBLAS_STATUS_INVALID_VALUE", "a parameter has an invalid value"},
    {blas_arch_mismatch, "CUBLAS_STATUS_ARCH_MISMATCH", "the GPU lacks what the function needs"},
    {blas_mapping_error, "CUBLAS_STATUS_MAPPING_ERROR", "memory cannot be accessed"},
    {blas_execution_failed, "CUBLAS_STATUS_EXECUTION_FAILED", "work on the GPU failed"},
    {blas_internal_error, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {blas_not_supported, "CUBLAS_STATUS_NOT_SUPPORTED", "the function is not supported"},
    {blas_license_error, "CUBLAS_STATUS_LICENSE_ERROR", "a licence is missing"},
};

const StatusRow* find_status(int status) {
  const auto* const found = std::ranges::find(statuses, status, &StatusRow::status);
  return found == std::end(statuses) ? nullptr : found;
}

/// Reads or changes the state of a handle. It needs no GPU, so the fault of a kernel is not seen.
template <typename Body>
int with_handle(Blas* handle, Body&& body) {
  const std::lock_guard lock(mutex());
  try {
    body(blas_of(handle));
    return blas_success;
  } catch (const Refusal& refusal) {
    return refusal.status;
  }
}

template <typename T>
void put(T* to, T value) {
  require_blas(to != nullptr);
  *to = value;
}

int status_of(Error error) {
  return error == cudaSuccess ? blas_success : blas_mapping_error;
}

/// The rows of a copy: elements of a vector, or columns of a matrix.
struct Copy {
  std::int64_t width, count, from_pitch, to_pitch;
  bool valid() const { return width >= 0 && count >= 0 && from_pitch >= width && to_pitch >= width; }
};

int copy(const Copy& copy, const void* from, void* to, CopyKind kind, Stream* stream, bool waits) {
  if (!copy.valid()) return blas_invalid_value;
  if (copy.width == 0 || copy.count == 0) return blas_success;
  const auto size = [](std::int64_t number) { return static_cast<std::size_t>(number); };
  if (waits) return status_of(cudaMemcpy2D(to, size(copy.to_pitch), from, size(copy.from_pitch), size(copy.width), size(copy.count), kind));
  return status_of(
      cudaMemcpy2DAsync(to, size(copy.to_pitch), from, size(copy.from_pitch), size(copy.width), size(copy.count), kind, stream));
}

/// A product that std::int64_t holds.
bool has_product(std::int64_t a, std::int64_t b) {
  return (CheckedSize(a) * b).fits(INT64_MAX);
}

Copy vector_copy(std::int64_t n, std::int64_t bytes, std::int64_t inc_x, std::int64_t inc_y) {
  if (bytes <= 0 || inc_x <= 0 || inc_y <= 0 || !has_product(bytes, inc_x) || !has_product(bytes, inc_y)) return {-1, 0, 0, 0};
  return {bytes, n, bytes * inc_x, bytes * inc_y};
}
Copy matrix_copy(std::int64_t rows, std::int64_t columns, std::int64_t bytes, std::int64_t lda, std::int64_t ldb) {
  if (bytes <= 0 || !has_product(rows, bytes) || !has_product(lda, bytes) || !has_product(ldb, bytes)) return {-1, 0, 0, 0};
  return {rows * bytes, columns, lda * bytes, ldb * bytes};
}

}  // namespace

Blas& blas_of(Blas* handle) {
  Blas* const found = handles().find(handle);
  require_blas(found != nullptr, blas_not_initialized);
  return *found;
}
Blas* make_blas() {
  return handles().make(Blas{});
}
void destroy_blas(Blas* handle) {
  require_blas(handles().take(handle) != nullptr, blas_not_initialized);
}

namespace blas {

int create(const char* call, Blas** handle) {
  bool made = false;
  const int status = library_call(blas_library, call, true, [&](Context&) {
    put(handle, make_blas());
    made = true;
  });
  return made || status != blas_success ? (status == blas_execution_failed ? blas_not_initialized : status) : blas_not_initialized;
}

int destroy(const char*, Blas* handle) {
  const std::lock_guard lock(mutex());
  try {
    destroy_blas(handle);
    return blas_success;
  } catch (const Refusal& refusal) {
    return refusal.status;
  }
}

int getVersion(const char*, Blas* handle, int* version) {
  return with_handle(handle, [&](Blas&) { put(version, library_version[0] * 10000 + library_version[1] * 100 + library_version[2]); });
}

int getProperty(const char*, int property, int* value) {
  if (property < 0 || property > 2 || value == nullptr) return blas_invalid_value;
  *value = library_version[property];
  return blas_success;
}

std::size_t getCudartVersion(const char*) {
  return 13000;
}

int setWorkspace(const char*, Blas* handle, void*, std::size_t) {
  return with_handle(handle, [](Blas&) {});  // nothing needs it
}

int setStream(const char*, Blas* handle, Stream* stream) {
  return with_handle(handle, [&](Blas& blas) { blas.stream = stream; });
}
int getStream(const char*, Blas* handle, Stream** stream) {
  return with_handle(handle, [&](Blas& blas) { put(stream, blas.stream); });
}

int getPointerMode(const char*, Blas* handle, int* mode) {
  return with_handle(handle, [&](Blas& blas) { put(mode, blas.device_pointers ? 1 : 0); });
}
int setPointerMode(const char*, Blas* handle, int mode) {
  return with_handle(handle, [&](Blas& blas) {
    require_blas(mode == 0 || mode == 1);
    blas.device_pointers = mode == 1;
  });
}

int getAtomicsMode(const char*, Blas* handle, int* mode) {
  return with_handle(handle, [&](Blas& blas) { put(mode, blas.atomics); });
}
int setAtomicsMode(const char*, Blas* handle, int mode) {
  return with_handle(handle, [&](Blas& blas) {
    require_blas(mode == 0 || mode == 1);
    blas.atomics = mode;
  });
}

int getMathMode(const char*, Blas* handle, int* mode) {
  return with_handle(handle, [&](Blas& blas) { put(mode, blas.math); });
}
int setMathMode(const char*, Blas* handle, int mode) {
  return with_handle(handle, [&](Blas& blas) {
    const int plain = mode & ~math_disallow_reduced;
    require_blas((plain >= 0 && plain <= math_last) || plain == math_emulated_f64);
    blas.math = mode;
  });
}

#define WARPMAT_EMULATION_SETTING(name, member)                                         \
  int get##name(const char*, Blas* handle, decltype(Emulation::member)* value) {        \
    return with_handle(handle, [&](Blas& blas) { put(value, blas.emulation.member); }); \
  }                                                                                     \
  int set##name(const char*, Blas* handle, decltype(Emulation::member) value) {         \
    return with_handle(handle, [&](Blas& blas) { blas.emulation.member = value; });     \
  }
WARPMAT_EMULATION_SETTING(EmulationStrategy, strategy)
WARPMAT_EMULATION_SETTING(EmulationSpecialValuesSupport, special_values)
WARPMAT_EMULATION_SETTING(FixedPointEmulationMantissaControl, mantissa_control)
WARPMAT_EMULATION_SETTING(FixedPointEmulationMaxMantissaBitCount, largest_mantissa)
WARPMAT_EMULATION_SETTING(FixedPointEmulationMantissaBitOffset, mantissa_offset)
WARPMAT_EMULATION_SETTING(FixedPointEmulationMantissaBitCountPointer, used_mantissa)
#undef WARPMAT_EMULATION_SETTING

int getSmCountTarget(const char*, Blas* handle, int* processors) {
  return with_handle(handle, [&](Blas& blas) { put(processors, blas.processors); });
}
int setSmCountTarget(const char*, Blas* handle, int processors) {
  return with_handle(handle, [&](Blas& blas) {
    require_blas(processors >= 0);
    blas.processors = processors;
  });
}

const char* getStatusName(const char*, int status) {
  const StatusRow* const row = find_status(status);
  return row == nullptr ? "CUBLAS_STATUS_UNKNOWN" : row->name;
}
const char* getStatusString(const char*, int status) {
  const StatusRow* const row = find_status(status);
  return row == nullptr ? "unknown status" : row->text;
}

// Calls are not logged.
int loggerConfigure(const char*, int, int, int, const char*) {
  return blas_success;
}
int setLoggerCallback(const char*, void*) {
  return blas_success;
}
int getLoggerCallback(const char*, void** callback) {
  if (callback == nullptr) return blas_invalid_value;
  *callback = nullptr;
  return blas_success;
}
void xerbla(const char*, const char* routine, int argument) {
  say(std::string(routine == nullptr ? "a routine" : routine) + ": parameter " + std::to_string(argument) + " has an invalid value");
}

int setVector(const char*, std::int64_t n, std::int64_t bytes, const void* x, std::int64_t inc_x, void* y, std::int64_t inc_y) {
  return copy(vector_copy(n, bytes, inc_x, inc_y), x, y, host_to_device, nullptr, true);
}
int getVector(const char*, std::int64_t n, std::int64_t bytes, const void* x, std::int64_t inc_x, void* y, std::int64_t inc_y) {
  return copy(vector_copy(n, bytes, inc_x, inc_y), x, y, device_to_host, nullptr, true);
}
int setVectorAsync(const char*, std::int64_t n, std::int64_t bytes, const void* x, std::int64_t inc_x, void* y, std::int64_t inc_y,
                   Stream* stream) {
  return copy(vector_copy(n, bytes, inc_x, inc_y), x, y, host_to_device, stream, false);
}
int getVectorAsync(const char*, std::int64_t n, std::int64_t bytes, const void* x, std::int64_t inc_x, void* y, std::int64_t inc_y,
                   Stream* stream) {
  return copy(vector_copy(n, bytes, inc_x, inc_y), x, y, device_to_host, stream, false);
}
int setMatrix(const char*, std::int64_t rows, std::int64_t columns, std::int64_t bytes, const void* a, std::int64_t lda, void* b,
              std::int64_t ldb) {
  return copy(matrix_copy(rows, columns, bytes, lda, ldb), a, b, host_to_device, nullptr, true);
}
int getMatrix(const char*, std::int64_t rows, std::int64_t columns, std::int64_t bytes, const void* a, std::int64_t lda, void* b,
              std::int64_t ldb) {
  return copy(matrix_copy(rows, columns, bytes, lda, ldb), a, b, device_to_host, nullptr, true);
}
int setMatrixAsync(const char*, std::int64_t rows, std::int64_t columns, std::int64_t bytes, const void* a, std::int64_t lda, void* b,
                   std::int64_t ldb, Stream* stream) {
  return copy(matrix_copy(rows, columns, bytes, lda, ldb), a, b, host_to_device, stream, false);
}
int getMatrixAsync(const char*, std::int64_t rows, std::int64_t columns, std::int64_t bytes, const void* a, std::int64_t lda, void* b,
                   std::int64_t ldb, Stream* stream) {
  return copy(matrix_copy(rows, columns, bytes, lda, ldb), a, b, device_to_host, stream, false);
}

}  // namespace blas

}  // namespace warpmat::cuda
