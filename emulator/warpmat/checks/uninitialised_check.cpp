// Propagates uninitialised bits through registers. This code runs only while a register of the cluster holds such a value, or when a load
// has read one.

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <warpmat/checks/shared_memory_check.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/each_lane.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/kernel_trap.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/machine/warpgroup.h>

namespace warpmat::checks {

using catalogue::Semantics;
using code::Operation;
using code::Slot;
using machine::Event;
using machine::WarpState;

std::size_t SharedMemoryCheck::place(const Event& event, Slot slot) const {
  return warp_of(event).split().frame + static_cast<std::size_t>(slot);
}

LaneMask SharedMemoryCheck::uninitialised_of(const Event& event, Slot slot) {
  return slot < 0 ? 0 : values(event).lanes(place(event, slot));
}

/// Of a slot that is initialised: none.
SharedMemoryCheck::Origin SharedMemoryCheck::origin_of(const Event& event, Slot slot) {
  return uninitialised_of(event, slot) == 0 ? Origin{} : values(event).origin(place(event, slot));
}

/// Where the uninitialised value of a slot comes from; `role` names its role in the statement.
Trap::Reason SharedMemoryCheck::reason_of(const Event& event, Slot slot, const char* role) {
  const Origin& origin = values(event).origin(place(event, slot));
  const WarpState& warp = warp_of(event);
  const Trap::Note read = warp.note("read here, before anything was stored there", origin.statement);
  if (origin.global)
    return {fmt::format("{} comes from {}", role,
                        origin.partial ? "a word of global memory of which some bytes were never written"
                                       : "global memory that nobody has written"),
            {{fmt::format("address {:#x} ({})", origin.address, setup_.memory->describe(origin.address))}, read},
            "store, copy or set all that is read"};
  return {fmt::format("{} comes from uninitialised shared memory", role),
          {warp.note_of_shared(origin.address), read},
          "store all that is read, and put a barrier between other warps' stores and the read"};
}

/// Traps if a value of these lanes is uninitialised.
void SharedMemoryCheck::must_be_defined(const Event& event, Slot slot, LaneMask mask, const char* role) {
  const LaneMask bad = uninitialised_of(event, slot) & mask;
  if (bad != 0 && !values(event).origin(place(event, slot)).partial)
    event.trap(first_lane(bad), std::nullopt, reason_of(event, slot, role), Trap::Kind::unwritten);
}

namespace {

/// Whether a statement may take some bytes of a word, and leave the others.
bool takes_bytes(std::string_view opcode) {
  constexpr std::string_view all[] = {"and.", "shr.", "bfe.", "prmt.", "cvt.", "lop3."};
  return std::ranges::any_of(all, [&](std::string_view each) { return opcode.starts_with(each); });
}

}  // namespace

/// Marks the lanes of `mask` of all results by `uninitialised`; the origin is that of an uninitialised source.
void SharedMemoryCheck::mark_results(const Event& event, LaneMask mask, LaneMask uninitialised) {
  const Operation& operation = operation_of(event);
  const WarpState& warp = warp_of(event);
  std::optional<Origin> found;
  const auto consider = [&](Slot slot) {
    if (uninitialised_of(event, slot) == 0) return;
    if (const Origin& other = values(event).origin(place(event, slot)); !found || !other.partial) found = other;
  };
  if (operation.guarded) consider(operation.guard);
  for (int i = 0; i < operation.sources; ++i) consider(warp.source_slot(operation, i));
  Origin origin = found.value_or(Origin{});
  if (origin.partial && takes_bytes(event.opcode())) uninitialised = 0;
  origin.computed |= operation.semantics == Semantics::compute && !event.opcode().starts_with("mov");
  for (int i = 0; i < operation.results; ++i) set(event, place(event, warp.result_slot(operation, i)), mask, uninitialised, origin);
}

LaneMask SharedMemoryCheck::uninitialised_of_sources(const Event& event) {
  LaneMask uninitialised = 0;
  for (int i = 0; i < operation_of(event).sources; ++i)
    uninitialised |= uninitialised_of(event, warp_of(event).source_slot(operation_of(event), i));
  return uninitialised;
}

/// Of a logical operation on predicates, the lanes of each result that do not depend on uninitialised sources: false of `and` and true of
/// `or` decide alone. CUB's merge sort compares a key behind the last one, and takes the other because there is none.
std::array<LaneMask, 2> SharedMemoryCheck::decided_lanes(const Event& event) {
  const Operation& operation = operation_of(event);
  const WarpState& warp = warp_of(event);
  const auto initialised = [&](int source) { return ~uninitialised_of(event, warp.source_slot(operation, source)); };
  const auto decides = [&](int source, bool conjunction) {
    const LaneMask value = *warp.at<LaneMask>(warp.source_slot(operation, source));
    return (conjunction ? ~value : value) & initialised(source);
  };
  if (operation.kernel != nullptr) {
    const scalar::Combine combine = setup_.program.of<scalar::Modifiers>(operation).combine;
    if (operation.sources != 3 || (combine != scalar::Combine::conjunction && combine != scalar::Combine::disjunction)) return {};
    const LaneMask condition = decides(2, combine == scalar::Combine::conjunction), compared = initialised(0) & initialised(1);
    const std::array<LaneMask, 2> same = lanes_without_condition(event);
    return {condition | (compared & same[0]), condition | (compared & same[1])};
  }
  if (operation.decides == code::Decides::none) return {};
  const bool conjunction = operation.decides == code::Decides::by_false;
  return {decides(0, conjunction) | decides(1, conjunction), 0};
}

/// setp with a predicate source: the lanes of each result that are the same whether that is true or false.
std::array<LaneMask, 2> SharedMemoryCheck::lanes_without_condition(const Event& event) {
  const Operation& operation = operation_of(event);
  const WarpState& warp = warp_of(event);
  if (operation.results > 2 || operation.result_class(0) != code::RegisterClass::predicate) return {};
  std::array<std::array<LaneMask, 2>, 2> found{};
  for (const LaneMask condition : {LaneMask{0}, all_lanes}) {
    std::array<LaneMask, 2>& to = found[condition & 1];
    void* const results[] = {to.data(), operation.results == 2 ? to.data() + 1 : nullptr, nullptr};
    const auto place_of_source = [&](int i) { return static_cast<const void*>(warp.at<LaneMask>(warp.source_slot(operation, i))); };
    const void* const sources[] = {place_of_source(0), place_of_source(1), &condition, nullptr};
    operation.kernel(results, sources, setup_.program.of<scalar::Modifiers>(operation));
  }
  return {~(found[0][0] ^ found[1][0]), ~(found[0][1] ^ found[1][1])};
}

/// Marks the results of an operation that only computes.
void SharedMemoryCheck::mark_computed(const Event& event, LaneMask guard) {
  const Operation& operation = operation_of(event);
  const LaneMask mask = event.lanes(), sources = uninitialised_of_sources(event);
  const std::array<LaneMask, 2> decided = sources != 0 ? decided_lanes(event) : std::array<LaneMask, 2>{};
  mark_results(event, mask | guard, sources | guard);
  for (std::size_t i = 0; i < std::min<std::size_t>(operation.results, decided.size()); ++i)
    if (decided[i] != 0)
      set(event, place(event, warp_of(event).result_slot(operation, static_cast<int>(i))), decided[i] & mask & ~guard, 0, {});
}

void SharedMemoryCheck::operation(const Event& event) {
  if (!values(event).any()) return;
  const Operation& operation = operation_of(event);
  const WarpState& warp = warp_of(event);
  const LaneMask mask = event.lanes();
  const LaneMask guard = operation.guarded ? uninitialised_of(event, operation.guard) & warp.split().lanes : 0;
  const auto source = [&](int i) { return warp.source_slot(operation, i); };
  switch (operation.semantics) {
    case Semantics::compute: return mark_computed(event, guard);
    case Semantics::select: {
      const LaneMask chosen = *warp.at<LaneMask>(source(2));
      const LaneMask sources = (uninitialised_of(event, source(0)) & chosen) | (uninitialised_of(event, source(1)) & ~chosen);
      return mark_results(event, mask | guard, sources | uninitialised_of(event, source(2)) | guard);
    }
    case Semantics::special:
    case Semantics::active_mask:
    case Semantics::elect:
    case Semantics::tensor_memory:  // of what its words hold nothing is known
    case Semantics::barrier: return mark_results(event, mask | guard, guard);
    case Semantics::load: must_be_defined(event, source(0), mask, "the address"); return mark_results(event, mask | guard, guard);
    case Semantics::exchange:
    case Semantics::matrix: break;  // handled when all lanes have arrived
    case Semantics::branch_table: must_be_defined(event, source(0), mask, "the index"); break;
    case Semantics::cp_async: must_be_defined(event, source(1), mask, "the address in global memory"); [[fallthrough]];
    case Semantics::mbarrier:
    case Semantics::bulk_copy:
      for (int i = 0; i < operation.sources; ++i) must_be_defined(event, source(i), mask, "an operand of asynchronous work");
      mark_results(event, mask | guard, guard);
      break;
    case Semantics::store:
    case Semantics::atomic: must_be_defined(event, source(0), mask, "the address"); [[fallthrough]];
    default:
      if (operation.semantics != Semantics::atomic) break;
      mark_results(event, mask, 0);
  }
  if (guard != 0)
    must_be_defined(event, operation.guard, guard, operation.semantics == Semantics::branch ? "the branch's predicate" : "the guard");
}

// ---- Memory

namespace {

/// Whether an atomic's operand decides what is stored, or whether something is. Others store as a store does: CUTLASS's Stream-K adds the
/// accumulators of rows that nothing uses to those of other blocks.
bool decides(code::AtomicOperation operation) {
  using enum code::AtomicOperation;
  return operation == increase || operation == decrease || operation == compare_and_swap;
}

}  // namespace

/// Loads, stores and atomics, and the runs of wmma. `undefined`: the lanes that read uninitialised bytes.
void SharedMemoryCheck::follow_access(const machine::AccessEvent& event, LaneMask undefined) {
  const Event& at = event.event;
  if (event.asynchronous || (undefined == 0 && !values(at).any() && !(event.reads && event.writes))) return;
  const Operation& operation = operation_of(at);
  const WarpState& warp = warp_of(at);
  const bool matrix = operation.semantics == Semantics::matrix;
  if (matrix)
    if (const Form& form = setup_.program.of<code::Matrix>(operation).instruction.form(); !moves_matrix(form)) {
      if (event.reads) mark_rows(event, form, undefined);
      if (event.writes) store_uninitialised_rows(event, form);
      return;
    }
  const code::Access* const access = matrix ? nullptr : &setup_.program.access(operation);
  const int registers = matrix ? 1 : access->vector, first = event.first_register;
  const std::uint32_t bytes = matrix ? event.bytes : access->bytes;
  for (int e = 0; undefined != 0 && e < std::min<int>(registers, operation.results); ++e)
    mark_loaded(event, undefined, warp.result_slot(operation, first + e), static_cast<std::size_t>(e) * bytes, bytes);
  if (!event.writes) return;
  const auto atomic = event.reads && !matrix ? std::optional(setup_.program.of<code::AtomicAccess>(operation).operation) : std::nullopt;
  if (atomic == code::AtomicOperation::exchange && event.space == Space::shared) shadow(at).define(event.places, event.bytes, at.lanes());
  const Stored what = atomic && decides(*atomic) ? Stored::decision : Stored::value;
  for (int e = 0; e < registers; ++e)
    store_uninitialised(event, warp.source_slot(operation, 1 + first + e), static_cast<std::size_t>(e) * bytes, bytes, at.lanes(), what);
  if (atomic == code::AtomicOperation::compare_and_swap) follow_swap(event);
}

namespace {

/// The lanes of a cas whose value stays in memory: for each address the last lane that finds what it compares. Lanes follow each other, so
/// that one finds what an earlier one with its address has stored.
LaneMask swapping_lanes(const machine::AccessEvent& event, Slot compared, Slot stored) {
  using Value = std::array<std::uint64_t, 2>;
  struct Place {
    Value held{};
    LaneMask last = 0;  ///< the lane that stored it; none: memory held it before
  };
  const WarpState& warp = warp_of(event.event);
  const auto value_of = [&](Slot slot, std::size_t lane) {
    Value value{};
    if (event.bytes < sizeof(std::uint64_t))
      std::memcpy(value.data(), warp.at<std::uint32_t>(slot) + lane, event.bytes);
    else
      value[0] = warp.at<std::uint64_t>(slot)[lane];
    if (event.bytes == sizeof value) value[1] = warp.at<std::uint64_t>(slot)[warp_size + lane];
    return value;
  };
  std::unordered_map<const std::uint8_t*, Place> places;
  for (LaneMask rest = event.event.lanes(); rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(first_lane(rest));
    const auto [found, is_new] = places.try_emplace(event.places[lane]);
    Place& place = found->second;
    if (is_new) std::memcpy(place.held.data(), event.places[lane], event.bytes);
    if (place.held == value_of(compared, lane)) place = {value_of(stored, lane), lane_bit(static_cast<int>(lane))};
  }
  LaneMask lanes = 0;
  for (const auto& [address, place] : places) lanes |= place.last;
  return lanes;
}

}  // namespace

/// What a cas stores where it finds what it compares is a store's value.
void SharedMemoryCheck::follow_swap(const machine::AccessEvent& event) {
  const Operation& operation = operation_of(event.event);
  const WarpState& warp = warp_of(event.event);
  const Slot stored = warp.source_slot(operation, 2);
  if (uninitialised_of(event.event, stored) == 0) return;
  store_uninitialised(event, stored, 0, event.bytes, swapping_lanes(event, warp.source_slot(operation, 1), stored), Stored::value);
}

/// The lanes of `undefined` read uninitialised bytes, perhaps those of this register, from offset `at` on.
void SharedMemoryCheck::mark_loaded(const machine::AccessEvent& event, LaneMask undefined, Slot slot, std::size_t at, std::uint32_t bytes) {
  const auto lanes_where = [&](auto is_so) {
    LaneMask lanes = 0;
    for (LaneMask rest = undefined; rest != 0; rest &= rest - 1)
      if (const int lane = first_lane(rest); is_so(lane)) lanes |= lane_bit(lane);
    return lanes;
  };
  LaneMask uninitialised = lanes_where([&](int lane) { return reads_nothing(event, lane, at, bytes); });
  const bool partial = uninitialised == 0 && event.space == Space::global;
  if (partial)
    uninitialised =
        lanes_where([&](int lane) { return first_unwritten(event.addresses[static_cast<std::size_t>(lane)] + at, bytes).has_value(); });
  if (uninitialised == 0) return;
  const int lane = first_lane(uninitialised);
  const auto i = static_cast<std::size_t>(lane);
  const Origin origin = event.space == Space::global
                            ? Origin{event.event.statement(), *first_unwritten(event.addresses[static_cast<std::size_t>(lane)] + at, bytes),
                                     true, false, partial}
                            : origin_in_shared(event.event, shadow(event.event).offset(event.places[i]) + at);
  set(event.event, place(event.event, slot), uninitialised, uninitialised, origin);
}

/// Whether these bytes of a lane's access hold nothing. Bytes of shared memory that the warp itself has copied and waited for are
/// initialised for it.
bool SharedMemoryCheck::reads_nothing(const machine::AccessEvent& event, int lane, std::size_t at, std::uint32_t bytes) {
  const auto i = static_cast<std::size_t>(lane);
  if (event.space == Space::global) {
    const std::uint64_t address = event.addresses[i] + at;
    const StoredBuffer* const buffer = buffer_at(address);
    return buffer != nullptr && buffer->written != nullptr && !buffer->written->has_any(address - buffer->address, bytes);
  }
  const SharedShadow& bytes_of_block = shadow(event.event);
  const std::size_t offset = bytes_of_block.offset(event.places[i]) + at;
  return bytes_of_block.undefined(offset, bytes) && !bytes_of_block.landed_for(offset, bytes, event.event.warp());
}

/// Where an uninitialised value that `event` reads in shared memory comes from: from what was stored there, or from there.
SharedMemoryCheck::Origin SharedMemoryCheck::origin_in_shared(const Event& event, std::size_t offset) {
  const auto& stored = block(event.rank()).stored;
  const auto found = stored.find(offset / 4);
  return found != stored.end() ? found->second : Origin{event.statement(), setup_.program.shared_base + offset};
}

/// Bytes of shared memory become uninitialised because such a value is stored there.
void SharedMemoryCheck::undefine(int rank, std::size_t offset, std::size_t bytes, const Origin& origin) {
  block(rank).shadow.undefine(offset, bytes);
  if (!origin.global) return;
  for (std::size_t word = offset / 4; word <= (offset + bytes - 1) / 4; ++word) block(rank).stored[word] = origin;
}

/// The first statement of a statement's line of the source.
std::uint32_t SharedMemoryCheck::line_of(std::uint32_t statement) {
  const auto [found, is_new] = first_of_line_.try_emplace(statement);
  if (is_new) found->second = machine::first_of_line(setup_.program, statement);
  return found->second;
}

/// Reports a lane's store of an uninitialised value to global memory: a trap, or a warning for each line of the source if `stores` is off.
void SharedMemoryCheck::report_store(const Event& event, Slot slot, int lane) {
  constexpr const char* role = "what is stored in global memory";
  const bool global = values(event).origin(place(event, slot)).global;  // programs copy what nobody uses, too
  if (setup_.checks.stores && !global) event.trap(lane, std::nullopt, reason_of(event, slot, role), Trap::Kind::unwritten);
  const std::uint32_t first = line_of(event.statement());
  if (!setup_.reports.unwritten_stores.wants(first, cluster_)) return;
  warn(setup_.reports.unwritten_stores, first, event, cluster_, lane, std::nullopt, reason_of(event, slot, role));
}

/// Uninitialised values that `lanes` store make bytes of shared memory uninitialised; in global memory they are reported.
void SharedMemoryCheck::store_uninitialised(const machine::AccessEvent& event, Slot slot, std::size_t at, std::uint32_t bytes,
                                            LaneMask lanes, Stored what) {
  if (event.space == Space::local) return;
  SharedShadow& bytes_of_block = shadow(event.event);
  LaneMask uninitialised = uninitialised_of(event.event, slot) & lanes;
  if (uninitialised != 0) uninitialised &= machine::lanes_that_stay(event);
  for (LaneMask rest = uninitialised; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const std::size_t offset = bytes_of_block.offset(event.places[static_cast<std::size_t>(lane)]);
    if (offset < bytes_of_block.size()) {
      undefine(event.event.rank(), offset + at, bytes, values(event.event).origin(place(event.event, slot)));
    } else if (event.space == Space::global && what == Stored::value) {
      if (!keep_unwritten(event, slot, lane, at, bytes)) report_store(event.event, slot, lane);
    } else {
      must_be_defined(event.event, slot, lane_bit(lane),
                      what == Stored::decision ? "what an atomic compares" : "what is stored in another block's shared memory");
    }
  }
}

// ---- Functions and lanes

void SharedMemoryCheck::calls(const machine::CallEvent& event) {
  if (!values(event.event).any()) return;
  for (const code::RegisterCopy& copy : call_of(event).register_arguments)
    set(event.event, callee_frame_of(event) + static_cast<std::size_t>(copy.callee), event.event.lanes(),
        uninitialised_of(event.event, copy.caller), origin_of(event.event, copy.caller));
}

void SharedMemoryCheck::returns(const machine::CallEvent& event) {
  if (!values(event.event).any()) return;
  for (const code::RegisterCopy& copy : call_of(event).register_returns)
    set(event.event, caller_frame_of(event) + static_cast<std::size_t>(copy.caller), event.event.lanes(),
        uninitialised_of(event.event, copy.callee), origin_of(event.event, copy.callee));
}

void SharedMemoryCheck::exchange(const machine::ExchangeEvent& event) {
  if (!values(event.event).any()) return;
  if (event.shuffle)
    mark_shuffled(event);
  else
    mark_exchanged(event.event, event.event.lanes());
}

/// Votes, matches and reductions: every lane's value affects all results.
void SharedMemoryCheck::mark_exchanged(const Event& event, LaneMask mask) {
  mark_results(event, mask, (uninitialised_of_sources(event) & mask) != 0 ? mask : 0);
}

/// shfl: lane i has what lane from[i] had.
void SharedMemoryCheck::mark_shuffled(const machine::ExchangeEvent& event) {
  const auto of_source = [&](int i) {
    return uninitialised_of(event.event, warp_of(event.event).source_slot(operation_of(event.event), i));
  };
  const LaneMask value = of_source(0);
  LaneMask uninitialised = of_source(1) | of_source(2);
  for (int lane = 0; lane < warp_size; ++lane)
    if ((value >> event.from[static_cast<std::size_t>(lane)] & 1) != 0 && (event.of_nothing & lane_bit(lane)) == 0)
      uninitialised |= lane_bit(lane);
  mark_results(event.event, event.event.lanes(), uninitialised);
}

// ---- Matrix instructions

namespace {

/// Calls visit(element, register, lane) for every element that a fragment holds.
template <typename Visit>
void for_each_element(const Fragment& fragment, Visit visit) {
  for (int reg = 0; reg < fragment.registers(); ++reg)
    for (int lane = 0; lane < warp_size; ++lane)
      for (int i = 0; i < fragment.elements_per_register(); ++i)
        visit(fragment.element({lane, reg, i * fragment.element_bits()}), reg, lane);
}

/// The slot of the first register of each operand of the form, by its name.
std::array<int, operand_name_count> first_operands(const Form& form) {
  std::array<int, operand_name_count> first{};
  int next_result = 0, next_source = 0;
  for (const Operand& operand : form.operands) {
    int& next = operand.written ? next_result : next_source;
    first[static_cast<std::size_t>(operand.name)] = next;
    next += operand.registers();
  }
  return first;
}

}  // namespace

void SharedMemoryCheck::performs(const Event& event) {
  const Operation& operation = operation_of(event);
  if (!values(event).any() || operation.semantics != Semantics::matrix) return;
  const Form& form = setup_.program.of<code::Matrix>(operation).instruction.form();
  if (form.mnemonic == Mnemonic::wmma_load) return mark_results(event, all_lanes, 0);  // access() follows
  if (moves_matrix(form)) return;
  if (multiplies(form.mnemonic)) return mark_product(event, form);
  if (form.mnemonic == Mnemonic::movmatrix) return mark_exchanged(event, all_lanes);
  const int rows = form.rows_in_memory();
  const int address = first_operands(form)[static_cast<std::size_t>(OperandName::p)];
  must_be_defined(event, warp_of(event).source_slot(operation, address), rows >= warp_size ? all_lanes : lane_bit(rows) - 1,
                  "a row's address");
}

/// mma: an element of D is uninitialised if an element of its row of A, of its column of B, or its element of C is.
void SharedMemoryCheck::mark_product(const Event& event, const Form& form) {
  const Operation& operation = operation_of(event);
  const WarpState& warp = warp_of(event);
  const auto first = first_operands(form);
  const auto uninitialised = [&](OperandName name, int reg, int lane) {
    return (uninitialised_of(event, warp.source_slot(operation, first[static_cast<std::size_t>(name)] + reg)) >> lane & 1) != 0;
  };
  std::array<std::uint64_t, 16> rows{}, columns{};  // by product (m8n8k4 has four)
  for (const Operand& operand : form.operands) {
    const bool by_row = operand.name == OperandName::a || operand.name == OperandName::e || operand.name == OperandName::scale_a;
    const bool by_column = operand.name == OperandName::b || operand.name == OperandName::scale_b;
    if (operand.kind != OperandKind::fragment || (!by_row && !by_column)) continue;
    const bool selected = operand.name != OperandName::a && operand.name != OperandName::b;  // the matrix number is a selector's value
    for_each_element(operand.fragment, [&](const Element& e, int reg, int lane) {
      if (!uninitialised(operand.name, reg, lane)) return;
      const auto product = static_cast<std::size_t>(selected ? 0 : e.matrix);
      if (by_row) rows[product] |= std::uint64_t{1} << e.row;
      if (by_column) columns[product] |= std::uint64_t{1} << e.column;
    });
  }
  const Fragment& d = form.operand(OperandName::d).fragment;
  const Operand* const c = form.find_operand(OperandName::c);
  std::vector<LaneMask> results(static_cast<std::size_t>(d.registers()));
  for_each_element(d, [&](const Element& e, int reg, int lane) {
    const auto product = static_cast<std::size_t>(e.matrix);
    bool bad = (rows[product] >> e.row & 1) != 0 || (columns[product] >> e.column & 1) != 0;
    if (!bad && c != nullptr) {
      const Place of_c = c->fragment.place(e);
      bad = uninitialised(OperandName::c, of_c.reg, of_c.lane);
    }
    if (bad) results[static_cast<std::size_t>(reg)] |= lane_bit(lane);
  });
  Origin origin;
  for (int i = 0; i < operation.sources; ++i)
    if (const Slot slot = warp.source_slot(operation, i); uninitialised_of(event, slot) != 0)
      origin = values(event).origin(place(event, slot));
  for (int i = 0; i < operation.results; ++i)
    set(event, place(event, warp.result_slot(operation, i)), all_lanes, results[static_cast<std::size_t>(i)], origin);
}

/// ldmatrix: marks the registers of uninitialised elements.
void SharedMemoryCheck::mark_rows(const machine::AccessEvent& event, const Form& form, LaneMask undefined) {
  const Event& at = event.event;
  const SharedShadow& bytes_of_block = shadow(at);
  const Fragment& fragment = form.operand(OperandName::r).fragment;
  std::vector<LaneMask> results(static_cast<std::size_t>(fragment.registers()));
  Origin origin;
  for_each_element(fragment, [&](const Element& e, int reg, int lane) {
    const RowPlace row = form.row_place(e);
    if ((undefined >> row.lane & 1) == 0) return;
    const std::size_t offset =
        bytes_of_block.offset(event.places[static_cast<std::size_t>(row.lane)]) + static_cast<std::size_t>(row.bit / 8);
    const auto bytes = static_cast<std::size_t>((row.bit % 8 + form.memory_bits + 7) / 8);
    if (!bytes_of_block.undefined(offset, bytes) || bytes_of_block.landed_for(offset, bytes, at.warp())) return;
    origin = origin_in_shared(at, offset);
    results[static_cast<std::size_t>(reg)] |= lane_bit(lane);
  });
  for (int i = 0; i < operation_of(at).results; ++i)
    set(at, place(at, warp_of(at).result_slot(operation_of(at), i)), all_lanes, results[static_cast<std::size_t>(i)], origin);
}

/// stmatrix: uninitialised elements make their bytes uninitialised.
void SharedMemoryCheck::store_uninitialised_rows(const machine::AccessEvent& event, const Form& form) {
  const Event& at = event.event;
  SharedShadow& bytes_of_block = shadow(at);
  const int first = first_operands(form)[static_cast<std::size_t>(OperandName::r)];
  for_each_element(form.operand(OperandName::r).fragment, [&](const Element& e, int reg, int lane) {
    const Slot slot = warp_of(at).source_slot(operation_of(at), first + reg);
    if ((uninitialised_of(at, slot) >> lane & 1) == 0) return;
    const RowPlace row = form.row_place(e);
    const std::size_t offset =
        bytes_of_block.offset(event.places[static_cast<std::size_t>(row.lane)]) + static_cast<std::size_t>(row.bit / 8);
    undefine(at.rank(), offset, static_cast<std::size_t>((row.bit % 8 + form.memory_bits + 7) / 8), values(at).origin(place(at, slot)));
  });
}

// ---- wgmma

/// Checks the chunks of an operand in shared memory; calls undefined(i) for those with uninitialised bytes.
void SharedMemoryCheck::check_chunks(const Event& event, const std::vector<std::uint32_t>& chunks,
                                     const std::function<void(std::size_t)>& undefined) {
  const std::uint8_t* const memory = warp_of(event).block().shared().data();
  for (std::size_t first = 0; first < chunks.size(); first += warp_size) {
    const std::size_t count = std::min<std::size_t>(chunks.size() - first, warp_size);
    std::array<const std::uint8_t*, warp_size> places{};
    for (std::size_t i = 0; i < count; ++i) places[i] = memory + (chunks[first + i] - setup_.program.shared_base);
    const LaneMask mask = count == warp_size ? all_lanes : lane_bit(static_cast<int>(count)) - 1;
    for (LaneMask rest = check_bytes(event, places, machine::Product::chunk_bytes, mask, Use::load, {}); rest != 0; rest &= rest - 1) {
      const std::size_t i = first + static_cast<std::size_t>(first_lane(rest));
      if (!shadow(event).landed_for(chunks[i] - setup_.program.shared_base, machine::Product::chunk_bytes, event.warp())) undefined(i);
    }
  }
}

/// Checks the bytes that a product reads. Uninitialised bytes make the rows and columns of D that use them uninitialised.
void SharedMemoryCheck::product_issues(const machine::ProductEvent& event) {
  const machine::Product& product = event.product;
  const Wgmma& instruction = product.instruction();
  const WgmmaForm& form = instruction.form();
  std::optional<Origin> origin;
  const auto count = [](int lines) { return static_cast<std::size_t>(lines); };
  std::vector<bool> rows, columns;  // empty: all of them are initialised
  const auto check = [&](Major major, OperandName operand, std::size_t all_lines, std::vector<bool>& uninitialised) {
    const machine::Chunks& list = chunks_of(pending_of(product), operand);
    if (shadow(event.event).is_plain(list.first - setup_.program.shared_base, list.bytes)) return;
    const std::vector<std::uint32_t>& chunks = list.addresses;
    uninitialised.resize(all_lines);
    // A chunk is a part of one line along k, or holds elements of eight lines (16-bit types).
    constexpr std::size_t elements = 8;
    const std::size_t in_line = major == Major::k ? chunks.size() / all_lines : all_lines / elements;
    check_chunks(event.event, chunks, [&](std::size_t i) {
      origin = origin_in_shared(event.event, chunks[i] - setup_.program.shared_base);
      const std::size_t line = major == Major::k ? i / in_line : i % in_line * elements;
      std::fill_n(uninitialised.begin() + static_cast<std::ptrdiff_t>(line), major == Major::k ? 1 : elements, true);
    });
  };
  if (!product.a_in_registers()) check(instruction.immediates().major_a, OperandName::a, count(form.tile->shape.m), rows);
  check(instruction.immediates().major_b, OperandName::b, count(form.shape.n), columns);
  if (!origin && !values(event.event).any()) return;
  rows.resize(count(form.tile->shape.m));
  columns.resize(count(form.shape.n));
  mark_warpgroup_product(event, std::move(rows), columns, origin.value_or(Origin{}));
}

/// Marks elements of D as uninitialised if their row or column is, including registers of A and metadata, or if the accumulated old element
/// is. `origin`: of what was read in shared memory.
void SharedMemoryCheck::mark_warpgroup_product(const machine::ProductEvent& product_event, std::vector<bool> rows,
                                               const std::vector<bool>& columns, Origin origin) {
  const Event& event = product_event.event;
  const machine::Product& product = product_event.product;
  const Operation& operation = operation_of(event);
  const WarpState& warp = warp_of(event);
  const WgmmaForm& form = product.instruction().form();
  const Form& tile = *form.tile;
  const auto mark_rows = [&](int source, OperandName operand) {
    const Fragment& fragment = tile.operand(operand).fragment;
    for (int reg = 0; reg < fragment.registers(); ++reg) {
      const Slot slot = warp.source_slot(operation, source + reg);
      if (uninitialised_of(event, slot) != 0) origin = values(event).origin(place(event, slot));
      for (LaneMask rest = uninitialised_of(event, slot); rest != 0; rest &= rest - 1)
        for (int i = 0; i < fragment.elements_per_register(); ++i)
          rows[static_cast<std::size_t>(fragment.element({first_lane(rest), reg, i * fragment.element_bits()}).row)] = true;
    }
  };
  if (product.a_in_registers()) mark_rows(0, OperandName::a);
  if (form.sparse()) mark_rows(pending_of(product).product->metadata_source(), OperandName::e);
  must_be_defined(event, warp.source_slot(operation, pending_of(product).product->scale_source()), all_lanes, "scale-d");
  const Fragment& d = tile.operand(OperandName::d).fragment;
  for (int i = 0; i < operation.results; ++i) {
    const Slot slot = warp.result_slot(operation, i);
    LaneMask uninitialised = product.accumulates() ? uninitialised_of(event, slot) : 0;
    if (uninitialised != 0) origin = values(event).origin(place(event, slot));
    const int first_column = i / d.registers() * tile.shape.n;
    for (int lane = 0; lane < warp_size; ++lane)
      for (int j = 0; j < d.elements_per_register(); ++j) {
        const Element e = d.element({lane, i % d.registers(), j * d.element_bits()});
        if (rows[static_cast<std::size_t>(e.row)] || columns[static_cast<std::size_t>(first_column + e.column)])
          uninitialised |= lane_bit(lane);
      }
    set(event, place(event, slot), all_lanes, uninitialised, origin);
  }
}

}  // namespace warpmat::checks
