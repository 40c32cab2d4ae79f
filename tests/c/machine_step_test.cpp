// HMMA.884 of sm_70: which step of mma.m8n8k4 a machine instruction is, and which elements it computes.

#include <warpmat/c.h>

#include "c/calls.h"
#include "test.h"

namespace warpmat::machine_step_test {
namespace {

warpmat_machine_step found(const std::string& name, const char* a, const char* b) {
  auto step = sized<warpmat_machine_step>();
  auto error = sized<warpmat_error>();
  const warpmat_status status = warpmat_find_machine_step(name.c_str(), a, b, "sm_70", &step, &error);
  INFO(error.message);
  REQUIRE(status == WARPMAT_OK);
  return step;
}

/// Rows and columns of each product that the step's registers of D hold.
std::set<std::pair<int, int>> elements(const warpmat_machine_step& step, int element_bits) {
  std::set<std::pair<int, int>> held;
  for (int reg = step.first_register; reg < step.first_register + step.registers; ++reg)
    for (int lane = 0; lane < 32; ++lane)
      for (int bit = 0; bit < 32; bit += element_bits) {
        warpmat_element e;
        REQUIRE(warpmat_element_at(step.instruction, WARPMAT_D, {lane, reg, bit}, &e) == WARPMAT_OK);
        held.emplace(e.row, e.column);
      }
  return held;
}

TEST_CASE("C: a step of HMMA.884 is found by SASS's name and layouts, with the elements of its registers", "[c]") {
  for (const char* a : {"row", "col"})
    for (const char* b : {"row", "col"}) {
      for (int step = 0; step < 4; ++step) {
        const warpmat_machine_step s = found("HMMA.884.F32.F32.STEP" + std::to_string(step), a, b);
        CHECK((s.step == step && s.steps == 4 && s.first_register == 2 * step && s.registers == 2));
        auto info = sized<warpmat_instruction_info>();
        REQUIRE(warpmat_describe(s.instruction, &info) == WARPMAT_OK);
        CHECK(std::string(info.opcode) == std::string("mma.sync.aligned.m8n8k4.") + a + "." + b + ".f32.f16.f16.f32");
        std::set<std::pair<int, int>> expected;  // two rows of each four, half of the columns
        for (const int row : {0, 1, 4, 5})
          for (int column = 0; column < 4; ++column) expected.emplace(row + step % 2 * 2, column + step / 2 * 4);
        CHECK(elements(s, 32) == expected);
      }
      for (int step = 0; step < 2; ++step) {
        const warpmat_machine_step s = found("HMMA.884.F16.F16.STEP" + std::to_string(step), a, b);
        CHECK((s.step == step && s.steps == 2 && s.first_register == 2 * step && s.registers == 2));
        std::set<std::pair<int, int>> expected;
        for (int row = 0; row < 8; ++row)
          for (int column = 0; column < 4; ++column) expected.emplace(row, column + 4 * step);
        CHECK(elements(s, 16) == expected);
      }
    }
}

TEST_CASE("C: a step's registers of D depend on the same registers of C alone", "[c]") {
  std::mt19937 random(884);
  for (int number = 0; number < 4; ++number) {
    const warpmat_machine_step s = found("HMMA.884.F32.F32.STEP" + std::to_string(number), "row", "col");
    std::array<std::array<std::uint32_t, 8 * 32>, 4> words{};  // D, A, B, C
    for (auto& operand : words)
      for (std::uint32_t& word : operand) word = 0x3c003c00 ^ (random() & 0x83ff83ff);
    const auto execute = [&] {
      std::array<warpmat_registers, 4> operands{};
      for (std::size_t i = 0; i < 4; ++i) operands[i] = WARPMAT_REGISTER_MAJOR(words[i].data(), 8 * 32);
      auto call = sized<warpmat_call>();
      call.operands = operands.data();
      call.operand_count = operands.size();
      REQUIRE(warpmat_execute(s.instruction, &call, 1, nullptr) == WARPMAT_OK);
      return words[0];
    };
    const auto before = execute();
    const auto first = static_cast<std::size_t>(s.first_register) * 32, last = first + 64;
    for (std::size_t i = 0; i < 8 * 32; ++i)
      if (i < first || i >= last) words[3][i] = 0x7fc00000;
    const auto after = execute();
    for (std::size_t i = 0; i < 8 * 32; ++i) CHECK((before[i] == after[i]) == (i >= first && i < last));
  }
}

}  // namespace
}  // namespace warpmat::machine_step_test
