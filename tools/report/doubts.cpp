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
    case constant:
      return "ptxas has something simpler for its constant operand, which may give another NaN, or another integer by an error";
    case flushed: return "ptxas may flush the factors of the product that it reads";
    case matrix_sum: return "ptxas may fuse C with the product that it is";
    case merged_logic: return "ptxas 13.0 may take one of its equal operands for 0 in what reads it";
    case shuffle: return "ptxas may leave out a shuffle of a value that all lanes have: lanes that read absent ones then have it, too";
  }
  return "";
}

}  // namespace warpmat
