#pragma once

#include <span>
#include <string>

#include "tools/library/coverage.h"

namespace warpmat {

/// Tables of `rows`, one for each group of forms that have the same regions: a line a region.
std::string coverage_text(std::span<const CoverageRow> rows, const Target& target);

/// The targets whose hardware the page is about: one for each arithmetic.
std::span<const std::string_view> coverage_targets();

/// The plan of a target's part of the page, and of the test that no cell which can be reached is empty.
CoveragePlan coverage_plan(const Target& target);

/// docs/coverage.md.
std::string coverage_page();

}  // namespace warpmat
