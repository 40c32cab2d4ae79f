#include <warpmat/cuda/driver_table.h>

// All functions of the table, for their addresses alone.
#define WARPMAT_CUDA_SUPPORTED(symbol, version, bytes) extern "C" void symbol();
#define WARPMAT_CUDA_UNSUPPORTED WARPMAT_CUDA_SUPPORTED
namespace warpmat::cuda::addresses {
#include <warpmat/cuda/driver_functions.inc>
}
#undef WARPMAT_CUDA_SUPPORTED
#undef WARPMAT_CUDA_UNSUPPORTED

namespace warpmat::cuda {
namespace {

constexpr DriverFunction functions[] = {
#define WARPMAT_CUDA_SUPPORTED(symbol, version, bytes) {#symbol, version, addresses::symbol},
#define WARPMAT_CUDA_UNSUPPORTED WARPMAT_CUDA_SUPPORTED
#include <warpmat/cuda/driver_functions.inc>
#undef WARPMAT_CUDA_SUPPORTED
#undef WARPMAT_CUDA_UNSUPPORTED
};

/// Whether `symbol` is a version of `name`: "cuMemAlloc_v2" of "cuMemAlloc", with the suffix of a stream's default if `per_thread`.
bool is_version(std::string_view symbol, std::string_view name, bool per_thread) {
  const bool has_suffix = symbol.ends_with("_ptsz") || symbol.ends_with("_ptds");
  if (has_suffix != per_thread) return false;
  if (has_suffix) symbol.remove_suffix(5);
  if (!symbol.starts_with(name)) return false;
  symbol.remove_prefix(name.size());
  return symbol.empty() || (symbol.size() == 3 && symbol.starts_with("_v"));
}

}  // namespace

const DriverFunction* find_driver_function(std::string_view name, int version, bool per_thread) {
  const DriverFunction* best = nullptr;
  for (const DriverFunction& function : functions)
    if (is_version(function.symbol, name, per_thread) && function.version <= version &&
        (best == nullptr || function.version > best->version))
      best = &function;
  return best == nullptr && per_thread ? find_driver_function(name, version, false) : best;
}

}  // namespace warpmat::cuda
