#define FMT_HEADER_ONLY
#include <warpmat/text.h>

#include <fmt/format.h>

namespace warpmat {

std::string format_text_of(fmt::string_view format, fmt::format_args values) {
  return fmt::vformat(format, values);
}

std::string concatenated(std::initializer_list<std::string_view> parts) {
  std::size_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  std::string text;
  text.reserve(size);
  for (const std::string_view part : parts) text += part;
  return text;
}

std::string comma_list(const std::vector<std::string_view>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace warpmat
