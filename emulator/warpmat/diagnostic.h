#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/version.h>

namespace warpmat {

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

  const std::vector<Diagnostic> errors;  ///< never empty
};

}  // namespace warpmat
