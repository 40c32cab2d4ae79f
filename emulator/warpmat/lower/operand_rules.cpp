#include <warpmat/lower/operand_rules.h>

#include <algorithm>

#include <fmt/core.h>

#include <warpmat/numeric/low_mask.h>
#include <warpmat/ptx/catalogue/catalogue.h>
#include <warpmat/ptx/text/number.h>

namespace warpmat::code {
namespace {

using Written = syntax::Operand::Kind;
using Why = Objection::Kind;

/// The low bits of an integer constant: PTX converts constants, which have 64 bits, to the size of the type at their use (PTX ISA section
/// 4.5.1). ptxas does so without a warning.
std::optional<std::uint64_t> converted_integer(const syntax::Operand& given, int bits) {
  const auto value = integer_of(given);
  if (!value || (bits > 64 && given.negative)) return std::nullopt;
  return (given.negative ? ~*value + 1 : *value) & low_mask(bits);
}

/// The number itself; for a constant expression the value.
std::optional<std::uint64_t> exact_bits(const syntax::Operand& given, const DataType& type) {
  if (!given.value) return parse_number(given.text, given.negative, type);
  const bool negative = static_cast<std::int64_t>(*given.value) < 0;
  return parse_number(std::to_string(negative ? ~*given.value + 1 : *given.value), negative, type);
}

/// The width that an item requires, or 0: an integer fits every width, a floating-point number has its own.
int width_of(const Seat& seat, const SeatedItem& item) {
  switch (item.kind) {
    case SeatedItem::Kind::register_: return item.declared->bits;
    case SeatedItem::Kind::laneid: return 32;
    case SeatedItem::Kind::number: return is_floating_number(item.number) ? seat.type->bits : 0;
    case SeatedItem::Kind::discard:
    case SeatedItem::Kind::other: break;
  }
  return 0;
}

DataType::Class class_of(const SeatedItem& item) {
  if (item.kind == SeatedItem::Kind::register_) return item.declared->type_class;
  if (item.kind == SeatedItem::Kind::number) return is_floating_number(item.number) ? DataType::Class::floating : DataType::Class::integer;
  return DataType::Class::bits;
}

constexpr int narrowest_register = 16;

const char* plural(int count) {
  return count == 1 ? "" : "s";
}

}  // namespace

std::string Seat::text() const {
  const std::string own = name ? fmt::format("{} {}", role, warpmat::name(*name)) : std::string(role);
  return instruction.empty() ? own : fmt::format("{} of {}", own, instruction);
}

std::string spell(const syntax::Operand& given) {
  switch (given.kind) {
    case Written::name: return fmt::format("'{}{}{}'", given.inverted ? "!" : "", given.negative ? "-" : "", given.text);
    case Written::number: return fmt::format("'{}{}'", given.negative ? "-" : "", given.text);
    case Written::vector: return "'{'";
    case Written::address: return "'['";
    case Written::list: return "'('";
    case Written::pair: return fmt::format("{} and '|'", spell(given.items.front()));
  }
  return {};
}

std::string text_in_list(const Objection& objection, const Seat& seat, const syntax::Operand& given, const Target* target) {
  const std::string what = seat.text();
  const int number = objection.number;
  switch (objection.kind) {
    case Why::no_name: return fmt::format("expected {}, found {}", what, spell(given));
    case Why::width: return fmt::format("'{}' is .{}, but {} has {} bits", given.text, objection.declared->name, what, seat.type->bits);
    case Why::type:
      return fmt::format("'{}' is .{}; ptxas does not take that for {}: declare it .b{}", given.text, objection.declared->name, what,
                         objection.declared->bits);
    case Why::undeclared: return fmt::format("register '{}' is not declared", given.text);
    case Why::offset: return fmt::format("only variables and addresses have an offset, not {}", spell(given));
    case Why::number: return fmt::format("{} is not a number that fits .{}", spell(given), seat.type->name);
    case Why::number_written: return fmt::format("{} needs a register to be written to", what);
    case Why::discard_read: return fmt::format("{} is read; _ only takes results", what);
    case Why::discard_alone: return fmt::format("{} needs a register: _ only stands in braces", what);
    case Why::discard_target:
      return fmt::format("{} takes no _ on {}: ptxas cannot discard a result of this form there", what, target->name);
    case Why::laneid_written: return "%laneid cannot be written";
    case Why::laneid_place: return fmt::format("{} cannot be %laneid: mov.u32 takes that to a register", what);
    case Why::laneid_type: return fmt::format("%laneid is a .u32; {} is .{}", what, seat.type->name);
    case Why::variable_written: return fmt::format("'{}' is a shared variable and cannot be a result; st.shared writes to it", given.text);
    case Why::variable_place: return fmt::format("{} cannot be the address of '{}': mov.u32 takes that to a register", what, given.text);
    case Why::variable_type: return fmt::format("the address of '{}' is an integer; {} is .{}", given.text, what, seat.type->name);
    case Why::variable_width: return fmt::format("the address of '{}' needs 32 bits; {} has {}", given.text, what, seat.type->bits);
    case Why::braces: return fmt::format("{} is written in braces: {{ and {} register{}", what, number, plural(number));
    case Why::count:
      return fmt::format("{} takes {} register{} of {} bits; {} {} given", what, objection.wanted, plural(objection.wanted),
                         seat.type->bits, number, number == 1 ? "is" : "are");
    case Why::vector_width: return fmt::format("the items of {} must have one width", what);
    case Why::vector_class:
      return fmt::format("ptxas takes integers, floating-point numbers and .f16x2 only apart from each other in {}", what);
    case Why::vector_discarded: return fmt::format("{} needs a register: ptxas takes no _ alone", what);
    case Why::only_numbers: return fmt::format("{} needs a register", what);
    case Why::selector: return fmt::format("{} is a number from 0 to {}, found {}", what, number, spell(given));
    case Why::selector_range: return fmt::format("{} is a number from 0 to {}", what, number);
    case Why::no_address: return fmt::format("{} is written in brackets: [register], [variable] or [register+16]", what);
    case Why::address_number: return "ptxas takes no number as a shared address: mov.u32 takes it to a register";
    case Why::address_base: return fmt::format("expected a register or a shared variable, found {}", spell(given));
    case Why::minus:
    case Why::offset_type: break;  // judged in modules alone
  }
  return {};
}

std::string text_in_module(const Objection& objection, const Seat& seat, const syntax::Operand& given, std::string_view instruction) {
  const std::string_view text = given.text;
  const int needed = seat.type == nullptr || seat.type->is_predicate() ? 1 : std::max(seat.type->bits, narrowest_register);
  switch (objection.kind) {
    case Why::no_name:
      if (!seat.written) return fmt::format("expected a register or a number for .{}", seat.type->name);
      [[fallthrough]];
    case Why::undeclared:
    case Why::number_written:
    case Why::variable_written: return fmt::format("'{}' is not a register that is declared here", text);
    case Why::minus: return fmt::format("{} takes no minus before the register '{}'", instruction, text);
    case Why::offset: return fmt::format("only addresses have an offset behind the register '{}'", text);
    case Why::offset_type: return fmt::format("only integers and addresses have an offset behind the register '{}'", text);
    case Why::type:
      return fmt::format("'{}' is a register of .{}, which {} does not take for .{}", text, objection.declared->name, instruction,
                         seat.type->name);
    case Why::width:
      if (!seat.written && seat.type->is_predicate()) return fmt::format("'{}' is not a predicate", text);
      return fmt::format("'{}' has {} bits; {} {} {} here", text, objection.bits, instruction, seat.written ? "writes" : "takes", needed);
    case Why::discard_target: return fmt::format("{} takes no _ here: ptxas cannot discard this result", instruction);
    case Why::variable_place: return fmt::format("'{}' is no register: mov takes its address to one", text);
    case Why::braces: return fmt::format("{} takes {} registers in braces here", instruction, objection.number);
    case Why::count: return fmt::format("{} takes {} registers here, {} are given", instruction, objection.wanted, objection.number);
    case Why::vector_discarded: return fmt::format("{} writes nothing: one register of a vector is not _", instruction);
    case Why::selector: return fmt::format("expected a number, found '{}'", text);
    case Why::selector_range: return fmt::format("the selector is a number from 0 to {}", objection.number);
    case Why::no_address: return "expected an address in brackets";
    case Why::address_base: return "expected a register or a variable in brackets";
    default: return text_in_list(objection, seat, given, nullptr);
  }
}

bool fits_width(int bits, const DataType& type, bool may_be_wider) {
  const int needed = type.is_predicate() ? 1 : std::max(type.bits, narrowest_register);
  return bits == needed || (may_be_wider && bits > needed && bits != 1 && needed != 1);
}

std::optional<std::uint64_t> integer_of(const syntax::Operand& given) {
  return given.value ? given.value : parse_integer(given.text);
}

std::optional<std::uint64_t> number_bits(const syntax::Operand& given, const DataType& type, const Dialect& dialect) {
  if (dialect.exact_numbers) return exact_bits(given, type);
  // No floating-point format accepts an integer, and only .f32 and .f64 accept any number; integers do not accept 0f3F800000.
  auto bits = parse_number(given.text, given.negative, type);
  // .f64 takes the bits of 0f3F800000 as they are, and .b64 a number with a point (an H200's answers).
  if (!bits && catalogue::is_number(type, Format::f64)) bits = parse_number(given.text, given.negative, *find_data_type("f32"));
  if (!bits && type.type_class == DataType::Class::bits && type.bits == 64 && given.text.find('.') != std::string_view::npos)
    bits = parse_number(given.text, given.negative, *find_data_type("f64"));
  if (!bits && !type.is_floating()) bits = converted_integer(given, type.bits);
  return bits;
}

std::optional<Objection> judge_name(const Seat& seat, const syntax::Operand& given, const Dialect& dialect) {
  const bool may_be_inverted = !dialect.signs_are_names || (seat.type->bits == 1 && !seat.written);
  const bool may_be_negative = !dialect.signs_are_names;
  if (given.kind != Written::name || (given.inverted && !may_be_inverted) || (given.negative && !may_be_negative))
    return Objection{Why::no_name};
  return std::nullopt;
}

std::optional<Objection> judge_number(const Seat& seat, const syntax::Operand& given, const Dialect& dialect) {
  const bool floating = !given.value && is_floating_number(given.text);
  const bool stands = seat.in_braces || seat.accepts.floating || !floating;
  if (!stands || !number_bits(given, *seat.type, dialect)) return Objection{Why::number};
  return std::nullopt;
}

std::optional<Objection> judge_register(const Seat& seat, const DataType& declared, int bits, const Dialect& dialect) {
  const auto judge_width = [&]() -> std::optional<Objection> {
    if (fits_width(bits, *seat.type, seat.may_be_wider)) return std::nullopt;
    return Objection{.kind = Why::width, .declared = &declared, .bits = bits};
  };
  const auto judge_type = [&]() -> std::optional<Objection> {
    const bool both_floating = seat.type->is_floating() && declared.is_floating();  // one floating-point type is not another's
    if (both_floating ? &declared == seat.type : accepts(seat.accepts, declared)) return std::nullopt;
    return Objection{.kind = Why::type, .declared = &declared, .bits = bits};
  };
  const auto first = dialect.width_first ? judge_width() : judge_type();
  return first ? first : dialect.width_first ? judge_type() : judge_width();
}

std::optional<Objection> judge_signs(const Seat& seat, const syntax::Operand& given) {
  const bool adds = given.offset != 0 && !seat.written;  // their sum
  if (adds && (seat.type->is_floating() || seat.type->is_predicate() || seat.type->bits > 64)) return Objection{Why::offset_type};
  if (given.negative) return Objection{Why::minus};
  if (given.offset != 0 && seat.written) return Objection{Why::offset};
  return std::nullopt;
}

std::optional<Objection> judge_discard(const Seat& seat, const Dialect& dialect) {
  if (!seat.written) return Objection{Why::discard_read};
  if (dialect.braces_discard && !seat.in_braces && !seat.in_pair) return Objection{Why::discard_alone};
  if (!seat.may_discard) return Objection{Why::discard_target};
  return std::nullopt;
}

std::optional<Objection> judge_laneid(const Seat& seat) {
  if (seat.written) return Objection{Why::laneid_written};
  if (!seat.symbols && !seat.in_braces) return Objection{Why::laneid_place};
  if (seat.type->bits != 32 || seat.type->type_class == DataType::Class::floating) return Objection{Why::laneid_type};
  return std::nullopt;
}

std::optional<Objection> judge_variable(const Seat& seat, const Dialect& dialect) {
  if (seat.written) return Objection{Why::variable_written};
  if (!seat.symbols) return Objection{Why::variable_place};
  if (!dialect.exact_numbers) return std::nullopt;  // its class of registers says the rest
  if (seat.type->type_class == DataType::Class::floating) return Objection{Why::variable_type};
  if (seat.type->bits < 32) return Objection{Why::variable_width};
  return std::nullopt;
}

std::optional<Objection> judge_vector(const Seat& seat, std::span<const SeatedItem> items) {
  int bits = 0;
  auto type_class = DataType::Class::bits;
  for (const SeatedItem& item : items) {
    const int width = width_of(seat, item);
    if (bits != 0 && width != 0 && width != bits) return Objection{Why::vector_width};
    if (width != 0) bits = width;
    const DataType::Class item_class = class_of(item);
    if (item_class == DataType::Class::bits) continue;
    if (type_class != DataType::Class::bits && item_class != type_class) return Objection{Why::vector_class};
    type_class = item_class;
  }
  if (std::ranges::all_of(items, [](const SeatedItem& one) { return one.kind == SeatedItem::Kind::discard; }))
    return Objection{Why::vector_discarded};
  return std::nullopt;
}

/// ptxas accepts immediates mixed with registers. Only immediates are accepted for accumulators with one element a register, integers or 0f
/// patterns, and 0f patterns for operands without braces.
std::optional<Objection> judge_numbers(const Operand& operand, std::span<const SeatedItem> items) {
  if (std::ranges::any_of(items, [](const SeatedItem& one) { return one.kind != SeatedItem::Kind::number; })) return std::nullopt;
  const bool accumulator = operand.name == OperandName::c || operand.name == OperandName::r;
  if (operand.in_braces && (!accumulator || operand.fragment.elements_per_register() > 1)) return Objection{Why::only_numbers};
  const bool floating = operand.format != Format::s32;
  const bool taken = std::ranges::all_of(items, [&](const SeatedItem& item) {
    return is_floating_number(item.number) == floating && item.number.find('.') == std::string_view::npos;
  });
  return taken ? std::nullopt : std::optional(Objection{Why::only_numbers});
}

}  // namespace warpmat::code
