#pragma once

#include <random>
#include <string>

#include <warpmat/program.h>

namespace warpmat {

/// The text of a random program without an error, for target sm_90a and PTX 9.0: statements drawn from forms() and scalar_instructions(),
/// with every kind of operand that they take, in random order of qualifiers and random white space. With `declared` the registers are
/// declared and of all types; without, they are not declared.
std::string random_program(std::mt19937& random, int statements, bool declared);

/// `opcode` with its qualifiers in another order that ptxas takes: types keep their order among themselves, and .row and .col theirs.
std::string shuffled_opcode(std::mt19937& random, const std::string& opcode);

}  // namespace warpmat
