#include "gpu/cases/index_bits.h"

#include <warpmat/layout/fragments.h>

namespace warpmat {

int index_bit_count(const Fragment& f) {
  return f.inside_bits() + Fragment::lane_bits + log2_exact(f.registers());
}

Place place_of(const Fragment& f, unsigned index) {
  const int inside = f.inside_bits();
  const auto low = [](unsigned x, int bits) { return static_cast<int>(x & ((1U << bits) - 1)); };
  return {low(index >> inside, Fragment::lane_bits), static_cast<int>(index >> (inside + Fragment::lane_bits)),
          low(index, inside) * f.element_bits()};
}

std::vector<IndexBit> index_bits(const Fragment& f) {
  std::vector<IndexBit> bits;
  int copies = 0;
  for (int i = 0; i < index_bit_count(f); ++i) {
    const Element e = f.element(place_of(f, 1U << i));
    if (e.row != 0)
      bits.push_back({Axis::row, log2_exact(e.row)});
    else if (e.column != 0)
      bits.push_back({Axis::column, log2_exact(e.column)});
    else if (e.matrix != 0)
      bits.push_back({Axis::matrix, log2_exact(e.matrix)});
    else
      bits.push_back({Axis::copy, copies++});
  }
  return bits;
}

Fragment fragment_of(const Fragment& like, std::span<const IndexBit> bits) {
  FragmentBuilder f(like.element_bits(), like.register_bits());
  for (const IndexBit& b : bits) f.add(b.axis, b.bit);
  return Fragment(f).with_payload(like.payload_bits(), like.payload_shift());
}

}  // namespace warpmat
