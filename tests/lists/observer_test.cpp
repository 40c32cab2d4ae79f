// What a list of statements tells observers (observer.h), as a launch does.

#include <warpmat/observer.h>

#include <warpmat/program.h>

#include "test.h"

namespace warpmat::list_observer_test {
namespace {

using machine::AccessEvent;
using machine::Event;
using machine::EventKinds;

using Lines = std::vector<std::string>;

/// Writes a line for each event, and ends the run at one of them.
class Script : public machine::Observer {
 public:
  explicit Script(EventKinds events = EventKinds::all) : Observer(events) {}

  void block_begins(const machine::BlockEvent& e) override { add(fmt::format("begins: {} warps, {} bytes", e.warps, e.shared.size())); }
  void block_ends(const machine::BlockEvent&) override { add("ends"); }
  void operation(const Event& e) override {
    if (!e.prepares()) add(fmt::format("{} at {}, line {}, lanes {:x}", e.opcode(), e.statement(), e.line(), e.lanes()));
  }
  void run(const machine::RunEvent& e) override { operations_of_runs += e.operations; }
  void performs(const Event& e) override { add(fmt::format("performs {}", e.opcode())); }
  void exchange(const machine::ExchangeEvent& e) override { add(fmt::format("exchange {:x}", e.event.lanes())); }
  void access(const AccessEvent& e) override {
    const auto lane = static_cast<std::size_t>(first_lane(e.event.lanes()));
    std::uint32_t word = 0;
    std::memcpy(&word, e.places[lane], std::min<std::size_t>(4, e.bytes));
    add(fmt::format("{}{} {} bytes of lanes {:x} from {:#x} on, register {}: {:x}", e.reads ? "reads" : "", e.writes ? "writes" : "",
                    e.bytes, e.event.lanes(), e.addresses[lane], e.first_register, word));
    CHECK(e.space == Space::shared);
    if (lines.size() == ends_at) e.event.trap(4, e.addresses[4], "as asked");
  }

  Lines lines;
  std::size_t ends_at = 0;  ///< the number of lines at an access, which then ends the run
  std::uint32_t operations_of_runs = 0;

 private:
  void add(std::string line) { lines.push_back(std::move(line)); }
};

std::string message_of(Warp& warp) {
  return warpmat::message_of([&] { run(warp); });
}

TEST_CASE("list observer: statements and accesses come before their effects, with lines, lanes and addresses", "[lists][observer]") {
  const Program program = parse(R"(
    .reg .b32 a, x, y, l; .reg .pred p; .reg .b64 w; .shared .b32 tile[32];
    mov.u32 a, tile; mov.u32 l, %laneid;
    setp.lt.u32 p, l, 4;
    st.shared.b32 [a], 7;
    @p st.shared.b32 [a+4], 8;
    cvt.u64.u32 w, a;
    ld.shared.b32 x, [w];
    @!p shfl.sync.idx.b32 y, x, 5, 31, 0xfffffff0;
)",
                                "sm_90");
  for (const bool whole : {true, false}) {
    Script script;
    Warp warp(program, 0, 0x400);
    warp.observe({&script});
    if (whole)
      run(warp);
    else
      for (const Statement& statement : program.statements()) warp.execute(statement);
    CHECK(script.lines == Lines{"begins: 1 warps, 128 bytes",  //
                                "mov.u32 at 0, line 3, lanes ffffffff", "mov.u32 at 1, line 3, lanes ffffffff",
                                "setp.lt.u32 at 2, line 4, lanes ffffffff", "st.shared.b32 at 3, line 5, lanes ffffffff",
                                "writes 4 bytes of lanes ffffffff from 0x400 on, register 0: 0", "st.shared.b32 at 4, line 6, lanes f",
                                "writes 4 bytes of lanes f from 0x404 on, register 0: 0", "cvt.u64.u32 at 5, line 7, lanes ffffffff",
                                "ld.shared.b32 at 6, line 8, lanes ffffffff",
                                "reads 4 bytes of lanes ffffffff from 0x400 on, register 0: 7",
                                "shfl.sync.idx.b32 at 7, line 9, lanes fffffff0",  //
                                "exchange fffffff0"});
    // The next observers begin their block, and those before are told no more.
    Script next;
    warp.observe({&next});
    CHECK(script.lines.back() == "ends");
    const std::size_t told = script.lines.size();
    run(warp);
    CHECK(script.lines.size() == told);
    CHECK(next.lines.size() == told - 1);
    Warp copy = warp, moved = std::move(warp);
    run(copy);
    CHECK(next.lines.size() == told - 1);
    run(moved);
    CHECK(next.lines.size() > told);
    moved.observe({});
    CHECK(next.lines.back() == "ends");
  }
}

TEST_CASE("list observer: every statement is one operation, whatever prepares it, and bits are those without an observer",
          "[lists][observer]") {
  const Program program = parse(R"(
    .reg .b32 a, b, c; .reg .pred p, q; .reg .b64 v, w; .reg .f64 f; .reg .b16 h; .shared .b64 tile[64];
    mov.u32 a, %laneid;
    setp.lt.u32 p|q, a, 7;
    selp.b32 b, a, 3, p;
    mad.lo.u32 b, a, b, 5;
    cvt.u64.u32 v, b;
    @q add.u64 w, v, v;
    mul.wide.u32 w, a, 8;
    st.shared.b64 [w], v;
    ld.shared.b64 v, [w];
    cvt.rn.f64.u64 f, v;
    fma.rn.f64 f, f, f, f;
    cvt.rzi.u32.f64 c, f;
    cvt.u16.u32 h, c;
    @!p mov.b32 c, 9;
    shfl.sync.bfly.b32 c, c, 1, 31, 0xffffffff;
    vote.sync.ballot.b32 b, q, 0xffffffff;
)",
                                "sm_90");
  Warp plain(program), observed(program), in_runs(program);
  run(plain);
  std::map<std::uint32_t, int> counts;
  class Counter : public machine::Observer {
   public:
    Counter(std::map<std::uint32_t, int>& counts_of) : Observer(EventKinds::operations), counts_(counts_of) {}
    void operation(const Event& e) override { counts_[e.statement()] += !e.prepares(); }

   private:
    std::map<std::uint32_t, int>& counts_;
  } counter(counts);
  observed.observe({&counter});
  run(observed);
  CHECK(counts.size() == program.statements().size());
  for (const auto& [statement, count] : counts) {
    INFO("statement " << statement);
    CHECK(count == 1);
  }
  Script script(EventKinds::runs);
  in_runs.observe({&script});
  run(in_runs);
  CHECK(script.operations_of_runs > 4);
  for (const Warp* const warp : {&observed, &in_runs}) {
    CHECK(std::ranges::equal(warp->named_registers(), plain.named_registers()));
    CHECK(std::ranges::equal(warp->shared().bytes(), plain.shared().bytes()));
  }
}

TEST_CASE("list observer: matrix instructions tell their rows, and the parts of matrices in memory", "[lists][observer]") {
  const Program program = parse(R"(
    .reg .b32 a, r<2>, c<8>; .reg .b64 w; .shared .align 32 .b8 tile[1024];
    mov.u32 a, tile;
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {a}, [a];
    stmatrix.sync.aligned.m8n8.x1.shared.b16 [r0+16], {r1};
    wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {c0, c1, c2, c3, c4, c5, c6, c7}, [r0];
)",
                                "sm_90");
  Warp warp(program);
  warp.reg("r1").fill(0x12345678);
  Script script(EventKinds::accesses);
  warp.observe({&script});
  run(warp);
  REQUIRE(script.lines.size() == 11);
  CHECK(script.lines[1] == "reads 16 bytes of lanes ff from 0x0 on, register 0: 0");
  CHECK(script.lines[2] == "writes 16 bytes of lanes ff from 0x10 on, register 0: 12345678");  // told once it is over
  for (int i = 0; i < 8; ++i)
    CHECK_THAT(script.lines[static_cast<std::size_t>(3 + i)],
               Catch::Matchers::StartsWith("reads 4 bytes of lanes ffffffff from ") && ContainsSubstring(fmt::format("register {}:", i)));
  // A wrong address is an error of the instruction, and no access.
  script.lines.clear();
  warp.reg("r0").fill(1008);
  CHECK_THAT(message_of(warp), Catch::Matchers::StartsWith("line 5: ") && ContainsSubstring("1024 bytes"));
  CHECK(script.lines.size() == 1);
}

TEST_CASE("list observer: an observer ends a run before the effect, with the line of the statement", "[lists][observer]") {
  const Program program = parse(".shared .b32 tile[32];\nmov.u32 a, tile;\nst.shared.b32 [a], 7;\nst.shared.b32 [a], 8;\n", "sm_90");
  Script script(EventKinds::accesses);
  Warp warp(program);
  warp.observe({&script});
  script.ends_at = 3;
  CHECK(message_of(warp) == "line 4: lane 4, address 0x0: as asked");
  CHECK(warp.shared().bytes()[0] == 7);
  script.ends_at = 0;
  CHECK(message_of(warp) == "nothing");
  CHECK(warp.shared().bytes()[0] == 8);
}

TEST_CASE("list observer: null observers are refused, and one that refuses its block is not told more", "[lists][observer]") {
  const Program program = parse("mov.u32 a, 1;", "sm_90"), empty = parse("", "sm_90");
  Script script;
  Warp warp(program), none(empty);
  CHECK_THROWS_WITH(warp.observe({&script, nullptr}), "observer 1 is null");
  none.observe({&script});
  run(none);
  CHECK(script.lines.empty());
  class Refuses : public machine::Observer {
    void block_begins(const machine::BlockEvent&) override { throw std::runtime_error("no block"); }
  } refuses;
  CHECK_THROWS_WITH(warp.observe({&script, &refuses}), "no block");
  run(warp);
  CHECK(script.lines == Lines{"begins: 1 warps, 0 bytes"});
}

TEST_CASE("list observer: an observer neither changes the warp's observers nor executes its statements", "[lists][observer]") {
  const Program program = parse("mov.u32 a, 1;\nmov.u32 b, 2;", "sm_90");
  Warp warp(program);
  struct Calls : machine::Observer {
    explicit Calls(std::function<void()> does) : call(std::move(does)) {}
    void operation(const Event&) override { call(); }
    std::function<void()> call;
  } detaches([&] { warp.observe({}); }), executes([&] { run(warp); });
  Script script;
  for (const auto& [wrong, message] :
       {std::pair<machine::Observer*, const char*>{&detaches, "an observer of the warp cannot give it other observers"},
        {&executes, "an observer of the warp cannot execute its statements"}}) {
    warp.observe({wrong, &script});
    CHECK_THROWS_WITH(run(warp), message);
    script.lines.clear();
    warp.observe({&script});
    run(warp);
    CHECK(script.lines.size() == 4);  // ends, begins, and two statements
  }
}

TEST_CASE("list observer: what ends a stmatrix after its effect leaves the effect", "[lists][observer]") {
  const Program program =
      parse(".shared .b16 tile[64];\nmov.u32 a, tile;\nmov.u32 r, 17;\nstmatrix.sync.aligned.m8n8.x1.shared.b16 [a], {r};\n", "sm_90");
  Script script(EventKinds::accesses);
  Warp warp(program);
  warp.observe({&script});
  script.ends_at = 2;
  CHECK(message_of(warp) == "line 4: lane 4, address 0x0: as asked");
  CHECK(warp.shared().bytes()[0] == 17);
}

}  // namespace
}  // namespace warpmat::list_observer_test
