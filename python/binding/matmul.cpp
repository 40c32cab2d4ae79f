#include <pybind11/stl.h>
#include <warpmat/products/tiled_product.h>

#include <optional>
#include <stdexcept>

#include "python/binding/bound_instruction.h"
#include "python/binding/tasks.h"

namespace warpmat::python {

namespace py = pybind11;

namespace {

/// A two-dimensional array of bit patterns.
Plane plane_of(const py::array& array, void* data) {
  return {static_cast<std::uint8_t*>(data), static_cast<std::size_t>(array.itemsize()),    static_cast<int>(array.shape(0)),
          static_cast<int>(array.shape(1)), static_cast<std::ptrdiff_t>(array.strides(0)), static_cast<std::ptrdiff_t>(array.strides(1))};
}

Plane read(const py::array& array) {
  return plane_of(array, const_cast<void*>(array.data()));  // sources are only read
}

std::optional<Plane> read(const std::optional<py::array>& array) {
  return array ? std::optional(read(*array)) : std::nullopt;
}

void matmul(const TileProduct& product, const py::array& a, const py::array& b, const std::optional<py::array>& c,
            const std::optional<py::array>& scale_a, const std::optional<py::array>& scale_b, const std::optional<py::array>& e,
            py::array d, std::vector<int> order, int promote_every, std::string_view undefined, std::string_view path, unsigned jobs) {
  const Planes planes{.a = read(a),
                      .b = read(b),
                      .d = plane_of(d, d.mutable_data()),
                      .c = read(c),
                      .scale_a = read(scale_a),
                      .scale_b = read(scale_b),
                      .e = read(e)};
  TiledProduct tiled(product, planes, std::move(order), promote_every, execution_options(undefined, path));
  tiled.run(worker_count(tiled.rows(), jobs), [jobs](std::size_t tasks, const ProductTask& task) {
    run_tasks(tasks, jobs, [&](std::size_t number, Worker& worker) { task(number, worker.number(), [&] { worker.breathe(); }); });
  });
}

}  // namespace

void bind_explanation(py::class_<TileProduct>& type);

void bind_matmul(py::module_& module) {
  py::class_<TileProduct> type(module, "Product");
  type.def(py::init<std::string_view, std::string_view>(), py::arg("opcode"), py::arg("target"));
  type.def(
      py::init([](std::string_view target, std::string_view unit, std::string_view shape, std::string_view a, std::string_view b,
                  std::string_view d, std::string_view scale, int block, bool sparse) {
        const WantedProduct wanted{.unit = unit, .shape = shape, .a = a, .b = b, .d = d, .scale = scale, .block = block, .sparse = sparse};
        return TileProduct(wanted, target);
      }),
      py::arg("target"), py::arg("unit"), py::arg("shape"), py::arg("a"), py::arg("b"), py::arg("d"), py::arg("scale"), py::arg("block"),
      py::arg("sparse"));
  type.def_property_readonly("tile", &TileProduct::tile, py::return_value_policy::reference);
  type.def_property_readonly("opcode", &TileProduct::opcode);
  type.def_property_readonly("target", [](const TileProduct& product) { return product.target().name; });
  type.def_property_readonly("machine", [](const TileProduct& product) { return product.lowering().machine; });
  type.def_property_readonly("label", [](const TileProduct& product) { return name(label_of(product.lowering())); });
  type.def_property_readonly("source", [](const TileProduct& product) { return product.lowering().source; });
  type.def("matmul", &matmul, py::arg("a"), py::arg("b"), py::arg("c"), py::arg("scale_a"), py::arg("scale_b"), py::arg("e"), py::arg("d"),
           py::arg("order"), py::arg("promote_every"), py::arg("undefined"), py::arg("path"), py::arg("jobs"));
  bind_explanation(type);
}

}  // namespace warpmat::python
