#include <array>

#include <fmt/core.h>

#include <warpmat/lower/makers.h>
#include <warpmat/lower/operands.h>
#include <warpmat/ptx/text/number.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Name;
using catalogue::Qualifier;
using catalogue::Semantics;

/// bar.sync a{, b}; bar.arrive a, b; bar.red.popc.u32 d, a{, b}, {!}c; bar.red.and.pred p, a{, b}, {!}c.
void lower::barrier(Context& in, const Match& match) {
  const auto& u32 = *find_ptx_type("u32");
  const auto& predicate = *find_ptx_type("pred");
  Barrier barrier;
  barrier.aligned = match.is(Name::bar) || match.has(".aligned");
  std::size_t next = 0, last = in.operands().size();
  DraftOperation operation{.operation = {.semantics = Semantics::barrier}};
  if (match.has(".arrive")) barrier.action = Barrier::Action::arrive;
  const bool reduces = match.has(".red");
  if (reduces) {
    barrier.action = match.has(".popc")  ? Barrier::Action::reduce_popc
                     : match.has(".and") ? Barrier::Action::reduce_and
                                         : Barrier::Action::reduce_or;
    operation.results = {result(in, in.operand(next++), barrier.action == Barrier::Action::reduce_popc ? u32 : predicate)};
    if (last < 3) in.fail(fmt::format("{} needs more operands", in.opcode()));
    --last;
  }
  constexpr std::uint64_t barriers = 16;
  const auto number_of = [](const syntax::Operand& o) {
    return o.kind == syntax::Operand::Kind::number ? o.value.value_or(parse_integer(o.text).value_or(0)) : 0;
  };
  if (const syntax::Operand& number = in.operand(next); number_of(number) >= barriers || (number_of(number) != 0 && number.negative))
    in.fail(number, "a block has the barriers 0 to 15");
  operation.sources = {source(in, in.operand(next++), u32)};
  barrier.has_count = next < last;
  if (barrier.has_count && in.operand(next).kind == syntax::Operand::Kind::number) {
    if (number_of(in.operand(next)) % warp_size != 0) in.fail(in.operand(next), "the number of threads is a multiple of 32");
    if (barrier.action == Barrier::Action::arrive && number_of(in.operand(next)) == 0)
      in.fail(in.operand(next), "arrive needs a number of threads above 0");
  }
  if (barrier.has_count) operation.sources.push_back(source(in, in.operand(next++), u32));
  if (next < last) in.fail(in.operand(next), fmt::format("{} takes fewer operands", in.opcode()));
  if (reduces) operation.sources.push_back(source(in, in.operand(last), predicate));
  if (barrier.action == Barrier::Action::arrive && !barrier.has_count) in.fail(fmt::format("{} needs the number of threads", in.opcode()));
  in.add(std::move(operation), barrier);
}

/// shfl, vote, match and redux.
void lower::exchange(Context& in, const Match& match) {
  using enum WarpOperation;
  struct Row {
    Name name;
    Qualifier qualifier;
    const DataType* type;  // nullptr: any
    WarpOperation operation;
  };
  static const DataType *const u32 = find_ptx_type("u32"), *const s32 = find_ptx_type("s32"), *const f32 = find_ptx_type("f32");
  static const std::array rows{
      Row{Name::shfl, ".up", nullptr, shuffle_up},
      Row{Name::shfl, ".down", nullptr, shuffle_down},
      Row{Name::shfl, ".bfly", nullptr, shuffle_butterfly},
      Row{Name::shfl, ".idx", nullptr, shuffle_index},
      Row{Name::vote, ".all", nullptr, vote_all},
      Row{Name::vote, ".any", nullptr, vote_any},
      Row{Name::vote, ".uni", nullptr, vote_uniform},
      Row{Name::vote, ".ballot", nullptr, vote_ballot},
      Row{Name::match, ".any", nullptr, match_any},
      Row{Name::match, ".all", nullptr, match_all},
      Row{Name::redux, ".add", nullptr, reduce_add},
      Row{Name::redux, ".min", u32, reduce_min},
      Row{Name::redux, ".max", u32, reduce_max},
      Row{Name::redux, ".min", s32, reduce_min_signed},
      Row{Name::redux, ".max", s32, reduce_max_signed},
      Row{Name::redux, ".and", nullptr, reduce_and},
      Row{Name::redux, ".or", nullptr, reduce_or},
      Row{Name::redux, ".xor", nullptr, reduce_xor},
      Row{Name::redux, ".min", f32, reduce_min_float},
      Row{Name::redux, ".max", f32, reduce_max_float},
  };
  WarpExchange exchange;
  bool found = false;
  for (const Row& row : rows) {
    if (row.name != match.name() || !match.has(row.qualifier) || (row.type != nullptr && match.types.back() != row.type)) continue;
    exchange.operation = row.operation;
    found = true;
  }
  if (!found) in.fail(fmt::format("'{}' is not executed", in.opcode()));
  exchange.has_mask = match.has(".sync");
  exchange.absolute = match.has(".abs");
  exchange.nan = match.has(".NaN");
  exchange.wide = !match.types.empty() && match.types.back()->bits == 64;
  DraftOperation operation{.operation = {.semantics = Semantics::exchange}};
  read_operands(in, match, operation);
  exchange.second_result = operation.results.size() == 2;
  in.add(std::move(operation), exchange);
}

}  // namespace warpmat::code
