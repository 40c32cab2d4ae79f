#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <warpmat/layout.h>

namespace warpmat {

// A fragment as the list of meanings of its places' index bits (layout.h), from the lowest on.

struct IndexBit {
  Axis axis;
  int bit;
  friend bool operator==(const IndexBit&, const IndexBit&) = default;
};

/// The index bits of a fragment's places: inside the register, of the lane, of the register's number.
int index_bit_count(const Fragment& fragment);

/// The place with that index.
Place place_of(const Fragment& fragment, unsigned index);

std::vector<IndexBit> index_bits(const Fragment& fragment);

/// A fragment of elements like those of `like`, with other places.
Fragment fragment_of(const Fragment& like, std::span<const IndexBit> bits);

}  // namespace warpmat
