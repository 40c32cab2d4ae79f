#include <fmt/core.h>
#include <pybind11/stl.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "python/binding/bound_instruction.h"
#include "python/binding/tasks.h"
#include "python/binding/tile_product.h"

// A product of matrices of any size by the tiles of one instruction, chained along K as a kernel does: the sums of one instruction are
// operand c of the next.

namespace warpmat::python {

namespace py = pybind11;

namespace {

/// A two-dimensional NumPy array of bit patterns.
struct Plane {
  Plane(const py::array& array, std::uint8_t* data_)
      : data(data_),
        bytes(static_cast<std::size_t>(array.itemsize())),
        rows(static_cast<int>(array.shape(0))),
        columns(static_cast<int>(array.shape(1))),
        row_stride(array.strides(0)),
        column_stride(array.strides(1)) {}

  std::uint8_t* data;
  std::size_t bytes;
  int rows, columns;
  std::ptrdiff_t row_stride, column_stride;

  /// The tile from (`row`, `column`) on, cut off at the matrix's edge.
  template <typename View>
  View tile(int row, int column) const {
    return {data + row * row_stride + column * column_stride, bytes, 0, row_stride, column_stride, rows - row, columns - column};
  }
};

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

/// Scale factors are there if the product has block scales.
struct Planes {
  Plane a, b, d;
  std::optional<Plane> c, scale_a, scale_b;
};

class TiledProduct {
 public:
  TiledProduct(const TileProduct& product, const Planes& planes, std::vector<int> order, int promote_every, const ExecutionOptions& options)
      : product_(product),
        shape_(product.tile().shape),
        planes_(planes),
        order_(std::move(order)),
        promote_every_(promote_every),
        options_(options),
        tile_columns_(static_cast<std::size_t>(tiles_of(planes.b.columns, shape_.n))),
        b_words_(steps() * tile_columns_ * product.b().words()),
        scale_b_words_(planes.scale_b ? steps() * tile_columns_ * product.scale_b()->words() : 0) {}

  void run(unsigned jobs) {
    const std::size_t steps = this->steps();
    run_tasks(steps, jobs, [this](std::size_t step, const Worker&) { scatter_b(static_cast<int>(step)); });
    const auto rows = static_cast<std::size_t>(tiles_of(planes_.a.rows, shape_.m));
    std::vector<Row> scratch(worker_count(rows, jobs));
    run_tasks(rows, jobs,
              [&](std::size_t row, Worker& worker) { multiply_row(static_cast<int>(row) * shape_.m, scratch[worker.number()], worker); });
  }

 private:
  /// The registers of one row of tiles: of A for one step, and the sums of every tile.
  struct Row {
    std::vector<std::uint32_t> a, scale_a, sums, partial;
  };

  std::size_t steps() const { return static_cast<std::size_t>(tiles_of(planes_.b.rows, shape_.k)); }

  /// The tiles of B of one step, side by side, and their scale factors.
  void scatter_b(int step) {
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

  void multiply_row(int row, Row& scratch, Worker& worker) {
    const ElementTable& table = product_.d();
    scratch.a.resize(product_.a().words());
    scratch.sums.assign(tile_columns_ * table.words(), 0);
    if (planes_.scale_a) scratch.scale_a.resize(product_.scale_a()->words());
    if (planes_.c)
      for (std::size_t j = 0; j < tile_columns_; ++j)
        table.scatter(planes_.c->tile<ConstMatrices>(row, static_cast<int>(j) * shape_.n), scratch.sums.data() + j * table.words());
    if (promote_every_ == 0) {
      for (const int step : order_) multiply_step(row, step, scratch, scratch.sums, worker);
    } else {
      multiply_promoted(row, scratch, worker);
    }
    for (std::size_t j = 0; j < tile_columns_; ++j)
      table.gather(scratch.sums.data() + j * table.words(), planes_.d.tile<Matrices>(row, static_cast<int>(j) * shape_.n));
  }

  /// Sums of `promote_every_` steps each, added up by ordinary f32 additions.
  void multiply_promoted(int row, Row& scratch, Worker& worker) {
    for (std::size_t first = 0; first < order_.size(); first += static_cast<std::size_t>(promote_every_)) {
      const std::size_t last = std::min(order_.size(), first + static_cast<std::size_t>(promote_every_));
      scratch.partial.assign(scratch.sums.size(), 0);
      for (std::size_t i = first; i < last; ++i) multiply_step(row, order_[i], scratch, scratch.partial, worker);
      for (std::size_t i = 0; i < scratch.sums.size(); ++i) scratch.sums[i] = add_f32(scratch.sums[i], scratch.partial[i]);
    }
  }

  /// One instruction for every tile of the row.
  void multiply_step(int row, int step, Row& scratch, std::vector<std::uint32_t>& sums, Worker& worker) {
    worker.breathe();
    product_.a().scatter(planes_.a.tile<ConstMatrices>(row, step * shape_.k), scratch.a.data());
    if (planes_.scale_a)
      product_.scale_a()->scatter(planes_.scale_a->tile<ConstMatrices>(row, step * product_.scale_vector()), scratch.scale_a.data());
    const std::size_t first = static_cast<std::size_t>(step) * tile_columns_;
    const std::uint32_t* const scale_b = planes_.scale_b ? scale_b_words_.data() + first * product_.scale_b()->words() : nullptr;
    product_.multiply({scratch.a.data(), b_words_.data() + first * product_.b().words(), scratch.scale_a.data(), scale_b, sums.data()},
                      tile_columns_, options_);
  }

  const TileProduct& product_;
  const Shape shape_;
  const Planes planes_;
  const std::vector<int> order_;
  const int promote_every_;
  const ExecutionOptions options_;
  const std::size_t tile_columns_;
  std::vector<std::uint32_t> b_words_, scale_b_words_;  ///< [steps][columns of tiles][words]
};

Plane read(const py::array& array) {
  return {array, static_cast<std::uint8_t*>(const_cast<void*>(array.data()))};  // sources are only read
}

std::optional<Plane> read(const std::optional<py::array>& array) {
  return array ? std::optional(read(*array)) : std::nullopt;
}

void matmul(const TileProduct& product, const py::array& a, const py::array& b, const std::optional<py::array>& c,
            const std::optional<py::array>& scale_a, const std::optional<py::array>& scale_b, py::array d, std::vector<int> order,
            int promote_every, std::string_view undefined, std::string_view path, unsigned jobs) {
  const Planes planes{.a = read(a),
                      .b = read(b),
                      .d = Plane(d, static_cast<std::uint8_t*>(d.mutable_data())),
                      .c = read(c),
                      .scale_a = read(scale_a),
                      .scale_b = read(scale_b)};
  TiledProduct(product, planes, std::move(order), promote_every, execution_options(undefined, path)).run(jobs);
}

}  // namespace

void bind_explanation(py::class_<TileProduct>& type);

void bind_matmul(py::module_& module) {
  py::class_<TileProduct> type(module, "Product");
  type.def(py::init<std::string_view, std::string_view>(), py::arg("opcode"), py::arg("target"));
  type.def(py::init([](std::string_view target, std::string_view unit, std::string_view shape, std::string_view a, std::string_view b,
                       std::string_view d, std::string_view scale, int block) {
             const WantedProduct wanted{.unit = unit, .shape = shape, .a = a, .b = b, .d = d, .scale = scale, .block = block};
             return TileProduct(wanted, target);
           }),
           py::arg("target"), py::arg("unit"), py::arg("shape"), py::arg("a"), py::arg("b"), py::arg("d"), py::arg("scale"),
           py::arg("block"));
  type.def_property_readonly("tile", &TileProduct::tile, py::return_value_policy::reference);
  type.def_property_readonly("opcode", &TileProduct::opcode);
  type.def_property_readonly("target", [](const TileProduct& product) { return product.target().name; });
  type.def_property_readonly("machine", [](const TileProduct& product) { return product.lowering().machine; });
  type.def_property_readonly("label", [](const TileProduct& product) { return name(label_of(product.lowering())); });
  type.def_property_readonly("source", [](const TileProduct& product) { return product.lowering().source; });
  type.def("matmul", &matmul, py::arg("a"), py::arg("b"), py::arg("c"), py::arg("scale_a"), py::arg("scale_b"), py::arg("d"),
           py::arg("order"), py::arg("promote_every"), py::arg("undefined"), py::arg("path"), py::arg("jobs"));
  bind_explanation(type);
}

}  // namespace warpmat::python
