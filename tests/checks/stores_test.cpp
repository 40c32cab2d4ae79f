// Uninitialised values of shared memory that global memory gets: a trap, or a warning without Checks::stores.

#include <warpmat/launch/check_list.h>

#include <regex>

#include "machine/kernel.h"
#include "structure/source_files.h"
#include "test.h"

namespace warpmat::stores_test {
namespace {

/// A kernel of 32 threads that has an uninitialised word in %v, its lane in %t and the address of its word of `out` in %o. `tile` is
/// shared.
Module kernel_with(const std::string& use) {
  return module_of(".param .u64 out",
                   fmt::format(R"(
    .shared .align 16 .b8 tile[1024];
    .reg .b32 %t, %v, %w, %r; .reg .b64 %o, %a, %first; .reg .pred %p;
    mov.u32 %t, %tid.x;
    ld.param.u64 %first, [out];
    mul.wide.u32 %a, %t, 4;
    add.u64 %o, %first, %a;
    mov.u32 %r, tile;
    ld.shared.u32 %v, [tile + 16];
    {}
    ret;
)",
                               use),
                   "sm_90a", ".file 1 \"stores.cu\"");
}

struct Outcome {
  std::vector<std::string> warnings;
  std::string trap;
  std::vector<std::uint32_t> words;  ///< of `out`, which was 7 everywhere
};

Outcome outcome_of(const std::string& use, const Checks& checks, int launches = 1) {
  const Kernel kernel(kernel_with(use), "k");
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(std::vector<std::uint32_t>(64, 7), "out");
  Outcome outcome;
  try {
    for (int i = 0; i < launches; ++i)
      outcome.warnings = launch(kernel, {.grid = {2}, .block = {32}, .cluster = {2}}, memory, {out}, {.checks = checks}).warnings;
  } catch (const Trap& trap) {
    outcome.trap = trap.what();
  }
  outcome.words = memory.read<std::uint32_t>(out, 64);
  return outcome;
}

const std::string stores = "add.u32 %w, %v, %t; st.global.u32 [%o], %w;";
constexpr Checks warns{.stores = false};

TEST_CASE("a store of an uninitialised value to global memory ends the launch, or is a warning", "[checks]") {
  const std::string reason =
      "what is stored in global memory comes from uninitialised shared memory; address 0x410 is 16 bytes into 'tile'";
  CHECK(contains(outcome_of(stores, {}).trap, reason));
  const Outcome warned = outcome_of(stores, warns);
  CHECK(warned.trap.empty());
  REQUIRE(warned.warnings.size() == 1);
  CHECK(contains(warned.warnings[0], "kernel 'k', block (0, 0, 0), warp 0, lane 0, line "));
  CHECK(contains(warned.warnings[0], "(st.global.u32): " + reason));
  CHECK(warned.words[5] == 5);  // the byte of a GPU is not known; here it is 0
  const Outcome silent = outcome_of(stores, {.uninitialised = false, .stores = false});
  CHECK((silent.trap.empty() && silent.warnings.empty()));
}

TEST_CASE("an initialised predicate that decides alone makes the result of an uninitialised one initialised", "[checks]") {
  // %p comes from uninitialised memory; %f is false, %q is true in all lanes.
  const auto trap_of = [](const std::string& logic) {
    return outcome_of(".reg .pred %f, %q, %n; setp.gt.u32 %f, %t, 40; setp.lt.u32 %q, %t, 40; setp.gt.u32 %p, %v, %t;" + logic +
                          "@%p st.global.u32 [%o], 100;",
                      {})
        .trap;
  };
  for (const char* const logic :
       {"and.pred %p, %p, %f;", "and.pred %p, %f, %p;", "or.pred %p, %p, %q;", "or.pred %p, %q, %p;", "setp.gt.and.u32 %p, %v, %t, %f;",
        "setp.gt.or.u32 %p, %v, %t, %q;", "setp.gt.and.u32 %p, %t, 40, %p;", "setp.lt.or.u32 %p, %t, 40, %p;",
        "setp.gt.and.f32 %p|%n, %v, %v, %f;", "setp.lt.and.u32 %n|%p, %t, 40, %p;"}) {
    INFO(logic);
    CHECK(trap_of(logic).empty());
  }
  for (const char* const logic :
       {"", "and.pred %p, %p, %q;", "or.pred %p, %p, %f;", "xor.pred %p, %p, %q;", "setp.gt.and.u32 %p, %v, %t, %q;",
        "setp.gt.or.u32 %p, %v, %t, %f;", "setp.gt.xor.u32 %p, %v, %t, %f;", "setp.lt.and.u32 %p, %t, 40, %p;",
        "setp.gt.or.u32 %p, %t, 40, %p;", "setp.gt.and.u32 %n|%p, %t, 40, %p;"}) {
    INFO(logic);
    CHECK(contains(trap_of(logic), "the guard comes from uninitialised shared memory"));
  }
}

TEST_CASE("each statement that stores an uninitialised value has a warning of its own", "[checks]") {
  const Outcome two = outcome_of("st.global.u32 [%o], %v; st.global.u32 [%o + 4], %v; st.global.u32 [%o], %t;", warns);
  CHECK(two.trap.empty());
  CHECK(two.warnings.size() == 2);
}

TEST_CASE("atomics that compare nothing store as a store does", "[checks]") {
  for (const char* const use : {"atom.global.add.u32 %w, [%o], %v;", "red.global.add.u32 [%o], %v;", "atom.global.exch.b32 %w, [%o], %v;",
                                "red.global.max.u32 [%o], %v;"}) {
    INFO(use);
    CHECK(contains(outcome_of(use, {}).trap, "what is stored in global memory comes from"));
    const Outcome warned = outcome_of(use, warns);
    CHECK(warned.trap.empty());
    CHECK(warned.warnings.size() == 1);
  }
}

TEST_CASE("the statements of a line of the source have one warning", "[checks]") {
  const std::string one = ".loc 1 5 3\n st.global.u32 [%o], %v;\n.loc 1 5 9\n st.global.u32 [%o + 4], %v;\n";
  CHECK(outcome_of(one, warns).warnings.size() == 1);
  CHECK(outcome_of(one + ".loc 1 6 3\n st.global.u32 [%o], %v;\n", warns).warnings.size() == 2);
}

TEST_CASE("bytes that an uninitialised value was stored to count as initialised", "[checks]") {
  const Outcome loaded = outcome_of(stores + "ld.global.u32 %w, [%o]; setp.eq.u32 %p, %w, %t; @%p st.global.u32 [%o], 100;", warns);
  CHECK(loaded.trap.empty());
  CHECK(loaded.warnings.size() == 1);
  CHECK(loaded.words[5] == 100);
}

TEST_CASE("a cas that swaps stores as a store does", "[checks]") {
  const std::string swaps = "atom.global.cas.b32 %w, [%o], 7, %v;", fails = "atom.global.cas.b32 %w, [%o], 8, %v;";
  CHECK(contains(outcome_of(swaps, {}).trap, "what is stored in global memory comes from"));
  CHECK(outcome_of(swaps, warns).warnings.size() == 1);
  CHECK((outcome_of(fails, {}).trap.empty() && outcome_of(fails, {}).warnings.empty()));
  // Lanes of one address: the first has stored its own lane number when the others compare.
  const std::string first = "setp.eq.u32 %p, %t, 0; selp.b32 %w, 100, %v, %p; atom.global.cas.b32 %w, [%first], 7, %w;";
  CHECK(outcome_of(first, {}).trap.empty());
}

TEST_CASE("of the lanes of a cas with one address, the last that swaps leaves its value", "[checks]") {
  // Lane 0 swaps 7 for its value, lane 1 that for its own; what the others compare is never there.
  const auto swaps = [](const char* values, const char* compared) {
    return fmt::format("setp.eq.u32 %p, %t, 0; selp.b32 %w, {}, %p; selp.b32 %r, 7, {}, %p; setp.gt.u32 %p, %t, 1; selp.b32 %r, 9, %r, %p;",
                       values, compared);
  };
  const std::string leaves_uninitialised = swaps("1, %v", "1"), replaces_it = swaps("%v, 5", "0");  // a byte that is not written is 0 here
  const std::string global = "atom.global.cas.b32 %r, [%first], %r, %w;";
  CHECK(contains(outcome_of(leaves_uninitialised + global, {}).trap, "what is stored in global memory comes from"));
  const Outcome replaced = outcome_of(replaces_it + global, {});
  CHECK(replaced.trap.empty());
  CHECK(replaced.words[0] == 5);
  const auto in_shared = [](const std::string& values) {
    return "st.shared.u32 [tile], 7; bar.warp.sync -1;" + values +
           "atom.shared.cas.b32 %r, [tile], %r, %w; bar.warp.sync -1; ld.shared.u32 %r, [tile]; st.global.u32 [%o], %r;";
  };
  CHECK(contains(outcome_of(in_shared(leaves_uninitialised), {}).trap, "what is stored in global memory comes from"));
  CHECK(outcome_of(in_shared(replaces_it), {}).trap.empty());
}

TEST_CASE("a cas that swaps an uninitialised value into shared memory makes its bytes uninitialised", "[checks]") {
  const auto read_back = [](const char* compared) {
    return outcome_of(
        fmt::format("st.shared.u32 [tile], 5; bar.warp.sync -1; setp.eq.u32 %p, %t, 0; @%p atom.shared.cas.b32 %w, [tile], {}, %v;"
                    "bar.warp.sync -1; ld.shared.u32 %r, [tile]; st.global.u32 [%o], %r;",
                    compared),
        {});
  };
  CHECK(contains(read_back("5").trap, "what is stored in global memory comes from"));
  CHECK(read_back("6").trap.empty());
}

TEST_CASE("every other use of an uninitialised value ends the launch without Checks::stores, too", "[checks]") {
  const struct {
    const char *use, *reason;
  } cases[] = {
      {"mul.wide.u32 %a, %v, 4; add.u64 %a, %a, %first; st.global.u32 [%a], %t;", "the address comes from"},
      {"setp.eq.u32 %p, %v, 0; @%p st.global.u32 [%o], %t;", "the guard comes from"},
      {"AGAIN: setp.eq.u32 %p, %v, 1; @%p bra AGAIN;", "the branch's predicate comes from"},
      {"setp.eq.u32 %p, %v, 0; @%p trap;", "the guard comes from"},
      {"atom.global.cas.b32 %w, [%o], %v, %t;", "what an atomic compares comes from"},
      {"atom.global.inc.u32 %w, [%o], %v;", "what an atomic compares comes from"},
      {"red.global.dec.u32 [%o], %v;", "what an atomic compares comes from"},
      {"mapa.shared::cluster.u32 %w, %r, 1; st.shared::cluster.u32 [%w], %v;",
       "what is stored in another block's shared memory comes from"},
  };
  for (const auto& each : cases) {
    INFO(each.use);
    CHECK(contains(outcome_of(each.use, warns).trap, each.reason));
  }
}

TEST_CASE("a bulk copy of uninitialised bytes to global memory is a store", "[checks]") {
  const std::string copy =
      "setp.ne.u32 %p, %t, 0; @%p bra END; mov.u32 %w, tile; cp.async.bulk.global.shared::cta.bulk_group [%first], [%w], 16;"
      "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; END:";
  const std::string reason = "the copy reads uninitialised shared memory";
  CHECK(contains(outcome_of(copy, {}).trap, reason));
  const Outcome warned = outcome_of(copy, warns);
  CHECK(warned.trap.empty());
  REQUIRE(warned.warnings.size() == 1);
  CHECK(contains(warned.warnings[0], reason));
}

TEST_CASE("a box of which uninitialised bytes lie inside of the tensor is such a store", "[checks]") {
  const auto trap_of = [](int words) {  // of the 12 that the tensor has; the box has 16
    const Module module(fmt::format(R"(
.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 map) {{
  .reg .b64 %l<2>; .reg .b32 %r<4>; .reg .pred %p<2>;
  .shared .align 128 .b8 tile[64];
  ld.param.u64 %l0, [map]; mov.u32 %r0, tile; mov.u32 %r1, %tid.x; mad.lo.u32 %r2, %r1, 4, %r0;
  setp.lt.u32 %p0, %r1, {}; @%p0 st.shared.u32 [%r2], %r1;
  fence.proxy.async; bar.sync 0;
  setp.ne.u32 %p1, %r1, 0; @%p1 ret;
  cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%l0, {{0}}], [%r0];
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
  ret;
}}
)",
                                    words));
    DeviceMemory memory;
    const std::uint64_t to = memory.allocate(64, "to");
    const TensorMap::Encoded map = TensorMap({.type = TensorMap::Type::u32, .rank = 1, .address = to, .dims = {12}, .box = {16}}).encode();
    const std::uint64_t place = memory.allocate(std::span<const std::uint8_t>(map), "map");
    return message_of([&] { launch(Kernel(module, "k"), {{1}, {32}}, memory, {place}); });
  };
  CHECK(trap_of(12) == "nothing");
  CHECK(contains(trap_of(11), "the copy reads uninitialised shared memory"));
}

TEST_CASE("each check has a row in the page of launches, and is named where another word is refused", "[checks]") {
  const std::vector<SourceFile> pages = source_files({"docs/use"}, {".md"});
  const std::string page = std::ranges::find(pages, "docs/use/launch.md", &SourceFile::path)->text;
  for (const CheckRow& row : check_rows) {
    CAPTURE(row.name);
    CHECK(std::regex_search(page, std::regex(fmt::format("\n\\|[^|]*`{}`", row.name))));
    CHECK(contains(all_check_names(), row.name));
    CHECK(Checks{}.*row.check == row.usual);
  }
  CHECK(all_check_names().ends_with(", uses, memcheck, racecheck, initcheck and synccheck"));
}

TEST_CASE("lists of checks say whether such a store ends the launch", "[checks]") {
  CHECK((parse_checks("uninitialised").uninitialised && parse_checks("uninitialised").stores));
  CHECK((parse_checks("uses,copies").uninitialised && !parse_checks("uses,copies").stores));
  CHECK(parse_checks("uses,uninitialised").stores);
  CHECK(parse_checks("all").stores);
  CHECK((parse_checks("stores").uninitialised && parse_checks("stores").stores));
  const Checks races = parse_checks("memcheck,racecheck");
  CHECK((races.races && races.copies && !races.uninitialised && !races.lanes && !races.fences && !races.stores));
  const Checks others = parse_checks("initcheck,synccheck");
  CHECK((others.uninitialised && others.lanes && others.fences && !others.races && !others.stores));
  CHECK((!parse_checks("none").uninitialised && !parse_checks("none").stores));
  CHECK(parse_checks(usual_checks).stores);
  CHECK((parse_checks(usual_program_checks).uninitialised && !parse_checks(usual_program_checks).stores));
}

}  // namespace
}  // namespace warpmat::stores_test
