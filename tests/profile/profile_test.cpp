// The profile of a launch: exact counts against an observer that counts each operation, and times that add up.

#include <warpmat/machine/internals.h>
#include <warpmat/profile/profile.h>

#include <warpmat/ir/code.h>
#include <warpmat/observer.h>
#include <warpmat/ptx/syntax/module.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::profile_test {
namespace {

using machine::Event;
using machine::EventKinds;
using machine::Observer;

struct Count {
  std::uint64_t executed = 0, lanes = 0;
  friend bool operator==(const Count&, const Count&) = default;
};
using Counts = std::map<std::uint32_t, Count>;  ///< by statement

/// Asks for each operation, and counts those that are their statement's own.
class Counter : public Observer {
 public:
  Counter() : Observer(EventKinds::operations) {}
  void operation(const Event& event) override {
    if (event.prepares()) return;
    Count& count = counts[event.statement()];
    ++count.executed;
    count.lanes += static_cast<std::uint64_t>(std::popcount(event.lanes()));
  }
  Counts counts;
};

Counts counts_of(const Profile& profile) {
  Counts counts;
  for (const StatementProfile& statement : profile.statements) counts[statement.statement] = {statement.executed, statement.lanes};
  return counts;
}

/// Warps whose lanes loop a different number of times, with runs of different lengths, guards, shared memory, a barrier and an atomic.
Module loops() {
  return word_kernel(R"(
    .shared .align 4 .b8 tile[512];
    mov.u32 %r1, tile; mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 2; add.u32 %r3, %r3, %r1;
    st.shared.u32 [%r3], %r2;
    bar.sync 0;
    and.b32 %r4, %i, 7; add.u32 %r4, %r4, 20;
$loop:
    add.u32 %d, %d, %r4; xor.b32 %d, %d, 5; mul.lo.u32 %r5, %d, 3; add.u32 %d, %d, %r5;
    ld.shared.u32 %r6, [%r3];
    and.b32 %r7, %r4, 3; setp.eq.u32 %p1, %r7, 0;
    @%p1 add.u32 %d, %d, %r6;
    sub.u32 %r4, %r4, 1;
    setp.ne.u32 %p2, %r4, 0;
    @%p2 bra $loop;
    atom.global.add.u32 %r8, [%out], 0;
)");
}

Profile profile_of(const Module& module, LaunchOptions options, const LaunchConfig& config) {
  const Kernel kernel(module, "k");
  Profiler profiler(kernel);
  options.observers_of_clusters = {[&](std::uint64_t) { return profiler.observer(); }};
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(4 * config.grid.count() * config.block.count(), "out");
  launch(kernel, config, memory, {out}, options);
  return profiler.result();
}

double seconds_of(const Profile& profile, double StatementProfile::*seconds) {
  double sum = 0;
  for (const StatementProfile& statement : profile.statements) sum += statement.*seconds;
  return sum;
}

TEST_CASE("A profile counts as an observer of each operation does, on one thread and on several", "[profile]") {
  const Module module = loops();
  Counter counter;
  words_of(module, {7}, {96}, {.observers = {&counter}});
  for (const int jobs : {1, 4}) {
    for (const std::uint64_t schedule : {0u, 3u}) {
      CAPTURE(jobs, schedule);
      const Profile profile = profile_of(module, {.jobs = jobs, .schedule = schedule}, {{7}, {96}, 0});
      // Another schedule separates lanes at other places: only the lanes' executions are the same.
      if (schedule == 0) CHECK(counts_of(profile) == counter.counts);
      for (const auto& [statement, count] : counter.counts) CHECK(counts_of(profile)[statement].lanes == count.lanes);
    }
  }
}

TEST_CASE("A statement counts once, whatever operations it needs: special registers, fused sums, a function's ret, an end without it",
          "[profile]") {
  const Module module(R"(.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 r) triple(.param .b32 x)
{
  .reg .b32 %r<3>; .reg .pred %p;
  ld.param.b32 %r1, [x];
  mul.lo.u32 %r2, %r1, 3;
  st.param.b32 [r], %r2;
  setp.gt.u32 %p, %r1, 40;
  @%p ret;
  add.u32 %r2, %r2, 1;
  st.param.b32 [r], %r2;
  ret;
}
.func nothing()
{
  .reg .b32 %r<3>;
  mov.u32 %r1, %ctaid.x;
  add.u32 %r2, %r1, 1;
}
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<5>; .reg .b64 %d<3>; .reg .f32 %f<6>; .reg .pred %p;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, 0;
$loop:
  {
  .param .b32 in; .param .b32 from;
  st.param.b32 [in], %r1;
  call (from), triple, (in);
  ld.param.b32 %r3, [from];
  }
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p, %r2, 4;
  @%p bra $loop;
  cvt.rn.f32.u32 %f1, %r1;
  mul.f32 %f2, %f1, %f1;
  sub.f32 %f3, %f2, %f1;
  div.full.f32 %f4, %f1, %f3;
  add.f32 %f5, %f4, %f2;
  cvt.rzi.u32.f32 %r4, %f5;
  xor.b32 %r3, %r3, %r4;
  call nothing, ();
  ld.param.u64 %d1, [out];
  mad.wide.u32 %d2, %r1, 4, %d1;
  st.global.u32 [%d2], %r3;
}
)");
  // Two blocks of two warps call `triple` four times: of the second warp 23 lanes take its first ret, the others the last statement's.
  constexpr std::uint64_t warps = 4, lanes = 32 * warps, calls = 4 * warps, early = 4 * 2 * 23;
  const std::map<std::string, Count> expected = {{"ld.param.b32", {2 * calls, 8 * lanes}},
                                                 {"mul.lo.u32", {calls, 4 * lanes}},
                                                 {"st.param.b32", {3 * calls, 12 * lanes - early}},
                                                 {"setp.gt.u32", {calls, 4 * lanes}},
                                                 {"ret", {2 * calls, 4 * lanes}},
                                                 {"mov.u32", {3 * warps, 3 * lanes}},
                                                 {"add.u32", {2 * calls + warps, 9 * lanes - early}},
                                                 {"call", {calls + warps, 5 * lanes}},
                                                 {"setp.lt.u32", {calls, 4 * lanes}},
                                                 {"bra", {calls, 3 * lanes}},
                                                 {"cvt.rn.f32.u32", {warps, lanes}},
                                                 {"mul.f32", {warps, lanes}},
                                                 {"sub.f32", {warps, lanes}},  // an fma of the negative
                                                 {"add.f32", {warps, lanes}},  // with the quotient, which is a product
                                                 {"cvt.rzi.u32.f32", {warps, lanes}},
                                                 {"xor.b32", {warps, lanes}},
                                                 {"ld.param.u64", {warps, lanes}},
                                                 {"mad.wide.u32", {warps, lanes}},
                                                 {"st.global.u32", {warps, lanes}}};
  const Kernel kernel(module, "k");
  const Profile profile = profile_of(module, {}, {{2}, {64}, 0});
  std::map<std::string, Count> counts;
  for (const StatementProfile& statement : profile.statements) {
    Count& count = counts[program_of(kernel).statements[statement.statement]->opcode];
    count.executed += statement.executed;
    count.lanes += statement.lanes;
    CHECK(statement.seconds > 0);
  }
  for (const auto& [opcode, count] : expected) {
    INFO(opcode);
    CHECK(counts[opcode].executed == count.executed);
    CHECK(counts[opcode].lanes == count.lanes);
  }
  CHECK(counts.size() == expected.size());
}

/// Executions by opcode of one warp, whose loop has 101 rounds; the observer and the profile agree.
std::map<std::string, std::uint64_t> executed_in_loop(const std::string& body) {
  const Module module(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
  .reg .b32 %r<5>; .reg .b64 %d<3>; .reg .f32 %f<9>; .reg .pred %p;
  ld.param.u64 %d1, [out];
  ld.param.u32 %r2, [n];
  mov.u32 %r1, 0;
  mov.f32 %f1, 0f3F800000;
  mov.f32 %f2, 0f3F900000;
$loop:
)" + body + R"(
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p, %r1, %r2;
  @%p bra $loop;
  st.global.f32 [%d1], %f1;
  ret;
}
)");
  const Kernel kernel(module, "k");
  Counter counter;
  Profiler profiler(kernel);
  for (const bool profiled : {false, true}) {
    LaunchOptions options;
    if (profiled)
      options.observers_of_clusters = {[&](std::uint64_t) { return profiler.observer(); }};
    else
      options.observers = {&counter};
    DeviceMemory memory;
    const std::uint64_t out = memory.allocate(4, "out");
    launch(kernel, {{1}, {32}, 0}, memory, {out, std::uint32_t{101}}, options);
  }
  const Profile profile = profiler.result();
  std::map<std::string, std::uint64_t> executed;
  for (const auto& [statement, count] : counter.counts) executed[program_of(kernel).statements[statement]->opcode] += count.executed;
  std::map<std::string, std::uint64_t> in_profile;
  for (const StatementProfile& statement : profile.statements)
    if (statement.executed > 0) in_profile[program_of(kernel).statements[statement.statement]->opcode] += statement.executed;
  CHECK(in_profile == executed);
  return executed;
}

TEST_CASE("Each round of a loop is counted, its branch too", "[profile]") {
  const auto executed = executed_in_loop("mul.rn.f32 %f3, %f1, %f2; add.rn.f32 %f1, %f3, %f2;");
  CHECK(executed.at("bra") == 101);
  CHECK(executed.at("mul.rn.f32") == 101);
  CHECK(executed.at("add.rn.f32") == 101);
  CHECK(executed.at("st.global.f32") == 1);
}

TEST_CASE("A profiled launch has the results of another", "[profile]") {
  const Module module = loops();
  const Kernel kernel(module, "k");
  Profiler profiler(kernel);
  const LaunchOptions options{.observers_of_clusters = {[&](std::uint64_t) { return profiler.observer(); }}};
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(4 * 7 * 96, "out");
  launch(kernel, {{7}, {96}, 0}, memory, {out}, options);
  CHECK(memory.read<std::uint32_t>(out, 7 * 96) == words_of(module, {7}, {96}));
  // words_of makes another Kernel
  CHECK_THROWS_WITH(words_of(module, {1}, {32}, options), "the profiler is that of another kernel than the launch");
}

TEST_CASE("Times of a profile: of each statement, at most that of the launch, and of checks where there are some", "[profile]") {
  const auto start = std::chrono::steady_clock::now();
  const Profile with = profile_of(loops(), {}, {{16}, {96}, 0});
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  for (const StatementProfile& statement : with.statements) CHECK(statement.seconds > 0);
  const double all = seconds_of(with, &StatementProfile::seconds) + seconds_of(with, &StatementProfile::check_seconds) +
                     with.other_seconds + with.other_check_seconds;
  CHECK(all < elapsed.count());
  CHECK(with.other_seconds > 0);
  CHECK(seconds_of(with, &StatementProfile::check_seconds) > 0);
  const Profile without = profile_of(loops(), {.checks = {false, false, false, false, false}}, {{16}, {96}, 0});
  CHECK(seconds_of(without, &StatementProfile::check_seconds) == 0);
  CHECK(without.other_check_seconds == 0);
}

TEST_CASE("The time of a run goes to its statements by what each takes", "[profile]") {
  // A run of one division of 64 bits, which takes many times as long as an addition, and fifteen additions.
  std::string body = "mov.u32 %r4, 1000; mov.u64 %l1, 7; mov.u64 %l2, 1000003;\n$loop:\ndiv.u64 %l2, %l2, %l1;\n";
  for (int i = 0; i < 15; ++i) body += "add.u32 %d, %d, %r4;\n";
  const Module module = word_kernel(body + "sub.u32 %r4, %r4, 1; setp.ne.u32 %p2, %r4, 0;\n@%p2 bra $loop;\ncvt.u32.u64 %r5, %l2;");
  const Kernel kernel(module, "k");
  double ratio = 0;
  for (int attempt = 0; attempt < 5 && ratio < 2; ++attempt) {  // another program may have taken the CPU in an addition
    std::map<std::string, std::pair<double, std::uint64_t>> by_opcode;
    for (const StatementProfile& statement : profile_of(module, {}, {{1}, {32}, 0}).statements) {
      auto& [seconds, executed] = by_opcode[program_of(kernel).statements[statement.statement]->opcode];
      seconds += statement.seconds;
      executed += statement.executed;
    }
    const auto each = [&](const char* opcode) { return by_opcode[opcode].first / static_cast<double>(by_opcode[opcode].second); };
    CHECK(by_opcode["div.u64"].second == 1000);
    CHECK(by_opcode["add.u32"].second == 15'000);
    ratio = each("div.u64") / each("add.u32");
  }
  CHECK(ratio > 2);
}

TEST_CASE("Profiles of launches of a kernel are added by statement", "[profile]") {
  Profile sum{.statements = {{1, 10, 320, 1.0, 0.5}, {4, 1, 1, 0.25, 0}}, .other_seconds = 1, .other_check_seconds = 2};
  add(sum, {.statements = {{0, 2, 3, 0.5, 0}, {4, 5, 7, 0.5, 1}, {9, 1, 32, 1, 1}}, .other_seconds = 3, .other_check_seconds = 4});
  CHECK(counts_of(sum) == Counts{{0, {2, 3}}, {1, {10, 320}}, {4, {6, 8}}, {9, {1, 32}}});
  REQUIRE(sum.statements.size() == 4);
  CHECK(sum.statements[2].seconds == 0.75);
  CHECK(sum.statements[2].check_seconds == 1);
  CHECK(sum.other_seconds == 4);
  CHECK(sum.other_check_seconds == 6);
}

TEST_CASE("An observer is told of runs, and of the statements outside of them; of none where another asks for operations", "[profile]") {
  class Runs : public Observer {
   public:
    Runs() : Observer(EventKinds::runs) {}
    void operation(const Event&) override { ++operations; }
    void run(const machine::RunEvent& run) override {
      ++runs;
      in_runs += run.operations;
      const auto& all = program_of(run.event).operations;
      const auto first = static_cast<std::size_t>(&operation_of(run.event) - all.data());
      for (std::size_t i = first; i < first + run.operations; ++i) CHECK(catalogue::computes(all[i].semantics));
      CHECK(run.event.lanes() == all_lanes);
    }
    std::uint64_t operations = 0, runs = 0, in_runs = 0;
  };
  const Module module = word_kernel("mov.u32 %r1, 1; mov.u32 %r2, 2; add.u32 %r3, %r1, %r2; add.u32 %d, %r3, 4;");
  Runs runs;
  Counter counter;
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(128, "out");
  const LaunchResult result = launch(Kernel(module, "k"), {{1}, {32}, 0}, memory, {out}, {.observers = {&runs}});
  CHECK(runs.runs >= 2);
  CHECK(runs.in_runs >= 4);
  CHECK(runs.operations + runs.in_runs == result.operations);
  CHECK(runs.operations < result.operations);
  Runs none;
  launch(Kernel(module, "k"), {{1}, {32}, 0}, memory, {out}, {.observers = {&none, &counter}});
  CHECK(none.runs == 0);
  CHECK(none.operations == result.operations);
}

}  // namespace
}  // namespace warpmat::profile_test
