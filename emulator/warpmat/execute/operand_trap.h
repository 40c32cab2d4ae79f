#pragma once

#include <optional>
#include <string>

#include <warpmat/export.h>
#include <warpmat/tables/form.h>
#include <warpmat/warp/warp.h>

namespace warpmat {

/// An instruction's Trap with its kind and the operand at fault.
class WARPMAT_API OperandTrap : public Trap {
 public:
  enum class Kind : std::uint8_t {
    undefined,     ///< the ISA does not define the operand's contents: metadata, a selector, ids, padding
    misaligned,    ///< an address is no multiple of a row's bytes
    out_of_range,  ///< a row leaves the memory
    refused,       ///< a callback of RowMemory refused a row
  };

  OperandTrap(Kind kind_, OperandName operand_, int lane_, std::optional<std::uint64_t> address_, const std::string& reason_,
              const std::string& where = {})
      : Trap(lane_, address_, reason_, where), kind(kind_), operand(operand_) {}

  Kind kind;
  OperandName operand;
};

/// The trap for a wrong row address.
inline OperandTrap address_trap(const Trap& trap) {
  const bool aligned = trap.address.value_or(0) % Form::row_bytes == 0;
  return {aligned ? OperandTrap::Kind::out_of_range : OperandTrap::Kind::misaligned, OperandName::p, trap.lane, trap.address, trap.reason};
}

}  // namespace warpmat
