#include <warpmat/machine/tensor_map.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

namespace warpmat {
namespace {

struct TypeRow {
  std::string_view name;
  std::uint32_t bytes;
  bool floating;
};

/// In the order of TensorMap::Type.
constexpr std::array types{TypeRow{"u8", 1, false},     TypeRow{"u16", 2, false}, TypeRow{"u32", 4, false},    TypeRow{"s32", 4, false},
                           TypeRow{"u64", 8, false},    TypeRow{"s64", 8, false}, TypeRow{"f16", 2, true},     TypeRow{"f32", 4, true},
                           TypeRow{"f64", 8, true},     TypeRow{"bf16", 2, true}, TypeRow{"f32_ftz", 4, true}, TypeRow{"tf32", 4, true},
                           TypeRow{"tf32_ftz", 4, true}};

const TypeRow& row(TensorMap::Type type) {
  return types[static_cast<std::size_t>(type)];
}

/// The driver of CUDA 13.0 took boxes of up to 458,752 bytes and refused those from 540,672 bytes on; that the limit lies here is assumed.
constexpr std::uint64_t most_shared_bytes = std::uint64_t{1} << 19;

constexpr std::uint32_t mark = 0x70616d74;  // "tmap"

/// What 128 bytes hold, in this order.
struct Layout {
  std::uint32_t mark;
  std::uint8_t type, rank, interleave, swizzle, l2_promotion, fill;
  std::uint8_t unused[2];
  std::uint64_t address;
  std::uint64_t strides[4];
  std::uint32_t last_of_dims[5];  ///< a dimension has up to 2^32 elements, as the device's tensormap.replace cannot say
  std::uint16_t box[5];
  std::uint8_t element_strides[5];
};
static_assert(sizeof(Layout) <= TensorMap::bytes);

/// Bytes of the span that a swizzle permutes; 0 without one.
std::uint64_t span_of(TensorMap::Swizzle swizzle) {
  return swizzle == TensorMap::Swizzle::none ? 0 : std::uint64_t{16} << static_cast<int>(swizzle);
}

std::optional<std::string> problem_of_dimension(const TensorMap& map, std::size_t i) {
  constexpr std::uint64_t most_elements = std::uint64_t{1} << 32, most_stride = std::uint64_t{1} << 40;
  if (map.dims[i] == 0 || map.dims[i] > most_elements)
    return fmt::format("dimension {} has {} elements: there are from 1 to 2^32", i, map.dims[i]);
  if (map.box[i] == 0 || map.box[i] > 256)
    return fmt::format("the box has {} elements in dimension {}: there are from 1 to 256", map.box[i], i);
  if (map.element_strides[i] == 0 || map.element_strides[i] > 8)
    return fmt::format("element stride {} of dimension {}: it is from 1 to 8", map.element_strides[i], i);
  if (i == 0) return std::nullopt;
  const std::uint64_t unit = map.interleave == TensorMap::Interleave::bytes_32 ? 32 : 16, stride = map.strides[i - 1];
  if (stride % unit != 0 || stride >= most_stride)
    return fmt::format("stride {} of dimension {}: it is a multiple of {} below 2^40", stride, i, unit);
  return std::nullopt;
}

std::optional<std::string> problem_of_box(const TensorMap& map) {
  const std::uint64_t inner = map.box[0] * map.element_bytes(), span = span_of(map.swizzle);
  if (map.interleave != TensorMap::Interleave::none) return std::nullopt;
  if (inner % 16 != 0) return fmt::format("the box has {} bytes in dimension 0: they are a multiple of 16", inner);
  if (span != 0 && inner > span)
    return fmt::format("the box has {} bytes in dimension 0: with swizzle {}B it has at most {}", inner, span, span);
  return std::nullopt;
}

}  // namespace

std::uint64_t TensorMap::element_bytes() const {
  return row(type).bytes;
}

std::uint32_t TensorMap::extent(std::size_t i) const {
  return i == 0 ? box[0] : (box[i] + element_strides[i] - 1) / element_strides[i];
}

std::uint64_t TensorMap::row_pitch() const {
  return swizzle == Swizzle::none || interleave != Interleave::none ? box[0] * element_bytes() : span_of(swizzle);
}

std::uint64_t TensorMap::shared_bytes() const {
  return (box_bytes() / (box[0] * element_bytes()) - 1) * row_pitch() + box[0] * element_bytes();
}

std::uint64_t TensorMap::box_bytes() const {
  std::uint64_t bytes_in_box = element_bytes();
  for (std::size_t i = 0; i < rank; ++i) bytes_in_box *= extent(i);
  return bytes_in_box;
}

std::optional<std::string> TensorMap::problem() const {
  if (rank == 0 || rank > most_dimensions) return fmt::format("a tensor has from 1 to 5 dimensions, not {}", rank);
  if (interleave != Interleave::none && rank < 3) return fmt::format("an interleaved tensor has at least 3 dimensions, not {}", rank);
  const std::uint64_t unit = interleave == Interleave::bytes_32 ? 32 : 16;
  if (address % unit != 0) return fmt::format("the tensor's address {:#x} is not a multiple of {}", address, unit);
  for (std::size_t i = 0; i < rank; ++i)
    if (auto found = problem_of_dimension(*this, i)) return found;
  if (auto found = problem_of_box(*this)) return found;
  if (shared_bytes() > most_shared_bytes)
    return fmt::format("the box takes {} bytes of shared memory: the driver takes maps of at most {}", shared_bytes(), most_shared_bytes);
  if (fill == Fill::nan && !row(type).floating) return fmt::format("only floating-point elements are filled with NaN, not {}", name(type));
  return std::nullopt;
}

TensorMap::Encoded TensorMap::encode() const {
  if (const auto found = problem()) throw std::invalid_argument("tensor map: " + *found);
  return encode_unchecked();
}

TensorMap::Encoded TensorMap::encode_unchecked() const {
  Layout layout{};
  layout.mark = mark;
  layout.type = static_cast<std::uint8_t>(type);
  layout.rank = static_cast<std::uint8_t>(rank);
  layout.interleave = static_cast<std::uint8_t>(interleave);
  layout.swizzle = static_cast<std::uint8_t>(swizzle);
  layout.l2_promotion = static_cast<std::uint8_t>(l2_promotion);
  layout.fill = static_cast<std::uint8_t>(fill);
  layout.address = address;
  std::ranges::copy(strides, layout.strides);
  for (std::size_t i = 0; i < most_dimensions; ++i) {
    layout.last_of_dims[i] = static_cast<std::uint32_t>(dims[i] - 1);
    layout.box[i] = static_cast<std::uint16_t>(box[i]);
    layout.element_strides[i] = static_cast<std::uint8_t>(element_strides[i]);
  }
  Encoded encoded{};
  std::memcpy(encoded.data(), &layout, sizeof layout);
  return encoded;
}

std::optional<TensorMap> TensorMap::decode(std::span<const std::uint8_t> encoded) {
  Layout layout;
  if (encoded.size() < bytes) return std::nullopt;
  std::memcpy(&layout, encoded.data(), sizeof layout);
  const bool known = layout.mark == mark && layout.type < types.size() && layout.rank >= 1 && layout.rank <= most_dimensions &&
                     layout.interleave <= 2 && layout.swizzle <= 3 && layout.l2_promotion <= 3 && layout.fill <= 1;
  if (!known) return std::nullopt;
  TensorMap map;
  map.type = static_cast<Type>(layout.type);
  map.rank = layout.rank;
  map.interleave = static_cast<Interleave>(layout.interleave);
  map.swizzle = static_cast<Swizzle>(layout.swizzle);
  map.l2_promotion = static_cast<L2Promotion>(layout.l2_promotion);
  map.fill = static_cast<Fill>(layout.fill);
  map.address = layout.address;
  std::ranges::copy(layout.strides, map.strides.begin());
  for (std::size_t i = 0; i < most_dimensions; ++i) {
    map.dims[i] = std::uint64_t{layout.last_of_dims[i]} + 1;
    map.box[i] = layout.box[i];
    map.element_strides[i] = layout.element_strides[i];
  }
  return map;
}

std::optional<TensorMap::Type> find_tensor_type(std::string_view name) {
  const auto found = std::ranges::find(types, name, &TypeRow::name);
  if (found == types.end()) return std::nullopt;
  return static_cast<TensorMap::Type>(found - types.begin());
}

std::string_view name(TensorMap::Type type) {
  return row(type).name;
}

}  // namespace warpmat
