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
#include <warpmat/ptx/catalogue/evidence.h>
#include <warpmat/ptx/catalogue/executable.h>

namespace warpmat {

/// A spelling of a row of the catalogue that is an Instruction: its operands as callers see them, and if it computes, as the row's function
/// takes them.
class ScalarForm {
 public:
  static constexpr std::size_t most_operands = 16;  ///< results, and sources; every row has fewer
  static constexpr std::size_t most_words = 40;     ///< of all operands

  /// The instruction of `match` on `target`. Precondition: scalar_refusal(match) is nothing, and the target has it in that version.
  static Instruction instruction(const catalogue::Match& match, const Target& target, PtxVersion version = newest_ptx);

  /// Precondition: scalar_refusal(match) is nothing.
  explicit ScalarForm(const catalogue::Match& match);

  const std::string& opcode() const { return opcode_; }
  InstructionKind kind() const { return kind_; }
  std::span<const InstructionOperand> operands() const { return operands_; }
  const Requirement& requirement() const { return pattern_->row.requirement; }
  /// Where a source may be left out, the weaker one of both.
  catalogue::RowEvidence evidence(Hardware hardware) const;

  /// Executes the warps in order. Precondition: the views are Instruction::problem's, and it computes.
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

  void add_computed(const catalogue::Match& match);
  void find_neighbours();
  void add_operand(const InstructionOperand& operand);
  void add(const catalogue::Match& match, const catalogue::OperandPattern& pattern, std::size_t operand);
  std::size_t words() const;
  void call(void* const* results, const void* const* sources) const;
  void execute_one(std::span<Register> staged, std::span<const RegisterView> operands) const;

  std::string opcode_;
  InstructionKind kind_;
  const catalogue::Pattern* pattern_;
  bool has_longer_ = false;                     ///< another row spells it with one more source
  const ScalarForm* shorter_ = nullptr;         ///< without the last source, where another row spells that: max.f32 d, a, b{, c}
  catalogue::WarpFunction function_ = nullptr;  ///< or that of executable_
  catalogue::Executable executable_;
  std::vector<InstructionOperand> operands_;
  std::vector<std::uint8_t> first_words_;  ///< of each operand
  std::vector<Place> results_, sources_;   ///< in the function's order
};

/// The kind of Instruction that is made of a row; nothing if none is.
std::optional<InstructionKind> instruction_kind(const catalogue::Match& match);

/// Why none is: it is a statement of a kernel. Nothing if one is.
std::optional<std::string> scalar_refusal(const catalogue::Match& match);

}  // namespace warpmat
