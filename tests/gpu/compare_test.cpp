#include "gpu/compare.h"

#include "catch.h"

namespace warpmat {
namespace {

/// d0 and d1 of 32 bits, w of 64, and 6 bytes of memory.
Program two_results() {
  return parse(
      ".reg .b32 d0, d1, at; .reg .b64 w; .shared .b8 memory[6];\n"
      "mov.b32 d1, d0; mov.b64 w, 5; mov.u32 at, memory;",
      "sm_80");
}

TEST_CASE("outputs are the registers that a program writes, and memory where it stores", "[gpu]") {
  const Program program = two_results();
  const WarpStates states(program, 3);
  const Outputs outputs = outputs_of(program);
  CHECK(outputs.registers == std::vector<bool>{false, true, true, true, true});
  CHECK_FALSE(outputs.shared);
  CHECK(outputs.words(states) == 4 * 32);

  const Program stores = parse(".shared .b8 memory[6]; .reg .b32 r;\nst.shared.b8 [memory+5], r;", "sm_80");
  CHECK(outputs_of(stores).shared);
  CHECK(outputs_of(stores).words(WarpStates(stores, 1)) == 2);
  const Program product = parse("stmatrix.sync.aligned.m8n8.x1.shared.b16 [p], {a};", "sm_90");
  CHECK(outputs_of(product).shared);
  CHECK(outputs_of(product).registers == std::vector<bool>{false, false});
  const Program sink = parse("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {a, _}, [p];", "sm_90");
  CHECK_FALSE(outputs_of(sink).shared);
  CHECK(outputs_of(sink).registers == std::vector<bool>{true, false});
}

TEST_CASE("equal states have no difference", "[gpu]") {
  const Program program = two_results();
  const WarpStates states(program, 3);
  const Comparison comparison = compare_states(program, states, states);
  CHECK(comparison.words == 3 * 4 * 32);
  CHECK(comparison.mismatches == 0);
  CHECK(comparison.differences.empty());
}

TEST_CASE("every differing word is counted and the first ones are listed", "[gpu]") {
  const Program program = two_results();
  const WarpStates expected(program, 3);
  WarpStates found = expected;
  found.registers_of(1)[0][31] = 7;  // not written by the program: still wrong
  found.registers_of(1)[3][2] = 8;
  found.registers_of(2)[1][0] = 9;
  found.shared_of(2)[5] = 0x12;
  const Comparison comparison = compare_states(program, expected, found, 3);
  CHECK(comparison.words == 3 * 4 * 32);
  CHECK(comparison.mismatches == 4);
  using Place = Difference::Place;
  CHECK(comparison.differences == std::vector<Difference>{{1, Place::register_word, 0, 31, 0, 7},
                                                          {1, Place::register_word, 3, 2, 0, 8},
                                                          {2, Place::register_word, 1, 0, 0, 9}});
  CHECK(compare_states(program, expected, found, 9).differences.back() == Difference{2, Place::shared_word, 1, 0, 0, 0x1200});
}

}  // namespace
}  // namespace warpmat
