#include <algorithm>

#include <fmt/core.h>

#include <warpmat/execute/scalar_form.h>
#include <warpmat/ptx/catalogue/restrictions.h>
#include <warpmat/ptx/program/function_resolver.h>
#include <warpmat/ptx/program/list_draft.h>
#include <warpmat/ptx/program/list_refusal.h>
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

}  // namespace

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

// ---- Directives and declarations ----

void FunctionResolver::list_element(const syntax::Directive& directive) {
  if (directive.is_version())
    list_->program.version = {static_cast<int>(directive.numbers[0]), static_cast<int>(directive.numbers[1])};
  else if (list_->given_target == nullptr)
    list_->program.target = find_target(directive.value);
}

void FunctionResolver::list_element(const syntax::Label& label) {
  list_->label = label.name;
}

/// What precedes the fault in its statement may be wrong, too, and goes first.
void FunctionResolver::list_element(const syntax::Fault& fault) {
  list_->label.clear();
  begin_list_statement(fault.begun);
  if (!fault.message.empty()) warpmat::fail(fault.location, fault.message);
}

void FunctionResolver::list_element(const syntax::Variable& variable) {
  if (!variable.follows) list_->declares = true;
  if (!list_->declares) return;  // a variable before it in the declaration is wrong
  list_->declares = false;
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
  is_register ? define_list_registers(variable, *type) : define_list_variable(variable, *type);
  list_->declares = true;
}

void FunctionResolver::define_list_registers(const syntax::Variable& variable, const DataType& type) {
  const std::string name(variable.name);
  if (!variable.extents.empty() || variable.alignment != 0) warpmat::fail(variable.location, "a register has no elements and no alignment");
  const auto define = [&](std::string own) {
    require_new(variable.location, own);
    define_list_register(variable.location, std::move(own), type);
  };
  if (variable.registers == 0) return define(name);
  for (std::int64_t i = 0; i < variable.registers; ++i) define(fmt::format("{}{}", name, i));
}

/// Adds a register of a new name. It is words of the warp's register file: one of 64 bits has two, and a predicate has one.
Named FunctionResolver::define_list_register(Location location, std::string name, const DataType& type) {
  std::vector<NamedRegister>& registers = list_->program.registers;
  if (registers.size() >= most_registers) warpmat::fail(location, fmt::format("more than {} registers", most_registers));
  const RegisterClass register_class = register_class_of(type.bits);
  const bool is_word = register_class == RegisterClass::word;
  const Value value = names_.new_register(register_class, type.bits, &type);
  const auto new_word = [&] { return function_.words.emplace_back(names_.new_register(RegisterClass::word, 32)); };
  if (is_word) {
    function_.words.push_back(value);
  } else {
    Words& words = kept_in_words_[value];
    words.low = new_word();
    if (register_class == RegisterClass::wide) words.high = new_word();
  }
  const Named named{.value = value, .index = static_cast<int>(registers.size())};
  names_.declare(element_names_.emplace_back(name), named);
  registers.push_back({std::move(name), &type, list_->program.named_words});
  list_->program.named_words += type.bits > 32 ? 2 : 1;
  return named;
}

void FunctionResolver::require_new(Location location, const std::string& name) const {
  if (names_.find(name)) warpmat::fail(location, fmt::format("'{}' is already declared", name));
}

void FunctionResolver::define_list_variable(const syntax::Variable& declared, const DataType& type) {
  const std::int64_t alignment = declared.alignment, bytes = type.bits / 8;
  ProgramParts& program = list_->program;
  if (alignment < 0 || alignment > max_alignment || (alignment & (alignment - 1)) != 0)
    warpmat::fail(declared.location, fmt::format("an alignment is a power of two up to {}", max_alignment));
  if (declared.registers != 0) warpmat::fail(declared.location, "a shared variable has its elements in brackets");
  SharedVariable variable{std::string(declared.name), &type, 1, declared.extents, std::max(alignment, bytes), 0};
  require_new(declared.location, variable.name);
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
  names_.declare(declared.name, {.kind = Named::Kind::module, .index = static_cast<int>(program.variables.size())});
  program.variables.push_back(std::move(variable));
}

/// Labels, registers and variables share one name space. Undeclared registers are created after their labels.
void FunctionResolver::refuse_labels_of_names(std::vector<Diagnostic>& errors) const {
  for (const Statement& statement : list_->program.statements)
    if (!statement.label().empty() && names_.find(statement.label()))
      errors.push_back(
          diagnose(*draft_.program.module->text, statement.location(),
                   fmt::format("'{}' is a register or a variable already: a label needs a name of its own", statement.label())));
}

// ---- Statements ----

void FunctionResolver::list_element(const syntax::Statement& statement) {
  std::string label = std::exchange(list_->label, {});
  this->statement(statement);
  StatementParts parts{statement.location, *std::move(list_->instruction)};
  parts.label = std::move(label);
  parts.guard = std::move(list_->guard);
  parts.operands = std::move(list_->operands);
  list_->program.statements.push_back(ListInternals::statement(std::move(parts)));
}

/// What stands before the operands of a statement: guard and opcode.
void FunctionResolver::begin_list_statement(const syntax::Statement& statement) {
  statement_ = &statement;
  list_->instruction.reset();
  list_->guard.reset();
  list_->operands.clear();
  list_->argument = 0;
  list_->in_pair = list_->reads_guard = false;
  if (statement.guard) list_guard(*statement.guard);
  if (statement.opcode.empty()) return;
  if (list_->program.target == nullptr) fail("no target yet: begin the program with .target sm_90a, or name one: --target sm_90a");
  if (table_of(statement.opcode) == OpcodeTable::forms)
    list_->instruction = list_matrix_instruction();
  else
    list_->instruction = list_scalar_instruction();
}

void FunctionResolver::list_guard(const syntax::Guard& guard) {
  syntax::Operand predicate{Kind::name, guard.location};
  predicate.text = guard.predicate;
  predicate.inverted = guard.inverted;
  list_->reads_guard = true;
  guard_ = meaning(predicate, {.role = "the guard", .type = find_data_type("pred"), .accepts = accepts_predicates}).value;
}

Instruction FunctionResolver::list_matrix_instruction() const {
  const Form* const form = list_->form = find_form(statement_->opcode);
  const ProgramParts& program = list_->program;
  if (form == nullptr) fail(explain_unknown_form(statement_->opcode));
  if (statement_->guard) fail("a matrix instruction has no guard in a list of statements: all lanes of the warp take part");
  if (const auto reason = unavailable(*form, *program.target, program.version)) fail(*reason);
  return {*form, *program.target, program.version};
}

Instruction FunctionResolver::list_scalar_instruction() {
  const catalogue::Match* const match = draft_.find_match(statement_->opcode);
  if (match == nullptr) fail(catalogue::explain_unknown_row(statement_->opcode));
  if (const std::string reason = list_refusal(*match); !reason.empty()) fail(reason);
  const ProgramParts& program = list_->program;
  if (const auto reason = catalogue::refusal(*match, *program.target, program.version)) fail(*reason);
  return ScalarForm::instruction(*match, *program.target, program.version);
}

void FunctionResolver::check_list_count() const {
  std::size_t fewest = 0, most = 0;
  for (const InstructionOperand& operand : list_->instruction->operands()) {
    if (operand.is_paired() || operand.kind() == InstructionOperand::Kind::carry) continue;
    ++most;
    if (!operand.is_optional()) ++fewest;
  }
  const std::size_t given = statement_->operands.size();
  if (given >= fewest && given <= most) return;
  if (const auto match = catalogue::find_row(statement_->opcode, given); match && given <= match->pattern->most_operands)
    if (const auto reason = catalogue::refusal(*match, *list_->program.target, list_->program.version)) fail(*reason);
  const std::string taken = fewest == most ? std::to_string(most) : fmt::format("{} {} {}", fewest, fewest + 1 == most ? "or" : "to", most);
  warpmat::fail(given < fewest ? statement_->end : statement_->operands[most].location,
                fmt::format("{} takes {} operand{} here, {} {} given", mnemonic_of(statement_->opcode), taken, most == 1 ? "" : "s", given,
                            given == 1 ? "is" : "are"));
}

// ---- Operands ----

/// The seat of the scalar instruction's current operand.
Seat FunctionResolver::list_seat() const {
  const InstructionOperand& operand = list_->instruction->operands()[list_->argument];
  // A type that .reg cannot declare is checked as untyped bits of the same size.
  const DataType* const type = operand.type();
  return {.role = operand.is_written() ? "the result" : "a source",
          .instruction = mnemonic_of(statement_->opcode),
          .type = is_fundamental(*type) ? type : find_untyped(type->bits),
          .accepts = operand.accepts(),
          .written = operand.is_written(),
          .may_be_wider = operand.may_be_wider(),
          .symbols = !operand.is_written() && takes_addresses(),
          .in_pair = list_->in_pair};
}

/// Begins the current operand, which may be two in a pair.
void FunctionResolver::begin_list_operand(const syntax::Operand& given) {
  const std::span<const InstructionOperand> operands = list_->instruction->operands();
  const std::size_t next = list_->argument + 1;
  const bool has_second = next < operands.size() && operands[next].is_paired();
  list_->in_pair = given.kind == Kind::pair;
  if (list_->in_pair && !has_second) fail(given, fmt::format("{} has no second result here", mnemonic_of(statement_->opcode)));
  if (!list_->in_pair && has_second && !operands[next].is_optional())
    fail(given, fmt::format("{} writes two results, with | between them", mnemonic_of(statement_->opcode)));
  if (list_->in_pair) note_group(OperandText::Kind::pair);
}

void FunctionResolver::note_group(OperandText::Kind kind) {
  if (list_ != nullptr) list_->operands.push_back({kind, {}, 0});
}

std::vector<FunctionResolver::Meaning> FunctionResolver::list_group(const syntax::Operand& operand, Seat seat, int count, bool in_braces) {
  if (!in_braces) {
    note_group(OperandText::Kind::single);
    return {meaning(operand, seat)};
  }
  if (operand.kind != Kind::vector) refuse({.kind = Refused::braces, .number = count}, seat, operand);
  seat.in_braces = true;
  note_group(OperandText::Kind::vector);
  std::vector<Meaning> found;
  found.reserve(operand.items.size());
  list_->operands.back().items.reserve(operand.items.size());
  for (const syntax::Operand& item : operand.items) found.push_back(meaning(item, seat));
  const auto given = static_cast<int>(found.size());
  if (given != count) refuse({.kind = Refused::count, .number = given, .wanted = count}, seat, operand);
  check(judge_vector(seat, list_->seated()), seat, operand);
  return found;
}

/// The registers of a load or a store.
std::vector<FunctionResolver::Meaning> FunctionResolver::list_data(std::size_t index, int count) {
  list_->argument = index;
  begin_list_operand(operand(index));
  return list_group(operand(index), list_seat(), count, count > 1);
}

/// [register+offset] or [variable+offset].
FunctionResolver::Place FunctionResolver::list_place(const syntax::Operand& operand, Seat seat) {
  if (operand.kind != Kind::address || operand.items.size() != 1) refuse({Refused::no_address}, seat, operand);
  syntax::Operand base = operand.items.front();
  if (base.kind == Kind::number) refuse({Refused::address_number}, seat, base);
  if (base.kind != Kind::name || base.discards()) refuse({Refused::address_base}, seat, base);
  const auto named = names_.find(base.text);
  const bool is_variable = named && named->kind != Named::Kind::register_;
  if (is_variable) base.offset = operand.offset;
  seat.type = find_data_type("b32");
  seat.accepts = accepts_integers;
  seat.may_be_wider = !is_variable;
  seat.symbols = is_variable;
  note_group(OperandText::Kind::address);
  const Meaning found = meaning(base, seat);
  list_->operands.back().offset = is_variable ? 0 : operand.offset;
  if (!is_variable) return {.base = found.value, .offset = operand.offset};
  return {address_of(operand.items.front(), *found.variable, RegisterClass::word), operand.offset, Space::shared};
}

/// A register of a list without declarations comes into being where it is first named, as wide as there.
Named FunctionResolver::undeclared(const syntax::Operand& given, const Seat& seat) {
  if (list_ == nullptr || list_->declares_registers) refuse({Refused::undeclared}, seat, given);
  if (given.text.find('.') != std::string_view::npos)
    fail(given, fmt::format("'{}' is not supported: the only special register is %laneid", given.text));
  const bool widens = seat.may_be_wider && seat.type->type_class != DataType::Class::floating;
  const int bits = widens ? std::max(seat.type->bits, 32) : seat.type->bits;
  return define_list_register(given.location, std::string(given.text), bits == 1 ? *find_data_type("pred") : *find_untyped(bits));
}

/// Keeps the item for the list's users.
void FunctionResolver::note(const Meaning& found, const syntax::Operand& given, const Seat& seat) {
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
      const NamedRegister& named = list_->program.registers[static_cast<std::size_t>(found.index)];
      item = {Item::Kind::named, found.index, 0, {}, named.slot, named.type->bits > 32 ? 2 : 1, given.inverted};
      break;
    }
  }
  if (std::exchange(list_->reads_guard, false))
    list_->guard = std::move(item);
  else
    list_->operands.back().items.push_back(std::move(item));
}

}  // namespace warpmat::code
