// The driver: tensor maps.

#include <algorithm>
#include <cstring>

#include <warpmat/cuda/driver.h>
#include <warpmat/cuda/tensor_map_arguments.h>

namespace warpmat::cuda {
namespace {

/// Arguments of which the driver takes each by itself. Throws ApiError for others.
TensorMap::Arguments checked_arguments(const Target& target, const TensorMapArguments& a) {
  const bool blackwell = target.number >= 100;  // an H200's driver refuses what came later

  require(a.rank >= 1 && a.rank <= TensorMap::max_dimensions && a.dims != nullptr && a.element_strides != nullptr);
  require(a.strides != nullptr || a.rank == 1);
  require(a.type >= 0 && a.type <= static_cast<int>(blackwell ? TensorMap::Type::u6x16_p32 : TensorMap::Type::tf32_ftz));
  require(a.interleave >= 0 && a.interleave <= 2 && a.swizzle >= 0);
  require(a.swizzle < TensorMap::swizzle_numbers && (blackwell || a.swizzle <= static_cast<int>(Swizzle::bytes_128)));
  require(a.l2_promotion >= 0 && a.l2_promotion <= 3 && a.fill >= 0 && a.fill <= 1);
  return arguments_of(a);
}

/// Writes the map where the program wants it, or says why the driver refuses it.
void write(void* to, const TensorMap::Arguments& map) {
  require(to != nullptr && reinterpret_cast<std::uintptr_t>(to) % TensorMap::alignment == 0);
  if (const auto problem = TensorMap::problem(map)) throw ApiError(cudaErrorInvalidValue, *problem);
  const TensorMap::Encoded encoded = TensorMap(map).encode();
  std::memcpy(to, encoded.data(), encoded.size());
}

}  // namespace

WARPMAT_CUDA_API int cuTensorMapEncodeTiled(void* map, int type, unsigned rank, void* address, const std::uint64_t* dims,
                                            const std::uint64_t* strides, const unsigned* box, const unsigned* element_strides,
                                            int interleave, int swizzle, int l2_promotion, int fill) {
  return driver_code(call("cuTensorMapEncodeTiled", [&](Context& context) {
    TensorMap::Arguments made = checked_arguments(
        *context.settings.target, {type, rank, address, dims, strides, element_strides, interleave, swizzle, l2_promotion, fill});
    require(box != nullptr);
    std::copy_n(box, rank, made.box.begin());
    write(map, made);
  }));
}

WARPMAT_CUDA_API int cuTensorMapEncodeIm2col(void* map, int type, unsigned rank, void* address, const std::uint64_t* dims,
                                             const std::uint64_t* strides, const int* lower_corner, const int* upper_corner,
                                             unsigned channels, unsigned pixels, const unsigned* element_strides, int interleave,
                                             int swizzle, int l2_promotion, int fill) {
  return driver_code(call("cuTensorMapEncodeIm2col", [&](Context& context) {
    TensorMap::Arguments made = checked_arguments(
        *context.settings.target, {type, rank, address, dims, strides, element_strides, interleave, swizzle, l2_promotion, fill});
    require(rank >= 3 && lower_corner != nullptr && upper_corner != nullptr);
    made.mode = TensorMap::Mode::im2col;
    std::copy_n(lower_corner, rank - 2, made.lower_corner.begin());
    std::copy_n(upper_corner, rank - 2, made.upper_corner.begin());
    made.channels = channels;
    made.pixels = pixels;
    write(map, made);
  }));
}

}  // namespace warpmat::cuda
