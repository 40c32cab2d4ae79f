// warpmat launch: what a launch says of the origins of its numbers, of its descriptors, and errors of several lines.

#include "command.h"
#include "test.h"
#include "tools/report/npy.h"

namespace warpmat::launch_origins_test {
namespace {

Outcome launch_example(const std::string& name, std::vector<std::string> more) {
  std::vector<std::string> all{"launch", source_path("examples/kernels/" + name + ".launch.json"), "--quiet"};
  all.insert(all.end(), more.begin(), more.end());
  return run_command(all);
}

}  // namespace

TEST_CASE("launch --show descriptors: a line for each descriptor and tensor map", "[tools][launch]") {
  const Outcome outcome = launch_example("gemm_wgmma", {"--show", "descriptors"});
  CAPTURE(outcome.out, outcome.err);
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out,
                 "tensor map of 'a': f16, dimensions 328 x 256, strides 656 bytes, box 64 x 128, swizzle 128B; rows of 128 bytes "
                 "lie 128 apart in shared memory\n"));
  CHECK(contains(outcome.out, "tensor map of 'b': "));
  CHECK(contains(outcome.out,
                 "(wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16): operand a: leading byte offset 16, stride byte offset "
                 "1024, swizzle 128B, K-major; start 0x"));
  CHECK(contains(outcome.out, "lines 142, 171, "));
  CHECK(contains(outcome.out, ", and "));
  CHECK(std::ranges::count(outcome.out, '\n') == 4);  // two maps, operands a and b
  CHECK(contains(launch_example("gemm_wgmma", {"--show", "tiles"}).err, "--show"));
}

TEST_CASE("launch --why --against: the first product at which two GPUs part, and its k", "[tools][launch]") {
  const std::vector<std::string> why{"--gemm", "c=a*b^T:256x256x512", "--why", "c[5,3]", "--target", "sm_90a"};
  const auto against = [&](const std::string& other) {
    std::vector<std::string> all = why;
    all.insert(all.end(), {"--against", other});
    return launch_example("gemm_f16", all);
  };
  const Outcome parts = against("sm_80");
  CAPTURE(parts.out, parts.err);
  CHECK(parts.status == 0);
  const auto at = parts.out.find("sm_90a and sm_80 part at product ");
  REQUIRE(at != std::string::npos);
  const std::string line = parts.out.substr(at, parts.out.find('\n', at) - at);
  CHECK(contains(line, "(mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32)"));
  CHECK(contains(line, ", in its sum of k "));
  CHECK(contains(line, " beside "));
  CHECK(contains(against("sm_90").out, "sm_90a and sm_90 have the same bits in each of its 32 products\n"));
  CHECK(contains(launch_example("gemm_f16", {"--against", "sm_80"}).err, "--against needs --why"));
}

TEST_CASE("launch --expect: a wrong element of a product that is told is followed without being asked for", "[tools][launch]") {
  const TemporaryDirectory directory;
  NpyArray expected = NpyArray::zeros(DType::float32, {256, 256});
  write_npy(directory.path("c.npy"), expected);
  const Outcome outcome = launch_example("gemm_f16", {"--gemm", "c=a*b^T:256x256x512", "--expect", "c=" + directory.path("c.npy")});
  CAPTURE(outcome.err);
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.err, " elements of c differ (f32, 256 x 256"));
  CHECK(contains(outcome.err, "\nc[0,0] is stored by block (0, 0, 0), warp 0, lane 0, line "));
  CHECK(contains(outcome.err, "\n  product 1 at line "));
  CHECK(contains(outcome.err, " lines more, by --why 'c[0,0]'\n"));
  CHECK(!contains(outcome.err, "next, of a product"));
}

TEST_CASE("Errors of several lines keep them", "[tools][launch]") {
  const TemporaryDirectory directory;
  write_text(directory.path("k.ptx"), R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k()
{
  .reg .pred %p; .reg .b32 %t;
  mov.u32 %t, %tid.x;
  setp.lt.u32 %p, %t, 32;
  @%p bar.sync 1, 64;
  @!%p bar.sync 2, 64;
  ret;
}
)");
  const Outcome outcome = run_command({"launch", directory.path("k.ptx"), "--block", "64"});
  CAPTURE(outcome.err);
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.err, "can continue (kernel k, block (0,0,0), warp 0)\n"));
  CHECK(outcome.err.ends_with("\n"));
  CHECK(!outcome.err.ends_with("\n\n"));
}

}  // namespace warpmat::launch_origins_test
