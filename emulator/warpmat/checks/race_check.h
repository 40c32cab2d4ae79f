#pragma once

#include <cstdint>
#include <vector>

#include <warpmat/checks/checks.h>
#include <warpmat/checks/race_detector.h>

namespace warpmat::checks {

/// Reports data races in the shared memory of each block.
class RaceCheck : public machine::Observer {
 public:
  explicit RaceCheck(const Setup& setup);

  void block_begins(const machine::BlockEvent& event) override;
  void access(const machine::AccessEvent& event) override;
  void remote_access(const machine::RemoteAccess& event) override;
  void copies_land(const machine::CopiesEvent& event) override;
  void bulk_issues(const machine::Event& event, const machine::BulkEvent& copy) override;
  void bulk_reads(const machine::BulkEvent& copy) override;
  void bulk_completes(const machine::BulkEvent& copy) override;
  void product_issues(const machine::ProductEvent& event) override;
  void products_read(const machine::Event& event, std::span<const machine::Product> products) override;
  void synchronises(const machine::Synchronisation& event) override;
  void barrier_arrives(const machine::BarrierEvent& event) override;
  void barrier_completes(const machine::BarrierEvent& event) override;
  void barrier_leaves(const machine::BarrierEvent& event) override;

 private:
  struct BlockState {
    const std::uint8_t* shared;
    std::size_t bytes;
    RaceDetector races;
  };

  BlockState& block(int rank) { return blocks_[static_cast<std::size_t>(rank)]; }
  void check_mbarriers(const machine::Synchronisation& event);
  bool stores_same(const machine::AccessEvent& event, int lane) const;
  void read_chunks(const machine::Event& event, const std::vector<std::uint32_t>& chunks);
  [[noreturn]] void report(const machine::Event& event, int lane, std::size_t offset, bool writes,
                           const RaceDetector::Conflict& conflict) const;

  const Setup& setup_;
  std::vector<BlockState> blocks_;  ///< by rank
};

}  // namespace warpmat::checks
