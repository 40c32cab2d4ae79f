// Calls of functions: their frames of registers and local memory, arguments and results.

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/device_heap.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/ptx/readable_name.h>

namespace warpmat::machine {

using code::Operation;

WarpState::Step WarpState::call(const Operation& operation) {
  Split& s = split();
  const code::Call& call = program_.calls[operation.detail];
  if (call.target == code::Call::Target::print) {
    print(call, s.lanes);
    ++s.pc;
    return Step::next;
  }
  if (call.target == code::Call::Target::allocate || call.target == code::Call::Target::free) {
    if (!block_.has_reservation()) return Step::needs_reservation;
    if (!block_.use_reservation()) return Step::reservation_is_over;
    use_heap(call, s.lanes);
    ++s.pc;
    return Step::next;
  }
  if (call.target == code::Call::Target::assert_fail) assert_fail(call, s.lanes);
  const code::Function& caller = program_.functions[static_cast<std::size_t>(s.function)];
  const code::Function& callee = program_.functions[static_cast<std::size_t>(call.function)];
  const std::uint32_t frame = s.frame + caller.frame_bytes, local = s.local + caller.local_bytes;
  if (frame + callee.frame_bytes > launch_.frame_bytes || local + callee.local_bytes > launch_.local_bytes)
    trap(first_lane(s.lanes), std::nullopt, fmt::format("'{}' calls itself too deeply", readable_name(callee.name)));
  for (int lane = 0; lane < warp_size; ++lane) {
    if ((s.lanes & lane_bit(lane)) == 0) continue;
    std::uint8_t* const memory = local_.data() + std::size_t{launch_.local_bytes} * static_cast<std::size_t>(lane);
    for (const code::ArgumentCopy& copy : call.arguments)
      std::copy_n(memory + s.local + copy.caller, copy.bytes, memory + local + copy.callee);
  }
  if (observers_.want(EventKinds::operations))
    observers_.tell(EventKinds::operations, &Observer::calls, CallEvent{Event(*this, operation, s.lanes), call, s.frame, frame});
  for (const code::RegisterCopy& copy : call.register_arguments)
    std::copy_n(at<std::uint8_t>(copy.caller), code::bytes(copy.register_class), registers_ + frame + copy.callee);
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

WarpState::Step WarpState::return_from_call(const Operation& operation) {
  Split& s = split();
  const Return back = s.calls.back();
  s.calls.pop_back();
  const code::Call& call = program_.calls[program_.operations[static_cast<std::size_t>(back.pc)].detail];
  if (observers_.want(EventKinds::operations))
    observers_.tell(EventKinds::operations, &Observer::returns, CallEvent{Event(*this, operation, s.lanes), call, back.frame, s.frame});
  for (int lane = 0; lane < warp_size; ++lane) {
    if ((s.lanes & lane_bit(lane)) == 0) continue;
    std::uint8_t* const memory = local_.data() + std::size_t{launch_.local_bytes} * static_cast<std::size_t>(lane);
    for (const code::ArgumentCopy& copy : call.returns)
      std::copy_n(memory + s.local + copy.callee, copy.bytes, memory + back.local + copy.caller);
    for (const code::RegisterCopy& copy : call.register_returns) {
      const std::uint8_t* const from = registers_ + s.frame + copy.callee;
      std::uint8_t* const to = registers_ + back.frame + copy.caller;
      const auto l = static_cast<std::size_t>(lane);
      switch (copy.register_class) {
        case code::RegisterClass::word: std::copy_n(from + 4 * l, 4, to + 4 * l); break;
        case code::RegisterClass::wide: std::copy_n(from + 8 * l, 8, to + 8 * l); break;
        case code::RegisterClass::quad:
          std::copy_n(from + 8 * l, 8, to + 8 * l);
          std::copy_n(from + 8 * (l + warp_size), 8, to + 8 * (l + warp_size));
          break;
        case code::RegisterClass::predicate: {
          LaneMask& mask = *reinterpret_cast<LaneMask*>(to);
          mask = (mask & ~lane_bit(lane)) | (*reinterpret_cast<const LaneMask*>(from) & lane_bit(lane));
          break;
        }
      }
    }
  }
  s.frame = back.frame;
  s.local = back.local;
  s.function = back.function;
  s.pc = back.pc + 1;
  return Step::next;
}

}  // namespace warpmat::machine
