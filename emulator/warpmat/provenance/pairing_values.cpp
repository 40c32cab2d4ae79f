#include <warpmat/provenance/pairing.h>

#include <algorithm>

#include <fmt/core.h>

#include <warpmat/machine/internals.h>
#include <warpmat/machine/warp_state.h>

// What scalar operations make of sums: their sum, and values by which they are scaled.

namespace warpmat::provenance {

using machine::WarpState;

/// The number of the product of whose result a value is computed, and the row of that; -1: none of its rows.
std::pair<std::size_t, int> Pairing::row_of(const Origin& origin) const {
  if (origin.kind() != Origin::Kind::sum) return {origin.gemm(), origin.line()};
  const Sum& sum = sums_[origin.product()];
  return {static_cast<std::size_t>(sum.gemm - launch_.gemms.data()), sum.element(origin.row(), origin.column()).first};
}

/// Two accumulators of one element of C are the sum of their products; of others a row may be left. Beside a sum of a later product, one of
/// an earlier is a factor, as in softmax.
Origin Pairing::combines(const Origin& a, const Origin& b, const Computation& how) {
  const auto one = row_of(a), other = row_of(b);
  if (one.first != other.first) {
    const bool a_is_later = one.first > other.first;
    check_factor(a_is_later ? a : b, a_is_later ? b : a, how);
    return a_is_later ? a : b;
  }
  const bool sum_a = a.kind() == Origin::Kind::sum, sum_b = b.kind() == Origin::Kind::sum;
  if (sum_a && sum_b && how.adds)
    if (const auto sum = added(a, b, how)) return *sum;
  if (one.second < 0 || other.second < 0) return Origin::of_many();
  if (a.kind() == Origin::Kind::mixed || b.kind() == Origin::Kind::mixed) return a.kind() == Origin::Kind::mixed ? a : b;
  const std::uint32_t way = ways().number_of({.load = how.event.statement()});
  if (one.second != other.second) return how.adds ? Origin::of_mixed(one.first, one.second, other.second, way) : Origin::of_many();
  return sum_a != sum_b ? (sum_a ? a : b) : Origin::of_line(one.first, one.second, way);
}

/// Whether factors of the sum are computed from elements: those that are split into larger and smaller parts have each k more than once.
bool Pairing::split(const Sum& sum) {
  const auto computed = [](const Origin& origin) { return origin.derived(); };
  return std::ranges::any_of(sum.rows->origins, computed) || std::ranges::any_of(sum.columns->origins, computed);
}

/// The sum of two accumulators, where they are of the same element of products with the same rows and columns.
std::optional<Origin> Pairing::added(const Origin& a, const Origin& b, const Computation& how) {
  const Sum& one = sums_[a.product()];
  const Sum& other = sums_[b.product()];
  if (a.row() != b.row() || a.column() != b.column() || one.rows->numbers != other.rows->numbers ||
      one.columns->numbers != other.columns->numbers || one.swapped != other.swapped)
    return std::nullopt;
  const std::pair<std::uint32_t, std::uint32_t> key = std::minmax({a.product(), b.product()});
  const auto [found, is_new] = added_.try_emplace(key);
  if (is_new) {
    Sum sum = one;
    sum.partial |= other.partial;
    sum.depths.clear();
    sum.step = nullptr;
    if (launch_.element) sum.addends = key;
    std::optional<int> twice;
    const bool alike = one.depths.size() == 1 && other.depths.size() == 1;
    for (std::size_t r = 0; r < (alike ? 1 : one.rows->numbers.size()); ++r)
      for (std::size_t c = 0; c < (alike ? 1 : one.columns->numbers.size()); ++c)
        sum.depths.push_back(sets_.united(one.depth_set(static_cast<int>(r), static_cast<int>(c)),
                                          other.depth_set(static_cast<int>(r), static_cast<int>(c)), twice));
    if (twice && !launch_.element && !split(one) && !split(other)) {
      const auto [m, n] = one.element(a.row(), a.column());
      const machine::WarpState& warp = warp_of(how.event);
      how.event.trap(how.lane, std::nullopt,
                     {fmt::format("two sums for {} are added, and both have k {}", one.gemm->c.element(m, n), *twice),
                      {warp.note("this product formed one", one.statement), warp.note("this product formed the other", other.statement)}},
                     Trap::Kind::mispaired);
    }
    found->second = sums_.add(std::move(sum));
  }
  return Origin::of_sum(found->second, a.row(), a.column());
}

/// Traps where a sum of the later product is scaled by what is computed of other rows of its factor than its own: O[r] by sums of S[r].
void Pairing::check_factor(const Origin& later, const Origin& factor, const Computation& how) {
  if (later.kind() != Origin::Kind::sum || launch_.element) return;
  const auto of_later = row_of(later), of_factor = row_of(factor);
  const int row = of_later.second, line = of_factor.second;
  const Gemm& gemm = launch_.gemms[of_later.first];
  const bool mixed = factor.kind() == Origin::Kind::mixed;
  if (row < 0 || line < 0 || gemm.a.producer != static_cast<int>(of_factor.first) || (!mixed && line == row)) return;
  const auto [m, n] = sums_[later.product()].element(later.row(), later.column());
  const std::string& name = launch_.gemms[of_factor.first].c.name;
  const std::uint32_t at = ways()[factor.way].load;
  std::vector<Trap::Note> notes;
  if (at != Way::no_statement)
    notes.push_back(warp_of(how.event).note(mixed ? "this statement adds them" : "this statement computed it", at));
  how.event.trap(how.lane, std::nullopt,
                 {fmt::format("the sum for {} meets a value of {} of {}, not of row {} alone", gemm.c.element(m, n),
                              mixed ? fmt::format("rows {} and {}", line, factor.other_line()) : fmt::format("row {}", line), name, row),
                  std::move(notes)},
                 Trap::Kind::mispaired);
}

}  // namespace warpmat::provenance
