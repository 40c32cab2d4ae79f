// What a process has loaded besides this library: another driver, whose kernels run on a GPU.

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <warpmat/cuda/context.h>
#include <warpmat/cuda/report.h>

namespace warpmat::cuda {
namespace {

namespace fs = std::filesystem;

struct Search {
  fs::path own_folder;
  std::optional<std::string> found = {};
};

/// The folder of this library; that of the program in whose file this code lies.
fs::path own_folder() {
  Dl_info info{};
  std::error_code unknown;
  if (::dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return {};
  return fs::weakly_canonical(info.dli_fname, unknown).parent_path();
}

int look_at(dl_phdr_info* library, std::size_t, void* data) {
  Search& search = *static_cast<Search*>(data);
  const fs::path path = library->dlpi_name == nullptr ? "" : library->dlpi_name;
  if (!path.filename().string().starts_with("libcuda.so")) return 0;
  std::error_code unknown;
  if (fs::weakly_canonical(path, unknown).parent_path() == search.own_folder) return 0;
  search.found = path.string();
  return 1;
}

/// When the process ends it has loaded all that it will.
[[gnu::destructor]] void tell_other_driver() {
  const char* const record = std::getenv("WARPMAT_CUDA_REPORT");
  if (record == nullptr || *record == '\0') return;
  Search search{own_folder()};
  ::dl_iterate_phdr(look_at, &search);
  if (search.found) record_other_driver(record, *search.found);
}

}  // namespace
}  // namespace warpmat::cuda
