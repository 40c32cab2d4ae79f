#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <warpmat/diagnostic.h>
#include <warpmat/forms.h>

namespace warpmat::syntax {

// The tree of a PTX module as compilers write it (PTX ISA 9.1 chapters 4, 5 and 11), or of a list of statements, which is the body of one
// entry without a name. It knows no instructions: an opcode is a text, operands are the items between commas. Names and numbers point into
// Module::text.

inline constexpr std::string_view discard = "_";

/// An operand of a statement.
struct Operand {
  enum class Kind : std::uint8_t {
    name,     ///< %r1, %tid.x, variable+4, LABEL, _
    number,   ///< 12, -1, 0f3F800000
    vector,   ///< {a, b}
    address,  ///< [a+4]; items: the base, and items after a comma (coordinates)
    pair,     ///< p|q
    list,     ///< (a, b) of a call
  };

  Kind kind;
  Location location{};
  std::string_view text{};               ///< of a name, with its .x; of a number, without its sign
  bool inverted = false;                 ///< !p
  bool negative = false;                 ///< -1, or -%r1 of vmad
  std::int64_t offset = 0;               ///< of a name outside brackets, or of an address
  std::optional<std::uint64_t> value{};  ///< of a constant expression, (128 >> 4) << 16, whose text is its spelling
  std::vector<Operand> items{};

  /// Whether it stands for a result that is discarded, `_`.
  bool discards() const { return text == discard; }
};

/// @p or @!p.
struct Guard {
  std::string_view predicate{};
  bool inverted{};
  Location location{};  ///< behind the @
};

/// The source line of a statement, from the last .loc before it.
struct SourceLine {
  int file = 0, line = 0, column = 0;
  std::string_view function{};  ///< of an inlined function, a label of Module::debug_names; else empty
  int inlined_at = -1;          ///< where it is inlined, an index of Module::source_lines; -1 if it is not
};

struct Statement {
  Location location{};
  std::optional<Guard> guard{};
  std::string opcode{};  ///< mnemonic and qualifiers: "ld.global.v4.u32"
  std::vector<Operand> operands{};
  Location end{};        ///< of its semicolon
  int source_line = -1;  ///< an index of Module::source_lines, or -1
};

struct Label {
  Location location{};
  std::string_view name{};
};

/// One value of an initialiser: a number, or the address of a variable or function.
struct Initialiser {
  std::string_view number{};  ///< its spelling; empty for an address
  bool negative = false;
  std::string_view symbol{};
  bool generic = false;  ///< generic(symbol)
  std::int64_t offset = 0;
  std::uint64_t byte_mask = 0;  ///< 0xFF00(symbol): the bytes of the address in this element; 0 for all
};

/// A declared variable, register or parameter.
struct Variable {
  Location location{};
  std::optional<Space> space{};         ///< none: .reg
  std::string_view type{};              ///< "b32"
  std::string_view name{};              ///< empty for the unnamed parameters of a prototype
  int vector = 1;                       ///< .v2, .v4
  std::int64_t alignment = 0;           ///< bytes; 0 without .align
  std::int64_t registers = 0;           ///< of %r<82>: 82, names %r0 to %r81
  std::vector<std::int64_t> extents{};  ///< of arrays; -1 for []
  std::vector<Initialiser> values{};
  bool follows = false;              ///< a comma stands before it: another variable of the same declaration
  bool external = false;             ///< .extern
  bool pointer = false;              ///< a parameter with .ptr
  std::string_view pointer_space{};  ///< of .ptr: "global", "shared", ... or empty
  std::int64_t pointer_alignment = 0;
};

struct ScopeBegin {};
struct ScopeEnd {};

/// NAME: .branchtargets or .calltargets A, B;
struct TargetList {
  Location location{};
  std::string_view name{};
  bool calls{};
  std::vector<std::string_view> targets{};
};

/// NAME: .callprototype (returns) _ (parameters);
struct Prototype {
  Location location{};
  std::string_view name{};
  std::vector<Variable> returns{}, parameters{};
};

/// .maxntid 128, 1, 1
struct Directive {
  Location location{};
  std::string_view name{};  ///< with its dot
  std::vector<std::int64_t> numbers{};
  std::string_view value{};  ///< of a .target in a list

  bool is_version() const { return name == ".version"; }
};

/// What is no PTX in a list of statements, where it stands: a list reports its errors in the order of the text.
struct Fault {
  Location location{};
  std::string message{};
};

/// Directives (.version and .target, whose numbers and names are valid) and faults are only in lists.
using Element = std::variant<Statement, Label, Variable, ScopeBegin, ScopeEnd, TargetList, Prototype, Directive, Fault>;

/// An .entry or a .func.
struct Function {
  Location location{};
  bool entry = false;
  std::string_view name{};
  std::vector<Variable> returns{}, parameters{};
  std::vector<Directive> directives{};
  bool defined = false;  ///< has a body; else it is only declared
  std::vector<Element> body{};

  const Directive* find_directive(std::string_view directive) const;
};

struct Module {
  std::shared_ptr<const std::string> text{};
  PtxVersion version = newest_ptx;
  std::string_view target{};  ///< the first name of .target; empty if there is none
  bool debug = false;         ///< .target names debug, too
  int address_size = 64;
  std::vector<Variable> variables{};
  std::vector<Function> functions{};
  std::map<int, std::string_view> files{};                 ///< of .file
  std::vector<SourceLine> source_lines{};                  ///< of .loc
  std::map<std::string_view, std::string> debug_names{};   ///< of .section .debug_str: labels and their texts
  std::map<std::string_view, std::string_view> aliases{};  ///< of .alias: the other name of a function

  /// The definition of that function, else its declaration, else nullptr. Follows aliases.
  const Function* find_function(std::string_view name) const;
  /// The value that represents the function in registers and variables; it is outside all spaces of memory.
  std::uint64_t function_address(const Function& function) const;
};

/// Parses a module. Throws SyntaxError listing every place that is not PTX.
Module parse_module(std::string text);

/// A list of statements: the body of the only entry of `module`.
struct List {
  Module module{};
  bool declares_registers = false;  ///< has a .reg: then every register must be declared

  std::vector<Element>& body() { return module.functions.front().body; }
};

/// Parses a list of statements. Never throws: a Fault stands where the text is not PTX.
List parse_list(std::string text);

}  // namespace warpmat::syntax
