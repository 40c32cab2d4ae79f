#pragma once

#include <warpmat/explain.h>

#include <string>

namespace warpmat {

/// A file that needs no network: `explanation` and, unless it is nullptr, `other`. It has the words of explanation_text.
std::string explanation_html(const Explanation& explanation, const Explanation* other);

/// The same as a part of a page, such as a notebook, without effect on its other parts.
std::string explanation_part_html(const Explanation& explanation, const Explanation* other);

}  // namespace warpmat
