#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <warpmat/forms.h>

namespace warpmat {

// An instruction of one operand as a function from 32-bit words to 32-bit words, so that all of its operands can be tried:
//
//   type                operand of the word w                  answer
//   32 bits             w                                      the result
//   16 bits             the lower half of w                    the result, the upper half zero
//   64 bits             w is the upper word, the lower is 0    the result's upper word exclusive-or its lower one

class UnaryFunction {
 public:
  virtual ~UnaryFunction() = default;

  /// The answers to the operands `first`, first + 1, ...; `count` is a multiple of 256. Valid until the next call.
  virtual std::span<const std::uint32_t> answers(std::uint32_t first, std::size_t count) = 0;
};

/// The approximate instructions of one operand that `target` has, in PTX's spelling, sorted.
std::vector<std::string> approximate_functions(const Target& target);

/// This library's answers. Throws std::runtime_error if `opcode` is not a scalar instruction of one operand and one result.
std::unique_ptr<UnaryFunction> emulated_function(const std::string& opcode);

/// A kernel `answers(results, first)`: thread i writes the answer to the operand first + i. Throws what emulated_function throws.
std::string unary_kernel(const std::string& opcode, const Target& target);

}  // namespace warpmat
