#include <warpmat/lower/frame.h>

#include <algorithm>
#include <array>

#include <warpmat/lower/definitions.h>

namespace warpmat::code {
namespace {

constexpr std::size_t classes = 4;

/// The first and the last operation between which a register must keep its value; first > last if it is unused.
struct Interval {
  int first = 1, last = 0;
  void include(int at) {
    if (first > last) first = last = at;
    first = std::min(first, at);
    last = std::max(last, at);
  }
};

std::vector<Interval> find_intervals(const DraftFunction& function, const std::vector<Block>& blocks, const Liveness& liveness) {
  std::vector<Interval> intervals(function.registers.size());
  const auto at = [&](Value value) -> Interval& { return intervals[static_cast<std::size_t>(value)]; };
  for (std::size_t i = 0; i < function.operations.size(); ++i) {
    const DraftOperation& operation = function.operations[i];
    for_each_read(operation, [&](Value value) { at(value).include(static_cast<int>(i)); });
    for (const Value value : operation.results) at(value).include(static_cast<int>(i));
  }
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (const Value value : liveness.global()) {
      if (liveness.live_in(static_cast<int>(b), value)) at(value).include(blocks[b].first - (b == 0 ? 1 : 0));
      if (liveness.live_out(static_cast<int>(b), value)) at(value).include(blocks[b].last - 1);
    }
  // Registers that the caller writes are live from the start.
  for (const std::vector<Value>* registers : {&function.parameter_registers, &function.return_registers})
    for (const Value value : *registers)
      if (!is_constant(value)) at(value).include(-1);
  return intervals;
}

/// By register: the one whose place it takes over, where a move is the last read of a register, or -1.
std::vector<Value> find_predecessors(const DraftFunction& function, const std::vector<Interval>& intervals) {
  std::vector<Value> predecessors(function.registers.size(), -1);
  for (std::size_t i = 0; i < function.operations.size(); ++i) {
    const DraftOperation& operation = function.operations[i];
    if (!is_move(operation)) continue;
    const Value from = operation.sources[0], to = operation.results[0];
    const auto kind = [&](Value value) { return function.registers[static_cast<std::size_t>(value)].register_class; };
    const Interval &before = intervals[static_cast<std::size_t>(from)], &behind = intervals[static_cast<std::size_t>(to)];
    const auto here = static_cast<int>(i);
    if (kind(from) == kind(to) && before.first < here && before.last == here && behind.first == here)
      predecessors[static_cast<std::size_t>(to)] = from;
  }
  return predecessors;
}

}  // namespace

Frame place_registers(const DraftFunction& function, const std::vector<Block>& blocks, const Liveness& liveness, bool keep) {
  std::vector<Interval> intervals = find_intervals(function, blocks, liveness);
  for (Interval& interval : intervals)
    if (keep && interval.first <= interval.last) interval = {-1, static_cast<int>(function.operations.size())};
  std::vector<bool> has_place(intervals.size());
  for (const auto& [word, slot] : function.words) has_place[static_cast<std::size_t>(word)] = true;
  std::vector<Value> order;
  for (std::size_t i = 0; i < intervals.size(); ++i)
    if (!has_place[i] && intervals[i].first <= intervals[i].last) order.push_back(static_cast<Value>(i));
  std::ranges::stable_sort(order, {}, [&](Value value) { return intervals[static_cast<std::size_t>(value)].first; });

  std::vector<Value> predecessors = find_predecessors(function, intervals);
  std::vector<bool> passed_on(intervals.size());
  for (const Value value : order) {
    Value& from = predecessors[static_cast<std::size_t>(value)];
    if (from >= 0 && has_place[static_cast<std::size_t>(from)]) from = -1;
    if (from >= 0) passed_on[static_cast<std::size_t>(from)] = true;
  }

  // Registers by class: a place becomes free after the last operation that needs it.
  std::array<std::vector<int>, classes> free;
  std::array<int, classes> used{};
  std::vector<int> number(function.registers.size());
  // Registers that are read without a write must be zero from the start: no other register uses their place before.
  const auto end_of = [&](Value value) { return std::max(intervals[static_cast<std::size_t>(value)].last, 0); };
  std::vector<Value> by_end = order;
  std::ranges::stable_sort(by_end, {}, end_of);
  auto ended = by_end.begin();
  for (const Value value : order) {
    const Interval& interval = intervals[static_cast<std::size_t>(value)];
    for (; ended != by_end.end() && end_of(*ended) < interval.first; ++ended)
      if (!passed_on[static_cast<std::size_t>(*ended)])
        free[static_cast<std::size_t>(function.registers[static_cast<std::size_t>(*ended)].register_class)].push_back(
            number[static_cast<std::size_t>(*ended)]);
    const auto c = static_cast<std::size_t>(function.registers[static_cast<std::size_t>(value)].register_class);
    if (const Value from = predecessors[static_cast<std::size_t>(value)]; from >= 0) {
      number[static_cast<std::size_t>(value)] = number[static_cast<std::size_t>(from)];
    } else if (free[c].empty()) {
      number[static_cast<std::size_t>(value)] = used[c]++;
    } else {
      number[static_cast<std::size_t>(value)] = free[c].back();
      free[c].pop_back();
    }
  }

  Frame frame{std::vector<Slot>(function.registers.size()), function.words_bytes};
  frame.reads_unwritten = std::ranges::any_of(order, [&](Value value) { return intervals[static_cast<std::size_t>(value)].first < 0; });
  for (const auto& [word, slot] : function.words) frame.slots[static_cast<std::size_t>(word)] = slot;
  std::array<std::uint32_t, classes> start{};
  for (std::size_t c = 0; c < classes; ++c) {
    start[c] = frame.bytes;
    const std::size_t size = bytes(static_cast<RegisterClass>(c)) * static_cast<std::size_t>(used[c]);
    frame.bytes += static_cast<std::uint32_t>((size + register_alignment - 1) / register_alignment * register_alignment);
  }
  for (const Value value : order) {
    const RegisterClass register_class = function.registers[static_cast<std::size_t>(value)].register_class;
    const auto c = static_cast<std::size_t>(register_class);
    frame.slots[static_cast<std::size_t>(value)] =
        static_cast<Slot>(start[c] + static_cast<std::size_t>(number[static_cast<std::size_t>(value)]) * bytes(register_class));
  }
  return frame;
}

}  // namespace warpmat::code
