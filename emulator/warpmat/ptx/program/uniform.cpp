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

/// Votes, sums of a warp, and shuffles by which all lanes read one.
bool Uniform::is_uniform_exchange(int place, int depth) const {
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
    if (!shuffles(operation) || !uniform.at(i, operation.sources[0])) continue;
    if (operation.results.size() == 2 && is_read(function, definitions, i, operation.results[1])) continue;
    WarpExchange exchange = draft.program.exchanges[operation.operation.detail];  // copies of a loop's round share it
    exchange.left_out = true;
    operation.operation.detail = static_cast<std::uint32_t>(draft.program.exchanges.size());
    draft.program.exchanges.push_back(exchange);
  }
}

}  // namespace warpmat::inline v0_1::code
