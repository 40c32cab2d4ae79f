#include <warpmat/ptx/program/contraction.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/core.h>

#include <warpmat/ptx/program/control_flow.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Semantics;

namespace {

/// A statement that contraction knows: mul, add, sub or neg without a rounding modifier, and div.approx and div.full of f32, which end with
/// such a mul: of the dividend and the divisor's reciprocal.
struct Arithmetic {
  enum class Kind { mul, div_approx, div_full, add, sub, neg };
  Kind kind;
  std::string type;  ///< ".ftz.f32": what must be equal
  bool saturates;

  bool multiplies() const { return kind == Kind::mul || kind == Kind::div_approx || kind == Kind::div_full; }
};

constexpr std::array kinds{std::pair{"mul", Arithmetic::Kind::mul},           std::pair{"div.approx", Arithmetic::Kind::div_approx},
                           std::pair{"div.full", Arithmetic::Kind::div_full}, std::pair{"add", Arithmetic::Kind::add},
                           std::pair{"sub", Arithmetic::Kind::sub},           std::pair{"neg", Arithmetic::Kind::neg}};
constexpr std::array types{"f32", "f64", "f16", "f16x2", "bf16", "bf16x2"};

bool may_pass_neg(std::string_view type) {
  return type != ".bf16x2" && !type.starts_with(".ftz.f16");
}

class Contraction {
 public:
  Contraction(DraftFunction& function, ProgramDraft& draft)
      : function_(function),
        draft_(draft),
        blocks_(find_blocks(function)),
        liveness_(function, blocks_),
        dead_(function.operations.size()) {}

  void run() {
    for (const DraftOperation& operation : function_.operations) arithmetic_.push_back(classify(operation));
    for (std::size_t b = 0; b < blocks_.size(); ++b) find_dead(static_cast<int>(b));
    for (std::size_t b = 0; b < blocks_.size(); ++b) find_products(static_cast<int>(b));
    fuse_all();
    note_assumed();
    if (!replaced_.empty()) rebuild();
  }

 private:
  /// An add or sub that uses a product, directly or through neg.
  struct Use {
    int user;
    std::size_t operand;  ///< of the user's sources
    bool negated;
  };

  /// What an add becomes: an fma of that product's factors.
  struct Replacement {
    int mul;
    Use use;
  };

  /// A product all of whose uses could be fused.
  struct Product {
    int mul;  ///< the operation
    std::vector<Use> uses;
  };

  std::optional<Arithmetic> classify(const DraftOperation& draft) const {
    if (draft.operation.semantics != Semantics::compute || draft.operation.guarded || draft.results.size() != 1) return std::nullopt;
    const std::string opcode(draft.opcode);
    const auto kind = std::ranges::find_if(kinds, [&](const auto& k) { return opcode.starts_with(std::string(k.first) + '.'); });
    if (kind == kinds.end()) return std::nullopt;
    const Match* match = draft_.find_match(opcode);
    if (match == nullptr || match->pattern->row.kernel.empty()) return std::nullopt;
    Operation own;
    draft_.set_function(*match, own);
    if (own.kernel != draft.operation.kernel || own.detail != draft.operation.detail) return std::nullopt;  // what surrounds the statement
    if (match->types.size() != 1 || std::ranges::find(types, match->types[0]->name) == types.end()) return std::nullopt;
    Arithmetic arithmetic{kind->second, fmt::format("{}.{}", match->has(".ftz") ? ".ftz" : "", match->types[0]->name), match->has(".sat")};
    for (const std::string_view q : match->qualifiers)
      if (q != ".ftz" && q != ".sat" && q != ".approx" && q != ".full" && q.substr(1) != match->types[0]->name)
        return std::nullopt;  // a rounding modifier
    return arithmetic;
  }

  const DraftOperation& at(int i) const { return function_.operations[static_cast<std::size_t>(i)]; }
  const std::optional<Arithmetic>& kind(int i) const { return arithmetic_[static_cast<std::size_t>(i)]; }

  /// Statements of the block whose results nobody needs, directly or through others like them.
  void find_dead(int block) {
    const Block& range = blocks_[static_cast<std::size_t>(block)];
    std::vector<bool> live(function_.registers.size());
    for (std::size_t value = 0; value < live.size(); ++value) live[value] = liveness_.live_out(block, static_cast<Value>(value));
    for (int i = range.last; i-- > range.first;) {
      const DraftOperation& draft = at(i);
      const bool removable = computes(draft.operation.semantics) && !draft.results.empty();
      const bool needed = std::ranges::any_of(draft.results, [&](Value value) { return live[static_cast<std::size_t>(value)]; });
      dead_[static_cast<std::size_t>(i)] = removable && !needed;
      if (dead_[static_cast<std::size_t>(i)]) continue;
      if (!draft.operation.guarded)
        for (const Value value : draft.results) live[static_cast<std::size_t>(value)] = false;
      for_each_read(draft, [&](Value value) { live[static_cast<std::size_t>(value)] = true; });
    }
  }

  /// The operations of the block that read what operation `i` writes, or nothing where others read it too.
  std::optional<std::vector<int>> users_in_block(int block, int i) const {
    const Value value = at(i).results[0];
    std::vector<int> users;
    const int last = blocks_[static_cast<std::size_t>(block)].last;
    for (int j = i + 1; j < last; ++j) {
      bool reads = false;
      for_each_read(at(j), [&](Value read) { reads |= read == value; });
      if (reads && !dead_[static_cast<std::size_t>(j)]) users.push_back(j);
      if (std::ranges::find(at(j).results, value) != at(j).results.end() && !at(j).operation.guarded) return users;
    }
    if (liveness_.live_out(block, value)) return std::nullopt;
    return users;
  }

  /// Adds the adds and subs that use the value of operation `i` to `uses`; false where anything else uses it. A neg may stand between the
  /// product and all of its uses, where it is a sign of the fma's operand: not of .bf16x2 and flushed halves. A product that is added to
  /// itself stays; not so one behind neg.
  bool follow(int block, int i, const std::string& type, bool negated, std::vector<Use>& uses) {
    const auto users = users_in_block(block, i);
    if (!users) return false;
    const Value value = at(i).results[0];
    for (const int user : *users) {
      const auto& arithmetic = kind(user);
      if (!arithmetic || arithmetic->type != type || arithmetic->multiplies()) return false;
      if (arithmetic->kind == Arithmetic::Kind::neg)
        return users->size() == 1 && may_pass_neg(type) && follow(block, user, type, !negated, uses);
      const auto& sources = at(user).sources;
      const bool twice = sources[0] == value && sources[1] == value;
      if (twice && !negated) return false;
      uses.push_back({user, sources[0] == value ? std::size_t{0} : std::size_t{1}, negated});
    }
    return true;
  }

  void find_products(int block) {
    const Block& range = blocks_[static_cast<std::size_t>(block)];
    for (int i = range.first; i < range.last; ++i) {
      if (!kind(i) || !kind(i)->multiplies() || kind(i)->saturates || dead_[static_cast<std::size_t>(i)]) continue;
      Product product{i, {}};
      if (follow(block, i, kind(i)->type, false, product.uses) && !product.uses.empty()) products_.push_back(std::move(product));
    }
  }

  /// A product is fused with all of its uses or none. Of two that meet in an add, that with fewer uses is; of as many, the one that is the
  /// first operand there.
  void fuse_all() {
    std::ranges::sort(products_, {}, [](const Product& product) {
      return std::tuple(product.uses.size(), product.uses.front().user, product.uses.front().operand);
    });
    for (const Product& product : products_) {
      if (std::ranges::any_of(product.uses, [&](const Use& use) { return replaced_.contains(use.user); })) continue;
      for (const Use& use : product.uses) replaced_[use.user] = {product.mul, use};
    }
  }

  /// Whether a sum reads what operation `mul` writes, or a neg, behind which a sum may be.
  bool has_sum(int mul) const {
    for (std::size_t i = 0; i < arithmetic_.size(); ++i)
      if (arithmetic_[i] && !arithmetic_[i]->multiplies() && arithmetic_[i]->type == kind(mul)->type &&
          std::ranges::find(function_.operations[i].sources, at(mul).results[0]) != function_.operations[i].sources.end())
        return true;
    return false;
  }

  /// What ptxas does was compared in functions without branches alone, and there of products that are all fused, or have one use.
  void note_assumed() {
    const bool branches = std::ranges::any_of(blocks_, [&](const Block& block) {
      const Operation& last = at(block.last - 1).operation;
      return block.next.size() > 1 || (last.guarded && (last.semantics == Semantics::exit || last.semantics == Semantics::return_));
    });
    for (int i = 0; i < static_cast<int>(arithmetic_.size()); ++i) {
      if (!kind(i) || !kind(i)->multiplies() || kind(i)->saturates || dead_[static_cast<std::size_t>(i)]) continue;
      if (!has_sum(i)) continue;
      const auto product = std::ranges::find(products_, i, &Product::mul);
      const bool known = product != products_.end() && (product->uses.size() == 1 || is_fused(*product));
      if (!known || branches) draft_.program.contraction_assumed.push_back(at(i).operation.statement);
    }
  }

  bool is_fused(const Product& product) const {
    const auto found = replaced_.find(product.uses.front().user);
    return found != replaced_.end() && found->second.mul == product.mul;
  }

  /// Whether a register keeps its value from operation `from` to operation `to`.
  bool unchanged(Value value, int from, int to) const {
    for (int i = from; i < to; ++i)
      if (std::ranges::find(at(i).results, value) != at(i).results.end()) return false;
    return true;
  }

  Value new_register_like(Value value) {
    const DraftRegister copy = is_constant(value) ? DraftRegister{draft_.constants[value].register_class, 0}
                                                  : function_.registers[static_cast<std::size_t>(value)];
    function_.registers.push_back(copy);
    return static_cast<Value>(function_.registers.size() - 1);
  }

  DraftOperation make(const std::string& opcode, std::vector<Value> results, std::vector<Value> sources, const DraftOperation& like) {
    const Match* match = draft_.find_match(opcode);
    if (match == nullptr)
      throw StatementError{draft_.program.statements[like.operation.statement]->location,
                           fmt::format("contraction would need {}, which is not in the catalogue", opcode)};
    DraftOperation operation;
    draft_.set_function(*match, operation.operation);
    operation.opcode = draft_.matches.find(opcode)->first;
    operation.operation.statement = like.operation.statement;
    operation.results = std::move(results);
    operation.sources = std::move(sources);
    return operation;
  }

  Value new_register(RegisterClass register_class) {
    function_.registers.push_back({register_class, 32});
    return static_cast<Value>(function_.registers.size() - 1);
  }

  /// Multiplies both parts of a quotient by `scale` where |divisor| compares with `limit`, both f32 bits; elsewhere by 1.
  void emit_scaled(const std::string& comparison, std::uint32_t limit, std::uint32_t scale, const std::string& ftz,
                   std::vector<Value>& parts, const DraftOperation& like, std::vector<DraftOperation>& out) {
    const auto constant = [&](std::uint32_t bits) { return draft_.constants.add(RegisterClass::word, bits); };
    const Value magnitude = new_register(RegisterClass::word), factor = new_register(RegisterClass::word);
    const Value scales = new_register(RegisterClass::predicate);
    out.push_back(make("abs.f32", {magnitude}, {parts[1]}, like));
    out.push_back(make("setp." + comparison + ".f32", {scales}, {magnitude, constant(limit)}, like));
    out.push_back(make("selp.b32", {factor}, {constant(scale), constant(std::bit_cast<std::uint32_t>(1.0F)), scales}, like));
    for (Value& part : parts) {
      const Value scaled = new_register(RegisterClass::word);
      out.push_back(make("mul.rn" + ftz + ".f32", {scaled}, {part, factor}, like));
      part = scaled;
    }
  }

  /// The factors of the mul that div.approx or div.full ends with, as ptxas makes them: dividend and divisor are scaled where the
  /// reciprocal of the divisor would leave the normal numbers.
  void emit_quotient(const Arithmetic& quotient, std::vector<Value>& parts, const DraftOperation& like, std::vector<DraftOperation>& out) {
    constexpr std::uint32_t two_to_126 = 0x7e800000, smallest_normal = 0x00800000;
    const bool flushes = quotient.type.starts_with(".ftz");
    if (quotient.kind == Arithmetic::Kind::div_full)
      emit_scaled("gt", two_to_126, std::bit_cast<std::uint32_t>(0.25F), flushes ? ".ftz" : "", parts, like, out);
    if (!flushes) emit_scaled("lt", smallest_normal, std::bit_cast<std::uint32_t>(0x1p24F), "", parts, like, out);
    const Value reciprocal = new_register(RegisterClass::word);
    out.push_back(make("rcp.approx.ftz.f32", {reciprocal}, {parts[1]}, like));
    parts[1] = reciprocal;
  }

  /// a*b + c with the signs that neg and sub ask for.
  void emit_fused(int mul, const Use& use, std::vector<DraftOperation>& out) {
    const DraftOperation& add = at(use.user);
    const Arithmetic& arithmetic = *kind(use.user);
    const std::string type = arithmetic.type.substr(arithmetic.type.rfind('.'));
    std::vector<Value> factors;
    for (const Value factor : at(mul).sources) {
      const auto copy = copies_.find({mul, factor});
      factors.push_back(copy == copies_.end() ? factor : copy->second);
    }
    if (kind(mul)->kind != Arithmetic::Kind::mul) emit_quotient(*kind(mul), factors, add, out);
    Value addend = add.sources[1 - use.operand];
    const bool subtracts = arithmetic.kind == Arithmetic::Kind::sub;
    const auto negate = [&](Value& value) {
      const Value negative = new_register_like(value);
      out.push_back(make("neg" + type, {negative}, {value}, add));
      value = negative;
    };
    if (use.negated != (subtracts && use.operand == 1)) negate(factors[0]);
    if (subtracts && use.operand == 0) negate(addend);
    const std::string opcode =
        fmt::format("fma.rn{}{}{}", arithmetic.type.starts_with(".ftz") ? ".ftz" : "", arithmetic.saturates ? ".sat" : "", type);
    out.push_back(make(opcode, add.results, {factors[0], factors[1], addend}, add));
    draft_.program.contracted.push_back(add.operation.statement);
  }

  /// Factors that are overwritten between a product and its add are kept in copies.
  void find_copies() {
    for (const auto& [user, replacement] : replaced_)
      for (const Value factor : at(replacement.mul).sources)
        if (!is_constant(factor) && !unchanged(factor, replacement.mul, user) && !copies_.contains({replacement.mul, factor}))
          copies_[{replacement.mul, factor}] = new_register_like(factor);
  }

  void rebuild() {
    find_copies();
    std::vector<DraftOperation> out;
    std::vector<int> moved;
    for (int i = 0; i < static_cast<int>(arithmetic_.size()); ++i) {
      moved.push_back(static_cast<int>(out.size()));
      for (const Value source : at(i).sources)
        if (const auto copy = copies_.find({i, source}); copy != copies_.end()) {
          const RegisterClass c = function_.registers[static_cast<std::size_t>(source)].register_class;
          const bool half = function_.registers[static_cast<std::size_t>(source)].bits == 16;
          out.push_back(make(c == RegisterClass::wide ? "mov.b64" : half ? "mov.b16" : "mov.b32", {copy->second}, {source}, at(i)));
        }
      const auto replacement = replaced_.find(i);
      if (replacement == replaced_.end()) {
        out.push_back(at(i));
      } else {
        emit_fused(replacement->second.mul, replacement->second.use, out);
      }
    }
    moved.push_back(static_cast<int>(out.size()));
    function_.operations = std::move(out);
    for (int& label : function_.labels) label = moved[static_cast<std::size_t>(label)];
    remove_dead_products();
  }

  /// Products that nobody reads any more go away.
  void remove_dead_products() {
    std::vector<int> uses(function_.registers.size());
    for (const DraftOperation& operation : function_.operations)
      for_each_read(operation, [&](Value value) { ++uses[static_cast<std::size_t>(value)]; });
    std::vector<int> moved;
    std::vector<DraftOperation> kept;
    for (DraftOperation& operation : function_.operations) {
      moved.push_back(static_cast<int>(kept.size()));
      const auto arithmetic = classify(operation);
      const bool product = arithmetic && (arithmetic->multiplies() || arithmetic->kind == Arithmetic::Kind::neg);
      if (product && uses[static_cast<std::size_t>(operation.results[0])] == 0) continue;
      kept.push_back(std::move(operation));
    }
    moved.push_back(static_cast<int>(kept.size()));
    function_.operations = std::move(kept);
    for (int& label : function_.labels) label = moved[static_cast<std::size_t>(label)];
  }

  DraftFunction& function_;
  ProgramDraft& draft_;
  std::vector<Block> blocks_;
  Liveness liveness_;
  std::vector<bool> dead_;
  std::vector<std::optional<Arithmetic>> arithmetic_;
  std::vector<Product> products_;
  std::map<int, Replacement> replaced_;            ///< by add or sub
  std::map<std::pair<int, Value>, Value> copies_;  ///< by product and factor
};

}  // namespace

void contract(DraftFunction& function, ProgramDraft& draft) {
  Contraction(function, draft).run();
}

}  // namespace warpmat::code
