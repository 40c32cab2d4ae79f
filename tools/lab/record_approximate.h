#pragma once

#include <string>

namespace warpmat {

/// `warpmat record --approximate`: writes the digests of the card's answers to all operands of the approximate functions whose opcode the
/// regular expression is found in (empty: all), a file for each, into `directory` (gpu/recordings/all_operands.h). `target` empty: what the
/// machine's GPU is.
void record_approximate(const std::string& directory, const std::string& forms, const std::string& target);

}  // namespace warpmat
