#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/files/output_file.h>
#include <warpmat/ir/code.h>
#include <warpmat/launch.h>
#include <warpmat/launch/check_list.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine_code/use.h>
#include <warpmat/pool/thread_pool.h>
#include <warpmat/ptx/text/readable_name.h>
#include <warpmat/report/suppressions.h>
#include <warpmat/words/words.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "finding_flags.h"
#include "launch_flags.h"
#include "profile_flag.h"
#include "run_report.h"
#include "tools/command_line/execution_flags.h"
#include "tools/command_line/label_flags.h"
#include "tools/command_line/limit_flags.h"
#include "tools/report/bank_report.h"
#include "tools/report/descriptor_report.h"
#include "tools/report/evidence_line.h"
#include "tools/report/launch_skeleton.h"
#include "tools/report/probe.h"
#include "tools/report/ptx_file.h"
#include "why.h"

namespace warpmat {
namespace {

struct LaunchCommandOptions {
  LaunchFlags flags;
  std::string checks;  ///< empty: the usual ones, and races in a launch that is not large
  std::vector<std::string> outs, expected, gemm_blocks, profile;
  LaunchOptions launch;
  bool guess = false;
  LabelOptions labels;
  std::string report, init, probe, gemm, why, why_files, against, show;
  Limits limits;
  FindingFiles found;
};

/// The index of a block, "3", "3,1" or "3,1,0".
Dim3 parse_block_index(const std::string& text) {
  const auto index = dim3_of(parse_sizes(text).value_or(std::vector<std::uint64_t>{}), 0);
  if (!index) throw std::runtime_error(fmt::format("--gemm-block {}: it would be X, X,Y or X,Y,Z", text));
  return *index;
}

constexpr std::uint64_t most_threads_for_races = 16'384;  ///< a race check takes up to six times as long as the launch

/// The checks of a launch: those that --check says, else the usual ones. Says where races are left out.
Checks checks_of(const LaunchCommandOptions& options, const ReadyLaunch& ready) {
  if (!options.checks.empty()) return parse_checks(without_banks(options.checks));
  Checks checks = parse_checks(usual_checks);
  const std::uint64_t threads = ready.description.config.grid.count() * ready.description.config.block.count();
  checks.races = threads <= most_threads_for_races;
  if (!checks.races && !options.labels.quiet)
    fmt::print(stderr, "warpmat: races were not looked for: the launch has {} threads, more than {}; --check {},races looks for them\n",
               threads, most_threads_for_races, usual_checks);
  return checks;
}

/// The C++ name of an entry without types where that says which one it is, else the whole name.
std::string shortest_name(const Module& module, const std::string& entry) try {
  return entry_name(module, readable_name(entry), "") == entry ? readable_name(entry) : entry;
} catch (const std::exception&) {  // several have it
  return entry;
}

/// Writes a launch.json for the kernel of --init FILE.ptx: what the options say is left out.
void write_skeleton(const LaunchCommandOptions& options) {
  if (options.flags.file.ends_with(".json")) throw std::runtime_error("--init writes a launch.json for the kernel of a .ptx or .cu file");
  if (std::filesystem::exists(options.init)) throw std::runtime_error(fmt::format("--init {}: the file is there already", options.init));
  const ModuleFile file = read_module(options.flags.file, options.flags.target);
  const std::string entry = entry_name(file.module, options.flags.kernel, options.flags.file), name = shortest_name(file.module, entry);
  const Kernel kernel = read_kernel(file, entry, {.target = options.flags.target});
  const std::filesystem::path folder = std::filesystem::absolute(options.init).parent_path();
  const std::filesystem::path ptx = std::filesystem::relative(std::filesystem::absolute(options.flags.file), folder);
  write_file(options.init, {launch_skeleton(ptx, name, program_of(kernel))});
  fmt::print("{}: the launch of '{}'; fill in sizes and numbers, then: warpmat launch {}\n", options.init, name, options.init);
}

/// What to do about a wrong buffer where no product is told.
std::string next_step(const BufferExpectation& expectation, const MatrixDifference& difference) {
  const std::vector<std::size_t>& shape = expectation.expected.shape;
  const std::string& name = expectation.buffer->name;
  if (shape.size() != 2) return "";
  const std::string product = fmt::format("'{}=A*B^T:{}x{}xK'", name, shape[0], shape[1]);
  return fmt::format(
      "next, of a product of matrices: the same command with --gemm {0} reports the first wrong product with its lines, and with --why\n"
      "'{1}[{2}]' where this element comes from; --probe {0} shows which elements meet\n",
      product, name, fmt::join(difference.first, ","));
}

/// Runs a launch whose product is told again, with origins, and says where a wrong element of a buffer comes from.
void diagnose(ReadyLaunch& ready, LaunchOptions launch_options, const std::string& buffer, const std::vector<std::size_t>& element) {
  constexpr int most_lines = 20;  // of a screen that has the comparison, too
  if (element.size() != 2 || ready.asked.element) return;
  const std::string name = fmt::format("{}[{}]", buffer, fmt::join(element, ","));
  ready.asked.element = ProductElement{buffer, {element.begin(), element.end()}};
  launch_options.observers.clear();
  launch_options.observers_of_clusters.clear();
  ready.prepared = prepare(ready.description, ready.kernel);
  ProductLaunch result;
  try {
    result = launch(ready, launch_options);
  } catch (const std::invalid_argument&) {  // the buffer is not the product's result
    return;
  }
  for (const Why& why : result.ways) {
    const std::vector<std::string_view> lines = split(why.text, '\n');
    const std::size_t shown = std::min<std::size_t>(lines.size(), most_lines);
    fmt::print(stderr, "{}\n", fmt::join(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(shown), "\n"));
    if (shown < lines.size()) fmt::print(stderr, "and {} lines more, by --why '{}'\n", lines.size() - shown, name);
  }
  if (result.ways.empty()) fmt::print(stderr, "no block stores {}\n", name);
}

/// Compares the buffers of --expect, and says the result to standard error; of the first that is wrong also where an element comes from.
/// Returns whether all are as expected.
bool as_expected(const LaunchCommandOptions& options, ReadyLaunch& ready, const LaunchOptions& launch_options,
                 const std::vector<BufferExpectation>& expectations) {
  bool right = true;
  std::string buffer;
  std::vector<std::size_t> element;
  for (const BufferExpectation& expectation : expectations) {
    const MatrixDifference difference = compare(expectation, ready.prepared);
    if (difference.wrong != 0) {
      if (right) buffer = expectation.buffer->name, element = difference.first;
      right = false;
      fmt::print(stderr, "{}{}", difference.text, ready.asked.products.empty() ? next_step(expectation, difference) : "");
    } else if (!options.labels.quiet) {
      fmt::print(stderr, "warpmat: {} is as expected: {} elements\n", expectation.buffer->name, difference.elements);
    }
  }
  if (!right && !ready.asked.products.empty()) diagnose(ready, launch_options, buffer, element);
  return right;
}

/// Runs the kernel of a product with numbers and identities in its buffers, and says which elements met.
void run_probe(const LaunchCommandOptions& options, LimitedWork& limited) {
  ReadyLaunch ready = ready_launch(options.flags, description_of(options.flags), options.limits);
  LaunchOptions launch_options = options.launch;
  launch_options.stop = limited.stop();
  launch_options.checks = checks_of(options, ready);
  const Probe probed = parse_probe(options.probe, ready.description, ready.prepared);
  const ProbeResult result = probe(probed, [&](const std::map<std::string, std::vector<std::uint8_t>>& contents) {
    ready.prepared = prepare(ready.description, ready.kernel);
    DeviceMemory& memory = ready.prepared.memory;
    for (const auto& content : contents)
      std::ranges::copy(content.second, memory.bytes(ready.prepared.addresses.at(content.first), content.second.size()).begin());
    launch(ready, launch_options);
    const auto c = memory.bytes(ready.prepared.addresses.at(probed.c.buffer), ready.prepared.sizes.at(probed.c.buffer));
    return std::vector<std::uint8_t>(c.begin(), c.end());
  });
  fmt::print("{}", result.text);
  if (!result.right) exit_with(1);
}

/// Says what the kernel seems to compute, and has the launch held against that.
void guess(ReadyLaunch& ready, const LaunchOptions& options) {
  Guess guess = guess_product(ready, options, false);
  for (const Trap& finding : guess.findings) print_reports({}, {report_of(ready, finding, Report::Level::warning)}, ptx_of(ready));
  fmt::print(stderr, "warpmat: {}{}\n", guess.text,
             guess.products.empty() ? "" : fmt::format("; --gemm '{}'", product_text(guess.products)));
  ready.asked.products = std::move(guess.products);
}

void run_launch(const LaunchCommandOptions& options, const Command& command, LimitedWork& limited) {
  use_thread_pool();
  use_machine_code();
  if (!options.init.empty()) return write_skeleton(options);
  if (!options.probe.empty()) return run_probe(options, limited);
  LaunchDescription description = description_of(options.flags);
  for (const std::string& text : options.outs) parse_output(text, description.buffers);
  for (const std::string& text : options.expected) parse_expectation(text, description.buffers);
  for (const LaunchBuffer& buffer : description.buffers)
    if (!buffer.out.empty()) check_output_place(buffer.out);
  ReadyLaunch ready = ready_launch(options.flags, std::move(description), options.limits);
  const std::vector<BufferExpectation> expectations = read_expectations(ready.description, ready.prepared);
  const auto instructions = labelled(ready.kernel);
  const std::string_view target = program_of(ready.kernel).target->name;
  if (!options.report.empty()) check_output_place(options.report);
  check_finding_files(options.found);
  check_profile_flag(options.profile);
  if (options.guess && !options.gemm.empty()) throw std::invalid_argument("--guess and --gemm both say the product: one of them is enough");
  if (!options.against.empty() && options.why.empty()) throw std::invalid_argument("--against needs --why 'C[5,3]'");
  const auto start = std::chrono::steady_clock::now();
  const auto tell = [&](const std::vector<Report>& found) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    tell_findings(options.found, fmt::format("{} {}", options.flags.file, ready.description.kernel), seconds, found);
  };
  const auto require = [&](const std::vector<Labelled>& labels) {
    try {
      require_labels(options.labels, target, labels);
    } catch (const std::runtime_error& refused) {
      tell({{.rule = "label", .text = refused.what()}});
      throw;
    }
  };
  require(instructions);
  BankReport report;
  LaunchOptions launch_options = options.launch;
  launch_options.stop = limited.stop();
  if (!options.guess) ready.asked.products = options.gemm.empty() ? ready.description.products : parse_products(options.gemm);
  ready.asked.element = parse_element(options.why);
  for (const std::string& block : options.gemm_blocks) ready.asked.blocks.push_back(parse_block_index(block));
  launch_options.checks = checks_of(options, ready);
  Suppressions suppressions = options.found.suppressions.empty() ? Suppressions() : read_suppressions(options.found.suppressions);
  if (!suppressions.empty())
    launch_options.suppresses = [&](const Trap& trap) { return suppressions.suppresses(warpmat::report_of(trap)); };
  OpcodeCounts counts;
  DescriptorReport descriptors(ready.prepared.memory);
  if (options.show == "descriptors") launch_options.observers.push_back(&descriptors);
  if (counts_banks(options.checks)) launch_options.observers.push_back(&report);
  if (!options.report.empty()) launch_options.observers.push_back(&counts);
  std::optional<Profiler> profiler;
  if (!options.profile.empty()) {
    profiler.emplace(ready.kernel);
    launch_options.observers_of_clusters.emplace_back([&profiler](std::uint64_t) { return profiler->observer(); });
  }
  ProductLaunch result;
  try {
    if (options.guess) guess(ready, launch_options);
    result = launch(ready, launch_options);
  } catch (const Trap& trap) {
    fmt::print("{}", descriptors.text());  // they are wanted most where the launch fails
    const std::vector<Report> failure{report_of(ready, trap)};
    if (!limited.is_over()) print_reports(options.found, failure, ptx_of(ready));
    tell(failure);
    if (limited.is_over()) throw;  // what says first that the time was over
    exit_with(1);
  } catch (...) {
    fmt::print("{}", descriptors.text());
    throw;
  }
  const Profile profile = profiler ? profiler->result() : Profile{};
  fmt::print("{}", result.printed);
  fmt::print("{}", descriptors.text());
  for (const Why& way : result.ways) print_why(way, options.why_files, target, options.against);
  if (!options.why.empty() && result.ways.empty()) fmt::print("no block stores {}\n", options.why);
  const auto ran = labelled(ready.kernel, result);
  require(ran);
  std::vector<Report> found;
  for (const Trap& warning : result.warned) found.push_back(report_of(ready, warning, Report::Level::warning));
  print_reports(options.found, found, ptx_of(ready));
  for (const std::string& unused : suppressions.unused()) fmt::print(stderr, "warpmat: {}\n", unused);
  write_outputs(ready.description, ready.prepared);
  write_report(options.report, command, target, instructions, counts.counts());
  if (counts_banks(options.checks)) fmt::print(stderr, "{}", bank_table(report.lines()));
  report_profile(options.profile, command.name(), {{ready.kernel, 1, profile}});
  print_evidence(options.labels, target, ran, ready.assembler.empty() ? "" : "; sums from machine code of " + ready.assembler);
  const bool right = as_expected(options, ready, launch_options, expectations);
  if (!right) found.push_back({.rule = "expectation", .text = "a buffer is not as expected"});
  tell(found);
  if (!right) exit_with(1);
}

}  // namespace

void add_launch(Command app) {
  const auto options = std::make_shared<LaunchCommandOptions>();
  const Command command = app.add_subcommand("launch", "Execute a whole kernel: grid, blocks, warps, memory");
  add_launch_flags(command, options->flags);
  command.add_option("--out", options->outs, "NAME=FILE.npy[:TYPE[:SHAPE]]: write a buffer after the run; may be repeated")
      .allow_extra_args(false);
  command
      .add_option("--expect", options->expected,
                  "NAME=FILE[:TYPE][:SHAPE][:TOLERANCE]: compare a buffer after the run, and end with status 1 where it differs: "
                  "C=C.npy:f32:128x128:2ulp; may be repeated")
      .allow_extra_args(false);
  command
      .add_option(
          "--probe", options->probe,
          "C=A*B^T:MxNxK: launch with numbers in A and the identity in B, and the other way round, and say which elements the product "
          "reads in the place of which. A:bf16 says a type that the buffer does not")
      .type_name("PRODUCT");
  command.add_option("--init", options->init, "Write a launch.json for the kernel, with its parameters to be filled in, and do not run it")
      .type_name("FILE.json");
  options->launch.jobs = 0;
  command.add_option("--jobs", options->launch.jobs, "Threads; 0: one for each core, the default. The result does not depend on it")
      .range(0, 1024);
  command.add_option("--gemm", options->gemm,
                     "C=A*B^T:128x128x64, or Y=conv(X,F):2x16x16x32*64x3x3,pad=1: what the kernel computes. Each product of a matrix "
                     "instruction is held against it, and the first wrong one is reported with the lines of both sides; no expected values "
                     "are needed. ^T: columns are contiguous. "
                     ",sfa=SA,sfb=SB: block scale factors; ,e=E: the metadata of a sparse A");
  command.add_flag("--guess", options->guess,
                   "Find out which product the kernel computes, and report what does not belong to it: --gemm without telling it. Of a "
                   "kernel without matrix instructions: elements that depend on others than their neighbours");
  command
      .add_option("--gemm-block", options->gemm_blocks,
                  "X, X,Y or X,Y,Z: look only at the products of this block and its cluster, which costs less; may be repeated")
      .allow_extra_args(false);
  command.add_option("--why", options->why,
                     "C[5,3]: where this element of the product of --gemm or --guess comes from: its stores, products and factors");
  command
      .add_option("--why-files", options->why_files,
                  "With --why: write the operands of its products to NAME.a.npy, NAME.b.npy and NAME.c.npy, for warpmat explain")
      .type_name("NAME");
  command
      .add_option("--against", options->against,
                  "With --why: another GPU, sm_80, and the first of the products at which its bits part from those of the target")
      .type_name("TARGET");
  command
      .add_option("--show", options->show,
                  "descriptors: what wgmma's matrix descriptors and the tensor maps of the launch say, a line each")
      .one_of({"descriptors"});
  add_schedule_flag(command, options->launch.schedule);
  add_timing_flag(command, options->launch.timing);
  command.add_option("--check", options->checks,
                     all_check_names() +
                         ", separated by commas; or all, or none. Default: uninitialised, copies, and races where the launch has at most "
                         "16,384 threads. And banks: bank conflicts by line, to standard error");
  add_execution_flags(command, options->launch.execution);
  add_limit_flags(command, options->limits);
  add_label_flags(command, options->labels);
  add_report_option(command, options->report);
  add_finding_flags(command, options->found);
  add_profile_flag(command, options->profile);
  command.footer(
      "A SOURCE is FILE.npy (of any type: its bytes), zeros:BYTES, fill:BYTES:VALUE, random:BYTES[:SEED] or random:FORMAT:COUNT[:SEED].\n"
      "A .cu file is compiled by nvcc for --target, sm_90a where there is none; NVCC_APPEND_FLAGS adds nvcc's options, CUDACXX names "
      "another nvcc.\n"
      "What the kernel prints goes to standard output. A launch.json has the same as a file: docs/use/launch.md. Triton's .json beside a "
      ".ptx "
      "file\n"
      "fills in the kernel's name, its threads and its shared memory.\n"
      "\n"
      "Examples:\n"
      "  warpmat launch launch.json --jobs 1\n"
      "  warpmat launch launch.json --seconds 60 --memory 4GB\n"
      "  warpmat launch gemm.cu --kernel gemm --init launch.json\n"
      "  warpmat launch launch.json --profile --profile=gemm.folded\n"
      "  warpmat launch saxpy.ptx --target sm_90 --grid 8 --block 128 --buffer x=x.npy --buffer y=zeros:4000 \\\n"
      "                 --param s32:1000 --param f32:2.5 --param x --param y --out y=y.npy:float32");
  command.callback(
      [options, command] { within_limits(options->limits, [&](LimitedWork& limited) { run_launch(*options, command, limited); }); });
}

}  // namespace warpmat
