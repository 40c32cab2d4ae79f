#pragma once

#include <string>

namespace warpmat {

/// The evidence for each card by product names: a table in Markdown, from the tables of forms and lowerings.
std::string card_table();

}  // namespace warpmat
