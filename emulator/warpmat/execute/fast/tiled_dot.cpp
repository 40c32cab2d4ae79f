// wmma.mma: one product of mma after the other, as on hardware. A 16x16 product is two of 16x8, and so is a 32x8 one; an 8x32 product is
// two of 16x8 of the transposed matrices. A fragment consists of consecutive mma fragments, one for each tile (layout.h). If one
// of C and D is f16 and the other f32, the products are those of f32: C is widened before and D narrowed after them.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <span>

#include <warpmat/execute/fast/accumulators.h>
#include <warpmat/execute/fast/fast.h>
#include <warpmat/execute/fast/operand_views.h>
#include <warpmat/tables/capacity.h>

namespace warpmat {
namespace {

/// Whether `mma` multiplies a tile of `wmma`: the same types, qualifiers and K, and 16 or 8 rows as the product's wider side. C and D of a
/// tile have the unit's sum format.
bool is_tile(const Form& mma, const Form& wmma) {
  const int rows = std::min(std::max(wmma.shape.m, wmma.shape.n), 16);
  if (mma.mnemonic != Mnemonic::mma || mma.sparsity != Sparsity::dense || mma.kind != Kind::plain) return false;
  if (mma.shape != Shape{rows, 8, wmma.shape.k}) return false;
  if (mma.satfinite != wmma.satfinite || mma.bit_operation != wmma.bit_operation || mma.rounding != wmma.rounding) return false;
  return mma.format(OperandName::a) == wmma.format(OperandName::a) && mma.format(OperandName::b) == wmma.format(OperandName::b) &&
         mma.format(OperandName::c) == wmma.accumulator() && mma.format(OperandName::d) == wmma.accumulator();
}

template <typename Word>
using Pointers = std::array<Word*, capacity::operand_words>;

class TiledDot {
 public:
  TiledDot(const TilePlan& plan, const Warps& warps) : plan_(plan), warps_(warps) {}

  /// Executes warps in order until one is declined, and returns how many. Supports machine instructions that read what an earlier one has
  /// written.
  std::size_t run() {
    if (plan_.tiles == 1) return run_tile(0, 0, warps_.count, {});
    const std::size_t most = are_apart() ? kept_.size() / kept_words() : 1;
    for (std::size_t first = 0; first < warps_.count;) {
      const std::size_t wanted = std::min(most, warps_.count - first), done = run_both(first, wanted);
      first += done;
      if (done < wanted) return first;
    }
    return warps_.count;
  }

 private:
  /// The registers of A or B of a tile within the statement's operand.
  struct Source {
    OperandName name;
    int first, words;
  };
  Source a_of(int tile) const { return {plan_.transposed ? OperandName::b : OperandName::a, tile * plan_.a_next, plan_.a_words}; }
  Source b_of(int tile) const { return {plan_.transposed ? OperandName::a : OperandName::b, tile * plan_.b_next, plan_.b_words}; }
  Source c_of(int tile) const { return {OperandName::c, tile * plan_.c_words, plan_.c_words}; }

  /// Registers of the statement's D, of one warp, in the tiles' format.
  std::size_t d_words() const { return static_cast<std::size_t>(plan_.tiles * plan_.c_words); }
  /// Registers of one warp to buffer: D of the first tile, or C or D of all tiles if they are converted.
  std::size_t kept_words() const { return plan_.widens_c || plan_.narrows_d ? d_words() : static_cast<std::size_t>(plan_.c_words); }

  /// Both tiles of `count` warps from `first` on, until one is declined.
  std::size_t run_both(std::size_t first, std::size_t count) {
    std::size_t free = 0;
    while (free < count && !reads_written(first + free)) ++free;
    if (free == 0) return 0;
    if (plan_.narrows_d) return run_narrowed(first, free);
    if (plan_.widens_c) widen(first, free);
    return run_in_turn(first, free);
  }

  /// Buffers results of the first tiles until the second ones are done: D may overlap C, which the reference reads for a warp whose second
  /// tile is declined.
  std::size_t run_in_turn(std::size_t first, std::size_t count) {
    const auto words = static_cast<std::size_t>(plan_.c_words);
    const std::size_t begun = run_tile(0, first, count, {kept_.data(), words});
    const std::size_t done = begun == 0 ? 0 : run_tile(1, first, begun, {});
    for (std::size_t warp = 0; warp < done; ++warp)
      for (std::size_t word = 0; word < words; ++word)
        std::ranges::copy(kept_[warp * words + word], warps_.destination(static_cast<int>(word), first + warp));
    return done;
  }

  /// Writes D when both tiles are done.
  std::size_t run_narrowed(std::size_t first, std::size_t count) {
    const std::size_t begun = run_tile(0, first, count, {kept_.data(), d_words()});
    const std::size_t done = begun == 0 ? 0 : run_tile(1, first, begun, {kept_.data() + plan_.c_words, d_words()});
    Pointers<std::uint32_t> d;
    for (std::size_t warp = 0; warp < done; ++warp) {
      for (std::size_t i = 0; i < d_words() / 2; ++i) d[i] = warps_.destination(static_cast<int>(i), first + warp);
      fast_narrow(std::span(kept_).subspan(warp * d_words(), d_words()), {d.data(), d_words() / 2});
    }
    return done;
  }

  void widen(std::size_t first, std::size_t count) {
    Pointers<const std::uint32_t> c;
    for (std::size_t warp = 0; warp < count; ++warp) {
      for (std::size_t i = 0; i < d_words() / 2; ++i) c[i] = warps_.source(OperandName::c, static_cast<int>(i), first + warp);
      fast_widen({c.data(), d_words() / 2}, std::span(widened_).subspan(warp * d_words(), d_words()));
    }
  }

  /// Whether no two warps share registers: for every operand, all registers of the first warp are within the stride to the second.
  bool are_apart() const {
    const WarpWords words_of_first(warps_, 0);
    const auto d = words_of_first.destination();
    const std::uint32_t *least = d[0], *largest = least;
    const auto extend = [&](const std::uint32_t* words) {
      least = std::min(least, words, std::less<>());
      largest = std::max(largest, words, std::less<>());
    };
    for (std::size_t i = 0; i < warps_.written.list_size(); ++i) extend(d[static_cast<int>(i)]);
    for (const OperandName name : {OperandName::a, OperandName::b, OperandName::c}) {
      if (warps_.view(name).warp_stride() != warps_.written.warp_stride()) return false;
      const auto source = words_of_first.source(name);
      for (std::size_t i = 0; i < warps_.view(name).list_size(); ++i) extend(source[static_cast<int>(i)]);
    }
    const auto bytes = reinterpret_cast<std::uintptr_t>(largest + warp_size) - reinterpret_cast<std::uintptr_t>(least);
    const auto stride = static_cast<std::ptrdiff_t>(warps_.written.warp_stride());  // it may be negative
    return bytes <= static_cast<std::size_t>(std::abs(stride)) * sizeof(std::uint32_t);
  }

  /// Whether a machine instruction may read what an earlier one has written. The second tile may read D of the first. If K takes several
  /// steps, these may be instructions that add to D, and A and B may overlap all of D. A widened C is read before; a narrowed D is written
  /// last.
  bool reads_written(std::size_t warp) const {
    if (plan_.narrows_d) return false;
    if (plan_.widens_c) return meets(warp, plan_.c_words, {a_of(1), b_of(1)});
    if (meets(warp, plan_.c_words, {a_of(1), b_of(1), c_of(1)})) return true;
    const FloatPlan* const product = std::get_if<FloatPlan>(&plan_.product);
    const bool has_steps = product != nullptr && product->a_words > product->step_words;
    return has_steps && meets(warp, 2 * plan_.c_words, {a_of(0), a_of(1), b_of(0), b_of(1)});
  }

  /// Whether one of the first `words` registers of D shares a word with one of the sources.
  bool meets(std::size_t warp, int words, std::initializer_list<Source> sources) const {
    const WarpWords words_of_warp(warps_, warp);
    const auto d = words_of_warp.destination();
    const std::uint32_t *least = d[0], *largest = least;
    for (int word = 1; word < words; ++word) {
      least = std::min(least, static_cast<const std::uint32_t*>(d[word]), std::less<>());
      largest = std::max(largest, static_cast<const std::uint32_t*>(d[word]), std::less<>());
    }
    for (const Source& source : sources) {
      const auto registers = words_of_warp.source(source.name);
      for (int i = source.first; i < source.first + source.words; ++i) {
        const std::uint32_t* const read = registers[i];
        if (std::less<>()(read, least - warp_size) || std::less<>()(largest + warp_size, read)) continue;
        for (int word = 0; word < words; ++word)
          if (overlap(d[word], read)) return true;
      }
    }
    return false;
  }

  /// A buffer for a tile's D instead of the statement's registers: `words` registers from warp to warp.
  struct Kept {
    Register* first = nullptr;
    std::size_t words = 0;
  };

  /// One tile of `count` warps from `first` on. Returns the number of warps executed before one is declined.
  std::size_t run_tile(int tile, std::size_t first, std::size_t count, const Kept& kept) {
    Pointers<const std::uint32_t> a, b, c;
    Pointers<std::uint32_t> d;
    OperandViews tiles;
    const WarpWords words_of_first(warps_, first);
    const auto set = [&](OperandName name, auto& pointers, const Source& source) {
      const auto registers = words_of_first.source(source.name);
      for (int i = 0; i < source.words; ++i) pointers[static_cast<std::size_t>(i)] = registers[source.first + i];
      tiles.set_source(name, {std::span(pointers).first(static_cast<std::size_t>(source.words)), warps_.view(source.name).warp_stride()});
    };
    set(OperandName::a, a, a_of(tile));
    set(OperandName::b, b, b_of(tile));
    if (plan_.widens_c) {
      const auto words = static_cast<std::size_t>(plan_.c_words);
      for (std::size_t i = 0; i < words; ++i) c[i] = widened_[static_cast<std::size_t>(tile) * words + i].data();
      tiles.set_source(OperandName::c, {std::span(c).first(words), d_words() * warp_size});
    } else {
      set(OperandName::c, c, c_of(tile));
    }
    const auto results = words_of_first.destination();
    for (int i = 0; i < plan_.c_words; ++i)
      d[static_cast<std::size_t>(i)] =
          kept.first == nullptr ? results[tile * plan_.c_words + i] : kept.first[static_cast<std::size_t>(i)].data();
    tiles.set_written({std::span(d).first(static_cast<std::size_t>(plan_.c_words)),
                       kept.first == nullptr ? warps_.written.warp_stride() : kept.words * warp_size});
    return std::visit([&](const auto& product) { return execute_product(product, tiles.warps(nullptr, count)); }, plan_.product);
  }

  std::size_t execute_product(const FloatPlan& product, const Warps& tiles) const { return fast_float_dot(product, *plan_.tile, tiles); }
  std::size_t execute_product(const IntegerPlan& product, const Warps& tiles) const {
    return fast_integer_dot(product, *plan_.tile, tiles);
  }
  std::size_t execute_product(const F64Plan& product, const Warps& tiles) const { return fast_f64(product, *plan_.tile, tiles); }

  const TilePlan& plan_;
  const Warps& warps_;
  std::array<Register, 4 * capacity::operand_words> kept_;     ///< D of some warps: of the first tiles, or of all
  std::array<Register, 4 * capacity::operand_words> widened_;  ///< C of some warps
};

}  // namespace

std::optional<TilePlan> tile_plan(const Form& form, const Lowering& lowering) {
  if (form.mnemonic != Mnemonic::wmma_mma) return std::nullopt;
  const auto tile = std::ranges::find_if(forms(), [&](const Form& mma) { return is_tile(mma, form); });
  if (tile == forms().end()) return std::nullopt;
  if (lowering.model != nullptr && lowering.model->step_bytes < dot_models::ampere.step_bytes)
    return std::nullopt;  // shorter steps than kernels support
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
  plan.widens_c = form.format(OperandName::c) != form.accumulator();
  plan.narrows_d = form.format(OperandName::d) != form.accumulator();
  plan.tiles = (plan.narrows_d ? 2 : 1) * form.operand(OperandName::d).words() / plan.c_words;  // f16 has two elements in a register
  if (plan.tiles == 1 && (plan.widens_c || plan.narrows_d)) return std::nullopt;
  const bool wide = std::max(form.shape.m, form.shape.n) > 16;  // the tiles have different rows of A; else different columns of B
  plan.a_next = wide ? plan.a_words : 0;
  plan.b_next = wide ? 0 : plan.b_words;
  return plan;
}

std::size_t fast_tiled_dot(const TilePlan& plan, const Form&, const Warps& warps) {
  return TiledDot(plan, warps).run();
}

}  // namespace warpmat
