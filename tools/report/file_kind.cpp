#include "tools/report/file_kind.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

namespace warpmat {
namespace {

constexpr std::string_view elf_magic =
    "\x7f"
    "ELF";

std::uint16_t half_at(std::string_view bytes, std::size_t at) {
  return at + 2 > bytes.size()
             ? 0
             : static_cast<std::uint16_t>(static_cast<std::uint8_t>(bytes[at]) | static_cast<std::uint8_t>(bytes[at + 1]) << 8);
}

/// An ELF file by e_type and e_machine of its header.
FileKind elf_kind(std::string_view bytes) {
  constexpr std::size_t type_at = 16, machine_at = 18;
  constexpr std::uint16_t cuda_machine = 190, relocatable = 1, dynamic = 3;
  if (half_at(bytes, machine_at) == cuda_machine) return FileKind::cubin;
  if (half_at(bytes, type_at) == relocatable) return FileKind::object;
  const bool has_interpreter = bytes.substr(0, 4096).find("/ld-") != std::string_view::npos;  // shared libraries name no loader
  return half_at(bytes, type_at) == dynamic && !has_interpreter ? FileKind::shared_library : FileKind::executable;
}

std::optional<FileKind> binary_kind(std::string_view bytes) {
  using namespace std::literals;
  if (bytes.starts_with(elf_magic)) return elf_kind(bytes);
  const std::pair<std::string_view, FileKind> magics[] = {{"\x50\xed\x55\xba"sv, FileKind::fatbin},
                                                          {"!<arch>\n"sv, FileKind::archive},
                                                          {"\x93NUMPY"sv, FileKind::array},
                                                          {"MZ\x90\0"sv, FileKind::executable}};
  for (const auto& [magic, kind] : magics)
    if (bytes.starts_with(magic)) return kind;
  if (bytes.find('\0') != std::string_view::npos) return FileKind::binary;
  return std::nullopt;
}

/// The text with comments and quoted parts replaced by spaces.
std::string code_of(std::string_view text) {
  std::string code(text);
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < std::min(to, code.size()); ++i)
      if (code[i] != '\n') code[i] = ' ';
  };
  const auto end_of = [&](std::string_view what, std::size_t from) {
    const std::size_t at = text.find(what, from);
    return at == std::string_view::npos ? text.size() : at + what.size();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t end = i;
    if (text.substr(i).starts_with("//")) end = end_of("\n", i);
    if (text.substr(i).starts_with("/*")) end = end_of("*/", i + 2);
    if (text[i] == '"') {
      for (end = i + 1; end < text.size() && text[end] != '"' && text[end] != '\n';)
        end += text[end] == '\\' ? std::size_t{2} : std::size_t{1};
      ++end;
    }
    if (end == i) continue;
    blank(i, end);
    i = end - 1;
  }
  return code;
}

bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Where `word` first stands as a word of its own, or where `at_line_start` as the first of a line; npos where it does not.
std::size_t find_word(std::string_view code, std::string_view word, bool at_line_start) {
  for (std::size_t at = code.find(word); at != std::string_view::npos; at = code.find(word, at + 1)) {
    const std::size_t end = at + word.size(), line = code.rfind('\n', at) + 1;
    if (at > 0 && is_word(code[at - 1]) && is_word(word.front())) continue;
    if (end < code.size() && is_word(code[end]) && is_word(word.back())) continue;
    if (!at_line_start || code.substr(line, at - line).find_first_not_of(" \t") == std::string_view::npos) return at;
  }
  return std::string_view::npos;
}

struct Sign {
  std::string_view word;
  bool at_line_start;
  FileKind kind;
};

constexpr std::array signs{
    Sign{".version", true, FileKind::ptx},     Sign{".target", true, FileKind::ptx},       Sign{".address_size", true, FileKind::ptx},
    Sign{".reg", true, FileKind::ptx},         Sign{".shared", true, FileKind::ptx},       Sign{".entry", false, FileKind::ptx},
    Sign{"__global__", false, FileKind::cuda}, Sign{"__device__", false, FileKind::cuda},  Sign{"__host__", false, FileKind::cuda},
    Sign{"#include", true, FileKind::cuda},    Sign{"#pragma", true, FileKind::cuda},      Sign{"#define", true, FileKind::cuda},
    Sign{"#if", true, FileKind::cuda},         Sign{"#ifdef", true, FileKind::cuda},       Sign{"#ifndef", true, FileKind::cuda},
    Sign{"template", true, FileKind::cuda},    Sign{"using", true, FileKind::cuda},        Sign{"namespace", true, FileKind::cuda},
    Sign{"typedef", true, FileKind::cuda},     Sign{"constexpr", true, FileKind::cuda},    Sign{"int main", true, FileKind::cuda},
    Sign{"import", true, FileKind::python},    Sign{"from", true, FileKind::python},       Sign{"def", true, FileKind::python},
    Sign{"@triton", true, FileKind::python},   Sign{".headerflags", true, FileKind::sass},
};

/// By the sign that comes first.
FileKind text_kind(const std::filesystem::path& path, std::string_view text) {
  if (text.find("\nFatbin ptx code:\n") != std::string_view::npos || text.starts_with("Fatbin ")) {
    if (text.find("\n.version ") != std::string_view::npos) return FileKind::ptx_dump;
    return FileKind::sass;
  }
  if (text.find("/*0000*/") != std::string_view::npos) return FileKind::sass;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{' && text.find_first_not_of(" \t\r\n", first + 1) != std::string_view::npos &&
      text[text.find_first_not_of(" \t\r\n", first + 1)] == '"')
    return FileKind::json;
  const std::string code = code_of(text);
  std::optional<FileKind> kind;
  std::size_t nearest = std::string_view::npos;
  for (const Sign& sign : signs)
    if (const std::size_t at = find_word(code, sign.word, sign.at_line_start); at < nearest) {
      nearest = at;
      kind = sign.kind;
    }
  if (kind) return *kind;
  constexpr std::string_view sources[] = {".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".h", ".hpp"};
  if (std::ranges::count(sources, path.extension().string()) != 0) return FileKind::cuda;
  return path.extension() == ".py" ? FileKind::python : FileKind::ptx;
}

std::string_view noun(FileKind kind) {
  switch (kind) {
    case FileKind::cubin: return "a cubin, machine code for a GPU";
    case FileKind::object: return "an object file";
    case FileKind::executable: return "an executable";
    case FileKind::shared_library: return "a shared library";
    case FileKind::archive: return "a static library";
    case FileKind::fatbin: return "a fatbin";
    case FileKind::ptx_dump: return "what cuobjdump -ptx prints: PTX under headings";
    case FileKind::sass: return "machine code as text, as cuobjdump -sass prints it";
    case FileKind::array: return "a NumPy array";
    case FileKind::json: return "JSON";
    case FileKind::cuda: return "CUDA C++";
    case FileKind::python: return "Python";
    case FileKind::ptx:
    case FileKind::binary: break;
  }
  return "a binary file";
}

}  // namespace

FileKind kind_of(const std::filesystem::path& path, std::string_view contents) {
  if (const auto binary = binary_kind(contents)) return *binary;
  return text_kind(path, contents);
}

std::string how_to_ptx(const std::filesystem::path& path, FileKind kind, std::string_view contents, std::string_view command) {
  const std::string file = path.string(), stem = path.stem().string();
  const std::string is = fmt::format("{} is {}", file, noun(kind));
  switch (kind) {
    case FileKind::cuda:
      return fmt::format(
          "{}: type 'nvcc -ptx -lineinfo -arch=sm_90a {}', then '{} {}.ptx'; where nvcc is found (in PATH or by CUDACXX), "
          "launch, check and banks do that by themselves",
          is, file, command, stem);
    case FileKind::python:
      return fmt::format("{}: Triton's compiled kernel has the PTX, kernel.asm[\"ptx\"]; write that into a file, then '{} FILE.ptx'", is,
                         command);
    case FileKind::cubin:
    case FileKind::sass:
      return fmt::format(
          "{}, and holds no PTX: 'nvcc -ptx -lineinfo -arch=sm_90a FILE.cu' makes PTX of the source, and 'cuobjdump -xptx all "
          "PROGRAM' extracts it from the program that the code is part of",
          is);
    case FileKind::object:
    case FileKind::executable:
    case FileKind::shared_library:
      if (contents.find(".nv_fatbin") == std::string_view::npos)
        return fmt::format("{} without CUDA code; {} takes PTX, as 'nvcc -ptx -lineinfo -arch=sm_90a FILE.cu' writes it", is, command);
      [[fallthrough]];
    case FileKind::archive:
    case FileKind::fatbin:
    case FileKind::ptx_dump:
      return fmt::format(
          "{}: 'cuobjdump -xptx all {}' extracts the PTX that it holds as files, then '{} FILE.ptx'; where there is none, 'nvcc "
          "-ptx -lineinfo -arch=sm_90a FILE.cu' makes it of the source",
          is, kind == FileKind::ptx_dump ? "PROGRAM" : file, command);
    case FileKind::json:
      return fmt::format("{}: a launch description has a name that ends in .json, 'warpmat launch FILE.json'; {} takes PTX", is, command);
    case FileKind::array: return fmt::format("{}, and {} takes PTX; arrays are for --buffer NAME={}", is, command, file);
    case FileKind::ptx:
    case FileKind::binary: break;
  }
  return fmt::format("{}, and this command takes PTX, which is text", is);
}

}  // namespace warpmat
