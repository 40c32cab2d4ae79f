#include <warpmat/numeric/multi_function.h>

#include "test.h"

namespace warpmat::multi_function_test {
namespace {

using Function = std::uint32_t (*)(std::uint32_t);

template <std::uint16_t (*f)(std::uint16_t)>
std::uint32_t low_half(std::uint32_t a) {
  return f(static_cast<std::uint16_t>(a));
}

const std::map<std::string, Function> functions{
    {"rcp", multi_function::rcp},
    {"rsq", multi_function::rsq},
    {"sqrt", multi_function::sqrt},
    {"ex2", multi_function::ex2},
    {"lg2", multi_function::lg2},
    {"sin", multi_function::sin},
    {"cos", multi_function::cos},
    {"tanh", multi_function::tanh},
    {"rcp64h", multi_function::rcp64h},
    {"rsq64h", multi_function::rsq64h},
    {"ex2.f16", low_half<multi_function::ex2_f16>},
    {"tanh.f16", low_half<multi_function::tanh_f16>},
    {"ex2.bf16", low_half<multi_function::ex2_bf16>},
    {"tanh.bf16", low_half<multi_function::tanh_bf16>},
};

// For each rule of numeric/multi_function.h an operand on which the H200's answer is not what the nearest other rule gives.
TEST_CASE("The multi-function unit: operands that refute other rules", "[multi_function]") {
  struct Refutation {
    const char *function, *other_rule;
    std::uint32_t operand, h200, by_other_rule;
  };
  const Refutation refutations[] = {
      {"rcp", "all columns of the square", 0x3fde8c37, 0x3f133d86, 0x3f133d87},
      {"rcp", "a column more of the square", 0x3fde8c37, 0x3f133d86, 0x3f133d87},
      {"rcp", "a column less of the square", 0x3fe635e9, 0x3f0e56d9, 0x3f0e56d8},
      {"rcp", "no constant", 0x3fabd02b, 0x3f3eb804, 0x3f3eb803},
      {"rcp", "rounded to nearest", 0x3ff04a6e, 0x3f085e3e, 0x3f085e3f},
      {"rsq", "all columns of the square", 0x3ff0532c, 0x3f3ad45d, 0x3f3ad45e},
      {"rsq", "a column more of the square", 0x3ff0532c, 0x3f3ad45d, 0x3f3ad45e},
      {"rsq", "a column less of the square", 0x401fb3bf, 0x3f220f3e, 0x3f220f3d},
      {"rsq", "no constant", 0x3fa90ab2, 0x3f5ec3f7, 0x3f5ec3f8},
      {"rsq", "1 from its row", 0x3f800000, 0x3f800000, 0x3f7fffff},
      {"sqrt", "all columns of the square", 0x4056f13c, 0x3fea9318, 0x3fea9317},
      {"sqrt", "a column less of the square", 0x3fbc5add, 0x3f9b45a9, 0x3f9b45aa},
      {"sqrt", "no constant", 0x40603281, 0x3fef924d, 0x3fef924e},
      {"ex2", "all columns of the square", 0x3ff04a6e, 0x406b1f78, 0x406b1f79},
      {"ex2", "a column more of the square", 0x3fb2df6d, 0x40289915, 0x40289916},
      {"ex2", "a column less of the square", 0x3ff799f3, 0x40749e2a, 0x40749e29},
      {"ex2", "no constant", 0x3fb8f14d, 0x402e3b56, 0x402e3b55},
      {"ex2", "rounded to nearest", 0x3ff04a6e, 0x406b1f78, 0x406b1f79},
      {"ex2", "a negative operand negated", 0xbf8d582a, 0x3eee2740, 0x3eee2741},
      {"ex2", "a whole negative operand complemented", 0xbf800000, 0x3f000000, 0x3effffff},
      {"ex2", "the operand rounded to nearest", 0x3f0d57f1, 0x3fbbadd0, 0x3fbbadd1},
      {"ex2", "the operand rounded down", 0xb0000000, 0x3f800000, 0x3f7fffff},
      {"lg2", "all columns of the square", 0x40704a6e, 0x3ff44e3a, 0x3ff44e39},
      {"lg2", "a column less of the square", 0x406560ba, 0x3febb8f7, 0x3febb8f8},
      {"lg2", "bits below 2^-36 kept", 0x3f800073, 0x37a6cd78, 0x37a6cd7a},
      {"lg2", "a negative sum negated", 0x3f7faefd, 0xbae9e2bd, 0xbae9e2be},
      {"lg2", "1 from its row", 0x3f800000, 0x00000000, 0x33e68800},
      {"sin", "all columns of the square", 0x3e0d57f1, 0x3f4337a2, 0x3f4337a1},
      {"sin", "a column more of the square", 0x3ddc8ea8, 0x3f204e35, 0x3f204e34},
      {"sin", "a column less of the square", 0x3dbaf636, 0x3f0aeb41, 0x3f0aeb42},
      {"sin", "the second quadrant negated", 0x3ef04a6e, 0x3e443008, 0x3e443014},
      {"sin", "the operand rounded to nearest", 0x3e384105, 0x3f67976f, 0x3f679770},
      {"tanh", "all columns of the square", 0x3f8d57d5, 0x3f4d516e, 0x3f4d5167},
      {"tanh", "a column less of the square", 0x3f8d57d5, 0x3f4d516e, 0x3f4d5175},
      {"tanh", "a row below 2^-8", 0x3b0d57f1, 0x3b0d57f1, 0x3b0d57bd},
      {"ex2.f16", "rounded to nearest", 0x11c5, 0x3c00, 0x3c01},
      {"ex2.f16", "the largest number for what is too large", 0x4c00, 0x7c00, 0x7bff},
      {"ex2.bf16", "rounded to nearest", 0x3bb9, 0x3f80, 0x3f81},
  };
  for (const Refutation& r : refutations) {
    INFO(r.function << "(" << std::hex << r.operand << "), not: " << r.other_rule);
    CHECK(r.h200 != r.by_other_rule);
    CHECK(functions.at(r.function)(r.operand) == r.h200);
  }
}

TEST_CASE("The multi-function unit: zeros, subnormals, infinities and NaNs as an H200 answers", "[multi_function]") {
  struct Answer {
    const char* function;
    std::uint32_t operand, h200;
  };
  const Answer answers[] = {
      {"rcp", 0x00000000, 0x7f800000},    {"rcp", 0x807fffff, 0xff800000},    {"rcp", 0xff800000, 0x80000000},
      {"rcp", 0x7e800000, 0x00800000},    {"rcp", 0xfe800001, 0x80000000},    {"rcp", 0xff800001, 0x7fffffff},
      {"rsq", 0x80000000, 0xff800000},    {"rsq", 0x00000001, 0x7f800000},    {"rsq", 0x80800000, 0x7fffffff},
      {"rsq", 0x7f800000, 0x00000000},    {"rsq", 0xff800000, 0x7fffffff},    {"sqrt", 0x80000001, 0x80000000},
      {"sqrt", 0x7f800000, 0x7f800000},   {"sqrt", 0xbf800000, 0x7fffffff},   {"ex2", 0x80000001, 0x3f800000},
      {"ex2", 0x43000000, 0x7f800000},    {"ex2", 0xc2fc0000, 0x00800000},    {"ex2", 0xc2fc0001, 0x00000000},
      {"ex2", 0xff800000, 0x00000000},    {"ex2", 0x7f800000, 0x7f800000},    {"ex2", 0xffffffff, 0x7fffffff},
      {"lg2", 0x80000000, 0xff800000},    {"lg2", 0x007fffff, 0xff800000},    {"lg2", 0x80800000, 0x7fffffff},
      {"lg2", 0x7f800000, 0x7f800000},    {"sin", 0x80000001, 0x80000000},    {"sin", 0x7f800000, 0x7fffffff},
      {"cos", 0x00000001, 0x3f800000},    {"cos", 0xff800000, 0x7fffffff},    {"tanh", 0x80000001, 0x80000001},
      {"tanh", 0xff800000, 0xbf800000},   {"tanh", 0x7f800001, 0x7fffffff},   {"rcp64h", 0x000fffff, 0x7ff00000},
      {"rcp64h", 0xfff00000, 0x80000000}, {"rcp64h", 0x7ff00001, 0x7fffffff}, {"rsq64h", 0x80000000, 0xfff00000},
      {"rsq64h", 0xbff00000, 0x7fffffff}, {"rsq64h", 0x3ff00000, 0x3ff00000}, {"ex2.f16", 0x7e01, 0x7fff},
      {"ex2.bf16", 0xffff, 0x7fff},       {"tanh.f16", 0x8001, 0x8001},       {"tanh.bf16", 0x8001, 0x8001},
  };
  for (const Answer& a : answers) {
    INFO(a.function << "(" << std::hex << a.operand << ")");
    CHECK(functions.at(a.function)(a.operand) == a.h200);
  }
}

// By the definition: bit i of x times bit j, at weight i + j; products of different bits occur twice.
TEST_CASE("The multi-function unit's squarer has the products of weight 2^19 and above", "[multi_function]") {
  for (std::uint32_t x = 0; x < 1U << 17; x += 7) {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < 17; ++i)
      for (unsigned j = 0; j <= i; ++j) {
        const unsigned weight = i == j ? 2 * i : i + j + 1;
        if (weight >= 19 && (x >> i & x >> j & 1) != 0) sum += std::uint64_t{1} << weight;
      }
    REQUIRE(multi_function::truncated_square(x) == sum >> 19);
  }
}

}  // namespace
}  // namespace warpmat::multi_function_test
