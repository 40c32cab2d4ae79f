#pragma once

#include <warpmat/instruction.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tools/command_line/command.h"

#include "exec_options.h"
#include "tools/report/evidence_line.h"
#include "tools/report/progress.h"

namespace warpmat {

/// Options of wgmma: its operands in shared memory, and its immediates.
struct WgmmaOptions {
  std::string a_descriptor, b_descriptor;  ///< a number, or a file with one for each case
  int scale_d = 1;
  bool negate_a = false, negate_b = false, transpose_a = false, transpose_b = false;

  friend bool operator==(const WgmmaOptions&, const WgmmaOptions&) = default;
};

/// The options of `warpmat exec`.
struct ExecOptions {
  OperandOptions operands;
  WgmmaOptions wgmma;
  std::optional<std::uint64_t> descriptor;  ///< of tcgen05.mma: the instruction descriptor
  std::string target;
  ExecutionOptions execution;
  LabelOptions labels;
  std::string report;
  std::string as = "registers";  ///< the form of the written result: "registers", "matrix" or "bits"
  unsigned jobs = 0;
};

/// Adds the options of WgmmaOptions. `options` must outlive the parsing.
void add_wgmma_options(Command command, WgmmaOptions& options);

/// `warpmat exec wgmma.mma_async...`
void exec_wgmma(const ExecOptions& options, const Command& command);

/// `warpmat exec tcgen05.mma...`
void exec_tensor(const ExecOptions& options, const Command& command);

/// The number of cases per chunk, for `cases` cases of `bytes` bytes in all: few enough to stay in a thread's cache and to give every
/// thread work.
inline std::size_t chunk_cases(std::size_t bytes, std::size_t cases, unsigned jobs) {
  constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
  const std::size_t fitting = bytes == 0 ? cases : chunk_bytes * cases / bytes;
  return std::max<std::size_t>(1, std::min(fitting, (cases + jobs - 1) / jobs));
}

/// Executes every case. Each thread makes one `make_chunk()` and calls its run(first, last) for chunks in ascending order. If several
/// chunks fail, it throws the failure of the lowest case: all chunks before a failing one were begun earlier, and finish.
template <typename MakeChunk>
void run_chunks(std::size_t cases, std::size_t step, unsigned jobs, MakeChunk make_chunk) {
  if (cases == 0) return;
  std::vector<std::pair<std::size_t, std::exception_ptr>> failures(std::min<std::size_t>(jobs, (cases + step - 1) / step));
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  Progress progress(cases);
  const auto run = [&](auto& failure) {
    std::size_t first = 0;
    try {
      auto chunk = make_chunk();
      while (!failed && (first = next.fetch_add(step)) < cases) {
        const std::size_t last = std::min(first + step, cases);
        chunk.run(first, last);
        progress.advance(last - first);
      }
    } catch (...) {
      failure = {first, std::current_exception()};
      failed = true;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (auto& failure : failures) threads.emplace_back([&] { run(failure); });
  }
  std::erase_if(failures, [](const auto& failure) { return failure.second == nullptr; });
  if (!failures.empty()) std::rethrow_exception(std::ranges::min(failures, {}, [](const auto& failure) { return failure.first; }).second);
}

}  // namespace warpmat
