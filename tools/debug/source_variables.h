#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace warpmat::debug {

/// A type of the source. Typedefs and const are left out: it is what they name.
struct SourceType {
  enum class Kind { unknown, number, boolean, character, enumeration, pointer, reference, structure, array };
  struct Member {
    std::string name;  ///< empty: of an anonymous union or structure
    const SourceType* type = nullptr;
    std::uint64_t offset = 0;
    int bits = 0, shift = 0;  ///< of a bit field; bits 0: it is none
  };
  Kind kind = Kind::unknown;
  std::string name;
  std::uint64_t bytes = 0;
  std::string_view ptx;            ///< "s32" of int: how its bits are a number; "b8" to "b64" of the kinds that are none
  const SourceType* of = nullptr;  ///< of a pointer, reference or array; null: void
  std::uint64_t count = 0;         ///< of an array's elements
  std::vector<Member> members;
  std::map<std::uint64_t, std::string> names;  ///< of an enumeration's values

  bool is_aggregate() const { return kind == Kind::structure || kind == Kind::array || kind == Kind::unknown; }
};

/// Lines of the PTX: `last` excluded.
struct LineRange {
  std::uint64_t first = 0, last = ~std::uint64_t{0};
  bool has(int line) const { return static_cast<std::uint64_t>(line) >= first && static_cast<std::uint64_t>(line) < last; }
};

/// A variable of the source, with where it lies at which lines of the PTX.
struct SourceVariable {
  struct Place {
    enum class Kind { unknown, reg, symbol, constant };
    LineRange lines;
    Kind kind = Kind::unknown;
    std::string name;          ///< of a register, or of a variable or parameter of the PTX
    std::uint64_t offset = 0;  ///< behind the symbol; the value of a constant
  };
  std::string name, function;  ///< function: that declares it, inlined or not; empty: none
  const SourceType* type = nullptr;
  LineRange scope;
  int depth = 0;  ///< of nested scopes
  std::vector<Place> places;
};

/// The variables of the source, from the DWARF that compilers write into PTX (nvcc -G): tables of bytes with labels, in sections of its
/// text. An address of code is the line of the label in the PTX.
class SourceVariables {
 public:
  /// What cannot be read is left out: error() says why.
  explicit SourceVariables(std::string_view ptx);

  bool has_tables() const { return has_tables_; }
  const std::string& error() const { return error_; }
  const std::vector<SourceVariable>& all() const { return all_; }
  /// Those whose scope has the line, inner ones first; hidden ones are left out.
  std::vector<const SourceVariable*> visible(int line) const;

 private:
  bool has_tables_ = false;
  std::string error_;
  std::vector<std::unique_ptr<SourceType>> types_;
  std::vector<SourceVariable> all_;
};

}  // namespace warpmat::debug
