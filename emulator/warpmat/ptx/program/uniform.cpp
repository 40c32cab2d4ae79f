#include <warpmat/ptx/program/uniform.h>

#include <algorithm>
#include <array>

namespace warpmat::inline v0_1::code {

using catalogue::Semantics;

namespace {

/// Special registers that all lanes of a warp have in common.
constexpr std::array common{SpecialRegister::ntid_x,   SpecialRegister::ntid_y,   SpecialRegister::ntid_z,
                            SpecialRegister::ctaid_x,  SpecialRegister::ctaid_y,  SpecialRegister::ctaid_z,
                            SpecialRegister::nctaid_x, SpecialRegister::nctaid_y, SpecialRegister::nctaid_z};

bool is_shuffle(const WarpExchange& exchange) {
  return exchange.operation < WarpOperation::vote_all;
}

/// Whether something may read `value` as operation `writer` leaves it.
bool is_read(const DraftFunction& function, const Definitions& definitions, int writer, Value value) {
  bool found = std::ranges::find(function.return_registers, value) != function.return_registers.end();
  for (int i = 0; i < static_cast<int>(function.operations.size()); ++i)
    for_each_read(function.operations[static_cast<std::size_t>(i)], [&](Value read) {
      if (read != value) return;
      const int from = definitions.find(i, value);
      found |= from == writer || from < 0;
    });
  return found;
}

}  // namespace

int Uniform::target_of(int branch) const {
  const DraftOperation& operation = function_.operations[static_cast<std::size_t>(branch)];
  if (operation.operation.semantics != Semantics::branch || !operation.operation.guarded) return -1;
  return function_.labels[static_cast<std::size_t>(operation.label)];
}

bool Uniform::parts_lanes(int branch) const {
  const auto [found, is_new] = parting_.try_emplace(branch, false);
  if (is_new) {
    std::set<int> seen;
    const bool parts = !is_common(branch, function_.operations[static_cast<std::size_t>(branch)].guard, seen);
    parting_[branch] = parts;
    return parts;
  }
  return found->second;
}

/// Whether lanes that come to `reader` together have `value` in common, also where a loop carries it: whatever may have written it was
/// computed of such values. `seen` are operations that are being looked at.
bool Uniform::is_common(int reader, Value value, std::set<int>& seen) const {
  if (is_constant(value) || at(reader, value)) return true;
  const std::vector<int> writers = definitions_.find_all(reader, value);
  return !writers.empty() && std::ranges::all_of(writers, [&](int writer) {
    const DraftOperation& operation = function_.operations[static_cast<std::size_t>(writer)];
    if (!seen.insert(writer).second) return true;
    if (operation.operation.guarded || operation.operation.semantics != Semantics::compute || is_in_parted_arm(writer) ||
        leaves_loop(function_, writer, reader))
      return false;
    return std::ranges::all_of(operation.sources, [&](Value source) { return is_common(writer, source, seen); });
  });
}

bool Uniform::is_in_parted_arm(int place) const {
  const auto leads_to_end = [&](int target) {
    if (target >= static_cast<int>(function_.operations.size())) return true;
    const Semantics semantics = function_.operations[static_cast<std::size_t>(target)].operation.semantics;
    return semantics == Semantics::exit || semantics == Semantics::return_;
  };
  for (int branch = 0; branch < place; ++branch)
    if (const int target = target_of(branch); target > place && !leads_to_end(target) && parts_lanes(branch)) return true;
  return false;
}

bool Uniform::is_in_parted_loop(int place) const {
  for (int branch = place; branch < static_cast<int>(function_.operations.size()); ++branch)
    if (const int target = target_of(branch); target >= 0 && target <= place && parts_lanes(branch)) return true;
  return false;
}

/// Votes, sums of a warp, and shuffles by which all lanes read one, where all lanes come together and as often.
bool Uniform::is_uniform_exchange(int place, int depth) const {
  if (is_in_parted_arm(place) || is_in_parted_loop(place)) return false;
  const DraftOperation& operation = function_.operations[static_cast<std::size_t>(place)];
  const WarpOperation exchange = draft_.program.exchanges[operation.operation.detail].operation;
  if (exchange != WarpOperation::shuffle_index)
    return exchange >= WarpOperation::vote_all && exchange != WarpOperation::match_any && exchange != WarpOperation::match_all;
  const Value clamp = operation.sources[2];
  return is_constant(clamp) && (draft_.constants[clamp].low & 0x1f1f) == warp_size - 1 &&
         is_uniform_source(place, operation.sources[1], depth);
}

bool Uniform::is_uniform_source(int reader, Value value, int depth) const {
  return is_uniform(reader, is_constant(value) ? -1 : definitions_.find(reader, value), value, depth + 1);
}

bool Uniform::is_uniform(int reader, int writer, Value value, int depth) const {
  constexpr int enough = 24;
  if (is_constant(value)) return true;
  if (writer < 0 || depth > enough || leaves_loop(function_, writer, reader)) return false;
  const DraftOperation& operation = function_.operations[static_cast<std::size_t>(writer)];
  switch (operation.operation.semantics) {
    case Semantics::special: return std::ranges::find(common, static_cast<SpecialRegister>(operation.operation.detail)) != common.end();
    case Semantics::exchange: return is_uniform_exchange(writer, depth);
    case Semantics::load:
      if (draft_.program.accesses[operation.operation.detail].space == Space::local) return false;
      [[fallthrough]];
    case Semantics::compute:
    case Semantics::select:
    case Semantics::address_space:
      return std::ranges::all_of(operation.sources, [&](Value source) { return is_uniform_source(writer, source, depth); });
    default: return false;
  }
}

void mark_uniform_shuffles(DraftFunction& function, ProgramDraft& draft) {
  const auto shuffles = [&](const DraftOperation& operation) {
    return operation.operation.semantics == Semantics::exchange && is_shuffle(draft.program.exchanges[operation.operation.detail]);
  };
  if (std::ranges::none_of(function.operations, shuffles)) return;
  const Definitions definitions(function);
  const Uniform uniform(function, draft, definitions);
  for (int i = 0; i < static_cast<int>(function.operations.size()); ++i) {
    DraftOperation& operation = function.operations[static_cast<std::size_t>(i)];
    if (!shuffles(operation) || uniform.is_in_parted_arm(i) || !uniform.at(i, operation.sources[0])) continue;
    if (operation.results.size() == 2 && is_read(function, definitions, i, operation.results[1])) continue;
    WarpExchange exchange = draft.program.exchanges[operation.operation.detail];  // copies of a loop's round share it
    exchange.left_out = true;
    operation.operation.detail = static_cast<std::uint32_t>(draft.program.exchanges.size());
    draft.program.exchanges.push_back(exchange);
  }
}

}  // namespace warpmat::inline v0_1::code
