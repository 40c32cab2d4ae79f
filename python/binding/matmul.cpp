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

class TiledProduct {
 public:
  TiledProduct(const TileProduct& product, const Plane& a, const Plane& b, const std::optional<Plane>& c, const Plane& d,
               std::vector<int> order, int promote_every, const ExecutionOptions& options)
      : product_(product),
        shape_(product.tile().shape),
        a_(a),
        b_(b),
        c_(c),
        d_(d),
        order_(std::move(order)),
        promote_every_(promote_every),
        options_(options),
        tile_columns_(static_cast<std::size_t>(tiles_of(b.columns, shape_.n))),
        b_words_(static_cast<std::size_t>(tiles_of(b.rows, shape_.k)) * tile_columns_ * product.b().words()) {}

  void run(unsigned jobs) {
    const auto steps = static_cast<std::size_t>(tiles_of(b_.rows, shape_.k));
    run_tasks(steps, jobs, [this](std::size_t step, const Worker&) { scatter_b(static_cast<int>(step)); });
    const auto rows = static_cast<std::size_t>(tiles_of(a_.rows, shape_.m));
    std::vector<Row> scratch(worker_count(rows, jobs));
    run_tasks(rows, jobs,
              [&](std::size_t row, Worker& worker) { multiply_row(static_cast<int>(row) * shape_.m, scratch[worker.number()], worker); });
  }

 private:
  /// The registers of one row of tiles: of A for one step, and the sums of every tile.
  struct Row {
    std::vector<std::uint32_t> a, sums, partial;
  };

  /// The tiles of B of one step, side by side.
  void scatter_b(int step) {
    const ElementTable& table = product_.b();
    std::uint32_t* to = b_words_.data() + static_cast<std::size_t>(step) * tile_columns_ * table.words();
    for (std::size_t j = 0; j < tile_columns_; ++j)
      table.scatter(b_.tile<ConstMatrices>(step * shape_.k, static_cast<int>(j) * shape_.n), to + j * table.words());
  }

  void multiply_row(int row, Row& scratch, Worker& worker) {
    const ElementTable& table = product_.d();
    scratch.a.resize(product_.a().words());
    scratch.sums.assign(tile_columns_ * table.words(), 0);
    if (c_)
      for (std::size_t j = 0; j < tile_columns_; ++j)
        table.scatter(c_->tile<ConstMatrices>(row, static_cast<int>(j) * shape_.n), scratch.sums.data() + j * table.words());
    if (promote_every_ == 0) {
      for (const int step : order_) multiply_step(row, step, scratch.a, scratch.sums, worker);
    } else {
      multiply_promoted(row, scratch, worker);
    }
    for (std::size_t j = 0; j < tile_columns_; ++j)
      table.gather(scratch.sums.data() + j * table.words(), d_.tile<Matrices>(row, static_cast<int>(j) * shape_.n));
  }

  /// Sums of `promote_every_` steps each, added up by ordinary f32 additions.
  void multiply_promoted(int row, Row& scratch, Worker& worker) {
    for (std::size_t first = 0; first < order_.size(); first += static_cast<std::size_t>(promote_every_)) {
      const std::size_t last = std::min(order_.size(), first + static_cast<std::size_t>(promote_every_));
      scratch.partial.assign(scratch.sums.size(), 0);
      for (std::size_t i = first; i < last; ++i) multiply_step(row, order_[i], scratch.a, scratch.partial, worker);
      for (std::size_t i = 0; i < scratch.sums.size(); ++i) scratch.sums[i] = add_f32(scratch.sums[i], scratch.partial[i]);
    }
  }

  /// One instruction for every tile of the row.
  void multiply_step(int row, int step, std::vector<std::uint32_t>& a, std::vector<std::uint32_t>& sums, Worker& worker) {
    worker.breathe();
    product_.a().scatter(a_.tile<ConstMatrices>(row, step * shape_.k), a.data());
    const std::uint32_t* const b = b_words_.data() + static_cast<std::size_t>(step) * tile_columns_ * product_.b().words();
    product_.multiply(a.data(), b, sums.data(), tile_columns_, options_);
  }

  const TileProduct& product_;
  const Shape shape_;
  const Plane a_, b_;
  const std::optional<Plane> c_;
  const Plane d_;
  const std::vector<int> order_;
  const int promote_every_;
  const ExecutionOptions options_;
  const std::size_t tile_columns_;
  std::vector<std::uint32_t> b_words_;  ///< [steps][columns of tiles][words]
};

std::uint8_t* array_bytes(const py::array& array) {
  return static_cast<std::uint8_t*>(const_cast<void*>(array.data()));  // sources are only read
}

void matmul(const TileProduct& product, const py::array& a, const py::array& b, const std::optional<py::array>& c, py::array d,
            std::vector<int> order, int promote_every, std::string_view undefined, std::string_view path, unsigned jobs) {
  std::optional<Plane> c_plane;
  if (c) c_plane.emplace(*c, array_bytes(*c));
  const Plane d_plane(d, static_cast<std::uint8_t*>(d.mutable_data()));
  TiledProduct(product, Plane(a, array_bytes(a)), Plane(b, array_bytes(b)), c_plane, d_plane, std::move(order), promote_every,
               execution_options(undefined, path))
      .run(jobs);
}

}  // namespace

void bind_explanation(py::class_<TileProduct>& type);

void bind_matmul(py::module_& module) {
  py::class_<TileProduct> type(module, "Product");
  type.def(py::init<std::string_view, std::string_view>(), py::arg("opcode"), py::arg("target"));
  type.def(
      py::init([](std::string_view target, std::string_view unit, std::string_view shape, std::string_view a, std::string_view b,
                  std::string_view d) { return TileProduct(WantedProduct{.unit = unit, .shape = shape, .a = a, .b = b, .d = d}, target); }),
      py::arg("target"), py::arg("unit"), py::arg("shape"), py::arg("a"), py::arg("b"), py::arg("d"));
  type.def_property_readonly("tile", &TileProduct::tile, py::return_value_policy::reference);
  type.def_property_readonly("opcode", &TileProduct::opcode);
  type.def_property_readonly("target", [](const TileProduct& product) { return product.target().name; });
  type.def_property_readonly("machine", [](const TileProduct& product) { return product.lowering().machine; });
  type.def_property_readonly("label", [](const TileProduct& product) { return name(label_of(product.lowering())); });
  type.def_property_readonly("source", [](const TileProduct& product) { return product.lowering().source; });
  type.def("matmul", &matmul, py::arg("a"), py::arg("b"), py::arg("c"), py::arg("d"), py::arg("order"), py::arg("promote_every"),
           py::arg("undefined"), py::arg("path"), py::arg("jobs"));
  bind_explanation(type);
}

}  // namespace warpmat::python
