#include <warpmat/program.h>

#include "gpu/cases/fuzz_program.h"
#include "test.h"

namespace warpmat::scalar_test {
namespace {

using std::uint32_t;

/// "add.u32 d, s0, s1;"
std::string statement(const Instruction& instruction) {
  std::string text = std::string(instruction.opcode()) + " d";
  for (std::size_t i = 1; i < instruction.operands().size(); ++i) text += fmt::format(", s{}", i - 1);
  return text + ";";
}

// ---- Loads and stores ---------------------------------------------------------------------------------------------------------------

constexpr std::size_t memory_bytes = 4096;

std::size_t bytes_of(const Instruction& instruction) {
  return static_cast<std::size_t>(instruction.access_bytes());
}

/// The data operand of a load or store.
const InstructionOperand& data_of(const Instruction& instruction) {
  return instruction.operands()[instruction.kind() == InstructionKind::load ? 0 : 1];
}

/// Register types that a load or store of `type` may have at its data.
std::vector<std::string_view> data_registers(const DataType& type, const Accepts& accepted) {
  std::vector<std::string_view> out;
  for (const DataType& r : data_types())
    if (r.is_register && accepts(accepted, r) && (type.type_class == DataType::Class::floating ? r.bits == type.bits : r.bits >= type.bits))
      out.push_back(r.name);
  return out;
}

/// "{d0, d1}" or "d0".
std::string group(int count) {
  std::string text = "d0";
  for (int i = 1; i < count; ++i) text += fmt::format(", d{}", i);
  return count == 1 ? text : "{" + text + "}";
}

std::string declarations(std::string_view type, int count) {
  return fmt::format(".reg .{} d<{}>; .reg .b32 address;\n", type, count);
}

std::uint64_t read_register(const Warp& warp, const std::string& name, int bits, std::size_t lane) {
  return warp.reg(name)[lane] | (bits == 64 ? std::uint64_t{warp.reg(name, 1)[lane]} << 32 : 0);
}

void fill(Warp& warp, std::mt19937& random) {
  for (std::uint8_t& byte : warp.shared().bytes()) byte = static_cast<std::uint8_t>(random());
  for (const NamedRegister& r : warp.program().registers())
    for (int word = 0; word < (r.type->bits > 32 ? 2 : 1); ++word)
      for (uint32_t& x : warp.reg(r.name, word)) x = r.type->bits == 16 ? random() & 0xffff : static_cast<uint32_t>(random());
}

void aim(Warp& warp, std::mt19937& random, std::size_t bytes) {
  for (uint32_t& address : warp.reg("address")) address = static_cast<uint32_t>(random() % (memory_bytes / bytes) * bytes);
}

/// The value of `bytes` little-endian bytes from `address` on, extended by its sign or with zeros, in a register of `width` bits.
std::uint64_t expected_load(const Warp& warp, std::size_t address, std::size_t bytes, bool is_signed, int width) {
  std::int64_t value = 0;
  std::memcpy(&value, warp.shared().bytes().data() + address, bytes);
  if (is_signed && bytes < 8 && (value >> (8 * bytes - 1)) != 0) value -= std::int64_t{1} << (8 * bytes);
  return width == 64 ? static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << width) - 1);
}

/// Everything that a run can change.
struct State {
  std::vector<Register> registers;
  std::vector<std::uint8_t> memory;
  friend bool operator==(const State&, const State&) = default;
};

State state_of(const Warp& warp) {
  State state;
  for (const NamedRegister& r : warp.program().registers())
    for (int word = 0; word < (r.type->bits > 32 ? 2 : 1); ++word) state.registers.push_back(warp.reg(r.name, word));
  state.memory.assign(warp.shared().bytes().begin(), warp.shared().bytes().end());
  return state;
}

std::vector<Instruction> instructions(InstructionKind kind) {
  std::vector<Instruction> out = fuzzed_scalar_instructions(target("sm_80"));
  std::erase_if(out, [&](const Instruction& instruction) { return instruction.kind() != kind; });
  return out;
}

TEST_CASE("scalar: a statement computes what its instruction does on the same registers") {
  std::mt19937 random(6);
  for (const Instruction& instruction : instructions(InstructionKind::scalar)) {
    INFO(instruction.opcode());
    const Program program = parse(statement(instruction), "sm_80");
    Warp warp(program);
    fill(warp, random);
    std::vector<std::vector<Register>> words;
    std::vector<RegisterView> views;
    for (std::size_t i = 0; i < instruction.operands().size(); ++i) {
      words.emplace_back();
      for (int word = 0; word < instruction.operands()[i].words(); ++word)
        words.back().push_back(warp.reg(i == 0 ? "d" : fmt::format("s{}", i - 1), word));
      views.push_back({words.back().front().data(), warp_size, warp_size, 1, nullptr});
    }
    Call call;
    call.operands = views;
    instruction.execute(call, 1);
    run(warp);
    const uint32_t bits = instruction.operands()[0].register_bits() == 16 ? 0xffff : 0xffffffff;
    for (std::size_t word = 0; word < words[0].size(); ++word)
      for (std::size_t lane = 0; lane < warp_size; ++lane)
        REQUIRE(warp.reg("d", static_cast<int>(word))[lane] == (words[0][word][lane] & bits));
  }
}

TEST_CASE("scalar: mov copies numbers of 16, 32 and 64 bits") {
  const Program program =
      parse("mov.u64 w, 0x123456789abcdef0; mov.s64 m, -2; mov.s32 i, -3; mov.b16 h, -1; mov.f64 d, -1.5; mov.f32 f, 0f3F800000;", "sm_80");
  Warp warp(program);
  run(warp);
  CHECK(read_register(warp, "w", 64, 5) == 0x123456789abcdef0);
  CHECK(read_register(warp, "m", 64, 5) == 0xfffffffffffffffe);
  CHECK(warp.reg("i")[5] == 0xfffffffd);
  CHECK(warp.reg("h")[5] == 0xffff);
  CHECK(read_register(warp, "d", 64, 5) == std::bit_cast<std::uint64_t>(-1.5));
  CHECK(warp.reg("f")[5] == 0x3f800000);
}

TEST_CASE("scalar: mov fetches %laneid and the addresses of variables") {
  const Program program = parse(
      ".shared .b8 pad[20]; .shared .align 16 .b32 v[8];\n"
      "mov.u32 l, %laneid; mov.u32 a, v; mov.u32 b, v+12; mov.u32 c, v+-33; mov.u64 w, v+-33; mov.u32 p, pad;",
      "sm_80");
  Warp warp(program);
  run(warp);
  for (uint32_t lane = 0; lane < warp_size; ++lane) CHECK(warp.reg("l")[lane] == lane);
  CHECK(warp.reg("a")[9] == 32);
  CHECK(warp.reg("b")[9] == 44);
  CHECK(warp.reg("c")[9] == 0xffffffff);
  CHECK(read_register(warp, "w", 64, 9) == 0xffffffffffffffff);
  CHECK(warp.reg("p")[9] == 0);
}

/// Calls `visit(instruction, type, width, program)` for every instruction of `kind`, load or store, with every type of data register that
/// it takes: the type in memory, the bits of a register, and a program of this one statement.
template <typename Visit>
void for_each_access(InstructionKind kind, Visit visit) {
  const bool load = kind == InstructionKind::load;
  for (const Instruction& instruction : instructions(kind)) {
    const DataType& type = *data_of(instruction).type();
    const int count = data_of(instruction).registers();
    const auto registers = data_registers(type, data_of(instruction).accepts());
    REQUIRE_FALSE(registers.empty());
    const std::string data = group(count), operands = load ? data + ", [address];" : "[address], " + data + ";";
    for (const std::string_view register_type : registers) {
      INFO(instruction.opcode() << (load ? " into ." : " from .") << register_type);
      const Program program = parse(declarations(register_type, count) + std::string(instruction.opcode()) + " " + operands, "sm_80");
      visit(instruction, type, find_data_type(register_type)->bits, program);
    }
  }
}

TEST_CASE("scalar: ld.shared of every type and vector, into every register type, extends as its type says") {
  std::mt19937 random(11);
  for_each_access(InstructionKind::load, [&](const Instruction& instruction, const DataType& type, int width, const Program& program) {
    const std::size_t bytes = bytes_of(instruction), element = static_cast<std::size_t>(type.bits) / 8;
    const bool is_signed = type.name.starts_with("s");
    Warp warp(program, memory_bytes);
    int wrong = 0;
    for (int round = 0; round < 10; ++round) {
      fill(warp, random);
      aim(warp, random, bytes);
      run(warp);
      for (int i = 0; i < data_of(instruction).registers(); ++i)
        for (std::size_t lane = 0; lane < warp_size; ++lane) {
          const std::size_t address = warp.reg("address")[lane] + static_cast<std::size_t>(i) * element;
          wrong += read_register(warp, fmt::format("d{}", i), width, lane) != expected_load(warp, address, element, is_signed, width);
        }
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE(
    "scalar: st.shared of every type and vector, from every register type, writes its low bytes and nothing else; of each 128 bytes the "
    "first lane wins") {
  std::mt19937 random(12);
  for_each_access(InstructionKind::store, [&](const Instruction& instruction, const DataType& type, int width, const Program& program) {
    const std::size_t bytes = bytes_of(instruction), element = static_cast<std::size_t>(type.bits) / 8;
    Warp warp(program, memory_bytes);
    for (int round = 0; round < 10; ++round) {
      fill(warp, random);
      aim(warp, random, bytes);
      if (round == 0) warp.reg("address").fill(static_cast<uint32_t>(bytes));  // all to one place
      State expected = state_of(warp);
      const std::size_t lanes = std::min<std::size_t>(warp_size, 128 / bytes);  // of 8 bytes 16, of 16 bytes 8
      for (std::size_t end = lanes; end <= warp_size; end += lanes)
        for (std::size_t lane = end; lane-- != end - lanes;)
          for (int i = 0; i < data_of(instruction).registers(); ++i) {
            const std::uint64_t value = read_register(warp, fmt::format("d{}", i), width, lane);
            std::memcpy(expected.memory.data() + warp.reg("address")[lane] + static_cast<std::size_t>(i) * element, &value, element);
          }
      run(warp);
      REQUIRE(state_of(warp) == expected);
    }
  });
}

TEST_CASE("scalar: addresses add modulo 2^32, in 64-bit registers, too") {
  const Program program =
      parse(".shared .b32 v[8]; .reg .b32 a, x; .reg .b64 w; st.shared.b32 [v+8], 7; ld.shared.b32 x, [a+24];", "sm_80");
  Warp warp(program);
  warp.reg("a").fill(static_cast<uint32_t>(-16));
  run(warp);
  CHECK(warp.reg("x")[3] == 7);

  const Program wide = parse(".shared .b32 v[8]; .reg .b64 w; .reg .b32 x; st.shared.b32 [v+8], 7; ld.shared.b32 x, [w+24];", "sm_80");
  Warp wide_warp(wide);
  wide_warp.reg("w").fill(static_cast<uint32_t>(-16));
  run(wide_warp);
  CHECK(wide_warp.reg("x")[3] == 7);
}

TEST_CASE("scalar: results that are narrower than their register fill it as their type says, wide ones take both words") {
  const Program program = parse(
      ".reg .b16 h; .reg .b32 r, n, m; .reg .b64 w, v, q; .reg .f32 f;\n"
      "cvt.s8.s32 h, r; cvt.s8.s32 n, r; cvt.u8.s32 m, r; cvt.s8.s32 w, r; cvt.u16.u64 v, w;\n"
      "mad.wide.s32 q, r, 3, w; fma.rn.f32 f, 1.5, 2.0, 0f3F800000;",
      "sm_80");
  Warp warp(program);
  warp.reg("r").fill(0x12345680);
  run(warp);
  CHECK(warp.reg("h")[3] == 0xff80);
  CHECK(warp.reg("n")[3] == 0xffffff80);
  CHECK(warp.reg("m")[3] == 0x80);
  CHECK(read_register(warp, "w", 64, 3) == 0xffffffffffffff80);
  CHECK(read_register(warp, "v", 64, 3) == 0xff80);
  CHECK(read_register(warp, "q", 64, 3) == 0x12345680ull * 3 + 0xffffffffffffff80);
  CHECK(warp.reg("f")[3] == std::bit_cast<uint32_t>(4.0f));
}

TEST_CASE("scalar: without declarations the registers of conversions have the width that their types need") {
  const Program program =
      parse("cvt.rn.satfinite.e4m3x2.f32 pair, a, b; cvt.f32.f16 c, half; cvt.u8.u32 d, e; cvt.rn.f16x2.e4m3x2 x, pair;", "sm_90");
  for (const auto& [name, type] :
       {std::pair{"pair", "b16"}, {"a", "b32"}, {"c", "b32"}, {"half", "b16"}, {"d", "b32"}, {"e", "b32"}, {"x", "b32"}}) {
    INFO(name);
    REQUIRE(program.find_register(name) != nullptr);
    CHECK(program.find_register(name)->type->name == type);
  }
}

TEST_CASE("scalar: a statement says what each of its operands is") {
  const Program program =
      parse("setp.lt.and.s32 p|q, a, b, r; st.shared.b32 [a], b; ld.shared.v2.b32 {a, b}, [c]; bar.warp.sync -1;", "sm_90");
  const auto names = [&](std::size_t statement) {
    std::string text;
    const Statement& shown = program.statements()[statement];
    for (std::size_t i = 0; i < shown.operands().size(); ++i)
      text += std::string(shown.described(i).name()) + (shown.described(i).is_written() ? "< " : " ");
    return text;
  };
  CHECK(names(0) == "p< a b c ");
  CHECK(names(1) == "a b ");
  CHECK(names(2) == "d< a ");
  CHECK(names(3) == "mask ");
  CHECK_THROWS_AS(program.statements()[3].described(1), std::out_of_range);
}

}  // namespace
}  // namespace warpmat::scalar_test
