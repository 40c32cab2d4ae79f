#include "tensor_core.h"

#include <stdexcept>

#include "tools/report/launch_description.h"

namespace warpmat {
namespace {

constexpr int rows = 128, columns = 256, line_bytes = 128;  // 32 bytes of each line are read
constexpr std::uint32_t instruction = 1u << 4 | columns / 8 << 17 | rows / 16 << 24;

TensorDescriptor matrix_from(std::uint32_t start) {
  return {.matrix = MatrixDescriptor({.start = start, .stride = 8 * line_bytes, .swizzle = Swizzle::bytes_128})};
}

}  // namespace

TensorCoreProduct::TensorCoreProduct()
    : bytes_(initial_contents(parse_buffer("operands=random:f16:24576:1"))), a_(matrix_from(0)), b_(matrix_from(rows * line_bytes)) {
  const DecodedTensorProduct decoded = decode_tensor_product(*find_tensor_kind("kind::f16"), {}, instruction);
  if (decoded.problem) throw std::logic_error(*decoded.problem);
  product_ = decoded.product;
}

void TensorCoreProduct::run() {
  const SharedMemory shared = SharedMemory::borrowing(bytes_);
  const ProductOperands operands{.a = read_a(product_, a_, shared),
                                 .b = read_b(product_, b_, shared),
                                 .metadata = {},
                                 .scales_a = {},
                                 .scales_b = {},
                                 .accumulates = true};
  multiply(product_, operands, memory_, {}, {});
}

}  // namespace warpmat
