#pragma once

#include <cstdint>
#include <span>

#include <warpmat/observer.h>
#include <warpmat/scalar/lane_offsets.h>

namespace warpmat::inline v0_1::machine {

/// An access, or several of statements behind each other: without an effect on observers that pass it.
struct SharedAccess {
  Event event;
  bool writes;          ///< otherwise it reads
  std::uint32_t bytes;  ///< of each lane
  const scalar::LanePlaces& lanes;
  std::span<const std::int32_t> beyond = {};  ///< further accesses: how many bytes beyond `lanes`
};

}  // namespace warpmat::inline v0_1::machine
