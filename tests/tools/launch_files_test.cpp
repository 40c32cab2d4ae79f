// Launch descriptions that are written and read again: clusters, and tensor maps of both modes.

#include "tools/report/launch_files.h"

#include "command.h"
#include "test.h"
#include "tools/report/launch_description.h"

namespace warpmat::launch_files_test {
namespace {

KernelLaunch launch_with_maps() {
  const std::string ptx =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .align 64 .b8 m[128], .param .u64 p) { ret; }\n";
  TensorMap::Arguments tile{.type = TensorMap::Type::bf16,
                            .rank = 3,
                            .dims = {40, 9, 5},
                            .strides = {96, 1024},
                            .box = {32, 6, 2},
                            .element_strides = {1, 2, 1, 1, 1},
                            .swizzle = TensorMap::Swizzle::bytes_64,
                            .l2_promotion = TensorMap::L2Promotion::bytes_128,
                            .fill = TensorMap::Fill::nan};
  TensorMap::Arguments image{.type = TensorMap::Type::u8,
                             .rank = 4,
                             .dims = {14, 9, 2, 3},
                             .strides = {256, 4096, 8192},
                             .element_strides = {1, 2, 1, 1, 1},
                             .interleave = TensorMap::Interleave::bytes_16,
                             .mode = TensorMap::Mode::im2col,
                             .lower_corner = {-3, -1},
                             .upper_corner = {1, -2},
                             .channels = 16,
                             .pixels = 77};
  KernelLaunch launch{.ptx = ptx, .entry = "k", .config = {{8, 2, 1}, {64, 1, 1}, 512, {4, 2, 1}}, .buffers = {}, .parameters = {}};
  launch.buffers = {{"a", std::vector<std::uint8_t>(65536, 7)}};
  launch.parameters.push_back({std::vector<std::uint8_t>(128), {}, {{0, tile, 0, 256, false}}});
  launch.parameters.push_back({std::vector<std::uint8_t>(8), {}, {{0, image, 0, 512, true}}});
  return launch;
}

TEST_CASE("a launch that is written and read again is the same", "[tools][launch]") {
  const TemporaryDirectory directory;
  const KernelLaunch launch = launch_with_maps();
  write_launch(directory.path("a.launch.json"), launch);
  const KernelLaunch read = kernel_launch(read_launch(directory.path("a.launch.json")));
  CHECK(read.config.cluster == launch.config.cluster);
  CHECK(read.config.grid == launch.config.grid);
  REQUIRE(read.parameters.size() == launch.parameters.size());
  for (std::size_t i = 0; i < launch.parameters.size(); ++i) {
    CHECK(read.parameters[i].bytes == launch.parameters[i].bytes);
    REQUIRE(read.parameters[i].maps.size() == 1);
    const KernelParameter::Map &left = launch.parameters[i].maps.front(), &right = read.parameters[i].maps.front();
    CHECK(TensorMap(left.map).encode() == TensorMap(right.map).encode());
    CHECK(left.by_pointer == right.by_pointer);
    CHECK(left.offset == right.offset);
    CHECK(left.at == right.at);
  }
}

TEST_CASE("memory with addresses, and what a launch left in it elsewhere, are written and read again", "[tools][launch]") {
  const TemporaryDirectory directory;
  const std::string ptx = R"(
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 factor = 5;
.visible .entry k(.param .u64 at) {
  .reg .u64 %at; .reg .u32 %x, %f;
  ld.param.u64 %at, [at];
  ld.global.u64 %at, [%at];
  ld.global.u32 %x, [%at];
  ld.global.u32 %f, [factor];
  mul.lo.u32 %x, %x, %f;
  st.global.u32 [%at], %x;
  ret;
}
)";
  KernelLaunch launch{.ptx = ptx, .entry = "k", .config = {.grid = {1}, .block = {1}}, .buffers = {}, .parameters = {}};
  launch.buffers = {
      {"a", {0, 0x80, 0, 0, 1, 0, 0, 0}, 0x7000, false}, {"b", {6, 0, 0, 0}, 0x1'0000'8000, false}, {"factor", {7, 0, 0, 0}, 0x9000, true}};
  launch.parameters.push_back({std::vector<std::uint8_t>(8), {{0, 0, 0}}});
  const std::string file = directory.path("a.launch.json");
  write_launch(file, launch, {{1, {42, 0, 0, 0}, "s32"}});
  const Outcome right = run_command({"launch", file});
  CHECK(right.err.find("b is as expected: 1 elements") != std::string::npos);
  CHECK(right.status == 0);
  write_launch(file, launch, {{1, {43, 0, 0, 0}, "s32"}});
  CHECK(run_command({"launch", file}).status == 1);
  const KernelLaunch read = kernel_launch(read_launch(file));
  CHECK(EmulatorKernelRunner(target("sm_80")).run(read).buffers.at(1) == std::vector<std::uint8_t>{42, 0, 0, 0});
  std::string json = read_text(file);
  json.replace(json.find("\"address\": 36864,"), 17, "");
  write_text(file, json);
  CHECK(run_command({"launch", file}).err.find("a variable of the module needs an \"address\"") != std::string::npos);
}

}  // namespace
}  // namespace warpmat::launch_files_test
