#pragma once

#include <optional>
#include <string>

#include <warpmat/layout/fragment.h>
#include <warpmat/tables/form.h>

#include "gpu/recordings/vectors.h"

namespace warpmat {

/// The layout in which a card's wmma.load left a matrix in registers: the permutation of index bits (layout/fragment.h) under which the
/// recorded examples hold the elements that memory held. Only what the ISA defines is taken for known: where the elements lie in memory.
/// Nothing where `answers` has no examples, or no permutation explains them. `answers` are those of a wmma.load of class `random`.
std::optional<Fragment> layout_of_loads(const Provenance& provenance, const Answers& answers);

/// The fragment as layout/fragment.h writes one, with k for the axis along K and m or n for the other: "k0 | k1 k2 m0 m1 m2 | m3 k3 copy",
/// element inside the register, lane, register.
std::string layout_text(const Form& form, const Fragment& fragment);

}  // namespace warpmat
