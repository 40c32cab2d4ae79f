#include <fmt/core.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <warpmat/instruction.h>

#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "python/binding/bound_instruction.h"
#include "python/binding/case_memory.h"
#include "python/binding/module.h"
#include "python/binding/tasks.h"

namespace warpmat::python {

namespace py = pybind11;

namespace {

constexpr std::size_t cases_of_a_task = 64;  // as in execute.cpp

std::string_view name_of_kind(InstructionKind kind) {
  switch (kind) {
    case InstructionKind::matrix: return "matrix";
    case InstructionKind::warpgroup: return "warpgroup";
    case InstructionKind::scalar: return "scalar";
    case InstructionKind::load: return "load";
    case InstructionKind::store: return "store";
    case InstructionKind::lanes: break;
  }
  return "lanes";
}

/// (name, kind, type or "", registers, bits of a register, words, read, written, optional)
py::tuple described(const InstructionOperand& operand) {
  const std::string_view type = operand.type() == nullptr ? std::string_view() : operand.type()->name;
  return py::make_tuple(operand.name(), warpmat::name(operand.kind()), type, operand.registers(), operand.register_bits(), operand.words(),
                        operand.is_read(), operand.is_written(), operand.is_optional());
}

py::list operands_of(const Instruction& instruction) {
  py::list out;
  for (const InstructionOperand& operand : instruction.operands()) out.append(described(operand));
  return out;
}

/// The words of an operand of all cases, uint32 [cases * warps][words][32], C-contiguous; no view for None.
RegisterView operand_view(const InstructionOperand& operand, const py::object& given, std::size_t warps) {
  if (given.is_none()) return {};
  using OperandWords = py::array_t<std::uint32_t, py::array::c_style>;
  const auto words = static_cast<py::ssize_t>(operand.words());
  if (!py::isinstance<OperandWords>(given)) throw std::invalid_argument(fmt::format("{} must be uint32, C-contiguous", operand.name()));
  auto array = py::reinterpret_borrow<OperandWords>(given);
  if (array.ndim() != 3 || array.shape(0) != static_cast<py::ssize_t>(warps) || array.shape(1) != words || array.shape(2) != warp_size)
    throw std::invalid_argument(fmt::format("{} must have the shape ({}, {}, 32)", operand.name(), warps, words));
  // What is only read is not written.
  auto* const first = operand.is_written() ? array.mutable_data() : const_cast<std::uint32_t*>(array.data());
  return RegisterView::register_major(first, static_cast<std::size_t>(words) * warp_size);
}

/// Executes on `cases` cases: `given` has an operand's words or None, in the order of operands(); memory is uint8 [cases][bytes].
void execute_instruction(const Instruction& instruction, std::size_t cases, const std::vector<py::object>& given,
                         std::optional<py::array> memory, std::string_view undefined, std::string_view path, unsigned jobs) {
  const ExecutionOptions options = execution_options(undefined, path);
  const std::span<const InstructionOperand> operands = instruction.operands();
  if (given.size() != operands.size()) throw std::invalid_argument(fmt::format("{} operands are needed", operands.size()));
  const auto warps = static_cast<std::size_t>(instruction.warps());
  std::vector<RegisterView> views;
  for (std::size_t i = 0; i < operands.size(); ++i) views.push_back(operand_view(operands[i], given[i], cases * warps));
  const CaseMemory shared = CaseMemory::of(memory, cases);
  if (cases == 0) return;
  const auto call_at = [&](std::size_t number, std::vector<RegisterView>& own) {
    own.clear();
    for (const RegisterView& view : views) own.push_back(view.is_empty() ? view : view.from_warp(number * warps));
    Call call;
    call.operands = own;
    call.shared = shared.bytes == nullptr ? nullptr : shared.bytes + number * shared.size;
    call.shared_bytes = shared.size;
    return call;
  };
  const std::size_t tasks = (cases + cases_of_a_task - 1) / cases_of_a_task;
  run_tasks(tasks, jobs, [&](std::size_t task, const Worker&) {
    std::vector<RegisterView> own;
    for (std::size_t number = task * cases_of_a_task; number < std::min(cases, (task + 1) * cases_of_a_task); ++number) {
      const Call call = call_at(number, own);
      if (const auto problem = instruction.problem(call, warps)) throw std::invalid_argument(*problem);
      try {
        instruction.execute(call, warps, options);
      } catch (const Trap& trap) {
        throw trap.at(fmt::format("case {}", number), static_cast<std::int64_t>(number));
      }
    }
  });
}

}  // namespace

void bind_handle(py::module_& module) {
  py::class_<Instruction> type(module, "Handle");
  type.def(py::init([](std::string_view opcode, std::string_view target) { return find(opcode, target); }), py::arg("opcode"),
           py::arg("target"));
  type.def_property_readonly("kind", [](const Instruction& i) { return name_of_kind(i.kind()); });
  type.def_property_readonly("opcode", &Instruction::opcode);
  type.def_property_readonly("target", [](const Instruction& i) { return i.target().name; });
  type.def_property_readonly("warps", &Instruction::warps);
  type.def_property_readonly("needs_program",
                             [](const Instruction& i) { return needs_program(i.kind()) ? i.problem(Call{}, 1) : std::nullopt; });
  type.def_property_readonly("label", [](const Instruction& i) { return warpmat::name(i.label()); });
  type.def_property_readonly("source", &Instruction::source);
  type.def_property_readonly("operands", &operands_of);
  type.def("execute", &execute_instruction, py::arg("cases"), py::arg("operands"), py::arg("memory"), py::arg("undefined"), py::arg("path"),
           py::arg("jobs"));
}

}  // namespace warpmat::python
