#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <warpmat/ptx/catalogue/catalogue.h>
#include <warpmat/tables/label.h>

namespace warpmat::catalogue {

/// How the bits of an instruction of the catalogue are known on a hardware.
struct RowEvidence {
  Label label = Label::assumed;
  std::string_view source;     ///< "H200: all 2^32 operands"
  std::string_view open = {};  ///< what the PTX ISA leaves open and nobody has compared there: "NaN payloads"; or empty
  std::uint64_t compared = 0;  ///< results of each spelling that were compared with that hardware
};

/// Derived, no row says it: an instruction with a kernel that sm_90 has is measured there, as the sweep of scalar instructions compares
/// every spelling of those; all others are as far known as the PTX ISA fixes them. `hardware` has the instruction.
RowEvidence evidence_of(const Pattern& pattern, Hardware hardware);

/// The part of it that stands beside the rows of .approx and .full instructions; nothing for other rows. approximate_rows.cpp
std::optional<RowEvidence> approximate_evidence(const Row& row, Hardware hardware);

}  // namespace warpmat::catalogue
