#include "tools/report/memory_picture.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "tools/report/layout_grid.h"
#include "tools/report/svg.h"

namespace warpmat {
namespace {

constexpr std::uint32_t row_bytes = 128, chunk_bytes = 16;
constexpr int chunk_width = 76, chunk_height = 32, left_margin = 64, top_margin = 78;

}  // namespace

std::string memory_svg(const std::string& title, const std::string& remark, const std::vector<MemoryChunk>& chunks) {
  std::map<std::uint32_t, std::vector<const MemoryChunk*>> rows;
  for (const MemoryChunk& chunk : chunks) rows[chunk.address / row_bytes].push_back(&chunk);
  const int columns = row_bytes / chunk_bytes, width = std::max(left_margin + columns * chunk_width + 20, 900);
  const int height = top_margin + static_cast<int>(rows.size()) * chunk_height + 20;
  std::string out = svg_begin(width, height, title);
  out += svg_text(20, 22, 14, "start", title) + svg_text(20, 42, 11, "start", remark);
  for (int column = 0; column < columns; ++column)
    out += svg_text(left_margin + column * chunk_width + chunk_width / 2, top_margin - 8, 10, "middle", fmt::format("+{}", column * 16));
  int y = top_margin;
  for (const auto& [row, held] : rows) {
    out += svg_text(left_margin - 8, y + 20, 10, "end", fmt::format("{:#x}", row * row_bytes));
    for (int column = 0; column < columns; ++column)
      out += svg_rectangle(left_margin + column * chunk_width, y, chunk_width, chunk_height, "F2F2F2");
    for (const MemoryChunk* chunk : held) {
      const int x = left_margin + static_cast<int>(chunk->address % row_bytes / chunk_bytes) * chunk_width, middle = x + chunk_width / 2;
      out += svg_rectangle(x, y, chunk_width, chunk_height, grid_colour(chunk->line)) +
             svg_text(middle, y + 14, 11, "middle", chunk->above) + svg_text(middle, y + 27, 10, "middle", chunk->below);
    }
    y += chunk_height;
  }
  return out + "</svg>\n";
}

}  // namespace warpmat
