#include <warpmat/machine/tensor_map_bytes.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>

#include <fmt/core.h>

namespace warpmat {
namespace {

using Arguments = TensorMap::Arguments;

struct TypeRow {
  std::string_view name;
  std::uint32_t bits;
  bool floating;
  std::uint32_t chunk = 16;  ///< bytes of global memory in 16 bytes of shared memory

  bool padded() const { return chunk != 16; }
};

/// In the order of TensorMap::Type.
constexpr std::array types{
    TypeRow{"u8", 8, false},       TypeRow{"u16", 16, false},  TypeRow{"u32", 32, false},         TypeRow{"s32", 32, false},
    TypeRow{"u64", 64, false},     TypeRow{"s64", 64, false},  TypeRow{"f16", 16, true},          TypeRow{"f32", 32, true},
    TypeRow{"f64", 64, true},      TypeRow{"bf16", 16, true},  TypeRow{"f32_ftz", 32, true},      TypeRow{"tf32", 32, true},
    TypeRow{"tf32_ftz", 32, true}, TypeRow{"u4x16", 4, false}, TypeRow{"u4x16_p64", 4, false, 8}, TypeRow{"u6x16_p32", 6, false, 12}};

const TypeRow& row(TensorMap::Type type) {
  return types[static_cast<std::size_t>(type)];
}

/// Maximum bytes of a box as the driver counts them. The driver of CUDA 13.0 accepted 196,608 and refused 311,296; the exact limit is
/// assumed.
constexpr std::uint64_t max_box_bytes = std::uint64_t{1} << 18;

constexpr std::uint32_t mark = 0x70616d74;  // "tmap"

/// The contents of the 128 bytes, in this order.
struct Layout {
  std::uint32_t mark;
  std::uint8_t type, rank, interleave, swizzle, l2_promotion, fill;
  std::uint8_t mode, atom;
  std::uint64_t address;
  std::uint64_t strides[4];
  std::uint32_t last_of_dims[5];  ///< a dimension has up to 2^32 elements; the device's tensormap.replace cannot set 2^32
  std::uint16_t box[5];
  std::uint8_t element_strides[5];
  std::int16_t lower_corner[3], upper_corner[3];
  std::uint16_t channels, pixels;
};
static_assert(sizeof(Layout) <= TensorMap::bytes);

/// Bytes of the span that a swizzle permutes; 0 without one.
std::uint64_t span_of(TensorMap::Swizzle swizzle) {
  return swizzle == TensorMap::Swizzle::none ? 0 : std::uint64_t{16} << static_cast<int>(swizzle);
}

/// Whether each enumeration has one of its enumerators.
bool known_modes(const Arguments& map) {
  using Map = TensorMap;
  return map.type <= Map::Type::u6x16_p32 && map.interleave <= Map::Interleave::bytes_32 && map.swizzle <= Swizzle::bytes_128 &&
         map.atom <= Map::Atom::bytes_64 && map.l2_promotion <= Map::L2Promotion::bytes_256 && map.fill <= Map::Fill::nan &&
         map.mode <= Map::Mode::im2col;
}

/// What the tensor's address and strides are multiples of.
std::uint64_t unit_of(const Arguments& map) {
  return map.interleave == TensorMap::Interleave::bytes_32 || row(map.type).padded() ? 32 : 16;
}

std::optional<std::string> problem_of_dimension(const Arguments& map, std::size_t i) {
  constexpr std::uint64_t max_elements = std::uint64_t{1} << 32, max_stride = std::uint64_t{1} << 40;
  if (map.dims[i] == 0 || map.dims[i] > max_elements)
    return fmt::format("dimension {} has {} elements: there are from 1 to 2^32", i, map.dims[i]);
  if (map.element_strides[i] == 0 || map.element_strides[i] > 8)
    return fmt::format("element stride {} of dimension {}: it is from 1 to 8", map.element_strides[i], i);
  if (i == 0) return std::nullopt;
  const std::uint64_t unit = unit_of(map), stride = map.strides[i - 1];
  if (stride % unit != 0 || stride >= max_stride)
    return fmt::format("stride {} of dimension {}: it is a multiple of {} below 2^40", stride, i, unit);
  return std::nullopt;
}

/// The error in the number `elements` of a copy along the innermost dimension of `what`; nothing if there is none.
std::optional<std::string> problem_of_row(const Arguments& map, std::uint32_t elements, std::string_view what) {
  const std::uint64_t inner = (elements * row(map.type).bits + 7) / 8, span = span_of(map.swizzle);
  if (inner % 16 != 0) return fmt::format("{} has {} bytes in dimension 0: they are a multiple of 16", what, inner);
  if (map.interleave == TensorMap::Interleave::none && span != 0 && inner > span)
    return fmt::format("{} has {} bytes in dimension 0: with swizzle {}B it has at most {}", what, inner, span, span);
  return std::nullopt;
}

std::optional<std::string> problem_of_tile(const Arguments& map) {
  for (std::size_t i = 0; i < map.rank; ++i)
    if (map.box[i] == 0 || map.box[i] > 256)
      return fmt::format("the box has {} elements in dimension {}: there are from 1 to 256", map.box[i], i);
  if (auto found = problem_of_row(map, map.box[0], "the box")) return found;
  // The driver rounds box / element stride down, even if a copy moves one element more.
  std::uint64_t counted = row(map.type).bits;
  for (std::size_t i = 0; i < map.rank; ++i) counted *= map.box[i] / map.element_strides[i];
  counted /= 8;
  if (counted > max_box_bytes) return fmt::format("the box has {} bytes: the driver takes maps of at most {}", counted, max_box_bytes);
  return std::nullopt;
}

/// What elements of less than a byte ask for, and atoms (CUDA 13.0 driver API, cuTensorMapEncodeTiled).
std::optional<std::string> problem_of_type(const Arguments& map) {
  using enum TensorMap::Atom;
  const TypeRow& type = row(map.type);
  if (map.atom != bytes_16 && map.swizzle != TensorMap::Swizzle::bytes_128)
    return "atoms of 32 and 64 bytes go with a swizzle of 128 bytes";
  if (type.bits == 4 && !type.padded() && map.dims[0] % 2 != 0)
    return fmt::format("dimension 0 has {} elements of {}: they are a multiple of 2", map.dims[0], type.name);
  if (!type.padded()) return std::nullopt;
  constexpr std::uint32_t elements = 128;
  const std::uint32_t inner = map.mode == TensorMap::Mode::tile ? map.box[0] : map.channels;
  if (map.dims[0] % elements != 0 || inner != elements)
    return fmt::format("{} elements of {} in dimension 0, and {} of the box: they are a multiple of 128, and 128", map.dims[0], type.name,
                       inner);
  const bool spread = map.swizzle == TensorMap::Swizzle::none || (map.swizzle == TensorMap::Swizzle::bytes_128 &&
                                                                  map.atom != bytes_32_flip_8 && (map.atom != bytes_64 || type.bits == 6));
  if (map.interleave != TensorMap::Interleave::none || !spread)
    return fmt::format("elements of {} go with no interleaving, and without a swizzle or with one of 128 bytes", type.name);
  return std::nullopt;
}

std::optional<std::string> problem_of_im2col(const Arguments& map) {
  const std::size_t first_spatial = map.interleave == TensorMap::Interleave::none ? 1 : 0;
  if (map.rank < 3) return fmt::format("a tensor in im2col mode has at least 3 dimensions, not {}", map.rank);
  const int corner_bits = map.rank == 3 ? 15 : map.rank == 4 ? 7 : 4;
  const std::int32_t limit = 1 << corner_bits;
  for (std::size_t i = 0; i + 2 < map.rank; ++i) {
    for (const std::int32_t corner : {map.lower_corner[i], map.upper_corner[i]})
      if (corner < -limit || corner >= limit)
        return fmt::format("corner {} of the box: with {} dimensions it is from {} to {}", corner, map.rank, -limit, limit - 1);
    // The driver uses 32 bits: a dimension of 2^32 counts as 0.
    const auto elements = static_cast<std::uint32_t>(map.dims[first_spatial + i]);
    const auto extent = elements + static_cast<std::uint32_t>(map.upper_corner[i]) - static_cast<std::uint32_t>(map.lower_corner[i]);
    if (static_cast<std::int32_t>(extent) <= 0)
      return fmt::format("the box is empty: {} elements, corners {} and {}", map.dims[first_spatial + i], map.lower_corner[i],
                         map.upper_corner[i]);
  }
  if (map.channels == 0 || map.channels > 256) return fmt::format("{} channels of a pixel: there are from 1 to 256", map.channels);
  if (map.pixels == 0 || map.pixels > 1024) return fmt::format("{} pixels: there are from 1 to 1024", map.pixels);
  return problem_of_row(map, map.channels, "a pixel");
}

}  // namespace

int Arguments::swizzle_number() const {
  return static_cast<int>(swizzle) + static_cast<int>(atom);
}

void Arguments::set_swizzle(int number) {
  swizzle = static_cast<Swizzle>(std::min(number, static_cast<int>(Swizzle::bytes_128)));
  atom = static_cast<Atom>(number - static_cast<int>(swizzle));
}

std::optional<std::string> TensorMap::problem(const Arguments& given) {
  if (!known_modes(given)) return "a type or a mode has a number that no enumerator has";
  if (given.rank == 0 || given.rank > max_dimensions) return fmt::format("a tensor has from 1 to 5 dimensions, not {}", given.rank);
  if (given.interleave != Interleave::none && given.rank < 3)
    return fmt::format("an interleaved tensor has at least 3 dimensions, not {}", given.rank);
  if (const std::uint64_t unit = unit_of(given); given.address % unit != 0)
    return fmt::format("the tensor's address {:#x} is not a multiple of {}", given.address, unit);
  for (std::size_t i = 0; i < given.rank; ++i)
    if (auto found = problem_of_dimension(given, i)) return found;
  if (auto found = problem_of_type(given)) return found;
  if (given.fill == Fill::nan && !row(given.type).floating)
    return fmt::format("only floating-point elements are filled with NaN, not {}", name(given.type));
  return given.mode == Mode::tile ? problem_of_tile(given) : problem_of_im2col(given);
}

TensorMap::TensorMap(const Arguments& given) : arguments_(given) {
  if (const auto found = problem(given)) throw std::invalid_argument("tensor map: " + *found);
}

TensorMap::Encoded TensorMap::encode() const {
  return tensor_map_bytes(arguments_);
}

std::optional<TensorMap> TensorMap::decode(std::span<const std::uint8_t> encoded) {
  const std::optional<Arguments> found = tensor_map_arguments(encoded);
  return found && !problem(*found) ? std::optional<TensorMap>(*found) : std::nullopt;
}

std::uint64_t TensorMap::element_bits() const {
  return row(type()).bits;
}

std::uint64_t TensorMap::unit_bits() const {
  return interleave() == Interleave::none ? element_bits() : std::uint64_t{128} << (static_cast<int>(interleave()) - 1);
}

std::uint32_t TensorMap::chunk_bytes() const {
  return row(type()).chunk;
}

std::uint32_t TensorMap::swizzled(std::uint32_t place) const {
  struct Bits {
    int bits, base, shift;  ///< as CuTe's Swizzle
  };
  constexpr std::array atoms{Bits{3, 4, 3}, Bits{2, 5, 2}, Bits{2, 5, 2}, Bits{1, 6, 1}};
  if (atom() == Atom::bytes_16) return warpmat::swizzled(swizzle(), place);
  const Bits& b = atoms[static_cast<std::size_t>(atom())];
  const auto moved = static_cast<std::uint32_t>(warpmat::swizzled(std::uint64_t{place}, b.bits, b.base, b.shift));
  return atom() == Atom::bytes_32_flip_8 ? moved ^ (place >> 7 & 1) << 3 : moved;
}

std::uint32_t TensorMap::extent(std::size_t i) const {
  if (interleave() == Interleave::none && i == 0) return box()[0];
  if (interleave() != Interleave::none && i + 2 == rank()) return 1;
  return (box()[i] + element_strides()[i] - 1) / element_strides()[i];
}

std::uint64_t TensorMap::row_bytes() const {
  if (interleave() != Interleave::none) return unit_bits() / 8;
  return element_bits() * (mode() == Mode::im2col ? arguments_.channels : box()[0]) / 8;
}

std::uint64_t TensorMap::rows() const {
  if (mode() == Mode::im2col) return arguments_.pixels;
  std::uint64_t rows = 1;
  for (std::size_t i = first_spatial(); i < rank(); ++i) rows *= extent(i);
  return rows;
}

std::uint64_t TensorMap::shared_bytes() const {
  const std::uint64_t bytes_in_rows = (rows() - 1) * row_pitch() + shared_row_bytes(), span = span_of(swizzle());
  return span == 0 ? bytes_in_rows : (bytes_in_rows + span - 1) / span * span;
}

std::uint64_t TensorMap::row_pitch() const {
  return swizzle() == Swizzle::none || interleave() != Interleave::none ? shared_row_bytes() : span_of(swizzle());
}

TensorMap::Encoded tensor_map_bytes(const TensorMap::Arguments& map) {
  Layout layout{};
  layout.mark = mark;
  layout.type = static_cast<std::uint8_t>(map.type);
  layout.rank = static_cast<std::uint8_t>(map.rank);
  layout.interleave = static_cast<std::uint8_t>(map.interleave);
  layout.swizzle = static_cast<std::uint8_t>(map.swizzle);
  layout.l2_promotion = static_cast<std::uint8_t>(map.l2_promotion);
  layout.fill = static_cast<std::uint8_t>(map.fill);
  layout.mode = static_cast<std::uint8_t>(map.mode);
  layout.atom = static_cast<std::uint8_t>(map.atom);
  layout.address = map.address;
  std::ranges::copy(map.strides, layout.strides);
  for (std::size_t i = 0; i < map.lower_corner.size(); ++i) {
    layout.lower_corner[i] = static_cast<std::int16_t>(map.lower_corner[i]);
    layout.upper_corner[i] = static_cast<std::int16_t>(map.upper_corner[i]);
  }
  layout.channels = static_cast<std::uint16_t>(map.channels);
  layout.pixels = static_cast<std::uint16_t>(map.pixels);
  for (std::size_t i = 0; i < TensorMap::max_dimensions; ++i) {
    layout.last_of_dims[i] = static_cast<std::uint32_t>(map.dims[i] - 1);
    layout.box[i] = static_cast<std::uint16_t>(map.box[i]);
    layout.element_strides[i] = static_cast<std::uint8_t>(map.element_strides[i]);
  }
  TensorMap::Encoded encoded{};
  std::memcpy(encoded.data(), &layout, sizeof layout);
  return encoded;
}

std::optional<TensorMap::Arguments> tensor_map_arguments(std::span<const std::uint8_t> encoded) {
  Layout layout;
  if (encoded.size() < TensorMap::bytes) return std::nullopt;
  std::memcpy(&layout, encoded.data(), sizeof layout);
  if (layout.mark != mark || layout.rank == 0 || layout.rank > TensorMap::max_dimensions) return std::nullopt;
  Arguments map;
  map.type = static_cast<TensorMap::Type>(layout.type);
  map.rank = layout.rank;
  map.interleave = static_cast<TensorMap::Interleave>(layout.interleave);
  map.swizzle = static_cast<Swizzle>(layout.swizzle);
  map.atom = static_cast<TensorMap::Atom>(layout.atom);
  map.l2_promotion = static_cast<TensorMap::L2Promotion>(layout.l2_promotion);
  map.fill = static_cast<TensorMap::Fill>(layout.fill);
  map.mode = static_cast<TensorMap::Mode>(layout.mode);
  if (!known_modes(map)) return std::nullopt;
  map.address = layout.address;
  std::ranges::copy(layout.strides, map.strides.begin());
  std::ranges::copy(layout.lower_corner, map.lower_corner.begin());
  std::ranges::copy(layout.upper_corner, map.upper_corner.begin());
  map.channels = layout.channels;
  map.pixels = layout.pixels;
  for (std::size_t i = 0; i < TensorMap::max_dimensions; ++i) {
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
