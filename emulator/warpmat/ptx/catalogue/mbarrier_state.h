#pragma once

#include <cstdint>

namespace warpmat {

/// Arrivals that an mbarrier may expect (PTX ISA 9.1 section 9.7.13.15.2). The low bits of its word, and so of the states that arrivals
/// return, are the arrivals that are missing: what mbarrier.pending_count reads.
inline constexpr std::uint64_t most_mbarrier_count = (std::uint64_t{1} << 20) - 1;

}  // namespace warpmat
