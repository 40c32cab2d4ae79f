#include <warpmat/machine/internals.h>

#include <warpmat/ir/code.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::call_test {
namespace {

TEST_CASE("calls: parameters and results through .param and .reg, barriers and divergence inside, recursion", "[machine][call]") {
  const std::string functions = R"(
.func (.param .b32 result) triple(.param .b32 x, .param .align 8 .b8 s[16])
{
    .reg .b32 %r<9>; .reg .pred %q;
    ld.param.b32 %r1, [x];
    ld.param.b32 %r2, [s+8];
    mad.lo.s32 %r3, %r1, 3, %r2;
    bar.sync 0;
    setp.lt.u32 %q, %r1, 5;
    st.param.b32 [result], %r3;
    @%q ret;
    add.s32 %r3, %r3, 1000;
    st.param.b32 [result], %r3;
    ret;
}
.func (.reg .b32 result) factorial(.reg .b32 n)
{
    .reg .b32 %r<9>; .reg .pred %p<2>;
    mov.u32 result, 1;
    setp.lt.u32 %p1, n, 2;
    @%p1 ret;
    sub.u32 %r1, n, 1;
    call (%r2), factorial, (%r1);
    mul.lo.u32 result, %r2, n;
    ret;
}
)";
  const Module module = word_kernel(R"(
    .param .b32 a;
    .param .align 8 .b8 b[16];
    .param .b32 r;
    st.param.b32 [a], %i;
    st.param.b32 [b+8], 50;
    call.uni (r), triple, (a, b);
    ld.param.b32 %d, [r];
    activemask.b32 %r5;
    setp.ne.u32 %p1, %r5, -1;
    @%p1 mov.u32 %d, 0;
    and.b32 %r1, %i, 3;
    setp.eq.u32 %p2, %r1, 2;
    mov.u32 %r2, 0;
    @%p2 call (%r2), factorial, (%i);
    add.u32 %d, %d, %r2;
)",
                                    "sm_90", functions);
  const auto factorial = [](std::uint32_t n) {
    std::uint32_t product = 1;
    for (std::uint32_t i = 2; i <= n; ++i) product *= i;
    return product;
  };
  std::vector<std::uint32_t> expected;
  for (std::uint32_t i = 0; i < 64; ++i) expected.push_back(3 * i + 50 + (i < 5 ? 0 : 1000) + (i % 4 == 2 ? factorial(i) : 0));
  CHECK(words_of(module, {1}, {64}) == expected);
}

TEST_CASE("vprintf prints by blocks and lanes; a failed assertion is a trap with its text", "[machine][print]") {
  const std::string before = R"(
.extern .func  (.param .b32 func_retval0) vprintf (.param .b64 vprintf_param_0, .param .b64 vprintf_param_1);
.extern .func __assertfail (.param .b64 p0, .param .b64 p1, .param .b32 p2, .param .b64 p3, .param .b64 p4) .noreturn;
.global .align 1 .b8 format[27] = {116, 37, 100, 58, 32, 37, 46, 50, 102, 32, 37, 115, 32, 37, 53, 108, 108, 120, 124, 37, 99, 37, 37, 10, 0};
.global .align 1 .b8 word[3] = {104, 105, 0};
)";
  // "t%d: %.2f %s %5llx|%c%%\n"
  const std::string body = R"(
    .local .align 8 .b8 depot[40];
    .reg .b64 %SP, %SPL; .reg .f64 %g<2>;
    mov.u64 %SPL, depot;
    cvta.local.u64 %SP, %SPL;
    st.local.u32 [%SPL], %i;
    cvt.rn.f64.u32 %g0, %i;
    mul.f64 %g0, %g0, 0d3FF8000000000000;
    st.local.f64 [%SPL+8], %g0;
    mov.u64 %l1, word;
    cvta.global.u64 %l1, %l1;
    st.local.u64 [%SPL+16], %l1;
    st.local.u64 [%SPL+24], 171;
    st.local.u32 [%SPL+32], 65;
    mov.u64 %l2, format;
    cvta.global.u64 %l2, %l2;
    { .param .b64 param0; .param .b64 param1; .param .b32 retval0;
    st.param.b64 [param0], %l2;
    st.param.b64 [param1], %SP;
    call.uni (retval0), vprintf, (param0, param1);
    ld.param.b32 %d, [retval0];
    }
)";
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(16, "out");
  const LaunchResult result = launch(Kernel(word_kernel(body, "sm_90", before), "k"), {{2}, {2}}, memory, {out}, {.jobs = 2});
  CHECK(result.printed == "t0: 0.00 hi    ab|A%\nt1: 1.50 hi    ab|A%\nt2: 3.00 hi    ab|A%\nt3: 4.50 hi    ab|A%\n");
  CHECK(memory.read<std::uint32_t>(out, 1)[0] == 5);

  const std::string fails = R"(
    mov.u64 %l1, word;
    cvta.global.u64 %l1, %l1;
    { .param .b64 a0; .param .b64 a1; .param .b32 a2; .param .b64 a3; .param .b64 a4;
    st.param.b64 [a0], %l1; st.param.b64 [a1], %l1; st.param.b32 [a2], 17; st.param.b64 [a3], %l1; st.param.b64 [a4], 1;
    call.uni __assertfail, (a0, a1, a2, a3, a4);
    }
)";
  CHECK(trap_of(word_kernel(fails, "sm_90", before), {1}).find("hi:17: hi: assertion `hi` failed") != std::string::npos);
}

// An H200 prints %zu as it stands.
TEST_CASE("vprintf has the sizes that CUDA has, and prints other letters as they stand", "[machine][print]") {
  const auto printed = [](const std::string& format) {
    std::string bytes;
    for (const char c : format) bytes += fmt::format("{}, ", static_cast<int>(c));
    const std::string before = fmt::format(R"(
.extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 values);
.global .align 1 .b8 format[{}] = {{{}0}};)",
                                           format.size() + 1, bytes);
    const std::string body = R"(
    .local .align 8 .b8 values[16];
    mov.u64 %l0, values;
    st.local.u64 [%l0], -2;
    st.local.u64 [%l0+8], -3;
    cvta.local.u64 %l0, %l0;
    mov.u64 %l1, format;
    cvta.global.u64 %l1, %l1;
    { .param .b64 param0; .param .b64 param1; .param .b32 back;
    st.param.b64 [param0], %l1;
    st.param.b64 [param1], %l0;
    call.uni (back), vprintf, (param0, param1);
    }
)";
    DeviceMemory memory;
    const std::uint64_t out = memory.allocate(4, "out");
    return launch(Kernel(word_kernel(body, "sm_90", before), "k"), {{1}, {1}}, memory, {out}).printed;
  };
  CHECK(printed("%lld %lld") == "-2 -3");
  CHECK(printed("%ld") == "-2");
  CHECK(printed("%d") == "-2");
  CHECK(printed("%hd") == "-2");
  CHECK(printed("%llu") == "18446744073709551614");
  for (const char* const text : {"%zu items", "%zd", "%td", "%ju", "%Lf"}) CHECK(printed(text) == text);
}

TEST_CASE("calls through registers and through a table of functions, each lane its own", "[machine][call]") {
  const std::string functions = R"(
.func (.param .b32 r) twice (.param .b32 x) { .reg .b32 %a; ld.param.b32 %a, [x]; shl.b32 %a, %a, 1; st.param.b32 [r], %a; ret; }
.func (.param .b32 r) square (.param .b32 x) { .reg .b32 %a; ld.param.b32 %a, [x]; mul.lo.u32 %a, %a, %a; st.param.b32 [r], %a; ret; }
.func (.param .b32 r) other (.param .b64 x) { .reg .b32 %a; mov.u32 %a, 99; st.param.b32 [r], %a; ret; }
.global .align 8 .u64 table[2] = {twice, square};)";
  const auto call = [](const std::string& last) {
    return R"(
    mov.u64 %l0, table;
    cvta.global.u64 %l0, %l0;
    and.b32 %r0, %i, 1;
    mul.wide.u32 %l1, %r0, 8;
    add.u64 %l0, %l0, %l1;
    ld.global.u64 %l2, [%l0];
    setp.eq.u32 %p0, %i, 5;
    @%p0 mov.u64 %l2, square;
    setp.eq.u32 %p1, %i, 6;
    @%p1 mov.u64 %l2, )" +
           last + R"(;
    {
      .param .b32 given; .param .b32 got;
      st.param.b32 [given], %i;
      prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
      call (got), %l2, (given), prototype;
      ld.param.b32 %d, [got];
    })";
  };
  std::vector<std::uint32_t> expected(32);
  for (std::uint32_t i = 0; i < 32; ++i) expected[i] = i % 2 == 1 ? i * i : 2 * i;
  CHECK(words_of(word_kernel(call("twice"), "sm_90", functions), {1}, {32}) == expected);
  // A function of another signature, and a number that is no function's address.
  for (const std::string last : {"other", "17"}) {
    const std::string trap = trap_of(word_kernel(call(last), "sm_90", functions), {32});
    CHECK(trap.find("lane 6, line") != std::string::npos);
    CHECK(trap.find("no function") != std::string::npos);
  }
}

/// `function0` to `function<last>`, each of `bytes` of local memory; the last calls nothing, each other the next one twice.
std::string doubling_calls(int last, int bytes) {
  std::string functions;
  for (int i = last; i >= 0; --i) {
    const std::string call = i == last ? "" : "call function" + std::to_string(i + 1) + "; ";
    functions += ".func function" + std::to_string(i) + "() { .local .b8 own[" + std::to_string(bytes) + "]; " + call + call + "ret; }\n";
  }
  return functions;
}

TEST_CASE("the call tree of functions that many paths of calls reach: walked once each, local memory of the deepest path",
          "[machine][call]") {
  const Module module = module_of("", "call function0; call function39; ret;", "sm_90", doubling_calls(40, 16));
  const Kernel kernel(module, "k");
  const code::CallTree& tree = program_of(kernel).call_tree;
  CHECK(tree.local_bytes == 41 * 16);
  CHECK_FALSE(tree.recursive);
}

TEST_CASE("local memory of recursion: a function that calls itself, a cycle of functions at least as its longest path", "[machine][call]") {
  const auto tree_of = [](std::string_view body, std::string_view functions) {
    return program_of(Kernel(module_of("", body, "sm_90", functions), "k")).call_tree;
  };
  const code::CallTree own = tree_of("call a; call b; ret;", R"(
.func b() { .local .b8 own[32]; ret; }
.func a() { .local .b8 own[16]; call a; ret; }
)");
  CHECK(own.recursive);
  CHECK(own.local_bytes == 32);
  // a is entered first, b is finished within it; the longest path is b, a, c.
  const code::CallTree cycle = tree_of("call a; call b; ret;", R"(
.func b();
.func c() { .local .b8 own[64]; ret; }
.func a() { .local .b8 own[16]; call b; call c; ret; }
.func b() { .local .b8 own[32]; call a; ret; }
)");
  CHECK(cycle.recursive);
  CHECK(cycle.local_bytes >= 16 + 32 + 64);
}

TEST_CASE("functions without registers call others", "[machine][call]") {
  const std::string functions = R"(
.global .align 4 .u32 g;
.func leaf () { .reg .b64 %at; .reg .b32 %x; mov.u64 %at, g; mov.u32 %x, 5; st.global.u32 [%at], %x; ret; }
.func middle () { call leaf; ret; }
)";
  const Module module =
      word_kernel("mov.u32 %r1, 7; call middle; mov.u64 %l1, g; ld.global.u32 %d, [%l1]; add.u32 %d, %d, %r1;", "sm_90", functions);
  CHECK(words_of(module, {1}, {32}) == std::vector<std::uint32_t>(32, 12));
  DeviceMemory memory;
  launch(Kernel(module_of("", "call middle; ret;", "sm_90", functions), "k"), {{1}, {32}}, memory, {});  // the entry has none either
}

TEST_CASE("lanes of a warp in two functions at once, and at two calls of one, keep their registers", "[machine][call]") {
  const std::string functions = R"(
.func (.param .b64 r) wide (.param .b64 x, .param .b32 n) {
    .reg .b64 %x, %sum; .reg .b32 %n; .reg .pred %p;
    ld.param.u64 %x, [x];
    ld.param.u32 %n, [n];
    mov.u64 %sum, 0;
again:
    add.u64 %sum, %sum, %x;
    sub.u32 %n, %n, 1;
    setp.ne.u32 %p, %n, 0;
    @%p bra again;
    st.param.b64 [r], %sum;
    ret;
}
.func (.param .b32 r) narrow (.param .b32 x, .param .b32 n) {
    .reg .b32 %x, %sum, %n, %mixed; .reg .pred %p;
    ld.param.u32 %x, [x];
    ld.param.u32 %n, [n];
    mov.u32 %sum, 0;
    mov.u32 %mixed, 7;
again:
    add.u32 %sum, %sum, %x;
    xor.b32 %mixed, %mixed, %sum;
    sub.u32 %n, %n, 1;
    setp.ne.u32 %p, %n, 0;
    @%p bra again;
    setp.eq.u32 %p, %mixed, 12345678;
    @%p mov.u32 %sum, 0;
    st.param.b32 [r], %sum;
    ret;
}
.func (.reg .b32 sum) by_register (.reg .b32 x, .reg .b32 n) {
    .reg .pred %p;
    mov.u32 sum, 0;
again:
    add.u32 sum, sum, x;
    sub.u32 n, n, 1;
    setp.ne.u32 %p, n, 0;
    @%p bra again;
    ret;
})";
  // Lanes of other numbers of rounds: the splits of the warp take turns in the loops.
  const std::string rounds = "and.b32 %r0, %i, 3; add.u32 %r0, %r0, 2; and.b32 %r1, %i, 1; setp.eq.u32 %p0, %r1, 0; @%p0 bra even;";
  const auto rounds_of = [](std::uint32_t i) { return i % 4 + 2; };
  const Module two = word_kernel(rounds + R"(
    cvt.u64.u32 %l0, %i;
    shl.b64 %l1, %l0, 32;
    or.b64 %l0, %l0, %l1;
    { .param .b64 x; .param .b32 n; .param .b64 r;
      st.param.b64 [x], %l0; st.param.b32 [n], %r0; call (r), wide, (x, n); ld.param.b64 %l2, [r]; }
    shr.u64 %l3, %l2, 32;
    cvt.u32.u64 %d, %l3;
    bra done;
even:
    { .param .b32 x; .param .b32 n; .param .b32 r;
      st.param.b32 [x], %i; st.param.b32 [n], %r0; call (r), narrow, (x, n); ld.param.b32 %d, [r]; }
done:
)",
                                 "sm_90", functions);
  const Module one = word_kernel(rounds + R"(
    add.u32 %r2, %i, 100;
    call (%d), by_register, (%r2, %r0);
    bra done;
even:
    add.u32 %r3, %i, 500;
    call (%d), by_register, (%r3, %r0);
done:
)",
                                 "sm_90", functions);
  std::vector<std::uint32_t> of_two, of_one;
  for (std::uint32_t i = 0; i < 32; ++i) {
    of_two.push_back(i * rounds_of(i));
    of_one.push_back((i + (i % 2 == 1 ? 100 : 500)) * rounds_of(i));
  }
  CHECK(words_of(two, {1}, {32}) == of_two);
  CHECK(words_of(one, {1}, {32}) == of_one);
}

}  // namespace
}  // namespace warpmat::call_test
