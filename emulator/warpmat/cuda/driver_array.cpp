// The driver: arrays, copies of boxes, texture and surface objects. They are the runtime's with other descriptions.

#include <array>
#include <cstring>

#include <warpmat/cuda/array.h>
#include <warpmat/cuda/driver.h>
#include <warpmat/cuda/graph.h>
#include <warpmat/cuda/per_thread.h>

namespace warpmat::cuda {

extern "C" {
Error cudaMallocArray(Array** array, const ChannelFormat* format, std::size_t width, std::size_t height, unsigned flags);
Error cudaMalloc3DArray(Array** array, const ChannelFormat* format, Extent extent, unsigned flags);
Error cudaMallocMipmappedArray(MipmappedArray** mipmap, const ChannelFormat* format, Extent extent, unsigned levels, unsigned flags);
Error cudaGetMipmappedArrayLevel(Array** array, const MipmappedArray* mipmap, unsigned level);
Error cudaFreeMipmappedArray(MipmappedArray* mipmap);
Error cudaFreeArray(Array* array);
Error cudaGraphAddMemcpyNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, const Copy3D* asked);
Error cudaGraphMemcpyNodeSetParams(GraphNode* node, const Copy3D* asked);
Error cudaGraphExecMemcpyNodeSetParams(Graph* executable, GraphNode* node, const Copy3D* asked);
Error cudaMemcpy3D(const Copy3D* copy);
Error cudaMemcpy3DAsync(const Copy3D* copy, Stream* stream);
Error cudaMemcpyToArray(Array* to, std::size_t x, std::size_t y, const void* from, std::size_t bytes, CopyKind kind);
Error cudaMemcpyFromArray(void* to, const Array* from, std::size_t x, std::size_t y, std::size_t bytes, CopyKind kind);
Error cudaCreateTextureObject(std::uint64_t* handle, const ResourceDescription* resource, const TextureDescription* how,
                              const ResourceView* view);
Error cudaDestroyTextureObject(std::uint64_t handle);
Error cudaCreateSurfaceObject(std::uint64_t* handle, const ResourceDescription* resource);
Error cudaDestroySurfaceObject(std::uint64_t handle);
Error cudaGetTextureObjectResourceDesc(ResourceDescription* resource, std::uint64_t handle);
Error cudaGetTextureObjectTextureDesc(TextureDescription* how, std::uint64_t handle);
Error cudaGetTextureObjectResourceViewDesc(ResourceView* view, std::uint64_t handle);
}

struct CopyEnd3D {  ///< the half of CUDA_MEMCPY3D
  std::size_t x, y, z, level;
  int memory;
  void* host;
  DeviceAddress device;
  Array* array;
  DriverContext* context;  ///< of CUDA_MEMCPY3D_PEER; else reserved
  std::size_t pitch, height;
};

struct DriverCopy3D {  ///< CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER
  CopyEnd3D from, to;
  std::size_t width, height, depth;
};

namespace {

struct ArrayDescription {  ///< CUDA_ARRAY_DESCRIPTOR
  std::size_t width, height;
  int format;
  unsigned channels;
};

struct ArrayDescription3D {  ///< CUDA_ARRAY3D_DESCRIPTOR
  std::size_t width, height, depth;
  int format;
  unsigned channels, flags;
};

struct CopyEnd {  ///< the half of CUDA_MEMCPY2D
  std::size_t x, y;
  int memory;
  void* host;
  DeviceAddress device;
  Array* array;
  std::size_t pitch;
};

struct DriverCopy2D {  ///< CUDA_MEMCPY2D
  CopyEnd from, to;
  std::size_t width, height;
};

struct DriverResource {  ///< CUDA_RESOURCE_DESC
  int type;
  union {
    Array* array;
    MipmappedArray* mipmap;
    struct {
      DeviceAddress memory;
      int format;
      unsigned channels;
      std::size_t bytes;
    } linear;
    struct {
      DeviceAddress memory;
      int format;
      unsigned channels;
      std::size_t width, height, pitch;
    } pitched;
    int reserved[32];
  } of;
  unsigned flags;
};

struct DriverSampling {  ///< CUDA_TEXTURE_DESC
  int address[3];
  int filter;
  unsigned flags, anisotropy;
  int level_filter;
  float level_bias, least_level, most_level;
  float border[4];
  int reserved[12];
};

enum MemoryKind : int { in_host = 1, in_device = 2, in_array = 3, unified = 4 };
enum SamplingFlag : unsigned { read_as_integer = 1, normalised = 2, srgb = 16, no_optimisation = 32, seamless = 64 };

/// CUarray_format: bits, and the kind of cudaChannelFormatKind.
struct FormatRow {
  int format, bits, kind;
};
constexpr std::array formats{FormatRow{1, 8, 1},  FormatRow{2, 16, 1},  FormatRow{3, 32, 1},  FormatRow{8, 8, 0},
                             FormatRow{9, 16, 0}, FormatRow{10, 32, 0}, FormatRow{16, 16, 2}, FormatRow{32, 32, 2}};

/// Zero bits, which no array has, for an unknown format.
ChannelFormat channel_format(int format, unsigned channels) {
  for (const FormatRow& row : formats)
    if (row.format == format) {
      const auto bits = [&](unsigned i) { return i < channels ? row.bits : 0; };
      return {bits(0), bits(1), bits(2), bits(3), row.kind};
    }
  return {};
}

/// The driver's place of a copy as the runtime's. An array's x counts texels there.
template <typename End>
void set_end(const End& end, std::size_t rows, std::size_t z, Array*& array, PitchedPointer& memory, Position& at, std::size_t texel) {
  if (end.memory == in_array) {
    array = end.array;
    at = {end.x / texel, end.y, z};
    return;
  }
  void* const start = end.memory == in_host ? end.host : pointer_to(end.device);
  memory = {start, end.pitch, end.pitch, rows};
  at = {end.x, end.y, z};
}

bool is_memory(int kind) {
  return kind >= in_host && kind <= unified;
}

/// The runtime's copy. Throws ApiError.
Copy3D box_of(const DriverCopy3D* given) {
  require(given != nullptr && is_memory(given->from.memory) && is_memory(given->to.memory));
  DriverCopy3D copy = *given;
  // a row has no pitch of its own
  for (CopyEnd3D* const end : {&copy.from, &copy.to})
    if (end->pitch == 0) end->pitch = end->x + copy.width;
  std::size_t texel = 1;
  for (const CopyEnd3D* const end : {&copy.from, &copy.to})
    if (end->memory == in_array) texel = array_of(end->array).texel_bytes();
  require(copy.width % texel == 0);
  Copy3D made{};
  set_end(copy.from, copy.from.height == 0 ? copy.height : copy.from.height, copy.from.z, made.srcArray, made.srcPtr, made.srcPos, texel);
  set_end(copy.to, copy.to.height == 0 ? copy.height : copy.to.height, copy.to.z, made.dstArray, made.dstPtr, made.dstPos, texel);
  made.extent = {copy.width / texel, copy.height, copy.depth};
  const bool from_host = copy.from.memory == in_host, to_host = copy.to.memory == in_host;
  made.kind = from_host ? (to_host ? host_to_host : host_to_device) : to_host ? device_to_host : device_to_device;
  if (copy.from.memory == unified || copy.to.memory == unified) made.kind = by_address;
  return made;
}

/// copy(box) of the runtime's box.
template <typename Copy>
Error with_box(const DriverCopy3D* given, Copy copy) {
  const std::lock_guard lock(mutex());
  try {
    const Copy3D box = box_of(given);
    return copy(&box);
  } catch (const ApiError& e) {
    return e.code;
  }
}

Error copy_box(const DriverCopy3D* given, Stream* stream, bool waits) {
  return with_box(given, [&](const Copy3D* box) { return waits ? cudaMemcpy3D(box) : cudaMemcpy3DAsync(box, stream); });
}

/// Whether both ends name a context, but for arrays, which have one.
bool has_contexts(const DriverCopy3D* peers) {
  const auto has_context = [](const CopyEnd3D& end) { return end.memory == in_array || is_context(end.context); };
  return peers == nullptr || (has_context(peers->from) && has_context(peers->to));
}

Error copy_rows(const DriverCopy2D* given, Stream* stream, bool waits) {
  if (given == nullptr) return cudaErrorInvalidValue;
  const auto end = [](const CopyEnd& e) {
    return CopyEnd3D{.x = e.x,
                     .y = e.y,
                     .z = 0,
                     .level = 0,
                     .memory = e.memory,
                     .host = e.host,
                     .device = e.device,
                     .array = e.array,
                     .context = nullptr,
                     .pitch = e.pitch,
                     .height = 0};
  };
  const DriverCopy3D copy{end(given->from), end(given->to), given->width, given->height, 1};
  return copy_box(&copy, stream, waits);
}

/// CUarray_format; 0 for what it has no number for.
int format_number(const ChannelFormat& format) {
  for (const FormatRow& row : formats)
    if (row.bits == format.x && row.kind == format.kind) return row.format;
  return 0;
}

DeviceAddress device_address(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory);
}

ResourceDescription resource_of(const DriverResource& given) {
  ResourceDescription made{};
  made.type = static_cast<ResourceDescription::Type>(given.type);
  switch (made.type) {
    case ResourceDescription::array: made.of.array = given.of.array; break;
    case ResourceDescription::mipmap: made.of.mipmap = given.of.mipmap; break;
    case ResourceDescription::linear:
      made.of.linear = {pointer_to(given.of.linear.memory), channel_format(given.of.linear.format, given.of.linear.channels),
                        given.of.linear.bytes};
      break;
    case ResourceDescription::pitched:
      made.of.pitched = {pointer_to(given.of.pitched.memory), channel_format(given.of.pitched.format, given.of.pitched.channels),
                         given.of.pitched.width, given.of.pitched.height, given.of.pitched.pitch};
      break;
  }
  return made;
}

TextureDescription sampling_of(const DriverSampling& given) {
  TextureDescription made{};
  std::memcpy(made.address, given.address, sizeof made.address);
  std::memcpy(made.border, given.border, sizeof made.border);
  made.filter = given.filter;
  made.level_filter = given.level_filter;
  made.read = (given.flags & read_as_integer) != 0 ? 0 : 1;
  made.normalised = (given.flags & normalised) != 0 ? 1 : 0;
  made.srgb = (given.flags & srgb) != 0 ? 1 : 0;
  made.level_bias = given.level_bias;
  made.least_level = given.least_level;
  made.most_level = given.most_level;
  return made;
}

DriverResource of_driver(const ResourceDescription& given) {
  DriverResource made{};
  made.type = given.type;
  const auto channels = [](const ChannelFormat& format) { return static_cast<unsigned>(channels_of(format)); };
  switch (given.type) {
    case ResourceDescription::array: made.of.array = given.of.array; break;
    case ResourceDescription::mipmap: made.of.mipmap = given.of.mipmap; break;
    case ResourceDescription::linear: {
      const auto& [memory, format, bytes] = given.of.linear;
      made.of.linear = {device_address(memory), format_number(format), channels(format), bytes};
      break;
    }
    case ResourceDescription::pitched: {
      const auto& [memory, format, width, height, pitch] = given.of.pitched;
      made.of.pitched = {device_address(memory), format_number(format), channels(format), width, height, pitch};
      break;
    }
  }
  return made;
}

DriverSampling of_driver(const TextureDescription& given) {
  DriverSampling made{};
  std::memcpy(made.address, given.address, sizeof made.address);
  std::memcpy(made.border, given.border, sizeof made.border);
  made.filter = given.filter;
  made.level_filter = given.level_filter;
  made.anisotropy = given.anisotropy;
  made.flags = (given.read == 0 ? read_as_integer : 0u) | (given.normalised != 0 ? normalised : 0u) | (given.srgb != 0 ? srgb : 0u);
  made.level_bias = given.level_bias;
  made.least_level = given.least_level;
  made.most_level = given.most_level;
  return made;
}

}  // namespace

WARPMAT_CUDA_API int cuArrayCreate_v2(Array** array, const ArrayDescription* given) {
  return in_context([&] {
    if (given == nullptr) return cudaErrorInvalidValue;
    const ChannelFormat format = channel_format(given->format, given->channels);
    return cudaMallocArray(array, &format, given->width, given->height, 0);
  });
}

WARPMAT_CUDA_API int cuArray3DCreate_v2(Array** array, const ArrayDescription3D* given) {
  return in_context([&] {
    if (given == nullptr) return cudaErrorInvalidValue;
    const ChannelFormat format = channel_format(given->format, given->channels);
    return cudaMalloc3DArray(array, &format, {given->width, given->height, given->depth}, given->flags);
  });
}

WARPMAT_CUDA_API int cuArrayDestroy(Array* array) {
  return in_context([&] { return array == nullptr ? cudaErrorInvalidResourceHandle : cudaFreeArray(array); });
}

WARPMAT_CUDA_API int cuArray3DGetDescriptor_v2(ArrayDescription3D* description, const Array* array) {
  return in_context([&] {
    return call("cuArray3DGetDescriptor", [&](Context&) {
      const Array& found = array_of(array);
      require(description != nullptr);
      *description = {found.extent.width,
                      found.extent.height,
                      found.extent.depth,
                      format_number(found.format),
                      static_cast<unsigned>(channels_of(found.format)),
                      found.flags};
    });
  });
}

WARPMAT_CUDA_API int cuArrayGetDescriptor_v2(ArrayDescription* description, const Array* array) {
  ArrayDescription3D all{};
  const int error = description == nullptr ? static_cast<int>(cudaErrorInvalidValue) : cuArray3DGetDescriptor_v2(&all, array);
  if (error == 0) *description = {all.width, all.height, all.format, all.channels};
  return error;
}

WARPMAT_CUDA_API int cuMipmappedArrayCreate(MipmappedArray** mipmap, const ArrayDescription3D* given, unsigned levels) {
  return in_context([&] {
    if (given == nullptr) return cudaErrorInvalidValue;
    const ChannelFormat format = channel_format(given->format, given->channels);
    return cudaMallocMipmappedArray(mipmap, &format, {given->width, given->height, given->depth}, levels, given->flags);
  });
}

WARPMAT_CUDA_API int cuMipmappedArrayGetLevel(Array** array, const MipmappedArray* mipmap, unsigned level) {
  return in_context([&] { return cudaGetMipmappedArrayLevel(array, mipmap, level); });
}

WARPMAT_CUDA_API int cuMipmappedArrayDestroy(MipmappedArray* mipmap) {
  return in_context([&] { return cudaFreeMipmappedArray(mipmap); });
}

WARPMAT_CUDA_API int cuMemcpy2D_v2(const DriverCopy2D* copy) {
  return in_context([&] { return copy_rows(copy, nullptr, true); });
}

WARPMAT_CUDA_API int cuMemcpy2DUnaligned_v2(const DriverCopy2D* copy) {
  return cuMemcpy2D_v2(copy);
}

WARPMAT_CUDA_API int cuMemcpy2DAsync_v2(const DriverCopy2D* copy, Stream* stream) {
  return in_context([&] { return copy_rows(copy, stream, false); });
}

WARPMAT_CUDA_API int cuMemcpy3D_v2(const DriverCopy3D* copy) {
  return in_context([&] { return copy_box(copy, nullptr, true); });
}

WARPMAT_CUDA_API int cuMemcpy3DPeer(const DriverCopy3D* copy) {
  return in_context([&] { return has_contexts(copy) ? copy_box(copy, nullptr, true) : cudaErrorDeviceUninitialized; });
}

WARPMAT_CUDA_API int cuMemcpy3DPeerAsync(const DriverCopy3D* copy, Stream* stream) {
  return in_context([&] { return has_contexts(copy) ? copy_box(copy, stream, false) : cudaErrorDeviceUninitialized; });
}

WARPMAT_CUDA_API int cuMemcpy3DAsync_v2(const DriverCopy3D* copy, Stream* stream) {
  return in_context([&] { return copy_box(copy, stream, false); });
}

WARPMAT_CUDA_API int cuGraphAddMemcpyNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count,
                                          const DriverCopy3D* copy, void*) {
  return in_context(
      [&] { return with_box(copy, [&](const Copy3D* box) { return cudaGraphAddMemcpyNode(node, graph, after, count, box); }); });
}

WARPMAT_CUDA_API int cuGraphMemcpyNodeSetParams(GraphNode* node, const DriverCopy3D* copy) {
  return in_context([&] { return with_box(copy, [&](const Copy3D* box) { return cudaGraphMemcpyNodeSetParams(node, box); }); });
}

WARPMAT_CUDA_API int cuGraphExecMemcpyNodeSetParams(Graph* executable, GraphNode* node, const DriverCopy3D* copy, void*) {
  return in_context(
      [&] { return with_box(copy, [&](const Copy3D* box) { return cudaGraphExecMemcpyNodeSetParams(executable, node, box); }); });
}

WARPMAT_CUDA_API int cuMemcpyHtoA_v2(Array* to, std::size_t offset, const void* from, std::size_t bytes) {
  return in_context([&] { return cudaMemcpyToArray(to, offset, 0, from, bytes, host_to_device); });
}

WARPMAT_CUDA_API int cuMemcpyDtoA_v2(Array* to, std::size_t offset, DeviceAddress from, std::size_t bytes) {
  return in_context([&] { return cudaMemcpyToArray(to, offset, 0, pointer_to(from), bytes, device_to_device); });
}

WARPMAT_CUDA_API int cuMemcpyAtoH_v2(void* to, const Array* from, std::size_t offset, std::size_t bytes) {
  return in_context([&] { return cudaMemcpyFromArray(to, from, offset, 0, bytes, device_to_host); });
}

WARPMAT_CUDA_API int cuMemcpyAtoD_v2(DeviceAddress to, const Array* from, std::size_t offset, std::size_t bytes) {
  return in_context([&] { return cudaMemcpyFromArray(pointer_to(to), from, offset, 0, bytes, device_to_device); });
}

WARPMAT_CUDA_API int cuTexObjectCreate(std::uint64_t* handle, const DriverResource* resource, const DriverSampling* sampling,
                                       const ResourceView* view) {
  return in_context([&] {
    if (resource == nullptr || sampling == nullptr) return cudaErrorInvalidValue;
    const std::lock_guard lock(mutex());
    const ResourceDescription what = resource_of(*resource);
    const TextureDescription how = sampling_of(*sampling);
    TextureDescription read = how;
    // fractions are for integers of 8 and 16 bits; the driver reads others as they are
    const ChannelFormat* const format = what.type == ResourceDescription::linear    ? &what.of.linear.format
                                        : what.type == ResourceDescription::pitched ? &what.of.pitched.format
                                                                                    : nullptr;
    try {
      const int bits = format != nullptr                         ? format->x
                       : what.type == ResourceDescription::array ? array_of(what.of.array).format.x
                                                                 : levels_of(what.of.mipmap).front()->format.x;
      if (bits == 32) read.read = 0;
    } catch (const ApiError& e) {
      return e.code;
    }
    return cudaCreateTextureObject(handle, &what, &read, view);
  });
}

WARPMAT_CUDA_API int cuTexObjectDestroy(std::uint64_t handle) {
  return in_context([&] { return cudaDestroyTextureObject(handle); });
}

WARPMAT_CUDA_API int cuSurfObjectCreate(std::uint64_t* handle, const DriverResource* resource) {
  return in_context([&] {
    if (resource == nullptr) return cudaErrorInvalidValue;
    const ResourceDescription what = resource_of(*resource);
    return cudaCreateSurfaceObject(handle, &what);
  });
}

WARPMAT_CUDA_API int cuSurfObjectDestroy(std::uint64_t handle) {
  return in_context([&] { return cudaDestroySurfaceObject(handle); });
}

WARPMAT_CUDA_API int cuTexObjectGetResourceViewDesc(ResourceView* view, std::uint64_t handle) {
  return in_context([&] { return cudaGetTextureObjectResourceViewDesc(view, handle); });
}

WARPMAT_CUDA_API int cuTexObjectGetTextureDesc(DriverSampling* sampling, std::uint64_t handle) {
  return in_context([&] {
    TextureDescription how;
    const Error error = sampling == nullptr ? cudaErrorInvalidValue : cudaGetTextureObjectTextureDesc(&how, handle);
    if (error == cudaSuccess) *sampling = of_driver(how);
    return error;
  });
}

WARPMAT_CUDA_API int cuTexObjectGetResourceDesc(DriverResource* resource, std::uint64_t handle) {
  return in_context([&] {
    ResourceDescription what;
    const Error error = resource == nullptr ? cudaErrorInvalidValue : cudaGetTextureObjectResourceDesc(&what, handle);
    if (error == cudaSuccess) *resource = of_driver(what);
    return error;
  });
}

WARPMAT_CUDA_API int cuSurfObjectGetResourceDesc(DriverResource* resource, std::uint64_t handle) {
  return cuTexObjectGetResourceDesc(resource, handle);
}

WARPMAT_CUDA_PER_THREAD(cuMemcpy2D_v2, ptds)
WARPMAT_CUDA_PER_THREAD(cuMemcpy2DUnaligned_v2, ptds)
WARPMAT_CUDA_PER_THREAD(cuMemcpy2DAsync_v2, ptsz)
WARPMAT_CUDA_PER_THREAD(cuMemcpy3D_v2, ptds)
WARPMAT_CUDA_PER_THREAD(cuMemcpy3DAsync_v2, ptsz)
WARPMAT_CUDA_PER_THREAD(cuMemcpy3DPeer, ptds)
WARPMAT_CUDA_PER_THREAD(cuMemcpy3DPeerAsync, ptsz)
WARPMAT_CUDA_PER_THREAD(cuMemcpyHtoA_v2, ptds)
WARPMAT_CUDA_PER_THREAD(cuMemcpyDtoA_v2, ptds)
WARPMAT_CUDA_PER_THREAD(cuMemcpyAtoH_v2, ptds)
WARPMAT_CUDA_PER_THREAD(cuMemcpyAtoD_v2, ptds)

}  // namespace warpmat::cuda
