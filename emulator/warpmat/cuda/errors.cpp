#include <warpmat/cuda/errors.h>

#include <cctype>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>

#include <warpmat/cuda/context.h>

namespace warpmat::cuda {
namespace {

constexpr struct {
  Error code;
  const char* name;
} errors[] = {
#define WARPMAT_CUDA_ERROR(name, number) {name, #name},
#include <warpmat/cuda/error_table.inc>
#undef WARPMAT_CUDA_ERROR
};

constexpr const char* no_name = "unrecognized error code";

bool is_upper(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0;
}

/// "cudaErrorECCUncorrectable" gives "ecc uncorrectable", "cudaSuccess" "no error".
std::string words_of(const std::string& name) {
  if (name == "cudaSuccess") return "no error";
  std::string words;
  const std::string rest = name.substr(std::string("cudaError").size());
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const bool ends_capitals = i + 1 < rest.size() && !is_upper(rest[i + 1]);
    if (i != 0 && is_upper(rest[i]) && (!is_upper(rest[i - 1]) || ends_capitals)) words += ' ';
    words += static_cast<char>(std::tolower(static_cast<unsigned char>(rest[i])));
  }
  return words;
}

/// Programs keep the pointers.
struct Texts {
  Texts() {
    for (const auto& error : errors) by_code[error.code] = words_of(error.name);
  }
  std::map<int, std::string> by_code;
};

struct Said {
  std::set<std::string> keys;
};

}  // namespace

const char* error_name(int code) {
  for (const auto& error : errors)
    if (error.code == code) return error.name;
  return no_name;
}

const char* error_text(int code) {
  const auto& texts = lasting<const Texts>().by_code;
  const auto found = texts.find(code);
  return found == texts.end() ? no_name : found->second.c_str();
}

Error& last_error() {
  static thread_local Error last = cudaSuccess;
  return last;
}

void say_as_is(const std::string& lines) {
  std::fwrite(lines.data(), 1, lines.size(), stderr);
}

void say(const std::string& text) {
  say_as_is("warpmat: " + text + "\n");
}

void say_once(const std::string& text) {
  say_once(text, text);
}

void say_once(const std::string& text, const std::string& key) {
  say_once_as_is("warpmat: " + text + "\n", key);
}

void say_once_as_is(const std::string& lines, const std::string& key) {
  const std::lock_guard lock(mutex());
  if (lasting<Said>().keys.insert(key).second) say_as_is(lines);
}

WARPMAT_CUDA_API const char* cudaGetErrorName(int code) {
  return error_name(code);
}

WARPMAT_CUDA_API const char* cudaGetErrorString(int code) {
  return error_text(code);
}

WARPMAT_CUDA_API Error cudaPeekAtLastError() {
  return last_error();
}

WARPMAT_CUDA_API Error cudaGetLastError() {
  const Error error = cudaPeekAtLastError();
  last_error() = cudaSuccess;
  return error;
}

}  // namespace warpmat::cuda
