#pragma once

#include <warpmat/report/report.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace warpmat {

// Reports for other programs.

/// A command of GitHub's workflows that shows the report at its line: "::error file=a.cu,line=12,title=warpmat: out_of_range::text". Files
/// below `root` are named from there.
std::string github_command(const Report& report, const std::filesystem::path& root);

/// SARIF 2.1.0, which code-scanning services read. Places of notes are related locations.
std::string sarif_text(const std::vector<Report>& reports, const std::filesystem::path& root);

/// A test suite of one test, as JUnit's XML, which CI servers read: `name` failed if a report is an error. `style` writes the reports.
std::string junit_text(std::string_view name, double seconds, const std::vector<Report>& reports, const ReportStyle& style);

}  // namespace warpmat
