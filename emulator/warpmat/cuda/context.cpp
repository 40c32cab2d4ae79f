#include <warpmat/cuda/context.h>
#include <warpmat/cuda/control.h>
#include <warpmat/cuda/report.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string_view>

#include <fmt/core.h>

#include <warpmat/launch/check_list.h>
#include <warpmat/machine/device_heap.h>
#include <warpmat/machine_code/use.h>
#include <warpmat/pool/thread_pool.h>
#include <warpmat/words/words.h>

namespace warpmat::cuda {
namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

[[noreturn]] void refuse(const char* name, std::string_view value, std::string_view right) {
  throw std::invalid_argument(fmt::format("{}={}: {}", name, value, right));
}

template <typename Number>
Number number(const char* name, Number otherwise, Number most) {
  const std::string_view text = variable(name);
  if (text.empty()) return otherwise;
  const auto value = number_of<Number>(text);
  if (!value || *value < 0 || *value > most) refuse(name, text, fmt::format("a number from 0 to {} is needed", most));
  return *value;
}

Checks checks_of(const char* name) {
  const std::string_view text = variable(name);
  try {
    return parse_checks(text.empty() ? usual_program_checks : text);
  } catch (const std::runtime_error& e) {
    refuse(name, text, e.what());
  }
}

Undefined undefined_of(const char* name) {
  const std::string_view text = variable(name);
  if (text == "hardware") return Undefined::hardware;
  if (!text.empty() && text != "trap") refuse(name, text, "trap or hardware is needed");
  return Undefined::trap;
}

Assembler assembler_of(const char* name) {
  const std::string_view text = variable(name);
  if (text == "rule") return Assembler::rule;
  if (text == "ptxas") return Assembler::ptxas;
  if (!text.empty() && text != "code") refuse(name, text, "rule, code or ptxas is needed");
  return Assembler::machine_code;
}

Timing timing_of(const char* name) {
  const std::string_view text = variable(name);
  if (text == "card") return Timing::card;
  if (!text.empty() && text != "latest") refuse(name, text, "latest or card is needed");
  return Timing::latest;
}

Suppressions suppressions_of(const char* name) {
  const std::string_view text = variable(name);
  try {
    return text.empty() ? Suppressions() : read_suppressions(std::string(text));
  } catch (const std::runtime_error& e) {
    refuse(name, text, e.what());
  }
}

const Target* target_of(const char* name) {
  const std::string_view text = variable(name);
  const Target* const found = find_target_or_card(text.empty() ? "sm_90a" : text);
  if (found == nullptr) refuse(name, text, "a target or card such as sm_90a or A100 is needed");
  return found;
}

/// What `read` returns. There is no caller yet to tell what is wrong: the process ends with the sentence.
template <typename Read>
auto read_or_exit(Read read) {
  try {
    return read();
  } catch (const std::invalid_argument& e) {
    say(e.what());
    std::_Exit(1);
  }
}

}  // namespace

Settings read_settings() {
  return {.target = target_of("WARPMAT_CUDA_TARGET"),
          .jobs = number("WARPMAT_CUDA_JOBS", 0, 1024),
          .schedule = number<std::uint64_t>("WARPMAT_CUDA_SCHEDULE", 0, ~std::uint64_t{0}),
          .checks = checks_of("WARPMAT_CUDA_CHECK"),
          .timing = timing_of("WARPMAT_CUDA_TIMING"),
          .failed_calls = has_check(variable("WARPMAT_CUDA_CHECK"), "memcheck"),
          .print_suppressions = number("WARPMAT_CUDA_PRINT_SUPPRESSIONS", 0, 1) == 1,
          .undefined = undefined_of("WARPMAT_CUDA_UNDEFINED"),
          .assembler = assembler_of("WARPMAT_CUDA_ASSEMBLER"),
          .processors = number("WARPMAT_CUDA_SMS", 0, 1024),
          .gpus = std::max(1, number("WARPMAT_CUDA_GPUS", 1, most_gpus)),
          .report = std::string(variable("WARPMAT_CUDA_REPORT")),
          .save = std::string(variable("WARPMAT_CUDA_SAVE")),
          .every_launch = number("WARPMAT_CUDA_EVERY_LAUNCH", 1, 1) == 1,
          .full_names = number("WARPMAT_CUDA_FULL_NAMES", 0, 1) == 1,
          .leaks = number("WARPMAT_CUDA_LEAKS", 0, 1) == 1,
          .profile = number("WARPMAT_CUDA_PROFILE", 0, 1) == 1,
          .launch_seconds = number<double>("WARPMAT_CUDA_LAUNCH_SECONDS", 0, 1e9),
          .products = parse_products(variable("WARPMAT_CUDA_GEMM"))};
}

Context::Context()
    : settings(read_or_exit(read_settings)),
      suppressions(read_or_exit([] { return suppressions_of("WARPMAT_CUDA_SUPPRESSIONS"); })),
      device(device_of(*settings.target, settings.processors)),
      gpus(settings.gpus),
      space(device.global_bytes, settings.checks.uninitialised && settings.checks.global, gpus) {
  use_thread_pool();
  use_machine_code();
}

void Context::configure(const Settings& now) {
  settings = now;
  device = device_of(*settings.target, settings.processors);
}

Error Context::release(Owner owner) {
  const AsOwner as(owner);
  try {
    list_leaks(*this, owner);
    for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i]->leave(*this, owner);  // which may make parts
    space.release_all(owner);
    return cudaSuccess;
  } catch (...) {
    return handle_exception("the end of a context");
  }
}

Context& context() {
  return lasting<Context>();
}

void require_device(int device) {
  require(device >= 0 && device < context().gpus, cudaErrorInvalidDevice);
}

namespace {

/// What is listed so far.
struct Leaks {
  std::uint64_t allocations = 0, bytes = 0;
};
Leaks& leaks() {
  static Leaks all;
  return all;
}

[[gnu::destructor]] void list_unused_suppressions() {
  if (variable("WARPMAT_CUDA_SUPPRESSIONS").empty()) return;
  for (const std::string& text : context().suppressions.unused()) say(text);
}

/// Behind the program's own destructors: those of a library run after those of a program that needs it.
[[gnu::destructor]] void list_all_leaks() {
  if (variable("WARPMAT_CUDA_LEAKS") != "1") return;
  Context& state = context();
  for (Owner owner = primary_of(0); owner <= last_owner(); ++owner) list_leaks(state, owner);
  say(fmt::format("{} allocations were not freed, {} bytes", leaks().allocations, leaks().bytes));
}

}  // namespace

void list_leaks(Context& context, Owner owner) {
  if (!context.settings.leaks) return;
  const AsOwner as(owner);
  for (const auto& [address, allocation] : context.space.allocations()) {
    if (allocation.owner != owner) continue;
    ++leaks().allocations;
    leaks().bytes += allocation.bytes;
    say(fmt::format("not freed: {} bytes of {} at {:#x}", allocation.bytes, context.space.memory().find(address)->name, address));
  }
  if (const DeviceHeap* const heap = find_heap(context.space.memory()); heap != nullptr && is_primary(owner))
    for (const auto& [address, bytes] : heap->parts()) {
      ++leaks().allocations;
      leaks().bytes += bytes;
      say(fmt::format("not freed: {} bytes of malloc() in a kernel at {:#x}", bytes, address));
    }
}

bool& in_host_function() {
  static thread_local bool inside = false;
  return inside;
}

namespace {

/// Says why a call failed, or keeps it for the record or the host.
void tell_call(const char* call, Error code, const char* why) {
  if (record_failed_call(context(), call, code, why) || *why == '\0') return;
  const std::string text = fmt::format("{}: {}", call, why);
  if (!told_to_host(context(), {.rule = "call", .text = text}, text)) say(text);
}

}  // namespace

Error handle_exception(const char* call) {
  const auto fail = [call](Error code, const char* why) {
    tell_call(call, code, why);
    return code;
  };
  try {
    throw;
  } catch (const ApiError& e) {
    return fail(e.code, e.what());
  } catch (const std::bad_alloc&) {
    return fail(cudaErrorMemoryAllocation, "");
  } catch (const std::exception& e) {
    return fail(cudaErrorUnknown, e.what());
  }
}

}  // namespace warpmat::cuda
