#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace warpmat::checks {

/// The warps that have written shared memory by ordinary stores without a later fence.proxy.async, so that asynchronous copies need not see
/// the data (PTX ISA 9.1 section 8.3, proxies). A fence covers earlier writes of its own warp, and writes of other warps before a barrier
/// that the fencing warp has passed.
class ProxyShadow {
 public:
  ProxyShadow(std::size_t bytes, int warps)
      : cell_count_((bytes + cell_bytes - 1) / cell_bytes), fences_(static_cast<std::size_t>(warps)), barriers_(fences_), seen_(fences_) {}

  /// The last writer of bytes through the generic proxy.
  struct Store {
    int warp = -1;                ///< -1: none
    std::uint32_t statement = 0;  ///< of Program::statements
    bool copied = false;          ///< by cp.async
  };

  void write(std::size_t offset, std::size_t bytes, const Store& store) {
    cells_.resize(cell_count_);
    for (std::size_t i = offset / cell_bytes; i <= (offset + bytes - 1) / cell_bytes && i < cells_.size(); ++i) cells_[i] = {store, now_};
  }
  /// Marks bytes as written by an asynchronous copy.
  void clear(std::size_t offset, std::size_t bytes) {
    for (std::size_t i = offset / cell_bytes; i <= (offset + bytes - 1) / cell_bytes && i < cells_.size(); ++i) cells_[i] = {};
  }
  /// `warp` has waited for other warps, at any barrier.
  void synchronise(int warp) { barriers_[static_cast<std::size_t>(warp)] = ++now_; }
  void fence(int warp) {
    const auto w = static_cast<std::size_t>(warp);
    fences_[w] = ++now_;
    seen_[w] = barriers_[w];
  }
  /// Whether there was a store at all.
  bool has_stores() const { return !cells_.empty(); }
  /// A store to these bytes that no fence makes visible, if any.
  std::optional<Store> unfenced(std::size_t offset, std::size_t bytes) const {
    for (std::size_t i = offset / cell_bytes; i <= (offset + bytes - 1) / cell_bytes && i < cells_.size(); ++i)
      if (is_unfenced(cells_[i])) return cells_[i].store;
    return std::nullopt;
  }

 private:
  static constexpr std::size_t cell_bytes = 16;
  struct Cell {
    Store store;
    std::uint32_t time = 0;
  };

  bool is_unfenced(const Cell& cell) const {
    if (cell.store.warp < 0 || fences_[static_cast<std::size_t>(cell.store.warp)] > cell.time) return false;
    return std::ranges::none_of(seen_, [&](std::uint32_t barrier) { return barrier > cell.time; });
  }

  std::size_t cell_count_;
  std::vector<Cell> cells_;                       ///< empty before the first store
  std::vector<std::uint32_t> fences_, barriers_;  ///< by warp: the time of its last one
  std::vector<std::uint32_t> seen_;               ///< by warp: its last barrier before its last fence
  std::uint32_t now_ = 1;
};

}  // namespace warpmat::checks
