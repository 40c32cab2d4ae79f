#include "gpu/cases/wgmma_tiles.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <warpmat/execute/wgmma_products.h>
#include <warpmat/wgmma.h>

#include "gpu/cases/wgmma_cases.h"

namespace warpmat {
namespace {

/// The registers of one warp, from a buffer with `each` registers for 128 threads per case.
std::vector<std::uint32_t> of_warp(const KernelBuffer& buffer, std::size_t number, std::size_t registers, std::size_t each, int warp) {
  std::vector<std::uint32_t> words(registers * warp_size);
  for (std::size_t i = 0; i < registers; ++i) {
    const std::size_t first = (number * each + i) * warpgroup_threads + static_cast<std::size_t>(warp * warp_size);
    std::memcpy(words.data() + i * warp_size, buffer.bytes.data() + first * sizeof(std::uint32_t), warp_size * sizeof(std::uint32_t));
  }
  return words;
}

std::vector<std::uint32_t> registers(const std::vector<std::uint32_t>& words, std::size_t first, std::size_t count) {
  const auto begin = words.begin() + static_cast<std::ptrdiff_t>(first * warp_size);
  return {begin, begin + static_cast<std::ptrdiff_t>(count * warp_size)};
}

void negate(std::vector<std::uint32_t>& words, int bits) {
  std::uint32_t signs = 0;
  for (int at = bits - 1; at < 32; at += bits) signs |= std::uint32_t{1} << at;
  for (std::uint32_t& word : words) word ^= signs;
}

/// The tiles of one warp of case `number` of a launch.
class Warps {
 public:
  Warps(const WgmmaForm& form, const WgmmaVariant& variant, const KernelLaunch& launch)
      : form_(form), variant_(variant), launch_(launch), wgmma_(form, target("sm_90a"), newest_ptx, variant.immediates) {}

  void add_case(std::size_t number, std::vector<WgmmaTile>& tiles) const {
    enum : std::size_t { d_buffer, a_buffer, e_buffer, memory_buffer, descriptor_buffer };
    const std::size_t cases = launch_.config.grid.x;
    const auto &memory = launch_.buffers[memory_buffer].bytes, &descriptors = launch_.buffers[descriptor_buffer].bytes;
    const std::size_t memory_bytes = memory.size() / cases, descriptor_bytes = descriptors.size() / cases;
    std::array<std::uint64_t, 3> words{};  // descriptors of A and B, scale-d
    std::memcpy(words.data(), descriptors.data() + number * descriptor_bytes, sizeof words);
    const auto begin = memory.begin() + static_cast<std::ptrdiff_t>(number * memory_bytes);
    const SharedMemory shared({begin, begin + static_cast<std::ptrdiff_t>(memory_bytes)}, 0);
    std::vector<std::uint32_t> b(b_words(wgmma_.form()));
    read_b(wgmma_, shared, words[1], b.data());
    const auto d_registers = static_cast<std::size_t>(form_.d_registers()), used_a = static_cast<std::size_t>(form_.a_registers());
    const std::size_t stored_a = launch_.buffers[a_buffer].bytes.size() / (cases * warpgroup_threads * sizeof(std::uint32_t));
    for (int warp = 0; warp < WgmmaForm::warps; ++warp) {
      std::vector<std::uint32_t> a = of_warp(launch_.buffers[a_buffer], number, used_a, stored_a, warp);
      if (!variant_.a_in_registers) read_a(wgmma_, shared, words[0], warp, a.data());
      if (variant_.immediates.negates_a != variant_.immediates.negates_b) negate(a, row(form_.tile->format(OperandName::a)).bits);
      std::vector<std::uint32_t> c = of_warp(launch_.buffers[d_buffer], number, d_registers, d_registers, warp);
      if (words[2] == 0) std::ranges::fill(c, 0u);
      Register e;
      std::ranges::copy(of_warp(launch_.buffers[e_buffer], number, 1, 1, warp), e.begin());
      const auto count = static_cast<std::size_t>(form_.tiles()), of_b = static_cast<std::size_t>(form_.tile_b_registers());
      for (std::size_t tile = 0; tile < count; ++tile)
        tiles.emplace_back(*form_.tile, a, registers(b, tile * of_b, of_b), registers(c, tile * d_registers / count, d_registers / count),
                           e, variant_.immediates.selector);
    }
  }

 private:
  const WgmmaForm& form_;
  const WgmmaVariant& variant_;
  const KernelLaunch& launch_;
  Wgmma wgmma_;
};

}  // namespace

WgmmaTile::WgmmaTile(const Form& tile, std::vector<std::uint32_t> a, std::vector<std::uint32_t> b, std::vector<std::uint32_t> c,
                     const Register& e, int selector)
    : sparse_(tile.sparsity != Sparsity::dense), a_(std::move(a)), b_(std::move(b)), c_(std::move(c)), d_(c_.size()), e_(e) {
  selector_.fill(static_cast<std::uint32_t>(selector));
}

std::vector<const std::uint32_t*> WgmmaTile::pointers(const std::vector<std::uint32_t>& words) {
  std::vector<const std::uint32_t*> all;
  for (std::size_t i = 0; i < words.size(); i += warp_size) all.push_back(words.data() + i);
  return all;
}

std::vector<WgmmaTile> wgmma_tiles(const WgmmaForm& form, const OperandClass& operand_class, int variant, std::uint64_t seed,
                                   std::size_t first, std::size_t count) {
  const WgmmaVariant numbers = wgmma_variant(form, variant);
  const KernelLaunch launch = make_cases(form, operand_class, variant, seed, first, count);
  const Warps warps(form, numbers, launch);
  std::vector<WgmmaTile> tiles;
  for (std::size_t i = 0; i < count; ++i) warps.add_case(i, tiles);
  return tiles;
}

}  // namespace warpmat
