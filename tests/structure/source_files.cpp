#include "structure/source_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "paths.h"

namespace fs = std::filesystem;

std::vector<SourceFile> source_files(const std::vector<std::string>& folders, const std::vector<std::string>& extensions) {
  const fs::path root = source_path("");
  std::vector<SourceFile> files;
  for (const std::string& folder : folders) {
    const std::size_t before = files.size();
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file()) continue;
      if (!extensions.empty() && std::ranges::find(extensions, entry.path().extension().string()) == extensions.end()) continue;
      std::ifstream in(entry.path());
      files.push_back({fs::relative(entry.path(), root).string(), std::string(std::istreambuf_iterator<char>(in), {})});
    }
    if (files.size() == before) throw std::runtime_error("no source file in " + folder);
  }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}
