// Bulk copies beyond what tensor_answers_test has from an H200: those of sm_100, and reports.

#include <warpmat/launch.h>
#include <warpmat/machine/tensor_map_bytes.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::bulk_copy_test {
namespace {

constexpr std::uint32_t tile_bytes = 8192, untouched = 0xa5;

std::vector<std::uint8_t> pattern(std::size_t bytes) {
  std::vector<std::uint8_t> out(bytes);
  std::uint64_t state = 88172645463325252ull;
  for (std::uint8_t& byte : out) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    byte = static_cast<std::uint8_t>(state >> 40);
  }
  return out;
}

/// One warp; thread 0 issues what `copy` says: %l0 is the map's address, %r0 the tile's, %r1 the mbarrier's, %l1 and %l2 the buffers', %r10
/// to %r14 coordinates. Then all of the tile goes to `out`.
Module tile_kernel(const std::string& copy, const std::string& target = "sm_90") {
  return module_of(".param .align 64 .b8 map[128], .param .u64 from, .param .u64 out, .param .u32 c0, .param .u32 c1, .param .u32 c2",
                   R"(
    .reg .b32 %r<40>; .reg .b64 %l<20>; .reg .pred %p<9>; .reg .b16 %s<4>;
    .shared .align 1024 .b8 tile[8192];
    .shared .align 8 .b64 full;
    mov.u32 %r2, %tid.x;
    mov.b64 %l0, map; cvta.param.u64 %l0, %l0;
    ld.param.u64 %l1, [from]; ld.param.u64 %l2, [out];
    ld.param.u32 %r10, [c0]; ld.param.u32 %r11, [c1]; ld.param.u32 %r12, [c2];
    mov.u32 %r0, tile; mov.u32 %r1, full;
    setp.ne.u32 %p1, %r2, 0;
    shl.b32 %r3, %r2, 2; add.u32 %r4, %r0, %r3; mov.u32 %r5, 0;
    FILL: st.shared.u32 [%r4], 0xa5a5a5a5;
    add.u32 %r4, %r4, 128; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 64; @%p2 bra FILL;
    @%p1 bra INITIALISED;
    mbarrier.init.shared::cta.b64 [%r1], 1;
    fence.proxy.async;
    INITIALISED: bar.sync 0;
    @%p1 bra ISSUED;
)" + copy + R"(
    ISSUED:
    WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r1], 0; @!%p3 bra WAIT;
    add.u32 %r4, %r0, %r3; mov.u32 %r5, 0;
    cvt.u64.u32 %l3, %r3; add.u64 %l4, %l2, %l3;
    COPY: ld.shared.u32 %r6, [%r4]; st.global.u32 [%l4], %r6;
    add.u32 %r4, %r4, 128; add.u64 %l4, %l4, 128; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 64; @%p2 bra COPY;
    ret;
)",
                   target);
}

struct Run {
  std::vector<std::uint8_t> tile, from;
};

Run run(const Module& module, const TensorMap::Arguments& map, const std::vector<std::uint8_t>& tensor, std::array<int, 3> at) {
  DeviceMemory memory;
  TensorMap::Arguments placed = map;
  const std::uint64_t from = memory.allocate(tensor, "tensor"), out = memory.allocate(tile_bytes, "out");
  placed.address = from;
  launch(Kernel(module, "k"), {{1}, {32}}, memory, {TensorMap(placed).encode(), from, out, at[0], at[1], at[2]});
  return {memory.read<std::uint8_t>(out, tile_bytes), memory.read<std::uint8_t>(from, tensor.size())};
}

constexpr const char* load_3d = R"(
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], %BYTES;
    cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0+OFFSET], [%l0, {%r10, %r11, %r12}], [%r1];
)";

std::string replaced(std::string text, std::string_view what, const std::string& by) {
  text.replace(text.find(what), what.size(), by);
  return text;
}

std::string report(const std::string& copy) {
  return message_of([&] {
    TensorMap::Arguments map{.type = TensorMap::Type::f16, .rank = 3, .dims = {64, 16, 4}, .strides = {128, 2048}, .box = {32, 8, 1}};
    run(tile_kernel(copy), map, pattern(8192), {0, 0, 0});
  });
}

TEST_CASE("Swizzles of 128 bytes keep atoms of 32 and 64 bytes together", "[machine][bulk]") {
  // PTX ISA 9.1 section 5.5.7: the chunks of 16 bytes that lie in a line of 128, by the number of the line.
  using Atom = TensorMap::Atom;
  struct Case {
    Atom atom;
    std::vector<std::array<std::size_t, 8>> lines;
    bool flips;
  };
  const std::vector<std::array<std::size_t, 8>> of_32{
      {0, 1, 2, 3, 4, 5, 6, 7}, {2, 3, 0, 1, 6, 7, 4, 5}, {4, 5, 6, 7, 0, 1, 2, 3}, {6, 7, 4, 5, 2, 3, 0, 1}};
  const std::string load = replaced(replaced(load_3d, "%BYTES", "2048"), "OFFSET", "1024");
  const std::string store = R"(
    mbarrier.arrive.shared::cta.b64 _, [%r1];
    fence.proxy.async.shared::cta;
    cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%l0, {%r10, %r11, %r12}], [%r0];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
)";
  for (const Case& c : {Case{Atom::bytes_32, of_32, false}, Case{Atom::bytes_32_flip_8, of_32, true},
                        Case{Atom::bytes_64, {{0, 1, 2, 3, 4, 5, 6, 7}, {4, 5, 6, 7, 0, 1, 2, 3}}, false}}) {
    TensorMap::Arguments map{.type = TensorMap::Type::f16, .rank = 3, .dims = {64, 16, 1}, .strides = {128, 2048}, .box = {64, 16, 1}};
    map.swizzle = TensorMap::Swizzle::bytes_128;
    map.atom = c.atom;
    const std::vector<std::uint8_t> tensor = pattern(2048);
    std::vector<std::uint8_t> tile(tile_bytes, untouched);
    for (std::size_t line = 0; line < 16; ++line)
      for (std::size_t byte = 0; byte < 128; ++byte) {
        const std::size_t inside = c.flips && line % 2 == 1 ? byte % 16 ^ 8 : byte % 16;
        tile[1024 + line * 128 + byte] = tensor[line * 128 + c.lines[line % c.lines.size()][byte / 16] * 16 + inside];
      }
    CHECK(run(tile_kernel(load, "sm_100a"), map, tensor, {0, 0, 0}).tile == tile);
    // A tile of lines that are all alike comes back alike; one word of line 1, chunk 0 goes to where that line has it.
    const std::string one = "st.shared.u32 [%r0+128], 0x01020304; fence.proxy.async.shared::cta;" + store;
    std::vector<std::uint8_t> expected(2048, untouched);
    const std::size_t at = 128 + c.lines[1][0] * 16 + (c.flips ? 8 : 0);
    for (std::size_t i = 0; i < 4; ++i) expected[at + i] = static_cast<std::uint8_t>(4 - i);
    CHECK(run(tile_kernel(one, "sm_100a"), map, std::vector<std::uint8_t>(2048), {0, 0, 0}).from == expected);
    TensorMap::Arguments other = map;
    other.swizzle = TensorMap::Swizzle::bytes_64;
    CHECK_THAT(*TensorMap::problem(other), ContainsSubstring("go with a swizzle of 128 bytes"));
  }
}

TEST_CASE("Sixteen elements of 4 and 6 bits come packed, or with padding to 16 bytes", "[machine][bulk]") {
  // PTX ISA 9.1 section 5.5.1.1.1. Rows of 256 elements, of which the second is beyond the tensor.
  struct Case {
    TensorMap::Type type;
    std::size_t bits, chunk, pitch;  ///< bytes of 16 elements in global and shared memory
    std::uint32_t box;
  };
  for (const Case& c : {Case{TensorMap::Type::u4x16, 4, 16, 16, 128}, Case{TensorMap::Type::u4x16_p64, 4, 8, 16, 128},
                        Case{TensorMap::Type::u6x16_p32, 6, 12, 16, 128}}) {
    const std::size_t row = 128 * c.bits / 8, counted = 2 * row;
    const std::string load = replaced(replaced(load_3d, "%BYTES", std::to_string(counted)), "OFFSET", "0");
    TensorMap::Arguments map{.type = c.type, .rank = 3, .dims = {256, 1, 1}, .strides = {192, 192}, .box = {c.box, 2, 1}};
    const std::vector<std::uint8_t> tensor = pattern(384);
    std::vector<std::uint8_t> tile(tile_bytes, untouched);
    const std::size_t shared_row = row / c.chunk * c.pitch;
    for (std::size_t i = 0; i < row; ++i) {
      tile[i / c.chunk * c.pitch + i % c.chunk] = tensor[row + i];
      tile[shared_row + i / c.chunk * c.pitch + i % c.chunk] = 0;
    }
    CHECK(run(tile_kernel(load, "sm_100a"), map, tensor, {128, 0, 0}).tile == tile);
    if (c.chunk == 16) continue;
    TensorMap::Arguments swizzled = map;
    swizzled.swizzle = TensorMap::Swizzle::bytes_128;
    std::vector<std::uint8_t> moved = tile;
    for (std::size_t chunk = 0; chunk < 8; ++chunk)
      std::copy_n(tile.begin() + 128 + static_cast<long>(chunk) * 16, 16, moved.begin() + 128 + static_cast<long>(chunk ^ 1) * 16);
    CHECK(run(tile_kernel(load, "sm_100a"), swizzled, tensor, {128, 0, 0}).tile == moved);
    CHECK_THAT(message_of([&] {
                 run(tile_kernel(load, "sm_100a"), map, tensor, {64, 0, 0});
               }),
               ContainsSubstring("from multiples of 128 on"));
    TensorMap::Arguments wrong = map;
    wrong.box[0] = 64;
    CHECK_THAT(*TensorMap::problem(wrong), ContainsSubstring("they are a multiple of 128, and 128"));
    wrong = map;
    wrong.swizzle = TensorMap::Swizzle::bytes_64;
    CHECK_THAT(*TensorMap::problem(wrong), ContainsSubstring("without a swizzle or with one of 128 bytes"));
    wrong = map;
    wrong.strides[0] = 208;
    CHECK_THAT(*TensorMap::problem(wrong), ContainsSubstring("a multiple of 32"));
  }
}

TEST_CASE("A reduction of a box is that of its elements' type, or of bits as wide", "[machine][bulk]") {
  struct Case {
    std::string operation;
    std::set<std::string_view> types;
  };
  const std::set<std::string_view> all{"u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz"};
  for (const Case& c : {Case{"add", {"u32", "s32", "u64", "f16", "f32", "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz"}},
                        Case{"max", {"u32", "s32", "u64", "s64", "f16", "bf16"}}, Case{"inc", {"u32"}}, Case{"xor", all}}) {
    const std::string copy = fmt::format(R"(
    fence.proxy.async; mbarrier.arrive.shared::cta.b64 _, [%r1];
    cp.reduce.async.bulk.tensor.3d.global.shared::cta.{}.tile.bulk_group [%l0, {{%r10, %r11, %r12}}], [%r0];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
)",
                                         c.operation);
    const Module reducing = tile_kernel(copy);
    for (const std::string& type : words_in("u8 u16 u32 s32 u64 s64 f16 f32 f64 bf16 f32_ftz tf32 tf32_ftz u4x16")) {
      INFO(c.operation << " of " << type);
      const unsigned count = 128 / static_cast<unsigned>(std::stoi(type.substr(type.find_first_of("12345678"))));
      const TensorMap::Arguments map{
          .type = find_tensor_type(type).value(), .rank = 3, .dims = {2 * count, 1, 1}, .strides = {32, 32}, .box = {count, 1, 1}};
      const std::string message = message_of([&] { run(reducing, map, pattern(32), {static_cast<int>(count), 0, 0}); });
      if (c.types.contains(type))
        CHECK(message == "nothing");
      else
        CHECK_THAT(message, ContainsSubstring("has no elements of type " + std::string(type)));
    }
  }
}

TEST_CASE("What hangs or corrupts on a GPU is reported", "[machine][bulk]") {
  const std::string load = replaced(replaced(load_3d, "%BYTES", "512"), "OFFSET", "0");
  CHECK(report(load) == "nothing");
  // Bytes that never arrive: more are expected than the box has.
  CHECK(report(replaced(load, "512", "1024")).find("misses 0 of 1 arrivals and 512 bytes that never arrive") != std::string::npos);
  // Read and overwritten before the wait.
  CHECK(report(load + "ld.shared.u32 %r7, [%r0+64];").find("is 64 bytes into 'tile'") != std::string::npos);
  CHECK(report(load + "st.shared.u32 [%r0+508], %r7;").find("has not been waited for") != std::string::npos);
  const std::string store =
      "mbarrier.arrive.shared::cta.b64 _, [%r1]; fence.proxy.async;"
      "cp.async.bulk.global.shared::cta.bulk_group [%l1], [%r0], 64; cp.async.bulk.commit_group;";
  CHECK(report(store) == "nothing");
  CHECK(report(store + "st.shared.u32 [%r0+60], 7;").find("may still read it: its group has not been waited for") != std::string::npos);
  CHECK(report(store + "cp.async.bulk.wait_group.read 0; st.shared.u32 [%r0+60], 7;") == "nothing");
  CHECK(report("st.shared.u32 [%r0+60], 7;" + replaced(store, "fence.proxy.async;", ""))
            .find("no fence.proxy.async since then lets it see that") != std::string::npos);
  CHECK(report(replaced(load, "[%r0+0]", "[%r0+64]")).find("the address is not a multiple of 128") != std::string::npos);
}

TEST_CASE("Tensor maps are checked as the driver checks them", "[machine][bulk]") {
  const TensorMap::Arguments good{
      .type = TensorMap::Type::f16, .rank = 3, .address = 4096, .dims = {64, 16, 4}, .strides = {128, 2048}, .box = {32, 8, 1}};
  CHECK_FALSE(TensorMap::problem(good));
  const auto problem = [&](auto change) {
    TensorMap::Arguments map = good;
    change(map);
    const std::string found = TensorMap::problem(map).value_or("none");
    CHECK_THROWS_WITH(TensorMap(map), "tensor map: " + found);
    return found;
  };
  CHECK(problem([](TensorMap::Arguments& m) { m.rank = 6; }) == "a tensor has from 1 to 5 dimensions, not 6");
  CHECK(problem([](TensorMap::Arguments& m) { m.address += 8; }).find("is not a multiple of 16") != std::string::npos);
  CHECK(problem([](TensorMap::Arguments& m) { m.dims[1] = 0; }) == "dimension 1 has 0 elements: there are from 1 to 2^32");
  CHECK(problem([](TensorMap::Arguments& m) { m.strides[0] = 120; }) == "stride 120 of dimension 1: it is a multiple of 16 below 2^40");
  CHECK(problem([](TensorMap::Arguments& m) { m.box[1] = 257; }) == "the box has 257 elements in dimension 1: there are from 1 to 256");
  CHECK(problem([](TensorMap::Arguments& m) { m.box[0] = 4; }) == "the box has 8 bytes in dimension 0: they are a multiple of 16");
  CHECK(problem([](TensorMap::Arguments& m) { m.element_strides[2] = 9; }) == "element stride 9 of dimension 2: it is from 1 to 8");
  CHECK(problem([](TensorMap::Arguments& m) { m.swizzle = TensorMap::Swizzle::bytes_32; }) ==
        "the box has 64 bytes in dimension 0: with swizzle 32B it has at most 32");
  CHECK(problem([](TensorMap::Arguments& m) {
          m.type = TensorMap::Type::u16;
          m.fill = TensorMap::Fill::nan;
        }) == "only floating-point elements are filled with NaN, not u16");
  CHECK(problem([](TensorMap::Arguments& m) { m.type = static_cast<TensorMap::Type>(16); }) ==
        "a type or a mode has a number that no enumerator has");
  const TensorMap map(good);
  const auto decoded = TensorMap::decode(map.encode());
  REQUIRE(decoded);
  CHECK(decoded->dims()[1] == 16);
  CHECK(decoded->box()[0] == 32);
  CHECK(decoded->encode() == map.encode());
  TensorMap::Arguments wrong = good;
  wrong.box[1] = 257;
  const TensorMap::Encoded edited = tensor_map_bytes(wrong);  // as tensormap.replace may leave it
  CHECK(tensor_map_arguments(edited)->box[1] == 257);
  CHECK_FALSE(TensorMap::decode(edited));
  CHECK_FALSE(TensorMap::decode(std::vector<std::uint8_t>(128)));
}

}  // namespace
}  // namespace warpmat::bulk_copy_test
