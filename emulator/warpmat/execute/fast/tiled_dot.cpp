// wmma.mma: one product of mma after the other, as the hardware does it. A 16x16 product is two of 16x8, and so is a 32x8 one; an 8x32 product is
// two of 16x8 of the transposed matrices. Registers of a fragment lie as those of mma, one tile behind the other (layout/fragment.h).

#include <algorithm>
#include <array>

#include <warpmat/execute/fast/fast.h>
#include <warpmat/execute/reference/execute.h>
#include <warpmat/tables/capacity.h>

namespace warpmat {
namespace {

/// Whether `mma` multiplies a tile of `wmma`: with the same types and qualifiers, 16 or 8 rows as the wider side of the product has, and the same K.
bool is_tile(const Form& mma, const Form& wmma) {
  const int rows = std::min(std::max(wmma.shape.m, wmma.shape.n), 16);
  if (mma.mnemonic != Mnemonic::mma || mma.sparsity != Sparsity::dense || mma.kind != Kind::plain) return false;
  if (mma.shape != Shape{rows, 8, wmma.shape.k}) return false;
  if (mma.satfinite != wmma.satfinite || mma.bit_operation != wmma.bit_operation || mma.rounding != wmma.rounding) return false;
  constexpr OperandName operands[] = {OperandName::d, OperandName::a, OperandName::b, OperandName::c};
  return std::ranges::all_of(operands, [&](OperandName name) { return mma.format(name) == wmma.format(name); });
}

/// The registers of an operand from word `first` on, of one warp.
template <typename Word>
using Pointers = std::array<Word*, capacity::operand_words>;

class TiledDot {
 public:
  TiledDot(const TilePlan& plan, const Warps& warps) : plan_(plan), warps_(warps) {}

  /// All tiles but the last are kept until the sources of the last are read.
  void run(std::size_t warp) {
    const int last = plan_.tiles - 1;
    for (int tile = 0; tile < last; ++tile) run_tile(tile, warp, [&](int word) { return kept_[kept_word(tile, word)].data(); });
    run_tile(last, warp, [&](int word) { return warps_.destination(last * plan_.c_words + word, warp); });
    for (int tile = 0; tile < last; ++tile)
      for (int word = 0; word < plan_.c_words; ++word)
        std::ranges::copy(kept_[kept_word(tile, word)], warps_.destination(tile * plan_.c_words + word, warp));
  }

 private:
  std::size_t kept_word(int tile, int word) const { return static_cast<std::size_t>(tile * plan_.c_words + word); }

  template <typename Destination>
  void run_tile(int tile, std::size_t warp, Destination destination) {
    Pointers<const std::uint32_t> a, b, c;
    Pointers<std::uint32_t> d;
    const auto source = [&](auto& pointers, OperandName name, int first, int words) {
      for (int i = 0; i < words; ++i) pointers[static_cast<std::size_t>(i)] = warps_.source(name, first + i, warp);
      return ConstRegisterList(pointers.data(), static_cast<std::size_t>(words));
    };
    Arguments arguments;
    arguments.source(OperandName::a) = source(a, plan_.transposed ? OperandName::b : OperandName::a, tile * plan_.a_next, plan_.a_words);
    arguments.source(OperandName::b) = source(b, plan_.transposed ? OperandName::a : OperandName::b, tile * plan_.b_next, plan_.b_words);
    arguments.source(OperandName::c) = source(c, OperandName::c, tile * plan_.c_words, plan_.c_words);
    for (int i = 0; i < plan_.c_words; ++i) d[static_cast<std::size_t>(i)] = destination(i);
    arguments.destination = {d.data(), static_cast<std::size_t>(plan_.c_words)};
    const Warps one{arguments};
    const std::size_t executed = std::visit([&](const auto& product) { return execute_product(product, one); }, plan_.product);
    if (executed == 0) execute(*plan_.tile, *plan_.lowering, arguments, {});
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
  TilePlan plan;
  plan.tile = &*tile;
  plan.lowering = &lowering;
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
  for (std::size_t warp = 0; warp < warps.count; ++warp) product.run(warp);
  return warps.count;
}

}  // namespace warpmat
