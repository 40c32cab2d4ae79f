#include "gpu/programs/driver/forward.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include <warpmat/cuda/driver_table.h>

// Of each function: a jump through the address of the driver's own, under a name of its own and, where no other file defines that, under
// the driver's.
#if defined(__x86_64__)
#define WARPMAT_JUMP(symbol) "endbr64\n jmp *warpmat_real_" #symbol "(%rip)\n"
#elif defined(__aarch64__)
#define WARPMAT_JUMP(symbol) "hint #34\n adrp x16, warpmat_real_" #symbol "\n ldr x16, [x16, #:lo12:warpmat_real_" #symbol "]\n br x16\n"
#else
#error "no jump for this processor"
#endif

#define WARPMAT_CUDA_SUPPORTED(symbol, version, bytes)                                                                                     \
  asm(".pushsection .text\n.p2align 4\n.type warpmat_forward_" #symbol ", %function\n.weak " #symbol "\n.type " #symbol                    \
      ", %function\nwarpmat_forward_" #symbol ":\n" #symbol ":\n" WARPMAT_JUMP(symbol) ".size " #symbol ", .-" #symbol "\n.popsection\n"); \
  extern "C" void symbol();                                                                                                                \
  extern "C" __attribute__((visibility("hidden"))) void warpmat_forward_##symbol();
#define WARPMAT_CUDA_UNSUPPORTED WARPMAT_CUDA_SUPPORTED
namespace warpmat::programs::addresses {
#include <warpmat/cuda/driver_functions.inc>
}
#undef WARPMAT_CUDA_SUPPORTED

namespace {

/// What a function answers that the driver lacks: CUDA_ERROR_NOT_SUPPORTED.
int not_there() {
  return 801;
}

}  // namespace

#define WARPMAT_CUDA_SUPPORTED(symbol, version, bytes) void* warpmat_real_##symbol = reinterpret_cast<void*>(not_there);
#include <warpmat/cuda/driver_functions.inc>
#undef WARPMAT_CUDA_SUPPORTED

namespace warpmat::programs {
namespace {

struct Row {
  const char* symbol;
  void (*exported)();
  void (*jump)();
  void** real;
};

const Row rows[] = {
#define WARPMAT_CUDA_SUPPORTED(symbol, version, bytes) \
  {#symbol, addresses::symbol, addresses::warpmat_forward_##symbol, &warpmat_real_##symbol},
#include <warpmat/cuda/driver_functions.inc>
#undef WARPMAT_CUDA_SUPPORTED
#undef WARPMAT_CUDA_UNSUPPORTED
};

/// Finds the driver before the program's first call. Its own initialisation is left to cuInit.
__attribute__((constructor)) void load_driver() {
  const char* const path = std::getenv("WARPMAT_RECORD_DRIVER");
  void* const driver = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return say(path == nullptr ? "WARPMAT_RECORD_DRIVER must name the driver, libcuda.so.1" : dlerror());
  for (const Row& row : rows)
    if (void* const found = dlsym(driver, row.symbol)) *row.real = found;
}

}  // namespace

void* replacement(std::string_view name, int version, bool per_thread) {
  const cuda::DriverFunction* const best = cuda::find_driver_function(name, version, per_thread);
  if (best == nullptr) return nullptr;
  for (const Row& row : rows)
    if (row.symbol == best->symbol) return row.exported == row.jump ? nullptr : reinterpret_cast<void*>(row.exported);
  return nullptr;
}

bool exists(const void* real) {
  return real != reinterpret_cast<void*>(not_there);
}

void say(std::string_view text) {
  std::fprintf(stderr, "warpmat: %.*s\n", static_cast<int>(text.size()), text.data());
}

}  // namespace warpmat::programs
