// Statements of tcgen05, judged as ptxas 13.0 judges them.

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include <fmt/core.h>

#include <warpmat/lower/makers.h>
#include <warpmat/lower/operands.h>
#include <warpmat/lower/tensor_statement.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Semantics;
using TensorAction = TensorStatement::Action;
using Kind = syntax::Operand::Kind;

namespace {

const DataType& word_type() {
  return *find_ptx_type("b32");
}

/// An address of tensor memory in brackets: a register of 32 bits and an offset.
Value tensor_address(Context& in, const syntax::Operand& operand) {
  if (operand.kind != Kind::address) in.fail(operand, "expected an address of tensor memory in brackets");
  syntax::Operand base = operand.items.front();
  const Value value = named_register(in, base);
  check_type(in, base, value, *find_ptx_type("u32"));
  if (in.class_of(value) != RegisterClass::word || in.bits_of(value) != 32)
    in.fail(base, fmt::format("'{}' has {} bits; an address of tensor memory has 32", base.text, in.bits_of(value)));
  if (operand.offset == 0) return value;
  return in.computed(RegisterClass::word, "add.u32", {value, in.constant(RegisterClass::word, static_cast<std::uint32_t>(operand.offset))});
}

/// The number of columns of alloc, and of dealloc, of which ptxas asks less.
Value columns(Context& in, const syntax::Operand& operand, bool allocates) {
  const DataType& type = *find_ptx_type("u32");
  if (operand.kind != Kind::number) return source(in, operand, type);
  syntax::Operand magnitude = operand;
  magnitude.negative = false;
  const std::uint64_t count = immediate(in, magnitude);
  if (allocates && (operand.negative || count < 32 || count > 512 || !std::has_single_bit(count)))
    in.fail(operand, fmt::format("the number of columns is 32, 64, 128, 256 or 512; it is {}", operand.text));
  if (count % 32 != 0) in.fail(operand, fmt::format("the number of columns is a multiple of 32; it is {}", operand.text));
  return source(in, operand, type);
}

/// An address of shared memory, of which ptxas takes no register of 16 bits.
Value shared_address(Context& in, const syntax::Operand& operand, Space space) {
  const Place where = place(in, operand);
  if (!where.space && in.bits_of(where.base) == 16) in.fail(operand, "an address of shared memory has 32 or 64 bits");
  return address(in, operand, space);
}

/// ld r, [taddr]{, offset}; st [taddr]{, offset}, r.
void tensor_transfer(Context& in, TensorStatement& statement, DraftOperation& operation) {
  Transfer& transfer = statement.transfer;
  const bool loads = statement.action == TensorAction::load;
  const std::size_t reduced = statement.reduction != TensorStatement::Reduction::none ? 1 : 0;
  const std::size_t end = (transfer.shape->has_second ? 3 : 2) + reduced, registers_at = loads ? 0 : end - 1;
  in.must_end_at(end, " here");
  operation.sources = {tensor_address(in, in.operand(loads ? 1 + reduced : 0))};
  if (transfer.shape->has_second) {
    syntax::Operand offset = in.operand(loads ? 2 + reduced : 1);
    const bool negative = std::exchange(offset.negative, false);
    const auto columns = static_cast<std::int32_t>(immediate(in, offset));
    transfer.second_columns = negative ? -std::int64_t{columns} : columns;
  }
  const syntax::Operand& written = in.operand(registers_at);
  if (written.kind != Kind::vector) in.fail(written, fmt::format("{} takes {} registers in braces", in.opcode(), transfer.registers()));
  for (const syntax::Operand& item : written.items)
    if (item.discards()) in.fail(item, fmt::format("{} moves every register: none may be _", in.opcode()));
  const std::vector<Value> values = group(in, written, word_type(), loads, static_cast<std::size_t>(transfer.registers()));
  std::vector<Value>& to = loads ? operation.results : operation.sources;
  to.insert(to.end(), values.begin(), values.end());
  if (reduced == 0) return;
  const syntax::Operand& reduced_to = in.operand(1);  // which may stand in braces (ptxas 13.0)
  const bool braced = reduced_to.kind == Kind::vector && reduced_to.items.size() == 1;
  operation.results.push_back(result(in, braced ? reduced_to.items.front() : reduced_to, *type_of(statement.reduction)));
}

void disabled_lanes(Context& in, const syntax::Operand& lanes, TensorStatement& statement, DraftOperation& operation) {
  const std::size_t words = static_cast<std::size_t>(tensor_lanes / 32 * statement.variant.group);
  if (std::ranges::all_of(lanes.items, [](const syntax::Operand& item) { return item.kind == Kind::number; }))
    in.fail(lanes, fmt::format("one of the {} words of disable-output-lane at least is a register", words == 4 ? "four" : "eight"));
  const std::vector<Value> values = group(in, lanes, word_type(), false, words);
  operation.sources.insert(operation.sources.end(), values.begin(), values.end());
  statement.disabled_words = static_cast<std::uint8_t>(words);
}

void scale_of_d(Context& in, const Match& match, const syntax::Operand& given, TensorStatement& statement) {
  const Target& target = *in.draft.program.target;
  const std::uint64_t scale = immediate(in, given);
  if (!match.has(".kind::f16") && !match.has(".kind::tf32")) in.fail(given, "scale-input-d goes with kind::f16 and kind::tf32");
  if (target.family != 100) in.fail(given, fmt::format("scale-input-d needs a target of sm_100f; the target is {}", target.name));
  if (scale > 15) in.fail(given, "scale-input-d is a number from 0 to 15");
  statement.scale_d = static_cast<std::uint8_t>(scale);
}

/// mma{.ws}{.sp} [d], a-desc or [a], b-desc{, [metadata]}, idesc, ... as TensorStatement says.
void tensor_product(Context& in, const Match& match, TensorStatement& statement, DraftOperation& operation) {
  const DataType& descriptor = *find_ptx_type("b64");
  operation.sources = {tensor_address(in, in.operand(0))};
  statement.a_in_tensor_memory = in.operand(1).kind == Kind::address;
  if (statement.shifts_a && !statement.a_in_tensor_memory) in.fail(in.operand(1), ".ashift goes with an A in tensor memory");
  if (statement.shifts_a && (match.has(".collector::a::use") || match.has(".collector::a::fill")))
    in.fail(".ashift goes with .collector::a::lastuse and .collector::a::discard");
  operation.sources.push_back(statement.a_in_tensor_memory ? tensor_address(in, in.operand(1)) : source(in, in.operand(1), descriptor));
  operation.sources.push_back(source(in, in.operand(2), descriptor));
  std::size_t next = 3;
  if (statement.variant.sparse) operation.sources.push_back(tensor_address(in, in.operand(next++)));
  operation.sources.push_back(source(in, in.operand(next++), *find_ptx_type("u32")));
  if (statement.kind->scaled())
    for (int i = 0; i < 2; ++i) operation.sources.push_back(tensor_address(in, in.operand(next++)));
  else if (!statement.variant.weights && in.operand(next).kind == Kind::vector)
    disabled_lanes(in, in.operand(next++), statement, operation);
  operation.sources.push_back(source(in, in.operand(next++), *find_ptx_type("pred")));
  if (in.operands().size() == next) return;
  if (statement.variant.weights) {
    statement.masks_columns = true;
    operation.sources.push_back(source(in, in.operand(next), descriptor));
  } else {
    scale_of_d(in, match, in.operand(next), statement);
  }
  in.must_end_at(next + 1, " here");
}

/// cp [taddr], s-desc.
void tensor_copy(Context& in, DraftOperation& operation) {
  in.must_end_at(2, " here");
  operation.sources = {tensor_address(in, in.operand(0)), source(in, in.operand(1), *find_ptx_type("b64"))};
}

}  // namespace

void lower::tensor_memory(Context& in, const Match& match) {
  DescribedTensorStatement described = describe_tensor_statement(match, *in.draft.program.target);
  if (described.problem) in.fail(*described.problem);
  TensorStatement& statement = described.statement;
  DraftOperation operation{.operation = {.semantics = Semantics::tensor_memory}};
  switch (statement.action) {
    case TensorAction::allocate:
      in.must_end_at(2, " here");
      operation.sources = {shared_address(in, in.operand(0), statement.space), columns(in, in.operand(1), true)};
      break;
    case TensorAction::deallocate:
      in.must_end_at(2, " here");
      operation.sources = {source(in, in.operand(0), *find_ptx_type("u32")), columns(in, in.operand(1), false)};
      break;
    case TensorAction::load:
    case TensorAction::store: tensor_transfer(in, statement, operation); break;
    case TensorAction::commit:
      in.must_end_at(statement.multicast ? 2 : 1, " here");
      operation.sources = {shared_address(in, in.operand(0), statement.space)};
      if (statement.multicast && in.operand(1).kind == Kind::number) in.fail(in.operand(1), "the mask of blocks is a register of 16 bits");
      if (statement.multicast) operation.sources.push_back(source(in, in.operand(1), *find_ptx_type("b16")));
      break;
    case TensorAction::multiply: tensor_product(in, match, statement, operation); break;
    case TensorAction::copy: tensor_copy(in, operation); break;
    case TensorAction::shift:
      in.must_end_at(1, " here");
      operation.sources = {tensor_address(in, in.operand(0))};
      break;
    case TensorAction::relinquish:
    case TensorAction::wait_load:
    case TensorAction::wait_store:
    case TensorAction::fence_before:
    case TensorAction::fence_after: in.must_end_at(0); break;
  }
  in.add(std::move(operation), statement);
}

}  // namespace warpmat::code
