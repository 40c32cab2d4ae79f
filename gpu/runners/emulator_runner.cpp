#include "gpu/runners/emulator_runner.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include <warpmat/machine/threads.h>
#include <warpmat/program.h>

namespace warpmat {
namespace {

/// The failure of the lowest warp, from any thread.
class FirstFailure {
 public:
  void add(std::size_t warp, std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (failure_ == nullptr || warp < warp_) std::tie(warp_, failure_) = std::pair(warp, std::move(failure));
  }
  void rethrow() const {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::size_t warp_ = 0;
  std::exception_ptr failure_;
};

/// The used bits of each register's word: a 16-bit register is the low half.
std::vector<std::uint32_t> register_masks(const Program& program) {
  std::vector<std::uint32_t> masks(static_cast<std::size_t>(program.named_words()), 0xffffffff);
  for (const NamedRegister& r : program.registers())
    if (r.type->bits < 32) masks[static_cast<std::size_t>(r.slot)] = (std::uint32_t{1} << r.type->bits) - 1;
  return masks;
}

void load(Warp& warp, const WarpStates& states, std::size_t index, const std::vector<std::uint32_t>& masks) {
  for (std::size_t word = 0; word < states.words; ++word)
    for (std::size_t lane = 0; lane < warp_size; ++lane)
      warp.named_registers()[word][lane] = states.registers_of(index)[word][lane] & masks[word];
  std::ranges::copy(states.shared_of(index), warp.shared().bytes().begin());
}

void store(const Warp& warp, WarpStates& states, std::size_t index) {
  std::ranges::copy(warp.named_registers(), states.registers_of(index).begin());
  std::ranges::copy(warp.shared().bytes(), states.shared_of(index).begin());
}

void execute(Warp& warp, std::size_t index, const ExecutionOptions& options) {
  for (const Statement& statement : warp.program().statements()) {
    try {
      warp.execute(statement, options);
    } catch (const Trap& trap) {
      throw std::runtime_error(
          fmt::format("warp {}: line {}: {}: {}", index, statement.location().line, trap.what(), print(warp.program(), statement)));
    }
  }
}

}  // namespace

EmulatorRunner::EmulatorRunner(std::uint32_t shared_base, unsigned threads, const ExecutionOptions& options)
    : shared_base_(shared_base), threads_(threads != 0 ? threads : machine::usable_cores()), options_(options) {}

void EmulatorRunner::run(const Program& program, WarpStates& states) {
  assert(states.words == static_cast<std::size_t>(program.named_words()));
  assert(states.shared_bytes >= static_cast<std::size_t>(program.shared_bytes()));
  constexpr std::size_t slice = 64;  // warps per task
  const std::vector<std::uint32_t> masks = register_masks(program);
  WarpStates finished = states;
  std::atomic<std::size_t> next{0};
  FirstFailure failure;
  const auto work = [&] {
    Warp warp(program, states.shared_bytes, shared_base_);
    for (std::size_t begin = next.fetch_add(slice); begin < states.warps; begin = next.fetch_add(slice))
      for (std::size_t index = begin; index < std::min(begin + slice, states.warps); ++index) {
        try {
          load(warp, states, index, masks);
          execute(warp, index, options_);
          store(warp, finished, index);
        } catch (...) {
          failure.add(index, std::current_exception());
          next = states.warps;
          return;
        }
      }
  };
  {
    std::vector<std::jthread> others;  // this thread works, too
    for (std::size_t i = 1; i < std::min<std::size_t>(threads_, (states.warps + slice - 1) / slice); ++i) others.emplace_back(work);
    work();
  }
  failure.rethrow();
  states = std::move(finished);
}

std::string EmulatorRunner::description() const {
  return fmt::format("emulator{} on {} threads", options_.path == Path::reference ? " (reference)" : "", threads_);
}

}  // namespace warpmat
