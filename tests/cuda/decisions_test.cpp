// Who decides about the bits that PTX leaves open in a program of nvcc: its options, its machine code, the rule.

#include <fmt/format.h>

#include "cuda/nvcc_program.h"
#include "test.h"
#include "tools/command.h"

namespace warpmat::decisions_test {
namespace {

using Bits = std::map<std::string, std::string>;

/// What an H200 gave, with optimisation; without, and without contraction.
const Bits fused{{"quarter", "133e3"},        {"eighth", "7ec3f44e"}, {"energy", "7f000002"}, {"f32", "5502f301"},
                 {"f64", "3f730cd9e9cd1770"}, {"f16", "e54e"},        {"bf16", "3843"}};
const Bits rounded{{"quarter", "133e2"},        {"eighth", "7f800000"}, {"energy", "7f800000"}, {"f32", "5502f300"},
                   {"f64", "3f730cd9e9cd176f"}, {"f16", "e54d"},        {"bf16", "3844"}};
/// With -Xptxas -O0, by the PTX: nvcc itself writes the fma of f32 and f64, and ptxas makes no other. Not compared with a GPU.
const Bits fused_by_nvcc{{"quarter", "133e2"},        {"eighth", "7f800000"}, {"energy", "7f800000"}, {"f32", "5502f301"},
                         {"f64", "3f730cd9e9cd1770"}, {"f16", "e54d"},        {"bf16", "3844"}};

Outcome run(const std::string& program, std::vector<std::string> options = {}) {
  options.insert(options.begin(), "cuda");
  options.push_back(program);
  Outcome outcome = run_command(options);
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  return outcome;
}

Bits bits_of(const Outcome& outcome) {
  Bits bits;
  std::istringstream lines(outcome.out);
  for (std::string name, value; lines >> name >> value;) bits[name] = value;
  return bits;
}

TEST_CASE("options in the fatbinary override every provider", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  struct Case {
    std::vector<std::string> options;
    const Bits* bits;
  };
  for (const Case& c :
       {Case{{}, &fused}, Case{{"-fmad=false"}, &rounded}, Case{{"-G"}, &rounded}, Case{{"-Xptxas", "-O0"}, &fused_by_nvcc}}) {
    const std::string program = directory.path("program");
    compile_program(program, {"decisions"}, c.options);
    for (const char* const assembler : {"rule", "code", "ptxas"}) {
      CAPTURE(c.options, assembler);
      CHECK(bits_of(run(program, {"--assembler", assembler})) == *c.bits);
    }
  }
}

TEST_CASE("the machine code in a program decides, and the label names it", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  const std::string with_code = directory.path("with_code"), ptx_alone = directory.path("ptx_alone");
  compile_program(with_code, {"decisions"});
  REQUIRE(run_program("nvcc", {"-gencode", "arch=compute_90,code=compute_90", "-cudart", "shared", "-o", ptx_alone,
                               source_path("tests/cuda/programs/decisions.cu")})
              .status == 0);
  CHECK(bits_of(run(ptx_alone)) == fused);
  CHECK_THAT(run(with_code, {"--require", "assumed"}).err, !ContainsSubstring("rule"));
  CHECK_THAT(run(with_code, {"--assembler", "rule"}).err, !ContainsSubstring("machine code"));
  CHECK_THAT(run_command({"cuda", "--assembler", "nvcc", with_code}).err, ContainsSubstring("--assembler"));
}

TEST_CASE("a sum whose copies machine code computes in two ways is in doubt, whatever other kernels are known", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  const std::string program = directory.path("loops");
  compile_program(program, {"loops"});
  const std::string said = run(program).err;
  CHECK_THAT(said, ContainsSubstring("contraction of mul and add: assumed (line "));
}

TEST_CASE("a saved launch keeps the assembler's options and what it decided", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  const std::string program = directory.path("program"), out = directory.path("out.npy");
  struct Case {
    std::vector<std::string> options;
    const Bits* bits;
  };
  for (const Case& c : {Case{{}, &fused}, Case{{"-fmad=false"}, &rounded}, Case{{"-G"}, &rounded}}) {
    CAPTURE(c.options);
    compile_program(program, {"decisions"}, c.options);
    const std::string saved = directory.path("saved") + (c.options.empty() ? "" : c.options[0]);
    run(program, {"--save", saved});
    // The sixth launch is that of f16, which an option decides that the PTX does not have.
    const Outcome again = run_command({"launch", saved + "/6/launch.json", "--out", "cudaMalloc 12=" + out});
    INFO(again.err);
    REQUIRE(again.status == 0);
    const std::string bytes = read_text(out);
    const auto byte = [&](std::size_t from_end) { return static_cast<unsigned char>(bytes.at(bytes.size() - from_end)); };
    CHECK(fmt::format("{:02x}{:02x}", byte(1), byte(2)) == c.bits->at("f16"));
  }
}

}  // namespace
}  // namespace warpmat::decisions_test
