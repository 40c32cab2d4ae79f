// Which checks a launch has, and what they ask the machine for.

#include <warpmat/checks/checks.h>
#include <warpmat/machine/internals.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::checks_test {
namespace {

using machine::EventKinds;

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

TEST_CASE("A launch has the checks that its options and its program need", "[checks]") {
  using enum EventKinds;
  const std::vector<EventKinds> of_bytes{shared_accesses, copies, products}, of_copies{shared_accesses, copies, products, synchronisation};
  CHECK(asked("", no_checks, 1024).empty());
  CHECK(asked("", {}, 0).empty());  // no shared memory
  CHECK(asked("", {}, 1024) == std::vector<std::vector<EventKinds>>{of_bytes});
  CHECK(asked("cp.async.ca.shared.global [%r1], [%out], 4;", {}, 1024) == std::vector<std::vector<EventKinds>>{of_copies});
  const std::vector<EventKinds> of_lanes{shared_accesses, copies, synchronisation};
  CHECK(asked("", {.races = true}, 1024) == std::vector<std::vector<EventKinds>>{of_bytes, of_copies, of_lanes});
  CHECK(asked("cp.async.bulk.global.shared::cta.bulk_group [%out], [%r1], 16;", {}, 1024).size() == 3);
  CHECK(asked("shfl.sync.idx.b32 %d, %i, 3, 31, -1;", no_checks, 0) == std::vector<std::vector<EventKinds>>{{absent_lanes}});
}

TEST_CASE("No check asks for every operation or every access before a register holds an uninitialised value", "[checks]") {
  for (const auto& kinds : asked("shfl.sync.idx.b32 %d, %i, 3, 31, -1;", {.races = true, .lanes = true}, 1024))
    for (const EventKinds kind : kinds) CHECK((kind != EventKinds::operations && kind != EventKinds::accesses));
}

TEST_CASE("Accesses are of no interest once the last byte of shared memory is initialised, however that happens", "[checks]") {
  struct Told : machine::Observer {
    Told() : Observer(EventKinds::check_time) {}
    void checks_told(EventKinds events, std::uint64_t) override {
      if ((events & EventKinds::shared_accesses) != EventKinds::none) ++accesses;
    }
    int accesses = 0;
  };
  const auto calls = [](const std::string& tile, const std::string& fill) {
    Told told;
    LaunchOptions options;
    options.observers = {&told};
    words_of(word_kernel(".shared .align 16 .b8 tile[" + tile + "]; mov.u32 %r3, tile; mad.lo.u32 %r2, %i, 4, %r3; xor.b32 %r4, %i, 5; " +
                         "mad.lo.u32 %r4, %r4, 4, %r3; setp.eq.u32 %p1, %i, 0;" + fill +
                         " ld.shared.u8 %d, [%r2]; ld.shared.u8 %d, [%r2+1]; ld.shared.u8 %d, [%r2+2];"),
             {1}, {32}, options);
    return told.accesses;
  };
  CHECK(calls("256", "st.shared.u32 [%r2], %i;") == 1 + 3);  // bytes miss: the store and the loads are noted
  CHECK(calls("128", "st.shared.u32 [%r2], %i;") == 2);      // the store is noted, and then told
  CHECK(calls("128", "st.shared.u32 [%r4], %i;") == 2);
  CHECK(calls("128", "st.shared.u8 [%r2], %i; st.shared.u8 [%r2+1], %i; st.shared.u16 [%r2+2], %s1;") == 2 + 2);
  CHECK(calls("136", "st.shared.u32 [%r2], %i; @%p1 mbarrier.init.shared.b64 [tile+128], 1;") == 2);  // both are told
}

/// Two warps store %r1 to one place with no order; the text goes on with a barrier.
std::string message_of_stores(const std::string& value, const std::string& behind) {
  const std::string store =
      ".shared .align 16 .b32 words[8]; mov.u32 %r2, words; mov.u32 %r0, 7; " + value + " st.shared.v2.u32 [%r2+8], {%r1, %r0}; ";
  const LaunchOptions races_alone{.checks = {.uninitialised = false, .races = true}};
  return message_of([&] { words_of(word_kernel(store + behind + " bar.sync 0; ld.shared.u32 %d, [%r2+8];"), {1}, {64}, races_alone); });
}

TEST_CASE("stores of one value to one place do not race with each other, and race with loads", "[checks]") {
  CHECK(message_of_stores("mov.u32 %r1, 5;", "") == "nothing");
  CHECK_THAT(message_of_stores("shr.u32 %r1, %i, 5;", ""), ContainsSubstring("this store and the store of warp 0"));
  CHECK_THAT(message_of_stores("ld.shared.u32 %d, [%r2+8]; bar.sync 0; mov.u32 %r1, 5;", "ld.shared.u32 %r3, [%r2+12];"),
             ContainsSubstring("this store and the load of warp"));
}

}  // namespace
}  // namespace warpmat::checks_test
