#pragma once

#include <string>
#include <string_view>

namespace warpmat {

/// The bytes of a gzip file with `text`; deterministic.
std::string compress(std::string_view text);

/// The inverse, for texts of at most 1 GiB. Throws std::runtime_error naming the error in the bytes.
std::string uncompress(std::string_view bytes);

}  // namespace warpmat
