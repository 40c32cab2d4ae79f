// Arrays: texels whose layout programs do not know.

#include <algorithm>
#include <vector>

#include <warpmat/cuda/array.h>

namespace warpmat::cuda {

struct MipmappedArray {
  std::vector<Fresh<Array>> levels;
};

namespace {

constexpr unsigned layered = 1, cube = 4, known_flags = 1 | 2 | 4 | 8;
constexpr std::size_t most_texels_1d = 131072, most_rows = 65536, most_texels_3d = 16384, most_layers = 2048;

/// Their texels are allocations, which their owner frees by itself.
struct Arrays {
  Handles<Array> arrays;
  Handles<MipmappedArray> mipmaps;

  void leave(Context&, Owner owner) {
    arrays.drop(owner);
    mipmaps.drop(owner);
  }
};

Handles<Array>& arrays() {
  return context().part<Arrays>().arrays;
}

Handles<MipmappedArray>& mipmaps() {
  return context().part<Arrays>().mipmaps;
}

/// The limits of the Programming Guide's table of technical specifications for compute capability 9.0.
void check_extent(const Extent& extent, unsigned flags) {
  require(extent.width != 0 && (flags & ~known_flags) == 0);
  const bool has_layers = (flags & layered) != 0, is_cube = (flags & cube) != 0;
  if (is_cube) {
    require(extent.width == extent.height && extent.depth % 6 == 0 && extent.depth != 0 && (has_layers || extent.depth == 6));
  } else if (has_layers) {
    require(extent.depth != 0 && extent.depth <= most_layers);
  } else {
    require(extent.depth == 0 || extent.height != 0);
    if (extent.depth != 0) require(std::max({extent.width, extent.height, extent.depth}) <= most_texels_3d);
  }
  require(extent.width <= most_texels_1d && extent.height <= most_rows);
}

Fresh<Array> make_array(Context& context, const ChannelFormat* format, const Extent& extent, unsigned flags, const char* call) {
  require(format != nullptr);
  static_cast<void>(channels_of(*format));
  check_extent(extent, flags);
  auto array = make_fresh<Array>(Array{.format = *format, .extent = extent, .flags = flags});
  const std::size_t bytes = known(CheckedSize(array->row_bytes()) * array->rows() * array->slices(), cudaErrorMemoryAllocation);
  array->address = context.space.allocate(bytes, Allocation::Kind::device, call);
  context.space.note_written(reinterpret_cast<const void*>(static_cast<std::uintptr_t>(array->address)), bytes);  // by surfaces, unseen
  return array;
}

void add_array(Context& context, Array** to, const ChannelFormat* format, const Extent& extent, unsigned flags, const char* call) {
  require(to != nullptr);
  *to = arrays().add(make_array(context, format, extent, flags, call));
}

void release(Context& context, const Array& array) {
  context.space.release(array.address, {Allocation::Kind::device}, cudaErrorInvalidValue);
}

/// The extent of the next level: half of it, rounded down, at least 1. Layers and faces stay.
Extent halved(const Extent& extent, unsigned flags) {
  const auto half = [](std::size_t size) { return size == 0 ? 0 : std::max<std::size_t>(size / 2, 1); };
  const bool keeps_depth = (flags & (layered | cube)) != 0;
  return {half(extent.width), half(extent.height), keeps_depth ? extent.depth : half(extent.depth)};
}

void add_levels(Context& context, MipmappedArray& to, const ChannelFormat* format, Extent extent, unsigned levels, unsigned flags) {
  for (unsigned level = 0; level < levels; ++level) {
    to.levels.push_back(make_array(context, format, extent, flags, "cudaMallocMipmappedArray"));
    to.levels.back()->of_mipmap = true;
    const Extent next = halved(extent, flags);
    if (next.width == extent.width && next.height == extent.height && next.depth == extent.depth) break;  // no more levels
    extent = next;
  }
}

}  // namespace

int channels_of(const ChannelFormat& format) {
  const int bits[] = {format.x, format.y, format.z, format.w};
  const auto channels = static_cast<int>(std::ranges::count_if(bits, [](int b) { return b != 0; }));
  const bool in_front = std::all_of(bits, bits + channels, [&](int b) { return b == format.x; });
  const bool has_size = format.x == 8 || format.x == 16 || format.x == 32;
  require(in_front && has_size && (channels == 1 || channels == 2 || channels == 4), cudaErrorInvalidChannelDescriptor);
  require(format.kind >= 0 && format.kind <= 2 && (format.kind != 2 || format.x != 8), cudaErrorInvalidChannelDescriptor);
  return channels;
}

Array& array_of(const void* handle) {
  Array* found = arrays().find(handle);
  mipmaps().for_each([&](const MipmappedArray& mipmap) {
    for (const Fresh<Array>& level : mipmap.levels)
      if (level.get() == handle) found = level.get();
  });
  require(found != nullptr, cudaErrorInvalidResourceHandle);
  return *found;
}

std::vector<Array*> levels_of(const MipmappedArray* handle) {
  std::vector<Array*> levels;
  for (const Fresh<Array>& level : mipmaps().at(handle).levels) levels.push_back(level.get());
  return levels;
}

WARPMAT_CUDA_API ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {x, y, z, w, kind};
}

WARPMAT_CUDA_API Error cudaMallocArray(Array** array, const ChannelFormat* format, std::size_t width, std::size_t height, unsigned flags) {
  return call(__func__, [&](Context& context) { add_array(context, array, format, {width, height, 0}, flags, "cudaMallocArray"); });
}

WARPMAT_CUDA_API Error cudaMalloc3DArray(Array** array, const ChannelFormat* format, Extent extent, unsigned flags) {
  return call(__func__, [&](Context& context) { add_array(context, array, format, extent, flags, "cudaMalloc3DArray"); });
}

WARPMAT_CUDA_API Error cudaFreeArray(Array* array) {
  return call(__func__, [&](Context& context) {
    if (array == nullptr) return;
    require(!array_of(array).of_mipmap);
    release(context, *array);
    arrays().take(array);
  });
}

WARPMAT_CUDA_API Error cudaArrayGetInfo(ChannelFormat* format, Extent* extent, unsigned* flags, const Array* array) {
  return call(__func__, [&](Context&) {
    const Array& found = array_of(array);
    if (format != nullptr) *format = found.format;
    if (extent != nullptr) *extent = found.extent;
    if (flags != nullptr) *flags = found.flags;
  });
}

WARPMAT_CUDA_API Error cudaGetChannelDesc(ChannelFormat* format, const Array* array) {
  return call(__func__, [&](Context&) {
    require(format != nullptr);
    *format = array_of(array).format;
  });
}

WARPMAT_CUDA_API Error cudaMallocMipmappedArray(MipmappedArray** mipmap, const ChannelFormat* format, Extent extent, unsigned levels,
                                                unsigned flags) {
  return call(__func__, [&](Context& context) {
    require(mipmap != nullptr && levels != 0);
    auto made = make_fresh<MipmappedArray>();
    try {
      add_levels(context, *made, format, extent, levels, flags);
    } catch (...) {
      for (const Fresh<Array>& level : made->levels) release(context, *level);
      throw;
    }
    *mipmap = mipmaps().add(std::move(made));
  });
}

WARPMAT_CUDA_API Error cudaGetMipmappedArrayLevel(Array** array, const MipmappedArray* mipmap, unsigned level) {
  return call(__func__, [&](Context&) {
    require(array != nullptr);
    const std::vector<Array*> levels = levels_of(mipmap);
    require(level < levels.size());
    *array = levels[level];
  });
}

WARPMAT_CUDA_API Error cudaFreeMipmappedArray(MipmappedArray* mipmap) {
  return call(__func__, [&](Context& context) {
    if (mipmap == nullptr) return;
    for (const Array* const level : levels_of(mipmap)) release(context, *level);
    mipmaps().take(mipmap);
  });
}

}  // namespace warpmat::cuda
