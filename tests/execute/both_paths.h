#pragma once

#include <warpmat/instruction.h>

#include "test.h"

/// Executes on the reference and on the fast path, and requires that they give the same bits: an oracle that is compared with what the
/// destination holds afterwards is checked by both. Sources and destination, a list, may not overlap.
inline void execute_both_paths(const warpmat::Instruction& instruction, const warpmat::Batch& batch) {
  const auto results = [&](warpmat::Path path) {
    constexpr std::uint32_t never_written = 0xDEADBEEF;
    std::vector<std::uint32_t> words;
    for (std::uint32_t* const words_of_lanes : batch.destination.list()) std::fill_n(words_of_lanes, warpmat::warp_size, never_written);
    execute(instruction, batch, 1, {.path = path});
    for (std::uint32_t* const words_of_lanes : batch.destination.list())
      words.insert(words.end(), words_of_lanes, words_of_lanes + warpmat::warp_size);
    return words;
  };
  const std::vector<std::uint32_t> reference = results(warpmat::Path::reference), fast = results(warpmat::Path::fast);
  INFO(instruction.form().opcode << " on " << instruction.target().name);
  REQUIRE(fast == reference);
}
