// The C interface: what it lists and finds, that it computes what the C++ interface does, and that every misuse is an error of its own.

#include <warpmat/c.h>

#include <warpmat/formats.h>
#include <warpmat/forms.h>
#include <warpmat/instruction.h>

#include "c/calls.h"
#include "test.h"

namespace warpmat::interface_test {
namespace {

constexpr const char* f16_mma = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";

TEST_CASE("C: lists name what the tables have", "[c]") {
  REQUIRE(warpmat_target_count() == static_cast<int>(targets().size()));
  for (int i = 0; i < warpmat_target_count(); ++i) CHECK(warpmat_target_name(i) == targets()[static_cast<std::size_t>(i)].name);
  REQUIRE(warpmat_form_count() == static_cast<int>(forms().size()));
  for (int i = 0; i < warpmat_form_count(); ++i) CHECK(warpmat_form_opcode(i) == forms()[static_cast<std::size_t>(i)].opcode);
  REQUIRE(warpmat_format_count() == static_cast<int>(format_rows().size()));
  for (int i = 0; i < warpmat_format_count(); ++i) {
    CHECK(warpmat_format_name(i) == format_rows()[static_cast<std::size_t>(i)].name);
    CHECK(warpmat_format_bits(i) == format_rows()[static_cast<std::size_t>(i)].bits);
    CHECK(warpmat_find_format(warpmat_format_name(i)) == i);
  }
  for (const int wrong : {-1, 1 << 20}) {
    CHECK(warpmat_target_name(wrong) == nullptr);
    CHECK(warpmat_form_opcode(wrong) == nullptr);
    CHECK(warpmat_format_name(wrong) == nullptr);
    CHECK(warpmat_format_bits(wrong) == 0);
  }
  CHECK(warpmat_find_format("f17") == -1);
  CHECK(warpmat_find_format(nullptr) == -1);
}

TEST_CASE("C: numbers are converted as everywhere else", "[c]") {
  std::mt19937_64 random(91);
  for (int format = 0; format < warpmat_format_count(); ++format)
    for (int i = 0; i < 200; ++i) {
      const std::uint64_t bits = random();
      double value = 0;
      REQUIRE(warpmat_to_double(format, bits, &value) == WARPMAT_OK);
      const double expected = to_double(static_cast<Format>(format), bits);
      CHECK(std::memcmp(&value, &expected, sizeof value) == 0);
      const double number = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), static_cast<int>(random() % 90) - 90);
      std::uint64_t back = 0;
      REQUIRE(warpmat_from_double(format, number, &back) == WARPMAT_OK);
      CHECK(back == from_double(static_cast<Format>(format), number));
    }
  double value = 0;
  std::uint64_t bits = 0;
  CHECK(warpmat_to_double(-1, 0, &value) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_to_double(0, 0, nullptr) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_from_double(99, 0, &bits) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_from_double(0, 0, nullptr) == WARPMAT_BAD_ARGUMENT);
}

TEST_CASE("C: every form on every target that has it is found, always the same object, and described", "[c]") {
  for (const Form& form : forms())
    for (const Target& target : targets()) {
      auto error = sized<warpmat_error>();
      const std::string target_name(target.name);
      CAPTURE(form.opcode, target_name);
      const warpmat_instruction* instruction = warpmat_find(form.opcode.c_str(), target_name.c_str(), &error);
      if (unavailable(form, target)) {
        CHECK(instruction == nullptr);
        CHECK(error.status == WARPMAT_UNAVAILABLE);
        CHECK(error.message == *unavailable(form, target));
        continue;
      }
      REQUIRE(instruction != nullptr);
      CHECK(instruction == warpmat_find(form.opcode.c_str(), target_name.c_str(), nullptr));
      auto info = sized<warpmat_instruction_info>();
      REQUIRE(warpmat_describe(instruction, &info) == WARPMAT_OK);
      CHECK(info.size == sizeof info);
      CHECK(info.opcode == form.opcode);
      CHECK(info.target == target_name);
      const Lowering& lowering = *find_lowering(form, target.hardware);
      const auto sass = sass_name(form, lowering);
      CHECK(info.machine == (sass ? *sass : machine_name(form, lowering)));
      if (sass) {
        const warpmat_instruction* const by_machine = warpmat_find_machine(info.machine, target_name.c_str(), &error);
        REQUIRE(by_machine != nullptr);
        auto again = sized<warpmat_instruction_info>();
        REQUIRE(warpmat_describe(by_machine, &again) == WARPMAT_OK);
        CHECK(again.sass == *sass);
      }
      CHECK(info.evidence == name(label_of(lowering)));
      CHECK(info.operands == static_cast<int>(form.operands.size()));
      if (form.mnemonic == Mnemonic::ldmatrix || form.mnemonic == Mnemonic::stmatrix)
        CHECK(info.checked_lanes == (lowering.exceptions.checks_all_addresses ? 32 : info.rows));
      for (int i = 0; i < info.operands; ++i) {
        const Operand& operand = form.operands[static_cast<std::size_t>(i)];
        auto described = sized<warpmat_operand_info>();
        REQUIRE(warpmat_operand_at(instruction, i, &described) == WARPMAT_OK);
        CHECK(described.name == name(operand.name));
        CHECK(described.words == operand.words());
        CHECK(described.written == (operand.written ? 1 : 0));
      }
    }
}

TEST_CASE("C: layouts both ways", "[c]") {
  for (const Form& form : forms()) {
    const warpmat_instruction* instruction = found(form.opcode.c_str(), std::string(target_with(form).name).c_str());
    for (const Operand& operand : form.operands) {
      const auto named = static_cast<warpmat_operand>(operand.name);
      warpmat_element element{};
      if (operand.kind != OperandKind::fragment) {
        CHECK(warpmat_element_at(instruction, named, {0, 0, 0}, &element) == WARPMAT_BAD_ARGUMENT);
        continue;
      }
      for (int lane = 0; lane < warp_size; lane += 7) {
        REQUIRE(warpmat_element_at(instruction, named, {lane, operand.registers() - 1, 0}, &element) == WARPMAT_OK);
        const Element expected = operand.fragment.element({lane, operand.registers() - 1, 0});
        CHECK(Element{element.row, element.column, element.matrix} == expected);
        warpmat_place place{};
        REQUIRE(warpmat_place_of(instruction, named, element, &place) == WARPMAT_OK);
        // Fragments of wmma hold elements at two places; this is one of them.
        REQUIRE(warpmat_element_at(instruction, named, place, &element) == WARPMAT_OK);
        CHECK(Element{element.row, element.column, element.matrix} == expected);
        if (form.mnemonic == Mnemonic::mma) CHECK((place.lane == lane && place.reg == operand.registers() - 1 && place.bit == 0));
      }
      for (const warpmat_place& wrong : {warpmat_place{32, 0, 0}, {-1, 0, 0}, {0, operand.registers(), 0}, {0, 0, 64}, {0, 0, -1}})
        CHECK(warpmat_element_at(instruction, named, wrong, &element) == WARPMAT_BAD_ARGUMENT);
      warpmat_place place{};
      CHECK(warpmat_place_of(instruction, named, {operand.fragment.rows(), 0, 0}, &place) == WARPMAT_BAD_ARGUMENT);
      CHECK(warpmat_place_of(instruction, named, {0, -1, 0}, &place) == WARPMAT_BAD_ARGUMENT);
    }
  }
  warpmat_place place{};
  const warpmat_instruction* load = found("ldmatrix.sync.aligned.m8n8.x4.b16", "sm_90");
  REQUIRE(warpmat_memory_place_of(load, {3, 5, 2}, &place) == WARPMAT_OK);
  CHECK((place.lane == 19 && place.reg == 0 && place.bit == 80));
  CHECK(warpmat_memory_place_of(found(f16_mma, "sm_90"), {0, 0, 0}, &place) == WARPMAT_BAD_ARGUMENT);
  for (const char* const moved : {"wmma.load.a.sync.aligned.row.m16n16k16.f16", "wmma.store.d.sync.aligned.row.m16n16k16.f32"})
    CHECK(warpmat_memory_place_of(found(moved, "sm_90"), {0, 0, 0}, &place) == WARPMAT_BAD_ARGUMENT);
}

TEST_CASE("C: the accesses of every form are those of the C++ interface", "[c]") {
  constexpr std::size_t count = 2;
  for (const Form& form : forms()) {
    const Target& target = target_with(form);
    const warpmat_instruction* const instruction = found(form.opcode.c_str(), std::string(target.name).c_str());
    WarpArrays warps(form, count, std::nullopt, 93);
    const auto registers = registers_of(form, warps);
    warpmat_call call = call_of(registers, warpmat_memory{});
    call.memory = nullptr;
    call.offset = 32;
    Batch batch = warps.batch();
    batch.offset = 32;
    CAPTURE(form.opcode);
    std::size_t number = 99;
    REQUIRE(warpmat_accesses(instruction, nullptr, 0, nullptr, 0, &number, nullptr) == WARPMAT_OK);
    CHECK(number == access_count(form));
    for (std::size_t warp = 0; warp < count; ++warp) {
      const std::vector<MemoryAccess> expected = accesses(Instruction(form, target), batch, warp);
      std::vector<warpmat_memory_access> list(number + 1);
      REQUIRE(warpmat_accesses(instruction, &call, warp, list.data(), list.size(), &number, nullptr) == WARPMAT_OK);
      REQUIRE(number == expected.size());
      for (std::size_t i = 0; i < number; ++i) {
        CHECK(list[i].address == expected[i].address);
        CHECK(list[i].bytes == expected[i].bytes);
        CHECK(list[i].write == (expected[i].writes ? 1 : 0));
        CHECK(list[i].operand == WARPMAT_R);
        CHECK((list[i].place.lane == expected[i].lane && list[i].place.reg == expected[i].reg && list[i].place.bit == expected[i].bit));
        CHECK(Element{list[i].element.row, list[i].element.column, list[i].element.matrix} == expected[i].element);
        const warpmat_space space = expected[i].space == Space::shared   ? WARPMAT_SPACE_SHARED
                                    : expected[i].space == Space::global ? WARPMAT_SPACE_GLOBAL
                                                                         : WARPMAT_SPACE_GENERIC;
        CHECK(list[i].space == space);
      }
    }
  }
}

TEST_CASE("C: a list of accesses that is too short gets the first ones; misuse is an error", "[c]") {
  const warpmat_instruction* const load = found("ldmatrix.sync.aligned.m8n8.x4.b16", "sm_90");
  std::vector<std::uint32_t> addresses(32, 64);
  const std::vector<warpmat_registers> registers{WARPMAT_REGISTER_MAJOR(nullptr, 0), WARPMAT_REGISTER_MAJOR(addresses.data(), 0)};
  auto call = call_of(registers, warpmat_memory{});
  warpmat_memory_access list[4] = {};
  std::size_t number = 0;
  auto error = sized<warpmat_error>();
  REQUIRE(warpmat_accesses(load, &call, 0, list, 3, &number, &error) == WARPMAT_OK);
  CHECK(number == 32);
  CHECK((list[2].bytes == 16 && list[2].address == 64 && list[2].place.reg == -1 && list[3].bytes == 0));
  CHECK(warpmat_accesses(nullptr, &call, 0, list, 3, &number, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_accesses(load, nullptr, 0, list, 3, &number, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_accesses(load, &call, 0, list, 3, nullptr, &error) == WARPMAT_BAD_ARGUMENT);
  addresses[7] = 65;
  CHECK(warpmat_accesses(load, &call, 0, list, 3, &number, &error) == WARPMAT_MISALIGNED);
  CHECK((error.lane == 7 && error.address == 65));
  call.operand_count = 1;
  CHECK(warpmat_accesses(load, &call, 0, list, 3, &number, &error) == WARPMAT_BAD_ARGUMENT);
  call.operand_count = 2;
  call.flags = 1u << 30;
  CHECK(warpmat_accesses(load, &call, 0, list, 3, &number, &error) == WARPMAT_BAD_ARGUMENT);
  call.flags = 0;
  call.operands = nullptr;
  CHECK(warpmat_accesses(load, &call, 0, list, 3, &number, &error) == WARPMAT_BAD_ARGUMENT);
}

TEST_CASE("C: many warps, every form, both paths", "[c]") {
  constexpr std::size_t count = 3;
  for (const Form& form : forms()) {
    const Target& target = target_with(form);
    WarpArrays expected(form, count, std::nullopt, 92);
    const WarpArrays original = expected;
    expected.execute_each(Instruction(form, target), 0, count);
    for (const unsigned flags : {0u, WARPMAT_REFERENCE_PATH}) {
      WarpArrays warps = original;
      const auto registers = registers_of(form, warps);
      const warpmat_memory memory = memory_of(warps);
      warpmat_call call = call_of(registers, memory);
      call.flags = flags;
      auto error = sized<warpmat_error>();
      CAPTURE(form.opcode, flags, error.message);
      CHECK(warpmat_execute(found(form.opcode.c_str(), std::string(target.name).c_str()), &call, count, &error) == WARPMAT_OK);
      CHECK(warps == expected);
    }
  }
}

TEST_CASE("C: thread-major registers, a list of their numbers, an immediate, callbacks", "[c]") {
  // A thread has 40 registers; C is an immediate zero, A and B are ones, so that every element of D is 16.
  std::vector<std::uint32_t> threads(32 * 40, 0x3c003c00);
  std::uint32_t zero[4] = {0, 0, 0, 0};
  const std::uint16_t a[] = {9, 2, 30, 4}, b[] = {5, 6}, d[] = {12, 13, 14, 39};
  const std::vector<warpmat_registers> registers{WARPMAT_THREAD_MAJOR(threads.data(), 40, d, 4),
                                                 WARPMAT_THREAD_MAJOR(threads.data(), 40, a, 4),
                                                 WARPMAT_THREAD_MAJOR(threads.data(), 40, b, 2), WARPMAT_IMMEDIATE(zero)};
  const auto call = call_of(registers, warpmat_memory{});
  REQUIRE(warpmat_execute(found(f16_mma, "sm_90"), &call, 1, nullptr) == WARPMAT_OK);
  for (std::size_t thread = 0; thread < 32; ++thread)
    for (std::size_t i = 0; i < 40; ++i)
      CHECK(threads[thread * 40 + i] == (std::set<std::size_t>{12, 13, 14, 39}.contains(i) ? 0x41800000 : 0x3c003c00));
}

int refuse_reading(void*, std::size_t, int lane, std::uint64_t, std::uint8_t*, std::size_t) {
  return lane == 6;
}
int throw_reading(void*, std::size_t, int, std::uint64_t, std::uint8_t*, std::size_t) {
  throw 7;
}

/// A valid call, for tests to break, and the expected error.
struct Misuse {
  const char* what;
  warpmat_status status;
  int operand;  ///< -1: none
  std::function<void(std::vector<warpmat_registers>&, warpmat_memory&, warpmat_call&)> spoil;
};

TEST_CASE("C: every misuse of a call is an error and changes nothing", "[c]") {
  static const std::uint16_t list[] = {0, 1, 2};
  const std::vector<Misuse> misuses{
      {"nothing", WARPMAT_OK, -1, [](auto&, auto&, auto&) {}},
      {"size 0", WARPMAT_BAD_ARGUMENT, -1, [](auto&, auto&, auto& call) { call.size = 0; }},
      {"size too small", WARPMAT_BAD_ARGUMENT, -1, [](auto&, auto&, auto& call) { call.size = offsetof(warpmat_call, flags); }},
      {"a later version's size", WARPMAT_OK, -1, [](auto&, auto&, auto& call) { call.size += 64; }},
      {"no operands", WARPMAT_BAD_ARGUMENT, -1, [](auto&, auto&, auto& call) { call.operands = nullptr; }},
      {"too few operands", WARPMAT_BAD_ARGUMENT, -1, [](auto&, auto&, auto& call) { --call.operand_count; }},
      {"null destination", WARPMAT_BAD_ARGUMENT, WARPMAT_R, [](auto& registers, auto&, auto&) { registers[0].words = nullptr; }},
      {"null source", WARPMAT_BAD_ARGUMENT, WARPMAT_P, [](auto& registers, auto&, auto&) { registers[1].words = nullptr; }},
      {"between words", WARPMAT_BAD_ARGUMENT, WARPMAT_P,
       [](auto& registers, auto&, auto&) {
         registers[1].words = reinterpret_cast<std::uint32_t*>(reinterpret_cast<std::uintptr_t>(registers[1].words) + 2);
       }},
      {"short list", WARPMAT_BAD_ARGUMENT, WARPMAT_R,
       [](auto& registers, auto&, auto&) {
         registers[0].numbers = list;
         registers[0].number_count = 3;
       }},
      {"immediate destination", WARPMAT_BAD_ARGUMENT, WARPMAT_R, [](auto& registers, auto&, auto&) { registers[0].lane_stride = 0; }},
      {"no memory", WARPMAT_BAD_ARGUMENT, -1, [](auto&, auto&, auto& call) { call.memory = nullptr; }},
      {"memory of size 0", WARPMAT_BAD_ARGUMENT, -1, [](auto&, auto& memory, auto&) { memory.size = 0; }},
      {"neither bytes nor callback", WARPMAT_BAD_ARGUMENT, -1, [](auto&, auto& memory, auto&) { memory.bytes = nullptr; }},
      {"unknown flag", WARPMAT_BAD_ARGUMENT, -1, [](auto&, auto&, auto& call) { call.flags = 1u << 30; }},
      {"short list of wide addresses", WARPMAT_BAD_ARGUMENT, WARPMAT_P,
       [](auto& registers, auto&, auto& call) {
         registers[1].numbers = list;
         registers[1].number_count = 1;
         call.flags = WARPMAT_WIDE_ADDRESSES;
       }},
      {"misaligned", WARPMAT_MISALIGNED, WARPMAT_P, [](auto&, auto&, auto& call) { call.offset = 4; }},
      {"out of range", WARPMAT_OUT_OF_RANGE, WARPMAT_P, [](auto&, auto&, auto& call) { call.offset = 1 << 20; }},
      {"refused", WARPMAT_REFUSED, WARPMAT_P,
       [](auto&, auto& memory, auto&) {
         memory.bytes = nullptr;
         memory.read = refuse_reading;
       }},
      {"an exception of a C++ host", WARPMAT_INTERNAL, -1,
       [](auto&, auto& memory, auto&) {
         memory.bytes = nullptr;
         memory.read = throw_reading;
       }},
  };
  const warpmat_instruction* load = found("ldmatrix.sync.aligned.m8n8.x4.b16", "sm_90");
  const WarpArrays original(*find_form("ldmatrix.sync.aligned.m8n8.x4.b16"), 2, std::nullopt, 93);
  for (const Misuse& misuse : misuses)
    for (const bool with_error : {true, false}) {
      CAPTURE(misuse.what, with_error);
      WarpArrays warps = original;
      auto registers = registers_of(*find_form("ldmatrix.sync.aligned.m8n8.x4.b16"), warps);
      warpmat_memory memory = memory_of(warps);
      warpmat_call call = call_of(registers, memory);
      misuse.spoil(registers, memory, call);
      auto error = sized<warpmat_error>();
      error.status = WARPMAT_OK;
      CHECK(warpmat_execute(load, &call, 2, with_error ? &error : nullptr) == misuse.status);
      CHECK((warps == original) == (misuse.status != WARPMAT_OK));
      if (!with_error || misuse.status == WARPMAT_OK) continue;
      CHECK(error.status == misuse.status);
      CHECK(error.operand == misuse.operand);
      CHECK(std::strlen(error.message) > 10);
      if (misuse.status == WARPMAT_REFUSED) CHECK(error.lane == 6);
    }
}

TEST_CASE("C: the rest of misuse, and errors that fit the caller's struct", "[c]") {
  auto error = sized<warpmat_error>();
  const auto status_of = [&](const char* opcode, const char* target) {
    error = sized<warpmat_error>();
    CHECK(warpmat_find(opcode, target, nullptr) == nullptr);
    CHECK(warpmat_find(opcode, target, &error) == nullptr);
    return error.status;
  };
  CHECK(status_of(nullptr, "sm_90") == WARPMAT_BAD_ARGUMENT);
  CHECK(status_of(f16_mma, nullptr) == WARPMAT_BAD_ARGUMENT);
  CHECK(status_of("mma", "sm_90") == WARPMAT_UNKNOWN_OPCODE);
  CHECK(status_of("", "sm_90") == WARPMAT_UNKNOWN_OPCODE);
  CHECK(status_of(f16_mma, "sm_42") == WARPMAT_UNKNOWN_TARGET);
  CHECK(status_of(f16_mma, "sm_75") == WARPMAT_UNAVAILABLE);
  CHECK(warpmat_find_machine(nullptr, "sm_90", nullptr) == nullptr);

  const warpmat_instruction* mma = found(f16_mma, "sm_90");
  auto info = sized<warpmat_instruction_info>();
  auto operand = sized<warpmat_operand_info>();
  warpmat_element element{};
  warpmat_place place{};
  const auto call = sized<warpmat_call>();
  CHECK(warpmat_describe(nullptr, &info) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_describe(mma, nullptr) == WARPMAT_BAD_ARGUMENT);
  info.size = 8;
  CHECK(warpmat_describe(mma, &info) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_operand_at(nullptr, 0, &operand) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_operand_at(mma, 0, nullptr) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_operand_at(mma, -1, &operand) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_operand_at(mma, 4, &operand) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_element_at(nullptr, WARPMAT_A, place, &element) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_element_at(mma, WARPMAT_A, place, nullptr) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_element_at(mma, WARPMAT_E, place, &element) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_element_at(mma, static_cast<warpmat_operand>(15), place, &element) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_place_of(nullptr, WARPMAT_A, element, &place) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_place_of(mma, WARPMAT_A, element, nullptr) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_execute(nullptr, &call, 1, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_execute(mma, nullptr, 1, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_execute(mma, &call, 1, nullptr) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_execute(mma, &call, 0, nullptr) == WARPMAT_OK);

  // An older version's shorter message: truncated, terminated, and no byte beyond it touched. A size too small for it: nothing is written.
  for (const std::size_t size : {offsetof(warpmat_error, message) + 10, sizeof(std::size_t), std::size_t{0}}) {
    std::memset(&error, 0x5a, sizeof error);
    error.size = size;
    CHECK(warpmat_find("mma", "sm_90", &error) == nullptr);
    const auto* bytes = reinterpret_cast<const unsigned char*>(&error);
    for (std::size_t i = std::max(size, sizeof(std::size_t)); i < sizeof error; ++i) REQUIRE(bytes[i] == 0x5a);
    if (size > 64) CHECK(std::strlen(error.message) == 9);
  }
  CHECK(std::string(warpmat_status_name(WARPMAT_REFUSED)) == "WARPMAT_REFUSED");
  CHECK(std::string(warpmat_status_name(static_cast<warpmat_status>(31))) == "unknown status");
  CHECK(warpmat_version() == std::string(WARPMAT_VERSION));
  CHECK(warpmat_abi() == WARPMAT_ABI);
}

}  // namespace
}  // namespace warpmat::interface_test
