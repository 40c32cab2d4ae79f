#pragma once

#include <cstdint>

#include <warpmat/checks/checks.h>

namespace warpmat::checks {

/// Warns of an ldmatrix that reads a row of shared memory twice into one matrix. A matrix of one row throughout may be meant, and so may
/// its last row in the place of those beyond the end of a tile.
class RowsCheck : public machine::Observer {
 public:
  RowsCheck(const Setup& setup, std::uint64_t cluster) : Observer(machine::EventKinds::shared_accesses), setup_(setup), cluster_(cluster) {}

  void access(const machine::AccessEvent& event) override;

 private:
  static constexpr int most_accesses = 4096;  ///< of a cluster that are looked at: addresses of later ones repeat these

  void check_matrix(const machine::AccessEvent& event, int first, int rows);

  const Setup& setup_;
  std::uint64_t cluster_;
  int accesses_ = 0;
};

}  // namespace warpmat::checks
