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
#include <warpmat/execute/operands/batch.h>
#include <warpmat/execute/operands/matrix_storage.h>
#include <warpmat/execute/reference/execute.h>
#include <warpmat/execute/scalar_form.h>
#include <warpmat/execute/staged_product.h>
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
  words_ = operand_words(*form_).data();
  (void)operands_of(*form_);  // builds the table now, so that executing allocates nothing
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
  const std::size_t count = form_ != nullptr ? form_->operands.size() : operands().size();
  if (call.operands.size() < count) [[unlikely]]
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

namespace {

/// Whether the reference and the kernels can read and write the registers and memory of `call` where they are. StagedWarp executes all
/// other calls.
bool usable_in_place(std::span<const OperandWords> operands, const Call& call) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!call.operands[i].is_register_major() && !call.operands[i].is_list()) return false;
    if (operands[i].kind == OperandKind::address && !usable_in_place(static_cast<const CallMemory&>(call))) return false;
  }
  return true;
}

// Functions of their own, so that calls need stack for the registers of one of them alone.

[[gnu::noinline]] void execute_in_place(const Instruction& instruction, std::span<const OperandWords> operands, const Call& call,
                                        std::size_t warps, const ExecutionOptions& options) {
  ListedWarps listed(instruction, call);
  for (std::size_t i = 0; i < operands.size(); ++i) listed.add(operands[i], call.operands[i]);
  listed.execute(warps, options);
}

/// A product by a kernel that works on these registers where they are, without copies: the common case of a simulator. Returns the number
/// of warps done.
[[gnu::noinline]] std::size_t multiply_in_place(LaneProduct&& product, std::span<const OperandWords> operands, const Call& call,
                                                std::size_t warps) {
  return product.add(operands, call.operands) ? product.execute(warps) : 0;
}

[[gnu::noinline]] std::size_t multiply_staged(const FastPath& fast, bool split, std::span<const OperandWords> operands, const Call& call,
                                              std::size_t warps) {
  StagedProduct product(fast, split);
  product.add(operands, call.operands);
  return product.execute(warps);
}

[[gnu::noinline]] void execute_staged(const Instruction& instruction, const FastPath* fast, std::span<const OperandWords> operands,
                                      const Call& call, std::size_t first, std::size_t warps, const ExecutionOptions& options) {
  StagedWarp staged(instruction, call, options.path, as_lane_kernel(fast), first);
  staged.add(operands, call.operands);
  staged.execute(warps, options);
}

/// The first warps of a call that is not usable in place, as far as a kernel takes their registers without a StagedWarp. Returns how many.
std::size_t execute_directly(const FastPath& fast, bool split, std::span<const OperandWords> operands, const Call& call,
                             std::size_t warps) {
  if (fast.is_product()) {
    const std::size_t done = fast.takes_all_lanes() ? multiply_in_place(LaneProduct(fast, split), operands, call, warps) : 0;
    return done != 0 ? done : multiply_staged(fast, split, operands, call, warps);
  }
  if (fast.moves() == nullptr || !usable_in_place(call)) return 0;
  const bool r_is_first = operands[0].name == OperandName::r;
  return move_by_threads(*fast.moves(), call.operands[r_is_first ? 0 : 1], call.operands[r_is_first ? 1 : 0], call, warps);
}

}  // namespace

void Instruction::execute_matrix(const Call& call, std::size_t warps, const ExecutionOptions& options) const {
  const std::span<const OperandWords> operands(words_, form_->operands.size());
  if (usable_in_place(operands, call)) return execute_in_place(*this, operands, call, warps, options);
  const bool split = lowering_->semantics == Semantics::split_dot;
  const std::size_t done = options.path == Path::fast && fast_ != nullptr ? execute_directly(*fast_, split, operands, call, warps) : 0;
  if (done < warps) execute_staged(*this, fast_, operands, call, done, warps, options);
}

RegisterView read_only(const ConstRegisterView& words) {
  if (words.is_list()) return {std::span(const_cast<std::uint32_t* const*>(words.list().data()), words.list_size()), words.warp_stride()};
  return {const_cast<std::uint32_t*>(words.words()), words.warp_stride(), words.word_stride(), words.lane_stride(), words.numbers()};
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
  const auto execute_copies = [&] {
    const Batch batch = copies();
    if (fast == nullptr || fast->execute(Warps::of(batch)) != 1) warpmat::execute(form_, lowering_, batch, options);
  };
  for (std::size_t warp = first_; warp < last; ++warp) {
    try {
      read(warp);
      if (lowering_.semantics == Semantics::split_dot && c_overlaps_earlier_d()) {
        execute_sequence(*this, execute_copies);
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

std::optional<std::string> problem_of_memory(const Form& form, const CallMemory& memory) {
  if (memory.rows == nullptr) {
    if (memory.shared != nullptr) return std::nullopt;
    if (memory.shared_bytes == 0) return format_text("{}: operand p addresses memory; none given", form.opcode);
    return format_text("{}: operand p addresses memory of {} bytes, which is null", form.opcode, memory.shared_bytes);
  }
  const bool load = form.mnemonic == Mnemonic::ldmatrix || form.mnemonic == Mnemonic::wmma_load;
  if (load ? memory.rows->read != nullptr : memory.rows->write != nullptr) return std::nullopt;
  return format_text("{}: the memory's callback {} is null", form.opcode, load ? "read" : "write");
}

/// What is wrong with a list of registers of an operand of `words` words, to be read behind its name; nothing if nothing is.
std::optional<std::string> problem_of_list(RegisterList list, std::size_t words) {
  if (list.size() != words) return format_text(" has {} register{} of 32 bits; {} given", words, words == 1 ? "" : "s", list.size());
  if (const auto null = std::ranges::find(list, nullptr); null != list.end())
    return format_text(": register {} is null", null - list.begin());
  if (const auto odd = std::ranges::find_if_not(list, is_aligned); odd != list.end())
    return format_text(": register {} does not lie at a multiple of 4 bytes", odd - list.begin());
  return std::nullopt;
}

/// The same of the words of one operand.
std::optional<std::string> problem_of_view(const InstructionOperand& operand, const RegisterView& view, bool wide_addresses) {
  const std::size_t words = words_in_call(operand.kind(), static_cast<std::size_t>(operand.words()), wide_addresses);
  if (view.is_empty() && operand.is_optional()) return std::nullopt;
  if (view.is_empty() || view.is_list()) return problem_of_list(view.is_list() ? view.list() : RegisterList(), words);
  if (!is_aligned(view.words())) return ": words do not lie at a multiple of 4 bytes";
  if (operand.is_written() && view.lane_stride() == 0) return ": it is written, so its lane_stride cannot be 0";
  return std::nullopt;
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
    if (const auto what = problem_of_view(needed[i], call.operands[i], call.wide_addresses))
      return format_text("{}: operand {}{}", opcode(), needed[i].name(), *what);
    if (needed[i].kind() != InstructionOperand::Kind::address) continue;
    if (auto found = problem_of_memory(*form_, call)) return found;
  }
  return kind_ == InstructionKind::warpgroup ? problem_of_warpgroup(*this, call, count) : std::nullopt;
}

}  // namespace warpmat
