// What a kernel calls of the device's runtime without defining it: malloc and free, launches of kernels, copies.

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/call_values.h>
#include <warpmat/machine/device_heap.h>
#include <warpmat/machine/operations.h>
#include <warpmat/numeric/checked_size.h>
#include <warpmat/ptx/syntax/variable.h>
#include <warpmat/tables/hardware.h>

namespace warpmat::machine {

namespace {

constexpr std::uint32_t invalid_configuration = 9;  // cudaErrorInvalidConfiguration
constexpr std::uint32_t no_memory = 2;              // cudaErrorMemoryAllocation
constexpr std::uint64_t any_handle = 16;            // of streams and events, all alike: what is left to the GPU runs in one order

/// A part of the heap, which nobody has written; 0 if there is no room.
std::uint64_t allocate(const WarpState& warp, std::uint64_t bytes) {
  DeviceMemory& memory = warp.launch().memory;
  const std::uint64_t address = heap_of(memory).allocate(bytes);
  if (address != 0 && warp.launch().options.checks.global) memory.set_unwritten(address, bytes);
  return address;
}

ChildLaunches& children_of(WarpState& warp, int lane) {
  ChildLaunches* const children = warp.launch().options.children;
  if (children == nullptr) warp.trap(lane, std::nullopt, "the kernel launches another one or copies, which only 'warpmat cuda' runs");
  check_waiting(warp, lane, children->made.size(), "launches and copies that the kernel has made");
  return *children;
}

/// Memory for the parameters of a launch of `function` by (grid, block, shared bytes); 0 where it cannot be, as by CUDA.
std::uint64_t prepare_launch(WarpState& warp, int lane, const code::Call& call) {
  ChildLaunches& children = children_of(warp, lane);
  const auto address = argument<std::uint64_t>(warp, call, lane, 0);
  const syntax::Function* callee = nullptr;
  for (const syntax::Function& function : warp.program().module->functions)
    if (function.entry && warp.program().module->function_address(function) == address) callee = &function;
  if (callee == nullptr) warp.trap(lane, address, "the kernel launches what is no kernel of its module", Trap::Kind::misuse);
  ChildLaunch child{.entry = std::string(callee->name),
                    .grid = argument<Dim3>(warp, call, lane, 1),
                    .block = argument<Dim3>(warp, call, lane, 2),
                    .shared_bytes = argument<std::uint32_t>(warp, call, lane, 3)};
  constexpr std::uint64_t most_parameter_bytes = 32768;
  CheckedSize all = 16;
  for (const syntax::Variable& parameter : callee->parameters) all = all + syntax::size_of(parameter) + 16;
  const std::uint64_t bytes = all.fits(most_parameter_bytes) ? *all.value() : most_parameter_bytes;
  const std::uint64_t buffer = heap_of(warp.launch().memory).allocate(bytes);
  if (buffer == 0) return 0;
  child.parameters.resize(bytes);
  children.prepared[buffer] = std::move(child);
  return buffer;
}

std::uint32_t launch_child(WarpState& warp, int lane, std::uint64_t buffer, std::uint64_t stream) {
  ChildLaunches& children = children_of(warp, lane);
  const auto found = children.prepared.find(buffer);
  if (found == children.prepared.end()) warp.trap(lane, buffer, "the launch has no buffer of cudaGetParameterBufferV2()");
  ChildLaunch child = std::move(found->second);
  children.prepared.erase(found);
  const auto bytes = warp.launch().memory.bytes(buffer, child.parameters.size());
  std::ranges::copy(bytes, child.parameters.begin());
  heap_of(warp.launch().memory).free(buffer);
  child.stream = stream;
  const bool fits = child.grid.count() != 0 && child.block.count() != 0 && child.block.count() <= max_block_threads;
  if (fits) children.made.push_back(std::move(child));
  return fits ? 0 : invalid_configuration;
}

}  // namespace

/// malloc(bytes) and free(address), lane by lane.
void use_heap(WarpState& warp, const code::Call& call, LaneMask mask) {
  DeviceHeap& heap = heap_of(warp.launch().memory);
  for (; mask != 0; mask &= mask - 1) {
    const int lane = first_lane(mask);
    const auto value = argument<std::uint64_t>(warp, call, lane, 0);
    if (call.target == code::Call::Target::allocate)
      give_result(warp, call, lane, allocate(warp, value));
    else if (!heap.free(value))
      warp.trap(lane, value, "free() of an address that malloc() has not given, or that is free already: " + heap.describe(value));
  }
}

void use_runtime(WarpState& warp, const code::Call& call, LaneMask mask) {
  using Target = code::Call::Target;
  for (; mask != 0; mask &= mask - 1) {
    const int lane = first_lane(mask);
    const auto word = [&](std::size_t i) { return argument<std::uint64_t>(warp, call, lane, i); };
    const auto put = [&](auto what) {  // where the first argument points to
      std::memcpy(warp.range(Space::generic, lane, word(0), sizeof what, alignof(decltype(what)), true).data(), &what, sizeof what);
    };
    std::uint64_t value = 0;
    switch (call.target) {
      case Target::prepare_launch: value = prepare_launch(warp, lane, call); break;
      case Target::launch: value = launch_child(warp, lane, word(0), word(1)); break;
      case Target::copy:
        children_of(warp, lane)
            .made.push_back({.kind = ChildLaunch::Kind::copy, .stream = word(4), .to = word(0), .from = word(1), .bytes = word(2)});
        break;
      case Target::fill:
        children_of(warp, lane)
            .made.push_back({.kind = ChildLaunch::Kind::fill,
                             .stream = word(3),
                             .to = word(0),
                             .from = argument<std::uint32_t>(warp, call, lane, 1) & 0xff,
                             .bytes = word(2)});
        break;
      case Target::put_memory: {
        const std::uint64_t address = allocate(warp, word(1));
        put(address);
        value = address == 0 ? no_memory : 0;
        break;
      }
      case Target::free_memory:
        if (DeviceHeap& heap = heap_of(warp.launch().memory); !heap.free(word(0)))
          warp.trap(lane, word(0),
                    "cudaFree() of an address that no kernel has allocated, or that is free already: " + heap.describe(word(0)));
        break;
      case Target::put_handle: put(any_handle); break;
      case Target::put_zero: put(std::uint32_t{0}); break;
      default: break;
    }
    give_result(warp, call, lane, value);
  }
}

}  // namespace warpmat::machine
