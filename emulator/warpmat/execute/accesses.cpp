#include <warpmat/instruction.h>

#include <array>

#include <warpmat/execute/operands/matrix_storage.h>
#include <warpmat/execute/operands/row_addresses.h>

namespace warpmat::inline v0_1 {
namespace {

/// The sources of a batch that say where memory is, as lists of registers of one warp.
class AddressRegisters {
 public:
  AddressRegisters(const Batch& batch, std::size_t warp) {
    arguments_.offset = batch.offset;
    add(OperandName::p, batch, warp, batch.wide_addresses ? 2 : 1);
    if (!batch.source(OperandName::stride).is_empty()) add(OperandName::stride, batch, warp, 1);
  }
  AddressRegisters(const AddressRegisters&) = delete;
  AddressRegisters& operator=(const AddressRegisters&) = delete;

  const Arguments& arguments() const { return arguments_; }

 private:
  void add(OperandName name, const Batch& batch, std::size_t warp, int words) {
    const ConstRegisterView& source = batch.source(name);
    const std::size_t first = count_;
    for (int i = 0; i < words; ++i, ++count_) {
      const std::uint32_t* const word = source.word(i) + static_cast<std::ptrdiff_t>(warp * source.warp_stride());
      for (std::size_t lane = 0; lane < warp_size; ++lane)
        registers_[count_][lane] = word[static_cast<std::ptrdiff_t>(lane) * source.lane_stride()];
      pointers_[count_] = registers_[count_].data();
    }
    arguments_.source(name) = {&pointers_[first], count_ - first};
  }

  static constexpr std::size_t most = 3;  // two of p, a stride
  std::array<Register, most> registers_;
  std::array<const std::uint32_t*, most> pointers_;
  std::size_t count_ = 0;
  Arguments arguments_;
};

std::vector<MemoryAccess> row_accesses(const Instruction& instruction, const Arguments& arguments) {
  const Form& form = instruction.form();
  const bool writes = form.mnemonic == Mnemonic::stmatrix;
  std::vector<MemoryAccess> all;
  for (int lane = form.rows_in_memory(); lane < addressing_lanes(form, instruction.lowering()); ++lane)
    (void)aligned_row_address(arguments, lane);
  for (int lane = 0; lane < form.rows_in_memory(); ++lane)
    all.push_back({.writes = writes,
                   .bytes = Form::row_bytes,
                   .address = aligned_row_address(arguments, lane),
                   .lane = lane,
                   .element = {lane % form.shape.m, 0, lane / form.shape.m}});
  return all;
}

std::vector<MemoryAccess> matrix_accesses(const Form& form, const Arguments& arguments) {
  const MatrixRuns& runs = listed_runs(form);
  const MatrixStorage storage = storage_of(form, arguments);
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

std::vector<MemoryAccess> accesses(const Instruction& instruction, const Batch& batch, std::size_t warp) {
  const Form& form = instruction.form();
  if (form.find_operand(OperandName::p) == nullptr) return {};
  const AddressRegisters registers(batch, warp);
  return moves_matrix(form) ? matrix_accesses(form, registers.arguments()) : row_accesses(instruction, registers.arguments());
}

}  // namespace warpmat::inline v0_1
