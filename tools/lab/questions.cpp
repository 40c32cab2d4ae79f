#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <warpmat/files/output_file.h>

#include "commands.h"
#include "tools/command_line/handed_commands.h"
#include "tools/lab/report/tensor_program.h"
#include "tools/report/pattern.h"

namespace warpmat {
namespace {

struct QuestionsOptions {
  std::string out, forms;
  std::size_t cases = 256;
  std::uint64_t seed = 1;
};

void write_questions(const QuestionsOptions& options) {
  if (!options.out.ends_with(".cu")) refuse_option("FILE", "is a CUDA program: its name ends with .cu");
  check_output_place(options.out);
  const Pattern pattern(options.forms);
  const std::vector<TensorQuestion> questions =
      tensor_questions([&](const std::string& subject) { return pattern.found_in(subject); }, options.cases, options.seed);
  if (questions.empty()) throw std::runtime_error(fmt::format("no product or statement of tcgen05 matches '{}'", options.forms));
  write_file(options.out, {tensor_program(questions, std::filesystem::path(options.out).filename().string(), "warpmat questions")});
  const auto rules = std::ranges::count_if(questions, [](const TensorQuestion& q) { return !q.alternative.empty(); });
  fmt::print("{}: {} question{}, {} of them about a rule of the arithmetic; for a card of compute capability 10.0\n", options.out,
             questions.size(), questions.size() == 1 ? "" : "s", rules);
}

}  // namespace

void add_questions(Command app) {
  const auto options = std::make_shared<QuestionsOptions>();
  const Command command = add_handed_subcommand(app, "questions");
  command.add_option("FILE", options->out, "The program, which nvcc compiles").type_name("FILE.cu").required();
  command.add_option("--forms", options->forms, "Only products and statements in whose name this regular expression is found")
      .type_name("REGEX");
  command.add_option("--cases", options->cases, "Cases of each class of operands that are tried for a rule (default: 256)")
      .range(std::size_t{1}, std::size_t{1} << 20);
  command.add_option("--seed", options->seed, "Of the operands (default: 1)").type_name("S");
  command.footer(
      "The program says of each rule and place of tcgen05 whether the card is as the tables. It needs no GPU here.\n\n"
      "Examples:\n  warpmat questions tcgen05.cu && nvcc -o tcgen05 tcgen05.cu -lcuda && ./tcgen05");
  command.callback([options] { write_questions(*options); });
}

}  // namespace warpmat
