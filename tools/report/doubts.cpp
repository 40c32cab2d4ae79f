#include "tools/report/doubts.h"

namespace warpmat {

std::string_view doubt_text(code::Doubt::Why why) {
  switch (why) {
    case code::Doubt::Why::merged_logic: return "ptxas 13.0 takes an operand of the lop3 that it reads for 0 where it makes one of both";
    case code::Doubt::Why::sign: return "whether a NaN keeps its payload through neg or abs is not known here";
    case code::Doubt::Why::shuffle:
      return "whether ptxas leaves out a shuffle of a value that all lanes have, where they may be apart, is not known here";
  }
  return "";
}

}  // namespace warpmat
