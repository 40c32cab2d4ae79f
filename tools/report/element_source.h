#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/report/element_array.h"

namespace warpmat {

/// The bits of `count` elements from a source other than a file: "zeros", "iota", "iota-bits", "random[:SEED]". Nothing if `source` is none
/// of them. Throws std::runtime_error for iota if the format cannot count to the end, and for a seed that is not a number.
std::optional<std::vector<std::uint64_t>> generated_elements(const std::string& source, const ElementType& type, std::size_t count);

/// The values of the sources for each format, for --help.
std::string source_help();

}  // namespace warpmat
