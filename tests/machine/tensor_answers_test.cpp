// What an H200 left in memory for tensor maps, coordinates and shared-memory addresses drawn at random: loads, stores and reductions in
// tile and im2col mode, interleaved or not, and which maps its driver refused. Recorded as CRC-32 of shared memory, or of the tensor's
// buffer.

#include <warpmat/launch.h>

#include <zlib.h>

#include "compressed_table.h"
#include "machine/kernel.h"
#include "test.h"

namespace warpmat::tensor_answers_test {
namespace {

constexpr std::size_t tensor_bytes = 1 << 18, buffer_bytes = 1 << 20, shared_bytes = 1 << 16;

struct Case {
  std::string what, verdict;
  int operation = 0;
  TensorMap::Arguments map;
  std::array<std::int32_t, 5> coordinates{};
  std::array<std::uint32_t, 3> offsets{};
  std::uint32_t shared = 0, bytes = 0, checksum = 0;
};

Case case_of(const std::vector<std::string>& fields) {
  std::size_t next = 0;
  const auto number = [&] { return std::stoll(fields[next++]); };
  const auto fill = [&](auto& values) {
    for (auto& value : values) value = static_cast<std::remove_reference_t<decltype(value)>>(number());
  };
  Case c;
  c.what = fields[next++];
  c.map.type = static_cast<TensorMap::Type>(number());
  c.map.rank = static_cast<std::uint32_t>(number());
  c.map.interleave = static_cast<TensorMap::Interleave>(number());
  c.map.swizzle = static_cast<Swizzle>(number());
  c.map.fill = static_cast<TensorMap::Fill>(number());
  c.operation = static_cast<int>(number());
  c.map.mode = static_cast<TensorMap::Mode>(number());
  c.map.address = static_cast<std::uint64_t>(number());
  fill(c.map.dims);
  fill(c.map.strides);
  fill(c.map.box);
  fill(c.map.element_strides);
  fill(c.map.lower_corner);
  fill(c.map.upper_corner);
  c.map.channels = static_cast<std::uint32_t>(number());
  c.map.pixels = static_cast<std::uint32_t>(number());
  fill(c.coordinates);
  fill(c.offsets);
  c.shared = static_cast<std::uint32_t>(number());
  c.bytes = static_cast<std::uint32_t>(number());
  c.checksum = static_cast<std::uint32_t>(std::stoul(fields[next++], nullptr, 16));
  c.verdict = fields[next++];
  return c;
}

std::vector<Case> recorded_cases() {
  std::vector<Case> cases;
  for (const auto& fields : read_table(source_path("tests/vectors/tensor_copies_sm_90.tsv.gz")))
    if (!fields.front().starts_with('#')) cases.push_back(case_of(fields));
  return cases;
}

/// The byte that the recording had at place `i`.
std::uint8_t pattern(std::uint64_t i) {
  i *= 0x9e3779b97f4a7c15;
  i ^= i >> 29;
  i *= 0xbf58476d1ce4e5b9;
  return static_cast<std::uint8_t>(i >> 37);
}

std::vector<std::uint8_t> patterns(std::size_t bytes, std::uint64_t from) {
  std::vector<std::uint8_t> out(bytes);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = pattern(from + i);
  return out;
}

/// Fills shared memory from `in`, does what `copy` says, and writes shared memory to `out`. The threads take 16 bytes each, cyclically.
Module copy_kernel(const std::string& copy) {
  return module_of(R"(.param .align 64 .b8 map[128], .param .u64 in, .param .u64 out, .param .u32 at, .param .u32 bytes,
    .param .align 4 .b8 c[20], .param .align 4 .b8 o[12])",
                   R"(
    .reg .b32 %r<20>, %c<5>, %w<3>; .reg .b64 %l<9>; .reg .pred %p<4>; .reg .b16 %s<3>;
    .extern .shared .align 1024 .b8 s[];
    .shared .align 8 .b64 full;
    mov.b64 %l0, map; cvta.param.u64 %l0, %l0;
    ld.param.u64 %l1, [in]; ld.param.u64 %l2, [out]; ld.param.u32 %r9, [bytes];
    ld.param.u32 %c0, [c]; ld.param.u32 %c1, [c+4]; ld.param.u32 %c2, [c+8]; ld.param.u32 %c3, [c+12]; ld.param.u32 %c4, [c+16];
    ld.param.u32 %w0, [o]; ld.param.u32 %w1, [o+4]; ld.param.u32 %w2, [o+8];
    cvt.u16.u32 %s0, %w0; cvt.u16.u32 %s1, %w1; cvt.u16.u32 %s2, %w2;
    mov.u32 %r0, s; ld.param.u32 %r8, [at]; add.u32 %r1, %r0, %r8; mov.u32 %r2, full;
    mov.u32 %r3, %tid.x; setp.ne.u32 %p0, %r3, 0; shl.b32 %r3, %r3, 4;
    mov.u32 %r4, %r3;
    FILL: add.u32 %r5, %r0, %r4; cvt.u64.u32 %l3, %r4; add.u64 %l3, %l1, %l3;
    ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%l3]; st.shared.v4.u32 [%r5], {%r10, %r11, %r12, %r13};
    add.u32 %r4, %r4, 512; setp.lt.u32 %p1, %r4, 65536; @%p1 bra FILL;
    @!%p0 mbarrier.init.shared::cta.b64 [%r2], 1;
    fence.proxy.async;
    bar.warp.sync -1;
    @%p0 bra ISSUED;
)" + copy + R"(
    ISSUED: bar.warp.sync -1;
    mov.u32 %r4, %r3;
    BACK: add.u32 %r5, %r0, %r4; cvt.u64.u32 %l3, %r4; add.u64 %l3, %l2, %l3;
    ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r5]; st.global.v4.u32 [%l3], {%r10, %r11, %r12, %r13};
    add.u32 %r4, %r4, 512; setp.lt.u32 %p1, %r4, 65536; @%p1 bra BACK;
    ret;
)");
}

std::string statement_of(const Case& c) {
  constexpr std::array operations{"add", "min", "max", "inc", "dec", "and", "or", "xor"};
  const bool im2col = c.map.mode == TensorMap::Mode::im2col;
  std::string coordinates = "%c0", offsets = "%s0";
  for (std::uint32_t i = 1; i < c.map.rank; ++i) coordinates += fmt::format(", %c{}", i);
  for (std::uint32_t i = 1; i + 2 < c.map.rank; ++i) offsets += fmt::format(", %s{}", i);
  const std::string place = fmt::format("[%l0, {{{}}}]", coordinates);
  if (c.what == "load")
    return fmt::format(R"(
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], %r9;
    cp.async.bulk.tensor.{}d.shared::cluster.global.{}.mbarrier::complete_tx::bytes [%r1], {}, [%r2]{};
    WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0; @!%p2 bra WAIT;)",
                       c.map.rank, im2col ? "im2col" : "tile", place, im2col ? ", {" + offsets + "}" : "");
  const std::string mode = im2col ? "im2col_no_offs" : "tile";
  return (c.what == "store" ? fmt::format("cp.async.bulk.tensor.{}d.global.shared::cta.{}.bulk_group {}, [%r1];", c.map.rank, mode, place)
                            : fmt::format("cp.reduce.async.bulk.tensor.{}d.global.shared::cta.{}.{}.bulk_group {}, [%r1];", c.map.rank,
                                          operations.at(static_cast<std::size_t>(c.operation)), mode, place)) +
         "\n cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";
}

std::uint32_t checksum(std::span<const std::uint8_t> bytes) {
  return static_cast<std::uint32_t>(crc32(0, bytes.data(), static_cast<unsigned>(bytes.size())));
}

/// "fine", "trap", or what differs.
std::string run(const Case& c, std::map<std::string, Kernel>& kernels) {
  const std::string statement = statement_of(c);
  auto kernel = kernels.find(statement);
  if (kernel == kernels.end()) kernel = kernels.emplace(statement, Kernel(copy_kernel(statement), "k")).first;
  static const std::vector<std::uint8_t> tensor = [] {
    std::vector<std::uint8_t> bytes = patterns(tensor_bytes, 0);
    bytes.resize(buffer_bytes, 0x3c);
    return bytes;
  }();
  static const std::vector<std::uint8_t> sources = patterns(shared_bytes, 77777777), untouched(shared_bytes, 0xa5);
  DeviceMemory memory;
  const std::uint64_t global = memory.allocate(tensor, "tensor"), in = memory.allocate(c.what == "load" ? untouched : sources),
                      out = memory.allocate(shared_bytes, "out");
  TensorMap::Arguments placed = c.map;
  placed.address += global;
  const TensorMap map(placed);
  const auto bytes = static_cast<std::uint32_t>(map.box_bytes());
  try {
    launch(kernel->second, {{1}, {32}, shared_bytes}, memory, {map.encode(), in, out, c.shared, bytes, c.coordinates, c.offsets});
  } catch (const Trap& trap) {
    return c.verdict == "trap" ? "trap" : trap.what();
  }
  const bool loads = c.what == "load";
  const auto found = memory.bytes(loads ? out : global, loads ? c.bytes : tensor_bytes);
  return checksum(found) == c.checksum ? "fine" : "other bytes";
}

TEST_CASE("tensor copies leave what an H200 left", "[machine][tma]") {
  std::map<std::string, Kernel> kernels;
  std::map<std::string, int> counts;
  for (const Case& c : recorded_cases()) {
    if (c.what == "map") continue;
    ++counts[c.what + (c.map.mode == TensorMap::Mode::im2col ? " im2col" : " tile") +
             (c.map.interleave != TensorMap::Interleave::none ? " interleaved " : " ") + c.verdict];
    INFO(statement_of(c));
    INFO(fmt::format("type {}, swizzle {}, interleave {}, shared {}", name(c.map.type), static_cast<int>(c.map.swizzle),
                     static_cast<int>(c.map.interleave), c.shared));
    REQUIRE(run(c, kernels) == c.verdict);
  }
  for (const char* region : {"load tile fine", "load tile interleaved fine", "load im2col fine", "load im2col interleaved fine",
                             "load im2col trap", "store tile fine", "store tile interleaved fine", "store im2col fine", "store im2col trap",
                             "reduce tile fine", "reduce tile interleaved fine", "reduce im2col fine", "reduce im2col trap"}) {
    INFO(region);
    CHECK(counts[region] >= 14);
  }
}

TEST_CASE("tensor maps are refused where CUDA's driver refuses them", "[machine][tma]") {
  std::map<std::pair<TensorMap::Mode, bool>, int> counts;
  for (const Case& c : recorded_cases()) {
    if (c.what != "map") continue;
    const bool known = c.map.type <= TensorMap::Type::tf32_ftz && c.map.swizzle <= Swizzle::bytes_128;
    const bool fine = known && !TensorMap::problem(c.map);
    INFO(fmt::format("mode {}, rank {}, type {}, box {}, channels {}, pixels {}: {}", static_cast<int>(c.map.mode), c.map.rank,
                     static_cast<int>(c.map.type), c.map.box[0], c.map.channels, c.map.pixels,
                     known ? TensorMap::problem(c.map).value_or("fine") : "unknown"));
    CHECK(fine == (c.verdict == "fine"));
    ++counts[{c.map.mode, fine}];
  }
  for (const TensorMap::Mode mode : {TensorMap::Mode::tile, TensorMap::Mode::im2col})
    for (const bool fine : {false, true}) CHECK(counts[{mode, fine}] > 400);
}

}  // namespace
}  // namespace warpmat::tensor_answers_test
