#pragma once

#include <cstdint>

#include <warpmat/forms.h>

namespace warpmat::cuda {

/// What programs ask about a GPU and size their work by.
struct Device {
  int number;  ///< 90 of sm_90
  const char* name;
  int processors;  ///< streaming multiprocessors
  std::uint64_t global_bytes;
  std::uint64_t shared_per_processor, shared_per_block;  ///< the second: at most, with cudaFuncSetAttribute
  int threads_per_processor, blocks_per_processor;
  int l2_bytes, bus_bits, clock_khz, memory_clock_khz;
  int persisting_l2_bytes;  ///< of the L2, at most, for cudaLimitPersistingL2CacheSize
};

/// The GPU that stands for `target`: the one of its number, else of the largest smaller number. `processors`: instead of its own; 0: its
/// own.
Device device_of(const Target& target, int processors);

}  // namespace warpmat::cuda
