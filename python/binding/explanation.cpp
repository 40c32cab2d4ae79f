#include "python/binding/explanation.h"

#include <fmt/core.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <warpmat/products/tile_product.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <vector>

#include "python/binding/bound_instruction.h"
#include "tools/report/explanation_html.h"
#include "tools/report/explanation_json.h"

namespace warpmat::python {

namespace py = pybind11;

namespace {

using Words = py::array_t<std::uint32_t, py::array::c_style>;
using Bytes = py::array_t<std::uint8_t, py::array::c_style>;

/// The registers and the memory of one warp.
class OneWarp {
 public:
  /// `operands` by name, uint32 [words][32]; the result's registers are zero.
  OneWarp(const Form& form, const std::map<std::string, Words>& operands, const std::optional<Bytes>& memory)
      : memory_(memory ? static_cast<std::size_t>(memory->size()) : 0) {
    if (memory) std::copy_n(memory->data(), memory->size(), memory_.bytes().begin());
    call_.use(memory_);
    call_.operands = std::span(views_).first(form.operands.size());
    for (std::size_t i = 0; i < form.operands.size(); ++i) {
      const Operand& operand = form.operands[i];
      const auto found = operands.find(std::string(name(operand.name)));
      if (operand.written || found != operands.end()) views_[i] = add(operand, operand.written ? nullptr : &found->second);
    }
  }
  OneWarp(const OneWarp&) = delete;
  OneWarp& operator=(const OneWarp&) = delete;

  const Call& call() const { return call_; }

 private:
  const std::vector<std::uint32_t*>& add(const Operand& operand, const Words* from) {
    std::vector<Register>& registers = registers_[static_cast<std::size_t>(operand.name)];
    std::vector<std::uint32_t*>& words = words_[static_cast<std::size_t>(operand.name)];
    registers.resize(static_cast<std::size_t>(operand.words()));
    if (from != nullptr && from->size() != static_cast<py::ssize_t>(registers.size()) * warp_size)
      throw std::invalid_argument(fmt::format("{} has another number of words", name(operand.name)));
    for (std::size_t i = 0; i < registers.size(); ++i) {
      if (from != nullptr) std::copy_n(from->data() + i * warp_size, warp_size, registers[i].begin());
      words.push_back(registers[i].data());
    }
    return words;
  }

  std::array<std::vector<Register>, operand_name_count> registers_;    ///< by OperandName
  std::array<std::vector<std::uint32_t*>, operand_name_count> words_;  ///< the same
  SharedMemory memory_;
  std::array<RegisterView, operand_name_count> views_;
  Call call_;
};

py::tuple explain_one(const BoundInstruction& bound, const std::map<std::string, Words>& operands, const std::optional<Bytes>& memory,
                      const std::array<int, 3>& element, const std::string& against, std::string_view undefined) {
  const OneWarp warp(bound.form(), operands, memory);
  if (const auto problem = bound.instruction().problem(warp.call())) throw std::invalid_argument(*problem);
  return explanation_tuple(explain_pair(bound.instruction(), warp.call(), {element[1], element[2], element[0]}, against,
                                        execution_options(undefined, "reference")));
}

/// An element of one tile of the product. Throws as explain_pair.
ExplanationPair explain_pair_of(const TileProduct& product, const Call& call, const Element& element, const std::string& against,
                                const ExecutionOptions& options) {
  if (product.instruction()) return explain_pair(*product.instruction(), call, element, against, options);
  if (product.wgmma() != nullptr) return explain_pair(*product.wgmma(), call, element, against, options);
  return explain_pair(NamedProduct{product.opcode(), *product.tensor(), &product.target()}, call, element, against, options);
}

/// One tile of the product.
py::tuple explain_tile(const TileProduct& product, const std::map<std::string, Words>& operands, const std::array<int, 2>& element,
                       const std::string& against, std::string_view undefined) {
  const OneWarp warp(product.tile(), operands, std::nullopt);
  return explanation_tuple(
      explain_pair_of(product, warp.call(), {element[0], element[1], 0}, against, execution_options(undefined, "reference")));
}

}  // namespace

py::tuple explanation_tuple(const ExplanationPair& pair) {
  py::object parts = py::none(), other = py::none();
  if (pair.other) {
    parts = py::str(parting_text(pair.one, *pair.other));
    other = explanation_tuple({*pair.other, std::nullopt, pair.model});
  }
  return py::make_tuple(explanation_json(pair.one, pair.beside()).dump(), explanation_text(pair.one, pair.beside()),
                        explanation_part_html(pair.one, pair.beside()), parts, other);
}

void bind_explanation(py::class_<BoundInstruction>& type) {
  type.def("explain", &explain_one, py::arg("operands"), py::arg("memory"), py::arg("element"), py::arg("against"), py::arg("undefined"));
}

void bind_explanation(py::class_<TileProduct>& type) {
  type.def("explain", &explain_tile, py::arg("operands"), py::arg("element"), py::arg("against"), py::arg("undefined"));
}

}  // namespace warpmat::python
