#pragma once

#include <string>
#include <vector>

#include <warpmat/tables/form.h>

namespace warpmat {

/// A layout beside the one that a form has: two index bits of an operand's places (layout/fragment.h) have changed their meaning, such as
/// that of "lane 0" and "register 1". Index bits are counted from the lowest on: element inside the register, lane, register.
struct Exchange {
  OperandName operand;
  int first, second;
};

/// All exchanges that put some element of A, B, C, D or of the matrix that is moved elsewhere.
std::vector<Exchange> exchanges_of(const Form& form);

/// "layout of a: lane 0 and register 1".
std::string text(const Form& form, const Exchange& exchange);

/// The form with that layout.
Form exchanged(const Form& form, const Exchange& exchange);

}  // namespace warpmat
