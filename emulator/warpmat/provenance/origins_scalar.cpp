#include <warpmat/provenance/origins.h>

#include <algorithm>
#include <array>
#include <bit>

#include <warpmat/forms.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/warp_state.h>

// Origins through registers: scalar operations, exchanges between lanes, calls.

namespace warpmat::provenance {

using catalogue::Semantics;
using code::Operation;
using code::Slot;
using machine::Event;
using machine::WarpState;

namespace {

bool are_computed(const std::vector<Origin>& bytes) {
  return std::ranges::all_of(
      bytes, [](const Origin& one) { return one.what == Origin::of_many().as_derived().what && one.address == 0 && one.way == 0; });
}

}  // namespace

void Origins::operation(const Event& event) {
  block(event).states[static_cast<std::size_t>(event.warp())] = &warp_of(event);
  if (event.lanes() == 0) return;
  switch (operation_of(event).semantics) {
    case Semantics::compute: return compute(event);
    case Semantics::select: return select(event);
    case Semantics::matrix:
    case Semantics::wgmma:
    case Semantics::exchange: return;  // when all lanes are there
    case Semantics::call:
    case Semantics::return_: return;
    default: return clear_results(event, event.lanes());  // access() sets those of loads
  }
}

void Origins::compute(const Event& event) {
  const Operation& operation = operation_of(event);
  Sources known{};
  bool any = false;
  for (int i = 0; i < operation.sources; ++i) {
    const RegisterOrigins& source = peek(event, warp_of(event).source_slot(operation, i));
    if (source.kind == RegisterOrigins::Kind::none) continue;
    known[static_cast<std::size_t>(i)] = &source;
    any = true;
  }
  if (!any) return clear_results(event, event.lanes());
  const StatementFlow& statement = flow_of(event, known);
  const ByteFlow& flow = *statement.flow;
  if (all_computed(event, flow, known)) {
    for (int r = 0; r < operation.results; ++r)
      if (const int width = flow.results[static_cast<std::size_t>(r)].width; width != 0)
        registers(event).set_computed(place(event, warp_of(event).result_slot(operation, r)), width);
    return;
  }
  for (int i = 0; i < operation.sources; ++i)
    if (known[static_cast<std::size_t>(i)] != nullptr)
      known[static_cast<std::size_t>(i)] = find(event, warp_of(event).source_slot(operation, i));
  std::vector<std::vector<Origin>> fresh(operation.results);
  for (int r = 0; r < operation.results; ++r) {
    const ByteFlow::Result& result = flow.results[static_cast<std::size_t>(r)];
    const int width = result.width;
    std::vector<Origin>& bytes = fresh[static_cast<std::size_t>(r)];
    bytes.resize(static_cast<std::size_t>(width) * warp_size);
    for (LaneMask rest = width == 0 ? 0 : event.lanes(); rest != 0; rest &= rest - 1) {
      const int lane = first_lane(rest);
      Origin* const to = &bytes[static_cast<std::size_t>(lane * width)];
      if (const auto all = result.alike ? of_elements(known, result.sources, {event, lane, statement.adds}) : std::nullopt) {
        std::fill_n(to, width, *all);
        continue;
      }
      for (int b = 0; b < width; ++b) {
        const ByteFlow::Byte& from = flow.of(r, lane, b);
        if (from.moved.source >= 0)
          to[b] = known[static_cast<std::size_t>(from.moved.source)]->lane(lane)[from.moved.byte];
        else if (!from.parts.empty())
          to[b] = combined(from.parts, known, {event, lane, statement.adds});
      }
    }
  }
  for (int r = 0; r < operation.results; ++r) {
    const int width = flow.results[static_cast<std::size_t>(r)].width;
    if (width == 0) continue;
    if (event.lanes() == all_lanes && are_computed(fresh[static_cast<std::size_t>(r)])) {
      registers(event).set_computed(place(event, warp_of(event).result_slot(operation, r)), width);
      continue;
    }
    RegisterOrigins& to = registers(event).make(place(event, warp_of(event).result_slot(operation, r)), width);
    for (LaneMask rest = event.lanes(); rest != 0; rest &= rest - 1) {
      const int lane = first_lane(rest);
      std::copy_n(fresh[static_cast<std::size_t>(r)].data() + lane * width, width, to.lane(lane));
    }
  }
}

/// Whether every byte of every result has to do with a source that is computed from several elements, and with no product's result: then
/// what the other sources have does not matter.
bool Origins::all_computed(const Event& event, const ByteFlow& flow, const Sources& known) const {
  if (sums_ || event.lanes() != all_lanes) return false;
  std::uint32_t computed = 0;
  for (std::size_t i = 0; i < operation_of(event).sources; ++i)
    if (known[i] != nullptr && known[i]->kind == RegisterOrigins::Kind::computed) computed |= 1u << i;
  return std::ranges::all_of(flow.results,
                             [&](const ByteFlow::Result& result) { return result.width == 0 || (result.sources & computed) != 0; });
}

/// The origin of each byte of a value that is computed from these sources, if the bytes of each have one origin in this lane.
std::optional<Origin> Origins::of_elements(const Sources& known, std::uint32_t sources, const Computation& how) {
  std::array<SourceByte, std::tuple_size_v<Sources>> parts;
  std::size_t count = 0;
  for (; sources != 0; sources &= sources - 1) {
    const int source = std::countr_zero(sources);
    const RegisterOrigins& from = *known[static_cast<std::size_t>(source)];
    const Origin* const bytes = from.lane(how.lane);
    for (int b = 1; b < from.width; ++b)
      if (bytes[b].what != bytes[0].what) return std::nullopt;  // bytes of memory differ; they may be those of several elements
    parts[count++] = {static_cast<std::int16_t>(source), 0};
  }
  return combined(std::span(parts).first(count), known, how);
}

/// The flow of an operation: the one found last, unless other sources have origins, or those without have other values on which it depends.
/// Statements of one instruction share it.
Origins::StatementFlow& Origins::flow_of(const Event& event, const Sources& known) {
  constexpr std::size_t most_flows = 4096;  // of values on which a flow depends there may be many
  const Operation& operation = operation_of(event);
  const WarpState& warp = warp_of(event);
  if (statements_.empty()) statements_.resize(program_.statements.size());
  StatementFlow& cached = statements_[operation.statement];
  if (cached.flow == nullptr) {
    const catalogue::NameRow& instruction = catalogue::row_of(program_.spelling(operation).name);
    cached.depends = instruction.has(catalogue::trait::places_bytes);
    cached.adds = instruction.has(catalogue::trait::adds);
  }
  std::uint64_t key = 1;
  const auto mix = [&](std::uint64_t value) {
    key = (key ^ value) * 0x9e3779b97f4a7c15ULL;
    key ^= key >> 29;
  };
  bool by_lane = false;
  std::array<FlowSource, std::tuple_size_v<Sources>> sources;
  for (std::size_t i = 0; i < operation.sources; ++i) {
    const Slot slot = warp.source_slot(operation, static_cast<int>(i));
    sources[i] = {warp.at<std::uint8_t>(slot), known[i] == nullptr ? 0 : known[i]->width};
    mix(static_cast<std::uint64_t>(sources[i].width));
    if (known[i] != nullptr || slot < 0 || !cached.depends) continue;
    const auto* const words = warp.at<std::uint32_t>(slot);
    for (int lane = 0; lane < warp_size; ++lane) {
      mix(words[lane]);
      by_lane |= words[lane] != words[0];
    }
  }
  if (cached.flow != nullptr && cached.key == key) return cached;
  cached.key = key;
  mix(reinterpret_cast<std::uintptr_t>(operation.kernel));
  mix(reinterpret_cast<std::uintptr_t>(operation.function));
  mix(operation.kernel == nullptr ? 0 : operation.payload);
  if (flows_.size() > most_flows) flows_.clear();
  std::shared_ptr<const ByteFlow>& shared = flows_[key];
  if (shared == nullptr)
    shared = std::make_shared<const ByteFlow>(byte_flow(program_, operation, std::span(sources).first(operation.sources), by_lane));
  cached.flow = shared;
  return cached;
}

/// What is computed of two origins. Those of results of products prevail over others, and what is beside the product counts for nothing.
Origin Origins::joined(const Origin& a, const Origin& b, const Computation& how) {
  if (a.kind() == Origin::Kind::beside || b.kind() == Origin::Kind::beside)
    return a.kind() == b.kind() ? Origin::of_beside(0, 0) : a.kind() == Origin::Kind::beside ? b : a;
  if (a.of_product() && b.of_product()) return combines(a, b, how);
  return a.of_product() ? a : b.of_product() ? b : Origin::of_many();
}

/// The origin of a value that depends on these bytes. Bytes that follow each other in memory are one element.
Origin Origins::combined(std::span<const SourceByte> parts, const Sources& known, const Computation& how) {
  Origin all;
  SourceByte first;
  std::array<std::uint64_t, 4> seen{};  // all bytes of a source may have one element, which counts once; more of them are memory alone
  std::size_t count = 0;
  for (const SourceByte& part : parts) {
    const Origin& next = known[static_cast<std::size_t>(part.source)]->lane(how.lane)[part.byte];
    if (!next.known() || std::ranges::find(seen, next.same()) != seen.end()) continue;
    const bool same_element = all.in_memory() && next.kind() == all.kind() && part.source == first.source &&
                              next.bit() == all.bit() + 8 * static_cast<std::uint64_t>(part.byte - first.byte);
    if (same_element) continue;
    if (count < seen.size()) seen[count++] = next.same();
    if (!all.known()) first = part;
    all = all.known() ? joined(all, next, how) : next;
  }
  return all.known() ? all.as_derived() : all;
}

void Origins::select(const Event& event) {
  const Operation& operation = operation_of(event);
  const WarpState& warp = warp_of(event);
  const std::array<const RegisterOrigins*, 2> from{find(event, warp.source_slot(operation, 0)),
                                                   find(event, warp.source_slot(operation, 1))};
  if (from[0] == nullptr && from[1] == nullptr) return clear_results(event, event.lanes());
  const LaneMask chosen = *warp.at<LaneMask>(warp.source_slot(operation, 2));
  const int width = (from[0] != nullptr ? from[0] : from[1])->width;
  std::vector<Origin> fresh(static_cast<std::size_t>(width) * warp_size);
  for (int lane = 0; lane < warp_size; ++lane)
    if (const RegisterOrigins* const one = from[(chosen >> lane & 1) != 0 ? 0 : 1])
      std::copy_n(one->lane(lane), width, &fresh[static_cast<std::size_t>(lane * width)]);
  RegisterOrigins& to = registers(event).make(place(event, warp.result_slot(operation, 0)), width);
  for (LaneMask rest = event.lanes(); rest != 0; rest &= rest - 1)
    std::copy_n(&fresh[static_cast<std::size_t>(first_lane(rest) * width)], width, to.lane(first_lane(rest)));
}

void Origins::exchange(const machine::ExchangeEvent& event) {
  const Operation& operation = operation_of(event.event);
  const LaneMask lanes = event.event.lanes();
  const RegisterOrigins* const from = event.shuffle ? find(event.event, warp_of(event.event).source_slot(operation, 0)) : nullptr;
  if (from == nullptr) return clear_results(event.event, lanes);
  const RegisterOrigins before = *from;
  RegisterOrigins& to = registers(event.event).make(place(event.event, warp_of(event.event).result_slot(operation, 0)), before.width);
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    if ((event.of_nothing & lane_bit(lane)) != 0)
      std::fill_n(to.lane(lane), before.width, Origin{});
    else
      std::copy_n(before.lane(event.from[static_cast<std::size_t>(lane)]), before.width, to.lane(lane));
  }
}

/// A register of one function's frame becomes one of another's; a slot below 0 is none.
void Origins::move_registers(const Event& event, std::size_t from, Slot from_slot, std::size_t to) {
  WarpOrigins& all = registers(event);
  const RegisterOrigins* const moved = from_slot < 0 ? nullptr : all.find(from + static_cast<std::size_t>(from_slot));
  if (moved == nullptr)
    all.clear(to, event.lanes());
  else
    all.make(to, moved->width) = RegisterOrigins(*moved);
}

void Origins::calls(const machine::CallEvent& event) {
  for (const code::RegisterCopy& copy : call_of(event).register_arguments)
    move_registers(event.event, caller_frame_of(event), copy.caller, callee_frame_of(event) + static_cast<std::size_t>(copy.callee));
}

void Origins::returns(const machine::CallEvent& event) {
  for (const code::RegisterCopy& copy : call_of(event).register_returns)
    move_registers(event.event, callee_frame_of(event), copy.callee, caller_frame_of(event) + static_cast<std::size_t>(copy.caller));
}

}  // namespace warpmat::provenance
