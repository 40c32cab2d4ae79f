#include <algorithm>

#include <fmt/core.h>

#include <warpmat/ptx/catalogue/video_selectors.h>
#include <warpmat/ptx/number.h>
#include <warpmat/ptx/program/function_resolver.h>
#include <warpmat/ptx/types.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::OperandPattern;
using catalogue::Semantics;
using catalogue::ValueType;
using Kind = syntax::Operand::Kind;

namespace {

/// The 64 bits of an integer constant, without its sign where it is no expression; nothing if it is none.
std::optional<std::uint64_t> integer_of(const syntax::Operand& operand) {
  return operand.value ? operand.value : parse_integer(operand.text);
}

/// The low bits of an integer constant: PTX converts constants, which have 64 bits, to the size of the type at their use (PTX ISA section
/// 4.5.1), as ptxas does without a word.
std::optional<std::uint64_t> converted_integer(const syntax::Operand& operand, int bits) {
  const auto value = integer_of(operand);
  if (!value || (bits > 64 && operand.negative)) return std::nullopt;
  const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  return (operand.negative ? ~*value + 1 : *value) & mask;
}

}  // namespace

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

Value FunctionResolver::named_register(const syntax::Operand& operand) {
  const auto named = names_.find(operand.text);
  if (operand.kind != Kind::name || !named || named->kind != Named::Kind::register_)
    fail(operand, fmt::format("'{}' is not a register that is declared here", operand.text));
  if (operand.negative) fail(operand, fmt::format("{} takes no minus before the register '{}'", statement_->opcode, operand.text));
  if (operand.offset != 0) fail(operand, fmt::format("only addresses have an offset behind the register '{}'", operand.text));
  return named->value;
}

Value FunctionResolver::number(const syntax::Operand& operand, const ValueType& type) {
  const RegisterClass register_class = register_class_of(type.bits);
  if (type.is_predicate()) {
    const auto value = integer_of(operand);
    if (!value) fail(operand, fmt::format("'{}' is not a number that fits a predicate", operand.text));
    return draft_.constants.add(register_class, *value != 0 ? 0xffffffff : 0);
  }
  // No floating-point format takes an integer, and only .f32 and .f64 take any number; nor do integers take 0f3F800000.
  const DataType* data_type = find_data_type(type.name);
  auto bits = data_type != nullptr ? parse_number(operand.text, operand.negative, *data_type) : std::nullopt;
  if (!bits && type.type_class != ValueType::Class::floating) bits = converted_integer(operand, type.bits);
  if (!bits) fail(operand, fmt::format("'{}{}' is not a number that fits .{}", operand.negative ? "-" : "", operand.text, type.name));
  return draft_.constants.add(register_class, *bits);
}

std::uint64_t FunctionResolver::immediate(const syntax::Operand& operand) const {
  const auto value = operand.kind == Kind::number && !operand.negative ? integer_of(operand) : std::nullopt;
  if (!value) fail(operand, fmt::format("expected a number, found '{}'", operand.text));
  return *value;
}

Value FunctionResolver::special_register(const syntax::Operand& operand, const SpecialRegisterName& special, const ValueType& type) {
  const RegisterClass register_class = register_class_of(special.bits);
  if (type.bits > special.bits || (register_class != register_class_of(type.bits)))
    fail(operand, fmt::format("{} has {} bits; {} takes .{}", operand.text, special.bits, statement_->opcode, type.name));
  DraftOperation operation;
  operation.operation.semantics = Semantics::special;
  operation.operation.detail = static_cast<std::uint32_t>(special.special_register);
  const Value value = names_.new_register(register_class, special.bits);
  operation.results = {value};
  prepare(std::move(operation));
  return value;
}

/// The address of a variable as a number of that class.
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
      operation.operation.detail = static_cast<std::uint32_t>(SpecialRegister::local_address);
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

Value FunctionResolver::source(const syntax::Operand& operand, const ValueType& type, bool may_be_wider) {
  if (operand.kind == Kind::number) return number(operand, type);
  if (operand.kind != Kind::name) fail(operand, fmt::format("expected a register or a number for .{}", type.name));
  if (const auto special = find_special_register(operand.text)) return special_register(operand, *special, type);
  if (operand.text.starts_with("%pm") && !names_.find(operand.text))
    fail(operand, fmt::format("'{}' is not executed: it counts events of the hardware, which the emulator does not have", operand.text));
  if (operand.text == "WARP_SZ") return draft_.constants.add(register_class_of(type.bits), lanes);
  auto named = names_.find(operand.text);
  if (!named) named = draft_.symbols.find(operand.text);
  if (named && named->kind != Named::Kind::register_) return address_of(operand, *named, register_class_of(type.bits));
  const Value value = named_register(operand);
  const int bits = bits_of(value);
  if (type.is_predicate()) {
    if (bits != 1) fail(operand, fmt::format("'{}' is not a predicate", operand.text));
    if (!operand.inverted) return value;
    const Value inverted = temporary(RegisterClass::predicate);
    prepare(row("not.pred", {inverted}, {value}));
    return inverted;
  }
  const int needed = std::max(type.bits, 16);
  if (bits == needed) return value;
  if (!may_be_wider || bits < needed || bits == 1)
    fail(operand, fmt::format("'{}' has {} bits; {} takes {} here", operand.text, bits, statement_->opcode, needed));
  if (class_of(value) == register_class_of(type.bits)) return value;
  const Value low = temporary(RegisterClass::word);
  prepare(row("%low.b64", {low}, {value}));
  return low;
}

Value FunctionResolver::result(const syntax::Operand& operand, const ValueType& type, bool may_be_wider) {
  if (operand.kind == Kind::name && operand.text == "_") return temporary(register_class_of(type.bits));
  const Value value = named_register(operand);
  const int bits = bits_of(value), needed = type.is_predicate() ? 1 : std::max(type.bits, 16);
  if (bits == needed && !(type.is_signed_integer() && type.bits < needed)) return value;
  if (bits != needed && (!may_be_wider || bits < needed || bits == 1 || needed == 1))  // .s8 has a register of 8 bits, which has 16 here
    fail(operand, fmt::format("'{}' has {} bits; {} writes {} here", operand.text, bits, statement_->opcode, needed));
  if (!type.is_signed_integer() && class_of(value) == register_class_of(type.bits)) return value;  // zeros above the type's bits
  const Value narrow = temporary(register_class_of(type.bits));
  extensions_.push_back({narrow, value, fmt::format("%extend.{}{}.b{}", type.is_signed_integer() ? "s" : "u", type.bits, bits)});
  return narrow;
}

std::vector<Value> FunctionResolver::group(const syntax::Operand& operand, const ValueType& type, bool is_result, std::size_t count) {
  const auto one = [&](const syntax::Operand& item) { return is_result ? result(item, type) : source(item, type); };
  if (operand.kind != Kind::vector) {
    if (count != 1) fail(operand, fmt::format("{} takes {} registers in braces here", statement_->opcode, count));
    return {one(operand)};
  }
  if (operand.items.size() != count)
    fail(operand, fmt::format("{} takes {} registers here, {} are given", statement_->opcode, count, operand.items.size()));
  std::vector<Value> values;
  for (const syntax::Operand& item : operand.items) values.push_back(one(item));
  return values;
}

FunctionResolver::Place FunctionResolver::place(const syntax::Operand& operand) {
  if (operand.kind != Kind::address) fail(operand, "expected an address in brackets");
  const syntax::Operand& base = operand.items.front();
  if (base.kind == Kind::number) {
    const Value value = number(base, *catalogue::find_value_type("b64"));
    return {value, operand.offset, std::nullopt};
  }
  if (base.kind != Kind::name) fail(base, "expected a register or a variable in brackets");
  auto named = names_.find(base.text);
  if (!named) named = draft_.symbols.find(base.text);
  if (!named) fail(base, fmt::format("'{}' is neither a register nor a variable that is declared here", base.text));
  switch (named->kind) {
    case Named::Kind::register_: {
      const int bits = bits_of(named->value);
      if (bits != 32 && bits != 64) fail(base, fmt::format("'{}' has {} bits; an address has 32 or 64", base.text, bits));
      return {named->value, operand.offset, std::nullopt};
    }
    case Named::Kind::local: return {draft_.constants.add(RegisterClass::wide, named->offset), operand.offset, Space::local};
    case Named::Kind::shared: return {address_of(base, *named, RegisterClass::wide), operand.offset, Space::shared};
    case Named::Kind::module: return {address_of(base, *named, RegisterClass::wide), operand.offset, Space::global};
    case Named::Kind::parameter: return {address_of(base, *named, RegisterClass::wide), operand.offset, Space::param};
    case Named::Kind::function: break;
  }
  fail(base, fmt::format("'{}' is a function, not a place in memory", base.text));
}

void FunctionResolver::read_operand(const Match& match, const OperandPattern& pattern, const syntax::Operand& operand,
                                    DraftOperation& operation) {
  const ValueType& type = match.type_of(pattern);
  std::vector<Value>& values = pattern.result ? operation.results : operation.sources;
  if (pattern.name == "address") {
    values.push_back(address(operand, Space::generic));
  } else if (pattern.count > 1) {
    const std::vector<Value> items = group(operand, type, pattern.result, static_cast<std::size_t>(pattern.count));
    values.insert(values.end(), items.begin(), items.end());
  } else {
    values.push_back(pattern.result ? result(operand, type, pattern.may_be_wider) : source(operand, type, pattern.may_be_wider));
  }
}

/// Takes the selector behind the register of a video instruction's operand, %r2.h1, and vmad's minus before it.
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
  for (const OperandPattern& pattern : match.pattern->operands) {
    if (pattern.implicit) {
      if (!carry_) carry_ = temporary(RegisterClass::predicate);
      (pattern.result ? operation.results : operation.sources).push_back(*carry_);
    } else if (pattern.paired) {
      if (last != nullptr && last->kind == Kind::pair) {
        read_operand(match, pattern, last->items[1], operation);
      } else if (pattern.optional) {
        operation.results.push_back(temporary(register_class_of(match.type_of(pattern).bits)));  // nobody reads it
      } else {
        fail(fmt::format("{} writes two results with | between them", statement_->opcode));
      }
    } else if (!pattern.optional || next < statement_->operands.size()) {
      last = &operand(next++);
      if (video != nullptr) {
        read_operand(match, pattern, without_selector(match, next - 1, *video), operation);
        continue;
      }
      read_operand(match, pattern, last->kind == Kind::pair ? last->items[0] : *last, operation);
    }
  }
  if (next < statement_->operands.size()) fail(operand(next), fmt::format("{} takes {} operands", statement_->opcode, next));
}

}  // namespace warpmat::code
