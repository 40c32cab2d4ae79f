#define FMT_HEADER_ONLY
#include <warpmat/text.h>

#include <fmt/format.h>

namespace warpmat {

std::string format_text_of(fmt::string_view format, fmt::format_args values) {
  return fmt::vformat(format, values);
}

std::string comma_list(const std::vector<std::string_view>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace warpmat
