#include "tools/report/memory_picture.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "tools/report/layout_grid.h"
#include "tools/report/svg.h"

namespace warpmat {
namespace {

constexpr std::uint32_t row_bytes = 128, chunk_bytes = 16;
constexpr int cell_width = 76, cell_height = 32, left = 64, top = 78;

}  // namespace

std::string memory_svg(const std::string& title, const std::string& remark, const std::vector<MemoryChunk>& chunks) {
  std::map<std::uint32_t, std::vector<const MemoryChunk*>> rows;
  for (const MemoryChunk& chunk : chunks) rows[chunk.address / row_bytes].push_back(&chunk);
  const int columns = row_bytes / chunk_bytes, width = std::max(left + columns * cell_width + 20, 900);
  const int height = top + static_cast<int>(rows.size()) * cell_height + 20;
  std::string out = svg_begin(width, height, title);
  out += svg_text(20, 22, 14, "start", title) + svg_text(20, 42, 11, "start", remark);
  for (int column = 0; column < columns; ++column)
    out += svg_text(left + column * cell_width + cell_width / 2, top - 8, 10, "middle", fmt::format("+{}", column * 16));
  int y = top;
  for (const auto& [row, held] : rows) {
    out += svg_text(left - 8, y + 20, 10, "end", fmt::format("{:#x}", row * row_bytes));
    for (int column = 0; column < columns; ++column) out += svg_rectangle(left + column * cell_width, y, cell_width, cell_height, "F2F2F2");
    for (const MemoryChunk* chunk : held) {
      const int x = left + static_cast<int>(chunk->address % row_bytes / chunk_bytes) * cell_width, middle = x + cell_width / 2;
      out += svg_rectangle(x, y, cell_width, cell_height, grid_colour(chunk->line)) + svg_text(middle, y + 14, 11, "middle", chunk->above) +
             svg_text(middle, y + 27, 10, "middle", chunk->below);
    }
    y += cell_height;
  }
  return out + "</svg>\n";
}

}  // namespace warpmat
