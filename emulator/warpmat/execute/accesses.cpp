#include <warpmat/instruction.h>

#include <array>
#include <stdexcept>

#include <warpmat/execute/operands/batch.h>
#include <warpmat/execute/operands/matrix_storage.h>
#include <warpmat/execute/operands/row_addresses.h>
#include <warpmat/execute/warpgroup.h>

namespace warpmat {
namespace {

/// Of one warp the sources of a batch that say where memory is.
class AddressViews {
 public:
  AddressViews(const Batch& batch, std::size_t warp) {
    static_cast<CallMemory&>(of_warp_) = batch;
    for (const OperandName name : {OperandName::p, OperandName::stride}) add(name, batch.source(name), warp);
  }
  AddressViews(const AddressViews&) = delete;
  AddressViews& operator=(const AddressViews&) = delete;

  const Batch& batch() const { return of_warp_; }

 private:
  void add(OperandName name, const ConstRegisterView& source, std::size_t warp) {
    if (source.is_empty()) return;
    if (!source.is_list()) {
      of_warp_.source(name) = source.from_warp(warp);
      return;
    }
    const std::size_t first = count_;
    for (std::size_t i = 0; i < source.list_size() && count_ < most; ++i) pointers_[count_++] = source.word(static_cast<int>(i), warp);
    of_warp_.source(name) = std::span(pointers_).subspan(first, count_ - first);
  }

  static constexpr std::size_t most = 3;  // two of p, a stride
  std::array<const std::uint32_t*, most> pointers_;
  std::size_t count_ = 0;
  Batch of_warp_;
};

std::vector<MemoryAccess> row_accesses(const Instruction& instruction, const Batch& batch) {
  const Form& form = instruction.form();
  const bool writes = form.mnemonic == Mnemonic::stmatrix;
  std::vector<MemoryAccess> all;
  for (int lane = form.rows_in_memory(); lane < addressing_lanes(form, instruction.lowering()); ++lane)
    (void)aligned_row_address(batch, lane);
  for (int lane = 0; lane < form.rows_in_memory(); ++lane)
    all.push_back({.writes = writes,
                   .bytes = Form::row_bytes,
                   .address = aligned_row_address(batch, lane),
                   .lane = lane,
                   .element = {lane % form.shape.m, 0, lane / form.shape.m}});
  return all;
}

std::vector<MemoryAccess> matrix_accesses(const Form& form, const Batch& batch) {
  const MatrixRuns& runs = listed_runs(form);
  const MatrixStorage storage = storage_of(form, batch);
  const Fragment& fragment = form.operand(OperandName::r).fragment;
  std::vector<MemoryAccess> all;
  for (const MatrixRun& run : runs.runs)
    for (int lane = 0; lane < warp_size; ++lane)
      all.push_back({.space = form.space,
                     .writes = form.mnemonic == Mnemonic::wmma_store,
                     .bytes = runs.bytes,
                     .address = address_of(form, storage, run, lane),
                     .lane = lane,
                     .reg = run.reg,
                     .bit = run.bit,
                     .element = fragment.element({lane, run.reg, run.bit})});
  return all;
}

}  // namespace

std::size_t access_count(const Form& form) {
  if (form.find_operand(OperandName::p) == nullptr) return 0;
  return moves_matrix(form) ? matrix_runs(form).runs.size() * warp_size : static_cast<std::size_t>(form.rows_in_memory());
}

std::vector<MemoryAccess> accesses(const Instruction& instruction, const Call& call, std::size_t warp) {
  if (instruction.kind() == InstructionKind::warpgroup) {
    if (const auto problem = problem_of_descriptors(instruction, call, warp)) throw std::invalid_argument(*problem);
    return warpgroup_accesses(instruction, call, warp);
  }
  if (instruction.kind() != InstructionKind::matrix || access_count(instruction.form()) == 0) return {};
  const Form& form = instruction.form();
  const AddressViews views(Batch::of(form, call), warp);
  return moves_matrix(form) ? matrix_accesses(form, views.batch()) : row_accesses(instruction, views.batch());
}

}  // namespace warpmat
