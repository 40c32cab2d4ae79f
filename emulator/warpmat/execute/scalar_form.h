#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/ptx/catalogue/catalogue.h>
#include <warpmat/ptx/catalogue/executable.h>

namespace warpmat::inline v0_1 {

/// A spelling of a row of the catalogue that computes: its operands as callers see them, and as the row's function takes them.
class ScalarForm {
 public:
  static constexpr std::size_t most_operands = 16;  ///< results, and sources; every row has fewer
  static constexpr std::size_t most_words = 40;     ///< of all operands

  /// Precondition: scalar_refusal(match) is nothing.
  explicit ScalarForm(const catalogue::Match& match);

  const std::string& opcode() const { return opcode_; }
  std::span<const InstructionOperand> operands() const { return operands_; }
  const catalogue::Pattern& pattern() const { return *pattern_; }

  /// Executes the warps in order. Precondition: the views are Instruction::problem's.
  void execute(std::span<const RegisterView> operands, std::size_t warps, Path path) const;

 private:
  /// A register of an operand, where it is the function's result or source.
  struct Place {
    std::uint8_t operand;
    std::uint8_t first_word;  ///< among the words of all operands
    std::uint8_t words;
    bool is_mask;                       ///< a predicate, the carry
    bool is_number;                     ///< lane 0's word counts
    std::uint8_t sign_extended_from{};  ///< of a signed result narrower than its register: its bits
  };

  void add(const catalogue::Match& match, const catalogue::OperandPattern& pattern, std::size_t operand);
  void call(void* const* results, const void* const* sources) const;
  void execute_one(std::span<Register> staged, std::span<const RegisterView> operands) const;

  std::string opcode_;
  const catalogue::Pattern* pattern_;
  catalogue::WarpFunction function_ = nullptr;  ///< or that of executable_
  catalogue::Executable executable_;
  std::vector<InstructionOperand> operands_;
  std::vector<std::uint8_t> first_words_;  ///< of each operand
  std::vector<Place> results_, sources_;   ///< in the function's order
};

/// Why no Instruction is made of a row: it needs a program. Nothing if it computes.
std::optional<std::string> scalar_refusal(const catalogue::Match& match);

/// The form of `match`: always the same object. Precondition: scalar_refusal(match) is nothing.
const ScalarForm& scalar_form(const catalogue::Match& match);

}  // namespace warpmat::inline v0_1
