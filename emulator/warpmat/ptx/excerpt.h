#pragma once

#include <string>
#include <string_view>

namespace warpmat {

/// The line that `rest` begins with, and below it a caret under its byte `column`, counted from 1; of a very long line only the part around
/// that place. The text may hold anything and is safe to print: bytes that are no UTF-8, control characters and those that change the
/// direction of a line are shown as \xNN, byte by byte. Tabs stay, in the line and before the caret. Characters count as one column each.
std::string excerpt(std::string_view rest, int column);

}  // namespace warpmat
