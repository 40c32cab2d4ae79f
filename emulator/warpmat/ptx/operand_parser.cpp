#include <warpmat/ptx/operand_parser.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <warpmat/ptx/number.h>

namespace warpmat {
namespace {

/// ptxas takes numbers beside registers, but numbers alone only for accumulators of one element a register, integers or 0f patterns, and 0f
/// patterns for what needs no braces.
bool takes_only_numbers(const Operand& operand, const OperandText& text) {
  const bool accumulator = operand.name == OperandName::c || operand.name == OperandName::r;
  if (operand.in_braces && (!accumulator || operand.fragment.elements_per_register() > 1)) return false;
  const bool floating = operand.format != Format::s32;
  return std::ranges::all_of(
      text.items, [&](const Item& item) { return is_floating_number(item.text) == floating && item.text.find('.') == std::string::npos; });
}

}  // namespace

OperandText OperandParser::matrix_operand(const Instruction& instruction, const Operand& operand, const std::string& what) {
  const Form& form = instruction.form();
  switch (operand.kind) {
    case OperandKind::address: return address(what);
    case OperandKind::selector: return parse_selector(operand, what);
    case OperandKind::ids: return group({what, accepted_by(form, operand), find_data_type("b16")}, operand.registers(), true);
    case OperandKind::stride: return group({what, accepts_integers, find_data_type("u32")}, 1, false);
    case OperandKind::fragment: break;
  }
  const DataType* type = find_data_type(operand.format == Format::f64 ? "f64" : operand.format == Format::f32 ? "f32" : "b32");
  Slot place{what, accepted_by(form, operand), type, operand.written};
  place.may_discard = instruction.lowering().particulars.discardable;
  const Token& first = tokens_.here();
  const bool in_braces = operand.in_braces || (form.mnemonic == Mnemonic::mma && first.is('{'));  // ptxas takes {e} and {scale-a} too
  OperandText text = group(place, operand.registers(), in_braces);
  const bool only_numbers = std::ranges::all_of(text.items, [](const Item& item) { return item.kind == Item::Kind::number; });
  if (only_numbers && !takes_only_numbers(operand, text)) fail(first, fmt::format("{} needs a register", what));
  return text;
}

OperandText OperandParser::parse_selector(const Operand& operand, const std::string& what) {
  const Token& token = tokens_.here();
  const DataType& u32 = *find_data_type("u32");
  if (token.kind != Token::Kind::number)
    fail(token, fmt::format("{} is a number from 0 to {}, found {}", what, operand.choices - 1, spell(token)));
  Item item = parse_number_item(Slot{what, accepts_integers, &u32}, 1);
  if (item.bits >= static_cast<std::uint64_t>(operand.choices))
    fail(token, fmt::format("{} is a number from 0 to {}", what, operand.choices - 1));
  return {OperandText::Kind::single, {std::move(item)}, 0};
}

OperandText OperandParser::group(const Slot& place, int count, bool in_braces) {
  return in_braces ? parse_vector(place, count) : OperandText{OperandText::Kind::single, {parse_item(place)}, 0};
}

OperandText OperandParser::parse_vector(Slot place, int count) {
  const Token& open = tokens_.here();
  if (!tokens_.take_if('{'))
    fail(open, fmt::format("{} is written in braces: {{ and {} register{}", place.what, count, count == 1 ? "" : "s"));
  place.in_braces = true;
  OperandText operand{OperandText::Kind::vector, {}, 0};
  do operand.items.push_back(parse_item(place));
  while (tokens_.take_if(','));
  tokens_.expect('}', place.what);
  if (operand.items.size() != static_cast<std::size_t>(count))
    fail(open, fmt::format("{} takes {} register{} of {} bits; {} given", place.what, count, count == 1 ? "" : "s", place.type->bits,
                           operand.items.size() == 1 ? "1 is" : fmt::format("{} are", operand.items.size())));
  check_vector(open, place, operand.items);
  return operand;
}

/// The rules of ptxas for what may stand side by side in braces: one width, and one class of types besides the untyped.
void OperandParser::check_vector(const Token& open, const Slot& place, const std::vector<Item>& items) const {
  int bits = 0;
  auto type_class = DataType::Class::bits;
  for (const Item& item : items) {
    const int width = width_of(item, place);
    if (bits != 0 && width != 0 && width != bits) fail(open, fmt::format("what stands in {} must be of one width", place.what));
    if (width != 0) bits = width;
    const DataType::Class item_class = class_of(item);
    if (item_class == DataType::Class::bits) continue;
    if (type_class != DataType::Class::bits && item_class != type_class)
      fail(open, fmt::format("ptxas takes integers, floating-point numbers and .f16x2 only apart from each other in {}", place.what));
    type_class = item_class;
  }
  if (std::ranges::all_of(items, [](const Item& item) { return item.kind == Item::Kind::sink; }))
    fail(open, fmt::format("{} needs a register: ptxas takes no _ alone", place.what));
}

const DataType& OperandParser::named_type(const Item& item) const {
  return *program_.registers[static_cast<std::size_t>(item.index)].type;
}

/// The bits that an item insists on, or 0: an integer fits every width, a floating-point number has its own.
int OperandParser::width_of(const Item& item, const Slot& place) const {
  if (item.kind == Item::Kind::named) return named_type(item).bits;
  if (item.kind == Item::Kind::laneid) return 32;
  return item.kind == Item::Kind::number && is_floating_number(item.text) ? place.type->bits : 0;
}

DataType::Class OperandParser::class_of(const Item& item) const {
  if (item.kind == Item::Kind::named) return named_type(item).type_class;
  if (item.kind == Item::Kind::number) return is_floating_number(item.text) ? DataType::Class::floating : DataType::Class::integer;
  return DataType::Class::bits;
}

Item OperandParser::parse_item(const Slot& place) {
  const Token& token = tokens_.here();
  const int words = place.type->bits > 32 ? 2 : 1;
  if (token.is('-') || token.kind == Token::Kind::number) return parse_number_item(place, words);
  if (token.kind != Token::Kind::word) fail(token, fmt::format("expected {}, found {}", place.what, spell(token)));
  tokens_.take();
  if (token.text == "_") {
    if (!place.written) fail(token, fmt::format("{} is read; _ only takes results", place.what));
    if (!place.in_braces) fail(token, fmt::format("{} needs a register: _ only stands in braces", place.what));
    if (!place.may_discard)
      fail(token, fmt::format("{} takes no _ on {}: ptxas cannot discard a result of this form there", place.what, program_.target->name));
    return {Item::Kind::sink, 0, 0, {}, 0, words};
  }
  if (token.text == "%laneid") return laneid_item(token, place);
  if (const SharedVariable* variable = program_.find_variable(token.text)) return variable_item(token, *variable, place, words);
  return register_item(token, place);
}

Item OperandParser::parse_number_item(const Slot& place, int words) {
  const Token& first = tokens_.here();
  const bool negative = tokens_.take_if('-');
  const Token& number = tokens_.take();
  if (place.written) fail(first, fmt::format("{} needs a register to be written to", place.what));
  const bool is_number = number.kind == Token::Kind::number;
  const bool fits = is_number && (place.in_braces || place.accepted.floating || !is_floating_number(number.text));
  const auto bits = fits ? parse_number(number.text, negative, *place.type) : std::nullopt;
  const std::string spelled = negative && is_number ? fmt::format("'-{}'", number.text) : spell(number);
  if (!bits) fail(first, fmt::format("{} is not a number that fits .{}", spelled, place.type->name));
  return {Item::Kind::number, 0, *bits, (negative ? "-" : "") + std::string(number.text), 0, words};
}

Item OperandParser::laneid_item(const Token& token, const Slot& place) {
  if (place.written) fail(token, "%laneid cannot be written");
  if (!place.symbols && !place.in_braces) fail(token, fmt::format("{} cannot be %laneid: mov.u32 takes that to a register", place.what));
  if (place.type->bits != 32 || place.type->type_class == DataType::Class::floating)
    fail(token, fmt::format("%laneid is a .u32; {} is .{}", place.what, place.type->name));
  return {Item::Kind::laneid, 0, 0, {}, 0, 1};
}

Item OperandParser::variable_item(const Token& token, const SharedVariable& variable, const Slot& place, int words) {
  if (place.written) fail(token, fmt::format("'{}' is a shared variable and cannot be a result; st.shared writes to it", variable.name));
  if (!place.symbols)
    fail(token, fmt::format("{} cannot be the address of '{}': mov.u32 takes that to a register", place.what, variable.name));
  if (place.type->type_class == DataType::Class::floating)
    fail(token, fmt::format("the address of '{}' is an integer; {} is .{}", variable.name, place.what, place.type->name));
  if (place.type->bits < 32)
    fail(token, fmt::format("the address of '{}' needs 32 bits; {} has {}", variable.name, place.what, place.type->bits));
  const std::uint64_t offset = static_cast<std::uint64_t>(parse_offsets());
  return {Item::Kind::variable, static_cast<int>(&variable - program_.variables.data()), offset, {}, 0, words};
}

Item OperandParser::register_item(const Token& token, const Slot& place) {
  const NamedRegister* found = declarations_.find_register(token.text);
  if (found == nullptr) found = &undeclared_register(token, place);
  const DataType& type = *found->type;
  const bool wide_enough = place.may_be_wider && place.type->type_class != DataType::Class::floating ? type.bits >= place.type->bits
                                                                                                     : type.bits == place.type->bits;
  if (!wide_enough) fail(token, fmt::format("'{}' is .{}, but {} has {} bits", token.text, type.name, place.what, place.type->bits));
  if (!accepts(place.accepted, type))
    fail(token, fmt::format("'{}' is .{}; ptxas does not take that for {}: declare it .b{}", token.text, type.name, place.what, type.bits));
  return {Item::Kind::named, static_cast<int>(found - program_.registers.data()), 0, {}, found->slot, type.bits > 32 ? 2 : 1};
}

const NamedRegister& OperandParser::undeclared_register(const Token& token, const Slot& place) {
  if (declarations_.declares_registers()) fail(token, fmt::format("register '{}' is not declared", token.text));
  if (token.text.front() == '%' && tokens_.here().kind == Token::Kind::qualifier)
    fail(token, fmt::format("'{}{}' is not supported: the only special register is %laneid", token.text, tokens_.here().text));
  const int bits = place.may_be_wider ? std::max(place.type->bits, 32) : place.type->bits;
  return declarations_.define_register(token, std::string(token.text), *find_data_type(fmt::format("b{}", bits)));
}

/// The sum of what follows: + or +- and a number, any number of times.
std::int64_t OperandParser::parse_offsets() {
  std::uint64_t sum = 0;
  while (tokens_.here().is('+') || tokens_.here().is('-')) {
    const Token& sign = tokens_.take();
    if (sign.is('-')) fail(sign, "ptxas takes no minus here: write +-");
    const bool negative = tokens_.take_if('-');
    const Token& number = tokens_.take();
    const auto value = number.kind == Token::Kind::number ? parse_integer(number.text) : std::nullopt;
    if (!value || *value > 0x7fffffff) fail(number, fmt::format("expected an offset below 2^31, found {}", spell(number)));
    sum += negative ? ~*value + 1 : *value;
  }
  return static_cast<std::int64_t>(sum);
}

OperandText OperandParser::address(const std::string& what) {
  const Token& open = tokens_.here();
  if (!tokens_.take_if('[')) fail(open, fmt::format("{} is written in brackets: [register], [variable] or [register+16]", what));
  const Token& base = tokens_.here();
  if (base.kind == Token::Kind::number) fail(base, "ptxas takes no number as a shared address: mov.u32 takes it to a register");
  if (base.kind != Token::Kind::word || base.text == "_")
    fail(base, fmt::format("expected a register or a shared variable, found {}", spell(base)));
  const bool is_variable = program_.find_variable(base.text) != nullptr;
  const DataType& b32 = *find_data_type("b32");
  OperandText operand{OperandText::Kind::address, {parse_item({what, accepts_integers, &b32, false, !is_variable, is_variable})}, 0};
  if (!is_variable) operand.offset = parse_offsets();
  tokens_.expect(']', what);
  return operand;
}

}  // namespace warpmat
