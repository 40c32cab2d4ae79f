#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include <warpmat/ir/code.h>
#include <warpmat/ptx/syntax/module.h>

namespace warpmat::catalogue {
struct Match;
}

namespace warpmat::code {

// A program during resolution: operations on registers without places.

/// A register of a function (its number), or a constant (~its number in Constants).
using Value = std::int32_t;
inline constexpr bool is_constant(Value value) {
  return value < 0;
}

struct DraftOperation {
  Operation operation{};  ///< without slots and targets
  /// The row that it computes, which may be another than the statement's; null where the machine executes it.
  const catalogue::Match* match = nullptr;
  std::vector<Value> results{}, sources{};
  std::vector<Value> keeps{};  ///< registers that must keep their places: a wait's accumulators, written there
  Value guard = 0;             ///< where operation.guarded
  int label = -1;              ///< branch: of DraftFunction::labels
  std::vector<int> table{};    ///< branch_table: labels
};

struct DraftRegister {
  RegisterClass register_class = RegisterClass::word;
  std::uint8_t bits = 32;          ///< 16 for .b16: a word whose upper half is zero
  const DataType* type = nullptr;  ///< that it was declared with; nullptr for a register without a name
};

/// Registers of one declaration.
struct DeclaredRegisters {
  std::string_view name;  ///< of a range the part before the numbers
  Value first = 0;
  std::int64_t count = 0;  ///< of a range; 0: one register
  int vector = 1;
};

struct DraftFunction {
  const syntax::Function* source = nullptr;
  std::vector<DraftOperation> operations;
  std::vector<DraftRegister> registers;
  std::vector<DeclaredRegisters> declared;  ///< in the order of the text, of all scopes
  std::vector<int> labels;                  ///< the operation that each one precedes
  std::uint32_t local_bytes = 0;
  std::vector<LocalVariable> locals;
  std::vector<std::int32_t> parameter_offsets, return_offsets;  ///< in local memory, or -1 for registers
  std::vector<std::int32_t> parameter_bytes, return_bytes;
  std::vector<Value> parameter_registers, return_registers;  ///< of .reg parameters
  std::vector<std::pair<Value, Slot>> words;                 ///< of a list: named registers with places that its users know
  std::uint32_t words_bytes = 0;                             ///< the start of the frame's other registers
};

/// A new register of the function.
Value new_register(DraftFunction& function, const DraftRegister& kind);
/// A new register of the function, of the same kind as `like`, which is one too.
Value new_register_like(DraftFunction& function, Value like);
/// Gives `operation` the guard of `from`, or none.
void take_guard(DraftOperation& operation, const DraftOperation& from);

/// The target of an address constant that is known only after all functions: a shared variable, the block's shared memory, a module
/// variable, a function.
struct Symbol {
  enum class Kind : std::uint8_t { none, shared, block, module, function };
  Kind kind = Kind::none;
  int index = -1;
  friend auto operator<=>(const Symbol&, const Symbol&) = default;
};

/// The constants of a program, each once.
class Constants {
 public:
  struct Constant {
    RegisterClass register_class;
    std::uint64_t low, high;  ///< for a symbol's address: low is added to it
    Symbol symbol;
    friend bool operator==(const Constant&, const Constant&) = default;
  };

  Value add(RegisterClass register_class, std::uint64_t low, std::uint64_t high = 0, Symbol symbol = {});
  const Constant& operator[](Value value) const { return all_[static_cast<std::size_t>(~value)]; }
  const std::vector<Constant>& all() const { return all_; }

 private:
  struct Hash {
    std::size_t operator()(const Constant& constant) const;
  };

  std::vector<Constant> all_;
  std::unordered_map<Constant, Value, Hash> index_;
};

}  // namespace warpmat::code
