#include <algorithm>
#include <bit>

#include <fmt/core.h>

#include <warpmat/ptx/program/function_resolver.h>
#include <warpmat/ptx/program/system_functions.h>

namespace warpmat::code {

using catalogue::Name;
using catalogue::Qualifier;
using catalogue::Semantics;
using Kind = syntax::Operand::Kind;

namespace {

/// Whether results and parameters have the prototype's sizes.
bool same_signature(const syntax::Prototype& prototype, const syntax::Function& function) {
  const auto same = [](const std::vector<syntax::Variable>& a, const std::vector<syntax::Variable>& b) {
    return std::ranges::equal(
        a, b, [](const syntax::Variable& x, const syntax::Variable& y) { return x.space == y.space && size_of(x) == size_of(y); });
  };
  return same(prototype.returns, function.returns) && same(prototype.parameters, function.parameters);
}

}  // namespace

void FunctionResolver::simple(Semantics semantics) {
  DraftOperation operation;
  operation.operation.semantics = semantics;
  if (semantics == Semantics::trap) operation.operation.payload = draft_.program.add(TrapCause::statement);
  // Registers that the function returns must still be live.
  if (semantics == Semantics::return_)
    for (std::size_t i = 0; i < function_.return_registers.size(); ++i)
      if (function_.return_offsets[i] < 0) operation.sources.push_back(function_.return_registers[i]);
  add(std::move(operation));
}

/// Statements without effect here. Only fence.proxy.tensormap::generic has operands that ptxas checks: of .acquire [map], 128.
void FunctionResolver::hint(const catalogue::Match& match) {
  constexpr std::uint64_t map_bytes = 128;
  const std::size_t count = statement_->operands.size();
  if (match.has(Qualifier::tensormap_generic) &&
      (count != (match.has(Qualifier::acquire) ? 2 : 0) || (count == 2 && immediate(operand(1)) != map_bytes)))
    fail(fmt::format("{} takes {}", statement_->opcode,
                     match.has(Qualifier::acquire) ? "the address of a tensor map and its size, 128" : "no operands"));
  if (match.has(Qualifier::acquire)) static_cast<void>(place(operand(0)));
  if (!match.has(Qualifier::tensormap_generic)) {
    // The operands are read for their errors alone.
    DraftOperation unread;
    const std::size_t operations = function_.operations.size();
    read_operands(match, unread);
    function_.operations.resize(operations);
    constexpr std::uint64_t line_bytes = 128, events = 16;
    if ((match.is(Name::discard) || match.is(Name::applypriority)) && immediate(operand(1)) != line_bytes)
      fail(operand(1), fmt::format("{} takes the size 128", statement_->opcode));
    if (match.is(Name::pmevent) && immediate(operand(0)) >= events && !match.has(Qualifier::mask))
      fail(operand(0), "an event is a number from 0 to 15");
  }
  simple(Semantics::nothing);
}

/// An instruction that the machine lacks: its operands are checked, and executing it is a trap.
void FunctionResolver::absent(const catalogue::Match& match) {
  DraftOperation unread;
  const std::size_t operations = function_.operations.size();
  if (match.has(Qualifier::async) && match.is(Name::cp))
    bulk_sources(match, described_copy(match), unread);
  else
    read_operands(match, unread);
  function_.operations.resize(operations);
  DraftOperation operation;
  operation.operation.semantics = Semantics::absent;
  add(std::move(operation));
}

/// The stack of a function that has alloca: bytes of its local memory, handed out from their end. CUDA's own default is 1 KiB a thread.
void FunctionResolver::open_stack() {
  constexpr std::int64_t stack_bytes = 16 << 10, alignment = 16;
  const auto uses_stack = [&](const syntax::Element& element) {
    const auto* const s = std::get_if<syntax::Statement>(&element);
    const catalogue::Match* const match = s == nullptr ? nullptr : draft_.find_match(s->opcode);
    return match != nullptr && match->pattern->row.semantics == Semantics::stack;
  };
  const auto first = std::ranges::find_if(source_.body, uses_stack);
  if (first == source_.body.end()) return;
  statement_index_ = draft_.add_statement(std::get<syntax::Statement>(*first));
  const std::int32_t begin = new_local(stack_bytes, alignment);
  const auto local_address = [&](std::int64_t offset) {
    DraftOperation operation;
    operation.operation.semantics = Semantics::special;
    operation.operation.payload = draft_.program.add(SpecialRegister::local_address);
    operation.sources = {draft_.constants.add(RegisterClass::wide, static_cast<std::uint64_t>(offset))};
    const Value value = temporary(RegisterClass::wide);
    operation.results = {value};
    prepare(std::move(operation));
    return value;
  };
  stack_ = Stack{.pointer = local_address(begin + stack_bytes), .limit = local_address(begin)};
}

/// alloca d, bytes{, alignment}; stacksave d; stackrestore a.
void FunctionResolver::stack(const catalogue::Match& match) {
  const DataType &type = *match.types.back(), &b64 = *find_ptx_type("b64");
  const auto widen = [&](Value value) {
    if (class_of(value) == RegisterClass::wide) return value;
    const Value wide = temporary(RegisterClass::wide);
    prepare(row("%extend.u32.b64", {wide}, {value}));
    return wide;
  };
  const auto copy_pointer = [&](const syntax::Operand& to) {
    const Value d = result(to, type);
    add(row(type.bits == b64.bits ? "mov.b64" : "%low.b64", {d}, {stack_->pointer}));
  };
  const std::size_t most = match.is(Name::alloca) ? 3 : 1;
  if (statement_->operands.size() > most) fail(operand(most), fmt::format("{} takes {} operands", statement_->opcode, most));
  if (match.is(Name::stacksave)) return copy_pointer(operand(0));
  if (match.is(Name::stackrestore)) named_register(operand(0));
  if (match.is(Name::stackrestore)) return add(row("mov.b64", {stack_->pointer}, {widen(source(operand(0), type))}));
  const Value bytes = widen(source(operand(1), type));
  constexpr std::uint64_t min_alignment = 8;
  const std::uint64_t alignment = statement_->operands.size() > 2 ? immediate(operand(2)) : min_alignment;
  if (!std::has_single_bit(alignment)) fail(operand(2), "alloca takes an alignment that is a power of two");
  const auto computed = [&](const char* opcode, RegisterClass register_class, Value a, Value b) {
    const Value value = temporary(register_class);
    prepare(row(opcode, {value}, {a, b}));
    return value;
  };
  const Value free = computed("%subtract.b64", RegisterClass::wide, stack_->pointer, stack_->limit);
  trap_where(computed("setp.gt.u64", RegisterClass::predicate, bytes, free), TrapCause::stack);
  const Value below = computed("%subtract.b64", RegisterClass::wide, stack_->pointer, bytes);
  const Value aligned =
      computed("and.b64", RegisterClass::wide, below, draft_.constants.add(RegisterClass::wide, ~(std::max(alignment, min_alignment) - 1)));
  trap_where(computed("setp.lt.u64", RegisterClass::predicate, aligned, stack_->limit), TrapCause::stack);
  add(row("mov.b64", {stack_->pointer}, {aligned}));
  copy_pointer(operand(0));
}

/// A trap of those lanes that execute the statement and whose `predicate` is true.
void FunctionResolver::trap_where(Value predicate, TrapCause cause) {
  DraftOperation operation;
  operation.operation.semantics = Semantics::trap;
  operation.operation.payload = draft_.program.add(cause);
  if (guarded_) {
    Value guard = guard_;
    if (guard_inverted_) {
      guard = temporary(RegisterClass::predicate);
      prepare(row("not.pred", {guard}, {guard_}));
    }
    const Value both = temporary(RegisterClass::predicate);
    prepare(row("and.pred", {both}, {predicate, guard}));
    predicate = both;
  }
  operation.operation.statement = statement_index_;
  operation.operation.guarded = true;
  operation.guard = predicate;
  function_.operations.push_back(std::move(operation));
}

void FunctionResolver::no_operands() const {
  if (!statement_->operands.empty()) fail(operand(0), fmt::format("{} takes no operands", statement_->opcode));
}

void FunctionResolver::leave() {
  no_operands();
  if (source_.entry) return simple(Semantics::exit);
  DraftOperation operation;
  operation.operation.semantics = Semantics::branch;
  operation.label = end_label_;
  add(std::move(operation));
}

int FunctionResolver::find_label(const syntax::Operand& operand) const {
  for (int scope = scope_; scope >= 0; scope = scope_parents_[static_cast<std::size_t>(scope)])
    if (const auto found = labels_.find({scope, operand.text}); found != labels_.end()) return found->second;
  fail(operand, fmt::format("there is no label '{}' here", operand.text));
}

void FunctionResolver::branch() {
  DraftOperation operation;
  operation.operation.semantics = Semantics::branch;
  operation.label = find_label(operand(0));
  add(std::move(operation));
}

/// brx.idx index, list;
void FunctionResolver::branch_table() {
  const auto list = target_lists_.find(operand(1).text);
  if (list == target_lists_.end() || list->second->calls)
    fail(operand(1), fmt::format("'{}' is no list of .branchtargets", operand(1).text));
  DraftOperation operation;
  operation.operation.semantics = Semantics::branch_table;
  operation.sources = {source(operand(0), *find_ptx_type("u32"))};
  for (const std::string_view target : list->second->targets) {
    syntax::Operand label{Kind::name, operand(1).location};
    label.text = target;
    operation.table.push_back(find_label(label));
  }
  add(std::move(operation));
}

/// call (results), function, (arguments); a guard becomes a branch around it.
void FunctionResolver::call() {
  if (guarded_) {
    DraftOperation around;
    around.operation.semantics = Semantics::branch;
    around.label = static_cast<int>(function_.labels.size());
    guard_inverted_ = !guard_inverted_;
    add(std::move(around));
    guarded_ = false;
    function_.labels.push_back(0);
    call();
    function_.labels[static_cast<std::size_t>(around.label)] = static_cast<int>(function_.operations.size());
    return;
  }
  std::size_t next = 0;
  const syntax::Operand* returns = nullptr;
  const syntax::Operand* arguments = nullptr;
  if (operand(0).kind == Kind::list) returns = &operand(next++);
  const syntax::Operand& name = operand(next++);
  if (next < statement_->operands.size() && operand(next).kind == Kind::list) arguments = &operand(next++);
  if (names_.find(name.text)) return call_indirectly(returns, name, arguments, next);
  const syntax::Function* function = draft_.program.module->find_function(name.text);
  if (function == nullptr) fail(name, fmt::format("the module has no function '{}'", name.text));
  if (function->entry) fail(name, fmt::format("'{}' is an entry and cannot be called", name.text));
  if (function->defined) return call_function(returns, arguments, draft_.function_index(*function), {});
  if (const SystemFunction* const known = find_system_function(function->name))
    return call_function(returns, arguments, draft_.function_index(*function), {.target = known->target});
  fail(name, fmt::format("the function '{}' has no body, and warpmat has none of that name", name.text));
}

/// call (results), register, (arguments), prototype or list: compares with the address of each possible function, and calls the one that
/// matches.
void FunctionResolver::call_indirectly(const syntax::Operand* returns, const syntax::Operand& name, const syntax::Operand* arguments,
                                       std::size_t next) {
  if (next >= statement_->operands.size()) fail(name, "a call through a register ends with a .callprototype or .calltargets");
  const std::string_view label = operand(next).text;
  const auto prototype = prototypes_.find(label);
  const auto list = target_lists_.find(label);
  if (prototype == prototypes_.end() && (list == target_lists_.end() || !list->second->calls))
    fail(operand(next), fmt::format("'{}' is no .callprototype or .calltargets", label));
  const Value target = temporary(RegisterClass::wide);
  prepare(row("mov.b64", {target}, {source(name, *find_ptx_type("u64"))}));
  const auto new_label = [&] {
    function_.labels.push_back(0);
    return static_cast<int>(function_.labels.size()) - 1;
  };
  const auto branch_to = [&](int label_number, Value predicate) {
    DraftOperation operation;
    operation.operation.semantics = Semantics::branch;
    operation.label = label_number;
    guarded_ = true;
    guard_inverted_ = false;
    guard_ = predicate;
    add(std::move(operation));
    guarded_ = false;
  };
  const auto put = [&](int label_number) {
    function_.labels[static_cast<std::size_t>(label_number)] = static_cast<int>(function_.operations.size());
  };
  const int end = new_label();
  const syntax::Module& module = *draft_.program.module;
  for (const syntax::Function& function : module.functions) {
    if (function.entry || !function.defined) continue;
    const bool meant = prototype != prototypes_.end()
                           ? same_signature(*prototype->second, function)
                           : std::ranges::find(list->second->targets, function.name) != list->second->targets.end();
    if (!meant) continue;
    const Value address = draft_.constants.add(RegisterClass::wide, module.function_address(function));
    const Value other = temporary(RegisterClass::predicate), same = temporary(RegisterClass::predicate);
    prepare(row("setp.ne.u64", {other, same}, {target, address}));
    const int behind = new_label();
    branch_to(behind, other);
    call_function(returns, arguments, draft_.function_index(function), {});
    branch_to(end, same);
    put(behind);
  }
  DraftOperation no_function;
  no_function.operation.semantics = Semantics::trap;
  no_function.operation.payload = draft_.program.add(TrapCause::call);
  add(std::move(no_function));
  put(end);
}

void FunctionResolver::call_function(const syntax::Operand* returns, const syntax::Operand* arguments, int function, Call call) {
  const DraftFunction& callee = draft_.functions[static_cast<std::size_t>(function)];
  DraftOperation operation;
  operation.operation.semantics = Semantics::call;
  call.function = function;
  const auto match = [&](const syntax::Operand* given, const std::vector<syntax::Variable>& formal,
                         const std::vector<std::int32_t>& offsets, const std::vector<std::int32_t>& sizes,
                         std::vector<ArgumentCopy>& copies, std::vector<Value>& registers, bool result) {
    const std::size_t count = given == nullptr ? 0 : given->items.size();
    if (count != formal.size())
      fail(fmt::format("'{}' has {} {}, {} are given", callee.source->name, formal.size(), result ? "results" : "parameters", count));
    for (std::size_t i = 0; i < count; ++i) {
      const syntax::Operand& item = given->items[i];
      const auto named = item.kind == Kind::name ? names_.find(item.text) : std::nullopt;
      if (offsets[i] < 0) {
        const DataType* type = find_ptx_type(formal[i].type);
        if (type == nullptr) fail(item, fmt::format("no register is .{}", formal[i].type));
        registers.push_back(result ? this->result(item, *type) : source(item, *type));
      } else if (named && named->kind == Named::Kind::local) {
        if (named->bytes != static_cast<std::uint32_t>(sizes[i]))
          fail(item, fmt::format("'{}' has {} bytes; {} {} of '{}' has {}", item.text, named->bytes, result ? "result" : "parameter", i,
                                 callee.source->name, sizes[i]));
        copies.push_back({static_cast<std::int32_t>(named->offset), offsets[i], sizes[i]});
      } else {
        fail(item, fmt::format("'{}' is not a .param variable that is declared here", item.text));
      }
    }
  };
  match(returns, callee.source->returns, callee.return_offsets, callee.return_bytes, call.returns, operation.results, true);
  match(arguments, callee.source->parameters, callee.parameter_offsets, callee.parameter_bytes, call.arguments, operation.sources, false);
  operation.operation.payload = draft_.program.add(std::move(call));
  add(std::move(operation));
}

}  // namespace warpmat::code
