// Observers in C: each event as C++ is told it, by clusters, what they ask for, how they end a launch.

#include <warpmat/c_observer.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <warpmat/c_program/observer.h>
#include <warpmat/launch.h>
#include <warpmat/observer.h>
#include <warpmat/wgmma.h>

#include "c/launched.h"
#include "c/observer_kernels.h"
#include "test.h"

namespace warpmat::c_observer_test {
namespace {

using namespace observer_kernels;

using Lines = std::vector<std::string>;

// ---- The same lines from C++ and from C: each event is written down once, for both

template <typename T, typename... U>
concept any_of = (std::same_as<T, U> || ...);

template <typename... T>
std::string fields(const T&... values);

std::string text(const auto& value) {
  if constexpr (std::is_convertible_v<decltype(value), std::string_view>)
    return std::string(value);
  else
    return std::to_string(static_cast<std::uint64_t>(value));  // a bool is C's int
}
/// C++'s number of a space.
std::string text(warpmat_space space) {
  switch (space) {
    case WARPMAT_SPACE_GLOBAL: return text(Space::global);
    case WARPMAT_SPACE_CONSTANT: return text(Space::constant);
    case WARPMAT_SPACE_SHARED: return text(Space::shared);
    case WARPMAT_SPACE_LOCAL: return text(Space::local);
    case WARPMAT_SPACE_PARAM: return text(Space::param);
    default: return "none";
  }
}

std::string text(const machine::Event& e) {
  const Dim3 b = e.block();
  return fields(e.line(), e.opcode(), b.x, b.y, b.z, e.rank(), e.warp(), e.lanes(), e.statement(), e.kernel());
}
std::string text(const warpmat_event& e) {
  return fields(e.line, e.opcode, e.block[0], e.block[1], e.block[2], e.rank, e.warp, e.lanes, e.statement, e.kernel);
}
std::string text(const warpmat_event* const& e) {
  return text(*e);
}
std::uint32_t lanes_of(const machine::Event& e) {
  return e.lanes();
}
std::uint32_t lanes_of(const warpmat_event* e) {
  return e->lanes;
}

std::string text(const any_of<machine::SharedRange, warpmat_shared_range> auto& r) {
  return fmt::format("{}:{}+{}", r.rank, r.offset, r.bytes);
}
std::string text(const std::optional<machine::SharedRange>& r) {
  return r ? text(*r) : "-1:0+0";
}
std::string text(const any_of<machine::TensorRegion, warpmat_tensor_region> auto& r) {
  return fmt::format("{:x} {}+{}", fmt::join(r.lanes, ","), r.first_column, r.columns);
}
std::string all_of(const auto& list) {
  std::string all;
  for (const auto& each : list) all += text(each) + ';';
  return all;
}

/// What the lanes' pointers point to, or their numbers, of those in `lanes`.
std::string by_lane(const auto& values, std::uint32_t lanes) {
  std::string all;
  for (std::size_t lane = 0; lane < 32; ++lane)
    if ((lanes >> lane & 1) == 0)
      continue;
    else if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(values[0])>>)
      all += fmt::format(" {:02x}", *values[lane]);
    else
      all += fmt::format(" {}", values[lane]);
  return all;
}

std::string text(const machine::BlockEvent& e) {
  return fields(e.kernel(), e.block.x, e.block.y, e.block.z, e.rank, e.warps, all_of(e.shared));
}
std::string text(const warpmat_block_event& e) {
  return fields(e.kernel, e.block[0], e.block[1], e.block[2], e.rank, e.warps, all_of(std::span(e.shared, e.shared_bytes)));
}
std::string text(const any_of<machine::RegistersEvent, warpmat_registers_event> auto& e) {
  return fields(e.statement, e.problem);
}
std::string text(const any_of<machine::RunEvent, warpmat_run_event> auto& e) {
  return fields(e.event, e.operations);
}
std::string text(const any_of<machine::CallEvent, warpmat_call_event> auto& e) {
  return fields(e.event, e.function);
}
std::string text(const any_of<machine::ExchangeEvent, warpmat_exchange> auto& e) {
  return fields(e.event, e.shuffle, e.absent, e.of_nothing, e.shuffle ? by_lane(e.from, lanes_of(e.event)) : "");
}
std::string text(const any_of<machine::AccessEvent, warpmat_access> auto& e) {
  return fields(e.event, e.space, e.reads, e.writes, e.asynchronous, e.bytes, e.first_register, e.consecutive,
                by_lane(e.addresses, lanes_of(e.event)), by_lane(e.places, lanes_of(e.event)));
}
std::string text(const any_of<machine::RemoteAccess, warpmat_remote_access> auto& e) {
  return fields(e.event, e.lane, e.range, e.address, e.writes, e.ended);
}
std::string text(const any_of<machine::CopiesEvent, warpmat_copies_event> auto& e) {
  return fields(e.rank, e.warp, e.lanes, e.bytes, by_lane(e.places, e.lanes));
}
std::string text(const any_of<machine::TensorOrder, warpmat_tensor_order> auto& e) {
  return fields(e.kind, e.rank, e.warp, e.issued);
}
std::string text(const any_of<machine::Synchronisation, warpmat_synchronisation> auto& e) {
  const bool has_words = [](const auto& words) {
    if constexpr (requires { words.data(); })
      return !words.empty();
    else
      return words != nullptr;
  }(e.words);
  return fields(e.kind, e.rank, e.warp, e.acquired, e.released, e.waited, by_lane(e.words, has_words ? e.acquired | e.released : 0));
}
std::string text(const any_of<machine::BarrierEvent, warpmat_barrier_event> auto& e) {
  return fields(e.scope, e.rank, e.number, e.warps, e.waiting, e.exited);
}

std::string text(const machine::Product& p) {
  return fields(p.instruction().form().opcode, p.statement(), p.a_in_registers(), p.accumulates(), p.a_descriptor(), p.b_descriptor(),
                all_of(p.a_chunks()), all_of(p.b_chunks()));
}
std::string text(const warpmat_async_product& p) {
  const auto chunks = [&](warpmat_operand operand) {
    std::vector<std::uint32_t> list(warpmat_async_product_chunks(&p, operand, nullptr, 0));
    CHECK(warpmat_async_product_chunks(&p, operand, list.data(), list.size()) == list.size());
    return all_of(list);
  };
  CHECK(warpmat_async_product_chunks(&p, WARPMAT_D, nullptr, 0) == 0);
  return fields(p.opcode, p.statement, p.a_in_registers, p.accumulates, p.a_descriptor, p.b_descriptor, chunks(WARPMAT_A),
                chunks(WARPMAT_B));
}
std::string copy_text(const auto& c, const auto& written, const std::uint8_t* map) {
  return fields(c.number, c.rank, c.warp, c.lane, c.statement, c.reads, c.writes, c.reduces, c.from_registers, c.barrier, all_of(written),
                map == nullptr ? "none" : all_of(std::span(map, WARPMAT_TENSOR_MAP_BYTES)));
}
std::string text(const machine::BulkEvent& c) {
  return copy_text(c, c.written, c.map == nullptr ? nullptr : c.map->encode().data());
}
std::string text(const warpmat_bulk_event& c) {
  return copy_text(c, std::span(c.written, c.written_count), c.map);
}
std::string text(const machine::TensorAccess& e) {
  return fields(e.event, e.rank, e.by_a_thread, all_of(e.reads), all_of(e.writes), e.issued);
}
std::string text(const warpmat_tensor_access& e) {
  return fields(e.event, e.rank, e.by_a_thread, all_of(std::span(e.reads, e.read_count)), all_of(std::span(e.writes, e.write_count)),
                e.issued);
}
std::string text(const warpmat_tensor_freed& e) {
  return fields(e.rank, e.first_column, e.columns);
}

template <typename... T>
std::string fields(const T&... values) {
  std::string line;
  ((line += " | " + text(values)), ...);
  return line;
}

std::string line_of(const auto& event) {
  return fields(event);
}
std::string line_of(const machine::ProductEvent& e) {
  return fields(e.event, e.product);
}

/// Writes a line for each event that C++ is told.
class Script : public machine::Observer {
 public:
  explicit Script(machine::EventKinds kinds) : Observer(kinds) {}

#define WRITE_DOWN(event, type)                 \
  void event(const machine::type& e) override { \
    lines.push_back(#event + line_of(e));       \
  }
  WARPMAT_OBSERVER_EVENTS(WRITE_DOWN)
#undef WRITE_DOWN
  void operation(const machine::Event& e) override {
    lines.push_back((e.prepares() ? "preparation" : "operation") + fields(e));
  }
  void bulk_issues(const machine::Event& e, const machine::BulkEvent& c) override {
    lines.push_back("bulk_issues" + fields(e, c));
  }
  void products_read(const machine::Event& e, std::span<const machine::Product> products) override {
    for (const machine::Product& product : products) lines.push_back("products_read" + fields(e, product));
  }
  void tensor_freed(int rank, int first, int count) override {
    lines.push_back("tensor_freed" + fields(fields(rank, first, count)));
  }

  Lines lines;
};

template <typename... Told>
int add(void* user, const char* what, const Told&... told) {
  const auto check_size = [](const auto& one) {
    if constexpr (requires { one.size; }) CHECK(one.size == sizeof one);
  };
  (check_size(told), ...);
  static_cast<Lines*>(user)->push_back(what + fields(told...));
  return 0;
}

/// An observer with all callbacks, each of which writes the line of Script.
warpmat_observer script_in_c(Lines& lines) {
  auto o = sized<warpmat_observer>();
  o.user = &lines;
#define WRITE_DOWN(event, type) o.event = [](void* user, const auto*... told) { return add(user, #event, *told...); };
  WARPMAT_OBSERVER_EVENTS(WRITE_DOWN)
  WRITE_DOWN(operation, Event)
  WRITE_DOWN(preparation, Event)
  WRITE_DOWN(bulk_issues, BulkEvent)
  WRITE_DOWN(tensor_freed, )
#undef WRITE_DOWN
  o.products_read = [](void* user, const warpmat_event* e, const warpmat_async_product* products, size_t count) {
    for (const warpmat_async_product& product : std::span(products, count)) add(user, "products_read", *e, product);
    return 0;
  };
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

/// How a launch with the observer ends.
warpmat_error end_in_c(const Case& of, const warpmat_observer& observer) {
  Launched launched(of.text, 4 * of.grid * of.block);
  launched.config.grid[0] = of.grid;
  launched.config.block[0] = of.block;
  launched.config.cluster[0] = of.cluster;
  launched.observe(observer);
  const warpmat_status status = launched.run();
  CHECK(launched.error.status == status);
  return launched.error;
}

Lines told_in_c(const Case& of, unsigned events) {
  Lines lines;
  warpmat_observer observer = script_in_c(lines);
  observer.events = events;
  CHECK(std::string(end_in_c(of, observer).message).empty());
  return lines;
}

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
  std::set<std::string> everything{"operation", "preparation", "bulk_issues", "products_read", "tensor_freed"};
#define ADD(event, type) everything.insert(#event);
  WARPMAT_OBSERVER_EVENTS(ADD)
#undef ADD
  CHECK(told == everything);
  CHECK(told.size() >= 29);
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
    CHECK(end_in_c(each, observer).status == WARPMAT_OK);
    std::map<std::string, int> counts;
    for (const std::string& line : lines) ++counts[line.substr(0, line.find(' '))];
    return counts;
  };
  std::map<std::string, int> wanted;
  for (const std::string& line : told_in_cpp(each, machine::EventKinds::all)) ++wanted[line.substr(0, line.find(' '))];
#define CHECK_ALONE(callback, type)                                                                                 \
  if (std::map<std::string, int> alone{{#callback, wanted[#callback]}}; std::string_view(#callback) != "run") {     \
    std::erase_if(alone, [](const auto& row) { return row.second == 0; });                                          \
    CHECK(told_to([](warpmat_observer& o, const warpmat_observer& from) { o.callback = from.callback; }) == alone); \
  }
  WARPMAT_OBSERVER_EVENTS(CHECK_ALONE)
  CHECK_ALONE(operation, Event)
  CHECK_ALONE(preparation, Event)
  CHECK_ALONE(bulk_issues, BulkEvent)
#undef CHECK_ALONE
  CHECK(wanted.size() >= 20);  // of this kernel; others have products and tensor memory
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

/// An observer that changes what it asks for.
struct Curious {
  warpmat_observer observer = sized<warpmat_observer>();
  std::vector<std::string> told;
};

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
  // At a copy.
  auto of_copies = sized<warpmat_observer>();
  of_copies.bulk = [](void*, const warpmat_event*, const warpmat_bulk_copy*) { return 1; };
  const warpmat_error end = end_in_c(cases().front(), of_copies);
  CHECK(end.status == WARPMAT_STOPPED);
  CHECK(contains(end.message, "(cp.async.bulk.shared::cluster.global"));
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
  observer.size = 8;
  CHECK(launched.run() == WARPMAT_BAD_ARGUMENT);
  CHECK(contains(launched.error.message, "the size of observer 0 is not that of a warpmat_observer"));
  const warpmat_observer* const two[] = {&observer, nullptr};
  launched.config.observers = two + 1;
  CHECK(launched.run() == WARPMAT_BAD_ARGUMENT);
  CHECK(contains(launched.error.message, "observer 0 is null"));
  launched.config.observers = nullptr;
  CHECK(launched.run() == WARPMAT_BAD_ARGUMENT);
  CHECK(contains(launched.error.message, "config->observers is null"));
  launched.config.size = offsetof(warpmat_launch_config, observers);  // a program compiled before there were observers
  CHECK(launched.run() == WARPMAT_OK);
}

}  // namespace
}  // namespace warpmat::c_observer_test
