// Sizes that a compute capability fixes: CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability". The others
// are those of the product's data sheet, of the H200 what one answered (CUDA 13.0); no result depends on them unless a
// program makes it so.

#include <warpmat/cuda/device.h>

#include <algorithm>
#include <iterator>

namespace warpmat::cuda {
namespace {

constexpr std::uint64_t kib = 1024, gib = kib * kib * kib;
constexpr int mib = 1 << 20;

constexpr Device devices[] = {
    // number, name, processors, memory, shared memory of a processor and of a block, threads and blocks of a processor, L2, bus, clocks,
    // part of the L2 to set aside: none before sm_80, 30 MB of an A100 (published), an H200's answer, three quarters of the others'
    // (assumed)
    {70, "Tesla V100-SXM2-32GB", 80, 32 * gib, 96 * kib, 96 * kib, 2048, 32, 6 * mib, 4096, 1530000, 877000, 0},
    {75, "Tesla T4", 40, 16 * gib, 64 * kib, 64 * kib, 1024, 16, 4 * mib, 256, 1590000, 5001000, 0},
    {80, "NVIDIA A100-SXM4-80GB", 108, 80 * gib, 164 * kib, 163 * kib, 2048, 32, 40 * mib, 5120, 1410000, 1593000, 30 * mib},
    {86, "NVIDIA GeForce RTX 3090", 82, 24 * gib, 100 * kib, 99 * kib, 1536, 16, 6 * mib, 384, 1695000, 9751000, 6 * mib / 4 * 3},
    {87, "Orin", 16, 64 * gib, 164 * kib, 163 * kib, 1536, 16, 4 * mib, 256, 1300000, 1300000, 3 * mib},
    {89, "NVIDIA GeForce RTX 4090", 128, 24 * gib, 100 * kib, 99 * kib, 1536, 24, 72 * mib, 384, 2520000, 10501000, 54 * mib},
    {90, "NVIDIA H200", 132, 150109880320, 228 * kib, 227 * kib, 2048, 32, 60 * mib, 6016, 1980000, 3201000, 39321600},
    {100, "NVIDIA B200", 148, 180 * gib, 228 * kib, 227 * kib, 2048, 32, 126 * mib, 8192, 1965000, 3996000, 126 * mib / 4 * 3},
    {120, "NVIDIA GeForce RTX 5090", 170, 32 * gib, 100 * kib, 99 * kib, 1536, 24, 96 * mib, 512, 2407000, 14001000, 72 * mib},
};

}  // namespace

Device device_of(const Target& target, int processors) {
  const auto after = std::ranges::upper_bound(devices, target.number, {}, &Device::number);
  Device device = *std::prev(after);
  device.number = target.number;
  if (processors != 0) device.processors = processors;
  return device;
}

}  // namespace warpmat::cuda
