#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/export.h>
#include <warpmat/ptx/types.h>
#include <warpmat/tables/form.h>

namespace warpmat {

/// How a scalar instruction of a list of statements runs.
enum class ScalarOperation : std::uint8_t {
  compute,  ///< on registers alone, of its own lane or of others
  load,     ///< ld.shared
  store,    ///< st.shared
  barrier,  ///< bar.warp.sync
};

/// An operand of a scalar instruction: what it takes there.
struct ScalarArgument {
  const DataType* type = nullptr;  ///< of its registers and numbers; nullptr for an address
  Accepts accepts{};
  bool written = false;
  bool may_be_wider = false;  ///< whether registers may be wider than the type
  int count = 1;              ///< registers; more than one stand in braces
  bool paired = false;        ///< behind the operand before it, with | between them
  bool optional = false;      ///< a paired one that may be left out
};

/// One instruction that is not a matrix instruction, as a list of statements takes it: a spelling of a row of the catalogue
/// (ptx/catalogue/row.h) that needs no memory other than shared memory, nor anything of a kernel.
struct ScalarInstruction {
  std::string opcode;  ///< its qualifiers in the order of the row: "mad.lo.u32"
  ScalarOperation operation = ScalarOperation::compute;
  std::vector<ScalarArgument> operands;  ///< in the order of the text; a result is the first one
  Requirement requirement;

  /// What a load or store brings to or from memory.
  const ScalarArgument& data() const { return operands[operation == ScalarOperation::load ? 0 : 1]; }
  /// Bytes that a load or store accesses in each lane.
  int access_bytes() const { return data().type->bits / 8 * data().count; }

  friend bool operator==(const ScalarInstruction& a, const ScalarInstruction& b) { return a.opcode == b.opcode; }
};

/// The instruction that `opcode` spells, its qualifiers in an order that ptxas takes.
[[nodiscard]] WARPMAT_API std::optional<ScalarInstruction> find_scalar_instruction(std::string_view opcode);

/// Why find_scalar_instruction finds nothing, and what would be right.
[[nodiscard]] WARPMAT_API std::string explain_unknown_scalar(std::string_view opcode);

}  // namespace warpmat
