#include <warpmat/cuda/libraries/library.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

#include <fmt/core.h>

#include <warpmat/cuda/graph.h>
#include <warpmat/cuda/host_access.h>
#include <warpmat/cuda/report.h>
#include <warpmat/machine/threads.h>

namespace warpmat::cuda {
namespace {

const char* label_on(const Context& context, const Library& library) {
  return library.measured_on == context.device.number ? "measured" : "assumed";
}

/// Runs work as a launch runs a kernel: its fault is the context's.
void run_guarded(Context& context, const char* call, const LibraryWork& work) {
  try {
    const AddressSpace::View view(context.space);
    access_host(context.space.ranges_at_host(), [&] { work(LibraryMemory(context)); });
  } catch (const ApiError& error) {
    say(fmt::format("{}: {}", call, *error.what() != '\0' ? error.what() : "an access outside of all allocations"));
    context.set_fault(cudaErrorIllegalAddress);
  } catch (const std::exception& error) {
    say(fmt::format("{}: {}", call, error.what()));
    context.set_fault(cudaErrorLaunchFailure);
  }
}

}  // namespace

std::uint8_t* LibraryMemory::bytes(const void* at, CheckedSize count) const {
  const std::size_t size = known(count, cudaErrorIllegalAddress);
  return size == 0 ? nullptr : context_.space.device_bytes(at, size);
}

int library_call(const Library& library, const char* call, bool synchronising, const std::function<void(Context&)>& body) {
  std::optional<int> refused;
  const Error error = run_call(call, synchronising, [&](Context& context) {
    try {
      body(context);
    } catch (const Refusal& refusal) {
      refused = refusal.status;
      if (*refusal.what() != '\0') say(fmt::format("{}: {}", call, refusal.what()));
    }
  });
  if (refused) return *refused;
  return error == cudaSuccess ? 0 : library.failed;
}

void submit_work(Context& context, const Library& library, const char* call, Stream* stream, LibraryWork work) {
  record_library(context, call, label_on(context, library), library.source);
  submit(context, stream,
         {.type = NodeType::kernel, .work = [call, work = std::move(work)](Context& state) { run_guarded(state, call, work); }});
}

void run_work(Context& context, const Library& library, const char* call, Stream* stream, const LibraryWork& work) {
  refuse_capture(stream);
  record_library(context, call, label_on(context, library), library.source);
  run_guarded(context, call, work);
}

void say_unsupported(const char* call) {
  say_once(std::string(call) + " is not supported (docs/use/libraries.md lists what is)");
}

std::size_t library_threads(const Context& context) {
  return context.settings.jobs > 0 ? static_cast<std::size_t>(context.settings.jobs) : machine::usable_cores();
}

void run_library_tasks(const Context& context, std::size_t tasks, const std::function<void(std::size_t, std::size_t)>& task) {
  struct Shared {
    const std::size_t tasks;
    const std::function<void(std::size_t, std::size_t)>& task;
    std::atomic<std::size_t> next = 0, thread = 0;
    std::mutex mutex = {};
    std::exception_ptr failure = {};

    void run() {
      const std::size_t number = thread++;
      try {
        for (std::size_t i = 0; (i = next++) < tasks;) task(i, number);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
        next = tasks;
      }
    }
  } shared{tasks, task};
  const std::size_t threads = std::min(library_threads(context), std::max<std::size_t>(tasks, 1));
  machine::run_on_threads(
      static_cast<int>(threads), [](void* data) { static_cast<Shared*>(data)->run(); }, &shared);
  if (shared.failure) std::rethrow_exception(shared.failure);
}

}  // namespace warpmat::cuda
