// wgmma.mma_async in C: that it computes what the C++ interface does, which shared memory it reads, and that every misuse is an error.

#include <warpmat/c.h>

#include <warpmat/execute/wgmma_products.h>
#include <warpmat/forms.h>
#include <warpmat/wgmma.h>

#include "c/calls.h"
#include "c/wgmma_call.h"
#include "test.h"

namespace warpmat::wgmma_test {
namespace {

constexpr std::uint32_t base = 1024;
constexpr std::size_t memory_bytes = 64 << 10;
constexpr std::size_t group = 4;  // warps

const warpmat_instruction* on_hopper(const char* opcode) {
  return found(opcode, "sm_90a");
}

warpmat_memory memory_of(std::vector<std::uint8_t>& bytes) {
  auto memory = sized<warpmat_memory>();
  memory.bytes = bytes.data();
  memory.byte_count = bytes.size();
  memory.base = base;
  return memory;
}

const std::uint64_t a_descriptor =
    MatrixDescriptor({.start = base, .leading = 128, .stride = 1024, .swizzle = Swizzle::bytes_128}).encode();
const std::uint64_t b_descriptor =
    MatrixDescriptor({.start = base + 16384, .leading = 128, .stride = 1024, .swizzle = Swizzle::bytes_128}).encode();

/// Metadata whose first code is defined, for all lanes.
std::uint32_t metadata_word(const Form& tile) {
  unsigned code = 0;
  while (!valid_metadata(tile, code)) ++code;
  return code * 0x11111111u;
}

/// D of the four warps, register-major, by the C++ interface.
std::vector<std::uint32_t> expected(const Wgmma& wgmma, SharedMemory& memory, const std::vector<std::uint32_t>& c, const std::uint32_t* a,
                                    std::uint32_t metadata, bool accumulates) {
  std::vector<std::uint32_t> d = c, b(b_words(wgmma.form())), own_a(a_words(wgmma.form()));
  read_b(wgmma, memory, b_descriptor, b.data());
  const std::vector<std::uint32_t> e(warp_size, metadata);
  for (std::size_t warp = 0; warp < group; ++warp) {
    if (a == nullptr)
      read_a(wgmma, memory, a_descriptor, static_cast<int>(warp), own_a.data());
    else
      std::copy_n(a + warp * a_words(wgmma.form()), a_words(wgmma.form()), own_a.data());
    std::vector<std::uint32_t*> registers;
    const std::size_t words = d.size() / group;
    for (std::size_t i = 0; i < words; i += warp_size) registers.push_back(d.data() + warp * words + i);
    multiply(wgmma, registers, own_a.data(), b.data(), e.data(), accumulates, {.path = Path::reference});
  }
  return d;
}

/// The same words with the registers of a thread side by side.
std::vector<std::uint32_t> thread_major(const std::vector<std::uint32_t>& words) {
  std::vector<std::uint32_t> out(words.size());
  const std::size_t registers = words.size() / group / warp_size;
  for (std::size_t warp = 0; warp < group; ++warp)
    for (std::size_t i = 0; i < registers; ++i)
      for (std::size_t lane = 0; lane < warp_size; ++lane)
        out[(warp * warp_size + lane) * registers + i] = words[(warp * registers + i) * warp_size + lane];
  return out;
}

constexpr const char* opcodes[] = {
    "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16",         "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16",
    "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e5m2",      "wgmma.mma_async.sync.aligned.m64n32k32.satfinite.s32.s8.u8",
    "wgmma.mma_async.sync.aligned.m64n24k256.s32.b1.b1.and.popc", "wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.bf16.bf16"};

TEST_CASE("C: wgmma computes what the C++ interface does: A in memory and in registers, immediates, any places of registers, both paths",
          "[c][wgmma]") {
  std::mt19937_64 random(7);
  const auto random_words = [&](std::size_t count) {
    std::vector<std::uint32_t> words(count);
    for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random()) & 0xbfffbfff;  // finite f16, bf16, most of e5m2
    return words;
  };
  std::vector<std::uint8_t> bytes(memory_bytes);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random()) & 0xbf;
  SharedMemory memory(bytes, base);
  for (const char* const opcode : opcodes) {
    const warpmat_instruction* const instruction = on_hopper(opcode);
    const WgmmaForm& form = *find_wgmma(opcode);
    std::uint32_t metadata[] = {form.sparse() ? metadata_word(*form.tile) : 0};
    for (const bool a_in_registers : {false, true})
      for (const bool accumulates : {false, true})
        for (const bool by_thread : {false, true})
          for (const unsigned flags : {0u, WARPMAT_REFERENCE_PATH}) {
            CAPTURE(opcode, a_in_registers, accumulates, by_thread, flags);
            // The immediates of one case; the form says which it has.
            const bool negates = form.negates() && by_thread, transposes = form.transposes() && accumulates;
            const Wgmma wgmma(form, *find_target("sm_90a"), newest_ptx,
                              {.negates_a = negates, .major_b = transposes ? Major::mn : Major::k});
            const std::size_t d_words = static_cast<std::size_t>(form.d_registers()) * warp_size;
            const std::vector<std::uint32_t> c = random_words(group * d_words), a = random_words(group * a_words(wgmma.form()));
            std::vector<std::uint32_t> d = by_thread ? thread_major(c) : c, own_a = by_thread ? thread_major(a) : a;
            const warpmat_memory given = memory_of(bytes);
            WgmmaCall call{.instruction = instruction};
            if (by_thread)
              call.d = WARPMAT_THREAD_MAJOR(d.data(), form.d_registers(), nullptr, 0);
            else
              call.d = WARPMAT_REGISTER_MAJOR(d.data(), d_words);
            if (a_in_registers && by_thread)
              call.a = WARPMAT_THREAD_MAJOR(own_a.data(), form.a_registers(), nullptr, 0);
            else if (a_in_registers)
              call.a = WARPMAT_REGISTER_MAJOR(own_a.data(), a_words(wgmma.form()));
            call.e = WARPMAT_IMMEDIATE(metadata);
            call.a_descriptor = a_descriptor;
            call.b_descriptor = b_descriptor;
            call.accumulate = accumulates;
            call.scale_a = negates ? UINT32_MAX : 1;
            call.transpose_b = transposes;
            call.memory = &given;
            call.flags = flags;
            auto error = sized<warpmat_error>();
            const warpmat_status status = call.execute(&error);
            INFO(error.message);
            REQUIRE(status == WARPMAT_OK);
            const auto wanted = expected(wgmma, memory, c, a_in_registers ? a.data() : nullptr, metadata[0], accumulates);
            CHECK(d == (by_thread ? thread_major(wanted) : wanted));
          }
  }
}

TEST_CASE("C: several warpgroups of a call, each with its registers and its memory", "[c][wgmma]") {
  std::mt19937_64 random(29);
  std::vector<std::uint8_t> bytes(2 * memory_bytes);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random()) & 0xbf;
  const WgmmaForm& form = *find_wgmma(opcodes[0]);
  const Wgmma wgmma(form, *find_target("sm_90a"), newest_ptx, {});
  const std::size_t group_words = group * static_cast<std::size_t>(form.d_registers()) * warp_size;
  std::vector<std::uint32_t> d(2 * group_words, 0x3f800000);
  std::vector<std::uint32_t> wanted;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    SharedMemory memory = SharedMemory::borrowing(std::span(bytes).subspan(i * memory_bytes, memory_bytes), base);
    const std::vector<std::uint32_t> c(group_words, 0x3f800000);
    for (const std::uint32_t word : expected(wgmma, memory, c, nullptr, 0, true)) wanted.push_back(word);
  }
  warpmat_memory given = memory_of(bytes);
  given.byte_count = memory_bytes;
  given.warp_stride = memory_bytes / group;
  WgmmaCall call{.instruction = on_hopper(opcodes[0]), .a_descriptor = a_descriptor, .b_descriptor = b_descriptor, .memory = &given};
  call.d = WARPMAT_REGISTER_MAJOR(d.data(), group_words / group);
  call.warps = 2 * group;
  REQUIRE(call.execute(nullptr) == WARPMAT_OK);
  CHECK(d == wanted);
}

TEST_CASE("C: wgmma's accesses are the bytes that it reads, each with its element", "[c][wgmma]") {
  // Each 16 bits of memory hold their number, so a register of A says from where it was read.
  std::vector<std::uint8_t> bytes(memory_bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i / 2 >> 8 * (i % 2));
  const SharedMemory memory(bytes, base);
  for (const std::uint32_t transposed : {0u, 1u}) {
    CAPTURE(transposed);
    const char* const opcode = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16";
    const Major major = transposed != 0 ? Major::mn : Major::k;
    const WgmmaForm& form = *find_wgmma(opcode);
    const Wgmma wgmma(form, *find_target("sm_90a"), newest_ptx, {.major_a = major, .major_b = major});
    WgmmaCall call{.instruction = on_hopper(opcode), .a_descriptor = a_descriptor, .b_descriptor = b_descriptor};
    call.transpose_a = call.transpose_b = transposed;
    const std::vector<warpmat_memory_access> list = call.accesses();
    REQUIRE(list.size() == (64 * 16 + 16 * 64) * 2 / 16);
    std::vector<std::uint32_t> a(4 * a_words(wgmma.form())), b(b_words(wgmma.form()));
    for (int warp = 0; warp < 4; ++warp)
      read_a(wgmma, memory, a_descriptor, warp, a.data() + static_cast<std::size_t>(warp) * a_words(wgmma.form()));
    read_b(wgmma, memory, b_descriptor, b.data());
    const auto half_at = [](const std::vector<std::uint32_t>& words, std::size_t word, int bit) { return words[word] >> bit & 0xffff; };
    for (const warpmat_memory_access& access : list) {
      CHECK((access.bytes == 16 && access.write == 0 && access.space == WARPMAT_SPACE_SHARED && access.place.lane == -1));
      const std::uint64_t number = (access.address - base) / 2;
      if (access.operand == WARPMAT_A) {
        warpmat_place place{};
        REQUIRE(warpmat_place_of(call.instruction, WARPMAT_A, access.element, &place) == WARPMAT_OK);
        const int warp = place.lane / warp_size, lane = place.lane % warp_size;
        const auto word = static_cast<std::size_t>(warp) * a_words(wgmma.form()) + static_cast<std::size_t>(place.reg * warp_size + lane);
        CHECK(half_at(a, word, place.bit) == number);
      } else {
        const Fragment& fragment = form.tile->operand(OperandName::b).fragment;
        const Place place = fragment.place({access.element.row, access.element.column % 8, 0});
        const int tile = access.element.column / 8;
        CHECK(half_at(b, static_cast<std::size_t>((tile * form.tile_b_registers() + place.reg) * warp_size + place.lane), place.bit) ==
              number);
      }
    }
    std::uint32_t word = 0;
    call.a = WARPMAT_IMMEDIATE(&word);
    CHECK(call.accesses().size() == 16 * 64 * 2 / 16);
  }
}

TEST_CASE("C: of every wgmma the listed bytes are those that it reads, and no others", "[c][wgmma]") {
  std::mt19937_64 random(9);
  std::vector<std::uint8_t> bytes(memory_bytes);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  int compared = 0;
  for (const WgmmaForm& form : wgmma_forms())
    for (const std::uint32_t transposed : {0u, 1u})
      for (const Swizzle swizzle : {Swizzle::none, Swizzle::bytes_32, Swizzle::bytes_64, Swizzle::bytes_128}) {
        if (transposed == 1 && !form.transposes()) continue;  // only elements of 16 bits may be
        CAPTURE(form.opcode, transposed, static_cast<int>(swizzle));
        const Major major = transposed != 0 ? Major::mn : Major::k;
        const Wgmma wgmma(form, *find_target("sm_90a"), newest_ptx, {.major_a = major, .major_b = major});
        WgmmaCall call{.instruction = on_hopper(form.opcode.c_str())};
        call.transpose_a = call.transpose_b = transposed;
        call.a_descriptor = MatrixDescriptor({.start = base, .leading = 256, .stride = 1024, .swizzle = swizzle}).encode();
        call.b_descriptor = MatrixDescriptor({.start = base + 16384, .leading = 256, .stride = 1024, .swizzle = swizzle}).encode();
        const std::vector<warpmat_memory_access> list = call.accesses();
        std::vector<std::uint8_t> others = bytes, listed = bytes;  // with all other bytes, and with those of the list, inverted
        for (std::uint8_t& byte : others) byte = static_cast<std::uint8_t>(~byte);
        std::size_t total = 0;
        for (const warpmat_memory_access& access : list) {
          total += access.bytes;
          for (std::size_t i = access.address - base; i < access.address - base + access.bytes; ++i) {
            others.at(i) = bytes[i];
            listed.at(i) = static_cast<std::uint8_t>(~bytes[i]);
          }
        }
        const auto words_read = [&](std::vector<std::uint8_t>& from) {
          const SharedMemory memory(from, base);
          std::vector<std::uint32_t> words(group * a_words(wgmma.form()) + b_words(wgmma.form()));
          for (std::size_t warp = 0; warp < group; ++warp)
            read_a(wgmma, memory, call.a_descriptor, static_cast<int>(warp), words.data() + warp * a_words(wgmma.form()));
          read_b(wgmma, memory, call.b_descriptor, words.data() + group * a_words(wgmma.form()));
          return words;
        };
        std::vector<std::uint32_t> expected = words_read(bytes);
        CHECK(words_read(others) == expected);
        for (std::uint32_t& word : expected) word = ~word;
        CHECK(words_read(listed) == expected);
        CHECK(total == expected.size() * sizeof(std::uint32_t));
        ++compared;
      }
  CHECK(compared > 4 * 200);
}

TEST_CASE("C: wgmma says what it is and where elements lie", "[c][wgmma]") {
  const warpmat_instruction* const instruction = on_hopper("wgmma.mma_async.sync.aligned.m64n96k16.f32.f16.f16");
  auto info = sized<warpmat_instruction_info>();
  REQUIRE(warpmat_describe(instruction, &info) == WARPMAT_OK);
  CHECK(std::string(info.opcode) == "wgmma.mma_async.sync.aligned.m64n96k16.f32.f16.f16");
  CHECK(std::string(info.machine) == "HGMMA.64x96x16.F32");
  CHECK(std::string(info.evidence) == "measured");
  CHECK((info.m == 64 && info.n == 96 && info.k == 16 && info.warps == 4 && info.scalar == 0 && info.reads_memory == 1));
  auto d = sized<warpmat_operand_info>(), a = sized<warpmat_operand_info>();
  REQUIRE(warpmat_operand_at(instruction, 0, &d) == WARPMAT_OK);
  REQUIRE(warpmat_operand_at(instruction, 1, &a) == WARPMAT_OK);
  CHECK((d.operand == WARPMAT_D && d.words == 48 && d.rows == 64 && d.columns == 96 && d.read == 1 && d.written == 1));
  CHECK((a.operand == WARPMAT_A && a.words == 4 && a.rows == 64 && a.columns == 16 && a.optional == 1));
  CHECK((std::string(d.format) == "f32" && std::string(a.format) == "f16"));
  // PTX ISA 9.1 section 9.7.15.5.1.1: row 16 warp + lane / 4 + 8 (i / 2 % 2), column 8 (i / 4) + 2 (lane % 4) + i % 2.
  for (int warp = 0; warp < 4; ++warp)
    for (int lane = 0; lane < warp_size; ++lane)
      for (int i = 0; i < 48; ++i) {
        warpmat_element element{};
        REQUIRE(warpmat_element_at(instruction, WARPMAT_D, {32 * warp + lane, i, 0}, &element) == WARPMAT_OK);
        CHECK((element.row == 16 * warp + lane / 4 + 8 * (i / 2 % 2) && element.column == 8 * (i / 4) + 2 * (lane % 4) + i % 2));
        warpmat_place place{};
        REQUIRE(warpmat_place_of(instruction, WARPMAT_D, element, &place) == WARPMAT_OK);
        CHECK((place.lane == 32 * warp + lane && place.reg == i && place.bit == 0));
      }
  warpmat_element element{};
  warpmat_place place{};
  CHECK(warpmat_element_at(instruction, WARPMAT_B, {0, 0, 0}, &element) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_element_at(instruction, WARPMAT_D, {128, 0, 0}, &element) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_element_at(instruction, WARPMAT_D, {0, 48, 0}, &element) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_place_of(instruction, WARPMAT_D, {64, 0, 0}, &place) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_place_of(instruction, WARPMAT_D, {0, 96, 0}, &place) == WARPMAT_BAD_ARGUMENT);
}

TEST_CASE("C: every misuse of wgmma is an error and changes nothing", "[c][wgmma]") {
  auto error = sized<warpmat_error>();
  const char* const opcode = opcodes[0];
  CHECK(warpmat_find("wgmma.mma_async.sync.aligned.m64n65k16.f32.f16.f16", "sm_90a", &error) == nullptr);
  CHECK(error.status == WARPMAT_UNKNOWN_OPCODE);
  CHECK(std::string(error.message).find("the nearest is") != std::string::npos);
  CHECK(warpmat_find(opcode, "sm_90", &error) == nullptr);
  CHECK(error.status == WARPMAT_UNAVAILABLE);
  CHECK(warpmat_find(opcode, "sm_91", &error) == nullptr);
  CHECK(error.status == WARPMAT_UNKNOWN_TARGET);

  std::vector<std::uint8_t> bytes(memory_bytes);
  std::vector<std::uint32_t> d(group * 32 * warp_size, 5);
  const std::vector<std::uint32_t> before = d;
  warpmat_memory memory = memory_of(bytes);
  WgmmaCall call{.instruction = on_hopper(opcode), .a_descriptor = a_descriptor, .b_descriptor = b_descriptor, .memory = &memory};
  call.d = WARPMAT_REGISTER_MAJOR(d.data(), 32 * warp_size);
  const auto status = [&](auto spoil) {
    WgmmaCall spoilt = call;
    spoil(spoilt);
    return spoilt.execute(&error);
  };
  const auto message = [&](auto spoil) {
    CHECK(status(spoil) == WARPMAT_BAD_ARGUMENT);
    return std::string(error.message).substr(std::string(opcode).size() + 2);
  };
  CHECK(message([](auto& c) { c.d.words = nullptr; }) == "operand d: words is null");
  CHECK(error.operand == WARPMAT_D);
  CHECK(message([](auto& c) { c.d.lane_stride = 0; }) == "operand d: it is written, so its lane_stride cannot be 0");
  CHECK(message([](auto& c) { c.memory = nullptr; }) == "memory is null");
  CHECK(message([](auto& c) { c.flags = WARPMAT_WIDE_ADDRESSES; }) == "flags 0x4 are not known");
  CHECK(message([](auto& c) { c.warps = 3; }) == "4 warps execute it together; 3 given");
  CHECK(message([](auto& c) { c.scale_b = 2; }) == "imm-scale-a and imm-scale-b are 1 or -1");
  CHECK(status([](auto& c) { c.b_descriptor = MatrixDescriptor({.start = 128 << 10}).encode(); }) == WARPMAT_OUT_OF_RANGE);
  CHECK(error.operand == WARPMAT_B);
  CHECK(std::string(error.message).find("leaves shared memory") != std::string::npos);

  CHECK(status([](auto& c) {
          c.instruction = on_hopper(opcodes[5]);
          static const std::uint32_t metadata = metadata_word(*find_wgmma(opcodes[5])->tile);
          c.e = WARPMAT_IMMEDIATE(&metadata);
          c.selector = 4;
        }) == WARPMAT_BAD_ARGUMENT);
  CHECK(contains(error.message, "selector"));

  // A in both places, and in none.
  std::vector<warpmat_registers> operands = call.operands();
  warpmat_call plain = call.call();
  plain.operands = operands.data();
  std::size_t count = 7;
  const auto refused_alike = [&](const std::string& what) {
    CHECK(warpmat_execute(call.instruction, &plain, group, &error) == WARPMAT_BAD_ARGUMENT);
    CHECK(std::string(error.message) == std::string(opcode) + ": " + what);
    error = sized<warpmat_error>();
    CHECK(warpmat_accesses(call.instruction, &plain, 0, nullptr, 0, &count, &error) == WARPMAT_BAD_ARGUMENT);
    CHECK(std::string(error.message) == std::string(opcode) + ": " + what);
  };
  plain.offset = -16;
  refused_alike("it has no address to add the offset -16 to: offset must be 0");
  plain.offset = 0;
  plain.flags = WARPMAT_WIDE_ADDRESSES;
  refused_alike("flags 0x4 are not known");
  plain.flags = 0;
  for (const warpmat_registers& a_or_none : {operands[0], warpmat_registers{}}) {
    operands[1] = a_or_none;
    if (a_or_none.words == nullptr) operands[2] = {};
    count = 7;
    refused_alike("either a or a-desc is given, for A in registers or in shared memory");
    CHECK(count == 0);
  }
  count = 7;
  CHECK(warpmat_accesses(call.instruction, nullptr, 0, nullptr, 0, &count, &error) == WARPMAT_BAD_ARGUMENT);
  plain.operand_count = 3;
  CHECK(warpmat_accesses(call.instruction, &plain, 0, nullptr, 0, &count, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(std::string(error.message) == std::string(opcode) + ": 5 operands are needed; 3 given");
  memory.bytes = nullptr;
  CHECK(status([](auto&) {}) == WARPMAT_BAD_ARGUMENT);
  CHECK(d == before);
}

}  // namespace
}  // namespace warpmat::wgmma_test
