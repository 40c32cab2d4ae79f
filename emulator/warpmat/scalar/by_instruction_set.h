#pragma once

#include <cstddef>

#include <warpmat/numeric/kernels_target.h>
#include <warpmat/numeric/persistent.h>

namespace warpmat::scalar {

/// One value of static storage for each instruction set of kernels_target(), made on first use.
template <typename T>
class ByInstructionSet {
 public:
  constexpr ByInstructionSet() = default;

  template <typename Make>
  const T& get(Make make) {
    return values_.get(kernels_target().GetIndex(), make);
  }

 private:
  PersistentMap<std::size_t, T> values_;
};

}  // namespace warpmat::scalar
