// Tensor maps in C.

#include <algorithm>
#include <iterator>
#include <type_traits>

#include <fmt/core.h>

#include <warpmat/c_program/handles.h>
#include <warpmat/machine/tensor_map_bytes.h>

using namespace warpmat;
using namespace warpmat::c;

namespace {

static_assert(TensorMap::bytes == WARPMAT_TENSOR_MAP_BYTES);

/// `number` as an enumerator. Throws std::invalid_argument beyond `last`.
template <typename Enum>
Enum enumerator(int number, Enum last, const char* what) {
  if (number < 0 || number > static_cast<int>(last))
    throw std::invalid_argument(fmt::format("{} is {}: 0 to {}", what, number, static_cast<int>(last)));
  return static_cast<Enum>(number);
}

TensorMap::Arguments arguments_of(const warpmat_tensor_map& given) {
  TensorMap::Arguments map;
  map.mode = given.im2col != 0 ? TensorMap::Mode::im2col : TensorMap::Mode::tile;
  map.type = enumerator(given.type, TensorMap::Type::u6x16_p32, "type");
  map.rank = given.rank;
  map.address = given.address;
  std::ranges::copy(given.dims, map.dims.begin());
  std::ranges::copy(given.strides, map.strides.begin());
  std::ranges::copy(given.box, map.box.begin());
  std::ranges::transform(given.element_strides, map.element_strides.begin(), [](std::uint32_t stride) { return std::max(stride, 1u); });
  map.interleave = enumerator(given.interleave, TensorMap::Interleave::bytes_32, "interleave");
  map.set_swizzle(enumerator(given.swizzle, TensorMap::swizzle_numbers - 1, "swizzle"));
  map.l2_promotion = enumerator(given.l2_promotion, TensorMap::L2Promotion::bytes_256, "l2_promotion");
  map.fill = enumerator(given.fill, TensorMap::Fill::nan, "fill");
  std::ranges::copy(given.lower_corner, map.lower_corner.begin());
  std::ranges::copy(given.upper_corner, map.upper_corner.begin());
  map.channels = given.channels;
  map.pixels = given.pixels;
  return map;
}

warpmat_tensor_map in_c(const TensorMap::Arguments& map) {
  warpmat_tensor_map out{};
  out.im2col = map.mode == TensorMap::Mode::im2col;
  out.type = static_cast<int>(map.type);
  out.rank = map.rank;
  out.address = map.address;
  std::copy_n(map.dims.begin(), map.rank, std::begin(out.dims));  // those beyond hold no number
  std::ranges::copy(map.strides, std::begin(out.strides));
  std::ranges::copy(map.box, std::begin(out.box));
  std::ranges::copy(map.element_strides, std::begin(out.element_strides));
  out.interleave = static_cast<int>(map.interleave);
  out.swizzle = map.swizzle_number();
  out.l2_promotion = static_cast<int>(map.l2_promotion);
  out.fill = static_cast<int>(map.fill);
  std::ranges::copy(map.lower_corner, std::begin(out.lower_corner));
  std::ranges::copy(map.upper_corner, std::begin(out.upper_corner));
  out.channels = map.channels;
  out.pixels = map.pixels;
  return out;
}

}  // namespace

warpmat_status warpmat_tensor_map_encode(const warpmat_tensor_map* map, uint8_t bytes[WARPMAT_TENSOR_MAP_BYTES], warpmat_error* error) {
  if (map == nullptr || bytes == nullptr) return report(error, WARPMAT_BAD_ARGUMENT, map == nullptr ? "the map is null" : "bytes is null");
  if (!WARPMAT_HAS_SIZE(map, pixels)) return report(error, WARPMAT_BAD_ARGUMENT, "map->size is not that of a warpmat_tensor_map");
  return done(error, [&] { std::ranges::copy(TensorMap(arguments_of(*map)).encode(), bytes); });
}

warpmat_status warpmat_tensor_map_decode(const uint8_t bytes[WARPMAT_TENSOR_MAP_BYTES], warpmat_tensor_map* map, warpmat_error* error) {
  if (map == nullptr || bytes == nullptr) return report(error, WARPMAT_BAD_ARGUMENT, map == nullptr ? "the map is null" : "bytes is null");
  if (!WARPMAT_HAS_SIZE(map, pixels)) return report(error, WARPMAT_BAD_ARGUMENT, "map->size is not that of a warpmat_tensor_map");
  try {
    const std::optional<TensorMap::Arguments> found = tensor_map_arguments({bytes, TensorMap::bytes});
    if (!found)
      return report(error, WARPMAT_BAD_ARGUMENT,
                    "the 128 bytes are no tensor map of warpmat; a GPU's are others: warpmat_tensor_map_encode");
    copy_out(in_c(*found), map);
    return WARPMAT_OK;
  } catch (...) {
    return report_exception(error);
  }
}

warpmat_status warpmat_tensor_map_box(const warpmat_tensor_map* map, warpmat_tensor_box* box, warpmat_error* error) {
  return done(error, [&] {
    WARPMAT_NEED_SIZE(map, pixels, "the map");
    WARPMAT_NEED_SIZE(box, shared_bytes, "box");
    const TensorMap made(arguments_of(*map));
    copy_out(warpmat_tensor_box{box->size, made.rows(), made.row_bytes(), made.box_bytes(), made.row_pitch(), made.shared_bytes()}, box);
  });
}
