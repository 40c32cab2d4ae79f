#pragma once

#include <span>
#include <string>
#include <string_view>

#include <warpmat/export.h>
#include <warpmat/numeric/dot.h>
#include <warpmat/tables/form.h>

namespace warpmat {

/// The computation of a lowering's machine instructions. execute/reference has one function for each.
enum class Semantics : std::uint8_t {
  ldmatrix,
  stmatrix,
  movmatrix,
  wmma_load,
  wmma_store,
  dot,          ///< one matrix unit: steps of the model, K ascending
  split_dot,    ///< two matrix units and an addition: fp8 on hardware without a unit for it
  grouped_dot,  ///< one matrix unit for groups of 4-bit products with scale factors
  f64_chain,    ///< a chain of fused multiply-adds
  m8n8k4_dot,   ///< m8n8k4 of f16 in a matrix unit: four products, one step each
  m8n8k4_fma,   ///< m8n8k4 of f16 on the ordinary f32 cores
  integer_dot,
  bit_dot,
};

/// The effect of a metadata code that the ISA leaves undefined.
enum class UndefinedMetadata : std::uint8_t {
  unknown,     ///< not measured
  as_written,  ///< both places count whatever their order, even if equal; not measured for tf32
};

/// The lowering of a form on a hardware: a row of the lowering table (lowering.cpp). PTX names a form; the hardware executes machine
/// instructions, and those decide the bits.
struct Lowering {
  /// Differences from the common case.
  struct Exceptions {
    bool discardable = true;  ///< PTX may write _ in place of a result; ptxas 13.0 refuses it ("Result discard mode is not allowed")
                              ///< if the result of several machine instructions comes from an addition or a move
    bool subroutine = false;  ///< the assembler calls a subroutine for the statement
    bool checks_all_addresses = false;  ///< ldmatrix: the addresses of all lanes must be valid, also those that no row needs
    UndefinedMetadata undefined_metadata = UndefinedMetadata::unknown;
    bool one_instruction = true;  ///< a product is one machine instruction of the form's own types and shape, which SASS names (sass_name)
  };

  std::string_view machine;  ///< the machine instructions, see machine_name()
  Semantics semantics;
  const DotModel* model;    ///< the arithmetic of floating-point products; nullptr elsewhere
  Evidence evidence;        ///< how the result's bits are known: a label, never a switch
  std::string_view source;  ///< the source of the evidence
  Exceptions exceptions = {};
};

/// The lowering of `form` on `hardware`, or nullptr if no target of that hardware has the form.
[[nodiscard]] WARPMAT_API const Lowering* find_lowering(const Form& form, Hardware hardware);

/// The lowering table's rows. A test checks that each row serves some form.
[[nodiscard]] WARPMAT_API std::span<const Lowering* const> lowerings();

/// The machine instructions of `form` on the hardware of `lowering`: "HMMA.16816", "2 IMMA.16832", "LDSM".
[[nodiscard]] WARPMAT_API std::string machine_name(const Form& form, const Lowering& lowering);

}  // namespace warpmat
