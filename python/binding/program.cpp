#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <warpmat/lists/statement_call.h>
#include <warpmat/operands.h>
#include <warpmat/program.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>

#include "python/binding/banks.h"
#include "python/binding/bound_instruction.h"
#include "python/binding/explanation.h"
#include "python/binding/module.h"
#include "python/binding/tasks.h"
#include "tools/report/bank_program.h"
#include "tools/report/evidence_line.h"

namespace warpmat::python {

namespace py = pybind11;

namespace {

using Words = py::array_t<std::uint32_t, py::array::c_style>;

/// A program and one warp that runs it.
class ProgramRun {
 public:
  ProgramRun(std::string_view text, std::string_view target, std::size_t shared_bytes)
      : program_(std::make_unique<Program>(parse(text, target))), warp_(*program_, shared_bytes) {}

  const Program& program() const { return *program_; }
  Warp& warp() { return warp_; }

  /// The words of register `name`, uint32 [1 or 2][32].
  Words register_words(const std::string& name) {
    const NamedRegister& found = find(name);
    return copied(words_of(found));
  }
  void set_register_words(const std::string& name, const Words& words) { assign(words_of(find(name)), words); }

  /// The words of an operand such as "mma.0.a", uint32 [words][32].
  Words operand_words(std::string_view place) { return copied(words_of(place)); }
  void set_operand_words(std::string_view place, const Words& words) { assign(words_of(place), words); }

  /// The opcode and name of an operand, and the number of the matrix that the statement uses.
  py::tuple operand(std::string_view place) {
    const OperandPlace found = find_operand_place(*program_, place);
    const Form& form = statement(found).matrix()->form();
    if (form.find_operand(found.operand) == nullptr) throw std::invalid_argument(statements_with(*program_, found.operand));
    return py::make_tuple(form.opcode, name(found.operand), selected_matrix(warp_, found.statement, found.operand).value_or(0));
  }

  py::array_t<std::uint8_t> shared() {
    const auto bytes = warp_.shared().bytes();
    return py::array_t<std::uint8_t>(static_cast<py::ssize_t>(bytes.size()), bytes.data());
  }
  void set_shared(std::size_t first, const py::array_t<std::uint8_t, py::array::c_style>& bytes) {
    const auto to = warp_.shared().bytes();
    const auto count = static_cast<std::size_t>(bytes.size());
    if (first > to.size() || count > to.size() - first) throw std::invalid_argument("the bytes leave shared memory");
    std::copy_n(bytes.data(), count, to.begin() + static_cast<std::ptrdiff_t>(first));
  }

  void run(std::string_view undefined, std::string_view path) {
    options_ = execution_options(undefined, path);
    before_ = warp_;
    const py::gil_scoped_release unlocked;
    Signals signals;
    for (const Statement& statement : program_->statements()) {
      execute(statement);
      signals.check();
    }
  }

  /// Explains one element of a matrix statement's result, in a warp that has executed the preceding statements.
  py::tuple explain(std::string_view statement_text, const std::array<int, 3>& element, const std::string& against) const {
    const Statement& wanted = *program_->matrix_statements().at(find_statement(*program_, statement_text));
    Warp warp = before_run();
    for (const Statement& statement : program_->statements()) {
      if (&statement == &wanted) break;
      warp.execute(statement, options_);
    }
    StatementCall call(warp, wanted);
    return explanation_tuple(explain_pair(*wanted.matrix(), call.get(), {element[1], element[2], element[0]}, against, options_));
  }

  py::tuple banks() const {
    Warp warp = before_run();
    BankReport report;
    count_program(warp, options_, report);
    return bank_report(report);
  }

 private:
  void execute(const Statement& statement) {
    try {
      warp_.execute(statement, options_);
    } catch (const Trap& trap) {
      throw trap.at("line " + std::to_string(statement.location().line));
    }
  }
  Warp before_run() const {
    if (!before_) throw std::logic_error("the program has not run yet");
    return *before_;
  }
  const NamedRegister& find(const std::string& name) const {
    if (const NamedRegister* found = program_->find_register(name)) return *found;
    throw std::invalid_argument("the program has no register '" + name + "'");
  }
  std::vector<std::uint32_t*> words_of(const NamedRegister& found) {
    std::vector<std::uint32_t*> words;
    for (int word = 0; word < std::max(1, found.type->bits / 32); ++word) words.push_back(warp_.reg(found.name, word).data());
    return words;
  }
  const Statement& statement(const OperandPlace& place) const { return *program_->matrix_statements().at(place.statement); }
  std::vector<std::uint32_t*> words_of(std::string_view place) {
    const OperandPlace found = find_operand_place(*program_, place);
    const std::vector<Operand>& operands = statement(found).matrix()->form().operands;
    const auto operand = std::ranges::find(operands, found.operand, &Operand::name);
    if (operand == operands.end()) throw std::invalid_argument(statements_with(*program_, found.operand));
    return warp_.words(statement(found).operands().at(static_cast<std::size_t>(operand - operands.begin())));
  }
  static Words copied(const std::vector<std::uint32_t*>& words) {
    Words out(std::vector<py::ssize_t>{static_cast<py::ssize_t>(words.size()), warp_size});
    for (std::size_t i = 0; i < words.size(); ++i) std::copy_n(words[i], warp_size, out.mutable_data() + i * warp_size);
    return out;
  }
  static void assign(const std::vector<std::uint32_t*>& words, const Words& from) {
    if (from.size() != static_cast<py::ssize_t>(words.size() * warp_size)) throw std::invalid_argument("another number of words");
    for (std::size_t i = 0; i < words.size(); ++i) std::copy_n(from.data() + i * warp_size, warp_size, words[i]);
  }

  std::unique_ptr<Program> program_;
  Warp warp_;
  std::optional<Warp> before_;  ///< the warp's state when the program began
  ExecutionOptions options_;
};

py::list registers(const ProgramRun& run) {
  py::list out;
  for (const NamedRegister& r : run.program().registers()) out.append(py::make_tuple(r.name, r.type->name, r.type->bits));
  return out;
}

py::list variables(const ProgramRun& run) {
  py::list out;
  for (const SharedVariable& v : run.program().variables()) out.append(py::make_tuple(v.name, v.type->name, v.address, v.bytes()));
  return out;
}

py::list matrix_statements(const ProgramRun& run) {
  py::list out;
  const auto statements = run.program().matrix_statements();
  for (std::size_t i = 0; i < statements.size(); ++i)
    out.append(py::make_tuple(statement_name(run.program(), i), statements[i]->matrix()->form().opcode));
  return out;
}

}  // namespace

void bind_program(py::module_& module) {
  py::class_<ProgramRun>(module, "ProgramRun")
      .def(py::init<std::string_view, std::string_view, std::size_t>(), py::call_guard<py::gil_scoped_release>(), py::arg("text"),
           py::arg("target"), py::arg("shared_bytes"))
      .def_property_readonly("target", [](const ProgramRun& run) { return run.program().target()->name; })
      .def_property_readonly("registers", &registers)
      .def_property_readonly("variables", &variables)
      .def_property_readonly("matrix_statements", &matrix_statements)
      .def_property_readonly("evidence_line",
                             [](const ProgramRun& run) { return evidence_line(run.program().target()->name, labelled(run.program())); })
      .def("register_words", &ProgramRun::register_words, py::arg("name"))
      .def("set_register_words", &ProgramRun::set_register_words, py::arg("name"), py::arg("words"))
      .def("operand", &ProgramRun::operand, py::arg("place"))
      .def("operand_words", &ProgramRun::operand_words, py::arg("place"))
      .def("set_operand_words", &ProgramRun::set_operand_words, py::arg("place"), py::arg("words"))
      .def("shared", &ProgramRun::shared)
      .def("set_shared", &ProgramRun::set_shared, py::arg("first"), py::arg("bytes"))
      .def("run", &ProgramRun::run, py::arg("undefined"), py::arg("path"))
      .def("explain", &ProgramRun::explain, py::arg("statement"), py::arg("element"), py::arg("against"))
      .def("banks", &ProgramRun::banks);
}

}  // namespace warpmat::python
