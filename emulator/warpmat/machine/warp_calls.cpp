// Calls of functions: their frames of registers and local memory, arguments and results.

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/device_heap.h>
#include <warpmat/machine/each_lane.h>
#include <warpmat/machine/lane_rows.h>
#include <warpmat/machine/operations.h>
#include <warpmat/ptx/text/readable_name.h>

namespace warpmat::machine {

using code::Operation;

namespace {

/// The offset of the registers of a function that the current split calls.
std::uint32_t callee_frame(const WarpState& warp, std::int32_t function) {
  const code::CallTree& tree = warp.program().call_tree;
  const auto offset_of = [&](std::int32_t each) { return tree.frame_offsets[static_cast<std::size_t>(each)]; };
  const Split& s = warp.split();
  const std::uint32_t level = s.frame - offset_of(s.function), offset = offset_of(function);
  return offset > offset_of(s.function) ? level + offset : level + static_cast<std::uint32_t>(tree.level_bytes) + offset;
}

constexpr std::size_t place(std::int32_t offset) {
  return static_cast<std::size_t>(offset);
}

/// Copies bytes of each lane's local memory. Two sizes that the compiler knows: such a copy is no call.
void copy_local(WarpState& warp, std::size_t to, std::size_t from, std::size_t bytes, LaneMask mask) {
  const auto copy = [&](auto size) {
    for_each_lane(mask, [&](std::size_t lane) {
      std::uint8_t* const memory = warp.whole_local_memory(static_cast<int>(lane));
      std::memcpy(memory + to, memory + from, size);
    });
  };
  if (bytes == 4) return copy(std::integral_constant<std::size_t, 4>());
  if (bytes == 8) return copy(std::integral_constant<std::size_t, 8>());
  copy(bytes);
}

}  // namespace

Step body::call(WarpState& warp, const Operation& operation, LaneMask) {
  Split& s = warp.split();
  const code::Program& program = warp.program();
  const code::Call& call = program.of<code::Call>(operation);
  if (call.target == code::Call::Target::print) {
    print(warp, call, s.lanes);
    return warp.advance();
  }
  if (call.target == code::Call::Target::assert_fail) assert_fail(warp, call, s.lanes);
  if (call.uses_launch()) {
    if (const Step step = reserve(warp); step != Step::next) return step;
    const bool heap = call.target == code::Call::Target::allocate || call.target == code::Call::Target::free;
    heap ? use_heap(warp, call, s.lanes) : use_runtime(warp, call, s.lanes);
    return warp.advance();
  }
  const code::Function& caller = program.functions[static_cast<std::size_t>(s.function)];
  const code::Function& callee = program.functions[static_cast<std::size_t>(call.function)];
  const std::uint32_t local = s.local + caller.local_bytes, frame = callee_frame(warp, call.function);
  if (frame + callee.frame_bytes > warp.launch().frame_bytes || local + callee.local_bytes > warp.launch().local_bytes)
    warp.trap(first_lane(s.lanes), std::nullopt, fmt::format("'{}' calls itself too deeply", readable_name(callee.name)));
  for (const code::ArgumentCopy& copy : call.arguments)
    copy_local(warp, local + place(copy.callee), s.local + place(copy.caller), place(copy.bytes), s.lanes);
  if (warp.observers().want(EventKinds::operations))
    warp.observers().tell(EventKinds::operations, &Observer::calls, warp.event(operation, callee.name, call, s.frame, frame));
  for (const code::RegisterCopy& copy : call.register_arguments)
    copy_lanes(copy.register_class, warp.registers() + frame + copy.callee, warp.at<std::uint8_t>(copy.caller), s.lanes);
  s.calls.push_back({s.pc, s.frame, s.local, s.function});
  s.frame = frame;
  s.local = local;
  s.function = call.function;
  s.pc = callee.first;
  return Step::next;
}

Step body::return_(WarpState& warp, const Operation& operation, LaneMask) {
  Split& s = warp.split();
  const code::Program& program = warp.program();
  const Return back = s.calls.back();
  s.calls.pop_back();
  const code::Call& call = program.of<code::Call>(program.operations[static_cast<std::size_t>(back.pc)]);
  if (warp.observers().want(EventKinds::operations))
    warp.observers().tell(EventKinds::operations, &Observer::returns,
                          warp.event(operation, program.functions[static_cast<std::size_t>(s.function)].name, call, back.frame, s.frame));
  for (const code::ArgumentCopy& copy : call.returns)
    copy_local(warp, back.local + place(copy.caller), s.local + place(copy.callee), place(copy.bytes), s.lanes);
  for (const code::RegisterCopy& copy : call.register_returns)
    copy_lanes(copy.register_class, warp.registers() + back.frame + copy.caller, warp.registers() + s.frame + copy.callee, s.lanes);
  s.frame = back.frame;
  s.local = back.local;
  s.function = back.function;
  s.pc = back.pc + 1;
  return Step::next;
}

}  // namespace warpmat::machine
