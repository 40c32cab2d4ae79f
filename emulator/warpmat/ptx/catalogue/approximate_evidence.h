#pragma once

#include <optional>
#include <string_view>

#include <warpmat/ptx/catalogue/row.h>

namespace warpmat::catalogue {

/// How the bits of an approximate instruction on a hardware are known.
struct ApproximateEvidence {
  Evidence evidence;
  std::string_view source;
};

/// Nothing where `row` is no .approx or .full instruction.
std::optional<ApproximateEvidence> approximate_evidence(const Row& row, Hardware hardware);

}  // namespace warpmat::catalogue
