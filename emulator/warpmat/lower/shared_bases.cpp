#include <warpmat/lower/shared_bases.h>

#include <algorithm>
#include <array>
#include <map>

#include <warpmat/lower/arithmetic.h>

namespace warpmat::code {
namespace {

using catalogue::Name;
using catalogue::Semantics;

/// The rows by which cvta adds and subtracts the start of a window, and cvt extends an address.
using SumRows = std::array<const catalogue::Match*, 3>;

bool is_sum(const DraftOperation& operation, const SumRows& rows) {
  constexpr std::array names{Name::mov, Name::add, Name::sub, Name::mad, Name::or_, Name::cvt};
  if (operation.operation.semantics != Semantics::compute || operation.results.size() != 1) return false;
  return std::ranges::any_of(names, [&](Name name) { return is_of(operation, name); }) ||
         (operation.match != nullptr && std::ranges::find(rows, operation.match) != rows.end());
}

bool is_access(Semantics semantics) {
  return semantics == Semantics::load || semantics == Semantics::store || semantics == Semantics::atomic ||
         semantics == Semantics::cp_async;
}

/// The variable from whose address a value is computed.
using SharedBase = int;

class Bases {
 public:
  Bases(const DraftFunction& function, const Constants& constants, const SumRows& rows)
      : constants_(constants), rows_(rows), bases_(function.registers.size(), open) {
    for (const Value value : function.parameter_registers)
      if (!is_constant(value)) bases_[static_cast<std::size_t>(value)] = none;
    for (bool changes = true; changes;) {
      changes = false;
      for (const DraftOperation& operation : function.operations)
        for (const Value result : operation.results) changes |= join(result, result_of(operation));
    }
  }

  SharedBase of(Value value) const {
    if (!is_constant(value)) return bases_[static_cast<std::size_t>(value)];
    const Symbol& symbol = constants_[value].symbol;
    return symbol.kind == Symbol::Kind::shared ? symbol.index : none;
  }

 private:
  static constexpr SharedBase open = -3;   ///< nothing is known yet
  static constexpr SharedBase mixed = -2;  ///< of several variables, or of one in another way than by a sum
  static constexpr SharedBase none = -1;   ///< a number

  /// Of a register that several operations write.
  static SharedBase join_bases(SharedBase a, SharedBase b) {
    if (a == open || b == open) return a == open ? b : a;
    return a == b ? a : mixed;
  }

  bool join(Value result, SharedBase base) {
    SharedBase& known = bases_[static_cast<std::size_t>(result)];
    const SharedBase before = known;
    known = join_bases(known, base);
    return known != before;
  }

  /// A sum has the variable of its only term that has one.
  SharedBase result_of(const DraftOperation& operation) const {
    if (is_access(operation.operation.semantics)) return none;
    SharedBase found = none;
    for (const Value source : operation.sources) {
      const SharedBase base = of(source);
      if (base == open) return open;
      if (base != none) found = found == none ? base : mixed;
    }
    return found == none || is_sum(operation, rows_) ? found : mixed;
  }

  const Constants& constants_;
  const SumRows& rows_;
  std::vector<SharedBase> bases_;  ///< by register
};

}  // namespace

void bound_shared_accesses(ProgramDraft& draft, const std::vector<std::uint64_t>& addresses) {
  Program& program = draft.program;
  if (program.shared_variables.size() < 2) return;
  const auto end_of = [&](SharedBase base) {
    if (base < 0) return Access::no_end;
    const auto variable = std::ranges::find_if(program.shared_variables, [&](const Variable& each) {
      return each.address == addresses[static_cast<std::size_t>(base)] && each.bytes != 0;
    });
    if (variable == program.shared_variables.end()) return Access::no_end;
    return static_cast<std::uint32_t>(variable->address + variable->bytes - program.shared_base);
  };
  const SumRows rows{draft.find_match("%add.b64"), draft.find_match("%subtract.b64"), draft.find_match("%extend.u32.b64")};
  std::map<std::uint32_t, std::uint32_t> ends;  // by payload, which copies of an operation share
  for (const DraftFunction& function : draft.functions) {
    const Bases bases(function, draft.constants, rows);
    for (const DraftOperation& operation : function.operations) {
      if (!is_access(operation.operation.semantics)) continue;
      const std::uint32_t end = end_of(bases.of(operation.sources[0]));
      const auto [known, is_new] = ends.try_emplace(operation.operation.payload, end);
      if (!is_new && known->second != end) known->second = Access::no_end;
    }
  }
  for (const DraftFunction& function : draft.functions)
    for (const DraftOperation& operation : function.operations)
      if (const auto found = ends.find(operation.operation.payload); is_access(operation.operation.semantics) && found != ends.end())
        program.access(operation.operation).shared_end = found->second;
}

}  // namespace warpmat::code
