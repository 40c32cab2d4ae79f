#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <warpmat/forms.h>
#include <warpmat/ptx/syntax/module.h>
#include <warpmat/tables/types.h>

namespace warpmat::code {

// What may stand where an instruction has an operand. The rules are ptxas's, but for what a dialect leaves out or takes beside.

/// What modules and lists of statements do not have in common.
struct Dialect {
  bool exact_numbers = false;    ///< a number must fit its type; else an integer gives its low bits, as in ptxas
  bool width_first = false;      ///< of what is wrong with a register, its width is said, not its type
  bool only_laneid = false;      ///< no other special register, and no WARP_SZ: their names are free
  bool braces_discard = false;   ///< _ stands in braces and in pairs alone; else wherever the instruction takes it
  bool signs_are_names = false;  ///< -r and !r are no names of registers; else what they do is the instruction's
};
WARPMAT_LOCAL inline constexpr Dialect of_modules{};
WARPMAT_LOCAL inline constexpr Dialect of_lists{
    .exact_numbers = true, .width_first = true, .only_laneid = true, .braces_discard = true, .signs_are_names = true};

/// Where an operand stands.
struct Seat {
  std::string_view role;              ///< for messages: "the result", "a source"; "operand" of a matrix instruction
  std::string_view instruction = {};  ///< its mnemonic; empty: the role says all
  std::optional<OperandName> name{};  ///< of a matrix instruction's operand
  const DataType* type = nullptr;     ///< its width, and the format of numbers
  Accepts accepts{};                  ///< the types of registers
  bool written = false;
  bool integers_alone = false;  ///< of a module: no register of another type, not even in a sum
  bool may_be_wider = false;    ///< a register may be wider than the type
  bool symbols = false;         ///< mov: also %laneid and the address of a variable
  bool in_braces = false;       ///< {a, b}: only there ptxas takes _ and, as in mov, %laneid
  bool in_pair = false;         ///< a|b: there ptxas takes _, too
  bool may_discard = true;      ///< whether _ may take a result's place

  /// "operand a of mma"
  std::string text() const;
};

/// Why an operand cannot stand at a seat.
struct Objection {
  enum class Kind : std::uint8_t {
    no_name,         ///< neither a register's name nor a number
    undeclared,      ///< no register has that name
    minus,           ///< before a register
    width,           ///< of the register
    type,            ///< of the register
    offset,          ///< behind a register
    offset_type,     ///< behind a register, where no integer stands
    number,          ///< does not fit the type
    number_written,  ///< a result is a number
    discard_read,    ///< _ as a source
    discard_alone,   ///< _ neither in braces nor in a pair
    discard_target,  ///< ptxas cannot discard the result on the target
    laneid_written,
    laneid_place,  ///< not in a mov, not in braces
    laneid_type,
    variable_written,
    variable_place,  ///< its address, not in a mov
    variable_type,   ///< its address, where a floating-point number stands
    variable_width,
    braces,            ///< it is a vector and has none
    count,             ///< of a vector's items
    vector_width,      ///< of a vector's items
    vector_class,      ///< integers beside floating-point numbers
    vector_discarded,  ///< all items are _
    only_numbers,      ///< numbers where at least one register must stand
    selector,          ///< no number
    selector_range,
    no_address,  ///< not in brackets
    address_number,
    address_base,  ///< neither a register nor a variable
  };
  Kind kind = Kind::no_name;
  const DataType* declared = nullptr;  ///< width, type: of the register
  int bits = 0;                        ///< width: of the register
  int number = 0;  ///< braces: the items that it should have; count: those that it has, of `wanted`; selectors: the largest
  int wanted = 0;
};

/// The objection as a list of statements words it. `target`: that of the program; null before it is known, at a guard.
std::string text_in_list(const Objection& objection, const Seat& seat, const syntax::Operand& given, const Target* target);

/// The objection as a module words it, to an operand of `instruction`.
std::string text_in_module(const Objection& objection, const Seat& seat, const syntax::Operand& given, std::string_view instruction);

/// The beginning of an operand for messages, enough to show its kind: "'%r1'", "'{'".
std::string spell(const syntax::Operand& given);

/// Whether a register of `bits` bits holds a value of `type`: it has as many, at least 16, or more if it `may_be_wider`.
bool fits_width(int bits, const DataType& type, bool may_be_wider);

/// The bits of a number as a value of `type`; nothing if it does not fit.
std::optional<std::uint64_t> number_bits(const syntax::Operand& given, const DataType& type, const Dialect& dialect);

/// The 64 bits of an integer; without its sign unless it is a constant expression. Nothing if it is no integer.
std::optional<std::uint64_t> integer_of(const syntax::Operand& given);

// Of an operand that stands alone, or of one item in braces. Nothing: it may stand there.
std::optional<Objection> judge_name(const Seat& seat, const syntax::Operand& given, const Dialect& dialect);
std::optional<Objection> judge_number(const Seat& seat, const syntax::Operand& given, const Dialect& dialect);
/// Of a register of `bits` bits, which may be more than those of its type.
std::optional<Objection> judge_register(const Seat& seat, const DataType& declared, int bits, const Dialect& dialect);
/// Of what stands before and behind a register of a module: a minus, an offset.
std::optional<Objection> judge_signs(const Seat& seat, const syntax::Operand& given);
std::optional<Objection> judge_discard(const Seat& seat, const Dialect& dialect);
std::optional<Objection> judge_laneid(const Seat& seat);
std::optional<Objection> judge_variable(const Seat& seat, const Dialect& dialect);

/// An item of a vector, for rules about all of them.
struct SeatedItem {
  enum class Kind : std::uint8_t { register_, laneid, number, discard, other };
  Kind kind = Kind::other;
  const DataType* declared = nullptr;  ///< of a register
  std::string_view number = {};        ///< its spelling
};
/// One width and one class of types besides the untyped, and not only _.
std::optional<Objection> judge_vector(const Seat& seat, std::span<const SeatedItem> items);
/// Whether a fragment's operand of a matrix instruction may be numbers alone.
std::optional<Objection> judge_numbers(const Operand& operand, std::span<const SeatedItem> items);

}  // namespace warpmat::code
