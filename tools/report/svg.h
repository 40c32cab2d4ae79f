#pragma once

#include <string>
#include <string_view>

namespace warpmat {

// Pieces of SVG pictures, a line each. Colours are "RRGGBB".

/// The beginning of a picture with a title for screen readers and a white background; `attributes` are further attributes of the picture,
/// each followed by a space. "</svg>" ends it.
std::string svg_begin(int width, int height, std::string_view title, std::string_view attributes = {});

/// `anchor` is start, middle or end.
std::string svg_text(int x, int y, int size, std::string_view anchor, std::string_view text);

std::string svg_rectangle(int x, int y, int width, int height, std::string_view fill, std::string_view stroke = "FFFFFF");

}  // namespace warpmat
