#pragma once

#include <cstdint>
#include <vector>

#include <warpmat/checks/checks.h>

namespace warpmat::checks {

/// Warns of bulk stores to global memory that end later than the kernel thinks: those in flight when their lane exits, and bytes that the
/// block accesses where only wait_group.read has waited for them.
class BulkStoreCheck : public machine::Observer {
 public:
  BulkStoreCheck(const Setup& setup, std::uint64_t cluster);

  void bulk_issues(const machine::Event& event, const machine::BulkEvent& copy) override;
  void bulk_completes(const machine::BulkEvent& copy) override;
  void copies_complete(const machine::Event& event) override;
  void access(const machine::AccessEvent& event) override;

 private:
  struct Store {
    std::uint64_t number;
    int rank, warp, lane;
    std::uint32_t statement;
    std::uint32_t group;  ///< the number of groups that the lane had committed before
    const machine::WarpState* state;
  };
  /// Bytes in global memory that only a wait for the source has waited for.
  struct Written {
    Store store;
    std::uint64_t first, bytes;
  };
  static constexpr std::size_t most_written = 1024;  ///< kept: the latest

  void keep_written(const Store& store, const machine::BulkEvent& copy);
  void warn_of_exit(const Store& store);

  const Setup& setup_;
  std::uint64_t cluster_;
  std::vector<Store> stores_;  ///< in flight
  std::vector<Written> written_;
};

}  // namespace warpmat::checks
