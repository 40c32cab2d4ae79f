#pragma once

#include <stdexcept>
#include <string>

#include <warpmat/cuda/types.h>
#include <warpmat/numeric/checked_size.h>

namespace warpmat::cuda {

/// What a call of the runtime returns instead of cudaSuccess. `what()`, if it is not empty, goes to standard error.
class ApiError : public std::runtime_error {
 public:
  explicit ApiError(Error code_, const std::string& message = "") : std::runtime_error(message), code(code_) {}
  Error code;
};

/// Throws ApiError unless `good`.
inline void require(bool good, Error code = cudaErrorInvalidValue) {
  if (!good) throw ApiError(code);
}

/// A size, pitch or offset that is made of what the program gives. Throws ApiError where it is too large for any memory.
inline std::size_t known(CheckedSize size, Error code = cudaErrorInvalidValue) {
  require(size.value().has_value(), code);
  return *size.value();
}

/// "cudaErrorInvalidValue"; "unrecognized error code" for a number that is none.
const char* error_name(int code);
/// The words of the name: "invalid value". NVIDIA's own texts are not copied here.
const char* error_text(int code);

/// The last error of the calling thread.
Error& last_error();

/// Prints "warpmat: TEXT" to standard error.
void say(const std::string& text);
/// The same, each text once in a process; or the first one of each key.
void say_once(const std::string& text);
void say_once(const std::string& text, const std::string& key);
/// The same of whole lines.
void say_as_is(const std::string& lines);
void say_once_as_is(const std::string& lines, const std::string& key);

}  // namespace warpmat::cuda
