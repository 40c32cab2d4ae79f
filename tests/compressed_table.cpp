#include "compressed_table.h"

#include <zlib.h>

#include <array>
#include <memory>
#include <sstream>
#include <stdexcept>

std::string read_compressed_text(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::string text;
  std::array<char, 1 << 16> buffer;
  int count = 0;
  while ((count = gzread(file.get(), buffer.data(), buffer.size())) > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  if (count < 0 || gzeof(file.get()) == 0) throw std::runtime_error("cannot read " + path);
  return text;
}

std::vector<std::string> read_compressed_lines(const std::string& path) {
  std::vector<std::string> result;
  std::istringstream lines(read_compressed_text(path));
  for (std::string line; std::getline(lines, line);) result.push_back(line);
  return result;
}

Table read_table(const std::string& path) {
  Table table;
  for (const std::string& line : read_compressed_lines(path)) {
    std::istringstream fields(line);
    table.emplace_back();
    for (std::string field; std::getline(fields, field, '\t');) table.back().push_back(field);
  }
  return table;
}
