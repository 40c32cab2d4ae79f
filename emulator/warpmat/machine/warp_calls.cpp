// Calls of functions: their frames of registers and local memory, arguments and results.

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/device_heap.h>
#include <warpmat/machine/lane_rows.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/ptx/program/module_symbols.h>
#include <warpmat/ptx/text/readable_name.h>

namespace warpmat::inline v0_1::machine {

using code::Operation;

/// The offset of the registers of a function that the current split calls.
std::uint32_t WarpState::callee_frame(std::int32_t function) const {
  const auto offset_of = [&](std::int32_t each) { return program_.call_tree.frame_offsets[static_cast<std::size_t>(each)]; };
  const Split& s = split();
  const std::uint32_t level = s.frame - offset_of(s.function), offset = offset_of(function);
  return offset > offset_of(s.function) ? level + offset : level + static_cast<std::uint32_t>(program_.call_tree.level_bytes) + offset;
}

WarpState::Step WarpState::call(const Operation& operation) {
  Split& s = split();
  const code::Call& call = program_.calls[operation.detail];
  if (call.target == code::Call::Target::print) {
    print(call, s.lanes);
    ++s.pc;
    return Step::next;
  }
  if (call.target == code::Call::Target::assert_fail) assert_fail(call, s.lanes);
  if (call.uses_launch()) {
    if (!block_.has_reservation()) return Step::needs_reservation;
    if (!block_.use_reservation()) return Step::reservation_is_over;
    const bool heap = call.target == code::Call::Target::allocate || call.target == code::Call::Target::free;
    heap ? use_heap(call, s.lanes) : use_runtime(call, s.lanes);
    ++s.pc;
    return Step::next;
  }
  const code::Function& caller = program_.functions[static_cast<std::size_t>(s.function)];
  const code::Function& callee = program_.functions[static_cast<std::size_t>(call.function)];
  const std::uint32_t local = s.local + caller.local_bytes, frame = callee_frame(call.function);
  if (frame + callee.frame_bytes > launch_.frame_bytes || local + callee.local_bytes > launch_.local_bytes)
    trap(first_lane(s.lanes), std::nullopt, fmt::format("'{}' calls itself too deeply", readable_name(callee.name)));
  for (int lane = 0; lane < warp_size; ++lane) {
    if ((s.lanes & lane_bit(lane)) == 0) continue;
    std::uint8_t* const memory = local_.data() + std::size_t{launch_.local_bytes} * static_cast<std::size_t>(lane);
    for (const code::ArgumentCopy& copy : call.arguments)
      std::copy_n(memory + s.local + copy.caller, copy.bytes, memory + local + copy.callee);
  }
  if (observers_.want(EventKinds::operations))
    observers_.tell(EventKinds::operations, &Observer::calls,
                    CallEvent(Event(*this, operation, s.lanes), callee.name, call, s.frame, frame));
  for (const code::RegisterCopy& copy : call.register_arguments)
    copy_lanes(copy.register_class, registers_ + frame + copy.callee, at<std::uint8_t>(copy.caller), s.lanes);
  s.calls.push_back({s.pc, s.frame, s.local, s.function});
  s.frame = frame;
  s.local = local;
  s.function = call.function;
  s.pc = callee.first;
  return Step::next;
}

/// malloc(bytes) and free(address), lane by lane.
void WarpState::use_heap(const code::Call& call, LaneMask mask) {
  DeviceHeap& heap = launch_.memory.heap();
  for (; mask != 0; mask &= mask - 1) {
    const int lane = first_lane(mask);
    std::uint8_t* const local = local_.data() + std::size_t{launch_.local_bytes} * static_cast<std::size_t>(lane) + split().local;
    std::uint64_t value = 0;
    std::memcpy(&value, local + call.arguments[0].caller, sizeof value);
    if (call.target == code::Call::Target::allocate) {
      value = heap.allocate(value);
      for (const code::ArgumentCopy& result : call.returns) std::memcpy(local + result.caller, &value, sizeof value);
    } else if (!heap.free(value)) {
      trap(lane, value, "free() of an address that malloc() has not given, or that is free already");
    }
  }
}

// ---- The device's runtime: launches from kernels

namespace {

constexpr std::uint32_t most_threads = 1024, invalid_configuration = 9;  // cudaErrorInvalidConfiguration
constexpr std::uint32_t no_memory = 2;                                   // cudaErrorMemoryAllocation
constexpr std::uint64_t any_handle = 16;  // of streams and events, all alike: what is left to the GPU runs in one order

template <typename Value>
Value argument(const std::uint8_t* local, const code::Call& call, std::size_t i) {
  Value value;
  std::memcpy(&value, local + call.arguments[i].caller, sizeof value);
  return value;
}

}  // namespace

void WarpState::use_runtime(const code::Call& call, LaneMask mask) {
  using Target = code::Call::Target;
  for (; mask != 0; mask &= mask - 1) {
    const int lane = first_lane(mask);
    std::uint8_t* const local = local_.data() + std::size_t{launch_.local_bytes} * static_cast<std::size_t>(lane) + split().local;
    const auto word = [&](std::size_t i) { return argument<std::uint64_t>(local, call, i); };
    const auto put = [&](auto what) {  // where the first argument points to
      std::memcpy(locate_lane(Space::generic, lane, word(0), sizeof what, true), &what, sizeof what);
    };
    std::uint64_t value = 0;
    switch (call.target) {
      case Target::prepare_launch: value = prepare_launch(lane, local, call); break;
      case Target::launch: value = launch_child(lane, word(0), word(1)); break;
      case Target::copy:
        must_have_children(lane);
        launch_.options.children->made.push_back(
            {.kind = ChildLaunch::Kind::copy, .stream = word(4), .to = word(0), .from = word(1), .bytes = word(2)});
        break;
      case Target::fill:
        must_have_children(lane);
        launch_.options.children->made.push_back({.kind = ChildLaunch::Kind::fill,
                                                  .stream = word(3),
                                                  .to = word(0),
                                                  .from = argument<std::uint32_t>(local, call, 1) & 0xff,
                                                  .bytes = word(2)});
        break;
      case Target::put_memory: {
        const std::uint64_t address = launch_.memory.heap().allocate(word(1));
        put(address);
        value = address == 0 ? no_memory : 0;
        break;
      }
      case Target::free_memory:
        if (!launch_.memory.heap().free(word(0))) trap(lane, word(0), "cudaFree() of an address that no kernel has allocated");
        break;
      case Target::put_handle: put(any_handle); break;
      case Target::put_zero: put(std::uint32_t{0}); break;
      default: break;
    }
    for (const code::ArgumentCopy& result : call.returns)
      std::memcpy(local + result.caller, &value, static_cast<std::size_t>(std::min<std::int32_t>(result.bytes, sizeof value)));
  }
}

void WarpState::must_have_children(int lane) const {
  if (launch_.options.children == nullptr)
    trap(lane, std::nullopt, "the kernel launches another one or copies, which only 'warpmat cuda' runs");
}

/// Memory for the parameters of a launch of `function` by (grid, block, shared bytes); 0 where it cannot be, as by CUDA.
std::uint64_t WarpState::prepare_launch(int lane, const std::uint8_t* local, const code::Call& call) {
  must_have_children(lane);
  const auto address = argument<std::uint64_t>(local, call, 0);
  const syntax::Function* callee = nullptr;
  for (const syntax::Function& function : program_.module->functions)
    if (function.entry && program_.module->function_address(function) == address) callee = &function;
  if (callee == nullptr) trap(lane, address, "the kernel launches what is no kernel of its module", Trap::Kind::misuse);
  ChildLaunch child{.entry = std::string(callee->name),
                    .grid = argument<Dim3>(local, call, 1),
                    .block = argument<Dim3>(local, call, 2),
                    .shared_bytes = argument<std::uint32_t>(local, call, 3)};
  constexpr std::uint64_t most_parameter_bytes = 32768;
  std::uint64_t bytes = 16;
  for (const syntax::Variable& parameter : callee->parameters) bytes += static_cast<std::uint64_t>(code::size_of(parameter)) + 16;
  const std::uint64_t buffer = launch_.memory.heap().allocate(std::min(bytes, most_parameter_bytes));
  if (buffer == 0) return 0;
  child.parameters.resize(std::min(bytes, most_parameter_bytes));
  launch_.options.children->prepared[buffer] = std::move(child);
  return buffer;
}

std::uint32_t WarpState::launch_child(int lane, std::uint64_t buffer, std::uint64_t stream) {
  ChildLaunches& children = *launch_.options.children;
  const auto found = children.prepared.find(buffer);
  if (found == children.prepared.end()) trap(lane, buffer, "the launch has no buffer of cudaGetParameterBufferV2()");
  ChildLaunch child = std::move(found->second);
  children.prepared.erase(found);
  const auto bytes = launch_.memory.bytes(buffer, child.parameters.size());
  std::ranges::copy(bytes, child.parameters.begin());
  launch_.memory.heap().free(buffer);
  child.stream = stream;
  const bool fits = child.grid.count() != 0 && child.block.count() != 0 && child.block.count() <= most_threads;
  if (fits) children.made.push_back(std::move(child));
  return fits ? 0 : invalid_configuration;
}

WarpState::Step WarpState::return_from_call(const Operation& operation) {
  Split& s = split();
  const Return back = s.calls.back();
  s.calls.pop_back();
  const code::Call& call = program_.calls[program_.operations[static_cast<std::size_t>(back.pc)].detail];
  if (observers_.want(EventKinds::operations))
    observers_.tell(EventKinds::operations, &Observer::returns,
                    CallEvent(Event(*this, operation, s.lanes), program_.functions[static_cast<std::size_t>(s.function)].name, call,
                              back.frame, s.frame));
  for (int lane = 0; lane < warp_size; ++lane) {
    if ((s.lanes & lane_bit(lane)) == 0) continue;
    std::uint8_t* const memory = local_.data() + std::size_t{launch_.local_bytes} * static_cast<std::size_t>(lane);
    for (const code::ArgumentCopy& copy : call.returns)
      std::copy_n(memory + s.local + copy.callee, copy.bytes, memory + back.local + copy.caller);
  }
  for (const code::RegisterCopy& copy : call.register_returns)
    copy_lanes(copy.register_class, registers_ + back.frame + copy.caller, registers_ + s.frame + copy.callee, s.lanes);
  s.frame = back.frame;
  s.local = back.local;
  s.function = back.function;
  s.pc = back.pc + 1;
  return Step::next;
}

}  // namespace warpmat::inline v0_1::machine
