#include "thread_major.h"

#include <numeric>
#include <stdexcept>
#include <string>

namespace warpmat {

constexpr std::size_t warp_words = ThreadMajorWarps::thread_words * warp_size;

ThreadMajorWarps::ThreadMajorWarps(const Workload& workload)
    : instruction_(
          warpmat_find(workload.instruction().form().opcode.c_str(), std::string(workload.instruction().target().name).c_str(), nullptr)),
      states_(workload.states()),
      registers_(warps * warp_words) {
  std::iota(numbers_.begin(), numbers_.end(), std::uint16_t{0});
  const Batch batch = workload.batch(states_);
  for (const Operand& operand : workload.instruction().form().operands) {
    place(operand, operand.written ? ConstRegisterView(batch.destination) : batch.source(operand.name));
  }
}

void ThreadMajorWarps::place(const Operand& operand, const ConstRegisterView& from) {
  const auto words = static_cast<std::size_t>(operand.words());
  if (from.warp_stride() == 0) {
    std::vector<std::uint32_t>& numbers = immediates_.emplace_back();
    for (std::size_t i = 0; i < words; ++i) numbers.push_back(from.words()[i * warp_size]);
    operands_.push_back(WARPMAT_IMMEDIATE(numbers.data()));
    strides_.push_back(0);
    return;
  }
  for (std::size_t warp = 0; warp < warps; ++warp)
    for (std::size_t i = 0; i < words; ++i)
      for (std::size_t lane = 0; lane < warp_size; ++lane)
        registers_.at(warp * warp_words + lane * thread_words + next_ + i) = from.words()[warp * from.warp_stride() + i * warp_size + lane];
  operands_.push_back(WARPMAT_THREAD_MAJOR(registers_.data(), thread_words, numbers_.data() + next_, words));
  strides_.push_back(warp_words);
  next_ += words;
}

void ThreadMajorWarps::execute(std::size_t warp) {
  std::array<warpmat_registers, operand_name_count> operands;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    operands[i] = operands_[i];
    operands[i].words += warp * strides_[i];
  }
  warpmat_memory memory{};
  memory.size = sizeof memory;
  memory.bytes = states_.shared_of(warp).data();
  memory.byte_count = states_.shared_bytes;
  warpmat_call call{};
  call.size = sizeof call;
  call.operands = operands.data();
  call.operand_count = operands_.size();
  call.memory = &memory;
  warpmat_error error;
  error.size = sizeof error;
  if (warpmat_execute(instruction_, &call, 1, &error) != WARPMAT_OK) throw std::runtime_error(error.message);
}

}  // namespace warpmat
