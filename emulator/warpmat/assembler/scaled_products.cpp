#include <warpmat/assembler/scaled_products.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <warpmat/assembler/places.h>
#include <warpmat/assembler/quotient.h>
#include <warpmat/assembler/readers.h>
#include <warpmat/lower/arithmetic.h>
#include <warpmat/lower/definitions.h>
#include <warpmat/lower/rewrite.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Name;

namespace {

struct Scale {
  std::uint64_t power;    ///< the bits of the f32
  std::string_view name;  ///< as machine code has it
};
constexpr std::array scales{Scale{0x3e000000, "d8"}, Scale{0x3e800000, "d4"}, Scale{0x3f000000, "d2"},
                            Scale{0x40000000, "m2"}, Scale{0x40800000, "m4"}, Scale{0x41000000, "m8"}};

/// Whether it is a mul.f32 rounded to nearest.
bool is_product(const DraftOperation& operation) {
  if (!is_of(operation, Name::mul) || operation.match->types.size() != 1 || operation.results.size() != 1) return false;
  const Match& match = *operation.match;
  return catalogue::is_number(*match.types[0], Format::f32) && !match.has(".rz") && !match.has(".rm") && !match.has(".rp");
}

/// A mul by a power, and the product that it reads.
struct Scaling {
  int outer, inner;
  Value product;  ///< the register in which the mul finds the product
  const Scale* scale;
};

class ScaledProducts {
 public:
  ScaledProducts(DraftFunction& function, ProgramDraft& draft, const AssemblerDecisions* decisions)
      : function_(function), draft_(draft), products_(decisions), definitions_(function), readers_(function, definitions_) {}

  void run() {
    for (int i = 0; i < count(); ++i)
      if (const auto found = scaling(i)) by_inner_[found->inner] = *found;
    if (!by_inner_.empty()) rebuild();
  }

 private:
  int count() const { return static_cast<int>(function_.operations.size()); }
  const DraftOperation& at(int i) const { return function_.operations[static_cast<std::size_t>(i)]; }

  /// The power that operation `i` multiplies by, as its source `source`.
  const Scale* scale_at(int i, std::size_t source) const {
    Value value = at(i).sources[source];
    if (!is_constant(value)) {
      const int writer = definitions_.find_behind_moves(i, value);
      if (writer < 0 || !is_of(at(writer), Name::mov) || at(writer).sources.size() != 1) return nullptr;
      value = at(writer).sources[0];
      if (!is_constant(value)) return nullptr;
    }
    const Constants::Constant& constant = draft_.constants[value];
    if (constant.symbol.kind != Symbol::Kind::none) return nullptr;
    const auto* const found = std::ranges::find(scales, constant.low, &Scale::power);
    return found == scales.end() ? nullptr : found;
  }

  std::optional<Scaling> scaling(int i) {
    if (!is_product(at(i))) return std::nullopt;
    for (const std::size_t source : {std::size_t{0}, std::size_t{1}}) {
      const Scale* const scale = scale_at(i, source);
      if (scale == nullptr || is_constant(at(i).sources[1 - source])) continue;
      const int inner = definitions_.find_behind_moves(i, at(i).sources[1 - source]);
      if (inner >= 0 && may_be_scaled(inner) && readers_.is_only_reader(i, inner) && is_decided(inner, i))
        return Scaling{i, inner, at(i).sources[1 - source], scale};
    }
    return std::nullopt;
  }

  bool may_be_scaled(int inner) const {
    const Arithmetic* const arithmetic = classify_arithmetic(at(inner), draft_);
    const bool has_scale = std::ranges::any_of(by_inner_, [&](const auto& other) { return other.second.outer == inner; });
    return arithmetic != nullptr && arithmetic->multiplies() && arithmetic->type.is(Format::f32) && !arithmetic->saturates &&
           !at(inner).operation.guarded && !has_scale;
  }

  /// Machine code shows a scale in the instruction of either statement, or in neither.
  bool is_decided(int inner, int outer) {
    const auto* const first = products_.find(draft_.program, at(inner).operation.statement);
    const auto* const second = products_.find(draft_.program, at(outer).operation.statement);
    if ((first != nullptr && first->scaled) || (second != nullptr && second->scaled)) return true;
    if (first == nullptr || second == nullptr) return true;
    draft_.program.differs.push_back(at(outer).operation.statement);
    return false;
  }

  /// The product has the scale, and what stood for the mul by the power moves it.
  void rebuild() {
    std::map<int, Value> moved;  // by mul by a power: the product's register
    for (const auto& [inner, scaling] : by_inner_) moved[scaling.outer] = scaling.product;
    Rewrite rewrite(function_);
    for (int i = 0; i < count(); ++i) {
      rewrite.come_to(i);
      if (const auto found = by_inner_.find(i); found != by_inner_.end())
        add_product(found->second, rewrite.out);
      else if (const auto product = moved.find(i); product != moved.end())
        rewrite.out.push_back(move(at(i), product->second));
      else
        rewrite.out.push_back(at(i));
    }
    rewrite.finish();
  }

  void add_product(const Scaling& scaling, std::vector<DraftOperation>& out) {
    const DraftOperation &inner = at(scaling.inner), &outer = at(scaling.outer);
    std::array<Value, 2> factors{inner.sources[0], inner.sources[1]};
    const Arithmetic& arithmetic = *classify_arithmetic(inner, draft_);
    if (arithmetic.kind != Arithmetic::Kind::mul) add_quotient_steps(function_, draft_, arithmetic, factors, inner, out);
    std::string opcode = "%fmul." + std::string(scaling.scale->name);
    if (outer.match->has(".ftz")) opcode += ".ftz";
    if (outer.match->has(".sat")) opcode += ".sat";
    out.push_back(draft_.make(opcode + ".f32", inner.results, {factors[0], factors[1]}, inner));
    draft_.program.folded.push_back({outer.operation.statement, Folded::Kind::scaled, scaling.scale->power});
  }

  DraftOperation move(const DraftOperation& outer, Value from) {
    DraftOperation moved = draft_.make("mov.f32", outer.results, {from}, outer);
    take_guard(moved, outer);
    return moved;
  }

  DraftFunction& function_;
  ProgramDraft& draft_;
  ByPlace<AssemblerDecisions::Product> products_;
  Definitions definitions_;
  Readers readers_;
  std::map<int, Scaling> by_inner_;
};

}  // namespace

void scale_products(DraftFunction& function, ProgramDraft& draft, const AssemblerDecisions* decisions) {
  const auto has_power = [&](const DraftOperation& operation) {
    return std::ranges::any_of(scales, [&](const Scale& scale) {
      return std::ranges::any_of(operation.sources, [&](Value v) { return is_constant(v) && draft.constants[v].low == scale.power; });
    });
  };
  if (std::ranges::none_of(function.operations, is_product) || std::ranges::none_of(function.operations, has_power)) return;
  ScaledProducts(function, draft, decisions).run();
}

}  // namespace warpmat::code
