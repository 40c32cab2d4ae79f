#include <warpmat/execute/tile_products.h>

#include <algorithm>
#include <array>
#include <utility>

#include <warpmat/execute/fast/fast.h>
#include <warpmat/execute/product_run.h>
#include <warpmat/execute/reference/execute.h>

namespace warpmat {
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
  Warps tiles(std::size_t first, Batch& batch, const std::uint32_t* zeros, bool accumulates) {
    const std::size_t b_stride = b_count_ * warp_size, d_stride = static_cast<std::size_t>(d_stride_);
    for (std::size_t i = 0; i < d_count_; ++i) {
      next_d_[i] = d_[i] + static_cast<std::ptrdiff_t>(first) * d_stride_;
      next_c_[i] = accumulates ? next_d_[i] : zeros;
    }
    for (std::size_t i = 0; i < b_count_; ++i) next_b_[i] = b_[i] + first * b_stride;
    batch.destination = {std::span(next_d_).first(d_count_), d_stride};
    batch.source(OperandName::c) = {std::span(next_c_).first(d_count_), accumulates ? d_stride : 0};
    batch.source(OperandName::a) = std::span(a_).first(a_count_);
    batch.source(OperandName::b) = {std::span(next_b_).first(b_count_), b_stride};
    return Warps::of(batch, count_ - first);
  }

 private:
  std::size_t count_, d_count_, a_count_, b_count_;
  std::ptrdiff_t d_stride_;  ///< words from a tile's D to the next one's
  std::array<std::uint32_t*, 4> d_{}, next_d_{};
  std::array<const std::uint32_t*, 4> a_{}, b_{}, next_b_{}, next_c_{};
};

}  // namespace

void multiply_tiles(const TileProducts& products, std::uint32_t* d, const std::uint32_t* a, const std::uint32_t* b, Batch& batch,
                    bool accumulates, const ExecutionOptions& options, std::ptrdiff_t next_d) {
  const Register zeros{};
  TileOperands operands(products, d, next_d, a, b);
  const auto count = static_cast<std::size_t>(products.count);
  for (std::size_t next = 0; next < count; ++next) {
    const Warps warps = operands.tiles(next, batch, zeros.data(), accumulates);
    const std::size_t done = options.path == Path::fast && products.fast != nullptr ? products.fast->execute(warps) : 0;
    next += done;
    if (next == count) break;
    if (done != 0) operands.tiles(next, batch, zeros.data(), accumulates);
    execute(products.tile, products.lowering, batch, options);
  }
}

bool multiply_chain(const TileProducts& products, std::uint32_t* d, std::ptrdiff_t next_d, std::span<const TileFactors> chain,
                    bool accumulates, const ExecutionOptions& options) {
  if (options.path != Path::fast || products.fast == nullptr) return false;
  const Register zeros{};
  std::array<Batch, max_chain> batches;
  const auto operands_of = [&](std::size_t i) {  // those behind the last product are not used
    const TileFactors& factors = chain[std::min(i, chain.size() - 1)];
    return TileOperands(products, d, next_d, factors.a, factors.b);
  };
  const auto execute_all = [&]<std::size_t... i>(std::index_sequence<i...>) {
    std::array<TileOperands, max_chain> operands{operands_of(i)...};
    const std::array<Warps, max_chain> warps{operands[i].tiles(0, batches[i], zeros.data(), accumulates || i != 0)...};
    return products.fast->execute_chain(std::span(warps).first(chain.size()));
  };
  return execute_all(std::make_index_sequence<max_chain>());
}

void multiply_tiles(const TileProducts& products, RegisterList d, const std::uint32_t* a, const std::uint32_t* b, bool accumulates,
                    const ExecutionOptions& options) {
  constexpr std::size_t most_registers = 4;  // of a tile's operand
  const Register zeros{};
  const auto count = static_cast<std::size_t>(products.count);
  const auto a_count = static_cast<std::size_t>(products.tile.operand(OperandName::a).registers());
  const auto b_count = static_cast<std::size_t>(products.tile.operand(OperandName::b).registers());
  const std::size_t d_count = d.size() / count, step = 2 * d_count + a_count + b_count;
  std::array<std::uint32_t*, ProductRun::most * 4 * most_registers> table;  // of each tile D, C, A and B
  // Sources are only read. Their pointers are not const because lists of registers share one type.
  const auto read = [](const std::uint32_t* words) { return const_cast<std::uint32_t*>(words); };
  std::uint32_t** next = table.data();
  for (std::size_t tile = 0; tile < count; ++tile) {
    for (std::size_t i = 0; i < d_count; ++i) *next++ = d[tile * d_count + i];
    for (std::size_t i = 0; i < d_count; ++i) *next++ = accumulates ? d[tile * d_count + i] : read(zeros.data());
    for (std::size_t i = 0; i < a_count; ++i) *next++ = read(a + i * warp_size);
    for (std::size_t i = 0; i < b_count; ++i) *next++ = read(b + (tile * b_count + i) * warp_size);
  }
  OperandViews views;
  const auto go_to = [&](std::size_t tile) {
    const std::span<std::uint32_t* const> of_tile = std::span(table).subspan(tile * step, step);
    views.set_written(of_tile.first(d_count));
    views.set_source(OperandName::c, of_tile.subspan(d_count, d_count));
    views.set_source(OperandName::a, of_tile.subspan(2 * d_count, a_count));
    views.set_source(OperandName::b, of_tile.last(b_count));
  };
  for (std::size_t tile = 0; tile < count; ++tile) {
    go_to(tile);
    if (options.path == Path::fast && products.fast != nullptr) {
      tile += execute(*products.fast, {.first = views, .count = count - tile, .step = step, .same_a = ~std::uint32_t{1}});
      if (tile == count) return;
      go_to(tile);
    }
    execute(products.tile, products.lowering, views.batch(products.tile, {}), options);
  }
}

}  // namespace warpmat
