#pragma once

#include <warpmat/explain.h>

#include <string>

namespace warpmat::inline v0_1 {

/// An explanation as lines of text and as parts of a page; both use the same words.

/// `explanation`; then, unless `other` is nullptr, the other one, and where the two differ.
std::string explanation_text(const Explanation& explanation, const Explanation* other);

/// A file that needs no network: `explanation` and, unless it is nullptr, `other`.
std::string explanation_html(const Explanation& explanation, const Explanation* other);

/// The same as a part of a page, such as a notebook, without effect on its other parts.
std::string explanation_part_html(const Explanation& explanation, const Explanation* other);

/// The element's name: "row 3, column 5 of d (lane 14, register 1) of mma...".
std::string what(const Explanation& explanation);

/// Where two explanations differ first, in sentences.
std::string parting_text(const Explanation& first, const Explanation& second);

}  // namespace warpmat::inline v0_1
