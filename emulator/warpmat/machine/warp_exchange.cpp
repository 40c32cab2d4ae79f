// Operations across lanes of a warp: shuffles, votes, matches, reductions, barriers.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/each_lane.h>
#include <warpmat/machine/lane_rows.h>
#include <warpmat/machine/operations.h>
#include <warpmat/machine/without_lanes.h>
#include <warpmat/numeric/canonical_nan.h>

namespace warpmat::machine {

using code::Operation;
using code::WarpExchange;
using code::WarpOperation;

namespace {

/// A word of each lane.
struct alignas(64) WordRow : std::array<std::uint32_t, warp_size> {};

/// Lanes that act together.
struct LaneGroups {
  explicit LaneGroups(LaneMask mask) : lanes(mask), count(1) {
    of_lane.fill(mask);
    groups.front() = mask;
  }

  /// Lanes of `mask` with the same value: of_lane is 0 for others.
  template <typename T>
  LaneGroups(LaneMask mask, const T* values) : lanes(mask) {
    constexpr std::size_t slots = 64;  // of a hash table
    std::array<T, slots> keys;
    std::array<LaneMask, slots> same{};
    std::array<std::size_t, warp_size> slot_of;
    for_each_lane(mask, [&](std::size_t lane) {
      std::size_t slot = values[lane] * 0x9e3779b97f4a7c15 >> 58;
      while (same[slot] != 0 && keys[slot] != values[lane]) slot = (slot + 1) % slots;
      keys[slot] = values[lane];
      same[slot] |= lane_bit(static_cast<int>(lane));
      slot_of[lane] = slot;
    });
    for_each_lane(mask, [&](std::size_t lane) {
      of_lane[lane] = same[slot_of[lane]];
      if (first_lane(of_lane[lane]) == static_cast<int>(lane)) groups[count++] = of_lane[lane];
    });
  }

  std::span<const LaneMask> all() const { return std::span(groups).first(count); }

  LaneMask lanes;
  WordRow of_lane{};                       ///< the group of each
  std::array<LaneMask, warp_size> groups;  ///< the first `count`, by their lowest lane
  std::size_t count = 0;
};

/// The lanes of `mask` by the lanes that their source `source` names. All are limited to these lanes.
LaneGroups naming_alike(const WarpState& warp, const Operation& operation, int source, LaneMask mask) {
  const code::Slot slot = warp.source_slot(operation, source);
  const std::uint32_t* const words = warp.at<std::uint32_t>(slot);
  const LaneMask first = words[first_lane(mask)];
  std::uint32_t other = 0;  // bits in which a lane names others; none of a constant, whose slot is negative
  if (slot >= 0)
    for (int lane = 0; lane < warp_size; ++lane) other |= words[lane] ^ first;
  const LaneGroups groups = other == 0 ? LaneGroups(mask) : LaneGroups(mask, words);
  for (const LaneMask group : groups.all())
    if (const LaneMask named = words[first_lane(group)]; (group & ~named) != 0)
      warp.trap(first_lane(group & ~named), std::nullopt,
                fmt::format("lanes {:#010x} execute the statement, its mask {:#010x} does not name all of them", group, named));
  return groups;
}

/// Lanes that name different lanes, as tiles of a warp do, are groups that know nothing of each other. Groups that are here in full act in
/// one turn; otherwise each becomes a warp split that waits for its lanes. No split waits for named lanes that have exited, or that
/// are here but whose guard does not hold: an H100 does not either. With `any_place`, lanes also meet those at other statements of the
/// kind. Where statements are executed one by one, groups that are not here in full trap, before any has acted. perform(groups) acts for
/// all that act in this turn.
template <typename Perform>
Step meet_named(WarpState& warp, const Operation& operation, int source, LaneMask mask, bool any_place, Perform perform) {
  const LaneMask may_come = warp.live() & ~(warp.split().lanes & ~mask);
  warp.split().executing = mask;
  const LaneGroups groups = naming_alike(warp, operation, source, mask);
  const auto needed_by = [&](LaneMask group) { return warp.source_word(operation, source, first_lane(group)) & may_come; };
  if (groups.count == 1) {
    if (!warp.gather(needed_by(mask), mask, any_place)) return Step::leave_split;
    perform(LaneGroups(mask));
    return warp.advance_gathered(mask, any_place);
  }
  bool whole = true;
  for (const LaneMask group : groups.all()) {
    const LaneMask absent = needed_by(group) & ~group;
    if (absent != 0 && warp.launch().one_by_one)
      warp.trap(first_lane(group), std::nullopt, without_lanes(warp.program(), operation, group, absent));
    whole &= absent == 0;
  }
  if (!whole) {
    for (const LaneMask group : groups.all().subspan(1)) warp.separate(group);  // lanes in none, whose guard is false, stay with the first
    return Step::next;
  }
  for (const LaneMask group : groups.all()) warp.tell_meeting(group);
  perform(groups);
  return warp.advance();
}

/// min and max of f32, like the scalar instructions: a NaN loses, or wins with .NaN; -0 is less than +0.
std::uint32_t reduce_float(const WarpExchange& exchange, std::uint32_t a, std::uint32_t b) {
  const auto is_nan = [](std::uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; };
  if (exchange.nan && (is_nan(a) || is_nan(b))) return canonical_f32_nan;
  if (is_nan(a) && is_nan(b)) return canonical_f32_nan;
  if (is_nan(a)) return b;
  if (is_nan(b)) return a;
  const auto key = [](std::uint32_t bits) { return (bits >> 31) != 0 ? ~bits : bits | 0x80000000; };
  const bool less = key(a) < key(b);
  return less == (exchange.operation == WarpOperation::reduce_min_float) ? a : b;
}

/// What all of `mask` get by a vote of which `agreeing` are for.
LaneMask vote_of(WarpOperation operation, LaneMask agreeing, LaneMask mask) {
  switch (operation) {
    case WarpOperation::vote_all: return agreeing == mask;
    case WarpOperation::vote_any: return agreeing != 0;
    case WarpOperation::vote_uniform: return agreeing == 0 || agreeing == mask;
    default: return agreeing;
  }
}

/// The words of the lanes of `mask`, combined in any order, with a number that changes no other: loops over all lanes, which become
/// vectors.
template <typename Combine>
std::uint32_t combined(LaneMask mask, const std::uint32_t* row, std::uint32_t neutral, Combine combine) {
  std::uint32_t result = neutral;
  for (int lane = 0; lane < warp_size; ++lane) result = combine(result, (mask >> lane & 1) != 0 ? row[lane] : neutral);
  return result;
}

std::uint32_t combined_integers(WarpOperation operation, LaneMask mask, const std::uint32_t* row) {
  using Word = std::uint32_t;
  constexpr Word ones = ~Word{0}, least = 0x80000000, most = 0x7fffffff;
  const auto is_less = [](Word a, Word b) { return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b); };
  switch (operation) {
    case WarpOperation::reduce_add: return combined(mask, row, 0, [](Word a, Word b) { return a + b; });
    case WarpOperation::reduce_min: return combined(mask, row, ones, [](Word a, Word b) { return std::min(a, b); });
    case WarpOperation::reduce_max: return combined(mask, row, 0, [](Word a, Word b) { return std::max(a, b); });
    case WarpOperation::reduce_min_signed: return combined(mask, row, most, [&](Word a, Word b) { return is_less(b, a) ? b : a; });
    case WarpOperation::reduce_max_signed: return combined(mask, row, least, [&](Word a, Word b) { return is_less(a, b) ? b : a; });
    case WarpOperation::reduce_and: return combined(mask, row, ones, [](Word a, Word b) { return a & b; });
    case WarpOperation::reduce_or: return combined(mask, row, 0, [](Word a, Word b) { return a | b; });
    default: return combined(mask, row, 0, [](Word a, Word b) { return a ^ b; });
  }
}

bool reduces_floats(WarpOperation operation) {
  return operation == WarpOperation::reduce_min_float || operation == WarpOperation::reduce_max_float;
}

/// The f32 values of the lanes of `mask`, combined one by one.
std::uint32_t combined_floats(const WarpExchange& exchange, LaneMask mask, const std::uint32_t* row) {
  const std::uint32_t kept = exchange.absolute ? 0x7fffffff : 0xffffffff;
  std::uint32_t result = row[first_lane(mask)] & kept;
  for (LaneMask rest = mask & (mask - 1); rest != 0; rest &= rest - 1)
    result = reduce_float(exchange, result, row[first_lane(rest)] & kept);
  return reduce_float(exchange, result, result);  // of one lane, whose NaN becomes the canonical one, too
}

std::uint32_t reduction_of(const WarpExchange& exchange, LaneMask mask, const std::uint32_t* row) {
  return reduces_floats(exchange.operation) ? combined_floats(exchange, mask, row) : combined_integers(exchange.operation, mask, row);
}

/// match.any, match.all: which lanes of `mask` have the same value.
void write_matches(WarpState& warp, const Operation& operation, LaneMask lanes, LaneMask mask, const LaneValues& values) {
  const WarpExchange& exchange = warp.program().of<code::WarpExchange>(operation);
  const LaneGroups same(mask, values.data());
  const bool equal = same.count == 1;
  LaneValues results;
  if (exchange.operation == WarpOperation::match_all)
    results.fill(equal ? mask : 0);
  else
    std::ranges::copy(same.of_lane, results.begin());
  warp.write_words(operation, 0, results, lanes);
  if (exchange.second_result) warp.write_bits(operation, 1, equal ? all_lanes : 0, lanes);
}

/// The lane that each lane reads, by the rule of PTX ISA 9.1 section 9.7.9.6. What a lane outside of the group gives is undefined there: an
/// H100 has 0, or the lane's value if it is one of the groups, which execute the statement in one step (tests/vectors/absent_lanes).
/// `lanes` are those of the groups that stand at this statement.
void shuffle(WarpState& warp, const Operation& operation, LaneMask lanes, const LaneGroups& groups, const WordRow& words) {
  const WarpExchange& exchange = warp.program().of<code::WarpExchange>(operation);
  std::array<std::uint32_t, warp_size> b, c;
  std::copy_n(warp.at<std::uint32_t>(warp.source_slot(operation, 1)), warp_size, b.begin());
  std::copy_n(warp.at<std::uint32_t>(warp.source_slot(operation, 2)), warp_size, c.begin());
  std::array<int, warp_size> from;
  alignas(64) std::array<std::uint32_t, warp_size> good;
  const bool up = exchange.operation == WarpOperation::shuffle_up;
  const auto find = [&](auto wanted) {
    for (int lane = 0; lane < warp_size; ++lane) {
      const auto i = static_cast<std::size_t>(lane);
      const int clamp = static_cast<int>(c[i] & 31), segment = static_cast<int>(c[i] >> 8 & 31);
      const int last = (lane & segment) | (clamp & ~segment);
      const int j = wanted(lane, static_cast<int>(b[i] & 31), segment);
      const bool in_segment = up ? j >= last : j <= last;
      good[i] = in_segment;
      from[i] = in_segment ? j : lane;
    }
  };
  switch (exchange.operation) {
    case WarpOperation::shuffle_up: find([](int lane, int distance, int) { return lane - distance; }); break;
    case WarpOperation::shuffle_down: find([](int lane, int distance, int) { return lane + distance; }); break;
    case WarpOperation::shuffle_butterfly: find([](int lane, int distance, int) { return lane ^ distance; }); break;
    default: find([](int lane, int index, int segment) { return (lane & segment) | (index & ~segment); });
  }
  const LaneMask in_range = lanes_where([&](std::size_t lane) { return good[lane] != 0; });
  /// The lanes that read one of `others`, which are each lane's.
  const auto reading = [&](const WordRow& others) {
    return lanes_where([&](std::size_t lane) { return (others[lane] >> from[lane] & 1) != 0; }) & in_range;
  };
  LaneMask of_absent = 0, of_nothing = 0, of_another = 0;
  if (lanes != all_lanes || groups.of_lane.front() != all_lanes) {
    WordRow beyond, elsewhere;
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      beyond[lane] = ~groups.of_lane[lane];
      elsewhere[lane] = groups.of_lane[lane] & ~lanes;
    }
    of_absent = reading(beyond) & lanes;
    of_another = reading(elsewhere);
    beyond.fill(~groups.lanes);
    of_nothing = reading(beyond);
  }
  const EventKinds kinds = of_absent == 0 ? EventKinds::exchanges : EventKinds::exchanges | EventKinds::absent_lanes;
  if (warp.observers().want(kinds))
    warp.observers().tell(kinds, &Observer::exchange,
                          ExchangeEvent{warp.event(operation, lanes), true, from, of_absent, of_nothing | of_another});
  WordRow read;
  for (std::size_t lane = 0; lane < warp_size; ++lane) read[lane] = words[static_cast<std::size_t>(from[lane])];
  for (LaneMask rest = of_nothing; rest != 0; rest &= rest - 1) read[static_cast<std::size_t>(first_lane(rest))] = 0;
  copy_lanes(warp.at<std::uint32_t>(warp.result_slot(operation, 0)), read.data(), lanes);
  if (exchange.second_result) warp.write_bits(operation, 1, in_range, lanes);
}

void shuffle_groups(WarpState& warp, const Operation& operation, const LaneGroups& groups) {
  WordRow words{};
  warp.for_statements_of(operation, groups.lanes, [&](const Operation& one, LaneMask lanes) {
    const LaneMask read = lanes == groups.lanes ? all_lanes : lanes;  // it may read a lane that takes no part
    copy_lanes(words.data(), warp.at<std::uint32_t>(warp.source_slot(one, 0)), read);
  });
  warp.for_statements_of(operation, groups.lanes, [&](const Operation& one, LaneMask lanes) { shuffle(warp, one, lanes, groups, words); });
}

/// A vote, match or reduction of one group.
void perform_exchange(WarpState& warp, const Operation& operation, LaneMask mask, const WarpExchange& exchange) {
  using enum WarpOperation;
  const bool votes = exchange.operation <= vote_ballot, reduces = exchange.operation >= reduce_add;
  LaneValues values{};  // of a match
  WordRow words{};      // of a reduction
  LaneMask agreeing = 0;
  warp.for_statements_of(operation, mask, [&](const Operation& one, LaneMask lanes) {
    if (warp.observers().want(EventKinds::exchanges))
      warp.observers().tell(EventKinds::exchanges, &Observer::exchange, ExchangeEvent{warp.event(one, lanes), false, {}, 0, 0});
    const code::Slot source = warp.source_slot(one, 0);
    if (votes)
      agreeing |= *warp.at<LaneMask>(source) & lanes;
    else if (reduces)
      copy_lanes(words.data(), warp.at<std::uint32_t>(source), lanes);
    else if (exchange.wide)
      copy_lanes(values.data(), warp.at<std::uint64_t>(source), lanes);
    else
      for_each_lane(lanes, [&](std::size_t lane) { values[lane] = warp.at<std::uint32_t>(source)[lane]; });
  });
  const std::uint32_t common = votes     ? vote_of(exchange.operation, agreeing, mask)
                               : reduces ? reduction_of(exchange, mask, words.data())
                                         : 0;
  warp.for_statements_of(operation, mask, [&](const Operation& one, LaneMask lanes) {
    if (votes || reduces) return warp.write_same(one, 0, common, lanes);
    write_matches(warp, one, lanes, mask, values);
  });
}

}  // namespace

Step body::exchange(WarpState& warp, const Operation& operation, LaneMask mask) {
  const WarpExchange& exchange = warp.program().of<code::WarpExchange>(operation);
  const auto perform = [&](const LaneGroups& groups) {
    if (exchange.operation <= WarpOperation::shuffle_index) return shuffle_groups(warp, operation, groups);
    for (const LaneMask group : groups.all()) perform_exchange(warp, operation, group, exchange);
  };
  if (exchange.has_mask) return meet_named(warp, operation, operation.sources - 1, mask, true, perform);
  warp.tell_meeting(mask);
  perform(LaneGroups(mask));
  return warp.advance_gathered(mask, false);
}

Step body::warp_barrier(WarpState& warp, const Operation& operation, LaneMask mask) {
  return meet_named(warp, operation, 0, mask, true, [](const LaneGroups&) {});
}

/// Elects the lowest lane of the mask.
Step body::elect(WarpState& warp, const Operation& operation, LaneMask mask) {
  return meet_named(warp, operation, 0, mask, false, [&](const LaneGroups& groups) {
    for (const LaneMask group : groups.all()) {
      const int leader = first_lane(group);
      warp.write_same(operation, 0, static_cast<std::uint32_t>(leader), group);
      warp.write_bits(operation, 1, lane_bit(leader), group);
    }
  });
}

}  // namespace warpmat::machine
