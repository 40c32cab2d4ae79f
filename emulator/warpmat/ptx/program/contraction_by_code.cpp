#include <warpmat/ptx/program/contraction_by_code.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

namespace warpmat::code {

namespace {

class ContractionByCode {
 public:
  ContractionByCode(const Sums& sums, ProgramDraft& draft, const std::vector<SumInCode>& code, const std::vector<Value>& copies,
                    FusedSums fused)
      : sums_(sums), draft_(draft), copies_of_sums_(copies), fused_(std::move(fused)) {
    for (const SumInCode& sum : code) code_.try_emplace({sum.line, sum.column}, &sum);  // the first of a place
  }

  FusedSums run() {
    for (int i = 0; i < sums_.size(); ++i) {
      if (!sums_.is_sum(i) || sums_.uses().region(i) < 0) continue;
      const std::uint32_t statement = sums_.at(i).operation.statement;
      const SumInCode* const said = said_of(i);
      const auto rule = fused_.find(i);
      if (said == nullptr || (said->is_twice() && !has_copy(statement))) {
        if (may_take_product(i)) draft_.program.contraction_open.push_back(statement);
        continue;
      }
      SumInCode sum = *said;
      if (is_copy(sums_.at(i).results[0]))
        sum = {.fused = true, .addend_line = said->other_addend_line, .addend_column = said->other_addend_column};
      if (is_unsure(i, *said) || has_unknown_addend(i, sum)) draft_.program.contraction_inferred.push_back(statement);
      const bool same = sum.fused == (rule != fused_.end()) && (!sum.fused || !is_addend(rule->second.mul, i, sum));
      if (same) continue;
      const std::optional<FusedProduct> fused = sum.fused ? fuse_as(i, sum) : std::nullopt;
      if (sum.fused && !fused) {
        draft_.program.contraction_open.push_back(statement);
        continue;
      }
      draft_.program.contraction_differs.push_back(statement);
      fused_.erase(i);
      if (fused) fused_[i] = *fused;
    }
    return std::move(fused_);
  }

 private:
  using Kind = Sums::Kind;

  Location location(int i) const { return draft_.program.statements[sums_.at(i).operation.statement]->location; }

  /// What machine code says of sum `i`, or of an equal one, with which ptxas has merged it; else null.
  const SumInCode* said_of(int i) const {
    if (const SumInCode* own = said_at(i); own != nullptr) return own;
    for (int other = 0; other < sums_.size(); ++other)
      if (other != i && sums_.is_sum(other) && sums_.is_equal(i, other))
        if (const SumInCode* equal = said_at(other); equal != nullptr && !equal->is_twice()) return equal;
    return nullptr;
  }
  const SumInCode* said_at(int i) const {
    const Location place = location(i);
    const auto said = code_.find({place.line, place.column});
    return said == code_.end() ? nullptr : said->second;
  }
  /// Whether the sum has a copy for some of its readers.
  bool has_copy(std::uint32_t statement) const {
    return std::ranges::any_of(sums_.function().operations, [&](const DraftOperation& operation) {
      return operation.operation.statement == statement && operation.results.size() == 1 && is_copy(operation.results[0]);
    });
  }
  bool is_copy(Value value) const { return std::ranges::find(copies_of_sums_, value) != copies_of_sums_.end(); }

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
  bool is_named(int mul, const SumInCode& said) const {
    const Location place = location(mul);
    return place.line == said.addend_line && place.column == said.addend_column;
  }

  /// Whether product `mul` of sum `i` is the addend: machine code names it, or none of the sum's and one that is equal to it, with which
  /// ptxas has merged it.
  bool is_addend(int mul, int i, const SumInCode& said) const {
    if (said.addend_line == 0 || is_named(mul, said)) return said.addend_line != 0;
    for (std::size_t source = 0; source < 2; ++source)
      if (const Root root = sums_.operand(i, source, sums_.kind(i)->type, true); root.operation >= 0 && is_named(root.operation, said))
        return false;
    for (int other = 0; other < sums_.size(); ++other)
      if (sums_.is_product(other) && is_named(other, said) && sums_.is_equal(other, mul)) return true;
    return false;
  }

  /// Whether machine code may mean another sum than `i`, or another product.
  bool is_unsure(int i, const SumInCode& said) const {
    return said.inferred || &said != said_at(i) || has_contrary(i, said) || is_half_apart(i, said);
  }

  /// Whether an equal sum is computed otherwise: one may stand for the other.
  bool has_contrary(int i, const SumInCode& said) const {
    for (int other = 0; other < sums_.size(); ++other) {
      if (other == i || !sums_.is_sum(other) || !sums_.is_equal(i, other)) continue;
      const SumInCode* const equal = said_at(other);
      if (equal != nullptr && equal->fused != said.fused) return true;
    }
    return false;
  }

  /// Whether sum `i` is fused with one of two different products, and machine code does not tell with which. Of the difference of two equal
  /// ones, both of which it may name, the sign tells.
  bool has_unknown_addend(int i, const SumInCode& said) const {
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
  bool is_half_apart(int i, const SumInCode& said) const {
    const DataType& type = *sums_.kind(i)->type.number;
    if (type.bits != 16) return false;
    const std::array<int, 2> own = products_of(i);
    for (int other = 0; other < sums_.size(); ++other) {
      if (other == i || !sums_.is_sum(other) || sums_.kind(other)->type != sums_.kind(i)->type) continue;
      const SumInCode* const its = said_at(other);
      if (its == nullptr || its->fused == said.fused) continue;
      for (const int product : products_of(other))
        if (product >= 0 && std::ranges::find(own, product) != own.end()) return true;
    }
    return false;
  }

  /// Sum `i` fused with the first of its products that is not the addend, of its own region if there is one.
  std::optional<FusedProduct> fuse_as(int i, const SumInCode& said) const {
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
  std::map<std::pair<int, int>, const SumInCode*> code_;  ///< by line and column
  const std::vector<Value>& copies_of_sums_;
  FusedSums fused_;
  mutable std::map<int, std::array<int, 2>> products_;  ///< products_of() of the sums that were asked about
};

}  // namespace

FusedSums fused_by_code(const Sums& sums, ProgramDraft& draft, const std::vector<SumInCode>& code, const std::vector<Value>& copies,
                        FusedSums fused) {
  return ContractionByCode(sums, draft, code, copies, std::move(fused)).run();
}

}  // namespace warpmat::code
