#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/lab/report/coverage.h"

namespace warpmat {

/// Tables of `rows`, one for each group of forms that have the same regions, with a line for each region.
std::string coverage_text(std::span<const CoverageRow> rows, const Target& target);

/// What the page says of a target.
struct CoveragePart {
  CoveragePlan plan;
  std::vector<CoverageRow> rows;
};

/// The parts of the page: every form of sm_90a, and for other hardware some forms with their own arithmetic. Takes some seconds on all
/// cores.
std::vector<CoveragePart> coverage_parts();

/// Every group of forms of coverage_parts() with each of its regions: thousands of lines, which `cmake --build BUILD --target docs` writes.
std::string coverage_page(std::span<const CoveragePart> parts);

}  // namespace warpmat
