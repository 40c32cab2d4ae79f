#pragma once

#include <cstdint>
#include <vector>

#include <warpmat/checks/checks.h>
#include <warpmat/checks/global_races.h>

namespace warpmat::checks {

/// Warns of races between the blocks of a grid in global memory. Blocks of a cluster count as one; copies of tensor maps do not count.
class GlobalRaceCheck : public machine::Observer {
 public:
  GlobalRaceCheck(const Setup& setup, std::uint64_t cluster);
  ~GlobalRaceCheck() override;

  void block_begins(const machine::BlockEvent& event) override;
  void block_ends(const machine::BlockEvent& event) override;
  void access(const machine::AccessEvent& event) override;
  void synchronises(const machine::Synchronisation& event) override;

  /// Adds a conflict to the launch's warnings.
  static void report(const Setup& setup, std::uint64_t cluster, const GlobalRaces::Conflict& conflict);

 private:
  void note(std::uint64_t address, std::uint64_t bytes, bool writes, GlobalAccess access, const std::uint8_t* before,
            const std::uint8_t* value);
  void note_in_page(std::uint64_t number, std::uint32_t first, std::uint32_t end, bool writes, GlobalAccess access,
                    const std::uint8_t* before, const std::uint8_t* value);

  const Setup& setup_;
  std::uint64_t cluster_;
  GlobalRaces::Local local_{GlobalRaces::most_runs};
  std::vector<ByteRuns<GlobalRaces::Touched>::Run> scratch_;
  std::uint32_t releases_ = 0;
  bool acquired_ = false;
  int begun_ = 0, ended_ = 0;  ///< blocks
};

}  // namespace warpmat::checks
