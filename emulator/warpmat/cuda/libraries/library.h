#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include <warpmat/cuda/context.h>
#include <warpmat/cuda/stream.h>
#include <warpmat/numeric/checked_size.h>

// What the stand-ins for NVIDIA's libraries stand on. A function of theirs checks what it is given, then leaves its work in a stream, where
// it runs as a kernel does: in the order of the calls, or as a node of the graph that is being captured.

namespace warpmat::cuda {

/// What a function of a library returns instead of success. `what()`, if it is not empty, goes to standard error, behind the call's name.
class Refusal : public std::runtime_error {
 public:
  explicit Refusal(int status_, const std::string& message = "") : std::runtime_error(message), status(status_) {}
  int status;
};

/// The memory that work of a library reaches: what kernels reach.
class LibraryMemory {
 public:
  explicit LibraryMemory(Context& context) : context_(context) {}

  /// The first of `count` elements at a device address, for reading. Throws ApiError unless one buffer has them all.
  template <typename T>
  const T* read(const T* at, CheckedSize count) const {
    return reinterpret_cast<const T*>(bytes(at, count * sizeof(T)));
  }
  /// The same for writing: the bytes count as written.
  template <typename T>
  T* write(T* at, CheckedSize count) const {
    const std::size_t size = known(count * sizeof(T));
    T* const first = reinterpret_cast<T*>(bytes(at, size));
    context_.space.note_written(at, size);
    return first;
  }
  Context& context() const { return context_; }

 private:
  std::uint8_t* bytes(const void* at, CheckedSize count) const;
  Context& context_;
};

using LibraryWork = std::function<void(const LibraryMemory&)>;

/// What the functions of a library have in common.
struct Library {
  int failed;          ///< the status where an earlier kernel failed or the work could not be enqueued
  int measured_on;     ///< 90: a card of sm_90 gave the same results; 0: none did, and the bits are assumed
  const char* source;  ///< who says so
};

/// Runs the body of a function. Returns the status: 0, that of a Refusal, or `failed`. A `synchronising` one sees the fault of an earlier
/// kernel.
int library_call(const Library& library, const char* call, bool synchronising, const std::function<void(Context&)>& body);

/// Leaves work in a stream. What it does wrong is a fault as a kernel's is, with the call's name in the sentence.
void submit_work(Context& context, const Library& library, const char* call, Stream* stream, LibraryWork work);

/// Runs work now, for a call that brings a result to the host. Throws ApiError where the stream captures.
void run_work(Context& context, const Library& library, const char* call, Stream* stream, const LibraryWork& work);

/// Says once that a function of a library does nothing here.
void say_unsupported(const char* call);

/// Runs tasks 0 to `tasks` - 1, each with the number of its thread, on the threads of a launch. Throws what one of them threw.
void run_library_tasks(const Context& context, std::size_t tasks, const std::function<void(std::size_t task, std::size_t thread)>& task);
/// More than any number of a thread there.
std::size_t library_threads(const Context& context);

}  // namespace warpmat::cuda
