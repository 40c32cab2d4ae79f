#include <warpmat/checks/origins.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include <warpmat/checks/wgmma_chunks.h>
#include <warpmat/forms.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::checks {

using catalogue::Semantics;
using code::Operation;
using code::Slot;
using machine::AccessEvent;
using machine::Event;
using machine::EventKinds;
using machine::WarpState;

Origins::Origins(const Setup& setup)
    : Observer(EventKinds::operations | EventKinds::accesses | EventKinds::shared_accesses | EventKinds::exchanges | EventKinds::copies |
               EventKinds::products),
      setup_(setup),
      has_companions_(block_of(CompanionMatrix::Kind::scale, setup.program) != 0 ||
                      block_of(CompanionMatrix::Kind::metadata, setup.program) != 0) {}

void Origins::block_begins(const machine::BlockEvent& event) {
  blocks_.push_back({event.shared.data(), std::vector<Origin>(event.shared.size()),
                     std::vector<WarpOrigins>(static_cast<std::size_t>(event.warps), WarpOrigins(setup_.frame_bytes)),
                     std::vector<const WarpState*>(static_cast<std::size_t>(event.warps))});
}

Origins::BlockOrigins& Origins::block(const Event& event) {
  return blocks_[static_cast<std::size_t>(event.rank())];
}

WarpOrigins& Origins::registers(const Event& event) {
  return block(event).warps[static_cast<std::size_t>(event.warp())];
}

std::size_t Origins::place(const Event& event, Slot slot) const {
  return event.state().split().frame + static_cast<std::size_t>(slot);
}

const RegisterOrigins& Origins::peek(const Event& event, Slot slot) {
  static const RegisterOrigins nothing{};
  return slot < 0 ? nothing : registers(event).peek(place(event, slot));
}

const RegisterOrigins* Origins::find(const Event& event, Slot slot) {
  return slot < 0 ? nullptr : registers(event).find(place(event, slot));
}

/// The way `way` with one more statement.
std::uint32_t Origins::step(std::uint32_t way, std::uint32_t Way::*member, std::uint32_t statement, int warp) {
  LastStep& last = last_steps_[member == &Way::store ? 1 : 0];  // of the many bytes of an access
  if (last.way == way && last.statement == statement && last.warp == warp && last.member == member) return last.longer;
  Way longer = ways_[way];
  longer.*member = statement;
  if (member == &Way::store) {
    longer.read = Way::no_statement;
    longer.warp = warp;
  }
  last = {way, member, statement, warp, ways_.number_of(longer)};
  return last.longer;
}

void Origins::clear_results(const Event& event, LaneMask lanes) {
  for (int i = 0; i < event.operation().results; ++i)
    registers(event).clear(place(event, event.state().result_slot(event.operation(), i)), lanes);
}

// ---- Scalar operations

namespace {

bool are_computed(const std::vector<Origin>& bytes) {
  return std::ranges::all_of(
      bytes, [](const Origin& one) { return one.what == Origin::of_many().as_derived().what && one.address == 0 && one.way == 0; });
}

}  // namespace

void Origins::operation(const Event& event) {
  block(event).states[static_cast<std::size_t>(event.warp())] = &event.state();
  if (event.lanes() == 0) return;
  switch (event.operation().semantics) {
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
  const Operation& operation = event.operation();
  Sources known{};
  bool any = false;
  for (int i = 0; i < operation.sources; ++i) {
    const RegisterOrigins& source = peek(event, event.state().source_slot(operation, i));
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
        registers(event).set_computed(place(event, event.state().result_slot(operation, r)), width);
    return;
  }
  for (int i = 0; i < operation.sources; ++i)
    if (known[static_cast<std::size_t>(i)] != nullptr)
      known[static_cast<std::size_t>(i)] = find(event, event.state().source_slot(operation, i));
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
      registers(event).set_computed(place(event, event.state().result_slot(operation, r)), width);
      continue;
    }
    RegisterOrigins& to = registers(event).make(place(event, event.state().result_slot(operation, r)), width);
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
  for (std::size_t i = 0; i < event.operation().sources; ++i)
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

namespace {

/// Statements whose results' bytes depend on the values of sources as masks, amounts and selectors do.
bool places_bytes(std::string_view opcode) {
  static const std::set<std::string_view> mnemonics{"and",  "or",  "xor", "lop3", "shl", "shr", "shf",
                                                    "prmt", "bfe", "bfi", "mul",  "mad", "add", "sub"};
  return mnemonics.contains(opcode.substr(0, opcode.find('.')));
}

}  // namespace

/// The flow of an operation: the one found last, unless other sources have origins, or those without have other values on which it depends.
/// Statements of one instruction share it.
Origins::StatementFlow& Origins::flow_of(const Event& event, const Sources& known) {
  constexpr std::size_t most_flows = 4096;  // of values on which a flow depends there may be many
  const Operation& operation = event.operation();
  const WarpState& warp = event.state();
  if (statements_.empty()) statements_.resize(setup_.program.statements.size());
  StatementFlow& cached = statements_[operation.statement];
  if (cached.flow == nullptr) {
    const std::string_view opcode = event.opcode();
    cached.depends = places_bytes(opcode);
    cached.adds = opcode.starts_with("add") || opcode.starts_with("fma") || opcode.starts_with("mad") || opcode.starts_with("sub");
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
  mix(operation.kernel == nullptr ? 0 : operation.detail);
  if (flows_.size() > most_flows) flows_.clear();
  std::shared_ptr<const ByteFlow>& shared = flows_[key];
  if (shared == nullptr)
    shared = std::make_shared<const ByteFlow>(byte_flow(setup_.program, operation, std::span(sources).first(operation.sources), by_lane));
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
  const Operation& operation = event.operation();
  const WarpState& warp = event.state();
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
  const Operation& operation = event.event.operation();
  const LaneMask lanes = event.event.lanes();
  const RegisterOrigins* const from = event.shuffle ? find(event.event, event.event.state().source_slot(operation, 0)) : nullptr;
  if (from == nullptr) return clear_results(event.event, lanes);
  const RegisterOrigins before = *from;
  RegisterOrigins& to = registers(event.event).make(place(event.event, event.event.state().result_slot(operation, 0)), before.width);
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
  for (const code::RegisterCopy& copy : event.call.register_arguments)
    move_registers(event.event, event.caller_frame, copy.caller, event.callee_frame + static_cast<std::size_t>(copy.callee));
}

void Origins::returns(const machine::CallEvent& event) {
  for (const code::RegisterCopy& copy : event.call.register_returns)
    move_registers(event.event, event.callee_frame, copy.callee, event.caller_frame + static_cast<std::size_t>(copy.caller));
}

// ---- Memory

/// The origins of what a lane reads, from byte `at` on.
void Origins::read(const AccessEvent& event, int lane, std::size_t at, std::span<Origin> to) {
  const auto l = static_cast<std::size_t>(lane);
  const std::uint32_t statement = event.event.statement();
  std::ranges::fill(to, Origin{});
  switch (event.space) {
    case code::Space::shared: {
      const BlockOrigins& of = block(event.event);
      const std::size_t offset = offset_from(of.first, event.places[l]) + at;
      for (std::size_t b = 0; b < to.size() && offset + b < of.shared.size(); ++b) {
        to[b] = of.shared[offset + b];
        if (to[b].way == 0 && !to[b].known()) continue;
        to[b].address = setup_.program.shared_base + static_cast<std::uint32_t>(offset + b);
        to[b].way = step(to[b].way, &Way::read, statement);
      }
      return;
    }
    case code::Space::global: {
      const std::uint32_t way = ways_.number_of({.load = statement});
      for (std::size_t b = 0; b < to.size(); ++b) to[b] = in_global(event.addresses[l] + at + b, way);
      return;
    }
    case code::Space::local: {
      for (std::size_t b = 0; !local_.empty() && b < to.size(); ++b)
        if (const auto found = local_.find(event.places[l] + at + b); found != local_.end()) to[b] = found->second;
      return;
    }
    default: return;
  }
}

Origin Origins::in_global(std::uint64_t address, std::uint32_t way) const {
  if (follows(address)) return Origin::of_memory(address, way);
  return has_companions_ ? Origin::of_beside(address, way) : Origin{};
}

/// Reads `bytes` bytes from offset `at` of each lane's into a register of `width` bytes, from its byte `first_byte` on.
void Origins::load(const AccessEvent& event, Slot slot, std::size_t at, std::uint32_t bytes, int width, int first_byte) {
  const std::size_t to = place(event.event, slot);
  WarpOrigins& of_warp = registers(event.event);
  std::array<Origin, std::size_t{16} * warp_size> found;
  bool any = of_warp.find(to) != nullptr;
  for (LaneMask rest = event.event.lanes(); rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const std::span of_lane = std::span(found).subspan(static_cast<std::size_t>(lane) * bytes, bytes);
    read(event, lane, at, of_lane);
    any = any || std::ranges::any_of(of_lane, &Origin::known);
  }
  if (!any) return;
  RegisterOrigins& made = of_warp.make(to, width);
  for (LaneMask rest = event.event.lanes(); rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    std::copy_n(&found[static_cast<std::size_t>(lane) * bytes], bytes, made.lane(lane) + first_byte);
  }
}

void Origins::store(const AccessEvent& event, Slot slot, std::size_t at, std::uint32_t bytes, int first_byte) {
  static const std::array<Origin, 16> nothing{};
  const RegisterOrigins* const from = find(event.event, slot);
  BlockOrigins& of = block(event.event);
  if (event.space == code::Space::shared) ++of.changes;
  for (LaneMask rest = event.event.lanes(); rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const auto l = static_cast<std::size_t>(lane);
    const Origin* const origins = from == nullptr ? nothing.data() : from->lane(lane) + first_byte;
    if (event.space == code::Space::shared) {
      const std::size_t offset = offset_from(of.first, event.places[l]) + at;
      for (std::size_t b = 0; b < bytes && offset + b < of.shared.size(); ++b) {
        Origin& to = of.shared[offset + b] = origins[b];
        to.way = step(to.way, &Way::store, event.event.statement(), event.event.warp());
      }
    } else if (event.space == code::Space::local) {
      for (std::size_t b = 0; b < bytes; ++b)
        if (origins[b].known())
          local_[event.places[l] + at + b] = origins[b];
        else if (!local_.empty())
          local_.erase(event.places[l] + at + b);
    } else if (event.space == code::Space::global) {
      writes({event.addresses[l] + at, bytes, origins, event.event.statement(), event.event.warp(), lane, event.reads},
             event.event.state());
    }
  }
}

void Origins::access(const AccessEvent& event) {
  if (event.asynchronous) {
    if (event.writes) copy_asynchronously(event);
    return;
  }
  const Operation& operation = event.event.operation();
  if (operation.semantics == Semantics::matrix) {
    const Form& form = setup_.program.matrices[operation.detail].instruction.form();
    return moves_matrix(form) ? move_run(event) : move_rows(event, form);
  }
  const code::Access& access = setup_.program.accesses[operation.detail];
  const int width = access.register_bits <= 32 ? 4 : access.register_bits / 8;
  if (event.reads && event.writes) {
    for (int e = 0; e < access.vector && 1 + e < operation.sources; ++e)
      store(event, event.event.state().source_slot(operation, 1 + e), static_cast<std::size_t>(e) * access.bytes, access.bytes, 0);
    return;
  }
  for (int e = 0; e < access.vector; ++e) {
    const std::size_t at = static_cast<std::size_t>(e) * access.bytes;
    if (event.writes)
      store(event, event.event.state().source_slot(operation, 1 + e), at, access.bytes, 0);
    else if (e < operation.results)
      load(event, event.event.state().result_slot(operation, e), at, access.bytes, width, 0);
  }
}

/// cp.async: the bytes come from global memory as soon as it is issued; reading them before they land is a fault.
void Origins::copy_asynchronously(const AccessEvent& event) {
  const Operation& operation = event.event.operation();
  const WarpState& warp = event.event.state();
  const code::Access& access = setup_.program.accesses[operation.detail];
  BlockOrigins& of = block(event.event);
  ++of.changes;
  const std::uint32_t statement = event.event.statement();
  const std::uint32_t way = ways_.number_of({.load = statement, .store = statement, .warp = event.event.warp()});
  for (LaneMask rest = event.event.lanes(); rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const Slot slot = warp.source_slot(operation, 1);
    const std::uint64_t base = access.narrow_source ? warp.at<std::uint32_t>(slot)[lane] : warp.at<std::uint64_t>(slot)[lane];
    const std::uint64_t address = base + static_cast<std::uint64_t>(access.source_offset);
    std::uint32_t size = access.has_source_size ? warp.source_word(operation, 2, lane) : access.bytes;
    if (access.ignores_source && (*warp.at<LaneMask>(warp.source_slot(operation, 2)) & lane_bit(lane)) != 0) size = 0;
    const std::size_t offset = offset_from(of.first, event.places[static_cast<std::size_t>(lane)]);
    for (std::uint32_t b = 0; b < access.bytes && offset + b < of.shared.size(); ++b) {
      of.shared[offset + b] = b < size ? in_global(address + b, way) : Origin{};
      of.shared[offset + b].way = way;
    }
  }
}

/// Another block's shared memory: what is written there has no origin that is followed.
void Origins::remote_access(const machine::RemoteAccess& event) {
  if (!event.writes || event.ended) return;
  BlockOrigins& of = blocks_[static_cast<std::size_t>(event.range.rank)];
  ++of.changes;
  std::vector<Origin>& shared = of.shared;
  std::fill_n(shared.begin() + static_cast<std::ptrdiff_t>(event.range.offset), event.range.bytes, Origin::of_many());
}

const std::vector<Origins::RowByte>& Origins::row_bytes(const Form& form) {
  const auto [found, is_new] = row_bytes_.try_emplace(&form);
  const Fragment& fragment = form.operand(OperandName::r).fragment;
  const int bytes = std::max(1, fragment.element_bits / 8);
  for (int reg = 0; is_new && reg < fragment.registers(); ++reg)
    for (int lane = 0; lane < warp_size; ++lane)
      for (int i = 0; i < fragment.elements_per_register(); ++i) {
        const RowPlace row = form.row_place(fragment.element({lane, reg, i * fragment.element_bits}));
        found->second.push_back({static_cast<std::uint8_t>(reg), static_cast<std::uint8_t>(lane), static_cast<std::uint8_t>(i * bytes),
                                 static_cast<std::uint8_t>(row.lane), static_cast<std::uint16_t>(row.bit)});
      }
  return found->second;
}

/// ldmatrix and stmatrix.
void Origins::move_rows(const AccessEvent& event, const Form& form) {
  const Event& at = event.event;
  const Operation& operation = at.operation();
  BlockOrigins& of = block(at);
  const Fragment& fragment = form.operand(OperandName::r).fragment;
  const bool writes = form.mnemonic == Mnemonic::stmatrix;
  if (!writes) clear_results(at, all_lanes);
  if (writes) ++of.changes;
  const int bytes = std::max(1, fragment.element_bits / 8), memory_bytes = std::max(1, form.memory_bits / 8);
  const int first = writes && form.operands.front().name == OperandName::p ? 1 : 0;
  std::vector<const RegisterOrigins*> from;
  std::vector<RegisterOrigins*> to;
  for (int reg = 0; reg < fragment.registers(); ++reg)
    if (writes)
      from.push_back(find(at, at.state().source_slot(operation, first + reg)));
    else
      to.push_back(&registers(at).make(place(at, at.state().result_slot(operation, reg)), 4));
  for (const RowByte& row : row_bytes(form)) {
    const std::size_t offset = offset_from(of.first, event.places[row.row_lane]) + row.row_bit / 8u;
    Origin* const shared = &of.shared[offset];
    if (writes) {
      for (int b = 0; b < bytes; ++b) {
        shared[b] = from[row.reg] == nullptr ? Origin{} : from[row.reg]->lane(row.lane)[row.byte + b];
        shared[b].way = step(shared[b].way, &Way::store, at.statement(), at.warp());
      }
      continue;
    }
    for (int b = 0; b < memory_bytes; ++b) {
      Origin origin = shared[b];
      if (origin.in_memory()) origin.what += row.row_bit % 8u;
      origin.address = setup_.program.shared_base + static_cast<std::uint32_t>(offset) + static_cast<std::uint32_t>(b);
      origin.way = step(origin.way, &Way::read, at.statement());
      to[row.reg]->lane(row.lane)[row.byte + b] = origin;
    }
  }
}

/// wmma.load and wmma.store: their accesses come in the order of their runs.
void Origins::move_run(const AccessEvent& event) {
  const Event& at = event.event;
  const code::Matrix& matrix = setup_.program.matrices[at.operation().detail];
  const MatrixRun& run = matrix.runs.runs[run_++ % matrix.runs.runs.size()];
  const int width = matrix.instruction.form().operand(OperandName::r).fragment.register_bits / 8;
  if (event.writes)
    store(event, at.state().source_slot(at.operation(), 1 + run.reg), 0, matrix.runs.bytes, run.bit / 8);
  else
    load(event, at.state().result_slot(at.operation(), run.reg), 0, matrix.runs.bytes, width, run.bit / 8);
}

void Origins::bulk_reads(const machine::BulkEvent& event) {
  const std::vector<Origin>& shared = blocks_[static_cast<std::size_t>(event.reads->rank)].shared;
  const auto first = shared.begin() + static_cast<std::ptrdiff_t>(event.reads->offset);
  reads_[event.number].assign(first, first + static_cast<std::ptrdiff_t>(event.reads->bytes));
}

void Origins::bulk_completes(const machine::BulkEvent& event) {
  const machine::BulkTransfer& transfer = *event.transfer;
  for (BlockOrigins& of : blocks_) ++of.changes;
  if (transfer.copy->kind == code::BulkCopy::Kind::load) {
    const std::uint32_t way = ways_.number_of({.load = event.statement, .store = event.statement, .warp = event.warp});
    std::vector<Origin>& shared = blocks_[static_cast<std::size_t>(transfer.shared.rank)].shared;
    for (const machine::SharedRange& range : event.written)
      std::fill_n(shared.begin() + static_cast<std::ptrdiff_t>(range.offset), range.bytes, Origin{0, 0, way});
    for_each_moved(transfer, setup_.program.shared_base, [&](std::uint64_t offset, std::uint64_t address, std::uint64_t bytes) {
      for (std::uint64_t b = 0; b < bytes; ++b)
        if (const Origin origin = in_global(address + b, way); origin.known()) shared[offset + b] = origin;
    });
    return;
  }
  const auto found = reads_.find(event.number);
  const std::vector<Origin> read = found == reads_.end() ? std::vector<Origin>(transfer.bytes) : std::move(found->second);
  if (found != reads_.end()) reads_.erase(found);
  if (transfer.copy->kind != code::BulkCopy::Kind::store) {
    std::vector<Origin>& shared = blocks_[static_cast<std::size_t>(transfer.written().rank)].shared;
    for (std::size_t b = 0; b < read.size(); ++b) shared[transfer.written().offset + b] = event.reduces ? Origin::of_many() : read[b];
    return;
  }
  const WarpState* const warp = blocks_[static_cast<std::size_t>(event.rank)].states[static_cast<std::size_t>(event.warp)];
  for_each_moved(transfer, setup_.program.shared_base, [&](std::uint64_t offset, std::uint64_t address, std::uint64_t bytes) {
    writes({address, static_cast<std::uint32_t>(bytes), read.data() + (offset - transfer.shared.offset), event.statement, event.warp,
            event.lane, event.reduces},
           *warp);
  });
}

// ---- Matrix instructions

namespace {

/// The number of the first register of an operand among the statement's results or sources.
int first_register_of(const Form& form, OperandName name) {
  int next_result = 0, next_source = 0;
  for (const Operand& operand : form.operands) {
    int& next = operand.written ? next_result : next_source;
    if (operand.name == name) return next;
    next += operand.registers();
  }
  return -1;
}

}  // namespace

/// movmatrix.
void Origins::transpose(const Event& event, const Form& form) {
  const Operation& operation = event.operation();
  const RegisterOrigins* const found = find(event, event.state().source_slot(operation, 0));
  if (found == nullptr) return clear_results(event, all_lanes);
  const RegisterOrigins from = *found;
  RegisterOrigins& to = registers(event).make(place(event, event.state().result_slot(operation, 0)), 4);
  for (int row = 0; row < form.shape.m; ++row)
    for (int column = 0; column < form.shape.n; ++column) {
      const Place source = form.operand(OperandName::a).fragment.place({row, column, 0});
      const Place result = form.operand(OperandName::d).fragment.place({row, column, 0});
      std::copy_n(from.lane(source.lane) + source.bit / 8, 2, to.lane(result.lane) + result.bit / 8);
    }
}

void Origins::performs(const Event& event) {
  const Operation& operation = event.operation();
  if (operation.semantics != Semantics::matrix) return;
  const Form& form = setup_.program.matrices[operation.detail].instruction.form();
  run_ = 0;
  if (form.mnemonic == Mnemonic::wmma_load) clear_results(event, all_lanes);
  if (form.mnemonic == Mnemonic::movmatrix) transpose(event, form);
  if (warpmat::multiplies(form.mnemonic)) multiply(event, form);
}

std::vector<bool> Origins::products_in_use(std::size_t products) {
  std::vector<bool> used(products);
  const auto use = [&](const Origin& one) {
    if (one.kind() == Origin::Kind::sum) used[one.product()] = true;
  };
  for (const BlockOrigins& of : blocks_) {
    std::ranges::for_each(of.shared, use);
    for (const WarpOrigins& warp : of.warps)
      for (const RegisterOrigins& one : warp.all())
        if (one.kind == RegisterOrigins::Kind::bytes)
          std::ranges::for_each(one.bytes, use);
        else if (one.kind == RegisterOrigins::Kind::sums)
          used[one.added >> Origin::product_at] = true;
  }
  for (const auto& [byte, origin] : local_) use(origin);
  for (const auto& [copy, origins] : reads_) std::ranges::for_each(origins, use);
  operands_.clear();
  slots_ = 1;
  for (BlockOrigins& of : blocks_) of.operand_b = {};
  return used;
}

const Origins::FormPlaces& Origins::places(const Form& form) {
  const auto [found, is_new] = places_.try_emplace(&form);
  FormPlaces& all = found->second;
  if (!is_new) return all;
  const auto list = [&](OperandName name, bool by_column, std::vector<ElementPlace>& to) {
    const Operand* const operand = form.find_operand(name);
    if (operand == nullptr) return;
    const Fragment& fragment = operand->fragment;
    all.products = std::max(all.products, fragment.matrices());
    const int lines = by_column ? fragment.columns() : fragment.rows(), along = by_column ? fragment.rows() : fragment.columns();
    for (int product = 0; product < fragment.matrices(); ++product)
      for (int line = 0; line < lines; ++line)
        for (int i = 0; i < along; ++i) {
          const Place place = fragment.place(by_column ? Element{i, line, product} : Element{line, i, product});
          to.push_back({static_cast<std::uint16_t>(place.reg), static_cast<std::uint8_t>(place.lane),
                        static_cast<std::uint8_t>(place.bit / 8), static_cast<std::uint8_t>(place.bit % 8)});
        }
  };
  list(OperandName::a, false, all.a);
  list(OperandName::b, true, all.b);
  list(OperandName::c, false, all.c);
  list(OperandName::d, false, all.d);
  const Operand* const c = form.find_operand(OperandName::c);
  const Operand* const d = form.find_operand(OperandName::d);
  if (d == nullptr || all.products != 1) return all;
  for (int reg = 0; reg < d->fragment.registers(); ++reg) all.patterns.push_back(pattern(d->fragment, all.d, reg));
  all.c_as_d = c != nullptr && all.c == all.d && c->fragment.element_bits == d->fragment.element_bits &&
               c->fragment.register_bits == d->fragment.register_bits;
  return all;
}

/// The pattern of a register of the result; equal ones are one.
const SumPattern* Origins::pattern(const Fragment& fragment, const std::vector<ElementPlace>& places, int reg) {
  SumPattern made{fragment.register_bits / 8};
  made.what.resize(static_cast<std::size_t>(made.width) * warp_size);
  const int bytes = std::max(1, fragment.element_bits / 8);
  for (int row = 0; row < fragment.rows(); ++row)
    for (int column = 0; column < fragment.columns(); ++column) {
      const ElementPlace& at = places[static_cast<std::size_t>(row * fragment.columns() + column)];
      if (at.reg == reg)
        std::fill_n(&made.what[static_cast<std::size_t>(at.lane * made.width + at.byte)], bytes, Origin::of_sum(0, row, column).what);
    }
  const auto found = std::ranges::find(patterns_, made);
  return found != patterns_.end() ? &*found : &patterns_.emplace_back(std::move(made));
}

/// The origin of an element: that of its first byte that has one.
Origin Origins::element(const RegisterOrigins* from, const ElementPlace& at, const Fragment& fragment) {
  if (from == nullptr) return {};
  const Origin* const bytes = from->lane(at.lane) + at.byte;
  Origin origin;
  for (int b = 0; b < std::max(1, fragment.element_bits / 8) && !origin.known(); ++b) origin = bytes[b];
  if (fragment.element_bits < 8 && origin.in_memory()) origin.what += at.bit;
  return origin;
}

/// The elements of an operand in registers: those that were found in them last, while the registers are unchanged.
const OperandOrigins& Origins::operand(const Event& event, const Form& form, OperandName name, const std::vector<ElementPlace>& from,
                                       int product) {
  const Fragment& fragment = form.operand(name).fragment;
  const int first = first_register_of(form, name), matrix = product % fragment.matrices();
  const WarpOrigins& warp = registers(event);
  std::array<std::pair<std::size_t, std::uint64_t>, 64> now;
  const auto count = static_cast<std::size_t>(fragment.registers());
  std::uint64_t key =
      reinterpret_cast<std::uintptr_t>(&form) * 31 + static_cast<std::uint64_t>(name) * 64 + static_cast<std::uint64_t>(product);
  key = key * 0x9e3779b97f4a7c15ULL ^ reinterpret_cast<std::uintptr_t>(&warp);
  for (std::size_t i = 0; i < count; ++i) {
    const Slot slot = event.state().source_slot(event.operation(), first + static_cast<int>(i));
    now[i] = {slot < 0 ? ~std::size_t{0} : place(event, slot), peek(event, slot).stamp};
    key = (key ^ now[i].first) * 0x9e3779b97f4a7c15ULL;
  }
  const auto [at, is_new] = operands_.try_emplace(key);
  CachedOperand& cached = at->second;
  const std::span seen = std::span(now).first(count);
  if (is_new) cached.origins.slot = slots_++;
  if (cached.form == &form && cached.name == name && cached.product == product && cached.warp == &warp &&
      std::ranges::equal(cached.registers, seen))
    return cached.origins;
  OperandOrigins& made = cached.origins;
  const bool by_column = name == OperandName::b;
  made.lines = by_column ? fragment.columns() : fragment.rows();
  made.depth = by_column ? fragment.rows() : fragment.columns();
  made.id = ++contents_;
  made.elements.clear();
  std::vector<const RegisterOrigins*> of_registers(count);
  for (std::size_t i = 0; i < count; ++i)
    of_registers[i] = find(event, event.state().source_slot(event.operation(), first + static_cast<int>(i)));
  const std::size_t elements = from.size() / static_cast<std::size_t>(fragment.matrices());
  for (const ElementPlace& one : std::span(from).subspan(static_cast<std::size_t>(matrix) * elements, elements))
    made.elements.push_back(element(of_registers[one.reg], one, fragment));
  cached = {&form, name, product, &warp, {seen.begin(), seen.end()}, std::move(made)};
  return cached.origins;
}

/// The origins of the accumulators in `slots`, the registers of operand `name`, c or d, of one tile after the other.
void Origins::find_accumulators(OriginProduct& product, const FormPlaces& places, OperandName name, const std::vector<Slot>& slots) {
  const Fragment& fragment = product.form.operand(name).fragment;
  const std::vector<ElementPlace>& elements = name == OperandName::c ? places.c : places.d;
  const std::size_t of_tile = static_cast<std::size_t>(fragment.registers());
  const std::uint64_t first = peek(product.event, slots.front()).added;
  bool none = true, whole = (name == OperandName::d || places.c_as_d) && first % (std::uint64_t{1} << Origin::product_at) == 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const RegisterOrigins& one = peek(product.event, slots[i]);
    none &= one.kind == RegisterOrigins::Kind::none;
    whole = whole && one.kind == RegisterOrigins::Kind::sums && one.pattern == places.patterns[i % of_tile] &&
            one.added == first + i / of_tile * static_cast<std::size_t>(fragment.columns());
  }
  if (none) return;
  if (whole) {
    product.whole = static_cast<std::uint32_t>(first >> Origin::product_at);
    return;
  }
  product.c.resize(static_cast<std::size_t>(product.a.lines * product.b.lines));
  for (std::size_t t = 0; t < slots.size() / of_tile; ++t)
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const std::size_t row = i / static_cast<std::size_t>(fragment.columns()), column = i % static_cast<std::size_t>(fragment.columns());
      const Slot slot = slots[t * of_tile + elements[i].reg];
      product.c[row * static_cast<std::size_t>(product.b.lines) + t * static_cast<std::size_t>(fragment.columns()) + column] =
          element(find(product.event, slot), elements[i], fragment);
    }
}

/// The origins of scale factors or metadata, whose registers begin at source `first_source`; `matrix`: their number in the fragment.
OperandOrigins Origins::companions(const Event& event, const Form& form, OperandName name, int matrix, int first_source) {
  const Fragment& fragment = form.operand(name).fragment;
  const bool by_column = name == OperandName::scale_b;
  OperandOrigins all{by_column ? fragment.columns() : fragment.rows(), by_column ? fragment.rows() : fragment.columns()};
  for (int line = 0; line < all.lines; ++line)
    for (int i = 0; i < all.depth; ++i) {
      const Place at = fragment.place(by_column ? Element{i, line, matrix} : Element{line, i, matrix});
      const RegisterOrigins* const from = find(event, event.state().source_slot(event.operation(), first_source + at.reg));
      all.elements.push_back(element(from,
                                     {static_cast<std::uint16_t>(at.reg), static_cast<std::uint8_t>(at.lane),
                                      static_cast<std::uint8_t>(at.bit / 8), static_cast<std::uint8_t>(at.bit % 8)},
                                     fragment));
    }
  return all;
}

void Origins::find_companions(const Event& event, const Form& form, OriginProduct& product) {
  const auto word = [&](OperandName name, int i) {
    return event.state().source_word(event.operation(), first_register_of(form, name) + i, 0);
  };
  const auto scales = [&](OperandName name, OperandName ids_name) {
    const ScaleIds ids{word(ids_name, 0), word(ids_name, 1)};
    if (undefined_ids(form, ids_name, ids)) return OperandOrigins{};  // the statement's execution reports it
    return companions(event, form, name, scale_matrix(form, ids_name, ids), first_register_of(form, name));
  };
  if (form.scale_vector != 0) {
    product.scales_a = scales(OperandName::scale_a, OperandName::ids_a);
    product.scales_b = scales(OperandName::scale_b, OperandName::ids_b);
  }
  if (form.sparsity != Sparsity::dense)
    product.metadata =
        companions(event, form, OperandName::e, static_cast<int>(word(OperandName::selector, 0)), first_register_of(form, OperandName::e));
}

void Origins::multiply(const Event& event, const Form& form) {
  collect();
  const FormPlaces& all = places(form);
  const Operation& operation = event.operation();
  std::vector<std::optional<std::uint32_t>> numbers;
  std::vector<Slot> slots;
  for (int i = 0; i < form.operand(OperandName::c).registers(); ++i)
    slots.push_back(event.state().source_slot(operation, first_register_of(form, OperandName::c) + i));
  for (int p = 0; p < all.products; ++p) {
    OriginProduct product{event, form, operand(event, form, OperandName::a, all.a, p), operand(event, form, OperandName::b, all.b, p)};
    find_companions(event, form, product);
    if (all.products == 1) {
      find_accumulators(product, all, OperandName::c, slots);
    } else {
      product.c = operand(event, form, OperandName::c, all.c, p).elements;
    }
    numbers.push_back(multiplies(product));
  }
  clear_results(event, all_lanes);
  for (int p = 0; p < all.products; ++p)
    write_results(event, form.operand(OperandName::d).fragment, all, p, 0, 0, numbers[static_cast<std::size_t>(p)]);
}

/// Gives the elements of D of a product of the form their origins, in the registers from `first_slot` on. They are those of columns
/// `first_column` and up of the product with this number.
void Origins::write_results(const Event& event, const Fragment& fragment, const FormPlaces& places, int product, int first_slot,
                            int first_column, std::optional<std::uint32_t> number) {
  if (!number) return;
  sums_ = true;
  const auto to = [&](int reg) { return place(event, event.state().result_slot(event.operation(), first_slot + reg)); };
  for (std::size_t reg = 0; reg < places.patterns.size(); ++reg)
    registers(event).set_sums(to(static_cast<int>(reg)), *places.patterns[reg],
                              (std::uint64_t{*number} << Origin::product_at) + static_cast<std::uint64_t>(first_column));
  if (!places.patterns.empty()) return;
  const int columns = fragment.columns(), bytes = std::max(1, fragment.element_bits / 8);
  for (int row = 0; row < fragment.rows(); ++row)
    for (int column = 0; column < columns; ++column) {
      const ElementPlace& at = places.d[static_cast<std::size_t>((product * fragment.rows() + row) * columns + column)];
      std::fill_n(registers(event).make(to(at.reg), fragment.register_bits / 8).lane(at.lane) + at.byte, bytes,
                  Origin::of_sum(*number, row, first_column + column));
    }
}

/// The origins of an operand that a descriptor names: `chunks` are its 16 bytes, line by line along k, or for each k along m or n.
OperandOrigins Origins::in_shared(const Event& event, const std::vector<std::uint32_t>& chunks, Major major, int lines, int depth,
                                  int bits) {
  const BlockOrigins& of = block(event);
  OperandOrigins operand{lines, depth};
  operand.elements.resize(static_cast<std::size_t>(lines) * static_cast<std::size_t>(depth));
  const int in_chunk = static_cast<int>(chunk_bytes) * 8 / bits;
  const int along = (major == Major::k ? depth : lines) / in_chunk;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const int outer = static_cast<int>(i) / along, inner = static_cast<int>(i) % along * in_chunk;
    for (int e = 0; e < in_chunk; ++e) {
      const std::size_t offset = chunks[i] - setup_.program.shared_base + static_cast<std::size_t>(e * bits / 8);
      Origin origin = of.shared[offset];
      origin.address = setup_.program.shared_base + static_cast<std::uint32_t>(offset);
      origin.way = step(origin.way, &Way::read, event.statement());
      const int line = major == Major::k ? outer : inner + e, k = major == Major::k ? inner + e : outer;
      operand.elements[static_cast<std::size_t>(line * depth + k)] = origin;
    }
  }
  return operand;
}

void Origins::product_issues(const machine::ProductEvent& event) {
  collect();
  const machine::PendingProduct& pending = event.product;
  const Event& at = event.event;
  const WarpState& warp = at.state();
  const Wgmma& instruction = pending.product->instruction;
  const WgmmaForm& form = instruction.form();
  const Form& tile = *form.tile;
  const FormPlaces& all = places(tile);
  const int bits = row(tile.format(OperandName::a)).bits;
  const int rows = tile.shape.m, columns = form.shape.n;
  OperandOrigins a{rows, tile.stored_k()};
  if (pending.product->a_in_registers) {
    const Fragment& fragment = tile.operand(OperandName::a).fragment;
    for (const ElementPlace& one : all.a) a.elements.push_back(element(find(at, warp.source_slot(at.operation(), one.reg)), one, fragment));
  } else {
    a = in_shared(at, a_chunks(pending, at.warp()), instruction.immediates().major_a, rows, tile.stored_k(), bits);
  }
  a.slot = slot_of_a_;
  a.id = ++contents_;
  OriginProduct product{at, tile, a, operand_b(at, b_chunks(pending), instruction.immediates().major_b, columns, form.shape.k, bits)};
  const int metadata = (pending.product->a_in_registers ? form.a_registers() : 1) + 1;
  if (form.sparse()) product.metadata = companions(at, tile, OperandName::e, instruction.immediates().selector, metadata);
  const Fragment& d = tile.operand(OperandName::d).fragment;
  std::vector<Slot> slots;
  for (int i = 0; i < form.tiles() * d.registers(); ++i) slots.push_back(warp.result_slot(at.operation(), i));
  if (pending.accumulates) find_accumulators(product, all, OperandName::d, slots);
  const auto number = multiplies(product);
  clear_results(at, all_lanes);
  for (int t = 0; t < form.tiles(); ++t) write_results(at, d, all, 0, t * d.registers(), t * d.columns(), number);
}

/// Operand b in shared memory: the one found last if the statement is the same and nothing was written since.
const OperandOrigins& Origins::operand_b(const Event& event, const std::vector<std::uint32_t>& chunks, Major major, int lines, int depth,
                                         int bits) {
  BlockOrigins& of = block(event);
  SharedOperand& cached = of.operand_b;
  if (cached.statement == event.statement() && cached.changes == of.changes && cached.chunks == chunks) return cached.origins;
  const std::uint32_t slot = cached.origins.id == 0 ? slots_++ : cached.origins.slot;
  cached = {chunks, of.changes, event.statement(), in_shared(event, chunks, major, lines, depth, bits)};
  cached.origins.slot = slot;
  cached.origins.id = ++contents_;
  return cached.origins;
}

}  // namespace warpmat::checks
