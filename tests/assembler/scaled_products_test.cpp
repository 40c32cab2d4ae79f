// Products by powers of two that become the scale of FMUL: bits of an H200, and which statements ptxas 13.0.88 for sm_90a gives a scale.

#include <warpmat/assembler.h>
#include <warpmat/machine/internals.h>
#include <warpmat/ptx/syntax/module.h>

#include "machine/kernel.h"
#include "test.h"
#include "warpmat/ir/code.h"

namespace warpmat::scaled_products_test {
namespace {

/// What `body` leaves in %f9 of a thread where %f1 and %f2 hold these bits, which are not constants.
std::uint32_t result_of(std::uint32_t a, std::uint32_t b, const std::string& body, const KernelOptions& options = {}) {
  const auto load = [](const char* to, std::uint32_t bits) {
    return "add.u32 %r11, %r10, " + std::to_string(bits) + "; mov.b32 " + to + ", %r11; ";
  };
  const std::string start = "shr.u32 %r10, %n, 20; setp.eq.u32 %p8, %r10, 0; " + load("%f1", a) + load("%f2", b);
  return words_of(word_kernel(start + body + " mov.b32 %d, %f9;"), {1}, {32}, {}, 0, options)[5];
}

/// Whether one mul by a power is a part of a product.
std::size_t scaled(const std::string& body, const KernelOptions& options = {}) {
  const Kernel kernel(word_kernel("setp.eq.u32 %p8, %i, 7; " + body + " mov.b32 %d, %f9;"), "k", options);
  return static_cast<std::size_t>(std::ranges::count(program_of(kernel).folded, code::Folded::Kind::scaled, &code::Folded::kind));
}

const std::string product = "mul.f32 %f5, %f1, %f2; ";

TEST_CASE("a product times a power of two is rounded once, as on an H200", "[assembler]") {
  struct Case {
    std::uint32_t a, b;
    const char* power;
    std::uint32_t once, twice;
  };
  for (const Case& c : {Case{0x00004e67, 0x417b53cf, "0f3E800000", 0x000133e3, 0x000133e2},
                        Case{0xdde2a548, 0xe1dd556a, "0f3E000000", 0x7ec3f44e, 0x7f800000},
                        Case{0x5f800001, 0x5f800001, "0f3F000000", 0x7f000002, 0x7f800000}}) {
    CAPTURE(c.power);
    const std::string by = std::string("mul.f32 %f9, %f5, ") + c.power + ";";
    CHECK(result_of(c.a, c.b, product + by) == c.once);
    CHECK(result_of(c.a, c.b, product + std::string("mul.f32 %f9, ") + c.power + ", %f5;") == c.once);
    CHECK(result_of(c.a, c.b, product + by, {.contract = false}) == c.twice);
    CHECK(result_of(c.a, c.b, product + by, {.assembler_options = "-g"}) == c.twice);
    CHECK(result_of(c.a, c.b, "mul.rn.f32 %f5, %f1, %f2; " + by) == c.twice);
  }
  // Behind a product by a larger power a subnormal number is exact: 2^-149 * 1.5 * 4.
  CHECK(result_of(0x00000001, 0x3fc00000, product + "mul.f32 %f9, %f5, 0f40800000;") == 6);
  CHECK(result_of(0x7f800000, 0x00000000, product + "mul.f32 %f9, %f5, 0f40800000;") == 0x7fffffff);
}

TEST_CASE("which products have a scale in ptxas's machine code", "[assembler]") {
  struct Case {
    std::string body;
    std::size_t scaled;
  };
  const std::string quarter = "mul.f32 %f9, %f5, 0f3E800000;", store = " st.global.f32 [%out], ";
  for (const Case& c : {
           Case{product + "mul.f32 %f9, %f5, 0f3E000000;", 1},
           Case{product + "mul.f32 %f9, %f5, 0f3F000000;", 1},
           Case{product + "mul.f32 %f9, %f5, 0f40000000;", 1},
           Case{product + "mul.f32 %f9, %f5, 0f40800000;", 1},
           Case{product + "mul.f32 %f9, %f5, 0f41000000;", 1},
           Case{product + "mul.f32 %f9, %f5, 0f41800000;", 0},
           Case{product + "mul.f32 %f9, %f5, 0f3D800000;", 0},
           Case{product + "mul.f32 %f9, %f5, 0fBE800000;", 0},
           Case{product + "mul.f32 %f9, %f5, 0f3E800001;", 0},
           // The mul by the power has a guard, .sat, .ftz, .rn; stands in another block; divides.
           Case{product + "@%p8 " + quarter, 1},
           Case{product + "mul.sat.f32 %f9, %f5, 0f3E800000;", 1},
           Case{product + "mul.ftz.f32 %f9, %f5, 0f3E800000;", 1},
           Case{product + "mul.rn.f32 %f9, %f5, 0f3E800000;", 1},
           Case{product + "@%p8 bra L;" + store + "%f1; L: " + quarter, 1},
           Case{product + "div.full.f32 %f9, %f5, 0f40800000;", 1},
           Case{"mul.ftz.f32 %f5, %f1, %f2; " + quarter, 1},
           Case{"div.approx.f32 %f5, %f1, %f2; " + quarter, 1},
           // Behind moves; a factor is overwritten in between.
           Case{"mov.f32 %f4, 0f3E800000; " + product + "mov.b32 %r5, %f5; mov.b32 %f6, %r5; mov.f32 %f1, %f2; mul.f32 %f9, %f4, %f6;", 1},
           Case{"neg.f32 %f1, %f1; " + product + quarter, 1},
           Case{product + "mul.f32 %f6, %f5, 0f3E800000; neg.f32 %f9, %f6;", 1},
           Case{"mul.f32 %f5, %f1, 0f40400000; " + quarter, 1},
           // Of a chain each second one.
           Case{product + "mul.f32 %f6, %f5, 0f40800000; mul.f32 %f9, %f6, 0f3F000000;", 1},
           Case{product + "mul.f32 %f6, %f5, 0f3E800000; mul.f32 %f7, %f6, 0f40000000; mul.f32 %f9, %f7, 0f40000000;", 2},
           // Another use, also by another power; a rounding modifier, .sat, a guard, a sign.
           Case{product + quarter + store + "%f5;", 0},
           Case{product + quarter + " mul.f32 %f6, %f5, 0f3F000000;" + store + "%f6;", 0},
           Case{"mul.rn.f32 %f5, %f1, %f2; " + quarter, 0},
           Case{"mul.sat.f32 %f5, %f1, %f2; " + quarter, 0},
           Case{"@%p8 mul.f32 %f5, %f1, %f2; " + quarter, 0},
           Case{product + "neg.f32 %f5, %f5; " + quarter, 0},
           Case{product + "abs.f32 %f5, %f5; " + quarter, 0},
           Case{"fma.rn.f32 %f5, %f1, %f2, %f3; " + quarter, 0},
           Case{"mul.f32 %f5, %f1, 0f3E800000; mul.f32 %f9, %f5, %f2;", 0},
           // The sum comes first, and takes in the mul by the power.
           Case{product + "mul.f32 %f6, %f5, 0f3E800000; add.f32 %f9, %f6, %f3;", 0},
           Case{product + "mul.f32 %f6, %f5, 0f3E800000; add.rn.f32 %f9, %f6, %f3;", 1},
           // f64 has no such field.
           Case{"{.reg .f64 %q<9>; mul.f64 %q1, %q2, %q3; mul.f64 %q4, %q1, 0d3FD0000000000000;}", 0},
       }) {
    INFO(c.body);
    CHECK(scaled(c.body) == c.scaled);
    CHECK(scaled(c.body, {.contract = false}) == 0);
  }
}

TEST_CASE("machine code says whether a product has a scale", "[assembler]") {
  const Module module = word_kernel("mul.f32 %f5, %f1, %f2;\nmul.f32 %f9, %f5, 0f3E800000;\nmov.b32 %d, %f9;");
  const Kernel ruled(module, "k");
  REQUIRE(program_of(ruled).folded.size() == 1);
  const Location outer = program_of(ruled).statements[program_of(ruled).folded[0].statement]->location;
  const Location inner{outer.line - 1, 1};
  const auto count = [&](std::vector<AssemblerDecisions::Product> products) {
    const AssemblerDecisions decisions{.assembler = "another", .products = std::move(products)};
    return program_of(Kernel(module, "k", {.decisions = &decisions})).folded.size();
  };
  CHECK(count({}) == 1);
  CHECK(count({{outer, true}}) == 1);
  CHECK(count({{inner, true}}) == 1);
  CHECK(count({{outer, false}}) == 1);
  CHECK(count({{inner, false}, {outer, false}}) == 0);
}

}  // namespace
}  // namespace warpmat::scaled_products_test
