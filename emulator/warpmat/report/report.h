#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/warp.h>

namespace warpmat {

/// What is wrong with what ran, in the parts that compilers print of an error. Other programs read the same as JSON, SARIF and the like.
struct Report {
  enum class Level { error, warning };
  Level level = Level::error;
  std::string rule = {};    ///< the kind of a trap, "out_of_range"; or what else it is about: "product", "launch"
  std::string text = {};    ///< the headline
  std::string kernel = {};  ///< in PTX; empty where it is about none
  std::string who = {};     ///< "block (1,0,0), warp 2, lane 4"
  Trap::Place at = {};
  std::string ptx_file = {};  ///< in which the places are; empty: the PTX is in no file
  std::vector<Trap::Note> notes = {};
  std::string help = {};              ///< what to do
  std::size_t more = 0;               ///< reports like it, which it stands for
  int first_line = 0, last_line = 0;  ///< of all that it stands for, where there are more
};

/// Whether the file came with the system or a toolkit, as compilers have it.
bool is_of_system(const std::string& file);

/// A line of a file to which other programs can go: that of the source, else that of the PTX. Without a file where neither is known.
Trap::SourceLine file_place(const Report& report, const Trap::Place& at);

/// " (kernel hgemm<128>, block (1,0,0), warp 2, lane 4)"; empty where the report is about none.
std::string about(const Report& report, bool full_names);

/// The name of its kernel in C++ without parameters: "hgemm<128,256>". Empty where it is about none.
std::string kernel_name(const Report& report);

Report report_of(const Trap& trap, Report::Level level = Report::Level::error);

/// The reports without those that are like one before, of another line or statement: each tells for how many it stands.
std::vector<Report> without_repetitions(std::vector<Report> reports);

/// How reports are written.
struct ReportStyle {
  bool colour = false;
  bool full_names = false;            ///< of kernels: with return types and parameters
  bool suppressions = false;          ///< the line of a file that would suppress it (suppressions.h), behind each
  std::filesystem::path folder = {};  ///< from which files are named; empty: by their whole paths
  std::string_view ptx = {};          ///< the PTX, of which lines are shown; must outlive the style
  bool compiled = false;              ///< the PTX comes from a program, so a compiler wrote it, whatever it says
};

/// The report as lines, each ended:
///
///   gemm.cu:41: error: race: nothing orders this load and the store of warp 3 (kernel hgemm<128>, block (1,0,0), warp 2, lane 4)
///      41 |   sum += tile[i];
///         |          ^
///   gemm.cu:38: note: stored here by warp 3
///      38 |   tile[threadIdx.x] = x;
///         |   ^
///   help: ...
///
/// Without a place: "warpmat: error: ...".
std::string report_text(const Report& report, const ReportStyle& style);

/// The style for standard error: colours where that is a terminal and NO_COLOR is not set, names from the current folder.
ReportStyle style_of_terminal();

}  // namespace warpmat
