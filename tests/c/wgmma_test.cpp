// wgmma.mma_async in C: that it computes what the C++ interface does, which shared memory it reads, and that every misuse is an error.

#include <warpmat/c.h>

#include <warpmat/forms.h>
#include <warpmat/wgmma.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "c/calls.h"
#include "catch.h"

namespace warpmat::wgmma_test {

namespace {

constexpr std::uint32_t base = 1024;
constexpr std::size_t memory_bytes = 64 << 10;
constexpr std::size_t group = 4;  // warps

struct Free {
  void operator()(warpmat_wgmma* wgmma) const { warpmat_wgmma_free(wgmma); }
};
using Handle = std::unique_ptr<warpmat_wgmma, Free>;

Handle created(const char* opcode, const warpmat_wgmma_immediates& immediates = {}) {
  auto error = sized<warpmat_error>();
  Handle handle(warpmat_wgmma_create(opcode, "sm_90a", &immediates, &error));
  INFO(error.message);
  REQUIRE(handle != nullptr);
  return handle;
}

warpmat_memory memory_of(std::vector<std::uint8_t>& bytes) {
  auto memory = sized<warpmat_memory>();
  memory.bytes = bytes.data();
  memory.byte_count = bytes.size();
  memory.base = base;
  return memory;
}

const std::uint64_t a_descriptor = MatrixDescriptor{.start = base, .leading = 128, .stride = 1024, .swizzle = Swizzle::bytes_128}.encode();
const std::uint64_t b_descriptor =
    MatrixDescriptor{.start = base + 16384, .leading = 128, .stride = 1024, .swizzle = Swizzle::bytes_128}.encode();

/// Metadata whose first code is defined, for all lanes.
std::uint32_t metadata_word(const Form& tile) {
  unsigned code = 0;
  while (!valid_metadata(tile, code)) ++code;
  return code * 0x11111111u;
}

/// D of the four warps, register-major, by the C++ interface.
std::vector<std::uint32_t> expected(const Wgmma& wgmma, SharedMemory& memory, const std::vector<std::uint32_t>& c, const std::uint32_t* a,
                                    std::uint32_t metadata, bool accumulates) {
  std::vector<std::uint32_t> d = c, b(wgmma.b_words()), own_a(wgmma.a_words());
  wgmma.read_b(memory, b_descriptor, b.data());
  const std::vector<std::uint32_t> e(warp_size, metadata);
  for (std::size_t warp = 0; warp < group; ++warp) {
    if (a == nullptr)
      wgmma.read_a(memory, a_descriptor, static_cast<int>(warp), own_a.data());
    else
      std::copy_n(a + warp * wgmma.a_words(), wgmma.a_words(), own_a.data());
    std::vector<std::uint32_t*> registers;
    const std::size_t words = d.size() / group;
    for (std::size_t i = 0; i < words; i += warp_size) registers.push_back(d.data() + warp * words + i);
    wgmma.multiply(registers, own_a.data(), b.data(), e.data(), accumulates, {.path = Path::reference});
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

}  // namespace

TEST_CASE("C: wgmma computes what the C++ interface does: A in memory and in registers, any places of registers, both paths",
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
    const Handle handle = created(opcode);
    const WgmmaForm& form = *find_wgmma(opcode);
    const Wgmma wgmma(form, *find_target("sm_90a"), newest_ptx, {});
    const std::size_t d_words = static_cast<std::size_t>(form.d_registers()) * warp_size;
    const std::vector<std::uint32_t> c = random_words(group * d_words), a = random_words(group * wgmma.a_words());
    std::uint32_t metadata[] = {form.sparse() ? metadata_word(*form.tile) : 0};
    for (const bool a_in_registers : {false, true})
      for (const int accumulate : {0, 1})
        for (const bool by_thread : {false, true})
          for (const unsigned flags : {0u, WARPMAT_REFERENCE_PATH}) {
            CAPTURE(opcode, a_in_registers, accumulate, by_thread, flags);
            std::vector<std::uint32_t> d = by_thread ? thread_major(c) : c, own_a = by_thread ? thread_major(a) : a;
            const auto stride = static_cast<std::ptrdiff_t>(d_words), a_stride = static_cast<std::ptrdiff_t>(wgmma.a_words());
            const warpmat_registers d_registers[] = {WARPMAT_REGISTER_MAJOR(d.data(), stride),
                                                     WARPMAT_THREAD_MAJOR(d.data(), form.d_registers(), nullptr, 0)};
            const warpmat_registers a_registers[] = {WARPMAT_REGISTER_MAJOR(own_a.data(), a_stride),
                                                     WARPMAT_THREAD_MAJOR(own_a.data(), form.a_registers(), nullptr, 0)};
            const warpmat_registers e = WARPMAT_IMMEDIATE(metadata);
            const warpmat_memory given = memory_of(bytes);
            auto call = sized<warpmat_wgmma_call>();
            call.d = &d_registers[by_thread ? 1 : 0];
            call.a = a_in_registers ? &a_registers[by_thread ? 1 : 0] : nullptr;
            call.e = &e;
            call.a_descriptor = a_descriptor;
            call.b_descriptor = b_descriptor;
            call.memory = &given;
            call.accumulate = accumulate;
            call.flags = flags;
            auto error = sized<warpmat_error>();
            const warpmat_status status = warpmat_wgmma_execute(handle.get(), &call, &error);
            INFO(error.message);
            REQUIRE(status == WARPMAT_OK);
            const auto wanted = expected(wgmma, memory, c, a_in_registers ? a.data() : nullptr, metadata[0], accumulate != 0);
            CHECK(d == (by_thread ? thread_major(wanted) : wanted));
          }
  }
}

TEST_CASE("C: wgmma's accesses are the bytes that it reads, each with its element", "[c][wgmma]") {
  // Each 16 bits of memory hold their number, so a register of A says from where it was read.
  std::vector<std::uint8_t> bytes(memory_bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i / 2 >> 8 * (i % 2));
  const SharedMemory memory(bytes, base);
  for (const int transposed : {0, 1}) {
    CAPTURE(transposed);
    const char* const opcode = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16";
    const Handle handle = created(opcode, {0, 0, transposed, transposed, 0});
    const Major major = transposed != 0 ? Major::mn : Major::k;
    const WgmmaForm& form = *find_wgmma(opcode);
    const Wgmma wgmma(form, *find_target("sm_90a"), newest_ptx, {.major_a = major, .major_b = major});
    auto call = sized<warpmat_wgmma_call>();
    call.a_descriptor = a_descriptor;
    call.b_descriptor = b_descriptor;
    std::size_t count = 0;
    REQUIRE(warpmat_wgmma_accesses(handle.get(), &call, nullptr, 0, &count, nullptr) == WARPMAT_OK);
    REQUIRE(count == (64 * 16 + 16 * 64) * 2 / 16);
    std::vector<warpmat_memory_access> list(count);
    REQUIRE(warpmat_wgmma_accesses(handle.get(), &call, list.data(), count, &count, nullptr) == WARPMAT_OK);
    std::vector<std::uint32_t> a(4 * wgmma.a_words()), b(wgmma.b_words());
    for (int warp = 0; warp < 4; ++warp)
      wgmma.read_a(memory, a_descriptor, warp, a.data() + static_cast<std::size_t>(warp) * wgmma.a_words());
    wgmma.read_b(memory, b_descriptor, b.data());
    const auto half_at = [](const std::vector<std::uint32_t>& words, std::size_t word, int bit) { return words[word] >> bit & 0xffff; };
    for (const warpmat_memory_access& access : list) {
      CHECK((access.bytes == 16 && access.write == 0 && access.space == WARPMAT_SPACE_SHARED && access.place.lane == -1));
      const std::uint64_t number = (access.address - base) / 2;
      if (access.operand == WARPMAT_A) {
        int warp = 0;
        warpmat_place place{};
        REQUIRE(warpmat_wgmma_place_of(handle.get(), WARPMAT_A, access.element, &warp, &place) == WARPMAT_OK);
        const auto word = static_cast<std::size_t>(warp) * wgmma.a_words() + static_cast<std::size_t>(place.reg * warp_size + place.lane);
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
    const warpmat_registers in_registers = WARPMAT_IMMEDIATE(&word);
    call.a = &in_registers;
    REQUIRE(warpmat_wgmma_accesses(handle.get(), &call, nullptr, 0, &count, nullptr) == WARPMAT_OK);
    CHECK(count == 16 * 64 * 2 / 16);
  }
}

TEST_CASE("C: of every wgmma the listed bytes are those that it reads, and no others", "[c][wgmma]") {
  std::mt19937_64 random(9);
  std::vector<std::uint8_t> bytes(memory_bytes);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  int compared = 0;
  for (const WgmmaForm& form : wgmma_forms())
    for (const int transposed : {0, 1})
      for (const Swizzle swizzle : {Swizzle::none, Swizzle::bytes_32, Swizzle::bytes_64, Swizzle::bytes_128}) {
        const warpmat_wgmma_immediates immediates{0, 0, transposed, transposed, 0};
        const Handle handle(warpmat_wgmma_create(form.opcode.c_str(), "sm_90a", &immediates, nullptr));
        if (handle == nullptr) {
          CHECK(transposed == 1);  // only elements of 16 bits may be transposed
          continue;
        }
        CAPTURE(form.opcode, transposed, static_cast<int>(swizzle));
        const Major major = transposed != 0 ? Major::mn : Major::k;
        const Wgmma wgmma(form, *find_target("sm_90a"), newest_ptx, {.major_a = major, .major_b = major});
        auto call = sized<warpmat_wgmma_call>();
        call.a_descriptor = MatrixDescriptor{.start = base, .leading = 256, .stride = 1024, .swizzle = swizzle}.encode();
        call.b_descriptor = MatrixDescriptor{.start = base + 16384, .leading = 256, .stride = 1024, .swizzle = swizzle}.encode();
        std::size_t count = 0;
        REQUIRE(warpmat_wgmma_accesses(handle.get(), &call, nullptr, 0, &count, nullptr) == WARPMAT_OK);
        std::vector<warpmat_memory_access> list(count);
        REQUIRE(warpmat_wgmma_accesses(handle.get(), &call, list.data(), count, &count, nullptr) == WARPMAT_OK);
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
          std::vector<std::uint32_t> words(group * wgmma.a_words() + wgmma.b_words());
          for (std::size_t warp = 0; warp < group; ++warp)
            wgmma.read_a(memory, call.a_descriptor, static_cast<int>(warp), words.data() + warp * wgmma.a_words());
          wgmma.read_b(memory, call.b_descriptor, words.data() + group * wgmma.a_words());
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

TEST_CASE("C: wgmma is found by SASS's name", "[c][wgmma]") {
  for (const auto& [sass, opcode] : {std::pair("HGMMA.64x256x16.F16", "wgmma.mma_async.sync.aligned.m64n256k16.f16.f16.f16"),
                                     {"HGMMA.64x8x8.F32.TF32", "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32"},
                                     {"HGMMA.SP.64x128x32.F32.BF16", "wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.bf16.bf16"},
                                     {"QGMMA.64x128x32.F32.E4M3.E5M2", "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e5m2"},
                                     {"IGMMA.64x64x32.S8.U8.SAT", "wgmma.mma_async.sync.aligned.m64n64k32.satfinite.s32.s8.u8"},
                                     {"BGMMA.64x8x256.AND.POPC", "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc"}}) {
    CAPTURE(sass);
    const Handle by_name(warpmat_wgmma_create(sass, "sm_90a", nullptr, nullptr)), by_opcode = created(opcode);
    REQUIRE(by_name != nullptr);
    auto info = sized<warpmat_wgmma_info>(), wanted = sized<warpmat_wgmma_info>();
    REQUIRE(warpmat_wgmma_describe(by_name.get(), &info) == WARPMAT_OK);
    REQUIRE(warpmat_wgmma_describe(by_opcode.get(), &wanted) == WARPMAT_OK);
    CHECK(std::string(info.opcode) == wanted.opcode);
    CHECK(std::string(info.machine) == sass);
  }
}

TEST_CASE("C: wgmma says what it is and where elements lie", "[c][wgmma]") {
  const Handle handle = created("wgmma.mma_async.sync.aligned.m64n96k16.f32.f16.f16");
  auto info = sized<warpmat_wgmma_info>();
  REQUIRE(warpmat_wgmma_describe(handle.get(), &info) == WARPMAT_OK);
  CHECK(std::string(info.opcode) == "wgmma.mma_async.sync.aligned.m64n96k16.f32.f16.f16");
  CHECK(std::string(info.machine) == "HGMMA.64x96x16.F32");
  CHECK(std::string(info.evidence) == "measured");
  CHECK((info.m == 64 && info.n == 96 && info.k == 16 && info.d_words == 48 && info.a_words == 4 && info.sparse == 0));
  // PTX ISA 9.1 section 9.7.15.5.1.1: row 16 warp + lane / 4 + 8 (i / 2 % 2), column 8 (i / 4) + 2 (lane % 4) + i % 2.
  for (int warp = 0; warp < 4; ++warp)
    for (int lane = 0; lane < warp_size; ++lane)
      for (int i = 0; i < 48; ++i) {
        warpmat_element element{};
        REQUIRE(warpmat_wgmma_element_at(handle.get(), WARPMAT_D, warp, {lane, i, 0}, &element) == WARPMAT_OK);
        CHECK((element.row == 16 * warp + lane / 4 + 8 * (i / 2 % 2) && element.column == 8 * (i / 4) + 2 * (lane % 4) + i % 2));
        int found_warp = -1;
        warpmat_place place{};
        REQUIRE(warpmat_wgmma_place_of(handle.get(), WARPMAT_D, element, &found_warp, &place) == WARPMAT_OK);
        CHECK((found_warp == warp && place.lane == lane && place.reg == i && place.bit == 0));
      }
  warpmat_element element{};
  warpmat_place place{};
  int warp = 0;
  CHECK(warpmat_wgmma_element_at(handle.get(), WARPMAT_B, 0, {0, 0, 0}, &element) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_wgmma_element_at(handle.get(), WARPMAT_D, 4, {0, 0, 0}, &element) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_wgmma_element_at(handle.get(), WARPMAT_D, 0, {0, 48, 0}, &element) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_wgmma_place_of(handle.get(), WARPMAT_D, {64, 0, 0}, &warp, &place) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_wgmma_place_of(handle.get(), WARPMAT_D, {0, 96, 0}, &warp, &place) == WARPMAT_BAD_ARGUMENT);
}

TEST_CASE("C: every misuse of wgmma is an error and changes nothing", "[c][wgmma]") {
  auto error = sized<warpmat_error>();
  const char* const opcode = opcodes[0];
  CHECK(warpmat_wgmma_create(nullptr, "sm_90a", nullptr, &error) == nullptr);
  CHECK(error.status == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_wgmma_create("wgmma.mma_async.sync.aligned.m64n65k16.f32.f16.f16", "sm_90a", nullptr, &error) == nullptr);
  CHECK(error.status == WARPMAT_UNKNOWN_OPCODE);
  CHECK(std::string(error.message).find("the nearest is") != std::string::npos);
  CHECK(warpmat_wgmma_create(opcode, "sm_90", nullptr, &error) == nullptr);
  CHECK(error.status == WARPMAT_UNAVAILABLE);
  CHECK(warpmat_wgmma_create(opcode, "sm_91", nullptr, &error) == nullptr);
  CHECK(error.status == WARPMAT_UNKNOWN_TARGET);
  const warpmat_wgmma_immediates selects{0, 0, 0, 0, 1};
  CHECK(warpmat_wgmma_create(opcode, "sm_90a", &selects, &error) == nullptr);
  CHECK(error.status == WARPMAT_BAD_ARGUMENT);
  warpmat_wgmma_free(nullptr);

  const Handle handle = created(opcode);
  std::vector<std::uint8_t> bytes(memory_bytes);
  std::vector<std::uint32_t> d(group * 32 * warp_size, 5);
  const std::vector<std::uint32_t> before = d;
  const warpmat_registers registers = WARPMAT_REGISTER_MAJOR(d.data(), 32 * warp_size);
  warpmat_memory memory = memory_of(bytes);
  auto call = sized<warpmat_wgmma_call>();
  call.d = &registers;
  call.memory = &memory;
  call.a_descriptor = a_descriptor;
  call.b_descriptor = b_descriptor;
  const auto status = [&](auto spoil) {
    warpmat_wgmma_call spoilt = call;
    spoil(spoilt);
    return warpmat_wgmma_execute(handle.get(), &spoilt, &error);
  };
  CHECK(warpmat_wgmma_execute(nullptr, &call, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_wgmma_execute(handle.get(), nullptr, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(status([](auto& c) { c.size = 8; }) == WARPMAT_BAD_ARGUMENT);
  CHECK(status([](auto& c) { c.d = nullptr; }) == WARPMAT_BAD_ARGUMENT);
  CHECK(status([](auto& c) { c.memory = nullptr; }) == WARPMAT_BAD_ARGUMENT);
  CHECK(status([](auto& c) { c.flags = WARPMAT_WIDE_ADDRESSES; }) == WARPMAT_BAD_ARGUMENT);
  CHECK(status([](auto& c) { c.b_descriptor = MatrixDescriptor{.start = 128 << 10}.encode(); }) == WARPMAT_OUT_OF_RANGE);
  CHECK(error.operand == WARPMAT_B);
  CHECK(std::string(error.message).find("leaves shared memory") != std::string::npos);
  memory.bytes = nullptr;
  CHECK(status([](auto&) {}) == WARPMAT_BAD_ARGUMENT);
  CHECK(d == before);
  CHECK(warpmat_wgmma_describe(nullptr, nullptr) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_wgmma_accesses(handle.get(), nullptr, nullptr, 0, nullptr, &error) == WARPMAT_BAD_ARGUMENT);
}

}  // namespace warpmat::wgmma_test
