#include "python/binding/bound_instruction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/instruction.h>

#include <stdexcept>

namespace warpmat::python {

namespace py = pybind11;

namespace {

bool chosen_by_number(OperandName name) {
  return name == OperandName::e || name == OperandName::scale_a || name == OperandName::scale_b;
}

/// [cases][matrices][rows][columns] of `table`, as text.
std::string shape_text(const ElementTable& table) {
  const std::string matrices = table.matrices() > 1 ? fmt::format("{}, ", table.matrices()) : "";
  return fmt::format("({0}{1}, {2}) or (cases, {0}{1}, {2})", matrices, table.rows(), table.columns());
}

std::string shape_text(const py::array& array) {
  return fmt::format("({})", fmt::join(array.shape(), array.shape() + array.ndim(), ", "));
}

/// The view of the last dimensions of `array`. `cases` is the allowed size of the first dimension.
template <typename View>
CaseMatrices<View> view_of(OperandName name, const ElementTable& table, const py::array& array, decltype(View::data) data,
                           std::size_t cases) {
  const py::ssize_t inner = table.matrices() > 1 ? 3 : 2;
  const py::ssize_t last = array.ndim();
  bool right = last == inner || last == inner + 1;
  right = right && array.shape(last - 1) == table.columns() && array.shape(last - 2) == table.rows();
  right = right && (inner == 2 || array.shape(last - 3) == table.matrices());
  right = right && (last == inner || array.shape(0) == static_cast<py::ssize_t>(cases));
  if (!right)
    throw std::invalid_argument(
        fmt::format("{} has the shape {}; it must be {}", warpmat::name(name), shape_text(array), shape_text(table)));
  const py::ssize_t bytes = array.itemsize();
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
    throw std::invalid_argument(fmt::format("{} has elements of {} bytes; 1, 2, 4 or 8 would be right", warpmat::name(name), bytes));
  CaseMatrices<View> out;
  out.first = {data,
               static_cast<std::size_t>(bytes),
               inner == 3 ? array.strides(last - 3) : 0,
               array.strides(last - 2),
               array.strides(last - 1),
               table.rows(),
               table.columns()};
  out.case_stride = last == inner ? 0 : array.strides(0);
  return out;
}

}  // namespace

ExecutionOptions execution_options(std::string_view undefined, std::string_view path) {
  if (undefined != "trap" && undefined != "hardware")
    throw std::invalid_argument(fmt::format("undefined is '{}'; there are 'trap' and 'hardware'", undefined));
  if (path != "fast" && path != "reference")
    throw std::invalid_argument(fmt::format("path is '{}'; there are 'fast' and 'reference'", path));
  return {path == "fast" ? Path::fast : Path::reference, undefined == "trap" ? Undefined::trap : Undefined::hardware};
}

BoundInstruction::BoundInstruction(std::string_view opcode, std::string_view target) : instruction_(opcode, target) {
  for (const Operand& operand : form().operands) {
    if (operand.kind != OperandKind::fragment) continue;
    std::vector<ElementTable>& tables = tables_[static_cast<std::size_t>(operand.name)];
    if (!chosen_by_number(operand.name)) {
      tables.emplace_back(operand.fragment);
      continue;
    }
    for (int matrix = 0; matrix < operand.fragment.matrices(); ++matrix) tables.emplace_back(operand.fragment, matrix);
  }
}

const ElementTable& BoundInstruction::table(OperandName name, int matrix) const {
  const std::vector<ElementTable>& tables = tables_[static_cast<std::size_t>(name)];
  if (tables.empty()) throw std::invalid_argument(fmt::format("{} has no matrix {}", form().opcode, warpmat::name(name)));
  return tables.at(static_cast<std::size_t>(matrix));
}

CaseMatrices<ConstMatrices> BoundInstruction::matrices(OperandName name, int matrix, const py::array& array, std::size_t cases) const {
  return view_of<ConstMatrices>(name, table(name, matrix), array, static_cast<const std::uint8_t*>(array.data()), cases);
}

CaseMatrices<Matrices> BoundInstruction::written_matrices(OperandName name, py::array& array) const {
  const ElementTable& written = table(name);
  const bool many = array.ndim() > (written.matrices() > 1 ? 3 : 2);
  return view_of<Matrices>(name, written, array, static_cast<std::uint8_t*>(array.mutable_data()),
                           many ? static_cast<std::size_t>(array.shape(0)) : 1);
}

int BoundInstruction::selected(OperandName name, const MatrixNumbers& numbers) const {
  if (name == OperandName::scale_a) return scale_matrix(form(), OperandName::ids_a, numbers.ids_a);
  if (name == OperandName::scale_b) return scale_matrix(form(), OperandName::ids_b, numbers.ids_b);
  if (name != OperandName::e) return 0;
  const int choices = form().operand(OperandName::e).fragment.matrices();
  if (numbers.selector >= static_cast<std::uint32_t>(choices))
    throw std::invalid_argument(fmt::format("selector is {}; {} takes 0 to {}", numbers.selector, form().opcode, choices - 1));
  return static_cast<int>(numbers.selector);
}

void execute_cases(const Instruction& instruction, const Call& call, std::size_t first, std::size_t count,
                   const ExecutionOptions& options) {
  try {
    instruction.execute(call, count, options);
  } catch (const Trap& trap) {
    const std::size_t number = first + static_cast<std::size_t>(trap.site.warp);
    throw trap.at(fmt::format("case {}", number), static_cast<std::int64_t>(number));
  }
}

}  // namespace warpmat::python
