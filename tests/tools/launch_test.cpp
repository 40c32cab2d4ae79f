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

}  // namespace

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

TEST_CASE("launch says in one sentence what is wrong, and writes nothing then", "[tools][launch]") {
  const Folder folder;
  struct Wrong {
    std::vector<std::string> more, without;
    const char* message;
  };
  const std::vector<Wrong> all{
      {{"--kernel", "scales"}, {}, "'scales'"},
      {{"--grid", "0"}, {}, "--grid 0: it would be X, X,Y or X,Y,Z, each at least 1"},
      {{"--grid", "1,2,3,4"}, {}, "--grid 1,2,3,4: it would be"},
      {{"--grid", "3000000000"}, {}, "a grid has at most 2147483647, 65535 and 65535 blocks in the dimensions, not 3000000000x1x1"},
      {{"--grid", "1,70000"}, {}, "a grid has at most 2147483647, 65535 and 65535 blocks in the dimensions, not 1x70000x1"},
      {{"--block", "65"}, {"--block"}, "'scale' is compiled for blocks of at most 64 threads (.maxntid), not 65"},
      {{"--block", "2000"}, {"--block"}, "a block has at most 1024 threads"},
      {{"--shared-bytes", "300000"}, {}, "300000 bytes of dynamic and 256 of static shared memory: a block has at most"},
      {{"--shared-bytes", "-4"}, {}, "--shared-bytes"},
      {{},
       {"--param u32"},
       "'scale' has 4 parameters: out (u64), in (u64), factor (f32), count (u32); 3 arguments are given; 'warpmat launch "},
      {{"--param", "u32:2"}, {}, "'scale' has 4 parameters: out (u64), in (u64), factor (f32), count (u32); 5 arguments are given"},
      {{"--param", "u64:2"}, {"--param u32"}, "parameter 3 of 'scale' (.u32 count) has 4 bytes, its argument has 8"},
      {{"--param", "u32:two"}, {"--param u32"}, "'two' is no u32"},
      {{"--param", "u32:-1"}, {"--param u32"}, "'-1' is no u32"},
      {{"--param", "q32:2"}, {"--param u32"}, "'q32' is no type of a parameter"},
      {{"--param", "bytes:123"}, {"--param u32"}, "'bytes:123' is no parameter: bytes are pairs of hexadecimal digits (character 9)"},
      {{"--param", "count"},
       {"--param u32"},
       "'count' is no parameter: there is no buffer 'count' (character 1); write a buffer's name (there are out, in)"},
      {{"--param", "in+x"}, {"--param u32"}, "'in+x' is no parameter: 'x' is no number of bytes (character 4)"},
      {{"--buffer", "x"}, {}, "'x' is no buffer: there is no '=' (character 1); write NAME=SOURCE"},
      {{"--buffer", "x=ones:4"}, {}, "buffer x: 'ones:4' is no source"},
      {{"--buffer", "x=zeros:many"}, {}, "buffer x: 'many' is no number of bytes or elements"},
      {{"--buffer", "x=fill:4:256"}, {}, "buffer x: '256' is no byte"},
      {{"--buffer", "x=random:f16"}, {}, "buffer x: 'random:f16' is no source"},
      {{"--buffer", "x=random:f33:1000"}, {}, "buffer x: 'f33' is no format, such as f16, and no number of bytes"},
      {{"--buffer", "x=no.npy"}, {}, "no.npy"},
      {{"--buffer", "in=zeros:4"}, {}, "two buffers are called 'in'"},
      {{"--out", "result=r.npy"}, {}, "'result=r.npy' is no output: there is no buffer 'result'; there are out, in"},
      {{"--out", "out=r.txt"}, {"--out"}, "'r.txt' is no output: the file is no .npy"},
      {{"--out", "out=" + folder.out + ":float8"}, {"--out"}, "'float8' is no dtype"},
      {{"--out", "out=" + folder.out + ":float32:3"}, {"--out"}, "buffer out has 8 bytes"},
      {{"--target", "sm_99"}, {}, "sm_99"},
      {{"--target", "sm_75"}, {}, "sm_75"},
      {{"--jobs", "-1"}, {}, "--jobs"},
      {{"--schedule", "x"}, {}, "--schedule"},
      {{"--check", "race"}, {}, "'race' is no check: there are uninitialised, copies, races, "},
      {{"--undefined", "maybe"}, {}, "--undefined"},
  };
  for (const Wrong& wrong : all) {
    const Outcome outcome = folder.launch(wrong.more, wrong.without);
    CAPTURE(wrong.more, outcome.err);
    CHECK(outcome.status != 0);
    CHECK(outcome.out == "");
    CHECK(outcome.err.find(wrong.message) != std::string::npos);
    CHECK(folder.directory.files() == std::vector<std::string>{"in.npy", "scale.ptx"});
  }
}

TEST_CASE("launch reports what a kernel does wrong; --check chooses what is looked for", "[tools][launch]") {
  const Folder folder;
  const Outcome outside = folder.launch({"--param", "u32:3"}, {"--param u32"});
  CHECK(outside.status == 1);
  CHECK(outside.err.find(
            folder.ptx +
            ":19: error: load of 4 bytes from global memory outside of any buffer (kernel scale, block (0,0,0), warp 0, lane 2)\n") !=
        std::string::npos);
  CHECK(outside.err.find("0 bytes beyond the end of buffer 'in' of 8 bytes") != std::string::npos);
  std::string racing = scale_ptx;
  racing.replace(racing.find("ld.param.u64 %d1"), 0, "mov.u32 %r3, %warpid; st.shared.u32 [tile], %r3;\n");
  write_text(folder.ptx, racing);
  CHECK(folder.launch({"--block", "64", "--check", "uninitialised,copies"}, {"--block"}).status == 0);
  CHECK(folder.launch({"--block", "64"}, {"--block"}).status == 1);
  const Outcome race = folder.launch({"--block", "64", "--check", "races"}, {"--block"});
  CHECK(race.status == 1);
  CHECK(race.err.find("is 0 bytes into 'tile'") != std::string::npos);
}

// Lanes 0 and 1 are left; lane 1 reads lane 2, which has returned.
TEST_CASE("launch says of a shuffle that reads absent lanes how its bits are known; --check lanes reports it", "[tools][launch][lanes]") {
  const Folder folder;
  std::string text = scale_ptx;
  const std::size_t first = text.find("  mul.f32");
  text.replace(first, text.find("  st.global") - first, "  shfl.sync.down.b32 %f3, %f2, 1, 31, -1;\n");
  write_text(folder.ptx, text);
  const std::string place = "lanes that take no part, line 20 (shfl.sync.down.b32)";
  CHECK(contains(folder.launch({"--target", "sm_80"}).err, place + ": assumed (PTX leaves undefined what they give; 0 as for sm_90)"));
  CHECK(contains(folder.launch({"--target", "sm_90"}).err, "; nothing weaker"));
  CHECK(folder.launch({"--target", "sm_90", "--require", "specified"}).status == 0);
  CHECK(contains(folder.launch({"--target", "sm_80", "--require", "specified"}).err, "--require specified: sm_80 (A100): " + place));
  for (const char* checks : {"lanes", "all"}) {
    const Outcome reported = folder.launch({"--check", checks});
    CHECK(reported.status == 1);
    CHECK(contains(
        reported.err,
        folder.ptx +
            ":20: error: reads lane 2, which has exited: what that gives is undefined (kernel scale, block (0,0,0), warp 0, lane 1)"));
  }
  CHECK(folder
            .launch({"--param", "u32:32", "--buffer", "out=zeros:128", "--buffer", "in=zeros:128", "--check", "lanes"},
                    {"--param u32", "--buffer", "--out"})
            .status == 0);
}

TEST_CASE("Triton's json beside a .ptx names the kernel, its threads and its shared memory", "[tools][launch]") {
  const Folder folder;
  write_text(folder.directory.path("scale.json"), R"({"name": "scale", "num_warps": 2, "shared": 128, "num_ctas": 1})");
  CHECK(folder.launch({}, {"--block"}).status == 0);
  write_text(folder.directory.path("scale.json"), R"({"name": "scale", "num_warps": 3, "shared": 128})");
  CHECK(folder.launch({}, {"--block"}).err.find("at most 64 threads (.maxntid), not 96") != std::string::npos);
  write_text(folder.directory.path("scale.json"), R"({"name": "scale", "num_warps": 2, "num_ctas": 2})");
  CHECK(folder.launch({}, {"--block"}).err.find("clusters of blocks need sm_90 or later; the target is sm_80") != std::string::npos);
  write_text(folder.directory.path("scale.json"), "{");
  CHECK(folder.launch({}, {"--block"}).err.find("scale.json:1:2: no JSON: syntax error") != std::string::npos);
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

TEST_CASE("wgmma has a label, and results behind it of its own", "[tools][launch]") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("w.ptx");
  write_text(file, R"(.version 8.4
.target sm_90a
.address_size 64
.visible .entry k()
{
  .reg .b64 %l<2>; .reg .f32 %f<4>;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %l0, %l1, 1, 1, 1, 0, 0;
  ret;
}
)");
  const Outcome outcome = run_command({"check", file});
  CHECK(outcome.status == 0);
  CHECK(outcome.err.find("sm_90a (H100): 1 instruction measured on the card, 1 specified by the PTX ISA; nothing weaker") !=
        std::string::npos);  // and ret
  CHECK(run_command({"check", file, "--require", "measured"}).status == 0);
}

TEST_CASE("check takes whole modules and reports the errors of all entries, each once", "[tools][launch]") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("m.ptx");
  write_text(file, scale_ptx);
  const Outcome good = run_command({"check", file});
  CHECK(good.status == 0);
  CHECK(good.out == file + ": 1 entry, no errors for the module's target\n");
  write_text(file, std::string(".version 9.0\n.target sm_90\n.address_size 64\n") +
                       ".func f() { bad.f32 x; ret; }\n.entry a() { call f; bad.a; ret; }\n.entry b() { call f; bad.b; ret; }\n");
  const Outcome wrong = run_command({"check", file});
  CHECK(wrong.status == 1);
  for (const char* const place : {"m.ptx:4:13: error: ", "m.ptx:5:22: error: ", "m.ptx:6:22: error: "}) {
    const std::size_t at = wrong.err.find(place);
    CHECK(at != std::string::npos);
    CHECK(wrong.err.find(place, at + 1) == std::string::npos);
  }
}

TEST_CASE("check resolves functions that no entry calls, and modules of functions alone", "[tools][launch]") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("m.ptx"), head = ".version 9.0\n.target sm_90\n.address_size 64\n";
  write_text(file, head + ".func f() { bad.f32 x; ret; }\n.entry a() { ret; }\n");
  const Outcome wrong = run_command({"check", file});
  CHECK(wrong.status == 1);
  CHECK(contains(wrong.err, "m.ptx:4:13: error: "));
  write_text(file, head + ".func (.reg .b32 r) f(.reg .b32 a) { call (r), g, (a); ret; }\n.func (.reg .b32 r) g(.reg .b32 a);\n");
  CHECK(run_command({"check", file}).status == 1);  // g has no body
  write_text(file, head + ".visible .func (.reg .b32 r) f(.reg .b32 a) { rcp.approx.ftz.f32 r, a; ret; }\n");
  const Outcome good = run_command({"check", file});
  CHECK(good.status == 0);
  CHECK(contains(good.out, "1 function, no errors"));
  CHECK(contains(good.err, "1 instruction measured"));
}

TEST_CASE("check takes modules of variables and declarations alone", "[tools][launch]") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("m.ptx");
  for (const char* const item :
       {".visible .global .align 4 .u32 g = 5;", ".extern .func f(.param .b32 a);", ".weak .const .b8 c[4];", ".common .global .b32 n;"}) {
    INFO(item);
    write_text(file, std::string(".version 8.0\n.target sm_20\n.address_size 64\n") + item + "\n");
    CHECK(run_command({"check", file, "--target", "sm_90"}).status == 0);
  }
}

}  // namespace warpmat::launch_test
