#pragma once

// The handles of programs, kernels and memory, and how their functions report what is thrown.

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <warpmat/c/entry.h>
#include <warpmat/c_program.h>
#include <warpmat/c_program/errors.h>
#include <warpmat/launch.h>
#include <warpmat/observer.h>
#include <warpmat/program.h>

struct warpmat_program {
  explicit warpmat_program(warpmat::Program parsed) : program(std::move(parsed)) {}
  ~warpmat_program() { delete text.load(); }
  warpmat_program(const warpmat_program&) = delete;
  warpmat_program& operator=(const warpmat_program&) = delete;

  const warpmat::Program program;
  std::vector<std::string> statement_names = {};           ///< of each statement; empty unless it is a matrix instruction
  mutable std::atomic<const std::string*> text = nullptr;  ///< once printed; without a lock, which a fork could leave locked
};

struct warpmat_warp {
  warpmat::Warp warp;
  std::vector<std::unique_ptr<warpmat::machine::Observer>> observers = {};  ///< of warpmat_warp_observe
};

struct warpmat_module {
  warpmat::Module module;
  std::vector<std::string> entries;
};

struct warpmat_kernel {
  warpmat::Kernel kernel;
  std::string entry = kernel.entry(), target = kernel.target();
  std::vector<warpmat::Kernel::Parameter> parameters = kernel.parameters();
  std::vector<warpmat::Kernel::Variable> variables = kernel.variables();
};

struct warpmat_device_memory {
  warpmat::DeviceMemory memory;
};

namespace warpmat::c {

/// The status for the exception that is being handled, of what the library throws for wrong arguments, texts and kernels; also reports it
/// to `to`.
warpmat_status report_any(warpmat_error* to);

/// Calls `make`, which returns a pointer. Returns null and reports the error if it throws.
template <typename Make>
auto made(warpmat_error* error, Make make) -> decltype(make()) {
  try {
    return make();
  } catch (...) {
    report_any(error);
    return nullptr;
  }
}

/// Calls `act`. Returns the status of what it throws, if anything.
template <typename Act>
warpmat_status done(warpmat_error* error, Act act) {
  try {
    act();
    return WARPMAT_OK;
  } catch (...) {
    return report_any(error);
  }
}

/// Throws std::invalid_argument for a null pointer.
void need(const void* pointer, const char* what);

/// The same for a struct whose members up to `last` are needed.
#define WARPMAT_NEED_SIZE(pointer, last, what)                          \
  do {                                                                  \
    ::warpmat::c::need(pointer, what);                                  \
    if (!WARPMAT_HAS_SIZE(pointer, last)) ::warpmat::c::bad_size(what); \
  } while (false)
[[noreturn]] void bad_size(const char* what);

/// Throws std::invalid_argument for flags beyond `known`.
void need_known_flags(unsigned flags, unsigned known);

/// The caller's struct, with zeros and nulls for members that it does not have.
template <typename Struct>
Struct whole(const Struct& given) {
  Struct all{};
  std::memcpy(&all, &given, std::min(given.size, sizeof all));
  return all;
}

inline std::string text_of(const char* text) {
  return text == nullptr ? std::string() : text;
}

/// WARPMAT_REFERENCE_PATH and WARPMAT_UNDEFINED_AS_HARDWARE among `flags`.
inline ExecutionOptions execution_of(unsigned flags) {
  return {(flags & WARPMAT_REFERENCE_PATH) != 0 ? Path::reference : Path::fast,
          (flags & WARPMAT_UNDEFINED_AS_HARDWARE) != 0 ? Undefined::hardware : Undefined::trap};
}

}  // namespace warpmat::c
