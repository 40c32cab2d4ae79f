// What a launch of a product by mma in PTX is guessed to compute. The numbers in the matrices are zeros: nothing depends on them.

#include <warpmat/provenance.h>

#include "checks/lanes_module.h"
#include "test.h"

namespace warpmat::guess_test {
namespace {

/// One warp's product, 16 x 8 x 16 of f16. `row` are the bytes from a row of A to the next, `line` those of B, whose columns are
/// contiguous; `store` the bytes from a row of C to the row 8 below.
struct Tile {
  int row = 32, line = 32, store = 256;
  int k = 16;                               ///< A's second half along k begins at this element
  std::uint64_t a = 512, b = 256, c = 512;  ///< bytes of the buffers
  std::string multiply =
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, "
      "{%c0, %c1, %c2, %c3};\n";
  std::uint32_t blocks = 1;  ///< along y: each has 16 rows of C
  std::string moved{};       ///< of more than one: statements that add to %a for the block %l0
};

Module module_of(const Tile& tile) {
  return module_of_lanes("mov.u32 %l0, %ctaid.y;\n" + tile.moved +
                         fmt::format(R"(
    mov.u32 %l2, %ctaid.y;
    mul.lo.u32 %l2, %l2, 512;
    cvt.u64.u32 %x, %l2;
    add.s64 %c, %c, %x;
    mul.lo.u32 %l0, %g, {row};
    shl.b32 %l1, %q, 2;
    add.u32 %l0, %l0, %l1;
    cvt.u64.u32 %x, %l0;
    add.s64 %a, %a, %x;
    mul.lo.u32 %l0, %g, {line};
    add.u32 %l0, %l0, %l1;
    cvt.u64.u32 %x, %l0;
    add.s64 %b, %b, %x;
    ld.global.b32 %a0, [%a];
    ld.global.b32 %a1, [%a+{below}];
    ld.global.b32 %a2, [%a+{k}];
    ld.global.b32 %a3, [%a+{both}];
    ld.global.b32 %b0, [%b];
    ld.global.b32 %b1, [%b+16];
)",
                                     fmt::arg("row", tile.row), fmt::arg("line", tile.line), fmt::arg("below", 8 * tile.row),
                                     fmt::arg("k", tile.k), fmt::arg("both", 8 * tile.row + tile.k)) +
                         tile.multiply + place_in_c +
                         fmt::format("st.global.v2.f32 [%c], {{%c0, %c1}};\nst.global.v2.f32 [%c+{}], {{%c2, %c3}};\nret;\n", tile.store));
}

Guess guess_of(const Tile& tile, bool errs = false) {
  const Kernel kernel(module_of(tile), "k");
  DeviceMemory memory;
  const std::vector<Argument> arguments{memory.allocate(tile.a, "A"), memory.allocate(tile.b, "B"), memory.allocate(tile.c, "C")};
  const LaunchConfig config{{1, tile.blocks}, {32}};
  Guesser guesser(kernel, config, memory, arguments);
  LaunchOptions options;
  guesser.observe(options);
  launch(kernel, config, memory, arguments, options);
  return guesser.result(errs);
}

TEST_CASE("a product is recognised by what is multiplied and where it is stored", "[guess]") {
  const Guess guess = guess_of({});
  CHECK(product_text(guess.products) == "C=A*B^T:16x8x16");
  CHECK_FALSE(contains(guess.text, "except"));
}

TEST_CASE("rows that lie apart are those of a larger matrix", "[guess]") {
  const Guess guess = guess_of({.row = 48, .line = 48, .a = 16 * 48, .b = 8 * 48});
  CHECK(product_text(guess.products) == "C=A*B^T:16x8x16,lda=24,ldb=24");
  CHECK(contains(guess.text, "k 16 to 23"));
}

TEST_CASE("rows of a result that is wrong have no padding", "[guess]") {
  CHECK(product_text(guess_of({.row = 48, .line = 48, .a = 16 * 48, .b = 8 * 48}, true).products) == "C=A*B^T:16x8x24");
}

TEST_CASE("a buffer may be larger than its matrix", "[guess]") {
  CHECK(product_text(guess_of({.c = 1000}).products) == "C=A*B^T:16x8x16,bits=16x16x32");
}

TEST_CASE("one buffer may hold all three matrices", "[guess]") {
  const Kernel kernel(module_of(Tile()), "k");
  const LaunchConfig config{{1}, {32}};
  DeviceMemory memory;
  const std::uint64_t all = memory.allocate(512 + 256 + 512, "all");
  const std::vector<Argument> arguments{all, all + 512, all + 768};
  Guesser guesser(kernel, config, memory, arguments);
  LaunchOptions options;
  guesser.observe(options);
  launch(kernel, config, memory, arguments, options);
  CHECK(product_text(guesser.result().products) == "ptr2=all*ptr1^T:16x8x16,bits=16x16x32");
  for (const char* const product : {"2=all*ptr1^T:16x8x16,bits=16x16x32", "all+768=all*all+512^T:16x8x16,bits=16x16x32"})
    CHECK(launch_products(kernel, config, memory, arguments, {parse_products(product)}).warnings.empty());
}

TEST_CASE("elements that do not belong to the product are counted", "[guess]") {
  const Guess k_twice = guess_of({.k = 0});  // both halves along k are the first
  CHECK(product_text(k_twice.products) == "C=A*B^T:16x8x16");
  CHECK(contains(k_twice.text, "0 of 128 fit"));
}

TEST_CASE("of a wrong result the guess says which matrix leaves a part of its buffer unread", "[guess]") {
  const Tile short_rows{.row = 16, .k = 0};  // the rows of A overlap
  Tile larger = short_rows;
  larger.c = 1000;
  CHECK(contains(guess_of(larger, true).text, "; A is taken as 16 rows of 8 elements, 256 of its 512 bytes"));
  CHECK_FALSE(contains(guess_of(larger).text, "taken as"));
}

TEST_CASE("of a wrong result the buffers say the sizes, where they are those of a product", "[guess]") {
  const Guess short_rows = guess_of({.row = 16}, true);
  CHECK(product_text(short_rows.products) == "C=A*B^T:16x8x16");
  CHECK(contains(short_rows.text, "no product"));
}

TEST_CASE("tiles of a factor that are taken from elsewhere are no product of their own", "[guess]") {
  const auto rows_of = [](const std::string& tile) {
    return guess_of(
        {.a = 2048, .c = 2048, .blocks = 4, .moved = tile + "mul.lo.u32 %l0, %l0, 512; cvt.u64.u32 %x, %l0; add.s64 %a, %a, %x;\n"});
  };
  CHECK(product_text(rows_of("").products) == "C=A*B^T:64x8x16");
  for (const char* const tile : {"xor.b32 %l0, %l0, 1;", "xor.b32 %l0, %l0, 3;", "add.u32 %l0, %l0, 1; and.b32 %l0, %l0, 3;"}) {
    CAPTURE(tile);
    const Guess guess = rows_of(tile);
    CHECK(product_text(guess.products) == "C=A*B^T:64x8x16");
    CHECK(contains(guess.text, "0 of 512 fit"));
  }
}

TEST_CASE("a kernel that only stores numbers has neither a product nor a pattern", "[guess]") {
  const Guess without = guess_of({.multiply = ""});
  CHECK(without.products.empty());
  CHECK(contains(without.text, "no pattern"));
}

}  // namespace
}  // namespace warpmat::guess_test
