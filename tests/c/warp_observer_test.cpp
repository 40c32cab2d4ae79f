// What a list of statements tells observers in C.

#include <warpmat/c_observer.h>

#include "c/list_warp.h"
#include "test.h"

namespace warpmat::c_warp_observer_test {
namespace {

using Lines = std::vector<std::string>;

void add(void* lines, std::string line) {
  static_cast<Lines*>(lines)->push_back(std::move(line));
}

/// Writes a line for each event.
warpmat_observer writes_to(Lines& lines) {
  auto out = sized<warpmat_observer>();
  out.user = &lines;
  out.block_begins = [](void* user, const warpmat_block_event* e) {
    add(user, fmt::format("begins '{}' with {} bytes", e->kernel, e->shared_bytes));
    return 0;
  };
  out.block_ends = [](void* user, const warpmat_block_event*) {
    add(user, "ends");
    return 0;
  };
  out.operation = [](void* user, const warpmat_event* e) {
    add(user, fmt::format("line {} {} statement {} lanes {:#x}", e->line, e->opcode, e->statement, e->lanes));
    return 0;
  };
  out.access = [](void* user, const warpmat_access* a) {
    add(user, fmt::format("{} {} bytes at {:#x}", a->writes != 0 ? "writes" : "reads", a->bytes, a->addresses[0]));
    return a->addresses[0] == 8 ? warpmat_event_end(a->event, WARPMAT_UNORDERED, 3, &a->addresses[3], "not here") : 0;
  };
  out.finished = [](void* user) { add(user, "finished"); };
  return out;
}

constexpr const char* two_stores = ".shared .b32 v[4];\nst.shared.b32 [v+4], 7;\nst.shared.b32 [v+8], 8;\n";

const Lines told_of_stores{"line 2 st.shared.b32 statement 0 lanes 0xffffffff", "writes 4 bytes at 0x4",
                           "line 3 st.shared.b32 statement 1 lanes 0xffffffff", "writes 4 bytes at 0x8"};

TEST_CASE("C: a warp tells observers of its statements, until it has others or is freed", "[c][observer]") {
  Lines lines, of_second;
  const warpmat_observer first = writes_to(lines), second = writes_to(of_second);
  auto error = sized<warpmat_error>();
  {
    ListWarp parsed(two_stores, "sm_90");
    const warpmat_observer* const one[] = {&first};
    REQUIRE(warpmat_warp_observe(parsed.warp, one, 1, &error) == WARPMAT_OK);
    CHECK(std::exchange(lines, {}) == Lines{"begins '' with 16 bytes"});
    // It ends the call before the store.
    CHECK(warpmat_warp_run(parsed.warp, 0, &error) == WARPMAT_UNORDERED);
    CHECK(std::exchange(lines, {}) == told_of_stores);
    CHECK(error.lane == 3);
    CHECK(error.line == 3);
    CHECK(error.address == 8);
    CHECK(std::string(error.message) == "line 3: lane 3, address 0x8: not here");
    CHECK(warpmat_warp_shared(parsed.warp, nullptr)[4] == 7);
    CHECK(warpmat_warp_shared(parsed.warp, nullptr)[8] == 0);
    CHECK(warpmat_warp_step(parsed.warp, 0, 0, &error) == WARPMAT_OK);
    CHECK(std::exchange(lines, {}) == Lines{told_of_stores[0], told_of_stores[1]});

    const warpmat_observer* const other[] = {&second};
    REQUIRE(warpmat_warp_observe(parsed.warp, other, 1, &error) == WARPMAT_OK);
    CHECK(std::exchange(lines, {}) == Lines{"ends", "finished"});
    CHECK(warpmat_warp_step(parsed.warp, 0, 0, &error) == WARPMAT_OK);
    CHECK(lines.empty());
    CHECK(std::exchange(of_second, {}) == Lines{"begins '' with 16 bytes", told_of_stores[0], told_of_stores[1]});
  }
  CHECK(of_second == Lines{"ends", "finished"});
}

TEST_CASE("C: wrong observers of a warp leave those that it has", "[c][observer]") {
  Lines lines;
  const warpmat_observer good = writes_to(lines);
  warpmat_observer short_one = good, unknown = good;
  short_one.size = 8;
  unknown.events = 1u << 30;
  auto error = sized<warpmat_error>();
  ListWarp parsed(two_stores, "sm_90");
  const warpmat_observer *const kept[] = {&good}, *const null[] = {nullptr}, *const small[] = {&short_one}, *const odd[] = {&unknown};
  REQUIRE(warpmat_warp_observe(parsed.warp, kept, 1, &error) == WARPMAT_OK);
  const auto refuses = [&](warpmat_warp* warp, const warpmat_observer* const* observers, const char* message) {
    CHECK(warpmat_warp_observe(warp, observers, 1, &error) == WARPMAT_BAD_ARGUMENT);
    CHECK(std::string(error.message) == message);
  };
  refuses(nullptr, kept, "the warp is null");
  refuses(parsed.warp, nullptr, "the array of observers is null");
  refuses(parsed.warp, null, "observer 0 is null");
  refuses(parsed.warp, small, "the size of observer 0 is not that of a warpmat_observer");
  refuses(parsed.warp, odd, "the events 0x40000000 of observer 0 are not known");
  const warpmat_observer* const good_and_null[] = {&good, nullptr};
  lines.clear();
  CHECK(warpmat_warp_observe(parsed.warp, good_and_null, 2, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(lines.empty());  // it is neither told that its block ends, nor finished
  CHECK(warpmat_warp_step(parsed.warp, 0, 0, &error) == WARPMAT_OK);
  CHECK(lines.size() == 2);
  // One that refuses its block leaves none.
  warpmat_observer refusing = good;
  refusing.block_begins = [](void*, const warpmat_block_event*) { return 1; };
  const warpmat_observer* const last[] = {&refusing};
  CHECK(warpmat_warp_observe(parsed.warp, last, 1, &error) == WARPMAT_STOPPED);
  lines.clear();
  CHECK(warpmat_warp_run(parsed.warp, 0, &error) == WARPMAT_OK);
  CHECK(lines.empty());
}

TEST_CASE("C: observers of a warp are finished before others begin, and do not change them in a call", "[c][observer]") {
  Lines lines;
  warpmat_observer told = writes_to(lines);
  auto error = sized<warpmat_error>();
  ListWarp parsed(two_stores, "sm_90");
  const warpmat_observer* const one[] = {&told};
  REQUIRE(warpmat_warp_observe(parsed.warp, one, 1, &error) == WARPMAT_OK);
  REQUIRE(warpmat_warp_observe(parsed.warp, one, 1, &error) == WARPMAT_OK);
  CHECK(lines == Lines{"begins '' with 16 bytes", "ends", "finished", "begins '' with 16 bytes"});
  warpmat_observer detaches = sized<warpmat_observer>();
  detaches.user = parsed.warp;
  detaches.events = WARPMAT_EVENTS_OPERATIONS;
  detaches.operation = [](void* user, const warpmat_event*) {
    return static_cast<int>(warpmat_warp_observe(static_cast<warpmat_warp*>(user), nullptr, 0, nullptr));
  };
  const warpmat_observer* const two[] = {&detaches, &told};
  REQUIRE(warpmat_warp_observe(parsed.warp, two, 2, &error) == WARPMAT_OK);
  lines.clear();
  CHECK(warpmat_warp_step(parsed.warp, 0, 0, &error) == WARPMAT_STOPPED);
  CHECK(lines.empty());
}

}  // namespace
}  // namespace warpmat::c_warp_observer_test
