// Scale factors and metadata beside the factors of a told product: right ones, and those of other rows and blocks of k. The numbers are
// zeros: nothing here knows a result.

#include <warpmat/provenance.h>

#include "checks/lanes_module.h"
#include "test.h"

namespace warpmat::companion_test {
namespace {

void says(const std::string& text, const std::string& part, const std::string& other = "") {
  INFO(text);
  CHECK(contains(text, part));
  CHECK(contains(text, other));
}

/// C (16 x 8, f32) = A (16 x 64, e4m3) B^T (8 x 64) of one warp in two steps of 32, each with a scale factor a line.
struct Scaled {
  std::string row = "and.b32 %l2, %q, 1; shl.b32 %l2, %l2, 3; add.u32 %l2, %l2, %g;";  ///< of A, whose scales a lane loads; in %l2
  std::string row_bytes = "2";                                                         ///< of its scales
  int byte[2] = {0, 1};                                                                ///< of the word, by step
  std::string b_scales = "SB";
};

std::string verdict_of_scaled(const Scaled& with, const std::string& more = "") {
  std::string body = R"(
    .reg .b64 %sa, %sb; .reg .b16 %h, %h1; .reg .b32 %s, %u;
    ld.param.u64 %sa, [SA];
    ld.param.u64 %sb, [)" +
                     with.b_scales + "];\n" + with.row + R"(
    mul.lo.u32 %l3, %l2, )" +
                     with.row_bytes + R"(;
    cvt.u64.u32 %x, %l3;
    add.s64 %sa, %sa, %x;
    ld.global.u8 %h, [%sa];
    ld.global.u8 %h1, [%sa+1];
    shl.b16 %h1, %h1, 8;
    or.b16 %h, %h, %h1;
    cvt.u32.u16 %s, %h;
    shl.b32 %l3, %g, 1;
    cvt.u64.u32 %x, %l3;
    add.s64 %sb, %sb, %x;
    ld.global.u16 %h, [%sb];
    cvt.u32.u16 %u, %h;
    shl.b32 %l0, %g, 6;
    shl.b32 %l1, %q, 2;
    add.u32 %l0, %l0, %l1;
    cvt.u64.u32 %x, %l0;
    add.s64 %a, %a, %x;
    add.s64 %b, %b, %x;
)";
  for (int step = 0; step < 2; ++step)
    body += fmt::format(R"(
    ld.global.b32 %a0, [%a+{0}]; ld.global.b32 %a1, [%a+{1}]; ld.global.b32 %a2, [%a+{2}]; ld.global.b32 %a3, [%a+{3}];
    ld.global.b32 %b0, [%b+{0}]; ld.global.b32 %b1, [%b+{2}];
    mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 {{%c0, %c1, %c2, %c3}},
        {{%a0, %a1, %a2, %a3}}, {{%b0, %b1}}, {{%c0, %c1, %c2, %c3}}, %s, {{{4}, 0}}, %u, {{{5}, 0}};
)",
                        32 * step, 32 * step + 512, 32 * step + 16, 32 * step + 528, with.byte[step], step);
  body += place_in_c + store_c;
  DeviceMemory memory;
  const std::uint64_t a = memory.allocate(16 * 64, "A"), b = memory.allocate(8 * 64, "B"), c = memory.allocate(16 * 8 * 4, "C"),
                      sa = memory.allocate(16 * 2, "SA"), sb = memory.allocate(16 * 2, "SB");
  return message_of([&] {
    launch_products(Kernel(module_of_lanes(body, "", ", .param .u64 SA, .param .u64 SB", "sm_120a"), "k"), {{1}, {32}}, memory,
                    {a, b, c, sa, sb}, {parse_products("C=A*B^T:16x8x64" + more)});
  });
}

TEST_CASE("Scale factors are those of the rows and blocks of k beside them", "[checks]") {
  CHECK(verdict_of_scaled({}) == "nothing");
  CHECK(verdict_of_scaled({}, ",sfa=SA") == "nothing");
  // One scale for all of A, and one for each row.
  CHECK(verdict_of_scaled({.row = "mov.u32 %l2, 0;", .byte = {0, 0}}) == "nothing");
  const Scaled same_rows{.row = "mov.u32 %l2, %g;"}, exchanged{.byte = {1, 0}}, same_byte{.byte = {0, 0}}, overlapping{.row_bytes = "1"};
  says(verdict_of_scaled(same_rows), "row 8, k 0 to 31 of A has the scale factor of row 0, k 0 to 31 of A, byte 0 of 'SA'",
       "this statement loaded the entry: line ");
  says(verdict_of_scaled(exchanged), "row 0, k 0 to 31 of A has byte 1 of 'SA' as its scale factor",
       "k 32 to 63 of A has byte 0 of 'SA', which lies before it: they are exchanged");
  says(verdict_of_scaled(overlapping), "row 1, k 0 to 31 of A has the scale factor of row 0, k 32 to 63 of A, byte 1 of 'SA'");
  says(verdict_of_scaled(same_byte, ",sfa=SA"), "row 0, k 32 to 63 of A has SA[0,0] as its scale factor; SA[0,1] belongs there");
  says(verdict_of_scaled({.b_scales = "SA"}), "row 0, k 0 to 31 of A and column 0, k 0 to 31 of B have one scale factor, byte 0 of 'SA'");
  says(verdict_of_scaled({.b_scales = "SA"}, ",sfb=SB"), "column 0, k 0 to 31 of B has byte 0 of 'SA' as its scale factor",
       "SB[0,0] belongs there");
  says(verdict_of_scaled({}, ",e=SA"), "the product has e=SA, and the kernel has no mma.sp");
  says(verdict_of_scaled({}, ",sfa=SD"), "no buffer 'SD'");
}

/// C (16 x 8, f32) = A (16 x 32 with two of four, f16) B^T (8 x 32) of one warp. A lane loads the words of `half`, of two rows, in this
/// order.
std::string verdict_of_sparse(const std::string& half, const std::string& low, const std::string& high, const std::string& more = "") {
  const std::string body = R"(
    .reg .b64 %e; .reg .b16 %h<2>; .reg .b32 %w;
    ld.param.u64 %e, [E];
)" + half + R"(
    shl.b32 %l0, %l0, 1;
    shl.b32 %l1, %g, 2;
    add.u32 %l0, %l0, %l1;
    cvt.u64.u32 %x, %l0;
    add.s64 %e, %e, %x;
    ld.global.u16 %h0, [%e+)" +
                           low + R"(];
    ld.global.u16 %h1, [%e+)" +
                           high + R"(];
    mov.b32 %w, {%h0, %h1};
    shl.b32 %l0, %g, 5;
    shl.b32 %l1, %q, 2;
    add.u32 %l2, %l0, %l1;
    cvt.u64.u32 %x, %l2;
    add.s64 %a, %a, %x;
    shl.b32 %l0, %g, 6;
    add.u32 %l2, %l0, %l1;
    cvt.u64.u32 %x, %l2;
    add.s64 %b, %b, %x;
    ld.global.b32 %a0, [%a]; ld.global.b32 %a1, [%a+256]; ld.global.b32 %a2, [%a+16]; ld.global.b32 %a3, [%a+272];
    ld.global.b32 %b0, [%b]; ld.global.b32 %b1, [%b+16]; ld.global.b32 %l4, [%b+32]; ld.global.b32 %l5, [%b+48];
    mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3},
        {%b0, %b1, %l4, %l5}, {%c0, %c1, %c2, %c3}, %w, 0;
)" + place_in_c + store_c;
  DeviceMemory memory;
  const std::uint64_t a = memory.allocate(16 * 16 * 2, "A"), b = memory.allocate(8 * 32 * 2, "B"), c = memory.allocate(16 * 8 * 4, "C"),
                      e = memory.allocate(std::vector<std::uint16_t>(16 * 2, 0x4444), "E");
  return message_of([&] {
    launch_products(Kernel(module_of_lanes(body, "", ", .param .u64 E", "sm_80"), "k"), {{1}, {32}}, memory, {a, b, c, e},
                    {parse_products("C=A*B^T:16x8x32" + more)});
  });
}

TEST_CASE("Metadata is that of the rows and groups of a sparse factor", "[checks]") {
  const std::string half = "and.b32 %l0, %q, 1;";
  CHECK(verdict_of_sparse(half, "0", "32") == "nothing");
  CHECK(verdict_of_sparse(half, "0", "32", ",e=E") == "nothing");
  says(verdict_of_sparse(half, "32", "0"), "row 0, k 0 to 3 of A has bits 0 to 3 of byte 32 of 'E' as its metadata code",
       "row 8, k 0 to 3 of A has bits 0 to 3 of byte 0 of 'E', which lies before it: they are exchanged");
  says(verdict_of_sparse(half, "32", "0", ",e=E"), "row 0, k 0 to 3 of A has E[8,0] as its metadata code; E[0,0] belongs there",
       "this statement loaded the entry: line ");
  says(verdict_of_sparse("shr.u32 %l0, %q, 1;", "0", "32"), "row 0, k 16 to 19 of A has the metadata code of row 0, k 0 to 3 of A");
}

/// C (64 x 8, f32) = A (64 x 32 with two of four, f16) B^T (8 x 32) of a warpgroup; A and B lie in shared memory without swizzle. `low` and
/// `high`: bytes from the words of the lane's row to those that it takes for this row and the one 8 below.
std::string verdict_of_warpgroup(const std::string& low, const std::string& high, const std::string& more) {
  const std::string body = R"(
  .shared .align 1024 .b8 tile[2560];
  .reg .b64 %a, %b, %c, %e, %x, %da, %db; .reg .b32 %t, %g, %q, %w, %l<8>, %v<4>; .reg .f32 %c<4>; .reg .b16 %h<2>; .reg .pred %p;
  ld.param.u64 %a, [A]; ld.param.u64 %b, [B]; ld.param.u64 %c, [C]; ld.param.u64 %e, [E];
  mov.u32 %t, %tid.x;
  mov.u32 %l0, tile;
  // row t / 2, chunk t % 2 of A: group of rows t / 16, row t / 2 % 8 in it
  mul.wide.u32 %x, %t, 16; add.s64 %a, %a, %x;
  ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%a];
  shr.u32 %l1, %t, 4; shl.b32 %l1, %l1, 8;
  and.b32 %l2, %t, 1; shl.b32 %l2, %l2, 7; add.u32 %l1, %l1, %l2;
  shr.u32 %l2, %t, 1; and.b32 %l2, %l2, 7; shl.b32 %l2, %l2, 4; add.u32 %l1, %l1, %l2;
  add.u32 %l1, %l1, %l0;
  st.shared.v4.b32 [%l1], {%v0, %v1, %v2, %v3};
  // column t / 4, chunk t % 4 of B
  setp.ge.u32 %p, %t, 32;
  @%p bra copied;
  add.s64 %b, %b, %x;
  ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%b];
  and.b32 %l1, %t, 3; shl.b32 %l1, %l1, 7;
  shr.u32 %l2, %t, 2; shl.b32 %l2, %l2, 4; add.u32 %l1, %l1, %l2;
  add.u32 %l1, %l1, %l0;
  st.shared.v4.b32 [%l1+2048], {%v0, %v1, %v2, %v3};
copied:
  fence.proxy.async;
  bar.sync 0;
  shr.u32 %l1, %t, 5; shl.b32 %l1, %l1, 4;
  shr.u32 %g, %t, 2; and.b32 %g, %g, 7; add.u32 %g, %g, %l1; and.b32 %q, %t, 3;
  and.b32 %l2, %q, 1; shl.b32 %l2, %l2, 1; shl.b32 %l3, %g, 2; add.u32 %l2, %l2, %l3;
  cvt.u64.u32 %x, %l2; add.s64 %e, %e, %x;
  ld.global.u16 %h0, [%e+)" +
                           low + R"(]; ld.global.u16 %h1, [%e+)" + high + R"(];
  mov.b32 %w, {%h0, %h1};
  shr.u32 %l1, %l0, 4; cvt.u64.u32 %x, %l1;
  or.b64 %da, %x, 0x0000001000080000;
  add.u64 %x, %x, 128;
  or.b64 %db, %x, 0x0000002000080000;
  wgmma.fence.sync.aligned;
  setp.ne.u32 %p, 0, 0;
  wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%c0, %c1, %c2, %c3}, %da, %db, %w, 0, %p, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  shl.b32 %l2, %g, 5; shl.b32 %l3, %q, 3; add.u32 %l2, %l2, %l3; cvt.u64.u32 %x, %l2; add.s64 %c, %c, %x;
  st.global.v2.f32 [%c], {%c0, %c1};
  st.global.v2.f32 [%c+256], {%c2, %c3};
  ret;
)";
  DeviceMemory memory;
  const std::uint64_t a = memory.allocate(64 * 16 * 2, "A"), b = memory.allocate(8 * 32 * 2, "B"), c = memory.allocate(64 * 8 * 4, "C"),
                      e = memory.allocate(std::vector<std::uint16_t>(64 * 2, 0x4444), "E");
  const Module module = module_of(".param .u64 A, .param .u64 B, .param .u64 C, .param .u64 E", body, "sm_90a");
  return message_of([&] {
    launch_products(Kernel(module, "k"), {{1}, {128}}, memory, {a, b, c, e}, {parse_products("C=A*B^T:64x8x32" + more)});
  });
}

TEST_CASE("Metadata of wgmma is that of the rows of each warp", "[checks]") {
  for (const char* const more : {"", ",e=E"}) CHECK(verdict_of_warpgroup("0", "32", more) == "nothing");
  says(verdict_of_warpgroup("32", "0", ""), "row 0, k 0 to 3 of A has bits 0 to 3 of byte 32 of 'E' as its metadata code");
  says(verdict_of_warpgroup("0", "0", ",e=E"), "row 8, k 0 to 3 of A has E[0,0] as its metadata code; E[8,0] belongs there");
}

}  // namespace
}  // namespace warpmat::companion_test
