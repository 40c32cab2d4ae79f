#pragma once

#include <span>

#include <warpmat/numeric/kernels_target.h>
#include <warpmat/scalar/kernel.h>

namespace warpmat::scalar {

// The kernels by subject, for the selected instruction set.

std::span<const Kernel> integer_kernels();
std::span<const Kernel> bit_kernels();
std::span<const Kernel> video_kernels();
std::span<const Kernel> float_kernels();
std::span<const Kernel> half_kernels();
std::span<const Kernel> approximate_kernels();
std::span<const Kernel> comparison_kernels();
std::span<const Kernel> conversion_kernels();
std::span<const Kernel> small_conversion_kernels();
std::span<const Kernel> packed_conversion_kernels();

}  // namespace warpmat::scalar
