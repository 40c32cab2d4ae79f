
#include <warpmat/assembler.h>
#include <warpmat/assembler/options.h>
#include <warpmat/launch.h>
#include <warpmat/machine/internals.h>

#include "machine/kernel.h"
#include "test.h"
#include "warpmat/ir/code.h"

namespace warpmat::options_test {
namespace {

const std::string sum = "mul.f32 %f5, %f1, %f2; add.f32 %f9, %f5, %f3; mov.b32 %d, %f9;";
const std::string half_sum = ".reg .b16 %h<9>; mul.f16 %h1, %h2, %h3; add.f16 %h4, %h1, %h5; mov.b32 %d, {%h4, %h4};";
const std::string constant = "rsqrt.approx.f32 %f1, 0f43000000; mov.b32 %d, %f1;";

code::Program made(const std::string& body, const KernelOptions& options, const std::string& target = "sm_90") {
  return program_of(Kernel(word_kernel(body, target), "k", options));
}

TEST_CASE("options of ptxas are read as nvcc writes them, and the last one counts", "[assembler]") {
  struct Case {
    const char* text;
    bool contract, optimise;
  };
  for (const Case& c : {
           Case{"", true, true},
           Case{" --fmad false  ", false, true},
           Case{"--fmad=false", false, true},
           Case{"-fmad=false", false, true},
           Case{"--fmad false --fmad true", true, true},
           Case{" -g --dont-merge-basicblocks --return-at-end ", true, false},
           Case{"--device-debug", true, false},
           Case{"-O0  ", true, false},
           Case{"--opt-level 0", true, false},
           Case{"-O 0", true, false},
           Case{"-O3 --generate-line-info", true, true},
           Case{"-O1 --maxrregcount=32", true, true},
           Case{"--generate-line-info", true, true},
       }) {
    CAPTURE(c.text);
    CHECK(code::parse_assembler_options(c.text).contract == c.contract);
    CHECK(code::parse_assembler_options(c.text).optimise == c.optimise);
  }
}

TEST_CASE("with --fmad false nothing is fused, halves neither, and constants are still folded", "[assembler]") {
  for (const std::string& body : {sum, half_sum}) {
    CHECK(made(body, {}).contracted.size() == 1);
    CHECK(made(body, {.assembler_options = "--fmad false"}).contracted.empty());
    CHECK(made(body, {.contract = false}).contracted.empty());
  }
  CHECK(made(constant, {.assembler_options = "--fmad false"}).folded.size() == 1);
}

TEST_CASE("without optimisation every provider executes every statement as it stands", "[assembler]") {
  for (const char* option : {"-g", "-O0"}) {
    CHECK(made(sum, {.assembler_options = option}).contracted.empty());
    CHECK(made(constant, {.assembler_options = option}).folded.empty());
  }
  CHECK(made(sum, {}, "sm_90, debug").contracted.empty());
  CHECK(made(constant, {}, "sm_90, debug").folded.empty());
  const Kernel ruled(word_kernel(sum), "k");
  const Location at = program_of(ruled).statements[program_of(ruled).contracted.at(0)]->location;
  const AssemblerDecisions decisions{.assembler = "another", .sums = {{at, true}}};
  CHECK(made(sum, {.decisions = &decisions}).contracted.size() == 1);
  CHECK(made(sum, {.assembler_options = "-g", .decisions = &decisions}).contracted.empty());
  CHECK(made(sum, {.assembler_options = "--fmad=false", .decisions = &decisions}).contracted.empty());
}

}  // namespace
}  // namespace warpmat::options_test
