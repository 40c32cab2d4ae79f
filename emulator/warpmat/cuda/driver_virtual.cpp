// The driver: virtual memory management. Reserved addresses, memory that has none, and mappings of the one at the other. Neighbouring
// mappings are one buffer, as an access may cross from one into the next.

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include <warpmat/cuda/driver.h>
#include <warpmat/machine/stored_buffer.h>

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

struct PhysicalMemory;

/// The GPUs of a multicast object, and the memory that each has bound to it.
struct Team {
  struct Bound {
    int gpu;
    std::uint64_t at, bytes;  ///< in the object
    std::shared_ptr<PhysicalMemory> memory;
    std::uint64_t offset;  ///< of the first byte in the memory
    std::uint64_t end() const { return at + bytes; }
  };
  std::size_t size = 0;     ///< GPUs that it waits for
  std::uint64_t bytes = 0;  ///< of the object
  std::vector<int> gpus = {};
  std::vector<Bound> bound = {};

  bool has(int gpu) const { return std::ranges::find(gpus, gpu) != gpus.end(); }
  /// Of all its GPUs what is bound to [first, last); nothing if one lacks a part.
  std::vector<const Bound*> bound_to(std::uint64_t first, std::uint64_t last) const {
    std::vector<const Bound*> found;
    for (const int gpu : gpus)
      for (const Bound& each : bound)
        if (each.gpu == gpu && each.at <= first && last <= each.end()) found.push_back(&each);
    return found.size() == gpus.size() ? found : std::vector<const Bound*>();
  }
};

/// CUmemGenericAllocationHandle names one: bytes without an address, or a multicast object. Their owners are the handle, as long as it is
/// not released, and mappings.
struct PhysicalMemory {
  MemoryProperties properties{};
  std::vector<std::uint8_t> bytes = {};
  std::unique_ptr<Team> team = nullptr;  ///< of a multicast object, which has no bytes of its own
  std::uint64_t size() const { return team != nullptr ? team->bytes : bytes.size(); }
  bool is_of(int gpu) const { return team != nullptr ? team->has(gpu) : properties.location.id == gpu; }
};

struct Mapping {
  std::uint64_t address = 0, bytes = 0, offset = 0;
  std::shared_ptr<PhysicalMemory> memory;
  GpuSet accessible = 0;  ///< for which cuMemSetAccess has allowed it
  std::uint64_t end() const { return address + bytes; }
  /// Whether a buffer stands for it.
  bool is_out() const { return accessible != 0 && memory->team == nullptr; }
  bool is_like(const Mapping& other) const {
    return other.is_out() && accessible == other.accessible && memory->properties.location.id == other.memory->properties.location.id;
  }
};

struct Virtual {
  std::map<std::uint64_t, std::uint64_t> reserved;  ///< bytes by address
  std::map<std::uint64_t, std::shared_ptr<PhysicalMemory>> handles;
  std::map<std::uint64_t, Mapping> mappings;  ///< by address
  std::vector<std::uint64_t> buffers;         ///< addresses of the buffers that stand for accessible mappings
  std::uint64_t last_handle = 0;

  const Mapping& containing(std::uint64_t address) const { return std::prev(mappings.upper_bound(address))->second; }

  /// They are the GPU's.
  void leave(Context& context, Owner owner) {
    if (!is_primary(owner)) return;
    const int gpu = gpu_of(owner);
    const auto is_of_it = [&](const auto& memory) { return memory->is_of(gpu); };
    std::erase_if(buffers, [&](std::uint64_t address) {
      const bool goes = is_of_it(containing(address).memory);
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

/// The bytes of all memory that has a handle or a mapping, which take memory of the machine at once; of one GPU, or of all.
std::uint64_t held_bytes(std::optional<int> gpu = {}) {
  std::set<const PhysicalMemory*> held;
  for (const auto& [handle, memory] : all().handles) held.insert(memory.get());
  for (const auto& [address, mapping] : all().mappings) held.insert(mapping.memory.get());
  std::uint64_t bytes = 0;
  for (const PhysicalMemory* const memory : held)
    if (!gpu || memory->is_of(*gpu)) bytes += memory->bytes.size();
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
    if (!mapping.is_out()) continue;
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
void put_out_memory(Context& context) {
  const auto& mappings = all().mappings;
  for (auto first = mappings.begin(); first != mappings.end();) {
    if (!first->second.is_out()) {
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

/// The bytes of memory from `offset` on: where its buffer has them, if it is out.
std::uint8_t* bytes_at(Context& context, PhysicalMemory& memory, std::uint64_t offset) {
  for (const auto& [address, mapping] : all().mappings)
    if (mapping.memory.get() == &memory && mapping.is_out() && offset - mapping.offset < mapping.bytes)
      return context.space.memory().bytes(address + offset - mapping.offset, 1).data();
  return memory.bytes.data() + offset;
}

/// The bytes of a multicast object from `begin` to `end` at which another piece of memory begins, or another buffer.
std::set<std::uint64_t> cuts(const Team& team, std::uint64_t begin, std::uint64_t end) {
  std::set<std::uint64_t> places{begin, end};
  const auto cut = [&](std::uint64_t at) {
    if (at > begin && at < end) places.insert(at);
  };
  for (const Team::Bound& bound : team.bound) {
    cut(bound.at);
    cut(bound.end());
    for (const auto& [address, mapping] : all().mappings) {
      if (mapping.memory != bound.memory) continue;
      cut(bound.at + mapping.offset - bound.offset);
      cut(bound.at + mapping.offset + mapping.bytes - bound.offset);
    }
  }
  return places;
}

/// Makes buffers of the accessible mappings of multicast objects, where all GPUs have bound memory.
void put_out_teams(Context& context) {
  for (const auto& [address, mapping] : all().mappings) {
    if (mapping.accessible == 0 || mapping.memory->team == nullptr) continue;
    const Team& team = *mapping.memory->team;
    const std::set<std::uint64_t> places = cuts(team, mapping.offset, mapping.offset + mapping.bytes);
    for (auto first = places.begin(); std::next(first) != places.end(); ++first) {
      const std::uint64_t last = *std::next(first);
      std::vector<std::uint8_t*> copies;
      for (const Team::Bound* const bound : team.bound_to(*first, last))
        copies.push_back(bytes_at(context, *bound->memory, bound->offset + *first - bound->at));
      if (copies.empty()) continue;
      const std::uint64_t at = address + *first - mapping.offset;
      add_multicast(context.space.memory(), at, last - *first, "a multicast object", std::move(copies));
      context.space.allow(at, mapping.accessible);
      all().buffers.push_back(at);
    }
  }
}

void put_out(Context& context) {
  put_out_memory(context);
  put_out_teams(context);
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
      const AsOwner as(primary_of(properties->location.id));
      require((CheckedSize(held_bytes(properties->location.id)) + bytes).fits(context.space.free_bytes()), cudaErrorMemoryAllocation);
      require((CheckedSize(held_bytes()) + bytes).fits(machine_bytes()), cudaErrorMemoryAllocation);
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
      require(properties != nullptr && found != all().handles.end() && found->second->team == nullptr);
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
    require(offset <= found->second->size() && bytes <= found->second->size() - offset);
    require(is_reserved(address, bytes) && !is_mapped(address, bytes));
    for (const auto& [start, mapping] : all().mappings)
      if (mapping.memory == found->second && found->second->team == nullptr)
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

// Multicast objects.

struct MulticastProperties {  ///< CUmulticastObjectProp
  unsigned devices;
  std::size_t bytes;
  unsigned long long handle_types, flags;
};

namespace {

void check_properties(const Context& context, const MulticastProperties* properties) {
  constexpr unsigned long long file_descriptor = 1;  // whose export is refused: cuMemExportToShareableHandle
  require(properties != nullptr && properties->devices != 0 && properties->devices <= static_cast<unsigned>(context.gpus));
  require(is_whole(properties->bytes) && properties->flags == 0);
  if ((properties->handle_types & ~file_descriptor) != 0)
    throw ApiError(cudaErrorNotSupported, "multicast objects that other processes share are not supported");
}

Team& team_of(unsigned long long handle) {
  const auto found = all().handles.find(handle);
  require(found != all().handles.end() && found->second->team != nullptr);
  return *found->second->team;
}

/// Binds memory of a GPU to a multicast object, all of whose GPUs are known by then.
void bind_memory(Team& team, std::uint64_t at, const std::shared_ptr<PhysicalMemory>& memory, std::uint64_t offset, std::uint64_t bytes) {
  require(team.gpus.size() == team.size, cudaErrorIllegalState);
  require(memory->team == nullptr && is_whole(bytes) && at % granularity == 0 && offset % granularity == 0);
  require(at <= team.bytes && bytes <= team.bytes - at && offset <= memory->bytes.size() && bytes <= memory->bytes.size() - offset);
  const int gpu = memory->properties.location.id;
  require(team.has(gpu));
  for (const Team::Bound& each : team.bound) require(each.gpu != gpu || at + bytes <= each.at || each.end() <= at);
  team.bound.push_back({.gpu = gpu, .at = at, .bytes = bytes, .memory = memory, .offset = offset});
}

}  // namespace

WARPMAT_CUDA_API int cuMulticastGetGranularity(std::size_t* bytes, const MulticastProperties* properties, int option) {
  return after_init([&] {
    return call("cuMulticastGetGranularity", [&](Context& context) {
      require(bytes != nullptr && (option == 0 || option == 1) && properties != nullptr);
      require(properties->devices != 0 && properties->devices <= static_cast<unsigned>(context.gpus));
      *bytes = granularity;
    });
  });
}

WARPMAT_CUDA_API int cuMulticastCreate(unsigned long long* handle, const MulticastProperties* properties) {
  return in_context([&] {
    return call("cuMulticastCreate", [&](Context& context) {
      require(handle != nullptr);
      check_properties(context, properties);
      auto memory = std::make_shared<PhysicalMemory>();
      memory->team = std::make_unique<Team>(Team{.size = properties->devices, .bytes = properties->bytes});
      *handle = ++all().last_handle;
      all().handles[*handle] = std::move(memory);
    });
  });
}

WARPMAT_CUDA_API int cuMulticastAddDevice(unsigned long long handle, int device) {
  return in_context([&] {
    return call("cuMulticastAddDevice", [&](Context&) {
      Team& team = team_of(handle);
      require_device(device);
      require(team.gpus.size() < team.size && !team.has(device));
      team.gpus.push_back(device);
    });
  });
}

WARPMAT_CUDA_API int cuMulticastBindMem(unsigned long long handle, std::size_t at, unsigned long long memory, std::size_t offset,
                                        std::size_t bytes, unsigned long long flags) {
  return change_mappings("cuMulticastBindMem", [&](Context&) {
    Team& team = team_of(handle);
    const auto found = all().handles.find(memory);
    require(found != all().handles.end() && flags == 0);
    bind_memory(team, at, found->second, offset, bytes);
  });
}

WARPMAT_CUDA_API int cuMulticastBindAddr(unsigned long long handle, std::size_t at, DeviceAddress address, std::size_t bytes,
                                         unsigned long long flags) {
  return change_mappings("cuMulticastBindAddr", [&](Context&) {
    Team& team = team_of(handle);
    require(flags == 0 && is_mapped(address, 1));
    const Mapping& mapping = all().containing(address);
    require(bytes <= mapping.end() - address);
    bind_memory(team, at, mapping.memory, mapping.offset + (address - mapping.address), bytes);
  });
}

WARPMAT_CUDA_API int cuMulticastUnbind(unsigned long long handle, int device, std::size_t at, std::size_t bytes) {
  return change_mappings("cuMulticastUnbind", [&](Context&) {
    Team& team = team_of(handle);
    require_device(device);
    const auto is_whole_part = [&](const Team::Bound& each) { return each.gpu == device && at <= each.at && each.end() - at <= bytes; };
    require(std::erase_if(team.bound, is_whole_part) != 0);
  });
}

}  // namespace warpmat::cuda
