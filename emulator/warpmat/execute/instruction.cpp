#include <warpmat/instruction.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <warpmat/execute/fast/fast.h>
#include <warpmat/execute/instruction_operands.h>
#include <warpmat/execute/listed_warps.h>
#include <warpmat/execute/operand_words.h>
#include <warpmat/execute/operands/matrix_storage.h>
#include <warpmat/execute/reference/execute.h>
#include <warpmat/execute/scalar_form.h>
#include <warpmat/execute/staged_warp.h>
#include <warpmat/execute/trap_in_warp.h>
#include <warpmat/execute/warpgroup.h>
#include <warpmat/ptx/catalogue/restrictions.h>
#include <warpmat/tables/capacity.h>
#include <warpmat/tables/nearest_opcode.h>
#include <warpmat/tables/opcode_text.h>
#include <warpmat/text.h>
#include <warpmat/wgmma.h>

namespace warpmat {
namespace {

const Form& known_form(std::string_view opcode) {
  if (const Form* form = find_form(opcode)) return *form;
  throw std::invalid_argument(explain_unknown_form(opcode));
}

/// Whether a row of the catalogue has the mnemonic of `opcode`.
bool has_scalar_mnemonic(std::string_view opcode) {
  const std::string_view mnemonic = mnemonic_of(opcode);
  return std::ranges::any_of(catalogue::patterns(),
                             [&](const catalogue::Pattern& pattern) { return !pattern.hidden && pattern.mnemonic == mnemonic; });
}

/// Whether `opcode` spells an instruction of any kind, on some target.
bool is_instruction(std::string_view opcode) {
  if (find_form(opcode) != nullptr || find_wgmma(opcode) != nullptr) return true;
  const std::optional<catalogue::Match> match = catalogue::find_row(opcode);
  return match && instruction_kind(*match);
}

/// Why no call executes the instruction. Precondition: it needs_program().
std::string problem_of_statement(const Instruction& instruction) {
  const std::string_view wanted = instruction.kind() == InstructionKind::lanes ? "other lanes" : "memory";
  return format_text("'{}' needs a program around it, for {}: it is a statement of a list or of a kernel", instruction.opcode(), wanted);
}

/// The row of the table that `row`, a Form or a Target, equals.
template <typename Row>
const Row& listed_row(const Row& row, std::string_view name) {
  if (const Row* found = listed(row)) return *found;
  throw std::invalid_argument(format_text("{} is no row of the table: it was changed after it had been copied", name));
}

/// If assertions are compiled in: ends the process if a caller's arguments have a problem.
template <typename FindProblem>
void assert_no_problem([[maybe_unused]] FindProblem find_problem) {
#ifndef NDEBUG
  if (const std::optional<std::string> problem = find_problem()) {
    std::fprintf(stderr, "warpmat: %s\n", problem->c_str());
    std::abort();
  }
#endif
}

}  // namespace

std::string explain_unknown_instruction(std::string_view opcode, std::optional<InstructionKind> kind) {
  if (kind == InstructionKind::matrix) return explain_unknown_form(opcode);
  if (kind == InstructionKind::warpgroup) return explain_unknown_wgmma(opcode);
  if (const OpcodeText text = opcode_in(opcode); !text.beside.empty() && !text.opcode.empty()) {
    const std::string rest =
        is_instruction(text.opcode) ? format_text("the opcode is {}", text.opcode) : explain_unknown_instruction(text.opcode);
    return format_text("'{}' has {} beside the opcode: {}", opcode, text.listed(), rest);
  }
  if (const std::optional<catalogue::Match> match = catalogue::find_row(opcode))
    if (auto reason = scalar_refusal(*match)) return *reason;
  const bool scalar = table_of(opcode) != OpcodeTable::forms && has_scalar_mnemonic(opcode);
  return scalar ? catalogue::explain_unknown_row(opcode) : explain_unknown_form(opcode);
}

Instruction::Instruction(std::string_view opcode, std::string_view target_name)
    : Instruction(known_form(opcode), warpmat::target(target_name)) {}

Instruction find(std::string_view opcode, std::string_view target_name) {
  if (const Form* const form = find_form(opcode)) return {*form, warpmat::target(target_name)};
  if (const WgmmaForm* const form = find_wgmma(opcode)) return {*form, warpmat::target(target_name)};
  const std::optional<catalogue::Match> match = catalogue::find_row(opcode);
  if (!match || scalar_refusal(*match)) throw std::invalid_argument(explain_unknown_instruction(opcode));
  const Target& target = warpmat::target(target_name);
  if (const auto reason = catalogue::refusal(*match, target, newest_ptx)) throw std::invalid_argument(*reason);
  return ScalarForm::instruction(*match, target);
}

Instruction::Instruction(const ScalarForm& form, const Target& target) : target_(&target), scalar_(&form), kind_(form.kind()) {}

Instruction::Instruction(const WgmmaForm& form, const Target& target, PtxVersion version)
    : target_(&listed_row(target, target.name)),
      lowering_(&lowering_of(form)),
      wgmma_(find_wgmma(form.opcode)),
      kind_(InstructionKind::warpgroup) {
  if (wgmma_ == nullptr || *wgmma_ != form) throw std::invalid_argument(format_text("{} is no form of the table", form.opcode));
  if (const auto reason = unavailable(form, *target_, version)) throw std::invalid_argument(*reason);
  fast_ = find_fast_path(*wgmma_->tile, *lowering_);
  (void)operands_of(*wgmma_);
}

Instruction::Instruction(const Form& form, const Target& target, PtxVersion version)
    : form_(&form_on(listed_row(form, form.opcode), listed_row(target, target.name).hardware)),
      target_(&listed_row(target, target.name)),
      lowering_(find_lowering(*form_, target_->hardware)) {
  if (const auto reason = unavailable(*form_, *target_, version)) throw std::invalid_argument(*reason);
  if (lowering_ == nullptr)
    throw std::logic_error(format_text("the lowering table has no row for {} on {}", form_->opcode, name(target_->hardware)));
  fast_ = find_fast_path(*form_, *lowering_);
  (void)operand_words(*form_);  // builds the tables now, so that executing allocates nothing
  if (moves_matrix(*form_)) (void)listed_runs(*form_);
}

std::string_view Instruction::opcode() const {
  switch (kind_) {
    case InstructionKind::matrix: return form_->opcode;
    case InstructionKind::warpgroup: return wgmma_->opcode;
    case InstructionKind::scalar:
    case InstructionKind::load:
    case InstructionKind::store:
    case InstructionKind::lanes: break;
  }
  return scalar_->opcode();
}

std::span<const InstructionOperand> Instruction::operands() const {
  switch (kind_) {
    case InstructionKind::matrix: return operands_of(*form_);
    case InstructionKind::warpgroup: return operands_of(*wgmma_).operands;
    case InstructionKind::scalar:
    case InstructionKind::load:
    case InstructionKind::store:
    case InstructionKind::lanes: break;
  }
  return scalar_->operands();
}

Label Instruction::label() const {
  return scalar_ != nullptr ? scalar_->evidence(target_->hardware).label : label_of(*lowering_);
}

std::string_view Instruction::source() const {
  return scalar_ != nullptr ? scalar_->evidence(target_->hardware).source : lowering_->source;
}

int Instruction::access_bytes() const {
  if (kind_ != InstructionKind::load && kind_ != InstructionKind::store) return 0;
  const InstructionOperand& data = operands()[kind_ == InstructionKind::load ? 0 : 1];
  return data.type()->bytes() * data.registers();
}

Requirement Instruction::requirement() const {
  if (scalar_ != nullptr) return scalar_->requirement();
  return kind_ == InstructionKind::warpgroup ? wgmma_->requirement() : form_->requirement;
}

namespace {

/// Returns use(call), with an empty view for each operand at the end that `call` leaves out of `count`. A function of its own, so that
/// other calls need no stack for the views.
template <typename Use>
[[gnu::noinline]] auto use_all_operands(const Call& call, std::size_t count, Use use) {
  std::array<RegisterView, ScalarForm::most_operands> views;  // other instructions have fewer
  std::ranges::copy(call.operands, views.begin());
  Call whole = call;
  whole.operands = std::span(views).first(count);
  return use(whole);
}

}  // namespace

void Instruction::execute(const Call& call, std::size_t warps, const ExecutionOptions& options) const {
  assert_no_problem([&] { return problem(call, warps); });
  if (const std::size_t count = operands().size(); call.operands.size() < count)
    return use_all_operands(call, count, [&](const Call& whole) { execute(whole, warps, options); });
  switch (kind_) {
    case InstructionKind::matrix: return execute_matrix(call, warps, options);
    case InstructionKind::warpgroup: return execute_warpgroups(*this, call, warps, options);
    case InstructionKind::scalar: return scalar_->execute(call.operands, warps, options.path);
    case InstructionKind::load:
    case InstructionKind::store:
    case InstructionKind::lanes: throw std::invalid_argument(problem_of_statement(*this));
  }
}

void Instruction::execute_matrix(const Call& call, std::size_t warps, const ExecutionOptions& options) const {
  Batch batch;
  static_cast<BatchMemory&>(batch) = call;
  std::size_t next = 0;
  for (const OperandWords& operand : operand_words(*form_)) {
    const RegisterView& view = call.operands[next++];
    if (operand.written)
      batch.destination = view;
    else
      batch.source(operand.name) = view;
  }
  execute(batch, warps, options);
}

namespace {

/// Whether the reference and the kernels can read and write the registers and memory of `batch` in place. StagedWarp executes all other
/// batches.
bool usable_in_place(const Form& form, const Batch& batch) {
  const auto in_place = [](const auto& registers) { return registers.is_register_major() || registers.is_list(); };
  for (const Operand& operand : form.operands) {
    if (!(operand.written ? in_place(batch.destination) : in_place(batch.source(operand.name)))) return false;
    if (operand.kind == OperandKind::address && !usable_in_place(static_cast<const BatchMemory&>(batch))) return false;
  }
  return true;
}

/// Whether all operands of `batch` are lists, or left out.
bool are_lists(const Form& form, const Batch& batch) {
  for (const Operand& operand : form.operands) {
    if (operand.written ? batch.destination.is_list() : batch.source(operand.name).is_list()) continue;
    if (operand.kind != OperandKind::stride || !batch.source(operand.name).is_empty()) return false;
  }
  return true;
}

/// A function of its own, so that a warp of lists has little to save.
[[gnu::noinline]] void execute_first(const Instruction& instruction, const Batch& batch, const ExecutionOptions& options) {
  try {
    instruction.execute(batch, 1, options);
  } catch (const Trap& trap) {  // it names the warp; here there is one
    throw Trap(trap.kind, trap.site.operand, trap.site.lane, trap.address, trap.reason);
  }
}

}  // namespace

void Instruction::execute(const Batch& batch, const ExecutionOptions& options) const {
  const bool has_bytes = batch.rows == nullptr && batch.shared_base <= UINT32_MAX;
  if (has_bytes && are_lists(*form_, batch)) return execute_lists(batch, options);
  execute_first(*this, batch, options);
}

void Instruction::execute_lists(const Batch& batch, const ExecutionOptions& options) const {
  assert_no_problem([&] { return problem(batch); });
  if (options.path == Path::fast && fast_ != nullptr && fast_->execute(Warps::of(batch)) == 1) return;
  warpmat::execute(*form_, *lowering_, batch, options);
}

namespace {

/// Sources are only read. Their pointers are not const because sources and destinations share one type.
RegisterView as_destination(const ConstRegisterView& source) {
  if (source.is_list())
    return {std::span(const_cast<std::uint32_t* const*>(source.list().data()), source.list_size()), source.warp_stride()};
  return {const_cast<std::uint32_t*>(source.words()), source.warp_stride(), source.word_stride(), source.lane_stride(), source.numbers()};
}

std::size_t move_directly(const MovePlan& plan, const Batch& batch, std::size_t warps) {
  const ConstRegisterView& p = batch.source(OperandName::p);
  const bool is_store = plan.kind == MovePlan::Kind::store;
  return move_by_threads(plan, is_store ? as_destination(batch.source(OperandName::r)) : batch.destination, p, batch, warps);
}

void execute_in_place(const Instruction& instruction, const Batch& batch, std::size_t warps, const ExecutionOptions& options) {
  ListedWarps listed(instruction, batch);
  for (const OperandWords& operand : operand_words(instruction.form()))
    if (operand.written)
      listed.add(operand, batch.destination);
    else
      listed.add(operand, batch.source(operand.name));
  listed.execute(warps, options);
}

/// A function of its own, so that batches executed in place need no StagedWarp, whose stack is 10 KB.
[[gnu::noinline]] void execute_staged(const Instruction& instruction, const FastPath* fast, const Batch& batch, std::size_t first,
                                      std::size_t warps, const ExecutionOptions& options) {
  StagedWarp staged(instruction, batch, options.path, as_lane_kernel(fast), first);
  staged.add(operand_words(instruction.form()), [&](std::size_t, const OperandWords& operand, RegisterView& registers) {
    registers = operand.written ? batch.destination : as_destination(batch.source(operand.name));
    return true;
  });
  staged.execute(warps, options);
}

}  // namespace

void Instruction::execute(const Batch& batch, std::size_t warps, const ExecutionOptions& options) const {
  assert_no_problem([&] { return problem(batch, warps); });
  if (usable_in_place(*form_, batch)) return execute_in_place(*this, batch, warps, options);
  const MovePlan* const moves = options.path == Path::fast && fast_ != nullptr ? fast_->moves() : nullptr;
  const std::size_t moved = moves == nullptr || !usable_in_place(batch) ? 0 : move_directly(*moves, batch, warps);
  if (moved < warps) execute_staged(*this, fast_, batch, moved, warps, options);
}

namespace {

/// A sequence of additions. Each writes a register of D before the next reads its register of C. It is executed once for each addition,
/// because the products do not depend on C.
template <typename Execute>
void execute_sequence(StagedWarp& staged, Execute execute) {
  for (int word = 0; word < staged.destination_words(); ++word) {
    staged.read_c();
    execute();
    staged.write_word(word);
  }
}

}  // namespace

void StagedWarp::execute(std::size_t last, const ExecutionOptions& options) {
  const FastPath* const fast = options.path == Path::fast ? instruction_.fast_ : nullptr;
  for (std::size_t warp = first_; warp < last; ++warp) {
    try {
      read(warp);
      if (lowering_.semantics == Semantics::split_dot && c_overlaps_earlier_d()) {
        execute_sequence(*this, [&] { instruction_.execute_lists(copies(), options); });
        continue;
      }
      const bool done = fast != nullptr && fast->execute(warps()) == 1;
      if (!done) warpmat::execute(form_, lowering_, copies(), options);
      write();
    } catch (const Trap& trap) {
      throw in_warp(trap, warp);
    }
  }
}

// ---- Checks of a caller's arguments ---------------------------------------------------------------------------------------------------

namespace {

bool is_aligned(const std::uint32_t* words) {
  return reinterpret_cast<std::uintptr_t>(words) % alignof(std::uint32_t) == 0;
}

std::optional<std::string> problem_of_register(const Form& form, OperandName operand, std::size_t index, const std::uint32_t* lanes_of) {
  if (lanes_of == nullptr) return format_text("{}: register {} of operand {} is null", form.opcode, index, name(operand));
  if (!is_aligned(lanes_of))
    return format_text("{}: register {} of operand {} does not lie at a multiple of {} bytes", form.opcode, index, name(operand),
                       alignof(std::uint32_t));
  return std::nullopt;
}

/// Of a list, or of no words at all.
template <typename Word>
std::optional<std::string> problem_of_list(const Form& form, const Operand& operand, const BasicRegisterView<Word>& registers,
                                           std::size_t words) {
  if (registers.list_size() != words)
    return format_text("{}: operand {} has {} registers of 32 bits; {} given", form.opcode, name(operand.name), words,
                       registers.list_size());
  for (std::size_t i = 0; i < words; ++i)
    if (auto found = problem_of_register(form, operand.name, i, registers.list()[i])) return found;
  return std::nullopt;
}

template <typename Word>
std::optional<std::string> problem_of_operand(const Form& form, const Operand& operand, const BasicRegisterView<Word>& registers,
                                              bool wide_addresses) {
  if (registers.is_list() || registers.is_empty())
    return problem_of_list(form, operand, registers,
                           words_in_call(operand.kind, static_cast<std::size_t>(operand.words()), wide_addresses));
  if (auto found = problem_of_register(form, operand.name, 0, registers.words())) return found;
  if (operand.written && registers.lane_stride() == 0)
    return format_text("{}: operand {} is written, so its lane_stride cannot be 0", form.opcode, name(operand.name));
  return std::nullopt;
}

std::optional<std::string> problem_of_memory(const Form& form, const Batch& batch) {
  if (batch.rows == nullptr) {
    if (batch.shared != nullptr) return std::nullopt;
    if (batch.shared_bytes == 0) return format_text("{}: operand p addresses memory; none given", form.opcode);
    return format_text("{}: operand p addresses memory of {} bytes, which is null", form.opcode, batch.shared_bytes);
  }
  const bool load = form.mnemonic == Mnemonic::ldmatrix || form.mnemonic == Mnemonic::wmma_load;
  if (load ? batch.rows->read != nullptr : batch.rows->write != nullptr) return std::nullopt;
  return format_text("{}: the memory's callback {} is null", form.opcode, load ? "read" : "write");
}

}  // namespace

std::optional<std::string> Instruction::problem(const Batch& batch, std::size_t warps) const {
  if (warps == 0) return std::nullopt;
  for (const Operand& operand : form_->operands) {
    if (operand.kind == OperandKind::stride && batch.source(operand.name).is_empty()) continue;
    auto found = operand.written ? problem_of_operand(*form_, operand, batch.destination, batch.wide_addresses)
                                 : problem_of_operand(*form_, operand, batch.source(operand.name), batch.wide_addresses);
    if (!found && operand.kind == OperandKind::address) found = problem_of_memory(*form_, batch);
    if (found) return found;
  }
  return std::nullopt;
}

namespace {

/// What is wrong with the words of one operand; nullptr if nothing is.
const char* problem_of_view(const InstructionOperand& operand, const RegisterView& view, bool wide_addresses) {
  constexpr auto misaligned = "words do not lie at a multiple of 4 bytes";
  if (view.is_empty()) return operand.is_optional() ? nullptr : "words is null";
  if (view.is_list()) {
    const std::size_t words = words_in_call(operand.kind(), static_cast<std::size_t>(operand.words()), wide_addresses);
    if (view.list_size() < words) return "its list has fewer registers than the operand has words";
    if (view.list_size() > words) return "its list has more registers than the operand has words";
    if (std::ranges::count(view.list(), nullptr) != 0) return "words is null";
    return std::ranges::all_of(view.list(), is_aligned) ? nullptr : misaligned;
  }
  if (!is_aligned(view.words())) return misaligned;
  if (operand.is_written() && view.lane_stride() == 0) return "it is written, so its lane_stride cannot be 0";
  return nullptr;
}

}  // namespace

std::optional<std::string> Instruction::problem(const Call& call, std::size_t count) const {
  if (needs_program(kind_)) return problem_of_statement(*this);
  const auto of_group = static_cast<std::size_t>(warps());
  if (count % of_group != 0) return format_text("{}: {} warps execute it together; {} given", opcode(), of_group, count);
  if (count == 0) return std::nullopt;
  const std::span<const InstructionOperand> needed = operands();
  if (const std::size_t fewest = fewest_operands(needed); call.operands.size() < fewest)
    return format_text("{}: {} operands are needed; {} given", opcode(), fewest, call.operands.size());
  if (call.operands.size() < needed.size())
    return use_all_operands(call, needed.size(), [&](const Call& whole) { return problem(whole, count); });
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (const char* const what = problem_of_view(needed[i], call.operands[i], call.wide_addresses))
      return format_text("{}: operand {}: {}", opcode(), needed[i].name(), what);
    if (needed[i].kind() != InstructionOperand::Kind::address) continue;
    Batch batch;
    static_cast<BatchMemory&>(batch) = call;
    if (auto found = problem_of_memory(*form_, batch)) return found;
  }
  return kind_ == InstructionKind::warpgroup ? problem_of_warpgroup(*this, call, count) : std::nullopt;
}

}  // namespace warpmat
