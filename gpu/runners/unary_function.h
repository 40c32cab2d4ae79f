#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <warpmat/tables/target.h>

namespace warpmat {

// An instruction of one operand as a function from 32-bit words to 32-bit words, so that it can be asked for all of its operands:
//
//   type                operand of the word w                  answer
//   32 bits             w                                      the result
//   16 bits             the lower half of w                    the result, the upper half zero
//   64 bits             w is the upper word, the lower is 0    the result's upper word exclusive-or its lower one

class UnaryFunction {
 public:
  virtual ~UnaryFunction() = default;

  /// The answers to the operands `first`, first + 1, ...: a multiple of 256 of them. Valid until the next call.
  virtual std::span<const std::uint32_t> answers(std::uint32_t first, std::size_t count) = 0;
};

/// The approximate instructions of one operand that `target` has, as PTX spells them, sorted.
std::vector<std::string> approximate_functions(const Target& target);

/// What this library gives. Throws std::runtime_error where `opcode` is no scalar instruction of one operand and one result.
std::unique_ptr<UnaryFunction> emulated_function(const std::string& opcode);

/// A kernel `answers(results, first)`, of which each thread i writes the answer to the operand first + i. Throws as emulated_function does.
std::string unary_kernel(const std::string& opcode, const Target& target);

}  // namespace warpmat
