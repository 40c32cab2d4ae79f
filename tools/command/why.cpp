#include "why.h"

#include <fmt/core.h>
#include <warpmat/formats.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <vector>

#include "tools/report/explanation_pair.h"
#include "tools/report/npy.h"

namespace warpmat {
namespace {

/// Registers of an operand, a case for each product.
void write_operand(const std::string& path, const Why& why, std::vector<std::uint32_t> Why::Step::*operand) {
  constexpr std::size_t lanes = 32;
  const std::size_t words = (why.steps.front().*operand).size();
  NpyArray array = NpyArray::zeros(DType::uint32, {why.steps.size(), words / lanes, lanes});
  std::byte* to = array.bytes.data();
  for (const Why::Step& step : why.steps) {
    std::memcpy(to, (step.*operand).data(), words * 4);
    to += words * 4;
  }
  write_npy(path, array);
}

/// The call of an mma with the registers of a product.
class StepCall {
 public:
  StepCall(const Form& form, const Why::Step& step) : d_(static_cast<std::size_t>(form.operand(OperandName::d).words())) {
    take(step.a, a_);
    take(step.b, b_);
    take(step.c, c_);
    for (Register& r : d_) results_.push_back(r.data());
    views_ = {results_, a_, b_, c_};
    call_.operands = views_;
  }
  StepCall(const StepCall&) = delete;
  StepCall& operator=(const StepCall&) = delete;

  const Call& get() const { return call_; }

 private:
  void take(const std::vector<std::uint32_t>& words, std::vector<std::uint32_t*>& to) {
    std::vector<Register>& registers = sources_.emplace_back(words.size() / warp_size);
    std::memcpy(registers.data(), words.data(), words.size() * sizeof(std::uint32_t));
    for (Register& r : registers) to.push_back(r.data());
  }

  std::list<std::vector<Register>> sources_;
  std::vector<Register> d_;
  std::vector<std::uint32_t*> a_, b_, c_, results_;
  std::array<RegisterView, 4> views_;
  Call call_;
};

bool explainable(const Form& form, const Why::Step& step) {
  return form.scale_vector == 0 && form.sparsity == Sparsity::dense && !step.a.empty();
}

/// "k 16 to 23": of the products of a step of an explanation.
std::string depths_of(const Why::Step& step, const ExplainedStep& sum) {
  int first = -1, last = -1;
  for (const Term& term : sum.terms)
    for (const Term::Product& product : term.products) {
      const int k = step.depths.at(static_cast<std::size_t>(product.a.element.column));
      if (k < 0) continue;
      first = first < 0 ? k : std::min(first, k);
      last = std::max(last, k);
    }
  return first < 0 ? "zeros" : first == last ? fmt::format("k {}", first) : fmt::format("k {} to {}", first, last);
}

}  // namespace

std::string parting_of(const Why& why, std::string_view target, const std::string& against) {
  for (std::size_t i = 0; i < why.steps.size(); ++i) {
    const Why::Step& step = why.steps[i];
    const std::string product = fmt::format("product {} at {}", i + 1, step.where);
    if (step.opcode.starts_with("wgmma") && against.starts_with("sm_"))
      return fmt::format("{} and {} are not compared: wgmma of {} exists for sm_90a alone\n", target, against, product);
    if (step.opcode.starts_with("wgmma")) return fmt::format("{} is not compared: its operands were not kept\n", product);
    const Instruction instruction(step.opcode, target);
    if (!explainable(instruction.form(), step)) return fmt::format("{} is not compared: its operands were not kept\n", product);
    const StepCall call(instruction.form(), step);
    const ExplanationPair pair = explain_pair(instruction, call.get(), {step.row, step.column, 0}, against, {});
    if (pair.one.result == pair.other->result) continue;
    const auto parts = parting(pair.one, *pair.other);
    const Format format = pair.one.form->format(OperandName::d);
    return fmt::format("{} and {} part at {}{}: {} beside {}\n", target, against, product,
                       parts ? ", in its sum of " + depths_of(step, pair.one.steps[parts->first]) : "", to_double(format, pair.one.result),
                       to_double(format, pair.other->result));
  }
  return fmt::format("{} and {} have the same bits in each of its {} products\n", target, against, why.steps.size());
}

void print_why(const Why& why, const std::string& files, std::string_view target, const std::string& against) {
  if (!against.empty()) fmt::print("{}", parting_of(why, target, against));
  fmt::print("{}", why.text);
  const bool same = !why.steps.empty() && std::ranges::all_of(why.steps, [&](const Why::Step& step) {
    return step.opcode == why.steps.front().opcode && !step.a.empty();
  });
  if (!same) {
    if (!files.empty()) fmt::print("no files: the products are of several instructions, or their operands are not in registers\n");
    return;
  }
  if (files.empty()) {
    fmt::print("each product step by step: --why-files NAME writes its operands, and says the commands\n");
    return;
  }
  write_operand(files + ".a.npy", why, &Why::Step::a);
  write_operand(files + ".b.npy", why, &Why::Step::b);
  write_operand(files + ".c.npy", why, &Why::Step::c);
  for (std::size_t i = 0; i < why.steps.size(); ++i) {
    const Why::Step& step = why.steps[i];
    if (i != 0 && step.row == why.steps[i - 1].row && step.column == why.steps[i - 1].column) continue;  // the same but for the case
    fmt::print(
        "  product {0}, and those behind it by the next cases:\n    warpmat explain {1} --target {2} --a {3}.a.npy "
        "--b {3}.b.npy --c {3}.c.npy --case {4} --row {5} --column {6}\n",
        i + 1, step.opcode, target, files, i, step.row, step.column);
  }
}

}  // namespace warpmat
