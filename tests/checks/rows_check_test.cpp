// ldmatrix with row addresses that are right, repeated by mistake, and repeated on purpose.

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::rows_check_test {
namespace {

/// The warnings of a launch in which each lane finds the number of its row, in %r, by `row` of its lane, in %t.
std::vector<std::string> warnings_of(const std::string& row, const std::string& count = "x4", Checks checks = {}) {
  const std::string results = count == "x1" ? "{%a0}" : "{%a0, %a1, %a2, %a3}";
  const Module module = module_of(".param .u64 out",
                                  fmt::format(R"(
    .shared .align 16 .b8 tile[512];
    .reg .b32 %t, %r, %at, %z, %a<4>; .reg .b64 %o; .reg .pred %p;
    mov.u32 %t, %tid.x;
    mov.u32 %z, 0;
    mov.u32 %at, tile;
    shl.b32 %r, %t, 4;
    add.u32 %r, %r, %at;
    st.shared.v4.b32 [%r], {{%z, %z, %z, %z}};
    bar.sync 0;
    {}
    shl.b32 %r, %r, 4;
    add.u32 %r, %r, %at;
    ldmatrix.sync.aligned.m8n8.{}.shared.b16 {}, [%r];
    ret;
)",
                                              row, count, results),
                                  "sm_80");
  DeviceMemory memory;
  return launch(Kernel(module, "k"), {{2}, {32}}, memory, {memory.allocate(4, "out")}, {.checks = checks}).warnings;
}

TEST_CASE("a row that ldmatrix reads twice is a warning", "[checks]") {
  const auto twice = warnings_of("shr.u32 %r, %t, 1;");
  REQUIRE(twice.size() == 1);
  CHECK(contains(twice[0], "block (0, 0, 0), warp 0, line "));
  CHECK(contains(twice[0], ": lanes 0 and 1 have the address of one row"));
  CHECK(contains(twice[0], "so matrix 0 holds it twice"));
  // Matrix 1 alone: lane 9 has the row of lane 8.
  const auto second = warnings_of("setp.eq.u32 %p, %t, 9; selp.u32 %r, 8, %t, %p;");
  REQUIRE(second.size() == 1);
  CHECK(contains(second[0], "lanes 8 and 9"));
  CHECK(contains(second[0], "matrix 1"));
}

TEST_CASE("right rows of ldmatrix are silent", "[checks]") {
  CHECK(warnings_of("mov.u32 %r, %t;").empty());
  CHECK(warnings_of("and.b32 %r, %t, 7;").empty());                           // four times the same matrix
  CHECK(warnings_of("shr.u32 %r, %t, 3;").empty());                           // a row throughout
  CHECK(warnings_of("min.u32 %r, %t, 28;").empty());                          // the last row beyond the end
  CHECK(warnings_of("min.u32 %r, %t, 7; shr.u32 %r, %r, 0;", "x1").empty());  // lanes whose addresses do not count
  CHECK(warnings_of("shr.u32 %r, %t, 1;", "x4", {.uninitialised = false}).empty());
}

}  // namespace
}  // namespace warpmat::rows_check_test
