// Modules that are no longer right: whatever they hold, the parser and the resolver end with a SyntaxError or a program, and a launch of
// that with a result or a report.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <warpmat/machine/internals.h>
#include <warpmat/program.h>
#include <warpmat/ptx/program/code.h>

#include "catch.h"
#include "compressed_table.h"
#include "gpu/cases/kernel_program.h"
#include "gpu/cases/warpgroup_program.h"
#include "gpu/runners/kernel.h"
#include "gpu/runners/scalar_kernel.h"
#include "machine/kernel.h"
#include "machine/tensor_kernel.h"
#include "paths.h"
#include "ptx/mutator.h"
#include "tools/report/evidence_line.h"

namespace warpmat::mutated_modules_test {
namespace {

constexpr const char *hopper = "sm_90a", *blackwell = "sm_100a", *ultra = "sm_103a";

/// The texts of the .ptx and .ptx.gz files in `folder` and below, in the order of their names.
std::vector<std::string> ptx_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".ptx" || entry.path().string().ends_with(".ptx.gz")) paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> texts;
  for (const auto& path : paths) texts.push_back(read_compressed_text(path.string()));  // which reads plain files, too
  return texts;
}

void append(std::vector<std::string>& texts, std::vector<std::string> more) {
  std::ranges::move(more, std::back_inserter(texts));
}

/// A kernel around `statements` of products, copies and moves in tensor memory, committed to `bar` in one block or a pair. `before` makes
/// their operands and allocates 64 columns.
std::string tensor_module(const std::string& statements, int group, const std::string& before, const char* target) {
  const std::string commit =
      group == 1
          ? "\n@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [bar];"
          : "\nmov.u16 %s1, 3;\n@%p2 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], %s1;";
  std::string text(*syntax_of(word_kernel(before + statements + commit + tensor_kernel::wait +
                                              "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%d, %r1}, [%r12+3];\n"
                                              "tcgen05.wait::ld.sync.aligned;\n" +
                                              tensor_kernel::free(64, group),
                                          target, tensor_kernel::variables))
                        .text);
  if (group == 2) text.insert(text.find(")\n{") + 1, "\n.reqnctapercluster 2, 1, 1");
  return text;
}

/// Kernels around statements of tensor memory, and what else sm_100 added.
std::vector<std::string> tensor_modules() {
  struct Statements {
    const char* text;
    const char* descriptor = "0x08040010";  ///< of the instruction: here f16, m128n16
    bool sparse = false;                    ///< metadata are the bytes 0x44 from column 16 on, as A and B then
  };
  constexpr const char *sparse_bytes = "0x08040014", *pair = "0x10040010";
  const std::string allocated = tensor_kernel::allocate(64);
  std::vector<std::string> texts;
  for (const Statements& s : {
           Statements{
               "@%p1 tcgen05.mma.cta_group::1.kind::f16.collector::a::fill [%r10], %l1, %l2, %r13, {%r14, %r14, %r14, %r14}, %p3, 2;"},
           Statements{"@%p1 tcgen05.mma.cta_group::1.kind::tf32 [%r10], [%r10+32], %l2, %r13, %p3;", "0x08040910"},
           Statements{"@%p1 tcgen05.mma.sp.cta_group::1.kind::f8f6f4 [%r10], %l1, %l2, [%r10+16], %r13, %p3;", sparse_bytes, true},
           Statements{"mov.b64 %l3, 0; @%p1 tcgen05.mma.ws.cta_group::1.kind::i8.collector::b1::lastuse [%r10], %l1, %l2, %r13, %p3, %l3;",
                      "0x08100020"},
           Statements{"@%p1 tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r10], %l1, %l2, %r13, [%r10+32], [%r10+36], %p3;",
                      "0x08840000"},
           Statements{"@%p1 tcgen05.mma.sp.cta_group::1.kind::mxf4nvf4.block_scale.block16 [%r10], %l1, %l2, [%r10+16], %r13, [%r10+32], "
                      "[%r10+36], %p3;",
                      "0x08040484", true},
           Statements{"@%p1 tcgen05.mma.ws.sp.cta_group::1.kind::f16 [%r10], %l1, %l2, [%r10+16], %r13, %p3;", "0x08100014", true},
           Statements{"@%p1 tcgen05.mma.sp.cta_group::1.kind::i8 [%r10], [%r10+32], %l2, [%r10+16], %r13, %p3;", "0x08040024", true},
           Statements{"@%p1 tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block32 [%r10], %l1, %l2, %r13, [%r10+32], [%r10+36], %p3;",
                      "0x08840480"},
           Statements{"@%p1 tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::discard [%r10], [%r10+32], %l2, %r13, %p3;"},
           Statements{"@%p1 tcgen05.cp.cta_group::1.64x128b.warpx2::02_13.b8x16.b6x16_p32 [%r10], %l1; "
                      "@%p1 tcgen05.shift.cta_group::1.down [%r10];"},
           Statements{"tcgen05.st.sync.aligned.16x256b.x1.b32 [%r12], {%r1, %r3, %r4, %r14}; tcgen05.wait::st.sync.aligned;"},
           Statements{"tcgen05.st.sync.aligned.16x32bx2.x2.unpack::16b.b32 [%r12], 8, {%r1, %r3}; tcgen05.wait::st.sync.aligned;"},
           Statements{"st.bulk.weak.shared::cta [%r1], 64, 0;"},
           Statements{"@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16; "
                      "@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], [bar];\n"
                      "CANCELLED: mbarrier.try_wait.parity.shared.b64 %p4, [bar], 0; @!%p4 bra CANCELLED; .reg .b128 %q; "
                      "ld.shared.b128 %q, [%r1]; clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r1, %r3, %r4, _}, %q;"},
       })
    texts.push_back(tensor_module((s.sparse ? "@%p1 tcgen05.cp.cta_group::1.128x128b [%r10+16], %l1;\n" : "") + std::string(s.text), 1,
                                  allocated + tensor_kernel::operands(s.sparse ? "0x44444444" : "0x3c003c00", s.descriptor), blackwell));
  texts.push_back(
      tensor_module("tcgen05.ld.red.sync.aligned.32x32b.x4.max.abs.NaN.f32 {%r1, %r3, %r4, %r5}, %r6, [%r12+1];\n"
                    "tcgen05.wait::ld.sync.aligned;",
                    1, allocated + tensor_kernel::operands("0x3c003c00", "0x08040010"), ultra));
  const std::string of_pair = "mov.u32 %i, %tid.x;\nsetp.lt.u32 %p0, %i, 32;\n" + tensor_kernel::operands("0x3c003c00", pair) +
                              "mov.u32 %r9, %cluster_ctarank;\nsetp.eq.u32 %p6, %r9, 0;\nand.pred %p2, %p1, %p6;\n"
                              "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n" +
                              tensor_kernel::allocate(64, 2);
  for (const char* statements : {"@%p2 tcgen05.mma.cta_group::2.kind::f16.collector::a::use [%r10], %l1, %l2, %r13, %p3;",
                                 "@%p2 tcgen05.cp.cta_group::2.32x128b.warpx4 [%r10], %l1; @%p2 tcgen05.shift.cta_group::2.down [%r10];"})
    texts.push_back(tensor_module(statements, 2, of_pair, blackwell));
  return texts;
}

std::vector<std::string> module_texts() {
  std::vector<std::string> texts = ptx_in(source_path("examples/kernels"));
  append(texts, ptx_in(source_path("tests/machine/modules")));
  append(texts, tensor_modules());
  return texts;
}

/// Modules with all scalar instructions of the target, a few in each.
std::vector<std::string> scalar_modules() {
  constexpr std::size_t each = 40;
  const std::vector<ScalarCase> cases = scalar_cases(target(hopper), newest_ptx);
  std::vector<std::string> texts;
  for (std::size_t first = 0; first < cases.size(); first += each)
    texts.push_back(scalar_module(std::span(cases).subspan(first, std::min(each, cases.size() - first)), target(hopper), newest_ptx));
  return texts;
}

/// module_texts(), kernels around the programs of the tests, scalar instructions, random kernels, and what `folder` has, if it is one.
std::vector<std::string> more_module_texts(const char* folder) {
  std::vector<std::string> texts = module_texts();
  for (const std::string& program : ptx_in(source_path("tests/programs")))
    texts.push_back(make_kernel(parse(program, hopper), newest_ptx).text);
  append(texts, scalar_modules());
  for (std::uint64_t index = 0; index < 40; ++index) {
    texts.push_back(random_kernel(target(hopper), 1, index).complete().ptx);
    texts.push_back(random_warpgroup_kernel(1, index).complete().ptx);
  }
  if (folder != nullptr) append(texts, ptx_in(folder));
  return texts;
}

/// Launches an entry with addresses of one buffer for its 64-bit parameters, 3 for the others.
LaunchResult launch_entry(const Kernel& kernel) {
  DeviceMemory memory;
  const std::uint64_t buffer = memory.allocate(1 << 16, "buffer");
  std::vector<Argument> arguments;
  for (const code::Parameter& parameter : program_of(kernel).parameters) {
    std::vector<std::uint8_t> bytes(parameter.bytes);
    if (parameter.bytes == 8) {
      arguments.emplace_back(buffer);
    } else {
      if (!bytes.empty()) bytes[0] = 3;
      arguments.emplace_back(std::move(bytes));
    }
  }
  return launch(kernel, {.grid = {2}, .block = {64}, .shared_bytes = 1024}, memory, arguments,
                {.most_operations = 5000, .checks = {.races = true}});
}

enum class Outcome { not_a_module, not_a_program, not_launched, trapped, ran };

/// The target for which a module with statements of one architecture is written; the others are for any.
const char* target_of(const std::string& text) {
  for (const char* target : {blackwell, ultra})
    if (text.find(std::string(".target ") + target) != std::string::npos) return target;
  return hopper;
}

/// Does with a text what `warpmat check` does, and launches its entries.
Outcome take(const std::string& text) {
  Outcome outcome = Outcome::not_a_module;
  try {
    const Module module(text);
    outcome = Outcome::not_a_program;
    for (const std::string& entry : module.entries()) {
      outcome = Outcome::not_a_program;
      try {
        const Kernel kernel(module, entry, {.target = target_of(text)});
        CHECK_FALSE(labelled(kernel).empty());
        launch_entry(kernel);
        outcome = Outcome::ran;
      } catch (const Trap&) {
        outcome = Outcome::trapped;
      } catch (const std::invalid_argument&) {
        outcome = Outcome::not_launched;
      }
    }
  } catch (const SyntaxError& error) {
    CHECK_FALSE(error.errors.empty());
  }
  return outcome;
}

/// One of `texts` with one to three changes: bytes, tokens, numbers, lines or statements. It depends on `key` alone.
std::string mutated(Mutator& mutator, const std::vector<std::string>& texts, std::uint64_t key) {
  mutator.restart(static_cast<std::uint_fast32_t>(key));
  std::string text = texts[mutator.below(texts.size())];
  for (std::size_t n = 1 + mutator.below(3); n-- > 0;) switch (mutator.below(8)) {
      case 0: mutator.mutate(text); break;
      case 1:
      case 2: mutator.replace_token(text); break;
      case 3: mutator.change_number(text); break;
      case 4:
      case 5: mutator.change_line(text); break;
      default: mutator.change_statement(text); break;
    }
  return text;
}

/// How the trials ended, and which took longest.
class Tally {
 public:
  void add(std::uint64_t key, const std::string& text) {
    const auto begin = std::chrono::steady_clock::now();
    ++outcomes_[static_cast<std::size_t>(take(text))];
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (seconds.count() <= slowest_) return;
    slowest_ = seconds.count();
    slowest_key_ = key;
  }
  int count(Outcome outcome) const { return outcomes_[static_cast<std::size_t>(outcome)]; }
  std::string text() const {
    return fmt::format("no module {}, no program {}, not launched {}, trapped {}, ran {}; the slowest: number {}, {:.2f} s", outcomes_[0],
                       outcomes_[1], outcomes_[2], outcomes_[3], outcomes_[4], slowest_key_, slowest_);
  }

 private:
  std::array<int, 5> outcomes_{};
  double slowest_ = 0;
  std::uint64_t slowest_key_ = 0;
};

std::uint64_t number_in_environment(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoull(text);
}

}  // namespace

TEST_CASE("the modules that are mutated run as they are", "[machine][mutated]") {
  const std::vector<std::string> texts = module_texts();
  const auto runs = [](const std::string& text) {
    const Outcome outcome = take(text);
    return outcome == Outcome::ran || outcome == Outcome::trapped;  // lanes of memory.ptx race for `dynamic`
  };
  CHECK(std::ranges::count_if(texts, runs) >= 2);
}

TEST_CASE("the modules of tensor memory that are mutated run to their end as they are", "[machine][mutated][tcgen05]") {
  for (const std::string& text : tensor_modules()) {
    const Module module(text);
    INFO(text);
    CHECK_NOTHROW(launch_entry(Kernel(module, module.entries().front(), {.target = target_of(text)})));
  }
}

TEST_CASE("mutated modules end in an error, a report or a result", "[machine][mutated]") {
  const std::vector<std::string> texts = module_texts();
  Mutator mutator(texts, 0);
  Tally tally;
  const int count = fuzz_inputs(1500);
  for (int i = 0; i < count; ++i) {
    const std::string text = mutated(mutator, texts, static_cast<std::uint64_t>(i));
    INFO("input " << i << ":\n" << text);
    tally.add(static_cast<std::uint64_t>(i), text);
  }
  INFO(tally.text());
  for (const Outcome outcome : {Outcome::not_a_module, Outcome::not_a_program, Outcome::trapped, Outcome::ran})
    CHECK(tally.count(outcome) > 0);
}

// WARPMAT_MUTATED_MODULES=100000 warpmat_tests "[long-mutated-modules]": as many, numbered from WARPMAT_MUTATED_FIRST (0) on, so that
// several processes can share the work; of modules of every kind, and of the .ptx files below WARPMAT_MUTATED_FOLDER. With
// WARPMAT_MUTATED_TENSOR=1 those around statements of tensor memory alone. Before each one its
// number is shown: of one that crashes or hangs it is the last, and that number with a count of 1 tries it again.
TEST_CASE("mutated modules: many of every kind", "[.][long-mutated-modules]") {
  const std::uint64_t count = number_in_environment("WARPMAT_MUTATED_MODULES", 1000);
  const std::uint64_t first = number_in_environment("WARPMAT_MUTATED_FIRST", 0);
  const std::vector<std::string> texts =
      number_in_environment("WARPMAT_MUTATED_TENSOR", 0) != 0 ? tensor_modules() : more_module_texts(std::getenv("WARPMAT_MUTATED_FOLDER"));
  Mutator mutator(texts, 0);
  Tally tally;
  for (std::uint64_t key = first; key < first + count; ++key) {
    fmt::print(stderr, "\r{} ", key);
    const std::string text = mutated(mutator, texts, key);
    INFO("number " << key << (count == 1 ? ":\n" + text : ""));
    tally.add(key, text);
  }
  fmt::print("\n{} modules mutated, {} of them from number {} on: {}\n", texts.size(), count, first, tally.text());
  for (const Outcome outcome : {Outcome::not_a_module, Outcome::not_a_program, Outcome::trapped, Outcome::ran})
    CHECK((count < 1000 || tally.count(outcome) > 0));
}

}  // namespace warpmat::mutated_modules_test
