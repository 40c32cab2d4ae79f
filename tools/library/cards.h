#pragma once

#include <string>

namespace warpmat {

/// What is known of each card, by the names that they are sold under: a table in Markdown, from the tables of forms and lowerings.
std::string card_table();

}  // namespace warpmat
