// Kernels without matrix instructions of which --guess says what their elements depend on. Values are zeros: nothing depends on them.

#include <warpmat/provenance.h>

#include "test.h"

namespace warpmat::read_pattern_test {
namespace {

constexpr unsigned threads = 64, blocks = 4, elements = threads * blocks;

/// y[i] is computed by `body`, which has i in %i, 4 * i in %x, the addresses of x[i] and y[i] in %a and %c, and stores nothing.
Module module_of(const std::string& body, const std::string& store = "st.global.f32 [%c], %s;") {
  return Module(fmt::format(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y) {{
  .reg .pred %p;
  .reg .b32 %i, %t, %b, %n, %q;
  .reg .f32 %s, %u;
  .reg .b64 %x, %a, %c;
  .shared .align 4 .b8 part[256];
  mov.u32 %t, %tid.x;
  mov.u32 %b, %ctaid.x;
  mov.u32 %n, %ntid.x;
  mad.lo.u32 %i, %b, %n, %t;
  mul.wide.u32 %x, %i, 4;
  ld.param.u64 %a, [x];
  add.s64 %a, %a, %x;
  ld.param.u64 %c, [y];
  add.s64 %c, %c, %x;
{}
  {}
  ret;
}})",
                            body, store));
}

Guess guess_of(const Module& module, bool errs = false, unsigned more = 0) {
  const Kernel kernel(module, "k");
  DeviceMemory memory;
  const std::vector<Argument> arguments{memory.allocate(4 * (elements + more), "X"), memory.allocate(4 * elements, "Y")};
  const LaunchConfig config{{blocks}, {threads}};
  Guesser guesser(kernel, config, memory, arguments);
  LaunchOptions options;
  options.checks = {.uninitialised = false, .copies = false, .global = false};
  guesser.observe(options);
  launch(kernel, config, memory, arguments, options);
  return guesser.result(errs);
}

/// The sum of x[i] and x[i+1], without the second where `without` is true.
std::string sum_without(const std::string& without) {
  return "ld.global.f32 %s, [%a];\n" + without + "\n@%p bra done;\nld.global.f32 %u, [%a+4];\nadd.f32 %s, %s, %u;\ndone:\n";
}
const std::string last_one = fmt::format("setp.eq.u32 %p, %i, {};", elements - 1);

TEST_CASE("a kernel that computes each element alike has a pattern and no findings", "[guess][reads]") {
  const Guess guess = guess_of(module_of(sum_without(last_one)));
  CHECK(contains(guess.text, "each element of Y depends on 2 of X"));
  CHECK(guess.findings.empty());
  CHECK(guess.products.empty());
}

TEST_CASE("what is special at the ends of rows is no finding", "[guess][reads]") {
  CHECK(guess_of(module_of(sum_without(fmt::format("and.b32 %q, %i, {};\nsetp.eq.u32 %p, %q, {};", threads - 1, threads - 1))))
            .findings.empty());
}

TEST_CASE("an element that is computed otherwise than its neighbours is named, with what it lacks", "[guess][reads]") {
  const Guess guess = guess_of(module_of(sum_without("setp.eq.u32 %p, %i, 77;")), false, 1);
  REQUIRE(guess.findings.size() == 1);
  CHECK(guess.findings[0].kind == Trap::Kind::mispaired);
  CHECK(contains(guess.findings[0].reason, "Y[77]"));
  CHECK(contains(guess.findings[0].reason, "X[78]"));
}

TEST_CASE("an element that depends on another one than its neighbours is named, with both", "[guess][reads]") {
  const Guess guess = guess_of(module_of("setp.eq.u32 %p, %i, 40;\n@%p add.s64 %a, %a, 8;\nld.global.f32 %s, [%a];"));
  REQUIRE(guess.findings.size() == 1);
  CHECK(contains(guess.findings[0].reason, "Y[40]"));
  CHECK(contains(guess.findings[0].reason, "X[40], but on X[42]"));
  CHECK(contains(guess.findings[0].parts.notes.front().text, "loads"));
}

TEST_CASE("values are followed through shared memory, where a wrong reader is named", "[guess][reads]") {
  const auto body = [](const char* place) {
    return fmt::format(
        "ld.global.f32 %s, [%a];\nshl.b32 %q, %t, 2;\nmov.u32 %n, part;\nadd.u32 %q, %q, %n;\nst.shared.f32 [%q], %s;\n"
        "bar.sync 0;\n{}\nld.shared.f32 %s, [%q];",
        place);
  };
  CHECK(guess_of(module_of(body(""))).findings.empty());
  const Guess guess = guess_of(module_of(body("setp.eq.u32 %p, %t, 9;\n@%p add.u32 %q, %q, 4;")));
  REQUIRE_FALSE(guess.findings.empty());
  CHECK(contains(guess.findings[0].reason, "Y[9]"));
  CHECK(guess.findings[0].site.statement == "st.global.f32");
}

TEST_CASE("a shuffle that leaves lanes out is found where another line reads all", "[guess][reads]") {
  const auto sum = [](int first) {
    std::string text = "ld.global.f32 %s, [%a];\n";
    for (int distance = first; distance != 0; distance /= 2)
      text += fmt::format("shfl.sync.bfly.b32 %u, %s, {}, 31, -1;\nadd.f32 %s, %s, %u;\n", distance);
    return text;
  };
  const std::string all = sum(16) + "mov.f32 %v, %s;\n";
  const auto both = [&](int first) {
    std::string text = all + sum(first) + "add.f32 %s, %s, %v;";
    return ".reg .f32 %v;\n" + text;
  };
  CHECK(guess_of(module_of(both(16))).findings.empty());
  const Guess guess = guess_of(module_of(both(8)));
  REQUIRE_FALSE(guess.findings.empty());
  CHECK(contains(guess.findings[0].reason, "32 elements of X"));
  CHECK(contains(guess.findings[0].reason, "only 16"));
}

TEST_CASE("of a wrong result what nobody reads, uses or stores is named", "[guess][reads]") {
  const std::string load = "ld.global.f32 %s, [%a];\n";
  const std::string halve = "setp.ge.u32 %p, %i, 200;\n@%p add.s64 %a, %a, -800;\n" + load;
  CHECK_FALSE(guess_of(module_of(halve), true).findings.empty());
  const auto unstored = module_of(load + fmt::format("setp.eq.u32 %p, %i, {};", elements - 1), "@!%p st.global.f32 [%c], %s;");
  CHECK(guess_of(unstored).findings.empty());
  const Guess guess = guess_of(unstored, true);
  REQUIRE(guess.findings.size() == 1);
  CHECK(contains(guess.findings[0].reason, fmt::format("[{}]", elements - 1)));
}

}  // namespace
}  // namespace warpmat::read_pattern_test
