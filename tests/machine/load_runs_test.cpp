// Loads from shared memory at one register's address with other offsets are executed as one run: with the results, traps and events that
// they have one by one, as they are executed where each has a guard.

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <warpmat/observer.h>

#include "catch.h"
#include "machine/kernel.h"

namespace warpmat::load_runs_test {

namespace {

using machine::EventKinds;

/// A load's type, and how many registers of 32 or 64 bits it has.
struct Type {
  const char* name;
  int bytes, vector;
  bool wide;
};
constexpr Type types[] = {{"u32", 4, 1, false},    {"v2.u32", 8, 2, false}, {"v4.u32", 16, 4, false}, {"u16", 2, 1, false},
                          {"s8", 1, 1, false},     {"v4.u8", 4, 4, false},  {"v2.u16", 4, 2, false},  {"u64", 8, 1, true},
                          {"v2.u64", 16, 2, true}, {"b64", 8, 1, true}};

struct Loads {
  const Type* type = types;
  std::string address;       ///< of lanes: statements that compute %r1 of %lane
  std::vector<int> offsets;  ///< of the loads
  bool wide_address = false;
  bool overwrites = false;  ///< one of the loads overwrites the address
  int initialised = 4096;   ///< bytes of the tile
};

constexpr int fields = 32;  // registers that are loaded

/// A kernel of one warp that loads, and adds up what it has loaded. `guard` stands before each load.
Module kernel_of(const Loads& loads, const std::string& guard) {
  std::string body = R"(
    .shared .align 16 .b8 tile[4096];
    .reg .b32 %x<32>; .reg .b64 %y<32>; .reg .b32 %lane, %at; .reg .b64 %wide, %z; .reg .pred %all, %more;
    mov.u32 %lane, %tid.x;
    setp.lt.u32 %all, %lane, 32;
    shl.b32 %at, %lane, 2;
    mov.u32 %r2, tile;
    add.u32 %at, %at, %r2;
)";
  body += fmt::format("add.u32 %r3, %r2, {};\n", loads.initialised);
  body += R"(
fill:
    mul.lo.u32 %r4, %at, 0x9e3779b1;
    st.shared.u32 [%at], %r4;
    add.u32 %at, %at, 128;
    setp.lt.u32 %more, %at, %r3;
    @%more bra fill;
    bar.sync 0;
    mov.u32 %r1, %lane;
)";
  for (int i = 0; i < fields; ++i) body += fmt::format("mov.u32 %x{}, 0; mov.u64 %y{}, 0;\n", i, i);
  body += loads.address + "add.u32 %r1, %r1, %r2;\ncvt.u64.u32 %wide, %r1;\n";
  int next = 0;
  for (std::size_t i = 0; i < loads.offsets.size(); ++i) {
    const char kind = loads.type->wide ? 'y' : 'x';
    std::string list;
    for (int e = 0; e < loads.type->vector; ++e) list += fmt::format("{}%{}{}", e == 0 ? "" : ", ", kind, next++ % fields);
    if (loads.overwrites && i == loads.offsets.size() / 2 && loads.type->vector == 1 && !loads.type->wide) list = "%r1";
    if (loads.type->vector != 1) list = "{" + list + "}";
    body += fmt::format("{} ld.shared.{} {}, [{}+{}];\n", guard, loads.type->name, list, loads.wide_address ? "%wide" : "%r1",
                        loads.offsets[i]);
  }
  for (int i = 0; i < fields; ++i)
    body += fmt::format(
        "cvt.u32.u64 %r5, %y{}; shr.u64 %z, %y{}, 32; cvt.u32.u64 %r6, %z; xor.b32 %r5, %r5, %r6;\n"
        "xor.b32 %r5, %r5, %x{}; mad.lo.u32 %d, %d, 31, %r5;\n",
        i, i, i);
  return word_kernel(body + "xor.b32 %d, %d, %r1;\n");
}

/// What an observer is told of accesses, and how many operations are behind it.
class Accesses : public machine::Observer {
 public:
  Accesses() : Observer(EventKinds::accesses) {}
  void access(const machine::AccessEvent& e) override {
    std::string line = fmt::format("{} {:x} {} {}", e.event.line(), e.event.lanes(), e.bytes, e.consecutive);
    for (const std::uint64_t address : e.addresses) line += fmt::format(" {}", address);
    lines.push_back(line);
  }
  std::vector<std::string> lines;
};

struct Outcome {
  std::vector<std::uint32_t> words;
  std::string message;
  std::vector<std::string> lines;
  bool operator==(const Outcome&) const = default;
};

enum class With : std::uint8_t { nothing, checks, observer };

Outcome run(const Loads& loads, const std::string& guard, With with) {
  Outcome out;
  Accesses accesses;
  LaunchOptions options;
  if (with == With::nothing) options.checks = {.uninitialised = false, .copies = false};
  if (with == With::observer) options.observers = {&accesses};
  out.message = message_of([&] { out.words = words_of(kernel_of(loads, guard), {1}, {32}, options); });
  out.lines = accesses.lines;
  return out;
}

Outcome run(const Loads& loads, With with) {
  const Outcome alone = run(loads, "@%all", with);
  const Outcome together = run(loads, "", with);
  CHECK(together.words == alone.words);
  CHECK(together.message == alone.message);
  CHECK(together.lines == alone.lines);
  return together;
}

const std::string rows = "shr.u32 %r4, %r1, 2; and.b32 %r1, %r1, 3; shl.b32 %r1, %r1, 2; mad.lo.u32 %r1, %r4, 80, %r1;\n";

}  // namespace

TEST_CASE("Loads of one register's address load what they load one by one", "[machine][memory]") {
  std::mt19937 random(5);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  for (int round = 0; round < 120; ++round) {
    Loads loads;
    loads.type = &types[static_cast<std::size_t>(below(std::size(types)))];
    const int bytes = loads.type->bytes;
    switch (below(5)) {
      case 0: loads.address = fmt::format("mul.lo.u32 %r1, %r1, {};\n", bytes); break;
      case 1: loads.address = "mov.u32 %r1, 64;\n"; break;
      case 2: loads.address = bytes > 4 ? "mul.lo.u32 %r1, %r1, 80;\n" : rows; break;
      case 3: loads.address = fmt::format("mul.lo.u32 %r1, %r1, 7; and.b32 %r1, %r1, 31; mul.lo.u32 %r1, %r1, {};\n", bytes); break;
      default: loads.address = fmt::format("mul.lo.u32 %r1, %r1, {};\n", bytes / loads.type->vector);  // each lane's overlap
    }
    if (loads.address.find(fmt::format("{};", bytes)) == std::string::npos) loads.address += fmt::format("and.b32 %r1, %r1, {};\n", -bytes);
    for (int i = 2 + below(7); i > 0; --i) loads.offsets.push_back(below(60) * bytes);
    loads.wide_address = below(2) == 0;
    loads.overwrites = !loads.wide_address && below(4) == 0 && bytes == 1;
    CAPTURE(round, loads.type->name, loads.address, loads.wide_address, loads.offsets);
    for (const With with : {With::nothing, With::checks, With::observer}) {
      const Outcome outcome = run(loads, with);
      if (!loads.overwrites) CHECK(outcome.message == "nothing");
      if (with == With::observer) CHECK(outcome.lines.size() > loads.offsets.size());
    }
  }
}

TEST_CASE("A load of a run that is not as the others traps as it does alone", "[machine][memory][checks]") {
  Loads loads;
  loads.address = rows;
  for (const bool wide : {false, true}) {
    loads.wide_address = wide;
    for (const auto& [offsets, text] : std::vector<std::pair<std::vector<int>, std::string>>{{{0, 16, 4080}, "outside of shared memory"},
                                                                                             {{16, -16, -32}, "outside of shared memory"},
                                                                                             {{0, 640, 18, 20}, "not a multiple of 4"}}) {
      loads.offsets = offsets;
      CAPTURE(wide, text);
      for (const With with : {With::nothing, With::checks, With::observer}) {
        const Outcome outcome = run(loads, with);
        CHECK(outcome.message.find(text) != std::string::npos);
      }
    }
  }
}

TEST_CASE("A load of a run that reads uninitialised bytes is reported as it is alone", "[machine][memory][checks]") {
  Loads loads;
  loads.address = rows;
  loads.offsets = {0, 640, 656, 1280, 1296, 16};
  loads.initialised = 1408;
  const Outcome outcome = run(loads, With::checks);
  CHECK(outcome.message.find("uninitialised") != std::string::npos);
  loads.initialised = 4096;
  CHECK(run(loads, With::checks).message == "nothing");
}

}  // namespace warpmat::load_runs_test
