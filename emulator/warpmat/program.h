#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <warpmat/diagnostic.h>
#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/layout.h>
#include <warpmat/version.h>
#include <warpmat/warp.h>

namespace warpmat {

// ---- Programs ----

namespace code {
struct Program;
}
namespace machine {
class Observer;
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
  int index = 0;           ///< named: index in Program::registers(); variable: in Program::variables()
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

/// One instruction of a program, with its operands. A program has one memory; wmma.load and wmma.store use it whatever their state space.
/// Equality of statements ignores their position.
class Statement {
 public:
  Location location() const { return parts_.location; }
  /// As find() gives it for the program's PTX version, of all kinds but warpgroup.
  const Instruction& instruction() const { return parts_.instruction; }
  /// The same if it is a matrix instruction; else nullptr.
  const Instruction* matrix() const { return instruction().kind() == InstructionKind::matrix ? &instruction() : nullptr; }
  const std::vector<OperandText>& operands() const { return parts_.operands; }
  /// Describes operands()[index]; for a pair a|b, describes a. Throws std::out_of_range if there is no such operand.
  [[nodiscard]] WARPMAT_API const InstructionOperand& described(std::size_t index) const;
  /// The name in the text, "product: mma...": its operand a is product.a.
  const std::string& label() const { return parts_.label; }
  /// The predicate of the executing lanes; all lanes if empty.
  const std::optional<Item>& guard() const { return parts_.guard; }

  friend bool operator==(const Statement& a, const Statement& b) {
    return a.instruction() == b.instruction() && a.operands() == b.operands() && a.guard() == b.guard();
  }

 private:
  friend struct ListInternals;
  struct Parts {
    Location location;
    Instruction instruction;
    std::vector<OperandText> operands{};
    std::string label{};
    std::optional<Item> guard{};
    std::int32_t first_operation = 0, last_operation = 0;  ///< of Program's code, the last one excluded
    int read_address = -1;                                 ///< the operand that it loads from; -1: it loads nothing
  };
  explicit Statement(Parts parts) : parts_(std::move(parts)) {}

  Parts parts_;
};

/// A program: PTX statements that one warp executes from first to last. parse() makes it, and nothing changes it afterwards. Thread-safe.
class Program {
 public:
  PtxVersion version() const { return parts_.version; }
  const Target* target() const { return parts_.target; }  ///< never nullptr
  const std::vector<NamedRegister>& registers() const { return parts_.registers; }
  const std::vector<SharedVariable>& variables() const { return parts_.variables; }
  const std::vector<Statement>& statements() const { return parts_.statements; }

  /// Words of the named registers, at the start of the register file.
  int named_words() const { return parts_.named_words; }
  /// The read-only registers of numbers and %laneid, in the register file from first_constant() on.
  const std::vector<Register>& constants() const { return parts_.constants; }
  int first_constant() const { return parts_.first_constant(); }
  /// The register file's size in words.
  int words() const { return parts_.address_slot(parts_.addresses.size()); }
  /// Bytes of shared memory up to the end of the last variable.
  std::int64_t shared_bytes() const { return parts_.shared_bytes; }

  [[nodiscard]] WARPMAT_API const NamedRegister* find_register(std::string_view name) const;
  [[nodiscard]] WARPMAT_API const SharedVariable* find_variable(std::string_view name) const;

  /// The matrix instructions in order. Examples and tests name operands by this index.
  [[nodiscard]] WARPMAT_API std::vector<const Statement*> matrix_statements() const;

 private:
  friend struct ListInternals;
  struct Parts {
    PtxVersion version = newest_ptx;
    const Target* target = nullptr;
    std::vector<NamedRegister> registers;
    std::vector<SharedVariable> variables;
    std::vector<Statement> statements;
    std::shared_ptr<const code::Program> code;  ///< nullptr if there are no statements

    // The register file: named registers, two words for _, constants, addresses.
    int named_words = 0;
    std::vector<Register> constants;
    std::vector<std::uint64_t> addresses;  ///< of variables, relative to shared memory: two words each
    std::int64_t shared_bytes = 0;

    int discard_slot() const { return named_words; }
    int first_constant() const { return named_words + 2; }
    int address_slot(std::size_t index) const { return first_constant() + static_cast<int>(constants.size() + 2 * index); }
  };
  Program() = default;

  Parts parts_;
};

/// Parses a program: a list of PTX statements, with or without .version, .target, .reg and .shared. `target_name` ("sm_90a") overrides the
/// text's .target; one of the two is required. If no register is declared, registers need no declaration: they are untyped and as wide as
/// their first use. Throws SyntaxError listing every wrong statement, and std::invalid_argument for an unknown target_name.
[[nodiscard]] WARPMAT_API Program parse(std::string_view text, std::string_view target_name = {});

/// The program as PTX text with all declarations: parse(print(p)) has the same registers, variables and statements.
[[nodiscard]] WARPMAT_API std::string print(const Program& program);

/// The beginning of print(program): everything except the statements.
[[nodiscard]] WARPMAT_API std::string print_declarations(const Program& program);

/// One statement of `program` as PTX text, without a line break. With `memory`, variables are places in one array of that name, which
/// holds all of shared memory: memory+16.
[[nodiscard]] WARPMAT_API std::string print(const Program& program, const Statement& statement, std::string_view memory = {});

// ---- Running a program ----

class ListMachine;
class Warp;

/// Executes the warp's program from first to last. A Trap names the line; statements before it have taken effect.
WARPMAT_API void run(Warp& warp, const ExecutionOptions& options = {});

/// The registers and the shared memory of one warp that runs a program. Not thread-safe; the program is.
class WARPMAT_API Warp {
 public:
  /// All registers and all memory are zero. Shared memory holds the program's variables and has at least `shared_bytes` bytes. It begins at
  /// address `shared_base`, a multiple of every alignment in the program. `program` must outlive the warp.
  explicit Warp(const Program& program, std::size_t shared_bytes = 0, std::uint32_t shared_base = 0);
  explicit Warp(const Program&& program, std::size_t shared_bytes = 0, std::uint32_t shared_base = 0) = delete;

  const Program& program() const { return *program_; }

  /// The low word of register `name`; with `word` 1 the upper half of a 64-bit one. Throws std::invalid_argument for others.
  Register& reg(std::string_view name, int word = 0);
  const Register& reg(std::string_view name, int word = 0) const;

  /// The words of all named registers, in the order of their slots.
  std::span<Register> named_registers() { return std::span(registers_).first(static_cast<std::size_t>(program_->named_words())); }
  std::span<const Register> named_registers() const {
    return std::span(registers_).first(static_cast<std::size_t>(program_->named_words()));
  }

  SharedMemory& shared() { return shared_; }
  const SharedMemory& shared() const { return shared_; }

  // Statements and operands below are those of program(), not copies. Others throw std::invalid_argument.

  /// The words of `operand`'s registers in order; each points to lanes 0 to 31.
  std::vector<std::uint32_t*> words(const OperandText& operand);
  std::vector<const std::uint32_t*> words(const OperandText& operand) const;

  /// The addresses from which the lanes read in the last execution of the program's `statement`. nullptr if it was not executed yet, or is
  /// neither ldmatrix nor ld.shared.
  const std::array<std::uint64_t, warp_size>* addresses_read(const Statement& statement) const;

  /// Declares the matrix in the shared variable `name`, so that messages can name the element at an address.
  void describe_variable(std::string_view name, const MemoryMatrix& matrix);
  /// The matrix from describe_variable, or nullptr.
  const MemoryMatrix* described_variable(std::string_view name) const;

  /// The lanes that would execute `statement` now: those whose guard is true.
  LaneMask executing(const Statement& statement) const;

  /// Executes one statement of the program. Throws Trap, having changed nothing, unless an observer ended it after its effect (observer.h).
  /// Does not allocate unless it throws, is the first statement of a copied warp, or an observer asks for the accesses of a matrix
  /// statement. Throws std::invalid_argument in a call of one of the warp's observers.
  void execute(const Statement& statement, const ExecutionOptions& options = {});

  /// From now on tells these observers, in their order and on the caller's thread, what the warp executes (observer.h), and no others. They
  /// outlive the warp, or the next call of observe(). A copy of the warp has none, nor has a warp that a copy was assigned to: those that
  /// it had are told nothing more. Their block begins with the call and ends with the next one. A program without statements tells nothing.
  /// Throws std::invalid_argument if one is null, or in a call of one of the warp's observers, which then stay; and what they throw of
  /// block_begins and block_ends, after which the warp has none.
  void observe(std::vector<machine::Observer*> observers);

 private:
  friend WARPMAT_API void run(Warp& warp, const ExecutionOptions& options);

  void prepare(const Statement& statement);
  Register& word(const Item& item, int index) { return registers_[static_cast<std::size_t>(item.slot + index)]; }
  const Register& word(const Item& item, int index) const { return registers_[static_cast<std::size_t>(item.slot + index)]; }

  void note_addresses(const Statement& statement, const OperandText& address_operand);

  /// Executes statements. A copy of a warp makes its own on first use.
  class Machine {
   public:
    Machine();
    Machine(const Machine&);
    Machine(Machine&&) noexcept;
    Machine& operator=(Machine other) noexcept;
    ~Machine();
    ListMachine& made(const Program& program, std::uint32_t shared_base);

   private:
    std::unique_ptr<ListMachine> machine_;
  };

  const Program* program_;
  std::map<std::string, MemoryMatrix, std::less<>> matrices_;  ///< by the name of the variable
  std::vector<std::array<std::uint64_t, warp_size>> read_;     ///< by number of the statement; empty if none reads
  std::vector<bool> has_read_;                                 ///< by number of the statement
  std::vector<Register> registers_;
  SharedMemory shared_;
  Machine machine_;
};

// ---- Names of statements and operands ----

// Names of a program's matrix instructions and their operands:
//
//     2             the third matrix instruction of the program
//     mma.0         its first mma (wmma.load.1: the second wmma.load)
//     mma.0.a       operand a of one
//     product       the one with that label: "product: mma.sync..."; product.a is its operand a
//
// All functions throw std::invalid_argument, listing what exists.

/// The number of the matrix instruction `name`, as in Program::matrix_statements.
[[nodiscard]] WARPMAT_API std::size_t find_statement(const Program& program, std::string_view name);

/// An operand of a matrix instruction.
struct OperandPlace {
  std::size_t statement;
  OperandName operand;
  friend bool operator==(const OperandPlace&, const OperandPlace&) = default;
};

/// The operand `name`, "mma.0.a".
[[nodiscard]] WARPMAT_API OperandPlace find_operand_place(const Program& program, std::string_view name);

/// The name of matrix instruction number `statement`: its label, or else "mma.0".
[[nodiscard]] WARPMAT_API std::string statement_name(const Program& program, std::size_t statement);

/// The matrix instructions that have a matrix operand `operand`, for messages: "1 (mma.0) and 3 (mma.1) have it"; "no matrix instruction of
/// the program has it".
[[nodiscard]] WARPMAT_API std::string statements_with(const Program& program, OperandName operand);

}  // namespace warpmat
