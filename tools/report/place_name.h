#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "tools/report/element_array.h"

namespace warpmat {

/// A parsed place, NAME[:FORMAT][:bits|:values][:COLUMNS], before NAME is looked up.
struct PlaceName {
  std::string name;
  std::optional<ElementType> type;
  Reading reading = Reading::by_dtype;
  std::size_t columns = 0;  ///< 0: not given

  /// Throws std::runtime_error saying what `text` should be.
  static PlaceName parse(std::string_view text);
};

}  // namespace warpmat
