#include <warpmat/machine/block_storage.h>

#include <algorithm>
#include <new>
#include <utility>

#include <warpmat/machine/warp_state.h>
#include <warpmat/ptx/program/code.h>

namespace warpmat::inline v0_1::machine {
namespace {

constexpr std::size_t alignment = code::register_alignment;
static_assert(alignof(WarpState) <= alignment);

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

constexpr std::size_t state_bytes = aligned(sizeof(WarpState));

}  // namespace

BlockStorage::BlockStorage(const LaunchState& launch, std::size_t warps)
    : spare_(launch.spare), register_bytes_(aligned(launch.frame_bytes)) {
  const std::size_t cleared = warps * register_bytes_ + launch.shared_bytes;
  const std::size_t bytes = alignment + warps * state_bytes + cleared;
  if (spare_ != nullptr)
    bytes_ = spare_->take(bytes);
  else
    bytes_.resize(bytes);
  const auto misalignment = reinterpret_cast<std::uintptr_t>(bytes_.data()) % alignment;
  states_ = bytes_.data() + (misalignment == 0 ? 0 : alignment - misalignment);
  registers_ = states_ + warps * state_bytes;
  std::fill_n(registers_, cleared, std::uint8_t{0});
  shared_ = {registers_ + warps * register_bytes_, launch.shared_bytes};
  warps_.reserve(warps);
}

BlockStorage::~BlockStorage() {
  for (WarpState* const warp : warps_) warp->~WarpState();
  if (spare_ != nullptr) spare_->give(std::move(bytes_));
}

void BlockStorage::add_warp(Block& block, LaneMask existing) {
  const std::size_t index = warps_.size();
  warps_.push_back(new (states_ + index * state_bytes)
                       WarpState(block, static_cast<int>(index), existing, registers_ + index * register_bytes_));
}

}  // namespace warpmat::inline v0_1::machine
