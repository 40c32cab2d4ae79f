#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <warpmat/checks/checks.h>
#include <warpmat/machine/tensor_core.h>

namespace warpmat::checks {

/// Warns of what the ISA asks of statements on the same cells of tensor memory, one of which writes (PTX ISA 9.1 section 9.7.16.6.4):
///   - tcgen05.fence::before_thread_sync behind the first, if another warp executes the second; a commit is one for what it tracks;
///   - after_thread_sync before the second, also before ld and st of the warp whose thread issued the first;
///   - tcgen05.wait::ld between an ld and what writes its cells, in any warp: the use of its registers orders nothing else;
///   - tcgen05.wait::st between an st and an ld of its cells, in any warp. Before everything else an st without it traps,
///     unless a load has read it;
///   - an ld or st whose address has a lane of the warp;
///   - a commit without .shared::cluster whose address is a generic one.
/// A launch has one warning of each, because GPUs execute kernels well that have none of these: those of CUTLASS.
class TensorFenceCheck : public machine::Observer {
 public:
  TensorFenceCheck(const Setup& setup, std::uint64_t cluster)
      : Observer(machine::EventKinds::tensor_memory), setup_(setup), cluster_(cluster) {}

  void tensor_accessed(const machine::TensorAccess& event) override;
  void tensor_ordered(const machine::TensorOrder& event) override;
  void tensor_freed(int rank, int first, int count) override;

 private:
  using Warp = std::pair<int, int>;  ///< rank of the block, number in it

  struct Access {
    int rank;  ///< of the block whose tensor memory it is
    Warp warp;
    bool by_a_thread, writes;
    machine::TensorRegion region;
    std::uint32_t statement;
    std::uint64_t issued;        ///< TensorAccess::issued
    bool waited = false;         ///< ld, st: tcgen05.wait followed it
    std::uint64_t released = 0;  ///< when the warp had a fence behind it, or the commit arrived; 0: not yet
  };

  void check_lane(const machine::TensorAccess& event);
  void check_commit(const machine::TensorAccess& event);
  void check(const machine::TensorAccess& event, const Warp& warp, const machine::TensorRegion& region, bool writes);
  void keep(Access access);
  enum class Missing : std::uint32_t { before_sync, after_sync, wait_of_load, wait_of_store };
  void warn(const machine::TensorAccess& event, const Access& earlier, Missing missing);

  static constexpr std::uint32_t wrong_lane = 4;      ///< the key of check_lane's warning, behind those of Missing
  static constexpr std::uint32_t wrong_window = 5;    ///< of check_commit's
  static constexpr std::size_t most_accesses = 1024;  ///< kept: the latest of all with different cells

  const Setup& setup_;
  std::uint64_t cluster_;
  std::uint64_t time_ = 0;
  std::vector<Access> accesses_;
  std::map<Warp, std::uint64_t> acquired_;  ///< the time of a warp's last after_thread_sync
};

}  // namespace warpmat::checks
