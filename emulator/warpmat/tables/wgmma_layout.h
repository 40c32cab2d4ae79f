#pragma once

#include <warpmat/export.h>
#include <warpmat/layout/linear_layout.h>
#include <warpmat/tables/wgmma.h>

namespace warpmat {

/// Which registers hold a matrix of wgmma: from row and column (and of metadata the selector, as `matrix`) to bit, lane, register and warp.
/// `operand` is d, a (the registers, where A is no descriptor) or e. The places are those of the tile's fragment; rows beyond its 16 choose
/// the warp, columns of D beyond its 8 further registers. The widths n are no powers of two: a tile is repeated.
[[nodiscard]] WARPMAT_API TiledLayout register_layout(const WgmmaForm& form, OperandName operand);

}  // namespace warpmat
