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

// What may stand where an instruction has an operand: the rules are ptxas's.

/// Where an operand stands.
struct Seat {
  std::string_view role;                      ///< for messages: "the result", "a source"; "operand" of a matrix instruction
  std::string_view instruction = {};          ///< its mnemonic; empty: the role says all
  std::optional<OperandName> name{};          ///< of a matrix instruction's operand
  const DataType* type = nullptr;             ///< its width, and the format of numbers
  Accepts accepts{};                          ///< the types of registers
  std::span<const syntax::Operand> vector{};  ///< of which the operand is an item
  bool written = false;
  bool integers_alone = false;  ///< no register of another type, not even in a sum
  bool may_be_wider = false;    ///< a register may be wider than the type
  bool symbols = false;         ///< mov: also the address of a variable
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
    number_written,  ///< a result is a number
    discard_target,  ///< ptxas cannot discard the result on the target
    variable_written,
    variable_place,    ///< its address, not in a mov
    braces,            ///< it is a vector and has none
    count,             ///< of a vector's items
    vector_width,      ///< of a vector's items
    vector_class,      ///< integers beside floating-point numbers
    vector_discarded,  ///< all items are _
    only_numbers,      ///< numbers where at least one register must stand
    selector,          ///< no number
    selector_range,
    no_address,    ///< not in brackets
    address_base,  ///< neither a register nor a variable
  };
  Kind kind = Kind::no_name;
  const DataType* declared = nullptr;  ///< width, type: of the register
  int bits = 0;                        ///< width: of the register
  int number = 0;  ///< braces: the items that it should have; count: those that it has, of `wanted`; selectors: the largest
  int wanted = 0;
};

/// The objection to an operand of `instruction`.
std::string text_of(const Objection& objection, const Seat& seat, const syntax::Operand& given, std::string_view instruction);

/// The beginning of an operand for messages, enough to show its kind: "'%r1'", "'{'".
std::string spell(const syntax::Operand& given);

/// Whether a register of `bits` bits holds a value of `type`: it has as many, at least 16, or more if it `may_be_wider`.
bool fits_width(int bits, const DataType& type, bool may_be_wider);

/// The bits of a number as a value of `type`; nothing if it does not fit.
std::optional<std::uint64_t> number_bits(const syntax::Operand& given, const DataType& type);

/// The 64 bits of an integer; without its sign unless it is a constant expression. Nothing if it is no integer.
std::optional<std::uint64_t> integer_of(const syntax::Operand& given);

// Of an operand that stands alone, or of one item in braces. Nothing: it may stand there.
std::optional<Objection> judge_name(const Seat& seat, const syntax::Operand& given);
/// Of a register of `bits` bits, which may be more than those of its type.
std::optional<Objection> judge_register(const Seat& seat, const DataType& declared, int bits);
/// Of what stands before and behind a register: a minus, an offset.
std::optional<Objection> judge_signs(const Seat& seat, const syntax::Operand& given);
std::optional<Objection> judge_variable(const Seat& seat);

/// An item of a vector, for rules about all of them.
struct SeatedItem {
  enum class Kind : std::uint8_t { register_, laneid, number, discard };
  Kind kind = Kind::register_;
  const DataType* declared = nullptr;  ///< of a register
  std::string_view number = {};        ///< its spelling
};
/// One width and one class of types besides the untyped, and not only _.
std::optional<Objection> judge_vector(const Seat& seat, std::span<const SeatedItem> items);
/// Whether a fragment's operand of a matrix instruction may be numbers alone.
std::optional<Objection> judge_numbers(const Operand& operand, std::span<const SeatedItem> items);

}  // namespace warpmat::code
