#pragma once

#include <cstddef>
#include <string_view>

// The driver behind this library: NVIDIA's libcuda.so.1, or another one that WARPMAT_RECORD_DRIVER names. Every function of the table has a
// place for its address there, and a function here that jumps to it, with all its arguments. Where a file of this folder defines a function
// of that name itself, that one is exported instead.

#define WARPMAT_CUDA_SUPPORTED(symbol, version, bytes) extern "C" __attribute__((visibility("hidden"))) void* warpmat_real_##symbol;
#define WARPMAT_CUDA_UNSUPPORTED WARPMAT_CUDA_SUPPORTED
#include <warpmat/cuda/driver_functions.inc>
#undef WARPMAT_CUDA_SUPPORTED
#undef WARPMAT_CUDA_UNSUPPORTED

#define WARPMAT_DRIVER_API extern "C" __attribute__((visibility("default")))

/// The driver's own function, for one that this library declares. The parameters of that declaration must have the bytes that the table
/// says.
#define WARPMAT_REAL(symbol) (::warpmat::programs::real_function<::warpmat::programs::row_of(#symbol)>(&symbol, warpmat_real_##symbol))

namespace warpmat::programs {

/// The bytes of each function's parameters, a digit each.
inline constexpr struct {
  std::string_view symbol, bytes;
} signatures[] = {
#define WARPMAT_CUDA_SUPPORTED(symbol, version, bytes) {#symbol, bytes},
#define WARPMAT_CUDA_UNSUPPORTED WARPMAT_CUDA_SUPPORTED
#include <warpmat/cuda/driver_functions.inc>
#undef WARPMAT_CUDA_SUPPORTED
#undef WARPMAT_CUDA_UNSUPPORTED
};

consteval std::size_t row_of(std::string_view symbol) {
  std::size_t row = 0;
  while (signatures[row].symbol != symbol) ++row;
  return row;
}

template <std::size_t row, typename... Parameters>
auto real_function(int (*)(Parameters...), void* real) {
  constexpr char digits[] = {static_cast<char>('0' + sizeof(Parameters))..., '\0'};
  static_assert(signatures[row].bytes == digits, "the declaration is not the driver's");
  return reinterpret_cast<int (*)(Parameters...)>(real);
}

/// The function that this library has in place of the driver's: of `name` in the newest version that CUDA `version` has; or nullptr where
/// the driver's own shall be called.
void* replacement(std::string_view name, int version, bool per_thread);

/// Whether the driver has the function whose place that is.
bool exists(const void* real);

/// Prints "warpmat: TEXT" to standard error.
void say(std::string_view text);

}  // namespace warpmat::programs
