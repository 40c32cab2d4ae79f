// Observers in C: each event as C++ is told it, by clusters, what they ask for, how they end a launch.

#include <warpmat/c_observer.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <warpmat/launch.h>
#include <warpmat/observer.h>
#include <warpmat/wgmma.h>

#include "c/launched.h"
#include "c/observer_kernels.h"
#include "catch.h"
#include "contains.h"
#include "paths.h"

namespace warpmat::c_observer_test {

using namespace observer_kernels;

namespace {

using Lines = std::vector<std::string>;

// ---- The same lines from C++ and from C

/// "line 12 ld.global.f32 of block 1,0,0 (rank 1), warp 0, lanes 0xff, statement 7 of k".
std::string line_of(const machine::Event& e) {
  const Dim3 b = e.block();
  return fmt::format("line {} {} of block {},{},{} (rank {}), warp {}, lanes {:#x}, statement {} of {}", e.line(), e.opcode(), b.x, b.y,
                     b.z, e.rank(), e.warp(), e.lanes(), e.statement(), e.kernel());
}
std::string line_of(const warpmat_event* e) {
  CHECK(e->size == sizeof *e);
  return fmt::format("line {} {} of block {},{},{} (rank {}), warp {}, lanes {:#x}, statement {} of {}", e->line, e->opcode, e->block[0],
                     e->block[1], e->block[2], e->rank, e->warp, e->lanes, e->statement, e->kernel);
}

std::string line_of(const machine::SharedRange& r) {
  return fmt::format("{}:{}+{}", r.rank, r.offset, r.bytes);
}
std::string line_of(const warpmat_shared_range& r) {
  return fmt::format("{}:{}+{}", r.rank, r.offset, r.bytes);
}
std::string line_of(const std::optional<machine::SharedRange>& r) {
  return r ? line_of(*r) : "-1:0+0";
}

/// What the lanes' pointers point to, of those in `lanes`.
template <typename Pointers>
std::string bytes_of(const Pointers& places, std::uint32_t lanes) {
  std::string text;
  for (std::size_t lane = 0; lane < 32; ++lane)
    if ((lanes >> lane & 1) != 0) text += fmt::format(" {:02x}", *places[lane]);
  return text;
}
template <typename Numbers>
std::string numbers_of(const Numbers& numbers, std::uint32_t lanes) {
  std::string text;
  for (std::size_t lane = 0; lane < 32; ++lane)
    if ((lanes >> lane & 1) != 0) text += fmt::format(" {}", numbers[lane]);
  return text;
}

std::string line_of(const machine::Product& p) {
  return fmt::format("{} {} {} {} {:#x} {:#x} a [{}] b [{}]", p.instruction().form().opcode, p.statement(), p.a_in_registers(),
                     p.accumulates(), p.a_descriptor(), p.b_descriptor(), fmt::join(p.a_chunks(), " "), fmt::join(p.b_chunks(), " "));
}

std::string chunks_of(const warpmat_async_product* p, warpmat_operand operand) {
  std::vector<std::uint32_t> list(warpmat_async_product_chunks(p, operand, nullptr, 0));
  CHECK(warpmat_async_product_chunks(p, operand, list.data(), list.size()) == list.size());
  return fmt::format("{}", fmt::join(list, " "));
}
std::string line_of(const warpmat_async_product* p) {
  CHECK(p->size == sizeof *p);
  CHECK(warpmat_async_product_chunks(p, WARPMAT_D, nullptr, 0) == 0);
  return fmt::format("{} {} {} {} {:#x} {:#x} a [{}] b [{}]", p->opcode, p->statement, p->a_in_registers != 0, p->accumulates != 0,
                     p->a_descriptor, p->b_descriptor, chunks_of(p, WARPMAT_A), chunks_of(p, WARPMAT_B));
}

std::string map_text(const std::uint8_t* map) {
  return map == nullptr ? "none" : fmt::format("{:02x}", fmt::join(map, map + WARPMAT_TENSOR_MAP_BYTES, ""));
}

/// Writes a line for each event that C++ is told.
class Script : public machine::Observer {
 public:
  explicit Script(machine::EventKinds kinds) : Observer(kinds) {}

  void block_begins(const machine::BlockEvent& e) override { add("block_begins", block(e)); }
  void block_ends(const machine::BlockEvent& e) override { add("block_ends", block(e)); }
  void registers_differ(const machine::RegistersEvent& e) override { add("registers_differ", e.statement, e.problem); }
  void operation(const machine::Event& e) override { add(e.prepares() ? "preparation" : "operation", line_of(e)); }
  void run(const machine::RunEvent& e) override { add("run", line_of(e.event), e.operations); }
  void performs(const machine::Event& e) override { add("performs", line_of(e)); }
  void calls(const machine::CallEvent& e) override { add("calls", line_of(e.event), e.function); }
  void returns(const machine::CallEvent& e) override { add("returns", line_of(e.event), e.function); }
  void exchange(const machine::ExchangeEvent& e) override {
    add("exchange", line_of(e.event), e.shuffle, e.absent, e.of_nothing, e.shuffle ? numbers_of(e.from, e.event.lanes()) : "");
  }
  void access(const machine::AccessEvent& e) override {
    add("access", line_of(e.event), static_cast<int>(e.space), e.reads, e.writes, e.asynchronous, e.bytes, e.first_register, e.consecutive,
        numbers_of(e.addresses, e.event.lanes()), bytes_of(e.places, e.event.lanes()));
  }
  void remote_access(const machine::RemoteAccess& e) override {
    add("remote_access", line_of(e.event), e.lane, line_of(e.range), e.address, e.writes, e.ended);
  }
  void shared_written(const machine::SharedRange& e) override { add("shared_written", line_of(e)); }
  void copies_land(const machine::CopiesEvent& e) override {
    add("copies_land", e.rank, e.warp, e.lanes, e.bytes, bytes_of(e.places, e.lanes));
  }
  void copies_complete(const machine::Event& e) override { add("copies_complete", line_of(e)); }
  void bulk_issues(const machine::Event& e, const machine::BulkEvent& c) override { add("bulk_issues", line_of(e), copy(c)); }
  void bulk_reads(const machine::BulkEvent& c) override { add("bulk_reads", copy(c)); }
  void bulk_completes(const machine::BulkEvent& c) override { add("bulk_completes", copy(c)); }
  void product_issues(const machine::ProductEvent& e) override { add("product_issues", line_of(e.event), line_of(e.product)); }
  void products_read(const machine::Event& e, std::span<const machine::Product> products) override {
    for (const machine::Product& product : products) add("products_read", line_of(e), line_of(product));
  }
  void product_completes(const machine::ProductEvent& e) override { add("product_completes", line_of(e.event), line_of(e.product)); }
  void tensor_accessed(const machine::TensorAccess& e) override {
    add("tensor_accessed", line_of(e.event), e.rank, e.by_a_thread, regions(e.reads), regions(e.writes), e.issued);
  }
  void tensor_ordered(const machine::TensorOrder& e) override { add("tensor_ordered", static_cast<int>(e.kind), e.rank, e.warp, e.issued); }
  void tensor_freed(int rank, int first, int count) override { add("tensor_freed", rank, first, count); }
  void synchronises(const machine::Synchronisation& e) override {
    const std::uint32_t lanes = e.words.empty() ? 0 : e.acquired | e.released;
    add("synchronises", static_cast<int>(e.kind), e.rank, e.warp, e.acquired, e.released, e.waited, bytes_of(e.words, lanes));
  }
  void barrier_arrives(const machine::BarrierEvent& e) override { add("barrier_arrives", barrier(e)); }
  void barrier_completes(const machine::BarrierEvent& e) override { add("barrier_completes", barrier(e)); }
  void lanes_meet(const machine::Event& e) override { add("lanes_meet", line_of(e)); }
  void barrier_leaves(const machine::BarrierEvent& e) override { add("barrier_leaves", barrier(e)); }

  Lines lines;

 private:
  template <typename... T>
  void add(const char* what, const T&... values) {
    std::string line = what;
    ((line += fmt::format(" | {}", values)), ...);
    lines.push_back(line);
  }
  static std::string block(const machine::BlockEvent& e) {
    return fmt::format("{} {},{},{} {} {} {} {:02x}", e.kernel(), e.block.x, e.block.y, e.block.z, e.rank, e.warps, e.shared.size(),
                       fmt::join(e.shared, ""));
  }
  static std::string copy(const machine::BulkEvent& c) {
    std::string written;
    for (const machine::SharedRange& range : c.written) written += line_of(range) + ' ';
    return fmt::format("{} {} {} {} {} reads {} writes {} {} {} barrier {} written {} map {}", c.number, c.rank, c.warp, c.lane,
                       c.statement, line_of(c.reads), line_of(c.writes), c.reduces, c.from_registers, line_of(c.barrier), written,
                       c.map == nullptr ? "none" : map_text(c.map->encode().data()));
  }
  static std::string regions(std::span<const machine::TensorRegion> all) {
    std::string text;
    for (const machine::TensorRegion& r : all) text += fmt::format("{:x} {}+{};", fmt::join(r.lanes, ","), r.first_column, r.columns);
    return text;
  }
  static std::string barrier(const machine::BarrierEvent& e) {
    return fmt::format("{} {} {} {:#x} {:#x} {:#x}", static_cast<int>(e.scope), e.rank, e.number, e.warps, e.waiting, e.exited);
  }
};

template <typename... T>
int add(void* user, const char* what, const T&... values) {
  std::string line = what;
  ((line += fmt::format(" | {}", values)), ...);
  static_cast<Lines*>(user)->push_back(line);
  return 0;
}
std::string line_of(const warpmat_block_event* e) {
  CHECK(e->size == sizeof *e);
  return fmt::format("{} {},{},{} {} {} {} {:02x}", e->kernel, e->block[0], e->block[1], e->block[2], e->rank, e->warps, e->shared_bytes,
                     fmt::join(e->shared, e->shared + e->shared_bytes, ""));
}
std::string line_of(const warpmat_bulk_event* c) {
  CHECK(c->size == sizeof *c);
  std::string written;
  for (std::size_t i = 0; i < c->written_count; ++i) written += line_of(c->written[i]) + ' ';
  return fmt::format("{} {} {} {} {} reads {} writes {} {} {} barrier {} written {} map {}", c->number, c->rank, c->warp, c->lane,
                     c->statement, line_of(c->reads), line_of(c->writes), c->reduces != 0, c->from_registers != 0, line_of(c->barrier),
                     written, map_text(c->map));
}
std::string line_of(const warpmat_tensor_region* all, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += fmt::format("{:x} {}+{};", fmt::join(all[i].lanes, ","), all[i].first_column, all[i].columns);
  return text;
}
std::string line_of(const warpmat_barrier_event* e) {
  CHECK(e->size == sizeof *e);
  return fmt::format("{} {} {} {:#x} {:#x} {:#x}", static_cast<int>(e->scope), e->rank, e->number, e->warps, e->waiting, e->exited);
}
/// C++'s number of a space.
int number_of(warpmat_space space) {
  switch (space) {
    case WARPMAT_SPACE_GLOBAL: return static_cast<int>(Space::global);
    case WARPMAT_SPACE_CONSTANT: return static_cast<int>(Space::constant);
    case WARPMAT_SPACE_SHARED: return static_cast<int>(Space::shared);
    case WARPMAT_SPACE_LOCAL: return static_cast<int>(Space::local);
    case WARPMAT_SPACE_PARAM: return static_cast<int>(Space::param);
    default: return -1;
  }
}

/// An observer with all callbacks, each of which writes the line of Script.
warpmat_observer script_in_c(Lines& lines) {
  auto o = sized<warpmat_observer>();
  o.user = &lines;
  o.block_begins = [](void* u, const warpmat_block_event* e) { return add(u, "block_begins", line_of(e)); };
  o.block_ends = [](void* u, const warpmat_block_event* e) { return add(u, "block_ends", line_of(e)); };
  o.registers_differ = [](void* u, const warpmat_registers_event* e) { return add(u, "registers_differ", e->statement, e->problem); };
  o.operation = [](void* u, const warpmat_event* e) { return add(u, "operation", line_of(e)); };
  o.preparation = [](void* u, const warpmat_event* e) { return add(u, "preparation", line_of(e)); };
  o.run = [](void* u, const warpmat_run_event* e) { return add(u, "run", line_of(e->event), e->operations); };
  o.performs = [](void* u, const warpmat_event* e) { return add(u, "performs", line_of(e)); };
  o.calls = [](void* u, const warpmat_call_event* e) { return add(u, "calls", line_of(e->event), e->function); };
  o.returns = [](void* u, const warpmat_call_event* e) { return add(u, "returns", line_of(e->event), e->function); };
  o.exchange = [](void* u, const warpmat_exchange* e) {
    return add(u, "exchange", line_of(e->event), e->shuffle != 0, e->absent, e->of_nothing,
               e->shuffle != 0 ? numbers_of(e->from, e->event->lanes) : "");
  };
  o.access = [](void* u, const warpmat_access* e) {
    return add(u, "access", line_of(e->event), number_of(e->space), e->reads != 0, e->writes != 0, e->asynchronous != 0, e->bytes,
               e->first_register, e->consecutive != 0, numbers_of(e->addresses, e->event->lanes), bytes_of(e->places, e->event->lanes));
  };
  o.remote_access = [](void* u, const warpmat_remote_access* e) {
    return add(u, "remote_access", line_of(e->event), e->lane, line_of(e->range), e->address, e->writes != 0, e->ended != 0);
  };
  o.shared_written = [](void* u, const warpmat_shared_range* e) { return add(u, "shared_written", line_of(*e)); };
  o.copies_land = [](void* u, const warpmat_copies_event* e) {
    return add(u, "copies_land", e->rank, e->warp, e->lanes, e->bytes, bytes_of(e->places, e->lanes));
  };
  o.copies_complete = [](void* u, const warpmat_event* e) { return add(u, "copies_complete", line_of(e)); };
  o.bulk_issues = [](void* u, const warpmat_event* e, const warpmat_bulk_event* c) {
    return add(u, "bulk_issues", line_of(e), line_of(c));
  };
  o.bulk_reads = [](void* u, const warpmat_bulk_event* c) { return add(u, "bulk_reads", line_of(c)); };
  o.bulk_completes = [](void* u, const warpmat_bulk_event* c) { return add(u, "bulk_completes", line_of(c)); };
  o.product_issues = [](void* u, const warpmat_event* e, const warpmat_async_product* p) {
    return add(u, "product_issues", line_of(e), line_of(p));
  };
  o.products_read = [](void* u, const warpmat_event* e, const warpmat_async_product* p, size_t count) {
    for (std::size_t i = 0; i < count; ++i) add(u, "products_read", line_of(e), line_of(&p[i]));
    return 0;
  };
  o.product_completes = [](void* u, const warpmat_event* e, const warpmat_async_product* p) {
    return add(u, "product_completes", line_of(e), line_of(p));
  };
  o.tensor_accessed = [](void* u, const warpmat_tensor_access* e) {
    return add(u, "tensor_accessed", line_of(e->event), e->rank, e->by_a_thread != 0, line_of(e->reads, e->read_count),
               line_of(e->writes, e->write_count), e->issued);
  };
  o.tensor_ordered = [](void* u, const warpmat_tensor_order* e) {
    return add(u, "tensor_ordered", static_cast<int>(e->kind), e->rank, e->warp, e->issued);
  };
  o.tensor_freed = [](void* u, const warpmat_tensor_freed* e) { return add(u, "tensor_freed", e->rank, e->first_column, e->columns); };
  o.synchronises = [](void* u, const warpmat_synchronisation* e) {
    const std::uint32_t lanes = e->words == nullptr ? 0 : e->acquired | e->released;
    return add(u, "synchronises", static_cast<int>(e->kind), e->rank, e->warp, e->acquired, e->released, e->waited != 0,
               bytes_of(e->words, lanes));
  };
  o.barrier_arrives = [](void* u, const warpmat_barrier_event* e) { return add(u, "barrier_arrives", line_of(e)); };
  o.barrier_completes = [](void* u, const warpmat_barrier_event* e) { return add(u, "barrier_completes", line_of(e)); };
  o.lanes_meet = [](void* u, const warpmat_event* e) { return add(u, "lanes_meet", line_of(e)); };
  o.barrier_leaves = [](void* u, const warpmat_barrier_event* e) { return add(u, "barrier_leaves", line_of(e)); };
  return o;
}

struct Case {
  std::string text;
  std::uint32_t grid, block, cluster;
};

std::vector<Case> cases() {
  return {{cluster(), 4, 32, 2}, {wgmma(), 1, 256, 1}, {tensor(), 1, 128, 1}};
}

Lines told_in_cpp(const Case& of, machine::EventKinds kinds) {
  Script script(kinds);
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(4 * of.grid * of.block, "out");
  launch(Kernel(Module(of.text), "k"), {.grid = {of.grid}, .block = {of.block}, .cluster = {of.cluster}}, memory, {out},
         {.observers = {&script}});
  return script.lines;
}

Lines told_in_c(const Case& of, unsigned events) {
  Lines lines;
  warpmat_observer observer = script_in_c(lines);
  observer.events = events;
  Launched launched(of.text, 4 * of.grid * of.block);
  launched.config.grid[0] = of.grid;
  launched.config.block[0] = of.block;
  launched.config.cluster[0] = of.cluster;
  launched.observe(observer);
  CHECK(launched.run() == WARPMAT_OK);
  INFO(launched.error.message);
  CHECK(std::string(launched.error.message).empty());
  return lines;
}

}  // namespace

TEST_CASE("C: observers are told every event that C++'s are, with all that is known of it", "[c][observer]") {
  std::set<std::string> told;
  for (const Case& each : cases()) {
    using machine::EventKinds;
    constexpr unsigned all = static_cast<unsigned>(EventKinds::all);
    for (const unsigned events : {all, (all | WARPMAT_EVENTS_RUNS) & ~WARPMAT_EVENTS_OPERATIONS, WARPMAT_EVENTS_SHARED_ACCESSES,
                                  WARPMAT_EVENTS_ABSENT_LANES, WARPMAT_EVENTS_NONE}) {
      CAPTURE(events);
      const Lines expected = told_in_cpp(each, static_cast<EventKinds>(events & ~WARPMAT_EVENTS_NONE));
      const Lines lines = told_in_c(each, events);
      CHECK(lines == expected);
      for (const std::string& line : lines) told.insert(line.substr(0, line.find(' ')));
    }
  }
  const std::set<std::string> everything{
      "block_begins",   "block_ends",    "registers_differ",  "operation",         "preparation",    "run",
      "performs",       "calls",         "returns",           "exchange",          "access",         "remote_access",
      "shared_written", "copies_land",   "copies_complete",   "bulk_issues",       "bulk_reads",     "bulk_completes",
      "product_issues", "products_read", "product_completes", "tensor_accessed",   "tensor_ordered", "tensor_freed",
      "synchronises",   "lanes_meet",    "barrier_arrives",   "barrier_completes", "barrier_leaves"};
  CHECK(told == everything);
}

TEST_CASE("C: each call of C++'s Observer is a callback", "[c][observer]") {
  const auto contents = [](const char* path) {
    std::ifstream in(source_path(path));
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string in_cpp = contents("emulator/warpmat/observer.h"), in_c = contents("emulator/warpmat/c_observer.h");
  static const std::regex call(R"(virtual void (\w+)\()");
  int calls = 0;
  for (std::sregex_iterator match(in_cpp.begin(), in_cpp.end(), call), end; match != end; ++match, ++calls) {
    const std::string name = (*match)[1];
    CAPTURE(name);
    CHECK(contains(in_c, "(*" + name + ")(") == (name != "checks_told"));  // which the command's profile measures by
  }
  CHECK(calls >= 29);
}

TEST_CASE("C: without `events` an observer asks for what its callbacks are told", "[c][observer]") {
  const Case each = cases().front();
  Lines all;
  const warpmat_observer whole = script_in_c(all);
  const auto told_to = [&](auto choose) {
    Lines lines;
    auto observer = sized<warpmat_observer>();
    observer.user = &lines;
    choose(observer, whole);
    Launched launched(each.text, 4 * each.grid * each.block);
    launched.config.grid[0] = each.grid;
    launched.config.block[0] = each.block;
    launched.config.cluster[0] = each.cluster;
    launched.observe(observer);
    CHECK(launched.run() == WARPMAT_OK);
    std::map<std::string, int> counts;
    for (const std::string& line : lines) ++counts[line.substr(0, line.find(' '))];
    return counts;
  };
  std::map<std::string, int> wanted;
  for (const std::string& line : told_in_cpp(each, machine::EventKinds::all)) ++wanted[line.substr(0, line.find(' '))];
#define CHECK_ALONE(callback)                                                                             \
  CHECK(told_to([](warpmat_observer& o, const warpmat_observer& from) { o.callback = from.callback; }) == \
        std::map<std::string, int>{{#callback, wanted[#callback]}})
  CHECK_ALONE(block_begins);
  CHECK_ALONE(operation);
  CHECK_ALONE(preparation);
  CHECK_ALONE(performs);
  CHECK_ALONE(calls);
  CHECK_ALONE(returns);
  CHECK_ALONE(exchange);
  CHECK_ALONE(access);
  CHECK_ALONE(remote_access);
  CHECK_ALONE(shared_written);
  CHECK_ALONE(copies_land);
  CHECK_ALONE(copies_complete);
  CHECK_ALONE(bulk_issues);
  CHECK_ALONE(bulk_reads);
  CHECK_ALONE(bulk_completes);
  CHECK_ALONE(synchronises);
  CHECK_ALONE(barrier_arrives);
  CHECK_ALONE(barrier_completes);
  CHECK_ALONE(lanes_meet);
  CHECK_ALONE(barrier_leaves);
#undef CHECK_ALONE
  // `run` stands for operations inside of runs: together as many as there are.
  static int in_runs;
  in_runs = 0;
  const auto runs = told_to([](warpmat_observer& o, const warpmat_observer& from) {
    o.run = [](void* user, const warpmat_run_event* run) {
      in_runs += static_cast<int>(run->operations);
      return add(user, "run", run->operations);
    };
    o.operation = from.operation;
    o.preparation = from.preparation;
  });
  CAPTURE(in_runs, runs, wanted);
  CHECK(runs.at("run") > 0);
  CHECK(in_runs > runs.at("run"));
  CHECK(runs.at("operation") + runs.at("preparation") + in_runs == wanted["operation"] + wanted["preparation"]);
}

namespace {

/// An observer that changes what it asks for.
struct Curious {
  warpmat_observer observer = sized<warpmat_observer>();
  std::vector<std::string> told;
};

}  // namespace

TEST_CASE("C: an observer asks for other events in its callbacks", "[c][observer]") {
  Curious curious;
  curious.observer.user = &curious;
  curious.observer.events = WARPMAT_EVENTS_ACCESSES;
  curious.observer.access = [](void* user, const warpmat_access* access) {
    auto& c = *static_cast<Curious*>(user);
    c.told.emplace_back("access");
    if (access->space == WARPMAT_SPACE_SHARED) c.observer.events = WARPMAT_EVENTS_OPERATIONS;
    return 0;
  };
  curious.observer.operation = [](void* user, const warpmat_event* event) {
    auto& c = *static_cast<Curious*>(user);
    c.told.emplace_back(event->opcode);
    if (std::string(event->opcode) == "add.u32") c.observer.events = WARPMAT_EVENTS_NONE;
    return 0;
  };
  Launched launched(word_kernel_text(R"(
    .shared .align 4 .b8 tile[128];
    mov.u32 %r1, tile;
    st.shared.u32 [%r1], 7;
    mov.u32 %d, 1;
    add.u32 %d, %d, 1;
    sub.u32 %d, %d, 1;
)",
                                     "sm_90"),
                    4 * 32);
  launched.observe(curious.observer);
  CHECK(launched.run() == WARPMAT_OK);
  CHECK(curious.told == std::vector<std::string>{"access", "access", "mov.u32", "add.u32"});
}

TEST_CASE("C: each cluster has an observer of its own, which ends with it", "[c][observer]") {
  struct Cluster {
    warpmat_observer observer = sized<warpmat_observer>();
    std::atomic<bool> busy = false;
    std::uint64_t operations = 0, preparations = 0;
    int blocks = 0, finished = 0;
    bool met = false;
  };
  struct All {
    Cluster clusters[8];
    std::atomic<int> asked = 0;
  };
  All all;
  for (Cluster& cluster : all.clusters) {
    cluster.observer.user = &cluster;
    cluster.observer.operation = [](void* user, const warpmat_event*) {
      auto& c = *static_cast<Cluster*>(user);
      if (c.busy.exchange(true)) c.met = true;
      ++c.operations;  // which ThreadSanitizer watches
      c.busy = false;
      return 0;
    };
    cluster.observer.preparation = [](void* user, const warpmat_event*) {
      ++static_cast<Cluster*>(user)->preparations;
      return 0;
    };
    cluster.observer.block_ends = [](void* user, const warpmat_block_event*) {
      ++static_cast<Cluster*>(user)->blocks;
      return 0;
    };
    cluster.observer.finished = [](void* user) { ++static_cast<Cluster*>(user)->finished; };
  }
  Launched launched(word_kernel_text("mov.u32 %d, %i;", "sm_90"), 4 * 16 * 64);
  launched.config.grid[0] = 16;
  launched.config.block[0] = 64;
  launched.config.cluster[0] = 2;
  launched.config.jobs = 4;
  launched.config.user = &all;
  launched.config.observer_of_cluster = [](void* user, uint64_t cluster) -> const warpmat_observer* {
    auto& of = *static_cast<All*>(user);
    ++of.asked;
    return cluster == 5 ? nullptr : &of.clusters[cluster].observer;
  };
  CHECK(launched.run() == WARPMAT_OK);
  CHECK(all.asked == 8);
  std::uint64_t operations = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    const Cluster& cluster = all.clusters[i];
    CHECK(!cluster.met);
    CHECK(cluster.blocks == (i == 5 ? 0 : 2));
    CHECK(cluster.finished == (i == 5 ? 0 : 1));
    operations += cluster.operations + cluster.preparations;
  }
  CHECK(operations * 8 == launched.operations * 7);
  // One whose struct is none ends the launch.
  all.clusters[3].observer.size = 8;
  CHECK(launched.run() == WARPMAT_BAD_ARGUMENT);
  CHECK(contains(launched.error.message, "the size of the observer of cluster 3 is not that of a warpmat_observer"));
}

TEST_CASE("C: an observer ends a launch with a status, a lane, an address and a reason of its own", "[c][observer]") {
  auto observer = sized<warpmat_observer>();
  static int callbacks_finished;
  callbacks_finished = 0;
  observer.finished = [](void*) { ++callbacks_finished; };
  observer.access = [](void*, const warpmat_access* access) {
    if (access->space != WARPMAT_SPACE_GLOBAL) return 0;
    char source[32] = "untouched";
    CHECK(warpmat_event_source(access->event, source, sizeof source) == 9);
    CHECK(std::string(source) == "odd.cu:12");
    CHECK(warpmat_event_source(access->event, source, 4) == 9);
    CHECK(std::string(source) == "odd");
    CHECK(warpmat_event_source(access->event, nullptr, 0) == 9);
    CHECK(warpmat_event_source(nullptr, source, sizeof source) == 0);
    return warpmat_event_end(access->event, WARPMAT_UNORDERED, 3, &access->addresses[3], "not here");
  };
  Launched launched(word_kernel_text("  .loc 1 12 0\n  st.global.u32 [%out], 7;\n", "sm_90") + "\n.file 1 \"odd.cu\"\n", 4 * 32);
  launched.observe(observer);
  CHECK(launched.run() == WARPMAT_UNORDERED);
  CHECK(launched.error.lane == 3);
  CHECK(launched.error.address == launched.address + 12);
  CHECK(launched.error.line > 12);
  CHECK(contains(launched.error.message, "not here"));
  CHECK(contains(launched.error.message, "odd.cu:12"));
  CHECK(launched.word(0) == 0);  // the access has no effect
  CHECK(callbacks_finished == 1);

  // No status of a kernel is WARPMAT_STOPPED; without a reason there is a sentence.
  observer.access = [](void*, const warpmat_access* access) {
    return warpmat_event_end(access->event, WARPMAT_SYNTAX, -1, nullptr, nullptr);
  };
  launched.observe(observer);
  CHECK(launched.run() == WARPMAT_STOPPED);
  CHECK(contains(launched.error.message, "an observer ended the launch"));
  // What a callback said, but did not return, is forgotten.
  observer.access = [](void*, const warpmat_access* access) {
    warpmat_event_end(access->event, WARPMAT_MISUSE, 1, nullptr, "kept");
    return 0;
  };
  observer.operation = [](void*, const warpmat_event* event) { return std::string(event->opcode) == "ret" ? 5 : 0; };
  launched.observe(observer);
  CHECK(launched.run() == WARPMAT_STOPPED);
  CHECK(!contains(launched.error.message, "kept"));
  // Where no statement is.
  auto of_blocks = sized<warpmat_observer>();
  of_blocks.block_ends = [](void*, const warpmat_block_event*) { return 1; };
  launched.observe(of_blocks);
  CHECK(launched.run() == WARPMAT_STOPPED);
  CHECK(std::string(launched.error.message) == "an observer ended the launch, at an event that belongs to no statement");
  CHECK(warpmat_event_end(nullptr, WARPMAT_MISUSE, 1, nullptr, nullptr) == 1);
  CHECK(warpmat_async_product_chunks(nullptr, WARPMAT_A, nullptr, 0) == 0);
}

TEST_CASE("C: observers of older programs, and wrong ones", "[c][observer]") {
  Launched launched(word_kernel_text("mov.u32 %d, 1;", "sm_90"), 4 * 32);
  auto observer = sized<warpmat_observer>();
  observer.operation = [](void*, const warpmat_event*) { return 1; };
  observer.size = offsetof(warpmat_observer, events);
  observer.events = 0xffffffff;  // beyond its size: not read
  observer.block_begins = [](void*, const warpmat_block_event*) { return 1; };
  launched.observe(observer);
  CHECK(launched.run() == WARPMAT_STOPPED);
  CHECK(launched.error.line > 0);  // of the operation, not of block_begins
  observer.size = sizeof observer;
  CHECK(launched.run() == WARPMAT_BAD_ARGUMENT);
  CHECK(contains(launched.error.message, "the events 0x7ffffc00 of observer 0 are not known"));
}

}  // namespace warpmat::c_observer_test
