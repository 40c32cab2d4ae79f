#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <warpmat/launch.h>
#include <warpmat/provenance/gemm.h>

namespace warpmat::provenance {

/// Which elements of C the blocks of a launch have stored, and whether a matrix instruction formed the product at all.
class GemmStores {
 public:
  void note_product() {
    if (!formed()) formed_ = true;  // threads share the word: it is written once
  }
  bool formed() const { return formed_; }

  /// Notes that `block` stores C[row,column], as a sum of products or as something else. `site` and `way` say which statement did, and
  /// where its factors came from; they are called if another block has stored it before.
  template <typename Site, typename Way>
  void store(const Gemm& gemm, int row, int column, std::uint32_t block, bool sum, Site site, Way way) {
    const std::lock_guard lock(mutex_);
    if (owners_.empty()) {
      owners_.resize(static_cast<std::size_t>(gemm.c.rows * gemm.c.columns));
      sums_.resize(owners_.size());
    }
    const auto element = static_cast<std::size_t>(row * gemm.c.columns + column);
    if (sum) sums_[element] = true;
    if (!sum && !other_) other_ = site();
    std::uint32_t& owner = owners_[element];
    if (owner != 0 && owner != block + 1 && !again_) again_ = Again{site(), gemm.c.element(row, column), way()};
    owner = block + 1;
    if (!last_) last_ = site();
  }

  /// The trap for elements that no block has stored; nothing if there are none.
  std::optional<Trap> missing(const Gemm& gemm, const std::string& kernel) const;
  /// The report of rows or columns of which no element is stored as a sum of products, where others are; nothing if there are none. Single
  /// elements do not count: an epilogue may put numbers in the place of sums.
  std::optional<Trap> without_products(const Gemm& gemm) const;

 private:
  struct Again {
    Trap::Site site;
    std::string element;
    std::vector<Trap::Note> way;
  };
  std::mutex mutex_;
  std::vector<std::uint32_t> owners_;  ///< by element: the number of the block that stored it last, from 1 on
  std::vector<bool> sums_;             ///< by element: whether it was stored as a sum of products
  std::optional<Trap::Site> other_;    ///< the first store of something else
  std::optional<Again> again_;         ///< the first element that a second block has stored
  std::optional<Trap::Site> last_;
  std::atomic<bool> formed_ = false;
};

}  // namespace warpmat::provenance
