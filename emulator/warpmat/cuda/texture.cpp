// Texture and surface objects.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>

#include <fmt/core.h>

#include <warpmat/cuda/array.h>
#include <warpmat/machine/texture.h>

namespace warpmat::cuda {
namespace {

struct Object {
  ResourceDescription resource;
  TextureDescription how;
  std::optional<ResourceView> view;
  Owner owner = current_owner();
};

// Of pitched memory: cudaDeviceProp::maxTexture2DLinear.
constexpr std::size_t most_pitched_texels = 131072, most_pitched_rows = 65000, most_texture_pitch = 2097120;
constexpr std::size_t most_linear_texels = std::size_t{1} << 28;

/// The objects by their handles, as programs described them.
struct Objects {
  std::map<std::uint64_t, Object> all;

  void leave(Context& context, Owner owner) {
    std::erase_if(all, [&](const auto& each) { return each.second.owner == owner && remove_texture(context.space.memory(), each.first); });
  }
};

std::map<std::uint64_t, Object>& objects() {
  return context().part<Objects>().all;
}

Texture::Level level_of(const Array& array) {
  return {.address = array.address,
          .width = static_cast<std::uint32_t>(array.extent.width),
          .height = static_cast<std::uint32_t>(array.rows()),
          .depth = static_cast<std::uint32_t>(array.slices()),
          .row_pitch = array.row_bytes(),
          .slice_pitch = array.row_bytes() * array.rows()};
}

void set_format(Texture& texture, const ChannelFormat& format) {
  texture.channels = static_cast<std::uint8_t>(channels_of(format));
  texture.channel_bits = static_cast<std::uint8_t>(format.x);
  texture.numbers = format.kind == 0   ? Texture::Numbers::signed_integer
                    : format.kind == 1 ? Texture::Numbers::unsigned_integer
                                       : Texture::Numbers::floating;
}

void set_array(Texture& texture, const Array& array) {
  set_format(texture, array.format);
  texture.layered = array.layered();
  texture.cube = array.cube();
  texture.dimensions = array.extent.height == 0 ? 1 : array.extent.depth == 0 || array.layered() || array.cube() ? 2 : 3;
}

/// How many of the bytes that a linear texture asks for its allocation has. An H200 accepts more; what it reads there is undefined.
std::size_t bytes_there(Context& context, const void* start, std::size_t wanted) {
  const Allocation* const found = context.space.find(start);
  if (found == nullptr) return wanted;
  const std::size_t there = found->address + found->bytes - reinterpret_cast<std::uintptr_t>(start);
  if (there < wanted)
    say_once(
        fmt::format("a linear texture of {} bytes at {} is longer than its allocation: it ends after {} bytes, and reads behind them "
                    "return zero",
                    wanted, start, there));
  return std::min<std::size_t>(wanted, there);
}

/// The texels of linear and pitched memory.
void set_memory(Context& context, Texture& texture, const ResourceDescription& resource) {
  const auto& linear = resource.of.linear;
  const auto& pitched = resource.of.pitched;
  const bool rows = resource.type == ResourceDescription::pitched;
  const void* const start = rows ? pitched.memory : linear.memory;
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(start));
  set_format(texture, rows ? pitched.format : linear.format);
  require(address != 0 && address % texture_alignment == 0);
  const std::size_t texel = texture.texel_bytes();
  if (rows) {
    require(pitched.width - 1 < most_pitched_texels && pitched.height - 1 < most_pitched_rows && pitched.pitch <= most_texture_pitch);
    require(pitched.pitch % texture_pitch_alignment == 0 && pitched.width * texel <= pitched.pitch);
    context.space.device_bytes(start, (pitched.height - 1) * pitched.pitch + pitched.width * texel);
    texture.dimensions = 2;
    texture.levels = {{address, static_cast<std::uint32_t>(pitched.width), static_cast<std::uint32_t>(pitched.height), 1, pitched.pitch,
                       pitched.pitch * pitched.height}};
    return;
  }
  require(linear.bytes / texel != 0 && linear.bytes / texel <= most_linear_texels);
  const std::size_t bytes = bytes_there(context, start, linear.bytes) / texel * texel;
  require(bytes != 0);
  context.space.device_bytes(start, bytes);
  texture.linear_memory = true;
  texture.levels = {{address, static_cast<std::uint32_t>(bytes / texel), 1, 1, bytes, bytes}};
}

void set_resource(Context& context, Texture& texture, const ResourceDescription& resource) {
  switch (resource.type) {
    case ResourceDescription::array: {
      const Array& array = array_of(resource.of.array);
      set_array(texture, array);
      texture.levels = {level_of(array)};
      return;
    }
    case ResourceDescription::mipmap: {
      const std::vector<Array*> levels = levels_of(resource.of.mipmap);
      set_array(texture, *levels.front());
      for (const Array* const level : levels) texture.levels.push_back(level_of(*level));
      return;
    }
    case ResourceDescription::linear:
    case ResourceDescription::pitched: return set_memory(context, texture, resource);
  }
  throw ApiError(cudaErrorInvalidValue);
}

/// Throws ApiError for what no number is: NaN has no place among the levels, and infinite levels are beyond the first or the last one.
void check_numbers(const TextureDescription& how) {
  for (const float number : {how.level_bias, how.least_level, how.most_level}) require(!std::isnan(number));
}

void set_sampling(Texture& texture, const TextureDescription& how) {
  check_numbers(how);
  for (std::size_t i = 0; i < 3; ++i) {
    require(how.address[i] >= 0 && how.address[i] <= 3);
    texture.address[i] = static_cast<Texture::Address>(how.address[i]);
  }
  require(how.filter == 0 || how.filter == 1);
  require(how.level_filter == 0 || how.level_filter == 1);
  require(how.read == 0 || how.read == 1);
  texture.filters = how.filter == 1 && !texture.linear_memory;
  texture.filters_levels = how.level_filter == 1;
  texture.normalised_coordinates = how.normalised != 0;
  texture.reads_fractions = how.read == 1 && texture.numbers != Texture::Numbers::floating;
  require(!texture.reads_fractions || texture.channel_bits < 32);
  require(!texture.filters || texture.reads_fractions || texture.numbers == Texture::Numbers::floating, cudaErrorInvalidFilterSetting);
  texture.srgb = how.srgb != 0 && texture.reads_fractions && texture.channel_bits == 8;
  std::ranges::copy(how.border, texture.border.begin());
  texture.level_bias = how.level_bias;
  texture.least_level = std::max(how.least_level, 0.0f);  // no level lies before the first one
  texture.most_level = std::max(how.most_level, 0.0f);
}

/// A view of fewer levels or layers. Other formats of the same bytes are not supported.
void set_view(Texture& texture, const ResourceView& view) {
  if (view.format != 0) throw ApiError(cudaErrorNotSupported, "views of texels in another format are not supported");
  require(view.first_level <= view.last_level && view.last_level < texture.levels.size() && view.first_layer <= view.last_layer);
  texture.levels = {texture.levels.begin() + view.first_level, texture.levels.begin() + view.last_level + 1};
  if (!texture.layered && !texture.cube) return;
  const std::uint32_t faces = texture.cube ? 6 : 1;
  const std::uint32_t depth = texture.levels[0].depth;
  require(view.last_layer < depth);
  const std::uint32_t layers = std::max(view.last_layer + 1 - view.first_layer, faces);
  require(layers <= depth - view.first_layer);
  for (Texture::Level& level : texture.levels) {
    level.address += view.first_layer * level.slice_pitch;
    level.depth = layers;
  }
}

void destroy(Context& context, std::uint64_t handle) {
  if (handle == 0) return;
  require(remove_texture(context.space.memory(), handle), cudaErrorInvalidResourceHandle);
  objects().erase(handle);
}

const Object& object_of(std::uint64_t handle) {
  const auto found = objects().find(handle);
  require(found != objects().end(), cudaErrorInvalidResourceHandle);
  return found->second;
}

template <typename Value>
void put(Value* to, const Value& value) {
  require(to != nullptr);
  *to = value;
}

}  // namespace

WARPMAT_CUDA_API Error cudaCreateTextureObject(std::uint64_t* handle, const ResourceDescription* resource, const TextureDescription* how,
                                               const ResourceView* view) {
  return call(__func__, [&](Context& context) {
    require(handle != nullptr && resource != nullptr);
    require(how != nullptr, cudaErrorInvalidResourceHandle);
    Texture texture;
    set_resource(context, texture, *resource);
    set_sampling(texture, *how);
    if (view != nullptr) set_view(texture, *view);
    *handle = add_texture(context.space.memory(), std::move(texture));
    objects()[*handle] = {*resource, *how, view == nullptr ? std::optional<ResourceView>() : *view};
  });
}

WARPMAT_CUDA_API Error cudaDestroyTextureObject(std::uint64_t handle) {
  return call(__func__, [&](Context& context) {
    if (objects().contains(handle)) destroy(context, handle);  // an H200 lets other numbers pass
  });
}

WARPMAT_CUDA_API Error cudaCreateSurfaceObject(std::uint64_t* handle, const ResourceDescription* resource) {
  return call(__func__, [&](Context& context) {
    require(handle != nullptr && resource != nullptr && resource->type == ResourceDescription::array);
    Texture texture;
    texture.surface = true;
    set_resource(context, texture, *resource);
    *handle = add_texture(context.space.memory(), std::move(texture));
    objects()[*handle] = {*resource, {}, {}};
  });
}

WARPMAT_CUDA_API Error cudaDestroySurfaceObject(std::uint64_t handle) {
  return call(__func__, [&](Context& context) { destroy(context, handle); });
}

WARPMAT_CUDA_API Error cudaGetTextureObjectResourceDesc(ResourceDescription* resource, std::uint64_t handle) {
  return call(__func__, [&](Context&) { put(resource, object_of(handle).resource); });
}

WARPMAT_CUDA_API Error cudaGetSurfaceObjectResourceDesc(ResourceDescription* resource, std::uint64_t handle) {
  return call(__func__, [&](Context&) { put(resource, object_of(handle).resource); });
}

WARPMAT_CUDA_API Error cudaGetTextureObjectTextureDesc(TextureDescription* how, std::uint64_t handle) {
  return call(__func__, [&](Context&) { put(how, object_of(handle).how); });
}

WARPMAT_CUDA_API Error cudaGetTextureObjectResourceViewDesc(ResourceView* view, std::uint64_t handle) {
  return call(__func__, [&](Context&) {
    const Object& object = object_of(handle);
    require(object.view.has_value());
    put(view, *object.view);
  });
}

}  // namespace warpmat::cuda
