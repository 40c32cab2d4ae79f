// A tile that a tensor map wrote with swizzle 128B, read by wgmma's descriptors: right, and with another swizzle or stride.

#include <warpmat/launch.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::tile_check_test {
namespace {

/// The warnings of a launch whose descriptor has these bits besides the tile's address. `changes`: statements before the product; %t is the
/// tile's address.
std::vector<std::string> warnings_of(const std::string& descriptor, const std::string& changes = "") {
  const Module module = module_of(".param .align 64 .b8 map[128]", R"(
    .shared .align 1024 .b8 tile[8192];
    .shared .align 8 .b64 bar;
    .reg .b32 %t, %b, %i, %z; .reg .b64 %m, %d; .reg .f32 %f<4>; .reg .pred %p, %q;
    mov.u32 %t, tile;
    mov.u32 %b, bar;
    mov.u32 %i, %tid.x;
    mov.u32 %z, 0;
    mov.b64 %m, map;
    cvta.param.u64 %m, %m;
    setp.ne.u32 %p, %i, 0;
    @%p bra READY;
    mbarrier.init.shared::cta.b64 [%b], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 8192;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%t], [%m, {%z, %z}], [%b];
READY:
    bar.sync 0;
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %q, [%b], 0;
    @!%q bra WAIT;
)" + changes + R"(
    shr.u32 %t, %t, 4;
    cvt.u64.u32 %d, %t;
    or.b64 %d, %d, )" + descriptor + R"(;
    mov.f32 %f0, 0f00000000; mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d, %d, %q, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    ret;
)",
                                  "sm_90a");
  DeviceMemory memory;
  std::vector<std::uint16_t> numbers(64 * 64);
  std::iota(numbers.begin(), numbers.end(), std::uint16_t{0});
  const TensorMap::Arguments map{.type = TensorMap::Type::f16,
                                 .rank = 2,
                                 .address = memory.allocate(numbers, "X"),
                                 .dims = {64, 64},
                                 .strides = {128},
                                 .box = {64, 64},
                                 .swizzle = TensorMap::Swizzle::bytes_128};
  const TensorMap::Encoded bytes = TensorMap(map).encode();
  return launch(Kernel(module, "k"), {{1}, {128}}, memory, {Argument(std::vector<std::uint8_t>(bytes.begin(), bytes.end()))}).warnings;
}

/// The warnings of a pipeline of two steps, whose product has one statement and one descriptor, of two times 32 rows of 64 numbers. The
/// copies of the second step take rows from `first_rows` and `last_rows` on, by a map with this swizzle and atom.
std::vector<std::string> warnings_of_steps(Swizzle second, int first_rows, int last_rows,
                                           TensorMap::Atom atom = TensorMap::Atom::bytes_16) {
  const Module module = module_of(".param .align 64 .b8 map0[128], .param .align 64 .b8 map1[128], .param .u32 first, .param .u32 last", R"(
    .shared .align 1024 .b8 tile[8192];
    .shared .align 8 .b64 bar;
    .reg .b32 %t, %u, %b, %i, %z, %x, %y, %n; .reg .b64 %m, %d; .reg .f32 %f<32>; .reg .pred %p, %q, %more;
    mov.u32 %t, tile;
    add.u32 %u, %t, 4096;
    mov.u32 %b, bar;
    mov.u32 %i, %tid.x;
    mov.u32 %z, 0;
    mov.u32 %x, 0;
    mov.u32 %y, 32;
    mov.u32 %n, 0;
    mov.b64 %m, map0;
    cvta.param.u64 %m, %m;
    setp.ne.u32 %p, %i, 0;
    @!%p mbarrier.init.shared::cta.b64 [%b], 1;
    fence.mbarrier_init.release.cluster;
    shr.u32 %i, %t, 4;
    cvt.u64.u32 %d, %i;
    or.b64 %d, %d, 0x4000004000010000;
STEP:
    bar.sync 0;
    @%p bra WAIT;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 8192;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%t], [%m, {%z, %x}], [%b];
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%u], [%m, {%z, %y}], [%b];
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %q, [%b], %n;
    @!%q bra WAIT;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8, %f9, %f10, %f11, %f12, %f13, %f14, %f15,
        %f16, %f17, %f18, %f19, %f20, %f21, %f22, %f23, %f24, %f25, %f26, %f27, %f28, %f29, %f30, %f31}, %d, %d, 0, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    add.u32 %n, %n, 1;
    ld.param.u32 %x, [first];
    ld.param.u32 %y, [last];
    mov.b64 %m, map1;
    cvta.param.u64 %m, %m;
    setp.lt.u32 %more, %n, 2;
    @%more bra STEP;
    ret;
)",
                                  "sm_90a");
  DeviceMemory memory;
  std::vector<std::uint16_t> numbers(64 * 256);
  std::iota(numbers.begin(), numbers.end(), std::uint16_t{0});
  TensorMap::Arguments map{.type = TensorMap::Type::f16,
                           .rank = 2,
                           .address = memory.allocate(numbers, "X"),
                           .dims = {64, 256},
                           .strides = {128},
                           .box = {64, 32},
                           .swizzle = TensorMap::Swizzle::bytes_128};
  const auto argument = [&] {
    const TensorMap::Encoded bytes = TensorMap(map).encode();
    return Argument(std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  };
  const Argument first = argument();
  map.swizzle = second;
  map.atom = atom;
  return launch(Kernel(module, "k"), {{1}, {128}}, memory,
                {first, argument(), static_cast<std::uint32_t>(first_rows), static_cast<std::uint32_t>(last_rows)})
      .warnings;
}

TEST_CASE("A descriptor that reads a tile otherwise than its tensor map wrote it is a warning", "[checks]") {
  // Leading byte offset 16, stride byte offset 1024, swizzle 128B.
  CHECK(warnings_of("0x4000004000010000").empty());
  const std::vector<std::string> swizzle = warnings_of("0x8000004000010000");
  REQUIRE(swizzle.size() == 1);
  CHECK(contains(swizzle[0], "written here: line "));
  CHECK(contains(swizzle[0], "the descriptor's swizzle is 64B, the tensor map's 128B"));
  const std::vector<std::string> stride = warnings_of("0x4000002000010000");
  REQUIRE(stride.size() == 1);
  CHECK(contains(stride[0], "lines 4 and 8 of the operand are the same row of the tile"));
  CHECK(contains(stride[0], "its stride byte offset 512; the map's rows lie 128 bytes apart"));
  // Nothing is said of a tile whose rows other stores have changed.
  const std::string changes = "shl.b32 %z, %i, 6; add.u32 %z, %z, %t; st.shared.b32 [%z], -1; fence.proxy.async; bar.sync 0;";
  CHECK(warnings_of("0x8000004000010000", changes).empty());
  CHECK(warnings_of("0x4000004000010000", changes).empty());
}

TEST_CASE("A statement that has read a tile as it was written is looked at again when another copy has written it", "[checks]") {
  constexpr auto swizzle = TensorMap::Swizzle::bytes_128;
  CHECK(warnings_of_steps(swizzle, 64, 96).empty());
  CHECK(warnings_of_steps(swizzle, 128, 192).empty());
  // The halves have moved by different distances: the second one is that of the first again.
  const std::vector<std::string> twice = warnings_of_steps(swizzle, 64, 64);
  REQUIRE(twice.size() == 1);
  CHECK(contains(twice[0], "lines 0 and 32 of the operand are the same row of the tile"));
  const std::vector<std::string> other = warnings_of_steps(TensorMap::Swizzle::none, 64, 96);
  REQUIRE(!other.empty());
  CHECK(contains(other[0], "the descriptor's swizzle is 128B, the tensor map's none"));
  // The maps differ in the atom of the swizzle alone.
  for (const TensorMap::Atom atom : {TensorMap::Atom::bytes_32, TensorMap::Atom::bytes_64}) {
    const std::vector<std::string> moved = warnings_of_steps(swizzle, 64, 96, atom);
    REQUIRE(moved.size() == 1);
    CHECK(contains(moved[0], "of the operand begins at byte"));
  }
}

}  // namespace
}  // namespace warpmat::tile_check_test
