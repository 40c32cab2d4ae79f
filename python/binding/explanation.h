#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "tools/report/explanation_pair.h"

namespace warpmat::python {

/// The contents of an Explanation of python/warpmat/explanations.py: the JSON of `warpmat explain`, its text, its part of a page. With two
/// explanations also where they differ, in words, and the second one alone; both are None if there is no second.
pybind11::tuple explanation_tuple(const ExplanationPair& pair);

}  // namespace warpmat::python
