#include "paths.h"
#include "vectors_published.h"

#include <zlib.h>

#include <array>
#include <filesystem>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace {

std::string path_of(const std::string& file) {
  return published_vectors_path() + "/" + file;
}

std::string uncompressed(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::string text;
  std::array<char, 1 << 16> buffer;
  int count = 0;
  while ((count = gzread(file.get(), buffer.data(), buffer.size())) > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  if (count < 0 || gzeof(file.get()) == 0) throw std::runtime_error("cannot read " + path);
  return text;
}

}  // namespace

bool has_vectors(const std::string& name) {
  return std::filesystem::exists(path_of(name));
}

std::vector<std::string> read_compressed_lines(const std::string& path) {
  std::vector<std::string> result;
  std::istringstream lines(uncompressed(path));
  for (std::string line; std::getline(lines, line);) result.push_back(line);
  return result;
}

Table read_vectors(const std::string& file) {
  Table table;
  for (const std::string& line : read_compressed_lines(path_of(file))) {
    std::istringstream fields(line);
    table.emplace_back();
    for (std::string field; std::getline(fields, field, '\t');) table.back().push_back(field);
  }
  return table;
}

std::string no_vectors(const std::string& name) {
  return "skipped: no vectors at " + path_of(name) + " (set WARPMAT_VECTORS)";
}
