#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <warpmat/warp.h>

namespace warpmat::checks {

// Accesses of clusters to global memory, in cells of 4 bytes, pages of 1024.

/// How a cluster accesses a cell first.
struct GlobalAccess {
  std::uint32_t statement = 0;
  std::uint32_t releases = 0;  ///< of the cluster before it
  std::uint8_t bytes = 0;      ///< a bit for each byte of the cell; 0: there is no access
  std::uint8_t warp = 0, rank = 0;
  bool strong = false;    ///< atomic, volatile, relaxed, acquire, release
  bool counts = false;    ///< the cluster has made a strong access to the cell: it may know what others have done there
  bool acquired = false;  ///< the cluster has acquired something before it
  bool released = false;  ///< the cluster releases something behind it: known at its end
  bool silent = false;    ///< a store that leaves what is there
};
struct GlobalCell {
  GlobalAccess read, write;
  std::uint32_t value = 0;  ///< that is written
};

/// Pages by number, at most so many.
template <typename Cell>
class GlobalPages {
 public:
  static constexpr std::uint64_t cell_bytes = 4, page_cells = 256;
  using Page = std::array<Cell, page_cells>;

  explicit GlobalPages(std::size_t most) : most_(most) {}

  /// nullptr where there would be more pages than may be.
  Cell* cell(std::uint64_t number) {
    const std::uint64_t page = number / page_cells;
    if (last_ == nullptr || page != last_number_) {
      auto found = pages_.find(page);
      if (found == pages_.end()) {
        if (pages_.size() == most_) return nullptr;
        found = pages_.emplace(page, std::make_unique<Page>()).first;
      }
      last_ = found->second.get();
      last_number_ = page;
    }
    return &(*last_)[number % page_cells];
  }
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const auto& [number, page] : pages_)
      for (std::size_t i = 0; i < page_cells; ++i) visit(number * page_cells + i, (*page)[i]);
  }

 private:
  std::size_t most_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  Page* last_ = nullptr;
  std::uint64_t last_number_ = 0;
};

/// Finds accesses of two clusters of a grid to a byte, one of which writes, that nothing can have ordered: for an order, one cluster
/// releases something behind its access, and the other one acquires something before its own. Which word that is, is not looked at: so
/// fences that concern another word hide races, and no right program has a report.
class GlobalRaces {
 public:
  static constexpr std::size_t most_pages = 16384;  ///< of all clusters: 16 MiB; what lies in others is not looked at
  using Local = GlobalPages<GlobalCell>;
  struct Conflict {
    std::uint64_t address;
    std::uint64_t other_cluster;
    GlobalAccess access, other;
    bool writes, other_writes;
  };
  using Report = std::function<void(std::uint64_t cluster, const Conflict&)>;

  /// Takes the accesses of a cluster that has ended. Reports conflicts with clusters of lower numbers, in the order of the clusters, if
  /// these end nearly in that order.
  void add(std::uint64_t cluster, Local local, const Report& report);
  /// The same of clusters whose predecessors have not come.
  void finish(const Report& report);

 private:
  struct Owned {
    GlobalAccess access;
    std::uint64_t cluster = 0;
  };
  struct Cell {
    Owned read, write;
    std::uint32_t value = 0;
  };
  static constexpr std::size_t most_waiting = 64;

  void merge(std::uint64_t cluster, const Local& local, const Report& report);

  std::mutex mutex_;
  std::map<std::uint64_t, Local> waiting_;
  std::uint64_t next_ = 0;
  GlobalPages<Cell> all_{most_pages};
};

}  // namespace warpmat::checks
