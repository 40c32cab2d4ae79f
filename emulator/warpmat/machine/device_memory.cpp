#include <warpmat/machine/device_memory.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>

namespace warpmat {
namespace {

constexpr std::uint64_t first_address = 0x00007f00'00000000;
constexpr std::uint64_t gap_bytes = 64 << 10;
constexpr std::uint64_t smallest_alignment = 256;

std::string title(const DeviceMemory::Buffer& buffer) {
  return buffer.name.empty() ? fmt::format("the buffer of {} bytes at {:#x}", buffer.bytes, buffer.address)
                             : fmt::format("buffer '{}' of {} bytes at {:#x}", buffer.name, buffer.bytes, buffer.address);
}

}  // namespace

std::uint64_t DeviceMemory::allocate(std::uint64_t bytes, std::string name, std::uint64_t alignment) {
  if (!std::has_single_bit(alignment)) throw std::invalid_argument(fmt::format("the alignment {} is not a power of two", alignment));
  alignment = std::max(alignment, smallest_alignment);
  const std::uint64_t after = buffers_.empty() ? first_address : buffers_.back().end() + gap_bytes;
  const std::uint64_t address = (after + alignment - 1) / alignment * alignment;
  buffers_.push_back({address, bytes, std::move(name), false, std::make_unique<std::uint8_t[]>(bytes)});
  return address;
}

std::uint64_t DeviceMemory::allocate_bytes(std::span<const std::byte> contents, std::string name) {
  const std::uint64_t address = allocate(contents.size(), std::move(name));
  if (!contents.empty()) std::memcpy(buffers_.back().data.get(), contents.data(), contents.size());
  return address;
}

void DeviceMemory::free(std::uint64_t address) {
  const auto found = std::ranges::find(buffers_, address, &Buffer::address);
  if (found == buffers_.end() || found->freed) throw std::invalid_argument(fmt::format("no buffer begins at {:#x}", address));
  found->freed = true;
  found->data.reset();
}

const DeviceMemory::Buffer* DeviceMemory::find(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(buffers_, address, {}, &Buffer::address);
  if (after == buffers_.begin()) return nullptr;
  const Buffer& buffer = *std::prev(after);
  return address < buffer.end() ? &buffer : nullptr;
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

void DeviceMemory::copy_out(std::uint64_t address, std::span<std::byte> to) const {
  if (to.empty()) return;
  const auto from = bytes(address, to.size());
  std::memcpy(to.data(), from.data(), to.size());
}

}  // namespace warpmat
