// Which checks a launch has, and what they ask the machine for.

#include <warpmat/checks/checks.h>
#include <warpmat/machine/internals.h>

#include "catch.h"
#include "machine/kernel.h"

namespace warpmat::checks_test {
using machine::EventKinds;

namespace {

/// What the checks of a kernel of this body ask for at the start, in the order in which they are told.
std::vector<std::vector<EventKinds>> asked(const std::string& body, const Checks& checks, std::uint32_t shared_bytes) {
  const Kernel kernel(word_kernel(body, "sm_90a"), "k");
  checks::Reports reports;
  const checks::Setup setup{program_of(kernel), checks, shared_bytes, 4096, reports};
  std::vector<std::vector<EventKinds>> all;
  for (const auto& check : checks::make(setup, 0)) {
    all.emplace_back();
    for (std::uint32_t bit = 1; bit < static_cast<std::uint32_t>(EventKinds::all); bit *= 2)
      if (check->wants(static_cast<EventKinds>(bit))) all.back().push_back(static_cast<EventKinds>(bit));
  }
  return all;
}

constexpr Checks no_checks{.uninitialised = false, .copies = false};

}  // namespace

TEST_CASE("A launch has the checks that its options and its program need", "[checks]") {
  using enum EventKinds;
  const std::vector<EventKinds> of_bytes{shared_accesses, copies, products}, of_copies{shared_accesses, copies, products, synchronisation};
  CHECK(asked("", no_checks, 1024).empty());
  CHECK(asked("", {}, 0).empty());  // no shared memory
  CHECK(asked("", {}, 1024) == std::vector<std::vector<EventKinds>>{of_bytes});
  CHECK(asked("cp.async.ca.shared.global [%r1], [%out], 4;", {}, 1024) == std::vector<std::vector<EventKinds>>{of_copies});
  CHECK(asked("", {.races = true}, 1024) == std::vector<std::vector<EventKinds>>{of_bytes, of_copies});
  CHECK(asked("cp.async.bulk.global.shared::cta.bulk_group [%out], [%r1], 16;", {}, 1024).size() == 2);
  CHECK(asked("shfl.sync.idx.b32 %d, %i, 3, 31, -1;", no_checks, 0) == std::vector<std::vector<EventKinds>>{{absent_lanes}});
}

TEST_CASE("No check asks for every operation or every access before a register holds an uninitialised value", "[checks]") {
  for (const auto& kinds : asked("shfl.sync.idx.b32 %d, %i, 3, 31, -1;", {.races = true, .lanes = true}, 1024))
    for (const EventKinds kind : kinds) CHECK((kind != EventKinds::operations && kind != EventKinds::accesses));
}

}  // namespace warpmat::checks_test
