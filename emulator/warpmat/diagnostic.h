#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <warpmat/export.h>

namespace warpmat::inline v0_1 {

// ---- Places and errors ----

/// A place in a program's text. Line and column count from 1; columns count bytes.
struct WARPMAT_API Location {
  int line = 1;
  int column = 1;
  friend bool operator==(const Location&, const Location&) = default;
};

/// One error of a program: what is wrong, what would be right, and the line with a caret below the place.
struct WARPMAT_API Diagnostic {
  Location location;
  std::string message;
  std::string excerpt;  ///< the source line, a line break, and the caret line, from excerpt()

  /// "FILE:LINE:COLUMN: error: MESSAGE", then the excerpt.
  std::string format(std::string_view file) const;
};

/// The error at `location` of `source`, its excerpt included.
[[nodiscard]] WARPMAT_API Diagnostic diagnose(std::string_view source, Location location, std::string message);

/// The program is not PTX that warpmat executes. Lists every wrong statement, in the order of the text.
class WARPMAT_API SyntaxError : public std::runtime_error {
 public:
  explicit SyntaxError(std::vector<Diagnostic> errors);

  std::vector<Diagnostic> errors;  ///< never empty
};

// ---- What machine code shows ----

/// What machine code shows of one add or sub of a module that has no rounding modifier: `warpmat launch --assembler ptxas` reads it.
struct SumInCode {
  int line = 0, column = 0;                ///< of the statement in the module's text, both from 1
  bool fused = false;                      ///< whether it became an fma with a product
  int addend_line = 0, addend_column = 0;  ///< of the other product, which is the addend of that fma; 0 where it is no product
  /// Where ptxas computes the sum twice: the lines and columns of the statements that read the other one, an fma; and its addend.
  std::vector<std::pair<int, int>> fused_for{};
  int other_addend_line = 0, other_addend_column = 0;
  /// Those of sums that are computed twice too, and whose other one alone reads it.
  std::vector<std::pair<int, int>> fused_for_other{};

  /// Not read off an instruction with the line of this sum alone, but deduced from its product's, its readers' or other sums' instructions.
  bool inferred = false;

  bool is_twice() const { return !fused_for.empty() || !fused_for_other.empty(); }
};

/// What machine code shows of the result of one statement, of 32 bits, where that is plain.
struct ResultInCode {
  int line = 0, column = 0;  ///< as of SumInCode
  bool immediate = false;    ///< whether it is `bits`; else the multi-function unit computes it
  std::uint32_t bits = 0;
};

}  // namespace warpmat::inline v0_1
