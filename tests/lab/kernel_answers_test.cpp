#include "tools/lab/report/kernel_answers.h"

#include "lab/lab_command.h"
#include "test.h"
#include "tools/command.h"
#include "tools/report/input_file.h"

namespace warpmat::kernel_answers_test {
namespace {

using Same = RecordedKernel::Same;

TEST_CASE("answers to random kernels are read as they were written", "[tools][fuzz]") {
  const RecordedKernel agrees{.index = 0, .digest = "91c0f5e2ab34"},
      by_code{.index = 1, .digest = "08ffb2917c5d", .same = Same::by_assembler},
      differs{.index = 2,
              .digest = "7be2045d9a61",
              .same = Same::no,
              .named = 3,
              .mismatches = 2,
              .found = {{1, 4096, {0x0a, 0x1b}}, {2, 7, {0}}}};
  const std::string text = header_line(7, "sm_90a") + line_of(agrees) + line_of(by_code) + line_of(differs);
  CHECK(text == "# seed 7, sm_90a\n0 91c0f5e2ab34\n1 08ffb2917c5d assembler\n2 7be2045d9a61 differs 3 2 1:4096:0a1b 2:7:00\n");
  const RecordedKernels read = parse_kernel_answers(text);
  CHECK(read.seed == 7);
  CHECK(read.target == "sm_90a");
  REQUIRE(read.kernels.size() == 3);
  CHECK(read.kernels[0] == agrees);
  CHECK(read.kernels[1] == by_code);
  CHECK(read.kernels[2] == differs);
  CHECK(read.first_kernel.empty());
}

TEST_CASE("a file of answers names the digest of its first kernel", "[tools][fuzz]") {
  const std::string text = header_line(7, "sm_90a", "5ad2e07c31b9");
  CHECK(text == "# seed 7, sm_90a, kernel 0 5ad2e07c31b9\n");
  const RecordedKernels read = parse_kernel_answers(text + "0 91c0f5e2ab34\n");
  CHECK(read.target == "sm_90a");
  CHECK(read.first_kernel == "5ad2e07c31b9");
}

TEST_CASE("a file of answers with an error is refused by its line", "[tools][fuzz]") {
  for (const auto& [text, line] : {std::pair{"", "line 1"},
                                   {"# seed x, sm_90a\n", "line 1"},
                                   {"# seed 7, sm_90a, kernel 0 5ad2\n", "line 1"},
                                   {"# seed 7, sm_90a, kernel 1 5ad2e07c31b9\n", "line 1"},
                                   {"# seed 7, sm_90a\n0 91c0f5e2ab\n", "line 2"},
                                   {"# seed 7, sm_90a\n0 91c0f5e2ab34\n1 91c0f5e2ab34 equal\n", "line 3"},
                                   {"# seed 7, sm_90a\n0 91c0f5e2ab34 differs 1\n", "line 2"},
                                   {"# seed 7, sm_90a\n0 91c0f5e2ab34 differs 1 2 1:5:0\n", "line 2"},
                                   {"# seed 7, sm_90a\n-1 91c0f5e2ab34\n", "line 2"},
                                   {"# seed 7, sm_90a\n0 91c0f5e2ab34 differs 1 -2\n", "line 2"},
                                   {"# seed 7, sm_90a\n", "line 2: no kernel"}}) {
    INFO(text);
    CHECK_THROWS_WITH(parse_kernel_answers(text), Catch::Matchers::StartsWith(line));
  }
}

TEST_CASE("the bytes of a GPU that differ are kept up to a limit", "[tools][fuzz]") {
  const KernelAnswer expected{{{1, 2, 3, 4, 5}, {6}}, ""}, found{{{1, 9, 8, 4, 7}, {5}}, ""};
  CHECK(bytes_found(expected, found, 10) == std::vector<BytesFound>{{0, 1, {9, 8}}, {0, 4, {7}}, {1, 0, {5}}});
  CHECK(bytes_found(expected, found, 2) == std::vector<BytesFound>{{0, 1, {9, 8}}});
  CHECK(digest_of(expected) != digest_of(found));
}

TEST_CASE("fuzz --kernels writes a GPU's answers, and compares with them without one", "[tools][fuzz]") {
  const TemporaryDirectory directory;
  const std::string answers = directory.path("answers");
  const Outcome written =
      run_lab_pretending({"fuzz", "--kernels", "--programs", "6", "--seed", "5", "--write-answers", answers}, {no_faults});
  INFO(written.out << written.err);
  CHECK(contains(written.out, "6 of 6 kernels from 0 on, "));
  const Outcome read = run_command({"fuzz", "--kernels", "--read-answers", answers});
  INFO(read.out << read.err);
  CHECK(read.status == 0);
  CHECK(contains(read.out, "6 kernels of seed 5 for sm_90a: 6 as on the GPU by the rule, 0 with --assembler ptxas alone, 0 differ"));

  // Of a build that makes other kernels.
  std::string text = read_file(answers);
  const std::size_t digest = text.find("kernel 0 ") + std::string_view("kernel 0 ").size();
  text.replace(digest, 12, "000000000000");
  const std::string other = directory.path("other");
  write_text(other, text);
  const Outcome refused = run_command({"fuzz", "--kernels", "--read-answers", other});
  CHECK(refused.status == 1);
  CHECK(contains(refused.err, "other: this build makes other kernels of seed 5"));
}

TEST_CASE("fuzz --kernels names the kernels whose recorded answers differ", "[tools][fuzz]") {
  const TemporaryDirectory directory;
  const std::string answers = directory.path("answers");
  const Outcome written = run_lab_pretending({"fuzz", "--kernels", "--programs", "2", "--seed", "5", "--write-answers", answers});
  INFO(written.out << written.err);
  CHECK(written.status == 1);
  CHECK(contains(written.out, "2 of 2 kernels from 0 on, "));
  const Outcome read = run_command({"fuzz", "--kernels", "--read-answers", answers});
  INFO(read.out << read.err);
  CHECK(read.status == 1);
  CHECK(contains(read.out, "kernel 1: differs, "));
  CHECK(contains(read.out, "0 of 1 recorded bytes as on the GPU"));
  CHECK(contains(read.out, "0 as on the GPU by the rule, 0 with --assembler ptxas alone, 2 differ"));
}

TEST_CASE("fuzz --read-answers names the file of what it cannot use", "[tools][fuzz]") {
  const TemporaryDirectory directory;
  const std::string answers = directory.path("answers");
  const auto error_of = [&](const std::string& text) {
    std::ofstream(answers) << text;
    const Outcome outcome = run_command({"fuzz", "--kernels", "--read-answers", answers});
    CHECK(outcome.status == 1);
    return outcome.err;
  };
  CHECK(contains(error_of("# seed 7, sm_9\n0 91c0f5e2ab34\n"), answers + ": "));
  CHECK(contains(error_of("# seed 7, sm_90a\n"), answers + ": line 2: no kernel"));
  CHECK(contains(error_of("# seed 7, sm_90a\n0 91c0f5e2ab34 differs 0 1 99:0:00\n"),
                 answers + ": kernel 0: the bytes at 0 of buffer 99 are outside"));
  CHECK(contains(error_of("# seed 7, sm_90a\n3 91c0f5e2ab34 differs 0 1 0:18446744073709551615:0000\n"),
                 answers + ": kernel 3: the bytes at "));
}

TEST_CASE("fuzz --kernels refuses options that answers in a file leave no place for", "[tools][fuzz]") {
  for (const char* option : {"--seed", "--first", "--programs", "--target", "--enough", "--keep"}) {
    INFO(option);
    const Outcome outcome = run_command({"fuzz", "--kernels", "--read-answers", "answers", option, "1"});
    CHECK(outcome.status != 0);
    CHECK(contains(outcome.err, "excludes"));
  }
  for (const char* option : {"--enough", "--keep"}) {
    INFO(option);
    const Outcome outcome = run_command({"fuzz", "--kernels", "--write-answers", "answers", option, "1"});
    CHECK(outcome.status != 0);
    CHECK(contains(outcome.err, "excludes"));
  }
}

TEST_CASE("fuzz --write-answers says that a file takes no line", "[tools][fuzz]") {
  const TemporaryDirectory directory;
  const std::string answers = directory.path(std::string(300, 'a'));  // longer than a file's name can be
  const Outcome outcome = run_lab_pretending({"fuzz", "--kernels", "--programs", "1", "--write-answers", answers}, {no_faults});
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.err, "cannot write " + answers));
}

}  // namespace
}  // namespace warpmat::kernel_answers_test
