// Tracking of uninitialised values of shared memory. Programs may move them and compute with them, as compilers do with unused halves of
// vectors. They are an error if they affect control flow, a guard, an address, or a store to global memory. This code runs only while a
// register of the warp holds such a value.

#include <algorithm>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::machine {

using catalogue::Semantics;
using code::Operation;
using code::Slot;

LaneMask WarpState::uninitialised_of(Slot slot) const {
  return slot < 0 ? 0 : uninitialised_.lanes(split().frame + static_cast<std::size_t>(slot));
}

/// Traps if a value of these lanes is uninitialised; `role` names its role in the statement.
void WarpState::must_be_defined(Slot slot, LaneMask mask, const char* role) const {
  const LaneMask bad = uninitialised_of(slot) & mask;
  if (bad == 0) return;
  const UninitialisedValues::Origin& origin = uninitialised_.origin(split().frame + static_cast<std::size_t>(slot));
  trap(first_lane(bad), std::nullopt,
       fmt::format("{} comes from uninitialised shared memory: address {:#x} ({}), read at {}", role, origin.address,
                   describe_shared(origin.address), statement_name(origin.statement)),
       KernelTrap::Kind::unwritten);
}

/// Marks the lanes of `mask` of all results by `uninitialised`; the origin is that of an uninitialised source.
void WarpState::mark_results(const Operation& operation, LaneMask mask, LaneMask uninitialised) {
  UninitialisedValues::Origin origin;
  const auto consider = [&](Slot slot) {
    if (uninitialised_of(slot) != 0) origin = uninitialised_.origin(split().frame + static_cast<std::size_t>(slot));
  };
  if (operation.guarded) consider(operation.guard);
  for (int i = 0; i < operation.sources; ++i) consider(source_slot(operation, i));
  for (int i = 0; i < operation.results; ++i)
    uninitialised_.set(split().frame + static_cast<std::size_t>(result_slot(operation, i)), mask, uninitialised, origin);
}

LaneMask WarpState::uninitialised_of_sources(const Operation& operation) const {
  LaneMask uninitialised = 0;
  for (int i = 0; i < operation.sources; ++i) uninitialised |= uninitialised_of(source_slot(operation, i));
  return uninitialised;
}

/// Called before the lanes of `mask`, whose guard is true, execute `operation`.
void WarpState::follow_uninitialised(const Operation& operation, LaneMask mask) {
  const LaneMask guard = operation.guarded ? uninitialised_of(operation.guard) & split().lanes : 0;
  switch (operation.semantics) {
    case Semantics::compute: return mark_results(operation, mask | guard, uninitialised_of_sources(operation) | guard);
    case Semantics::select: {
      const LaneMask chosen = *at<LaneMask>(source_slot(operation, 2));
      const LaneMask sources =
          (uninitialised_of(source_slot(operation, 0)) & chosen) | (uninitialised_of(source_slot(operation, 1)) & ~chosen);
      return mark_results(operation, mask | guard, sources | uninitialised_of(source_slot(operation, 2)) | guard);
    }
    case Semantics::special:
    case Semantics::active_mask:
    case Semantics::elect:
    case Semantics::barrier: return mark_results(operation, mask | guard, guard);
    case Semantics::load:
      must_be_defined(source_slot(operation, 0), mask, "the address");
      return mark_results(operation, mask | guard, guard);
    case Semantics::exchange:
    case Semantics::matrix: break;  // handled when all lanes have arrived
    case Semantics::branch_table: must_be_defined(source_slot(operation, 0), mask, "the index"); break;
    case Semantics::cp_async: must_be_defined(source_slot(operation, 1), mask, "the address in global memory"); [[fallthrough]];
    case Semantics::mbarrier:
    case Semantics::bulk_copy:
      for (int i = 0; i < operation.sources; ++i) must_be_defined(source_slot(operation, i), mask, "an operand of asynchronous work");
      mark_results(operation, mask | guard, guard);
      break;
    case Semantics::store:
    case Semantics::atomic: must_be_defined(source_slot(operation, 0), mask, "the address"); [[fallthrough]];
    default:
      if (operation.semantics != Semantics::atomic) break;
      mark_results(operation, mask, 0);
  }
  if (guard != 0)
    must_be_defined(operation.guard, guard, operation.semantics == Semantics::branch ? "the branch's predicate" : "the guard");
}

/// After the load of a register: the lanes of undefined_ have read uninitialised bytes, perhaps those from offset `at` on.
void WarpState::mark_loaded(const Operation& operation, Slot slot, const Addresses& addresses, std::size_t at, std::uint32_t bytes) {
  const SharedShadow& shadow = *block_.shadow();
  LaneMask uninitialised = 0;
  for (LaneMask rest = undefined_; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(first_lane(rest));
    const std::size_t offset = shadow.offset(addresses.host[lane]) + at;
    // Bytes that the warp itself has copied and waited for are initialised for it.
    if (shadow.undefined(offset, bytes) && !shadow.landed_for(offset, bytes, index_)) uninitialised |= lane_bit(static_cast<int>(lane));
  }
  if (uninitialised == 0) return;
  const std::uint64_t address = shared_address(addresses.host, first_lane(uninitialised)) + at;
  uninitialised_.set(split().frame + static_cast<std::size_t>(slot), uninitialised, uninitialised, {operation.statement, address});
}

/// After the store of a register: uninitialised values make bytes of shared memory uninitialised; in global memory they are an error.
void WarpState::store_uninitialised(Slot slot, const Addresses& addresses, std::size_t at, std::uint32_t bytes, LaneMask mask) {
  SharedShadow* const shadow = block_.shadow();
  for (LaneMask rest = uninitialised_of(slot) & mask; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const std::uint8_t* const place = addresses.host[static_cast<std::size_t>(lane)];
    const bool local = place >= local_.data() && place < local_.data() + local_.size();
    if (local) continue;
    const std::size_t offset = shadow->offset(place);
    if (offset >= shadow->size()) must_be_defined(slot, lane_bit(lane), "what is stored in global memory");
    shadow->undefine(offset + at, bytes);
  }
}

/// Votes, matches and reductions: every lane's value affects all results.
void WarpState::mark_exchanged(const Operation& operation, LaneMask mask) {
  mark_results(operation, mask, (uninitialised_of_sources(operation) & mask) != 0 ? mask : 0);
}

/// shfl: lane i has what lane from[i] had.
void WarpState::mark_shuffled(const Operation& operation, LaneMask mask, LaneMask of_nothing, const std::array<int, warp_size>& from) {
  const LaneMask value = uninitialised_of(source_slot(operation, 0));
  LaneMask uninitialised = uninitialised_of(source_slot(operation, 1)) | uninitialised_of(source_slot(operation, 2));
  for (int lane = 0; lane < warp_size; ++lane)
    if ((value >> from[static_cast<std::size_t>(lane)] & 1) != 0 && (of_nothing & lane_bit(lane)) == 0) uninitialised |= lane_bit(lane);
  mark_results(operation, mask, uninitialised);
}

// ---- Matrix instructions

namespace {

/// Calls visit(element, register, lane) for every element that a fragment holds.
template <typename Visit>
void for_each_element(const Fragment& fragment, Visit visit) {
  for (int reg = 0; reg < fragment.registers(); ++reg)
    for (int lane = 0; lane < warp_size; ++lane)
      for (int i = 0; i < fragment.elements_per_register(); ++i) visit(fragment.element({lane, reg, i * fragment.element_bits}), reg, lane);
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

/// mma: an element of D is uninitialised if an element of its row of A, of its column of B, or its element of C is.
void WarpState::mark_product(const Operation& operation, const Form& form) {
  const auto first = first_operands(form);
  const auto uninitialised = [&](OperandName name, int reg, int lane) {
    return (uninitialised_of(source_slot(operation, first[static_cast<std::size_t>(name)] + reg)) >> lane & 1) != 0;
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
      const Place place = c->fragment.place(e);
      bad = uninitialised(OperandName::c, place.reg, place.lane);
    }
    if (bad) results[static_cast<std::size_t>(reg)] |= lane_bit(lane);
  });
  UninitialisedValues::Origin origin;
  for (int i = 0; i < operation.sources; ++i)
    if (const Slot slot = source_slot(operation, i); uninitialised_of(slot) != 0)
      origin = uninitialised_.origin(split().frame + static_cast<std::size_t>(slot));
  for (int i = 0; i < operation.results; ++i)
    uninitialised_.set(split().frame + static_cast<std::size_t>(result_slot(operation, i)), all_lanes, results[static_cast<std::size_t>(i)],
                       origin);
}

/// ldmatrix: marks the registers of uninitialised elements.
void WarpState::mark_rows(const Operation& operation, const Form& form, const SharedShadow::Places& rows) {
  const SharedShadow& shadow = *block_.shadow();
  const Fragment& fragment = form.operand(OperandName::r).fragment;
  std::vector<LaneMask> results(static_cast<std::size_t>(fragment.registers()));
  UninitialisedValues::Origin origin{operation.statement, 0};
  for_each_element(fragment, [&](const Element& e, int reg, int lane) {
    const RowPlace place = form.row_place(e);
    if ((undefined_ >> place.lane & 1) == 0) return;
    const std::size_t at = shadow.offset(rows[static_cast<std::size_t>(place.lane)]) + static_cast<std::size_t>(place.bit / 8);
    const auto bytes = static_cast<std::size_t>((place.bit % 8 + form.memory_bits + 7) / 8);
    if (!shadow.undefined(at, bytes) || shadow.landed_for(at, bytes, index_)) return;
    origin.address = program_.shared_base + at;
    results[static_cast<std::size_t>(reg)] |= lane_bit(lane);
  });
  for (int i = 0; i < operation.results; ++i)
    uninitialised_.set(split().frame + static_cast<std::size_t>(result_slot(operation, i)), all_lanes, results[static_cast<std::size_t>(i)],
                       origin);
}

/// stmatrix: uninitialised elements make their bytes uninitialised.
void WarpState::store_uninitialised_rows(const Operation& operation, const Form& form, const SharedShadow::Places& rows) {
  SharedShadow& shadow = *block_.shadow();
  const Operand& r = form.operand(OperandName::r);
  const int first = first_operands(form)[static_cast<std::size_t>(OperandName::r)];
  for_each_element(r.fragment, [&](const Element& e, int reg, int lane) {
    if ((uninitialised_of(source_slot(operation, first + reg)) >> lane & 1) == 0) return;
    const RowPlace place = form.row_place(e);
    const std::size_t at = shadow.offset(rows[static_cast<std::size_t>(place.lane)]) + static_cast<std::size_t>(place.bit / 8);
    shadow.undefine(at, static_cast<std::size_t>((place.bit % 8 + form.memory_bits + 7) / 8));
  });
}

/// Called after a matrix instruction; `addresses` are those of the rows of ldmatrix and stmatrix.
void WarpState::check_matrix(const Operation& operation, const Form& form, const Register* addresses) {
  if (multiplies(form.mnemonic)) {
    if (uninitialised_.any()) mark_product(operation, form);
    return;
  }
  if (form.mnemonic == Mnemonic::movmatrix) {
    if (uninitialised_.any()) mark_exchanged(operation, all_lanes);
    return;
  }
  const int count = form.rows_in_memory();
  const LaneMask lanes_of_rows = count >= warp_size ? all_lanes : lane_bit(count) - 1;
  const bool stores = form.mnemonic == Mnemonic::stmatrix;
  SharedShadow::Places rows{};
  for (int lane = 0; lane < std::min(count, warp_size); ++lane) {
    const auto l = static_cast<std::size_t>(lane);
    rows[l] = block_.shared().data() + ((*addresses)[l] - program_.shared_base);
  }
  undefined_ = 0;
  check_shared(operation, rows, Form::row_bytes, lanes_of_rows, stores ? SharedUse::store : SharedUse::load);
  if (!stores && (undefined_ != 0 || uninitialised_.any())) mark_rows(operation, form, rows);
  if (stores && uninitialised_.any()) store_uninitialised_rows(operation, form, rows);
}

}  // namespace warpmat::machine
