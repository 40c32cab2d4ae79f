#include "gpu/runners/kernel.h"

#include <warpmat/launch.h>

#include "gpu/runners/emulator_runner.h"
#include "lists/random_program.h"
#include "test.h"

namespace warpmat::kernel_test {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool has_line(const WrappedProgram& kernel, const std::string& line) {
  return std::ranges::count(lines_of(kernel.text), line) == 1;
}

TEST_CASE("a kernel declares the program's registers and keeps its statements", "[gpu]") {
  const Program program = parse(
      ".reg .f32 %d<4>; .reg .b32 %a<4>, %b<2>;\n"
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%d0, %d1, %d2, %d3};",
      "sm_90a");
  const WrappedProgram kernel = make_kernel(program, {8, 0});
  CHECK(kernel.text.starts_with(".version 8.0\n.target sm_90a\n"));
  CHECK(has_line(kernel, ".reg .f32 %d3;"));
  CHECK(has_line(kernel, print(program, program.statements().front())));
  CHECK(kernel.text.find(".entry " + kernel.name + "(") != std::string::npos);
}

TEST_CASE("shared variables become places in one array", "[gpu]") {
  const Program program = parse(
      ".shared .b8 x; .shared .align 16 .b32 tile[64]; .reg .b32 r;\n"
      "mov.u32 r, tile; mov.u32 r, tile+8; ld.shared.b32 r, [tile+-4]; st.shared.b8 [x], r;",
      "sm_80");
  const WrappedProgram kernel = make_kernel(program, {7, 0});
  CHECK(has_line(kernel, ".extern .shared .align 1024 .b8 warpmat_memory[];"));
  CHECK(has_line(kernel, "mov.u32 r, warpmat_memory+16;"));
  CHECK(has_line(kernel, "mov.u32 r, warpmat_memory+24;"));
  CHECK(has_line(kernel, "ld.shared.b32 r, [warpmat_memory+12];"));
  CHECK(has_line(kernel, "st.shared.b8 [warpmat_memory], r;"));
  CHECK(kernel.text.find("tile") == std::string::npos);
}

TEST_CASE("the wrapper's names are none of the program's", "[gpu]") {
  const Program program = parse(".reg .b32 warpmat_at, warpmat__lane, d; mov.b32 d, warpmat_at; mov.b32 d, warpmat__lane;", "sm_80");
  const WrappedProgram kernel = make_kernel(program, {7, 0});
  CHECK(kernel.name == "warpmat___program");
  CHECK(kernel.text.find(".reg .b64 warpmat___at,") != std::string::npos);
}

TEST_CASE("random programs keep their statements", "[gpu]") {
  std::mt19937 random(5);
  for (int i = 0; i < 50; ++i) {
    const Program program = parse(random_program(random, 20, true));
    const WrappedProgram kernel = make_kernel(program, newest_ptx);
    for (const Statement& statement : program.statements()) {
      if (statement.matrix() != nullptr && moves_matrix(statement.matrix()->form())) continue;  // their addresses are converted
      const auto is_variable = [](const Item& item) { return item.kind == Item::Kind::variable; };
      if (std::ranges::any_of(statement.operands(), [&](const OperandText& o) { return std::ranges::any_of(o.items, is_variable); }))
        continue;
      const std::vector<std::string> lines = lines_of(kernel.text);
      CHECK(std::ranges::find(lines, print(program, statement)) != lines.end());
    }
  }
}

TEST_CASE("launch executes the kernel around a program as the runner executes the program", "[gpu]") {
  const Program program = parse(R"(
      .shared .align 16 .b8 tile[512]; .reg .b32 lane, at, %a<4>, %b<2>; .reg .f32 %d<4>;
      mov.u32 lane, %laneid;
      mov.u32 at, tile;
      mad.lo.u32 at, lane, 16, at;
      st.shared.v4.b32 [at], {%a0, %a1, %a2, %a3};
      bar.warp.sync -1;
      ld.shared.u16 %b1, [at+2];
      ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0, %a1, %a2, %a3}, [at];
      mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%d0, %d1, %d2, %d3};)",
                                "sm_90");
  constexpr std::size_t warps = 3;
  WarpStates states(program, warps, 512);
  std::mt19937 random(11);
  for (Register& r : states.registers)
    for (std::uint32_t& word : r) word = static_cast<std::uint32_t>(random());
  const WrappedProgram kernel = make_kernel(program, newest_ptx);
  DeviceMemory memory;
  const std::uint64_t registers = memory.allocate(states.registers, "registers"), shared = memory.allocate(states.shared, "shared"),
                      base = memory.allocate(4, "base");
  const auto shared_bytes = static_cast<std::uint32_t>(states.shared_bytes);
  launch(Kernel(Module(kernel.text), kernel.name), {.grid = {warps}, .block = {32}, .shared_bytes = shared_bytes}, memory,
         {registers, shared, shared_bytes, base});
  const std::uint32_t shared_base = memory.read<std::uint32_t>(base, 1)[0];
  EmulatorRunner(shared_base).run(program, states);
  CHECK(memory.read<Register>(registers, states.registers.size()) == states.registers);
  CHECK(memory.read<std::uint8_t>(shared, states.shared.size()) == states.shared);
}

TEST_CASE("the required version is that of the newest thing in the program", "[gpu]") {
  CHECK(required_version(parse("mov.b32 a, b;", "sm_80")) == PtxVersion{7, 0});
  CHECK(required_version(parse("mov.b32 a, b;", "sm_90a")) == PtxVersion{8, 0});
  CHECK(required_version(parse("movmatrix.sync.aligned.m8n8.trans.b16 d, a;", "sm_75")) == PtxVersion{7, 8});
}

TEST_CASE("an assembler's log is shown with the line that it names", "[gpu]") {
  const std::string text = ".version 8.0\nfirst;\nsecond {a};\n";
  CHECK(explain_log(text, "ptxas application ptx input, line 3; error   : Feature '.x' not supported\nptxas fatal   : aborted") ==
        "'second {a};': error   : Feature '.x' not supported");
  CHECK(explain_log(text, "ptxas fatal : everything is wrong") == "ptxas fatal : everything is wrong");
}

}  // namespace
}  // namespace warpmat::kernel_test
