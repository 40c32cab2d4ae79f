// The driver: errors, and functions by name. The runtime's cudaGetDriverEntryPoint asks the same table.

#include <warpmat/cuda/driver.h>
#include <warpmat/cuda/driver_table.h>
#include <warpmat/cuda/per_thread.h>

namespace warpmat::cuda {
namespace {

constexpr struct {
  int code;
  const char* name;
} driver_errors[] = {
#define WARPMAT_CUDA_ERROR(name, number) {number, #name},
#include <warpmat/cuda/driver_error_table.inc>
#undef WARPMAT_CUDA_ERROR
};

/// "CUDA_ERROR_INVALID_VALUE", or nullptr.
const char* name_of(int error) {
  for (const auto& each : driver_errors)
    if (each.code == error) return each.name;
  return nullptr;
}

/// CUdriverProcAddressQueryResult.
enum Found : int { found, not_found, not_in_version };

constexpr unsigned long long per_thread = 2;  ///< the greatest of the flags (cudaGetDriverEntryPointFlags)

Found entry_point(const char* name, void** function, int version, unsigned long long flags) {
  const DriverFunction* const best = find_driver_function(name, version, (flags & per_thread) != 0);
  *function = best == nullptr ? nullptr : reinterpret_cast<void*>(best->address);
  if (best != nullptr) return found;
  return find_driver_function(name, 1 << 20, false) != nullptr ? not_in_version : not_found;
}

}  // namespace

WARPMAT_CUDA_API int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long long flags, int* status) {
  if (name == nullptr || function == nullptr || flags > per_thread) return cudaErrorInvalidValue;
  const Found result = entry_point(name, function, version, flags);
  if (status != nullptr) *status = result;
  return result == found ? 0 : static_cast<int>(cudaErrorSymbolNotFound);
}

WARPMAT_CUDA_API int cuGetProcAddress(const char* name, void** function, int version, unsigned long long flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

WARPMAT_CUDA_API int cuGetErrorName(int error, const char** name) {
  if (name == nullptr) return cudaErrorInvalidValue;
  *name = name_of(error);
  return *name == nullptr ? static_cast<int>(cudaErrorInvalidValue) : 0;
}

/// The words of the runtime's name for the error.
WARPMAT_CUDA_API int cuGetErrorString(int error, const char** text) {
  if (text == nullptr) return cudaErrorInvalidValue;
  *text = name_of(error) == nullptr ? nullptr : error_text(error);
  return *text == nullptr ? static_cast<int>(cudaErrorInvalidValue) : 0;
}

WARPMAT_CUDA_API Error cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version, unsigned long long flags,
                                                        int* status) {
  return call(__func__, [&](Context&) {
    require(name != nullptr && function != nullptr && flags <= per_thread);
    const Found result = entry_point(name, function, static_cast<int>(version), flags);
    if (status != nullptr) *status = result;
  });
}

WARPMAT_CUDA_API Error cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags, int* status) {
  return cudaGetDriverEntryPointByVersion(name, function, 13000, flags, status);
}

WARPMAT_CUDA_PER_THREAD(cudaGetDriverEntryPointByVersion, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaGetDriverEntryPoint, ptsz)

}  // namespace warpmat::cuda
