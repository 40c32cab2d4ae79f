#pragma once

#include <pybind11/numpy.h>
#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/products/element_table.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpmat::python {

/// The matrices of many cases in a NumPy array: [cases][matrices][rows][columns]. [matrices] is left out if an operand has one, [cases] if
/// all cases share the matrices.
template <typename View>
struct CaseMatrices {
  View first;
  std::ptrdiff_t case_stride = 0;  ///< in bytes; 0: all cases share the matrices

  View of_case(std::size_t number) const {
    View view = first;
    view.data += static_cast<std::ptrdiff_t>(number) * case_stride;
    return view;
  }
};

/// Numbers that PTX writes in addition to the matrices.
struct MatrixNumbers {
  std::uint32_t selector = 0;
  ScaleIds ids_a, ids_b;
};

/// "trap" or "hardware"; "fast" or "reference". Throws std::invalid_argument for other texts.
ExecutionOptions execution_options(std::string_view undefined, std::string_view path);

/// An instruction with the tables that convert between matrices and registers.
class BoundInstruction {
 public:
  /// Throws std::invalid_argument as Instruction does.
  BoundInstruction(std::string_view opcode, std::string_view target);

  const Instruction& instruction() const { return instruction_; }
  const Form& form() const { return instruction_.form(); }

  /// The table of operand `name`; for metadata and scale factors that of the matrix which a selector or ids choose.
  const ElementTable& table(OperandName name, int matrix = 0) const;
  /// 32-bit words of an operand in all lanes.
  std::size_t words(OperandName name) const { return static_cast<std::size_t>(form().operand(name).words() * warp_size); }

  /// The matrices of operand `name` in `array`, for `cases` cases. Throws std::invalid_argument naming the required shape.
  CaseMatrices<ConstMatrices> matrices(OperandName name, int matrix, const pybind11::array& array, std::size_t cases) const;
  CaseMatrices<Matrices> written_matrices(OperandName name, pybind11::array& array) const;

  /// The matrix of e, scale_a and scale_b that `numbers` choose. Throws std::invalid_argument for numbers that the ISA does not define.
  int selected(OperandName name, const MatrixNumbers& numbers) const;

 private:
  Instruction instruction_;
  std::array<std::vector<ElementTable>, operand_name_count> tables_;  ///< by OperandName; for e and scale factors one for each choice
};

/// Executes `call`. Adds to a trap the number of the case: `first` + its warp.
void execute_cases(const Instruction& instruction, const Call& call, std::size_t first, std::size_t count, const ExecutionOptions& options);

}  // namespace warpmat::python
