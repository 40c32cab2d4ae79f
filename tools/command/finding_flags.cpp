#include "finding_flags.h"

#include <fmt/core.h>
#include <warpmat/files/output_file.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace warpmat {

void add_finding_flags(Command command, FindingFiles& files) {
  command.add_option("--sarif", files.sarif, "Write errors and warnings with their lines as SARIF, for code scanning")
      .type_name("FILE.sarif");
  command.add_option("--junit", files.junit, "Write the run as a test of JUnit, for CI servers").type_name("FILE.xml");
  command.add_flag("--full-names", files.full_names, "Name kernels with their return types and parameters in what is reported");
  command
      .add_option(
          "--suppressions", files.suppressions,
          "Reports that are not wanted, a line each: KIND kernel=NAME at=FILE:LINE text=HEADLINE, with * for any. The launch goes on "
          "without those of checks; lines that hide nothing are told")
      .type_name("FILE");
  command.add_flag("--print-suppressions", files.print_suppressions, "Print the line that suppresses a report behind each");
}

void check_finding_files(const FindingFiles& files) {
  for (const std::string& file : {files.sarif, files.junit})
    if (!file.empty()) check_output_place(file);
}

void print_reports(const FindingFiles& files, const std::vector<Report>& reports, std::string_view ptx) {
  ReportStyle style = style_of_terminal();
  style.full_names = files.full_names;
  style.suppressions = files.print_suppressions;
  style.ptx = ptx;
  for (const Report& report : without_repetitions(reports)) fmt::print(stderr, "{}", report_text(report, style));
}

void tell_findings(const FindingFiles& files, const std::string& name, double seconds, const std::vector<Report>& all) {
  const std::filesystem::path root = std::filesystem::current_path();
  const std::vector<Report> reports = without_repetitions(all);
  const char* const job = std::getenv("GITHUB_ACTIONS");
  if (job != nullptr && std::string_view(job) == "true")
    for (const Report& report : reports) fmt::print(stderr, "{}\n", github_command(report, root));
  if (!files.sarif.empty()) write_file(files.sarif, {sarif_text(reports, root)});
  if (!files.junit.empty()) write_file(files.junit, {junit_text(name, seconds, reports, {.full_names = files.full_names, .folder = root})});
}

}  // namespace warpmat
