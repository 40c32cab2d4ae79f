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

/// The width that an item requires, or 0: an integer fits every width, a floating-point number has its own.
int width_of(const Seat& seat, const SeatedItem& item) {
  switch (item.kind) {
    case SeatedItem::Kind::register_: return item.declared->bits;
    case SeatedItem::Kind::laneid: return 32;
    case SeatedItem::Kind::number: return is_floating_number(item.number) ? seat.type->bits : 0;
    case SeatedItem::Kind::discard: break;
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

std::string text_of(const Objection& objection, const Seat& seat, const syntax::Operand& given, std::string_view instruction) {
  const std::string_view text = given.text;
  const std::string what = seat.text();
  const int number = objection.number;
  switch (objection.kind) {
    case Why::no_name:
      if (!seat.written) return fmt::format("expected a register or a number for .{}, found {}", seat.type->name, spell(given));
      [[fallthrough]];
    case Why::undeclared:
    case Why::number_written:
    case Why::variable_written: return fmt::format("{} is not a register that is declared here", spell(given));
    case Why::minus: return fmt::format("{} takes no minus before the register '{}'", instruction, text);
    case Why::offset: return fmt::format("only addresses have an offset behind the register '{}'", text);
    case Why::offset_type: return fmt::format("only integers and addresses have an offset behind the register '{}'", text);
    case Why::type:
      return fmt::format("'{}' is a register of .{}, which {} does not take for .{}", text, objection.declared->name, instruction,
                         seat.type->name);
    case Why::width: {
      if (!seat.written && seat.type->is_predicate()) return fmt::format("'{}' is not a predicate", text);
      const int needed = seat.type->is_predicate() ? 1 : std::max(seat.type->bits, narrowest_register);
      return fmt::format("'{}' has {} bits; {} {} {} here", text, objection.bits, instruction, seat.written ? "writes" : "takes", needed);
    }
    case Why::discard_target: return fmt::format("{} takes no _ here: ptxas cannot discard this result", instruction);
    case Why::variable_place: return fmt::format("'{}' is no register: mov takes its address to one", text);
    case Why::braces: return fmt::format("{} takes {} register{} in braces here", instruction, number, plural(number));
    case Why::count: return fmt::format("{} takes {} registers here, {} are given", instruction, objection.wanted, number);
    case Why::vector_width: return fmt::format("the items of {} must have one width", what);
    case Why::vector_class:
      return fmt::format("ptxas takes integers, floating-point numbers and .f16x2 only apart from each other in {}", what);
    case Why::vector_discarded: return fmt::format("{} writes nothing: one register of a vector is not _", instruction);
    case Why::only_numbers: return fmt::format("{} needs a register", what);
    case Why::selector: return fmt::format("{} is a number from 0 to {}, found {}", what, number, spell(given));
    case Why::selector_range: return fmt::format("{} is a number from 0 to {}", what, number);
    case Why::no_address: return "expected an address in brackets";
    case Why::address_base: return "expected a register or a variable in brackets";
  }
  return {};
}

bool fits_width(int bits, const DataType& type, bool may_be_wider) {
  const int needed = type.is_predicate() ? 1 : std::max(type.bits, narrowest_register);
  return bits == needed || (may_be_wider && bits > needed && bits != 1 && needed != 1);
}

std::optional<std::uint64_t> integer_of(const syntax::Operand& given) {
  return given.value ? given.value : parse_integer(given.text);
}

std::optional<std::uint64_t> number_bits(const syntax::Operand& given, const DataType& type) {
  // No floating-point format accepts an integer, and only .f32 and .f64 accept any number; integers do not accept 0f3F800000.
  auto bits = parse_number(given.text, given.negative, type);
  // .f64 takes the bits of 0f3F800000 as they are, and .b64 a number with a point (an H200's answers).
  if (!bits && catalogue::is_number(type, Format::f64)) bits = parse_number(given.text, given.negative, *find_data_type("f32"));
  if (!bits && type.type_class == DataType::Class::bits && type.bits == 64 && given.text.find('.') != std::string_view::npos)
    bits = parse_number(given.text, given.negative, *find_data_type("f64"));
  if (!bits && !type.is_floating()) bits = converted_integer(given, type.bits);
  return bits;
}

std::optional<Objection> judge_name(const Seat& seat, const syntax::Operand& given) {
  const bool may_be_inverted = seat.type->is_predicate() && !seat.written;
  if (given.kind != Written::name || (given.inverted && !may_be_inverted)) return Objection{Why::no_name};
  return std::nullopt;
}

std::optional<Objection> judge_register(const Seat& seat, const DataType& declared, int bits) {
  const bool both_floating = seat.type->is_floating() && declared.is_floating();  // one floating-point type is not another's
  const bool has_type = both_floating ? &declared == seat.type : accepts(seat.accepts, declared);
  if (!has_type) return Objection{.kind = Why::type, .declared = &declared, .bits = bits};
  if (!fits_width(bits, *seat.type, seat.may_be_wider)) return Objection{.kind = Why::width, .declared = &declared, .bits = bits};
  return std::nullopt;
}

std::optional<Objection> judge_signs(const Seat& seat, const syntax::Operand& given) {
  const bool adds = given.offset != 0 && !seat.written;  // their sum
  if (adds && (seat.type->is_floating() || seat.type->is_predicate() || seat.type->bits > 64)) return Objection{Why::offset_type};
  if (given.negative) return Objection{Why::minus};
  if (given.offset != 0 && seat.written) return Objection{Why::offset};
  return std::nullopt;
}

std::optional<Objection> judge_variable(const Seat& seat) {
  if (seat.written) return Objection{Why::variable_written};
  if (!seat.symbols) return Objection{Why::variable_place};
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
