#include "compared_archive.h"

#include <fmt/core.h>
#include <warpmat/explain/table.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include <warpmat/ptx/text/readable_name.h>

#include "gpu/programs/archive.h"
#include "gpu/programs/compared_launch.h"
#include "saved_launch.h"
#include "tools/gpu/report/interruption.h"

namespace warpmat {
namespace {

using namespace programs;

/// The sum over the launches of a kernel.
struct KernelSum {
  std::uint64_t launches = 0, bytes = 0;
  std::uint64_t different = 0;  ///< launches
  std::uint64_t unsettled = 0;  ///< launches that differ, and whose results depend on the order of threads
  std::uint64_t varying = 0;    ///< bytes not compared, as they depend on that order

  void add(const KernelSum& other) {
    launches += other.launches;
    bytes += other.bytes;
    different += other.different;
    unsettled += other.unsettled;
    varying += other.varying;
  }
};

class Report {
 public:
  Report(const ArchiveReader& archive, std::filesystem::path folder) : archive_(archive), folder_(std::move(folder)) {}

  void add(const RecordedLaunch& launch, const Comparison& comparison) {
    KernelSum& sum = kernels_[readable_name(launch.kernel)];
    gpu_seconds_ += launch.seconds;
    seconds_ += comparison.seconds;
    if (!comparison.not_compared.empty()) {
      ++reasons_[{readable_name(launch.kernel), comparison.not_compared}];
      stopped_ += comparison.stopped;
      return;
    }
    const std::uint64_t varying = comparison.nondeterministic + comparison.order_dependent;
    const bool differs = comparison.different != 0 || !comparison.same_text, settled = varying == 0 || !comparison.same_text;
    sum.add(
        {.launches = 1, .bytes = comparison.bytes, .different = differs && settled, .unsettled = differs && !settled, .varying = varying});
    if (differs && ++shown_[launch.kernel] <= most_shown) print(launch, comparison);
  }

  /// The last line of each process, kernel and reason holds.
  void add(const SkippedLaunches& skipped) { skipped_[{skipped.process, skipped.kernel, skipped.reason}] = skipped.count; }

  void print_sums(const std::string& device) {
    for (const auto& [key, count] : skipped_) reasons_[{readable_name(std::get<1>(key)), std::get<2>(key)}] += count;
    Table table({"kernel", "launches", "bytes", "differ", "differ by order", "bytes by order"});
    KernelSum all;
    for (const auto& [kernel, sum] : kernels_) {
      if (sum.launches == 0) continue;
      table.add({kernel, std::to_string(sum.launches), std::to_string(sum.bytes), std::to_string(sum.different),
                 std::to_string(sum.unsettled), std::to_string(sum.varying)});
      all.add(sum);
    }
    if (all.launches != 0) fmt::print("{}", table.text());
    std::uint64_t left_out = 0;
    for (const auto& [key, count] : reasons_) {
      fmt::print("not compared: {} launch{} of '{}': {}\n", count, count == 1 ? "" : "es", key.first, key.second);
      left_out += count;
    }
    fmt::print("{} launches, {} bytes compared; {} launches differ, {} more by the order of threads; {} not compared; {}\n", all.launches,
               all.bytes, all.different, all.unsettled, left_out, device);
    fmt::print("recording took {:.2f} s, the emulator {:.2f} s\n", gpu_seconds_, seconds_);
    sum_ = all;
  }

  void fail_if_wrong() const {
    if (sum_.different != 0)
      throw std::runtime_error(fmt::format("{} of {} launches differ between emulator and GPU", sum_.different, sum_.launches));
    if (stopped_ != 0)
      throw std::runtime_error(fmt::format("in {} launches the emulator reports an error that the GPU does not", stopped_));
    if (sum_.launches == 0) throw std::runtime_error("nothing was compared");
  }

 private:
  static constexpr int most_shown = 3;  // launches of a kernel

  /// What else is known of differences.
  static std::string remark(const Comparison& comparison) {
    if (!comparison.unsettled.empty())
      return fmt::format("; whether they depend on the order of warps is not known: {}", comparison.unsettled);
    if (comparison.nondeterministic != 0) return "; other elements vary on the GPU from launch to launch";
    if (comparison.order_dependent != 0) return "; other elements vary here with the order of warps";
    return "";
  }

  void print(const RecordedLaunch& launch, const Comparison& comparison) const {
    const std::string where = fmt::format("launch {}, kernel '{}'", launch.number, readable_name(launch.kernel));
    for (const BufferDifference& buffer : comparison.buffers) {
      const RecordedBuffer& memory = launch.buffers[buffer.buffer];
      const std::string place =
          buffer.parameter.empty() ? fmt::format("'{}'", memory.name) : fmt::format("'{}' ({})", memory.name, buffer.parameter);
      fmt::print("{}, {} of {} bytes: {} elements of {} differ{}\n", where, place, memory.before.bytes, buffer.elements, buffer.type.ptx,
                 remark(comparison));
      for (const ElementDifference& each : buffer.first)
        fmt::print("  element {}: GPU {}, emulator {}\n", each.index, to_text(buffer.type, each.gpu), to_text(buffer.type, each.emulator));
    }
    if (!comparison.same_text)
      fmt::print("{}: the emulator prints:\n{}the GPU prints:\n{}", where, comparison.printed, launch.printed.value_or(""));
    if (launch.cooperative || comparison.buffers.empty()) return;  // a launch.json has no workspace of a cooperative launch
    const std::filesystem::path file = folder_ / fmt::format("launch_{}.launch.json", launch.number);
    save_launch(file, archive_, launch, comparison);
    fmt::print("  again: warpmat launch {}\n", file.string());
  }

  const ArchiveReader& archive_;
  std::filesystem::path folder_;

  std::map<std::string, KernelSum> kernels_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> reasons_;
  std::map<std::tuple<int, std::string, std::string>, std::uint64_t> skipped_;
  std::map<std::string, int> shown_;
  std::uint64_t stopped_ = 0;
  double gpu_seconds_ = 0, seconds_ = 0;
  KernelSum sum_;
};

}  // namespace

void add_comparing_flags(Command command, CompareArchiveOptions& options) {
  command.add_option("--seconds", options.seconds, "Of a program: give up the emulation of a launch after N seconds (default: 60)")
      .type_name("N")
      .range(1, 1 << 30);
}

bool holds_launches(const std::filesystem::path& file) {
  namespace fs = std::filesystem;
  if (fs::is_regular_file(file)) return is_archive(file);
  return fs::is_fifo(file) || fs::is_socket(file) || fs::is_character_file(file);  // read once, so not looked into
}

void compare_archive(const std::filesystem::path& path, const CompareArchiveOptions& options) {
  constexpr std::chrono::seconds after_the_program{2};  // for what a program launched that an interruption has ended
  const int interrupted_before = interruption();
  const auto start = std::chrono::steady_clock::now();
  const auto stop = [&] {
    return interruption() != interrupted_before ||
           (interrupted_before != 0 && std::chrono::steady_clock::now() - start > after_the_program);
  };
  const ArchiveReader archive(path, options.memory == 0 ? std::numeric_limits<std::uint64_t>::max() : options.memory);
  LaunchComparer comparer(
      archive, {.target = options.target, .jobs = options.jobs, .most_time = std::chrono::seconds(options.seconds), .stop = stop});
  Report report(archive, options.keep);
  std::optional<RecordedProgram> program;
  std::uint64_t given_up = 0;
  for (std::size_t i = 0; i < archive.lines(); ++i) {
    const ArchiveLine line = parse_line(archive.line(i));
    if (line.program) program = line.program;
    if (line.skipped) report.add(*line.skipped);
    if (!line.launch) continue;
    if (!program) throw std::runtime_error(fmt::format("{} does not say which GPU it is from", path.string()));
    const Comparison comparison = comparer.compare(*line.launch, program->target);
    report.add(*line.launch, comparison);
    given_up += comparison.given_up;
  }
  report.print_sums(program ? program->device : "no GPU was used");
  if (archive.cut()) fmt::print("the archive ends within a launch: its program was killed\n");
  if (given_up != 0) throw Interrupted(interruption(), fmt::format("{} recorded launches were not compared", given_up));
  if (interrupted_before != 0) throw Interrupted(interrupted_before, "the program ended early; its launches until then were compared");
  report.fail_if_wrong();
}

}  // namespace warpmat
