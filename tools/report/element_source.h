#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/report/element_array.h"

namespace warpmat {

/// The bits of `count` elements that a source other than a file gives: "zeros", "iota", "iota-bits", "random[:SEED]". Nothing where
/// `source` is none of them. Throws std::runtime_error for iota where the format cannot count to the end, and for a seed that is no number.
std::optional<std::vector<std::uint64_t>> generated_elements(const std::string& source, const ElementType& type, std::size_t count);

/// What the sources give for each format, for --help.
std::string source_help();

}  // namespace warpmat
