#include "recorded_program.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <link.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <regex>
#include <stdexcept>
#include <system_error>

#include "gpu/cuda/gpu_runner.h"
#include "gpu/programs/archive.h"
#include "tools/report/supervision.h"

namespace warpmat {
namespace {

namespace fs = std::filesystem;

/// The folder of the library that stands before the driver.
fs::path recording_library() {
  if (const auto folder = library_folder({WARPMAT_RECORD_IN_BUILD, WARPMAT_RECORD_INSTALLED}, "libcuda.so.1")) return *folder;
  throw std::runtime_error(fmt::format("no libcuda.so.1 of warpmat in {} or {}", (command_folder() / WARPMAT_RECORD_IN_BUILD).string(),
                                       (command_folder() / WARPMAT_RECORD_INSTALLED).lexically_normal().string()));
}

/// The file of the driver that the program would load.
std::string driver_file() {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) throw NoGpu("no GPU: this machine has no CUDA driver (libcuda.so.1)");
  link_map* map = nullptr;
  if (dlinfo(driver, RTLD_DI_LINKMAP, &map) != 0) throw std::runtime_error(fmt::format("where is libcuda.so.1? {}", dlerror()));
  return fs::absolute(map->l_name).string();
}

void check(const RecordedProgramOptions& options) {
  try {
    std::regex(options.kernels);
  } catch (const std::regex_error& e) {
    refuse_option("--kernels", fmt::format("'{}' is no regular expression: {}", options.kernels, e.what()));
  }
}

/// Makes one archive of those of the processes. That of a single process is moved where it can be: it may have gigabytes.
void join(std::vector<fs::path>& parts, const fs::path& archive) {
  if (parts.size() == 1) {
    std::error_code other_disk;
    fs::rename(parts.front(), archive, other_disk);
    if (!other_disk) return;
  }
  std::ranges::sort(parts);
  programs::ArchiveWriter all(archive);
  for (const fs::path& part : parts) all.append(part);
}

}  // namespace

void add_recording_flags(Command command, RecordedProgramOptions& options) {
  constexpr std::size_t most = std::size_t{1} << 40;
  const Command group = command.add_option_group("Of a program", "");
  group.add_option("--kernels", options.kernels, "Only kernels in whose C++ name this regular expression is found").type_name("REGEX");
  group.add_option("--every", options.every, "Only every N-th launch of each kernel").type_name("N").range(std::size_t{1}, most);
  group.add_option("--first", options.first, "Only the first N of these launches of each kernel")
      .type_name("N")
      .range(std::size_t{1}, most);
  group.add_option("--memory", options.memory, "Only launches with allocations of no more bytes (default: 1GiB)")
      .type_name("SIZE")
      .size_of_bytes();
  group.add_flag("--once", options.once, "Do not launch twice to find what is not deterministic");
}

int record_program(const RecordedProgramOptions& options, const fs::path& archive) {
  check(options);
  const fs::path program = find_program(options.words.front());
  const fs::path libraries = recording_library();
  const std::string driver = driver_file();
  const TemporaryFolder folder;
  std::vector<std::string> words = options.words;
  words.front() = program.string();
  const auto start = std::chrono::steady_clock::now();
  const ProcessEnd end = supervise(words, {},
                                   {{"LD_LIBRARY_PATH", list_with("LD_LIBRARY_PATH", libraries.string())},
                                    {"WARPMAT_RECORD_DRIVER", driver},
                                    {"WARPMAT_RECORD_FOLDER", folder.path().string()},
                                    {"WARPMAT_RECORD_KERNELS", options.kernels},
                                    {"WARPMAT_RECORD_EVERY", std::to_string(options.every)},
                                    {"WARPMAT_RECORD_FIRST", std::to_string(options.first)},
                                    {"WARPMAT_RECORD_LIMIT", std::to_string(options.limit)},
                                    {"WARPMAT_RECORD_MEMORY", std::to_string(options.memory)},
                                    {"WARPMAT_RECORD_TWICE", options.once ? "0" : "1"}});
  if (end.asked != 0) std::raise(end.asked);  // catch_interruptions() remembers it
  std::vector<fs::path> parts;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.path()))
    if (entry.path().extension() == ".launches") parts.push_back(entry.path());
  join(parts, archive);
  fmt::print(stderr, "warpmat: the program ran {:.2f} s while it was recorded; {} bytes of launches\n",
             std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), fs::file_size(archive));
  return end.status;
}

}  // namespace warpmat
