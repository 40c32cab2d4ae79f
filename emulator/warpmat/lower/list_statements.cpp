#include <algorithm>

#include <fmt/core.h>

#include <warpmat/execute/scalar_form.h>
#include <warpmat/lower/list_refusal.h>
#include <warpmat/lower/list_statements.h>
#include <warpmat/ptx/catalogue/restrictions.h>
#include <warpmat/tables/nearest_opcode.h>
#include <warpmat/tables/types.h>

// Lists of statements: what they have beside a function's body, and what their users see of operands.

namespace warpmat::code {

using Kind = syntax::Operand::Kind;
using Refused = Objection::Kind;

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

/// What precedes the fault in its statement may be wrong, too, and goes first.
void list_element(Context& in, const syntax::Fault& fault) {
  in.list->label.clear();
  begin_list_statement(in, fault.begun);
  if (!fault.message.empty()) warpmat::fail(fault.location, fault.message);
}

/// Adds a register of a new name. It is words of the warp's register file: one of 64 bits has two, and a predicate has one.
Named define_list_register(Context& in, Location location, std::string name, const DataType& type) {
  std::vector<NamedRegister>& registers = in.list->program.registers;
  if (registers.size() >= most_registers) warpmat::fail(location, fmt::format("more than {} registers", most_registers));
  const RegisterClass register_class = register_class_of(type.bits);
  const bool is_word = register_class == RegisterClass::word;
  const Value value = in.names.new_register(register_class, type.bits, &type);
  const auto new_word = [&] { return in.function.words.emplace_back(in.names.new_register(RegisterClass::word, 32)); };
  if (is_word) {
    in.function.words.push_back(value);
  } else {
    Words& words = in.kept_in_words[value];
    words.low = new_word();
    if (register_class == RegisterClass::wide) words.high = new_word();
  }
  const Named named{.value = value, .index = static_cast<int>(registers.size())};
  in.names.declare(in.element_names.emplace_back(name), named);
  registers.push_back({std::move(name), &type, in.list->program.named_words});
  in.list->program.named_words += type.bits > 32 ? 2 : 1;
  return named;
}

void require_new(const Context& in, Location location, const std::string& name) {
  if (in.names.find(name)) warpmat::fail(location, fmt::format("'{}' is already declared", name));
}

void define_list_registers(Context& in, const syntax::Variable& variable, const DataType& type) {
  const std::string name(variable.name);
  if (!variable.extents.empty() || variable.alignment != 0) warpmat::fail(variable.location, "a register has no elements and no alignment");
  const auto define = [&](std::string own) {
    require_new(in, variable.location, own);
    define_list_register(in, variable.location, std::move(own), type);
  };
  if (variable.registers == 0) return define(name);
  for (std::int64_t i = 0; i < variable.registers; ++i) define(fmt::format("{}{}", name, i));
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

void list_element(Context& in, const syntax::Statement& statement) {
  std::string label = std::exchange(in.list->label, {});
  code::statement(in, statement);
  StatementParts parts{statement.location, *std::move(in.list->instruction)};
  parts.label = std::move(label);
  parts.guard = std::move(in.list->guard);
  parts.operands = std::move(in.list->operands);
  in.list->program.statements.push_back(ListInternals::statement(std::move(parts)));
}

void list_guard(Context& in, const syntax::Guard& guard) {
  syntax::Operand predicate{Kind::name, guard.location};
  predicate.text = guard.predicate;
  predicate.inverted = guard.inverted;
  in.list->reads_guard = true;
  in.current.guard = meaning(in, predicate, {.role = "the guard", .type = find_data_type("pred"), .accepts = accepts_predicates}).value;
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
  if (const auto reason = catalogue::refusal(*match, *program.target, program.version)) in.fail(*reason);
  return ScalarForm::instruction(*match, *program.target, program.version);
}

template <typename Other>
void list_element(Context&, const Other&) {}  // not in a list

}  // namespace

void list_element(Context& in, const syntax::Element& element) {
  std::visit([&](const auto& one) { list_element(in, one); }, element);
}

std::vector<SeatedItem> ListDraft::seated() const {
  std::vector<SeatedItem> items;
  items.reserve(operands.back().items.size());
  for (const Item& one : operands.back().items) {
    switch (one.kind) {
      case Item::Kind::named:
        items.push_back({SeatedItem::Kind::register_, program.registers[static_cast<std::size_t>(one.index)].type});
        break;
      case Item::Kind::number: items.push_back({.kind = SeatedItem::Kind::number, .number = one.text}); break;
      case Item::Kind::laneid: items.push_back({SeatedItem::Kind::laneid}); break;
      case Item::Kind::discard: items.push_back({SeatedItem::Kind::discard}); break;
      case Item::Kind::variable: items.push_back({SeatedItem::Kind::other}); break;
    }
  }
  return items;
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
  in.list->guard.reset();
  in.list->operands.clear();
  in.list->argument = 0;
  in.list->in_pair = in.list->reads_guard = false;
  if (statement.guard) list_guard(in, *statement.guard);
  if (statement.opcode.empty()) return;
  if (in.list->program.target == nullptr) in.fail("no target yet: begin the program with .target sm_90a, or name one: --target sm_90a");
  if (table_of(statement.opcode) == OpcodeTable::forms)
    in.list->instruction = list_matrix_instruction(in);
  else
    in.list->instruction = list_scalar_instruction(in);
}

void check_list_count(const Context& in) {
  std::size_t fewest = 0, most = 0;
  for (const InstructionOperand& operand : in.list->instruction->operands()) {
    if (operand.is_paired() || operand.kind() == InstructionOperand::Kind::carry) continue;
    ++most;
    if (!operand.is_optional()) ++fewest;
  }
  const std::size_t given = in.operands().size();
  if (given >= fewest && given <= most) return;
  if (const auto match = catalogue::find_row(in.opcode(), given); match && given <= match->pattern->most_operands)
    if (const auto reason = catalogue::refusal(*match, *in.list->program.target, in.list->program.version)) in.fail(*reason);
  const std::string taken = fewest == most ? std::to_string(most) : fmt::format("{} {} {}", fewest, fewest + 1 == most ? "or" : "to", most);
  warpmat::fail(given < fewest ? in.current.text->end : in.operands()[most].location,
                fmt::format("{} takes {} operand{} here, {} {} given", mnemonic_of(in.opcode()), taken, most == 1 ? "" : "s", given,
                            given == 1 ? "is" : "are"));
}

Seat list_seat(const Context& in) {
  const InstructionOperand& operand = in.list->instruction->operands()[in.list->argument];
  // A type that .reg cannot declare is checked as untyped bits of the same size.
  const DataType* const type = operand.type();
  return {.role = operand.is_written() ? "the result" : "a source",
          .instruction = mnemonic_of(in.opcode()),
          .type = is_fundamental(*type) ? type : find_untyped(type->bits),
          .accepts = operand.accepts(),
          .written = operand.is_written(),
          .may_be_wider = operand.may_be_wider(),
          .symbols = !operand.is_written() && takes_addresses(in),
          .in_pair = in.list->in_pair};
}

void begin_list_operand(Context& in, const syntax::Operand& given) {
  const std::span<const InstructionOperand> operands = in.list->instruction->operands();
  const std::size_t next = in.list->argument + 1;
  const bool has_second = next < operands.size() && operands[next].is_paired();
  in.list->in_pair = given.kind == Kind::pair;
  if (in.list->in_pair && !has_second) in.fail(given, fmt::format("{} has no second result here", mnemonic_of(in.opcode())));
  if (!in.list->in_pair && has_second && !operands[next].is_optional())
    in.fail(given, fmt::format("{} writes two results, with | between them", mnemonic_of(in.opcode())));
  if (in.list->in_pair) note_group(in, OperandText::Kind::pair);
}

void note_group(Context& in, OperandText::Kind kind) {
  if (in.list != nullptr) in.list->operands.push_back({kind, {}, 0});
}

std::vector<Meaning> list_group(Context& in, const syntax::Operand& operand, Seat seat, int count, bool in_braces) {
  if (!in_braces) {
    note_group(in, OperandText::Kind::single);
    return {meaning(in, operand, seat)};
  }
  if (operand.kind != Kind::vector) refuse(in, {.kind = Refused::braces, .number = count}, seat, operand);
  seat.in_braces = true;
  note_group(in, OperandText::Kind::vector);
  std::vector<Meaning> found;
  found.reserve(operand.items.size());
  in.list->operands.back().items.reserve(operand.items.size());
  for (const syntax::Operand& item : operand.items) found.push_back(meaning(in, item, seat));
  const auto given = static_cast<int>(found.size());
  if (given != count) refuse(in, {.kind = Refused::count, .number = given, .wanted = count}, seat, operand);
  check(in, judge_vector(seat, in.list->seated()), seat, operand);
  return found;
}

std::vector<Meaning> list_data(Context& in, std::size_t index, int count) {
  in.list->argument = index;
  begin_list_operand(in, in.operand(index));
  return list_group(in, in.operand(index), list_seat(in), count, count > 1);
}

Place list_place(Context& in, const syntax::Operand& operand, Seat seat) {
  if (operand.kind != Kind::address || operand.items.size() != 1) refuse(in, {Refused::no_address}, seat, operand);
  syntax::Operand base = operand.items.front();
  if (base.kind == Kind::number) refuse(in, {Refused::address_number}, seat, base);
  if (base.kind != Kind::name || base.discards()) refuse(in, {Refused::address_base}, seat, base);
  const auto named = in.names.find(base.text);
  const bool is_variable = named && named->kind != Named::Kind::register_;
  if (is_variable) base.offset = operand.offset;
  seat.type = find_data_type("b32");
  seat.accepts = accepts_integers;
  seat.may_be_wider = !is_variable;
  seat.symbols = is_variable;
  note_group(in, OperandText::Kind::address);
  const Meaning found = meaning(in, base, seat);
  in.list->operands.back().offset = is_variable ? 0 : operand.offset;
  if (!is_variable) return {.base = found.value, .offset = operand.offset};
  return {address_of(in, operand.items.front(), *found.variable, RegisterClass::word), operand.offset, Space::shared};
}

Named undeclared(Context& in, const syntax::Operand& given, const Seat& seat) {
  if (in.list == nullptr || in.list->declares_registers) refuse(in, {Refused::undeclared}, seat, given);
  if (given.text.find('.') != std::string_view::npos)
    in.fail(given, fmt::format("'{}' is not supported: the only special register is %laneid", given.text));
  const bool widens = seat.may_be_wider && seat.type->type_class != DataType::Class::floating;
  const int bits = widens ? std::max(seat.type->bits, 32) : seat.type->bits;
  return define_list_register(in, given.location, std::string(given.text), bits == 1 ? *find_data_type("pred") : *find_untyped(bits));
}

void note(Context& in, const Meaning& found, const syntax::Operand& given, const Seat& seat) {
  Item item;
  item.words = seat.type->bits > 32 ? 2 : 1;
  switch (found.kind) {
    case Meaning::Kind::number:
      item.kind = Item::Kind::number;
      item.bits = *number_bits(given, *seat.type, of_lists);
      item.text = spelling_of(given);
      break;
    case Meaning::Kind::warp_size:  // an ordinary name in a list
    case Meaning::Kind::special: item.kind = Item::Kind::laneid; break;
    case Meaning::Kind::variable:
      item.kind = Item::Kind::variable;
      item.index = found.index;
      item.bits = static_cast<std::uint64_t>(given.offset);
      break;
    case Meaning::Kind::discard: item.kind = Item::Kind::discard; break;
    case Meaning::Kind::register_: {
      const NamedRegister& named = in.list->program.registers[static_cast<std::size_t>(found.index)];
      item = {Item::Kind::named, found.index, 0, {}, named.slot, named.type->bits > 32 ? 2 : 1, given.inverted};
      break;
    }
  }
  if (std::exchange(in.list->reads_guard, false))
    in.list->guard = std::move(item);
  else
    in.list->operands.back().items.push_back(std::move(item));
}

}  // namespace warpmat::code
