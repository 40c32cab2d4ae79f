#include <algorithm>
#include <bit>

#include <fmt/core.h>

#include <warpmat/lower/makers.h>
#include <warpmat/lower/operands.h>
#include <warpmat/lower/system_functions.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Name;
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

/// A trap of those lanes that execute the statement and whose `predicate` is true.
void trap_where(Context& in, Value predicate, TrapCause cause) {
  DraftOperation operation{.operation = {.semantics = Semantics::trap}};
  operation.operation.payload = in.draft.program.add(cause);
  if (in.current.guarded) {
    Value guard = in.current.guard;
    if (in.current.guard_inverted) guard = in.computed(RegisterClass::predicate, "not.pred", {guard});
    predicate = in.computed(RegisterClass::predicate, "and.pred", {predicate, guard});
  }
  operation.operation.statement = in.current.index;
  operation.operation.guarded = true;
  operation.guard = predicate;
  in.function.operations.push_back(std::move(operation));
}

int find_label(const Context& in, const syntax::Operand& operand) {
  for (int scope = in.scope; scope >= 0; scope = in.scope_parents[static_cast<std::size_t>(scope)])
    if (const auto found = in.labels.find({scope, operand.text}); found != in.labels.end()) return found->second;
  in.fail(operand, fmt::format("there is no label '{}' here", operand.text));
}

void call_function(Context& in, const syntax::Operand* returns, const syntax::Operand* arguments, int function, Call call) {
  const DraftFunction& callee = in.draft.functions[static_cast<std::size_t>(function)];
  DraftOperation operation{.operation = {.semantics = Semantics::call}};
  call.function = function;
  const auto match = [&](const syntax::Operand* given, const std::vector<syntax::Variable>& formal,
                         const std::vector<std::int32_t>& offsets, const std::vector<std::int32_t>& sizes,
                         std::vector<ArgumentCopy>& copies, std::vector<Value>& registers, bool of_result) {
    const std::size_t count = given == nullptr ? 0 : given->items.size();
    if (count != formal.size())
      in.fail(fmt::format("'{}' has {} {}, {} are given", callee.source->name, formal.size(), of_result ? "results" : "parameters", count));
    for (std::size_t i = 0; i < count; ++i) {
      const syntax::Operand& item = given->items[i];
      const auto named = item.kind == Kind::name ? in.names.find(item.text) : std::nullopt;
      if (offsets[i] < 0) {
        const DataType* type = find_ptx_type(formal[i].type);
        if (type == nullptr) in.fail(item, fmt::format("no register is .{}", formal[i].type));
        registers.push_back(of_result ? result(in, item, *type) : source(in, item, *type));
      } else if (named && named->kind == Named::Kind::local) {
        if (named->bytes != static_cast<std::uint32_t>(sizes[i]))
          in.fail(item, fmt::format("'{}' has {} bytes; {} {} of '{}' has {}", item.text, named->bytes, of_result ? "result" : "parameter",
                                    i, callee.source->name, sizes[i]));
        copies.push_back({static_cast<std::int32_t>(named->offset), offsets[i], sizes[i]});
      } else {
        in.fail(item, fmt::format("'{}' is not a .param variable that is declared here", item.text));
      }
    }
  };
  match(returns, callee.source->returns, callee.return_offsets, callee.return_bytes, call.returns, operation.results, true);
  match(arguments, callee.source->parameters, callee.parameter_offsets, callee.parameter_bytes, call.arguments, operation.sources, false);
  in.add(std::move(operation), std::move(call));
}

/// call (results), register, (arguments), prototype or list: compares with the address of each possible function, and calls the one that
/// matches.
void call_indirectly(Context& in, const syntax::Operand* returns, const syntax::Operand& name, const syntax::Operand* arguments,
                     std::size_t next) {
  if (next >= in.operands().size()) in.fail(name, "a call through a register ends with a .callprototype or .calltargets");
  const std::string_view label = in.operand(next).text;
  const auto prototype = in.prototypes.find(label);
  const auto list = in.target_lists.find(label);
  if (prototype == in.prototypes.end() && (list == in.target_lists.end() || !list->second->calls))
    in.fail(in.operand(next), fmt::format("'{}' is no .callprototype or .calltargets", label));
  const Value target = in.computed(RegisterClass::wide, "mov.b64", {source(in, name, *find_ptx_type("u64"))});
  const auto new_label = [&] {
    in.function.labels.push_back(0);
    return static_cast<int>(in.function.labels.size()) - 1;
  };
  const auto branch_to = [&](int label_number, Value predicate) {
    DraftOperation operation{.operation = {.semantics = Semantics::branch}};
    operation.label = label_number;
    in.current.guarded = true;
    in.current.guard_inverted = false;
    in.current.guard = predicate;
    in.add(std::move(operation));
    in.current.guarded = false;
  };
  const auto put = [&](int label_number) {
    in.function.labels[static_cast<std::size_t>(label_number)] = static_cast<int>(in.function.operations.size());
  };
  const int end = new_label();
  const syntax::Module& module = *in.draft.program.module;
  for (const syntax::Function& function : module.functions) {
    if (function.entry || !function.defined) continue;
    const bool meant = prototype != in.prototypes.end()
                           ? same_signature(*prototype->second, function)
                           : std::ranges::find(list->second->targets, function.name) != list->second->targets.end();
    if (!meant) continue;
    const Value address = in.constant(RegisterClass::wide, module.function_address(function));
    const Value other = in.temporary(RegisterClass::predicate), same = in.temporary(RegisterClass::predicate);
    in.prepare(in.row("setp.ne.u64", {other, same}, {target, address}));
    const int behind = new_label();
    branch_to(behind, other);
    call_function(in, returns, arguments, in.draft.function_index(function), {});
    branch_to(end, same);
    put(behind);
  }
  DraftOperation no_function{.operation = {.semantics = Semantics::trap}};
  no_function.operation.payload = in.draft.program.add(TrapCause::call);
  in.add(std::move(no_function));
  put(end);
}

}  // namespace

void lower::simple(Context& in, const Match& match) {
  in.must_end_at(0);
  in.add({.operation = {.semantics = match.pattern->row.semantics}});
}

void lower::trap(Context& in, const Match&) {
  in.must_end_at(0);
  in.add({.operation = {.semantics = Semantics::trap}}, TrapCause::statement);
}

void lower::reads_operands(Context& in, const Match& match) {
  DraftOperation operation{.operation = {.semantics = match.pattern->row.semantics}};
  read_operands(in, match, operation);
  in.add(std::move(operation));
}

void lower::fence(Context& in, const Match& match) {
  DraftOperation operation{.operation = {.semantics = Semantics::fence}};
  read_operands(in, match, operation);
  in.add(std::move(operation), Fence{match.has(".gpu") || match.has(".sys") || match.has(".gl") || match.has(".cluster")});
}

/// A row that nothing spells in a statement.
void lower::not_executed(Context& in, const Match&) {
  in.fail(fmt::format("'{}' is not executed", in.opcode()));
}

void add_end(Context& in) {
  DraftOperation end{.operation = {.semantics = in.source.entry ? Semantics::exit : Semantics::return_, .prepares = true}};
  // Registers that the function returns must still be live.
  for (std::size_t i = 0; i < in.function.return_registers.size(); ++i)
    if (in.function.return_offsets[i] < 0) end.sources.push_back(in.function.return_registers[i]);
  in.add(std::move(end));
}

/// Statements without effect here. Only fence.proxy.tensormap::generic has operands that ptxas checks: of .acquire [map], 128.
void lower::hint(Context& in, const catalogue::Match& match) {
  constexpr std::uint64_t map_bytes = 128;
  const std::size_t count = in.operands().size();
  if (match.has(".tensormap::generic") &&
      (count != (match.has(".acquire") ? 2 : 0) || (count == 2 && immediate(in, in.operand(1)) != map_bytes)))
    in.fail(
        fmt::format("{} takes {}", in.opcode(), match.has(".acquire") ? "the address of a tensor map and its size, 128" : "no operands"));
  if (match.has(".acquire")) static_cast<void>(place(in, in.operand(0)));
  if (!match.has(".tensormap::generic")) {
    // The operands are read for their errors alone.
    DraftOperation unread;
    const std::size_t operations = in.function.operations.size();
    read_operands(in, match, unread);
    in.function.operations.resize(operations);
    constexpr std::uint64_t line_bytes = 128, events = 16;
    if ((match.is(Name::discard) || match.is(Name::applypriority)) && immediate(in, in.operand(1)) != line_bytes)
      in.fail(in.operand(1), fmt::format("{} takes the size 128", in.opcode()));
    if (match.is(Name::pmevent) && immediate(in, in.operand(0)) >= events && !match.has(".mask"))
      in.fail(in.operand(0), "an event is a number from 0 to 15");
  }
  in.add({.operation = {.semantics = Semantics::nothing}});
}

/// An instruction that the machine lacks: its operands are checked, and executing it is a trap.
void lower::absent(Context& in, const catalogue::Match& match) {
  DraftOperation unread;
  const std::size_t operations = in.function.operations.size();
  if (match.has(".async") && match.is(Name::cp))
    check_bulk_copy(in, match);
  else
    read_operands(in, match, unread);
  in.function.operations.resize(operations);
  in.add({.operation = {.semantics = Semantics::absent}});
}

/// The stack of a function that has alloca: bytes of its local memory, handed out from their end. CUDA's own default is 1 KiB a thread.
void open_stack(Context& in) {
  constexpr std::int64_t stack_bytes = 16 << 10, alignment = 16;
  const auto uses_stack = [&](const syntax::Element& element) {
    const auto* const s = std::get_if<syntax::Statement>(&element);
    const catalogue::Match* const match = s == nullptr ? nullptr : in.draft.find_match(s->opcode);
    return match != nullptr && match->pattern->row.semantics == Semantics::stack;
  };
  const auto first = std::ranges::find_if(in.source.body, uses_stack);
  if (first == in.source.body.end()) return;
  in.current.index = in.draft.add_statement(std::get<syntax::Statement>(*first));
  const std::int32_t begin = in.new_local(stack_bytes, alignment);
  const auto local_address = [&](std::int64_t offset) {
    DraftOperation operation{.operation = {.semantics = Semantics::special}};
    operation.operation.payload = in.draft.program.add(SpecialRegister::local_address);
    operation.sources = {in.constant(RegisterClass::wide, static_cast<std::uint64_t>(offset))};
    const Value value = in.temporary(RegisterClass::wide);
    operation.results = {value};
    in.prepare(std::move(operation));
    return value;
  };
  in.stack = {.pointer = local_address(begin + stack_bytes), .limit = local_address(begin)};
}

/// alloca d, bytes{, alignment}; stacksave d; stackrestore a.
void lower::stack(Context& in, const catalogue::Match& match) {
  const DataType &type = *match.types.back(), &b64 = *find_ptx_type("b64");
  const auto copy_pointer = [&](const syntax::Operand& to) {
    const Value d = result(in, to, type);
    in.add(in.row(type.bits == b64.bits ? "mov.b64" : "%low.b64", {d}, {in.stack->pointer}));
  };
  in.must_end_at(match.is(Name::alloca) ? 3 : 1);
  if (match.is(Name::stacksave)) return copy_pointer(in.operand(0));
  if (match.is(Name::stackrestore)) named_register(in, in.operand(0));
  if (match.is(Name::stackrestore)) return in.add(in.row("mov.b64", {in.stack->pointer}, {in.wide(source(in, in.operand(0), type))}));
  const Value bytes = in.wide(source(in, in.operand(1), type));
  constexpr std::uint64_t min_alignment = 8;
  const std::uint64_t alignment = in.operands().size() > 2 ? immediate(in, in.operand(2)) : min_alignment;
  if (!std::has_single_bit(alignment)) in.fail(in.operand(2), "alloca takes an alignment that is a power of two");
  const Value free = in.computed(RegisterClass::wide, "%subtract.b64", {in.stack->pointer, in.stack->limit});
  trap_where(in, in.computed(RegisterClass::predicate, "setp.gt.u64", {bytes, free}), TrapCause::stack);
  const Value below = in.computed(RegisterClass::wide, "%subtract.b64", {in.stack->pointer, bytes});
  const Value mask = in.constant(RegisterClass::wide, ~(std::max(alignment, min_alignment) - 1));
  const Value aligned = in.computed(RegisterClass::wide, "and.b64", {below, mask});
  trap_where(in, in.computed(RegisterClass::predicate, "setp.lt.u64", {aligned, in.stack->limit}), TrapCause::stack);
  in.add(in.row("mov.b64", {in.stack->pointer}, {aligned}));
  copy_pointer(in.operand(0));
}

void lower::return_(Context& in, const Match&) {
  in.must_end_at(0);
  if (in.source.entry) return in.add({.operation = {.semantics = Semantics::exit}});
  DraftOperation operation{.operation = {.semantics = Semantics::branch}};
  operation.label = in.end_label;
  in.add(std::move(operation));
}

void lower::branch(Context& in, const Match&) {
  DraftOperation operation{.operation = {.semantics = Semantics::branch}};
  operation.label = find_label(in, in.operand(0));
  in.add(std::move(operation));
}

/// brx.idx index, list;
void lower::branch_table(Context& in, const Match&) {
  const auto list = in.target_lists.find(in.operand(1).text);
  if (list == in.target_lists.end() || list->second->calls)
    in.fail(in.operand(1), fmt::format("'{}' is no list of .branchtargets", in.operand(1).text));
  DraftOperation operation{.operation = {.semantics = Semantics::branch_table}};
  operation.sources = {source(in, in.operand(0), *find_ptx_type("u32"))};
  for (const std::string_view target : list->second->targets) {
    syntax::Operand label{Kind::name, in.operand(1).location};
    label.text = target;
    operation.table.push_back(find_label(in, label));
  }
  in.add(std::move(operation));
}

/// call (results), function, (arguments); a guard becomes a branch around it.
void lower::call(Context& in, const Match& match) {
  if (in.current.guarded) {
    DraftOperation around{.operation = {.semantics = Semantics::branch}};
    around.label = static_cast<int>(in.function.labels.size());
    in.current.guard_inverted = !in.current.guard_inverted;
    in.add(std::move(around));
    in.current.guarded = false;
    in.function.labels.push_back(0);
    call(in, match);
    in.function.labels[static_cast<std::size_t>(around.label)] = static_cast<int>(in.function.operations.size());
    return;
  }
  std::size_t next = 0;
  const syntax::Operand* returns = nullptr;
  const syntax::Operand* arguments = nullptr;
  if (in.operand(0).kind == Kind::list) returns = &in.operand(next++);
  const syntax::Operand& name = in.operand(next++);
  if (next < in.operands().size() && in.operand(next).kind == Kind::list) arguments = &in.operand(next++);
  if (in.names.find(name.text)) return call_indirectly(in, returns, name, arguments, next);
  const syntax::Function* function = in.draft.program.module->find_function(name.text);
  if (function == nullptr) in.fail(name, fmt::format("the module has no function '{}'", name.text));
  if (function->entry) in.fail(name, fmt::format("'{}' is an entry and cannot be called", name.text));
  if (function->defined) return call_function(in, returns, arguments, in.draft.function_index(*function), {});
  if (const SystemFunction* const known = find_system_function(function->name))
    return call_function(in, returns, arguments, in.draft.function_index(*function), {.target = known->target});
  in.fail(name, fmt::format("the function '{}' has no body, and warpmat has none of that name", name.text));
}

}  // namespace warpmat::code
