#pragma once

#include <string_view>

#include <warpmat/forms.h>

#include "gpu/lab/rules/events.h"

namespace warpmat {

// The regions (events.h) of an instruction, and which of them operands can reach. Derived from the widths of its formats and the
// numbers of its unit, never from what some operands did reach.

/// A region of an instruction on a hardware.
struct Reach {
  bool concerns = false;    ///< the instruction has a rule with this region
  std::string_view reason;  ///< why no operands reach it; empty if some do

  bool reachable() const { return concerns && reason.empty(); }
};

Reach reach(const Form& form, const Lowering& lowering, Event event, std::size_t number = 0);

}  // namespace warpmat
