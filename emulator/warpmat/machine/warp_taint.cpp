// Numbers that come from shared memory which nobody has written: they may be moved and computed with, as compilers do with halves of
// vectors that are not needed. It is an error when one decides something: whether lanes branch or execute a statement, an address, or
// what is stored in global memory. What follows is only executed while a register of the warp holds such a number.

#include <algorithm>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::machine {

using catalogue::Semantics;
using code::Operation;
using code::Slot;

LaneMask WarpState::taint_of(Slot slot) const {
  return slot < 0 ? 0 : taint_.lanes(strand().frame + static_cast<std::size_t>(slot));
}

/// Traps if one of these lanes' numbers is tainted: it is `role` of the statement.
void WarpState::must_be_defined(Slot slot, LaneMask mask, const char* role) const {
  const LaneMask bad = taint_of(slot) & mask;
  if (bad == 0) return;
  const Taint::Origin& origin = taint_.origin(strand().frame + static_cast<std::size_t>(slot));
  trap(first_lane(bad), std::nullopt,
       fmt::format("{} comes from shared memory that nobody has written: address {:#x} ({}), read at {}", role, origin.address,
                   describe_shared(origin.address), statement_name(origin.statement)),
       KernelTrap::Kind::unwritten);
}

/// The lanes of `mask` of all results get `tainted`; the origin is that of a tainted source.
void WarpState::taint_results(const Operation& operation, LaneMask mask, LaneMask tainted) {
  Taint::Origin origin;
  const auto consider = [&](Slot slot) {
    if (taint_of(slot) != 0) origin = taint_.origin(strand().frame + static_cast<std::size_t>(slot));
  };
  if (operation.guarded) consider(operation.guard);
  for (int i = 0; i < operation.sources; ++i) consider(source_slot(operation, i));
  for (int i = 0; i < operation.results; ++i)
    taint_.set(strand().frame + static_cast<std::size_t>(result_slot(operation, i)), mask, tainted, origin);
}

LaneMask WarpState::taint_of_sources(const Operation& operation) const {
  LaneMask tainted = 0;
  for (int i = 0; i < operation.sources; ++i) tainted |= taint_of(source_slot(operation, i));
  return tainted;
}

/// Before `operation` is executed by the lanes of `mask`, those whose guard holds.
void WarpState::follow_taint(const Operation& operation, LaneMask mask) {
  const LaneMask guard = operation.guarded ? taint_of(operation.guard) & strand().lanes : 0;
  switch (operation.semantics) {
    case Semantics::compute: return taint_results(operation, mask | guard, taint_of_sources(operation) | guard);
    case Semantics::select: {
      const LaneMask chosen = *at<LaneMask>(source_slot(operation, 2));
      const LaneMask sources = (taint_of(source_slot(operation, 0)) & chosen) | (taint_of(source_slot(operation, 1)) & ~chosen);
      return taint_results(operation, mask | guard, sources | taint_of(source_slot(operation, 2)) | guard);
    }
    case Semantics::special:
    case Semantics::active_mask:
    case Semantics::elect:
    case Semantics::barrier: return taint_results(operation, mask | guard, guard);
    case Semantics::load:
      must_be_defined(source_slot(operation, 0), mask, "the address");
      return taint_results(operation, mask | guard, guard);
    case Semantics::exchange:
    case Semantics::matrix: break;  // when all lanes have come
    case Semantics::branch_table: must_be_defined(source_slot(operation, 0), mask, "the index"); break;
    case Semantics::cp_async: must_be_defined(source_slot(operation, 1), mask, "the address in global memory"); [[fallthrough]];
    case Semantics::mbarrier:
    case Semantics::bulk_copy:
      for (int i = 0; i < operation.sources; ++i) must_be_defined(source_slot(operation, i), mask, "an operand of asynchronous work");
      taint_results(operation, mask | guard, guard);
      break;
    case Semantics::store:
    case Semantics::atomic: must_be_defined(source_slot(operation, 0), mask, "the address"); [[fallthrough]];
    default:
      if (operation.semantics != Semantics::atomic) break;
      taint_results(operation, mask, 0);
  }
  if (guard != 0)
    must_be_defined(operation.guard, guard, operation.semantics == Semantics::branch ? "the branch's predicate" : "the guard");
}

/// After the load of a register: the lanes of undefined_ read bytes that nobody has written, maybe those at `at` from their places on.
void WarpState::taint_loaded(const Operation& operation, Slot slot, const Addresses& addresses, std::size_t at, std::uint32_t bytes) {
  const SharedShadow& shadow = *block_.shadow();
  LaneMask tainted = 0;
  for (LaneMask rest = undefined_; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(first_lane(rest));
    const std::size_t offset = shadow.offset(addresses.host[lane]) + at;
    // What the warp itself has copied and waited for is defined for it.
    if (shadow.undefined(offset, bytes) && !shadow.landed_for(offset, bytes, index_)) tainted |= lane_bit(static_cast<int>(lane));
  }
  if (tainted == 0) return;
  const std::uint64_t address = shared_address(addresses.host, first_lane(tainted)) + at;
  taint_.set(strand().frame + static_cast<std::size_t>(slot), tainted, tainted, {operation.statement, address});
}

/// After the store of a register: in shared memory tainted numbers leave bytes undefined, in global memory they are an error.
void WarpState::store_tainted(Slot slot, const Addresses& addresses, std::size_t at, std::uint32_t bytes, LaneMask mask) {
  SharedShadow* const shadow = block_.shadow();
  for (LaneMask rest = taint_of(slot) & mask; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const std::uint8_t* const place = addresses.host[static_cast<std::size_t>(lane)];
    const bool local = place >= local_.data() && place < local_.data() + local_.size();
    if (local) continue;
    const std::size_t offset = shadow->offset(place);
    if (offset >= shadow->size()) must_be_defined(slot, lane_bit(lane), "what is stored in global memory");
    shadow->undefine(offset + at, bytes);
  }
}

/// votes, matches and reductions: every lane's number counts.
void WarpState::taint_exchanged(const Operation& operation, LaneMask mask) {
  taint_results(operation, mask, (taint_of_sources(operation) & mask) != 0 ? mask : 0);
}

/// shfl: lane i has what lane from[i] had.
void WarpState::taint_shuffled(const Operation& operation, LaneMask mask, LaneMask of_nothing, const std::array<int, lanes>& from) {
  const LaneMask value = taint_of(source_slot(operation, 0));
  LaneMask tainted = taint_of(source_slot(operation, 1)) | taint_of(source_slot(operation, 2));
  for (int lane = 0; lane < lanes; ++lane)
    if ((value >> from[static_cast<std::size_t>(lane)] & 1) != 0 && (of_nothing & lane_bit(lane)) == 0) tainted |= lane_bit(lane);
  taint_results(operation, mask, tainted);
}

// ---- Matrix instructions
// -------------------------------------------------------------------------------------------------------------------

namespace {

/// Calls visit(element, register, lane) for every element that a fragment holds.
template <typename Visit>
void for_each_element(const Fragment& fragment, Visit visit) {
  for (int reg = 0; reg < fragment.registers(); ++reg)
    for (int lane = 0; lane < lanes; ++lane)
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

/// mma: an element of D is tainted by those of its row of A, of its column of B, and by that of C.
void WarpState::taint_product(const Operation& operation, const Form& form) {
  const auto first = first_operands(form);
  const auto tainted = [&](OperandName name, int reg, int lane) {
    return (taint_of(source_slot(operation, first[static_cast<std::size_t>(name)] + reg)) >> lane & 1) != 0;
  };
  std::array<std::uint64_t, 16> rows{}, columns{};  // by product (m8n8k4 has four)
  for (const Operand& operand : form.operands) {
    const bool by_row = operand.name == OperandName::a || operand.name == OperandName::e || operand.name == OperandName::scale_a;
    const bool by_column = operand.name == OperandName::b || operand.name == OperandName::scale_b;
    if (operand.kind != OperandKind::fragment || (!by_row && !by_column)) continue;
    const bool selected = operand.name != OperandName::a && operand.name != OperandName::b;  // the matrix is a selector's value
    for_each_element(operand.fragment, [&](const Element& e, int reg, int lane) {
      if (!tainted(operand.name, reg, lane)) return;
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
      bad = tainted(OperandName::c, place.reg, place.lane);
    }
    if (bad) results[static_cast<std::size_t>(reg)] |= lane_bit(lane);
  });
  Taint::Origin origin;
  for (int i = 0; i < operation.sources; ++i)
    if (const Slot slot = source_slot(operation, i); taint_of(slot) != 0)
      origin = taint_.origin(strand().frame + static_cast<std::size_t>(slot));
  for (int i = 0; i < operation.results; ++i)
    taint_.set(strand().frame + static_cast<std::size_t>(result_slot(operation, i)), all_lanes, results[static_cast<std::size_t>(i)],
               origin);
}

/// ldmatrix: the registers of elements that nobody has written.
void WarpState::taint_rows(const Operation& operation, const Form& form, const SharedShadow::Places& rows) {
  const SharedShadow& shadow = *block_.shadow();
  const Fragment& fragment = form.operand(OperandName::r).fragment;
  std::vector<LaneMask> results(static_cast<std::size_t>(fragment.registers()));
  Taint::Origin origin{operation.statement, 0};
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
    taint_.set(strand().frame + static_cast<std::size_t>(result_slot(operation, i)), all_lanes, results[static_cast<std::size_t>(i)],
               origin);
}

/// stmatrix: elements of tainted registers leave their bytes undefined.
void WarpState::store_tainted_rows(const Operation& operation, const Form& form, const SharedShadow::Places& rows) {
  SharedShadow& shadow = *block_.shadow();
  const Operand& r = form.operand(OperandName::r);
  const int first = first_operands(form)[static_cast<std::size_t>(OperandName::r)];
  for_each_element(r.fragment, [&](const Element& e, int reg, int lane) {
    if ((taint_of(source_slot(operation, first + reg)) >> lane & 1) == 0) return;
    const RowPlace place = form.row_place(e);
    const std::size_t at = shadow.offset(rows[static_cast<std::size_t>(place.lane)]) + static_cast<std::size_t>(place.bit / 8);
    shadow.undefine(at, static_cast<std::size_t>((place.bit % 8 + form.memory_bits + 7) / 8));
  });
}

/// After a matrix instruction; `addresses` are those of the rows of ldmatrix and stmatrix.
void WarpState::check_matrix(const Operation& operation, const Form& form, const Register* addresses) {
  if (multiplies(form.mnemonic)) {
    if (taint_.any()) taint_product(operation, form);
    return;
  }
  if (form.mnemonic == Mnemonic::movmatrix) {
    if (taint_.any()) taint_exchanged(operation, all_lanes);
    return;
  }
  const int count = form.rows_in_memory();
  const LaneMask lanes_of_rows = count >= lanes ? all_lanes : lane_bit(count) - 1;
  const bool stores = form.mnemonic == Mnemonic::stmatrix;
  SharedShadow::Places rows{};
  for (int lane = 0; lane < std::min(count, lanes); ++lane) {
    const auto l = static_cast<std::size_t>(lane);
    rows[l] = block_.shared().data() + ((*addresses)[l] - program_.shared_base);
  }
  undefined_ = 0;
  check_shared(operation, rows, Form::row_bytes, lanes_of_rows, stores ? SharedUse::store : SharedUse::load);
  if (!stores && (undefined_ != 0 || taint_.any())) taint_rows(operation, form, rows);
  if (stores && taint_.any()) store_tainted_rows(operation, form, rows);
}

}  // namespace warpmat::machine
