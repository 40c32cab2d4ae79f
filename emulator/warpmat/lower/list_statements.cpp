#include <algorithm>
#include <span>
#include <utility>

#include <fmt/core.h>

#include <warpmat/execute/scalar_form.h>
#include <warpmat/lower/list_refusal.h>
#include <warpmat/lower/list_statements.h>
#include <warpmat/lower/operands.h>
#include <warpmat/ptx/catalogue/restrictions.h>
#include <warpmat/tables/nearest_opcode.h>
#include <warpmat/tables/types.h>

// Lists of statements: what they have beside a function's body, and what their users see of operands.

namespace warpmat::code {

using Kind = syntax::Operand::Kind;

namespace {

constexpr std::int64_t max_shared_bytes = std::int64_t{1} << 30;
constexpr std::int64_t max_alignment = 1 << 16;
constexpr int most_registers = 1 << 16;

/// The spelling of a number; of a constant expression that of its value.
std::string spelling_of(const syntax::Operand& given) {
  if (given.value) return std::to_string(static_cast<std::int64_t>(*given.value));
  return (given.negative ? "-" : "") + std::string(given.text);
}

void list_element(Context& in, const syntax::Directive& directive) {
  if (directive.is_version())
    in.list->program.version = {static_cast<int>(directive.numbers[0]), static_cast<int>(directive.numbers[1])};
  else if (in.list->given_target == nullptr)
    in.list->program.target = find_target(directive.value);
}

void list_element(Context& in, const syntax::Label& label) {
  in.list->label = label.name;
}

void list_element(Context& in, const syntax::Fault& fault) {
  in.list->label.clear();
  warpmat::fail(fault.location, fault.message);
}

void require_new(const Context& in, Location location, const std::string& name) {
  if (in.names.find(name)) warpmat::fail(location, fmt::format("'{}' is already declared", name));
}

void define_list_registers(Context& in, const syntax::Variable& variable, const DataType& type) {
  if (!variable.extents.empty() || variable.alignment != 0) warpmat::fail(variable.location, "a register has no elements and no alignment");
  ProgramParts& program = in.list->program;
  for (std::int64_t i = 0; i < std::max<std::int64_t>(variable.registers, 1); ++i) {
    std::string name = variable.registers == 0 ? std::string(variable.name) : fmt::format("{}{}", variable.name, i);
    require_new(in, variable.location, name);
    if (program.registers.size() >= most_registers) warpmat::fail(variable.location, fmt::format("more than {} registers", most_registers));
    in.list->numbers[static_cast<Value>(in.function.registers.size()) + static_cast<Value>(i)] = static_cast<int>(program.registers.size());
    program.registers.push_back({std::move(name), &type, program.named_words});
    program.named_words += type.bits > 32 ? 2 : 1;
  }
  in.names.declare_registers(variable);
}

void define_list_variable(Context& in, const syntax::Variable& declared, const DataType& type) {
  const std::int64_t alignment = declared.alignment, bytes = type.bits / 8;
  ProgramParts& program = in.list->program;
  if (alignment < 0 || alignment > max_alignment || (alignment & (alignment - 1)) != 0)
    warpmat::fail(declared.location, fmt::format("an alignment is a power of two up to {}", max_alignment));
  if (declared.registers != 0) warpmat::fail(declared.location, "a shared variable has its elements in brackets");
  SharedVariable variable{std::string(declared.name), &type, 1, declared.extents, std::max(alignment, bytes), 0};
  require_new(in, declared.location, variable.name);
  for (const std::int64_t extent : declared.extents) {
    const std::int64_t most = max_shared_bytes / bytes / variable.count;
    if (extent < 1 || extent > most)
      warpmat::fail(declared.location, fmt::format("'{}' needs a number of elements from 1 to {}", declared.name, most));
    variable.count *= extent;
  }
  variable.address = (program.shared_bytes + variable.alignment - 1) / variable.alignment * variable.alignment;
  if (variable.address + variable.bytes() > max_shared_bytes)
    warpmat::fail(declared.location, fmt::format("more than {} bytes of shared memory", max_shared_bytes));
  program.shared_bytes = variable.address + variable.bytes();
  in.names.declare(declared.name, {.kind = Named::Kind::module, .index = static_cast<int>(program.variables.size())});
  program.variables.push_back(std::move(variable));
}

void list_element(Context& in, const syntax::Variable& variable) {
  if (!variable.follows) in.list->declares = true;
  if (!in.list->declares) return;  // a variable before it in the declaration is wrong
  in.list->declares = false;
  const bool is_register = !variable.space;
  const DataType* const type = find_data_type(variable.type);
  if (type == nullptr || (is_register ? !type->is_register : type->bits < 8))
    warpmat::fail(variable.location, fmt::format("'{}' needs a type such as .b32 or .f32{}", variable.name,
                                                 variable.type.empty() ? "" : fmt::format(", not '.{}'", variable.type)));
  if (variable.name == syntax::discard || is_laneid(variable.name))
    warpmat::fail(variable.location, fmt::format("'{}' is no name for a variable", variable.name));
  if (variable.vector != 1 || variable.pointer || !variable.values.empty())
    warpmat::fail(variable.location,
                  fmt::format("'{}' has no .v2 or .v4, no .ptr and no initial values in a list of statements", variable.name));
  is_register ? define_list_registers(in, variable, *type) : define_list_variable(in, variable, *type);
  in.list->declares = true;
}

/// The registers and numbers of an operand.
std::span<const syntax::Operand> parts_of(const syntax::Operand& given) {
  const bool has_items = given.kind == Kind::vector || given.kind == Kind::pair || given.kind == Kind::address;
  return has_items ? std::span(given.items) : std::span(&given, 1);
}

/// Calls visit(operand, what the instruction says of it and of those behind it) for each that is given.
template <typename Visit>
void for_each_operand(const Context& in, Visit visit) {
  const std::span<const InstructionOperand> described = in.list->instruction->operands();
  std::size_t next = 0;
  for (const syntax::Operand& given : in.operands()) {
    if (next == described.size()) return;  // its row refuses it
    visit(given, described.subspan(next++));
    while (next < described.size() && described[next].is_paired()) ++next;
  }
}

/// The type whose width a register has, and whose format a number.
const DataType& type_at(const Context& in, const InstructionOperand& described) {
  if (described.kind() == InstructionOperand::Kind::address) return *find_data_type("b32");
  return described.type() != nullptr ? *described.type() : register_type(in.list->form->operand(*described.matrix_name()));
}

void define_if_new(Context& in, const syntax::Operand& given, const DataType& type, bool may_be_wider) {
  if (given.kind != Kind::name || given.discards() || is_laneid(given.text) || in.names.find(given.text)) return;
  if (given.text.find('.') != std::string_view::npos)
    in.fail(given, fmt::format("'{}' is not supported: the only special register is %laneid", given.text));
  const int least = may_be_wider && !type.is_floating() ? 32 : 16;
  const DataType& own = type.is_predicate() ? type : *find_untyped(std::max(type.bits, least));
  syntax::Variable variable;
  variable.location = given.location;
  variable.name = given.text;
  variable.type = own.name;
  define_list_registers(in, variable, own);
}

/// The number of an operand that is one.
Item number_item(const syntax::Operand& given, const DataType& type) {
  const std::uint64_t bits = type.is_predicate() ? integer_of(given).value_or(0) != 0 : number_bits(given, type).value_or(0);
  return {.kind = Item::Kind::number, .bits = bits, .text = spelling_of(given)};
}

/// A register or a number of a statement that a module takes, as the list's users see it.
Item item_of(const Context& in, const syntax::Operand& given, const DataType& type, std::int64_t offset) {
  const auto named = in.names.find(given.text);
  if (named && named->kind == Named::Kind::register_) {
    if (given.offset != 0)
      in.fail(given, fmt::format("in a list of statements only variables and addresses have an offset, not '{}'", given.text));
    const int number = in.list->numbers.at(named->value);
    const NamedRegister& own = in.list->program.registers[static_cast<std::size_t>(number)];
    return {Item::Kind::named, number, 0, {}, own.slot, own.type->bits > 32 ? 2 : 1, given.inverted};
  }
  Item item;
  if (given.kind == Kind::number)
    item = number_item(given, type);
  else if (named)
    item = {.kind = Item::Kind::variable, .index = named->index, .bits = static_cast<std::uint64_t>(offset), .text = {}};
  else
    item.kind = given.discards() ? Item::Kind::discard : Item::Kind::laneid;
  item.words = type.bits > 32 ? 2 : 1;
  return item;
}

OperandText operand_text(const Context& in, const syntax::Operand& given, const InstructionOperand& described) {
  using Text = OperandText::Kind;
  const bool address = given.kind == Kind::address;
  if (address && given.items.size() != 1) in.fail(given, "in a list of statements an address is one register or variable, and an offset");
  OperandText text;
  text.kind = given.kind == Kind::vector ? Text::vector : given.kind == Kind::pair ? Text::pair : address ? Text::address : Text::single;
  // The second of a|b has this type, too, or is a register, whose own type counts, or _.
  for (const syntax::Operand& item : parts_of(given))
    text.items.push_back(item_of(in, item, type_at(in, described), address ? given.offset : item.offset));
  if (address && text.items.front().kind != Item::Kind::variable) text.offset = given.offset;
  return text;
}

void list_element(Context& in, const syntax::Statement& statement) {
  std::string label = std::exchange(in.list->label, {});
  code::statement(in, statement);
  StatementParts parts{statement.location, *in.list->instruction};
  parts.label = std::move(label);
  if (statement.guard) {
    syntax::Operand guard{Kind::name, statement.guard->location, statement.guard->predicate, statement.guard->inverted};
    parts.guard = item_of(in, guard, *find_data_type("pred"), 0);
  }
  for_each_operand(in, [&](const syntax::Operand& given, std::span<const InstructionOperand> described) {
    parts.operands.push_back(operand_text(in, given, described.front()));
  });
  if (in.list->form != nullptr && parts.operands.size() < in.list->form->operands.size())
    parts.operands.push_back({OperandText::Kind::omitted, {}, 0});
  in.list->program.statements.push_back(ListInternals::statement(std::move(parts)));
}

Instruction list_matrix_instruction(const Context& in) {
  const Form* const form = in.list->form = find_form(in.opcode());
  const ProgramParts& program = in.list->program;
  if (form == nullptr) in.fail(explain_unknown_form(in.opcode()));
  if (in.current.text->guard) in.fail("a matrix instruction has no guard in a list of statements: all lanes of the warp take part");
  if (const auto reason = unavailable(*form, *program.target, program.version)) in.fail(*reason);
  return {*form, *program.target, program.version};
}

Instruction list_scalar_instruction(Context& in) {
  const catalogue::Match* const match = in.draft.find_match(in.opcode());
  if (match == nullptr) in.fail(catalogue::explain_unknown_row(in.opcode()));
  if (const std::string reason = list_refusal(*match); !reason.empty()) in.fail(reason);
  const ProgramParts& program = in.list->program;
  const std::size_t given = in.operands().size();
  const catalogue::Match* const longer = given > match->pattern->most_operands ? in.draft.find_longer(*match, given) : match;
  if (const auto reason = catalogue::refusal(*longer, *program.target, program.version)) in.fail(*reason);
  return ScalarForm::instruction(*match, *program.target, program.version);
}

template <typename Other>
void list_element(Context&, const Other&) {}  // not in a list

}  // namespace

void list_element(Context& in, const syntax::Element& element) {
  std::visit([&](const auto& one) { list_element(in, one); }, element);
}

/// Labels, registers and variables share one name space. Undeclared registers are created after their labels.
void refuse_labels_of_names(const Context& in, std::vector<Diagnostic>& errors) {
  for (const Statement& statement : in.list->program.statements)
    if (!statement.label().empty() && in.names.find(statement.label()))
      errors.push_back(
          diagnose(*in.draft.program.module->text, statement.location(),
                   fmt::format("'{}' is a register or a variable already: a label needs a name of its own", statement.label())));
}

void begin_list_statement(Context& in, const syntax::Statement& statement) {
  in.current.text = &statement;
  in.list->instruction.reset();
  in.list->form = nullptr;
  if (statement.guard && !in.list->declares_registers) {
    const syntax::Operand guard{Kind::name, statement.guard->location, statement.guard->predicate};
    define_if_new(in, guard, *find_data_type("pred"), false);
  }
  if (in.list->program.target == nullptr) in.fail("no target yet: begin the program with .target sm_90a, or name one: --target sm_90a");
  if (table_of(statement.opcode) == OpcodeTable::forms)
    in.list->instruction = list_matrix_instruction(in);
  else
    in.list->instruction = list_scalar_instruction(in);
  if (in.list->declares_registers) return;
  for_each_operand(in, [&](const syntax::Operand& given, std::span<const InstructionOperand> described) {
    const std::span<const syntax::Operand> items = parts_of(given);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const bool second = given.kind == Kind::pair && i == 1 && described.size() > 1 && described[1].is_paired();
      const InstructionOperand& own = described[second ? 1 : 0];
      define_if_new(in, items[i], type_at(in, own), own.may_be_wider());
    }
  });
}

}  // namespace warpmat::code
