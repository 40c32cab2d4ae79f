#include <warpmat/execute/instruction.h>

#include <array>
#include <cassert>
#include <stdexcept>

#include <fmt/format.h>

#include <warpmat/execute/fast/fast.h>
#include <warpmat/execute/reference/execute.h>

namespace warpmat {
namespace {

const Form& known_form(std::string_view opcode) {
  if (const Form* form = find_form(opcode)) return *form;
  throw std::invalid_argument(explain_unknown_opcode(opcode));
}

}  // namespace

Instruction::Instruction(std::string_view opcode, std::string_view target_name)
    : Instruction(known_form(opcode), warpmat::target(target_name)) {}

Instruction::Instruction(const Form& form, const Target& target, PtxVersion version)
    : form_(&form), target_(&target), lowering_(find_lowering(form, target.hardware)), fast_(nullptr) {
  if (const auto reason = unavailable(form, target, version)) throw std::invalid_argument(*reason);
  assert(lowering_ != nullptr);  // the lowering table has a row for every form of a target
  fast_ = find_fast_path(form, *lowering_);
}

void Instruction::execute(const Arguments& arguments, Path path) const {
  if (path == Path::fast && fast_ != nullptr && fast_->execute(Warps{arguments}) == 1) return;
  warpmat::execute(*form_, *lowering_, arguments);
}

namespace {

/// The registers of one warp of a batch.
class BatchWarp {
 public:
  BatchWarp(const Form& form, const Batch& batch) : form_(form), batch_(batch) {
    std::uint32_t** next = registers_.data();
    for (const Operand& operand : form.operands) {
      const auto count = static_cast<std::size_t>(operand.words());
      if (operand.written)
        arguments_.destination = {next, count};
      else
        arguments_.source(operand.name) = {next, count};
      next += count;
    }
    arguments_.shared = &memory_;
    arguments_.offset = batch.offset;
    arguments_.undefined = batch.undefined;
  }
  BatchWarp(const BatchWarp&) = delete;
  BatchWarp& operator=(const BatchWarp&) = delete;

  /// Everything of warp `index`.
  const Arguments& arguments(std::size_t index) {
    std::uint32_t** next = registers_.data();
    for (const Operand& operand : form_.operands) {
      const BatchOperand& source = batch_.source(operand.name);
      // Sources are only read: their pointers are not const because lists of registers share one type.
      std::uint32_t* words = operand.written ? batch_.destination + index * batch_.destination_stride
                                             : const_cast<std::uint32_t*>(source.words) + index * source.stride;
      for (int i = 0; i < operand.words(); ++i) *next++ = words + i * lanes;
    }
    memory_ = SharedMemory::borrowing({batch_.shared + index * batch_.shared_stride, batch_.shared_bytes}, batch_.shared_base);
    return arguments_;
  }

  /// The warps from `first` to `last` - 1.
  Warps warps(std::size_t first, std::size_t last) {
    Warps out{.first = arguments(first)};
    for (std::size_t i = 0; i < operand_names; ++i) out.strides[i] = batch_.sources[i].stride;
    out.destination_stride = batch_.destination_stride;
    out.shared_stride = batch_.shared_stride;
    out.count = last - first;
    return out;
  }

 private:
  static constexpr std::size_t max_words = 64;  // f64 m16n8k16 has 8 + 16 + 8 + 8

  const Form& form_;
  const Batch& batch_;
  std::array<std::uint32_t*, max_words> registers_;
  SharedMemory memory_;
  Arguments arguments_;
};

}  // namespace

void Instruction::execute(const Batch& batch, std::size_t warps, Path path) const {
  BatchWarp warp(*form_, batch);
  for (std::size_t next = 0; next < warps; ++next) {
    if (path == Path::fast && fast_ != nullptr) next += fast_->execute(warp.warps(next, warps));
    if (next == warps) return;
    try {
      warpmat::execute(*form_, *lowering_, warp.arguments(next));
    } catch (const Trap& trap) {
      Trap named(trap.lane, trap.address, trap.reason, fmt::format("warp {}", next));
      named.warp = next;
      throw named;
    }
  }
}

}  // namespace warpmat
