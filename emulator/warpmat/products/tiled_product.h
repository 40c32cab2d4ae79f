#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <warpmat/products/tile_product.h>

namespace warpmat {

/// A matrix of bit patterns of `bytes` bytes (1, 2, 4 or 8) each, with any strides in bytes.
struct Plane {
  std::uint8_t* data = nullptr;
  std::size_t bytes = 0;
  int rows = 0, columns = 0;
  std::ptrdiff_t row_stride = 0, column_stride = 0;

  /// The tile from (`row`, `column`) on, cut off at the matrix's edge.
  template <typename View>
  View tile(int row, int column) const {
    return {data + row * row_stride + column * column_stride, bytes, 0, row_stride, column_stride, rows - row, columns - column};
  }
};

/// The matrices of D = A * B + C. Only D is written. Scale factors are there if the product has block scales. Of a sparse A these are the
/// stored elements and the metadata, a code for each group, both of whole tiles.
struct Planes {
  Plane a, b, d;
  std::optional<Plane> c{}, scale_a{}, scale_b{}, e{};
};

/// One task: its number, that of its thread, from 0, and what it calls every few milliseconds, which may throw to end the work.
using ProductTask = std::function<void(std::size_t task, std::size_t thread, const std::function<void()>& breathe)>;
/// Runs tasks 0 to `tasks` - 1, and throws what one of them threw.
using RunTasks = std::function<void(std::size_t tasks, const ProductTask& task)>;

/// A product of matrices of any size by the tiles of one instruction, chained along K as a kernel does: the sums of one instruction are
/// operand c of the next.
class TiledProduct {
 public:
  /// `order`: the steps along K, each once. `promote_every`: steps after which sums move on to other f32 sums; 0: never. The product and
  /// the matrices must outlive it.
  TiledProduct(const TileProduct& product, const Planes& planes, std::vector<int> order, int promote_every,
               const ExecutionOptions& options);

  /// Rows of tiles at once: the tasks of run() are not more.
  std::size_t rows() const;
  /// `threads`: more than any number of a thread that `run_tasks` gives.
  void run(std::size_t threads, const RunTasks& run_tasks);

 private:
  /// The registers of one row of tiles: of A for one step, and the sums of every tile.
  struct Row {
    std::vector<std::uint32_t> a, e, scale_a, sums, partial;
  };

  std::size_t steps() const;
  void scatter_b(int step);
  void multiply_row(int row, Row& scratch, const std::function<void()>& breathe);
  void multiply_promoted(int row, Row& scratch, const std::function<void()>& breathe);
  void multiply_step(int row, int step, Row& scratch, std::vector<std::uint32_t>& sums, const std::function<void()>& breathe);

  const TileProduct& product_;
  const Shape shape_;
  const Planes planes_;
  const std::vector<int> order_;
  const int promote_every_;
  const ExecutionOptions options_;
  const std::size_t tile_columns_;
  std::vector<std::uint32_t> b_words_, scale_b_words_;  ///< [steps][columns of tiles][words]
};

/// The steps along K of `size` elements, in ascending order.
std::vector<int> steps_of(const TileProduct& product, int size);

}  // namespace warpmat
