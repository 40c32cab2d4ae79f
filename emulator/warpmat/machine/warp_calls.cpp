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

namespace {

constexpr std::size_t place(std::int32_t offset) {
  return static_cast<std::size_t>(offset);
}

}  // namespace

/// Copies bytes of each lane's local memory. Two sizes that the compiler knows: such a copy is no call.
void WarpState::copy_local(std::size_t to, std::size_t from, std::size_t bytes, LaneMask mask) {
  const auto copy = [&](auto size) {
    for_each_lane(mask, [&](std::size_t lane) {
      std::uint8_t* const memory = local_.data() + std::size_t{launch_.local_bytes} * lane;
      std::memcpy(memory + to, memory + from, size);
    });
  };
  if (bytes == 4) return copy(std::integral_constant<std::size_t, 4>());
  if (bytes == 8) return copy(std::integral_constant<std::size_t, 8>());
  copy(bytes);
}

WarpState::Step WarpState::call(const Operation& operation) {
  Split& s = split();
  const code::Call& call = program_.of<code::Call>(operation);
  if (call.target == code::Call::Target::print) {
    print(*this, call, s.lanes);
    ++s.pc;
    return Step::next;
  }
  if (call.target == code::Call::Target::assert_fail) assert_fail(*this, call, s.lanes);
  if (call.uses_launch()) {
    if (!block_.has_reservation()) return Step::needs_reservation;
    if (!block_.use_reservation()) return Step::reservation_is_over;
    const bool heap = call.target == code::Call::Target::allocate || call.target == code::Call::Target::free;
    heap ? use_heap(*this, call, s.lanes) : use_runtime(*this, call, s.lanes);
    ++s.pc;
    return Step::next;
  }
  const code::Function& caller = program_.functions[static_cast<std::size_t>(s.function)];
  const code::Function& callee = program_.functions[static_cast<std::size_t>(call.function)];
  const std::uint32_t local = s.local + caller.local_bytes, frame = callee_frame(call.function);
  if (frame + callee.frame_bytes > launch_.frame_bytes || local + callee.local_bytes > launch_.local_bytes)
    trap(first_lane(s.lanes), std::nullopt, fmt::format("'{}' calls itself too deeply", readable_name(callee.name)));
  for (const code::ArgumentCopy& copy : call.arguments)
    copy_local(local + place(copy.callee), s.local + place(copy.caller), place(copy.bytes), s.lanes);
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

WarpState::Step WarpState::return_from_call(const Operation& operation) {
  Split& s = split();
  const Return back = s.calls.back();
  s.calls.pop_back();
  const code::Call& call = program_.of<code::Call>(program_.operations[static_cast<std::size_t>(back.pc)]);
  if (observers_.want(EventKinds::operations))
    observers_.tell(EventKinds::operations, &Observer::returns,
                    CallEvent(Event(*this, operation, s.lanes), program_.functions[static_cast<std::size_t>(s.function)].name, call,
                              back.frame, s.frame));
  for (const code::ArgumentCopy& copy : call.returns)
    copy_local(back.local + place(copy.caller), s.local + place(copy.callee), place(copy.bytes), s.lanes);
  for (const code::RegisterCopy& copy : call.register_returns)
    copy_lanes(copy.register_class, registers_ + back.frame + copy.caller, registers_ + s.frame + copy.callee, s.lanes);
  s.frame = back.frame;
  s.local = back.local;
  s.function = back.function;
  s.pc = back.pc + 1;
  return Step::next;
}

}  // namespace warpmat::inline v0_1::machine
