#pragma once

#include <cstdint>
#include <string_view>

#include <warpmat/layout/tensor_memory.h>
#include <warpmat/ptx/catalogue/names.h>
#include <warpmat/tables/tcgen05.h>
#include <warpmat/tables/types.h>

namespace warpmat::catalogue {

/// What a qualifier is in the tables that have its name. The catalogue finds it once for each qualifier of its rows.
struct QualifierMeaning {
  const DataType* type = nullptr;
  Qualifier qualifier{};
  const TensorKind* kind = nullptr;         ///< of tcgen05.mma
  const TransferShape* transfer = nullptr;  ///< of tcgen05.ld and .st
  std::uint8_t copies = 0;                  ///< of tcgen05.cp: a bit for each of copy_shapes() in whose name the qualifier is
  int repeats = 0;                          ///< 4 of .x4
};

/// Of a qualifier with its dot.
QualifierMeaning meaning_of(std::string_view qualifier);

}  // namespace warpmat::catalogue
