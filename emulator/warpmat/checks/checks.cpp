#include <warpmat/checks/checks.h>

#include <algorithm>

#include <warpmat/checks/bulk_check.h>
#include <warpmat/checks/lanes_check.h>
#include <warpmat/checks/race_check.h>
#include <warpmat/checks/shared_memory_check.h>
#include <warpmat/checks/wgmma_check.h>
#include <warpmat/ptx/program/code.h>

namespace warpmat::checks {

std::vector<std::unique_ptr<machine::Observer>> make(const Setup& setup, std::uint64_t cluster) {
  std::vector<std::unique_ptr<machine::Observer>> all;
  const code::Program& program = setup.program;
  const Checks& checks = setup.checks;
  const bool shared = setup.shared_bytes != 0;
  if (shared && checks.copies && (!program.bulk_copies.empty() || !program.products.empty()))
    all.push_back(std::make_unique<BulkCheck>(setup, cluster));
  if (shared && (checks.uninitialised || checks.copies || checks.races)) all.push_back(std::make_unique<SharedMemoryCheck>(setup));
  if (shared && checks.races) all.push_back(std::make_unique<RaceCheck>(setup));
  if (!program.products.empty()) all.push_back(std::make_unique<WgmmaCheck>(setup));
  if (!program.exchanges.empty()) all.push_back(std::make_unique<LanesCheck>(setup, cluster));
  return all;
}

}  // namespace warpmat::checks
