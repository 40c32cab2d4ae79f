// warpmat launch: its options, and what it says of wrong ones.

#include "command.h"
#include "test.h"
#include "tools/report/npy.h"

namespace warpmat::launch_test {
namespace {

const char* const scale_ptx = R"(.version 9.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 out, .param .u64 in, .param .f32 factor, .param .u32 count)
.maxntid 64, 1, 1
{
  .reg .b32 %r<4>; .reg .b64 %d<6>; .reg .f32 %f<4>; .reg .pred %p<2>;
  .shared .align 4 .b8 tile[256];
  ld.param.u64 %d1, [out];
  ld.param.u64 %d2, [in];
  ld.param.f32 %f1, [factor];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %tid.x;
  setp.ge.u32 %p1, %r2, %r1;
  @%p1 bra $end;
  mul.wide.u32 %d3, %r2, 4;
  add.s64 %d2, %d2, %d3;
  add.s64 %d1, %d1, %d3;
  ld.global.f32 %f2, [%d2];
  mul.f32 %f3, %f2, %f1;
  add.f32 %f3, %f3, 0f3F800000;
  st.global.f32 [%d1], %f3;
$end:
  ret;
}
)";

/// A directory with the kernel and two floats for its input.
struct Folder {
  TemporaryDirectory directory;
  std::string ptx = directory.path("scale.ptx"), in = directory.path("in.npy"), out = directory.path("out.npy");

  Folder() {
    write_text(ptx, scale_ptx);
    NpyArray array = NpyArray::zeros(DType::float32, {2});
    const float values[] = {1.5f, -2.0f};
    std::memcpy(array.bytes.data(), values, sizeof values);
    write_npy(in, array);
  }

  /// The command with valid options, except those that begin like one of `more`.
  Outcome launch(const std::vector<std::string>& more, const std::vector<std::string>& without = {}) const {
    std::vector<std::string> arguments{"launch", ptx};
    const std::vector<std::vector<std::string>> common_case{
        {"--block", "32"},   {"--buffer", "out=zeros:8"}, {"--buffer", "in=" + in}, {"--param", "out"},
        {"--param", "in+0"}, {"--param", "f32:3"},        {"--param", "u32:2"},     {"--out", "out=" + out + ":float32:2x1"}};
    for (const auto& option : common_case) {
      bool left_out = false;
      for (const std::string& w : without) left_out |= (option[0] + " " + option[1]).starts_with(w);
      if (!left_out) arguments.insert(arguments.end(), option.begin(), option.end());
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_command(arguments);
  }
};

TEST_CASE("launch runs a kernel from options and writes its outputs", "[tools][launch]") {
  const Folder folder;
  const Outcome outcome = folder.launch({"--kernel", "scale", "--grid", "1,1,1", "--shared-bytes", "64", "--target", "sm_90a", "--jobs",
                                         "2", "--schedule", "5", "--check", "all", "--quiet"});
  CHECK(outcome.err == "");
  REQUIRE(outcome.status == 0);
  const NpyArray result = read_npy(folder.out);
  CHECK(result.shape == std::vector<std::size_t>{2, 1});
  float values[2];
  REQUIRE(result.bytes.size() == sizeof values);
  std::memcpy(values, result.bytes.data(), sizeof values);
  CHECK(values[0] == 5.5f);
  CHECK(values[1] == -5.0f);
}

TEST_CASE("A launch description has tensor maps and clusters", "[tools][launch]") {
  const TemporaryDirectory directory;
  // Block r of the cluster copies the box at (4 r, 0), of two rows, to the 32 bytes at 32 r of out.
  write_text(directory.path("k.ptx"), R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 map, .param .u64 out)
{
  .reg .b64 %l<6>; .reg .b32 %r<9>; .reg .pred %p;
  .shared .align 128 .b8 tile[32]; .shared .align 8 .b64 full;
  ld.param.u64 %l0, [map]; ld.param.u64 %l1, [out];
  mov.u32 %r0, tile; mov.u32 %r1, full; mov.u32 %r2, %cluster_ctarank;
  shl.b32 %r3, %r2, 2; mul.wide.u32 %l2, %r2, 32; add.u64 %l1, %l1, %l2;
  mbarrier.init.shared::cta.b64 [%r1], 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 32;
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%l0, {%r3, 0}], [%r1];
  WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p, [%r1], 0; @!%p bra WAIT;
  cp.async.bulk.global.shared::cta.bulk_group [%l1], [%r0], 32;
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
  ret;
}
)");
  const auto launch = [&](const std::string& swizzle) {
    write_text(directory.path("launch.json"),
               R"({"ptx": "k.ptx", "kernel": "k", "grid": [2, 1, 1], "block": [1, 1, 1], "cluster": [2, 1, 1],
      "buffers": [{"name": "in", "random": "128:3", "out": "in.npy"}, {"name": "out", "bytes": 64, "fill": 1, "out": "out.npy"}],
      "params": [{"tensormap_pointer": {"buffer": "in", "offset": 16, "type": "u32", "dims": [6, 2], "strides": [48], "box": [4, 2],
                                        "element_strides": [1, 1], "swizzle": ")" +
                   swizzle + R"("}}, {"buffer": "out"}]})");
    return run_command({"launch", directory.path("launch.json")});
  };
  const Outcome outcome = launch("none");
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  const NpyArray in = read_npy(directory.path("in.npy")), out = read_npy(directory.path("out.npy"));
  for (std::size_t rank = 0; rank < 2; ++rank)
    for (std::size_t row = 0; row < 2; ++row)
      for (std::size_t x = 0; x < 16; ++x) {
        const std::size_t column = 16 * rank + x;
        CHECK(out.bytes[32 * rank + 16 * row + x] == (column < 24 ? in.bytes[16 + 48 * row + column] : std::byte{0}));
      }
  CHECK(launch("48B").err.find("there is no '48B', but none, 32B, 64B, 128B") != std::string::npos);
  CHECK(launch("").err.find("there is no ''") != std::string::npos);
}

}  // namespace
}  // namespace warpmat::launch_test
