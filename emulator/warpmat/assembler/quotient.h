#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <warpmat/lower/arithmetic.h>
#include <warpmat/lower/context.h>

namespace warpmat::code {

/// Bits of f32: a larger divisor's reciprocal is subnormal, a smaller one's may be infinite.
inline constexpr std::uint32_t two_to_126 = 0x7e800000, smallest_normal = 0x00800000;

/// Adds to `out` what div.approx or div.full does before its last instruction, a product: dividend and divisor are scaled where the
/// divisor's reciprocal would be subnormal or infinite. `parts` are both; afterwards the factors of the product.
void add_quotient_steps(DraftFunction& function, ProgramDraft& draft, const Arithmetic& quotient, std::array<Value, 2>& parts,
                        const DraftOperation& like, std::vector<DraftOperation>& out);

}  // namespace warpmat::code
