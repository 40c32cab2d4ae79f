#include <warpmat/cuda/call_site.h>

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>

#include <array>
#include <cstddef>

namespace warpmat::cuda {
namespace {

constexpr std::size_t most_frames = 16;  // of the program
constexpr std::size_t most_own = 48;     // of this library below them

/// Where an address lies; `base` is null outside of all files.
struct Loaded {
  explicit Loaded(const void* address) {
    Dl_info info;
    void* found = nullptr;
    if (dladdr1(address, &info, &found, RTLD_DL_LINKMAP) == 0) return;
    base = info.dli_fbase;
    file = info.dli_fname;
    function = info.dli_sname == nullptr ? "" : info.dli_sname;
    offset = static_cast<const link_map*>(found)->l_addr;
  }
  const void* base = nullptr;
  std::string file, function;
  std::uint64_t offset = 0;
};

}  // namespace

CallSite call_site() {
  std::array<void*, most_frames + most_own> addresses;
  const auto count = static_cast<std::size_t>(backtrace(addresses.data(), static_cast<int>(addresses.size())));
  const void* const own = Loaded(reinterpret_cast<const void*>(&call_site)).base;
  CallSite site;
  for (std::size_t i = 0; i < count && site.frames.size() < most_frames; ++i) {
    const auto call = reinterpret_cast<std::uintptr_t>(addresses[i]) - 1;  // an address returns behind its call
    Loaded at(reinterpret_cast<const void*>(call));
    if (at.base == own && site.frames.empty())
      site.function = std::move(at.function);
    else if (at.base != nullptr && at.base != own)
      site.frames.push_back({std::move(at.file), call - at.offset});
  }
  return site;
}

}  // namespace warpmat::cuda
