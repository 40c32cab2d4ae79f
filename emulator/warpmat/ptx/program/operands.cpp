#include <algorithm>
#include <array>

#include <fmt/core.h>

#include <warpmat/forms.h>
#include <warpmat/numeric/low_mask.h>
#include <warpmat/ptx/catalogue/video_selectors.h>
#include <warpmat/ptx/program/function_resolver.h>
#include <warpmat/ptx/program/list_draft.h>
#include <warpmat/ptx/program/operand_rules.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Name;
using catalogue::OperandPattern;
using catalogue::Qualifier;
using catalogue::Semantics;
using Kind = syntax::Operand::Kind;

std::optional<Space> FunctionResolver::variable_space(const syntax::Operand& operand) const {
  if (operand.kind != Kind::name) return std::nullopt;
  auto named = names_.find(operand.text);
  if (!named) named = draft_.symbols.find(operand.text);
  if (!named) return std::nullopt;
  switch (named->kind) {
    case Named::Kind::shared: return Space::shared;
    case Named::Kind::parameter: return Space::param;
    case Named::Kind::local: return named->parameter ? Space::param : Space::local;
    case Named::Kind::module: return draft_.symbols.space(named->index);
    case Named::Kind::register_:
    case Named::Kind::function: break;
  }
  return std::nullopt;
}

bool FunctionResolver::takes_addresses() const {
  return catalogue::row_of(instruction()).has(catalogue::trait::takes_addresses) ||
         (instruction() == Name::cvta && !match_->has(Qualifier::to));
}

const syntax::Operand& FunctionResolver::operand(std::size_t index) const {
  if (index >= statement_->operands.size())
    fail(fmt::format("{} needs more than {} operands", statement_->opcode, statement_->operands.size()));
  return statement_->operands[index];
}

int FunctionResolver::bits_of(Value value) const {
  if (!is_constant(value)) return function_.registers[static_cast<std::size_t>(value)].bits;
  const RegisterClass c = draft_.constants[value].register_class;
  return c == RegisterClass::predicate ? 1 : c == RegisterClass::word ? 32 : c == RegisterClass::wide ? 64 : 128;
}

RegisterClass FunctionResolver::class_of(Value value) const {
  return is_constant(value) ? draft_.constants[value].register_class : function_.registers[static_cast<std::size_t>(value)].register_class;
}

/// Whether the register is allowed for an operand of .`type`.
void FunctionResolver::check_type(const syntax::Operand& operand, Value value, const DataType& type) const {
  const DataType* const declared = is_constant(value) ? nullptr : function_.registers[static_cast<std::size_t>(value)].type;
  if (declared != nullptr && !takes(type, *declared))
    refuse({.kind = Objection::Kind::type, .declared = declared}, seat(type, false, false), operand);
}

/// A register with a number behind it, %r1+4: their sum.
Value FunctionResolver::sum(Value value, std::int64_t offset) {
  const int bits = bits_of(value);
  const RegisterClass register_class = register_class_of(bits);
  const Value total = names_.new_register(register_class, bits);
  prepare(row(fmt::format("add.u{}", bits), {total},
              {value, draft_.constants.add(register_class, static_cast<std::uint64_t>(offset) & low_mask(bits))}));
  return total;
}

Value FunctionResolver::named_register(const syntax::Operand& operand, const std::optional<Named>& named) {
  using Why = Objection::Kind;
  if (operand.kind != Kind::name || !named || named->kind != Named::Kind::register_) refuse({Why::undeclared}, {}, operand);
  if (operand.negative) refuse({Why::minus}, {}, operand);
  if (operand.offset != 0) refuse({Why::offset}, {}, operand);
  return named->value;
}

Value FunctionResolver::number(const syntax::Operand& operand, const DataType& type) {
  const RegisterClass register_class = register_class_of(type.bits);
  if (type.is_predicate()) {
    const auto value = integer_of(operand);
    if (!value) fail(operand, fmt::format("'{}' is not a number that fits a predicate", operand.text));
    return draft_.constants.add(register_class, *value != 0 ? 0xffffffff : 0);
  }
  const auto bits = number_bits(operand, type, dialect());
  if (!bits) fail(operand, fmt::format("'{}{}' is not a number that fits .{}", operand.negative ? "-" : "", operand.text, type.name));
  return draft_.constants.add(register_class, *bits);
}

std::uint64_t FunctionResolver::immediate(const syntax::Operand& operand) const {
  const auto value = operand.kind == Kind::number && !operand.negative ? integer_of(operand) : std::nullopt;
  if (!value) fail(operand, fmt::format("expected a number, found '{}'", operand.text));
  return *value;
}

Value FunctionResolver::special_register(const syntax::Operand& operand, const SpecialRegisterName& special, const DataType& type) {
  if (const auto rule = unmet(special.requirement, *draft_.program.target, draft_.program.module->version))
    fail(operand, fmt::format("{} {}", operand.text, *rule));
  const bool converts = instruction() == Name::cvt && std::ranges::none_of(match_->types, &DataType::is_floating);
  // A vector that st stores may list it, too (ptxas 13.0).
  const bool stored_in_vector = instruction() == Name::st && statement_->operands.size() > 1 && this->operand(1).kind == Kind::vector;
  const bool in_list = list_ != nullptr;  // judge_laneid says where
  const bool reads = instruction() == Name::mov || converts || stored_in_vector || in_list;
  if (!reads || type.is_floating() || special.elements)
    fail(operand, fmt::format("{} cannot be {}: mov.u{} takes {} to a register", statement_->opcode, operand.text, special.bits,
                              special.elements ? "one of its elements, .x .y .z .w," : "that"));
  const int bits = type.bits;
  const RegisterClass register_class = register_class_of(bits);
  if (bits > special.bits || (bits < special.min_bits && !(converts && special.bits == 64)))
    fail(operand, fmt::format("{} has {} bits; {} takes .{}", operand.text, special.bits, statement_->opcode, type.name));
  DraftOperation operation;
  operation.operation.semantics = Semantics::special;
  operation.operation.payload = draft_.program.add(special.special_register);
  const Value value = names_.new_register(register_class, bits);
  operation.results = {value};
  prepare(std::move(operation));
  return value;
}

/// The address of a variable as a constant of that class.
Value FunctionResolver::address_of(const syntax::Operand& operand, const Named& named, RegisterClass register_class) {
  if (register_class != RegisterClass::word && register_class != RegisterClass::wide)
    fail(operand, fmt::format("the address of '{}' has 32 or 64 bits", operand.text));
  const auto offset = static_cast<std::uint64_t>(operand.offset);
  switch (named.kind) {
    case Named::Kind::shared:
      draft_.symbols.use_shared(named.index);
      return draft_.constants.add(register_class, offset, 0, {Symbol::Kind::shared, named.index});
    case Named::Kind::module: return draft_.constants.add(register_class, offset, 0, {Symbol::Kind::module, named.index});
    case Named::Kind::parameter: return draft_.constants.add(register_class, named.offset + offset);
    case Named::Kind::local: {
      DraftOperation operation;
      operation.operation.semantics = Semantics::special;
      operation.operation.payload = draft_.program.add(SpecialRegister::local_address);
      operation.results = {temporary(register_class)};
      operation.sources = {draft_.constants.add(RegisterClass::wide, named.offset + offset)};
      const Value value = operation.results.front();
      prepare(std::move(operation));
      return value;
    }
    case Named::Kind::function:
      return draft_.constants.add(
          register_class, draft_.program.module->function_address(draft_.program.module->functions[static_cast<std::size_t>(named.index)]));
    case Named::Kind::register_: break;
  }
  fail(operand, fmt::format("'{}' has no address", operand.text));
}

Seat FunctionResolver::seat(const DataType& type, bool written, bool may_be_wider) const {
  return {.role = written ? "the result" : "a source",
          .instruction = {},
          .type = &type,
          .accepts = accepted_by(type),
          .written = written,
          .may_be_wider = may_be_wider,
          .may_discard = may_discard_};
}

/// The seat of the row's operand. A list knows it as its users do.
Seat FunctionResolver::seat(const Match& match, const OperandPattern& pattern) {
  Seat seat = list_ != nullptr ? list_seat() : this->seat(match.type_of(pattern), pattern.result, pattern.may_be_wider);
  if (list_ != nullptr) return seat;
  seat.integers_alone = catalogue::takes_integers_alone(match, pattern);
  if (seat.integers_alone) seat.accepts = accepts_integers;
  return seat;
}

void FunctionResolver::refuse(const Objection& objection, const Seat& seat, const syntax::Operand& given) const {
  fail(given, list_ != nullptr ? text_in_list(objection, seat, given, list_->program.target)
                               : text_in_module(objection, seat, given, statement_->opcode));
}

/// The special register that the text names at a seat.
std::optional<SpecialRegisterName> FunctionResolver::special_at(const syntax::Operand& given, const Seat& seat) const {
  if (!dialect().only_laneid) return seat.written ? std::nullopt : find_special_register(given.text);
  return is_laneid(given.text) ? find_special_register(given.text) : std::nullopt;
}

/// What the text of an operand means at its seat, where it may stand. A list notes it for its users.
FunctionResolver::Meaning FunctionResolver::meaning(const syntax::Operand& given, const Seat& seat) {
  const Meaning found = judged_meaning(given, seat);
  if (list_ != nullptr) note(found, given, seat);
  return found;
}

FunctionResolver::Meaning FunctionResolver::judged_meaning(const syntax::Operand& given, const Seat& seat) {
  using Why = Objection::Kind;
  const bool in_list = list_ != nullptr;
  if (given.kind == Kind::number) {
    if (seat.written) refuse({Why::number_written}, seat, given);
    if (in_list) check(judge_number(seat, given, dialect()), seat, given);
    return {.kind = Meaning::Kind::number};
  }
  check(judge_name(seat, given, dialect()), seat, given);
  if (auto special = special_at(given, seat); special && !(in_list && given.offset != 0)) {
    if (in_list) check(judge_laneid(seat), seat, given);
    return {.kind = Meaning::Kind::special, .special = std::move(special)};
  }
  if (is_warp_size(given.text) && !in_list && !seat.written && !seat.type->is_floating()) return {.kind = Meaning::Kind::warp_size};
  auto named = names_.find(given.text);
  if (!named) named = draft_.symbols.find(given.text);
  if (!named) return unnamed_meaning(given, seat);
  if (named->kind != Named::Kind::register_) {
    const bool calculated = given.offset != 0 && instruction() == Name::cvta && match_->has(Qualifier::to);
    Seat here = seat;
    here.symbols |= !in_list && !seat.written && (calculated || takes_addresses());
    check(judge_variable(here, dialect()), here, given);
    return {.kind = Meaning::Kind::variable, .index = named->index, .variable = named};
  }
  if (in_list && given.offset != 0) refuse({Why::offset}, seat, given);
  return register_meaning(*named, given, seat);
}

/// Of what no register and no variable has for a name: `_`, or in a list a register that is not declared.
FunctionResolver::Meaning FunctionResolver::unnamed_meaning(const syntax::Operand& given, const Seat& seat) {
  using Why = Objection::Kind;
  const bool in_list = list_ != nullptr;
  if (in_list && given.offset != 0) refuse({Why::offset}, seat, given);
  if (given.discards() && (in_list || seat.written)) {
    check(judge_discard(seat, dialect()), seat, given);
    if (seat.in_pair && !may_discard_) fail(given, text_in_module({Why::discard_target}, seat, given, statement_->opcode));
    return {.kind = Meaning::Kind::discard};
  }
  return register_meaning(undeclared(given, seat), given, seat);
}

FunctionResolver::Meaning FunctionResolver::register_meaning(const Named& named, const syntax::Operand& given, const Seat& seat) const {
  if (list_ == nullptr) {
    // Of a register that takes part in a sum, the type is asked only here.
    if (seat.integers_alone) judge_integer(named.value, given, seat);
    if (given.offset != 0 || given.negative) check(judge_signs(seat, given), seat, given);
  }
  if (given.offset == 0) judge_value(named.value, given, seat);
  return {.value = named.value, .kind = Meaning::Kind::register_, .index = named.index};
}

/// The common case in modules: an untyped register as wide as the type, with nothing before or behind it, to which no rule objects.
/// Nothing of all others.
std::optional<Value> FunctionResolver::plain_register(const syntax::Operand& given, const DataType& type, bool written) const {
  const bool alone = given.kind == Kind::name && given.offset == 0 && !given.negative && !given.inverted;
  if (list_ != nullptr || !alone || type.is_predicate() || type.bits < 16 || !given.text.starts_with('%')) return std::nullopt;
  if (!written && find_special_register(given.text)) return std::nullopt;
  const auto named = names_.find(given.text);
  if (!named || named->kind != Named::Kind::register_) return std::nullopt;
  const DraftRegister& found = function_.registers[static_cast<std::size_t>(named->value)];
  if (found.type->type_class != DataType::Class::bits || found.bits != type.bits) return std::nullopt;
  return named->value;
}

void FunctionResolver::judge_integer(Value value, const syntax::Operand& given, const Seat& seat) const {
  const DataType& declared = *function_.registers[static_cast<std::size_t>(value)].type;
  if (!accepts(accepts_integers, declared)) refuse({.kind = Objection::Kind::type, .declared = &declared}, seat, given);
}

void FunctionResolver::judge_value(Value value, const syntax::Operand& given, const Seat& seat) const {
  const DataType& declared = *function_.registers[static_cast<std::size_t>(value)].type;
  const int bits = bits_of(value);
  // The common case: untyped, and as wide as the type.
  if (declared.type_class == DataType::Class::bits && !seat.accepts.predicate && bits == std::max(seat.type->bits, 16)) return;
  check(judge_register(seat, declared, bits, dialect()), seat, given);
}

Value FunctionResolver::source(const syntax::Operand& operand, const DataType& type, bool may_be_wider) {
  return source(operand, type, seat(type, false, may_be_wider));
}

/// `type` is that of the operation; a list's seat may have an untyped one of its width.
Value FunctionResolver::source(const syntax::Operand& operand, const DataType& type, const Seat& seat) {
  return source_of(meaning(operand, seat), operand, type, seat);
}

Value FunctionResolver::source_of(const Meaning& found, const syntax::Operand& operand, const DataType& type, const Seat& seat) {
  switch (found.kind) {
    case Meaning::Kind::number: return number(operand, type);
    case Meaning::Kind::special: return special_register(operand, *found.special, type);
    case Meaning::Kind::warp_size: return draft_.constants.add(register_class_of(type.bits), warp_size);
    case Meaning::Kind::variable: return address_of(operand, *found.variable, register_class_of(type.bits));
    case Meaning::Kind::discard:
    case Meaning::Kind::register_: break;
  }
  Value value = found.value;
  if (operand.offset != 0) {
    value = sum(value, operand.offset);
    if (!fits_width(bits_of(value), type, seat.may_be_wider))
      refuse({.kind = Objection::Kind::width, .bits = bits_of(value)}, seat, operand);
  }
  if (type.is_predicate()) {
    if (!operand.inverted) return value;
    const Value inverted = temporary(RegisterClass::predicate);
    prepare(row("not.pred", {inverted}, {value}));
    return inverted;
  }
  if (bits_of(value) == std::max(type.bits, 16) || class_of(value) == register_class_of(type.bits)) return value;
  const Value low = temporary(RegisterClass::word);
  prepare(row("%low.b64", {low}, {value}));
  return low;
}

Value FunctionResolver::result(const syntax::Operand& operand, const DataType& type, bool may_be_wider) {
  return result(operand, type, seat(type, true, may_be_wider));
}

Value FunctionResolver::result(const syntax::Operand& operand, const DataType& type, const Seat& seat) {
  return result_of(meaning(operand, seat), type);
}

Value FunctionResolver::result_of(const Meaning& found, const DataType& type) {
  if (found.kind == Meaning::Kind::discard) return temporary(register_class_of(type.bits));
  const Value value = found.value;
  const int bits = bits_of(value), needed = type.is_predicate() ? 1 : std::max(type.bits, 16);
  if (bits == needed && !(type.is_signed_integer() && type.bits < needed)) return value;
  if (!type.is_signed_integer() && class_of(value) == register_class_of(type.bits)) return value;  // bits above the type are zero
  const Value narrow = temporary(register_class_of(type.bits));
  extensions_.push_back({narrow, value, fmt::format("%extend.{}{}.b{}", type.is_signed_integer() ? "s" : "u", type.bits, bits)});
  return narrow;
}

std::vector<Value> FunctionResolver::group(const syntax::Operand& operand, const DataType& type, bool is_result, std::size_t count) {
  return group(operand, type, seat(type, is_result, false), count, count != 1);
}

/// `in_braces`: a list's operand must be; a module's of one register may be.
std::vector<Value> FunctionResolver::group(const syntax::Operand& operand, const DataType& type, Seat seat, std::size_t count,
                                           bool in_braces) {
  using Why = Objection::Kind;
  std::vector<Value> values;
  values.reserve(count);
  if (list_ != nullptr) {
    const std::vector<Meaning> found = list_group(operand, seat, static_cast<int>(count), in_braces);
    const std::span<const syntax::Operand> items = in_braces ? std::span(operand.items) : std::span(&operand, 1);
    for (std::size_t i = 0; i < count; ++i)
      values.push_back(seat.written ? result_of(found[i], type) : source_of(found[i], items[i], type, seat));
    return values;
  }
  const auto one = [&](const syntax::Operand& item) {
    values.push_back(seat.written ? result(item, type, seat) : source(item, type, seat));
  };
  if (operand.kind != Kind::vector) {
    const bool unread = seat.written && seat.may_discard && operand.discards();
    if (in_braces && !unread) refuse({.kind = Why::braces, .number = static_cast<int>(count)}, seat, operand);
    for (std::size_t i = 0; i < count; ++i) one(operand);
    return values;
  }
  if (operand.items.size() != count)
    refuse({.kind = Why::count, .number = static_cast<int>(operand.items.size()), .wanted = static_cast<int>(count)}, seat, operand);
  if (seat.written && std::ranges::all_of(operand.items, [](const syntax::Operand& item) { return item.discards(); }))
    refuse({Why::vector_discarded}, seat, operand);
  seat.may_discard = true;
  for (const syntax::Operand& item : operand.items) one(item);
  return values;
}

FunctionResolver::Place FunctionResolver::place(const syntax::Operand& operand) {
  if (list_ != nullptr) begin_list_operand(operand);
  return place(operand, {.role = "the address"});
}

FunctionResolver::Place FunctionResolver::place(const syntax::Operand& operand, const Seat& seat) {
  if (list_ != nullptr) return list_place(operand, seat);
  if (operand.kind != Kind::address) refuse({Objection::Kind::no_address}, seat, operand);
  const syntax::Operand& base = operand.items.front();
  if (base.kind == Kind::number) {
    const Value value = number(base, *find_ptx_type("b64"));
    return {.base = value, .offset = operand.offset, .number = true};
  }
  if (base.kind != Kind::name) refuse({Objection::Kind::address_base}, seat, base);
  auto named = names_.find(base.text);
  if (!named) named = draft_.symbols.find(base.text);
  if (!named) fail(base, fmt::format("'{}' is neither a register nor a variable that is declared here", base.text));
  switch (named->kind) {
    case Named::Kind::register_: {
      const int bits = bits_of(named->value);
      if (bits != 16 && bits != 32 && bits != 64) fail(base, fmt::format("'{}' has {} bits; an address has 32 or 64", base.text, bits));
      check_type(base, named->value, *find_ptx_type("u64"));
      return {.base = named->value, .offset = operand.offset};
    }
    case Named::Kind::local:
      return {draft_.constants.add(RegisterClass::wide, named->offset), operand.offset, Space::local, named->parameter};
    case Named::Kind::shared: return {address_of(base, *named, RegisterClass::wide), operand.offset, Space::shared};
    case Named::Kind::module: return {address_of(base, *named, RegisterClass::wide), operand.offset, draft_.symbols.space(named->index)};
    case Named::Kind::parameter: return {address_of(base, *named, RegisterClass::wide), operand.offset, Space::param};
    case Named::Kind::function: break;
  }
  fail(base, fmt::format("'{}' is a function, not a place in memory", base.text));
}

/// The place that an access of `space` means, where ptxas takes it.
FunctionResolver::Place FunctionResolver::place_in(const syntax::Operand& operand, Space space) {
  const Place where = place(operand);
  const syntax::Operand& base = operand.items.front();
  const bool outside = space == Space::generic || space == Space::global;
  if (where.number && space != Space::local) fail(base, "only .local addresses may be numbers: move it to a register");
  if (outside && !where.space && bits_of(where.base) == 32)
    fail(base, fmt::format("'{}' has 32 bits; a {} address has 64", base.text, name(space)));
  if (!where.space) return where;
  const Space own = where.parameter ? Space::param : *where.space;
  if (space == Space::generic ? own == Space::param : own != space)
    fail(base, fmt::format("'{}' is a .{} variable, and {} accesses {} memory", base.text, name(own), statement_->opcode, name(space)));
  return where;
}

void FunctionResolver::read_operand(const Match& match, const OperandPattern& pattern, const syntax::Operand& operand,
                                    DraftOperation& operation) {
  const DataType& type = match.type_of(pattern);
  std::vector<Value>& values = pattern.result ? operation.results : operation.sources;
  if (pattern.role == OperandPattern::Role::address) {
    if (const auto space = variable_space(operand.items.empty() ? operand : operand.items.front());
        space == Space::param && !match.has(Qualifier::param))
      fail(operand, fmt::format("{} takes no address of a parameter", statement_->opcode));
    const Semantics semantics = match.pattern->row.semantics;
    if (semantics != Semantics::nothing && semantics != Semantics::absent) {
      values.push_back(address(operand, space_of(match)));
      return;
    }
    // Only what is wrong with it is of interest.
    const bool any_width = match.has(Qualifier::tensormap) || match.is(Name::st) || match.is(Name::red);
    const Place where = any_width ? place(operand) : place_in(operand, space_of(match));
    if (where.number && space_of(match) != Space::local) fail(operand, "only .local addresses may be numbers: move it to a register");
    const Space own = where.parameter ? Space::param : where.space.value_or(space_of(match));
    if (match.has(Qualifier::tensormap) && space_of(match) != Space::generic && own != space_of(match))
      fail(operand, fmt::format("{} takes the address of a .{} variable", statement_->opcode, name(space_of(match))));
    if (match.is(Name::prefetchu) && where.space.value_or(Space::global) != Space::global)
      fail(operand, "prefetchu takes a generic address");
  } else if (pattern.count != 1) {
    const int count = pattern.count == 0 ? match.vector() : pattern.count;
    const std::vector<Value> items = group(operand, type, seat(match, pattern), static_cast<std::size_t>(count), count != 1);
    values.insert(values.end(), items.begin(), items.end());
  } else if (const auto plain = plain_register(operand, type, pattern.result)) {
    values.push_back(*plain);
  } else {
    const Seat here = seat(match, pattern);
    if (!here.in_pair) note_group(OperandText::Kind::single);
    values.push_back(pattern.result ? result(operand, type, here) : source(operand, type, here));
  }
}

/// Removes the selector after the register of a video instruction's operand, %r2.h1, and vmad's minus before it.
syntax::Operand FunctionResolver::without_selector(const Match& match, std::size_t index, scalar::Video& video) {
  syntax::Operand plain = operand(index);
  if (plain.kind != Kind::name) return plain;
  const auto place = static_cast<int>(index);
  if (plain.negative && !catalogue::negate_operand(video, match, place))
    fail(plain, fmt::format("{} takes no minus here", statement_->opcode));
  plain.negative = false;
  const std::size_t dot = plain.text.find('.');
  if (dot == std::string_view::npos) return plain;
  const std::string_view selector = plain.text.substr(dot + 1);
  if (!catalogue::set_selector(video, match, place, selector))
    fail(plain, fmt::format("{} has no selector .{} here", statement_->opcode, selector));
  plain.text = plain.text.substr(0, dot);
  return plain;
}

void FunctionResolver::read_operands(const Match& match, DraftOperation& operation, scalar::Video* video) {
  std::size_t next = 0;
  const syntax::Operand* last = nullptr;
  const std::vector<OperandPattern>& patterns = match.pattern->operands;
  operation.sources.reserve(patterns.size());
  std::size_t explicit_ones = 0;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const OperandPattern& pattern = patterns[i];
    if (list_ != nullptr && !pattern.implicit()) list_->argument = explicit_ones++;
    if (pattern.implicit()) {
      if (!carry_) carry_ = temporary(RegisterClass::predicate);
      (pattern.result ? operation.results : operation.sources).push_back(*carry_);
    } else if (pattern.paired) {
      if (last != nullptr && last->kind == Kind::pair) {
        may_discard_ = !match.is(Name::elect) && !last->items[0].discards();
        read_operand(match, pattern, last->items[1], operation);
      } else if (pattern.optional) {
        if (!match.is(Name::setp))                                                                 // whose kernels leave it out
          operation.results.push_back(temporary(register_class_of(match.type_of(pattern).bits)));  // never read
      } else {
        fail(fmt::format("{} writes two results with | between them", statement_->opcode));
      }
    } else if (!pattern.optional || next < statement_->operands.size()) {
      last = &operand(next++);
      if (list_ != nullptr) begin_list_operand(*last);
      const bool pair = last->kind == Kind::pair, paired = i + 1 < patterns.size() && patterns[i + 1].paired;
      const bool unread = pair && match.is(Name::match) && last->items[1].discards();
      if (pair && !paired && !unread) fail(*last, fmt::format("{} writes one result here, without |", statement_->opcode));
      may_discard_ = (pair && !match.is(Name::shfl)) || match.is(Name::setp) || match.is(Name::atom) ||
                     (match.is(Name::match) && match.has(Qualifier::all));
      if (video != nullptr) {
        read_operand(match, pattern, without_selector(match, next - 1, *video), operation);
        continue;
      }
      read_operand(match, pattern, pair ? last->items[0] : *last, operation);
    }
  }
  may_discard_ = false;
  if (next < statement_->operands.size()) fail(operand(next), fmt::format("{} takes {} operands", statement_->opcode, next));
}

}  // namespace warpmat::code
