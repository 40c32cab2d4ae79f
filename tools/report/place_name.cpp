#include "tools/report/place_name.h"

#include <fmt/core.h>

#include <stdexcept>

#include <warpmat/words/words.h>

namespace warpmat {

PlaceName PlaceName::parse(std::string_view text) {
  WordReader words(text, "place", "write NAME[:FORMAT][:bits|:values][:COLUMNS]");
  PlaceName place{std::string(words.until(':')), {}, Reading::by_dtype, 0};
  enum class Part { type, reading, columns, nothing } next = Part::type;  // the parts that may follow
  while (!words.ended()) {
    const std::string_view part = words.until(':');
    if (const auto said = find_reading(part); said && next <= Part::reading) {
      place.reading = *said;
      next = Part::columns;
    } else if (number_of<std::size_t>(part) && next <= Part::columns) {
      place.columns = words.number<std::size_t>(part, 1, SIZE_MAX, "number of columns");
      next = Part::nothing;
    } else if (next == Part::type) {
      try {
        place.type = find_element_type(part);
      } catch (const std::runtime_error& e) {
        words.refuse(part, e.what());
      }
      next = Part::reading;
    } else {
      words.refuse(part, fmt::format("'{}' does not belong there", part));
    }
  }
  return place;
}

}  // namespace warpmat
