#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <warpmat/checks/checks.h>
#include <warpmat/checks/proxy_shadow.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/warpgroup.h>

namespace warpmat::checks {

/// Reports accesses to bytes of shared memory that a bulk copy still reads or writes, and bulk copies and warpgroup products that read
/// ordinary stores without a proxy fence (a warning without Checks::fences, and of products). Reports phases of mbarriers that announce
/// less than is copied in them, and tensor maps that change under a copy. Warns of mbarriers that copies use right after their
/// initialisation.
class BulkCheck : public machine::Observer {
 public:
  BulkCheck(const Setup& setup, std::uint64_t cluster);

  void block_begins(const machine::BlockEvent& event) override;
  void operation(const machine::Event& event) override;
  void access(const machine::AccessEvent& event) override;
  void remote_access(const machine::RemoteAccess& event) override;
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
  /// Reductions may overlap: each is atomic.
  enum class Use : std::uint8_t { read, write, reduce };
  struct BlockState {
    const std::uint8_t* shared;
    std::size_t bytes;
    std::optional<ProxyShadow> proxies;  ///< if something reads shared memory asynchronously
  };
  struct Pending {
    machine::BulkEvent copy;
    std::uint64_t counted;  ///< bytes, at its mbarrier
    std::uint64_t phases;   ///< of its mbarrier that had ended when it was issued
    std::uint64_t map;      ///< the address of the tensor map that it still reads; 0: none
  };
  /// A wait that went through: at which mbarrier, and how many of its phases had ended. `copies`: the number of the last copy before it.
  struct Passed {
    machine::SharedRange mbarrier;
    int rank, warp;
    std::uint32_t statement;
    std::uint64_t phases, copies;
  };
  /// Who has initialised an mbarrier without a fence or a barrier since.
  struct Fresh {
    machine::SharedRange mbarrier;
    int warp;
    std::uint32_t statement;
  };

  BlockState& block(int rank) { return blocks_[static_cast<std::size_t>(rank)]; }
  bool may_overlap(int rank, const machine::Chunks& chunks) const;
  Trap::Reason awaited(const machine::Event& event, const Pending& pending) const;
  const Pending* overlapping(const machine::SharedRange& range, Use use) const;
  /// `begin`: offset of the first byte that the access reads, of which the range is a part.
  void report_overlap(const machine::Event& event, int lane, const machine::SharedRange& range, Use use, std::uint64_t begin) const;
  void report_overlap(const machine::Event& event, int lane, const machine::SharedRange& range, Use use) const {
    report_overlap(event, lane, range, use, range.offset);
  }
  void note_passed(const machine::Synchronisation& event);
  void check_source(const machine::Event& event, const machine::BulkEvent& copy);
  static Trap::Reason unfenced(const machine::Event& event, std::string headline, const ProxyShadow::Store& store, std::uint64_t address);
  void report_unfenced(const machine::Event& event, int lane, std::uint64_t address, const Trap::Reason& reason) const;
  void check_arrivals(const machine::Synchronisation& event);
  void note_fresh(const machine::Synchronisation& event);
  void settle(int rank, std::uint64_t warps);
  void warn_of_fresh(const machine::Event& event, const machine::BulkEvent& copy);
  const machine::MbarrierHistory* history_of(const machine::SharedRange& mbarrier) const;
  void check_announced(const machine::SharedRange& mbarrier);
  void check_chunks(const machine::ProductEvent& event, OperandName operand);

  const Setup& setup_;
  std::uint64_t cluster_;
  bool fences_mbarriers_;           ///< the program has fence.mbarrier_init
  std::vector<BlockState> blocks_;  ///< by rank
  std::vector<Pending> pending_;    ///< in the order of their numbers
  std::vector<Fresh> fresh_;
  std::vector<Passed> passed_;                 ///< while copies are pending, the last of each warp at each mbarrier
  const machine::Block* any_block_ = nullptr;  ///< of the cluster, once it has issued a copy
};

}  // namespace warpmat::checks
