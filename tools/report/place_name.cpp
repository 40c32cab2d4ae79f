#include "tools/report/place_name.h"

#include <fmt/core.h>

#include <charconv>
#include <stdexcept>
#include <vector>

#include "tools/report/split.h"

namespace warpmat {
namespace {

/// A number of columns; nothing if `text` is not a number.
std::optional<std::size_t> columns_of(const std::string& text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

PlaceName PlaceName::parse(std::string_view text) {
  const auto fail = [&](const std::string& message) { throw std::runtime_error(fmt::format("'{}': {}", text, message)); };
  const std::vector<std::string> parts = split(text, ':');
  PlaceName place{parts[0], {}, Reading::by_dtype, 0};
  enum class Part { type, reading, columns, nothing } next = Part::type;  // the parts that may follow
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (const auto said = find_reading(parts[i]); said && next <= Part::reading) {
      place.reading = *said;
      next = Part::columns;
    } else if (const auto number = columns_of(parts[i]); number && next <= Part::columns) {
      if (*number == 0) fail("'0' is not a number of columns");
      place.columns = *number;
      next = Part::nothing;
    } else if (next == Part::type) {
      try {
        place.type = find_element_type(parts[i]);
      } catch (const std::runtime_error& e) {
        fail(e.what());
      }
      next = Part::reading;
    } else {
      fail(fmt::format("'{}' does not belong there: a place is NAME[:FORMAT][:bits|:values][:COLUMNS]", parts[i]));
    }
  }
  return place;
}

}  // namespace warpmat
