#include "gpu/programs/element_type.h"

#include "test.h"

namespace warpmat::element_type_test {

using namespace warpmat::programs;

TEST_CASE("a kernel's signature says what its parameters point to", "[programs]") {
  const struct {
    const char* signature;
    std::size_t index;
    const char* ptx;
  } cases[] = {
      {"scale(float*, int)", 0, "f32"},
      {"scale(float*, int)", 1, "b32"},
      {"scale(float*, int)", 2, "b32"},
      {"void gemm<128, float, std::pair<int, double> >(double const*, __half*, unsigned char* __restrict__)", 0, "f64"},
      {"void gemm<128, float, std::pair<int, double> >(double const*, __half*, unsigned char* __restrict__)", 1, "f16"},
      {"void gemm<128, float, std::pair<int, double> >(double const*, __half*, unsigned char* __restrict__)", 2, "u8"},
      {"f(cutlass::half_t const*, float**)", 0, "f16"},
      {"f(cutlass::half_t const*, float**)", 1, "b32"},
      {"f(unsigned long long*)", 0, "u64"},
      {"plain", 0, "b32"},
      {"f()", 0, "b32"},
  };
  for (const auto& each : cases) {
    INFO(each.signature << " " << each.index);
    CHECK(pointed_type(each.signature, each.index).ptx == each.ptx);
  }
}

TEST_CASE("elements are shown as numbers and bits", "[programs]") {
  CHECK(to_text(pointed_type("f(float*)", 0), 0x3fc00000) == "1.5 (0x3fc00000)");
  CHECK(to_text(pointed_type("f(__half*)", 0), 0xc000) == "-2 (0xc000)");
  CHECK(to_text(pointed_type("f(int*)", 0), 0xffffffff) == "-1 (0xffffffff)");
  CHECK(to_text(pointed_type("f(short*)", 0), 0xfffe) == "-2 (0xfffe)");
  CHECK(to_text(pointed_type("f(unsigned char*)", 0), 200) == "200 (0xc8)");
  CHECK(to_text(pointed_type("f(void*)", 0), 5) == "0x00000005");
}

}  // namespace warpmat::element_type_test
