#include <fmt/core.h>
#include <pybind11/stl.h>
#include <warpmat/execute/operands/batch.h>

#include <map>
#include <optional>
#include <stdexcept>

#include "python/binding/bound_instruction.h"
#include "python/binding/case_memory.h"
#include "python/binding/module.h"
#include "python/binding/tasks.h"

namespace warpmat::python {

namespace py = pybind11;

namespace {

/// Cases per task: few enough for their registers to stay in the thread's cache.
constexpr std::size_t cases_at_once = 64;

std::size_t task_count(std::size_t cases) {
  return (cases + cases_at_once - 1) / cases_at_once;
}

// ---- Matrices -----------------------------------------------------------------------------------------------------------------------

/// One source of mma: its matrices, and their registers in a thread's scratch memory.
struct Source {
  OperandName name;
  const ElementTable* table;
  std::optional<CaseMatrices<ConstMatrices>> matrices;  ///< nothing: zeros
  std::size_t words;
};

/// The arguments of one call of mma, shared by all threads.
struct Product {
  const BoundInstruction& bound;
  std::vector<Source> sources;
  CaseMatrices<Matrices> destination;
  MatrixNumbers numbers;
  std::size_t cases;
  ExecutionOptions options;
};

/// One thread's registers for some cases.
class ProductWorker {
 public:
  explicit ProductWorker(const Product& product) : product_(product), sources_(product.sources.size()) {
    destination_.resize(cases() * product.bound.words(OperandName::d));
    batch_.destination = {destination_.data(), product.bound.words(OperandName::d)};
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const Source& source = product.sources[i];
      const bool one = !source.matrices || source.matrices->case_stride == 0;
      sources_[i].resize((one ? 1 : cases()) * source.words);
      batch_.source(source.name) = {sources_[i].data(), one ? 0 : source.words};
      if (one && source.matrices) source.table->scatter(source.matrices->first, sources_[i].data());
    }
    const MatrixNumbers& numbers = product.numbers;
    words_ = {numbers.selector, numbers.ids_a.byte_id, numbers.ids_a.thread_id, numbers.ids_b.byte_id, numbers.ids_b.thread_id};
    batch_.source(OperandName::selector) = {&words_[0], 0, 1, 0};
    batch_.source(OperandName::ids_a) = {&words_[1], 0, 1, 0};
    batch_.source(OperandName::ids_b) = {&words_[3], 0, 1, 0};
  }
  ProductWorker(const ProductWorker&) = delete;
  ProductWorker& operator=(const ProductWorker&) = delete;

  void run(std::size_t first) {
    const std::size_t count = std::min(cases_at_once, product_.cases - first);
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const Source& source = product_.sources[i];
      if (!source.matrices || source.matrices->case_stride == 0) continue;
      for (std::size_t c = 0; c < count; ++c)
        source.table->scatter(source.matrices->of_case(first + c), sources_[i].data() + c * source.words);
    }
    execute_cases(product_.bound.instruction(), NamedCall(product_.bound.form(), batch_).get(), first, count, product_.options);
    const ElementTable& table = product_.bound.table(OperandName::d);
    for (std::size_t c = 0; c < count; ++c) table.gather(destination_.data() + c * table.words(), product_.destination.of_case(first + c));
  }

 private:
  std::size_t cases() const { return std::min(cases_at_once, product_.cases); }

  const Product& product_;
  std::vector<std::vector<std::uint32_t>> sources_;
  std::vector<std::uint32_t> destination_;
  std::array<std::uint32_t, 5> words_{};  ///< selector, ids of A, ids of B
  Batch batch_;
};

void multiply(const BoundInstruction& bound, const std::map<std::string, py::array>& operands, py::array d, const MatrixNumbers& numbers,
              std::string_view undefined, std::string_view path, unsigned jobs) {
  Product product{bound, {}, bound.written_matrices(OperandName::d, d), numbers, 1, execution_options(undefined, path)};
  const bool many = product.destination.case_stride != 0 || d.ndim() > (bound.table(OperandName::d).matrices() > 1 ? 3 : 2);
  if (many) product.cases = static_cast<std::size_t>(d.shape(0));
  for (const Operand& operand : bound.form().operands) {
    if (operand.written || operand.kind != OperandKind::fragment) continue;
    const int matrix = bound.selected(operand.name, numbers);
    Source source{operand.name, &bound.table(operand.name, matrix), {}, bound.words(operand.name)};
    if (const auto found = operands.find(std::string(name(operand.name))); found != operands.end())
      source.matrices = bound.matrices(operand.name, matrix, found->second, product.cases);
    product.sources.push_back(source);
  }
  if (product.cases == 0) return;
  const std::size_t tasks = task_count(product.cases);
  std::vector<std::unique_ptr<ProductWorker>> workers(worker_count(tasks, jobs));
  run_tasks(tasks, jobs, [&](std::size_t task, const Worker& worker) {
    std::unique_ptr<ProductWorker>& own = workers[worker.number()];
    if (own == nullptr) own = std::make_unique<ProductWorker>(product);
    own->run(task * cases_at_once);
  });
}

/// Calls work(case) for all cases; Ctrl-C can end it.
template <typename Work>
void for_cases(std::size_t cases, Work work) {
  run_tasks(task_count(cases), 1, [&](std::size_t task, const Worker&) {
    const std::size_t first = task * cases_at_once, end = std::min(cases, first + cases_at_once);
    for (std::size_t number = first; number < end; ++number) work(number);
  });
}

/// Converts between registers, uint32 [cases][words][32], and matrices.
void scatter(const BoundInstruction& bound, std::string_view operand, int matrix, const py::array& matrices,
             py::array_t<std::uint32_t, py::array::c_style> words) {
  const OperandName name = *find_operand_name(operand);
  const auto cases = static_cast<std::size_t>(words.shape(0));
  const auto from = bound.matrices(name, matrix, matrices, cases);
  const ElementTable& table = bound.table(name, matrix);
  std::uint32_t* const to = words.mutable_data();
  for_cases(cases, [&](std::size_t i) { table.scatter(from.of_case(i), to + i * table.words()); });
}

void gather(const BoundInstruction& bound, std::string_view operand, int matrix,
            const py::array_t<std::uint32_t, py::array::c_style>& words, py::array matrices) {
  const OperandName name = *find_operand_name(operand);
  const auto cases = static_cast<std::size_t>(words.shape(0));
  const auto read = bound.matrices(name, matrix, matrices, cases);  // checks the shape
  const ElementTable& table = bound.table(name, matrix);
  const CaseMatrices<Matrices> to{{static_cast<std::uint8_t*>(matrices.mutable_data()), read.first.bytes, read.first.matrix_stride,
                                   read.first.row_stride, read.first.column_stride, read.first.rows, read.first.columns},
                                  read.case_stride};
  const std::uint32_t* const read_words = words.data();
  for_cases(cases, [&](std::size_t i) { table.gather(read_words + i * table.words(), to.of_case(i)); });
}

// ---- Registers ----------------------------------------------------------------------------------------------------------------------

/// The words of an operand in an array of registers, [cases][registers][32] of uint32 or uint64, with any strides that are multiples of a
/// word.
template <typename Word>
class RegisterArray {
 public:
  RegisterArray(const Operand& operand, const py::array& array, Word* words, std::size_t cases) {
    const bool wide = operand.kind == OperandKind::fragment && operand.fragment.register_bits() == 64;
    const py::ssize_t item = wide ? 8 : 4;
    const auto registers = static_cast<py::ssize_t>(wide ? operand.words() / 2 : operand.words());
    if (array.ndim() != 3 || array.shape(0) != static_cast<py::ssize_t>(cases) || array.shape(1) != registers ||
        array.shape(2) != warp_size || array.itemsize() != item || array.strides(0) % 4 != 0 || array.strides(1) % 4 != 0 ||
        array.strides(2) % 4 != 0)
      throw std::invalid_argument(fmt::format("{} must be uint{}, ({}, {}, 32)", name(operand.name), 8 * item, cases, registers));
    place_ = {words, static_cast<std::size_t>(array.strides(0) / 4), array.strides(1) / 4, array.strides(2) / 4};
    if (!wide) return;
    for (py::ssize_t i = 0; i < registers; ++i)
      for (py::ssize_t half = 0; half < 2; ++half) numbers_.push_back(static_cast<std::uint16_t>(i * array.strides(1) / 4 + half));
    place_ = {words, place_.warp_stride(), 1, place_.lane_stride(), numbers_.data()};
  }

  /// From case `first` on.
  BasicRegisterView<Word> from(std::size_t first) const { return place_.from_warp(first); }

 private:
  BasicRegisterView<Word> place_;
  std::vector<std::uint16_t> numbers_;  ///< for 64-bit registers: low and high halves
};

/// Executes on registers: `operands` by name; the form writes the operand `written`. Stores change `memory`, uint8 [cases][bytes].
void execute(const BoundInstruction& bound, std::size_t cases, const std::map<std::string, py::array>& operands,
             const std::optional<py::array>& memory, std::string_view undefined, std::string_view path, unsigned jobs) {
  const ExecutionOptions options = execution_options(undefined, path);
  std::map<OperandName, RegisterArray<const std::uint32_t>> sources;
  std::optional<RegisterArray<std::uint32_t>> destination;
  for (const Operand& operand : bound.form().operands) {
    const auto found = operands.find(std::string(name(operand.name)));
    if (found == operands.end()) continue;
    py::array array = found->second;
    if (operand.written)
      destination.emplace(operand, array, static_cast<std::uint32_t*>(array.mutable_data()), cases);
    else
      sources.emplace(operand.name,
                      RegisterArray<const std::uint32_t>(operand, array, static_cast<const std::uint32_t*>(array.data()), cases));
  }
  const CaseMemory shared = CaseMemory::of(memory, cases);
  const auto batch_from = [&](std::size_t first) {
    Batch batch;
    for (const auto& [name, array] : sources) batch.source(name) = array.from(first);
    if (destination) batch.destination = destination->from(first);
    if (shared.bytes != nullptr) batch.shared = shared.bytes + first * shared.size;
    batch.shared_bytes = batch.shared_stride = shared.size;
    return batch;
  };
  if (cases == 0) return;
  if (const auto problem = bound.instruction().problem(NamedCall(bound.form(), batch_from(0)).get(), cases))
    throw std::invalid_argument(*problem);
  run_tasks(task_count(cases), jobs, [&](std::size_t task, const Worker&) {
    const std::size_t first = task * cases_at_once;
    execute_cases(bound.instruction(), NamedCall(bound.form(), batch_from(first)).get(), first, std::min(cases_at_once, cases - first),
                  options);
  });
}

/// What one warp accesses in memory: (address, bytes, write, lane, register, bit, row, column, matrix) of each access. `wide`: addresses
/// have 64 bits.
py::list accesses_of(const BoundInstruction& bound, const std::array<std::uint64_t, warp_size>& addresses, bool wide,
                     std::optional<std::uint32_t> stride) {
  std::array<std::uint32_t, 2 * warp_size> words{};
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    words[lane] = static_cast<std::uint32_t>(addresses[lane]);
    words[warp_size + lane] = static_cast<std::uint32_t>(addresses[lane] >> 32);
  }
  Batch batch;
  batch.wide_addresses = wide;
  batch.source(OperandName::p) = {words.data()};
  if (stride) batch.source(OperandName::stride) = {&*stride, 0, 1, 0};
  py::list out;
  for (const MemoryAccess& a : warpmat::accesses(bound.instruction(), NamedCall(bound.form(), batch).get()))
    out.append(py::make_tuple(a.address, a.bytes, a.writes, a.lane, a.reg, a.bit, a.element.row, a.element.column, a.element.matrix));
  return out;
}

}  // namespace

void bind_matmul(py::module_& module);
void bind_explanation(py::class_<BoundInstruction>& type);

void bind_instruction(py::module_& module) {
  py::class_<BoundInstruction> type(module, "Instruction");
  type.def(py::init<std::string_view, std::string_view>(), py::arg("opcode"), py::arg("target"));
  type.def_property_readonly("form", &BoundInstruction::form, py::return_value_policy::reference);
  type.def(
      "mma",
      [](const BoundInstruction& bound, const std::map<std::string, py::array>& operands, py::array d, std::uint32_t selector,
         std::array<std::uint32_t, 2> ids_a, std::array<std::uint32_t, 2> ids_b, std::string_view undefined, std::string_view path,
         unsigned jobs) {
        multiply(bound, operands, std::move(d), {selector, {ids_a[0], ids_a[1]}, {ids_b[0], ids_b[1]}}, undefined, path, jobs);
      },
      py::arg("operands"), py::arg("d"), py::arg("selector"), py::arg("ids_a"), py::arg("ids_b"), py::arg("undefined"), py::arg("path"),
      py::arg("jobs"));
  type.def("execute", &execute, py::arg("cases"), py::arg("operands"), py::arg("memory"), py::arg("undefined"), py::arg("path"),
           py::arg("jobs"));
  type.def("accesses", &accesses_of, py::arg("addresses"), py::arg("wide"), py::arg("stride"));
  type.def("scatter", &scatter, py::arg("operand"), py::arg("matrix"), py::arg("matrices"), py::arg("words"));
  type.def("gather", &gather, py::arg("operand"), py::arg("matrix"), py::arg("words"), py::arg("matrices"));
  type.def(
      "selected",
      [](const BoundInstruction& bound, std::string_view operand, std::uint32_t selector, std::array<std::uint32_t, 2> ids_a,
         std::array<std::uint32_t, 2> ids_b) {
        return bound.selected(*find_operand_name(operand), {selector, {ids_a[0], ids_a[1]}, {ids_b[0], ids_b[1]}});
      },
      py::arg("operand"), py::arg("selector"), py::arg("ids_a"), py::arg("ids_b"));
  bind_matmul(module);
  bind_explanation(type);
}

}  // namespace warpmat::python
