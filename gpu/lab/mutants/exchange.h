#pragma once

#include <string>
#include <vector>

#include <warpmat/forms.h>

namespace warpmat {

/// A variation of a form's layout: two index bits of an operand's places (layout.h) have exchanged their meanings, such as "lane
/// 0" and "register 1". Index bits are numbered from the lowest: element inside the register, lane, register.
struct Exchange {
  OperandName operand;
  int first, second;
};

/// All exchanges that move some element of A, B, C, D or of the matrix of a move.
std::vector<Exchange> exchanges_of(const Form& form);

/// "layout of a: lane 0 and register 1".
std::string text(const Form& form, const Exchange& exchange);

/// The form with that layout.
Form exchanged(const Form& form, const Exchange& exchange);

}  // namespace warpmat
