#pragma once

#include <string>
#include <string_view>

namespace warpmat {

/// The first line of `rest`, and below it a caret under its byte `column`, counted from 1; of a very long line only the part around that
/// place. The result is safe to print for any text: bytes that are not UTF-8, control characters and characters that change the direction
/// of a line appear as \xNN, byte by byte. Tabs are kept, in the line and before the caret. Each character counts as one column.
std::string excerpt(std::string_view rest, int column);

}  // namespace warpmat
