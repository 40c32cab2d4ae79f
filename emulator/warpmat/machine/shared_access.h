#pragma once

#include <cstdint>

#include <warpmat/observer.h>
#include <warpmat/scalar/lane_offsets.h>

namespace warpmat::inline v0_1::machine {

struct SharedAccess {
  Event event;
  bool writes;          ///< otherwise it reads
  std::uint32_t bytes;  ///< of each lane
  const scalar::LanePlaces& lanes;
};

}  // namespace warpmat::inline v0_1::machine
