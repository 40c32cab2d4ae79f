#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <warpmat/export.h>

namespace warpmat::inline v0_1 {

// ---- Sets of lanes ----

/// A set of lanes of a warp, or the predicate register of a warp: bit i is lane i.
using LaneMask = std::uint32_t;

WARPMAT_LOCAL inline constexpr LaneMask all_lanes = 0xffffffff;

inline constexpr LaneMask lane_bit(int lane) {
  return LaneMask{1} << lane;
}

/// The lowest lane of a mask that is not empty.
inline constexpr int first_lane(LaneMask mask) {
  return std::countr_zero(mask);
}

// ---- Registers, shared memory, traps ----

WARPMAT_LOCAL inline constexpr int warp_size = 32;

/// One 32-bit register of a warp: a word for each lane. A 64-bit operand is two registers, the low half first. The alignment keeps vectors
/// of lanes from crossing a cache line.
struct alignas(64) Register : std::array<std::uint32_t, warp_size> {};

/// An error of a run. The instruction that raised it has changed nothing.
class WARPMAT_API Trap : public std::runtime_error {
 public:
  /// `where` names the statement if it is known: "line 7".
  Trap(int lane_, std::optional<std::uint64_t> address_, const std::string& reason_, const std::string& where = {});

  int lane;                              ///< the lane at fault, 0 to 31; -1 if none is
  std::optional<std::uint64_t> address;  ///< its wrong byte address in shared memory, if any
  std::string reason;                    ///< what is wrong and what would be right
  std::size_t warp = 0;                  ///< in a batch, the warp at fault
};

/// The shared memory of a warp: bytes from address `base` on, every access checked. On some GPUs a kernel's shared memory does not begin at
/// 0.
class WARPMAT_API SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes = 0, std::uint32_t base = 0) : SharedMemory(std::vector<std::uint8_t>(bytes), base) {}
  explicit SharedMemory(std::vector<std::uint8_t> bytes, std::uint32_t base = 0) : owned_(std::move(bytes)), bytes_(owned_), base_(base) {}
  /// Memory that uses `bytes`, which must outlive it.
  [[nodiscard]] static SharedMemory borrowing(std::span<std::uint8_t> bytes, std::uint32_t base = 0);

  SharedMemory(const SharedMemory& other)
      : owned_(other.owned_), bytes_(other.owned_.empty() ? other.bytes_ : std::span(owned_)), base_(other.base_) {}
  SharedMemory(SharedMemory&&) = default;
  SharedMemory& operator=(SharedMemory other) noexcept;
  ~SharedMemory() = default;

  std::size_t size() const { return bytes_.size(); }
  std::uint32_t base() const { return base_; }
  std::span<std::uint8_t> bytes() { return bytes_; }
  std::span<const std::uint8_t> bytes() const { return bytes_; }

  /// The `size` bytes at `address`, for `lane`. Throws Trap unless `address` is a multiple of `size` and the bytes are inside. `what` names
  /// the access in the message: "row".
  std::span<std::uint8_t> at(int lane, std::uint64_t address, std::size_t size, const char* what);
  std::span<const std::uint8_t> at(int lane, std::uint64_t address, std::size_t size, const char* what) const;

 private:
  std::vector<std::uint8_t> owned_;  ///< empty where the bytes are borrowed
  std::span<std::uint8_t> bytes_;
  std::uint32_t base_;
};

}  // namespace warpmat::inline v0_1
