#pragma once

#include <warpmat/tables/target.h>

#include <string>
#include <string_view>

namespace warpmat {

/// The names under which cards of `hardware` are sold: "A100, A30".
std::string_view card_names(Hardware hardware);

/// What is known of each card, by the names that they are sold under: a table in Markdown, from the tables of forms and lowerings.
std::string card_table();

}  // namespace warpmat
