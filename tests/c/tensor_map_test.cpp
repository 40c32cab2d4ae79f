// Tensor maps and clusters in C.

#include <warpmat/c_program.h>

#include <warpmat/launch.h>

#include "c/launched.h"
#include "machine/kernel.h"
#include "test.h"

namespace warpmat::tensor_map_test {
namespace {

warpmat_tensor_map matrix_map(std::uint64_t address) {
  auto map = sized<warpmat_tensor_map>();
  map.type = 7;  // f32
  map.rank = 2;
  map.address = address;
  map.dims[0] = 100;
  map.dims[1] = 40;
  map.strides[0] = 400;
  map.box[0] = 8;
  map.box[1] = 16;
  map.swizzle = 1;
  map.l2_promotion = 2;
  map.fill = 1;
  return map;
}

bool same(const warpmat_tensor_map& a, const warpmat_tensor_map& b) {
  return a.im2col == b.im2col && a.type == b.type && a.rank == b.rank && a.address == b.address && std::ranges::equal(a.dims, b.dims) &&
         std::ranges::equal(a.strides, b.strides) && std::ranges::equal(a.box, b.box) && a.interleave == b.interleave &&
         a.swizzle == b.swizzle && a.l2_promotion == b.l2_promotion && a.fill == b.fill &&
         std::ranges::equal(a.lower_corner, b.lower_corner) && std::ranges::equal(a.upper_corner, b.upper_corner) &&
         a.channels == b.channels && a.pixels == b.pixels;
}

std::string refusal(const warpmat_tensor_map& map) {
  auto error = sized<warpmat_error>();
  std::uint8_t bytes[WARPMAT_TENSOR_MAP_BYTES];
  CHECK(warpmat_tensor_map_encode(&map, bytes, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(error.status == WARPMAT_BAD_ARGUMENT);
  return error.message;
}

/// The words that a kernel wrote for each of 8 blocks in clusters of `x`: %cluster_nctaid.x; the error's message if the launch fails.
std::vector<std::uint32_t> cluster_sizes(std::uint32_t x, std::string& message) {
  Launched launched(word_kernel_text("mov.u32 %d, %cluster_nctaid.x;", "sm_90"), 32);
  launched.config.grid[0] = 8;
  launched.config.block[0] = 1;
  launched.config.cluster[0] = x;
  if (x == 77) launched.config.size = offsetof(warpmat_launch_config, cluster);  // an older host's
  message = launched.run() == WARPMAT_OK ? "" : launched.error.message;
  std::vector<std::uint32_t> words;
  for (std::size_t block = 0; block < 8; ++block) words.push_back(launched.word(block));
  return words;
}

TEST_CASE("C: a tensor map is encoded as the C++ interface does, and decoded again", "[c][tensor]") {
  const warpmat_tensor_map given = matrix_map(0x7f0000001000);
  std::uint8_t bytes[WARPMAT_TENSOR_MAP_BYTES];
  auto error = sized<warpmat_error>();
  const warpmat_status status = warpmat_tensor_map_encode(&given, bytes, &error);
  INFO(error.message);
  REQUIRE(status == WARPMAT_OK);
  TensorMap::Arguments map;
  map.type = TensorMap::Type::f32;
  map.rank = 2;
  map.address = 0x7f0000001000;
  map.dims = {100, 40};
  map.strides = {400};
  map.box = {8, 16};
  map.swizzle = Swizzle::bytes_32;
  map.l2_promotion = TensorMap::L2Promotion::bytes_128;
  map.fill = TensorMap::Fill::nan;
  CHECK(std::ranges::equal(TensorMap(map).encode(), bytes));
  auto back = sized<warpmat_tensor_map>();
  REQUIRE(warpmat_tensor_map_decode(bytes, &back, &error) == WARPMAT_OK);
  CHECK(same(given, back));
  CHECK(back.element_strides[0] == 1);

  auto image = sized<warpmat_tensor_map>();
  image.im2col = 1;
  image.type = 6;
  image.rank = 4;
  image.address = 0x7f0000002000;
  for (int i = 0; i < 4; ++i) image.dims[i] = i == 0 ? 64 : 16;
  image.strides[0] = 128;
  image.strides[1] = 128 * 16;
  image.strides[2] = 128 * 16 * 16;
  image.lower_corner[0] = image.lower_corner[1] = -1;
  image.upper_corner[0] = image.upper_corner[1] = -1;
  image.channels = 32;
  image.pixels = 24;
  REQUIRE(warpmat_tensor_map_encode(&image, bytes, &error) == WARPMAT_OK);
  REQUIRE(warpmat_tensor_map_decode(bytes, &back, &error) == WARPMAT_OK);
  CHECK(same(image, back));
}

TEST_CASE("C: what the driver refuses of a tensor map is refused with its rule", "[c][tensor]") {
  auto map = matrix_map(0x7f0000001001);
  CHECK(refusal(map).find("16") != std::string::npos);
  map = matrix_map(0x7f0000001000);
  map.type = 16;
  CHECK(refusal(map) == "type is 16: 0 to 15");
  map.type = 7;
  map.swizzle = -1;
  CHECK(refusal(map) == "swizzle is -1: 0 to 6");
  map.swizzle = 0;
  map.rank = 6;
  CHECK(!refusal(map).empty());
  map.size = 12;
  CHECK(refusal(map) == "map->size is not that of a warpmat_tensor_map");
  std::uint8_t bytes[WARPMAT_TENSOR_MAP_BYTES] = {1, 2, 3};
  auto error = sized<warpmat_error>();
  CHECK(warpmat_tensor_map_encode(nullptr, bytes, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_tensor_map_encode(&map, nullptr, &error) == WARPMAT_BAD_ARGUMENT);
  map = matrix_map(0);
  CHECK(warpmat_tensor_map_decode(bytes, &map, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(std::string(error.message).find("no tensor map of warpmat") != std::string::npos);
  CHECK(warpmat_tensor_map_decode(nullptr, &map, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_tensor_map_decode(bytes, nullptr, &error) == WARPMAT_BAD_ARGUMENT);
}

TEST_CASE("C: what a tensor map's box moves and occupies", "[c][tensor]") {
  auto map = matrix_map(0x7f0000001000);  // 16 rows of 8 f32
  auto box = sized<warpmat_tensor_box>();
  auto error = sized<warpmat_error>();
  REQUIRE(warpmat_tensor_map_box(&map, &box, &error) == WARPMAT_OK);
  CHECK((box.rows == 16 && box.row_bytes == 32 && box.bytes == 512 && box.row_pitch == 32 && box.shared_bytes == 512));
  map.swizzle = 3;  // rows begin at multiples of its span
  REQUIRE(warpmat_tensor_map_box(&map, &box, &error) == WARPMAT_OK);
  CHECK((box.rows == 16 && box.row_bytes == 32 && box.bytes == 512 && box.row_pitch == 128 && box.shared_bytes == 2048));
  CHECK(warpmat_tensor_map_box(nullptr, &box, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_tensor_map_box(&map, nullptr, &error) == WARPMAT_BAD_ARGUMENT);
  box.size = 8;
  CHECK(warpmat_tensor_map_box(&map, &box, &error) == WARPMAT_BAD_ARGUMENT);
  box = sized<warpmat_tensor_box>();
  map.rank = 6;
  CHECK(warpmat_tensor_map_box(&map, &box, &error) == WARPMAT_BAD_ARGUMENT);
}

TEST_CASE("C: a launch has clusters", "[c]") {
  std::string message;
  CHECK(cluster_sizes(0, message) == std::vector<std::uint32_t>(8, 1));
  CHECK(cluster_sizes(2, message) == std::vector<std::uint32_t>(8, 2));
  CHECK(cluster_sizes(8, message) == std::vector<std::uint32_t>(8, 8));
  CHECK(message.empty());
  CHECK(cluster_sizes(77, message) == std::vector<std::uint32_t>(8, 1));
  CHECK(message.empty());
  cluster_sizes(3, message);
  CHECK(message.find("cluster") != std::string::npos);
}

}  // namespace
}  // namespace warpmat::tensor_map_test
