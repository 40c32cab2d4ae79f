#pragma once

#include <algorithm>
#include <cstdint>

#include <warpmat/launch.h>

namespace warpmat::cuda {

/// The arguments that both kinds of cuTensorMapEncode have.
struct TensorMapArguments {
  int type;
  unsigned rank;
  void* address;
  const std::uint64_t *dims, *strides;
  const unsigned* element_strides;
  int interleave, swizzle, l2_promotion, fill;
};

/// The same in C++, without what each kind adds. Precondition: the driver takes them.
inline TensorMap::Arguments arguments_of(const TensorMapArguments& a) {
  TensorMap::Arguments map;
  map.type = static_cast<TensorMap::Type>(a.type);
  map.rank = a.rank;
  map.address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(a.address));
  std::copy_n(a.dims, a.rank, map.dims.begin());
  if (a.rank > 1) std::copy_n(a.strides, a.rank - 1, map.strides.begin());
  std::copy_n(a.element_strides, a.rank, map.element_strides.begin());
  map.interleave = static_cast<TensorMap::Interleave>(a.interleave);
  map.set_swizzle(a.swizzle);
  map.l2_promotion = static_cast<TensorMap::L2Promotion>(a.l2_promotion);
  map.fill = static_cast<TensorMap::Fill>(a.fill);
  return map;
}

}  // namespace warpmat::cuda
