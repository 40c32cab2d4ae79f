#include <warpmat/assembler/contraction_rule.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace warpmat::code {

using catalogue::Semantics;

namespace {

class ContractionRule {
 public:
  ContractionRule(const Sums& sums, const ProgramDraft& draft) : sums_(sums), draft_(draft) {}

  FusedSums run() {
    for (int i = 0; i < sums_.size(); ++i) find_product_by_immediate(i);
    for (const bool single : {true, false})
      for (const std::vector<int>& region : sums_.uses().regions()) fuse(region, single);
    return std::move(fused_);
  }

 private:
  using Kind = Sums::Kind;
  using Use = Sums::Use;

  /// Whether a sum may take the product `mul` in. `above` is the neg behind which its uses are looked at, or the product itself.
  bool may_fuse(int mul, int above, bool flushed) const {
    const std::vector<Use> all = sums_.users(above);
    return std::ranges::all_of(all, [&](const Use& use) {
      if (use.operation < 0 || use.operand < 0 || sums_.kind(use.operation) == nullptr) return false;
      const Arithmetic& user = *sums_.kind(use.operation);
      if (sums_.is(use.operation, Kind::abs) && sums_.is_square(mul)) return may_fuse(mul, use.operation, flushed);
      if (sums_.is(use.operation, Kind::neg) && user.is_sign() && user.type.number == sums_.kind(mul)->type.number &&
          (!user.type.flushes || (sums_.kind(mul)->type.flushes && !flushed)))
        return (user.type.flushes && all.size() == 1) || may_fuse(mul, use.operation, flushed || user.type.flushes);
      return user.adds() && user.type == sums_.kind(mul)->type && may_be_used_by(mul, use);
    });
  }

  /// A product that is added to itself stays, and so does one that is the addend of another's fma.
  bool may_be_used_by(int mul, const Use& use) const {
    const Root left = sums_.operand(use.operation, 0, sums_.kind(mul)->type),
               right = sums_.operand(use.operation, 1, sums_.kind(mul)->type);
    if (left == right || (sums_.is_double(use.operation) && (sums_.is_single(left) || sums_.is_single(right)))) return false;
    const auto fused = fused_.find(use.operation);
    return fused == fused_.end() || fused->second.mul == mul;
  }

  /// A product that a sum may take in, and how many uses it has.
  struct Candidate {
    FusedProduct replacement;
    std::size_t uses;
  };

  /// What sum `i` may take in as its operand `source`.
  std::optional<Candidate> candidate(int i, std::size_t source) const {
    if (const auto found = elsewhere_.find({i, source}); found != elsewhere_.end()) {
      const std::vector<int>& readers = readers_.at(found->second.mul);
      const bool free = std::ranges::all_of(readers, [&](int reader) {
        const auto fused = fused_.find(reader);
        return fused == fused_.end() || fused->second.mul == found->second.mul;
      });
      return free ? std::optional(Candidate{found->second, readers.size()}) : std::nullopt;
    }
    const Root root = sums_.operand(i, source, sums_.kind(i)->type);
    if (!sums_.is_product(root.operation) || sums_.kind(root.operation)->type != sums_.kind(i)->type) return std::nullopt;
    if (!may_fuse(root.operation, root.operation, false)) return std::nullopt;
    return Candidate{{root.operation, source, root.negated}, sums_.count(root.operation)};
  }

  /// Fuses the sums of a region with products that have one use, or with the others, each with that of fewer uses and else the first
  /// operand.
  void fuse(const std::vector<int>& region, bool single) {
    for (const int i : region) {
      if (!sums_.is_sum(i) || fused_.contains(i) || (single && sums_.is_double(i))) continue;
      std::optional<Candidate> best;
      for (std::size_t source = 0; source < 2; ++source) {
        const std::optional<Candidate> found = candidate(i, source);
        if (found && (found->uses == 1) == single && (!best || found->uses < best->uses)) best = found;
      }
      if (best) fused_[i] = best->replacement;
    }
  }

  // ---- Products by what is in the instruction ---------------------------------------------------------------------------------------

  /// A number, a kernel's parameter, a variable in .const: what a machine instruction has as an operand beside registers.
  bool is_immediate(int place, Value value) const {
    if (is_constant(value)) return true;
    const int writer = sums_.definitions().find(place, value);
    if (writer < 0) return false;
    if (sums_.is(writer, Kind::mov)) return is_immediate(writer, sums_.at(writer).sources[0]);
    if (sums_.at(writer).operation.semantics != Semantics::load || !is_constant(sums_.at(writer).sources[0])) return false;
    const Space space = draft_.program.access(sums_.at(writer).operation).space;
    return space == Space::param || space == Space::constant;
  }

  struct Reader {
    int sum;
    FusedProduct replacement;
  };

  /// Adds the sums that read what `writer` writes, in whatever region. False where something else reads it, or perhaps does.
  bool find_readers(int mul, int writer, bool negated, std::vector<Reader>& readers) const {
    const Value value = sums_.at(writer).results[0];
    for (const int i : sums_.readers(value)) {
      if (sums_.uses().region(i) < 0) continue;
      const int definition = sums_.definitions().find(i, value);
      if (definition >= 0 && definition != writer) continue;
      if (definition < 0 || (sums_.at(i).operation.guarded && writes(sums_.at(i), value))) return false;
      const bool sign = sums_.is(i, Kind::neg) && sums_.kind(i)->is_sign() && !sums_.kind(i)->type.flushes &&
                        sums_.kind(i)->type.number == sums_.kind(mul)->type.number;
      if (sign || sums_.is(i, Kind::mov)) {
        if (!find_readers(mul, i, negated != sign, readers)) return false;
        continue;
      }
      const bool both = sums_.at(i).sources.size() == 2 && sums_.at(i).sources[0] == sums_.at(i).sources[1];
      if (!sums_.is_sum(i) || both || sums_.kind(i)->type != sums_.kind(mul)->type) return false;
      readers.push_back({i, {mul, sums_.at(i).sources[0] == value ? std::size_t{0} : std::size_t{1}, negated}});
    }
    return true;
  }

  /// ptxas computes such a product where it is needed: in which regions its sums are does not count.
  void find_product_by_immediate(int mul) {
    if (!sums_.is_product(mul) || sums_.uses().region(mul) < 0) return;
    if (std::ranges::none_of(sums_.at(mul).sources, [&](Value factor) { return is_immediate(mul, factor); })) return;
    if (std::ranges::none_of(sums_.users(mul), [](const Use& use) { return use.operation < 0; })) return;  // all are in its region
    std::vector<Reader> readers;
    if (!find_readers(mul, mul, false, readers)) return;
    for (const Reader& reader : readers) {
      elsewhere_[{reader.sum, reader.replacement.operand}] = reader.replacement;
      readers_[mul].push_back(reader.sum);
    }
  }

  const Sums& sums_;
  const ProgramDraft& draft_;
  FusedSums fused_;
  /// Products by what is in the instruction whose sums are in several regions: by sum and operand; and the sums of each.
  std::map<std::pair<int, std::size_t>, FusedProduct> elsewhere_;
  std::map<int, std::vector<int>> readers_;
};

bool is_read_by_sum(const Sums& sums, Value value) {
  return std::ranges::any_of(sums.readers(value), [&](int i) {
    return sums.is_sum(i) && std::ranges::find(sums.at(i).sources, value) != sums.at(i).sources.end();
  });
}

/// Whether a statement between a product and one of its uses has a guard.
bool has_guard_between(const Sums& sums, int product, const std::vector<Sums::Use>& all) {
  int last = product;
  for (const Sums::Use& use : all) last = std::max(last, use.operation);
  for (int i = product + 1; i < last; ++i)
    if (sums.at(i).operation.guarded) return true;
  return false;
}

}  // namespace

FusedSums fused_by_rule(const Sums& sums, const ProgramDraft& draft) {
  return ContractionRule(sums, draft).run();
}

/// What ptxas does was compared in functions without branches. Beside branches and guards it moves a sum in about a thousand kernels, and
/// unrolls loops; of equal products it takes one for the other.
void note_doubted_sums(const Sums& sums, ProgramDraft& draft) {
  const bool branches = sums.uses().regions().size() > 1;
  for (int i = 0; i < sums.size(); ++i) {
    if (!sums.is_product(i) || sums.uses().region(i) < 0) continue;
    const std::vector<Sums::Use> all = sums.users(i);
    const auto sum = [&](const Sums::Use& use) {  // of a value that leaves its region: any that reads the register
      return use.operation < 0
                 ? is_read_by_sum(sums, sums.at(i).results[0])
                 : sums.kind(use.operation) != nullptr && (sums.is_sum(use.operation) || sums.is(use.operation, Sums::Kind::neg));
    };
    const auto doubled = [&](const Sums::Use& use) {
      return use.operation >= 0 && sums.is_sum(use.operation) && sums.is_double(use.operation);
    };
    if (std::ranges::any_of(all, sum) && (branches || has_guard_between(sums, i, all) || std::ranges::any_of(all, doubled)))
      draft.program.doubted.push_back({sums.at(i).operation.statement, Doubt::Why::sum});
  }
}

}  // namespace warpmat::code
