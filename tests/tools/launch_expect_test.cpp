// warpmat launch --expect and --probe: a kernel's product against expected values, and what a permuted one is said to be.

#include <warpmat/formats.h>

#include "command.h"
#include "test.h"
#include "tools/report/expected_contents.h"
#include "tools/report/npy.h"

namespace warpmat::launch_expect_test {
namespace {

constexpr std::size_t m = 16, n = 16, k = 32;

/// C = A * B^T of f16 with a block for each row and a thread for each column. `ka`, `kb` and `row` are statements that may change the k of
/// %ka and %kb and the row %r of C, by %k, %m and %n; %t is free.
std::string gemm_ptx(const std::string& ka = "", const std::string& kb = "", const std::string& row = "") {
  return R"(.version 9.0
.target sm_80
.address_size 64
.visible .entry _Z4gemmPK6__halfS1_Pf(.param .u64 A, .param .u64 B, .param .u64 C)
{
  .reg .b32 %m, %n, %k, %ka, %kb, %r, %t; .reg .b64 %a, %b, %c, %d; .reg .f32 %x, %y, %s; .reg .b16 %h; .reg .pred %p;
  ld.param.u64 %a, [A];
  ld.param.u64 %b, [B];
  ld.param.u64 %c, [C];
  mov.u32 %m, %ctaid.x;
  mov.u32 %n, %tid.x;
  mov.u32 %k, 0;
  mov.f32 %s, 0f00000000;
$loop:
  mov.u32 %ka, %k;
  mov.u32 %kb, %k;
)" + ka + kb +
         R"(
  mad.lo.u32 %ka, %m, 32, %ka;
  mul.wide.u32 %d, %ka, 2;
  add.s64 %d, %d, %a;
  ld.global.b16 %h, [%d];
  cvt.f32.f16 %x, %h;
  mad.lo.u32 %kb, %n, 32, %kb;
  mul.wide.u32 %d, %kb, 2;
  add.s64 %d, %d, %b;
  ld.global.b16 %h, [%d];
  cvt.f32.f16 %y, %h;
  fma.rn.f32 %s, %x, %y, %s;
  add.u32 %k, %k, 1;
  setp.lt.u32 %p, %k, 32;
  @%p bra $loop;
  mov.u32 %r, %m;
)" + row +
         R"(
  mad.lo.u32 %r, %r, 16, %n;
  mul.wide.u32 %d, %r, 4;
  add.s64 %d, %d, %c;
  st.global.f32 [%d], %s;
  ret;
}
)";
}

const std::string swizzle_of_a = "  and.b32 %t, %m, 3;\n  shl.b32 %t, %t, 3;\n  xor.b32 %ka, %ka, %t;\n";
const std::string swizzle_of_b = "  bfe.u32 %t, %n, 1, 2;\n  shl.b32 %t, %t, 2;\n  xor.b32 %kb, %kb, %t;\n";
const std::string scaled = "  mul.f32 %s, %s, 0f3E99999A;\n";  // by 0.3
const std::string other_row = "  xor.b32 %r, %r, 2;\n";

struct Folder {
  TemporaryDirectory directory;
  std::vector<float> a, b, c;

  Folder() {
    std::mt19937 random(5);
    const auto fill = [&](std::vector<float>& values, std::size_t count, const std::string& file) {
      NpyArray array = NpyArray::zeros(DType::float16, {count / k, k});
      for (std::size_t i = 0; i < count; ++i) {
        const auto half = static_cast<std::uint16_t>(from_double(Format::f16, static_cast<double>(random() % 4096) / 2048 - 1));
        array.as<std::uint16_t>()[i] = half;
        values.push_back(static_cast<float>(to_double(Format::f16, half)));
      }
      write_npy(directory.path(file), array);
    };
    fill(a, m * k, "A.npy");
    fill(b, n * k, "B.npy");
    c.resize(m * n);
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t l = 0; l < k; ++l) c[i * n + j] = std::fma(a[i * k + l], b[j * k + l], c[i * n + j]);
    NpyArray array = NpyArray::zeros(DType::float32, {m, n});
    std::memcpy(array.bytes.data(), c.data(), array.bytes.size());
    write_npy(directory.path("C.npy"), array);
    std::ofstream(directory.path("C.bin"), std::ios::binary).write(reinterpret_cast<const char*>(c.data()), m * n * sizeof(float));
  }

  Outcome launch(const std::string& ptx, std::vector<std::string> more, const std::string& a_source = "") const {
    write_text(directory.path("k.ptx"), ptx);
    std::vector<std::string> all{"launch",   directory.path("k.ptx"),
                                 "--kernel", "gemm",
                                 "--grid",   "16",
                                 "--block",  "16",
                                 "--buffer", "A=" + (a_source.empty() ? directory.path("A.npy") : a_source),
                                 "--buffer", "B=" + directory.path("B.npy"),
                                 "--buffer", "C=zeros:1024",
                                 "--param",  "A",
                                 "--param",  "B",
                                 "--param",  "C"};
    all.insert(all.end(), more.begin(), more.end());
    return run_command(all);
  }
  Outcome expecting(const std::string& ptx, const std::string& what) const {
    return launch(ptx, {"--quiet", "--expect", "C=" + directory.path(what)});
  }
};

TEST_CASE("launch --expect: a right product passes, from .npy and plain bytes, by options and launch.json", "[tools][launch]") {
  const Folder folder;
  for (const char* const what : {"C.npy", "C.npy:f32", "C.npy:float32:16x16", "C.npy:16,16:2ulp", "C.npy:f32:1e-6", "C.bin:f32:16x16"}) {
    const Outcome outcome = folder.expecting(gemm_ptx(), what);
    CAPTURE(what, outcome.err);
    CHECK(outcome.status == 0);
    CHECK(outcome.err.empty());
  }
  CHECK(contains(folder.launch(gemm_ptx(), {"--expect", "C=" + folder.directory.path("C.npy")}).err,
                 "warpmat: C is as expected: 256 elements\n"));
  const std::string start =
      R"({"ptx": "k.ptx", "grid": 16, "block": 16, "buffers": [{"name": "A", "file": "A.npy"}, {"name": "B", "file": "B.npy"},
    {"name": "C", "bytes": 1024, )";
  const std::string end = R"(}], "params": [{"buffer": "A"}, {"buffer": "B"}, {"buffer": "C"}]})";
  for (const char* const expect :
       {R"("expect": "C.npy")", R"("dtype": "f32", "shape": [16, 16], "expect": "C.bin")", R"("expect": "C.bin:f32:16x16:2ulp")",
        R"("expect": {"file": "C.bin", "type": "f32", "shape": "16x16", "tolerance": "2ulp"})",
        R"("expect": {"file": "C.npy", "tolerance": 0.001}, "dtype": "float32", "out": "o.npy")"}) {
    write_text(folder.directory.path("launch.json"), start + expect + end);
    const Outcome outcome = run_command({"launch", folder.directory.path("launch.json"), "--quiet"});
    CAPTURE(expect, outcome.err);
    CHECK(outcome.status == 0);
    CHECK(outcome.err.empty());
  }
  CHECK(read_npy(folder.directory.path("o.npy")).dtype == DType::float32);
  write_text(folder.directory.path("launch.json"), start + R"("expect": {"file": "C.npy", "tolerance": "much"})" + end);
  CHECK(contains(run_command({"launch", folder.directory.path("launch.json")}).err,
                 "launch.json:2: buffers[2].expect.tolerance: a tolerance is \"2ulp\""));
  write_text(folder.directory.path("launch.json"), start + R"("dtype": "fp32")" + end);
  CHECK(contains(run_command({"launch", folder.directory.path("launch.json")}).err,
                 "buffers[2].dtype: unknown format 'fp32': there are f64, f32"));
}

TEST_CASE("launch --expect: a wrong product ends with status 1 and one screen that has the pattern", "[tools][launch]") {
  const Folder folder;
  Outcome outcome = folder.expecting(gemm_ptx("", "", other_row), "C.npy");
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.err,
                 "256 of 256 elements of C differ (f32, 16 x 16; compared bit for bit)\nwhere: every element\n"
                 "what: row r holds what belongs in row r xor 2\nC[0,0] is "));
  CHECK(contains(outcome.err, "\nnext, of a product of matrices: the same command with --gemm 'C=A*B^T:16x16xK' reports "));
  CHECK(contains(outcome.err, "--why\n'C[0,0]' where"));
  CHECK(outcome.err.size() < 1500);
  outcome = folder.expecting(gemm_ptx(swizzle_of_a), "C.bin:f32:16x16:1e-5");
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.err,
                 "192 of 256 elements of C differ (f32, 16 x 16; allowed: 1e-05 of the number)\nwhere: all of rows 1 to 3 of each 4\n"));
}

TEST_CASE("launch --expect: files and texts that do not fit are refused before the launch", "[tools][launch]") {
  const Folder folder;
  const auto said = [&](const std::string& what) { return folder.launch(gemm_ptx(), {"--expect", what}).err; };
  const std::string npy = folder.directory.path("C.npy"), bin = folder.directory.path("C.bin");
  CHECK(contains(said("D=" + npy), "is no expectation: there is no buffer 'D'; there are A, B, C (character 1); write NAME=FILE[:TYPE]"));
  CHECK(contains(said("C=" + npy + ":16x17"), "it is float32 [16][16], not 16x17"));
  CHECK(contains(said("C=" + npy + ":f16"), "buffer C has 1024 bytes; 16 x 16 elements of f16 are 512"));
  CHECK(contains(said("C=" + npy + ":b32"), "float32 is neither bits nor in a format"));
  CHECK(contains(said("C=" + npy + ":f32:2upl"), "'2upl' is no type (f32, f16, bf16, s32, e4m3, b16, ...), shape (128x128) or tolerance"));
  CHECK(contains(said("C=" + bin), "a file of plain bytes needs a type and a shape"));
  CHECK(contains(said("C=" + bin + ":f32:8x8"), "it has 1024 bytes; 8 x 8 elements of f32 are 256"));
  CHECK(contains(said("C=" + folder.directory.path("none.npy")), "there is no such file"));
}

TEST_CASE("tolerances are units, a part of the number, and an absolute difference", "[tools]") {
  CHECK(parse_tolerance("2ulp")->units == 2);
  CHECK(parse_tolerance("1e-3")->relative == 1e-3);
  CHECK(parse_tolerance("1e-3+1e-6")->absolute == 1e-6);
  CHECK(parse_tolerance("1e+2+1e+3")->relative == 1e2);
  CHECK(parse_tolerance("1e+2")->relative == 100);
  for (const char* const wrong : {"", "ulp", "-1", "1e-3x", "nan", "+", "1+"}) CHECK_FALSE(parse_tolerance(wrong));
}

TEST_CASE("launch --probe: a right product, and which of A and B is read wrong", "[tools][launch]") {
  const Folder folder;
  const std::string product = "C:f32=A*B^T:16x16x32";
  Outcome outcome = folder.launch(gemm_ptx(), {"--probe", product});
  CAPTURE(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(outcome.out ==
        "A numbered, B the identity, 5 launches: all 512 elements are read where they belong\n"
        "B numbered, A the identity, 5 launches: all 512 elements are read where they belong\n");
  outcome = folder.launch(gemm_ptx(swizzle_of_a), {"--probe", product});
  CAPTURE(outcome.out);
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.out,
                 "A numbered, B the identity, 5 launches: 384 of 512 elements are not read where they belong\n"
                 "  where: all of rows 1 to 3 of each 4\n"
                 "  what: as the product reads A, A[r,c] holds what belongs at A[r, c xor 8*(r mod 4)]\n"
                 "  in the place of A[1,0] the product reads A[1,8]\n"));
  CHECK(contains(outcome.out, "\nA is read wrong, B is not: look at its copies, swizzle, addresses of ldmatrix, or descriptor\n"));
  CHECK(outcome.out.size() < 1500);
  outcome = folder.launch(gemm_ptx("", swizzle_of_b), {"--probe", product});
  CAPTURE(outcome.out);
  CHECK(contains(outcome.out, "what: as the product reads B, B[r,c] holds what belongs at B[r, c xor 4*(r/2 mod 4)]\n"));
  CHECK(contains(outcome.out, "\nB is read wrong, A is not: "));
  outcome = folder.launch(gemm_ptx("", "", other_row), {"--probe", product});
  CAPTURE(outcome.out);
  CHECK(contains(outcome.out, "what: as the product reads A, row r holds what belongs in row r xor 2\n"));
  CHECK(contains(outcome.out, "or where C is stored\n"));
}

TEST_CASE("launch --probe: numbers fit the formats, in as many launches as they need", "[tools][launch]") {
  const Folder folder;
  CHECK(contains(folder.launch(gemm_ptx(swizzle_of_a), {"--probe", "C:f32=A:f16*B:f16^T:16x16x32"}, "zeros:1024").out,
                 "A[r,c] holds what belongs at A[r, c xor 8*(r mod 4)]"));
  const Outcome outcome = folder.launch(gemm_ptx("", "", scaled), {"--probe", "C:f32=A*B^T:16x16x32"});
  CHECK(contains(outcome.out, "A numbered, B the identity, 6 launches: all 512 elements are read where they belong\n"));
  const auto said = [&](const std::string& product, const std::string& source = "") {
    return folder.launch(gemm_ptx(), {"--probe", product}, source).err;
  };
  CHECK(contains(said("C:f32=A*B:16x16"), "is no matrix product"));
  CHECK(contains(said("C:f32=A*B^T:16x16x32", "zeros:1024"),
                 "the type of A's elements is not known: write it behind the name, such as A:f16"));
  CHECK(contains(said("C:f32=A*B^T:16x16x64"), "buffer A has 1024 bytes; 16 x 64 elements of f16 are 2048"));
  CHECK(contains(said("C:f32=A*A^T:16x16x32"), "a probe needs three buffers"));
  CHECK(contains(said("C:f32=A*D^T:16x16x32"), "there is no buffer 'D'"));
}

/// Each thread loads what the other warp has stored to shared memory, and stores again, with a barrier between them or none.
std::string exchange_ptx(const std::string& barrier, const std::string& first_line = "") {
  return first_line + R"(.version 9.0
.target sm_80
.address_size 64
.visible .entry exchange(.param .u64 C)
{
  .reg .b32 %i, %a, %b, %v, %t; .reg .b64 %c, %d;
  .shared .align 4 .b8 tile[256];
  ld.param.u64 %c, [C];
  mov.u32 %i, %tid.x;
  mov.u32 %t, tile;
  shl.b32 %a, %i, 2;
  xor.b32 %b, %a, 128;
  add.u32 %a, %a, %t;
  add.u32 %b, %b, %t;
  st.shared.u32 [%a], %i;
  bar.sync 0;
  ld.shared.u32 %v, [%b];
)" + barrier +
         R"(
  st.shared.u32 [%a], %v;
  mul.wide.u32 %d, %i, 4;
  add.s64 %d, %d, %c;
  st.global.u32 [%d], %v;
  ret;
}
)";
}

TEST_CASE("launch: races are looked for without being asked, and a large launch says that they are not", "[tools][launch]") {
  const TemporaryDirectory directory;
  const auto launched = [&](const std::string& ptx, const std::string& grid, std::vector<std::string> more = {}) {
    write_text(directory.path("k.ptx"), ptx);
    std::vector<std::string> all{"launch",   directory.path("k.ptx"), "--block", "64", "--grid", grid,
                                 "--buffer", "C=zeros:256",           "--param", "C"};
    all.insert(all.end(), more.begin(), more.end());
    return run_command(all);
  };
  CHECK(launched(exchange_ptx("bar.sync 0;"), "256").status == 0);
  const Outcome race = launched(exchange_ptx(""), "1", {"--check", "uninitialised,copies,races"});
  CAPTURE(race.err);
  CHECK(contains(race.err, "race at "));
  CHECK(launched(exchange_ptx(""), "256").err == launched(exchange_ptx(""), "256", {"--check", "uninitialised,copies,races"}).err);
  // A warp that runs first reads what is not written yet; the report is the barrier that is missing.
  std::string early = exchange_ptx("");
  early.erase(early.find("  bar.sync 0;\n"), 14);
  const Outcome first = launched(early, "1");
  CAPTURE(first.err);
  CHECK(contains(first.err, "race at "));
  CHECK(contains(first.err, "in another order of the warps what is stored in global memory comes from uninitialised shared memory"));
  const Outcome large = launched(exchange_ptx("bar.sync 0;"), "257");
  CHECK(large.status == 0);
  CHECK(contains(large.err,
                 "warpmat: races were not looked for: the launch has 16448 threads, more than 16384; --check "
                 "uninitialised,copies,races looks for them\n"));
  CHECK(!contains(launched(exchange_ptx("bar.sync 0;"), "257", {"--quiet"}).err, "races"));
  CHECK(!contains(race.err, "-lineinfo"));
  CHECK(contains(launched(exchange_ptx("", "// Generated by NVIDIA NVVM Compiler\n"), "1").err,
                 "the PTX has no lines of the source: compile with nvcc -lineinfo\n"));
}

}  // namespace
}  // namespace warpmat::launch_expect_test
