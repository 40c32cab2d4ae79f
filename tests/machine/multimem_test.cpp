
#include <warpmat/machine/stored_buffer.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::multimem_test {
namespace {

constexpr std::uint64_t object = 0x4800'0000'0000;

/// The memory of three GPUs, 64 bytes each, which lies at the addresses of a multicast object, and a result of each.
struct Memory {
  DeviceMemory memory;
  std::uint64_t gpus[3], result;

  explicit Memory(const std::vector<std::uint32_t>& values) {
    std::vector<std::uint8_t*> copies;
    for (std::size_t i = 0; i < 3; ++i) {
      gpus[i] = memory.allocate(std::vector<std::uint32_t>(16, values[i]));
      copies.push_back(memory.bytes(gpus[i], 64).data());
    }
    result = memory.allocate(64, "result");
    add_multicast(memory, object, 64, "the object", std::move(copies));
  }

  void run(const std::string& statement) {
    const Module module = module_of(".param .u64 a, .param .u64 r",
                                    ".reg .b64 %l<3>; .reg .b32 %r<9>; .reg .f32 %f<3>; .reg .f64 %d<3>; .reg .b16 %h<9>;\n"
                                    "ld.param.u64 %l1, [a]; ld.param.u64 %l2, [r]; mov.u32 %r1, 5;\n" +
                                        statement + "\nret;");
    launch(Kernel(module, "k"), {{1}, {1}}, memory, {object, result});
  }
  std::uint32_t first(std::uint64_t address) const { return memory.read<std::uint32_t>(address, 1)[0]; }
};

/// What a load of the object gives whose first word on each GPU is a value.
std::uint32_t loaded(const std::string& operation, const std::vector<std::uint32_t>& values) {
  Memory memory(values);
  memory.run("multimem.ld_reduce.relaxed.sys.global." + operation + " %r2, [%l1]; st.global.b32 [%l2], %r2;");
  return memory.first(memory.result);
}

std::uint32_t bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

TEST_CASE("multimem.ld_reduce combines the numbers of all GPUs", "[machine][multimem]") {
  CHECK(loaded("add.u32", {7, 0xffffffff, 2}) == 8);
  CHECK(loaded("min.s32", {7, 0xffffffff, 2}) == 0xffffffff);
  CHECK(loaded("min.u32", {7, 0xffffffff, 2}) == 2);
  CHECK(loaded("max.s32", {7, 0xffffffff, 2}) == 7);
  CHECK(loaded("and.b32", {7, 6, 12}) == 4);
  CHECK(loaded("or.b32", {1, 6, 8}) == 15);
  CHECK(loaded("xor.b32", {1, 3, 8}) == 10);
  CHECK(loaded("add.f32", {bits(1.5F), bits(0.25F), bits(-4)}) == bits(-2.25F));
  CHECK(loaded("min.f16x2", {0x3c004000, 0x38004400, 0x3c003800}) == 0x38003800);   // 1, 0.5, 1 and 2, 4, 0.5
  CHECK(loaded("add.bf16x2", {0x3f803f80, 0x40004000, 0x3f003f80}) == 0x40604080);  // 1 + 2 + 0.5 and 1 + 2 + 1
}

TEST_CASE("multimem.ld_reduce rounds halves once with .acc::f32, and else each sum", "[machine][multimem]") {
  const std::vector<std::uint32_t> halves(std::vector<std::uint32_t>{0x68006800, 0x3c003c00, 0x3c003c00});  // 2048 + 1 + 1
  CHECK(loaded("add.f16x2", halves) == 0x68006800);
  CHECK(loaded("add.acc::f32.f16x2", halves) == 0x68016801);
  CHECK(loaded("add.acc::f32.bf16x2", {0x43804380, 0x3f803f80, 0x3f803f80}) == 0x43814381);  // 256 + 1 + 1
}

TEST_CASE("multimem.st and multimem.red write to all GPUs", "[machine][multimem]") {
  Memory memory({1, 10, 100});
  memory.run("multimem.red.relaxed.sys.global.add.u32 [%l1], %r1; multimem.st.relaxed.sys.global.u32 [%l1+4], %r1;");
  CHECK(memory.memory.read<std::uint32_t>(memory.gpus[0], 3) == std::vector<std::uint32_t>{6, 5, 1});
  CHECK(memory.memory.read<std::uint32_t>(memory.gpus[1], 3) == std::vector<std::uint32_t>{15, 5, 10});
  CHECK(memory.memory.read<std::uint32_t>(memory.gpus[2], 3) == std::vector<std::uint32_t>{105, 5, 100});
  Memory floats({bits(1), bits(2), bits(3)});
  floats.run(
      "mov.f32 %f1, 0f40000000; mov.f32 %f2, 0f40400000;\n"
      "multimem.red.relaxed.sys.global.add.v2.f32 [%l1], {%f1, %f2}; mov.b32 %r2, 0x3c003c00;\n"
      "multimem.st.weak.global.v2.f16x2 [%l1+8], {%r2, %r1};");
  CHECK(floats.memory.read<std::uint32_t>(floats.gpus[2], 4) == std::vector<std::uint32_t>{bits(5), bits(6), 0x3c003c00, 5});
  Memory halves({0x40003c00, 0, 0});
  halves.run("mov.b16 %h1, 0x3c00; multimem.red.relaxed.sys.global.max.v2.f16 [%l1], {%h1, %h1};");
  CHECK(halves.first(halves.gpus[0]) == 0x40003c00);
  CHECK(halves.first(halves.gpus[1]) == 0x3c003c00);
}

TEST_CASE("multimem traps beside multicast objects, and other statements trap on their addresses", "[machine][multimem]") {
  Memory memory({1, 2, 3});
  const auto message = [&](const std::string& statement) { return message_of([&] { memory.run(statement); }); };
  CHECK_THAT(message("multimem.red.relaxed.sys.global.add.u32 [%l2], %r1;"),
             ContainsSubstring("multimem of 4 bytes: the address is no multicast object's"));
  CHECK_THAT(message("multimem.red.relaxed.sys.global.add.u32 [%l1+2], %r1;"), ContainsSubstring("the address is not a multiple of 4"));
  CHECK_THAT(message("multimem.red.relaxed.sys.global.add.u32 [%l1+64], %r1;"), ContainsSubstring("no multicast object's"));
  CHECK_THAT(message("ld.global.u32 %r2, [%l1];"),
             ContainsSubstring("load of 4 bytes from global memory of a multicast object, which multimem statements alone access"));
  CHECK_THAT(message("st.global.u32 [%l1], %r1;"), ContainsSubstring("of a multicast object"));
  CHECK_THAT(message("atom.global.add.u32 %r2, [%l1], %r1;"), ContainsSubstring("of a multicast object"));
  add_multicast(memory.memory, object + 4096, 62, "another", {memory.memory.bytes(memory.gpus[0], 64).data()});
  CHECK_THAT(message("multimem.red.relaxed.sys.global.add.u32 [%l1+4156], %r1;"),
             ContainsSubstring("across the end of the multicast object"));
  CHECK(memory.first(memory.gpus[0]) == 1);
}

}  // namespace
}  // namespace warpmat::multimem_test
