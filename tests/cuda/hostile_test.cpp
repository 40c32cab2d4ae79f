#include <array>
#include <sstream>
#include <string>
#include <vector>

#include "catch.h"
#include "paths.h"
#include "tools/command.h"

#include <filesystem>

// What hostile_program.cpp prints. Without a remark the codes are those of the documentation of CUDA's runtime and driver (each function's
// "Returns").

namespace warpmat::hostile_test {
namespace {

Outcome run_hostile(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {}) {
  std::vector<std::string> all{"LD_LIBRARY_PATH=" + cuda_libraries_path()};
  all.insert(all.end(), environment.begin(), environment.end());
  return run_program(std::filesystem::path(cuda_program_path()).replace_filename("warpmat_cuda_hostile_program"), arguments, all);
}

/// The lines of an output, each call without its arguments: "cudaMalloc: cudaSuccess".
std::vector<std::string> calls_of(const std::string& out) {
  std::vector<std::string> lines;
  std::istringstream in(out);
  for (std::string line; std::getline(in, line);) {
    const std::size_t open = line.find('('), result = line.rfind(": ");
    lines.push_back(open == std::string::npos || result == std::string::npos ? line : line.substr(0, open) + line.substr(result));
  }
  return lines;
}

/// The names of the results of those calls of a function, in their order.
std::vector<std::string> results_of(const std::string& out, const std::string& call) {
  std::vector<std::string> results;
  for (const std::string& line : calls_of(out))
    if (line.starts_with(call + ": ")) results.push_back(line.substr(call.size() + 2));
  return results;
}

}  // namespace

