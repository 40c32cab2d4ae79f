#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <warpmat/checks/byte_runs.h>
#include <warpmat/warp.h>

namespace warpmat::checks {

/// How a cluster accesses a byte of global memory first.
struct GlobalAccess {
  std::uint32_t statement = 0;
  std::uint8_t warp = 0, rank = 0;
  bool made : 1 = false;
  bool strong : 1 = false;    ///< atomic, volatile, relaxed, acquire, release
  bool counts : 1 = false;    ///< the cluster has made a strong access to the byte: it may know what others have done there
  bool acquired : 1 = false;  ///< the cluster has acquired something before it
  bool released : 1 = false;  ///< the cluster releases something behind it: known at its end
  bool silent : 1 = false;    ///< a store that leaves what is there
  bool unknown : 1 = false;   ///< a store of values that the check does not know

  friend bool operator==(const GlobalAccess&, const GlobalAccess&) = default;
};

/// Pages of global memory by number, at most so many runs.
template <typename Page>
class GlobalPages {
 public:
  explicit GlobalPages(std::ptrdiff_t most) : most_(most) {}

  /// nullptr where there are as many runs as there may be.
  Page* page(std::uint64_t number) {
    if (last_ == nullptr || number != last_number_) {
      auto found = pages_.find(number);
      if (found == pages_.end()) {
        if (runs_ >= most_) {
          left_out_ = true;
          return nullptr;
        }
        found = pages_.emplace(number, std::make_unique<Page>()).first;
      }
      last_ = found->second.get();
      last_number_ = number;
    }
    return last_;
  }
  void count(std::ptrdiff_t runs) { runs_ += runs; }
  bool left_out() const { return left_out_; }
  auto begin() const { return pages_.begin(); }
  auto end() const { return pages_.end(); }

 private:
  std::ptrdiff_t most_, runs_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  Page* last_ = nullptr;
  std::uint64_t last_number_ = 0;
  bool left_out_ = false;
};

/// Finds accesses of two clusters of a grid to a byte, one of which writes, that nothing can have ordered: for an order, one cluster
/// releases something behind its access, and the other one acquires something before its own. Which word that is, is not looked at: so
/// fences that concern another word hide races, and no right program has a report.
class GlobalRaces {
 public:
  static constexpr std::ptrdiff_t most_runs = 1 << 24;  ///< of all clusters; what lies in further pages is not looked at
  static constexpr std::uint64_t page_bytes = 4096;
  using Bits = std::bitset<page_bytes>;
  using Values = std::array<std::uint8_t, page_bytes>;

  /// What a cluster has done with a run of bytes.
  struct Touched {
    GlobalAccess read, write;
    std::uint32_t read_releases = 0, write_releases = 0;  ///< of the cluster before them
    bool counts = false;

    bool join(const Touched& next) const { return *this == next; }
    friend bool operator==(const Touched&, const Touched&) = default;
  };
  struct LocalPage {
    ByteRuns<Touched> bytes;
    std::unique_ptr<Bits> changed;  ///< bytes that a store gave another value
    std::unique_ptr<Values> values;

    /// Takes what a store writes over `before`; `value` may be nullptr: it is not known. Whether it changes a byte.
    bool store(std::uint32_t first, std::uint32_t end, const std::uint8_t* before, const std::uint8_t* value);
  };
  using Local = GlobalPages<LocalPage>;

  struct Conflict {
    std::uint64_t address;
    std::uint64_t other_cluster;
    GlobalAccess access, other;
    bool writes, other_writes;
  };
  using Report = std::function<void(std::uint64_t cluster, const Conflict&)>;

  explicit GlobalRaces(std::ptrdiff_t most = most_runs) : all_(most) {}

  /// Takes the accesses of a cluster that has ended, and has released something so often. Reports conflicts with clusters of lower numbers,
  /// in the order of the clusters, if these end nearly in that order.
  void add(std::uint64_t cluster, std::uint32_t releases, Local local, const Report& report);
  /// The same of clusters whose predecessors have not come.
  void finish(const Report& report);
  /// Whether there were more pages than are looked at.
  bool left_out() const { return left_out_ || all_.left_out(); }

 private:
  struct Owned {
    GlobalAccess read, write;              ///< without their warps
    std::uint64_t reader = 0, writer = 0;  ///< clusters

    friend bool operator==(const Owned&, const Owned&) = default;
  };
  /// Of a record; 0: no access.
  struct Number {
    std::uint32_t value = 0;
    bool join(const Number& next) const { return value == next.value; }
  };
  struct Page {
    ByteRuns<Number> bytes;
    std::unique_ptr<Bits> changed;
    std::unique_ptr<Values> values;  ///< that the writers of the records have stored
  };
  struct Ended {
    std::uint32_t releases;
    Local local;
  };
  static constexpr std::size_t most_waiting = 64;
  class Merge;

  void merge_first(const Report& report);
  Owned record(Number number) const { return number.value == 0 ? Owned() : records_[number.value - 1]; }

  std::mutex mutex_;
  std::map<std::uint64_t, Ended> waiting_;  ///< for clusters of lower numbers
  std::vector<ByteRuns<Number>::Run> scratch_;
  std::vector<Owned> records_;  ///< by number, from 1 on; many bytes share one
  std::uint64_t next_ = 0;
  bool left_out_ = false;  ///< by a cluster
  GlobalPages<Page> all_;
};

}  // namespace warpmat::checks
