#include <warpmat/ptx/program/contraction.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include <warpmat/ptx/program/arithmetic.h>
#include <warpmat/ptx/program/definitions.h>
#include <warpmat/ptx/program/rewrite.h>
#include <warpmat/ptx/program/sum_copies.h>
#include <warpmat/ptx/program/value_uses.h>

namespace warpmat::inline v0_1::code {

using catalogue::Semantics;

namespace {

class Contraction {
 public:
  /// `copies`: registers of sums that are fused for some of their readers (sum_copies.h).
  Contraction(DraftFunction& function, ProgramDraft& draft, const std::vector<SumInCode>* code, std::vector<Value> copies)
      : function_(function),
        draft_(draft),
        code_(code),
        copies_of_sums_(std::move(copies)),
        uses_(function, draft),
        definitions_(function) {}

  void run() {
    for (const DraftOperation& operation : function_.operations) arithmetic_.push_back(classify_arithmetic(operation, draft_));
    for (int i = 0; i < static_cast<int>(arithmetic_.size()); ++i) find_product_by_immediate(i);
    for (const bool single : {true, false})
      for (const std::vector<int>& region : uses_.regions()) fuse(region, single);
    if (code_ != nullptr)
      follow_code();
    else
      note_assumed();
    if (!replaced_.empty()) rebuild();
  }

 private:
  using Kind = Arithmetic::Kind;
  using Use = ValueUses::Use;

  /// What a source of a sum is behind mov, neg and the abs of a square.
  struct Root {
    int operation;  ///< that writes it, or -1 where another region does
    Value value;
    bool negated = false;
    bool operator==(const Root& other) const { return operation == other.operation && (operation >= 0 || value == other.value); }
    auto key() const { return std::pair(operation, operation >= 0 ? 0 : value); }
  };

  /// The replacement of an add: an fma of that product's factors.
  struct Replacement {
    int mul;
    std::size_t operand;  ///< of the add, where the product was
    bool negated;
  };

  const DraftOperation& at(int i) const { return function_.operations[static_cast<std::size_t>(i)]; }
  const std::optional<Arithmetic>& kind(int i) const { return arithmetic_[static_cast<std::size_t>(i)]; }
  bool is(int i, Kind wanted) const { return i >= 0 && kind(i) && kind(i)->kind == wanted && !at(i).operation.guarded; }
  bool is_sum(int i) const { return kind(i) && kind(i)->adds(); }
  bool is_product(int i) const { return i >= 0 && kind(i) && kind(i)->multiplies() && !kind(i)->saturates && !at(i).operation.guarded; }

  // ---- What is behind a source ------------------------------------------------------------------------------------------------------

  /// x * x of f32, whose abs ptxas leaves out.
  bool is_square(int i) const { return is(i, Kind::mul) && kind(i)->number() == ".f32" && operand(i, 0, "") == operand(i, 1, ""); }

  /// The source of a sum or product of `type`, behind what ptxas has no instruction for. neg.ftz is such once, before flushing sums.
  /// `anywhere`: also one of another region, if it is the only one that can be read.
  Root operand(int i, std::size_t source, std::string_view type, bool anywhere = false) const {
    const auto writer_of = [&](int reader, std::size_t s) {
      return anywhere ? definitions_.find(reader, at(reader).sources[s]) : uses_.writer(reader, static_cast<int>(s));
    };
    Root root{writer_of(i, source), at(i).sources[source]};
    bool flushed = false;
    while (root.operation >= 0) {
      const int writer = root.operation;
      const bool sign = is(writer, Kind::neg) && kind(writer)->is_sign() && type.ends_with(kind(writer)->number());
      if (sign && kind(writer)->flushes() && (flushed || !type.starts_with(".ftz"))) return root;
      const bool square = is(writer, Kind::abs) && is_square(operand(writer, 0, kind(writer)->type, anywhere).operation);
      if (!sign && !square && !is(writer, Kind::mov)) return root;
      flushed |= sign && kind(writer)->flushes();
      const Root behind = square ? operand(writer, 0, kind(writer)->type, anywhere) : Root{writer_of(writer, 0), at(writer).sources[0]};
      root = {behind.operation, behind.value, square ? false : root.negated != sign};
    }
    return root;
  }

  /// The uses of what `i` writes; those of a mov's result for the mov.
  std::vector<Use> users(int i) const {
    std::vector<Use> all;
    for (const Use& use : uses_.uses(i)) {
      if (use.operand < 0 || !is(use.operation, Kind::mov)) {
        all.push_back(use);
        continue;
      }
      const std::vector<Use> behind = users(use.operation);
      all.insert(all.end(), behind.begin(), behind.end());
    }
    return all;
  }

  /// How many statements use the product, those behind a neg included.
  std::size_t count(int i) const {
    std::size_t all = 0;
    for (const Use& use : users(i))
      all += use.operand >= 0 && is(use.operation, Kind::neg) && !kind(use.operation)->flushes() ? count(use.operation) : 1;
    return all;
  }

  bool is_single(const Root& root) const { return is_product(root.operation) && count(root.operation) == 1; }

  /// A sum of two equal products, both positive: ptxas takes one of them twice.
  bool is_double(int i) const {
    if (!kind(i)->may_be_doubled()) return false;
    const Root left = operand(i, 0, kind(i)->type), right = operand(i, 1, kind(i)->type);
    if (left.negated || right.negated != (kind(i)->kind == Kind::sub)) return false;
    if (!is(left.operation, Kind::mul) || !is(right.operation, Kind::mul) || kind(left.operation)->type != kind(right.operation)->type)
      return left == right;
    const auto factors = [&](int mul) { return std::minmax({operand(mul, 0, "").key(), operand(mul, 1, "").key()}); };
    const auto a = factors(left.operation), b = factors(right.operation);
    return a.first == b.first && a.second == b.second;
  }

  // ---- The rule ---------------------------------------------------------------------------------------------------------------------

  /// Whether a sum may take the product `mul` in. `above` is the neg behind which its uses are looked at, or the product itself.
  bool may_fuse(int mul, int above, bool flushed) const {
    const std::vector<Use> all = users(above);
    return std::ranges::all_of(all, [&](const Use& use) {
      if (use.operation < 0 || use.operand < 0 || !kind(use.operation)) return false;
      const Arithmetic& user = *kind(use.operation);
      if (is(use.operation, Kind::abs) && is_square(mul)) return may_fuse(mul, use.operation, flushed);
      if (is(use.operation, Kind::neg) && user.is_sign() && user.number() == kind(mul)->number() &&
          (!user.flushes() || (kind(mul)->flushes() && !flushed)))
        return (user.flushes() && all.size() == 1) || may_fuse(mul, use.operation, flushed || user.flushes());
      return user.adds() && user.type == kind(mul)->type && may_be_used_by(mul, use);
    });
  }

  /// A product that is added to itself stays, and so does one that is the addend of another's fma.
  bool may_be_used_by(int mul, const Use& use) const {
    const Root left = operand(use.operation, 0, kind(mul)->type), right = operand(use.operation, 1, kind(mul)->type);
    if (left == right || (is_double(use.operation) && (is_single(left) || is_single(right)))) return false;
    const auto fused = replaced_.find(use.operation);
    return fused == replaced_.end() || fused->second.mul == mul;
  }

  /// A product that a sum may take in, and how many uses it has.
  struct Candidate {
    Replacement replacement;
    std::size_t uses;
  };

  /// What sum `i` may take in as its operand `source`.
  std::optional<Candidate> candidate(int i, std::size_t source) const {
    if (const auto found = elsewhere_.find({i, source}); found != elsewhere_.end()) {
      const std::vector<int>& readers = readers_.at(found->second.mul);
      const bool free = std::ranges::all_of(readers, [&](int reader) {
        const auto fused = replaced_.find(reader);
        return fused == replaced_.end() || fused->second.mul == found->second.mul;
      });
      return free ? std::optional(Candidate{found->second, readers.size()}) : std::nullopt;
    }
    const Root root = operand(i, source, kind(i)->type);
    if (!is_product(root.operation) || kind(root.operation)->type != kind(i)->type) return std::nullopt;
    if (!may_fuse(root.operation, root.operation, false)) return std::nullopt;
    return Candidate{{root.operation, source, root.negated}, count(root.operation)};
  }

  /// Fuses the sums of a region with products that have one use, or with the others, each with that of fewer uses and else the first
  /// operand.
  void fuse(const std::vector<int>& region, bool single) {
    for (const int i : region) {
      if (!is_sum(i) || replaced_.contains(i) || (single && is_double(i))) continue;
      std::optional<Candidate> best;
      for (std::size_t source = 0; source < 2; ++source) {
        const std::optional<Candidate> found = candidate(i, source);
        if (found && (found->uses == 1) == single && (!best || found->uses < best->uses)) best = found;
      }
      if (best) replaced_[i] = best->replacement;
    }
  }

  // ---- Products by what is in the instruction ---------------------------------------------------------------------------------------

  /// A number, a kernel's parameter, a variable in .const: what a machine instruction has as an operand beside registers.
  bool is_immediate(int place, Value value) const {
    if (is_constant(value)) return true;
    const int writer = definitions_.find(place, value);
    if (writer < 0) return false;
    if (is(writer, Kind::mov)) return is_immediate(writer, at(writer).sources[0]);
    if (at(writer).operation.semantics != Semantics::load || !is_constant(at(writer).sources[0])) return false;
    const Space space = draft_.program.accesses[at(writer).operation.detail].space;
    return space == Space::param || space == Space::constant;
  }

  struct Reader {
    int sum;
    Replacement replacement;
  };

  /// Adds the sums that read what `writer` writes, in whatever region. False where something else reads it, or perhaps does.
  bool find_readers(int mul, int writer, bool negated, std::vector<Reader>& readers) const {
    const Value value = at(writer).results[0];
    for (int i = 0; i < static_cast<int>(arithmetic_.size()); ++i) {
      bool reads = false;
      for_each_read(at(i), [&](Value read) { reads |= read == value; });
      if (!reads || uses_.region(i) < 0) continue;
      const int definition = definitions_.find(i, value);
      if (definition >= 0 && definition != writer) continue;
      if (definition < 0 || (at(i).operation.guarded && writes(at(i), value))) return false;
      const bool sign = is(i, Kind::neg) && kind(i)->is_sign() && !kind(i)->flushes() && kind(i)->number() == kind(mul)->number();
      if (sign || is(i, Kind::mov)) {
        if (!find_readers(mul, i, negated != sign, readers)) return false;
        continue;
      }
      const bool both = at(i).sources.size() == 2 && at(i).sources[0] == at(i).sources[1];
      if (!is_sum(i) || both || kind(i)->type != kind(mul)->type) return false;
      readers.push_back({i, {mul, at(i).sources[0] == value ? std::size_t{0} : std::size_t{1}, negated}});
    }
    return true;
  }

  /// ptxas computes such a product where it is needed: in which regions its sums are does not count.
  void find_product_by_immediate(int mul) {
    if (!is_product(mul) || uses_.region(mul) < 0) return;
    if (std::ranges::none_of(at(mul).sources, [&](Value factor) { return is_immediate(mul, factor); })) return;
    if (std::ranges::none_of(users(mul), [](const Use& use) { return use.operation < 0; })) return;  // all are in its region
    std::vector<Reader> readers;
    if (!find_readers(mul, mul, false, readers)) return;
    for (const Reader& reader : readers) {
      elsewhere_[{reader.sum, reader.replacement.operand}] = reader.replacement;
      readers_[mul].push_back(reader.sum);
    }
  }

  bool is_read_by_sum(Value value) const {
    for (int i = 0; i < static_cast<int>(arithmetic_.size()); ++i)
      if (is_sum(i) && std::ranges::find(at(i).sources, value) != at(i).sources.end()) return true;
    return false;
  }

  /// Whether a statement between a product and one of its uses has a guard.
  bool has_guard_between(int product, const std::vector<Use>& all) const {
    int last = product;
    for (const Use& use : all) last = std::max(last, use.operation);
    for (int i = product + 1; i < last; ++i)
      if (at(i).operation.guarded) return true;
    return false;
  }

  /// What ptxas does was compared in functions without branches. Beside branches and guards it moves a sum in about a thousand kernels, and
  /// unrolls loops; of equal products it takes one for the other.
  void note_assumed() {
    const bool branches = uses_.regions().size() > 1;
    for (int i = 0; i < static_cast<int>(arithmetic_.size()); ++i) {
      if (!is_product(i) || uses_.region(i) < 0) continue;
      const std::vector<Use> all = users(i);
      const auto sum = [&](const Use& use) {  // of a value that leaves its region: any that reads the register
        return use.operation < 0 ? is_read_by_sum(at(i).results[0])
                                 : kind(use.operation) && (is_sum(use.operation) || is(use.operation, Kind::neg));
      };
      const auto doubled = [&](const Use& use) { return use.operation >= 0 && is_sum(use.operation) && is_double(use.operation); };
      if (std::ranges::any_of(all, sum) && (branches || has_guard_between(i, all) || std::ranges::any_of(all, doubled)))
        draft_.program.contraction_assumed.push_back(at(i).operation.statement);
    }
  }

  // ---- Machine code -----------------------------------------------------------------------------------------------------------------

  /// Takes what machine code says in place of the rule, and notes the sums where they differ, and those about which it does not say enough.
  void follow_code() {
    for (int i = 0; i < static_cast<int>(arithmetic_.size()); ++i) {
      if (!is_sum(i) || uses_.region(i) < 0) continue;
      const std::uint32_t statement = at(i).operation.statement;
      const SumInCode* const said = said_of(i);
      const auto rule = replaced_.find(i);
      if (said == nullptr || (said->is_twice() && !has_copy(statement))) {
        if (may_take_product(i)) draft_.program.contraction_open.push_back(statement);
        continue;
      }
      SumInCode sum = *said;
      if (is_copy(at(i).results[0]))
        sum = {.fused = true, .addend_line = said->other_addend_line, .addend_column = said->other_addend_column};
      if (is_unsure(i, *said) || has_unknown_addend(i, sum)) draft_.program.contraction_inferred.push_back(statement);
      const bool same = sum.fused == (rule != replaced_.end()) && (!sum.fused || !is_addend(rule->second.mul, i, sum));
      if (same) continue;
      const std::optional<Replacement> fused = sum.fused ? fuse_as(i, sum) : std::nullopt;
      if (sum.fused && !fused) {
        draft_.program.contraction_open.push_back(statement);
        continue;
      }
      draft_.program.contraction_differs.push_back(statement);
      replaced_.erase(i);
      if (fused) replaced_[i] = *fused;
    }
  }

  /// What machine code says of sum `i`, or of an equal one, with which ptxas has merged it; else null.
  const SumInCode* said_of(int i) const {
    if (const SumInCode* own = said_at(i); own != nullptr) return own;
    for (int other = 0; other < static_cast<int>(arithmetic_.size()); ++other)
      if (other != i && is_sum(other) && is_equal(i, other))
        if (const SumInCode* equal = said_at(other); equal != nullptr && !equal->is_twice()) return equal;
    return nullptr;
  }
  const SumInCode* said_at(int i) const {
    const Location place = draft_.program.statements[at(i).operation.statement]->location;
    const auto said =
        std::ranges::find_if(*code_, [&](const SumInCode& sum) { return sum.line == place.line && sum.column == place.column; });
    return said == code_->end() ? nullptr : &*said;
  }
  /// Whether two sums or products have the same operands, as whatever wrote these.
  bool is_equal(int i, int other) const {
    if (at(i).opcode != at(other).opcode) return false;
    const auto same = [&](std::size_t source, std::size_t of_other) {
      const Value value = at(i).sources[source];
      return value == at(other).sources[of_other] &&
             (is_constant(value) || definitions_.find_all(i, value) == definitions_.find_all(other, value));
    };
    return (same(0, 0) && same(1, 1)) || ((kind(i)->kind == Kind::add || kind(i)->kind == Kind::mul) && same(0, 1) && same(1, 0));
  }

  /// Whether the sum has a copy for some of its readers.
  bool has_copy(std::uint32_t statement) const {
    return std::ranges::any_of(function_.operations, [&](const DraftOperation& operation) {
      return operation.operation.statement == statement && operation.results.size() == 1 && is_copy(operation.results[0]);
    });
  }
  bool is_copy(Value value) const { return std::ranges::find(copies_of_sums_, value) != copies_of_sums_.end(); }

  /// Whether a product of the sum's type may come to one of its operands, on whatever way.
  bool may_take_product(int i) const {
    std::vector<std::pair<int, Value>> open{{i, at(i).sources[0]}, {i, at(i).sources[1]}};
    std::vector<bool> seen(arithmetic_.size());
    while (!open.empty()) {
      const auto [reader, value] = open.back();
      open.pop_back();
      for (const int writer : definitions_.find_all(reader, value)) {
        if (seen[static_cast<std::size_t>(writer)]) continue;
        seen[static_cast<std::size_t>(writer)] = true;
        if (is_product(writer) && kind(writer)->type == kind(i)->type) return true;
        if (is(writer, Kind::neg) || is(writer, Kind::abs) || is(writer, Kind::mov)) open.emplace_back(writer, at(writer).sources[0]);
      }
    }
    return false;
  }

  /// Whether machine code names the product `mul` as the addend.
  bool is_named(int mul, const SumInCode& said) const {
    const Location place = draft_.program.statements[at(mul).operation.statement]->location;
    return place.line == said.addend_line && place.column == said.addend_column;
  }

  /// Whether product `mul` of sum `i` is the addend: machine code names it, or none of the sum's and one that is equal to it, with which
  /// ptxas has merged it.
  bool is_addend(int mul, int i, const SumInCode& said) const {
    if (said.addend_line == 0 || is_named(mul, said)) return said.addend_line != 0;
    for (std::size_t source = 0; source < 2; ++source)
      if (const Root root = operand(i, source, kind(i)->type, true); root.operation >= 0 && is_named(root.operation, said)) return false;
    for (int other = 0; other < static_cast<int>(arithmetic_.size()); ++other)
      if (is_product(other) && is_named(other, said) && is_equal(other, mul)) return true;
    return false;
  }

  /// Whether machine code may mean another sum than `i`, or another product.
  bool is_unsure(int i, const SumInCode& said) const {
    return said.inferred || &said != said_at(i) || has_contrary(i, said) || is_half_apart(i, said);
  }

  /// Whether an equal sum is computed otherwise: one may stand for the other.
  bool has_contrary(int i, const SumInCode& said) const {
    for (int other = 0; other < static_cast<int>(arithmetic_.size()); ++other) {
      if (other == i || !is_sum(other) || !is_equal(i, other)) continue;
      const SumInCode* const equal = said_at(other);
      if (equal != nullptr && equal->fused != said.fused) return true;
    }
    return false;
  }

  /// Whether sum `i` is fused with one of two different products, and machine code does not tell with which. Of the difference of two equal
  /// ones, both of which it may name, the sign tells.
  bool has_unknown_addend(int i, const SumInCode& said) const {
    if (!said.fused || is_double(i)) return false;
    const Root left = operand(i, 0, kind(i)->type, true), right = operand(i, 1, kind(i)->type, true);
    const auto is_own = [&](const Root& root) { return is_product(root.operation) && kind(root.operation)->type == kind(i)->type; };
    if (!is_own(left) || !is_own(right) || left == right) return false;
    if (kind(i)->kind == Kind::sub && is_equal(left.operation, right.operation)) return true;
    return !is_addend(left.operation, i, said) && !is_addend(right.operation, i, said);
  }

  /// Whether a sum of halves is fused, and another of the same product rounded, or conversely: an instruction of pairs may have the line of
  /// either.
  bool is_half_apart(int i, const SumInCode& said) const {
    if (!kind(i)->number().ends_with("f16")) return false;
    const auto products = [&](int sum) {
      std::array<int, 2> found{-1, -1};
      for (std::size_t source = 0; source < 2; ++source)
        if (const Root root = operand(sum, source, kind(sum)->type, true); is_product(root.operation)) found[source] = root.operation;
      return found;
    };
    const std::array<int, 2> own = products(i);
    for (int other = 0; other < static_cast<int>(arithmetic_.size()); ++other) {
      if (other == i || !is_sum(other) || kind(other)->type != kind(i)->type) continue;
      const SumInCode* const its = said_at(other);
      if (its == nullptr || its->fused == said.fused) continue;
      for (const int product : products(other))
        if (product >= 0 && std::ranges::find(own, product) != own.end()) return true;
    }
    return false;
  }

  /// Sum `i` fused with the first of its products that is not the addend, of its own region if there is one.
  std::optional<Replacement> fuse_as(int i, const SumInCode& said) const {
    for (const bool anywhere : {false, true})
      for (std::size_t source = 0; source < 2; ++source) {
        const Root root = operand(i, source, kind(i)->type, anywhere);
        if (!is_product(root.operation) || kind(root.operation)->type != kind(i)->type || is_addend(root.operation, i, said)) continue;
        return Replacement{root.operation, source, root.negated};
      }
    return std::nullopt;
  }

  // ---- The fma ----------------------------------------------------------------------------------------------------------------------

  /// Whether a factor may be read at the sum as it was at the product: nothing in between writes it, and no other block can.
  bool unchanged(Value value, int from, int to) const {
    for (int i = from; i < to; ++i)
      if (std::ranges::find(at(i).results, value) != at(i).results.end()) return false;
    if (from < to && std::ranges::none_of(function_.labels, [&](int label) { return label > from && label <= to; })) return true;
    return std::ranges::count_if(function_.operations, [&](const DraftOperation& operation) {
             return std::ranges::find(operation.results, value) != operation.results.end();
           }) <= 1;
  }

  Value register_for(Value value) {
    return is_constant(value) ? code::new_register(function_, {draft_.constants[value].register_class, 0})
                              : new_register_like(function_, value);
  }

  Value new_register(RegisterClass register_class) { return code::new_register(function_, {register_class, 32}); }

  /// Multiplies both parts of a quotient by `scale` if |divisor| compares with `limit`, both f32 bits; else by 1.
  void emit_scaled(const std::string& comparison, std::uint32_t limit, std::uint32_t scale, const std::string& ftz,
                   std::vector<Value>& parts, const DraftOperation& like, std::vector<DraftOperation>& out) {
    const auto constant = [&](std::uint32_t bits) { return draft_.constants.add(RegisterClass::word, bits); };
    const Value magnitude = new_register(RegisterClass::word), factor = new_register(RegisterClass::word);
    const Value scales = new_register(RegisterClass::predicate);
    out.push_back(draft_.make("abs.f32", {magnitude}, {parts[1]}, like));
    out.push_back(draft_.make("setp." + comparison + ".f32", {scales}, {magnitude, constant(limit)}, like));
    out.push_back(draft_.make("selp.b32", {factor}, {constant(scale), constant(std::bit_cast<std::uint32_t>(1.0F)), scales}, like));
    for (Value& part : parts) {
      const Value scaled = new_register(RegisterClass::word);
      out.push_back(draft_.make("mul.rn" + ftz + ".f32", {scaled}, {part, factor}, like));
      part = scaled;
    }
  }

  /// The factors of the final mul of div.approx or div.full, as ptxas computes them: dividend and divisor are scaled if the divisor's
  /// reciprocal would be subnormal or infinite.
  void emit_quotient(const Arithmetic& quotient, std::vector<Value>& parts, const DraftOperation& like, std::vector<DraftOperation>& out) {
    constexpr std::uint32_t two_to_126 = 0x7e800000, smallest_normal = 0x00800000;
    const bool flushes = quotient.type.starts_with(".ftz");
    if (quotient.kind == Arithmetic::Kind::div_full)
      emit_scaled("gt", two_to_126, std::bit_cast<std::uint32_t>(0.25F), flushes ? ".ftz" : "", parts, like, out);
    if (!flushes) emit_scaled("lt", smallest_normal, std::bit_cast<std::uint32_t>(0x1p24F), "", parts, like, out);
    const Value reciprocal = new_register(RegisterClass::word);
    out.push_back(draft_.make("rcp.approx.ftz.f32", {reciprocal}, {parts[1]}, like));
    parts[1] = reciprocal;
  }

  /// a*b + c with the signs from neg and sub.
  void emit_fused(int sum, const Replacement& use, std::vector<DraftOperation>& out) {
    const int mul = use.mul;
    const DraftOperation& add = at(sum);
    const Arithmetic& arithmetic = *kind(sum);
    const std::string type(arithmetic.number());
    std::vector<Value> factors;
    for (const Value factor : at(mul).sources) {
      const auto copy = copies_.find({mul, factor});
      factors.push_back(copy == copies_.end() ? factor : copy->second);
    }
    if (kind(mul)->kind != Arithmetic::Kind::mul) emit_quotient(*kind(mul), factors, add, out);
    Value addend = add.sources[1 - use.operand];
    const bool subtracts = arithmetic.kind == Arithmetic::Kind::sub;
    const auto negate = [&](Value& value) {
      const Value negative = register_for(value);
      out.push_back(draft_.make("neg" + type, {negative}, {value}, add));
      value = negative;
    };
    if (use.negated != (subtracts && use.operand == 1)) negate(factors[0]);
    if (subtracts && use.operand == 0) negate(addend);
    const std::string opcode =
        fmt::format("fma.rn{}{}{}", arithmetic.type.starts_with(".ftz") ? ".ftz" : "", arithmetic.saturates ? ".sat" : "", type);
    DraftOperation fused = draft_.make(opcode, add.results, {factors[0], factors[1], addend}, add);
    take_guard(fused, add);
    out.push_back(std::move(fused));
    draft_.program.contracted.push_back(add.operation.statement);
  }

  /// Factors that are overwritten between a product and its add need copies.
  void find_copies() {
    for (const auto& [user, replacement] : replaced_)
      for (const Value factor : at(replacement.mul).sources)
        if (!is_constant(factor) && !unchanged(factor, replacement.mul, user) && !copies_.contains({replacement.mul, factor}))
          copies_[{replacement.mul, factor}] = register_for(factor);
  }

  void rebuild() {
    find_copies();
    Rewrite rewrite(function_);
    for (int i = 0; i < static_cast<int>(arithmetic_.size()); ++i) {
      rewrite.come_to(i);
      for (const Value source : at(i).sources)
        if (const auto copy = copies_.find({i, source}); copy != copies_.end()) {
          const RegisterClass c = function_.registers[static_cast<std::size_t>(source)].register_class;
          const bool half = function_.registers[static_cast<std::size_t>(source)].bits == 16;
          rewrite.out.push_back(draft_.make(c == RegisterClass::wide ? "mov.b64"
                                            : half                   ? "mov.b16"
                                                                     : "mov.b32",
                                            {copy->second}, {source}, at(i)));
        }
      const auto replacement = replaced_.find(i);
      if (replacement == replaced_.end()) {
        rewrite.out.push_back(at(i));
      } else {
        emit_fused(i, replacement->second, rewrite.out);
      }
    }
    rewrite.finish();
    remove_dead_products();
  }

  /// Removes products without readers.
  void remove_dead_products() {
    std::vector<int> uses(function_.registers.size());
    for (const DraftOperation& operation : function_.operations)
      for_each_read(operation, [&](Value value) { ++uses[static_cast<std::size_t>(value)]; });
    Rewrite rewrite(function_);
    for (int i = 0; i < static_cast<int>(function_.operations.size()); ++i) {
      rewrite.come_to(i);
      DraftOperation& operation = function_.operations[static_cast<std::size_t>(i)];
      const auto arithmetic = classify_arithmetic(operation, draft_);
      const bool product = arithmetic && !operation.operation.guarded && !arithmetic->adds() && arithmetic->kind != Arithmetic::Kind::mov;
      if (product && uses[static_cast<std::size_t>(operation.results[0])] == 0) continue;
      rewrite.out.push_back(std::move(operation));
    }
    rewrite.finish();
  }

  DraftFunction& function_;
  ProgramDraft& draft_;
  const std::vector<SumInCode>* code_;  ///< or null: by the rule
  std::vector<Value> copies_of_sums_;
  ValueUses uses_;
  Definitions definitions_;
  std::vector<std::optional<Arithmetic>> arithmetic_;
  std::map<int, Replacement> replaced_;  ///< by add or sub
  /// Products by what is in the instruction whose sums are in several regions: by sum and operand; and the sums of each.
  std::map<std::pair<int, std::size_t>, Replacement> elsewhere_;
  std::map<int, std::vector<int>> readers_;
  std::map<std::pair<int, Value>, Value> copies_;  ///< by product and factor
};

}  // namespace

void contract(DraftFunction& function, ProgramDraft& draft, const std::vector<SumInCode>* code) {
  std::vector<Value> copies = code == nullptr ? std::vector<Value>{} : copy_sums(function, draft, *code);
  Contraction(function, draft, code, std::move(copies)).run();
}

}  // namespace warpmat::inline v0_1::code
