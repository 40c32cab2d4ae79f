// One product on a host, of ones: 16 products of 1, and C.

#include <warpmat/device/mma.h>

#include <algorithm>
#include <cstdio>
#include <vector>

using namespace warpmat::device;

int main() {
  std::vector<u32> a(4 * 32, 0x3c003c00), b(2 * 32, 0x3c003c00), c(4 * 32, 0x3f800000), d(4 * 32);
  mma_on_host<Opcode::mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32, Hardware::sm_80>(d.data(), {a.data(), b.data(), c.data()});
  const bool right = std::all_of(d.begin(), d.end(), [](u32 bits) { return bits == 0x41880000; });  // 17
  std::puts(right ? "17" : "wrong");
  return right ? 0 : 1;
}
