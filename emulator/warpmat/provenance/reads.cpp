#include <warpmat/provenance/reads.h>

#include <algorithm>
#include <span>
#include <utility>

#include <warpmat/machine/block.h>
#include <warpmat/machine/bulk_copies.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/kernel_trap.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/provenance/async_copies.h>

namespace warpmat::provenance {

using catalogue::Semantics;
using code::Operation;
using code::Slot;
using machine::AccessEvent;
using machine::Event;
using machine::EventKinds;

namespace {

constexpr std::size_t most_nodes = std::size_t{1} << 22;      // of a cluster: 24 bytes each
constexpr std::size_t most_visits = std::size_t{1} << 23;     // of nodes, to collect what stored elements depend on
constexpr std::size_t worth_keeping = 64;                     // elements of a value that many others may share, as the sum of a row
constexpr std::uint32_t copied_bytes = 4;                     // an element of a copy that knows no types
constexpr std::size_t most_in_shapes = std::size_t{1} << 20;  // elements

}  // namespace

ReadRecorder::ReadRecorder(const code::Program& program, const DeviceMemory& memory, Receiver receiver)
    : Observer(EventKinds::operations | EventKinds::accesses | EventKinds::shared_accesses | EventKinds::exchanges | EventKinds::copies),
      program_(program),
      memory_(memory),
      receiver_(std::move(receiver)) {}

ReadRecorder::~ReadRecorder() {
  if (found_.whole) {
    find_loaded();
    find_unused();
    find_reads();
  }
  receiver_(std::move(found_));
}

void ReadRecorder::block_begins(const machine::BlockEvent& event) {
  blocks_.push_back({event.shared.data(), std::vector<Value>(event.shared.size()), std::vector<std::uint32_t>(event.shared.size()),
                     std::vector<std::unordered_map<std::size_t, Lanes>>(static_cast<std::size_t>(event.warps))});
}

// ---- Values

std::size_t ReadRecorder::place(const Event& event, Slot slot) {
  return warp_of(event).split().frame + static_cast<std::size_t>(slot);
}

const ReadRecorder::Lanes& ReadRecorder::values(const Event& event, Slot slot) {
  static const Lanes nothing{};
  if (slot < 0) return nothing;
  const auto& registers = block(event).warps[static_cast<std::size_t>(event.warp())];
  const auto found = registers.find(place(event, slot));
  return found == registers.end() ? nothing : found->second;
}

void ReadRecorder::set(const Event& event, std::size_t place, LaneMask lanes, const Lanes& values) {
  auto& registers = block(event).warps[static_cast<std::size_t>(event.warp())];
  if (values == Lanes{}) {
    const auto found = registers.find(place);
    if (found == registers.end()) return;
    for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) found->second[static_cast<std::size_t>(first_lane(rest))] = 0;
    return;
  }
  Lanes& to = registers[place];
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(first_lane(rest));
    to[lane] = values[lane];
  }
}

void ReadRecorder::set_results(const Event& event, LaneMask lanes, const Lanes& values) {
  const Operation& operation = operation_of(event);
  for (int i = 0; i < operation.results; ++i) set(event, place(event, warp_of(event).result_slot(operation, i)), lanes, values);
}

ReadRecorder::Value ReadRecorder::add(const Node& node) {
  if (nodes_.size() >= most_nodes) {
    found_.whole = false;
    want(EventKinds::none);
    return 0;
  }
  nodes_.push_back(node);
  return static_cast<Value>(nodes_.size() - 1);
}

ReadRecorder::Value ReadRecorder::joined(Value a, Value b, std::uint32_t statement) {
  if (a == 0 || a == b) return b;
  if (b == 0) return a;
  return add({.left = a, .right = b, .statement = statement});
}

ReadRecorder::Lanes ReadRecorder::of_sources(const Event& event) {
  const Operation& operation = operation_of(event);
  Lanes all{};
  for (int i = 0; i < operation.sources; ++i) {
    const Lanes& source = values(event, warp_of(event).source_slot(operation, i));
    for (LaneMask rest = event.lanes(); rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::size_t>(first_lane(rest));
      all[lane] = joined(all[lane], source[lane], event.statement());
    }
  }
  return all;
}

void ReadRecorder::use(const Event& event, Slot slot, LaneMask lanes) {
  const Lanes& used = values(event, slot);
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1)
    if (const Value value = used[static_cast<std::size_t>(first_lane(rest))]; value != 0) used_.push_back(value);
}

void ReadRecorder::use_sources(const Event& event) {
  const Operation& operation = operation_of(event);
  for (int i = 0; i < operation.sources; ++i) use(event, warp_of(event).source_slot(operation, i), event.lanes());
}

// ---- Statements

void ReadRecorder::operation(const Event& event) {
  const Operation& operation = operation_of(event);
  const machine::WarpState& warp = warp_of(event);
  if (operation.guarded) use(event, operation.guard, warp.split().lanes);
  switch (operation.semantics) {
    case Semantics::compute: return set_results(event, event.lanes(), of_sources(event));
    case Semantics::select: {
      const LaneMask chosen = *warp.at<LaneMask>(warp.source_slot(operation, 2));
      Lanes all = values(event, warp.source_slot(operation, 1));
      const Lanes& first = values(event, warp.source_slot(operation, 0));
      for (std::size_t lane = 0; lane < all.size(); ++lane)
        if ((chosen >> lane & 1) != 0) all[lane] = first[lane];
      use(event, warp.source_slot(operation, 2), event.lanes());
      return set_results(event, event.lanes(), all);
    }
    case Semantics::exchange:
    case Semantics::call:
    case Semantics::return_: return;
    case Semantics::load:
    case Semantics::store: use(event, warp.source_slot(operation, 0), event.lanes()); break;
    default: use_sources(event);
  }
  set_results(event, event.lanes(), {});  // access() sets those of loads
}

/// A shuffle moves values; all other exchanges give each lane what depends on all.
void ReadRecorder::exchange(const machine::ExchangeEvent& event) {
  const Event& at = event.event;
  Lanes result{};
  if (event.shuffle) {
    const Lanes from = values(at, warp_of(at).source_slot(operation_of(at), 0));
    for (std::size_t lane = 0; lane < result.size(); ++lane)
      if ((event.of_nothing & lane_bit(static_cast<int>(lane))) == 0) result[lane] = from[static_cast<std::size_t>(event.from[lane])];
  } else {
    Value all = 0;
    for (const Value one : of_sources(at)) all = joined(all, one, at.statement());
    result.fill(all);
  }
  set_results(at, at.lanes(), result);
}

void ReadRecorder::move(const Event& event, std::size_t from, Slot from_slot, std::size_t to) {
  Lanes moved{};
  const auto& registers = block(event).warps[static_cast<std::size_t>(event.warp())];
  if (from_slot >= 0)
    if (const auto found = registers.find(from + static_cast<std::size_t>(from_slot)); found != registers.end()) moved = found->second;
  set(event, to, event.lanes(), moved);
}

void ReadRecorder::calls(const machine::CallEvent& event) {
  for (const code::RegisterCopy& copy : call_of(event).register_arguments)
    move(event.event, caller_frame_of(event), copy.caller, callee_frame_of(event) + static_cast<std::size_t>(copy.callee));
}

void ReadRecorder::returns(const machine::CallEvent& event) {
  for (const code::RegisterCopy& copy : call_of(event).register_returns)
    move(event.event, callee_frame_of(event), copy.callee, caller_frame_of(event) + static_cast<std::size_t>(copy.caller));
}

// ---- Memory

ReadRecorder::Value ReadRecorder::read(const AccessEvent& event, int lane, std::size_t at, std::uint32_t bytes) {
  const auto l = static_cast<std::size_t>(lane);
  Value value = 0;
  switch (event.space) {
    case Space::global: return loaded(event.addresses[l] + at, bytes, event.event.statement());
    case Space::shared: {
      const BlockValues& of = block(event.event);
      const std::size_t offset = offset_from(of.first, event.places[l]) + at;
      for (std::size_t b = offset; b < std::min<std::size_t>(offset + bytes, of.shared.size()); ++b) {
        if (of.shared[b] != 0 && (b == offset || of.shared[b] != of.shared[b - 1]))
          shared_readers_[of.stored_by[b]] = event.event.statement();
        value = joined(value, of.shared[b], event.event.statement());
      }
      return value;
    }
    case Space::local:
      for (std::size_t b = 0; !local_.empty() && b < bytes; ++b)
        if (const auto found = local_.find(event.places[l] + at + b); found != local_.end())
          value = joined(value, found->second, event.event.statement());
      return value;
    default: return 0;
  }
}

void ReadRecorder::write(const AccessEvent& event, int lane, std::size_t at, std::uint32_t bytes, Value value) {
  const auto l = static_cast<std::size_t>(lane);
  if (event.space == Space::global) return store(event.addresses[l] + at, bytes, value, event.event.statement(), event.reads);
  if (event.reads) value = joined(value, read(event, lane, at, bytes), event.event.statement());
  if (event.space == Space::shared) {
    BlockValues& of = block(event.event);
    const std::size_t offset = offset_from(of.first, event.places[l]) + at;
    if (value != 0) shared_stores_[value] = event.event.statement();
    for (std::size_t b = offset; b < std::min<std::size_t>(offset + bytes, of.shared.size()); ++b) {
      of.shared[b] = value;
      of.stored_by[b] = event.event.statement();
    }
  } else if (event.space == Space::local) {
    for (std::size_t b = 0; b < bytes; ++b) local_[event.places[l] + at + b] = value;
  }
}

void ReadRecorder::store(std::uint64_t address, std::uint32_t bytes, Value value, std::uint32_t statement, bool adds) {
  Store& to = stores_[address];
  to = {adds ? joined(to.value, value, statement) : value, bytes, statement, adds};
}

void ReadRecorder::access(const AccessEvent& event) {
  const Event& at = event.event;
  const Operation& operation = operation_of(at);
  const machine::WarpState& warp = warp_of(at);
  if (event.asynchronous) {
    if (event.writes)
      for_each_copied(event, program_, [&](int lane, std::uint64_t address, std::uint32_t size, std::uint32_t bytes) {
        for (std::uint32_t b = 0; b < bytes; b += copied_bytes)
          write(event, lane, b, copied_bytes, b < size ? loaded(address + b, copied_bytes, at.statement()) : 0);
      });
    return;
  }
  const code::Access& access = program_.access(operation);
  for (int e = 0; e < access.vector; ++e) {
    const std::size_t offset = static_cast<std::size_t>(e) * access.bytes;
    if (event.writes) {
      if (1 + e >= operation.sources) break;
      const Lanes from = values(at, warp.source_slot(operation, 1 + e));
      for (LaneMask rest = at.lanes(); rest != 0; rest &= rest - 1)
        write(event, first_lane(rest), offset, access.bytes, from[static_cast<std::size_t>(first_lane(rest))]);
    } else if (e < operation.results) {
      Lanes to{};
      for (LaneMask rest = at.lanes(); rest != 0; rest &= rest - 1)
        to[static_cast<std::size_t>(first_lane(rest))] = read(event, first_lane(rest), offset, access.bytes);
      set(at, place(at, warp.result_slot(operation, e)), at.lanes(), to);
    }
  }
}

/// What blocks of a cluster tell each other is not followed.
void ReadRecorder::remote_access(const machine::RemoteAccess&) {
  found_.whole = false;
  want(EventKinds::none);
}

void ReadRecorder::bulk_completes(const machine::BulkEvent& event) {
  const machine::BulkTransfer& transfer = transfer_of(event);
  if (transfer.copy->kind != code::BulkCopy::Kind::load && transfer.copy->kind != code::BulkCopy::Kind::store) {
    found_.whole = false;
    return want(EventKinds::none);
  }
  const bool loads = transfer.loads();
  std::vector<Value>& shared = blocks_[static_cast<std::size_t>(transfer.shared.rank)].shared;
  if (loads)
    for (const machine::SharedRange& range : event.written)
      std::fill_n(shared.begin() + static_cast<std::ptrdiff_t>(range.offset), range.bytes, Value{0});
  for_each_moved(transfer, program_.shared_base, [&](std::uint64_t offset, std::uint64_t address, std::uint64_t bytes) {
    for (std::uint64_t b = 0; b < bytes; b += copied_bytes)
      if (loads)
        std::fill_n(shared.begin() + static_cast<std::ptrdiff_t>(offset + b), std::min<std::uint64_t>(copied_bytes, bytes - b),
                    loaded(address + b, copied_bytes, event.statement));
      else
        store(address + b, copied_bytes, shared[offset + b], event.statement, event.reduces);
  });
}

// ---- What became of it

std::uint32_t ReadRecorder::line_of(std::uint32_t statement) {
  const auto [found, is_new] = lines_.try_emplace(statement);
  if (is_new) found->second = machine::first_of_line(program_, statement);
  return found->second;
}

std::uint64_t ReadRecorder::buffer_of(std::uint64_t address) {
  if (!buffer_ || address < buffer_->address || address >= buffer_->end()) buffer_ = memory_.find(address);
  return buffer_ ? buffer_->address : 0;
}

void ReadRecorder::find_loaded() {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const Node& node : nodes_)
    if (!node.joins() && node.bytes != 0) ranges.emplace_back(node.address, node.address + node.bytes);
  std::ranges::sort(ranges);
  for (const auto& [first, end] : ranges) {
    const auto before = found_.loaded.empty() ? found_.loaded.end() : std::prev(found_.loaded.end());
    if (before != found_.loaded.end() && first <= before->second)
      before->second = std::max(before->second, end);
    else
      found_.loaded.emplace_hint(found_.loaded.end(), first, end);
  }
}

/// Counts the loads of each line whose elements nothing depends on.
void ReadRecorder::find_unused() {
  std::vector<Value> open = std::move(used_);
  for (const auto& [address, store] : stores_) open.push_back(store.value);
  std::vector<bool> reached(nodes_.size());
  reached[0] = true;
  while (!open.empty()) {
    const Value value = open.back();
    open.pop_back();
    if (reached[value]) continue;
    reached[value] = true;
    open.insert(open.end(), {nodes_[value].left, nodes_[value].right});
  }
  follow_unused(reached);
}

void ReadRecorder::follow_unused(const std::vector<bool>& reached) {
  std::vector<Value> users(nodes_.size());
  for (Value i = 1; i < nodes_.size(); ++i)
    if (!reached[i] && nodes_[i].joins()) users[nodes_[i].left] = users[nodes_[i].right] = i;
  for (Value i = 1; i < nodes_.size(); ++i) {
    if (nodes_[i].joins()) continue;
    LineLoads& line = found_.loads[line_of(nodes_[i].statement)];
    ++line.all;
    if (reached[i] || line.unused++ != 0) continue;
    Value last = i;
    while (users[last] != 0) last = users[last];
    line.address = nodes_[i].address;
    line.bytes = nodes_[i].bytes;
    if (last != i) line.last_computed = nodes_[last].statement;
    const auto stored = shared_stores_.find(last);
    if (stored == shared_stores_.end()) continue;
    line.last_stored = stored->second;
    if (const auto reader = shared_readers_.find(stored->second); reader != shared_readers_.end()) line.reader = reader->second;
  }
}

/// The nodes of loaded elements that a value depends on.
std::vector<ReadRecorder::Value> ReadRecorder::collect(Value value) {
  std::vector<Value> elements, open{value};
  ++search_;
  while (!open.empty()) {
    const Value one = open.back();
    open.pop_back();
    ++visits_;
    if (one == 0 || seen_[one] == search_) continue;
    seen_[one] = search_;
    if (nodes_[one].joins())
      open.insert(open.end(), {nodes_[one].left, nodes_[one].right});
    else
      elements.push_back(one);
  }
  std::ranges::sort(elements);
  return elements;
}

/// The same, which keeps those of large values near the stored one.
ReadRecorder::Elements ReadRecorder::elements_of(Value value, int depth) {
  constexpr int deepest = 5;
  if (const auto found = elements_.find(value); found != elements_.end()) {
    visits_ += found->second->size() / 8;
    return found->second;
  }
  const Node& node = nodes_[value];
  if (!node.joins() || depth == deepest) {
    auto made = std::make_shared<const std::vector<Value>>(collect(value));
    if (depth > 0 && made->size() >= worth_keeping) elements_[value] = made;
    return made;
  }
  const Elements left = elements_of(node.left, depth + 1), right = elements_of(node.right, depth + 1);
  auto made = std::make_shared<std::vector<Value>>();
  std::ranges::set_union(*left, *right, std::back_inserter(*made));
  if (depth > 0 && made->size() >= worth_keeping) elements_[value] = made;
  return made;
}

std::vector<LineReads> ReadRecorder::lines_of(const std::vector<Value>& elements) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<std::uint64_t>> by_line;
  for (const Value element : elements)
    by_line[{line_of(nodes_[element].statement), buffer_of(nodes_[element].address)}].push_back(nodes_[element].address);
  std::vector<LineReads> lines;
  for (auto& [line, addresses] : by_line) {
    std::ranges::sort(addresses);
    addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
    const std::uint64_t first = addresses.front();
    for (std::uint64_t& address : addresses) address -= first;
    const auto [shape, is_new] = shapes_.try_emplace(std::move(addresses), static_cast<std::uint32_t>(found_.shapes.size()));
    if (is_new) {
      found_.shapes.push_back(shape->first);
      shape_elements_ += shape->first.size();
    }
    lines.push_back({line.first, line.second, first, shape->second});
  }
  return lines;
}

/// Looks at the stored elements one after the other; where they depend on too much, only at some, from all over them.
void ReadRecorder::find_reads() {
  seen_.resize(nodes_.size());
  std::vector<std::pair<std::uint64_t, Store>> order(stores_.begin(), stores_.end());
  const auto late = [](const auto& store) { return (store.first >> 2) * 0x9e3779b97f4a7c15ULL >> 40; };
  constexpr std::size_t ends = 32;  // where faults are likelier
  if (order.size() > 2 * ends) std::ranges::sort(std::span(order).subspan(ends, order.size() - 2 * ends), {}, late);
  std::rotate(order.begin(), order.end() - static_cast<std::ptrdiff_t>(std::min(ends, order.size())), order.end());
  for (const auto& [address, store] : order) {
    found_.sampled = visits_ > most_visits || shape_elements_ > most_in_shapes;
    if (found_.sampled) break;
    found_.stored.push_back({address, store.bytes, store.statement, store.adds, lines_of(*elements_of(store.value, 0))});
  }
}

}  // namespace warpmat::provenance
