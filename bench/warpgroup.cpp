#include "warpgroup.h"

#include <warpmat/execute/operands/batch.h>
#include <warpmat/execute/wgmma_products.h>

#include <algorithm>
#include <array>

#include "tools/report/launch_description.h"

namespace warpmat {
namespace {

constexpr const char* target_name = "sm_90a";
constexpr std::uint32_t a_start = 0, b_start = 64 * 128;  // lines of 128 bytes: 64 of A, 256 of B; 32 bytes of each are read
const MatrixDescriptor a_matrix({.start = a_start, .stride = 1024, .swizzle = Swizzle::bytes_128});
const MatrixDescriptor b_matrix({.start = b_start, .stride = 1024, .swizzle = Swizzle::bytes_128});
constexpr std::size_t d_words = std::size_t{4} * warp_size;  // of a tile

}  // namespace

WarpgroupProduct::WarpgroupProduct()
    : wgmma_(*find_wgmma("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16"), target(target_name), newest_ptx, {}),
      mma_("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", target_name),
      memory_(initial_contents(parse_buffer("operands=random:f16:20480:1"))),
      a_(a_words(wgmma_.form())),
      b_(b_words(wgmma_.form())),
      d_(products * d_words),
      of_mma_a_(products * a_words(wgmma_.form())),
      of_mma_b_(products * b_words(wgmma_.form()) / tiles),
      sums_(products * d_words) {
  const SharedMemory memory = SharedMemory::borrowing(memory_);
  read_b(wgmma_, memory, b_matrix.encode(), b_.data());
  for (std::size_t i = 0; i < products; ++i) {
    read_a(wgmma_, memory, a_matrix.encode(), static_cast<int>(i / tiles), of_mma_a_.data() + i * a_.size());
    const std::size_t words = b_.size() / tiles;
    std::copy_n(b_.data() + i % tiles * words, words, of_mma_b_.data() + i * words);
  }
}

void WarpgroupProduct::run() {
  const SharedMemory memory = SharedMemory::borrowing(memory_);
  read_b(wgmma_, memory, b_matrix.encode(), b_.data());
  std::array<std::uint32_t*, tiles * 4> d;
  for (std::size_t warp = 0; warp < warps; ++warp) {
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = d_.data() + (warp * d.size() + i) * warp_size;
    read_a(wgmma_, memory, a_matrix.encode(), static_cast<int>(warp), a_.data());
    multiply(wgmma_, {d.data(), d.size()}, a_.data(), b_.data(), nullptr, true);
  }
}

void WarpgroupProduct::run_products() {
  Batch batch;
  batch.destination = {sums_.data(), d_words};
  batch.source(OperandName::a) = {of_mma_a_.data(), a_.size()};
  batch.source(OperandName::b) = {of_mma_b_.data(), b_.size() / tiles};
  batch.source(OperandName::c) = {sums_.data(), d_words};
  execute(mma_, batch, products);
}

}  // namespace warpmat
