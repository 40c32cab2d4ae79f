#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <warpmat/execute/operands/batch.h>
#include <warpmat/instruction.h>
#include <warpmat/wgmma.h>

#include "gpu/cases/operand_classes.h"

namespace warpmat {

/// 16 rows and 8 columns of a case of wgmma: one warp's part of a tile. Its operands have the form of an mma's, loaded from shared memory
/// and with the signs of negated products flipped, so that any arithmetic of mma can compute it.
class WgmmaTile {
 public:
  WgmmaTile(const Form& tile, std::vector<std::uint32_t> a, std::vector<std::uint32_t> b, std::vector<std::uint32_t> c, const Register& e,
            int selector);

  /// D's registers after `execute`, whose parameter is a Batch for the tile's form.
  template <typename Execute>
  const std::vector<std::uint32_t>& run(Execute execute) {
    const std::vector<const std::uint32_t*> a = pointers(a_), b = pointers(b_), c = pointers(c_);
    std::vector<std::uint32_t*> d;
    for (std::size_t i = 0; i < d_.size(); i += warp_size) d.push_back(d_.data() + i);
    const std::uint32_t *const e = e_.data(), *const selector = selector_.data();
    Batch batch;
    batch.destination = d;
    batch.source(OperandName::a) = a;
    batch.source(OperandName::b) = b;
    batch.source(OperandName::c) = c;
    if (sparse_) {
      batch.source(OperandName::e) = std::span(&e, 1);
      batch.source(OperandName::selector) = std::span(&selector, 1);
    }
    execute(batch);
    return d_;
  }

 private:
  static std::vector<const std::uint32_t*> pointers(const std::vector<std::uint32_t>& words);

  bool sparse_;
  std::vector<std::uint32_t> a_, b_, c_, d_;
  Register e_, selector_;
};

/// All tiles of the cases that make_cases (wgmma_cases.h) makes from the same arguments, by case, warp and column.
std::vector<WgmmaTile> wgmma_tiles(const WgmmaForm& form, const OperandClass& operand_class, int variant, std::uint64_t seed,
                                   std::size_t first, std::size_t count);

}  // namespace warpmat
