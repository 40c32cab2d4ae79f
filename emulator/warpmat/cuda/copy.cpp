// Copies and fills. Both ends of a copy are checked when it is enqueued, as by CUDA.

#include <algorithm>
#include <cstring>

#include <warpmat/cuda/array.h>
#include <warpmat/cuda/copy.h>
#include <warpmat/cuda/graph.h>
#include <warpmat/cuda/per_thread.h>
#include <warpmat/cuda/registration.h>
#include <warpmat/cuda/stream.h>

namespace warpmat::cuda {
namespace {

/// Boxes of bytes: `width` bytes in each of `height` rows in each of `depth` slices.
struct Box {
  std::size_t width = 0, height = 1, depth = 1;
  bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

/// The distance of rows and slices in memory.
struct Pitch {
  std::size_t row = 0, slice = 0;
};

/// The bytes from the first one of a box to its last one.
std::size_t reach(const Box& box, const Pitch& pitch) {
  return (box.depth - 1) * pitch.slice + (box.height - 1) * pitch.row + box.width;
}

bool is_host(CopyKind kind, bool destination) {
  return kind == host_to_host || kind == (destination ? device_to_host : host_to_device);
}

std::uint8_t* end_of_copy(Context& context, const void* at, std::size_t bytes, CopyKind kind, bool destination) {
  if (kind == by_address || kind == host_to_host) return context.space.any_bytes(at, bytes);
  return is_host(kind, destination) ? context.space.host_bytes(at, bytes) : context.space.device_bytes(at, bytes);
}

/// Where a copy begins at one end.
struct End {
  std::uint8_t* bytes = nullptr;
  Pitch pitch;
};

/// The place of a box in an array; x counts bytes. Throws ApiError where the box does not lie in it.
End end_in_array(Context& context, const Array* handle, const Position& at, const Box& box) {
  const Array& array = array_of(handle);
  const Pitch pitch{array.row_bytes(), array.row_bytes() * array.rows()};
  require(at.x <= pitch.row && box.width <= pitch.row - at.x && at.y <= array.rows() && box.height <= array.rows() - at.y &&
          at.z <= array.slices() && box.depth <= array.slices() - at.z);
  std::uint8_t* const start = context.space.memory().bytes(array.address, pitch.slice * array.slices()).data();
  return {start + at.z * pitch.slice + at.y * pitch.row + at.x, pitch};
}

End end_in_memory(Context& context, const void* at, const Pitch& pitch, const Box& box, CopyKind kind, bool destination) {
  require(box.height == 1 || pitch.row >= box.width, cudaErrorInvalidPitchValue);
  return {end_of_copy(context, at, reach(box, pitch), kind, destination), pitch};
}

GraphNode copy_node(const End& to, const End& from, const Box& box) {
  const auto work = [=](Context&) {
    for (std::size_t z = 0; z < box.depth; ++z)
      for (std::size_t y = 0; y < box.height; ++y)
        std::memmove(to.bytes + z * to.pitch.slice + y * to.pitch.row, from.bytes + z * from.pitch.slice + y * from.pitch.row, box.width);
  };
  return {.type = NodeType::copy, .work = work};
}

GraphNode empty_copy() {
  return {.type = NodeType::copy, .work = [](Context&) {}};
}

void check_kind(CopyKind kind) {
  require(kind >= host_to_host && kind <= by_address, cudaErrorInvalidMemcpyDirection);
}

GraphNode copy_node(Context& context, void* to, Pitch to_pitch, const void* from, Pitch from_pitch, Box box, CopyKind kind) {
  check_kind(kind);
  if (box.empty()) return empty_copy();
  return copy_node(end_in_memory(context, to, to_pitch, box, kind, true), end_in_memory(context, from, from_pitch, box, kind, false), box);
}

void copy_box(Context& context, Stream* stream, void* to, Pitch to_pitch, const void* from, Pitch from_pitch, Box box, CopyKind kind) {
  submit(context, stream, copy_node(context, to, to_pitch, from, from_pitch, box, kind));
}

void fill_box(Context& context, Stream* stream, void* to, Pitch pitch, int value, Box box) {
  if (box.empty()) return;
  require(box.height == 1 || pitch.row >= box.width);
  std::uint8_t* const target = context.space.device_bytes(to, reach(box, pitch));
  const auto work = [=](Context&) {
    for (std::size_t z = 0; z < box.depth; ++z)
      for (std::size_t y = 0; y < box.height; ++y) std::memset(target + z * pitch.slice + y * pitch.row, value, box.width);
  };
  submit(context, stream, {.type = NodeType::fill, .work = work});
}

void copy_bytes(Context& context, Stream* stream, void* to, const void* from, std::size_t bytes, CopyKind kind) {
  copy_box(context, stream, to, {}, from, {}, {.width = bytes}, kind);
}

/// The first byte of a box in pitched memory.
std::uint8_t* start(const PitchedPointer& memory, const Position& position) {
  return static_cast<std::uint8_t*>(memory.ptr) + (position.z * memory.ysize + position.y) * memory.pitch + position.x;
}

/// Rows of an array, at x bytes and y rows in it, from or into memory.
struct ArrayCopy {
  const Array* array;
  std::size_t x, y;
  const void* memory;
  std::size_t pitch;
  Box box;
  CopyKind kind;
  bool into_array;
};

void copy_rows(Context& context, Stream* stream, const ArrayCopy& copy) {
  check_kind(copy.kind);
  require(copy.kind != host_to_host && copy.kind != (copy.into_array ? device_to_host : host_to_device), cudaErrorInvalidMemcpyDirection);
  array_of(copy.array);
  if (copy.box.empty()) return submit(context, stream, empty_copy());
  require(copy.box.width <= copy.pitch, cudaErrorInvalidPitchValue);
  const End in_array = end_in_array(context, copy.array, {copy.x, copy.y, 0}, copy.box);
  const End in_memory = end_in_memory(context, copy.memory, {copy.pitch, 0}, copy.box, copy.kind, !copy.into_array);
  submit(context, stream, copy.into_array ? copy_node(in_array, in_memory, copy.box) : copy_node(in_memory, in_array, copy.box));
}

/// `bytes` consecutive bytes of an array's rows, from byte x of row y on: a row of memory, as rows of an array touch each other.
void copy_along(Context& context, Stream* stream, ArrayCopy copy, std::size_t bytes) {
  check_kind(copy.kind);
  const Array& array = array_of(copy.array);
  const std::size_t all = array.row_bytes() * array.rows(), first = copy.y * array.row_bytes() + copy.x;
  require(first <= all && bytes <= all - first);
  if (bytes == 0) return;
  const Box box{.width = bytes};
  End in_array = end_in_array(context, copy.array, {}, {});
  in_array.bytes += first;
  const End in_memory = end_in_memory(context, copy.memory, {}, box, copy.kind, !copy.into_array);
  submit(context, stream, copy.into_array ? copy_node(in_array, in_memory, box) : copy_node(in_memory, in_array, box));
}

void copy_3d(Context& context, Stream* stream, const Copy3D* copy) {
  require(copy != nullptr);
  submit(context, stream, copy_node(context, *copy));
}

void copy_to_symbol(Context& context, Stream* stream, const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                    CopyKind kind) {
  require(kind == host_to_device || kind == device_to_device || kind == by_address, cudaErrorInvalidMemcpyDirection);
  copy_bytes(context, stream, variable_at(context, symbol, offset, bytes), from, bytes, kind);
}

void copy_from_symbol(Context& context, Stream* stream, void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                      CopyKind kind) {
  require(kind == device_to_host || kind == device_to_device || kind == by_address, cudaErrorInvalidMemcpyDirection);
  copy_bytes(context, stream, to, variable_at(context, symbol, offset, bytes), bytes, kind);
}

}  // namespace

/// Where an array takes part, x and width count its texels; of memory x counts bytes.
GraphNode copy_node(Context& context, const Copy3D& copy) {
  check_kind(copy.kind);
  const Array* const array = copy.srcArray != nullptr ? copy.srcArray : copy.dstArray;
  const std::size_t texel = array == nullptr ? 1 : array_of(array).texel_bytes();
  if (copy.srcArray != nullptr && copy.dstArray != nullptr) require(array_of(copy.dstArray).texel_bytes() == texel);
  const Box box{copy.extent.width * texel, copy.extent.height, copy.extent.depth};
  const auto end = [&](const Array* in, const PitchedPointer& memory, const Position& at, bool destination) {
    if (in != nullptr) return end_in_array(context, in, {at.x * texel, at.y, at.z}, box);
    return end_in_memory(context, start(memory, at), {memory.pitch, memory.pitch * memory.ysize}, box, copy.kind, destination);
  };
  GraphNode node =
      box.empty() ? empty_copy()
                  : copy_node(end(copy.dstArray, copy.dstPtr, copy.dstPos, true), end(copy.srcArray, copy.srcPtr, copy.srcPos, false), box);
  node.made_from = copy;
  return node;
}

GraphNode fill_node(Context& context, const Fill& fill) {
  require(fill.elementSize == 1 || fill.elementSize == 2 || fill.elementSize == 4);
  const std::size_t row = fill.width * fill.elementSize, height = std::max<std::size_t>(fill.height, 1);
  require(height == 1 || fill.pitch >= row, cudaErrorInvalidPitchValue);
  std::uint8_t* const to = row == 0 ? nullptr : context.space.device_bytes(fill.dst, (height - 1) * fill.pitch + row);
  const auto work = [=](Context&) {
    for (std::size_t y = 0; y < height; ++y)
      for (std::size_t x = 0; x < row; ++x) to[y * fill.pitch + x] = static_cast<std::uint8_t>(fill.value >> 8 * (x % fill.elementSize));
  };
  return {.type = NodeType::fill, .work = work, .made_from = fill};
}

void* variable_at(Context& context, const void* shadow, std::size_t offset, std::size_t bytes) {
  const Symbol& symbol = symbol_of(shadow);
  require(offset <= symbol.bytes && bytes <= symbol.bytes - offset);
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(symbol.module->variable(context, symbol.name) + offset));
}

WARPMAT_CUDA_API Error cudaMemcpy(void* to, const void* from, std::size_t bytes, CopyKind kind) {
  return call(__func__, [&](Context& context) { copy_bytes(context, nullptr, to, from, bytes, kind); });
}

WARPMAT_CUDA_API Error cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, CopyKind kind, Stream* stream) {
  return enqueue(__func__, [&](Context& context) { copy_bytes(context, stream, to, from, bytes, kind); });
}

WARPMAT_CUDA_API Error cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
  return call(__func__, [&](Context& context) {
    require(to_device == 0 && from_device == 0, cudaErrorInvalidDevice);
    copy_bytes(context, nullptr, to, from, bytes, device_to_device);
  });
}

WARPMAT_CUDA_API Error cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes, Stream* stream) {
  return enqueue(__func__, [&](Context& context) {
    require(to_device == 0 && from_device == 0, cudaErrorInvalidDevice);
    copy_bytes(context, stream, to, from, bytes, device_to_device);
  });
}

WARPMAT_CUDA_API Error cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                                         std::size_t height, CopyKind kind, Stream* stream) {
  return enqueue(__func__, [&](Context& context) {
    require(width <= to_pitch && width <= from_pitch, cudaErrorInvalidPitchValue);
    copy_box(context, stream, to, {to_pitch, 0}, from, {from_pitch, 0}, {width, height}, kind);
  });
}

WARPMAT_CUDA_API Error cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                                    std::size_t height, CopyKind kind) {
  return call(__func__, [&](Context& context) {
    require(width <= to_pitch && width <= from_pitch, cudaErrorInvalidPitchValue);
    copy_box(context, nullptr, to, {to_pitch, 0}, from, {from_pitch, 0}, {width, height}, kind);
  });
}

WARPMAT_CUDA_API Error cudaMemcpy3DAsync(const Copy3D* copy, Stream* stream) {
  return enqueue(__func__, [&](Context& context) { copy_3d(context, stream, copy); });
}

WARPMAT_CUDA_API Error cudaMemcpy3D(const Copy3D* copy) {
  return call(__func__, [&](Context& context) { copy_3d(context, nullptr, copy); });
}

WARPMAT_CUDA_API Error cudaMemcpy2DToArrayAsync(Array* to, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                                                std::size_t width, std::size_t height, CopyKind kind, Stream* stream) {
  return enqueue(__func__, [&](Context& context) { copy_rows(context, stream, {to, x, y, from, pitch, {width, height}, kind, true}); });
}

WARPMAT_CUDA_API Error cudaMemcpy2DToArray(Array* to, std::size_t x, std::size_t y, const void* from, std::size_t pitch, std::size_t width,
                                           std::size_t height, CopyKind kind) {
  return call(__func__, [&](Context& context) { copy_rows(context, nullptr, {to, x, y, from, pitch, {width, height}, kind, true}); });
}

WARPMAT_CUDA_API Error cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, const Array* from, std::size_t x, std::size_t y,
                                                  std::size_t width, std::size_t height, CopyKind kind, Stream* stream) {
  return enqueue(__func__, [&](Context& context) { copy_rows(context, stream, {from, x, y, to, pitch, {width, height}, kind, false}); });
}

WARPMAT_CUDA_API Error cudaMemcpy2DFromArray(void* to, std::size_t pitch, const Array* from, std::size_t x, std::size_t y,
                                             std::size_t width, std::size_t height, CopyKind kind) {
  return call(__func__, [&](Context& context) { copy_rows(context, nullptr, {from, x, y, to, pitch, {width, height}, kind, false}); });
}

WARPMAT_CUDA_API Error cudaMemcpy2DArrayToArray(Array* to, std::size_t to_x, std::size_t to_y, const Array* from, std::size_t from_x,
                                                std::size_t from_y, std::size_t width, std::size_t height, CopyKind kind) {
  return call(__func__, [&](Context& context) {
    check_kind(kind);
    const Box box{width, height};
    const End target = end_in_array(context, to, {to_x, to_y, 0}, box), source = end_in_array(context, from, {from_x, from_y, 0}, box);
    submit(context, nullptr, copy_node(target, source, box));
  });
}

WARPMAT_CUDA_API Error cudaMemcpyToArrayAsync(Array* to, std::size_t x, std::size_t y, const void* from, std::size_t bytes, CopyKind kind,
                                              Stream* stream) {
  return enqueue(__func__, [&](Context& context) { copy_along(context, stream, {to, x, y, from, 0, {}, kind, true}, bytes); });
}

WARPMAT_CUDA_API Error cudaMemcpyToArray(Array* to, std::size_t x, std::size_t y, const void* from, std::size_t bytes, CopyKind kind) {
  return call(__func__, [&](Context& context) { copy_along(context, nullptr, {to, x, y, from, 0, {}, kind, true}, bytes); });
}

WARPMAT_CUDA_API Error cudaMemcpyFromArrayAsync(void* to, const Array* from, std::size_t x, std::size_t y, std::size_t bytes, CopyKind kind,
                                                Stream* stream) {
  return enqueue(__func__, [&](Context& context) { copy_along(context, stream, {from, x, y, to, 0, {}, kind, false}, bytes); });
}

WARPMAT_CUDA_API Error cudaMemcpyFromArray(void* to, const Array* from, std::size_t x, std::size_t y, std::size_t bytes, CopyKind kind) {
  return call(__func__, [&](Context& context) { copy_along(context, nullptr, {from, x, y, to, 0, {}, kind, false}, bytes); });
}

WARPMAT_CUDA_API Error cudaMemset(void* to, int value, std::size_t bytes) {
  return call(__func__, [&](Context& context) { fill_box(context, nullptr, to, {}, value, {.width = bytes}); });
}

WARPMAT_CUDA_API Error cudaMemsetAsync(void* to, int value, std::size_t bytes, Stream* stream) {
  return enqueue(__func__, [&](Context& context) { fill_box(context, stream, to, {}, value, {.width = bytes}); });
}

WARPMAT_CUDA_API Error cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height, Stream* stream) {
  return enqueue(__func__, [&](Context& context) { fill_box(context, stream, to, {pitch, 0}, value, {width, height}); });
}

WARPMAT_CUDA_API Error cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return call(__func__, [&](Context& context) { fill_box(context, nullptr, to, {pitch, 0}, value, {width, height}); });
}

WARPMAT_CUDA_API Error cudaMemset3DAsync(PitchedPointer to, int value, Extent extent, Stream* stream) {
  return enqueue(__func__, [&](Context& context) {
    fill_box(context, stream, to.ptr, {to.pitch, to.pitch * to.ysize}, value, {extent.width, extent.height, extent.depth});
  });
}

WARPMAT_CUDA_API Error cudaMemset3D(PitchedPointer to, int value, Extent extent) {
  return call(__func__, [&](Context& context) {
    fill_box(context, nullptr, to.ptr, {to.pitch, to.pitch * to.ysize}, value, {extent.width, extent.height, extent.depth});
  });
}

WARPMAT_CUDA_API Error cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset, CopyKind kind) {
  return call(__func__, [&](Context& context) { copy_to_symbol(context, nullptr, symbol, from, bytes, offset, kind); });
}

WARPMAT_CUDA_API Error cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes, std::size_t offset, CopyKind kind,
                                               Stream* stream) {
  return enqueue(__func__, [&](Context& context) { copy_to_symbol(context, stream, symbol, from, bytes, offset, kind); });
}

WARPMAT_CUDA_API Error cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset, CopyKind kind) {
  return call(__func__, [&](Context& context) { copy_from_symbol(context, nullptr, to, symbol, bytes, offset, kind); });
}

WARPMAT_CUDA_API Error cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes, std::size_t offset, CopyKind kind,
                                                 Stream* stream) {
  return enqueue(__func__, [&](Context& context) { copy_from_symbol(context, stream, to, symbol, bytes, offset, kind); });
}

WARPMAT_CUDA_API Error cudaGetSymbolAddress(void** address, const void* symbol) {
  return call(__func__, [&](Context& context) {
    require(address != nullptr);
    *address = variable_at(context, symbol, 0, 0);
  });
}

WARPMAT_CUDA_API Error cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return call(__func__, [&](Context&) {
    require(bytes != nullptr);
    *bytes = symbol_of(symbol).bytes;
  });
}

WARPMAT_CUDA_PER_THREAD(cudaMemcpy, ptds)
WARPMAT_CUDA_PER_THREAD(cudaMemcpyAsync, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaMemcpy2D, ptds)
WARPMAT_CUDA_PER_THREAD(cudaMemcpy2DAsync, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaMemcpy3D, ptds)
WARPMAT_CUDA_PER_THREAD(cudaMemcpy3DAsync, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaMemcpy2DToArray, ptds)
WARPMAT_CUDA_PER_THREAD(cudaMemcpy2DToArrayAsync, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaMemcpy2DFromArray, ptds)
WARPMAT_CUDA_PER_THREAD(cudaMemcpy2DFromArrayAsync, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaMemcpy2DArrayToArray, ptds)
WARPMAT_CUDA_PER_THREAD(cudaMemcpyToArray, ptds)
WARPMAT_CUDA_PER_THREAD(cudaMemcpyToArrayAsync, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaMemcpyFromArray, ptds)
WARPMAT_CUDA_PER_THREAD(cudaMemcpyFromArrayAsync, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaMemset, ptds)
WARPMAT_CUDA_PER_THREAD(cudaMemsetAsync, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaMemset2D, ptds)
WARPMAT_CUDA_PER_THREAD(cudaMemset2DAsync, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaMemset3D, ptds)
WARPMAT_CUDA_PER_THREAD(cudaMemset3DAsync, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaMemcpyToSymbol, ptds)
WARPMAT_CUDA_PER_THREAD(cudaMemcpyToSymbolAsync, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaMemcpyFromSymbol, ptds)
WARPMAT_CUDA_PER_THREAD(cudaMemcpyFromSymbolAsync, ptsz)

}  // namespace warpmat::cuda
