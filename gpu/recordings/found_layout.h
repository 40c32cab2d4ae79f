#pragma once

#include <optional>
#include <string>

#include <warpmat/forms.h>
#include <warpmat/layout.h>

#include "gpu/recordings/vectors.h"

namespace warpmat {

/// The layout in which a card's wmma.load left a matrix in registers: the permutation of index bits (layout.h) under which the
/// recorded examples hold the elements of memory. It assumes only what the ISA defines: the places of elements in memory. Nothing if
/// `answers` has no examples, or no permutation explains them. Precondition: `answers` are those of a wmma.load of class `random`.
std::optional<Fragment> layout_of_loads(const Provenance& provenance, const Answers& answers);

/// The fragment in the notation of layout.h, with k for the axis along K and m or n for the other: "k0 | k1 k2 m0 m1 m2 | m3 k3
/// copy", for element inside the register, lane, register.
std::string layout_text(const Form& form, const Fragment& fragment);

}  // namespace warpmat
