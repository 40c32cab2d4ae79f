#include "tools/library/explanation_pair.h"

namespace warpmat {

ExplanationPair explain_pair(const Instruction& instruction, const Arguments& arguments, const Element& element, const std::string& against,
                             const ExecutionOptions& options) {
  ExplanationPair pair{explain(instruction, arguments, element, options), std::nullopt};
  if (against == "f32")
    pair.other = explain_as_f32(instruction, arguments, element, options);
  else if (!against.empty())
    pair.other = explain(Instruction(instruction.form().opcode, against), arguments, element, options);
  return pair;
}

}  // namespace warpmat
