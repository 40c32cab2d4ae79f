#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <warpmat/execute/instruction.h>
#include <warpmat/export.h>
#include <warpmat/ptx/diagnostic.h>
#include <warpmat/ptx/scalar.h>
#include <warpmat/ptx/types.h>

namespace warpmat {

namespace code {
struct Program;
}

/// A register of a program. It uses one word of the warp's register file from `slot` on, or two for 64 bits. A predicate uses a word too: 0
/// or 1 in each lane.
struct NamedRegister {
  std::string name;
  const DataType* type;
  int slot;
  friend bool operator==(const NamedRegister&, const NamedRegister&) = default;
};

/// A variable in shared memory: `count` elements of `type` from byte `address` on.
struct SharedVariable {
  std::string name;
  const DataType* type;
  std::int64_t count;                 ///< the product of `extents`
  std::vector<std::int64_t> extents;  ///< of an array, as in the text: tile[64][32] is stored row by row. Empty: not an array
  std::int64_t alignment;             ///< bytes
  std::int64_t address;
  std::int64_t bytes() const { return count * type->bits / 8; }
  friend bool operator==(const SharedVariable&, const SharedVariable&) = default;
};

/// A register operand: a register, a read-only value (an immediate, %laneid, the address of a variable), or _, which discards a result.
struct Item {
  enum class Kind : std::uint8_t { named, number, laneid, variable, discard };

  Kind kind = Kind::named;
  int index = 0;           ///< named: index in Program::registers; variable: in Program::variables
  std::uint64_t bits = 0;  ///< number: its bits; variable: the offset added to its address, modulo 2^64
  std::string text;        ///< number: its spelling
  int slot = 0;            ///< first word in the register file
  int words = 1;           ///< 1 or 2
  bool inverted = false;   ///< a predicate: !p
  friend bool operator==(const Item&, const Item&) = default;
};

/// An operand in PTX's syntax: a, {a, b}, a|b, or [a+offset]; or nothing if it is optional.
struct OperandText {
  enum class Kind : std::uint8_t { single, vector, pair, address, omitted };

  Kind kind = Kind::single;
  std::vector<Item> items;  ///< one, except in a vector and a pair; none if omitted
  std::int64_t offset = 0;  ///< of an address with a register
  friend bool operator==(const OperandText&, const OperandText&) = default;
};

/// One instruction with its operands. A program has one memory; wmma.load and wmma.store use it whatever their state space. Equality of
/// statements ignores their position.
struct Statement {
  Location location;
  std::variant<Instruction, ScalarInstruction> instruction;
  std::vector<OperandText> operands;
  std::string label = {};                                ///< the name in the text, "product: mma...": its operand a is product.a
  std::optional<Item> guard = {};                        ///< the predicate of the executing lanes; all lanes if empty
  std::int32_t first_operation = 0, last_operation = 0;  ///< of Program::code, the last one excluded; none for a matrix instruction

  const Instruction* matrix() const { return std::get_if<Instruction>(&instruction); }
  friend bool operator==(const Statement& a, const Statement& b) {
    return a.instruction == b.instruction && a.operands == b.operands && a.guard == b.guard;
  }
  const ScalarInstruction* scalar() const { return std::get_if<ScalarInstruction>(&instruction); }
};

/// A program: PTX statements that one warp executes from first to last. Immutable once parsed; thread-safe.
struct Program {
  PtxVersion version = newest_ptx;
  const Target* target = nullptr;
  std::vector<NamedRegister> registers;
  std::vector<SharedVariable> variables;
  std::vector<Statement> statements;
  std::shared_ptr<const code::Program> code;  ///< the scalar statements; nullptr if there are none

  int named_words = 0;                   ///< words of the named registers, at the start of the register file; two for _ follow
  std::vector<Register> constants;       ///< the read-only registers, after those
  std::vector<std::uint64_t> addresses;  ///< of variables, relative to shared memory: also read-only, two words each, at the end
  std::int64_t shared_bytes = 0;         ///< up to the end of the last variable

  /// The register file's size in words.
  int words() const { return address_slot(addresses.size()); }
  int discard_slot() const { return named_words; }
  int first_constant() const { return named_words + 2; }
  int address_slot(std::size_t index) const { return first_constant() + static_cast<int>(constants.size() + 2 * index); }

  [[nodiscard]] WARPMAT_API const NamedRegister* find_register(std::string_view name) const;
  [[nodiscard]] WARPMAT_API const SharedVariable* find_variable(std::string_view name) const;

  /// The matrix instructions in order. Examples and tests name operands by this index.
  [[nodiscard]] WARPMAT_API std::vector<const Statement*> matrix_statements() const;
};

/// Parses a program: a list of PTX statements, with or without .version, .target, .reg and .shared. `target_name` ("sm_90a") overrides the
/// text's .target; one of the two is required. If no register is declared, registers need no declaration: they are untyped and as wide as
/// their first use. Throws SyntaxError listing every wrong statement, and std::invalid_argument for an unknown target_name.
[[nodiscard]] WARPMAT_API Program parse(std::string_view text, std::string_view target_name = {});

/// The program as PTX text with all declarations: parse(print(p)) has the same registers, variables and statements.
[[nodiscard]] WARPMAT_API std::string print(const Program& program);

/// One statement of `program` as PTX text, without a line break.
[[nodiscard]] WARPMAT_API std::string print(const Program& program, const Statement& statement);

}  // namespace warpmat
