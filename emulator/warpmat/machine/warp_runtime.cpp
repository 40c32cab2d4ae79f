// What a kernel calls of the device's runtime without defining it: malloc and free, launches of kernels, copies.

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/device_heap.h>
#include <warpmat/machine/operations.h>
#include <warpmat/ptx/program/module_symbols.h>
#include <warpmat/tables/hardware.h>

namespace warpmat::machine {

namespace {

constexpr std::uint32_t invalid_configuration = 9;  // cudaErrorInvalidConfiguration
constexpr std::uint32_t no_memory = 2;              // cudaErrorMemoryAllocation
constexpr std::uint64_t any_handle = 16;            // of streams and events, all alike: what is left to the GPU runs in one order

template <typename Value>
Value argument(const std::uint8_t* local, const code::Call& call, std::size_t i) {
  Value value;
  std::memcpy(&value, local + call.arguments[i].caller, sizeof value);
  return value;
}

void must_have_children(WarpState& warp, int lane) {
  if (warp.launch().options.children == nullptr)
    warp.trap(lane, std::nullopt, "the kernel launches another one or copies, which only 'warpmat cuda' runs");
}

/// Memory for the parameters of a launch of `function` by (grid, block, shared bytes); 0 where it cannot be, as by CUDA.
std::uint64_t prepare_launch(WarpState& warp, int lane, const std::uint8_t* local, const code::Call& call) {
  must_have_children(warp, lane);
  const auto address = argument<std::uint64_t>(local, call, 0);
  const syntax::Function* callee = nullptr;
  for (const syntax::Function& function : warp.program().module->functions)
    if (function.entry && warp.program().module->function_address(function) == address) callee = &function;
  if (callee == nullptr) warp.trap(lane, address, "the kernel launches what is no kernel of its module", Trap::Kind::misuse);
  ChildLaunch child{.entry = std::string(callee->name),
                    .grid = argument<Dim3>(local, call, 1),
                    .block = argument<Dim3>(local, call, 2),
                    .shared_bytes = argument<std::uint32_t>(local, call, 3)};
  constexpr std::uint64_t most_parameter_bytes = 32768;
  std::uint64_t bytes = 16;
  for (const syntax::Variable& parameter : callee->parameters) bytes += static_cast<std::uint64_t>(code::size_of(parameter)) + 16;
  const std::uint64_t buffer = heap_of(warp.launch().memory).allocate(std::min(bytes, most_parameter_bytes));
  if (buffer == 0) return 0;
  child.parameters.resize(std::min(bytes, most_parameter_bytes));
  warp.launch().options.children->prepared[buffer] = std::move(child);
  return buffer;
}

std::uint32_t launch_child(WarpState& warp, int lane, std::uint64_t buffer, std::uint64_t stream) {
  ChildLaunches& children = *warp.launch().options.children;
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
    std::uint8_t* const local = warp.local_memory(lane);
    std::uint64_t value = 0;
    std::memcpy(&value, local + call.arguments[0].caller, sizeof value);
    if (call.target == code::Call::Target::allocate) {
      value = heap.allocate(value);
      for (const code::ArgumentCopy& result : call.returns) std::memcpy(local + result.caller, &value, sizeof value);
    } else if (!heap.free(value)) {
      warp.trap(lane, value, "free() of an address that malloc() has not given, or that is free already");
    }
  }
}

void use_runtime(WarpState& warp, const code::Call& call, LaneMask mask) {
  using Target = code::Call::Target;
  for (; mask != 0; mask &= mask - 1) {
    const int lane = first_lane(mask);
    std::uint8_t* const local = warp.local_memory(lane);
    const auto word = [&](std::size_t i) { return argument<std::uint64_t>(local, call, i); };
    const auto put = [&](auto what) {  // where the first argument points to
      std::memcpy(warp.locate_lane(Space::generic, lane, word(0), sizeof what, true), &what, sizeof what);
    };
    std::uint64_t value = 0;
    switch (call.target) {
      case Target::prepare_launch: value = prepare_launch(warp, lane, local, call); break;
      case Target::launch: value = launch_child(warp, lane, word(0), word(1)); break;
      case Target::copy:
        must_have_children(warp, lane);
        warp.launch().options.children->made.push_back(
            {.kind = ChildLaunch::Kind::copy, .stream = word(4), .to = word(0), .from = word(1), .bytes = word(2)});
        break;
      case Target::fill:
        must_have_children(warp, lane);
        warp.launch().options.children->made.push_back({.kind = ChildLaunch::Kind::fill,
                                                        .stream = word(3),
                                                        .to = word(0),
                                                        .from = argument<std::uint32_t>(local, call, 1) & 0xff,
                                                        .bytes = word(2)});
        break;
      case Target::put_memory: {
        const std::uint64_t address = heap_of(warp.launch().memory).allocate(word(1));
        put(address);
        value = address == 0 ? no_memory : 0;
        break;
      }
      case Target::free_memory:
        if (!heap_of(warp.launch().memory).free(word(0))) warp.trap(lane, word(0), "cudaFree() of an address that no kernel has allocated");
        break;
      case Target::put_handle: put(any_handle); break;
      case Target::put_zero: put(std::uint32_t{0}); break;
      default: break;
    }
    for (const code::ArgumentCopy& result : call.returns)
      std::memcpy(local + result.caller, &value, static_cast<std::size_t>(std::min<std::int32_t>(result.bytes, sizeof value)));
  }
}

}  // namespace warpmat::machine
