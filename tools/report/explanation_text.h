#pragma once

#include <warpmat/execute/explain.h>

#include <string>

namespace warpmat {

/// An explanation for people, as lines of text and as parts of a page; both say the same with the same words.

/// `explanation`, and behind it `other`, which may be nullptr, and where the two part.
std::string explanation_text(const Explanation& explanation, const Explanation* other);

/// One file that needs no network: `explanation`, and beside it `other`, which may be nullptr.
std::string explanation_html(const Explanation& explanation, const Explanation* other);

/// The same as a part of a page, such as a notebook, whose other parts look as before.
std::string explanation_part_html(const Explanation& explanation, const Explanation* other);

/// Which element of what: "row 3, column 5 of d (lane 14, register 1) of mma...".
std::string what(const Explanation& explanation);

/// Where two explanations part, in sentences.
std::string parting_text(const Explanation& first, const Explanation& second);

}  // namespace warpmat
