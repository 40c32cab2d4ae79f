#pragma once

#include <warpmat/forms.h>
#include <warpmat/wgmma.h>

#include <string>
#include <vector>

namespace warpmat {

/// The elements in register `reg` of `lane`, from its low bits to its high bits.
std::vector<Element> held(const Fragment& f, int lane, int reg);

/// Whether an element fills its register.
bool fills_register(const Fragment& f);

/// The elements of the row whose address is in `lane`. Precondition: the form reads or writes rows in memory.
std::vector<Element> addressed(const Form& form, int lane);

/// "bytes 4 to 5", or "bits 6 to 11" if an element is not a whole number of bytes.
std::string bits_of_row(const Form& form, int column);

/// Who holds each element of a matrix, and what each lane holds: the text of `warpmat layout`. Precondition: the operand has a layout.
std::string layout_text(const Form& form, const Operand& operand);

/// The same of operand d, a or e in the registers of a warpgroup.
std::string layout_text(const WgmmaForm& form, OperandName operand);

}  // namespace warpmat
