#pragma once

#include <array>
#include <cstdint>

namespace warpmat {

// The limits of every hardware: CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability".
inline constexpr std::uint32_t max_block_threads = 1024;
inline constexpr std::array<std::uint32_t, 3> max_block{1024, 1024, 64}, max_grid{0x7fffffff, 65535, 65535};  ///< x, y, z

/// What launches depend on and no instruction's requirement says, of the GPUs from sm_`number` on.
struct HardwareTraits {
  int number;
  std::uint32_t shared_base;      ///< the address of a block's first byte of shared memory
  std::uint32_t reserved_shared;  ///< bytes of shared memory that the system takes of each block
  bool clusters;                  ///< blocks may form clusters
};

/// Of the hardware sm_`number`, from 70 on.
HardwareTraits hardware_traits(int number);

}  // namespace warpmat
