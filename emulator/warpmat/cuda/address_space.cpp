#include <warpmat/cuda/address_space.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <stdexcept>

#include <fmt/core.h>

#include <warpmat/cuda/errors.h>
#include <warpmat/cuda/file_limit.h>
#include <warpmat/cuda/handles.h>
#include <warpmat/cuda/mapped.h>
#include <warpmat/cuda/open_file.h>
#include <warpmat/ir/address_windows.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/large_pages.h>
#include <warpmat/machine/stored_buffer.h>

namespace warpmat::cuda {
namespace {

// Between what Linux gives to programs: above their code without PIE and AddressSanitizer's shadow, below their code with PIE.
constexpr std::uint64_t device_start = 0x2000'0000'0000, shared_start = 0x4000'0000'0000, virtual_start = 0x4800'0000'0000,
                        shared_end = 0x5000'0000'0000;

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

std::uint64_t address_of(const void* at) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(at));
}

/// Reserves addresses whose accesses fault. Where the process may not have so many, no host memory lies there either.
void reserve(std::uint64_t start, std::uint64_t bytes) {
  (void)mmap(pointer(start), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

/// Throws ApiError for more than addresses have.
std::uint64_t whole_pages(CheckedSize bytes) {
  return known(bytes.rounded_up(static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))), cudaErrorMemoryAllocation);
}

/// Maps the pages of [address, address + bytes) anew, zeroed. Throws ApiError.
void map_pages(std::uint64_t address, std::uint64_t bytes, int protection) {
  const std::uint64_t start =
      address / static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (mmap(pointer(start), whole_pages(address + bytes - start), protection, flags, -1, 0) == MAP_FAILED)
    throw ApiError(cudaErrorMemoryAllocation);
}

bool is_one_of(Allocation::Kind kind, std::initializer_list<Allocation::Kind> kinds) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

std::uint64_t first_byte_in_page(std::uint64_t address) {
  return address % static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Maps the pages of [address, address + bytes) as those of a file of memory, from its beginning. Throws ApiError.
void map_file(std::uint64_t address, std::uint64_t bytes, int file) {
  const std::uint64_t first = first_byte_in_page(address);
  if (mmap(pointer(address - first), whole_pages(first + bytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
    throw ApiError(cudaErrorMemoryAllocation);
}

}  // namespace

AddressSpace::AddressSpace(std::uint64_t total, bool followed, int gpus)
    : memory_(device_start), followed_(followed), gpus_(gpus), total_(total), next_shared_(shared_start), next_virtual_(virtual_start) {
  reserve(device_start, shared_end - device_start);
  for (const Space space : {Space::shared, Space::local, Space::param}) reserve(code::window_start(space), code::window_bytes);
}

DeviceMemory& AddressSpace::memory() {
  if (gpus_ > 1) select_gpu(memory_, static_cast<std::size_t>(current_gpu()));
  return memory_;
}

void AddressSpace::set_peer(int gpu, int of, bool may_access) {
  GpuSet& peers = peers_[static_cast<std::size_t>(gpu)];
  peers = may_access ? peers | set_of(of) : peers & ~set_of(of);
}

bool AddressSpace::may_access(int gpu, const StoredBuffer& buffer) const {
  if (const auto found = allowed_.find(buffer.address); found != allowed_.end()) return (found->second & set_of(gpu)) != 0;
  const int of = static_cast<int>(buffer.gpu);
  return of == gpu || (is_peer(gpu, of) && allocations_.contains(buffer.address));
}

bool AddressSpace::may_access(const void* address) const {
  const StoredBuffer* const buffer = gpus_ == 1 ? nullptr : find_buffer(memory_, address_of(address));
  return buffer == nullptr || may_access(current_gpu(), *buffer);
}

AddressSpace::View::View(AddressSpace& space) : space_(space) {
  if (space.gpus_ == 1) return;
  const int gpu = current_gpu();
  for (StoredBuffer& buffer : Internals::buffers(space.memory_)) {
    const bool open = space.may_access(gpu, buffer);
    buffer.closed = !open || !buffer.copies.empty();
    buffer.multimem = open && !buffer.copies.empty();
  }
}

AddressSpace::View::~View() {
  if (space_.gpus_ == 1) return;
  for (StoredBuffer& buffer : Internals::buffers(space_.memory_)) buffer.closed = !buffer.copies.empty();
}

std::uint64_t AddressSpace::map_shared(std::uint64_t bytes) {
  constexpr std::uint64_t gap = 64 << 10;
  const std::uint64_t address = next_shared_;
  require(whole_pages(CheckedSize(bytes) + 2 * gap) < virtual_start - address, cudaErrorMemoryAllocation);
  map_pages(address, bytes, PROT_READ | PROT_WRITE);
  next_shared_ = address + (bytes + 2 * gap - 1) / gap * gap;
  return address;
}

std::uint64_t AddressSpace::reserve_addresses(std::uint64_t bytes, std::uint64_t alignment) {
  const std::uint64_t address = known(CheckedSize(next_virtual_).rounded_up(alignment), cudaErrorMemoryAllocation);
  require((CheckedSize(address) + bytes + alignment).fits(shared_end), cudaErrorMemoryAllocation);
  next_virtual_ = address + bytes + alignment;
  return address;
}

std::uint64_t AddressSpace::allocate(std::uint64_t bytes, Allocation::Kind kind, const char* call, unsigned flags, std::optional<int> gpu) {
  const int of = gpu.value_or(current_gpu());
  std::uint64_t& used = used_[static_cast<std::size_t>(of)];
  require(bytes <= total_ - used, cudaErrorMemoryAllocation);
  select_gpu(memory_, static_cast<std::size_t>(of));
  const std::string name = fmt::format("{} {}", call, ++count_);
  std::uint64_t address = 0;
  if (kind == Allocation::Kind::device || kind == Allocation::Kind::graph) {
    address = memory_.allocate(bytes, name, texture_alignment);
    if (followed_) memory_.set_unwritten(address, bytes);
  } else {
    address = map_shared(bytes);
    machine::want_large_pages(pointer(address), bytes);
    memory_.add_own_memory({static_cast<std::uint8_t*>(pointer(address)), bytes}, name);
    allow(address, all_gpus);
  }
  add({.kind = kind, .address = address, .bytes = bytes, .flags = flags, .gpu = of});
  if (kind != Allocation::Kind::pinned) used += bytes;
  return address;
}

void AddressSpace::add(Allocation allocation) {
  allocation.owner = current_owner();
  allocations_[allocation.address] = allocation;
}

void AddressSpace::add(void* memory, std::uint64_t bytes, unsigned flags, std::string name) {
  const std::uint64_t address = address_of(memory);
  require(address != 0 && bytes != 0 && bytes <= std::numeric_limits<std::uint64_t>::max() - address);
  require(mapped_bytes(memory, (flags & register_read_only) == 0) >= bytes);
  const auto next = allocations_.lower_bound(address + bytes);
  if (next != allocations_.begin()) {
    const Allocation& before = std::prev(next)->second;
    require(before.address + before.bytes <= address, cudaErrorHostMemoryAlreadyRegistered);
  }
  if (name.empty()) name = fmt::format("cudaHostRegister {}", ++count_);
  memory_.add_own_memory({static_cast<std::uint8_t*>(memory), bytes}, std::move(name));
  allow(address, all_gpus);
  add({.kind = Allocation::Kind::registered, .address = address, .bytes = bytes, .flags = flags, .gpu = current_gpu()});
}

void AddressSpace::release(std::uint64_t address, std::initializer_list<Allocation::Kind> kinds, Error otherwise) {
  const auto found = allocations_.find(address);
  require(found != allocations_.end() && is_one_of(found->second.kind, kinds), otherwise);
  release(found);
}

void AddressSpace::release(std::map<std::uint64_t, Allocation>::iterator found) {
  const Allocation allocation = found->second;
  const std::uint64_t address = allocation.address;
  if (allocation.kind == Allocation::Kind::registered)
    memory_.remove(address);
  else
    memory_.free(address);
  using Kind = Allocation::Kind;
  if (is_one_of(allocation.kind, {Kind::pinned, Kind::managed, Kind::opened}) || allocation.file >= 0)
    map_pages(address, allocation.bytes, PROT_NONE);
  if (allocation.file >= 0) close(allocation.file);
  if (!is_one_of(allocation.kind, {Kind::pinned, Kind::registered, Kind::opened}))
    used_[static_cast<std::size_t>(allocation.gpu)] -= allocation.bytes;
  forget_allowed(address);
  allocations_.erase(found);
}

void AddressSpace::release_all(std::uint64_t owner) {
  for (auto it = allocations_.begin(); it != allocations_.end();) {
    const auto each = it++;
    if (each->second.owner == owner) release(each);
  }
}

AddressSpace::SharedFile AddressSpace::share(const void* at) {
  const Allocation* const found = find(at);
  require(found != nullptr && found->kind == Allocation::Kind::device && found->pool == nullptr);
  Allocation& allocation = allocations_[found->address];
  const std::uint64_t address = allocation.address, first = first_byte_in_page(address);
  if (allocation.file < 0) {
    const FileLimit limit;
    OpenFile file(memfd_create("warpmat", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    require(file.number() >= 0 && ftruncate(file.number(), static_cast<off_t>(whole_pages(first + allocation.bytes))) == 0 &&
                fcntl(file.number(), F_ADD_SEALS, seals_of_shared) == 0,
            cudaErrorMemoryAllocation);
    map_file(address, allocation.bytes, file.number());
    memory_.move_to_own_address(address);
    allocation.file = file.release();
  }
  return {allocation.file, first, allocation.bytes};
}

std::uint64_t AddressSpace::open_shared(const SharedFile& shared, int gpu) {
  const std::uint64_t address = map_shared(known(CheckedSize(shared.first_byte) + shared.bytes)) + shared.first_byte;
  map_file(address, shared.bytes, shared.file);
  memory_.add_own_memory({static_cast<std::uint8_t*>(pointer(address)), shared.bytes}, fmt::format("cudaIpcOpenMemHandle {}", ++count_));
  allow(address, set_of(gpu) | set_of(current_gpu()));
  add({.kind = Allocation::Kind::opened, .address = address, .bytes = shared.bytes, .gpu = gpu});
  return address;
}

std::uint8_t* AddressSpace::device_bytes(const void* address, std::uint64_t count) {
  try {
    return memory_.bytes(address_of(address), count).data();
  } catch (const std::out_of_range& e) {
    throw ApiError(cudaErrorInvalidValue, e.what());
  }
}

std::uint8_t* AddressSpace::host_bytes(const void* address, std::uint64_t count) {
  const std::uint64_t at = address_of(address);
  require(address != nullptr && count <= std::numeric_limits<std::uint64_t>::max() - at);
  const std::optional<DeviceMemory::Buffer> buffer = memory_.find(at);
  const bool reserved = at >= device_start && at < shared_end;
  if (!buffer) {
    if (reserved) throw ApiError(cudaErrorInvalidValue, fmt::format("{:#x} is no host address: {}", at, memory_.describe(at)));
    return static_cast<std::uint8_t*>(const_cast<void*>(address));
  }
  if (buffer->freed || reinterpret_cast<std::uintptr_t>(buffer->contents.data()) != buffer->address)
    throw ApiError(cudaErrorInvalidValue, fmt::format("{:#x} is no host address: {}", at, memory_.describe(at)));
  // memory that is registered in part goes on behind it
  return reserved ? device_bytes(address, count) : static_cast<std::uint8_t*>(const_cast<void*>(address));
}

std::uint8_t* AddressSpace::any_bytes(const void* address, std::uint64_t count) {
  return is_device_address(address) ? device_bytes(address, count) : host_bytes(address, count);
}

bool AddressSpace::is_followed(const void* at) const {
  const StoredBuffer* const buffer = followed_ ? find_buffer(memory_, address_of(at)) : nullptr;
  return buffer != nullptr && buffer->written != nullptr;
}

void AddressSpace::note_written(const void* at, std::uint64_t bytes) {
  if (is_followed(at)) memory_.set_written(address_of(at), bytes);
}

void AddressSpace::note_copied(const void* to, const void* from, std::uint64_t bytes) {
  if (!is_followed(to)) return;
  if (is_followed(from))
    memory_.copy_written(address_of(to), address_of(from), bytes);
  else
    memory_.set_written(address_of(to), bytes);
}

std::optional<DeviceMemory::Unwritten> AddressSpace::find_unwritten(const void* at, std::uint64_t bytes) const {
  return is_followed(at) ? memory_.find_unwritten(address_of(at), bytes) : std::nullopt;
}

std::vector<HostRange> AddressSpace::ranges_at_host() const {
  std::vector<HostRange> ranges;
  for (const auto& [address, allocation] : allocations_)
    if (!allocation.is_of_device() || allocation.kind == Allocation::Kind::opened) ranges.push_back({address, allocation.bytes});
  return ranges;
}

const Allocation* AddressSpace::find(const void* at) const {
  const auto after = allocations_.upper_bound(address_of(at));
  if (after == allocations_.begin()) return nullptr;
  const Allocation& allocation = std::prev(after)->second;
  return address_of(at) - allocation.address < allocation.bytes ? &allocation : nullptr;
}

bool AddressSpace::is_device_address(const void* address) const {
  const std::uint64_t at = address_of(address);
  return memory_.find(at) && at >= device_start && at < shared_end;
}

int AddressSpace::gpu_at(const void* address) const {
  const StoredBuffer* const buffer = find_buffer(memory_, address_of(address));
  return buffer == nullptr ? 0 : static_cast<int>(buffer->gpu);
}

void AddressSpace::share_variable(std::uint64_t address, std::uint64_t bytes) {
  map_pages(address, bytes, PROT_READ | PROT_WRITE);
  memory_.move_to_own_address(address);
  allow(address, all_gpus);
}

void AddressSpace::release_variable(std::uint64_t address) {
  const std::optional<DeviceMemory::Buffer> variable = memory_.find(address);
  if (!variable || variable->freed) return;
  const std::uint64_t bytes = variable->bytes;
  const bool shared = reinterpret_cast<std::uintptr_t>(variable->contents.data()) == address;
  memory_.free(address);
  forget_allowed(address);
  if (shared) map_pages(address, bytes, PROT_NONE);
}

}  // namespace warpmat::cuda
