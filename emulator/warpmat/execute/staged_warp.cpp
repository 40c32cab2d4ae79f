#include <warpmat/execute/staged_warp.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>

#include <warpmat/execute/fast/thread_moves.h>
#include <warpmat/execute/operand_trap.h>
#include <warpmat/text.h>

namespace warpmat {
namespace {

SharedMemory memory_of(const BatchMemory& batch, std::size_t warp) {
  return SharedMemory::borrowing({batch.shared + warp * batch.shared_stride, batch.shared_bytes},
                                 static_cast<std::uint32_t>(batch.shared_base));
}

/// Whether two registers share a word in some lanes; strides in words.
bool share_a_word(const std::uint32_t* a, std::ptrdiff_t a_stride, const std::uint32_t* b, std::ptrdiff_t b_stride) {
  const auto distance = static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(a) - reinterpret_cast<std::uintptr_t>(b)) /
                        static_cast<std::ptrdiff_t>(sizeof(std::uint32_t));
  if (a_stride == b_stride && a_stride != 0) return distance % a_stride == 0 && std::abs(distance / a_stride) < warp_size;
  for (int i = 0; i < warp_size; ++i)
    for (int j = 0; j < warp_size; ++j)
      if (distance + i * a_stride == j * b_stride) return true;
  return false;
}

}  // namespace

const MovePlan* find_moves(const Instruction& instruction) {
  const FastPath* const fast = find_fast_path(instruction.form(), instruction.lowering());
  return fast == nullptr ? nullptr : fast->moves();
}

bool takes_quads(const Instruction& instruction) {
  const FastPath* const fast = find_fast_path(instruction.form(), instruction.lowering());
  return fast != nullptr && fast->takes_quads();
}

std::size_t move_by_threads(const MovePlan& plan, const BatchDestination& r, const BatchDestination& p, const BatchMemory& memory,
                            std::size_t warps) {
  return fast_thread_moves(plan, r, p, memory, warps);
}

bool usable_in_place(const Form& form, const Batch& batch) {
  for (const Operand& operand : form.operands) {
    if (!(operand.written ? batch.destination.register_major() : batch.source(operand.name).register_major())) return false;
    if (operand.kind == OperandKind::address && !usable_in_place(static_cast<const BatchMemory&>(batch))) return false;
  }
  return true;
}

void StagedWarp::use_memory(const LaneRegisters& p) {
  const bool whole_matrix = form_.mnemonic == Mnemonic::wmma_load || form_.mnemonic == Mnemonic::wmma_store;
  if (whole_matrix && (batch_.rows != nullptr || batch_.shared_base > UINT32_MAX))
    throw std::invalid_argument(format_text("{}: its memory must be bytes that addresses of 32 bits reach", form_.opcode));
  p_registers_ = p.staged;
  memory_base_ = batch_.rows != nullptr ? batch_.rows->base : batch_.shared_base;
  memory_bytes_ = batch_.rows != nullptr ? batch_.rows->bytes : batch_.shared_bytes;
  memory_ = own_rows_ ? SharedMemory::borrowing(rows_) : memory_of(batch_, 0);
  arguments_.shared = &*memory_;
  if (!own_rows_) arguments_.offset = batch_.offset;
}

void StagedWarp::go_to(std::size_t warp) {
  const std::size_t moved = warp - warp_;  // modulo 2^64, like strides
  if (moved == 0) return;
  for (std::size_t i = 0; i < source_count_; ++i) sources_[i].words += moved * source_strides_[i];
  destination_.words += moved * destination_stride_;
  if (memory_ && !own_rows_ && batch_.shared_stride != 0) *memory_ = memory_of(batch_, warp);
  warp_ = warp;
}

void StagedWarp::read(std::size_t warp) {
  go_to(warp);
  gather(sources());
  if (shares_registers_) share_registers();
  if (own_rows_) find_rows();
}

const Arguments& StagedWarp::arguments() {
  bool in_quads = destination_.quads != nullptr;
  for (LaneRegisters& source : sources()) {
    in_quads |= source.quads != nullptr;
    source.quads = nullptr;
  }
  destination_.quads = nullptr;
  if (in_quads) gather(sources());
  return arguments_;
}

void StagedWarp::share_registers() {
  std::array<const std::uint32_t*, capacity::operand_words> written;
  const auto count = static_cast<std::size_t>(destination_.count);
  for (std::size_t i = 0; i < count; ++i) written[i] = destination_.word(static_cast<int>(i));
  const auto [least, largest] = std::minmax_element(written.begin(), written.begin() + count, std::less<>());
  for (const LaneRegisters& source : sources())
    for (int i = 0; i < source.count; ++i) {
      Register* place = source.staged + i;
      const std::uint32_t* const word = source.word(i);
      const bool near = !std::less<>()(word, *least) && !std::less<>()(*largest, word) && source.lane_stride == destination_.lane_stride;
      for (std::size_t j = 0; near && j < count; ++j)
        if (word == written[j]) place = destination_.staged + j;
      if (place != source.staged + i) *place = source.staged[i];
      pointers_[static_cast<std::size_t>(source.staged + i - registers_.data())] = place->data();
    }
}

void StagedWarp::write() {
  scatter(destination_);
  if (!own_rows_ || form_.mnemonic != Mnemonic::stmatrix) return;
  for (int lane = 0; lane < form_.rows_in_memory(); ++lane) access_row(lane, true);
}

// ---- Rows of memory ---------------------------------------------------------------------------------------------------------------------

void StagedWarp::check(int lane, std::uint64_t address) const {
  const auto trap = [&](OperandTrap::Kind kind, const std::string& reason) {
    throw OperandTrap(kind, OperandName::p, lane, address, reason);
  };
  if (address % Form::row_bytes != 0) trap(OperandTrap::Kind::misaligned, format_text("the row must be {}-byte aligned", Form::row_bytes));
  const std::uint64_t position = address - memory_base_;  // an address below the base exceeds every size
  if (position > memory_bytes_ || Form::row_bytes > memory_bytes_ - position)
    trap(OperandTrap::Kind::out_of_range,
         format_text("the row of {} bytes leaves the memory of {} bytes from {:#x} on", Form::row_bytes, memory_bytes_, memory_base_));
}

void StagedWarp::find_rows() {
  const ConstRegisterList p = arguments_.source(OperandName::p);
  const auto offset = static_cast<std::uint64_t>(batch_.offset);
  const int rows = form_.rows_in_memory(), checked = lowering_.exceptions.checks_all_addresses ? warp_size : rows;
  for (int lane = 0; lane < checked; ++lane) {
    const auto i = static_cast<std::size_t>(lane);
    // A 32-bit address and its offset are added modulo 2^32, as on hardware.
    const std::uint64_t address =
        p.size() == 2 ? (p[0][i] | std::uint64_t{p[1][i]} << 32) + offset : static_cast<std::uint32_t>(p[0][i] + offset);
    check(lane, address);
    addresses_[i] = address;
  }
  for (std::size_t lane = 0; lane < warp_size; ++lane) p_registers_[0][lane] = static_cast<std::uint32_t>(lane * Form::row_bytes);
  if (p.size() == 2) p_registers_[1].fill(0);
  if (form_.mnemonic == Mnemonic::ldmatrix)
    for (int lane = 0; lane < rows; ++lane) access_row(lane, false);
}

void StagedWarp::access_row(int lane, bool write) {
  constexpr std::size_t bytes = Form::row_bytes;
  const std::uint64_t address = addresses_[static_cast<std::size_t>(lane)];
  std::uint8_t* const row = rows_.data() + static_cast<std::size_t>(lane) * bytes;
  if (batch_.rows == nullptr) {
    std::uint8_t* const there = batch_.shared + warp_ * batch_.shared_stride + (address - memory_base_);
    write ? std::memcpy(there, row, bytes) : std::memcpy(row, there, bytes);
    return;
  }
  const RowMemory& memory = *batch_.rows;
  const bool accepted =
      write ? memory.write(memory.user, warp_, lane, address, row, bytes) : memory.read(memory.user, warp_, lane, address, row, bytes);
  if (!accepted)
    throw OperandTrap(OperandTrap::Kind::refused, OperandName::p, lane, address,
                      format_text("the memory refused to {} the row of {} bytes", write ? "write" : "read", bytes));
}

// ---- Sequences that read C after they have written D ----------------------------------------------------------------------------------

bool StagedWarp::c_overlaps_earlier_d() const {
  for (int i = 1; i < destination_.count; ++i)
    for (int j = 0; j < i; ++j)
      if (share_a_word(c_->word(i), c_->lane_stride, destination_.word(j), destination_.lane_stride)) return true;
  return false;
}

void StagedWarp::read_c() {
  gather({c_, 1});
}

void StagedWarp::write_word(int word) const {
  const LaneRegisters& d = destination_;
  scatter({d.word(word), d.word_stride, d.lane_stride, nullptr, d.staged + word, 1, false, nullptr});
}

}  // namespace warpmat
