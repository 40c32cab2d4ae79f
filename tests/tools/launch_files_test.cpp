// Launch descriptions that are written and read again: clusters, and tensor maps of both modes.

#include "tools/report/launch_files.h"

#include <string>

#include "catch.h"
#include "command.h"
#include "tools/report/launch_description.h"

namespace warpmat::launch_files_test {
namespace {

KernelLaunch launch_with_maps() {
  const std::string ptx =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .align 64 .b8 m[128], .param .u64 p) { ret; }\n";
  TensorMap tile{.type = TensorMap::Type::bf16,
                 .rank = 3,
                 .dims = {40, 9, 5},
                 .strides = {96, 1024},
                 .box = {32, 6, 2},
                 .element_strides = {1, 2, 1, 1, 1},
                 .swizzle = TensorMap::Swizzle::bytes_64,
                 .l2_promotion = TensorMap::L2Promotion::bytes_128,
                 .fill = TensorMap::Fill::nan};
  TensorMap image{.type = TensorMap::Type::u8,
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

}  // namespace

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
    CHECK(left.map.encode() == right.map.encode());
    CHECK(left.by_pointer == right.by_pointer);
    CHECK(left.offset == right.offset);
    CHECK(left.at == right.at);
  }
}

}  // namespace warpmat::launch_files_test
