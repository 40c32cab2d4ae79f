#pragma once

#include <warpmat/forms.h>

#include <string>
#include <string_view>

namespace warpmat {

/// The product names of cards with `hardware`: "A100, A30".
std::string_view card_names(Hardware hardware);

/// The target with all features of a card that people name: "sm_90a" of "H100", "sm_89" of "rtx 4090". Empty where none is known.
std::string_view target_of_card(std::string_view card);

/// The evidence for each card by product names: a table in Markdown, from the tables of forms and lowerings.
std::string card_table();

}  // namespace warpmat
