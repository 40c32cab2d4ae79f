#pragma once

#include <string>
#include <string_view>

#include <warpmat/execute/arguments.h>
#include <warpmat/numeric/dot.h>

namespace warpmat {

struct Lowering;

/// What a form does on some hardware: reads `arguments`, then writes them. Throws Trap before it writes anything.
using Execute = void (*)(const Form& form, const Lowering& lowering, const Arguments& arguments);

/// What a form becomes on a hardware: a row of the lowering table (lowering.cpp). PTX names a form, the hardware executes machine
/// instructions, and those decide the bits.
struct Lowering {
  std::string_view machine;  ///< the machine instructions, see machine_name()
  Execute execute;
  const DotModel* model;     ///< the arithmetic of floating-point products; nullptr elsewhere
  Evidence evidence;         ///< how the result's bits are known
  std::string_view source;   ///< who says so
};

/// The lowering of `form` on `hardware`, or nullptr where no target of that hardware has the form.
const Lowering* find_lowering(const Form& form, Hardware hardware);

/// Whether PTX may write _ in place of a result of `form` where it has this lowering. ptxas 13.0 refuses it ("Result discard mode is not
/// allowed") where the result leaves several machine instructions by an addition or a move: fp8 in two halves, f64 in blocks of 8 rows.
bool may_discard(const Form& form, const Lowering& lowering);

/// The lowering table's rows, for the test that every row serves some form.
std::span<const Lowering* const> lowerings();

}  // namespace warpmat
