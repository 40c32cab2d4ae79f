#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <warpmat/forms.h>
#include <warpmat/ptx/catalogue/catalogue.h>

namespace warpmat::catalogue {

/// The evidence for the bits of a catalogue instruction on a hardware.
struct RowEvidence {
  Label label = Label::assumed;
  std::string_view source;     ///< "H200: all 2^32 operands"
  std::string_view open = {};  ///< the part that the PTX ISA leaves open and that was not compared there: "NaN payloads"; or empty
  std::uint64_t compared = 0;  ///< results of each spelling compared with that hardware
  bool handle = false;         ///< what is open is a name: an address, a state, a policy; no number that a kernel computes depends on it
};

/// Derived, not written in rows. An instruction with a kernel that sm_90 has is measured there, because the sweep of scalar instructions
/// compares every spelling of those. All others are known as far as the PTX ISA fixes them. Precondition: `hardware` has the instruction.
RowEvidence evidence_of(const Pattern& pattern, Hardware hardware);

/// The evidence in the table of .approx and .full instructions; nothing for other rows. approximate_rows.cpp
std::optional<RowEvidence> approximate_evidence(const Row& row, Hardware hardware);

}  // namespace warpmat::catalogue
