#include "tools/report/ptx_file.h"

#include <fmt/core.h>
#include <warpmat/ptx/text/lexer.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <stdexcept>

#include "tools/report/file_kind.h"
#include "tools/report/input_file.h"
#include "tools/report/nvcc.h"
#include "tools/report/packed_file.h"

namespace warpmat {
namespace {

/// Calls `read`. Reports only the first error of a text, as one line with the file's name.
template <typename Read>
auto first_error_of(const std::string& name, Read read) {
  try {
    return read();
  } catch (const SyntaxError& e) {
    const std::string first = e.errors.front().format(name);
    throw std::runtime_error(fmt::format("{}{}", first.substr(0, first.find('\n')),
                                         e.errors.size() > 1 ? fmt::format(" (and {} more: see warpmat check)", e.errors.size() - 1) : ""));
  }
}

/// Whether a text has a directive or a statement.
bool may_be_ptx(std::string_view text) {
  const bool has_directive = std::ranges::adjacent_find(text, [](char dot, char name) {
                               return dot == '.' && std::isalpha(static_cast<unsigned char>(name)) != 0;
                             }) != text.end();
  return has_directive || text.find(';') != std::string_view::npos;
}

/// The file's bytes, or those that are packed beside its place. Throws std::runtime_error for a text that has nothing of PTX.
std::string contents_of(const std::filesystem::path& path) {
  const std::optional<std::string> packed = packed_contents(path);
  std::string text = packed ? *packed : read_file(path);
  if (text.empty()) throw std::runtime_error(fmt::format("{} is empty", path.string()));
  if (kind_of(path, text) == FileKind::ptx && !may_be_ptx(text))
    throw std::runtime_error(fmt::format("{} is no PTX: it has no directive such as .version, and no statement", path.string()));
  return text;
}

}  // namespace

PtxText read_ptx(const std::filesystem::path& path, std::string_view target) {
  std::string text = contents_of(path);
  const FileKind kind = kind_of(path, text);
  if (kind == FileKind::ptx) return {std::move(text), path.string()};
  if (kind == FileKind::cuda)
    if (const auto nvcc = find_nvcc()) {
      constexpr std::string_view common_case_target = "sm_90a";  // has every instruction of sm_80 to sm_90a, all of them measured
      return {compile_cuda(*nvcc, path, target.empty() ? common_case_target : target), fmt::format("PTX of {}", path.string())};
    }
  throw std::runtime_error(how_to_ptx(path, kind, text, "warpmat launch"));
}

bool has_functions(const std::string& text) {
  constexpr std::string_view of_modules[] = {".entry", ".func", ".visible", ".extern", ".weak", ".common"};
  return std::ranges::any_of(tokenize(text),
                             [&](const Token& token) { return std::ranges::find(of_modules, token.text) != std::end(of_modules); });
}

bool is_statement_list(const std::filesystem::path& path) {
  const std::string text = contents_of(path);
  return kind_of(path, text) == FileKind::ptx && !has_functions(text);
}

Program read_program(const std::filesystem::path& path, std::string_view target) {
  const std::string text = contents_of(path);
  const FileKind kind = kind_of(path, text);
  if (kind == FileKind::cuda || (kind == FileKind::ptx && has_functions(text)))
    throw std::runtime_error(
        fmt::format("{} holds {}, and this command takes a list of statements: 'warpmat launch {}' runs it, with grid, "
                    "block and buffers",
                    path.string(), kind == FileKind::cuda ? "CUDA C++" : "a whole kernel", path.string()));
  if (kind != FileKind::ptx) throw std::runtime_error(how_to_ptx(path, kind, text, "warpmat launch"));
  return first_error_of(path.string(), [&] { return parse(text, target); });
}

ModuleFile read_module(const std::filesystem::path& path, std::string_view target) {
  const PtxText ptx = read_ptx(path, target);
  if (!has_functions(ptx.text))
    throw std::runtime_error(
        fmt::format("{} holds a list of statements without an entry: 'warpmat run {}' runs it on one warp", ptx.name, path.string()));
  return {first_error_of(ptx.name, [&] { return Module(ptx.text); }), ptx.name};
}

Kernel read_kernel(const ModuleFile& file, std::string_view entry, const KernelOptions& options) {
  return first_error_of(file.name, [&] { return Kernel(file.module, entry, options); });
}

void refuse_file(const std::string& opcode) {
  constexpr std::string_view endings[] = {".ptx", ".cu", ".cubin", ".fatbin", ".o", ".json", ".npy"};
  if (std::ranges::any_of(endings, [&](std::string_view ending) { return opcode.ends_with(ending); }))
    throw std::runtime_error(fmt::format(
        "{} is a file, and this command takes one instruction: 'warpmat run' takes lists of statements, 'warpmat launch' kernels", opcode));
}

std::string_view statement_opcode(const Statement& statement) {
  return statement.instruction().opcode();
}

}  // namespace warpmat
