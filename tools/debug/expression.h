#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/ir/code.h>
#include <warpmat/launch.h>
#include <warpmat/machine/warp_state.h>

#include "tools/debug/source_variables.h"

namespace warpmat::debug {

/// A number with its type as PTX has it: "b32", "f16", "pred".
struct Value {
  std::string_view type = "s64";
  std::uint64_t bits = 0;
  /// Where it lies in memory, if it does; then `count` is that of the elements of what was named.
  std::optional<std::uint64_t> address{};
  Space space = Space::generic;
  std::uint64_t count = 1, columns = 0;       ///< columns: of a matrix
  const SourceType* source = nullptr;         ///< of a variable of the source
  const code::PlacedRegister* reg = nullptr;  ///< that has it

  /// Of all that was named.
  std::uint64_t bytes() const;
  /// Precondition: it has an address.
  std::uint64_t generic_address() const;
};

/// The bits of a type; 0: there is none of that name. The view lasts until the process ends.
int bits_of(std::string_view type);
std::string_view type_named(std::string_view type);
bool is_float(std::string_view type);
double real(const Value& value);
std::int64_t integer(const Value& value);
bool truth(const Value& value);
/// `format`: 'x', 'd', 'u', 'f', 'h' (two f16), 'b' (two bf16), 't' (binary), or 0: by the type.
std::string text(const Value& value, char format = 0);

/// A lane of a warp where an expression is evaluated. Without a warp, where the launch has ended, there is global memory alone.
struct At {
  const machine::WarpState* warp = nullptr;
  int lane = 0;
  const DeviceMemory* memory = nullptr;

  const machine::Split* split() const;  ///< the one that has the lane; of a lane that has exited the first
  const machine::Block& block() const { return warp->block(); }
};

/// The same where it may be an array, or a structure of the source: what they have is read.
std::string text(const Value& value, const At& at, char format = 0, int depth = 0);
/// How the parts of a structure, an array or what a pointer names are written behind its own name: ".x", "[0]", "->x".
std::vector<std::string> parts(const Value& value);

/// Nothing where the bytes do not lie in one memory. Generic addresses are those of their windows.
std::optional<std::span<const std::uint8_t>> bytes_at(const At& at, Space space, std::uint64_t address, std::uint64_t count);
/// The PTX's line at which the lane is; 0: nowhere.
int line_at(const At& at);
/// What memory holds. Throws std::invalid_argument where there is none.
Value value_at(const At& at, std::string_view type, Space space, std::uint64_t address);
/// The space that a generic address names, and the address there.
std::pair<Space, std::uint64_t> resolve_space(Space space, std::uint64_t address);

/// A buffer of a launch by its name.
struct NamedBuffer {
  std::uint64_t address = 0, bytes = 0;
  std::string type{};         ///< of its elements, "f32"; else empty
  std::uint64_t columns = 0;  ///< of a matrix; 0: it is none
};

/// What the names in expressions mean: of a kernel and its launch.
class Names {
 public:
  Names(const code::Program& program, std::map<std::string, NamedBuffer> buffers, std::map<std::string, NamedBuffer> variables);

  using Read = std::function<Value(const At&)>;
  /// Throws std::invalid_argument with near names for one that means nothing.
  Read find(const std::string& name) const;
  const code::Program& program() const { return program_; }
  const std::map<std::string, NamedBuffer>& buffers() const { return buffers_; }
  const std::map<std::string, NamedBuffer>& variables() const { return variables_; }
  const SourceVariables& source() const { return source_; }
  bool names_source(std::string_view name) const;
  /// A variable of the source. Throws std::invalid_argument where it has no place.
  Value read(const SourceVariable& variable, const At& at) const;
  /// The registers of a function by their names, in the order of the text.
  std::vector<const code::PlacedRegister*> registers(int function) const;
  Value read(const code::PlacedRegister& reg, const At& at) const;
  /// Where the lane has it; null: nowhere. Of a predicate the word of all lanes.
  const std::uint8_t* place(const code::PlacedRegister& reg, const At& at) const;

 private:
  std::optional<Read> find_in_ptx(const std::string& name) const;
  std::optional<Read> find_register(const std::string& name) const;
  Value in_register(const SourceVariable& variable, const std::string& name, const At& at) const;
  Value at_symbol(const SourceVariable& variable, const SourceVariable::Place& place, const At& at) const;
  std::optional<Read> find_special(const std::string& name) const;
  std::optional<Read> find_in_memory(const std::string& name) const;

  const code::Program& program_;
  std::map<std::string, NamedBuffer> buffers_, variables_;
  SourceVariables source_;
  std::map<std::string, std::vector<const code::PlacedRegister*>, std::less<>> registers_;
};

/// An expression, read once and evaluated often: numbers, names, `A[5]`, `p->x.y`, `*p`, `{f32}ADDRESS`, `{f16:shared}ADDRESS`, `(f32)x`,
/// and C's operators but assignments.
class Expression {
 public:
  /// Throws std::invalid_argument that says what is wrong. The names must outlive it.
  Expression(const std::string& text, const Names& names);
  /// Throws std::invalid_argument where memory is read that is not there.
  Value operator()(const At& at) const { return evaluate_(at); }

 private:
  Names::Read evaluate_;
};

}  // namespace warpmat::debug
