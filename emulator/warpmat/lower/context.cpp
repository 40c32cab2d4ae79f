#include <warpmat/lower/context.h>

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include <warpmat/lower/list_statements.h>
#include <warpmat/lower/makers.h>
#include <warpmat/numeric/persistent.h>
#include <warpmat/ptx/catalogue/restrictions.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Semantics;

namespace {

/// The statement of an entry without statements.
const syntax::Statement& only_return() {
  static constinit Persistent<syntax::Statement> statement;
  return statement.get([] { return syntax::Statement{.opcode = "ret"}; });
}

}  // namespace

const Match* ProgramDraft::find_match(std::string_view opcode) {
  const auto found = matches.find(opcode);
  if (found != matches.end()) return found->second ? &*found->second : nullptr;
  const auto [place, added] = matches.try_emplace(std::string(opcode));
  place->second = catalogue::find_row(place->first);
  return place->second ? keep_spelling(*place->second) : nullptr;
}

const Match* ProgramDraft::find_longer(const Match& match, std::size_t operands) {
  const auto known = longer_matches.find(&match);
  if (known != longer_matches.end() && known->second.pattern->most_operands >= operands) return &known->second;
  const std::optional<Match> longer = catalogue::find_row(match.opcode, operands);
  if (longer->pattern->most_operands < operands) return &match;
  return keep_spelling(longer_matches.try_emplace(&match, *longer).first->second);
}

const Match* ProgramDraft::keep_spelling(Match& match) {
  match.number = static_cast<std::uint32_t>(program.spellings.size());
  program.spellings.push_back(match.spelling);
  return &match;
}

std::uint32_t ProgramDraft::add_statement(const syntax::Statement& statement) {
  program.statements.push_back(&statement);
  program.spelled.push_back(0);
  statement_matches.push_back(nullptr);
  return static_cast<std::uint32_t>(program.statements.size() - 1);
}

const std::optional<Arithmetic>& ProgramDraft::arithmetic_of(const Match& match) {
  const auto [place, added] = known_arithmetic.try_emplace(&match);
  if (added) place->second = code::arithmetic_of(match);
  return place->second;
}

void ProgramDraft::set_function(const Match& match, Operation& operation) {
  operation.function = match.pattern->row.function;
  if (match.pattern->row.kernel.empty()) return;
  const auto [place, added] = kernels.try_emplace(&match);
  if (added) {
    const catalogue::Executable executable = catalogue::executable(match);
    place->second = {executable.function, program.add(executable.modifiers)};
  }
  operation.kernel = place->second.first;
  operation.payload = place->second.second;
}

void ProgramDraft::set_function(const Match& match, DraftOperation& draft) {
  set_function(match, draft.operation);
  draft.match = &match;
}

DraftOperation ProgramDraft::make(std::string_view opcode, std::vector<Value> results, std::vector<Value> sources,
                                  const DraftOperation& like) {
  const Match* match = find_match(opcode);
  if (match == nullptr)
    throw StatementError{program.statements[like.operation.statement]->location,
                         fmt::format("it needs {}, which is not in the catalogue", opcode)};
  DraftOperation made;
  set_function(*match, made);
  made.operation.statement = like.operation.statement;
  made.results = std::move(results);
  made.sources = std::move(sources);
  return made;
}

int ProgramDraft::function_index(const syntax::Function& function) {
  for (std::size_t i = 0; i < functions.size(); ++i)
    if (functions[i].source == &function) return static_cast<int>(i);
  DraftFunction draft;
  draft.source = &function;
  // Results and parameters of a .func are in its local memory; .reg ones are declared with its registers.
  const auto place = [&](const syntax::Variable& variable, std::vector<std::int32_t>& offsets, std::vector<std::int32_t>& bytes) {
    const bool in_register = !variable.space;
    const std::int64_t size = in_register ? 0 : size_of(variable);
    offsets.push_back(in_register ? -1 : place_local(draft.local_bytes, size, alignment_of(variable), function));
    bytes.push_back(static_cast<std::int32_t>(size));
    if (!in_register) draft.locals.push_back({variable.name, static_cast<std::uint32_t>(offsets.back())});
  };
  if (!function.entry) {
    for (const syntax::Variable& variable : function.returns) place(variable, draft.return_offsets, draft.return_bytes);
    for (const syntax::Variable& variable : function.parameters) place(variable, draft.parameter_offsets, draft.parameter_bytes);
  }
  functions.push_back(std::move(draft));
  return static_cast<int>(functions.size() - 1);
}

Context::Context(ProgramDraft& all, int number)
    : draft(all),
      index(number),
      function(std::move(all.functions[static_cast<std::size_t>(number)])),
      source(*function.source),
      names(function) {
  DraftFunction& known = all.functions[static_cast<std::size_t>(number)];  // where other functions look it up meanwhile
  known.source = &source;
  known.return_offsets = function.return_offsets;
  known.return_bytes = function.return_bytes;
  known.parameter_offsets = function.parameter_offsets;
  known.parameter_bytes = function.parameter_bytes;
}

const syntax::Operand& Context::operand(std::size_t number) const {
  if (number >= operands().size()) fail(fmt::format("{} needs more than {} operands", opcode(), operands().size()));
  return operands()[number];
}

void Context::must_end_at(std::size_t count, std::string_view here) const {
  if (operands().size() > count)
    fail(operands()[count], fmt::format("{} takes {} operands{}", opcode(), count == 0 ? "no" : std::to_string(count), here));
}

std::optional<std::string> Context::unmet(const Requirement& requirement) const {
  return warpmat::unmet(requirement, *draft.program.target, draft.program.module->version);
}

int Context::bits_of(Value value) const {
  if (!is_constant(value)) return function.registers[static_cast<std::size_t>(value)].bits;
  const RegisterClass c = draft.constants[value].register_class;
  return c == RegisterClass::predicate ? 1 : c == RegisterClass::word ? 32 : c == RegisterClass::wide ? 64 : 128;
}

RegisterClass Context::class_of(Value value) const {
  return is_constant(value) ? draft.constants[value].register_class : function.registers[static_cast<std::size_t>(value)].register_class;
}

std::int32_t Context::new_local(std::int64_t bytes, std::int64_t alignment) {
  return place_local(function.local_bytes, bytes, alignment, source);
}

void Context::prepare(DraftOperation operation) {
  operation.operation.statement = current.index;
  operation.operation.prepares = true;
  function.operations.push_back(std::move(operation));
}

void Context::add(DraftOperation operation) {
  const auto append = [&](DraftOperation o) {
    o.operation.statement = current.index;
    o.operation.guarded = current.guarded;
    o.operation.guard_inverted = current.guard_inverted;
    o.guard = current.guard;
    function.operations.push_back(std::move(o));
  };
  append(std::move(operation));
  for (const CurrentStatement::Extension& extension : current.extensions) {
    DraftOperation widening = row(extension.opcode, {extension.to}, {extension.from});
    widening.operation.prepares = true;
    append(std::move(widening));
  }
  current.extensions.clear();
}

void Context::add(DraftOperation operation, Payload payload) {
  operation.operation.payload = draft.program.add(std::move(payload));
  add(std::move(operation));
}

Value Context::computed(RegisterClass register_class, std::string_view opcode, std::vector<Value> sources) {
  const Value value = temporary(register_class);
  prepare(row(opcode, {value}, std::move(sources)));
  return value;
}

Value Context::wide(Value value) {
  return class_of(value) == RegisterClass::wide ? value : computed(RegisterClass::wide, "%extend.u32.b64", {value});
}

DraftOperation Context::row(std::string_view opcode, std::vector<Value> results, std::vector<Value> sources) {
  return draft.make(opcode, std::move(results), std::move(sources), {.operation = {.statement = current.index}});
}

void Context::fail(const std::string& message) const {
  throw StatementError{current.text->location, message};
}

void Context::fail(const syntax::Operand& operand, const std::string& message) const {
  throw StatementError{operand.location, message};
}

namespace {

void declare_parameters(Context& in) {
  if (in.source.entry) {
    for (const Parameter& parameter : in.draft.program.parameters)
      in.names.declare(parameter.name, {.kind = Named::Kind::parameter, .offset = parameter.offset, .bytes = parameter.bytes});
    return;
  }
  const auto declare_all = [&](const std::vector<syntax::Variable>& variables, const std::vector<std::int32_t>& offsets,
                               std::vector<Value>& registers) {
    for (std::size_t i = 0; i < variables.size(); ++i) {
      const syntax::Variable& variable = variables[i];
      if (!variable.space) {
        in.names.declare_registers(variable);
        registers.push_back(in.names.find(variable.name)->value);
      } else {
        in.names.declare(variable.name, {.kind = Named::Kind::local,
                                         .offset = static_cast<std::uint32_t>(offsets[i]),
                                         .bytes = static_cast<std::uint32_t>(size_of(variable)),
                                         .parameter = true});
        registers.push_back(~Value{0});  // none
      }
    }
  };
  declare_all(in.source.returns, in.function.return_offsets, in.function.return_registers);
  declare_all(in.source.parameters, in.function.parameter_offsets, in.function.parameter_registers);
}

int open_scope(Context& in, int parent) {
  in.scope_parents.push_back(parent);
  return static_cast<int>(in.scope_parents.size() - 1);
}

/// Labels and lists of targets may be used before their definition.
void collect_labels(Context& in) {
  int scope = open_scope(in, -1);
  for (const syntax::Element& e : in.source.body) {
    if (std::holds_alternative<syntax::ScopeBegin>(e)) scope = open_scope(in, scope);
    if (std::holds_alternative<syntax::ScopeEnd>(e)) scope = in.scope_parents[static_cast<std::size_t>(scope)];
    if (const auto* label = std::get_if<syntax::Label>(&e); label != nullptr && in.list == nullptr) {  // those of lists name statements
      in.labels.try_emplace({scope, label->name}, static_cast<int>(in.function.labels.size()));
      in.function.labels.push_back(0);
    }
    if (const auto* list = std::get_if<syntax::TargetList>(&e)) in.target_lists[list->name] = list;
    if (const auto* prototype = std::get_if<syntax::Prototype>(&e)) in.prototypes[prototype->name] = prototype;
  }
  in.scope = 0;
  in.scopes_seen = 0;
  in.end_label = static_cast<int>(in.function.labels.size());
  in.function.labels.push_back(0);
}

void declare(Context& in, const syntax::Variable& variable) {
  if (!variable.space) return in.names.declare_registers(variable);
  switch (*variable.space) {
    case Space::shared:
      return in.names.declare(variable.name, {.kind = Named::Kind::shared, .index = in.draft.symbols.add_shared(variable)});
    case Space::local:
    case Space::param: {
      const std::int64_t bytes = size_of(variable);
      const std::int32_t offset = in.new_local(bytes, alignment_of(variable));
      in.function.locals.push_back({variable.name, static_cast<std::uint32_t>(offset)});
      return in.names.declare(variable.name, {.kind = Named::Kind::local,
                                              .offset = static_cast<std::uint32_t>(offset),
                                              .bytes = static_cast<std::uint32_t>(bytes),
                                              .parameter = variable.space == Space::param});
    }
    case Space::generic:  // no directive
    case Space::global:
    case Space::constant:
      return in.names.declare(variable.name, {.kind = Named::Kind::module, .index = in.draft.symbols.index_in_body(variable)});
  }
}

/// A vector register stands for its elements in braces: v for {v.x, v.y}.
void expand_vectors(Context& in) {
  if (!in.names.has_vectors()) return;
  const auto elements_of = [&](const syntax::Operand& operand) {
    const auto named = operand.kind == syntax::Operand::Kind::name ? in.names.find(operand.text) : std::nullopt;
    return named && named->kind == Named::Kind::register_ ? named->vector : 1;
  };
  if (std::ranges::all_of(in.operands(), [&](const syntax::Operand& o) { return elements_of(o) == 1; })) return;
  syntax::Statement& expanded = in.expanded.emplace_back(*in.current.text);
  for (syntax::Operand& operand : expanded.operands) {
    const int count = elements_of(operand);
    if (count == 1) continue;
    syntax::Operand vector{syntax::Operand::Kind::vector, operand.location};
    vector.text = operand.text;
    for (int i = 0; i < count; ++i) {
      syntax::Operand& item = vector.items.emplace_back(operand);
      item.text = in.element_names.emplace_back(fmt::format("{}.{}", operand.text, "xyzw"[i]));
    }
    operand = std::move(vector);
  }
  in.current.text = &expanded;
}

}  // namespace

void statement(Context& in, const syntax::Statement& statement) {
  in.current = {.text = &statement, .index = in.draft.add_statement(statement), .guarded = statement.guard.has_value()};
  if (in.list != nullptr) begin_list_statement(in, statement);
  if (in.current.guarded) {
    const auto named = in.names.find(statement.guard->predicate);
    if (!named || named->kind != Named::Kind::register_ || in.class_of(named->value) != RegisterClass::predicate)
      in.fail(fmt::format("the guard '{}' is not a predicate register", statement.guard->predicate));
    in.current.guard = named->value;
  }
  if (in.current.guarded) in.current.guard_inverted = statement.guard->inverted;
  if (statement.opcode.starts_with('%')) in.fail(fmt::format("expected an instruction, found '{}'", mnemonic_of(statement.opcode)));
  switch (table_of(statement.opcode)) {
    case OpcodeTable::forms: return matrix(in);
    case OpcodeTable::wgmma: return wgmma(in);
    case OpcodeTable::rows: break;
  }
  expand_vectors(in);
  const Match* match = in.draft.find_match(statement.opcode);
  if (match == nullptr) in.fail(catalogue::explain_unknown_row(statement.opcode));
  const std::size_t given = in.operands().size();
  if (catalogue::computes(match->pattern->row.semantics) && given > match->pattern->most_operands)
    match = in.draft.find_longer(*match, given);
  if (in.list == nullptr && !in.draft.accepted.contains(match)) {
    if (const auto reason = catalogue::refusal(*match, *in.draft.program.target, in.draft.program.module->version)) in.fail(*reason);
    in.draft.accepted.insert(match);
  }
  in.draft.statement_matches.back() = in.current.match = match;
  in.draft.program.spelled.back() = match->number;
  lower::makers[static_cast<std::size_t>(match->pattern->row.semantics)](in, *match);
}

namespace {

void element(Context& in, const syntax::Element& element) {
  if (in.list != nullptr) return list_element(in, element);
  if (const auto* s = std::get_if<syntax::Statement>(&element)) return statement(in, *s);
  if (const auto* variable = std::get_if<syntax::Variable>(&element)) return declare(in, *variable);
  if (const auto* label = std::get_if<syntax::Label>(&element)) {
    in.function.labels[static_cast<std::size_t>(in.labels.at({in.scope, label->name}))] = static_cast<int>(in.function.operations.size());
  } else if (std::holds_alternative<syntax::ScopeBegin>(element)) {
    in.scope = ++in.scopes_seen;
    in.names.begin_scope();
  } else if (std::holds_alternative<syntax::ScopeEnd>(element)) {
    in.scope = in.scope_parents[static_cast<std::size_t>(in.scope)];
    in.names.end_scope();
  }
}

void resolve(Context& in, std::vector<Diagnostic>& errors) {
  constexpr std::size_t max_errors = 100;
  const std::string& text = *in.draft.program.module->text;
  const auto attempt = [&](auto&& action) {
    try {
      action();
    } catch (const StatementError& error) {
      if (in.list != nullptr || errors.size() < max_errors) errors.push_back(diagnose(text, error.location, error.message));
    }
  };
  attempt([&] { declare_parameters(in); });
  attempt([&] { open_stack(in); });
  collect_labels(in);
  in.function.operations.reserve(in.source.body.size());  // most elements are statements of one operation
  for (const syntax::Element& e : in.source.body) attempt([&] { element(in, e); });
  // A body whose last statement is not an exit returns; the lanes of a .func converge at its only return.
  in.current.guarded = false;
  in.function.labels[static_cast<std::size_t>(in.end_label)] = static_cast<int>(in.function.operations.size());
  if (in.draft.program.statements.empty()) in.draft.add_statement(only_return());
  add_end(in);
  wait_for_accumulators(in);
  in.draft.functions[static_cast<std::size_t>(in.index)] = std::move(in.function);
}

}  // namespace

void resolve_function(ProgramDraft& draft, int function, std::vector<Diagnostic>& errors) {
  Context in(draft, function);
  resolve(in, errors);
}

void resolve_function(ProgramDraft& draft, ListDraft& list, std::vector<Diagnostic>& errors) {
  Context in(draft, 0);
  in.list = &list;
  resolve(in, errors);
  refuse_labels_of_names(in, errors);
}

}  // namespace warpmat::code
