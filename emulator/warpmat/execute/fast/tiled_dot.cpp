// wmma.mma: one product of mma after the other, as the hardware does it. A 16x16 product is two of 16x8, and so is a 32x8 one; an 8x32
// product is two of 16x8 of the transposed matrices. Registers of a fragment lie as those of mma, one tile behind the other
// (layout/fragment.h).

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>

#include <warpmat/execute/fast/fast.h>
#include <warpmat/tables/capacity.h>

namespace warpmat {
namespace {

/// Whether `mma` multiplies a tile of `wmma`: with the same types and qualifiers, 16 or 8 rows as the wider side of the product has, and
/// the same K.
bool is_tile(const Form& mma, const Form& wmma) {
  const int rows = std::min(std::max(wmma.shape.m, wmma.shape.n), 16);
  if (mma.mnemonic != Mnemonic::mma || mma.sparsity != Sparsity::dense || mma.kind != Kind::plain) return false;
  if (mma.shape != Shape{rows, 8, wmma.shape.k}) return false;
  if (mma.satfinite != wmma.satfinite || mma.bit_operation != wmma.bit_operation || mma.rounding != wmma.rounding) return false;
  constexpr OperandName operands[] = {OperandName::d, OperandName::a, OperandName::b, OperandName::c};
  return std::ranges::all_of(operands, [&](OperandName name) { return mma.format(name) == wmma.format(name); });
}

template <typename Word>
using Pointers = std::array<Word*, capacity::operand_words>;

class TiledDot {
 public:
  TiledDot(const TilePlan& plan, const Warps& warps) : plan_(plan), warps_(warps) {}

  /// Executes one warp, or declines it: also where a machine instruction reads what an earlier one has written. The first tile is kept
  /// until the second is done.
  bool run(std::size_t warp) {
    if (plan_.tiles == 1) return run_tile(0, warp, [&](int word) { return warps_.destination(word, warp); });
    if (reads_written(warp)) return false;
    if (!run_tile(0, warp, [&](int word) { return kept_[static_cast<std::size_t>(word)].data(); })) return false;
    if (!run_tile(1, warp, [&](int word) { return warps_.destination(plan_.c_words + word, warp); })) return false;
    for (int word = 0; word < plan_.c_words; ++word)
      std::ranges::copy(kept_[static_cast<std::size_t>(word)], warps_.destination(word, warp));
    return true;
  }

 private:
  /// Where A or B of a tile lies among the registers of the statement.
  struct Source {
    OperandName name;
    int first, words;
  };
  Source a_of(int tile) const { return {plan_.transposed ? OperandName::b : OperandName::a, tile * plan_.a_next, plan_.a_words}; }
  Source b_of(int tile) const { return {plan_.transposed ? OperandName::a : OperandName::b, tile * plan_.b_next, plan_.b_words}; }
  Source c_of(int tile) const { return {OperandName::c, tile * plan_.c_words, plan_.c_words}; }

  /// Whether a machine instruction may read what an earlier one has written: the second tile's from D of the first; where K takes several
  /// steps, which may be instructions that add to D, A and B from all of D.
  bool reads_written(std::size_t warp) const {
    if (meets(warp, plan_.c_words, {a_of(1), b_of(1), c_of(1)})) return true;
    const FloatPlan* const product = std::get_if<FloatPlan>(&plan_.product);
    const bool has_steps = product != nullptr && product->a_words > product->step_words;
    return has_steps && meets(warp, 2 * plan_.c_words, {a_of(0), a_of(1), b_of(0), b_of(1)});
  }

  /// Whether one of the first `words` registers of D shares a word with one of the sources.
  bool meets(std::size_t warp, int words, std::initializer_list<Source> sources) const {
    const std::uint32_t *least = warps_.destination(0, warp), *largest = least;
    for (int word = 1; word < words; ++word) {
      least = std::min(least, static_cast<const std::uint32_t*>(warps_.destination(word, warp)), std::less<>());
      largest = std::max(largest, static_cast<const std::uint32_t*>(warps_.destination(word, warp)), std::less<>());
    }
    for (const Source& source : sources)
      for (int i = source.first; i < source.first + source.words; ++i) {
        const std::uint32_t* const read = warps_.source(source.name, i, warp);
        if (std::less<>()(read, least - lanes) || std::less<>()(largest + lanes, read)) continue;
        for (int word = 0; word < words; ++word)
          if (overlap(warps_.destination(word, warp), read)) return true;
      }
    return false;
  }

  template <typename Destination>
  bool run_tile(int tile, std::size_t warp, Destination destination) {
    Pointers<const std::uint32_t> a, b, c;
    Pointers<std::uint32_t> d;
    const auto list = [&](auto& pointers, const Source& source) {
      for (int i = 0; i < source.words; ++i) pointers[static_cast<std::size_t>(i)] = warps_.source(source.name, source.first + i, warp);
      return ConstRegisterList(pointers.data(), static_cast<std::size_t>(source.words));
    };
    Arguments arguments;
    arguments.source(OperandName::a) = list(a, a_of(tile));
    arguments.source(OperandName::b) = list(b, b_of(tile));
    arguments.source(OperandName::c) = list(c, c_of(tile));
    for (int i = 0; i < plan_.c_words; ++i) d[static_cast<std::size_t>(i)] = destination(i);
    arguments.destination = {d.data(), static_cast<std::size_t>(plan_.c_words)};
    const Warps one{arguments};
    return std::visit([&](const auto& product) { return execute_product(product, one); }, plan_.product) == 1;
  }

  std::size_t execute_product(const FloatPlan& product, const Warps& one) const { return fast_float_dot(product, *plan_.tile, one); }
  std::size_t execute_product(const IntegerPlan& product, const Warps& one) const { return fast_integer_dot(product, *plan_.tile, one); }
  std::size_t execute_product(const F64Plan& product, const Warps& one) const { return fast_f64(product, *plan_.tile, one); }

  const TilePlan& plan_;
  const Warps& warps_;
  std::array<Register, capacity::operand_words> kept_;
};

}  // namespace

std::optional<TilePlan> tile_plan(const Form& form, const Lowering& lowering) {
  if (form.mnemonic != Mnemonic::wmma_mma) return std::nullopt;
  const auto tile = std::ranges::find_if(forms(), [&](const Form& mma) { return is_tile(mma, form); });
  if (tile == forms().end()) return std::nullopt;  // C and D of different types
  if (lowering.model != nullptr && lowering.model->step_bytes < dot_models::ampere.step_bytes)
    return std::nullopt;  // shorter steps than kernels take
  TilePlan plan;
  plan.tile = &*tile;
  if (const auto product = float_plan(*tile, lowering)) {
    plan.product = *product;
  } else if (const auto integers = integer_plan(*tile, lowering)) {
    plan.product = *integers;
  } else if (const auto chain = f64_plan(*tile, lowering)) {
    plan.product = *chain;
  } else {
    return std::nullopt;
  }
  plan.transposed = form.shape.n > form.shape.m;
  plan.a_words = tile->operand(OperandName::a).words();
  plan.b_words = tile->operand(OperandName::b).words();
  plan.c_words = tile->operand(OperandName::c).words();
  plan.tiles = form.operand(OperandName::d).words() / plan.c_words;
  const bool wide = std::max(form.shape.m, form.shape.n) > 16;  // the tiles have different rows of A; else different columns of B
  plan.a_next = wide ? plan.a_words : 0;
  plan.b_next = wide ? 0 : plan.b_words;
  return plan;
}

std::size_t fast_tiled_dot(const TilePlan& plan, const Form&, const Warps& warps) {
  TiledDot product(plan, warps);
  for (std::size_t warp = 0; warp < warps.count; ++warp)
    if (!product.run(warp)) return warp;
  return warps.count;
}

}  // namespace warpmat
