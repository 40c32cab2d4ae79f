// ldmatrix of a kernel, by each instruction set and by the reference.

#include <warpmat/execute/fast/instruction_sets.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::row_loads_test {
namespace {

constexpr std::uint32_t shared_bytes = 8192, rows = 64;
using Words = std::vector<std::uint32_t>;

struct BestAgain {
  ~BestAgain() { use_best_instruction_set(); }
};

/// A warp fills shared memory with `bytes`, loads by the addresses that its lanes read from `in`, and stores four registers.
Module kernel_of(const std::string& loads) {
  return module_of(".param .u64 in, .param .u64 out", R"(
    .shared .align 16 .b8 tile[8192];
    .reg .b32 %x<8>, %lane, %tile, %at; .reg .b64 %in, %out, %off, %wide; .reg .pred %p;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
    mov.u32 %lane, %tid.x; mov.u32 %tile, tile;
    mov.b32 %x0, 7; mov.b32 %x1, 8; mov.b32 %x2, 9; mov.b32 %x3, 10;
    mul.wide.u32 %off, %lane, 4;
    mov.u32 %at, %lane;
    FILL: shl.b32 %x4, %at, 2; add.u32 %x4, %x4, %tile; mul.lo.u32 %x5, %at, 0x9e3779b1; st.shared.u32 [%x4], %x5;
    add.u32 %at, %at, 32; setp.lt.u32 %p, %at, 2048; @%p bra FILL;
    bar.warp.sync -1;
    add.s64 %in, %in, %off; ld.global.u32 %x4, [%in]; add.u32 %x4, %x4, %tile;
    cvt.u64.u32 %wide, %x4;
)" + loads + R"(
    add.s64 %out, %out, %off;
    st.global.u32 [%out], %x0; st.global.u32 [%out+128], %x1; st.global.u32 [%out+256], %x2; st.global.u32 [%out+384], %x3;
    ret;
)");
}

Words run(const Module& module, const Words& in, Path path) {
  DeviceMemory memory;
  const std::uint64_t from = memory.allocate(in, "in"), to = memory.allocate(512, "out");
  LaunchOptions options;
  options.execution.path = path;
  launch(Kernel(module, "k"), {{1}, {32}, 0}, memory, {from, to}, options);
  return memory.read<std::uint32_t>(to, 128);
}

const char* const loads[] = {
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%x0, %x1, %x2, %x3}, [%x4];",
    "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%x3, %x2, %x1, %x0}, [%wide+32];",
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%x2, %x1}, [%wide];",
    "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%x0, %x1}, [%x4+16];",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%x3}, [%x4+48];",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%x0, %x1, %x0, %x2}, [%x4];",  // a register twice: the later matrix stays
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%x4, %x1, %x2, %x3}, [%x4]; mov.b32 %x0, %x4;",
};

TEST_CASE("ldmatrix of a kernel has the bits of the reference by each instruction set", "[machine][launch]") {
  std::mt19937 random(5);
  const BestAgain best_again;
  for (const char* const load : loads) {
    CAPTURE(load);
    const Module module = kernel_of(load);
    for (int round = 0; round < 4; ++round) {
      Words in(32);
      for (std::size_t lane = 0; lane < 32; ++lane)
        in[lane] = round == 0 ? static_cast<std::uint32_t>(16 * lane) : 16 * static_cast<std::uint32_t>(random() % rows);
      const Words expected = run(module, in, Path::reference);
      CHECK(expected != Words(128));
      for (const std::string_view set : instruction_sets()) {
        use_instruction_set(set);
        CAPTURE(set, round);
        CHECK(run(module, in, Path::fast) == expected);
      }
    }
  }
}

TEST_CASE("A wrong address of an ldmatrix traps alike on both paths, and only where its lane has a row", "[machine][launch]") {
  for (const std::uint32_t wrong : {8u, shared_bytes, shared_bytes - 8, 0u - 4096u})
    for (const char* const load : {loads[0], loads[2]}) {
      const Module module = kernel_of(load);
      const std::string opcode = load;
      for (const std::size_t lane : {std::size_t{0}, std::size_t{9}, std::size_t{31}}) {
        CAPTURE(opcode, wrong, lane);
        Words in(32);
        for (std::size_t i = 0; i < 32; ++i) in[i] = static_cast<std::uint32_t>(16 * i);
        in[lane] = wrong;
        const std::string fast = message_of([&] { run(module, in, Path::fast); });
        CHECK(fast == message_of([&] { run(module, in, Path::reference); }));
        CHECK((fast != "nothing") == (opcode.find(".x4") != std::string::npos || lane < 16));
      }
    }
}

TEST_CASE("An ldmatrix that reads one uninitialised row of an initialised tile marks its matrix alone", "[machine][checks]") {
  const auto reads = [](int matrix) {
    return word_kernel(fmt::format(R"(
    .shared .align 16 .b8 tile[2048];
    mov.u32 %r9, tile; shl.b32 %r0, %i, 4; add.u32 %r0, %r0, %r9; mov.u32 %r1, 0;
    setp.ne.u32 %p0, %i, 19;  // a row of the third matrix
    @%p0 st.shared.v4.u32 [%r0], {{%r1, %r1, %r1, %r1}};
    bar.warp.sync -1;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r2, %r3, %r4, %r5}}, [%r0];
    mov.b32 %d, %r{};)",
                                   2 + matrix));
  };
  for (const int matrix : {0, 1, 2, 3}) {
    const std::string message = message_of([&] { words_of(reads(matrix), {1}, {32}); });
    CAPTURE(matrix);
    CHECK((message.find("uninitialised") != std::string::npos) == (matrix == 2));
  }
}

}  // namespace
}  // namespace warpmat::row_loads_test
