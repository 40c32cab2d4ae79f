#pragma once

#include <span>
#include <string_view>

namespace warpmat {

// Files of the source tree that the command writes; the build converts them to source code (tools/CMakeLists.txt).

struct EmbeddedFile {
  std::string_view name, text;
};

/// The files of a new project: examples/unit_test and the README's example.
std::span<const EmbeddedFile> new_files();

/// The files of a new project with a CUDA kernel: examples/cuda_test.
std::span<const EmbeddedFile> new_cuda_files();

/// The files of the page: tools/site.
std::span<const EmbeddedFile> site_files();

}  // namespace warpmat
