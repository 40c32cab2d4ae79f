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

/// A register of a program. It fills one word of the warp's register file, or two for 64 bits, from `slot` on. A predicate fills a word
/// too: 0 or 1 in each lane.
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
  std::vector<std::int64_t> extents;  ///< of an array, as the text has them: tile[64][32] lies row by row. None: no array
  std::int64_t alignment;             ///< bytes
  std::int64_t address;
  std::int64_t bytes() const { return count * type->bits / 8; }
  friend bool operator==(const SharedVariable&, const SharedVariable&) = default;
};

/// What stands at a register's place: a register, or something that a read-only register holds (a number, %laneid, the address of a
/// variable), or _, which swallows a result.
struct Item {
  enum class Kind : std::uint8_t { named, number, laneid, variable, sink };

  Kind kind = Kind::named;
  int index = 0;           ///< named: of Program::registers; variable: of Program::variables
  std::uint64_t bits = 0;  ///< number: its bits; variable: the offset added to its address, modulo 2^64
  std::string text;        ///< number: its spelling
  int slot = 0;            ///< first word in the register file
  int words = 1;           ///< 1 or 2
  bool inverted = false;   ///< a predicate: !p
  friend bool operator==(const Item&, const Item&) = default;
};

/// An operand as PTX writes it: a, {a, b}, a|b, or [a+offset]; or nothing, where it may be left out.
struct OperandText {
  enum class Kind : std::uint8_t { single, vector, pair, address, omitted };

  Kind kind = Kind::single;
  std::vector<Item> items;  ///< one, except in a vector and a pair; none where it is omitted
  std::int64_t offset = 0;  ///< of an address with a register
  friend bool operator==(const OperandText&, const OperandText&) = default;
};

/// One instruction with its operands. A program has one memory: addresses of wmma.load and wmma.store are its, whatever their space. Two
/// statements are equal wherever they stand.
struct Statement {
  Location location;
  std::variant<Instruction, ScalarInstruction> instruction;
  std::vector<OperandText> operands;
  std::string label = {};                                ///< the name that the text gives it, "product: mma...": its operand a is product.a
  std::optional<Item> guard = {};                        ///< the predicate of the lanes that execute it; all do where it is empty
  std::int32_t first_operation = 0, last_operation = 0;  ///< of Program::code, the last one excluded; none of a matrix instruction

  const Instruction* matrix() const { return std::get_if<Instruction>(&instruction); }
  friend bool operator==(const Statement& a, const Statement& b) {
    return a.instruction == b.instruction && a.operands == b.operands && a.guard == b.guard;
  }
  const ScalarInstruction* scalar() const { return std::get_if<ScalarInstruction>(&instruction); }
};

/// A program: PTX statements that one warp executes from first to last. Immutable once parsed; many threads may run it at once.
struct Program {
  PtxVersion version = newest_ptx;
  const Target* target = nullptr;
  std::vector<NamedRegister> registers;
  std::vector<SharedVariable> variables;
  std::vector<Statement> statements;
  std::shared_ptr<const code::Program> code;  ///< what the scalar statements do; nullptr where there are none

  int named_words = 0;                   ///< words of the named registers: the first ones of the register file; two for _ follow
  std::vector<Register> constants;       ///< the read-only registers, behind them
  std::vector<std::uint64_t> addresses;  ///< of variables, from the base of shared memory: read-only too, two words each, the last ones
  std::int64_t shared_bytes = 0;         ///< up to the end of the last variable

  /// The register file's size in words.
  int words() const { return address_slot(addresses.size()); }
  int sink_slot() const { return named_words; }
  int first_constant() const { return named_words + 2; }
  int address_slot(std::size_t index) const { return first_constant() + static_cast<int>(constants.size() + 2 * index); }

  [[nodiscard]] WARPMAT_API const NamedRegister* find_register(std::string_view name) const;
  [[nodiscard]] WARPMAT_API const SharedVariable* find_variable(std::string_view name) const;

  /// The matrix instructions, in order: operands of examples and tests are named by this index.
  [[nodiscard]] WARPMAT_API std::vector<const Statement*> matrix_statements() const;
};

/// Parses a program: a list of PTX statements, with or without .version, .target, .reg and .shared. `target_name` ("sm_90a") goes before
/// the text's own .target; one of the two must be there. Registers need no declaration as long as none is declared: then they are
/// untyped and as wide as their first use. Throws SyntaxError with every wrong statement; std::invalid_argument for an unknown target_name.
[[nodiscard]] WARPMAT_API Program parse(std::string_view text, std::string_view target_name = {});

/// The program as PTX text with all declarations: parse(print(p)) has the same registers, variables and statements.
[[nodiscard]] WARPMAT_API std::string print(const Program& program);

/// One statement of `program` as PTX text, without a line break.
[[nodiscard]] WARPMAT_API std::string print(const Program& program, const Statement& statement);

}  // namespace warpmat
