#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpmat::cuda {

/// A return address in a file that the process has loaded: the address of the call, as the file's debug information counts it.
struct ProgramFrame {
  std::string file;
  std::uint64_t address = 0;
};

/// The call of the program that runs now in this thread.
struct CallSite {
  std::string function;              ///< "cudaMalloc", "cuMemAlloc_v2"; empty where it is not known
  std::vector<ProgramFrame> frames;  ///< the program's, innermost first, at most 16
};

CallSite call_site();

}  // namespace warpmat::cuda
