#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <warpmat/cuda/libraries/products.h>

// The orders of sums that were measured of cuBLAS: python/warpmat/measured has the table, which Python reads, too.

namespace warpmat::cuda {

/// How a product adds up; python/warpmat/summation.py explains the fields.
struct SumOrder {
  std::string instruction;  ///< "fma", or a matrix unit's
  std::int64_t split_k = 1, tile_k = 0, slices = 1;
  bool residue_first = false;
};

/// That of a product whose shape, types and operations were measured on an H200, with dense matrices.
std::optional<SumOrder> measured_order(const ProductShape& shape);

/// Elements of K from the first to before the second.
using KRange = std::pair<std::int64_t, std::int64_t>;
/// The sums that are added up, each of ranges that follow each other. `step`: the tile of an order that names none.
std::vector<std::vector<KRange>> parts_of(const SumOrder& order, std::int64_t k, std::int64_t step);
/// The slices of a part, which are summed apart and added.
std::vector<std::vector<KRange>> slices_of(const SumOrder& order, const std::vector<KRange>& part);

}  // namespace warpmat::cuda
