#include <fmt/format.h>

#include <warpmat/ptx/program/address_windows.h>
#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Semantics;
using catalogue::ValueType;
using Kind = syntax::Operand::Kind;

void FunctionResolver::compute(const Match& match) {
  DraftOperation operation;
  operation.operation.function = match.pattern->row.function;
  read_operands(match, operation);
  add(std::move(operation));
}

/// setp.CMP{.BOOL}.type p{|q}, a, b{, c}: p = (a CMP b) BOOL c, q = !(a CMP b) BOOL c. Where the row compares two halves (f16x2), p and q
/// are those of the halves.
void FunctionResolver::compare(const Match& match) {
  const ValueType& predicate = *catalogue::find_value_type("pred");
  DraftOperation operation;
  operation.operation.function = match.pattern->row.function;
  std::size_t results = 0;
  const syntax::Operand& written = operand(0);
  std::vector<Value> targets;
  targets.push_back(result(written.kind == Kind::pair ? written.items[0] : written, predicate));
  if (written.kind == Kind::pair) targets.push_back(result(written.items[1], predicate));
  std::size_t next = 1;
  for (const catalogue::OperandPattern& pattern : match.pattern->operands) {
    if (pattern.result) {
      ++results;
    } else {
      read_operand(match, pattern, operand(next++), operation);
    }
  }
  std::string combine;
  for (const char* qualifier : {".and", ".or", ".xor"})
    if (match.has(qualifier)) combine = qualifier + 1;
  const bool halves = results == 2;
  if (combine.empty() && (targets.size() == 1 || halves)) {
    while (targets.size() < results) targets.push_back(temporary(RegisterClass::predicate));
    operation.results = targets;
    if (next < statement_->operands.size()) fail(operand(next), fmt::format("{} takes {} operands", statement_->opcode, next));
    return add(std::move(operation));
  }
  for (std::size_t i = 0; i < results; ++i) operation.results.push_back(temporary(RegisterClass::predicate));
  const std::vector<Value> compared = operation.results;
  const Value c = combine.empty() ? 0 : source(operand(next++), predicate);
  if (next < statement_->operands.size()) fail(operand(next), fmt::format("{} takes {} operands", statement_->opcode, next));
  add(std::move(operation));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    Value outcome = compared[halves ? i : 0];
    if (i == 1 && !halves) {
      outcome = temporary(RegisterClass::predicate);
      add(row("not.pred", {outcome}, {compared[0]}));
    }
    add(combine.empty() ? row("mov.pred", {targets[i]}, {outcome}) : row(combine + ".pred", {targets[i]}, {outcome, c}));
  }
}

/// mov between a vector in braces and one register: mov.b32 {lo, hi}, r; mov.b64 rd, {a, b}.
void FunctionResolver::pack() {
  const std::string type_name = statement_->opcode.substr(statement_->opcode.find('.') + 1);
  const ValueType* type = catalogue::find_value_type(type_name);
  if (type == nullptr || type->is_predicate() || statement_->operands.size() != 2)
    fail(fmt::format("'{}' does not move vectors", statement_->opcode));
  const bool packs = operand(1).kind == Kind::vector;
  const syntax::Operand& vector = operand(packs ? 1 : 0);
  const syntax::Operand& whole = operand(packs ? 0 : 1);
  const std::size_t count = vector.items.size();
  const int bits = count == 0 ? 0 : type->bits / static_cast<int>(count);
  const ValueType* part = catalogue::find_value_type(fmt::format("b{}", bits));
  if (part == nullptr || part->bits * static_cast<int>(count) != type->bits || whole.kind == Kind::vector)
    fail(vector, fmt::format("{} registers do not make up .{}", count, type->name));
  const std::string parts = fmt::format("{}.b{}.b{}", packs ? "%pack" : "%unpack", type->bits, bits);
  if (packs) {
    std::vector<Value> sources;
    for (const syntax::Operand& item : vector.items) sources.push_back(source(item, *part));
    return add(row(parts, {result(whole, *type)}, std::move(sources)));
  }
  const Value from = source(whole, *type);
  std::vector<Value> results;
  for (const syntax::Operand& item : vector.items) results.push_back(result(item, *part));
  add(row(parts, std::move(results), {from}));
}

/// cvta adds or subtracts where the space's window begins in the generic addresses; isspacep asks whether an address lies in it.
void FunctionResolver::address_space(const Match& match) {
  const ValueType& address = *catalogue::find_value_type("b64");
  const Space space = match.has(".shared") || match.has(".shared::cta") || match.has(".shared::cluster") ? Space::shared
                      : match.has(".local")                                                              ? Space::local
                      : match.has(".param") || match.has(".param::entry")                                ? Space::param
                      : match.has(".const")                                                              ? Space::constant
                                                                                                         : Space::global;
  const bool query = match.pattern->mnemonic == "isspacep";
  const Value a = source(operand(1), address);
  if (statement_->operands.size() > 2) fail(operand(2), fmt::format("{} takes 2 operands", statement_->opcode));
  const Value start = draft_.constants.add(RegisterClass::wide, window_start(space));
  if (query) {
    const Value size = draft_.constants.add(RegisterClass::wide, window_size(space));
    return add(row("%within.b64", {result(operand(0), *catalogue::find_value_type("pred"))}, {a, start, size}));
  }
  const bool moves = space == Space::global || space == Space::constant;  // their addresses are the generic ones
  if (moves) return add(row("mov.b64", {result(operand(0), address)}, {a}));
  add(row(match.has(".to") ? "%subtract.b64" : "%add.b64", {result(operand(0), address)}, {a, start}));
}

}  // namespace warpmat::code
