#include <warpmat/products/tiled_product.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

namespace warpmat {
namespace {

int tiles_of(int size, int tile) {
  return (size + tile - 1) / tile;
}

/// FADD on two f32, to nearest even, with canonical NaN.
std::uint32_t add_f32(std::uint32_t x, std::uint32_t y) {
  float a, b;
  std::memcpy(&a, &x, sizeof a);
  std::memcpy(&b, &y, sizeof b);
  const float sum = a + b;
  if (std::isnan(sum)) return 0x7fffffff;
  std::uint32_t bits;
  std::memcpy(&bits, &sum, sizeof bits);
  return bits;
}

}  // namespace

TiledProduct::TiledProduct(const TileProduct& product, const Planes& planes, std::vector<int> order, int promote_every,
                           const ExecutionOptions& options)
    : product_(product),
      shape_(product.tile().shape),
      planes_(planes),
      order_(std::move(order)),
      promote_every_(promote_every),
      options_(options),
      tile_columns_(static_cast<std::size_t>(tiles_of(planes.b.columns, shape_.n))),
      b_words_(steps() * tile_columns_ * product.b().words()),
      scale_b_words_(planes.scale_b ? steps() * tile_columns_ * product.scale_b()->words() : 0) {}

std::size_t TiledProduct::rows() const {
  return static_cast<std::size_t>(tiles_of(planes_.a.rows, shape_.m));
}

void TiledProduct::run(std::size_t threads, const RunTasks& run_tasks) {
  run_tasks(steps(), [this](std::size_t step, std::size_t, const auto&) { scatter_b(static_cast<int>(step)); });
  std::vector<Row> scratch(threads);
  run_tasks(rows(), [&](std::size_t row, std::size_t thread, const std::function<void()>& breathe) {
    multiply_row(static_cast<int>(row) * shape_.m, scratch[thread], breathe);
  });
}

std::size_t TiledProduct::steps() const {
  return static_cast<std::size_t>(tiles_of(planes_.b.rows, shape_.k));
}

/// The tiles of B of one step, side by side, and their scale factors.
void TiledProduct::scatter_b(int step) {
  const ElementTable& table = product_.b();
  std::uint32_t* to = b_words_.data() + static_cast<std::size_t>(step) * tile_columns_ * table.words();
  for (std::size_t j = 0; j < tile_columns_; ++j)
    table.scatter(planes_.b.tile<ConstMatrices>(step * shape_.k, static_cast<int>(j) * shape_.n), to + j * table.words());
  if (!planes_.scale_b) return;
  const ElementTable& scales = *product_.scale_b();
  std::uint32_t* const to_scales = scale_b_words_.data() + static_cast<std::size_t>(step) * tile_columns_ * scales.words();
  for (std::size_t j = 0; j < tile_columns_; ++j)
    scales.scatter(planes_.scale_b->tile<ConstMatrices>(step * product_.scale_vector(), static_cast<int>(j) * shape_.n),
                   to_scales + j * scales.words());
}

void TiledProduct::multiply_row(int row, Row& scratch, const std::function<void()>& breathe) {
  const ElementTable& table = product_.d();
  scratch.a.resize(product_.a().words());
  if (planes_.e) scratch.e.resize(product_.e()->words());
  scratch.sums.assign(tile_columns_ * table.words(), 0);
  if (planes_.scale_a) scratch.scale_a.resize(product_.scale_a()->words());
  if (planes_.c)
    for (std::size_t j = 0; j < tile_columns_; ++j)
      table.scatter(planes_.c->tile<ConstMatrices>(row, static_cast<int>(j) * shape_.n), scratch.sums.data() + j * table.words());
  if (promote_every_ == 0) {
    for (const int step : order_) multiply_step(row, step, scratch, scratch.sums, breathe);
  } else {
    multiply_promoted(row, scratch, breathe);
  }
  for (std::size_t j = 0; j < tile_columns_; ++j)
    table.gather(scratch.sums.data() + j * table.words(), planes_.d.tile<Matrices>(row, static_cast<int>(j) * shape_.n));
}

/// Sums of `promote_every_` steps each, added up by ordinary f32 additions.
void TiledProduct::multiply_promoted(int row, Row& scratch, const std::function<void()>& breathe) {
  for (std::size_t first = 0; first < order_.size(); first += static_cast<std::size_t>(promote_every_)) {
    const std::size_t last = std::min(order_.size(), first + static_cast<std::size_t>(promote_every_));
    scratch.partial.assign(scratch.sums.size(), 0);
    for (std::size_t i = first; i < last; ++i) multiply_step(row, order_[i], scratch, scratch.partial, breathe);
    for (std::size_t i = 0; i < scratch.sums.size(); ++i) scratch.sums[i] = add_f32(scratch.sums[i], scratch.partial[i]);
  }
}

/// One instruction for every tile of the row.
void TiledProduct::multiply_step(int row, int step, Row& scratch, std::vector<std::uint32_t>& sums, const std::function<void()>& breathe) {
  breathe();
  product_.a().scatter(planes_.a.tile<ConstMatrices>(row, step * product_.a().columns()), scratch.a.data());
  if (planes_.e) product_.e()->scatter(planes_.e->tile<ConstMatrices>(row, step * product_.e()->columns()), scratch.e.data());
  if (planes_.scale_a)
    product_.scale_a()->scatter(planes_.scale_a->tile<ConstMatrices>(row, step * product_.scale_vector()), scratch.scale_a.data());
  const std::size_t first = static_cast<std::size_t>(step) * tile_columns_;
  const std::uint32_t* const scale_b = planes_.scale_b ? scale_b_words_.data() + first * product_.scale_b()->words() : nullptr;
  const std::uint32_t* const b = b_words_.data() + first * product_.b().words();
  product_.multiply({scratch.a.data(), scratch.e.data(), b, scratch.scale_a.data(), scale_b, sums.data()}, tile_columns_, options_);
}

std::vector<int> steps_of(const TileProduct& product, int size) {
  std::vector<int> steps(static_cast<std::size_t>(tiles_of(size, product.tile().shape.k)));
  std::iota(steps.begin(), steps.end(), 0);
  return steps;
}

}  // namespace warpmat
