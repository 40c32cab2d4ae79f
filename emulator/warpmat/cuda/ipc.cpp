// Memory and events that other processes use. A handle names a file of memory (memfd) of its process, which another one opens by /proc: no
// file is left behind, and the memory lives as long as a process has it.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>

#include <fmt/core.h>

#include <warpmat/cuda/driver.h>
#include <warpmat/cuda/ipc.h>
#include <warpmat/cuda/open_file.h>

namespace warpmat::cuda {
namespace {

constexpr std::uint64_t memory_magic = 0x6d656d2074727077, event_magic = 0x746e657620747077;
constexpr unsigned lazy_peer_access = 1;

/// What a handle holds; the rest of its 64 bytes is zero.
struct Contents {
  std::uint64_t magic = memory_magic;
  std::int32_t process = 0, file = -1;      ///< whose file descriptor
  std::uint64_t device = 0, inode = 0;      ///< of the file, as its number may have become another file's
  std::uint64_t first_byte = 0, bytes = 0;  ///< of the allocation
  std::int32_t gpu = 0;                     ///< that has it
  std::int32_t unused = 0;
};
static_assert(sizeof(Contents) <= sizeof(IpcHandle));

Contents contents_of(const IpcHandle& handle, std::uint64_t magic) {
  Contents contents;
  std::memcpy(&contents, handle.bytes, sizeof contents);
  require(contents.magic == magic &&
          std::all_of(handle.bytes + sizeof contents, std::end(handle.bytes), [](auto byte) { return byte == 0; }));
  return contents;
}

void write(const Contents& contents, IpcHandle& handle) {
  handle = {};
  std::memcpy(handle.bytes, &contents, sizeof contents);
}

/// The allocations of other processes that this one has opened.
struct Opened {
  struct One {
    std::uint64_t address = 0;
    int count = 0;
    Owner owner = 0;
  };
  std::map<std::pair<std::uint64_t, std::uint64_t>, One> all;  ///< by the file's device and inode

  void leave(Context&, Owner owner) {
    std::erase_if(all, [&](const auto& each) { return each.second.owner == owner; });
  }
};

/// Opens the file of a handle. Throws ApiError where the process, or its allocation, is gone, and where the handle is none of
/// cudaIpcGetMemHandle: the file is no file of memory, or has not its bytes.
OpenFile open_file(const Contents& contents) {
  const std::string path = fmt::format("/proc/{}/fd/{}", contents.process, contents.file);
  OpenFile file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct stat found {};
  require(file.number() >= 0 && ::fstat(file.number(), &found) == 0 && found.st_dev == contents.device && found.st_ino == contents.inode,
          cudaErrorInvalidResourceHandle);
  const auto size = static_cast<std::uint64_t>(found.st_size);
  const int seals = ::fcntl(file.number(), F_GET_SEALS);
  require(seals >= 0 && (seals & seals_of_shared) == seals_of_shared && contents.first_byte < size &&
          contents.bytes <= size - contents.first_byte);
  return file;
}

}  // namespace

WARPMAT_CUDA_API Error cudaIpcGetMemHandle(IpcHandle* handle, void* pointer) {
  return call(__func__, [&](Context& context) {
    require(handle != nullptr);
    const AddressSpace::SharedFile shared = context.space.share(pointer);
    struct stat found {};
    require(::fstat(shared.file, &found) == 0, cudaErrorMemoryAllocation);
    write({.process = ::getpid(),
           .file = shared.file,
           .device = found.st_dev,
           .inode = found.st_ino,
           .first_byte = shared.first_byte,
           .bytes = shared.bytes,
           .gpu = context.space.gpu_at(pointer)},
          *handle);
  });
}

WARPMAT_CUDA_API Error cudaIpcOpenMemHandle(void** pointer, IpcHandle handle, unsigned flags) {
  return call(__func__, [&](Context& context) {
    require(pointer != nullptr && flags == lazy_peer_access);
    const Contents contents = contents_of(handle, memory_magic);
    require_device(contents.gpu);
    require(contents.process != ::getpid(), cudaErrorDeviceUninitialized);
    const std::pair key(contents.device, contents.inode);
    auto& opened = context.part<Opened>().all;
    auto known = opened.find(key);
    if (known == opened.end()) {
      const OpenFile file = open_file(contents);
      const std::uint64_t address = context.space.open_shared({file.number(), contents.first_byte, contents.bytes}, contents.gpu);
      known = opened.emplace(key, Opened::One{.address = address, .owner = current_owner()}).first;
    }
    ++known->second.count;
    *pointer = pointer_to(known->second.address);
  });
}

WARPMAT_CUDA_API Error cudaIpcCloseMemHandle(void* pointer) {
  return call(__func__, [&](Context& context) {
    auto& opened = context.part<Opened>().all;
    for (auto it = opened.begin(); it != opened.end(); ++it) {
      if (pointer_to(it->second.address) != pointer) continue;
      if (--it->second.count != 0) return;
      context.space.release(it->second.address, {Allocation::Kind::opened}, cudaErrorInvalidValue);
      opened.erase(it);
      return;
    }
    throw ApiError(cudaErrorInvalidValue);
  });
}

/// Work is done when its call returns, so an event that another process has recorded is over, and nothing of it has to be told.
WARPMAT_CUDA_API Error cudaIpcGetEventHandle(IpcHandle* handle, Event* event) {
  return call(__func__, [&](Context&) {
    require(handle != nullptr && (event_of(event).flags & interprocess_event) != 0);
    write({.magic = event_magic, .process = ::getpid()}, *handle);
  });
}

WARPMAT_CUDA_API Error cudaIpcOpenEventHandle(Event** event, IpcHandle handle) {
  return call(__func__, [&](Context&) {
    require(contents_of(handle, event_magic).process != ::getpid(), cudaErrorDeviceUninitialized);
    const Error made = cudaEventCreateWithFlags(event, interprocess_event | untimed_event);
    require(made == cudaSuccess, made);
  });
}

WARPMAT_CUDA_API int cuIpcGetMemHandle(IpcHandle* handle, DeviceAddress address) {
  return in_context([&] { return cudaIpcGetMemHandle(handle, pointer_to(address)); });
}

WARPMAT_CUDA_API int cuIpcOpenMemHandle_v2(DeviceAddress* address, IpcHandle handle, unsigned flags) {
  return in_context([&] {
    void* opened_at = nullptr;
    const Error error = address == nullptr ? cudaErrorInvalidValue : cudaIpcOpenMemHandle(&opened_at, handle, flags);
    if (error == cudaSuccess) *address = reinterpret_cast<std::uintptr_t>(opened_at);
    return error;
  });
}

WARPMAT_CUDA_API int cuIpcOpenMemHandle(DeviceAddress* address, IpcHandle handle, unsigned flags) {
  return cuIpcOpenMemHandle_v2(address, handle, flags);
}

WARPMAT_CUDA_API int cuIpcCloseMemHandle(DeviceAddress address) {
  return in_context([&] { return cudaIpcCloseMemHandle(pointer_to(address)); });
}

WARPMAT_CUDA_API int cuIpcGetEventHandle(IpcHandle* handle, Event* event) {
  return in_context([&] { return cudaIpcGetEventHandle(handle, event); });
}

WARPMAT_CUDA_API int cuIpcOpenEventHandle(Event** event, IpcHandle handle) {
  return in_context([&] { return cudaIpcOpenEventHandle(event, handle); });
}

}  // namespace warpmat::cuda
