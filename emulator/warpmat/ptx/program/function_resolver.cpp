#include <warpmat/ptx/program/function_resolver.h>

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include <warpmat/numeric/persistent.h>
#include <warpmat/ptx/catalogue/restrictions.h>
#include <warpmat/ptx/program/list_draft.h>
#include <warpmat/ptx/text/number.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Qualifier;
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
  return place->second ? &*place->second : nullptr;
}

const Match* ProgramDraft::find_longer(const Match& match, std::size_t operands) {
  const auto known = longer_matches.find(&match);
  if (known != longer_matches.end() && known->second.pattern->most_operands >= operands) return &known->second;
  const std::optional<Match> longer = catalogue::find_row(match.opcode, operands);
  if (longer->pattern->most_operands < operands) return &match;
  return &longer_matches.try_emplace(&match, *longer).first->second;
}

std::uint32_t ProgramDraft::add_statement(const syntax::Statement& statement) {
  program.statements.push_back(&statement);
  program.names.push_back(catalogue::Name::other);
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
                         fmt::format("what ptxas makes of it needs {}, which is not in the catalogue", opcode)};
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

FunctionResolver::FunctionResolver(ProgramDraft& draft, int function)
    : draft_(draft),
      index_(function),
      function_(std::move(draft.functions[static_cast<std::size_t>(function)])),
      source_(*function_.source),
      names_(function_) {
  draft_.functions[static_cast<std::size_t>(function)].source = &source_;  // other functions still look it up while this one is resolved
  draft_.functions[static_cast<std::size_t>(function)].return_offsets = function_.return_offsets;
  draft_.functions[static_cast<std::size_t>(function)].return_bytes = function_.return_bytes;
  draft_.functions[static_cast<std::size_t>(function)].parameter_offsets = function_.parameter_offsets;
  draft_.functions[static_cast<std::size_t>(function)].parameter_bytes = function_.parameter_bytes;
}

void FunctionResolver::resolve_list(ListDraft& list, std::vector<Diagnostic>& errors) {
  list_ = &list;
  resolve(errors);
  refuse_labels_of_names(errors);
}

void FunctionResolver::resolve(std::vector<Diagnostic>& errors) {
  constexpr std::size_t max_errors = 100;
  const std::string& text = *draft_.program.module->text;
  const auto attempt = [&](auto&& action) {
    try {
      action();
    } catch (const StatementError& error) {
      if (list_ != nullptr || errors.size() < max_errors) errors.push_back(diagnose(text, error.location, error.message));
    }
  };
  attempt([&] { declare_parameters(); });
  attempt([&] { open_stack(); });
  collect_labels();
  function_.operations.reserve(source_.body.size());  // most elements are statements of one operation
  for (const syntax::Element& e : source_.body) attempt([&] { element(e); });
  // A body whose last statement is not an exit returns; the lanes of a .func converge at its only return.
  guarded_ = false;
  function_.labels[static_cast<std::size_t>(end_label_)] = static_cast<int>(function_.operations.size());
  if (draft_.program.statements.empty()) draft_.add_statement(only_return());
  simple(source_.entry ? Semantics::exit : Semantics::return_);
  function_.operations.back().operation.prepares = true;  // a `ret` before it is an operation of its own
  wait_for_read_accumulators();
  keep_accumulators();
  draft_.functions[static_cast<std::size_t>(index_)] = std::move(function_);
}

void FunctionResolver::declare_parameters() {
  if (source_.entry) {
    for (const Parameter& parameter : draft_.program.parameters)
      names_.declare(parameter.name, {.kind = Named::Kind::parameter, .offset = parameter.offset, .bytes = parameter.bytes});
    return;
  }
  const auto declare_all = [&](const std::vector<syntax::Variable>& variables, const std::vector<std::int32_t>& offsets,
                               std::vector<Value>& registers) {
    for (std::size_t i = 0; i < variables.size(); ++i) {
      const syntax::Variable& variable = variables[i];
      if (!variable.space) {
        names_.declare_registers(variable);
        registers.push_back(names_.find(variable.name)->value);
      } else {
        names_.declare(variable.name, {.kind = Named::Kind::local,
                                       .offset = static_cast<std::uint32_t>(offsets[i]),
                                       .bytes = static_cast<std::uint32_t>(size_of(variable)),
                                       .parameter = true});
        registers.push_back(~Value{0});  // none
      }
    }
  };
  declare_all(source_.returns, function_.return_offsets, function_.return_registers);
  declare_all(source_.parameters, function_.parameter_offsets, function_.parameter_registers);
}

int FunctionResolver::open_scope(int parent) {
  scope_parents_.push_back(parent);
  return static_cast<int>(scope_parents_.size() - 1);
}

/// Labels and lists of targets may be used before their definition.
void FunctionResolver::collect_labels() {
  int scope = open_scope(-1);
  for (const syntax::Element& e : source_.body) {
    if (std::holds_alternative<syntax::ScopeBegin>(e)) scope = open_scope(scope);
    if (std::holds_alternative<syntax::ScopeEnd>(e)) scope = scope_parents_[static_cast<std::size_t>(scope)];
    if (const auto* label = std::get_if<syntax::Label>(&e); label != nullptr && list_ == nullptr) {  // those of lists name statements
      labels_.try_emplace({scope, label->name}, static_cast<int>(function_.labels.size()));
      function_.labels.push_back(0);
    }
    if (const auto* list = std::get_if<syntax::TargetList>(&e)) target_lists_[list->name] = list;
    if (const auto* prototype = std::get_if<syntax::Prototype>(&e)) prototypes_[prototype->name] = prototype;
  }
  scope_ = 0;
  scopes_seen_ = 0;
  end_label_ = static_cast<int>(function_.labels.size());
  function_.labels.push_back(0);
}

void FunctionResolver::element(const syntax::Element& element) {
  if (list_ != nullptr) return std::visit([&](const auto& e) { list_element(e); }, element);
  if (const auto* s = std::get_if<syntax::Statement>(&element)) return statement(*s);
  if (const auto* variable = std::get_if<syntax::Variable>(&element)) return declare(*variable);
  if (const auto* label = std::get_if<syntax::Label>(&element)) {
    function_.labels[static_cast<std::size_t>(labels_.at({scope_, label->name}))] = static_cast<int>(function_.operations.size());
  } else if (std::holds_alternative<syntax::ScopeBegin>(element)) {
    scope_ = ++scopes_seen_;
    names_.begin_scope();
  } else if (std::holds_alternative<syntax::ScopeEnd>(element)) {
    scope_ = scope_parents_[static_cast<std::size_t>(scope_)];
    names_.end_scope();
  }
}

std::int32_t FunctionResolver::new_local(std::int64_t bytes, std::int64_t alignment) {
  return place_local(function_.local_bytes, bytes, alignment, source_);
}

void FunctionResolver::declare(const syntax::Variable& variable) {
  if (!variable.space) return names_.declare_registers(variable);
  switch (*variable.space) {
    case Space::shared: return names_.declare(variable.name, {.kind = Named::Kind::shared, .index = draft_.symbols.add_shared(variable)});
    case Space::local:
    case Space::param: {
      const std::int64_t bytes = size_of(variable);
      const std::int32_t offset = new_local(bytes, alignment_of(variable));
      function_.locals.push_back({variable.name, static_cast<std::uint32_t>(offset)});
      return names_.declare(variable.name, {.kind = Named::Kind::local,
                                            .offset = static_cast<std::uint32_t>(offset),
                                            .bytes = static_cast<std::uint32_t>(bytes),
                                            .parameter = variable.space == Space::param});
    }
    case Space::generic:  // no directive
    case Space::global:
    case Space::constant:
      return names_.declare(variable.name, {.kind = Named::Kind::module, .index = draft_.symbols.index_in_body(variable)});
  }
}

void FunctionResolver::statement(const syntax::Statement& statement) {
  statement_ = &statement;
  statement_index_ = draft_.add_statement(statement);
  match_ = nullptr;
  extensions_.clear();
  guarded_ = statement.guard.has_value();
  if (list_ != nullptr) {
    begin_list_statement(statement);
    check_list_count();
  } else if (guarded_) {
    const auto named = names_.find(statement.guard->predicate);
    if (!named || named->kind != Named::Kind::register_ || class_of(named->value) != RegisterClass::predicate)
      fail(fmt::format("the guard '{}' is not a predicate register", statement.guard->predicate));
    guard_ = named->value;
  }
  if (guarded_) guard_inverted_ = statement.guard->inverted;
  if (statement.opcode.starts_with('%')) fail(fmt::format("expected an instruction, found '{}'", mnemonic_of(statement.opcode)));
  switch (table_of(statement.opcode)) {
    case OpcodeTable::forms: return matrix();
    case OpcodeTable::wgmma: return wgmma();
    case OpcodeTable::rows: break;
  }
  expand_vectors();
  const Match* match = draft_.find_match(statement.opcode);
  if (match == nullptr) fail(catalogue::explain_unknown_row(statement.opcode));
  const std::size_t given = statement_->operands.size();
  if (catalogue::computes(match->pattern->row.semantics) && given > match->pattern->most_operands)
    match = draft_.find_longer(*match, given);
  if (list_ == nullptr && !draft_.accepted.contains(match)) {
    if (const auto reason = catalogue::refusal(*match, *draft_.program.target, draft_.program.module->version)) fail(*reason);
    draft_.accepted.insert(match);
  }
  draft_.statement_matches.back() = match_ = match;
  draft_.program.names.back() = match->name();
  by_semantics(*match);
}

/// A vector register stands for its elements in braces: v for {v.x, v.y}.
void FunctionResolver::expand_vectors() {
  if (!names_.has_vectors()) return;
  const auto elements_of = [&](const syntax::Operand& operand) {
    const auto named = operand.kind == syntax::Operand::Kind::name ? names_.find(operand.text) : std::nullopt;
    return named && named->kind == Named::Kind::register_ ? named->vector : 1;
  };
  if (std::ranges::all_of(statement_->operands, [&](const syntax::Operand& o) { return elements_of(o) == 1; })) return;
  syntax::Statement& expanded = expanded_.emplace_back(*statement_);
  for (syntax::Operand& operand : expanded.operands) {
    const int count = elements_of(operand);
    if (count == 1) continue;
    syntax::Operand vector{syntax::Operand::Kind::vector, operand.location};
    vector.text = operand.text;
    for (int i = 0; i < count; ++i) {
      syntax::Operand& item = vector.items.emplace_back(operand);
      item.text = element_names_.emplace_back(fmt::format("{}.{}", operand.text, "xyzw"[i]));
    }
    operand = std::move(vector);
  }
  statement_ = &expanded;
}

void FunctionResolver::by_semantics(const Match& match) {
  const Semantics semantics = match.pattern->row.semantics;
  switch (semantics) {
    case Semantics::compute:
    case Semantics::select: return compute(match);
    case Semantics::move_vector: return move_vector(match);
    case Semantics::load: return load(match);
    case Semantics::store: return store(match);
    case Semantics::atomic: return atomic(match);
    case Semantics::multimem: return multimem(match);
    case Semantics::cp_async: return cp_async(match);
    case Semantics::cp_async_wait: return wait_group(match);
    case Semantics::wgmma_wait: return wgmma_wait();
    case Semantics::max_registers: return max_registers(match);
    case Semantics::branch: return branch();
    case Semantics::branch_table: return branch_table();
    case Semantics::call: return call();
    case Semantics::barrier: return barrier(match);
    case Semantics::exchange: return exchange(match);
    case Semantics::address_space: return address_space(match);
    case Semantics::return_: return leave();
    case Semantics::exit:
    case Semantics::trap:
    case Semantics::cp_async_commit:
    case Semantics::wgmma_fence:
    case Semantics::wgmma_commit:
    case Semantics::bulk_commit:
    case Semantics::proxy_fence: no_operands(); return simple(semantics);
    case Semantics::nothing: return hint(match);
    case Semantics::absent: return absent(match);
    case Semantics::stack: return stack(match);
    case Semantics::warp_barrier:
    case Semantics::active_mask:
    case Semantics::elect:
    case Semantics::fence:
    case Semantics::sleep: {
      DraftOperation operation;
      operation.operation.semantics = semantics;
      if (semantics == Semantics::fence)
        operation.operation.payload = draft_.program.add(
            Fence{match.has(Qualifier::gpu) || match.has(Qualifier::sys) || match.has(Qualifier::gl) || match.has(Qualifier::cluster)});
      read_operands(match, operation);
      return add(std::move(operation));
    }
    case Semantics::mbarrier: return mbarrier(match);
    case Semantics::bulk_copy: return bulk_copy(match);
    case Semantics::bulk_wait: return bulk_wait(match);
    case Semantics::cluster_barrier: return cluster_barrier(match);
    case Semantics::cluster_rank: return cluster_rank(match);
    case Semantics::tensor_map: return tensor_map(match);
    case Semantics::tensor_memory: return tensor_memory(match);
    case Semantics::texture: return texture(match);
    case Semantics::special:
    case Semantics::wgmma:
    case Semantics::matrix: break;
  }
  fail(fmt::format("'{}' is not executed", statement_->opcode));
}

void FunctionResolver::prepare(DraftOperation operation) {
  operation.operation.statement = statement_index_;
  operation.operation.prepares = true;
  function_.operations.push_back(std::move(operation));
}

void FunctionResolver::add(DraftOperation operation) {
  const auto append = [&](DraftOperation o) {
    o.operation.statement = statement_index_;
    o.operation.guarded = guarded_;
    o.operation.guard_inverted = guard_inverted_;
    o.guard = guard_;
    function_.operations.push_back(std::move(o));
  };
  append(std::move(operation));
  for (const Extension& extension : extensions_) {
    DraftOperation widening = row(extension.opcode, {extension.to}, {extension.from});
    widening.operation.prepares = true;
    append(std::move(widening));
  }
  extensions_.clear();
}

DraftOperation FunctionResolver::row(std::string_view opcode, std::vector<Value> results, std::vector<Value> sources) {
  const Match* match = draft_.find_match(opcode);
  if (match == nullptr) fail(fmt::format("'{}' would need {}, which is not in the catalogue", statement_->opcode, opcode));
  DraftOperation operation;
  draft_.set_function(*match, operation);
  operation.results = std::move(results);
  operation.sources = std::move(sources);
  return operation;
}

void FunctionResolver::fail(const std::string& message) const {
  throw StatementError{statement_->location, message};
}

void FunctionResolver::fail(const syntax::Operand& operand, const std::string& message) const {
  throw StatementError{operand.location, message};
}

}  // namespace warpmat::code
