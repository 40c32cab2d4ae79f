#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "tools/report/explanation_pair.h"

namespace warpmat::python {

/// What `python/warpmat/explanations.py` makes an Explanation of: the JSON of `warpmat explain`, its text, its part of a page; and of two
/// where they part, in words, and the other one alone, each of which is None where there is no other.
pybind11::tuple explanation_tuple(const ExplanationPair& pair);

}  // namespace warpmat::python
