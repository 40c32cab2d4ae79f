#include <warpmat/lists/operand_checker.h>

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/core.h>

#include <warpmat/ptx/text/number.h>

namespace warpmat::inline v0_1 {
namespace {

using Written = syntax::Operand::Kind;
using Refused = Objection::Kind;

/// The spelling of a number; of a constant expression that of its value.
std::string spelling_of(const syntax::Operand& given) {
  if (given.value) return std::to_string(static_cast<std::int64_t>(*given.value));
  return (given.negative ? "-" : "") + std::string(given.text);
}

int words_of(const Seat& seat) {
  return seat.type->bits > 32 ? 2 : 1;
}

}  // namespace

void OperandChecker::refuse(const Objection& objection, const Seat& seat, const syntax::Operand& given) const {
  fail(given.location, code::text_in_list(objection, seat, given, program_.target()));
}

OperandText OperandChecker::matrix_operand(const syntax::Operand& given, const Instruction& instruction, const Operand& operand,
                                           std::string_view mnemonic) {
  const Form& form = instruction.form();
  Seat seat{.role = "operand", .instruction = mnemonic, .name = operand.name, .accepts = accepted_by(form, operand)};
  switch (operand.kind) {
    case OperandKind::address: return address(given, seat);
    case OperandKind::selector: return selector(given, operand, seat);
    case OperandKind::ids: seat.type = find_data_type("b16"); return group(given, seat, operand.registers(), true);
    case OperandKind::stride:
      seat.type = find_data_type("u32");
      seat.accepts = accepts_integers;
      return group(given, seat, 1, false);
    case OperandKind::fragment: break;
  }
  seat.type = find_data_type(operand.format == Format::f64 ? "f64" : operand.format == Format::f32 ? "f32" : "b32");
  seat.written = operand.written;
  seat.may_discard = instruction.lowering().exceptions.discardable;
  const bool in_braces =
      operand.in_braces || (form.mnemonic == Mnemonic::mma && given.kind == Written::vector);  // ptxas accepts {e} and {scale-a} too
  OperandText text = group(given, seat, operand.registers(), in_braces);
  check(judge_numbers(operand, seated(text)), seat, given);
  return text;
}

OperandText OperandChecker::selector(const syntax::Operand& given, const Operand& operand, Seat seat) {
  const int largest = operand.choices - 1;
  if (given.kind != Written::number || given.negative) refuse({.kind = Refused::selector, .number = largest}, seat, given);
  seat.type = find_data_type("u32");
  seat.accepts = accepts_integers;
  Item number = number_item(given, seat);
  if (number.bits > static_cast<std::uint64_t>(largest)) refuse({.kind = Refused::selector_range, .number = largest}, seat, given);
  return {OperandText::Kind::single, {std::move(number)}, 0};
}

OperandText OperandChecker::group(const syntax::Operand& given, const Seat& seat, int count, bool in_braces) {
  return in_braces ? vector(given, seat, count) : OperandText{OperandText::Kind::single, {item(given, seat)}, 0};
}

OperandText OperandChecker::pair(const syntax::Operand& given, Seat first, Seat second) {
  first.in_pair = second.in_pair = true;
  return {OperandText::Kind::pair, {item(given.items[0], first), item(given.items[1], second)}, 0};
}

Item OperandChecker::guard(const syntax::Operand& given) {
  return item(given, {.role = "the guard", .type = find_data_type("pred"), .accepts = accepts_predicates});
}

OperandText OperandChecker::vector(const syntax::Operand& given, Seat seat, int count) {
  if (given.kind != Written::vector) refuse({.kind = Refused::braces, .number = count}, seat, given);
  seat.in_braces = true;
  OperandText operand{OperandText::Kind::vector, {}, 0};
  for (const syntax::Operand& one : given.items) operand.items.push_back(item(one, seat));
  const auto items = static_cast<int>(operand.items.size());
  if (items != count) refuse({.kind = Refused::count, .number = items, .wanted = count}, seat, given);
  check(judge_vector(seat, seated(operand)), seat, given);
  return operand;
}

/// What the rules about all items of an operand ask of them.
std::vector<SeatedItem> OperandChecker::seated(const OperandText& text) const {
  std::vector<SeatedItem> items;
  for (const Item& one : text.items) {
    switch (one.kind) {
      case Item::Kind::named:
        items.push_back({SeatedItem::Kind::register_, program_.registers()[static_cast<std::size_t>(one.index)].type});
        break;
      case Item::Kind::number: items.push_back({.kind = SeatedItem::Kind::number, .number = one.text}); break;
      case Item::Kind::laneid: items.push_back({SeatedItem::Kind::laneid}); break;
      case Item::Kind::discard: items.push_back({SeatedItem::Kind::discard}); break;
      case Item::Kind::variable: items.push_back({SeatedItem::Kind::other}); break;
    }
  }
  return items;
}

Item OperandChecker::item(const syntax::Operand& given, const Seat& seat) {
  if (given.kind == Written::number) return number_item(given, seat);
  check(judge_name(seat, given), seat, given);
  const SharedVariable* const variable = program_.find_variable(given.text);
  if (variable != nullptr) return variable_item(given, *variable, seat);
  if (given.offset != 0) refuse({Refused::offset}, seat, given);
  if (given.text == "_") return discard_item(given, seat);
  return given.text == "%laneid" ? laneid_item(given, seat) : register_item(given, seat);
}

Item OperandChecker::number_item(const syntax::Operand& given, const Seat& seat) {
  if (seat.written) refuse({Refused::number_written}, seat, given);
  const bool floating = !given.value && is_floating_number(given.text);
  const bool fits = seat.in_braces || seat.accepts.floating || !floating;
  const auto bits = fits ? number_bits(given, *seat.type, code::of_lists) : std::nullopt;
  if (!bits) refuse({Refused::number}, seat, given);
  return {Item::Kind::number, 0, *bits, spelling_of(given), 0, words_of(seat)};
}

Item OperandChecker::discard_item(const syntax::Operand& given, const Seat& seat) const {
  check(judge_discard(seat), seat, given);
  return {Item::Kind::discard, 0, 0, {}, 0, words_of(seat)};
}

Item OperandChecker::laneid_item(const syntax::Operand& given, const Seat& seat) const {
  check(judge_laneid(seat), seat, given);
  return {Item::Kind::laneid, 0, 0, {}, 0, 1};
}

Item OperandChecker::variable_item(const syntax::Operand& given, const SharedVariable& variable, const Seat& seat) const {
  check(judge_variable(seat), seat, given);
  const auto index = static_cast<int>(&variable - program_.variables().data());
  return {Item::Kind::variable, index, static_cast<std::uint64_t>(given.offset), {}, 0, words_of(seat)};
}

Item OperandChecker::register_item(const syntax::Operand& given, const Seat& seat) {
  const NamedRegister* found = declarations_.find_register(given.text);
  if (found == nullptr) found = &undeclared_register(given, seat);
  check(judge_register(seat, *found->type), seat, given);
  const auto index = static_cast<int>(found - program_.registers().data());
  return {Item::Kind::named, index, 0, {}, found->slot, found->type->bits > 32 ? 2 : 1, given.inverted};
}

const NamedRegister& OperandChecker::undeclared_register(const syntax::Operand& given, const Seat& seat) {
  if (declarations_.declares_registers()) fail(given.location, fmt::format("register '{}' is not declared", given.text));
  if (given.text.find('.') != std::string_view::npos)
    fail(given.location, fmt::format("'{}' is not supported: the only special register is %laneid", given.text));
  const bool widens = seat.may_be_wider && seat.type->type_class != DataType::Class::floating;
  const int bits = widens ? std::max(seat.type->bits, 32) : seat.type->bits;
  return declarations_.define_register(given.location, std::string(given.text),
                                       *find_data_type(bits == 1 ? "pred" : fmt::format("b{}", bits)));
}

OperandText OperandChecker::address(const syntax::Operand& given, Seat seat) {
  if (given.kind != Written::address || given.items.size() != 1) refuse({Refused::no_address}, seat, given);
  syntax::Operand base = given.items.front();
  if (base.kind == Written::number) refuse({Refused::address_number}, seat, base);
  if (base.kind != Written::name || base.text == "_") refuse({Refused::address_base}, seat, base);
  const bool is_variable = program_.find_variable(base.text) != nullptr;
  if (is_variable) base.offset = given.offset;
  seat.type = find_data_type("b32");
  seat.accepts = accepts_integers;
  seat.may_be_wider = !is_variable;
  seat.symbols = is_variable;
  return {OperandText::Kind::address, {item(base, seat)}, is_variable ? 0 : given.offset};
}

}  // namespace warpmat::inline v0_1
