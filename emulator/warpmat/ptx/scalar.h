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

/// The kind of a scalar instruction in a list of statements.
enum class ScalarOperation : std::uint8_t {
  compute,  ///< only registers, of its own lane or of others
  load,     ///< ld.shared
  store,    ///< st.shared
  barrier,  ///< bar.warp.sync
};

/// The requirements on an operand of a scalar instruction.
struct ScalarArgument {
  const DataType* type = nullptr;  ///< of its registers and numbers; nullptr for an address
  Accepts accepts{};
  bool written = false;
  bool may_be_wider = false;  ///< whether registers may be wider than the type
  int count = 1;              ///< registers; more than one are in braces
  bool paired = false;        ///< follows the preceding operand after |
  bool optional = false;      ///< a paired one that may be omitted
};

/// One scalar instruction that a list of statements supports: a spelling of a row of the catalogue (ptx/catalogue/row.h) that uses no
/// memory except shared memory, and no kernel features.
struct ScalarInstruction {
  std::string opcode;  ///< its qualifiers in the order of the row: "mad.lo.u32"
  ScalarOperation operation = ScalarOperation::compute;
  std::vector<ScalarArgument> operands;  ///< in the order of the text; a result comes first
  Requirement requirement;

  /// The data operand of a load or store.
  const ScalarArgument& data() const { return operands[operation == ScalarOperation::load ? 0 : 1]; }
  /// Bytes that a load or store accesses in each lane.
  int access_bytes() const { return data().type->bits / 8 * data().count; }

  friend bool operator==(const ScalarInstruction& a, const ScalarInstruction& b) { return a.opcode == b.opcode; }
};

/// The instruction that `opcode` spells, with qualifiers in any order that ptxas accepts.
[[nodiscard]] WARPMAT_API std::optional<ScalarInstruction> find_scalar_instruction(std::string_view opcode);

/// Why find_scalar_instruction finds nothing, and what would be right. Precondition: it finds nothing.
[[nodiscard]] WARPMAT_API std::string explain_unknown_scalar(std::string_view opcode);

}  // namespace warpmat
