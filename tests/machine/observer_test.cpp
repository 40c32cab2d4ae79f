// What observers of a launch are told, when, and on which thread (observer.h).

#include <warpmat/observer.h>

#include "machine/kernel.h"
#include "machine/tensor_kernel.h"
#include "test.h"

namespace warpmat::observer_test {
namespace {

using machine::AccessEvent;
using machine::BarrierEvent;
using machine::BlockEvent;
using machine::Event;
using machine::EventKinds;
using machine::Observer;

/// Writes a line for each event.
class Script : public Observer {
 public:
  explicit Script(EventKinds events = EventKinds::all) : Observer(events) {}

  void block_begins(const BlockEvent& e) override { add("begins: {}, {} warps, {} bytes", e.kernel(), e.warps, e.shared.size()); }
  void block_ends(const BlockEvent&) override { add("ends"); }
  void operation(const Event& e) override { add("{}.{:x} {}", e.warp(), e.lanes(), e.opcode()); }
  void performs(const Event& e) override { add("performs {}", e.opcode()); }
  void exchange(const machine::ExchangeEvent& e) override {
    add("exchange {:x} reads lane {}, absent {:x}", e.event.lanes(), e.from[0], e.absent);
  }
  void access(const AccessEvent& e) override {
    const int lane = first_lane(e.event.lanes());
    add("access {:x} space {}{}{}{} {} bytes", e.event.lanes(), static_cast<int>(e.space), e.reads ? " reads" : "",
        e.writes ? " writes" : "", e.asynchronous ? " later" : "", e.bytes);
    std::uint32_t word = 0;
    std::memcpy(&word, e.places[static_cast<std::size_t>(lane)], std::min<std::size_t>(4, e.bytes));
    words.push_back(word);
  }
  void copies_land(const machine::CopiesEvent& e) override { add("lands {:x} {} bytes", e.lanes, e.bytes); }
  void copies_complete(const Event& e) override { add("complete {:x}", e.lanes()); }
  void synchronises(const machine::Synchronisation& e) override {
    add("order {} {:x} {:x}", static_cast<int>(e.kind), e.acquired, e.released);
  }
  void barrier_arrives(const BarrierEvent& e) override { add("arrives {} at {}", e.warps, e.number); }
  void barrier_completes(const BarrierEvent& e) override { add("barrier {}: {} continue, {} exited", e.warps, e.waiting, e.exited); }

  std::vector<std::string> lines;
  std::vector<std::uint32_t> words;  ///< by access: that of the first lane, as it is at the event

 private:
  template <typename... T>
  void add(fmt::string_view format, const T&... values) {
    lines.push_back(fmt::vformat(format, fmt::make_format_args(values...)));
  }
};

std::vector<std::string> without_operations(std::vector<std::string> lines) {
  std::erase_if(lines, [](const std::string& line) { return line[0] >= '0' && line[0] <= '9'; });
  return lines;
}

/// Counts operations; several threads may have one each.
class Counter : public Observer {
 public:
  explicit Counter(std::atomic<std::uint64_t>& sum) : Observer(EventKinds::operations), sum_(sum) {}
  void operation(const Event&) override { ++sum_; }

 private:
  std::atomic<std::uint64_t>& sum_;
};

TEST_CASE("EventKinds come before or after the effects that the contract says", "[machine][observer]") {
  const Module module = word_kernel(R"(
    .shared .align 4 .b8 tile[256];
    mov.u32 %r1, tile; mov.u32 %r2, %tid.x; shl.b32 %r2, %r2, 2; add.u32 %r2, %r2, %r1;
    st.shared.u32 [%r2], 7;
    st.shared.u32 [%r2], 8;
    bar.sync 0;
    ld.shared.u32 %d, [%r2];
    shfl.sync.idx.b32 %d, %d, 3, 31, 0xffffffff;
)");
  Script script;
  words_of(module, {1}, {32}, {.observers = {&script}});
  const std::vector<std::string> expected{
      "begins: k, 1 warps, 256 bytes",
      "access ffffffff space 5 reads 8 bytes",     // ld.param
      "access ffffffff space 3 writes 4 bytes",    // st.shared
      "access ffffffff space 3 writes 4 bytes",    //
      "arrives 1 at 0",                            //
      "barrier 1: 1 continue, 0 exited",           //
      "access ffffffff space 3 reads 4 bytes",     // ld.shared
      "exchange ffffffff reads lane 3, absent 0",  //
      "access ffffffff space 1 writes 4 bytes",    // st.global
      "ends",
  };
  CHECK(without_operations(script.lines) == expected);
  // Before a store the old word is there; a load changes nothing.
  REQUIRE(script.words.size() == 5);
  CHECK(script.words[1] == 0);
  CHECK(script.words[2] == 7);
  CHECK(script.words[3] == 8);
  CHECK(script.words[4] == 0);
  // A statement is announced before its own access.
  const auto store = std::ranges::find(script.lines, "0.ffffffff st.global.u32");
  REQUIRE(store != script.lines.end());
  CHECK(*(store + 1) == "access ffffffff space 1 writes 4 bytes");
}

TEST_CASE("A copy of cp.async is told three times: issued, landed, waited for", "[machine][observer]") {
  const Module module = word_kernel(R"(
    .shared .align 16 .b8 tile[512];
    mov.u32 %r1, tile; mov.u32 %r2, %tid.x; shl.b32 %r2, %r2, 2; add.u32 %r2, %r2, %r1;
    cp.async.ca.shared.global [%r2], [%out], 4;
    cp.async.wait_all;
    ld.shared.u32 %d, [%r2];
)",
                                    "sm_80");
  Script script;
  words_of(module, {1}, {32}, {.observers = {&script}});
  const auto lines = without_operations(script.lines);
  const auto first = std::ranges::find(lines, "access ffffffff space 3 writes later 4 bytes");
  REQUIRE(lines.end() - first >= 5);
  CHECK(std::vector<std::string>(first, first + 5) ==
        std::vector<std::string>{"access ffffffff space 3 writes later 4 bytes", "access ffffffff space 1 reads later 4 bytes",
                                 "lands ffffffff 4 bytes", "complete ffffffff", "access ffffffff space 3 reads 4 bytes"});
}

TEST_CASE("Lanes of a warp that access several spaces are told as an access of each", "[machine][observer]") {
  const Module module = word_kernel(R"(
    .shared .align 4 .b8 tile[128];
    mov.u32 %r1, tile; cvt.u64.u32 %l1, %r1; cvta.shared.u64 %l1, %l1;
    and.b32 %r2, %i, 3; setp.eq.u32 %p1, %r2, 0;
    selp.b64 %l2, %l1, %out, %p1;
    st.u32 [%l2], 5;
)");
  Script script(EventKinds::accesses);
  words_of(module, {1}, {32}, {.observers = {&script}});
  CHECK(std::ranges::count(script.lines, "access 11111111 space 3 writes 4 bytes") == 1);
  CHECK(std::ranges::count(script.lines, "access eeeeeeee space 1 writes 4 bytes") == 1);
}

TEST_CASE("An access is told as consecutive where each lane's bytes are behind those of the lane before", "[machine][observer]") {
  class Patterns : public Observer {
   public:
    Patterns() : Observer(EventKinds::shared_accesses) {}
    void access(const AccessEvent& e) override { told += e.consecutive ? 'c' : '-'; }
    std::string told;
  };
  const Module module = word_kernel(R"(
    .shared .align 16 .b8 tile[1024];
    mov.u32 %r2, %tid.x;
    shl.b32 %r1, %r2, 2;
    mov.u32 %d, tile;
    add.u32 %r1, %r1, %d;
    st.shared.u32 [%r1], %r2;
    ld.shared.u32 %d, [%r1+4];
    ld.shared.u32 %d, [tile];
    atom.shared.add.u32 %d, [%r1], 1;
    setp.ne.u32 %p2, %r2, 5;
    @%p2 ld.shared.u32 %d, [%r1];
    ld.shared.u16 %d, [%r1];
    add.u32 %r1, %r1, %r2;
    st.shared.u8 [%r1], %r2;
    mov.u32 %r0, tile;
    mad.lo.u32 %r1, %r2, 8, %r0;
    st.shared.v2.u32 [%r1], {%r2, %r2};
    mad.lo.u32 %r1, %r2, 16, %r0;
    ld.shared.v2.u32 {%r3, %r4}, [%r1];
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r3, %r4, %r5, %r6}, [%r1];
)");
  Patterns patterns;
  words_of(module, {1}, {32}, {.checks = {.uninitialised = false, .copies = false}, .observers = {&patterns}});
  CHECK(patterns.told == "cc-c---c-c");
}

TEST_CASE("Accesses to initialised bytes are told to all observers but the check, which finds what is not", "[machine][observer]") {
  // The last 128 bytes are never written, so the check stays.
  const std::string body = R"(
    .shared .align 16 .b8 tile[512];
    mov.u32 %r2, %tid.x;
    shl.b32 %r1, %r2, 2;
    mov.u32 %r0, tile;
    add.u32 %r1, %r1, %r0;
    st.shared.u32 [%r1], %r2;
    st.shared.u32 [%r1+128], %r2;
    st.shared.u32 [%r1+256], %r2;
    ld.shared.u32 %r3, [%r1+4];
    ld.shared.u32 %r4, [%r1+252];
    st.shared.u32 [%r1+16], %r4;
    ld.shared.v2.u32 {%r5, %r6}, [tile+8];
    add.u32 %d, %r3, %r4;
)";
  class Accesses : public Observer {
   public:
    explicit Accesses(EventKinds kinds) : Observer(kinds) {}
    void access(const AccessEvent& e) override { shared += e.space == Space::shared; }
    int shared = 0;
  };
  for (const EventKinds kinds : {EventKinds::shared_accesses, EventKinds::accesses, EventKinds::operations}) {
    Accesses accesses(kinds);
    const std::vector<std::uint32_t> words = words_of(word_kernel(body), {1}, {32}, {.observers = {&accesses}});
    CHECK(accesses.shared == (kinds == EventKinds::operations ? 0 : 7));
    CHECK(words == words_of(word_kernel(body), {1}, {32}));
  }
  CHECK_THAT(trap_of(word_kernel(body + "ld.shared.u32 %d, [%r1+260];"), {32}), ContainsSubstring("uninitialised"));
  CHECK_THAT(trap_of(word_kernel(body + "ld.shared.u32 %d, [tile+384];"), {32}), ContainsSubstring("uninitialised"));
  CHECK(trap_of(word_kernel(body + "ld.shared.u32 %d, [%r1+256];"), {32}) == "no trap");
  CHECK(trap_of(word_kernel(body + "ld.shared.u32 %r7, [%r1+260];"), {32}) == "no trap");
  // What is stored into initialised bytes is followed.
  const std::string stores = body + "ld.shared.u32 %r7, [%r1+260]; st.shared.u32 [%r1], %r7; ld.shared.u32 %d, [%r1];";
  CHECK_THAT(trap_of(word_kernel(stores), {32}), ContainsSubstring("uninitialised"));
}

TEST_CASE("An observer is told what it asks for, and may ask for more while it runs", "[machine][observer]") {
  class Curious : public Observer {
   public:
    Curious() : Observer(EventKinds::accesses) {}
    void operation(const Event& e) override {
      opcodes.emplace_back(e.opcode());
      if (e.opcode() == "add.u32") want(EventKinds::none);
    }
    void access(const AccessEvent& e) override {
      accesses += 1;
      if (e.space == Space::shared) want(EventKinds::operations);
    }
    std::vector<std::string> opcodes;
    int accesses = 0;
  };
  const Module module = word_kernel(R"(
    .shared .align 4 .b8 tile[128];
    mov.u32 %r1, tile;
    st.shared.u32 [%r1], 7;
    mov.u32 %d, 1;
    add.u32 %d, %d, 1;
    sub.u32 %d, %d, 1;
)");
  Curious curious;
  CHECK(words_of(module, {1}, {32}, {.observers = {&curious}})[0] == 1);
  CHECK(curious.opcodes == std::vector<std::string>{"mov.u32", "add.u32"});
  CHECK(curious.accesses == 2);  // ld.param, st.shared; not the last st.global
}

TEST_CASE("There are as many operation events as operations, however blocks take turns", "[machine][observer]") {
  // Each block needs its turn for its atomics: more than 1024, the number that one turn has.
  const Module module = word_kernel(R"(
    mov.u32 %r1, 0;
    ld.param.u64 %l1, [out];
again:
    atom.global.add.u32 %r2, [%l1], 1;
    @%p1 add.u32 %d, %d, 1;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p2, %r1, 700;
    @%p2 bra again;
    mov.u32 %d, 3;
)");
  for (const int jobs : {1, 4}) {
    std::atomic<std::uint64_t> sum{0};
    DeviceMemory memory;
    const std::uint64_t out = memory.allocate(4 * 4 * 64, "out");
    LaunchOptions options{.jobs = jobs};
    options.observers_of_clusters = {[&](std::uint64_t) { return std::make_unique<Counter>(sum); }};
    const LaunchResult result = launch(Kernel(module, "k"), {{4}, {64}, 0}, memory, {out}, options);
    CAPTURE(jobs);
    CHECK(result.operations > 4 * 2 * 700 * 5);
    CHECK(sum == result.operations);
  }
  std::atomic<std::uint64_t> sum{0};
  Counter counter(sum);
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(4 * 4 * 64, "out");
  CHECK(launch(Kernel(module, "k"), {{4}, {64}, 0}, memory, {out}, {.jobs = 4, .observers = {&counter}}).operations == sum);
}

TEST_CASE("A warp that waits at the cluster's barrier has reached that statement once", "[machine][observer][cluster]") {
  class Waits : public Observer {
   public:
    Waits() : Observer(EventKinds::operations) {}
    void operation(const Event& e) override {
      ++all;
      if (e.opcode() == "barrier.cluster.wait.acquire.aligned") ++waits;
      if (e.opcode() == "barrier.cluster.wait.acquire") parted += std::popcount(e.lanes());
    }
    std::uint64_t all = 0;
    int waits = 0, parted = 0;
  };
  // The second barrier is reached by the halves of each warp at different times.
  const Module module = word_kernel(R"(
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    mov.u32 %r1, %tid.x; and.b32 %r1, %r1, 16; setp.eq.u32 %p1, %r1, 0;
    @%p1 bra FIRST;
    barrier.cluster.arrive.release;
    barrier.cluster.wait.acquire;
    bra DONE;
FIRST:
    barrier.cluster.arrive.release;
    barrier.cluster.wait.acquire;
DONE:
    mov.u32 %d, 1;
)");
  Waits waits;
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(4 * 4 * 64, "out");
  const LaunchResult result =
      launch(Kernel(module, "k"), {.grid = {4}, .block = {64}, .cluster = {2}}, memory, {out}, {.observers = {&waits}});
  CHECK(waits.waits == 4 * 2);
  CHECK(waits.parted == 4 * 64);
  CHECK(waits.all == result.operations);
}

TEST_CASE("Each cluster has its observer, which no two threads call at once", "[machine][observer]") {
  struct Shared {
    std::mutex mutex;
    std::map<std::uint64_t, int> blocks;  ///< by cluster
    int made = 0, destroyed = 0;
    bool met = false;
  };
  class Alone : public Observer {
   public:
    Alone(Shared& shared, std::uint64_t cluster) : Observer(EventKinds::operations), shared_(shared), cluster_(cluster) {}
    ~Alone() override {
      const std::lock_guard lock(shared_.mutex);
      ++shared_.destroyed;
    }
    void operation(const Event&) override {
      if (busy_.exchange(true)) shared_.met = true;
      ++plain_;  // which ThreadSanitizer watches
      busy_ = false;
    }
    void block_ends(const BlockEvent&) override {
      const std::lock_guard lock(shared_.mutex);
      shared_.blocks[cluster_] += plain_ > 0;
    }

   private:
    Shared& shared_;
    std::uint64_t cluster_;
    std::atomic<bool> busy_ = false;
    std::uint64_t plain_ = 0;
  };
  Shared shared;
  LaunchOptions options{.jobs = 4};
  options.observers_of_clusters = {[&](std::uint64_t cluster) -> std::unique_ptr<Observer> {
    if (cluster == 5) return nullptr;
    const std::lock_guard lock(shared.mutex);
    ++shared.made;
    return std::make_unique<Alone>(shared, cluster);
  }};
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(4 * 16 * 64, "out");
  launch(Kernel(word_kernel("mov.u32 %d, %i;"), "k"), {.grid = {16}, .block = {64}, .cluster = {2}}, memory, {out}, options);
  CHECK(shared.made == 7);
  CHECK(shared.destroyed == 7);
  CHECK(!shared.met);
  CHECK(shared.blocks == std::map<std::uint64_t, int>{{0, 2}, {1, 2}, {2, 2}, {3, 2}, {4, 2}, {6, 2}, {7, 2}});
}

TEST_CASE("An observer ends a launch by an error of its own, or by a trap at its place", "[machine][observer]") {
  class Ends : public Observer {
   public:
    explicit Ends(bool traps) : Observer(EventKinds::accesses), traps_(traps) {}
    void access(const AccessEvent& e) override {
      if (e.space != Space::global || e.event.block().x < 2) return;
      if (traps_) e.event.trap(3, e.addresses[3], "an access that I do not want", Trap::Kind::stopped);
      throw std::runtime_error("block " + std::to_string(e.event.block().x));
    }

   private:
    bool traps_;
  };
  const Module module = word_kernel("mov.u32 %d, 1;");
  for (const int jobs : {1, 4}) {
    LaunchOptions options{.jobs = jobs};
    options.observers_of_clusters = {[](std::uint64_t) { return std::make_unique<Ends>(false); }};
    CHECK(message_of([&] { words_of(module, {8}, {32}, options); }) == "block 2");
    options.observers_of_clusters = {[](std::uint64_t) { return std::make_unique<Ends>(true); }};
    try {
      words_of(module, {8}, {32}, options);
      FAIL("no trap");
    } catch (const Trap& trap) {
      CHECK(trap.kind == Trap::Kind::stopped);
      CHECK(trap.site.block == Dim3{2, 0, 0});
      CHECK(trap.site.lane == 3);
      CHECK(trap.site.statement == "st.global.u32");
      CHECK(trap.reason == "an access that I do not want");
    }
  }
}

TEST_CASE("The access that an observer refuses has not taken effect", "[machine][observer]") {
  class Refuses : public Observer {
   public:
    Refuses() : Observer(EventKinds::accesses) {}
    void access(const AccessEvent& e) override {
      if (e.writes) throw std::runtime_error("no stores");
    }
  };
  Refuses refuses;
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(4 * 32, "out");
  CHECK_THROWS_WITH(launch(Kernel(word_kernel("mov.u32 %d, 9;"), "k"), {{1}, {32}, 0}, memory, {out}, {.observers = {&refuses}}),
                    "no stores");
  CHECK(memory.read<std::uint32_t>(out, 1)[0] == 0);
}

TEST_CASE("Matrix statements are told when all lanes are there; rows of ldmatrix once their addresses are valid", "[machine][observer]") {
  const Module module = word_kernel(R"(
    .shared .align 16 .b8 tile[512];
    mov.u32 %r1, tile; mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 4; add.u32 %r3, %r3, %r1;
    st.shared.u32 [%r3], %r2; st.shared.u32 [%r3+4], %r2; st.shared.u32 [%r3+8], %r2; st.shared.u32 [%r3+12], %r2;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r3];
    mov.u32 %d, %r5;
)",
                                    "sm_80");
  Script script(EventKinds::operations | EventKinds::accesses);
  words_of(module, {1}, {32}, {.observers = {&script}});
  const std::string statement = "ldmatrix.sync.aligned.m8n8.x4.shared.b16";
  const auto at = std::ranges::find(script.lines, "0.ffffffff " + statement);
  REQUIRE(script.lines.end() - at >= 3);
  CHECK(*(at + 1) == "performs " + statement);
  CHECK(*(at + 2) == "access ffffffff space 3 reads 16 bytes");
  // An address that is wrong traps before the access is told.
  const Module wrong = word_kernel(R"(
    .shared .align 16 .b8 tile[512];
    mov.u32 %r1, 600;
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d}, [%r1];
)",
                                   "sm_80");
  Script none(EventKinds::shared_accesses);
  CHECK(message_of([&] { words_of(wrong, {1}, {32}, {.observers = {&none}}); }).find("ldmatrix") != std::string::npos);
  CHECK(without_operations(none.lines) == std::vector<std::string>{"begins: k, 1 warps, 512 bytes"});
}

TEST_CASE("A barrier says who continues, and which warps have exited instead", "[machine][observer]") {
  const Module module = word_kernel(R"(
    mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 64;
    @%p1 exit;
    bar.sync 0;
)");
  Script script(EventKinds::synchronisation);
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(4 * 96, "out");
  launch(Kernel(module, "k"), {{1}, {96}, 0}, memory, {out}, {.observers = {&script}});
  CHECK(std::ranges::count(script.lines, "barrier 3: 3 continue, 4 exited") == 1);
}

TEST_CASE("A call and its return say which function", "[machine][observer][call]") {
  struct Calls : Observer {
    Calls() : Observer(EventKinds::operations) {}
    void calls(const machine::CallEvent& e) override { add("calls", e); }
    void returns(const machine::CallEvent& e) override { add("returns from", e); }
    void add(const char* what, const machine::CallEvent& e) {
      lines.push_back(fmt::format("{} {} at {}, lanes {:#x}", what, e.function, e.event.opcode(), e.event.lanes()));
    }
    std::vector<std::string> lines;
  } seen;
  const Module module = word_kernel("setp.lt.u32 %p0, %i, 4; @%p0 call (%d), next, (%i);", "sm_90", R"(
.func (.reg .b32 result) next(.reg .b32 n)
{
    add.u32 result, n, 1;
    ret;
}
)");
  CHECK(words_of(module, {1}, {8}, {.observers = {&seen}}) == std::vector<std::uint32_t>{1, 2, 3, 4, 0, 0, 0, 0});
  CHECK(seen.lines == std::vector<std::string>{"calls next at call, lanes 0xf", "returns from next at ret, lanes 0xf"});
}

TEST_CASE("Statements of tensor memory are told with their cells, and in the order of commits", "[machine][observer][tcgen05]") {
  class Tensor : public Observer {
   public:
    Tensor() : Observer(EventKinds::tensor_memory) {}
    void tensor_accessed(const machine::TensorAccess& e) override {
      const auto all = [](std::span<const machine::TensorRegion> regions) {
        std::string text;
        for (const machine::TensorRegion& r : regions)
          text += fmt::format(" {:x},{:x},{:x},{:x} {}+{}", r.lanes[0], r.lanes[1], r.lanes[2], r.lanes[3], r.first_column, r.columns);
        return text;
      };
      const std::string opcode(e.event.opcode());
      lines.push_back(fmt::format("{}.{}{} reads{} writes{} {}", e.event.warp(), opcode.substr(0, opcode.find('.', 8)),
                                  e.by_a_thread ? " by a thread" : "", all(e.reads), all(e.writes), e.issued));
    }
    void tensor_ordered(const machine::TensorOrder& e) override {
      lines.push_back(fmt::format("{}.order {} {}", e.warp, static_cast<int>(e.kind), e.issued));
    }
    void tensor_freed(int rank, int first, int count) override { lines.push_back(fmt::format("freed {} {}+{}", rank, first, count)); }
    std::vector<std::string> lines;
  };
  // m128n16k16 of A in shared memory, a second product behind the first commit, whose phase is awaited after that of the first.
  using namespace tensor_kernel;
  const std::string product = "@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r10], %l1, %l2, %r13, %p3;\n",
                    commit = "@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [bar];\n";
  const Module module =
      word_kernel(allocate(32) + operands("0x3c003c00", "0x08040010") + "setp.lt.u32 %p0, %i, 32; @!%p0 bra LAST;\n" + product + commit +
                      product + commit + wait + R"({ .reg .pred q; NEXT: mbarrier.try_wait.parity.shared.b64 q, [bar], 1; @!q bra NEXT; }
    tcgen05.ld.sync.aligned.16x64b.x2.b32 {%d, %r1}, [%r12+3]; tcgen05.wait::ld.sync.aligned;
    tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12], {%r4}; tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync;
LAST:)" + free(32),
                  "sm_100a", variables);
  Tensor tensor;
  words_of(module, {1}, {128}, {.observers = {&tensor}});
  using Kind = machine::TensorOrder::Kind;
  const auto order = [](Kind kind, int issued = 0) { return fmt::format("0.order {} {}", static_cast<int>(kind), issued); };
  const std::string d = "ffffffff,ffffffff,ffffffff,ffffffff 0+16";
  CHECK(tensor.lines == std::vector<std::string>{
                            "0.tcgen05.mma by a thread reads writes " + d + " 1",
                            "0.tcgen05.mma by a thread reads writes " + d + " 2",
                            order(Kind::commit, 1),
                            order(Kind::after_sync),
                            order(Kind::commit, 2),
                            "0.tcgen05.ld reads ffff,0,0,0 3+4 writes 0",
                            order(Kind::load_done),
                            "0.tcgen05.st reads writes ffffffff,0,0,0 0+1 0",
                            order(Kind::store_done),
                            order(Kind::before_sync),
                            "freed 0 0+32",
                        });
}

}  // namespace
}  // namespace warpmat::observer_test
