#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <warpmat/lower/draft.h>

namespace warpmat::code {

/// The meaning of a name in a function's body.
struct Named {
  enum class Kind : std::uint8_t { register_, shared, module, local, parameter, function };
  Kind kind = Kind::register_;
  // Apart from `index`: one load of both, just written one by one, would stall, and most operands are registers.
  Value value = 0;           ///< of a register
  std::uint32_t offset = 0;  ///< in local memory, or of the entry's parameter
  int index = 0;             ///< of the shared variable, the module's variable or function, a list's register
  std::uint32_t bytes = 0;
  bool parameter = false;  ///< local memory that .param declares
  int vector = 1;          ///< of a register: so many follow each other, its .x .y .z .w
};

/// The visible names at a place of a function: scopes in braces hide outer ones.
class Names {
 public:
  explicit Names(DraftFunction& function) : function_(function) { begin_scope(); }

  void begin_scope();
  void end_scope() { open_.pop_back(); }

  /// Declares the registers of a .reg declaration. Throws StatementError.
  void declare_registers(const syntax::Variable& variable);
  void declare(std::string_view name, const Named& named);

  std::optional<Named> find(std::string_view name) const;
  /// Whether a vector register has been declared, in whatever scope.
  bool has_vectors() const { return has_vectors_; }

  /// A new register without a name.
  Value new_register(RegisterClass register_class, int bits, const DataType* type = nullptr);

 private:
  /// Without an element of a vector behind a dot.
  std::optional<Named> find_whole(std::string_view name) const;

  struct Range {
    std::string_view prefix;  ///< before the number
    Value first;
    std::int64_t count;
    int vector = 1;
  };
  struct Scope {
    std::unordered_map<std::string_view, Named> names;
    std::vector<Range> ranges;  ///< few: one for each type
    std::uint64_t lengths = 0;  ///< of the names: bit N for N bytes, bit 63 for all longer ones

    static std::uint64_t length_bit(std::string_view name) { return std::uint64_t{1} << (name.size() < 63 ? name.size() : 63); }
    const Range* find_range(std::string_view prefix) const;
  };

  DraftFunction& function_;
  std::vector<Scope> open_;
  bool has_vectors_ = false;
};

/// The class of a register that holds `bits`, 1 for a predicate.
RegisterClass register_class_of(int bits);

}  // namespace warpmat::code
