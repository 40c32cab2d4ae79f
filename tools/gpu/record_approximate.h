#pragma once

#include <string>

namespace warpmat {

/// `warpmat record --approximate`: writes the digests of the card's answers to all operands of the approximate functions whose opcode
/// matches the regular expression (empty: all), a file for each, into `directory` (gpu/recordings/all_operands.h). An empty `target` means
/// that of the machine's GPU.
void record_approximate(const std::string& directory, const std::string& forms, const std::string& target);

}  // namespace warpmat
