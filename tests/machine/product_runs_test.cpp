
#include "machine/kernel.h"
#include "test.h"

namespace warpmat::product_runs_test {
namespace {

constexpr int registers = 24;
using Words = std::vector<std::uint32_t>;

/// A kernel of one warp that loads its registers, executes `products` and stores its registers.
Module kernel_of(const std::string& products, const char* target) {
  std::string body = R"(
    .reg .b32 %x<24>; .reg .b64 %in, %out, %at; .reg .b32 %lane; .reg .pred %all, %odd;
    ld.param.u64 %in, [in];
    ld.param.u64 %out, [out];
    mov.u32 %lane, %tid.x;
    setp.lt.u32 %all, %lane, 32;
    mul.wide.u32 %at, %lane, 4;
    add.s64 %in, %in, %at;
    add.s64 %out, %out, %at;
)";
  for (int i = 0; i < registers; ++i) body += fmt::format("ld.global.u32 %x{}, [%in+{}];\n", i, 128 * i);
  body += products;
  for (int i = 0; i < registers; ++i) body += fmt::format("st.global.u32 [%out+{}], %x{};\n", 128 * i, i);
  return module_of(".param .u64 in, .param .u64 out", body + "ret;\n", target);
}

Words run(const Module& module, const char* target, const Words& in, Path path) {
  DeviceMemory memory;
  const std::uint64_t from = memory.allocate(in, "in"), to = memory.allocate(4 * in.size(), "out");
  LaunchOptions options;
  options.execution.path = path;
  KernelOptions kernel;
  kernel.target = target;
  launch(Kernel(module, "k", kernel), {{1}, {32}, 0}, memory, {from, to}, options);
  return memory.read<std::uint32_t>(to, in.size());
}

/// Products of one form. `registers_of(d, a, b, c)` are the first registers of its operands.
struct Shape {
  const char* opcode;
  int d, a, b;               ///< registers
  std::uint32_t bits, mask;  ///< of a register: bits, changed in random places
  std::uint32_t exponent;    ///< bits whose sum with a number is large, infinite or NaN
};

std::string list(int first, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += fmt::format("{}%x{}", i == 0 ? "" : ", ", first + i);
  return text + "}";
}

std::string product(const Shape& shape, int d, int a, int b, int c) {
  return fmt::format("{} {}, {}, {}, {};\n", shape.opcode, list(d, shape.d), list(a, shape.a), list(b, shape.b), list(c, shape.d));
}

const Shape shapes[] = {
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2, 0x3c003c00, 0x83ff83ff, 0x7c007800},
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 2, 4, 2, 0x3c003c00, 0x83ff83ff, 0x7c007800},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 4, 4, 2, 0x3f803f80, 0x807f807f, 0x7f807f00},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, 4, 2, 0x3f800000, 0x807fffff, 0x7f800000},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 4, 2, 0x38383838, 0x87878787, 0x7f787f78},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 4, 4, 2, 0, 0xffffffff, 0},
};

TEST_CASE("Products that follow each other have the bits that they have one by one", "[machine][products]") {
  std::mt19937 random(7);
  for (const Shape& shape : shapes) {
    const std::string opcode = shape.opcode;
    CAPTURE(opcode);
    const char* const target = opcode.find("e4m3") != std::string::npos ? "sm_89" : "sm_90";
    // D of some is A, B or C of the next ones; others have A or B in common.
    std::string products;
    for (int i = 0; i < 60; ++i) {
      const auto among = [&](int count, int step) { return static_cast<int>(random() % static_cast<unsigned>(count)) * step; };
      const bool same = random() % 2 == 0;
      const int d = same ? 16 + among(2, 4) : among(6, 4), a = among(2, 4), b = 8 + among(4, 2), c = random() % 2 == 0 ? d : among(6, 4);
      if (i % 13 == 7) products += "@%all ";
      products += product(shape, d, a, b, c);
    }
    Words in(registers * 32);
    for (std::uint32_t& word : in) word = shape.bits ^ static_cast<std::uint32_t>(random() & shape.mask & random());
    const Module module = kernel_of(products, target);
    const Words one_by_one = run(module, target, in, Path::reference);
    CHECK(run(module, target, in, Path::fast) == one_by_one);
    for (std::size_t i = 0; i < 4; ++i) in[random() % in.size()] |= shape.exponent;
    CHECK(run(module, target, in, Path::fast) == run(module, target, in, Path::reference));
  }
}

TEST_CASE("Products of one B and of numbers of any size, one after the other, read B's exponents where they are needed",
          "[machine][products]") {
  struct Wide {
    const char* opcode;
    std::uint32_t large, near_one, of_b;
  };
  for (const Wide& wide : {Wide{"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 0x7f007f00, 0x3f813f83, 0x46804580},
                           Wide{"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 0x7f000000, 0x3f812000, 0x46800000}}) {
    const std::string opcode = wide.opcode;
    CAPTURE(opcode);
    const Shape shape{wide.opcode, 4, 4, 2, 0, 0, 0};
    std::mt19937 random(11);
    Words in(registers * 32);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::size_t reg = i / 32;
      const std::uint32_t number = reg < 4 ? wide.large : reg < 8 ? wide.near_one : reg < 10 ? wide.of_b : 0;
      in[i] = number ^ (number == 0 ? 0 : static_cast<std::uint32_t>(random() & 0x00300030));
    }
    // The registers of A: large, near 1, large, near 1; all with one B.
    const std::string products =
        product(shape, 12, 0, 8, 12) + product(shape, 16, 4, 8, 16) + product(shape, 20, 0, 8, 20) + product(shape, 20, 4, 8, 12);
    const Module module = kernel_of(products, "sm_90");
    CHECK(run(module, "sm_90", in, Path::fast) == run(module, "sm_90", in, Path::reference));
  }
}

TEST_CASE("A product whose A is the D of the one before reads the new A", "[machine][products]") {
  const Shape& shape = shapes[5];  // integers
  const std::string products = product(shape, 12, 0, 8, 12) + product(shape, 0, 0, 8, 16) + product(shape, 16, 0, 8, 16);
  Words in(registers * 32);
  std::mt19937 random(3);
  for (std::uint32_t& word : in) word = static_cast<std::uint32_t>(random());
  const Module module = kernel_of(products, "sm_90");
  const Words out = run(module, "sm_90", in, Path::fast);
  CHECK(out == run(module, "sm_90", in, Path::reference));
  CHECK(out != in);
}

TEST_CASE("A trap in the middle of products names its own line", "[machine][products]") {
  const Shape& shape = shapes[0];
  const std::string sparse =
      "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%x16, %x17, %x18, %x19}, {%x0, %x1, %x2, %x3}, "
      "{%x8, %x9, %x10, %x11}, {%x16, %x17, %x18, %x19}, ";
  const std::string products = product(shape, 16, 0, 8, 16) + sparse + "%x20, 0;\n" + sparse + "%x21, 0;\n" + sparse + "%x20, 0;\n";
  Words in(registers * 32, 0x3c003c00);
  for (std::size_t lane = 0; lane < 32; ++lane) in[20 * 32 + lane] = 0x44444444, in[21 * 32 + lane] = 0;  // 0: both are element 0
  const Module module = kernel_of(products, "sm_90");
  const std::string fast = message_of([&] { run(module, "sm_90", in, Path::fast); });
  CHECK(fast.find("line 42 ") != std::string::npos);
  CHECK(fast == message_of([&] { run(module, "sm_90", in, Path::reference); }));
}

}  // namespace
}  // namespace warpmat::product_runs_test
