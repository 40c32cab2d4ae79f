// A target without libFuzzer: runs it on files and on those in folders. For tests of the corpus with any compiler, and to look at an input
// that libFuzzer found.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" __attribute__((weak)) int LLVMFuzzerInitialize(int* count, char*** arguments);

namespace {

void run(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  std::printf("%s\n", path.c_str());
  std::fflush(stdout);  // of an input that ends the process the name is the last line
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int count, char** arguments) {
  if (LLVMFuzzerInitialize != nullptr) LLVMFuzzerInitialize(&count, &arguments);
  std::vector<std::filesystem::path> paths;
  for (int i = 1; i < count; ++i) {
    if (!std::filesystem::is_directory(arguments[i]))
      paths.emplace_back(arguments[i]);
    else
      for (const auto& entry : std::filesystem::directory_iterator(arguments[i])) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  for (const std::filesystem::path& path : paths) run(path);
  if (paths.empty()) std::fputs("name files or folders with inputs\n", stderr);
  return paths.empty() ? 2 : 0;
}
