#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <warpmat/warp.h>

namespace warpmat::checks {

/// Tracks uninitialised values: which lanes of which registers hold a value from uninitialised memory, and where it was read.
/// Registers are identified by their byte offset in the warp's frames.
class UninitialisedValues {
 public:
  /// The first read of uninitialised bytes from which a register's value derives.
  struct Origin {
    std::uint32_t statement = 0;  ///< of Program::statements
    std::uint64_t address = 0;    ///< in its space
    bool global = false;          ///< in global memory; else in shared memory
    bool computed = false;        ///< the value is not the one that was read
    bool partial = false;         ///< some of its bytes were written: what decides by those, or takes them out, is right
  };

  /// Whether any register holds an uninitialised value; if not, no tracking is needed.
  bool any() const { return count_ != 0; }
  LaneMask lanes(std::size_t offset) const { return offset / 4 < masks_.size() ? masks_[offset / 4] : 0; }
  const Origin& origin(std::size_t offset) const { return origins_[offset / 4]; }

  /// Sets the state of the lanes of `mask` from `uninitialised`; other lanes keep theirs.
  void set(std::size_t offset, LaneMask mask, LaneMask uninitialised, const Origin& origin) {
    const std::size_t i = offset / 4;
    if (i >= masks_.size()) {
      if ((uninitialised & mask) == 0) return;
      masks_.resize(i + 1);
      origins_.resize(i + 1);
    }
    const LaneMask before = masks_[i];
    masks_[i] = (before & ~mask) | (uninitialised & mask);
    if ((uninitialised & mask) != 0) origins_[i] = origin;
    if (before == 0 && masks_[i] != 0) ++count_;
    if (before != 0 && masks_[i] == 0) --count_;
  }

 private:
  std::vector<LaneMask> masks_;  ///< for each 4 bytes of the frames; a register uses only its first
  std::vector<Origin> origins_;
  std::size_t count_ = 0;  ///< nonempty masks
};

}  // namespace warpmat::checks
