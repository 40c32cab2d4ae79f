#pragma once

#include "gpu/cases/cases.h"
#include "gpu/recordings/published.h"
#include "gpu/runners/emulator_runner.h"
#include "test.h"

namespace warpmat {

/// The emulator's results against the published ones.
inline void compare(const PublishedProducts& published, Path path, Tally& tally) {
  const Program program = program_for(*published.form, *published.target);
  WarpStates states = states_of(program, published);
  EmulatorRunner(0, 1, {.path = path}).run(program, states);
  for (std::size_t i = 0; i < published.products.size(); ++i) {
    const std::uint64_t got = result_bits(program, published, states, i), expected = published.products[i].result;
    tally.expect(got == expected, [&] {
      return fmt::format("{}, {}, product {}: got {:#x}, the GPU {:#x}", published.gpu, published.form->opcode, i, got, expected);
    });
  }
}

}  // namespace warpmat
