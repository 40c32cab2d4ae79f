#include "tools/library/ptx_file.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace warpmat {

std::string read_ptx(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) throw std::runtime_error(fmt::format("cannot read {}", path.string()));
  return {std::istreambuf_iterator<char>(file), {}};
}

Program read_program(const std::filesystem::path& path, std::string_view target) {
  const std::string text = read_ptx(path);
  try {
    return parse(text, target);
  } catch (const SyntaxError& e) {
    const std::string first = e.errors.front().format(path.string());
    throw std::runtime_error(fmt::format("{}{}", first.substr(0, first.find('\n')),
                                         e.errors.size() > 1 ? fmt::format(" (and {} more: see warpmat check)", e.errors.size() - 1) : ""));
  }
}

}  // namespace warpmat
