// Statements of tcgen05, judged as ptxas 13.0 judges them.

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include <fmt/core.h>

#include <warpmat/ptx/program/function_resolver.h>
#include <warpmat/ptx/program/tensor_statement.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Qualifier;
using catalogue::Semantics;
using TensorAction = TensorStatement::Action;
using Kind = syntax::Operand::Kind;

namespace {

const DataType& word_type() {
  return *find_ptx_type("b32");
}

}  // namespace

/// An address of tensor memory in brackets: a register of 32 bits and an offset.
Value FunctionResolver::tensor_address(const syntax::Operand& operand) {
  if (operand.kind != Kind::address) fail(operand, "expected an address of tensor memory in brackets");
  syntax::Operand base = operand.items.front();
  const Value value = named_register(base);
  check_type(base, value, *find_ptx_type("u32"));
  if (class_of(value) != RegisterClass::word || bits_of(value) != 32)
    fail(base, fmt::format("'{}' has {} bits; an address of tensor memory has 32", base.text, bits_of(value)));
  if (operand.offset == 0) return value;
  const Value sum = temporary(RegisterClass::word);
  prepare(row("add.u32", {sum}, {value, draft_.constants.add(RegisterClass::word, static_cast<std::uint32_t>(operand.offset))}));
  return sum;
}

/// The number of columns of alloc, and of dealloc, of which ptxas asks less.
Value FunctionResolver::columns(const syntax::Operand& operand, bool allocates) {
  const DataType& type = *find_ptx_type("u32");
  if (operand.kind != Kind::number) return source(operand, type);
  syntax::Operand magnitude = operand;
  magnitude.negative = false;
  const std::uint64_t count = immediate(magnitude);
  if (allocates && (operand.negative || count < 32 || count > 512 || !std::has_single_bit(count)))
    fail(operand, fmt::format("the number of columns is 32, 64, 128, 256 or 512; it is {}", operand.text));
  if (count % 32 != 0) fail(operand, fmt::format("the number of columns is a multiple of 32; it is {}", operand.text));
  return source(operand, type);
}

/// An address of shared memory, of which ptxas takes no register of 16 bits.
Value FunctionResolver::shared_address(const syntax::Operand& operand, Space space) {
  const Place where = place(operand);
  if (!where.space && bits_of(where.base) == 16) fail(operand, "an address of shared memory has 32 or 64 bits");
  return address(operand, space);
}

void FunctionResolver::must_end_at(std::size_t operands) const {
  if (statement_->operands.size() > operands)
    fail(operand(operands), fmt::format("{} takes {} operands here", statement_->opcode, operands));
}

/// ld r, [taddr]{, offset}; st [taddr]{, offset}, r.
void FunctionResolver::tensor_transfer(TensorStatement& statement, DraftOperation& operation) {
  Transfer& transfer = statement.transfer;
  const bool loads = statement.action == TensorAction::load;
  const std::size_t reduced = statement.reduction != TensorStatement::Reduction::none ? 1 : 0;
  const std::size_t end = (transfer.shape->has_second ? 3 : 2) + reduced, registers_at = loads ? 0 : end - 1;
  must_end_at(end);
  operation.sources = {tensor_address(operand(loads ? 1 + reduced : 0))};
  if (transfer.shape->has_second) {
    syntax::Operand offset = operand(loads ? 2 + reduced : 1);
    const bool negative = std::exchange(offset.negative, false);
    const auto columns = static_cast<std::int32_t>(immediate(offset));
    transfer.second_columns = negative ? -std::int64_t{columns} : columns;
  }
  const syntax::Operand& written = operand(registers_at);
  if (written.kind != Kind::vector) fail(written, fmt::format("{} takes {} registers in braces", statement_->opcode, transfer.registers()));
  for (const syntax::Operand& item : written.items)
    if (item.discards()) fail(item, fmt::format("{} moves every register: none may be _", statement_->opcode));
  const std::vector<Value> values = group(written, word_type(), loads, static_cast<std::size_t>(transfer.registers()));
  std::vector<Value>& to = loads ? operation.results : operation.sources;
  to.insert(to.end(), values.begin(), values.end());
  if (reduced == 0) return;
  const syntax::Operand& reduced_to = operand(1);  // which may stand in braces (ptxas 13.0)
  const bool braced = reduced_to.kind == Kind::vector && reduced_to.items.size() == 1;
  operation.results.push_back(result(braced ? reduced_to.items.front() : reduced_to, *type_of(statement.reduction)));
}

/// mma{.ws}{.sp} [d], a-desc or [a], b-desc{, [metadata]}, idesc, ... as TensorStatement says.
void FunctionResolver::tensor_product(const Match& match, TensorStatement& statement, DraftOperation& operation) {
  const DataType& descriptor = *find_ptx_type("b64");
  operation.sources = {tensor_address(operand(0))};
  statement.a_in_tensor_memory = operand(1).kind == Kind::address;
  if (statement.shifts_a && !statement.a_in_tensor_memory) fail(operand(1), ".ashift goes with an A in tensor memory");
  if (statement.shifts_a && (match.has(Qualifier::collector_a_use) || match.has(Qualifier::collector_a_fill)))
    fail(".ashift goes with .collector::a::lastuse and .collector::a::discard");
  operation.sources.push_back(statement.a_in_tensor_memory ? tensor_address(operand(1)) : source(operand(1), descriptor));
  operation.sources.push_back(source(operand(2), descriptor));
  std::size_t next = 3;
  if (statement.variant.sparse) operation.sources.push_back(tensor_address(operand(next++)));
  operation.sources.push_back(source(operand(next++), *find_ptx_type("u32")));
  if (statement.kind->scaled())
    for (int i = 0; i < 2; ++i) operation.sources.push_back(tensor_address(operand(next++)));
  else if (!statement.variant.weights && operand(next).kind == Kind::vector)
    disabled_lanes(operand(next++), statement, operation);
  operation.sources.push_back(source(operand(next++), *find_ptx_type("pred")));
  if (statement_->operands.size() == next) return;
  if (statement.variant.weights) {
    statement.masks_columns = true;
    operation.sources.push_back(source(operand(next), descriptor));
  } else {
    scale_of_d(match, operand(next), statement);
  }
  must_end_at(next + 1);
}

void FunctionResolver::disabled_lanes(const syntax::Operand& lanes, TensorStatement& statement, DraftOperation& operation) {
  const std::size_t words = static_cast<std::size_t>(tensor_lanes / 32 * statement.variant.group);
  if (std::ranges::all_of(lanes.items, [](const syntax::Operand& item) { return item.kind == Kind::number; }))
    fail(lanes, fmt::format("one of the {} words of disable-output-lane at least is a register", words == 4 ? "four" : "eight"));
  const std::vector<Value> values = group(lanes, word_type(), false, words);
  operation.sources.insert(operation.sources.end(), values.begin(), values.end());
  statement.disabled_words = static_cast<std::uint8_t>(words);
}

void FunctionResolver::scale_of_d(const Match& match, const syntax::Operand& given, TensorStatement& statement) {
  const Target& target = *draft_.program.target;
  const std::uint64_t scale = immediate(given);
  if (!match.has(Qualifier::kind_f16) && !match.has(Qualifier::kind_tf32)) fail(given, "scale-input-d goes with kind::f16 and kind::tf32");
  if (target.family != 100) fail(given, fmt::format("scale-input-d needs a target of sm_100f; the target is {}", target.name));
  if (scale > 15) fail(given, "scale-input-d is a number from 0 to 15");
  statement.scale_d = static_cast<std::uint8_t>(scale);
}

/// cp [taddr], s-desc.
void FunctionResolver::tensor_copy(DraftOperation& operation) {
  must_end_at(2);
  operation.sources = {tensor_address(operand(0)), source(operand(1), *find_ptx_type("b64"))};
}

void FunctionResolver::tensor_memory(const Match& match) {
  DescribedTensorStatement described = describe_tensor_statement(match, *draft_.program.target);
  if (described.problem) fail(*described.problem);
  TensorStatement& statement = described.statement;
  DraftOperation operation;
  operation.operation.semantics = Semantics::tensor_memory;
  switch (statement.action) {
    case TensorAction::allocate:
      must_end_at(2);
      operation.sources = {shared_address(operand(0), statement.space), columns(operand(1), true)};
      break;
    case TensorAction::deallocate:
      must_end_at(2);
      operation.sources = {source(operand(0), *find_ptx_type("u32")), columns(operand(1), false)};
      break;
    case TensorAction::load:
    case TensorAction::store: tensor_transfer(statement, operation); break;
    case TensorAction::commit:
      must_end_at(statement.multicast ? 2 : 1);
      operation.sources = {shared_address(operand(0), statement.space)};
      if (statement.multicast && operand(1).kind == Kind::number) fail(operand(1), "the mask of blocks is a register of 16 bits");
      if (statement.multicast) operation.sources.push_back(source(operand(1), *find_ptx_type("b16")));
      break;
    case TensorAction::multiply: tensor_product(match, statement, operation); break;
    case TensorAction::copy: tensor_copy(operation); break;
    case TensorAction::shift:
      must_end_at(1);
      operation.sources = {tensor_address(operand(0))};
      break;
    case TensorAction::relinquish:
    case TensorAction::wait_load:
    case TensorAction::wait_store:
    case TensorAction::fence_before:
    case TensorAction::fence_after: no_operands(); break;
  }
  operation.operation.payload = draft_.program.add(statement);
  add(std::move(operation));
}

}  // namespace warpmat::code
