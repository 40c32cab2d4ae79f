#pragma once

#include <cstdint>

namespace warpmat::cuda {

/// How many bytes the process can read from `at` on, and write if `writable`: 0 where nothing is mapped. Data of the program is trusted
/// that far, whatever its headers say. Throws ApiError where the system does not tell.
std::uint64_t mapped_bytes(const void* at, bool writable = false);

}  // namespace warpmat::cuda
