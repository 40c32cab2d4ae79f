#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/gpu/report/fuzz_file.h"
#include "tools/gpu/report/sweep_file.h"

namespace warpmat {

/// The page of evidence: the comparisons of whole sweeps and whole runs of random programs, and for each form the evidence elsewhere.
std::string evidence_page(const std::vector<SweepFile>& sweeps, const std::vector<FuzzFile>& fuzz_runs);

/// The last section of that page: the region of published outputs, and which models they refute.
std::string_view published_section();

}  // namespace warpmat
