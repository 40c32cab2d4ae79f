#include "examine.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <warpmat/ir/code.h>
#include <warpmat/launch.h>
#include <warpmat/launch/check_list.h>
#include <warpmat/machine/internals.h>
#include <warpmat/provenance/pointers.h>
#include <warpmat/ptx/text/readable_name.h>
#include <warpmat/report/suppressions.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <stdexcept>

#include "launch_flags.h"
#include "tools/report/bank_report.h"
#include "tools/report/launch_description.h"
#include "why.h"

namespace warpmat {
namespace {

namespace fs = std::filesystem;

std::regex pattern_of(const std::string& text) try {
  return std::regex(text, std::regex::ECMAScript | std::regex::optimize);
} catch (const std::regex_error&) {
  throw std::runtime_error(fmt::format("--kernels {}: it is no regular expression", text));
}

/// The answers to the questions about one launch after the other.
class Examiner {
 public:
  Examiner(const Examination& examination, const FindingFiles& files, LimitedWork& limited)
      : examination_(examination), files_(files), limited_(limited), wanted_(pattern_of(examination.kernels)) {
    if (!files.suppressions.empty()) suppressions_ = read_suppressions(files.suppressions);
  }

  void add(const fs::path& file) {
    LaunchDescription description = read_launch(file);
    const std::string name = readable_name(description.kernel);
    names_.insert(name);
    if (!std::regex_search(name, wanted_)) return;
    ++examined_;
    last_ = file;
    const std::string place = fmt::format("launch {}, {}", file.parent_path().filename().string(), name);
    try {
      ask(place, file, std::move(description));
    } catch (const std::invalid_argument& error) {  // the product is not one of this kernel's buffers
      add({.rule = "product", .text = fmt::format("{}: {}", place, error.what())});
    }
  }

  std::vector<Report> take() {
    if (examined_ == 0) add({.rule = "product", .text = nothing_examined()});
    if (examined_ != 0 && !examination_.expected.empty()) compare_last();
    return std::move(found_);
  }

 private:
  void add(const Report& report, std::string_view ptx = {}) {
    print_reports(files_, {report}, ptx);
    found_.push_back(report);
  }

  /// What the program's run has not reported already.
  void add(const ReadyLaunch& ready, const Trap& trap, Report::Level level) {
    Report report = report_of(ready, trap, level);
    report.ptx_file.clear();  // which is a copy of the program's
    const auto is_same = [&](const Report& other) {
      return other.rule == report.rule && other.kernel == report.kernel && other.at.line == report.at.line;
    };
    if (std::ranges::none_of(examination_.reported, is_same)) add(report, ptx_of(ready));
  }

  static ReadyLaunch ready_again(const fs::path& file, LaunchDescription description) {
    LaunchFlags flags;
    flags.file = file.string();
    return ready_launch(flags, std::move(description), {});
  }

  /// The program's run has made the checks: one that ends a launch would hide its product.
  LaunchOptions options_again() {
    LaunchOptions options;
    options.checks = parse_checks(usual_program_checks);
    options.stop = limited_.stop();
    if (!suppressions_.empty())
      options.suppresses = [this](const Trap& trap) { return suppressions_.suppresses(warpmat::report_of(trap)); };
    return options;
  }

  void ask(const std::string& place, const fs::path& file, LaunchDescription description) {
    if (examination_.gemm.empty() && !examination_.guess && !examination_.banks) return;
    ReadyLaunch ready = ready_again(file, std::move(description));
    LaunchOptions options = options_again();
    ready.asked.products = parse_products(examination_.gemm);
    if (examination_.guess && !guess(ready, options, place)) return;
    BankReport banks;
    if (examination_.banks) options.observers.push_back(&banks);
    const std::size_t before = found_.size();
    const bool ended = look_at(ready, options);
    if (examination_.banks) fmt::print(stderr, "{}:\n{}", place, bank_table(banks.lines()));
    options.observers.clear();
    const std::vector<MatrixProduct>& products = ready.asked.products;
    if (!examination_.why.empty() && !products.empty()) tell_way(ready, options, place);
    if (ended && !products.empty() && found_.size() == before)
      fmt::print(stderr, "warpmat: {}: each product is one of {}\n", place, product_text(products));
  }

  /// Adds what is wrong with the launch. Returns whether it ended by itself.
  bool look_at(ReadyLaunch& ready, const LaunchOptions& options) try {
    for (const Trap& warning : launch(ready, options).warned)
      if (warning.kind == Trap::Kind::mispaired) add(ready, warning, Report::Level::warning);
    return true;
  } catch (const Trap& trap) {
    if (limited_.is_over()) throw;
    add(ready, trap, Report::Level::error);
    return false;
  }

  /// Prints where an element comes from, in a run of its own: one that looks for an element reports no wrong product.
  void tell_way(ReadyLaunch& ready, const LaunchOptions& options, const std::string& place) try {
    ready.prepared = prepare(ready.description, ready.kernel);
    ready.asked.element = parse_element(examination_.why);
    const ProductLaunch result = launch(ready, options);
    for (const Why& way : result.ways) print_why(way, "", program_of(ready.kernel).target->name, examination_.against);
    if (result.ways.empty()) fmt::print("{}: no block stores {}\n", place, examination_.why);
  } catch (const Trap& trap) {
    if (limited_.is_over()) throw;
    fmt::print("{}: {} is not stored: the launch ends before\n", place, examination_.why);
  }

  /// "2=FILE" with the name of the buffer to which pointer parameter 2 points.
  static std::string with_name(const std::string& text, const PreparedLaunch& prepared) {
    const std::size_t equals = std::min(text.find('='), text.size());
    std::optional<std::size_t> left = provenance::pointer_number(std::string_view(text).substr(0, equals));
    if (!left) return text;
    for (const Argument& argument : prepared.arguments)
      if (const auto pointer = provenance::pointer_of(argument, prepared.memory); pointer && (*left)-- == 0)
        return std::string(prepared.memory.find(*pointer)->name) + text.substr(equals);
    return text;
  }

  /// Compares what the last launch leaves in its buffers.
  void compare_last() {
    ReadyLaunch ready = ready_again(last_, read_launch(last_));
    for (const std::string& text : examination_.expected) parse_expectation(with_name(text, ready.prepared), ready.description.buffers);
    const std::vector<BufferExpectation> expectations = read_expectations(ready.description, ready.prepared);
    launch(ready, options_again());
    for (const BufferExpectation& expectation : expectations) {
      const MatrixDifference difference = compare(expectation, ready.prepared);
      if (difference.wrong == 0)
        fmt::print(stderr, "warpmat: {} is as expected: {} elements\n", expectation.buffer->name, difference.elements);
      else
        add({.rule = "expectation", .text = difference.text.substr(0, difference.text.find_last_not_of('\n') + 1)});
    }
  }

  /// Says what the launch seems to compute. Returns whether that is to be looked at.
  bool guess(ReadyLaunch& ready, const LaunchOptions& options, const std::string& place) {
    Guess guess = guess_product(ready, options, examination_.errs);
    fmt::print(stderr, "warpmat: {}: {}\n", place, guess.text);
    for (const Trap& finding : guess.findings) add(ready, finding, Report::Level::warning);
    ready.asked.products = std::move(guess.products);
    return !ready.asked.products.empty() || examination_.banks;
  }

  std::string nothing_examined() const {
    if (names_.empty()) return "no launch was saved to be examined";
    return fmt::format("--kernels {}: no kernel is called so; the program launched {}", examination_.kernels, fmt::join(names_, ", "));
  }

  const Examination& examination_;
  const FindingFiles& files_;
  LimitedWork& limited_;
  std::regex wanted_;
  Suppressions suppressions_;
  std::set<std::string> names_;
  fs::path last_;  ///< the last launch that was looked at
  int examined_ = 0;
  std::vector<Report> found_;
};

}  // namespace

std::vector<fs::path> saved_launches(const fs::path& folder) {
  if (!fs::exists(folder)) return {};  // the program has not even begun
  std::map<unsigned long, fs::path> numbered;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") == std::string::npos) numbered.emplace(std::stoul(name), entry.path() / "launch.json");
  }
  std::vector<fs::path> all;
  for (const auto& [number, path] : numbered) all.push_back(path);
  return all;
}

void check_examination(const Examination& examination) {
  static_cast<void>(pattern_of(examination.kernels));
  if (examination.guess && !examination.gemm.empty())
    throw std::runtime_error("--guess and --gemm both say the product: one of them is enough");
  if (!examination.why.empty() && examination.gemm.empty() && !examination.guess)
    throw std::runtime_error("--why needs --gemm, which says where the matrices lie: --gemm '2=0*1^T:128x192x256' --why '2[5,3]'");
  if (!examination.against.empty() && examination.why.empty()) throw std::runtime_error("--against needs --why '2[5,3]'");
  if (!examination.kernels.empty() && !examination.asks())
    throw std::runtime_error("--kernels needs --guess, --gemm, --expect or --check banks");
}

std::vector<Report> examine(const Examination& examination, const FindingFiles& files, const Limits& limits, const fs::path& folder) {
  std::vector<Report> found;
  within_limits(limits, [&](LimitedWork& limited) {
    Examiner examiner(examination, files, limited);
    for (const fs::path& file : saved_launches(folder)) examiner.add(file);
    found = examiner.take();
  });
  return found;
}

}  // namespace warpmat
