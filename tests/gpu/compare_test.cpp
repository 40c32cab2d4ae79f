#include "gpu/compare/compare.h"

#include "test.h"

namespace warpmat::compare_test {
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
  CHECK(outputs.memory_words == 0);
  CHECK(outputs.count(states) == 4 * 32);

  const Program stores = parse(".shared .b8 memory[6]; .reg .b32 r;\nst.shared.b8 [memory+5], r;", "sm_80");
  CHECK(outputs_of(stores).memory_words == 32);
  CHECK(outputs_of(stores).count(WarpStates(stores, 1)) == 2);  // all of the memory
  const Program product = parse("stmatrix.sync.aligned.m8n8.x1.shared.b16 [p], {a};", "sm_90");
  CHECK(outputs_of(product).memory_words == 8 * 16 / 4);
  CHECK(outputs_of(product).registers == std::vector<bool>{false, false});
  const Program discard = parse("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {a, _}, [p];", "sm_90");
  CHECK(outputs_of(discard).memory_words == 0);
  CHECK(outputs_of(discard).registers == std::vector<bool>{true, false});
}

TEST_CASE("outputs in memory are the words that the stores can write, no more than there are", "[gpu]") {
  const auto count = [](const std::string& statements, std::size_t shared_bytes) {
    const Program program = parse(statements, "sm_90");
    return outputs_of(program).count(WarpStates(program, 1, shared_bytes));
  };
  const std::string matrices = "stmatrix.sync.aligned.m8n8.x4.shared.b16 [p], {a, b, c, d};", wide = "st.shared.v2.b64 [p], {w0, w1};";
  CHECK(count(matrices, 1024) == 4 * 8 * 16 / 4);
  CHECK(count(matrices, 256) == 64);
  CHECK(count("st.shared.b8 [p], r;", 1024) == 32);
  CHECK(count(wide, 1024) == 32 * 4);
  CHECK(count(matrices + wide, 1024) == 4 * 8 * 4 + 32 * 4);
  CHECK(count(matrices + wide + matrices, 1024) == 256);
  CHECK(count("ld.shared.b32 r, [p];", 1024) == 32);
}

TEST_CASE("equal states have no difference", "[gpu]") {
  const Program program = two_results();
  const WarpStates states(program, 3);
  const Comparison comparison = compare_states(program, states, states);
  CHECK(comparison.outputs == 3 * 4 * 32);
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
  CHECK(comparison.outputs == 3 * 4 * 32);
  CHECK(comparison.mismatches == 4);
  using Place = Difference::Place;
  CHECK(comparison.differences == std::vector<Difference>{{1, Place::register_word, 0, 31, 0, 7},
                                                          {1, Place::register_word, 3, 2, 0, 8},
                                                          {2, Place::register_word, 1, 0, 0, 9}});
  CHECK(compare_states(program, expected, found, 9).differences.back() == Difference{2, Place::shared_word, 1, 0, 0, 0x1200});
}

}  // namespace
}  // namespace warpmat::compare_test
