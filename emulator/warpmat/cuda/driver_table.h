#pragma once

#include <string_view>

namespace warpmat::cuda {

struct DriverFunction {
  std::string_view symbol;
  int version;  ///< the first of CUDA with this signature
  void (*address)();
};

/// The newest version of the driver's function `name` that CUDA `version` has, or nullptr: "cuMemAlloc" of 13000 is cuMemAlloc_v2. With
/// `per_thread` the one for --default-stream per-thread, where there is one.
const DriverFunction* find_driver_function(std::string_view name, int version, bool per_thread);

}  // namespace warpmat::cuda
