#pragma once

#include <cstddef>
#include <string>

namespace warpmat {

/// The opcode whose layout answers for a spelling, and how many forms the spelling may be.
struct AnsweringOpcode {
  std::string opcode;
  std::size_t forms;
};

/// For `spelling` its own opcode; or, where several forms may be meant and the operand lies alike in all of them, the first one's. Throws
/// std::invalid_argument with what would be right.
AnsweringOpcode answering_opcode(const std::string& spelling, const std::string& operand);

}  // namespace warpmat
