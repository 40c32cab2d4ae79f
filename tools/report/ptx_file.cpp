#include "tools/report/ptx_file.h"

#include <fmt/core.h>
#include <warpmat/ptx/lexer.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>

#include "tools/report/packed_file.h"

namespace warpmat {
namespace {

/// What `read` returns; of a text's errors the first one as one line, with the file's name.
template <typename Read>
auto first_error_of(const std::filesystem::path& path, Read read) {
  try {
    return read();
  } catch (const SyntaxError& e) {
    const std::string first = e.errors.front().format(path.string());
    throw std::runtime_error(fmt::format("{}{}", first.substr(0, first.find('\n')),
                                         e.errors.size() > 1 ? fmt::format(" (and {} more: see warpmat check)", e.errors.size() - 1) : ""));
  }
}

}  // namespace

std::string read_ptx(const std::filesystem::path& path) {
  if (std::optional<std::string> packed = packed_contents(path)) return *packed;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) throw std::runtime_error(fmt::format("cannot read {}", path.string()));
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has_functions(const std::string& text) {
  return std::ranges::any_of(tokenize(text), [](const Token& token) { return token.text == ".entry" || token.text == ".func"; });
}

Program read_program(const std::filesystem::path& path, std::string_view target) {
  const std::string text = read_ptx(path);
  if (has_functions(text))
    throw std::runtime_error(fmt::format(
        "{} holds a whole kernel, and this command takes a list of statements: 'warpmat launch {}' runs it, with grid, block and buffers",
        path.string(), path.string()));
  return first_error_of(path, [&] { return parse(text, target); });
}

Module read_module(const std::filesystem::path& path) {
  const std::string text = read_ptx(path);
  if (!has_functions(text))
    throw std::runtime_error(
        fmt::format("{} holds a list of statements without an entry: 'warpmat run {}' runs it on one warp", path.string(), path.string()));
  return first_error_of(path, [&] { return Module(text); });
}

Kernel read_kernel(const std::filesystem::path& path, const Module& module, std::string_view entry, const KernelOptions& options) {
  return first_error_of(path, [&] { return Kernel(module, entry, options); });
}

void refuse_file(const std::string& opcode) {
  if (opcode.ends_with(".ptx"))
    throw std::runtime_error(fmt::format(
        "{} is a file, and this command takes one instruction: 'warpmat run' takes lists of statements, 'warpmat launch' kernels", opcode));
}

const std::string& statement_opcode(const Statement& statement) {
  return statement.matrix() != nullptr ? statement.matrix()->form().opcode : statement.scalar()->opcode;
}

}  // namespace warpmat
