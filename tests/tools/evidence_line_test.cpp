#include "tools/report/evidence_line.h"

#include <regex>

#include "command.h"
#include "test.h"
#include "tools/report/compared_results.h"

namespace warpmat::evidence_line_test {
namespace {

std::string page(const std::string& path) {
  std::ifstream file(source_path(path));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST_CASE("the results behind measured forms are those of the sweeps in the notebook", "[tools][evidence]") {
  const std::string text = page("lab/notebook/2026-11-22-sweeps.md");
  std::uint64_t swept = 0, all = 0;
  const std::regex sweep(R"(\| sm_90a \|.*\| (\d+) \| 0 \| \d+ s \|)"), line(R"(\| `([a-z0-9.:_]+)` \| 1 \| sm_90: (\d+) in)");
  for (std::sregex_iterator found(text.begin(), text.end(), sweep), end; found != end; ++found) swept += std::stoull((*found)[1]);
  for (const Form& form : forms()) all += compared_results(form);
  CHECK(swept != 0);
  CHECK(all + compared_results_of_wgmma == swept);
  int lines = 0;
  for (std::sregex_iterator found(text.begin(), text.end(), line), end; found != end; ++found, ++lines) {
    const Form* form = find_form((*found)[1].str());
    INFO((*found)[1]);
    REQUIRE(form != nullptr);
    CHECK(compared_results(*form) == std::stoull((*found)[2]));
  }
  CHECK(lines >= 5);
}

constexpr const char* kernel_text = R"(.version 8.4
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x)
{
  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .f32 %f<5>; .reg .b64 %l<4>;
  ld.param.u64 %l1, [x];
  mov.u32 %r1, %REGISTER;
  ld.global.f32 %f1, [%l1];
  STATEMENTS
  st.global.f32 [%l1], %f1;
  ret;
}
)";

struct Checked {
  TemporaryDirectory directory;
  std::string file = directory.path("k.ptx");

  Outcome operator()(const std::string& special_register, const std::string& statements, std::vector<std::string> options) {
    std::string text = std::regex_replace(kernel_text, std::regex("STATEMENTS"), statements);
    write_text(file, std::regex_replace(text, std::regex("%REGISTER"), special_register));
    options.insert(options.begin(), {"check", file});
    return run_command(options);
  }
};

TEST_CASE("the line of a kernel counts scalar instructions, special registers and contraction", "[tools][evidence]") {
  Checked check;
  const auto line = [&](const std::string& special_register, const std::string& statements, const std::string& target) {
    const Outcome outcome = check(special_register, statements, {"--target", target});
    CHECK(outcome.status == 0);
    return outcome.err;
  };
  CHECK(contains(line("%tid.x", "abs.f32 %f1, %f1;", "sm_90"),
                 "sm_90 (H100): 1 instruction measured on the card, 5 specified by the PTX ISA; nothing weaker\n"));
  CHECK(contains(line("%tid.x", "abs.f32 %f1, %f1;", "sm_80"),
                 "sm_80 (A100): 6 instructions specified by the PTX ISA; NaN payloads, and .ftz beside the smallest normal number: assumed "
                 "(abs.f32)\n"));
  CHECK(contains(line("%clock", "", "sm_90"), " specified by the PTX ISA; nothing weaker; not counted: "));
  CHECK(contains(line("%clock", "", "sm_90"), "; not counted: %clock (assumed: the number is the hardware's own)\n"));
  CHECK(contains(line("%tid.x", "elect.sync %r1|%p1, -1; mul.f32 %f1, %f1, %f1;", "sm_90"),
                 "; nothing weaker; not counted: elect.sync (assumed: which lanes these are, the hardware decides)\n"));
  CHECK(contains(line("%tid.x", "ex2.approx.f32 %f1, %f1;", "sm_80"),
                 "; ex2.approx.f32: assumed (as sm_90, with the same machine instructions)"));
  const std::string contracted = "mul.f32 %f2, %f1, %f1; add.f32 %f1, %f2, %f1;";
  CHECK(contains(line("%tid.x", contracted, "sm_90"), "; nothing weaker\n"));
  CHECK(contains(line("%tid.x", contracted, "sm_80"), "; contraction of mul and add: assumed (the rule, as ptxas 13.0 has it for sm_90)"));
  CHECK(contains(line("%tid.x", "setp.eq.u32 %p1, %r1, 0; @%p1 bra L; " + contracted + " L:", "sm_90"),
                 "; contraction of mul and add: assumed (line 10, mul.f32: "));
}

TEST_CASE("the option --require speaks of everything that a kernel consists of", "[tools][evidence]") {
  Checked check;
  CHECK(check("%tid.x", "", {"--require", "specified"}).status == 0);
  CHECK(check("%tid.x", "", {"--require", "measured"}).status == 0);
  const Outcome measured = check("%tid.x", "lg2.approx.f32 %f1, %f1;", {"--require", "measured"});
  CHECK(measured.status == 1);
  CHECK(contains(measured.err, "--require measured: sm_80 (A100): lg2.approx.f32: assumed ("));
  CHECK(check("%smid", "", {"--require", "specified"}).status == 1);
  CHECK(check("%tid.x", "lg2.approx.f32 %f1, %f1;", {"--require", "specified"}).status == 1);
  CHECK(check("%tid.x", "lg2.approx.f32 %f1, %f1;", {"--require", "assumed"}).status == 0);
}

}  // namespace
}  // namespace warpmat::evidence_line_test
