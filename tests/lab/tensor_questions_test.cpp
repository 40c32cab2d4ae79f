// Questions to cards about tcgen05; distinguish and coverage of it.

#include "test.h"
#include "tools/command.h"
#include "tools/lab/report/tensor_program.h"
#include "tools/lab/report/tensor_question.h"

namespace warpmat::tensor_questions_test {
namespace {

TEST_CASE("every lowering of tcgen05.mma is asked about, and every question has a kernel that executes", "[tools][tcgen05]") {
  for (const Lowering& lowering : tensor_lowerings()) {
    CAPTURE(lowering.machine, lowering.source);
    CHECK(std::ranges::any_of(tensor_product_rows(), [&](const TensorProductRow& row) { return row.product.lowering == &lowering; }));
  }
  std::size_t rules = 0;
  for (const TensorProductRow& row : tensor_product_rows())
    if (contains(row.name(), "group::1.kind::f16 f16.f16.f16 m128n16k16") || contains(row.name(), "sp.cta_group::2.kind::mxf4 ") ||
        contains(row.name(), "kind::i8 s32.s8.u8")) {
      CAPTURE(row.name());
      const std::vector<TensorQuestion> questions = questions_of(row, 16, 1);
      for (const TensorQuestion& question : questions) {
        CAPTURE(question.alternative);
        CHECK(question.otherwise.empty() == question.alternative.empty());
        rules += question.alternative.empty() ? 0u : 1u;
        std::vector<std::uint32_t> by_tables = question.memory_image();
        for (const ListedWord& word : question.after) by_tables[word.index] = word.word;
        for (const ListedWord& word : question.otherwise) CHECK(by_tables[word.index] != word.word);
      }
    }
  CHECK(rules > 30);
  for (const TensorQuestion& question : questions_of_places()) {
    CAPTURE(question.subject);
    CHECK_FALSE(question.after.empty());
  }
}

TEST_CASE("questions writes a program that needs no other file", "[tools][tcgen05]") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("tcgen05.cu");
  const Outcome outcome = run_command({"questions", file, "--forms", "group::1.kind::i8.*m128|shift", "--cases", "16"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(contains(outcome.out, " of them about a rule of the arithmetic; for a card of compute capability 10.0\n"));
  const std::string text = read_text(file);
  for (const char* part :
       {"int main(", "clamp_left_out", "tcgen05.shift", "tcgen05.mma.cta_group::1.kind::i8 [%base], %a, %b, %product, %yes;"})
    CHECK(contains(text, part));
  CHECK(contains(text, "Made by 'warpmat questions'."));
  CHECK(contains(text, "nvcc -o tcgen05 tcgen05.cu -lcuda"));
  CHECK_FALSE(contains(text, "%NAME%"));
  CHECK(contains(run_command({"questions", directory.path("tcgen05.txt")}).err, ".cu"));
  CHECK(contains(run_command({"questions", file, "--forms", "nothing"}).err, "no product or statement of tcgen05 matches"));
}

TEST_CASE("distinguish and coverage take products of tcgen05.mma", "[tools][tcgen05]") {
  const TemporaryDirectory directory;
  const Outcome outcome = run_command({"distinguish", "table", "table:fraction_bits=24", "--tcgen05", "--forms",
                                       "kind::f16 f32.f16.*m128n16k16", "--out", directory.path("")});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(contains(outcome.out, "tcgen05.mma.cta_group::1.kind::f16 f32.f16.f16 m128n16k16\nrow "));
  CHECK(contains(outcome.out, "1 question for a card of compute capability 10.0\n"));
  CHECK(contains(read_text(directory.path("distinguish.cu")), "table:fraction_bits=24"));
  CHECK(contains(read_text(directory.path("distinguish.cu")), "Made by 'warpmat distinguish --tcgen05'."));
  CHECK(contains(read_text(directory.path("distinguish.cu")), "nvcc -o tcgen05 distinguish.cu -lcuda"));
  CHECK(contains(run_command({"distinguish", "hopper", "ampere", "--tcgen05"}).err, "with --tcgen05 FIRST is 'table'"));
  CHECK(contains(run_command({"distinguish", "table", "table:clamp_added", "--tcgen05", "--forms", "kind::f16"}).err,
                 "clamp_added does not concern"));

  const Outcome covered = run_command({"coverage", "--tcgen05", "--forms", "group::1.kind::tf32.*m128n16k8"});
  CHECK(covered.status == 0);
  CHECK(contains(covered.out, "| cut by floor |"));
  CHECK(contains(run_command({"coverage", "--tcgen05", "--forms", "group::1.kind::tf32.*m128n16k8", "--json"}).out,
                 "\"target\": \"sm_100a\""));
  CHECK(contains(run_command({"coverage", "--tcgen05", "--forms", "nothing"}).err, "no product of tcgen05.mma matches 'nothing'"));
}

}  // namespace
}  // namespace warpmat::tensor_questions_test
