#include <warpmat/assembler/contraction_by_code.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include <warpmat/assembler/places.h>

namespace warpmat::code {

namespace {

using Sum = AssemblerDecisions::Sum;

class ContractionByCode {
 public:
  ContractionByCode(const Sums& sums, ProgramDraft& draft, const AssemblerDecisions& decisions, FusedSums fused)
      : sums_(sums), draft_(draft), decisions_(&decisions), fused_(std::move(fused)) {}

  FusedSums run() {
    for (int i = 0; i < sums_.size(); ++i) {
      if (!sums_.is_sum(i) || sums_.uses().region(i) < 0) continue;
      const Sum* const said = said_of(i);
      if (said == nullptr) {
        if (may_take_product(i)) note(i, Doubt::Why::sum_open);
        continue;
      }
      const auto rule = fused_.find(i);
      if (is_unsure(i, *said) || has_unknown_addend(i, *said)) note(i, Doubt::Why::sum_inferred);
      if (said->fused == (rule != fused_.end()) && (!said->fused || !is_addend(rule->second.mul, i, *said))) continue;
      const std::optional<FusedProduct> fused = said->fused ? fuse_as(i, *said) : std::nullopt;
      if (said->fused && !fused) {
        note(i, Doubt::Why::sum_open);
        continue;
      }
      draft_.program.differs.push_back(sums_.at(i).operation.statement);
      fused_.erase(i);
      if (fused) fused_[i] = *fused;
    }
    return std::move(fused_);
  }

 private:
  using Kind = Sums::Kind;

  Location location(int i) const { return draft_.program.statements[sums_.at(i).operation.statement]->location; }

  void note(int i, Doubt::Why why) { draft_.program.doubted.push_back({sums_.at(i).operation.statement, why}); }

  /// What machine code says of sum `i`, or of an equal one, with which ptxas has merged it; else null.
  const Sum* said_of(int i) const {
    if (const Sum* own = said_at(i); own != nullptr) return own;
    for (int other = 0; other < sums_.size(); ++other)
      if (other != i && sums_.is_sum(other) && sums_.is_equal(i, other))
        if (const Sum* equal = said_at(other); equal != nullptr) return equal;
    return nullptr;
  }
  const Sum* said_at(int i) const { return decisions_.find(draft_.program, sums_.at(i).operation.statement); }

  /// Whether a product of the sum's type may come to one of its operands, on whatever way.
  bool may_take_product(int i) const {
    std::vector<std::pair<int, Value>> open{{i, sums_.at(i).sources[0]}, {i, sums_.at(i).sources[1]}};
    std::vector<bool> seen(static_cast<std::size_t>(sums_.size()));
    while (!open.empty()) {
      const auto [reader, value] = open.back();
      open.pop_back();
      for (const int writer : sums_.definitions().find_all(reader, value)) {
        if (seen[static_cast<std::size_t>(writer)]) continue;
        seen[static_cast<std::size_t>(writer)] = true;
        if (sums_.is_product(writer) && sums_.kind(writer)->type == sums_.kind(i)->type) return true;
        if (sums_.is(writer, Kind::neg) || sums_.is(writer, Kind::abs) || sums_.is(writer, Kind::mov))
          open.emplace_back(writer, sums_.at(writer).sources[0]);
      }
    }
    return false;
  }

  /// Whether machine code names the product `mul` as the addend.
  bool is_named(int mul, const Sum& said) const {
    const Location place = location(mul);
    return place == said.addend;
  }

  /// Whether product `mul` of sum `i` is the addend: machine code names it, or none of the sum's and one that is equal to it, with which
  /// ptxas has merged it.
  bool is_addend(int mul, int i, const Sum& said) const {
    if (said.addend.line == 0 || is_named(mul, said)) return said.addend.line != 0;
    for (std::size_t source = 0; source < 2; ++source)
      if (const Root root = sums_.operand(i, source, sums_.kind(i)->type, true); root.operation >= 0 && is_named(root.operation, said))
        return false;
    for (int other = 0; other < sums_.size(); ++other)
      if (sums_.is_product(other) && is_named(other, said) && sums_.is_equal(other, mul)) return true;
    return false;
  }

  /// Whether machine code may mean another sum than `i`, or another product.
  bool is_unsure(int i, const Sum& said) const {
    return said.inferred || &said != said_at(i) || has_contrary(i, said) || is_half_apart(i, said);
  }

  /// Whether an equal sum is computed otherwise: one may stand for the other.
  bool has_contrary(int i, const Sum& said) const {
    for (int other = 0; other < sums_.size(); ++other) {
      if (other == i || !sums_.is_sum(other) || !sums_.is_equal(i, other)) continue;
      const Sum* const equal = said_at(other);
      if (equal != nullptr && equal->fused != said.fused) return true;
    }
    return false;
  }

  /// Whether sum `i` is fused with one of two different products, and machine code does not tell with which. Of the difference of two equal
  /// ones, both of which it may name, the sign tells.
  bool has_unknown_addend(int i, const Sum& said) const {
    if (!said.fused || sums_.is_double(i)) return false;
    const Root left = sums_.operand(i, 0, sums_.kind(i)->type, true), right = sums_.operand(i, 1, sums_.kind(i)->type, true);
    const auto is_own = [&](const Root& root) {
      return sums_.is_product(root.operation) && sums_.kind(root.operation)->type == sums_.kind(i)->type;
    };
    if (!is_own(left) || !is_own(right) || left == right) return false;
    if (sums_.kind(i)->kind == Kind::sub && sums_.is_equal(left.operation, right.operation)) return true;
    return !is_addend(left.operation, i, said) && !is_addend(right.operation, i, said);
  }

  /// The products that are the operands of a sum, or -1.
  const std::array<int, 2>& products_of(int sum) const {
    const auto [found, is_new] = products_.try_emplace(sum, std::array{-1, -1});
    for (std::size_t source = 0; is_new && source < 2; ++source)
      if (const Root root = sums_.operand(sum, source, sums_.kind(sum)->type, true); sums_.is_product(root.operation))
        found->second[source] = root.operation;
    return found->second;
  }

  /// Whether a sum of halves is fused, and another of the same product rounded, or conversely: an instruction of pairs may have the line of
  /// either.
  bool is_half_apart(int i, const Sum& said) const {
    const DataType& type = *sums_.kind(i)->type.number;
    if (type.bits != 16) return false;
    const std::array<int, 2> own = products_of(i);
    for (int other = 0; other < sums_.size(); ++other) {
      if (other == i || !sums_.is_sum(other) || sums_.kind(other)->type != sums_.kind(i)->type) continue;
      const Sum* const its = said_at(other);
      if (its == nullptr || its->fused == said.fused) continue;
      for (const int product : products_of(other))
        if (product >= 0 && std::ranges::find(own, product) != own.end()) return true;
    }
    return false;
  }

  /// Sum `i` fused with the first of its products that is not the addend, of its own region if there is one.
  std::optional<FusedProduct> fuse_as(int i, const Sum& said) const {
    for (const bool anywhere : {false, true})
      for (std::size_t source = 0; source < 2; ++source) {
        const Root root = sums_.operand(i, source, sums_.kind(i)->type, anywhere);
        if (!sums_.is_product(root.operation) || sums_.kind(root.operation)->type != sums_.kind(i)->type ||
            is_addend(root.operation, i, said))
          continue;
        return FusedProduct{root.operation, source, root.negated};
      }
    return std::nullopt;
  }

  const Sums& sums_;
  ProgramDraft& draft_;
  ByPlace<Sum> decisions_;
  FusedSums fused_;
  mutable std::map<int, std::array<int, 2>> products_;  ///< products_of() of the sums that were asked about
};

}  // namespace

FusedSums fused_by_code(const Sums& sums, ProgramDraft& draft, const AssemblerDecisions& decisions, FusedSums fused) {
  return ContractionByCode(sums, draft, decisions, std::move(fused)).run();
}

}  // namespace warpmat::code
