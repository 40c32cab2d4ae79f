// tex, tld4, txq, suld and sust. Their arithmetic is texture.cpp's.

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/each_lane.h>
#include <warpmat/machine/operations.h>
#include <warpmat/machine/texture.h>

namespace warpmat::machine {

using code::Operation;
using code::TextureAccess;
using TextureAction = code::TextureAccess::Action;

namespace {

std::uint32_t answer(const Texture& texture, TextureAccess::Query query) {
  const Texture::Level& base = texture.levels.front();
  switch (query) {
    case TextureAccess::Query::width: return base.width;
    case TextureAccess::Query::height: return base.height;
    case TextureAccess::Query::depth: return texture.dimensions == 3 ? base.depth : 1;
    case TextureAccess::Query::layers: return texture.layered ? base.depth / (texture.cube ? 6 : 1) : 0;
    case TextureAccess::Query::levels: return static_cast<std::uint32_t>(texture.levels.size());
    case TextureAccess::Query::normalised: return texture.normalised_coordinates ? 1 : 0;
  }
  return 0;
}

void fetch_texel(WarpState& warp, const Operation& operation, const TextureAccess& access, const TextureReader& reader, int lane) {
  const auto word = [&](int source) { return warp.source_word(operation, source, lane); };
  const auto number = [&](int source) { return static_cast<double>(std::bit_cast<float>(word(source))); };
  TexturePoint point;
  if (access.layered) point.layer = static_cast<std::int32_t>(word(1));
  for (int i = 0; i < access.coordinates; ++i) {
    const int source = access.first_coordinate() + i;
    point.at[static_cast<std::size_t>(i)] = access.integers ? static_cast<std::int32_t>(word(source)) : number(source);
  }
  const int behind = access.first_behind();
  if (access.level == TextureAccess::Level::given) point.level = number(behind);
  if (access.level == TextureAccess::Level::gradients) {
    std::array<double, 3> dx{}, dy{};
    for (int i = 0; i < access.coordinates; ++i) {
      dx[static_cast<std::size_t>(i)] = number(behind + i);
      dy[static_cast<std::size_t>(i)] = number(behind + access.coordinates + i);
    }
    point.level = reader.level_of(dx, dy);
  }
  const auto texel = access.action == TextureAction::gather ? reader.gather(point, access.component) : reader.fetch(point);
  for (int i = 0; i < 4; ++i) warp.write_word(operation, i, lane, texel[static_cast<std::size_t>(i)]);
}

/// x counts bytes, y rows, z slices or layers.
void access_surface(WarpState& warp, const Operation& operation, const TextureAccess& access, const TextureReader& reader, int lane) {
  const Texture& texture = reader.texture();
  const Texture::Level& level = texture.levels.front();
  const std::int64_t bytes = std::int64_t{access.bytes} * access.vector;
  const std::array<std::int64_t, 3> size{std::int64_t{level.width} * texture.texel_bytes(), level.height, level.depth};
  std::array<std::int64_t, 3> place{};
  for (int i = 0; i < access.coordinates; ++i)
    place[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(warp.source_word(operation, access.first_coordinate() + i, lane));
  if (access.layered) place[2] = static_cast<std::int32_t>(warp.source_word(operation, 1, lane));
  if (place[0] % bytes != 0)
    warp.trap(lane, std::nullopt, fmt::format("x is {}, not a multiple of the {} bytes of the access", place[0], bytes),
              Trap::Kind::misaligned);
  const std::array<std::int64_t, 3> last{size[0] - bytes, size[1] - 1, size[2] - 1};
  bool inside = true;
  for (std::size_t i = 0; i < 3; ++i) inside &= place[i] >= 0 && place[i] <= last[i];
  if (!inside && access.outside == TextureAccess::Outside::trap)
    warp.trap(lane, std::nullopt,
              fmt::format("({}, {}, {}) is outside of the surface, which has {} bytes, {} rows and {} slices", place[0], place[1], place[2],
                          size[0], size[1], size[2]),
              Trap::Kind::out_of_range);
  if (access.outside == TextureAccess::Outside::clamp) {
    for (std::size_t i = 0; i < 3; ++i) place[i] = std::clamp<std::int64_t>(place[i], 0, std::max<std::int64_t>(last[i], 0));
    inside = last[0] >= 0;
  }
  std::uint8_t* const memory = inside ? reader.bytes(static_cast<std::uint64_t>(place[0]), static_cast<std::uint64_t>(place[1]),
                                                     static_cast<std::uint64_t>(place[2]))
                                      : nullptr;
  for (int e = 0; e < access.vector; ++e) {
    std::uint64_t value = 0;
    if (access.action == TextureAction::load) {
      if (inside) std::memcpy(&value, memory + e * access.bytes, access.bytes);
      warp.write_word(operation, e, lane, value);
    } else if (inside) {
      const code::Slot slot = warp.source_slot(operation, access.first_behind() + e);
      value = access.bytes == 8 ? warp.at<std::uint64_t>(slot)[lane] : warp.at<std::uint32_t>(slot)[lane];
      std::memcpy(memory + e * access.bytes, &value, access.bytes);
    }
  }
}

/// The lanes that name one object.
void texture_lanes(WarpState& warp, const Operation& operation, LaneMask lanes, const Texture& texture) {
  const TextureAccess& access = warp.program().of<code::TextureAccess>(operation);
  if (access.action == TextureAction::query)
    return for_each_lane(lanes,
                         [&](std::size_t lane) { warp.write_word(operation, 0, static_cast<int>(lane), answer(texture, access.query)); });
  const auto must_be = [&](bool good, const char* what) {
    if (!good) warp.trap(first_lane(lanes), std::nullopt, fmt::format("the object {}", what));
  };
  must_be(texture.layered == access.layered, access.layered ? "has no layers" : "has layers, and the statement names none");
  if (access.action != TextureAction::load && access.action != TextureAction::store) {
    must_be(texture.cube == access.cube, access.cube ? "is no cube" : "is a cube");
    must_be(texture.cube || texture.dimensions == access.coordinates, "has another number of dimensions");
    must_be(!access.integers || access.coordinates != 1 || texture.linear_memory || !texture.filters,
            "filters, and the coordinates are integers");
    must_be(!texture.linear_memory || access.integers, "is linear memory, which tex1Dfetch reads");
  }
  try {
    const TextureReader reader(texture, warp.launch().memory);
    const bool surface = access.action == TextureAction::load || access.action == TextureAction::store;
    for_each_lane(lanes, [&](std::size_t lane) {
      if (surface)
        access_surface(warp, operation, access, reader, static_cast<int>(lane));
      else
        fetch_texel(warp, operation, access, reader, static_cast<int>(lane));
    });
  } catch (const std::out_of_range& e) {
    warp.trap(first_lane(lanes), std::nullopt, fmt::format("the object's memory: {}", e.what()), Trap::Kind::out_of_range);
  }
}

}  // namespace

Step body::texture(WarpState& warp, const Operation& operation, LaneMask mask) {
  const auto* const handles = warp.at<std::uint64_t>(warp.source_slot(operation, 0));
  const TextureAccess& access = warp.program().of<code::TextureAccess>(operation);
  for (LaneMask rest = mask; rest != 0;) {
    const int first = first_lane(rest);
    const std::uint64_t handle = handles[first];
    const Texture* const found = find_texture(warp.launch().memory, handle);
    const bool surface = access.action == TextureAction::load || access.action == TextureAction::store;
    if (found == nullptr)
      warp.trap(first, handle, "the handle names no texture or surface object, or one that was destroyed", Trap::Kind::out_of_range);
    if (access.action != TextureAction::query && found->surface != surface)
      warp.trap(first, handle,
                surface ? "the handle names a texture object; suld and sust take surface objects"
                        : "the handle names a surface object; tex and tld4 take texture objects");
    LaneMask alike = 0;
    for_each_lane(rest, [&](std::size_t lane) { alike |= handles[lane] == handle ? lane_bit(static_cast<int>(lane)) : 0; });
    texture_lanes(warp, operation, alike, *found);
    rest &= ~alike;
  }
  if (access.action == TextureAction::store) warp.block().make_progress();
  return warp.advance();
}

}  // namespace warpmat::machine
