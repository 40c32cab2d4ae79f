#include <fmt/core.h>

#include <warpmat/ptx/catalogue/video_selectors.h>
#include <warpmat/ptx/program/address_windows.h>
#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Semantics;
using catalogue::ValueType;
using Kind = syntax::Operand::Kind;

void FunctionResolver::compute(const Match& match) {
  DraftOperation operation;
  operation.operation.semantics = match.pattern->row.semantics;
  draft_.set_function(match, operation.operation);
  operation.opcode = statement_->opcode;
  if (!catalogue::is_video(match)) {
    read_operands(match, operation);
    return add(std::move(operation));
  }
  // The selectors that the operands have are modifiers of this statement alone.
  scalar::Modifiers modifiers = draft_.program.modifiers[operation.operation.detail];
  read_operands(match, operation, &modifiers.video);
  operation.operation.detail = static_cast<std::uint32_t>(draft_.program.modifiers.size());
  draft_.program.modifiers.push_back(modifiers);
  add(std::move(operation));
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
    const bool own = match.has(".shared") || match.has(".shared::cta");
    const Value size = draft_.constants.add(RegisterClass::wide, own ? block_window_bytes : window_size(space));
    return add(row("%within.b64", {result(operand(0), *catalogue::find_value_type("pred"))}, {a, start, size}));
  }
  const bool moves = space == Space::global || space == Space::constant;  // their addresses are the generic ones
  if (moves) return add(row("mov.b64", {result(operand(0), address)}, {a}));
  add(row(match.has(".to") ? "%subtract.b64" : "%add.b64", {result(operand(0), address)}, {a, start}));
}

}  // namespace warpmat::code
