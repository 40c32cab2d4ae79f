#include <warpmat/launch.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>

#include <warpmat/machine/device_heap.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/texture.h>

namespace warpmat::inline v0_1 {
namespace {

constexpr std::uint64_t gap_bytes = 64 << 10;
constexpr std::uint64_t smallest_alignment = 256;

std::string title(const DeviceMemory::Buffer& buffer) {
  return buffer.name.empty() ? fmt::format("the buffer of {} bytes at {:#x}", buffer.bytes, buffer.address)
                             : fmt::format("buffer '{}' of {} bytes at {:#x}", buffer.name, buffer.bytes, buffer.address);
}

/// Zeroed bytes. Large ones take memory of the machine only where they are touched.
std::unique_ptr<std::uint8_t[], DeviceMemory::Release> zeroed(std::uint64_t bytes) {
  std::unique_ptr<std::uint8_t[], DeviceMemory::Release> data(static_cast<std::uint8_t*>(std::calloc(bytes, 1)));
  if (data == nullptr && bytes != 0) throw std::bad_alloc();
  return data;
}

}  // namespace

std::uint64_t DeviceMemory::allocate(std::uint64_t bytes, std::string name, std::uint64_t alignment) {
  if (!std::has_single_bit(alignment)) throw std::invalid_argument(fmt::format("the alignment {} is not a power of two", alignment));
  alignment = std::max(alignment, smallest_alignment);
  const std::uint64_t address = (next_address_ + alignment - 1) / alignment * alignment;
  const auto after = std::ranges::upper_bound(buffers_, address, {}, &Buffer::address);
  buffers_.insert(after, {address, bytes, std::move(name), false, zeroed(bytes)});
  next_address_ = address + bytes + gap_bytes;
  return address;
}

std::uint64_t DeviceMemory::allocate_bytes(std::span<const std::byte> contents, std::string name) {
  const std::uint64_t address = allocate(contents.size(), std::move(name));
  if (!contents.empty()) std::memcpy(bytes(address, contents.size()).data(), contents.data(), contents.size());
  return address;
}

void DeviceMemory::place(std::uint64_t address, std::span<const std::uint8_t> contents, std::string name) {
  const auto after = std::ranges::upper_bound(buffers_, address, {}, &Buffer::address);
  const bool before_next = after == buffers_.end() || contents.size() <= after->address - address;
  if (!before_next || (after != buffers_.begin() && std::prev(after)->end() > address))
    throw std::invalid_argument(fmt::format("{} bytes at {:#x} overlap another buffer: {}", contents.size(), address, describe(address)));
  Buffer buffer{address, contents.size(), std::move(name), false, zeroed(contents.size())};
  if (!contents.empty()) std::memcpy(buffer.data.get(), contents.data(), contents.size());
  buffers_.insert(after, std::move(buffer));
}

std::vector<DeviceMemory::Buffer>::iterator DeviceMemory::beginning_at(std::uint64_t address) {
  const auto found = std::ranges::lower_bound(buffers_, address, {}, &Buffer::address);
  if (found == buffers_.end() || found->address != address) throw std::invalid_argument(fmt::format("no buffer begins at {:#x}", address));
  return found;
}

void DeviceMemory::free(std::uint64_t address) {
  Buffer& buffer = *beginning_at(address);
  if (buffer.freed) throw std::invalid_argument(fmt::format("no buffer begins at {:#x}", address));
  buffer.freed = true;
  buffer.data.reset();
}

void DeviceMemory::move_to_own_address(std::uint64_t address) {
  Buffer& buffer = *beginning_at(address);
  auto* const own = reinterpret_cast<std::uint8_t*>(address);
  if (buffer.bytes != 0) std::memcpy(own, buffer.data.get(), buffer.bytes);
  buffer.data = {own, Release(false)};
}

void DeviceMemory::add_own_memory(std::span<std::uint8_t> bytes, std::string name) {
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(bytes.data()));
  const auto after = std::ranges::upper_bound(buffers_, address, {}, &Buffer::address);
  buffers_.insert(after, {address, bytes.size(), std::move(name), false, {bytes.data(), Release(false)}});
}

void DeviceMemory::remove(std::uint64_t address) {
  buffers_.erase(beginning_at(address));
}

const DeviceMemory::Buffer* DeviceMemory::find(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(buffers_, address, {}, &Buffer::address);
  if (after == buffers_.begin()) return nullptr;
  const Buffer& buffer = *std::prev(after);
  return address < buffer.end() ? &buffer : nullptr;
}

const DeviceMemory::Buffer* DeviceMemory::find_name(std::string_view name) const {
  const auto has_name = [&](const Buffer& buffer) { return !buffer.freed && buffer.name == name; };
  const auto found = std::ranges::find_if(buffers_, has_name);
  return found == buffers_.end() || std::find_if(std::next(found), buffers_.end(), has_name) != buffers_.end() ? nullptr : &*found;
}

std::string DeviceMemory::describe(std::uint64_t address) const {
  if (buffers_.empty()) return "there are no buffers";
  if (const Buffer* buffer = find(address)) {
    return fmt::format("{} bytes into {}{}", address - buffer->address, title(*buffer), buffer->freed ? ", which was freed" : "");
  }
  const auto after = std::ranges::upper_bound(buffers_, address, {}, &Buffer::address);
  const std::uint64_t to_next = after == buffers_.end() ? ~std::uint64_t{0} : after->address - address;
  const std::uint64_t from_last = after == buffers_.begin() ? ~std::uint64_t{0} : address - std::prev(after)->end();
  if (from_last <= to_next) return fmt::format("{} bytes beyond the end of {}", from_last, title(*std::prev(after)));
  return fmt::format("{} bytes before {}", to_next, title(*after));
}

std::span<const std::uint8_t> DeviceMemory::bytes(std::uint64_t address, std::uint64_t count) const {
  const Buffer* buffer = find(address);
  if (buffer == nullptr || buffer->freed || count > buffer->end() - address)
    throw std::out_of_range(fmt::format("{} bytes at {:#x} do not lie in one buffer: {}", count, address, describe(address)));
  return {buffer->data.get() + (address - buffer->address), count};
}

std::span<std::uint8_t> DeviceMemory::bytes(std::uint64_t address, std::uint64_t count) {
  const auto found = std::as_const(*this).bytes(address, count);
  return {const_cast<std::uint8_t*>(found.data()), found.size()};
}

std::uint64_t add_texture(DeviceMemory& memory, Texture texture) {
  const std::uint64_t handle = ++Internals::last_texture(memory);
  Internals::textures(memory)[handle] = std::make_shared<const Texture>(std::move(texture));
  return handle;
}

bool remove_texture(DeviceMemory& memory, std::uint64_t handle) {
  return Internals::textures(memory).erase(handle) != 0;
}

const Texture* find_texture(const DeviceMemory& memory, std::uint64_t handle) {
  const auto& textures = Internals::textures(memory);
  const auto found = textures.find(handle);
  return found == textures.end() ? nullptr : found->second.get();
}

void DeviceMemory::set_heap_bytes(std::uint64_t bytes) {
  if (heap_ != nullptr) throw std::logic_error("a kernel has used the heap already");
  heap_bytes_ = bytes;
}

DeviceHeap& heap_of(DeviceMemory& memory) {
  std::shared_ptr<DeviceHeap>& heap = Internals::heap(memory);
  const std::uint64_t bytes = Internals::heap_bytes(memory);
  if (heap == nullptr) heap = std::make_shared<DeviceHeap>(memory.allocate(bytes, "the heap of malloc()"), bytes);
  return *heap;
}

void DeviceMemory::copy_out(std::uint64_t address, std::span<std::byte> to) const {
  if (to.empty()) return;
  const auto from = bytes(address, to.size());
  std::memcpy(to.data(), from.data(), to.size());
}

}  // namespace warpmat::inline v0_1
