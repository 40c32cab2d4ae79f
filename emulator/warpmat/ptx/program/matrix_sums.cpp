#include <warpmat/ptx/program/matrix_sums.h>

#include <algorithm>
#include <array>
#include <vector>

#include <warpmat/ptx/program/arithmetic.h>
#include <warpmat/ptx/program/rewrite.h>
#include <warpmat/ptx/program/value_uses.h>

namespace warpmat::code {

using catalogue::Name;
using catalogue::Semantics;

namespace {

const Instruction& instruction_of(const DraftOperation& operation, const ProgramDraft& draft) {
  return draft.program.of<Matrix>(operation.operation).instruction;
}

/// Whether ptxas adds C by instructions of their own. The last sources are C then, as many as there are results.
bool adds_c(const DraftOperation& operation, const ProgramDraft& draft) {
  if (operation.operation.semantics != Semantics::matrix) return false;
  const Instruction& instruction = instruction_of(operation, draft);
  return instruction.lowering().semantics == warpmat::Semantics::split_dot && instruction.form().operands.back().name == OperandName::c;
}

class MatrixSums {
 public:
  MatrixSums(DraftFunction& function, ProgramDraft& draft) : function_(function), draft_(draft), uses_(function, draft) {}

  void run() {
    Rewrite rewrite(function_);
    for (int i = 0; i < static_cast<int>(function_.operations.size()); ++i) {
      rewrite.come_to(i);
      if (adds_c(at(i), draft_) && reads_product(i))
        separate(at(i), rewrite.out);
      else
        rewrite.out.push_back(at(i));
    }
    rewrite.finish();
  }

 private:
  const DraftOperation& at(int i) const { return function_.operations[static_cast<std::size_t>(i)]; }

  bool reads_product(int i) const {
    constexpr std::array passed{Name::mov, Name::neg}, products{Name::mul, Name::div};
    const std::size_t count = at(i).results.size(), first = at(i).sources.size() - count;
    for (std::size_t c = first; c < first + count; ++c) {
      int writer = uses_.writer(i, static_cast<int>(c));
      while (writer >= 0 && is_one_of(at(writer), passed)) writer = uses_.writer(writer, 0);
      if (writer >= 0 && is_one_of(at(writer), products)) return true;
    }
    return false;
  }

  void separate(const DraftOperation& operation, std::vector<DraftOperation>& out) {
    const std::size_t count = operation.results.size(), first = operation.sources.size() - count;
    DraftOperation product = operation;
    for (std::size_t i = 0; i < count; ++i) {
      product.results[i] = new_register(function_, {RegisterClass::word, 32});
      product.sources[first + i] = draft_.constants.add(RegisterClass::word, 0);
    }
    const std::vector<Value> products = product.results;
    const char* const sum = instruction_of(operation, draft_).form().format(OperandName::d) == Format::f32 ? "add.f32" : "add.f16x2";
    out.push_back(std::move(product));
    for (std::size_t i = 0; i < count; ++i) {
      out.push_back(draft_.make(sum, {operation.results[i]}, {products[i], operation.sources[first + i]}, operation));
      take_guard(out.back(), operation);
    }
  }

  DraftFunction& function_;
  ProgramDraft& draft_;
  ValueUses uses_;
};

}  // namespace

void separate_matrix_sums(DraftFunction& function, ProgramDraft& draft) {
  if (std::ranges::any_of(function.operations, [&](const DraftOperation& operation) { return adds_c(operation, draft); }))
    MatrixSums(function, draft).run();
}

}  // namespace warpmat::code
