#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/lab/report/coverage.h"

namespace warpmat {

/// Tables of `rows`, one for each group of forms that have the same regions: a line a region.
std::string coverage_text(std::span<const CoverageRow> rows, const Target& target);

/// What the page says of a target.
struct CoveragePart {
  CoveragePlan plan;
  std::vector<CoverageRow> rows;
};

/// The parts of the page, covered: every form of sm_90a, and of other hardware some with an arithmetic of their own. Some seconds on all
/// cores.
std::vector<CoveragePart> coverage_parts();

/// docs/coverage.md of coverage_parts().
std::string coverage_page(std::span<const CoveragePart> parts);

}  // namespace warpmat
