#pragma once

#include <warpmat/forms.h>

#include <optional>
#include <span>
#include <string_view>

namespace warpmat {

/// The product names of the cards with one hardware.
struct Cards {
  Hardware hardware;
  std::string_view names;  ///< "A100, A30"; a series, "RTX 40", stands for its numbers
};

/// A row for each hardware, the best known first.
[[nodiscard]] std::span<const Cards> all_cards();

/// The hardware of the card that people call `card`: of "H100", "NVIDIA GeForce RTX 4090", "rtx4070ti", "3080". Nothing where none is
/// known.
[[nodiscard]] std::optional<Hardware> hardware_of_card(std::string_view card);

}  // namespace warpmat
