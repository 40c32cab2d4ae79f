#include <warpmat/execute/tile_products.h>

#include <algorithm>
#include <array>
#include <utility>

#include <warpmat/execute/fast/fast.h>
#include <warpmat/execute/product_run.h>
#include <warpmat/execute/reference/execute.h>

namespace warpmat::inline v0_1 {
namespace {

/// The consecutive operands of a warp's tiles.
class TileOperands {
 public:
  TileOperands(const TileProducts& products, std::uint32_t* d, std::ptrdiff_t next_d, const std::uint32_t* a, const std::uint32_t* b)
      : count_(static_cast<std::size_t>(products.count)),
        d_count_(static_cast<std::size_t>(products.tile.operand(OperandName::d).words())),
        a_count_(static_cast<std::size_t>(products.tile.operand(OperandName::a).registers())),
        b_count_(static_cast<std::size_t>(products.tile.operand(OperandName::b).registers())),
        d_stride_(static_cast<std::ptrdiff_t>(d_count_) * next_d) {
    for (std::size_t i = 0; i < d_count_; ++i) d_[i] = d + static_cast<std::ptrdiff_t>(i) * next_d;
    for (std::size_t i = 0; i < a_count_; ++i) a_[i] = a + i * warp_size;
    for (std::size_t i = 0; i < b_count_; ++i) b_[i] = b + i * warp_size;
  }

  /// The tiles from number `first` on.
  Warps tiles(std::size_t first, Arguments& arguments, const std::uint32_t* zeros, bool accumulates) {
    const std::size_t b_stride = b_count_ * warp_size, d_stride = static_cast<std::size_t>(d_stride_);
    for (std::size_t i = 0; i < d_count_; ++i) {
      next_d_[i] = d_[i] + static_cast<std::ptrdiff_t>(first) * d_stride_;
      next_c_[i] = accumulates ? next_d_[i] : zeros;
    }
    for (std::size_t i = 0; i < b_count_; ++i) next_b_[i] = b_[i] + first * b_stride;
    arguments.destination = {next_d_.data(), d_count_};
    arguments.source(OperandName::c) = {next_c_.data(), d_count_};
    arguments.source(OperandName::a) = {a_.data(), a_count_};
    arguments.source(OperandName::b) = {next_b_.data(), b_count_};
    Warps warps{.first = arguments};
    warps.strides[static_cast<std::size_t>(OperandName::b)] = b_stride;
    warps.strides[static_cast<std::size_t>(OperandName::c)] = accumulates ? d_stride : 0;
    warps.destination_stride = d_stride;
    warps.count = count_ - first;
    return warps;
  }

 private:
  std::size_t count_, d_count_, a_count_, b_count_;
  std::ptrdiff_t d_stride_;  ///< words from a tile's D to the next one's
  std::array<std::uint32_t*, 4> d_{}, next_d_{};
  std::array<const std::uint32_t*, 4> a_{}, b_{}, next_b_{}, next_c_{};
};

}  // namespace

void multiply_tiles(const TileProducts& products, std::uint32_t* d, const std::uint32_t* a, const std::uint32_t* b, Arguments& arguments,
                    bool accumulates, const ExecutionOptions& options, std::ptrdiff_t next_d) {
  const Register zeros{};
  TileOperands operands(products, d, next_d, a, b);
  const auto count = static_cast<std::size_t>(products.count);
  for (std::size_t next = 0; next < count; ++next) {
    const Warps warps = operands.tiles(next, arguments, zeros.data(), accumulates);
    const std::size_t done = options.path == Path::fast && products.fast != nullptr ? products.fast->execute(warps) : 0;
    next += done;
    if (next == count) break;
    if (done != 0) operands.tiles(next, arguments, zeros.data(), accumulates);
    execute(products.tile, products.lowering, arguments, options);
  }
}

bool multiply_chain(const TileProducts& products, std::uint32_t* d, std::ptrdiff_t next_d, std::span<const TileFactors> chain,
                    bool accumulates, const ExecutionOptions& options) {
  if (options.path != Path::fast || products.fast == nullptr) return false;
  const Register zeros{};
  std::array<Arguments, max_chain> arguments;
  const auto operands_of = [&](std::size_t i) {  // those behind the last product are not used
    const TileFactors& factors = chain[std::min(i, chain.size() - 1)];
    return TileOperands(products, d, next_d, factors.a, factors.b);
  };
  const auto execute_all = [&]<std::size_t... i>(std::index_sequence<i...>) {
    std::array<TileOperands, max_chain> operands{operands_of(i)...};
    const std::array<Warps, max_chain> warps{operands[i].tiles(0, arguments[i], zeros.data(), accumulates || i != 0)...};
    return products.fast->execute_chain(std::span(warps).first(chain.size()));
  };
  return execute_all(std::make_index_sequence<max_chain>());
}

void multiply_tiles(const TileProducts& products, RegisterList d, const std::uint32_t* a, const std::uint32_t* b, bool accumulates,
                    const ExecutionOptions& options) {
  constexpr std::size_t most_b = 4;  // registers of a tile
  const Register zeros{};
  const auto a_count = static_cast<std::size_t>(products.tile.operand(OperandName::a).registers());
  const auto b_count = static_cast<std::size_t>(products.tile.operand(OperandName::b).registers());
  const std::size_t d_count = d.size() / static_cast<std::size_t>(products.count);
  std::array<const std::uint32_t*, 4> of_a, of_c;
  std::array<const std::uint32_t*, ProductRun::most * most_b> of_b;
  for (std::size_t i = 0; i < a_count; ++i) of_a[i] = a + i * warp_size;
  for (std::size_t i = 0; i < b_count * static_cast<std::size_t>(products.count); ++i) of_b[i] = b + i * warp_size;
  of_c.fill(zeros.data());
  std::array<Arguments, ProductRun::most> tiles;
  for (std::size_t i = 0; i < static_cast<std::size_t>(products.count); ++i) {
    tiles[i].destination = d.subspan(i * d_count, d_count);
    tiles[i].source(OperandName::c) =
        accumulates ? ConstRegisterList(d.data() + i * d_count, d_count) : ConstRegisterList(of_c.data(), d_count);
    tiles[i].source(OperandName::a) = {of_a.data(), a_count};
    tiles[i].source(OperandName::b) = {of_b.data() + i * b_count, b_count};
  }
  for (std::span<const Arguments> rest = std::span(tiles).first(static_cast<std::size_t>(products.count)); !rest.empty();
       rest = rest.subspan(1)) {
    if (options.path == Path::fast && products.fast != nullptr) rest = rest.subspan(execute(*products.fast, {rest, ~std::uint32_t{1}}));
    if (rest.empty()) return;
    execute(products.tile, products.lowering, rest.front(), options);
  }
}

}  // namespace warpmat::inline v0_1
