// Copies and fills. Both ends of a copy are checked when it is enqueued, as by CUDA.

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <warpmat/cuda/array.h>
#include <warpmat/cuda/copy.h>
#include <warpmat/cuda/graph.h>
#include <warpmat/cuda/per_thread.h>
#include <warpmat/cuda/registration.h>
#include <warpmat/cuda/stream.h>
#include <warpmat/cuda/waiting.h>

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

constexpr std::size_t most_pitch = 0x7fffffff;  ///< cudaDeviceProp::memPitch

/// The bytes from the first one of a box to its last one.
std::size_t reach(const Box& box, const Pitch& pitch) {
  return known(CheckedSize(box.depth - 1) * pitch.slice + CheckedSize(box.height - 1) * pitch.row + box.width);
}

bool is_host(CopyKind kind, bool destination) {
  return kind == host_to_host || kind == (destination ? device_to_host : host_to_device);
}

/// Where a box lies at one end of a copy or fill. A graph may keep it longer than the program keeps the memory.
struct End {
  enum class In : std::uint8_t { host, device, either };
  const void* at = nullptr;
  In in = In::device;
  Pitch pitch;

  /// The first byte. Throws ApiError unless one range has the whole box.
  std::uint8_t* bytes(Context& context, const Box& box) const {
    switch (in) {
      case In::host: return context.space.host_bytes(at, reach(box, pitch));
      case In::device: return context.space.device_bytes(at, reach(box, pitch));
      case In::either: break;
    }
    return context.space.any_bytes(at, reach(box, pitch));
  }
};

End::In place_of(CopyKind kind, bool destination) {
  if (kind == by_address || kind == host_to_host) return End::In::either;
  return is_host(kind, destination) ? End::In::host : End::In::device;
}

const void* at_address(std::uint64_t address) {
  return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address));
}

/// The place of a box in an array; x counts bytes. Throws ApiError where the box does not lie in it.
End end_in_array(const Array* handle, const Position& at, const Box& box) {
  const Array& array = array_of(handle);
  const Pitch pitch{array.row_bytes(), array.row_bytes() * array.rows()};
  require(at.x <= pitch.row && box.width <= pitch.row - at.x && at.y <= array.rows() && box.height <= array.rows() - at.y &&
          at.z <= array.slices() && box.depth <= array.slices() - at.z);
  return {at_address(array.address + at.z * pitch.slice + at.y * pitch.row + at.x), End::In::device, pitch};
}

End end_in_memory(const void* at, const Pitch& pitch, const Box& box, CopyKind kind, bool destination) {
  const bool one_row = box.height == 1 && box.depth == 1;
  require(one_row || (pitch.row >= box.width && pitch.row <= most_pitch), cudaErrorInvalidPitchValue);
  return {at, place_of(kind, destination), pitch};
}

HostRange range_of(const std::uint8_t* first, const Box& box, const Pitch& pitch) {
  return {reinterpret_cast<std::uintptr_t>(first), reach(box, pitch)};
}

/// Calls visit(offset in the target, offset in the source) for each row of a box.
template <typename Visit>
void for_each_row(const Box& box, const Pitch& to, const Pitch& from, Visit visit) {
  for (std::size_t z = 0; z < box.depth; ++z)
    for (std::size_t y = 0; y < box.height; ++y) visit(z * to.slice + y * to.row, z * from.slice + y * from.row);
}

const void* behind(const void* at, std::size_t offset) {
  return static_cast<const std::uint8_t*>(at) + offset;
}

/// Warns of bytes that a copy brings where their state is not known: to the host, most often.
class UnwrittenWarning {
 public:
  void add(const Context& context, const void* from, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes;) {
      const auto found = context.space.find_unwritten(behind(from, at), bytes - at);
      if (!found) return;
      if (count_ == 0) first_ = found->address;
      count_ += found->bytes;
      at = found->address + found->bytes - reinterpret_cast<std::uintptr_t>(from);
    }
  }
  void tell(const Context& context, std::size_t all) const {
    if (count_ == 0) return;
    const std::string place = context.space.memory().describe(first_);
    say_once(fmt::format("warning: a copy from the device has {} bytes of {} that nobody has written, the first at {:#x}: {}", count_, all,
                         first_, place),
             fmt::format("unwritten {}", context.space.memory().find(first_)->name));
  }

 private:
  std::uint64_t count_ = 0, first_ = 0;
};

/// With Checks::global: the bytes at the target are those of the source, written or not.
void note_copy(Context& context, const End& to, const End& from, const Box& box) {
  if (!context.settings.checks.global) return;
  UnwrittenWarning warning;
  for_each_row(box, to.pitch, from.pitch, [&](std::size_t target, std::size_t source) {
    context.space.note_copied(behind(to.at, target), behind(from.at, source), box.width);
    if (!context.space.is_followed(to.at)) warning.add(context, behind(from.at, source), box.width);
  });
  warning.tell(context, box.width * box.height * box.depth);
}

void note_fill(Context& context, const End& to, const Box& box) {
  for_each_row(box, to.pitch, to.pitch, [&](std::size_t row, std::size_t) { context.space.note_written(behind(to.at, row), box.width); });
}

/// A box of bytes and where it goes.
struct Transfer {
  End to, from;
  Box box;
};

Work work_of(const Transfer& transfer) {
  return [to = transfer.to, from = transfer.from, box = transfer.box](Context& state) {
    std::uint8_t* const target = to.bytes(state, box);
    const std::uint8_t* const source = from.bytes(state, box);
    access_host({range_of(target, box, to.pitch), range_of(source, box, from.pitch)}, [&] {
      for_each_row(box, to.pitch, from.pitch,
                   [&](std::size_t in_target, std::size_t in_source) { std::memmove(target + in_target, source + in_source, box.width); });
    });
    note_copy(state, to, from, box);
  };
}

GraphNode copy_node(Context& context, const Transfer& transfer) {
  static_cast<void>(transfer.to.bytes(context, transfer.box));
  static_cast<void>(transfer.from.bytes(context, transfer.box));
  return {.type = NodeType::copy, .work = work_of(transfer)};
}

GraphNode empty_copy() {
  return {.type = NodeType::copy, .work = [](Context&) {}};
}

void check_kind(CopyKind kind) {
  require(kind >= host_to_host && kind <= by_address, cudaErrorInvalidMemcpyDirection);
}

/// Memory of the program that no call has made known: a copy uses it before the call returns.
bool is_pageable(const Context& context, const End& end) {
  return context.space.find(end.at) == nullptr && !context.space.is_device_address(end.at);
}

/// The work, with a source of its own.
Work with_own_source(Context& context, Transfer transfer) {
  const std::uint8_t* const first = transfer.from.bytes(context, transfer.box);
  const auto kept = std::make_shared<std::vector<std::uint8_t>>(reach(transfer.box, transfer.from.pitch));
  access_host({range_of(first, transfer.box, transfer.from.pitch)}, [&] { std::memcpy(kept->data(), first, kept->size()); });
  transfer.from.at = kept->data();
  return [kept, work = work_of(transfer)](Context& state) { work(state); };
}

void submit_copy(Context& context, Stream* stream, GraphNode node, const Transfer& transfer) {
  const bool waits = stream_of(stream).capture == nullptr && is_busy(context, stream);
  if (waits && is_pageable(context, transfer.from)) node.work = with_own_source(context, transfer);
  submit(context, stream, std::move(node));
  if (waits && is_pageable(context, transfer.to)) finish(context, stream);
}

void submit_copy(Context& context, Stream* stream, const Transfer& transfer) {
  submit_copy(context, stream, copy_node(context, transfer), transfer);
}

void copy_box(Context& context, Stream* stream, void* to, Pitch to_pitch, const void* from, Pitch from_pitch, Box box, CopyKind kind) {
  check_kind(kind);
  if (box.empty()) return submit(context, stream, empty_copy());
  submit_copy(context, stream, {end_in_memory(to, to_pitch, box, kind, true), end_in_memory(from, from_pitch, box, kind, false), box});
}

void fill_box(Context& context, Stream* stream, void* to, Pitch pitch, int value, Box box) {
  if (box.empty()) return;
  require_access(context, stream, to);
  require((box.height == 1 && box.depth == 1) || (pitch.row >= box.width && pitch.row <= most_pitch));
  const End end{to, End::In::device, pitch};
  static_cast<void>(end.bytes(context, box));
  const auto work = [=](Context& state) {
    std::uint8_t* const target = end.bytes(state, box);
    access_host({range_of(target, box, pitch)}, [&] {
      for_each_row(box, pitch, pitch, [&](std::size_t row, std::size_t) { std::memset(target + row, value, box.width); });
    });
    note_fill(state, end, box);
  };
  submit(context, stream, {.type = NodeType::fill, .work = work});
}

/// The distance of slices in pitched memory.
Pitch pitch_of(const PitchedPointer& memory) {
  return {memory.pitch, known(CheckedSize(memory.pitch) * memory.ysize)};
}

void copy_bytes(Context& context, Stream* stream, void* to, const void* from, std::size_t bytes, CopyKind kind) {
  copy_box(context, stream, to, {}, from, {}, {.width = bytes}, kind);
}

/// The first byte of a box in pitched memory. Throws ApiError where there is no memory.
const void* start(const PitchedPointer& memory, const Position& position) {
  require(memory.ptr != nullptr);
  const CheckedSize offset = (CheckedSize(position.z) * memory.ysize + position.y) * memory.pitch + position.x;
  return at_address(known(offset + reinterpret_cast<std::uintptr_t>(memory.ptr)));
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
  const End in_array = end_in_array(copy.array, {copy.x, copy.y, 0}, copy.box);
  const End in_memory = end_in_memory(copy.memory, {copy.pitch, 0}, copy.box, copy.kind, !copy.into_array);
  submit_copy(context, stream, {copy.into_array ? in_array : in_memory, copy.into_array ? in_memory : in_array, copy.box});
}

/// `bytes` consecutive bytes of an array's rows, from byte x of row y on: a row of memory, as rows of an array touch each other.
void copy_along(Context& context, Stream* stream, ArrayCopy copy, std::size_t bytes) {
  check_kind(copy.kind);
  const Array& array = array_of(copy.array);
  const std::size_t all = array.row_bytes() * array.rows(), first = known(CheckedSize(copy.y) * array.row_bytes() + copy.x);
  require(first <= all && bytes <= all - first);
  if (bytes == 0) return;
  const Box box{.width = bytes};
  const End in_array{at_address(array.address + first), End::In::device, {}};
  const End in_memory = end_in_memory(copy.memory, {}, box, copy.kind, !copy.into_array);
  submit_copy(context, stream, {copy.into_array ? in_array : in_memory, copy.into_array ? in_memory : in_array, box});
}

/// Where an array takes part, x and width count its texels; of memory x counts bytes.
Transfer transfer_of(const Copy3D& copy) {
  check_kind(copy.kind);
  const Array* const array = copy.srcArray != nullptr ? copy.srcArray : copy.dstArray;
  const std::size_t texel = array == nullptr ? 1 : array_of(array).texel_bytes();
  if (copy.srcArray != nullptr && copy.dstArray != nullptr) require(array_of(copy.dstArray).texel_bytes() == texel);
  const Box box{known(CheckedSize(copy.extent.width) * texel), copy.extent.height, copy.extent.depth};
  if (box.empty()) return {.to = {}, .from = {}, .box = box};
  const auto end = [&](const Array* in, const PitchedPointer& memory, const Position& at, bool destination) {
    if (in != nullptr) return end_in_array(in, {known(CheckedSize(at.x) * texel), at.y, at.z}, box);
    return end_in_memory(start(memory, at), pitch_of(memory), box, copy.kind, destination);
  };
  return {end(copy.dstArray, copy.dstPtr, copy.dstPos, true), end(copy.srcArray, copy.srcPtr, copy.srcPos, false), box};
}

void copy_3d(Context& context, Stream* stream, const Copy3D* copy) {
  require(copy != nullptr);
  const Transfer transfer = transfer_of(*copy);
  if (transfer.box.empty()) return submit(context, stream, copy_node(context, *copy));
  submit_copy(context, stream, copy_node(context, *copy), transfer);
}

/// The addresses say whose memory it is.
void copy_3d(Context& context, Stream* stream, const Copy3DPeer* copy) {
  require(copy != nullptr);
  require_device(copy->srcDevice);
  require_device(copy->dstDevice);
  const Copy3D same{copy->srcArray, copy->srcPos, copy->srcPtr, copy->dstArray, copy->dstPos, copy->dstPtr, copy->extent, by_address};
  copy_3d(context, stream, &same);
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

GraphNode copy_node(Context& context, const Copy3D& copy) {
  const Transfer transfer = transfer_of(copy);
  GraphNode node = transfer.box.empty() ? empty_copy() : copy_node(context, transfer);
  node.made_from = copy;
  return node;
}

GraphNode fill_node(Context& context, const Fill& fill) {
  require(fill.elementSize == 1 || fill.elementSize == 2 || fill.elementSize == 4);
  const Box box{known(CheckedSize(fill.width) * fill.elementSize), std::max<std::size_t>(fill.height, 1)};
  require(box.height == 1 || (fill.pitch >= box.width && fill.pitch <= most_pitch), cudaErrorInvalidPitchValue);
  const End end{fill.dst, End::In::device, {fill.pitch, 0}};
  if (!box.empty()) static_cast<void>(end.bytes(context, box));
  const auto work = [=](Context& state) {
    if (box.empty()) return;
    std::uint8_t* const to = end.bytes(state, box);
    access_host({range_of(to, box, end.pitch)}, [&] {
      for (std::size_t y = 0; y < box.height; ++y)
        for (std::size_t x = 0; x < box.width; ++x)
          to[y * fill.pitch + x] = static_cast<std::uint8_t>(fill.value >> 8 * (x % fill.elementSize));
    });
    note_fill(state, end, box);
  };
  return {.type = NodeType::fill, .work = work, .made_from = fill};
}

void require_access(Context& context, Stream* stream, const void* at) {
  const AsOwner as(owner_of_stream(stream));
  require(context.space.may_access(at));
}

void* variable_at(Context& context, const void* shadow, std::size_t offset, std::size_t bytes) {
  const Symbol& symbol = symbol_of(shadow);
  require(offset <= symbol.bytes && bytes <= symbol.bytes - offset);
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(symbol.module->variable(context, symbol.name) + offset));
}

namespace {

/// A copy that has ended when its call returns.
template <typename Body>
Error copy_now(const char* name, Body body) {
  return call(name, [&](Context& context) {
    body(context);
    finish(context, nullptr);
  });
}

}  // namespace

WARPMAT_CUDA_API Error cudaMemcpy(void* to, const void* from, std::size_t bytes, CopyKind kind) {
  return copy_now(__func__, [&](Context& context) { copy_bytes(context, nullptr, to, from, bytes, kind); });
}

WARPMAT_CUDA_API Error cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, CopyKind kind, Stream* stream) {
  return enqueue(__func__, [&](Context& context) { copy_bytes(context, stream, to, from, bytes, kind); });
}

WARPMAT_CUDA_API Error cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
  return copy_now(__func__, [&](Context& context) {
    require_device(to_device);
    require_device(from_device);
    copy_bytes(context, nullptr, to, from, bytes, device_to_device);
  });
}

WARPMAT_CUDA_API Error cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes, Stream* stream) {
  return enqueue(__func__, [&](Context& context) {
    require_device(to_device);
    require_device(from_device);
    copy_bytes(context, stream, to, from, bytes, device_to_device);
  });
}

WARPMAT_CUDA_API Error cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                                         std::size_t height, CopyKind kind, Stream* stream) {
  return enqueue(__func__, [&](Context& context) {
    require(width <= to_pitch && width <= from_pitch && std::max(to_pitch, from_pitch) <= most_pitch, cudaErrorInvalidPitchValue);
    copy_box(context, stream, to, {to_pitch, 0}, from, {from_pitch, 0}, {width, height}, kind);
  });
}

WARPMAT_CUDA_API Error cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                                    std::size_t height, CopyKind kind) {
  return copy_now(__func__, [&](Context& context) {
    require(width <= to_pitch && width <= from_pitch && std::max(to_pitch, from_pitch) <= most_pitch, cudaErrorInvalidPitchValue);
    copy_box(context, nullptr, to, {to_pitch, 0}, from, {from_pitch, 0}, {width, height}, kind);
  });
}

WARPMAT_CUDA_API Error cudaMemcpy3DAsync(const Copy3D* copy, Stream* stream) {
  return enqueue(__func__, [&](Context& context) { copy_3d(context, stream, copy); });
}

WARPMAT_CUDA_API Error cudaMemcpy3D(const Copy3D* copy) {
  return copy_now(__func__, [&](Context& context) { copy_3d(context, nullptr, copy); });
}

WARPMAT_CUDA_API Error cudaMemcpy3DPeerAsync(const Copy3DPeer* copy, Stream* stream) {
  return enqueue(__func__, [&](Context& context) { copy_3d(context, stream, copy); });
}

WARPMAT_CUDA_API Error cudaMemcpy3DPeer(const Copy3DPeer* copy) {
  return copy_now(__func__, [&](Context& context) { copy_3d(context, nullptr, copy); });
}

WARPMAT_CUDA_API Error cudaMemcpy2DToArrayAsync(Array* to, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                                                std::size_t width, std::size_t height, CopyKind kind, Stream* stream) {
  return enqueue(__func__, [&](Context& context) { copy_rows(context, stream, {to, x, y, from, pitch, {width, height}, kind, true}); });
}

WARPMAT_CUDA_API Error cudaMemcpy2DToArray(Array* to, std::size_t x, std::size_t y, const void* from, std::size_t pitch, std::size_t width,
                                           std::size_t height, CopyKind kind) {
  return copy_now(__func__, [&](Context& context) { copy_rows(context, nullptr, {to, x, y, from, pitch, {width, height}, kind, true}); });
}

WARPMAT_CUDA_API Error cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, const Array* from, std::size_t x, std::size_t y,
                                                  std::size_t width, std::size_t height, CopyKind kind, Stream* stream) {
  return enqueue(__func__, [&](Context& context) { copy_rows(context, stream, {from, x, y, to, pitch, {width, height}, kind, false}); });
}

WARPMAT_CUDA_API Error cudaMemcpy2DFromArray(void* to, std::size_t pitch, const Array* from, std::size_t x, std::size_t y,
                                             std::size_t width, std::size_t height, CopyKind kind) {
  return copy_now(__func__, [&](Context& context) { copy_rows(context, nullptr, {from, x, y, to, pitch, {width, height}, kind, false}); });
}

WARPMAT_CUDA_API Error cudaMemcpy2DArrayToArray(Array* to, std::size_t to_x, std::size_t to_y, const Array* from, std::size_t from_x,
                                                std::size_t from_y, std::size_t width, std::size_t height, CopyKind kind) {
  return copy_now(__func__, [&](Context& context) {
    check_kind(kind);
    const Box box{width, height};
    const End target = end_in_array(to, {to_x, to_y, 0}, box), source = end_in_array(from, {from_x, from_y, 0}, box);
    submit(context, nullptr, box.empty() ? empty_copy() : copy_node(context, {target, source, box}));
  });
}

WARPMAT_CUDA_API Error cudaMemcpyToArrayAsync(Array* to, std::size_t x, std::size_t y, const void* from, std::size_t bytes, CopyKind kind,
                                              Stream* stream) {
  return enqueue(__func__, [&](Context& context) { copy_along(context, stream, {to, x, y, from, 0, {}, kind, true}, bytes); });
}

WARPMAT_CUDA_API Error cudaMemcpyToArray(Array* to, std::size_t x, std::size_t y, const void* from, std::size_t bytes, CopyKind kind) {
  return copy_now(__func__, [&](Context& context) { copy_along(context, nullptr, {to, x, y, from, 0, {}, kind, true}, bytes); });
}

WARPMAT_CUDA_API Error cudaMemcpyFromArrayAsync(void* to, const Array* from, std::size_t x, std::size_t y, std::size_t bytes, CopyKind kind,
                                                Stream* stream) {
  return enqueue(__func__, [&](Context& context) { copy_along(context, stream, {from, x, y, to, 0, {}, kind, false}, bytes); });
}

WARPMAT_CUDA_API Error cudaMemcpyFromArray(void* to, const Array* from, std::size_t x, std::size_t y, std::size_t bytes, CopyKind kind) {
  return copy_now(__func__, [&](Context& context) { copy_along(context, nullptr, {from, x, y, to, 0, {}, kind, false}, bytes); });
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
    fill_box(context, stream, to.ptr, pitch_of(to), value, {extent.width, extent.height, extent.depth});
  });
}

WARPMAT_CUDA_API Error cudaMemset3D(PitchedPointer to, int value, Extent extent) {
  return call(__func__, [&](Context& context) {
    fill_box(context, nullptr, to.ptr, pitch_of(to), value, {extent.width, extent.height, extent.depth});
  });
}

WARPMAT_CUDA_API Error cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset, CopyKind kind) {
  return copy_now(__func__, [&](Context& context) { copy_to_symbol(context, nullptr, symbol, from, bytes, offset, kind); });
}

WARPMAT_CUDA_API Error cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes, std::size_t offset, CopyKind kind,
                                               Stream* stream) {
  return enqueue(__func__, [&](Context& context) { copy_to_symbol(context, stream, symbol, from, bytes, offset, kind); });
}

WARPMAT_CUDA_API Error cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset, CopyKind kind) {
  return copy_now(__func__, [&](Context& context) { copy_from_symbol(context, nullptr, to, symbol, bytes, offset, kind); });
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
WARPMAT_CUDA_PER_THREAD(cudaMemcpy3DPeer, ptds)
WARPMAT_CUDA_PER_THREAD(cudaMemcpy3DPeerAsync, ptsz)
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
