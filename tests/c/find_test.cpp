// One handle in C: scalar instructions by warpmat_find, and their operands.

#include <warpmat/c.h>

#include <warpmat/layout.h>

#include "c/calls.h"
#include "test.h"

namespace warpmat::c_find_test {
namespace {

warpmat_operand_info operand_at(const warpmat_instruction* instruction, int index) {
  auto info = sized<warpmat_operand_info>();
  REQUIRE(warpmat_operand_at(instruction, index, &info) == WARPMAT_OK);
  return info;
}

warpmat_call call_with(const std::vector<warpmat_registers>& operands) {
  auto call = sized<warpmat_call>();
  call.operands = operands.data();
  call.operand_count = operands.size();
  return call;
}

TEST_CASE("C: a scalar instruction is found, always the same object, and described", "[c][find]") {
  const warpmat_instruction* const fma = found("fma.ftz.rn.f32", "sm_90");
  CHECK(fma == found("fma.rn.ftz.f32", "sm_90"));
  CHECK(fma != found("fma.rn.ftz.f32", "sm_80"));
  CHECK(fma != found("fma.rn.f32", "sm_90"));
  auto info = sized<warpmat_instruction_info>();
  REQUIRE(warpmat_describe(fma, &info) == WARPMAT_OK);
  CHECK(std::string(info.opcode) == "fma.rn.ftz.f32");
  CHECK(std::string(info.target) == "sm_90");
  CHECK(std::string(info.mnemonic) == "fma");
  CHECK(std::string(info.evidence) == "measured");
  CHECK((info.operands == 4 && info.warps == 1 && info.scalar == 1 && info.m == 0 && info.sass == nullptr && info.rows == 0));
  const warpmat_operand_info d = operand_at(fma, 0), c = operand_at(fma, 3);
  CHECK((d.operand == WARPMAT_NAMED && d.kind == WARPMAT_VALUE && d.written == 1 && d.read == 0 && d.words == 1));
  CHECK((std::string(c.name) == "c" && std::string(c.type) == "f32" && c.written == 0 && c.read == 1 && c.optional == 0));
  CHECK(operand_at(found("max.f32", "sm_100a"), 3).optional == 1);
  auto none = sized<warpmat_operand_info>();
  CHECK(warpmat_operand_at(fma, 4, &none) == WARPMAT_BAD_ARGUMENT);
  // A caller of the first version, whose structs end before the new fields.
  auto old = sized<warpmat_operand_info>();
  old.size = offsetof(warpmat_operand_info, read);
  old.read = 77;
  REQUIRE(warpmat_operand_at(fma, 0, &old) == WARPMAT_OK);
  CHECK(old.read == 77);
  warpmat_place place{};
  warpmat_element element{};
  CHECK(warpmat_element_at(fma, WARPMAT_A, place, &element) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_place_of(fma, WARPMAT_A, element, &place) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_memory_place_of(fma, element, &place) == WARPMAT_BAD_ARGUMENT);
  std::size_t count = 7;
  CHECK(warpmat_accesses(fma, nullptr, 0, nullptr, 0, &count, nullptr) == WARPMAT_OK);
  CHECK(count == 0);
}

TEST_CASE("C: an instruction of lists alone is described, and refuses calls", "[c][find]") {
  struct Case {
    const char *opcode, *needs;
    int reads, writes, operands, alignment;
  };
  for (const Case& wanted : {Case{"ld.shared.v2.b32", "memory", 1, 0, 2, 8},
                             {"st.shared.b32", "memory", 0, 1, 2, 4},
                             {"shfl.sync.idx.b32", "other lanes", 0, 0, 6, 0}}) {
    CAPTURE(wanted.opcode);
    const warpmat_instruction* const instruction = found(wanted.opcode, "sm_90");
    auto info = sized<warpmat_instruction_info>();
    REQUIRE(warpmat_describe(instruction, &info) == WARPMAT_OK);
    CHECK((info.needs_program == 1 && info.scalar == 0 && info.operands == wanted.operands));
    CHECK((info.reads_memory == wanted.reads && info.writes_memory == wanted.writes));
    CHECK(info.alignment == wanted.alignment);
    const warpmat_operand_info first = operand_at(instruction, 0);
    CHECK((first.operand == WARPMAT_NAMED && first.written == (wanted.writes == 0)));
    auto error = sized<warpmat_error>();
    const warpmat_call call = call_with({});
    const std::string refused = "'" + std::string(wanted.opcode) + "' needs a program around it, for " + wanted.needs +
                                ": it is a statement of a list or of a kernel; warpmat_program_parse and warpmat_module_parse of "
                                "c_program.h take those";
    CHECK(warpmat_execute(instruction, &call, 1, &error) == WARPMAT_BAD_ARGUMENT);
    CHECK(std::string(error.message) == refused);
    std::size_t count = 0;
    CHECK(warpmat_accesses(instruction, &call, 0, nullptr, 0, &count, &error) == WARPMAT_BAD_ARGUMENT);
    CHECK(std::string(error.message) == refused);
  }
  auto info = sized<warpmat_instruction_info>();
  REQUIRE(warpmat_describe(found("add.u32", "sm_90"), &info) == WARPMAT_OK);
  CHECK(info.needs_program == 0);
}

TEST_CASE("C: a scalar instruction on registers by thread, with numbers and an immediate", "[c][find]") {
  constexpr std::size_t warps = 3, file = 9;
  std::mt19937_64 random(5);
  std::vector<std::uint32_t> threads(warps * warp_size * file);
  for (std::uint32_t& word : threads) word = std::bit_cast<std::uint32_t>(static_cast<float>(random() % 1000) / 7);
  const std::vector<std::uint32_t> before = threads;
  const std::uint16_t d[] = {4}, a[] = {2}, c[] = {4};
  const float third = 1.0f / 3;
  std::uint32_t b = std::bit_cast<std::uint32_t>(third);
  const std::vector<warpmat_registers> operands{WARPMAT_THREAD_MAJOR(threads.data(), file, d, 1),
                                                WARPMAT_THREAD_MAJOR(threads.data(), file, a, 1), WARPMAT_IMMEDIATE(&b),
                                                WARPMAT_THREAD_MAJOR(threads.data(), file, c, 1)};
  const warpmat_call call = call_with(operands);
  auto error = sized<warpmat_error>();
  REQUIRE(warpmat_execute(found("fma.rn.f32", "sm_90"), &call, warps, &error) == WARPMAT_OK);
  const auto number = [](std::uint32_t bits) { return std::bit_cast<float>(bits); };
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const std::size_t thread = i / file * file;
    const std::uint32_t wanted =
        i % file == 4 ? std::bit_cast<std::uint32_t>(std::fma(number(before[thread + 2]), third, number(before[thread + 4]))) : before[i];
    REQUIRE(threads[i] == wanted);
  }
}

TEST_CASE("C: carries, predicates and 64 bits of scalar instructions", "[c][find]") {
  std::vector<std::uint32_t> a(2 * warp_size), b(2 * warp_size), low(2 * warp_size), p(warp_size);
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    a[lane] = 0xfffffff0u + static_cast<std::uint32_t>(lane);
    a[warp_size + lane] = b[warp_size + lane] = 1;
    b[lane] = static_cast<std::uint32_t>(lane);
  }
  const auto at = [](std::vector<std::uint32_t>& words) { return warpmat_registers WARPMAT_REGISTER_MAJOR(words.data(), 64); };
  std::vector<warpmat_registers> operands{at(low), at(a), at(b), at(p)};
  const warpmat_instruction* const add = found("add.cc.u32", "sm_80");
  CHECK(operand_at(add, 3).kind == WARPMAT_CARRY);
  warpmat_call call = call_with(operands);
  REQUIRE(warpmat_execute(add, &call, 1, nullptr) == WARPMAT_OK);
  std::vector<std::uint32_t> wide(2 * warp_size);
  std::vector<warpmat_registers> both{at(wide), at(a), at(b)};
  call = call_with(both);
  REQUIRE(warpmat_execute(found("add.u64", "sm_80"), &call, 1, nullptr) == WARPMAT_OK);
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    const std::uint64_t sum = (std::uint64_t{1} << 32 | a[lane]) + (std::uint64_t{1} << 32 | b[lane]);
    CHECK(low[lane] == static_cast<std::uint32_t>(sum));
    CHECK(p[lane] == ((std::uint64_t{a[lane]} + b[lane]) >> 32));
    CHECK((wide[lane] == static_cast<std::uint32_t>(sum) && wide[warp_size + lane] == sum >> 32));
  }
}

TEST_CASE("C: what is wrong with a call of a scalar instruction", "[c][find]") {
  std::vector<std::uint32_t> words(4 * warp_size, 3);
  const std::vector<std::uint32_t> before = words;
  const warpmat_instruction* const fma = found("fma.rn.f32", "sm_90");
  auto error = sized<warpmat_error>();
  const auto message = [&](auto spoil) {
    std::vector<warpmat_registers> operands;
    for (std::size_t i = 0; i < 4; ++i) operands.push_back(WARPMAT_REGISTER_MAJOR(words.data() + i * warp_size, 128));
    warpmat_call call = call_with(operands);
    spoil(call, operands);
    CHECK(warpmat_execute(fma, &call, 1, &error) == WARPMAT_BAD_ARGUMENT);
    CHECK(words == before);
    return std::string(error.message);
  };
  CHECK(message([](auto& call, auto&) { call.operand_count = 3; }) == "fma.rn.f32: 4 operands are needed; 3 given");
  CHECK(message([](auto&, auto& operands) { operands[1].words = nullptr; }) == "fma.rn.f32: operand a: words is null");
  CHECK(message([](auto&, auto& operands) { operands[0].lane_stride = 0; }) ==
        "fma.rn.f32: operand d: it is written, so its lane_stride cannot be 0");
  CHECK(error.operand == WARPMAT_NAMED);
  CHECK(message([](auto& call, auto&) { call.flags = 64; }) == "fma.rn.f32: flags 0x40 are not known");
}

}  // namespace
}  // namespace warpmat::c_find_test
