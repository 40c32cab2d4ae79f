#include "tools/library/memory_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/library/layout_grid.h"
#include "tools/library/markup.h"

namespace warpmat {
namespace {

constexpr std::uint32_t row_bytes = 128, chunk_bytes = 16;
constexpr int cell_width = 76, cell_height = 32, left = 64, top = 78;

std::string text(int x, int y, int size, const char* anchor, const std::string& what) {
  return fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y, size, anchor, escaped(what));
}

std::string rectangle(int x, int y, const std::string& colour) {
  return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#{}\" stroke=\"#FFFFFF\"/>\n", x, y, cell_width,
                     cell_height, colour);
}

}  // namespace

std::string memory_svg(const std::string& title, const std::string& remark, const std::vector<MemoryChunk>& chunks) {
  std::map<std::uint32_t, std::vector<const MemoryChunk*>> rows;
  for (const MemoryChunk& chunk : chunks) rows[chunk.address / row_bytes].push_back(&chunk);
  const int columns = row_bytes / chunk_bytes, width = std::max(left + columns * cell_width + 20, 900);
  const int height = top + static_cast<int>(rows.size()) * cell_height + 20;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" "
      "role=\"img\">\n<title>{2}</title>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#FFFFFF\"/>\n",
      width, height, escaped(title));
  out += text(20, 22, 14, "start", title) + text(20, 42, 11, "start", remark);
  for (int column = 0; column < columns; ++column)
    out += text(left + column * cell_width + cell_width / 2, top - 8, 10, "middle", fmt::format("+{}", column * 16));
  int y = top;
  for (const auto& [row, held] : rows) {
    out += text(left - 8, y + 20, 10, "end", fmt::format("{:#x}", row * row_bytes));
    for (int column = 0; column < columns; ++column) out += rectangle(left + column * cell_width, y, "F2F2F2");
    for (const MemoryChunk* chunk : held) {
      const int x = left + static_cast<int>(chunk->address % row_bytes / chunk_bytes) * cell_width, middle = x + cell_width / 2;
      out += rectangle(x, y, grid_colour(chunk->line)) + text(middle, y + 14, 11, "middle", chunk->above) +
             text(middle, y + 27, 10, "middle", chunk->below);
    }
    y += cell_height;
  }
  return out + "</svg>\n";
}

}  // namespace warpmat
