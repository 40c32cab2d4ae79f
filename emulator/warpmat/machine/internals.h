#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <warpmat/launch.h>
#include <warpmat/observer.h>

namespace warpmat {

/// What public classes keep from their users and warpmat's own files use.
struct Internals {
  using PlacedModules = std::map<std::shared_ptr<const void>, std::vector<std::uint64_t>>;
  using Textures = std::map<std::uint64_t, std::shared_ptr<const Texture>>;

  static const std::shared_ptr<const syntax::Module>& syntax(const Module& module) { return module.syntax_; }
  static const std::vector<StoredBuffer>& buffers(const DeviceMemory& memory) { return memory.buffers_; }
  static std::vector<StoredBuffer>& buffers(DeviceMemory& memory) { return memory.buffers_; }
  static const code::Program& program(const Kernel& kernel) { return *kernel.program_; }
  static PlacedModules& modules(DeviceMemory& memory) { return memory.gpus_[memory.gpu_].modules; }
  static std::shared_ptr<DeviceHeap>& heap(DeviceMemory& memory) { return memory.gpus_[memory.gpu_].heap; }
  static const std::shared_ptr<DeviceHeap>& heap(const DeviceMemory& memory) { return memory.gpus_[memory.gpu_].heap; }
  static StoredBuffer& beginning_at(DeviceMemory& memory, std::uint64_t address) { return memory.beginning_at(address); }
  static std::size_t gpu(const DeviceMemory& memory) { return memory.gpu_; }
  static void select_gpu(DeviceMemory& memory, std::size_t gpu) {
    memory.gpus_.resize(std::max(memory.gpus_.size(), gpu + 1));
    memory.gpu_ = gpu;
  }
  static std::uint64_t heap_bytes(const DeviceMemory& memory) { return memory.gpus_[memory.gpu_].heap_bytes; }
  static Textures& textures(DeviceMemory& memory) { return memory.textures_; }
  static const Textures& textures(const DeviceMemory& memory) { return memory.textures_; }
  static std::uint64_t& last_texture(DeviceMemory& memory) { return memory.last_texture_; }
  static const code::Program& program(const machine::Event& event) { return event.program(); }
  static const code::Operation& operation(const machine::Event& event) { return *event.operation_; }
  static const machine::WarpState& warp(const machine::Event& event) { return *event.warp_; }
  static const code::Program& program(const machine::BlockEvent& event) { return *event.program_; }
  static const code::Call& call(const machine::CallEvent& event) { return *event.call_; }
  static std::uint32_t caller_frame(const machine::CallEvent& event) { return event.caller_frame_; }
  static std::uint32_t callee_frame(const machine::CallEvent& event) { return event.callee_frame_; }
  static const machine::BulkTransfer& transfer(const machine::BulkEvent& event) { return *event.transfer_; }
  static const machine::PendingProduct& pending(const machine::Product& product) { return *product.pending_; }
};

/// The text of a module as a tree.
inline const syntax::Module& syntax_of(const Module& module) {
  return *Internals::syntax(module);
}

/// What a kernel executes.
inline const code::Program& program_of(const Kernel& kernel) {
  return Internals::program(kernel);
}

// A warp at a statement.
inline const code::Program& program_of(const machine::Event& event) {
  return Internals::program(event);
}
inline const code::Operation& operation_of(const machine::Event& event) {
  return Internals::operation(event);
}
inline const machine::WarpState& warp_of(const machine::Event& event) {
  return Internals::warp(event);
}

/// What the block executes.
inline const code::Program& program_of(const machine::BlockEvent& event) {
  return Internals::program(event);
}

// A call: what it copies, and the byte offsets of the functions' registers.
inline const code::Call& call_of(const machine::CallEvent& event) {
  return Internals::call(event);
}
inline std::uint32_t caller_frame_of(const machine::CallEvent& event) {
  return Internals::caller_frame(event);
}
inline std::uint32_t callee_frame_of(const machine::CallEvent& event) {
  return Internals::callee_frame(event);
}

/// The copy of a bulk event, to be read during the call.
inline const machine::BulkTransfer& transfer_of(const machine::BulkEvent& event) {
  return Internals::transfer(event);
}

inline const machine::PendingProduct& pending_of(const machine::Product& product) {
  return Internals::pending(product);
}

/// The offset of a byte from the first one of a block's shared memory; larger than all offsets if it is outside.
inline std::size_t offset_from(const std::uint8_t* first, const std::uint8_t* place) {
  return reinterpret_cast<std::uintptr_t>(place) - reinterpret_cast<std::uintptr_t>(first);
}

}  // namespace warpmat
