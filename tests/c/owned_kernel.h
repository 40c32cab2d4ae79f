#pragma once

#include <warpmat/c_program.h>

#include "c/calls.h"
#include "test.h"

namespace warpmat {

/// Entry `entry` of the module `ptx`, or its only one, for `target` or the module's. The test ends where it is refused.
inline warpmat_kernel* make_kernel(const std::string& ptx, const char* entry = nullptr, const char* target = nullptr) {
  warpmat_error error = sized<warpmat_error>();
  warpmat_module* const module = warpmat_module_parse(ptx.c_str(), &error);
  INFO(error.message);
  REQUIRE(module != nullptr);
  warpmat_kernel* const kernel = warpmat_kernel_create(module, entry, target, 0, &error);
  INFO(error.message);
  REQUIRE(kernel != nullptr);
  warpmat_module_free(module);
  return kernel;
}

struct OwnedKernel {
  explicit OwnedKernel(const std::string& ptx, const char* entry = nullptr, const char* target = nullptr)
      : kernel(make_kernel(ptx, entry, target)) {}
  ~OwnedKernel() { warpmat_kernel_free(kernel); }
  OwnedKernel(const OwnedKernel&) = delete;
  OwnedKernel& operator=(const OwnedKernel&) = delete;

  warpmat_kernel* kernel;
};

}  // namespace warpmat
