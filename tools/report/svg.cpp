#include "tools/report/svg.h"

#include <fmt/core.h>

#include "tools/report/markup.h"

namespace warpmat {

std::string svg_begin(int width, int height, std::string_view title, std::string_view attributes) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" "
      "{3}role=\"img\">\n<title>{2}</title>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#FFFFFF\"/>\n",
      width, height, escaped(title), attributes);
}

std::string svg_text(int x, int y, int size, std::string_view anchor, std::string_view text) {
  return fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y, size, anchor, escaped(text));
}

std::string svg_rectangle(int x, int y, int width, int height, std::string_view fill, std::string_view stroke) {
  return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#{}\" stroke=\"#{}\"/>\n", x, y, width, height, fill,
                     stroke);
}

}  // namespace warpmat
