#include "test.h"

#include "scalar/lanes.h"

namespace warpmat::integer_test {
namespace {

// Integer instructions against 128-bit arithmetic, one bit or one number at a time.

__extension__ typedef __int128 int128;

const std::vector<std::uint64_t> numbers = numbers_in(
    "0 1 2 3 7 0x7f 0x80 0xff 0x7fff 0x8000 0xffff 0x10000 0x123456 0x7fffffff 0x80000000 0xffffffff 0x89abcdef 0x100000000 "
    "0x7fffffffffffffff 0x8000000000000000 0xffffffffffffffff 0xfedcba9876543210");

struct Type {
  int bits;
  bool is_signed;

  /// The number that the low bits are.
  int128 number(std::uint64_t word) const {
    int128 x = word;
    if (bits < 64) x = word & ((std::uint64_t{1} << bits) - 1);
    if (is_signed && (x >> (bits - 1) & 1) != 0) x -= static_cast<int128>(1) << bits;
    return x;
  }
  std::uint64_t code(int128 x) const {
    return bits == 64 ? static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x) & ((std::uint64_t{1} << bits) - 1);
  }
};

constexpr Type u32{32, false}, s32{32, true};

TEST_CASE("shifts beyond the width, bit fields and searches", "[scalar]") {
  for (const std::uint64_t a : numbers)
    for (const std::uint64_t amount : {0u, 1u, 15u, 16u, 31u, 32u, 33u, 63u, 64u, 255u, 256u}) {
      const int128 scale = amount > 31 ? static_cast<int128>(1) << 32 : static_cast<int128>(1) << amount;
      const int128 number = s32.number(a);
      CHECK(run_scalar_lane("shl.b32", {a, amount}) == u32.code(u32.number(a) * scale));
      CHECK(run_scalar_lane("shr.u32", {a, amount}) == u32.code(u32.number(a) / scale));
      CHECK(run_scalar_lane("shr.s32", {a, amount}) == s32.code((number - (number < 0 ? scale - 1 : 0)) / scale));
      // A field of 5 bits, bit by bit; the position counts modulo 256.
      std::uint64_t field = 0;
      for (std::uint64_t i = 0; i < 5; ++i)
        if ((amount & 255) + i < 32) field |= (a >> ((amount & 255) + i) & 1) << i;
      CHECK(run_scalar_lane("bfe.u32", {a, amount, 5}) == field);
    }
  CHECK(run_scalar_lane("bfe.u64", {~std::uint64_t{0}, 256, 8}) == 0);
  CHECK(run_scalar_lane("bfe.s32", {0x80, 4, 4}) == 0xfffffff8);
  CHECK(run_scalar_lane("bfi.b32", {0xff, 0, 28, 8}) == 0xf0000000);
  CHECK(run_scalar_lane("bmsk.clamp.b32", {4, 8}) == 0x00000ff0);
  CHECK(run_scalar_lane("bfind.s32", {0xffffffff}) == 0xffffffff);
  CHECK(run_scalar_lane("bfind.shiftamt.u32", {0x00010000}) == 15);
  CHECK(run_scalar_lane("fns.b32", {0xaaaaaaaa, 3, 1}) == 3);
  CHECK(run_scalar_lane("fns.b32", {0xaaaaaaaa, 2, 0xffffffff}) == 1);
  CHECK(run_scalar_lane("prmt.b32", {0x33221100, 0x77665584, 0xc561}) == 0xff556611);
  CHECK(run_scalar_lane("dp4a.s32.s32", {0xff02ff02, 0x03030303, 5}) == 5 + 3 * (-1 + 2 - 1 + 2));
}

TEST_CASE("the highest bit of every width", "[scalar]") {
  for (const Type& type : {u32, s32, Type{64, false}, Type{64, true}}) {
    const std::string name = (type.is_signed ? "s" : "u") + std::to_string(type.bits);
    for (const std::uint64_t given : numbers) {
      const std::uint64_t word = type.code(static_cast<int128>(given));
      const bool negative = type.number(word) < 0;
      int place = type.bits - 1;
      while (place >= 0 && ((word >> place & 1) != 0) == negative) --place;
      CAPTURE(name, word);
      const std::uint64_t none = 0xffffffff;
      CHECK(run_scalar_lane("bfind." + name, {word}) == (place < 0 ? none : static_cast<std::uint64_t>(place)));
      CHECK(run_scalar_lane("bfind.shiftamt." + name, {word}) == (place < 0 ? none : static_cast<std::uint64_t>(type.bits - 1 - place)));
      if (type.is_signed) continue;
      CHECK(run_scalar_lane("clz.b" + std::to_string(type.bits), {word}) == static_cast<std::uint64_t>(type.bits - 1 - place));
    }
  }
}

TEST_CASE("dp4a and dp2a keep the low 32 bits of their sums", "[scalar]") {
  const auto byte = [](bool is_signed, std::uint64_t word, int i) {
    const auto bits = static_cast<int>(word >> (8 * i) & 255);
    return is_signed && bits > 127 ? bits - 256 : bits;
  };
  const auto half = [](bool is_signed, std::uint64_t word, int i) {
    const auto bits = static_cast<int>(word >> (16 * i) & 0xffff);
    return is_signed && bits > 0x7fff ? bits - 0x10000 : bits;
  };
  for (const bool a_signed : {false, true})
    for (const bool b_signed : {false, true})
      for (const std::uint64_t a : {0x00000000u, 0xffffffffu, 0x80808080u, 0x7f80ff01u, 0xff02fe81u})
        for (const std::uint64_t b : {0xffffffffu, 0x80808080u, 0x7f7f7f7fu, 0x01fe8003u})
          for (const std::uint64_t c : {0u, 5u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
            const std::string types_of = std::string(a_signed ? ".s32" : ".u32") + (b_signed ? ".s32" : ".u32");
            int128 four = c, low = c, high = c;
            for (int i = 0; i < 4; ++i) four += static_cast<int128>(byte(a_signed, a, i)) * byte(b_signed, b, i);
            for (int i = 0; i < 2; ++i) {
              low += static_cast<int128>(half(a_signed, a, i)) * byte(b_signed, b, i);
              high += static_cast<int128>(half(a_signed, a, i)) * byte(b_signed, b, 2 + i);
            }
            CAPTURE(types_of, a, b, c);
            CHECK(run_scalar_lane("dp4a" + types_of, {a, b, c}) == (static_cast<std::uint64_t>(four) & 0xffffffff));
            CHECK(run_scalar_lane("dp2a.lo" + types_of, {a, b, c}) == (static_cast<std::uint64_t>(low) & 0xffffffff));
            CHECK(run_scalar_lane("dp2a.hi" + types_of, {a, b, c}) == (static_cast<std::uint64_t>(high) & 0xffffffff));
          }
}

TEST_CASE("every table of lop3", "[scalar]") {
  constexpr std::uint64_t a = 0xf0, b = 0xcc, c = 0xaa;
  for (std::uint64_t table = 0; table < 256; ++table) CHECK((run_scalar_lane("lop3.b32", {a, b, c, table}) & 0xff) == table);
}

}  // namespace
}  // namespace warpmat::integer_test
