#include <warpmat/ptx/program/contraction.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>

#include <warpmat/ptx/program/control_flow.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Semantics;

namespace {

/// A statement that contraction knows: mul, add, sub or neg without a rounding modifier.
struct Arithmetic {
  enum class Kind { mul, add, sub, neg };
  Kind kind;
  std::string type;  ///< ".ftz.f32": what must be equal
  bool saturates;
};

constexpr std::array kinds{std::pair{"mul", Arithmetic::Kind::mul}, std::pair{"add", Arithmetic::Kind::add},
                           std::pair{"sub", Arithmetic::Kind::sub}, std::pair{"neg", Arithmetic::Kind::neg}};
constexpr std::array types{"f32", "f64", "f16", "f16x2", "bf16", "bf16x2"};

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
    find_dead();
    for (std::size_t b = 0; b < blocks_.size(); ++b) find_products(static_cast<int>(b));
    fuse_all();
    if (!replaced_.empty()) rebuild();
  }

 private:
  /// A product that may be fused, and who uses it.
  struct Product {
    bool negated = false;  ///< it goes through neg
    int mul = 0;           ///< the operation
  };

  std::optional<Arithmetic> classify(const DraftOperation& draft) const {
    if (draft.operation.semantics != Semantics::compute || draft.operation.guarded || draft.results.size() != 1) return std::nullopt;
    const std::string& opcode = draft_.program.statements[draft.operation.statement]->opcode;
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
      if (q != ".ftz" && q != ".sat" && q.substr(1) != match->types[0]->name) return std::nullopt;  // a rounding modifier
    return arithmetic;
  }

  const DraftOperation& at(int i) const { return function_.operations[static_cast<std::size_t>(i)]; }
  const std::optional<Arithmetic>& kind(int i) const { return arithmetic_[static_cast<std::size_t>(i)]; }

  /// Statements whose results nobody needs, directly or through others like them.
  void find_dead() {
    std::vector<int> uses(function_.registers.size());
    const auto count = [&](const DraftOperation& operation, int by) {
      for_each_read(operation, [&](Value value) { uses[static_cast<std::size_t>(value)] += by; });
    };
    for (const DraftOperation& operation : function_.operations) count(operation, 1);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = function_.operations.size(); i-- > 0;) {
        const DraftOperation& operation = function_.operations[i];
        if (dead_[i] || !computes(operation.operation.semantics) || operation.operation.guarded || operation.results.empty())
          continue;
        if (std::ranges::any_of(operation.results, [&](Value value) { return uses[static_cast<std::size_t>(value)] > 0; })) continue;
        dead_[i] = true;
        count(operation, -1);
        changed = true;
      }
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

  /// Follows the value of operation `i` through neg to the adds and subs that use it; false where anything else does.
  bool follow(int block, int i, const std::string& type, bool negated, int mul) {
    const auto users = users_in_block(block, i);
    if (!users) return false;
    for (const int user : *users) {
      const auto& arithmetic = kind(user);
      if (!arithmetic || arithmetic->type != type || arithmetic->kind == Arithmetic::Kind::mul) return false;
      if (arithmetic->kind == Arithmetic::Kind::neg) {
        if (!follow(block, user, type, !negated, mul)) return false;
      } else {
        found_.push_back({i, user, negated});
      }
    }
    return true;
  }

  void find_products(int block) {
    const Block& range = blocks_[static_cast<std::size_t>(block)];
    for (int i = range.first; i < range.last; ++i) {
      if (!kind(i) || kind(i)->kind != Arithmetic::Kind::mul || kind(i)->saturates || dead_[static_cast<std::size_t>(i)]) continue;
      found_.clear();
      if (!follow(block, i, kind(i)->type, false, i)) continue;
      for (const Use& use : found_) products_[{use.from, use.user}] = {use.negated, i};
    }
  }

  /// The product that `user` reads as its source number `s`.
  const Product* product_of(int user, std::size_t s) const {
    const Value value = at(user).sources[s];
    if (is_constant(value)) return nullptr;
    // The last operation of the block before `user` that writes the value.
    const auto after = std::ranges::upper_bound(blocks_, user, {}, &Block::first);
    for (int i = user - 1; i >= std::prev(after)->first; --i) {
      if (std::ranges::find(at(i).results, value) == at(i).results.end()) continue;
      const auto found = products_.find({i, user});
      return found == products_.end() ? nullptr : &found->second;
    }
    return nullptr;
  }

  void fuse_all() {
    for (const auto& [edge, product] : products_) {
      const int user = edge.second;
      if (replaced_.contains(user) || dead_[static_cast<std::size_t>(user)]) continue;
      const DraftOperation& add = at(user);
      if (add.sources[0] == add.sources[1]) continue;  // t + t
      const std::size_t fused = product_of(user, 0) != nullptr ? 0 : 1;
      replaced_[user] = {*product_of(user, fused), fused};
    }
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
    operation.operation.statement = like.operation.statement;
    operation.results = std::move(results);
    operation.sources = std::move(sources);
    return operation;
  }

  /// a*b + c with the signs that neg and sub ask for.
  void emit_fused(int user, const Product& product, std::size_t fused, std::vector<DraftOperation>& out) {
    const DraftOperation& add = at(user);
    const Arithmetic& arithmetic = *kind(user);
    const std::string type = arithmetic.type.substr(arithmetic.type.rfind('.'));
    std::vector<Value> factors;
    for (const Value factor : at(product.mul).sources) {
      const auto copy = copies_.find({product.mul, factor});
      factors.push_back(copy == copies_.end() ? factor : copy->second);
    }
    Value addend = add.sources[1 - fused];
    const bool subtracts = arithmetic.kind == Arithmetic::Kind::sub;
    const auto negate = [&](Value& value) {
      const Value negative = new_register_like(value);
      out.push_back(make("neg" + type, {negative}, {value}, add));
      value = negative;
    };
    if (product.negated != (subtracts && fused == 1)) negate(factors[0]);
    if (subtracts && fused == 0) negate(addend);
    const std::string opcode =
        fmt::format("fma.rn{}{}{}", arithmetic.type.starts_with(".ftz") ? ".ftz" : "", arithmetic.saturates ? ".sat" : "", type);
    out.push_back(make(opcode, add.results, {factors[0], factors[1], addend}, add));
    draft_.program.contracted.push_back(add.operation.statement);
  }

  /// Factors that are overwritten between a product and its add are kept in copies.
  void find_copies() {
    for (const auto& [user, replacement] : replaced_)
      for (const Value factor : at(replacement.first.mul).sources)
        if (!is_constant(factor) && !unchanged(factor, replacement.first.mul, user) && !copies_.contains({replacement.first.mul, factor}))
          copies_[{replacement.first.mul, factor}] = new_register_like(factor);
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
        emit_fused(i, replacement->second.first, replacement->second.second, out);
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
      const bool product = arithmetic && (arithmetic->kind == Arithmetic::Kind::mul || arithmetic->kind == Arithmetic::Kind::neg);
      if (product && uses[static_cast<std::size_t>(operation.results[0])] == 0) continue;
      kept.push_back(std::move(operation));
    }
    moved.push_back(static_cast<int>(kept.size()));
    function_.operations = std::move(kept);
    for (int& label : function_.labels) label = moved[static_cast<std::size_t>(label)];
  }

  struct Use {
    int from, user;
    bool negated;
  };

  DraftFunction& function_;
  ProgramDraft& draft_;
  std::vector<Block> blocks_;
  Liveness liveness_;
  std::vector<bool> dead_;
  std::vector<std::optional<Arithmetic>> arithmetic_;
  std::vector<Use> found_;
  std::map<std::pair<int, int>, Product> products_;          ///< by the operation that writes the value, and the add that reads it
  std::map<int, std::pair<Product, std::size_t>> replaced_;  ///< by add: the product, and which operand it was
  std::map<std::pair<int, Value>, Value> copies_;            ///< by product and factor
};

}  // namespace

void contract(DraftFunction& function, ProgramDraft& draft) {
  Contraction(function, draft).run();
}

}  // namespace warpmat::code
