// A matrix product by mma in PTX, right and with one mistake at a time: what a launch that is told the product says. The numbers are
// random: nothing here knows a result.

#include <warpmat/checks/product_registers.h>
#include <warpmat/machine/internals.h>
#include <warpmat/provenance/gemm.h>

#include "checks/lanes_module.h"
#include "machine/kernel.h"
#include "test.h"

namespace warpmat::pairing_test {
namespace {

/// C (16 x 8, f32) = A (16 x 32, f16) B^T (8 x 32, f16) of one warp, in two steps along k. Registers are loaded directly.
struct Direct {
  std::string step = "add.s64 %a, %a, 32; add.s64 %b, %b, 32;";
  std::string a1 = "512", a2 = "16", a3 = "528", b1 = "16", c1 = "256";
  std::string scale = "";     ///< before each product
  std::string clear = "";     ///< between the steps
  std::string epilogue = "";  ///< before the stores
};

std::string mma() {
  return "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, "
         "%c3};\n";
}

Module direct(const Direct& with, const std::string& parameters = "") {
  std::string body = R"(
    shl.b32 %l0, %g, 6;
    shl.b32 %l1, %q, 2;
    add.u32 %l0, %l0, %l1;
    cvt.u64.u32 %x, %l0;
    add.s64 %a, %a, %x;
    add.s64 %b, %b, %x;
)" + place_in_c;
  for (int step = 0; step < 2; ++step) {
    body += fmt::format(R"(
    ld.global.b32 %a0, [%a];
    ld.global.b32 %a1, [%a+{a1}];
    ld.global.b32 %a2, [%a+{a2}];
    ld.global.b32 %a3, [%a+{a3}];
    ld.global.b32 %b0, [%b];
    ld.global.b32 %b1, [%b+{b1}];
)",
                        fmt::arg("a1", with.a1), fmt::arg("a2", with.a2), fmt::arg("a3", with.a3), fmt::arg("b1", with.b1));
    body += with.scale + mma() + (step == 0 ? with.step + with.clear : with.epilogue);
  }
  body += fmt::format("st.global.v2.f32 [%c], {{%c0, %c1}};\nst.global.v2.f32 [%c+{}], {{%c2, %c3}};\nret;\n", with.c1);
  return module_of_lanes(body, "", parameters);
}

constexpr const char* whole = "C=A*B^T:16x8x32";  ///< what direct() computes

/// The matrices of direct(), all zeros.
struct Matrices {
  DeviceMemory memory{};
  std::vector<Argument> arguments{memory.allocate(16 * 32 * 2, "A"), memory.allocate(8 * 32 * 2, "B"), memory.allocate(16 * 8 * 4, "C")};
  ProductLaunch run(const Kernel& kernel, const ProductRequest& request, Dim3 grid = {1}) {
    return launch_products(kernel, {grid, {32}}, memory, arguments, request);
  }
  ProductLaunch run(const Kernel& kernel, const std::string& products, const std::string& element = {}) {
    return run(kernel, {parse_products(products), parse_element(element)});
  }
};

std::string verdict(const Module& module, const std::string& gemm) {
  DeviceMemory memory;
  std::mt19937 random(1);
  const auto numbers = [&](std::size_t count) {
    std::vector<std::uint16_t> all(count);
    for (std::uint16_t& one : all) one = static_cast<std::uint16_t>(0x3c00 | (random() & 0x3ff));
    return all;
  };
  const std::uint64_t a = memory.allocate(numbers(16 * 32), "A"), b = memory.allocate(numbers(8 * 32), "B"),
                      c = memory.allocate(16 * 8 * 4, "C");
  try {
    launch_products(Kernel(module, "k"), {{1}, {32}}, memory, {a, b, c}, {parse_products(gemm)});
  } catch (const Trap& trap) {
    CHECK(trap.kind == Trap::Kind::mispaired);
    return fmt::format("line {}: {}", trap.site.line, trap.reason);
  }
  return "right";
}

std::string verdict(const Direct& with) {
  return verdict(direct(with), "C=A*B^T:16x8x32");
}

void says(const std::string& text, const std::string& part, const std::string& other = "") {
  INFO(text);
  CHECK(contains(text, part));
  CHECK(contains(text, other));
}

/// A tile of A in shared memory: chunk c of row r lies at chunk `writer` of it and is read from chunk `reader`; r is in %l0, c in %l1.
Module by_ldmatrix(const std::string& writer, const std::string& reader) {
  return module_of_lanes(R"(
    // lane t copies row t / 2, chunks 2 (t % 2) and the next
    shr.u32 %l0, %t, 1;
    and.b32 %l2, %t, 1;
    shl.b32 %l2, %l2, 1;
    shl.b32 %l3, %l0, 6;
    mov.u32 %l4, tile;
    add.u32 %l4, %l4, %l3;
    mov.u32 %l1, %l2;
)" + writer + R"(
    shl.b32 %l1, %l1, 4;
    add.u32 %l5, %l4, %l1;
    shl.b32 %l6, %l2, 4;
    add.u32 %l6, %l6, %l3;
    cvt.u64.u32 %x, %l6;
    add.s64 %x, %x, %a;
    cp.async.cg.shared.global [%l5], [%x], 16;
    add.u32 %l1, %l2, 1;
)" + writer + R"(
    shl.b32 %l1, %l1, 4;
    add.u32 %l5, %l4, %l1;
    cp.async.cg.shared.global [%l5], [%x+16], 16;
    cp.async.wait_all;
    bar.warp.sync -1;
    // lane t has the address of row t % 16, chunk t / 16
    and.b32 %l0, %t, 15;
    shr.u32 %l1, %t, 4;
)" + reader + R"(
    shl.b32 %l1, %l1, 4;
    shl.b32 %l3, %l0, 6;
    mov.u32 %l4, tile;
    add.u32 %l4, %l4, %l3;
    add.u32 %l4, %l4, %l1;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0, %a1, %a2, %a3}, [%l4];
    shl.b32 %l0, %g, 6;
    shl.b32 %l1, %q, 2;
    add.u32 %l0, %l0, %l1;
    cvt.u64.u32 %x, %l0;
    add.s64 %b, %b, %x;
    ld.global.b32 %b0, [%b];
    ld.global.b32 %b1, [%b+16];
)" + mma() + "ret;\n",
                         ".shared .align 1024 .b8 tile[1024];\n");
}

// Chunk c of rows of 64 bytes: swizzle 64B exchanges chunks by bits 7 and 8 of the address, rows 2 and 4 apart.
const std::string swizzle_64 = "shr.u32 %l7, %l0, 1; and.b32 %l7, %l7, 3; xor.b32 %l1, %l1, %l7;\n";
const std::string other_swizzle = "and.b32 %l7, %l0, 3; xor.b32 %l1, %l1, %l7;\n";

TEST_CASE("A kernel that forms the products it is told of runs to its end", "[checks]") {
  CHECK(verdict(Direct{}) == "right");
  CHECK(verdict(Direct{.epilogue = "mul.f32 %c0, %c0, 0f40000000;\n"}) == "right");
  CHECK(verdict(Direct{.scale = "mov.b32 %l7, 0x40004000; mul.rn.f16x2 %a0, %a0, %l7; mul.rn.f16x2 %b1, %b1, %l7;\n"}) == "right");
}

TEST_CASE("Products of the wrong elements are reported where they are formed", "[checks]") {
  says(verdict(Direct{.a1 = "16", .a2 = "512"}), "A[0,8]");
  says(verdict(Direct{.b1 = "0"}), "multiplies A[0,8] by B[0,0]: k 8 meets k 0", "this statement loaded B[0,0]: line ");
  says(verdict(Direct{.step = "add.s64 %a, %a, 32;"}), "multiplies A[0,16] by B[0,0]: k 16 meets k 0");
  says(verdict(Direct{.step = ""}), "adds k 0 to the sum for C[0,0], which has it already");
}

TEST_CASE("Sums that are stored elsewhere, or lack products, are reported at the store", "[checks]") {
  says(verdict(Direct{.c1 = "128"}), "stores the sum for C[8,0] as C[4,0]", "; this product formed it: line ");
  says(verdict(Direct{.clear = "mov.f32 %c0, 0f00000000;\n"}), "stores C[0,0] without products of k 0 to 15");
}

TEST_CASE("Two sums that are added have no k in common", "[checks]") {
  // The sum after the first step is added to that after the second, which has its k.
  says(verdict(Direct{.clear = ".reg .f32 %s; mov.f32 %s, %c0;\n", .epilogue = "add.f32 %c0, %c0, %s;\n"}),
       "two sums for C[0,0] are added, and both have k 0; this product formed one: line ", "; this product formed the other: line ");
}

TEST_CASE("A row that is read twice is reported where it is read, not where its sum is stored", "[checks]") {
  says(verdict(Direct{.a1 = "0", .a3 = "16"}),
       "row 0 of A is read twice, here in the place of row 8; two sums are those for C[0,0], and one is stored here as C[8,0]: line ");
}

TEST_CASE("Reader and writer of a tile with different swizzles are both named", "[checks]") {
  const std::string gemm = "C=A*B^T:16x8x32";
  // The products are right; nothing is stored.
  says(verdict(by_ldmatrix("", ""), gemm), "128 of 128 elements of C, C[0,0] the first, are stored by no block");
  says(verdict(by_ldmatrix(swizzle_64, swizzle_64), gemm), "are stored by no block");
  const std::string wrong = verdict(by_ldmatrix(swizzle_64, other_swizzle), gemm);
  says(wrong, "this statement read ", "this statement wrote it there, in warp 0: line ");
  // chunk 1 of row 5 goes to where chunk 3 goes, too
  const std::string gap = "mad.lo.u32 %l7, %l0, 4, %l1; { .reg .pred %p; setp.eq.u32 %p, %l7, 21; @%p mov.u32 %l1, 3; }\n";
  says(verdict(by_ldmatrix(gap, ""), gemm), "operand a holds a value that no statement wrote where A[5,8] belongs, beside A[5,0]; ");
  says(verdict(by_ldmatrix(swizzle_64, ""), gemm),
       "the reader's layout is no swizzle and 64 bytes from a line to the next, the writer's swizzle<2,4,3>");
}

TEST_CASE("Sums that nothing has any more are forgotten, and the others are not", "[checks]") {
  constexpr int steps = 20'000, pitch = steps * 32;  // bytes of a row of A or B
  const auto long_product = [&](const std::string& c1) {
    return module_of_lanes(fmt::format(R"(
    .reg .pred %p; .reg .f32 %e<4>;
    mul.lo.u32 %l0, %g, {0};
    shl.b32 %l1, %q, 2;
    add.u32 %l0, %l0, %l1;
    cvt.u64.u32 %x, %l0;
    add.s64 %a, %a, %x;
    add.s64 %b, %b, %x;
    shl.b32 %l0, %g, 5;
    shl.b32 %l1, %q, 3;
    add.u32 %l0, %l0, %l1;
    cvt.u64.u32 %x, %l0;
    add.s64 %c, %c, %x;
    mov.u32 %l2, 0;
    mov.f32 %e0, 0f00000000; mov.f32 %e1, 0f00000000; mov.f32 %e2, 0f00000000; mov.f32 %e3, 0f00000000;
loop:
    ld.global.b32 %a0, [%a];
    ld.global.b32 %a1, [%a+{1}];
    ld.global.b32 %a2, [%a+16];
    ld.global.b32 %a3, [%a+{2}];
    ld.global.b32 %b0, [%b];
    ld.global.b32 %b1, [%b+16];
    setp.ne.u32 %p, %l2, 0;
    @%p bra rest;
    // the first product's sums wait in other registers
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%e0, %e1, %e2, %e3}}, {{%a0, %a1, %a2, %a3}}, {{%b0, %b1}}, {{%e0, %e1, %e2, %e3}};
    bra next;
rest:
    {3}
next:
    add.s64 %a, %a, 32;
    add.s64 %b, %b, 32;
    add.u32 %l2, %l2, 1;
    setp.ne.u32 %p, %l2, {4};
    @%p bra loop;
    add.f32 %c0, %c0, %e0; add.f32 %c1, %c1, %e1; add.f32 %c2, %c2, %e2; add.f32 %c3, %c3, %e3;
    st.global.v2.f32 [%c], {{%c0, %c1}};
    st.global.v2.f32 [%c+{5}], {{%c2, %c3}};
    ret;
)",
                                       pitch, 8 * pitch, 8 * pitch + 16, mma(), steps, c1));
  };
  const auto says_of = [&](const std::string& c1) {
    DeviceMemory memory;
    const std::uint64_t a = memory.allocate(std::size_t{16} * pitch, "A"), b = memory.allocate(std::size_t{8} * pitch, "B"),
                        c = memory.allocate(16 * 8 * 4, "C");
    return message_of([&] {
      launch_products(Kernel(long_product(c1), "k"), {{1}, {32}}, memory, {a, b, c},
                      {parse_products(fmt::format("C=A*B^T:16x8x{}", steps * 16))});
    });
  };
  CHECK(says_of("256") == "nothing");
  says(says_of("128"), "stores the sum for C[8,0] as C[4,0]");
}

/// O (16 x 8) = S V, S (16 x 8) = A B^T as in Direct, in registers; V is 8 x 8. `pack` makes %b0 of rows 2q and 2q + 1 of V, in %h0 and
/// %h1.
constexpr const char* second_product = R"(
    mov.f32 %c0, 0f00000000; mov.f32 %c1, 0f00000000; mov.f32 %c2, 0f00000000; mov.f32 %c3, 0f00000000;
    mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, %c3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};
)";

Module two_products(const std::string& pack, const std::string& before = "", const std::string& after = "") {
  Direct first;
  first.epilogue = R"(
    cvt.rn.f16x2.f32 %a0, %c1, %c0;
    cvt.rn.f16x2.f32 %a1, %c3, %c2;
    shl.b32 %l0, %q, 5;
    shl.b32 %l1, %g, 1;
    add.u32 %l0, %l0, %l1;
    cvt.u64.u32 %x, %l0;
    { .reg .b64 %v; .reg .b16 %h<2>;
    ld.param.u64 %v, [V];
    add.s64 %v, %v, %x;
    ld.global.u16 %h0, [%v];
    ld.global.u16 %h1, [%v+16];
)" + pack + before +
                   second_product + after + "}\n";
  return direct(first, ", .param .u64 V");
}

std::string verdict_of_two(const Module& module) {
  DeviceMemory memory;
  const std::uint64_t a = memory.allocate(16 * 32 * 2, "A"), b = memory.allocate(8 * 32 * 2, "B"), o = memory.allocate(16 * 8 * 4, "O"),
                      v = memory.allocate(8 * 8 * 2, "V");
  return message_of([&] {
    launch_products(Kernel(module, "k"), {{1}, {32}}, memory, {a, b, o, v}, {parse_products("S=A*B^T:16x8x32;O=S*V:16x8x8")});
  });
}

TEST_CASE("A product's result in registers is a factor of the next product", "[checks]") {
  CHECK(verdict_of_two(two_products("mov.b32 %b0, {%h0, %h1};")) == "nothing");
  says(verdict_of_two(two_products("mov.b32 %b0, {%h1, %h0};")), "multiplies S[0,0] by V[1,0]: k 0 meets k 1");
}

TEST_CASE("A sum over a row of a product's result scales sums of that row alone", "[checks]") {
  // S[row,2q] + S[row,2q+1], added over the lanes of a row, scales O[row,2q]. Lanes 4 apart have other rows.
  const auto scaled_by = [](const std::string& lanes, const std::string& scale) {
    const std::string over_lanes = ", " + lanes + ", 31, -1;\n";
    return two_products("mov.b32 %b0, {%h0, %h1};\n",
                        ".reg .f32 %s<4>; add.f32 %s0, %c0, %c1; add.f32 %s1, %c2, %c3;\n"
                        "shfl.sync.bfly.b32 %s2, %s0" +
                            over_lanes + "shfl.sync.bfly.b32 %s3, %s1" + over_lanes + "add.f32 %s0, %s0, %s2; add.f32 %s1, %s1, %s3;\n",
                        "div.rn.f32 %c0, %c0, %" + scale + ";\n");
  };
  CHECK(verdict_of_two(scaled_by("1", "s0")) == "nothing");
  says(verdict_of_two(scaled_by("4", "s0")), "the sum for O[0,0] meets a value of rows 0 and 1 of S, not of row 0 alone",
       "; this statement adds them: line ");
  says(verdict_of_two(scaled_by("1", "s1")), "the sum for O[0,0] meets a value of row 8 of S, not of row 0 alone",
       "; this statement computed it: line ");
}

TEST_CASE("The way of an element of C names each product, and the elements that met", "[checks]") {
  Matrices matrices;
  const Kernel right(direct({}), "k"), wrong(direct({.c1 = "128"}), "k");
  const ProductLaunch result = matrices.run(right, whole, "C[9,3]");
  REQUIRE(result.ways.size() == 1);
  const Why& why = result.ways[0];
  says(why.text, "C[9,3] is stored by block (0, 0, 0), warp 0, lane 5");
  says(why.text, "row 9 and column 3 of its result", "A[9,16] to A[9,23]");
  says(why.text, "B[0,3] to B[7,3]", "(ld.global.b32) loaded it");
  REQUIRE(why.steps.size() == 2);
  CHECK(why.steps[1].row == 9);
  CHECK(why.steps[1].column == 3);
  CHECK(why.steps[1].a.size() == 4 * 32);
  // A fault is no trap here: it is what is asked for.
  const ProductLaunch elsewhere = matrices.run(wrong, whole, "C[4,0]");
  REQUIRE(elsewhere.ways.size() == 1);
  says(elsewhere.ways[0].text, "it is the sum for C[8,0]");
  says(message_of([&] { matrices.run(right, whole, "C[16,0]"); }), "up to C[15,7]");
}

TEST_CASE("A matrix product is told by names, sizes and pitches", "[checks]") {
  const MatrixProduct gemm = parse_products("out=x*y^T:128x64x32,lda=40")[0];
  CHECK(gemm.c.name == "out");
  CHECK(gemm.m == 128);
  CHECK(gemm.n == 64);
  CHECK(gemm.a.pitch == 40);
  CHECK(gemm.b.transposed);
  CHECK(gemm.k == 32);
  for (const char* const wrong : {"C=A", "C=A*B", "C=A*B:1x2", "C=A*B:1x2x3x4", "C=A*B:1x2xk", "C=A*:1x2x3", "C=A*B:1x2x3,lde=4"})
    says(message_of([&] { static_cast<void>(parse_products(wrong)); }), "is no matrix product", "write C=A*B^T:128x128x64");
  CHECK(parse_products("C=A*B^T:128x64x256,sfa=SA,sfb=SB^T")[0].scales_b.transposed);
  says(message_of([&] { static_cast<void>(parse_products("C=A*B^T:128x64x256,sfc=SA")); }), "'sfc' is none of");
  CHECK(parse_products("C=A*B:1x2x3,bits=16x8x32")[0].b.bits == 8);
  says(message_of([&] { static_cast<void>(parse_products("C=A*B:1x2x3,bits=16x8x33")); }), "is no matrix product", "33");
  says(message_of([&] { static_cast<void>(parse_products("C=A*B:1x2x3,bits=16x8")); }), "is no matrix product");
  CHECK(parse_products("C=A*B:1x2x3,types=s8xu8xs32")[0].b.format == Format::u8);
  for (const char* const wrong : {"C=A*B:1x2x3,types=f16xf16", "C=A*B:1x2x3,types=f16xf16xf32xf32"})
    says(message_of([&] { static_cast<void>(parse_products(wrong)); }), "types are those of A, B and C");
  says(message_of([&] { static_cast<void>(parse_products("C=A*B:1x2x3,types=f16xf16xf33")); }), "'f33' is no format (character 27)");
  says(message_of([&] { verdict(direct({}), "C=A*D:16x8x32"); }), "no buffer 'D'");
  says(message_of([&] { verdict(direct({}), "C=A*B^T:16x8x31"); }), "'A' has 1024 bytes");
}

TEST_CASE("Products are told as they are read", "[checks]") {
  for (const char* const text : {"C=A*B^T:128x64x32", "C^T=A+4096*B:1x2x3,lda=40,ldc=72;2:s32=0:s8*ptr1:u8:1x2x3,sfa=SA,sfb=SB^T,e=E",
                                 "C=A*B:1x2x3,bits=16x8x32", "Y=conv(X,F):2x9x7x32*16x3x1,stride=2x1,pad=1x0,dilation=2x2"}) {
    CHECK(product_text(parse_products(text)) == text);
    CHECK(parse_products(product_text(parse_products(text))) == parse_products(text));
  }
  CHECK(parse_products("").empty());
  CHECK(parse_element("Y[0,5,7,3]")->indices == std::vector<std::int64_t>{0, 5, 7, 3});
  for (const char* const wrong : {"C", "C[1,2", "C[1,2]]", "C[1,x]", "C[-1,2]"})
    says(message_of([&] { static_cast<void>(parse_element(wrong)); }), "is no element", "write C[5,3]");
}

TEST_CASE("Rows or columns of C that are stored without any product are told", "[checks]") {
  const auto warnings_of = [](const std::string& epilogue) {
    return Matrices().run(Kernel(direct({.epilogue = epilogue}), "k"), whole).warnings;
  };
  const auto zeros = [](const std::string& where) {
    return "{ .reg .pred %z; " + where +
           " @%z mov.f32 %c0, 0f00000000; @%z mov.f32 %c1, 0f00000000; @%z mov.f32 %c2, 0f00000000; @%z mov.f32 %c3, 0f00000000; }\n";
  };
  CHECK(warnings_of("").empty());
  CHECK(warnings_of(zeros("setp.eq.u32 %z, %t, 5;")).empty());  // as an activation may leave
  const std::vector<std::string> columns = warnings_of(zeros("setp.gt.u32 %z, %q, 1;"));
  REQUIRE(columns.size() == 1);
  says(columns[0], "4 columns of C are stored without any product, 4 the first");
}

TEST_CASE("A product reads its matrices as numbers of the format that they have", "[checks]") {
  CHECK(verdict(direct({}), "C=A*B^T:16x8x32,types=f16xf16xf32") == "right");
  says(verdict(direct({}), "C=A*B^T:16x8x32,types=bf16xf16xf32"), "reads A as f16: its numbers are bf16");
  says(verdict(direct({}), "C=A*B^T:16x8x32,types=f16xbf16xf32"), "reads B as f16: its numbers are bf16");
}

TEST_CASE("A product that is told wrongly is not blamed on the kernel", "[checks]") {
  says(verdict(direct({}), "C=A*B^T:8x16x32"), "multiplies elements of 16 bits, and A would have elements of 32",
       "the told product, or the buffer");
}

TEST_CASE("Factors that are computed may have a k more than once", "[checks]") {
  // As where a number is split into a larger and a smaller part: 3xTF32 multiplies three pairs of these.
  Direct with;
  with.step = "";
  says(verdict(with), "adds k 0 to the sum for C[0,0], which has it already");
  for (const char* const name : {"a0", "a1", "a2", "a3", "b0", "b1"}) with.scale += fmt::format("mul.rn.f16x2 %{0}, %{0}, %{0};\n", name);
  CHECK(!contains(verdict(with), "has it already"));
}

TEST_CASE("A product that no instruction forms is a warning", "[checks]") {
  const Kernel kernel(direct({}), "k");
  Matrices matrices;
  REQUIRE(matrices.memory.allocate(16 * 4 * 2, "V") != matrices.memory.allocate(4 * 8 * 2, "W"));
  CHECK(matrices.run(kernel, whole).warnings.empty());
  const auto unseen = matrices.run(kernel, "C=V*W:16x8x4").warnings;
  REQUIRE(unseen.size() == 1);
  CHECK(unseen[0] == "no matrix instruction multiplies elements of V by elements of W: that product was not looked at");
}

TEST_CASE("Chosen blocks are looked at, with their clusters", "[checks]") {
  Direct with;
  with.a1 = "64";
  const Kernel wrong(direct(with), "k");
  Matrices matrices;
  const auto block_of_fault = [&](const std::vector<Dim3>& blocks) {
    try {
      matrices.run(wrong, {parse_products(whole), {}, blocks}, {3, 2});
    } catch (const Trap& trap) {
      return std::pair(trap.site.block.x, trap.site.block.y);
    }
    return std::pair(99u, 99u);
  };
  CHECK(block_of_fault({}) == std::pair(0u, 0u));
  CHECK(block_of_fault({{2, 1, 0}}) == std::pair(2u, 1u));
  CHECK(block_of_fault({{2, 1, 0}, {1, 0, 0}}) == std::pair(1u, 0u));
  // The blocks that are not looked at store C, too: nothing is said of elements that no block stores.
  const Kernel right(direct({}), "k");
  CHECK(matrices.run(right, {parse_products(whole), {}, {{1, 0, 0}}}, {2}).operations > 0);
  says(message_of([&] { block_of_fault({{3, 0, 0}}); }), "there is no block (3, 0, 0) in a grid of 3x2x1");
  says(message_of([&] { matrices.run(right, {.blocks = {{1, 0, 0}}}, {2}); }), "need the product");
}

TEST_CASE("A convolution is told by its tensors' sizes", "[checks]") {
  const std::vector<MatrixProduct> products = parse_products("Y=conv(X,F):2x9x7x32*16x3x1,stride=2x1,pad=1x0");
  CHECK(products[0].convolution.value().result() == Convolution::Pair{5, 7});
  DeviceMemory memory;
  const std::vector<Argument> arguments{memory.allocate(4 * 2 * 9 * 7 * 32, "X"), memory.allocate(4 * 16 * 3 * 32, "F"),
                                        memory.allocate(4 * 2 * 5 * 7 * 16, "Y")};
  const Kernel kernel(direct({}), "k");
  const provenance::Gemm gemm = provenance::find_gemms(products, memory, program_of(kernel), arguments)[0];
  CHECK(gemm.c.rows == 2 * 5 * 7);
  CHECK(gemm.c.columns == 16);
  CHECK(gemm.a.rows == 2 * 9 * 7);
  CHECK(gemm.k == 3 * 32);
  CHECK(gemm.b.element(33, 2) == "F[2,1,0,1]");
  CHECK(gemm.c.element(36, 3) == "Y[1,0,1,3]");
  says(message_of([&] { verdict(direct({}), "C=conv(A,B):99999x99999x9x9*1x1x1"); }), "'C' has 268435457 by 1 elements");
  for (const char* const wrong :
       {"Y=conv(X,F)", "Y=conv(X,F:2x8x8x4*4x3x3", "Y=conv(X):2x8x8x4*4x3x3", "Y=conv(X,F):2x8x8*4x3x3", "Y=conv(X,F):2x8x8x4*4x3x3x4",
        "Y=conv(X,F):2x8x8x4*4x9x3", "Y=conv(X,F):2x8x8x4*4x3x3,stride=0", "Y=conv(X,F):2x8x8x4*4x3x3,lda=4", "Y=conv(X^T,F):2x8x8x4*4x3x3",
        "Y=conv(X,F):1x9x9x9*1x3x3,dilation=268435456"})
    says(message_of([&] { static_cast<void>(parse_products(wrong)); }), "is no convolution", "write Y=conv(X,F):NxHxWxC*KxRxS");
}

// What is known of the registers of a program's wgmma before any cluster is executed.

std::string product(const std::string& accumulators) {
  return "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" + accumulators + "}, %l1, %l1, 0, 1, 1, 0, 0;\n";
}

TEST_CASE("products with the same accumulators have the number of the first one", "[checks]") {
  const std::string low = product("%f0, %f1, %f2, %f3"), high = product("%f4, %f5, %f6, %f7");
  const std::string sums = "add.f32 %f0, %f0, %f4; add.f32 %f1, %f1, %f5; add.f32 %f2, %f2, %f6; add.f32 %f3, %f3, %f7;";
  const Kernel kernel(word_kernel("mov.u64 %l1, 0;" + low + high + low + high + sums + "mov.b32 %d, %f0;", "sm_90a"), "k");
  const code::Program& program = program_of(kernel);
  const checks::ProductRegisters registers(program);
  REQUIRE(registers.next_concerned.size() == program.operations.size() + 1);
  CHECK(registers.next_concerned.back() == program.operations.size());
  std::vector<std::uint32_t> products, numbers;
  for (std::uint32_t i = 0; i < program.operations.size(); ++i) {
    if (program.operations[i].semantics != catalogue::Semantics::wgmma) continue;
    products.push_back(i);
    numbers.push_back(registers.accumulators[i]);
    CHECK(registers.next_concerned[i] == i);
  }
  REQUIRE(products.size() == 4);
  CHECK(numbers == std::vector<std::uint32_t>{products[0], products[1], products[0], products[1]});
  CHECK(registers.next_concerned.front() > 0);  // the move of %l1 concerns none
  CHECK(std::ranges::is_sorted(registers.next_concerned));
}

TEST_CASE("a program without wgmma has no registers of products", "[checks]") {
  const Kernel kernel(word_kernel("mov.u32 %d, 1;"), "k");
  CHECK(checks::ProductRegisters(program_of(kernel)).next_concerned.empty());
}

}  // namespace
}  // namespace warpmat::pairing_test
