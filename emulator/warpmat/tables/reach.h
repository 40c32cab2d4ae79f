#pragma once

#include <string_view>

#include <warpmat/numeric/events.h>
#include <warpmat/tables/lowering.h>

namespace warpmat {

// Which regions (numeric/events.h) an instruction has, and which of them operands can reach: worked out from the widths of its formats and
// the numbers of its unit, never from what some operands did reach.

/// What is known of a region of an instruction on a hardware.
struct Reach {
  bool concerns = false;    ///< the instruction has a rule with such a region
  std::string_view reason;  ///< why no operands reach it; empty where they do

  bool reachable() const { return concerns && reason.empty(); }
};

Reach reach(const Form& form, const Lowering& lowering, Event event, std::size_t number = 0);

}  // namespace warpmat
