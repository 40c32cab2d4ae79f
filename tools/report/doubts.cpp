#include "tools/report/doubts.h"

namespace warpmat {

std::string_view doubt_text(code::Doubt::Why why) {
  using enum code::Doubt::Why;
  switch (why) {
    case sum: return "which of its sums the assembler fuses is known without branches and guards alone";
    case sum_open: return "the machine code leaves it to the rule";
    case sum_inferred: return "no instruction of its own alone decides it";
    case sign: return "a NaN may keep its payload";
    case converted: return "ptxas may convert the number in the register to an integer";
    case constant: return "its operand is constant, or ptxas may know it, and what ptxas then has for it may give other bits";
    case flushed: return "ptxas may flush the factors of the product that it reads";
    case matrix_sum: return "ptxas may fuse C with the product that it is";
    case merged_logic: return "ptxas 13.0 may merge it wrongly with other statements on the same operands";
    case misplaced: return "ptxas 13.0 may leave it out, or move it past a statement that has to do with its operands or guard";
    case shuffle:
      return "ptxas may leave it out, since all lanes have its value, or move it behind a branch or exit: absent lanes then count "
             "otherwise";
  }
  return "";
}

}  // namespace warpmat
