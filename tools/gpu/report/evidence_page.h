#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/gpu/report/run_result.h"

namespace warpmat {

/// The page of evidence: the comparisons of whole runs of `diff` and `fuzz` with a GPU, and for each form the evidence elsewhere. Throws
/// std::runtime_error for other runs.
std::string evidence_page(const std::vector<RunResult>& runs);

/// The last section of that page: the region of published outputs, and which models they refute.
std::string_view published_section();

}  // namespace warpmat
