#include <warpmat/machine/block_storage.h>

#include <algorithm>
#include <new>
#include <utility>

#include <warpmat/ir/code.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::machine {
namespace {

using code::register_alignment;
static_assert(alignof(WarpState) <= register_alignment);

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + register_alignment - 1) / register_alignment * register_alignment;
}

constexpr std::size_t state_bytes = aligned(sizeof(WarpState));
constexpr std::size_t split_bytes = aligned(usual_splits * sizeof(Split));  // of a warp

}  // namespace

BlockStorage::BlockStorage(const LaunchState& launch, std::size_t warps)
    : spare_(launch.spare),
      register_bytes_(aligned(launch.frame_bytes)),
      most_warps_(warps),
      piece_(take(warps * (state_bytes + split_bytes + register_bytes_) + launch.shared_bytes)),
      states_(piece_.bytes.get() +
              (register_alignment - reinterpret_cast<std::uintptr_t>(piece_.bytes.get()) % register_alignment) % register_alignment),
      registers_(states_ + warps * (state_bytes + split_bytes)),
      shared_{registers_ + warps * register_bytes_, launch.shared_bytes},
      splits_(states_ + warps * state_bytes, warps * split_bytes) {
  clear(launch);
  warps_.reserve(warps);
}

void BlockStorage::clear(const LaunchState& launch) {
  if (launch.program.clears_registers) std::fill_n(registers_, most_warps_ * register_bytes_, std::uint8_t{0});
  std::ranges::fill(shared_, std::uint8_t{0});
}

/// At least `bytes` from the first aligned one on.
SpareStorage::Piece BlockStorage::take(std::size_t bytes) const {
  bytes += register_alignment;
  if (spare_ != nullptr) return spare_->take(bytes);
  return {std::make_unique<std::uint8_t[]>(bytes), bytes};
}

BlockStorage::~BlockStorage() {
  for (WarpState* const warp : warps_) warp->~WarpState();
  if (spare_ != nullptr) spare_->give(std::move(piece_));
}

void BlockStorage::add_warp(Block& block, LaneMask existing) {
  const std::size_t index = warps_.size();
  warps_.push_back(new (states_ + index * state_bytes)
                       WarpState(block, static_cast<int>(index), existing, registers_ + index * register_bytes_, splits_));
}

}  // namespace warpmat::machine
