#pragma once

#include <cstdint>

namespace warpmat {

/// The maximum number of arrivals of an mbarrier (PTX ISA 9.1 section 9.7.13.15.2). The low bits of its word, and of the states that
/// arrivals return, count the missing arrivals; mbarrier.pending_count reads them.
inline constexpr std::uint64_t max_mbarrier_count = (std::uint64_t{1} << 20) - 1;

}  // namespace warpmat
