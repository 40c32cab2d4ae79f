// Sizes that a compute capability fixes: CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability". The others
// are those of the product's data sheet; no result depends on them unless a program makes it so.

#include <warpmat/cuda/device.h>

#include <algorithm>
#include <iterator>

namespace warpmat::inline v0_1::cuda {
namespace {

constexpr std::uint64_t kib = 1024, gib = kib * kib * kib;

constexpr Device devices[] = {
    // number, name, processors, memory, shared memory of a processor and of a block, threads and blocks of a processor, L2, bus, clocks
    {70, "Tesla V100-SXM2-32GB", 80, 32 * gib, 96 * kib, 96 * kib, 2048, 32, 6 << 20, 4096, 1530000, 877000},
    {75, "Tesla T4", 40, 16 * gib, 64 * kib, 64 * kib, 1024, 16, 4 << 20, 256, 1590000, 5001000},
    {80, "NVIDIA A100-SXM4-80GB", 108, 80 * gib, 164 * kib, 163 * kib, 2048, 32, 40 << 20, 5120, 1410000, 1593000},
    {86, "NVIDIA GeForce RTX 3090", 82, 24 * gib, 100 * kib, 99 * kib, 1536, 16, 6 << 20, 384, 1695000, 9751000},
    {87, "Orin", 16, 64 * gib, 164 * kib, 163 * kib, 1536, 16, 4 << 20, 256, 1300000, 1300000},
    {89, "NVIDIA GeForce RTX 4090", 128, 24 * gib, 100 * kib, 99 * kib, 1536, 24, 72 << 20, 384, 2520000, 10501000},
    {90, "NVIDIA H200", 132, 141 * gib, 228 * kib, 227 * kib, 2048, 32, 50 << 20, 6144, 1980000, 3201000},
    {100, "NVIDIA B200", 148, 180 * gib, 228 * kib, 227 * kib, 2048, 32, 126 << 20, 8192, 1965000, 3996000},
    {120, "NVIDIA GeForce RTX 5090", 170, 32 * gib, 100 * kib, 99 * kib, 1536, 24, 96 << 20, 512, 2407000, 14001000},
};

}  // namespace

Device device_of(const Target& target, int processors) {
  const auto after = std::ranges::upper_bound(devices, target.number, {}, &Device::number);
  Device device = *std::prev(after);
  device.number = target.number;
  if (processors != 0) device.processors = processors;
  return device;
}

}  // namespace warpmat::inline v0_1::cuda
