// What a launch tells through the C interface: the way of an element, the blocks whose products count, launches of kernels; a kernel's own
// parameters.

#include <warpmat/c_program.h>

#include "c/launched.h"
#include "machine/launching_kernel.h"
#include "test.h"

namespace warpmat::launch_results_test {
namespace {

/// C = A * B^T of 16x8x16 f16 by one mma, whose operands lie in A and B as its fragments have them: rows of 16. `b1` is the byte offset of
/// B's second register; 16 is right. Buffers A, B and C lie at the parameter, 512 and 1024 bytes behind it in buffers of their own.
std::string product_text(const char* b1) {
  return std::string(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 A, .param .u64 B, .param .u64 C) {
  .reg .b32 t, g, q, r<8>; .reg .b64 x, a, b, c; .reg .b32 v<8>; .reg .f32 f<4>;
  ld.param.u64 a, [A]; ld.param.u64 b, [B]; ld.param.u64 c, [C];
  mov.u32 t, %tid.x; shr.u32 g, t, 2; and.b32 q, t, 3;
  shl.b32 r0, g, 5; shl.b32 r1, q, 2; add.u32 r0, r0, r1;
  cvt.u64.u32 x, r0; add.u64 a, a, x; add.u64 b, b, x;
  ld.global.b32 v0, [a]; ld.global.b32 v1, [a+256]; ld.global.b32 v2, [a+16]; ld.global.b32 v3, [a+272];
  ld.global.b32 v4, [b]; ld.global.b32 v5, [b+)") +
         b1 + R"(];
  mov.f32 f0, 0f00000000; mov.f32 f1, f0; mov.f32 f2, f0; mov.f32 f3, f0;
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {f0, f1, f2, f3}, {v0, v1, v2, v3}, {v4, v5}, {f0, f1, f2, f3};
  shl.b32 r0, g, 5; shl.b32 r1, q, 3; add.u32 r0, r0, r1; cvt.u64.u32 x, r0; add.u64 c, c, x;
  st.global.f32 [c], f0; st.global.f32 [c+4], f1; st.global.f32 [c+256], f2; st.global.f32 [c+260], f3;
  ret;
}
)";
}

struct Told {
  int calls = 0;
  std::string text, opcode, where;
  int row = -1, column = -1;
  std::vector<int> depths;
  std::size_t a = 0, b = 0, c = 0;
};

void note(void* user, const warpmat_why* why) {
  Told& told = *static_cast<Told*>(user);
  ++told.calls;
  CHECK(why->size == sizeof *why);
  told.text = why->text;
  REQUIRE(why->step_count == 1);
  const warpmat_why_step& step = why->steps[0];
  told.opcode = step.opcode;
  told.where = step.where;
  told.row = step.row;
  told.column = step.column;
  told.depths.assign(step.depths, step.depths + step.depth_count);
  told.a = step.a_count;
  told.b = step.b_count;
  told.c = step.c_count;
}

/// The product's kernel on buffers A, B and C.
struct Product {
  explicit Product(const char* b1) : kernel(make_kernel(product_text(b1), "k")) {
    REQUIRE(warpmat_buffer_allocate(memory, 16 * 16 * 2, "A", &a, nullptr) == WARPMAT_OK);
    REQUIRE(warpmat_buffer_allocate(memory, 8 * 16 * 2, "B", &b, nullptr) == WARPMAT_OK);
    REQUIRE(warpmat_buffer_allocate(memory, 16 * 8 * 4, "C", &c, nullptr) == WARPMAT_OK);
    config.block[0] = 32;
    config.jobs = 1;
    config.arguments = arguments;
    config.argument_count = 3;
    config.gemm = "C=A*B^T:16x8x16";
    config.user = &told;
  }
  ~Product() {
    warpmat_device_memory_free(memory);
    warpmat_kernel_free(kernel);
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;
  warpmat_status run() {
    error = sized<warpmat_error>();
    return warpmat_launch(kernel, &config, memory, nullptr, &error);
  }

  warpmat_error error = sized<warpmat_error>();
  warpmat_kernel* kernel;
  warpmat_device_memory* memory = warpmat_device_memory_create(nullptr);
  std::uint64_t a = 0, b = 0, c = 0;
  warpmat_argument arguments[3] = {WARPMAT_ARGUMENT(a), WARPMAT_ARGUMENT(b), WARPMAT_ARGUMENT(c)};
  warpmat_launch_config config = sized<warpmat_launch_config>();
  Told told;
};

TEST_CASE("C: the way of an element of a product is told, where it is asked for", "[c]") {
  Product right("16");
  REQUIRE(right.run() == WARPMAT_OK);
  CHECK(right.told.calls == 0);
  right.config.why = "C[9,3]";
  right.config.tell_why = note;
  INFO(right.error.message);
  REQUIRE(right.run() == WARPMAT_OK);
  CHECK(right.told.calls == 1);
  CHECK(contains(right.told.text, "C[9,3] is stored by block (0, 0, 0), warp 0, lane 5"));
  CHECK(right.told.opcode == "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  CHECK(right.told.where.starts_with("line 1"));
  CHECK(right.told.row == 9);
  CHECK(right.told.column == 3);
  std::vector<int> all_k;
  for (int k = 0; k < 16; ++k) all_k.push_back(k);
  CHECK(right.told.depths == all_k);
  CHECK(right.told.a == 4 * 32);
  CHECK(right.told.b == 2 * 32);
  CHECK(right.told.c == 4 * 32);

  right.config.tell_why = nullptr;
  CHECK(right.run() == WARPMAT_BAD_ARGUMENT);
  CHECK(contains(right.error.message, "why and tell_why go together"));
  right.config.size = offsetof(warpmat_launch_config, why);  // a program compiled before
  CHECK(right.run() == WARPMAT_OK);
}

TEST_CASE("C: a launch looks at the products of some blocks", "[c]") {
  Product wrong("0");  // k of B's second half is that of the first
  CHECK(wrong.run() == WARPMAT_MISPAIRED);
  CHECK(contains(wrong.error.message, "the product multiplies A[0,8] by B[0,0]: k 8 meets k 0"));
  const warpmat_block_index block{0, 0, 0}, none{7, 0, 0};
  wrong.config.gemm_blocks = &block;
  wrong.config.gemm_block_count = 1;
  CHECK(wrong.run() == WARPMAT_MISPAIRED);
  wrong.config.gemm_blocks = &none;
  CHECK(wrong.run() == WARPMAT_BAD_ARGUMENT);
  CHECK(contains(wrong.error.message, "7"));
  wrong.config.gemm_blocks = nullptr;
  CHECK(wrong.run() == WARPMAT_BAD_ARGUMENT);
  CHECK(contains(wrong.error.message, "config->gemm_blocks is null"));
  wrong.config.gemm_block_count = 0;
  wrong.config.gemm = "C=A";
  CHECK(wrong.run() == WARPMAT_BAD_ARGUMENT);
  wrong.config.gemm = nullptr;
  CHECK(wrong.run() == WARPMAT_OK);
  wrong.config.gemm = "C=A";
  wrong.config.size = offsetof(warpmat_launch_config, gemm);
  CHECK(wrong.run() == WARPMAT_OK);
}

/// Thread 0 launches 3 blocks with the number 9.
const std::string launching = launching_kernel("setp.eq.u32 %p, %i, 0; mov.u32 %n, 3; mov.u32 %number, 9;");

struct Child {
  int calls = 0;
  warpmat_child_launch launch{};
  std::string entry;
  std::vector<std::uint8_t> parameters;
};

TEST_CASE("C: a kernel's own launches are handed to the caller", "[c]") {
  Launched launched(launching, 64);
  CHECK(launched.run() == WARPMAT_MISUSE);
  CHECK(contains(launched.error.message, "launches another one"));
  Child child;
  launched.config.user = &child;
  launched.config.child = [](void* user, const warpmat_child_launch* made) {
    Child& to = *static_cast<Child*>(user);
    ++to.calls;
    to.launch = *made;
    to.entry = made->entry;
    to.parameters.assign(made->parameters, made->parameters + made->parameter_bytes);
  };
  REQUIRE(launched.run() == WARPMAT_OK);
  REQUIRE(child.calls == 1);
  CHECK(child.launch.size == sizeof child.launch);
  CHECK(child.launch.kind == WARPMAT_CHILD_KERNEL);
  CHECK(child.entry == "child");
  CHECK((child.launch.grid[0] == 3 && child.launch.grid[1] == 1 && child.launch.block[0] == 2 && child.launch.block[2] == 1));
  CHECK(child.launch.shared_bytes == 16);
  CHECK(child.launch.stream == 3);
  std::uint64_t pointer = 0;
  std::uint32_t number = 0;
  REQUIRE(child.parameters.size() >= 12);
  std::memcpy(&pointer, child.parameters.data(), 8);
  std::memcpy(&number, child.parameters.data() + 8, 4);
  CHECK(pointer == launched.address);
  CHECK(number == 9);
}

TEST_CASE("C: a kernel says what it is, and which parameters it has", "[c]") {
  const Launched launched(launching, 64);
  CHECK(warpmat_kernel_entry(launched.kernel) == std::string("k"));
  CHECK(warpmat_kernel_target(launched.kernel) == std::string("sm_90"));
  CHECK(warpmat_kernel_entry(nullptr) == nullptr);
  CHECK(warpmat_kernel_target(nullptr) == nullptr);
  CHECK(warpmat_kernel_parameter_count(launched.kernel) == 1);
  CHECK(warpmat_kernel_parameter_count(nullptr) == 0);
  auto info = sized<warpmat_parameter_info>();
  REQUIRE(warpmat_kernel_parameter(launched.kernel, 0, &info) == WARPMAT_OK);
  CHECK(info.name == std::string("out"));
  CHECK(info.type == std::string("u64"));
  CHECK((info.offset == 0 && info.bytes == 8 && info.alignment == 8 && info.pointer == 1));
  CHECK(warpmat_kernel_parameter(launched.kernel, 1, &info) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_kernel_parameter(launched.kernel, -1, &info) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_kernel_parameter(nullptr, 0, &info) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_kernel_parameter(launched.kernel, 0, nullptr) == WARPMAT_BAD_ARGUMENT);
  info.size = 8;
  CHECK(warpmat_kernel_parameter(launched.kernel, 0, &info) == WARPMAT_BAD_ARGUMENT);
}

}  // namespace
}  // namespace warpmat::launch_results_test
