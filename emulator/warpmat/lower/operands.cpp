#include <algorithm>
#include <array>

#include <fmt/core.h>

#include <warpmat/forms.h>
#include <warpmat/lower/makers.h>
#include <warpmat/lower/operands.h>
#include <warpmat/numeric/low_mask.h>
#include <warpmat/ptx/catalogue/video_selectors.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Name;
using catalogue::OperandPattern;
using catalogue::Semantics;
using Kind = syntax::Operand::Kind;
using Why = Objection::Kind;

namespace {

/// A register with a number behind it, %r1+4: their sum.
Value sum(Context& in, Value value, std::int64_t offset) {
  const int bits = in.bits_of(value);
  const RegisterClass register_class = register_class_of(bits);
  const Value total = in.names.new_register(register_class, bits);
  in.prepare(in.row(fmt::format("add.u{}", bits), {total},
                    {value, in.constant(register_class, static_cast<std::uint64_t>(offset) & low_mask(bits))}));
  return total;
}

Value number(Context& in, const syntax::Operand& operand, const DataType& type) {
  const RegisterClass register_class = register_class_of(type.bits);
  if (type.is_predicate()) {
    const auto value = integer_of(operand);
    if (!value) in.fail(operand, fmt::format("'{}' is not a number that fits a predicate", operand.text));
    return in.constant(register_class, *value != 0 ? 0xffffffff : 0);
  }
  const auto bits = number_bits(operand, type);
  if (!bits) in.fail(operand, fmt::format("'{}{}' is not a number that fits .{}", operand.negative ? "-" : "", operand.text, type.name));
  return in.constant(register_class, *bits);
}

/// The seat of the row's operand.
Seat seat_of(Context& in, const Match& match, const OperandPattern& pattern) {
  Seat seat = seat_of(in, match.type_of(pattern), pattern.result, pattern.may_be_wider);
  seat.integers_alone = catalogue::takes_integers_alone(match, pattern);
  if (seat.integers_alone) seat.accepts = accepts_integers;
  return seat;
}

/// The special register that the text names. A list has %laneid alone: the names of others are free.
std::optional<SpecialRegisterName> special_named(const Context& in, std::string_view text) {
  return in.list == nullptr || is_laneid(text) ? find_special_register(text) : std::nullopt;
}

/// The common case: an untyped register as wide as the type, with nothing before or behind it, to which no rule objects.
/// Nothing of all others.
std::optional<Value> plain_register(const Context& in, const syntax::Operand& given, const DataType& type, bool written) {
  const bool alone = given.kind == Kind::name && given.offset == 0 && !given.negative && !given.inverted;
  if (!alone || type.is_predicate() || type.bits < 16 || !given.text.starts_with('%')) return std::nullopt;
  if (!written && special_named(in, given.text)) return std::nullopt;
  const auto named = in.names.find(given.text);
  if (!named || named->kind != Named::Kind::register_) return std::nullopt;
  const DraftRegister& found = in.function.registers[static_cast<std::size_t>(named->value)];
  if (found.type->type_class != DataType::Class::bits || found.bits != type.bits) return std::nullopt;
  return named->value;
}

void judge_integer(const Context& in, Value value, const syntax::Operand& given, const Seat& seat) {
  const DataType& declared = *in.function.registers[static_cast<std::size_t>(value)].type;
  if (!accepts(accepts_integers, declared)) refuse(in, {.kind = Objection::Kind::type, .declared = &declared}, seat, given);
}

void judge_value(const Context& in, Value value, const syntax::Operand& given, const Seat& seat) {
  const DataType& declared = *in.function.registers[static_cast<std::size_t>(value)].type;
  const int bits = in.bits_of(value);
  // The common case: untyped, and as wide as the type.
  if (declared.type_class == DataType::Class::bits && !seat.accepts.predicate && bits == std::max(seat.type->bits, 16)) return;
  std::optional<Objection> objection = judge_register(seat, declared, bits);
  if (objection && objection->kind == Objection::Kind::type && has_several_types(in, seat.vector)) {
    if (fits_width(bits, *seat.type, seat.may_be_wider)) return;
    objection->kind = Objection::Kind::width;
  }
  check(in, objection, seat, given);
}

Meaning register_meaning(const Context& in, const Named& named, const syntax::Operand& given, const Seat& seat) {
  // Of a register that takes part in a sum, the type is asked only here.
  if (seat.integers_alone) judge_integer(in, named.value, given, seat);
  if (given.offset != 0 || given.negative) check(in, judge_signs(seat, given), seat, given);
  if (given.offset == 0) judge_value(in, named.value, given, seat);
  return {.value = named.value, .kind = Meaning::Kind::register_};
}

Value result_of(Context& in, const Meaning& found, const DataType& type) {
  if (found.kind == Meaning::Kind::discard) return in.temporary(register_class_of(type.bits));
  const Value value = found.value;
  const int bits = in.bits_of(value), needed = type.is_predicate() ? 1 : std::max(type.bits, 16);
  if (bits == needed && !(type.is_signed_integer() && type.bits < needed)) return value;
  if (!type.is_signed_integer() && in.class_of(value) == register_class_of(type.bits)) return value;  // bits above the type are zero
  const Value narrow = in.temporary(register_class_of(type.bits));
  in.current.extensions.push_back({narrow, value, fmt::format("%extend.{}{}.b{}", type.is_signed_integer() ? "s" : "u", type.bits, bits)});
  return narrow;
}

Value result(Context& in, const syntax::Operand& operand, const DataType& type, const Seat& seat) {
  return result_of(in, meaning(in, operand, seat), type);
}

void read_operand(Context& in, const Match& match, const OperandPattern& pattern, const syntax::Operand& operand,
                  DraftOperation& operation) {
  const DataType& type = match.type_of(pattern);
  std::vector<Value>& values = pattern.result ? operation.results : operation.sources;
  if (pattern.role == OperandPattern::Role::address) {
    if (const auto space = variable_space(in, operand.items.empty() ? operand : operand.items.front());
        space == Space::param && !match.has(".param"))
      in.fail(operand, fmt::format("{} takes no address of a parameter", in.opcode()));
    const Semantics semantics = match.pattern->row.semantics;
    if (semantics != Semantics::nothing && semantics != Semantics::absent) {
      values.push_back(address(in, operand, space_of(match)));
      return;
    }
    // Only what is wrong with it is of interest.
    const bool any_width = match.has(".tensormap") || match.is(Name::st) || match.is(Name::red);
    const Place where = any_width ? place(in, operand) : place_in(in, operand, space_of(match));
    if (where.number && space_of(match) != Space::local) in.fail(operand, "only .local addresses may be numbers: move it to a register");
    const Space own = where.parameter ? Space::param : where.space.value_or(space_of(match));
    if (match.has(".tensormap") && space_of(match) != Space::generic && own != space_of(match))
      in.fail(operand, fmt::format("{} takes the address of a .{} variable", in.opcode(), name(space_of(match))));
    if (match.is(Name::prefetchu) && where.space.value_or(Space::global) != Space::global)
      in.fail(operand, "prefetchu takes a generic address");
  } else if (pattern.count != 1) {
    const int count = pattern.count == 0 ? match.vector() : pattern.count;
    const std::vector<Value> items = group(in, operand, type, seat_of(in, match, pattern), static_cast<std::size_t>(count), count != 1);
    values.insert(values.end(), items.begin(), items.end());
  } else if (const auto plain = plain_register(in, operand, type, pattern.result)) {
    values.push_back(*plain);
  } else {
    const Seat here = seat_of(in, match, pattern);
    values.push_back(pattern.result ? result(in, operand, type, here) : source(in, operand, type, here));
  }
}

/// Removes the selector after the register of a video instruction's operand, %r2.h1, and vmad's minus before it.
syntax::Operand without_selector(Context& in, const Match& match, std::size_t index, scalar::Video& video) {
  syntax::Operand plain = in.operand(index);
  if (plain.kind != Kind::name) return plain;
  const auto place = static_cast<int>(index);
  if (plain.negative && !catalogue::negate_operand(video, match, place)) in.fail(plain, fmt::format("{} takes no minus here", in.opcode()));
  plain.negative = false;
  const std::size_t dot = plain.text.find('.');
  if (dot == std::string_view::npos) return plain;
  const std::string_view selector = plain.text.substr(dot + 1);
  if (!catalogue::set_selector(video, match, place, selector))
    in.fail(plain, fmt::format("{} has no selector .{} here", in.opcode(), selector));
  plain.text = plain.text.substr(0, dot);
  return plain;
}

}  // namespace

std::optional<Space> variable_space(const Context& in, const syntax::Operand& operand) {
  if (operand.kind != Kind::name) return std::nullopt;
  auto named = in.names.find(operand.text);
  if (!named) named = in.draft.symbols.find(operand.text);
  if (!named) return std::nullopt;
  switch (named->kind) {
    case Named::Kind::shared: return Space::shared;
    case Named::Kind::parameter: return Space::param;
    case Named::Kind::local: return named->parameter ? Space::param : Space::local;
    case Named::Kind::module: return in.list != nullptr ? Space::shared : in.draft.symbols.space(named->index);
    case Named::Kind::register_:
    case Named::Kind::function: break;
  }
  return std::nullopt;
}

bool takes_addresses(const Context& in) {
  return catalogue::row_of(in.instruction()).has(catalogue::trait::takes_addresses) ||
         (in.instruction() == Name::cvta && !in.current.match->has(".to"));
}

void check_type(const Context& in, const syntax::Operand& operand, Value value, const DataType& type) {
  const DataType* const declared = is_constant(value) ? nullptr : in.function.registers[static_cast<std::size_t>(value)].type;
  if (declared != nullptr && !takes(type, *declared))
    refuse(in, {.kind = Objection::Kind::type, .declared = declared}, seat_of(in, type, false, false), operand);
}

std::uint64_t immediate(const Context& in, const syntax::Operand& operand) {
  const auto value = operand.kind == Kind::number && !operand.negative ? integer_of(operand) : std::nullopt;
  if (!value) in.fail(operand, fmt::format("expected a number, found '{}'", operand.text));
  return *value;
}

Value special_register(Context& in, const syntax::Operand& operand, const SpecialRegisterName& special, const DataType& type) {
  if (const auto rule = in.unmet(special.requirement)) in.fail(operand, fmt::format("{} {}", operand.text, *rule));
  const bool converts = in.instruction() == Name::cvt && std::ranges::none_of(in.current.match->types, &DataType::is_floating);
  // A vector that st stores may list it, too (ptxas 13.0).
  const bool stored_in_vector = in.instruction() == Name::st && in.operands().size() > 1 && in.operand(1).kind == Kind::vector;
  const bool of_matrix = in.current.match == nullptr;
  const bool reads = in.instruction() == Name::mov || converts || stored_in_vector || of_matrix;
  if (!reads || type.is_floating() || special.elements)
    in.fail(operand, fmt::format("{} cannot be {}: mov.u{} takes {} to a register", in.opcode(), operand.text, special.bits,
                                 special.elements ? "one of its elements, .x .y .z .w," : "that"));
  const int bits = type.bits;
  const RegisterClass register_class = register_class_of(bits);
  if (bits > special.bits || (bits < special.min_bits && !(converts && special.bits == 64)))
    in.fail(operand, fmt::format("{} has {} bits; {} takes .{}", operand.text, special.bits, in.opcode(), type.name));
  DraftOperation operation{.operation = {.semantics = Semantics::special}};
  operation.operation.payload = in.draft.program.add(special.special_register);
  const Value value = in.names.new_register(register_class, bits);
  operation.results = {value};
  in.prepare(std::move(operation));
  return value;
}

Value address_of(Context& in, const syntax::Operand& operand, const Named& named, RegisterClass register_class) {
  if (register_class != RegisterClass::word && register_class != RegisterClass::wide)
    in.fail(operand, fmt::format("the address of '{}' has 32 or 64 bits", operand.text));
  const auto offset = static_cast<std::uint64_t>(operand.offset);
  switch (named.kind) {
    case Named::Kind::shared:
      in.draft.symbols.use_shared(named.index);
      return in.draft.constants.add(register_class, offset, 0, {Symbol::Kind::shared, named.index});
    case Named::Kind::module: return in.draft.constants.add(register_class, offset, 0, {Symbol::Kind::module, named.index});
    case Named::Kind::parameter: return in.constant(register_class, named.offset + offset);
    case Named::Kind::local: {
      DraftOperation operation{.operation = {.semantics = Semantics::special}};
      operation.operation.payload = in.draft.program.add(SpecialRegister::local_address);
      operation.results = {in.temporary(register_class)};
      operation.sources = {in.constant(RegisterClass::wide, named.offset + offset)};
      const Value value = operation.results.front();
      in.prepare(std::move(operation));
      return value;
    }
    case Named::Kind::function:
      return in.constant(register_class, in.draft.program.module->function_address(
                                             in.draft.program.module->functions[static_cast<std::size_t>(named.index)]));
    case Named::Kind::register_: break;
  }
  in.fail(operand, fmt::format("'{}' has no address", operand.text));
}

Seat seat_of(const Context& in, const DataType& type, bool written, bool may_be_wider) {
  return {.role = written ? "the result" : "a source",
          .instruction = mnemonic_of(in.opcode()),
          .type = &type,
          .accepts = accepted_by(type),
          .written = written,
          .may_be_wider = may_be_wider,
          .may_discard = in.current.may_discard};
}

void refuse(const Context& in, const Objection& objection, const Seat& seat, const syntax::Operand& given) {
  in.fail(given, text_of(objection, seat, given, in.opcode()));
}

Value named_register(const Context& in, const syntax::Operand& operand) {
  const std::optional<Named> named = in.names.find(operand.text);
  if (operand.kind != Kind::name || !named || named->kind != Named::Kind::register_) refuse(in, {Why::undeclared}, {}, operand);
  if (operand.negative) refuse(in, {Why::minus}, {}, operand);
  if (operand.offset != 0) refuse(in, {Why::offset}, {}, operand);
  return named->value;
}

Meaning meaning(Context& in, const syntax::Operand& given, const Seat& seat) {
  if (given.kind == Kind::number) {
    if (seat.written) refuse(in, {Why::number_written}, seat, given);
    return {.kind = Meaning::Kind::number};
  }
  check(in, judge_name(seat, given), seat, given);
  if (auto special = seat.written ? std::nullopt : special_named(in, given.text))
    return {.kind = Meaning::Kind::special, .special = std::move(special)};
  if (is_warp_size(given.text) && in.list == nullptr && !seat.written && !seat.type->is_floating())
    return {.kind = Meaning::Kind::warp_size};
  auto named = in.names.find(given.text);
  if (!named) named = in.draft.symbols.find(given.text);
  if (!named && given.discards() && seat.written) {
    if (!seat.may_discard) refuse(in, {Why::discard_target}, seat, given);
    return {.kind = Meaning::Kind::discard};
  }
  if (!named) refuse(in, {Why::undeclared}, seat, given);
  if (named->kind == Named::Kind::register_) return register_meaning(in, *named, given, seat);
  const bool calculated = given.offset != 0 && in.instruction() == Name::cvta && in.current.match->has(".to");
  Seat here = seat;
  here.symbols |= !seat.written && (calculated || takes_addresses(in));
  check(in, judge_variable(here), here, given);
  return {.kind = Meaning::Kind::variable, .variable = named};
}

Value source(Context& in, const syntax::Operand& operand, const DataType& type, bool may_be_wider) {
  return source(in, operand, type, seat_of(in, type, false, may_be_wider));
}

Value source(Context& in, const syntax::Operand& operand, const DataType& type, const Seat& seat) {
  return source_of(in, meaning(in, operand, seat), operand, type, seat);
}

Value source_of(Context& in, const Meaning& found, const syntax::Operand& operand, const DataType& type, const Seat& seat) {
  switch (found.kind) {
    case Meaning::Kind::number: return number(in, operand, type);
    case Meaning::Kind::special: return special_register(in, operand, *found.special, type);
    case Meaning::Kind::warp_size: return in.constant(register_class_of(type.bits), warp_size);
    case Meaning::Kind::variable: return address_of(in, operand, *found.variable, register_class_of(type.bits));
    case Meaning::Kind::discard:
    case Meaning::Kind::register_: break;
  }
  Value value = found.value;
  if (operand.offset != 0) {
    value = sum(in, value, operand.offset);
    if (!fits_width(in.bits_of(value), type, seat.may_be_wider))
      refuse(in, {.kind = Objection::Kind::width, .bits = in.bits_of(value)}, seat, operand);
  }
  if (type.is_predicate()) {
    return operand.inverted ? in.computed(RegisterClass::predicate, "not.pred", {value}) : value;
  }
  if (in.bits_of(value) == std::max(type.bits, 16) || in.class_of(value) == register_class_of(type.bits)) return value;
  return in.computed(RegisterClass::word, "%low.b64", {value});
}

Value result(Context& in, const syntax::Operand& operand, const DataType& type, bool may_be_wider) {
  return result(in, operand, type, seat_of(in, type, true, may_be_wider));
}

bool has_several_types(const Context& in, std::span<const syntax::Operand> items) {
  if (items.size() < 2) return false;
  const DataType* first = nullptr;
  for (const syntax::Operand& item : items) {
    const auto named = item.kind == Kind::name ? in.names.find(item.text) : std::nullopt;
    if (!named || named->kind != Named::Kind::register_) continue;
    const DataType* const type = in.function.registers[static_cast<std::size_t>(named->value)].type;
    if (first != nullptr && type != first) return true;
    first = type;
  }
  return false;
}

std::vector<Value> group(Context& in, const syntax::Operand& operand, const DataType& type, bool is_result, std::size_t count) {
  return group(in, operand, type, seat_of(in, type, is_result, false), count, count != 1);
}

std::vector<Value> group(Context& in, const syntax::Operand& operand, const DataType& type, Seat seat, std::size_t count, bool in_braces) {
  std::vector<Value> values;
  values.reserve(count);
  const auto one = [&](const syntax::Operand& item) {
    values.push_back(seat.written ? result(in, item, type, seat) : source(in, item, type, seat));
  };
  if (operand.kind != Kind::vector) {
    const bool unread = seat.written && seat.may_discard && !seat.name && operand.discards();
    if (in_braces && !unread) refuse(in, {.kind = Why::braces, .number = static_cast<int>(count)}, seat, operand);
    for (std::size_t i = 0; i < count; ++i) one(operand);
    return values;
  }
  if (operand.items.size() != count)
    refuse(in, {.kind = Why::count, .number = static_cast<int>(operand.items.size()), .wanted = static_cast<int>(count)}, seat, operand);
  if (seat.written && std::ranges::all_of(operand.items, [](const syntax::Operand& item) { return item.discards(); }))
    refuse(in, {Why::vector_discarded}, seat, operand);
  if (!seat.name) seat.may_discard = true;
  for (const syntax::Operand& item : operand.items) one(item);
  return values;
}

Place place(Context& in, const syntax::Operand& operand) {
  return place(in, operand, {.role = "the address"});
}

Place place(Context& in, const syntax::Operand& operand, const Seat& seat) {
  if (operand.kind != Kind::address) refuse(in, {Objection::Kind::no_address}, seat, operand);
  const syntax::Operand& base = operand.items.front();
  if (base.kind == Kind::number) {
    const Value value = number(in, base, *find_ptx_type("b64"));
    return {.base = value, .offset = operand.offset, .number = true};
  }
  if (base.kind != Kind::name) refuse(in, {Objection::Kind::address_base}, seat, base);
  auto named = in.names.find(base.text);
  if (!named) named = in.draft.symbols.find(base.text);
  if (!named) in.fail(base, fmt::format("'{}' is neither a register nor a variable that is declared here", base.text));
  switch (named->kind) {
    case Named::Kind::register_: {
      const int bits = in.bits_of(named->value);
      if (bits != 16 && bits != 32 && bits != 64) in.fail(base, fmt::format("'{}' has {} bits; an address has 32 or 64", base.text, bits));
      check_type(in, base, named->value, *find_ptx_type("u64"));
      return {.base = named->value, .offset = operand.offset};
    }
    case Named::Kind::local: return {in.constant(RegisterClass::wide, named->offset), operand.offset, Space::local, named->parameter};
    case Named::Kind::shared: return {address_of(in, base, *named, RegisterClass::wide), operand.offset, Space::shared};
    case Named::Kind::module: return {address_of(in, base, *named, RegisterClass::wide), operand.offset, variable_space(in, base)};
    case Named::Kind::parameter: return {address_of(in, base, *named, RegisterClass::wide), operand.offset, Space::param};
    case Named::Kind::function: break;
  }
  in.fail(base, fmt::format("'{}' is a function, not a place in memory", base.text));
}

Place place_in(Context& in, const syntax::Operand& operand, Space space) {
  const Place where = place(in, operand);
  const syntax::Operand& base = operand.items.front();
  const bool outside = space == Space::generic || space == Space::global;
  if (where.number && space != Space::local) in.fail(base, "only .local addresses may be numbers: move it to a register");
  if (outside && !where.space && in.bits_of(where.base) == 32)
    in.fail(base, fmt::format("'{}' has 32 bits; a {} address has 64", base.text, name(space)));
  if (!where.space) return where;
  const Space own = where.parameter ? Space::param : *where.space;
  if (space == Space::generic ? own == Space::param : own != space)
    in.fail(base, fmt::format("'{}' is a .{} variable, and {} accesses {} memory", base.text, name(own), in.opcode(), name(space)));
  return where;
}

void read_operands(Context& in, const Match& match, DraftOperation& operation, scalar::Video* video) {
  std::size_t next = 0;
  const syntax::Operand* last = nullptr;
  const std::vector<OperandPattern>& patterns = match.pattern->operands;
  operation.sources.reserve(patterns.size());
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const OperandPattern& pattern = patterns[i];
    if (pattern.implicit()) {
      if (!in.carry) in.carry = in.temporary(RegisterClass::predicate);
      (pattern.result ? operation.results : operation.sources).push_back(*in.carry);
    } else if (pattern.paired) {
      if (last != nullptr && last->kind == Kind::pair) {
        in.current.may_discard = !match.is(Name::elect) && !last->items[0].discards();
        read_operand(in, match, pattern, last->items[1], operation);
      } else if (pattern.optional) {
        if (!match.is(Name::setp))                                                                    // whose kernels leave it out
          operation.results.push_back(in.temporary(register_class_of(match.type_of(pattern).bits)));  // never read
      } else {
        in.fail(fmt::format("{} writes two results with | between them", in.opcode()));
      }
    } else if (!pattern.optional || next < in.operands().size()) {
      last = &in.operand(next++);
      const bool pair = last->kind == Kind::pair, paired = i + 1 < patterns.size() && patterns[i + 1].paired;
      const bool unread = pair && match.is(Name::match) && last->items[1].discards();
      if (pair && !paired && !unread) in.fail(*last, fmt::format("{} writes one result here, without |", in.opcode()));
      in.current.may_discard =
          (pair && !match.is(Name::shfl)) || match.is(Name::setp) || match.is(Name::atom) || (match.is(Name::match) && match.has(".all"));
      if (video != nullptr) {
        read_operand(in, match, pattern, without_selector(in, match, next - 1, *video), operation);
        continue;
      }
      read_operand(in, match, pattern, pair ? last->items[0] : *last, operation);
    }
  }
  in.current.may_discard = false;
  in.must_end_at(next);
}

}  // namespace warpmat::code
