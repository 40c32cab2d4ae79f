// The driver: virtual memory management. Reserved addresses, memory that has none, and mappings of the one at the other. Neighbouring
// mappings are one buffer, as an access may cross from one into the next.

#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <warpmat/cuda/driver.h>

namespace warpmat::cuda {
namespace {

constexpr std::uint64_t granularity = 2 << 20;
constexpr int pinned_memory = 1;

struct MemoryProperties {  ///< CUmemAllocationProp
  int type, handle_types;
  MemoryLocation location;
  void* metadata;
  unsigned char flags[8];
};

/// CUmemGenericAllocationHandle names one: bytes without an address. Their owners are the handle, as long as it is not released, and
/// mappings.
struct PhysicalMemory {
  MemoryProperties properties{};
  std::vector<std::uint8_t> bytes;
};

struct Mapping {
  std::uint64_t address = 0, bytes = 0, offset = 0;
  std::shared_ptr<PhysicalMemory> memory;
  GpuSet accessible = 0;  ///< for which cuMemSetAccess has allowed it
  std::uint64_t end() const { return address + bytes; }
  bool is_like(const Mapping& other) const {
    return accessible == other.accessible && memory->properties.location.id == other.memory->properties.location.id;
  }
};

struct Virtual {
  std::map<std::uint64_t, std::uint64_t> reserved;  ///< bytes by address
  std::map<std::uint64_t, std::shared_ptr<PhysicalMemory>> handles;
  std::map<std::uint64_t, Mapping> mappings;  ///< by address
  std::vector<std::uint64_t> buffers;         ///< addresses of the buffers that stand for accessible mappings
  std::uint64_t last_handle = 0;

  /// They are the GPU's.
  void leave(Context& context, Owner owner) {
    if (!is_primary(owner)) return;
    const int gpu = gpu_of(owner);
    const auto is_of_it = [&](const auto& memory) { return memory->properties.location.id == gpu; };
    std::erase_if(buffers, [&](std::uint64_t address) {
      const bool goes = is_of_it(mappings.at(address).memory);
      if (goes) context.space.memory().free(address);
      return goes;
    });
    std::erase_if(mappings, [&](const auto& each) { return is_of_it(each.second.memory); });
    std::erase_if(handles, [&](const auto& each) { return is_of_it(each.second); });
    if (context.gpus == 1) reserved.clear();
  }
};

Virtual& all() {
  return context().part<Virtual>();
}

/// The bytes of all memory that has a handle or a mapping, which take memory of the machine at once.
std::uint64_t held_bytes() {
  std::set<const PhysicalMemory*> held;
  for (const auto& [handle, memory] : all().handles) held.insert(memory.get());
  for (const auto& [address, mapping] : all().mappings) held.insert(mapping.memory.get());
  std::uint64_t bytes = 0;
  for (const PhysicalMemory* const memory : held) bytes += memory->bytes.size();
  return bytes;
}

std::uint64_t machine_bytes() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

bool is_whole(std::uint64_t bytes) {
  return bytes != 0 && bytes % granularity == 0;
}

/// Copies what the buffers hold into the memory of the mappings, and removes the buffers.
void take_back(Context& context) {
  DeviceMemory& memory = context.space.memory();
  for (const auto& [address, mapping] : all().mappings) {
    if (mapping.accessible == 0) continue;
    const auto from = memory.bytes(address, mapping.bytes);
    std::ranges::copy(from, mapping.memory->bytes.begin() + static_cast<std::ptrdiff_t>(mapping.offset));
  }
  for (const std::uint64_t address : all().buffers) {
    memory.remove(address);
    context.space.forget_allowed(address);
  }
  all().buffers.clear();
}

/// Makes a buffer of each run of accessible mappings that touch each other, of one GPU and accessible to the same.
void put_out(Context& context) {
  const auto& mappings = all().mappings;
  for (auto first = mappings.begin(); first != mappings.end();) {
    if (first->second.accessible == 0) {
      ++first;
      continue;
    }
    std::vector<std::uint8_t> bytes;
    auto next = first;
    for (std::uint64_t end = first->first; next != mappings.end() && next->first == end && first->second.is_like(next->second); ++next) {
      const auto from = next->second.memory->bytes.begin() + static_cast<std::ptrdiff_t>(next->second.offset);
      bytes.insert(bytes.end(), from, from + static_cast<std::ptrdiff_t>(next->second.bytes));
      end = next->second.end();
    }
    const AsOwner as(primary_of(first->second.memory->properties.location.id));
    context.space.memory().place(first->first, bytes, "cuMemMap");
    context.space.allow(first->first, first->second.accessible);
    all().buffers.push_back(first->first);
    first = next;
  }
}

/// Runs `change` on the mappings, between what kernels and copies did with them and will do.
template <typename Change>
int change_mappings(const char* name, Change change) {
  return in_context([&] {
    return call(name, [&](Context& context) {
      take_back(context);
      try {
        change(context);
      } catch (...) {
        put_out(context);
        throw;
      }
      put_out(context);
    });
  });
}

bool is_reserved(std::uint64_t address, std::uint64_t bytes) {
  const auto after = all().reserved.upper_bound(address);
  if (after == all().reserved.begin()) return false;
  const auto& [start, size] = *std::prev(after);
  return bytes <= size && address - start <= size - bytes;
}

bool is_mapped(std::uint64_t address, std::uint64_t bytes) {
  return std::ranges::any_of(all().mappings, [&](const auto& each) { return each.first < address + bytes && address < each.second.end(); });
}

/// Visits the mappings of [address, address + bytes), which they must fill whole.
template <typename Visit>
void for_mappings(std::uint64_t address, std::uint64_t bytes, Visit visit) {
  static_cast<void>(known(CheckedSize(address) + bytes));
  require(bytes != 0);
  std::uint64_t next = address;
  while (next < address + bytes) {
    const auto found = all().mappings.find(next);
    require(found != all().mappings.end() && found->second.end() <= address + bytes);
    next = found->second.end();
  }
  for (auto it = all().mappings.find(address); it != all().mappings.end() && it->first < address + bytes;) visit(it++);
}

void check_properties(const MemoryProperties* properties) {
  require(properties != nullptr && properties->type == pinned_memory && properties->location.type == on_device);
  require_device(properties->location.id);
}

}  // namespace

WARPMAT_CUDA_API int cuMemGetAllocationGranularity(std::size_t* bytes, const MemoryProperties* properties, int option) {
  return after_init([&] {
    return call("cuMemGetAllocationGranularity", [&](Context&) {
      require(bytes != nullptr && (option == 0 || option == 1));
      check_properties(properties);
      *bytes = granularity;
    });
  });
}

WARPMAT_CUDA_API int cuMemAddressReserve(DeviceAddress* address, std::size_t bytes, std::size_t alignment, DeviceAddress,
                                         unsigned long long flags) {
  return in_context([&] {
    return call("cuMemAddressReserve", [&](Context& context) {
      require(address != nullptr && is_whole(bytes) && flags == 0 && (alignment & (alignment - 1)) == 0);
      *address = context.space.reserve_addresses(bytes, std::max<std::uint64_t>(alignment, granularity));
      all().reserved[*address] = bytes;
    });
  });
}

WARPMAT_CUDA_API int cuMemAddressFree(DeviceAddress address, std::size_t bytes) {
  return in_context([&] {
    return call("cuMemAddressFree", [&](Context&) {
      const auto found = all().reserved.find(address);
      require(found != all().reserved.end() && found->second == bytes && !is_mapped(address, bytes));
      all().reserved.erase(found);
    });
  });
}

WARPMAT_CUDA_API int cuMemCreate(unsigned long long* handle, std::size_t bytes, const MemoryProperties* properties,
                                 unsigned long long flags) {
  return in_context([&] {
    return call("cuMemCreate", [&](Context& context) {
      require(handle != nullptr && is_whole(bytes) && flags == 0);
      check_properties(properties);
      constexpr int file_descriptor = 1;  // whose export is refused: cuMemExportToShareableHandle
      if ((properties->handle_types & ~file_descriptor) != 0)
        throw ApiError(cudaErrorNotSupported, "memory that other processes share is not supported");
      const CheckedSize all_bytes = CheckedSize(held_bytes()) + bytes;
      require(all_bytes.fits(std::min(context.space.free_bytes(), machine_bytes())), cudaErrorMemoryAllocation);
      auto memory = std::make_shared<PhysicalMemory>();
      memory->properties = *properties;
      memory->properties.flags[0] = 0;  // not compressed
      memory->bytes.resize(bytes);
      *handle = ++all().last_handle;
      all().handles[*handle] = std::move(memory);
    });
  });
}

WARPMAT_CUDA_API int cuMemRelease(unsigned long long handle) {
  return in_context([&] { return call("cuMemRelease", [&](Context&) { require(all().handles.erase(handle) != 0); }); });
}

WARPMAT_CUDA_API int cuMemGetAllocationPropertiesFromHandle(MemoryProperties* properties, unsigned long long handle) {
  return in_context([&] {
    return call("cuMemGetAllocationPropertiesFromHandle", [&](Context&) {
      const auto found = all().handles.find(handle);
      require(properties != nullptr && found != all().handles.end());
      *properties = found->second->properties;
    });
  });
}

WARPMAT_CUDA_API int cuMemRetainAllocationHandle(unsigned long long* handle, void* address) {
  return in_context([&] {
    return call("cuMemRetainAllocationHandle", [&](Context&) {
      const auto at = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(address));
      require(handle != nullptr);
      const auto found = std::ranges::find_if(all().mappings, [&](const auto& each) { return at >= each.first && at < each.second.end(); });
      require(found != all().mappings.end());
      *handle = ++all().last_handle;
      all().handles[*handle] = found->second.memory;
    });
  });
}

WARPMAT_CUDA_API int cuMemMap(DeviceAddress address, std::size_t bytes, std::size_t offset, unsigned long long handle,
                              unsigned long long flags) {
  return change_mappings("cuMemMap", [&](Context&) {
    const auto found = all().handles.find(handle);
    require(found != all().handles.end() && flags == 0 && is_whole(bytes) && address % granularity == 0);
    require(offset <= found->second->bytes.size() && bytes <= found->second->bytes.size() - offset);
    require(is_reserved(address, bytes) && !is_mapped(address, bytes));
    for (const auto& [start, mapping] : all().mappings)
      if (mapping.memory == found->second)
        throw ApiError(cudaErrorNotSupported, "memory that is mapped at several addresses is not supported");
    all().mappings[address] = {.address = address, .bytes = bytes, .offset = offset, .memory = found->second};
  });
}

WARPMAT_CUDA_API int cuMemSetAccess(DeviceAddress address, std::size_t bytes, const PoolAccess* access, std::size_t count) {
  return change_mappings("cuMemSetAccess", [&](Context&) {
    require(access != nullptr && count != 0);
    for (std::size_t i = 0; i < count; ++i) {
      require(access[i].location.type == on_device && is_access(access[i].flags));
      require_device(access[i].location.id);
    }
    for_mappings(address, bytes, [&](auto it) {
      for (std::size_t i = 0; i < count; ++i) {
        const GpuSet gpu = set_of(access[i].location.id);
        it->second.accessible = access[i].flags == no_access ? it->second.accessible & ~gpu : it->second.accessible | gpu;
      }
    });
  });
}

WARPMAT_CUDA_API int cuMemGetAccess(unsigned long long* flags, const MemoryLocation* location, DeviceAddress address) {
  return in_context([&] {
    return call("cuMemGetAccess", [&](Context&) {
      require(flags != nullptr && location != nullptr && location->type == on_device);
      require_device(location->id);
      const auto found =
          std::ranges::find_if(all().mappings, [&](const auto& each) { return address >= each.first && address < each.second.end(); });
      require(found != all().mappings.end());
      *flags = (found->second.accessible & set_of(location->id)) != 0 ? read_and_write : no_access;
    });
  });
}

WARPMAT_CUDA_API int cuMemUnmap(DeviceAddress address, std::size_t bytes) {
  return change_mappings("cuMemUnmap", [&](Context&) { for_mappings(address, bytes, [](auto it) { all().mappings.erase(it); }); });
}

}  // namespace warpmat::cuda
