#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <warpmat/export.h>
#include <warpmat/ptx/types.h>
#include <warpmat/tables/form.h>
#include <warpmat/warp/warp.h>

namespace warpmat {

/// How a scalar instruction runs.
enum class ScalarOperation : std::uint8_t {
  move,     ///< copies 16, 32 or 64 bits
  compute,  ///< one 32-bit function of up to three sources, in every lane
  load,     ///< ld.shared
  store,    ///< st.shared
  barrier,  ///< bar.warp.sync
};

/// What a compute instruction does in one lane; sources that it has not are 0.
using LaneFunction = std::uint32_t (*)(std::uint32_t a, std::uint32_t b, std::uint32_t c);

/// One instruction that is not a matrix instruction: the expansion of a row of the table in scalar.cpp. The subset that self-contained
/// examples need, on all lanes at once.
struct ScalarInstruction {
  std::string opcode;  ///< canonical: "mad.lo.u32"
  ScalarOperation operation;
  const DataType* result;  ///< the type of what is written, loaded or stored
  const DataType* source;  ///< the type of the sources
  int sources;             ///< register operands that are read; a store's vector counts once
  int vector;              ///< 1, or 2 and 4 for .v2 and .v4
  Accepts result_accepts, source_accepts;
  LaneFunction function;  ///< of a compute instruction
  Requirement requirement;
};

[[nodiscard]] WARPMAT_API std::span<const ScalarInstruction> scalar_instructions();

/// The instruction that `opcode` spells, its qualifiers in an order that ptxas takes, or nullptr.
[[nodiscard]] WARPMAT_API const ScalarInstruction* find_scalar_instruction(std::string_view opcode);

/// Whether `mnemonic` ("mad") starts the opcode of any scalar instruction.
[[nodiscard]] WARPMAT_API bool is_scalar_mnemonic(std::string_view mnemonic);

/// Why `opcode`, whose mnemonic is a scalar one, is unknown, and what is nearest.
[[nodiscard]] WARPMAT_API std::string explain_unknown_scalar(std::string_view opcode);

}  // namespace warpmat
