#include <algorithm>
#include <string>

#include "catch.h"
#include "command.h"

namespace warpmat::check_test {
namespace {

std::string wrong_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "bad a;\n";
  return text;
}

TEST_CASE("check prints 20 errors and how many there are more, or all of them", "[tools]") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("wrong.ptx");
  const auto check = [&](int errors, std::vector<std::string> more) {
    write_text(file, wrong_lines(errors));
    more.insert(more.begin(), {"check", file, "--target", "sm_90a"});
    const Outcome outcome = run_command(more);
    CHECK(outcome.status == 1);
    CHECK(outcome.out.empty());
    return outcome.err;
  };
  constexpr int lines_an_error = 3;
  CHECK(std::ranges::count(check(20, {}), '\n') == 20 * lines_an_error);
  const std::string some = check(23, {});
  CHECK(std::ranges::count(some, '\n') == 20 * lines_an_error + 1);
  CHECK(some.find("wrong.ptx:20:1: error: ") != std::string::npos);
  CHECK(some.ends_with("... and 3 more (--all-errors)\n"));
  const std::string all = check(23, {"--all-errors"});
  CHECK(std::ranges::count(all, '\n') == 23 * lines_an_error);
  CHECK(all.find("wrong.ptx:23:1: error: ") != std::string::npos);
}

TEST_CASE("what check prints of a file has no control bytes", "[tools]") {
  const TemporaryDirectory directory;
  std::string text = "bad \"";
  for (int byte = 0; byte < 256; ++byte)
    if (byte != '\n') text += static_cast<char>(byte);
  write_text(directory.path("wrong.ptx"), text);
  const Outcome outcome = run_command({"check", directory.path("wrong.ptx"), "--target", "sm_90a", "--all-errors"});
  CHECK(outcome.status == 1);
  for (const char byte : outcome.err) {
    const bool shown = (byte >= ' ' && byte < 0x7f) || byte == '\n' || byte == '\t';
    if (!shown) FAIL("the byte " << static_cast<int>(byte));
  }
}

TEST_CASE("check takes an entry without a statement, which returns", "[tools]") {
  const TemporaryDirectory directory;
  write_text(directory.path("empty.ptx"), ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {}\n");
  const Outcome outcome = run_command({"check", directory.path("empty.ptx")});
  CHECK(outcome.status == 0);
  CHECK(outcome.out.ends_with("1 entry, no errors for the module's target\n"));
}

TEST_CASE("check --assembler lists by line what ptxas folds and fuses", "[tools]") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("kernel.ptx");
  write_text(file, R"(.version 9.0
.target sm_90
.address_size 64
.entry k(.param .f32 x, .param .u64 out) {
.reg .f32 %f<9>; .reg .b64 %d;
ld.param.f32 %f1, [x];
ld.param.u64 %d, [out];
rsqrt.approx.f32 %f2, 0f43000000;
div.full.f32 %f3, %f1, 0f40400000;
mul.f32 %f4, %f1, %f2;
add.f32 %f5, %f4, %f1;
max.f32 %f6, %f5, %f3;
st.global.f32 [%d], %f6;
ret;
})");
  const Outcome outcome = run_command({"check", file, "--assembler", "--quiet"});
  CHECK(outcome.status == 0);
  CHECK(outcome.out == file + ":8: rsqrt.approx.f32: folded to 0x3db504f3, which the instruction need not give at run time\n" + file +
                           ":9: div.full.f32: simplified, as an operand is constant (0x3eaaaaab)\n" + file +
                           ":11: add.f32: fused with a product into an fma\n" + file + ": 1 entry, no errors for the module's target\n");
  write_text(file, R"(.version 9.0
.target sm_90
.address_size 64
.entry k(.param .u32 x, .param .u64 out) {
.reg .b32 %r<9>; .reg .b64 %d; .reg .pred %p<3>;
ld.param.u32 %r1, [x];
ld.param.u64 %d, [out];
mov.u32 %r2, %tid.x;
setp.eq.u32 %p1, %r2, 3;
lop3.or.b32 %r3|%p2, %r1, %r2, %r2, 0x04, %p1;
xor.b32 %r4, %r2, %r3;
st.global.u32 [%d], %r4;
ret;
})");
  const Outcome doubts = run_command({"check", file, "--assembler"});
  CHECK(doubts.status == 0);
  CHECK(doubts.out.starts_with(file + ":10: lop3.or.b32: in doubt: "));
  CHECK(contains(doubts.err, ": assumed ("));
  CHECK(doubts.err.find("(line 10, lop3.or.b32)") != std::string::npos);
  write_text(file, "add.u32 a, b, c;");
  const Outcome list = run_command({"check", file, "--assembler", "--target", "sm_90"});
  CHECK(list.status != 0);
  CHECK(list.err.find("is for modules") != std::string::npos);
}

}  // namespace
}  // namespace warpmat::check_test
