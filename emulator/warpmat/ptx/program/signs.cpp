#include <warpmat/ptx/program/signs.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include <warpmat/ptx/program/definitions.h>
#include <warpmat/ptx/program/rewrite.h>

namespace warpmat::code {

namespace {

constexpr std::array negations{"neg.f32", "neg.f64", "neg.f16", "neg.f16x2", "neg.bf16"};

bool is_negation(const DraftOperation& operation) {
  return std::ranges::find(negations, operation.opcode) != negations.end();
}

class DoubleSigns {
 public:
  DoubleSigns(DraftFunction& function, ProgramDraft& draft) : function_(function), draft_(draft), definitions_(function) {}

  void run() {
    for (int i = 0; i < static_cast<int>(function_.operations.size()); ++i)
      if (const int inner = inner_negation(i); inner >= 0) inner_[i] = inner;
    if (!inner_.empty()) rebuild();
  }

 private:
  const DraftOperation& at(int i) const { return function_.operations[static_cast<std::size_t>(i)]; }

  /// A move of one register of 16 bits or more, without a guard.
  static bool is_move(const DraftOperation& operation) {
    return operation.opcode.starts_with("mov.") && operation.results.size() == 1 && operation.sources.size() == 1 &&
           !operation.operation.guarded && !is_constant(operation.sources[0]);
  }

  /// The neg of which operation `i` is the neg, or -1.
  int inner_negation(int i) const {
    if (!is_negation(at(i)) || is_constant(at(i).sources[0])) return -1;
    int writer = definitions_.find(i, at(i).sources[0]);
    for (std::size_t steps = 0; writer >= 0 && is_move(at(writer)) && steps < function_.operations.size(); ++steps)
      writer = definitions_.find(writer, at(writer).sources[0]);
    return writer >= 0 && at(writer).opcode == at(i).opcode && !is_constant(at(writer).sources[0]) ? writer : -1;
  }

  void rebuild() {
    std::map<int, Value> kept;  // by inner neg: a register that keeps its source
    for (const auto& [outer, inner] : inner_) {
      if (kept.contains(inner)) continue;
      function_.registers.push_back(function_.registers[static_cast<std::size_t>(at(inner).sources[0])]);
      kept[inner] = static_cast<Value>(function_.registers.size() - 1);
    }
    Rewrite rewrite(function_);
    std::vector<DraftOperation>& out = rewrite.out;
    for (int i = 0; i < static_cast<int>(function_.operations.size()); ++i) {
      rewrite.come_to(i);
      if (const auto copy = kept.find(i); copy != kept.end()) out.push_back(move(copy->second, at(i).sources[0], at(i)));
      const auto inner = inner_.find(i);
      if (inner == inner_.end()) {
        out.push_back(at(i));
        continue;
      }
      out.push_back(move(at(i).results[0], kept.at(inner->second), at(i)));
      out.back().operation.guarded = at(i).operation.guarded;
      out.back().operation.guard_inverted = at(i).operation.guard_inverted;
      out.back().guard = at(i).guard;
      draft_.program.folded.push_back({at(i).operation.statement, Folded::Kind::copied, 0, true});
    }
    rewrite.finish();
  }

  DraftOperation move(Value to, Value from, const DraftOperation& like) {
    const bool wide = function_.registers[static_cast<std::size_t>(from)].register_class == RegisterClass::wide;
    return draft_.make(wide ? "mov.b64" : "mov.b32", {to}, {from}, like);
  }

  DraftFunction& function_;
  ProgramDraft& draft_;
  Definitions definitions_;
  std::map<int, int> inner_;  ///< by outer neg
};

}  // namespace

void remove_double_signs(DraftFunction& function, ProgramDraft& draft) {
  if (std::ranges::count_if(function.operations, is_negation) > 1) DoubleSigns(function, draft).run();
}

}  // namespace warpmat::code
