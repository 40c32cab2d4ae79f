#include <warpmat/tables/tcgen05.h>

#include "test.h"

namespace warpmat::tcgen05_test {
namespace {

std::string problem(const char* kind, std::uint32_t bits) {
  return decode_tensor_product(*find_tensor_kind(kind), {}, bits).problem.value_or("none");
}

constexpr std::uint32_t m128 = 8u << 24, m64 = 4u << 24;

constexpr std::uint32_t n(unsigned columns) {
  return columns / 8 << 17;
}

TEST_CASE("an instruction descriptor chooses types and sizes of its kind", "[tables][tcgen05]") {
  const TensorProduct half =
      decode_tensor_product(*find_tensor_kind("kind::f16"), {}, 1u << 4 | 1u << 7 | 1u << 10 | 1u << 14 | 1u << 15 | n(248) | m64).product;
  CHECK(half.shape == Shape{64, 248, 16});
  CHECK(half.tile->opcode == "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32");
  CHECK((!half.negates_a && half.negates_b && half.major_a == Major::mn && half.major_b == Major::k));
  CHECK(half.lowering->evidence == Evidence::published);
  CHECK((half.path->name == 'F' && half.path->lane(15) == 15 && half.path->lane(16) == 32 && half.path->lane(63) == 111));
  // Every code of the table, and no other.
  const auto valid = [](const char* kind, std::uint32_t d) {
    std::string codes;
    for (std::uint32_t a = 0; a < 8; ++a)
      for (std::uint32_t b = 0; b < 8; ++b)
        if (!decode_tensor_product(*find_tensor_kind(kind), {}, d << 4 | a << 7 | b << 10 | n(16) | m128).problem)
          codes += std::to_string(a) + std::to_string(b) + " ";
    return codes;
  };
  CHECK(valid("kind::f16", 1) == "00 11 ");
  CHECK(valid("kind::f16", 0) == "00 ");
  CHECK(valid("kind::tf32", 1) == "22 ");
  CHECK(valid("kind::f8f6f4", 0) == "00 01 03 04 05 10 11 13 14 15 30 31 33 34 35 40 41 43 44 45 50 51 53 54 55 ");
  CHECK(valid("kind::f8f6f4", 1) == valid("kind::f8f6f4", 0));
  CHECK(valid("kind::i8", 2) == "00 01 10 11 ");
  for (const char* none : {"kind::tf32", "kind::f16", "kind::f8f6f4"}) CHECK(valid(none, 2).empty());
  CHECK(valid("kind::tf32", 0).empty());
  CHECK(find_tensor_kind("kind::f4") == nullptr);
}

TEST_CASE("the widths are those of PTX ISA 9.1 table 39", "[tables][tcgen05]") {
  const auto widths = [](const char* kind, std::uint32_t rest) {
    int count = 0;
    for (unsigned columns = 0; columns < 512; columns += 8)
      count += !decode_tensor_product(*find_tensor_kind(kind), {}, rest | n(columns)).problem;
    return count;
  };
  CHECK(widths("kind::f16", 1u << 4 | m128) == 32);
  CHECK(widths("kind::tf32", 1u << 4 | 2u << 7 | 2u << 10 | m64) == 32);
  CHECK(widths("kind::f8f6f4", 1u << 4 | m64) == 32);
  CHECK(widths("kind::f8f6f4", 1u << 4 | 1u << 16 | m64) == 16);  // a transposed B of 8 bits
  CHECK(widths("kind::i8", 2u << 4 | m128) == 18);                // 8, 16, 24, 32, 48, ... 256
}

TEST_CASE("each wrong field of an instruction descriptor is named", "[tables][tcgen05]") {
  const std::uint32_t good = 1u << 4 | n(64) | m128;
  CHECK(problem("kind::f16", good) == "none");
  CHECK_THAT(problem("kind::f16", good | 2), ContainsSubstring("has 2 in bits 0 to 1, which is the sparsity selector"));
  CHECK_THAT(problem("kind::f16", good | 4), ContainsSubstring("has 1 in bit 2, which means a sparse A"));
  CHECK_THAT(problem("kind::f16", good | 8), ContainsSubstring("has 1 in bit 3, which saturates integers"));
  CHECK_THAT(problem("kind::f16", (good & ~(3u << 4)) | 3u << 4),
             ContainsSubstring("has type of D 3 in bits 4 to 5; the kind has 0 f16, 1 f32"));
  CHECK_THAT(problem("kind::f16", good | 1u << 6), ContainsSubstring("bit 6, which is reserved"));
  CHECK_THAT(problem("kind::f16", good | 2u << 7), ContainsSubstring("has type of A 2 in bits 7 to 9"));
  CHECK_THAT(problem("kind::f16", good | 5u << 10), ContainsSubstring("has type of B 5 in bits 10 to 12"));
  CHECK_THAT(problem("kind::f16", good | 1u << 10), ContainsSubstring("which do not go together"));
  CHECK_THAT(problem("kind::i8", 2u << 4 | n(64) | m128 | 1u << 14), ContainsSubstring("negates A or B, which the kind does not"));
  CHECK_THAT(problem("kind::f16", good | 1u << 23), ContainsSubstring("bit 23"));
  CHECK_THAT(problem("kind::f16", good | 1u << 29), ContainsSubstring("bit 29"));
  CHECK_THAT(problem("kind::f16", good | 3u << 30), ContainsSubstring("the shift of tcgen05.mma.ws only"));
  CHECK_THAT(problem("kind::f16", 1u << 4 | n(64) | 16u << 24), ContainsSubstring("M = 256 in bits 24 to 28; M is 64 or 128"));
  CHECK_THAT(problem("kind::f16", 1u << 4 | n(264) | m128), ContainsSubstring("N = 264 in bits 17 to 22"));
  CHECK_THAT(problem("kind::i8", 2u << 4 | n(40) | m128), ContainsSubstring("N = 40"));
  // Table 51: kind::f8f6f4 may transpose, whatever the types; table 52: B in steps of 16.
  CHECK(problem("kind::f8f6f4", 1u << 4 | 5u << 7 | 1u << 15 | n(64) | m128) == "none");
  CHECK(problem("kind::f8f6f4", 1u << 4 | 5u << 10 | 1u << 16 | n(64) | m128) == "none");
  CHECK_THAT(problem("kind::f8f6f4", 1u << 4 | 5u << 10 | 1u << 16 | n(24) | m128), ContainsSubstring("a multiple of 16"));
}

TEST_CASE("two blocks, .ws and block scales have their own sizes and data path layouts", "[tables][tcgen05]") {
  // PTX ISA 9.1 tables 39 and 43, and the table of section 9.7.16.10.5; all M and N that the descriptor can say.
  struct Case {
    const char* kind;
    TensorVariant variant;
    std::uint32_t rest;
    int rows;  ///< M is valid: a bit for each multiple of 32
    const char* paths;
    int widths;
  };
  for (const Case& c : {
           Case{"kind::f16", {.group = 2}, 1u << 4, 1 << 4 | 1 << 8, "BA", 16},
           Case{"kind::f16", {.group = 2, .sparse = true}, 1u << 4 | 4, 1 << 4 | 1 << 8, "CA", 16},
           Case{"kind::f16", {.weights = true}, 1u << 4, 1 << 1 | 1 << 2 | 1 << 4, "GED", 3},
           Case{"kind::f16", {.sparse = true, .weights = true}, 1u << 4 | 4, 1 << 1 | 1 << 2 | 1 << 4, "GED", 2},
           Case{"kind::i8", {.group = 2}, 2u << 4, 1 << 4 | 1 << 8, "BA", 8},
           Case{"kind::mxf8f6f4", {.scale_vector = 1}, 1u << 23, 1 << 4, "D", 32},
           Case{"kind::mxf8f6f4", {.group = 2, .scale_vector = 1}, 1u << 23, 1 << 4 | 1 << 8, "BA", 16},
           Case{"kind::mxf4", {.group = 2, .sparse = true, .scale_vector = 2}, 1u << 23 | 4 | 1u << 7 | 1u << 10, 1 << 8, "A", 16},
           Case{"kind::mxf4nvf4", {.scale_vector = 4}, 1u << 7 | 1u << 10, 1 << 4, "D", 32},
       }) {
    INFO(c.kind << " " << c.variant.group << c.variant.weights << c.variant.sparse);
    const auto decoded = [&](std::uint32_t rows, unsigned columns) {
      return decode_tensor_product(*find_tensor_kind(c.kind), c.variant, c.rest | rows / 16 << 24 | n(columns));
    };
    int rows = 0, widths = 0;
    std::string paths;
    std::uint32_t some = 0;
    for (std::uint32_t m = 32; m <= 256; m += 32)
      if (const auto d = decoded(m, 64); !d.problem) {
        rows |= 1 << m / 32;
        paths += d.product.path->name;
        some = m;
      }
    for (unsigned columns = 8; columns <= 256; columns += 8) widths += !decoded(some, columns).problem;
    CHECK(rows == c.rows);
    CHECK(paths == c.paths);
    CHECK(widths == c.widths);
  }
}

TEST_CASE("wrong fields of a descriptor with block scales or sparse A are named", "[tables][tcgen05]") {
  const auto says = [](const char* kind, const TensorVariant& variant, std::uint32_t bits) {
    return decode_tensor_product(*find_tensor_kind(kind), variant, bits | n(64) | m128).problem.value_or("none");
  };
  const TensorVariant one{.scale_vector = 1}, two{.scale_vector = 2}, four{.scale_vector = 4}, sparse{.sparse = true};
  const std::uint32_t e2m1 = 1u << 7 | 1u << 10, ue8m0 = 1u << 23;
  CHECK(says("kind::mxf8f6f4", one, ue8m0 | 3u << 29 | 2u << 4) == "none");
  CHECK_THAT(says("kind::mxf8f6f4", one, 0), ContainsSubstring("has type of scales 0 in bits 23 to 23"));
  CHECK_THAT(says("kind::mxf4", two, ue8m0 | e2m1 | 1u << 29), ContainsSubstring("1 as the id of scale_A in bits 29 to 30"));
  CHECK_THAT(says("kind::mxf4nvf4", four, e2m1 | 2u << 4),
             ContainsSubstring("2 as the id of scale_B in bits 4 to 5; with 4 factors a row it is 0"));
  CHECK_THAT(says("kind::mxf4nvf4", two, e2m1), ContainsSubstring("scales of ue4m3 in bit 23, which go with blocks of 16 elements"));
  CHECK_THAT(says("kind::mxf4", two, ue8m0 | e2m1 | 1u << 31), ContainsSubstring("K = 96"));
  TensorVariant long_two = two, sparse_two = two, long_four = four;
  long_two.has_k96 = sparse_two.has_k96 = long_four.has_k96 = sparse_two.sparse = true;
  CHECK(says("kind::mxf4", long_two, ue8m0 | e2m1 | 1u << 31 | 3u << 29 | 1u << 4) == "none");
  CHECK_THAT(says("kind::mxf4", sparse_two, ue8m0 | e2m1 | 1u << 31 | 4), ContainsSubstring("K = 96, of dense A alone"));
  CHECK_THAT(says("kind::mxf4nvf4", long_four, e2m1 | 1u << 31 | 1u << 4),
             ContainsSubstring("1 as the id of scale_B in bits 4 to 5; with 6 factors a row it is 0 or 2"));
  CHECK_THAT(says("kind::mxf4", two, ue8m0 | e2m1 | 1u << 15), ContainsSubstring("transposes A or B"));
  CHECK_THAT(says("kind::f16", sparse, 1u << 4), ContainsSubstring("0 in bit 2, which means a dense A"));
  CHECK_THAT(says("kind::f16", sparse, 1u << 4 | 4 | 2), ContainsSubstring("sparsity selector 2"));
  CHECK_THAT(says("kind::f8f6f4", sparse, 1u << 4 | 4 | 1), ContainsSubstring("which the kind does not use"));
}

TEST_CASE("nothing of tcgen05 calls itself measured", "[tables][tcgen05]") {
  for (const Lowering& lowering : tensor_lowerings()) CHECK(lowering.evidence < Evidence::replayed);
}

}  // namespace
}  // namespace warpmat::tcgen05_test
