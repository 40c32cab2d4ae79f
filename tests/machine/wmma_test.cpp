
#include "machine/kernel.h"
#include "test.h"

namespace warpmat::wmma_test {
namespace {

constexpr std::uint32_t a_stride = 32, d_stride = 20;

/// D = A · B + C of bytes: A by generic addresses, B and C from global memory, D by way of shared memory to generic addresses, transposed.
/// `change` stands before the first load: its address is in %l0, its stride in %r39.
Module product_kernel(const std::string& change = {}) {
  return module_of(".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d", R"(
    .shared .align 32 .b8 tile[1024];
    .reg .b32 %r<40>; .reg .b64 %l<10>; .reg .b32 %lane; .reg .pred %last;
    ld.param.u64 %l0, [a];
    ld.param.u64 %l1, [b];
    ld.param.u64 %l2, [c];
    ld.param.u64 %l3, [d];
    mov.u32 %r39, 32;
    mov.u32 %lane, %tid.x;
    setp.eq.u32 %last, %lane, 31;
)" + change + R"(
    wmma.load.a.sync.aligned.row.m16n16k16.u8 {%r0, %r1}, [%l0+16], %r39;
    wmma.load.b.sync.aligned.col.m16n16k16.global.u8 {%r2, %r3}, [%l1];
    wmma.load.c.sync.aligned.row.m16n16k16.global.s32 {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%l2], 16;
    wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32 {%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27}, {%r0, %r1}, {%r2, %r3},
        {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17};
    wmma.store.d.sync.aligned.row.m16n16k16.shared.s32 [tile], {%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27}, 16;
    bar.sync 0;
    wmma.load.c.sync.aligned.row.m16n16k16.shared::cta.s32 {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [tile];
    wmma.store.d.sync.aligned.col.m16n16k16.s32 [%l3], {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, 20;
    ret;
)");
}

struct Product {
  std::vector<std::uint8_t> a = std::vector<std::uint8_t>(16 + 16 * a_stride), b = std::vector<std::uint8_t>(16 * 16);
  std::vector<std::uint32_t> c = std::vector<std::uint32_t>(16 * 16);
  std::vector<std::uint32_t> d;

  void run(const Module& module) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::uint8_t>(37 * i + 5);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<std::uint8_t>(91 * i + 3);
    for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<std::uint32_t>(1000 * i);
    DeviceMemory memory;
    const std::uint64_t in_a = memory.allocate(a, "a"), in_b = memory.allocate(b, "b"), in_c = memory.allocate(c, "c");
    const std::uint64_t out = memory.allocate(4 * 16 * d_stride, "d");
    launch(Kernel(module, "k"), {{1}, {32}, 0}, memory, {in_a, in_b, in_c, out});
    d = memory.read<std::uint32_t>(out, 16 * d_stride);
  }

  std::uint32_t expected(std::size_t row, std::size_t column) const {
    std::uint32_t sum = c[16 * row + column];
    for (std::size_t k = 0; k < 16; ++k) sum += std::uint32_t{a[16 + a_stride * row + k]} * b[16 * column + k];
    return sum;
  }
};

std::string trap_of_change(const std::string& change) {
  return message_of([&] { Product().run(product_kernel(change)); });
}

TEST_CASE("a kernel multiplies by wmma: generic, global and shared memory, strides in registers, as numbers and left out",
          "[machine][wmma]") {
  Product product;
  product.run(product_kernel());
  std::size_t wrong = 0;
  for (std::size_t row = 0; row < 16; ++row)
    for (std::size_t column = 0; column < 16; ++column) wrong += product.d[d_stride * column + row] != product.expected(row, column);
  CHECK(wrong == 0);
  for (std::size_t column = 0; column < 16; ++column)
    for (std::size_t row = 16; row < d_stride; ++row) CHECK(product.d[d_stride * column + row] == 0);
}

TEST_CASE("wmma traps in kernels where addresses or strides differ between lanes, are not aligned, or leave the buffer",
          "[machine][wmma]") {
  CHECK(trap_of_change("") == "nothing");
  CHECK(trap_of_change("add.u64 %l0, %l0, 2;").find("the address of a matrix must be a multiple of 4 bytes") != std::string::npos);
  CHECK(trap_of_change("mov.u32 %r39, 33;").find("a stride of 33 elements is no multiple of 4 bytes") != std::string::npos);
  CHECK(trap_of_change("@%last add.u64 %l0, %l0, 16;").find("all lanes must give the same") != std::string::npos);
  CHECK(trap_of_change("@%last mov.u32 %r39, 16;").find("the stride of wmma.load.a") != std::string::npos);
  CHECK(trap_of_change("mov.u32 %r39, 4096;").find("outside of any buffer") != std::string::npos);
  CHECK(trap_of_change("@%last ret;").find("needs all 32 lanes") != std::string::npos);
}

// On sm_70 an element of A or B is in two lanes, and f32 accumulators lie otherwise.
TEST_CASE("a kernel multiplies by wmma with the fragments of its target", "[machine][wmma]") {
  const std::string a = "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}", b = "{%r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15}",
                    d = "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}";
  const std::string body =
      ".reg .b32 %r<16>; .reg .f32 %f<8>; .reg .b64 %l<3>; ld.param.u64 %l0, [a]; ld.param.u64 %l1, [b]; ld.param.u64 "
      "%l2, [d]; wmma.load.a.sync.aligned.row.m16n16k16.f16 " +
      a + ", [%l0]; wmma.load.b.sync.aligned.col.m16n16k16.f16 " + b + ", [%l1]; wmma.load.c.sync.aligned.row.m16n16k16.f32 " + d +
      ", [%l2];" + "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 " + d + ", " + a + ", " + b + ", " + d +
      "; wmma.store.d.sync.aligned.row.m16n16k16.f32 [%l2], " + d + "; ret;";
  std::vector<std::uint16_t> ones(256);
  std::vector<float> expected(256);
  for (std::size_t i = 0; i < 16; ++i) ones[17 * i] = 0x3c00;  // the unit matrix
  std::vector<std::uint16_t> rows(256);
  for (std::size_t i = 0; i < 256; ++i) {
    rows[i] = static_cast<std::uint16_t>(0x6400 + i);  // 1024 + i
    expected[i] = 2 * (1024 + static_cast<float>(i));
  }
  std::vector<float> c(256);
  for (std::size_t i = 0; i < 256; ++i) c[i] = 1024 + static_cast<float>(i);
  for (const char* const target : {"sm_70", "sm_75", "sm_90", "sm_120"}) {
    CAPTURE(target);
    DeviceMemory memory;
    const std::uint64_t in_a = memory.allocate(rows), in_b = memory.allocate(ones), out = memory.allocate(c);
    launch(Kernel(module_of(".param .u64 a, .param .u64 b, .param .u64 d", body, target), "k"), {{1}, {32}, 0}, memory, {in_a, in_b, out});
    CHECK(memory.read<float>(out, 256) == expected);
  }
}

}  // namespace
}  // namespace warpmat::wmma_test
