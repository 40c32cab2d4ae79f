#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <warpmat/export.h>
#include <warpmat/tables/form.h>

namespace warpmat {

/// A fundamental type of PTX: of a register, of a shared variable's elements, or of a scalar instruction (PTX ISA 9.1 section 5.2).
struct DataType {
  enum class Class : std::uint8_t { bits, integer, floating, packed_f16, predicate };

  std::string_view name;  ///< "u32"
  int bits;
  Class type_class;
  bool is_signed;
  bool is_register;  ///< .reg accepts it; the 8-bit types are only for memory, predicates only for registers
};

[[nodiscard]] WARPMAT_API std::span<const DataType> data_types();

/// The type `name`, without the dot, or nullptr.
[[nodiscard]] WARPMAT_API const DataType* find_data_type(std::string_view name);

/// The register types that an instruction accepts for an operand. Untyped registers (.b) are always accepted. The rules are those of ptxas
/// 13.0; each was tried.
struct Accepts {
  bool integer, floating, packed_f16, predicate = false;
};

WARPMAT_LOCAL inline constexpr Accepts accepts_all{true, true, true};
WARPMAT_LOCAL inline constexpr Accepts accepts_integers{true, false, false};
WARPMAT_LOCAL inline constexpr Accepts accepts_integers_and_packed{true, false, true};
WARPMAT_LOCAL inline constexpr Accepts accepts_floating{false, true, false};
WARPMAT_LOCAL inline constexpr Accepts accepts_packed{false, false, true};
WARPMAT_LOCAL inline constexpr Accepts accepts_untyped{false, false, false};
WARPMAT_LOCAL inline constexpr Accepts accepts_predicates{false, false, false, true};

[[nodiscard]] WARPMAT_API bool accepts(const Accepts& accepted, const DataType& register_type);

/// The registers that ptxas accepts for an instruction of scalar type `type`.
[[nodiscard]] WARPMAT_API Accepts accepted_by(const DataType& type);

/// The registers that ptxas accepts for `operand`, one of `form`'s.
[[nodiscard]] WARPMAT_API Accepts accepted_by(const Form& form, const Operand& operand);

}  // namespace warpmat
