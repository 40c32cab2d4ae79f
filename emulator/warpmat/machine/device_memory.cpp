#include <warpmat/launch.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <warpmat/ir/address_windows.h>
#include <warpmat/machine/device_heap.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/large_pages.h>
#include <warpmat/machine/stored_buffer.h>
#include <warpmat/machine/texture.h>

namespace warpmat {
namespace {

constexpr std::uint64_t gap_bytes = 64 << 10;
constexpr std::uint64_t smallest_alignment = 256;

constexpr std::uint64_t last_address = std::numeric_limits<std::uint64_t>::max();

std::string title(const StoredBuffer& buffer) {
  return buffer.name->empty() ? fmt::format("the buffer of {} bytes at {:#x}", buffer.bytes, buffer.address)
                              : fmt::format("buffer '{}' of {} bytes at {:#x}", *buffer.name, buffer.bytes, buffer.address);
}

/// The bytes of large buffers that were freed, for those that come next: to clear pages takes a third of the time in which the machine
/// gives new ones. Several threads may call it at once; who would have to wait does without.
class FreedBytes {
 public:
  /// The bytes of a buffer of this size, with any contents; null where none are kept.
  StoredBuffer::Bytes take(std::uint64_t bytes) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return nullptr;
    const auto found = std::ranges::find(kept_, bytes, &Kept::bytes);
    if (found == kept_.end()) return nullptr;
    StoredBuffer::Bytes data = std::move(found->data);
    kept_.erase(found);
    kept_bytes_ -= bytes;
    return data;
  }

  /// Keeps the bytes, or frees them: small ones, and where enough are kept.
  void give(StoredBuffer::Bytes data, std::uint64_t bytes) {
    constexpr std::uint64_t fewest_bytes = 64 << 10, most_bytes = 64 << 20;
    if (!data.get_deleter().owned || bytes < fewest_bytes || bytes > most_bytes) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || kept_bytes_ + bytes > most_bytes) return;
    kept_bytes_ += bytes;
    kept_.push_back({std::move(data), bytes});
  }

 private:
  struct Kept {
    StoredBuffer::Bytes data;
    std::uint64_t bytes;
  };
  std::mutex mutex_;  // only tried: in a child of fork() it may be locked for ever
  std::vector<Kept> kept_;
  std::uint64_t kept_bytes_ = 0;
};

FreedBytes& freed_bytes() {
  static auto& all = *new FreedBytes;  // of threads that outlive main(), too
  return all;
}

/// Zeroed bytes. Large ones take memory of the machine only where they are touched.
StoredBuffer::Bytes zeroed(std::uint64_t bytes) {
  if (StoredBuffer::Bytes again = freed_bytes().take(bytes)) {
    std::memset(again.get(), 0, bytes);
    return again;
  }
  StoredBuffer::Bytes data(static_cast<std::uint8_t*>(std::calloc(bytes, 1)));
  if (data == nullptr && bytes != 0) throw std::bad_alloc();
  machine::want_large_pages(data.get(), bytes);
  return data;
}

StoredBuffer stored(std::uint64_t address, std::uint64_t bytes, StoredBuffer::Bytes data, std::string name, std::size_t gpu) {
  return {.address = address,
          .bytes = bytes,
          .data = std::move(data),
          .name = std::make_unique<const std::string>(std::move(name)),
          .gpu = gpu};
}

/// Why a kernel of `gpu` may not access it, behind its title.
std::string why_not(const StoredBuffer& buffer, std::size_t gpu) {
  if (buffer.freed) return ", which was freed";
  if (!buffer.copies.empty()) return ", addresses of a multicast object";
  return buffer.closed ? fmt::format(", which is of GPU {}: GPU {} has no access to it", buffer.gpu, gpu) : "";
}

/// Of set_most_bytes()'s limit.
std::uint64_t counted_bytes(const StoredBuffer& buffer) {
  return buffer.freed || buffer.foreign ? 0 : buffer.bytes;
}

DeviceMemory::Buffer shown(const StoredBuffer& buffer) {
  const std::span bytes(buffer.data.get(), buffer.data == nullptr ? 0 : buffer.bytes);
  return {buffer.address, buffer.bytes, *buffer.name, buffer.freed, std::as_bytes(bytes)};
}

/// The sum, or the last address where it is greater.
std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
  return a > last_address - b ? last_address : a + b;
}

/// The addresses of shared, local and parameter memory, which global memory does not have.
constexpr std::uint64_t windows = code::window_start(Space::shared), behind_windows = code::window_start(Space::global);

bool in_windows(std::uint64_t address, std::uint64_t bytes) {
  return address < behind_windows && plus(address, bytes) > windows;
}

/// Throws std::invalid_argument for addresses that global memory does not have.
void check_range(std::uint64_t address, std::uint64_t bytes) {
  if (bytes > last_address - address)
    throw std::invalid_argument(fmt::format("{} bytes at {:#x} end beyond the last address, {:#x}", bytes, address, last_address));
  if (in_windows(address, bytes))
    throw std::invalid_argument(fmt::format(
        "{} bytes at {:#x} overlap the windows of shared, local and parameter memory, {:#x} to {:#x}: global memory lies elsewhere", bytes,
        address, windows, behind_windows - 1));
}

/// The first of the buffers that begins behind `address`.
template <typename Buffers>
auto first_behind(Buffers& buffers, std::uint64_t address) {
  return std::ranges::upper_bound(buffers, address, {}, &StoredBuffer::address);
}

}  // namespace

DeviceMemory::DeviceMemory() = default;
DeviceMemory::DeviceMemory(std::uint64_t first_address) : next_address_(first_address) {}
/// What is moved away is as new: a place for a GPU stays.
DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept : DeviceMemory() {
  std::swap(next_address_, other.next_address_);
  std::swap(buffers_, other.buffers_);
  std::swap(gpus_, other.gpus_);
  std::swap(gpu_, other.gpu_);
  std::swap(textures_, other.textures_);
  std::swap(last_texture_, other.last_texture_);
  std::swap(used_bytes_, other.used_bytes_);
  std::swap(most_bytes_, other.most_bytes_);
}
DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  if (this == &other) return *this;
  std::destroy_at(this);
  return *std::construct_at(this, std::move(other));
}
DeviceMemory::~DeviceMemory() = default;

/// Where allocate() has its next buffer, outside of the windows: gaps lie between it and those that are placed.
std::uint64_t DeviceMemory::free_address(std::uint64_t bytes, std::uint64_t alignment) const {
  for (std::uint64_t from = next_address_; from <= last_address - (alignment - 1);) {
    const std::uint64_t address = (from + alignment - 1) / alignment * alignment;
    if (bytes > last_address - address) throw std::bad_alloc();
    if (in_windows(address, bytes)) {
      from = behind_windows;
      continue;
    }
    const auto behind = std::ranges::lower_bound(buffers_, plus(address, plus(bytes, gap_bytes)), {}, &StoredBuffer::address);
    if (behind == buffers_.begin() || plus(std::prev(behind)->end(), gap_bytes) <= address) return address;
    from = plus(std::prev(behind)->end(), gap_bytes);
  }
  throw std::bad_alloc();
}

std::uint64_t DeviceMemory::allocate(std::uint64_t bytes, std::string name, std::uint64_t alignment) {
  if (!std::has_single_bit(alignment)) throw std::invalid_argument(fmt::format("the alignment {} is not a power of two", alignment));
  alignment = std::max(alignment, smallest_alignment);
  const std::uint64_t address = free_address(bytes, alignment);
  check_room(bytes, name);
  buffers_.insert(first_behind(buffers_, address), stored(address, bytes, zeroed(bytes), std::move(name), gpu_));
  next_address_ = plus(address, plus(bytes, gap_bytes));
  used_bytes_ += bytes;
  return address;
}

std::uint64_t DeviceMemory::allocate_bytes(std::span<const std::byte> contents, std::string name) {
  const std::uint64_t address = allocate(contents.size(), std::move(name));
  if (!contents.empty()) std::memcpy(bytes(address, contents.size()).data(), contents.data(), contents.size());
  return address;
}

void DeviceMemory::place(std::uint64_t address, std::span<const std::uint8_t> contents, std::string name) {
  check_range(address, contents.size());
  const auto after = first_behind(buffers_, address);
  const bool before_next = after == buffers_.end() || contents.size() <= after->address - address;
  if (!before_next || (after != buffers_.begin() && (std::prev(after)->end() > address || std::prev(after)->address == address)))
    throw std::invalid_argument(fmt::format("{} bytes at {:#x} overlap another buffer: {}", contents.size(), address, describe(address)));
  check_room(contents.size(), name);
  StoredBuffer buffer = stored(address, contents.size(), zeroed(contents.size()), std::move(name), gpu_);
  if (!contents.empty()) std::memcpy(buffer.data.get(), contents.data(), contents.size());
  buffers_.insert(after, std::move(buffer));
  used_bytes_ += contents.size();
}

void DeviceMemory::check_room(std::uint64_t bytes, const std::string& name) const {
  if ((CheckedSize(used_bytes_) + bytes).fits(most_bytes_)) return;
  throw MemoryLimit(fmt::format("{} of {} bytes: device memory is limited to {} bytes, of which {} are in use",
                                name.empty() ? "a buffer" : fmt::format("buffer '{}'", name), bytes, most_bytes_, used_bytes_));
}

StoredBuffer& DeviceMemory::beginning_at(std::uint64_t address) {
  const auto found = std::ranges::lower_bound(buffers_, address, {}, &StoredBuffer::address);
  if (found == buffers_.end() || found->address != address) throw std::invalid_argument(fmt::format("no buffer begins at {:#x}", address));
  return *found;
}

void DeviceMemory::free(std::uint64_t address) {
  StoredBuffer& buffer = beginning_at(address);
  if (buffer.freed) throw std::invalid_argument(fmt::format("no buffer begins at {:#x}", address));
  used_bytes_ -= counted_bytes(buffer);
  buffer.freed = true;
  freed_bytes().give(std::move(buffer.data), buffer.bytes);
  buffer.written.reset();
}

void DeviceMemory::move_to_own_address(std::uint64_t address) {
  StoredBuffer& buffer = beginning_at(address);
  auto* const own = reinterpret_cast<std::uint8_t*>(address);
  if (buffer.bytes != 0) std::memcpy(own, buffer.data.get(), buffer.bytes);
  buffer.data = {own, StoredBuffer::Release(false)};
  buffer.written.reset();  // the host writes there unseen
}

void DeviceMemory::add_own_memory(std::span<std::uint8_t> bytes, std::string name) {
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(bytes.data()));
  StoredBuffer buffer = stored(address, bytes.size(), {bytes.data(), StoredBuffer::Release(false)}, std::move(name), gpu_);
  buffer.foreign = true;
  buffers_.insert(first_behind(buffers_, address), std::move(buffer));
}

void DeviceMemory::remove(std::uint64_t address) {
  const StoredBuffer& buffer = beginning_at(address);
  used_bytes_ -= counted_bytes(buffer);
  buffers_.erase(buffers_.begin() + (&buffer - buffers_.data()));
}

StoredBuffer& DeviceMemory::containing(std::uint64_t address, std::uint64_t count) {
  static_cast<void>(bytes(address, count));  // throws unless one has them all
  return *std::prev(first_behind(buffers_, address));
}

void DeviceMemory::set_unwritten(std::uint64_t address, std::uint64_t count) {
  if (count == 0) return;
  StoredBuffer& buffer = containing(address, count);
  if (buffer.foreign) return;
  if (buffer.written != nullptr) return buffer.written->remove(address - buffer.address, count);
  buffer.written = std::make_unique<ByteSet>(buffer.bytes);
  buffer.written->add(0, address - buffer.address);
  buffer.written->add(address + count - buffer.address, buffer.end() - address - count);
}

void DeviceMemory::set_written(std::uint64_t address, std::uint64_t count) {
  if (count == 0) return;
  const StoredBuffer& buffer = containing(address, count);
  if (buffer.written != nullptr) buffer.written->add(address - buffer.address, count);
}

std::optional<DeviceMemory::Unwritten> DeviceMemory::find_unwritten(std::uint64_t address, std::uint64_t count) const {
  if (count == 0) return std::nullopt;
  static_cast<void>(bytes(address, count));
  const StoredBuffer& buffer = *find_buffer(*this, address);
  if (buffer.written == nullptr) return std::nullopt;
  const std::uint64_t end = address + count - buffer.address;
  const auto first = buffer.written->find(address - buffer.address, count, false);
  if (!first) return std::nullopt;
  return Unwritten{buffer.address + *first, buffer.written->find(*first, end - *first, true).value_or(end) - *first};
}

void DeviceMemory::copy_written(std::uint64_t to, std::uint64_t from, std::uint64_t count) {
  std::vector<Unwritten> missing;  // before any of them changes: the ranges may overlap
  for (auto found = find_unwritten(from, count); found;
       found = find_unwritten(found->address + found->bytes, from + count - found->address - found->bytes))
    missing.push_back(*found);
  set_written(to, count);
  for (const Unwritten& range : missing) set_unwritten(to + (range.address - from), range.bytes);
}

void add_multicast(DeviceMemory& memory, std::uint64_t address, std::uint64_t bytes, std::string name, std::vector<std::uint8_t*> copies) {
  StoredBuffer buffer = stored(address, bytes, {nullptr, StoredBuffer::Release(false)}, std::move(name), Internals::gpu(memory));
  buffer.foreign = buffer.closed = buffer.multimem = true;
  buffer.copies = std::move(copies);
  std::vector<StoredBuffer>& buffers = Internals::buffers(memory);
  buffers.insert(first_behind(buffers, address), std::move(buffer));
}

void select_gpu(DeviceMemory& memory, std::size_t gpu) {
  Internals::select_gpu(memory, gpu);
}

std::size_t gpu_of(const DeviceMemory& memory) {
  return Internals::gpu(memory);
}

void follow_writes(DeviceMemory& memory, bool followed) {
  for (StoredBuffer& buffer : Internals::buffers(memory)) {
    if (!followed) buffer.written.reset();
    if (!followed || buffer.live == nullptr || buffer.written != nullptr) continue;
    buffer.written = std::make_unique<ByteSet>(buffer.bytes);  // now: malloc() must not make it while threads read the buffer
    buffer.written->add(0, buffer.bytes);
  }
}

bool has_unwritten(const DeviceMemory& memory) {
  return std::ranges::any_of(Internals::buffers(memory), [](const StoredBuffer& buffer) {
    return buffer.live != nullptr || (buffer.written != nullptr && buffer.written->missing() != 0);
  });
}

const StoredBuffer* find_buffer(const DeviceMemory& memory, std::uint64_t address) {
  const std::vector<StoredBuffer>& buffers = Internals::buffers(memory);
  const auto after = first_behind(buffers, address);
  if (after == buffers.begin()) return nullptr;
  const StoredBuffer& buffer = *std::prev(after);
  return address < buffer.end() ? &buffer : nullptr;
}

std::optional<std::span<std::uint8_t>> find_range(const DeviceMemory& memory, std::uint64_t address, CheckedSize count) {
  const StoredBuffer* const buffer = find_buffer(memory, address);
  if (buffer == nullptr || !buffer->open() || !count.fits(buffer->end() - address)) return std::nullopt;
  return std::span(buffer->data.get() + (address - buffer->address), *count.value());
}

std::string describe_range(const DeviceMemory& memory, std::uint64_t address, std::uint64_t count) {
  const StoredBuffer* const buffer = find_buffer(memory, address);
  if (buffer == nullptr || !buffer->open()) return memory.describe(address);
  return fmt::format("the last {} bytes lie beyond the end of {}", count - (buffer->end() - address), title(*buffer));
}

std::optional<DeviceMemory::Buffer> DeviceMemory::find(std::uint64_t address) const {
  const StoredBuffer* const found = find_buffer(*this, address);
  return found == nullptr ? std::nullopt : std::optional(shown(*found));
}

std::optional<DeviceMemory::Buffer> DeviceMemory::find_name(std::string_view name) const {
  const auto has_name = [&](const StoredBuffer& buffer) { return !buffer.freed && *buffer.name == name; };
  const auto found = std::ranges::find_if(buffers_, has_name);
  if (found == buffers_.end() || std::find_if(std::next(found), buffers_.end(), has_name) != buffers_.end()) return std::nullopt;
  return shown(*found);
}

std::string DeviceMemory::describe(std::uint64_t address) const {
  if (buffers_.empty()) return "there are no buffers";
  if (const StoredBuffer* buffer = find_buffer(*this, address)) {
    return fmt::format("{} bytes into {}{}", address - buffer->address, title(*buffer), why_not(*buffer, gpu_));
  }
  const auto after = first_behind(buffers_, address);
  const std::uint64_t to_next = after == buffers_.end() ? ~std::uint64_t{0} : after->address - address;
  const std::uint64_t from_last = after == buffers_.begin() ? ~std::uint64_t{0} : address - std::prev(after)->end();
  constexpr std::uint64_t page = 1 << 16, far = std::uint64_t{1} << 40;
  if (address < page && to_next > page) return address == 0 ? "a null pointer" : fmt::format("{} bytes behind a null pointer", address);
  if (std::min(from_last, to_next) > far) return "far from all buffers: an address of the host, or computed wrongly";
  if (from_last <= to_next) return fmt::format("{} bytes beyond the end of {}", from_last, title(*std::prev(after)));
  return fmt::format("{} bytes before {}", to_next, title(*after));
}

std::span<const std::uint8_t> DeviceMemory::bytes(std::uint64_t address, std::uint64_t count) const {
  if (const auto found = find_range(*this, address, count)) return *found;
  throw std::out_of_range(
      fmt::format("{} bytes at {:#x} do not lie in one buffer: {}", count, address, describe_range(*this, address, count)));
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
  if (gpus_[gpu_].heap != nullptr) throw std::logic_error("a kernel has used the heap already");
  gpus_[gpu_].heap_bytes = bytes;
}

DeviceHeap& heap_of(DeviceMemory& memory) {
  std::shared_ptr<DeviceHeap>& heap = Internals::heap(memory);
  const std::uint64_t bytes = Internals::heap_bytes(memory);
  if (heap != nullptr) return *heap;
  const std::uint64_t address = memory.allocate(bytes, "the heap of malloc()");
  heap = std::make_shared<DeviceHeap>(address, bytes);
  Internals::beginning_at(memory, address).live = &heap->live();
  return *heap;
}

const DeviceHeap* find_heap(const DeviceMemory& memory) {
  return Internals::heap(memory).get();
}

void DeviceMemory::copy_out(std::uint64_t address, std::span<std::byte> to) const {
  if (to.empty()) return;
  const auto from = bytes(address, to.size());
  std::memcpy(to.data(), from.data(), to.size());
}

}  // namespace warpmat
