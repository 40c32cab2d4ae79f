// For tests: a card's recorded answers (tests/vectors), replayed by the core. The module has no zlib: the caller unpacks the files.

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "gpu/recordings/gzip.h"
#include "gpu/recordings/vectors.h"
#include "gpu/runners/emulator_runner.h"

namespace warpmat {

std::string compress(std::string_view text) {
  return std::string(text);
}
std::string uncompress(std::string_view bytes) {
  return std::string(bytes);
}

namespace {

/// "OUTPUTS of ANSWERS agree", or the first answer that does not.
std::string replayed(std::string_view text, std::size_t most_warps) {
  const Recording recording = decode_recording(text);
  EmulatorRunner runner(0, 1);
  std::size_t outputs = 0;
  for (const Answers& answers : recording.answers) {
    const Replayed result = replay(runner, recording.provenance, answers, most_warps);
    if (result.outcome != Replayed::Outcome::agrees)
      return fmt::format("differs: {}, {}: {}", answers.opcode, answers.operand_class, result.detail);
    outputs += result.outputs;
  }
  return fmt::format("{} of {} agree", outputs, recording.answers.size());
}

std::string& last_answer() {
  static std::string answer;
  return answer;
}

}  // namespace
}  // namespace warpmat

extern "C" {

/// As warpmat_ask (entry.cpp); `bytes` of a recording, unpacked.
__attribute__((export_name("warpmat_replay"))) const char* warpmat_replay(const char* text, std::size_t bytes, std::size_t most_warps) try {
  warpmat::last_answer() = warpmat::replayed({text, bytes}, most_warps);
  return warpmat::last_answer().data();
} catch (const std::exception& problem) {
  warpmat::last_answer() = problem.what();
  return warpmat::last_answer().data();
}
__attribute__((export_name("warpmat_answer_bytes"))) std::size_t warpmat_answer_bytes() {
  return warpmat::last_answer().size();
}
}
