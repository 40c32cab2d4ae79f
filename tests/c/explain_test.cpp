// Explanations through the C interface. The expected steps follow from how a matrix unit adds up (dot.h): an H100 aligns 16 products of f16
// and C to the largest exponent, and keeps 25 bits below it; an A100 takes 8 products at a time, and keeps 24.

#include <warpmat/c_explain.h>

#include <sys/mman.h>

#include <warpmat/forms.h>

#include "c/calls.h"
#include "test.h"

namespace warpmat::c_explain_test {
namespace {

constexpr const char* opcode = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";

/// One warp of the mma: A has `a` in row 3, B has 1 in column 2, C has 2^20 at (3, 2); all else is 0.
struct Case {
  explicit Case(const char* target, const std::vector<double>& a) : instruction(found(opcode, target)) {
    for (int k = 0; k < 16; ++k) {
      set(WARPMAT_A, "f16", {3, k, 0}, a[static_cast<std::size_t>(k)]);
      set(WARPMAT_B, "f16", {k, 2, 0}, 1);
    }
    set(WARPMAT_C, "f32", element, std::ldexp(1.0, 20));
    call.operands = operands;
    call.operand_count = 4;
  }
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  void set(warpmat_operand operand, const char* format, warpmat_element at, double value) {
    warpmat_place place{};
    REQUIRE(warpmat_place_of(instruction, operand, at, &place) == WARPMAT_OK);
    std::uint64_t bits = 0;
    REQUIRE(warpmat_from_double(warpmat_find_format(format), value, &bits) == WARPMAT_OK);
    words[operand][place.reg * 32 + place.lane] |= static_cast<std::uint32_t>(bits << place.bit);
  }

  warpmat_explanation* explain() {
    auto error = sized<warpmat_error>();
    warpmat_explanation* const explanation = warpmat_explain(instruction, &call, 0, element, &error);
    INFO(error.message);
    REQUIRE(explanation != nullptr);
    return explanation;
  }

  static constexpr warpmat_element element{3, 2, 0};
  const warpmat_instruction* instruction;
  std::uint32_t words[4][4 * 32] = {};  ///< d, a, b, c
  warpmat_registers operands[4] = {WARPMAT_REGISTER_MAJOR(words[WARPMAT_D], 128), WARPMAT_REGISTER_MAJOR(words[WARPMAT_A], 128),
                                   WARPMAT_REGISTER_MAJOR(words[WARPMAT_B], 64), WARPMAT_REGISTER_MAJOR(words[WARPMAT_C], 128)};
  warpmat_call call = sized<warpmat_call>();
};

std::uint64_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

double value_of(const warpmat_value& value) {
  if (value.kind == WARPMAT_ZERO) return 0;
  REQUIRE(value.kind == WARPMAT_FINITE);
  const double magnitude = std::ldexp(static_cast<double>(value.significand), value.exponent - value.fraction_bits);
  return value.negative != 0 ? -magnitude : magnitude;
}

/// A's row 3 with 1.5, -0.25 and 2^-12 at k = 0, 1 and 9.
std::vector<double> three_products() {
  std::vector<double> a(16, 0.0);
  a[0] = 1.5;
  a[1] = -0.25;
  a[9] = std::ldexp(1.0, -12);
  return a;
}

TEST_CASE("C: a product is explained step by step, term by term", "[c][explain]") {
  Case of("sm_90a", three_products());
  of.words[WARPMAT_D][0] = 7;
  warpmat_explanation* const explanation = of.explain();
  CHECK(of.words[WARPMAT_D][0] == 7);  // nothing is executed
  auto info = sized<warpmat_explanation_info>();
  REQUIRE(warpmat_explanation_describe(explanation, &info) == WARPMAT_OK);
  CHECK(info.target == std::string("sm_90a"));
  CHECK(info.machine == std::string("HMMA.16816"));
  CHECK(info.operand == WARPMAT_D);
  CHECK((info.element.row == 3 && info.element.column == 2));
  CHECK((info.place.lane == 13 && info.place.reg == 0 && info.place.bit == 0));  // row 3: lanes 12 to 15; columns 2 and 3: the second
  CHECK(info.result == bits_of(1048577.25f));
  REQUIRE(info.steps == 1);
  CHECK((info.from_register.lane == -1 && info.to_register.lane == -1 && info.memory_lane == -1));

  auto step = sized<warpmat_step>();
  REQUIRE(warpmat_explanation_step(explanation, 0, &step) == WARPMAT_OK);
  CHECK(step.kind == WARPMAT_UNIT_SUM);
  CHECK(step.format == warpmat_find_format("f32"));
  CHECK(step.rounding == WARPMAT_TOWARD_ZERO);
  CHECK(step.addend == bits_of(1048576.0f));
  CHECK(step.result == info.result);
  CHECK(step.special == 0);
  CHECK(step.largest_exponent == 20);
  CHECK(step.unit_exponent == -5);
  CHECK(step.sum == (std::int64_t{1} << 25) + 48 - 8);  // in units of 1/32; 2^-12 is cut
  REQUIRE(step.terms == 17);

  const auto term_of = [&](int index) {
    auto term = sized<warpmat_term>();
    REQUIRE(warpmat_explanation_term(explanation, 0, index, &term) == WARPMAT_OK);
    return term;
  };
  const warpmat_term first = term_of(0), second = term_of(1), cut = term_of(9), addend = term_of(16);
  CHECK((value_of(first.value) == 1.5 && first.kept == 48 && first.products == 1 && first.scales == 0));
  CHECK((value_of(second.value) == -0.25 && second.kept == -8));
  CHECK((value_of(cut.value) == std::ldexp(1.0, -12) && cut.kept == 0));
  CHECK((addend.products == 0 && value_of(addend.value) == 1048576 && addend.kept == std::int64_t{1} << 25));
  CHECK(term_of(5).value.kind == WARPMAT_ZERO);

  warpmat_factor a{}, b{};
  REQUIRE(warpmat_explanation_product(explanation, 0, 9, 0, &a, &b) == WARPMAT_OK);
  CHECK((a.operand == WARPMAT_A && a.element.row == 3 && a.element.column == 9 && a.bits == 0x0c00));
  CHECK((b.operand == WARPMAT_B && b.element.row == 9 && b.element.column == 2 && b.bits == 0x3c00));
  CHECK((a.place.lane == 12 && a.place.reg == 2 && a.place.bit == 16));  // columns 8 and 9: the first lane's third register
  CHECK(value_of(b.value) == 1);

  const std::string text = warpmat_explanation_text(explanation);
  CHECK(text.starts_with("row 3, column 2 of d (lane 13, register 0, bit 0) of mma"));
  CHECK(contains(text, "Machine instructions: HMMA.16816. Label: measured"));
  CHECK(contains(text, "The register's lowest bit is 2^-5"));

  CHECK(warpmat_explanation_step(explanation, 1, &step) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_explanation_step(explanation, -1, &step) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_explanation_step(explanation, 0, nullptr) == WARPMAT_BAD_ARGUMENT);
  auto term = sized<warpmat_term>();
  CHECK(warpmat_explanation_term(explanation, 0, 17, &term) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_explanation_product(explanation, 0, 16, 0, &a, &b) == WARPMAT_BAD_ARGUMENT);  // C
  CHECK(warpmat_explanation_product(explanation, 0, 0, 1, &a, &b) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_explanation_product(explanation, 0, 0, 0, nullptr, &b) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_explanation_scale(explanation, 0, 0, 0, &a) == WARPMAT_BAD_ARGUMENT);
  term.size = 8;
  CHECK(warpmat_explanation_term(explanation, 0, 0, &term) == WARPMAT_BAD_ARGUMENT);
  warpmat_explanation_free(explanation);
}

TEST_CASE("C: two GPUs part where one keeps a bit that the other cuts, and a loop in f32 rounds", "[c][explain]") {
  const std::vector<double> small(16, std::ldexp(1.0, -5));
  Case hopper("sm_90a", small), ampere("sm_80", small);
  auto error = sized<warpmat_error>();
  warpmat_explanation *const first = hopper.explain(), *const second = ampere.explain(),
                             *const loop = warpmat_explain_as_f32(hopper.instruction, &hopper.call, 0, Case::element, &error);
  REQUIRE(loop != nullptr);
  auto info = sized<warpmat_explanation_info>();
  REQUIRE(warpmat_explanation_describe(first, &info) == WARPMAT_OK);
  CHECK(info.result == bits_of(1048576.5f));
  REQUIRE(warpmat_explanation_describe(second, &info) == WARPMAT_OK);
  CHECK(info.result == bits_of(1048576.0f));
  CHECK(info.steps == 2);
  REQUIRE(warpmat_explanation_describe(loop, &info) == WARPMAT_OK);
  CHECK(info.result == bits_of(1048576.0f));
  CHECK(info.steps == 16);
  auto parting = sized<warpmat_parting>();
  REQUIRE(warpmat_explanations_part(first, second, &parting, &error) == WARPMAT_OK);
  CHECK((parting.first == 0 && parting.second == 1));
  CHECK(contains(parting.text, "sm_90a and sm_80 part after step 1 of 1 and step 2 of 2"));
  REQUIRE(warpmat_explanations_part(first, first, &parting, &error) == WARPMAT_OK);
  CHECK((parting.first == -1 && parting.second == -1));
  CHECK(contains(parting.text, "agree"));
  CHECK(warpmat_explanations_part(first, nullptr, &parting, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(contains(error.message, "the second explanation is null"));
  CHECK(warpmat_explanations_part(first, second, nullptr, &error) == WARPMAT_BAD_ARGUMENT);
  for (warpmat_explanation* each : {first, second, loop}) warpmat_explanation_free(each);
}

TEST_CASE("C: an element that ldmatrix moves is explained, of any warp, registers in any place", "[c][explain]") {
  const warpmat_instruction* const instruction = found("ldmatrix.sync.aligned.m8n8.x1.shared.b16", "sm_90a");
  // Two warps, thread-major, two words a thread: r is the second, p the first. Memory from address 0x100 on, 128 bytes a warp.
  std::vector<std::uint32_t> threads(2 * 32 * 2);
  std::vector<std::uint8_t> bytes(256);
  for (std::uint32_t lane = 0; lane < 64; ++lane) threads[2 * lane] = 0x100 - 8 + 16 * (lane % 8);
  bytes[128 + 2 * 16 + 6] = 0xcd;  // row 2, column 3 of warp 1
  bytes[128 + 2 * 16 + 7] = 0xab;
  const std::uint16_t r = 1, p = 0;
  const warpmat_registers operands[] = {WARPMAT_THREAD_MAJOR(threads.data(), 2, &r, 1), WARPMAT_THREAD_MAJOR(threads.data(), 2, &p, 1)};
  auto memory = sized<warpmat_memory>();
  memory.bytes = bytes.data();
  memory.byte_count = 128;
  memory.warp_stride = 128;
  memory.base = 0x100;
  auto call = sized<warpmat_call>();
  call.operands = operands;
  call.operand_count = 2;
  call.memory = &memory;
  call.offset = 8;
  auto error = sized<warpmat_error>();
  warpmat_explanation* const explanation = warpmat_explain(instruction, &call, 1, {2, 3, 0}, &error);
  INFO(error.message);
  REQUIRE(explanation != nullptr);
  auto info = sized<warpmat_explanation_info>();
  REQUIRE(warpmat_explanation_describe(explanation, &info) == WARPMAT_OK);
  CHECK(info.operand == WARPMAT_R);
  CHECK(info.steps == 0);
  CHECK(info.result == 0xabcd);
  CHECK((info.to_register.lane == 9 && info.to_register.reg == 0 && info.to_register.bit == 16));
  CHECK(info.from_register.lane == -1);
  CHECK((info.memory_lane == 2 && info.memory_address == 0x120 && info.memory_bit == 48));
  CHECK(contains(warpmat_explanation_text(explanation), "Lane 2 holds the address of the row, 0x120"));
  warpmat_explanation_free(explanation);

  // A load writes no memory, not even to restore it.
  void* const page = mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(page != MAP_FAILED);
  std::memcpy(page, bytes.data(), bytes.size());
  REQUIRE(mprotect(page, bytes.size(), PROT_READ) == 0);
  memory.bytes = static_cast<std::uint8_t*>(page);
  warpmat_explanation* const of_constants = warpmat_explain(instruction, &call, 1, {2, 3, 0}, &error);
  REQUIRE(warpmat_explanation_describe(of_constants, &info) == WARPMAT_OK);
  CHECK(info.result == 0xabcd);
  warpmat_explanation_free(of_constants);
  munmap(page, bytes.size());
  memory.bytes = bytes.data();

  const auto expect = [&](warpmat_status status, const char* part) {
    CHECK(warpmat_explain(instruction, &call, 1, {2, 3, 0}, &error) == nullptr);
    CHECK(error.status == status);
    CHECK(contains(error.message, part));
    error = sized<warpmat_error>();
  };
  call.offset = 4;
  expect(WARPMAT_MISALIGNED, "");
  call.offset = 8;
  memory.byte_count = 64;
  expect(WARPMAT_OUT_OF_RANGE, "");
  memory.base = std::uint64_t{1} << 32;
  expect(WARPMAT_BAD_ARGUMENT, "memory->base is not below 2^32");
  memory.bytes = nullptr;
  expect(WARPMAT_BAD_ARGUMENT, "memory->bytes is null");
  call.memory = nullptr;
  expect(WARPMAT_BAD_ARGUMENT, "the memory is null");
}

/// One warp of a wmma.load or wmma.store, with the stride that stands for none.
struct MatrixMove {
  MatrixMove(const Form& form, int stride) : warp(form, 1, std::nullopt, 94), operands(registers_of(form, warp)) {
    std::fill_n(warp.word(OperandName::stride, 0, 0), warp_size, static_cast<std::uint32_t>(stride));
  }
  MatrixMove(const MatrixMove&) = delete;
  MatrixMove& operator=(const MatrixMove&) = delete;

  std::vector<warpmat_memory_access> accesses(const warpmat_instruction* instruction) const {
    std::vector<warpmat_memory_access> all(4096);
    std::size_t count = 0;
    REQUIRE(warpmat_accesses(instruction, &call, 0, all.data(), all.size(), &count, nullptr) == WARPMAT_OK);
    REQUIRE(count <= all.size());
    all.resize(count);
    return all;
  }

  WarpArrays warp;
  std::vector<warpmat_registers> operands;
  warpmat_memory memory = memory_of(warp);
  warpmat_call call = call_of(operands, memory);
};

/// How element (2, 3) of what it moves comes about, or why there is no explanation.
std::string explained(const warpmat_instruction* instruction, const warpmat_call& call) {
  auto error = sized<warpmat_error>();
  warpmat_explanation* const explanation = warpmat_explain(instruction, &call, 0, {2, 3, 0}, &error);
  std::string text = explanation == nullptr ? error.message : warpmat_explanation_text(explanation);
  warpmat_explanation_free(explanation);
  return text;
}

TEST_CASE("C: wmma.load and wmma.store without a stride do as with the one that stands for none", "[c][explain][accesses]") {
  int loads = 0, stores = 0, explanations = 0;
  for (const Form& form : forms()) {
    if (form.mnemonic != Mnemonic::wmma_load && form.mnemonic != Mnemonic::wmma_store) continue;
    CAPTURE(form.opcode);
    const warpmat_instruction* const instruction = found(form.opcode.c_str(), std::string(target_with(form).name).c_str());
    auto info = sized<warpmat_instruction_info>();
    REQUIRE(warpmat_describe(instruction, &info) == WARPMAT_OK);
    REQUIRE(info.default_stride > 0);
    REQUIRE(form.operands.back().kind == OperandKind::stride);
    MatrixMove with(form, info.default_stride), null(form, info.default_stride), missing(form, info.default_stride);
    null.operands.back() = {};
    missing.call.operand_count -= 1;
    const auto expected = with.accesses(instruction);
    REQUIRE(!expected.empty());
    const std::string explanation = explained(instruction, with.call);
    explanations += contains(explanation, "lane");
    for (MatrixMove* const without : {&null, &missing}) {
      CHECK(std::ranges::equal(without->accesses(instruction), expected, [](const auto& a, const auto& b) {
        return a.address == b.address && a.bytes == b.bytes && a.write == b.write && a.place.lane == b.place.lane &&
               a.place.reg == b.place.reg && a.place.bit == b.place.bit && a.element.row == b.element.row &&
               a.element.column == b.element.column;
      }));
      CHECK(explained(instruction, without->call) == explanation);
    }
    for (MatrixMove* const one : {&with, &null, &missing}) REQUIRE(warpmat_execute(instruction, &one->call, 1, nullptr) == WARPMAT_OK);
    CHECK((null.warp == with.warp && missing.warp == with.warp));
    missing.call.operand_count = 1;
    auto error = sized<warpmat_error>();
    CHECK(warpmat_execute(instruction, &missing.call, 1, &error) == WARPMAT_BAD_ARGUMENT);
    CHECK(std::string(error.message) == form.opcode + ": 2 operands are needed; 1 given");
    (form.mnemonic == Mnemonic::wmma_load ? loads : stores) += 1;
  }
  CHECK((loads > 20 && stores > 5));
  CHECK(explanations > 20);
}

TEST_CASE("C: what cannot be explained is one error", "[c][explain]") {
  Case of("sm_90a", three_products());
  auto error = sized<warpmat_error>();
  const auto expect = [&](const warpmat_explanation* explanation, const char* part) {
    CHECK(explanation == nullptr);
    CHECK(error.status == WARPMAT_BAD_ARGUMENT);
    CHECK(contains(error.message, part));
    error = sized<warpmat_error>();
  };
  expect(warpmat_explain(nullptr, &of.call, 0, Case::element, &error), "the instruction is null");
  expect(warpmat_explain(of.instruction, nullptr, 0, Case::element, &error), "the call is null");
  expect(warpmat_explain(of.instruction, &of.call, 0, {16, 0, 0}, &error), "16");
  of.call.flags = 64;
  expect(warpmat_explain(of.instruction, &of.call, 0, Case::element, &error), "flags 0x40 are not known");
  of.call.flags = 0;
  of.call.operand_count = 3;
  expect(warpmat_explain(of.instruction, &of.call, 0, Case::element, &error), "4 operands are needed; 3 given");
  of.call.operand_count = 4;
  of.operands[0].lane_stride = 0;
  expect(warpmat_explain(of.instruction, &of.call, 0, Case::element, &error), "operand d: it is written, so its lane_stride cannot be 0");
  of.operands[0] = {};
  expect(warpmat_explain(of.instruction, &of.call, 0, Case::element, &error), "operand d: words is null");
  of.operands[0] = WARPMAT_REGISTER_MAJOR(of.words[WARPMAT_D], 128);
  of.operands[2].words = nullptr;
  expect(warpmat_explain_as_f32(of.instruction, &of.call, 0, Case::element, &error), "operand b: words is null");
  const std::uint16_t number = 0;
  of.operands[2] = WARPMAT_THREAD_MAJOR(of.words[WARPMAT_B], 2, &number, 1);
  expect(warpmat_explain(of.instruction, &of.call, 0, Case::element, &error), "operand b: the list of register numbers is too short");
  of.call.size = 8;
  expect(warpmat_explain(of.instruction, &of.call, 0, Case::element, &error), "the size of the call");
  CHECK(warpmat_explanation_text(nullptr) == nullptr);
  auto info = sized<warpmat_explanation_info>();
  CHECK(warpmat_explanation_describe(nullptr, &info) == WARPMAT_BAD_ARGUMENT);
  warpmat_explanation_free(nullptr);
}

}  // namespace
}  // namespace warpmat::c_explain_test
