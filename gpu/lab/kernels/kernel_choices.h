#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include <warpmat/forms.h>

#include "gpu/runners/scalar_case.h"

namespace warpmat {

// The building blocks of random kernels (kernel_program.h): registers, and the statements that may be drawn.

/// Registers of one width whose initial values are numbers of one kind. Few registers make statements use each other's results.
struct Pool {
  const char* prefix;
  int bits;
  ValueKind kind;
  std::size_t size;
};

inline constexpr std::array<Pool, 10> pools{{{"%p", 1, ValueKind::predicate, 5},
                                             {"%b", 8, ValueKind::i8, 3},
                                             {"%h", 16, ValueKind::i16, 4},
                                             {"%e", 16, ValueKind::f16, 5},
                                             {"%g", 16, ValueKind::bf16, 3},
                                             {"%r", 32, ValueKind::i32, 10},
                                             {"%f", 32, ValueKind::f32, 8},
                                             {"%x", 32, ValueKind::f16, 6},
                                             {"%l", 64, ValueKind::i64, 6},
                                             {"%d", 64, ValueKind::f64, 8}}};

/// Registers of all pools.
std::size_t slots();

/// The pool whose registers begin with %letter.
const Pool& pool_named(char letter);

/// All choices for kernels of a target.
struct Choices {
  std::map<std::string, std::vector<ScalarCase>> scalar;  ///< by mnemonic, so that those with few spellings are drawn as often as others
  std::vector<std::string> mnemonics;
  std::vector<const Form*> forms;

  explicit Choices(const Target& target);

  static std::string mnemonic(const ScalarCase& shown);

  /// After a set to 16-bit floating point, ptxas 13.0 wrongly assumes that the upper half of the register is zero. NaNs with different
  /// payloads do not go to f64: which of two remains depends on ptxas's order of a sum's operands.
  static bool is_left_out(const ScalarCase& shown);

  /// ptxas 13.0 executes a part of set, testp and video instructions under a guard also in lanes whose guard is false.
  static bool may_be_guarded(const ScalarCase& shown);

  /// Dense mma without scale factors, and ldmatrix and stmatrix of rows of 16 bytes.
  static bool is_drawn(const Form& form, const Target& target);
};

/// The choices of `target`, made once.
const Choices& choices(const Target& target);

}  // namespace warpmat
