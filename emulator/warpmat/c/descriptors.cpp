#include <warpmat/c.h>

#include <exception>
#include <stdexcept>
#include <type_traits>

#include <warpmat/c/entry.h>
#include <warpmat/layout.h>

using namespace warpmat;
using namespace warpmat::c;

namespace {

int bytes_of(Swizzle swizzle) {
  return swizzle == Swizzle::none ? 0 : 16 << static_cast<int>(swizzle);
}

/// The descriptor of the caller's fields. Throws std::invalid_argument where one cannot hold its value.
MatrixDescriptor descriptor_of(const warpmat_matrix_descriptor& given) {
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::bytes_32, Swizzle::bytes_64, Swizzle::bytes_128})
    if (bytes_of(swizzle) == given.swizzle) return MatrixDescriptor({given.start, given.leading, given.stride, given.base_offset, swizzle});
  throw std::invalid_argument("a swizzle has 0, 32, 64 or 128 bytes");
}

}  // namespace

warpmat_status warpmat_descriptor_decode(uint64_t bits, warpmat_matrix_descriptor* descriptor) {
  if (descriptor == nullptr || !WARPMAT_HAS_SIZE(descriptor, swizzle)) return WARPMAT_BAD_ARGUMENT;
  const MatrixDescriptor d = MatrixDescriptor::decode(bits);
  copy_out(warpmat_matrix_descriptor{descriptor->size, d.start(), d.leading(), d.stride(), d.base_offset(), bytes_of(d.swizzle())},
           descriptor);
  return WARPMAT_OK;
}

warpmat_status warpmat_descriptor_encode(const warpmat_matrix_descriptor* descriptor, uint64_t* bits, warpmat_error* error) {
  try {
    if (descriptor == nullptr || bits == nullptr) return report(error, WARPMAT_BAD_ARGUMENT, "the descriptor or bits is null");
    if (!WARPMAT_HAS_SIZE(descriptor, swizzle))
      return report(error, WARPMAT_BAD_ARGUMENT, "descriptor->size is not that of a warpmat_matrix_descriptor");
    *bits = descriptor_of(*descriptor).encode();
    return WARPMAT_OK;
  } catch (const std::invalid_argument& wrong) {
    return report(error, WARPMAT_BAD_ARGUMENT, wrong.what());
  } catch (...) {
    return report_exception(error);
  }
}

uint32_t warpmat_descriptor_address(const warpmat_matrix_descriptor* descriptor, int mn_major, uint32_t line, uint32_t byte) {
  if (descriptor == nullptr || !WARPMAT_HAS_SIZE(descriptor, swizzle)) return 0;
  try {
    return descriptor_of(*descriptor).address(mn_major != 0 ? Major::mn : Major::k, line, byte);
  } catch (const std::exception&) {
    return 0;
  }
}
