#include <warpmat/lists/operand_checker.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include <warpmat/ptx/text/number.h>

namespace warpmat::inline v0_1 {
namespace {

using Written = syntax::Operand::Kind;

/// The beginning of an operand for messages, enough to show its kind: "'%r1'", "'{'".
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

/// ptxas accepts immediates mixed with registers. Only immediates are accepted for accumulators with one element a register, integers or 0f
/// patterns, and 0f patterns for operands without braces.
bool takes_only_numbers(const Operand& operand, const OperandText& text) {
  const bool accumulator = operand.name == OperandName::c || operand.name == OperandName::r;
  if (operand.in_braces && (!accumulator || operand.fragment.elements_per_register() > 1)) return false;
  const bool floating = operand.format != Format::s32;
  return std::ranges::all_of(
      text.items, [&](const Item& item) { return is_floating_number(item.text) == floating && item.text.find('.') == std::string::npos; });
}

/// The digits of a number and whether a minus precedes them; for a constant expression those of its value.
std::pair<std::string, bool> number_of(const syntax::Operand& given) {
  if (!given.value) return {std::string(given.text), given.negative};
  const bool negative = static_cast<std::int64_t>(*given.value) < 0;
  return {std::to_string(negative ? ~*given.value + 1 : *given.value), negative};
}

int words_of(const Slot& place) {
  return place.type->bits > 32 ? 2 : 1;
}

}  // namespace

OperandText OperandChecker::matrix_operand(const syntax::Operand& given, const Instruction& instruction, const Operand& operand,
                                           const std::string& what) {
  const Form& form = instruction.form();
  switch (operand.kind) {
    case OperandKind::address: return address(given, what);
    case OperandKind::selector: return selector(given, operand, what);
    case OperandKind::ids: return group(given, {what, accepted_by(form, operand), find_data_type("b16")}, operand.registers(), true);
    case OperandKind::stride: return group(given, {what, accepts_integers, find_data_type("u32")}, 1, false);
    case OperandKind::fragment: break;
  }
  const DataType* type = find_data_type(operand.format == Format::f64 ? "f64" : operand.format == Format::f32 ? "f32" : "b32");
  Slot place{what, accepted_by(form, operand), type, operand.written};
  place.may_discard = instruction.lowering().exceptions.discardable;
  const bool in_braces =
      operand.in_braces || (form.mnemonic == Mnemonic::mma && given.kind == Written::vector);  // ptxas accepts {e} and {scale-a} too
  OperandText text = group(given, place, operand.registers(), in_braces);
  const bool only_numbers = std::ranges::all_of(text.items, [](const Item& i) { return i.kind == Item::Kind::number; });
  if (only_numbers && !takes_only_numbers(operand, text)) fail(given.location, fmt::format("{} needs a register", what));
  return text;
}

OperandText OperandChecker::selector(const syntax::Operand& given, const Operand& operand, const std::string& what) {
  if (given.kind != Written::number || given.negative)
    fail(given.location, fmt::format("{} is a number from 0 to {}, found {}", what, operand.choices - 1, spell(given)));
  Item number = number_item(given, Slot{what, accepts_integers, find_data_type("u32")});
  if (number.bits >= static_cast<std::uint64_t>(operand.choices))
    fail(given.location, fmt::format("{} is a number from 0 to {}", what, operand.choices - 1));
  return {OperandText::Kind::single, {std::move(number)}, 0};
}

OperandText OperandChecker::group(const syntax::Operand& given, const Slot& place, int count, bool in_braces) {
  return in_braces ? vector(given, place, count) : OperandText{OperandText::Kind::single, {item(given, place)}, 0};
}

OperandText OperandChecker::pair(const syntax::Operand& given, Slot first, Slot second) {
  first.in_pair = second.in_pair = true;
  return {OperandText::Kind::pair, {item(given.items[0], first), item(given.items[1], second)}, 0};
}

Item OperandChecker::guard(const syntax::Operand& given) {
  return item(given, {"the guard", accepts_predicates, find_data_type("pred")});
}

OperandText OperandChecker::vector(const syntax::Operand& given, Slot place, int count) {
  if (given.kind != Written::vector)
    fail(given.location, fmt::format("{} is written in braces: {{ and {} register{}", place.what, count, count == 1 ? "" : "s"));
  place.in_braces = true;
  OperandText operand{OperandText::Kind::vector, {}, 0};
  for (const syntax::Operand& one : given.items) operand.items.push_back(item(one, place));
  if (operand.items.size() != static_cast<std::size_t>(count))
    fail(given.location, fmt::format("{} takes {} register{} of {} bits; {} given", place.what, count, count == 1 ? "" : "s",
                                     place.type->bits, operand.items.size() == 1 ? "1 is" : fmt::format("{} are", operand.items.size())));
  check_vector(given, place, operand.items);
  return operand;
}

/// ptxas's rules for the items of a vector: one width, and one class of types besides the untyped.
void OperandChecker::check_vector(const syntax::Operand& given, const Slot& place, const std::vector<Item>& items) const {
  int bits = 0;
  auto type_class = DataType::Class::bits;
  for (const Item& one : items) {
    const int width = width_of(one, place);
    if (bits != 0 && width != 0 && width != bits) fail(given.location, fmt::format("the items of {} must have one width", place.what));
    if (width != 0) bits = width;
    const DataType::Class item_class = class_of(one);
    if (item_class == DataType::Class::bits) continue;
    if (type_class != DataType::Class::bits && item_class != type_class)
      fail(given.location,
           fmt::format("ptxas takes integers, floating-point numbers and .f16x2 only apart from each other in {}", place.what));
    type_class = item_class;
  }
  if (std::ranges::all_of(items, [](const Item& one) { return one.kind == Item::Kind::discard; }))
    fail(given.location, fmt::format("{} needs a register: ptxas takes no _ alone", place.what));
}

const DataType& OperandChecker::named_type(const Item& named) const {
  return *program_.registers()[static_cast<std::size_t>(named.index)].type;
}

/// The width that an item requires, or 0: an integer fits every width, a floating-point number has its own.
int OperandChecker::width_of(const Item& one, const Slot& place) const {
  if (one.kind == Item::Kind::named) return named_type(one).bits;
  if (one.kind == Item::Kind::laneid) return 32;
  return one.kind == Item::Kind::number && is_floating_number(one.text) ? place.type->bits : 0;
}

DataType::Class OperandChecker::class_of(const Item& one) const {
  if (one.kind == Item::Kind::named) return named_type(one).type_class;
  if (one.kind == Item::Kind::number) return is_floating_number(one.text) ? DataType::Class::floating : DataType::Class::integer;
  return DataType::Class::bits;
}

Item OperandChecker::item(const syntax::Operand& given, const Slot& place) {
  if (given.kind == Written::number) return number_item(given, place);
  const bool may_be_inverted = place.type->bits == 1 && !place.written;
  if (given.kind != Written::name || (given.inverted && !may_be_inverted) || given.negative)
    fail(given.location, fmt::format("expected {}, found {}", place.what, spell(given)));
  const SharedVariable* const variable = program_.find_variable(given.text);
  if (variable != nullptr) return variable_item(given, *variable, place);
  if (given.offset != 0) fail(given.location, fmt::format("only variables and addresses have an offset, not {}", spell(given)));
  if (given.text == "_") return discard_item(given, place);
  return given.text == "%laneid" ? laneid_item(given, place) : register_item(given, place);
}

Item OperandChecker::number_item(const syntax::Operand& given, const Slot& place) {
  if (place.written) fail(given.location, fmt::format("{} needs a register to be written to", place.what));
  const auto [text, negative] = number_of(given);
  const bool fits = place.in_braces || place.accepted.floating || !is_floating_number(text);
  const auto bits = fits ? parse_number(text, negative, *place.type) : std::nullopt;
  if (!bits) fail(given.location, fmt::format("{} is not a number that fits .{}", spell(given), place.type->name));
  return {Item::Kind::number, 0, *bits, (negative ? "-" : "") + text, 0, words_of(place)};
}

Item OperandChecker::discard_item(const syntax::Operand& given, const Slot& place) const {
  if (!place.written) fail(given.location, fmt::format("{} is read; _ only takes results", place.what));
  if (!place.in_braces && !place.in_pair) fail(given.location, fmt::format("{} needs a register: _ only stands in braces", place.what));
  if (!place.may_discard)
    fail(given.location,
         fmt::format("{} takes no _ on {}: ptxas cannot discard a result of this form there", place.what, program_.target()->name));
  return {Item::Kind::discard, 0, 0, {}, 0, words_of(place)};
}

Item OperandChecker::laneid_item(const syntax::Operand& given, const Slot& place) const {
  if (place.written) fail(given.location, "%laneid cannot be written");
  if (!place.symbols && !place.in_braces)
    fail(given.location, fmt::format("{} cannot be %laneid: mov.u32 takes that to a register", place.what));
  if (place.type->bits != 32 || place.type->type_class == DataType::Class::floating)
    fail(given.location, fmt::format("%laneid is a .u32; {} is .{}", place.what, place.type->name));
  return {Item::Kind::laneid, 0, 0, {}, 0, 1};
}

Item OperandChecker::variable_item(const syntax::Operand& given, const SharedVariable& variable, const Slot& place) const {
  if (place.written)
    fail(given.location, fmt::format("'{}' is a shared variable and cannot be a result; st.shared writes to it", variable.name));
  if (!place.symbols)
    fail(given.location, fmt::format("{} cannot be the address of '{}': mov.u32 takes that to a register", place.what, variable.name));
  if (place.type->type_class == DataType::Class::floating)
    fail(given.location, fmt::format("the address of '{}' is an integer; {} is .{}", variable.name, place.what, place.type->name));
  if (place.type->bits < 32)
    fail(given.location, fmt::format("the address of '{}' needs 32 bits; {} has {}", variable.name, place.what, place.type->bits));
  const auto index = static_cast<int>(&variable - program_.variables().data());
  return {Item::Kind::variable, index, static_cast<std::uint64_t>(given.offset), {}, 0, words_of(place)};
}

Item OperandChecker::register_item(const syntax::Operand& given, const Slot& place) {
  const NamedRegister* found = declarations_.find_register(given.text);
  if (found == nullptr) found = &undeclared_register(given, place);
  const DataType& type = *found->type;
  const bool wide_enough = place.may_be_wider ? type.bits >= place.type->bits : type.bits == place.type->bits;
  if (!wide_enough)
    fail(given.location, fmt::format("'{}' is .{}, but {} has {} bits", given.text, type.name, place.what, place.type->bits));
  if (!accepts(place.accepted, type))
    fail(given.location,
         fmt::format("'{}' is .{}; ptxas does not take that for {}: declare it .b{}", given.text, type.name, place.what, type.bits));
  const auto index = static_cast<int>(found - program_.registers().data());
  return {Item::Kind::named, index, 0, {}, found->slot, type.bits > 32 ? 2 : 1, given.inverted};
}

const NamedRegister& OperandChecker::undeclared_register(const syntax::Operand& given, const Slot& place) {
  if (declarations_.declares_registers()) fail(given.location, fmt::format("register '{}' is not declared", given.text));
  if (given.text.find('.') != std::string_view::npos)
    fail(given.location, fmt::format("'{}' is not supported: the only special register is %laneid", given.text));
  const bool widens = place.may_be_wider && place.type->type_class != DataType::Class::floating;
  const int bits = widens ? std::max(place.type->bits, 32) : place.type->bits;
  return declarations_.define_register(given.location, std::string(given.text),
                                       *find_data_type(bits == 1 ? "pred" : fmt::format("b{}", bits)));
}

OperandText OperandChecker::address(const syntax::Operand& given, const std::string& what) {
  if (given.kind != Written::address || given.items.size() != 1)
    fail(given.location, fmt::format("{} is written in brackets: [register], [variable] or [register+16]", what));
  syntax::Operand base = given.items.front();
  if (base.kind == Written::number) fail(base.location, "ptxas takes no number as a shared address: mov.u32 takes it to a register");
  if (base.kind != Written::name || base.text == "_")
    fail(base.location, fmt::format("expected a register or a shared variable, found {}", spell(base)));
  const bool is_variable = program_.find_variable(base.text) != nullptr;
  if (is_variable) base.offset = given.offset;
  const Slot place{what, accepts_integers, find_data_type("b32"), false, !is_variable, is_variable};
  return {OperandText::Kind::address, {item(base, place)}, is_variable ? 0 : given.offset};
}

}  // namespace warpmat::inline v0_1
