#include <warpmat/assembler/known_values.h>

#include <algorithm>
#include <array>
#include <utility>

#include <warpmat/lower/arithmetic.h>

namespace warpmat::code {

using catalogue::Name;
using catalogue::Semantics;

std::optional<std::uint64_t> KnownValues::number(int reader, Value value) const {
  if (is_constant(value)) return constants_[value].symbol.kind == Symbol::Kind::none ? std::optional(constants_[value].low) : std::nullopt;
  const int writer = definitions_.find_behind_moves(reader, value);
  const bool moved = writer >= 0 && is_of(at(writer), Name::mov) && at(writer).sources.size() == 1 && is_constant(at(writer).sources[0]) &&
                     !at(writer).operation.guarded;
  return moved ? number(writer, at(writer).sources[0]) : std::nullopt;
}

bool KnownValues::may_be_known(int reader, Value value) {
  if (is_constant(value)) return constants_[value].symbol.kind == Symbol::Kind::none;
  const std::vector<int> writers = definitions_.find_all(reader, value);
  return !writers.empty() && std::ranges::all_of(writers, [&](int writer) { return makes_known(writer); });
}

bool KnownValues::makes_known(int writer) {
  constexpr int deepest = 100;  // a chain of values may be as long as the text
  if (depth_ == deepest) return false;
  const auto [found, is_new] = known_.try_emplace(writer, true);
  if (!is_new) return found->second;
  ++depth_;
  const DraftOperation& operation = at(writer);
  const auto is_known = [&](Value source) { return may_be_known(writer, source); };
  bool known = catalogue::computes(operation.operation.semantics) && !operation.sources.empty() &&
               (is_same_whatever(writer) || std::ranges::all_of(operation.sources, is_known));
  if (is_of(operation, Name::selp) && is_known(operation.sources[2]))
    known = is_known(operation.sources[0]) || is_known(operation.sources[1]);
  --depth_;
  return known_[writer] = known;
}

/// x == x and x ^ x of integers, x & 0, x * 0, x | -1, and a shift by all bits.
bool KnownValues::is_same_whatever(int i) const {
  const DraftOperation& operation = at(i);
  if (operation.match == nullptr || operation.match->types.empty() || operation.match->types.back()->is_floating()) return false;
  constexpr std::array of_equals{Name::set, Name::setp, Name::xor_};
  constexpr std::array zeroed{Name::and_, Name::mul};
  constexpr std::array shifts{Name::shl, Name::shr};
  const auto origin = [&](std::size_t source) {
    const Value value = operation.sources[source];
    const int writer = is_constant(value) ? -1 : definitions_.find_behind_moves(i, value);
    return writer >= 0 ? std::pair(writer, 0) : std::pair(-1, value);
  };
  if (is_one_of(operation, of_equals)) return origin(0) == origin(1);
  const auto is = [&](Value source, std::uint64_t wanted) { return number(i, source).value_or(~wanted) == wanted; };
  const auto has = [&](std::uint64_t wanted) {
    return std::ranges::any_of(operation.sources, [&](Value source) { return is(source, wanted); });
  };
  const int bits = operation.match->types.back()->bits;
  if (is_one_of(operation, zeroed)) return has(0);
  if (is_of(operation, Name::or_)) return has(bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1);
  return is_one_of(operation, shifts) && number(i, operation.sources[1]).value_or(0) >= static_cast<std::uint64_t>(bits);
}

}  // namespace warpmat::code
