#include <warpmat/execute/staged_warp.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>

#include <warpmat/execute/fast/thread_moves.h>
#include <warpmat/execute/operands/row_addresses.h>
#include <warpmat/instruction.h>
#include <warpmat/text.h>

namespace warpmat {
namespace {

/// Whether two registers share a word in some lanes; strides in words.
bool share_a_word(const std::uint32_t* a, std::ptrdiff_t a_stride, const std::uint32_t* b, std::ptrdiff_t b_stride) {
  const auto distance = static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(a) - reinterpret_cast<std::uintptr_t>(b)) /
                        static_cast<std::ptrdiff_t>(sizeof(std::uint32_t));
  if (a_stride == b_stride && a_stride != 0) {
    if (distance != 0 && std::abs(distance) < std::abs(a_stride)) return false;  // registers of one thread; a division takes longer
    return distance % a_stride == 0 && std::abs(distance / a_stride) < warp_size;
  }
  for (int i = 0; i < warp_size; ++i)
    for (int j = 0; j < warp_size; ++j)
      if (distance + i * a_stride == j * b_stride) return true;
  return false;
}

}  // namespace

std::size_t move_by_threads(const MovePlan& plan, const RegisterView& r, const ConstRegisterView& p, const CallMemory& memory,
                            std::size_t warps) {
  return fast_thread_moves(plan, r, p, memory, warps);
}

void StagedWarp::use_memory(const LaneRegisters& p) {
  p_registers_ = p.staged;
  memory_base_ = batch_.rows != nullptr ? batch_.rows->base : batch_.shared_base;
  memory_bytes_ = batch_.rows != nullptr ? batch_.rows->bytes : batch_.shared_bytes;
  if (!own_rows_) {
    memory_ = batch_;
    return;
  }
  memory_.shared = rows_.data();
  memory_.shared_bytes = rows_.size();
  memory_.wide_addresses = batch_.wide_addresses;
}

void StagedWarp::go_to(std::size_t warp) {
  const std::size_t moved = warp - warp_;  // modulo 2^64, like strides
  if (moved == 0) return;
  for (std::size_t i = 0; i < source_count_; ++i) {
    sources_[i].go_to(warp);
    if (sources_[i].in_place) place_source(i);
  }
  destination_.go_to(warp);
  if (destination_.in_place) place_destination();
  if (p_registers_ != nullptr && !own_rows_) memory_.shared += moved * batch_.shared_stride;
  warp_ = warp;
}

void StagedWarp::read(std::size_t warp) {
  go_to(warp);
  gather(sources());
  if (shares_registers_) share_registers();
  if (runs_ != nullptr)
    find_matrix();
  else if (own_rows_)
    find_rows();
}

Batch StagedWarp::copies() {
  bool in_place = false;
  for (std::size_t i = 0; i < source_count_; ++i) {
    if (!sources_[i].in_place) continue;
    in_place = true;
    sources_[i].in_place = false;
    place_source(i);
  }
  if (destination_.in_place) {
    destination_.in_place = false;
    place_destination();
  }
  if (in_place) gather(sources());
  return views_.batch(form_, memory_);
}

void StagedWarp::share_registers() {
  std::array<const std::uint32_t*, capacity::operand_words> written;
  const auto count = static_cast<std::size_t>(destination_.count);
  written[0] = destination_.word(0);
  const std::uint32_t *least = written[0], *largest = written[0];
  for (std::size_t i = 1; i < count; ++i) {
    written[i] = destination_.word(static_cast<int>(i));
    least = std::min(least, written[i], std::less<>());
    largest = std::max(largest, written[i], std::less<>());
  }
  for (const LaneRegisters& source : sources()) {
    if (source.lane_stride() != destination_.lane_stride()) continue;  // of no warp: they stay where they were copied to
    const bool is_list = source.view.is_list();
    std::uint32_t** const pointers = &own_.pointers[static_cast<std::size_t>(source.staged - own_.registers.data())];
    for (int i = 0; i < source.count; ++i) {
      const std::uint32_t* const word = is_list ? source.word(i) : source.strided_word(i);
      pointers[i] = source.staged[i].data();
      if (std::less<>()(word, least) || std::less<>()(largest, word)) continue;
      std::size_t number = count;  // of D's registers at that word, the last one, plus 1
      while (number != 0 && written[number - 1] != word) --number;
      if (number == 0) continue;
      Register& place = destination_.staged[number - 1];
      place = source.staged[i];
      pointers[i] = place.data();
    }
  }
}

void StagedWarp::write() {
  if (!destination_.in_place) scatter(destination_);
  if (!own_rows_ || destination_.count != 0) return;
  if (runs_ != nullptr) return access_matrix(true);
  for (int lane = 0; lane < form_.rows_in_memory(); ++lane)
    access(lane, addresses_[static_cast<std::size_t>(lane)], rows_.data() + lane * Form::row_bytes, Form::row_bytes, true, "row");
}

// ---- Rows of memory ---------------------------------------------------------------------------------------------------------------------

void StagedWarp::check_range(int lane, std::uint64_t address, std::uint64_t bytes, const char* what) const {
  const std::uint64_t position = address - memory_base_;  // an address below the base exceeds every size
  if (position <= memory_bytes_ && bytes <= memory_bytes_ - position) return;
  throw Trap(Trap::Kind::out_of_range, OperandName::p, lane, address,
             format_text("the {} of {} bytes leaves the memory of {} bytes from {:#x} on", what, bytes, memory_bytes_, memory_base_));
}

template <typename Offset>
void StagedWarp::set_own_addresses(Offset offset) {
  for (std::size_t lane = 0; lane < warp_size; ++lane) p_registers_[0][lane] = static_cast<std::uint32_t>(offset(lane));
  if (memory_.wide_addresses) p_registers_[1].fill(0);
}

void StagedWarp::find_rows() {
  const Batch given = this->given();
  for (int lane = 0; lane < addressing_lanes(form_, lowering_); ++lane) {
    std::uint64_t& address = addresses_[static_cast<std::size_t>(lane)];
    address = aligned_row_address(given, lane);
    check_range(lane, address, Form::row_bytes, "row");
  }
  set_own_addresses([](std::size_t lane) { return lane * Form::row_bytes; });
  if (form_.mnemonic != Mnemonic::ldmatrix) return;
  for (int lane = 0; lane < form_.rows_in_memory(); ++lane)
    access(lane, addresses_[static_cast<std::size_t>(lane)], rows_.data() + lane * Form::row_bytes, Form::row_bytes, false, "row");
}

void StagedWarp::find_matrix() {
  matrix_ = storage_of(form_, given());
  for (const MatrixRun& run : runs_->runs)
    for (int lane = 0; lane < warp_size; ++lane) check_range(lane, address_of(form_, matrix_, run, lane), runs_->bytes, "part of a row");
  set_own_addresses([](std::size_t) { return 0; });
  if (stride_registers_ != nullptr) stride_registers_->fill(static_cast<std::uint32_t>(form_.leading_dimension()));
  if (form_.mnemonic == Mnemonic::wmma_load) access_matrix(false);
}

void StagedWarp::access_matrix(bool write) {
  const MatrixStorage own{0, static_cast<std::uint32_t>(form_.leading_dimension())};
  for (const MatrixRun& run : runs_->runs)
    for (int lane = 0; lane < warp_size; ++lane)
      access(lane, address_of(form_, matrix_, run, lane), rows_.data() + address_of(form_, own, run, lane), runs_->bytes, write,
             "part of a row");
}

void StagedWarp::access(int lane, std::uint64_t address, std::uint8_t* own, std::size_t bytes, bool write, const char* what) const {
  if (batch_.rows == nullptr) {
    std::uint8_t* const there = batch_.shared + warp_ * batch_.shared_stride + (address - memory_base_);
    write ? std::memcpy(there, own, bytes) : std::memcpy(own, there, bytes);
    return;
  }
  const RowMemory& memory = *batch_.rows;
  const bool accepted =
      write ? memory.write(memory.user, warp_, lane, address, own, bytes) : memory.read(memory.user, warp_, lane, address, own, bytes);
  if (!accepted)
    throw Trap(Trap::Kind::refused, OperandName::p, lane, address,
               format_text("the memory refused to {} the {} of {} bytes", write ? "write" : "read", what, bytes));
}

// ---- Sequences that read C after they have written D ----------------------------------------------------------------------------------

bool overlaps_earlier(const ConstRegisterView& c, const ConstRegisterView& d, int words, std::size_t warp) {
  for (int i = 1; i < words; ++i)
    for (int j = 0; j < i; ++j)
      if (share_a_word(c.word(i, warp), c.lane_stride(), d.word(j, warp), d.lane_stride())) return true;
  return false;
}

void StagedWarp::read_c() {
  gather({c_, 1});
}

void StagedWarp::write_word(int word) const {
  const LaneRegisters& d = destination_;
  scatter({{d.word(word), 0, 1, d.lane_stride()}, d.staged + word, 1});
}

}  // namespace warpmat
