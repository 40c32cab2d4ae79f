#include <warpmat/warpmat.h>

#include <regex>

#include "command.h"
#include "test.h"
#include "tools/report/cards.h"
#include "tools/report/lowered_forms.h"
#include "tools/report/npy.h"

// Seven jobs of a new user, each as it should go and with the slip that people make: the tool must name it at once.

namespace warpmat::first_hour_test {
namespace {

NpyArray array_of(DType dtype, std::vector<std::size_t> shape, const std::vector<double>& values) {
  NpyArray array = NpyArray::zeros(dtype, std::move(shape));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::float32) array.as<float>()[i] = static_cast<float>(values[i]);
    if (dtype == DType::uint32) array.as<std::uint32_t>()[i] = static_cast<std::uint32_t>(values[i]);
    if (dtype == DType::uint8) array.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(values[i]);
    if (dtype == DType::int64) array.as<std::int64_t>()[i] = static_cast<std::int64_t>(values[i]);
  }
  return array;
}

std::vector<double> constant(std::size_t count, double value) {
  return std::vector<double>(count, value);
}

/// A directory with a program and arrays, and the command on them.
struct Job {
  explicit Job(const std::string& text) { write_text(directory.path("p.ptx"), text); }

  std::string file(const std::string& name) const { return directory.path(name + ".npy"); }
  void write(const std::string& name, DType dtype, std::vector<std::size_t> shape, const std::vector<double>& values) const {
    write_npy(file(name), array_of(dtype, std::move(shape), values));
  }
  Outcome run(const std::string& target, std::vector<std::string> more) const {
    more.insert(more.begin(), {"run", directory.path("p.ptx"), "--target", target});
    return run_command(more);
  }

  TemporaryDirectory directory;
};

// ---- 1: a swizzled tile -------------------------------------------------------------------------------------------------------------

constexpr const char* load_text = R"(
    .shared .align 128 .b16 tile[512];
    .reg .b32 p, r<4>;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {r0, r1, r2, r3}, [p];
)";

double tile_element(int row, int column) {
  return 64 * row + column;
}

/// Lane l addresses row l % 8 of matrix l / 8, the 16-byte chunks of a row swizzled or not.
std::uint32_t row_address(int lane, bool swizzled) {
  const int row = lane % 8, chunk = swizzled ? lane / 8 ^ row : lane / 8;
  return static_cast<std::uint32_t>(128 * row + 16 * chunk);
}

TEST_CASE("job 1: a swizzled tile in a unit test; a forgotten swizzle is named", "[tools][first-hour]") {
  const Program program = parse(load_text, "sm_80");
  const Eigen::MatrixXd tile = Eigen::MatrixXd::NullaryExpr(8, 64, [](int i, int j) { return tile_element(i, j); });
  const Eigen::MatrixXd expected = Eigen::MatrixXd::NullaryExpr(32, 8, [](int i, int j) { return tile_element(i % 8, 8 * (i / 8) + j); });
  for (const bool swizzled : {true, false}) {
    Warp warp(program);
    set_variable(warp, "tile", tile, Format::f16, MemoryLayout::swizzled(3, 4, 3));
    for (int lane = 0; lane < warp_size; ++lane) warp.reg("p")[static_cast<std::size_t>(lane)] = row_address(lane, swizzled);
    run(warp);
    const std::string wrong = compare_operand(warp, "ldmatrix.0.r", expected, Format::f16);
    CAPTURE(wrong);
    CHECK(wrong.empty() == swizzled);
    if (swizzled) continue;
    CHECK(contains(wrong, "ldmatrix in line 4 read 28 wrong rows:\n"));
    CHECK(contains(wrong, "  lane 1's address 0x80 is row 1, chunk 1 of tile; the expected values lie at 0x90, chunk 0\n"));
    CHECK(contains(wrong, "whole chunks are exchanged: in row r, chunk c is read where chunk c ^ (r % 8) was meant"));
    CHECK(compare_variable(warp, "tile", tile, Format::f16, MemoryLayout::swizzled(3, 4, 3)) == "");
    CHECK(contains(compare_variable(warp, "tile", tile, Format::f16),
                   "of tile (address 0x80) holds 72, expected 64; 72 belongs to row 1, column 8"));
  }
}

TEST_CASE("job 1: the same on the command line", "[tools][first-hour]") {
  const Job job(load_text);
  std::vector<double> tile, expected;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 64; ++j) tile.push_back(tile_element(i, j));
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 8; ++j) expected.push_back(tile_element(i % 8, 8 * (i / 8) + j));
  job.write("tile", DType::float32, {8, 64}, tile);
  job.write("want", DType::float32, {32, 8}, expected);
  for (const bool swizzled : {true, false}) {
    std::vector<double> addresses;
    for (int lane = 0; lane < warp_size; ++lane) addresses.push_back(row_address(lane, swizzled));
    job.write("p", DType::uint32, {32}, addresses);
    const Outcome outcome = job.run("sm_80", {"--in", "p=" + job.file("p"), "--in", "tile:f16:64=" + job.file("tile"), "--layout",
                                              "tile=swizzle<3,4,3>", "--expect", "ldmatrix.0.r:f16=" + job.file("want")});
    CAPTURE(outcome.err);
    CHECK(outcome.status == (swizzled ? 0 : 1));
    CHECK(contains(outcome.err, ": specified ("));
    CHECK(contains(outcome.err, "lane 1's address 0x80 is row 1, chunk 1 of tile") != swizzled);
  }
}

TEST_CASE("job 1: a tile as C declares it, and statements with names", "[tools][first-hour]") {
  const Job job(R"(
      .shared .align 128 .b16 tile[8][64];
      .reg .b32 p, r<4>;
      rows: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {r0, r1, r2, r3}, [p];
  )");
  std::vector<double> tile;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 64; ++j) tile.push_back(tile_element(i, j));
  job.write("tile", DType::float32, {8, 64}, tile);
  std::vector<double> addresses;
  for (int lane = 0; lane < warp_size; ++lane) addresses.push_back(row_address(lane, true));
  job.write("p", DType::uint32, {32}, addresses);
  const Outcome outcome = job.run("sm_80", {"--in", "p=" + job.file("p"), "--in", "tile:f16=" + job.file("tile"), "--layout",
                                            "tile=swizzle<3,4,3>", "--print", "rows.r:f16", "--print", "tile:f16"});
  CAPTURE(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "rows.r:f16\n"));
  CHECK(contains(outcome.out, "7  448  449  450"));  // row 7 of the first matrix
}

// ---- 2: sparse metadata -------------------------------------------------------------------------------------------------------------

constexpr const char* sparse_text =
    "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1, b2, b3}, {c0, c1, c2, c3}, e, 0;\n";

TEST_CASE("job 2: a sparse product from a dense A; unset metadata is named", "[tools][first-hour]") {
  const Job job(sparse_text);
  std::vector<double> a(16 * 32), d(16 * 8, 8 * 3);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = i % 4 == 1 ? 1 : i % 4 == 2 ? 2 : 0;
  job.write("a", DType::float32, {16, 32}, a);
  job.write("b", DType::float32, {32, 8}, constant(32 * 8, 1));
  job.write("d", DType::float32, {16, 8}, d);
  const std::string b = "mma.0.b=" + job.file("b"), expect = "mma.0.d=" + job.file("d");
  for (const char* place : {"mma.0.sparse-a=", "mma.0.a="}) {
    const Outcome good = job.run("sm_90a", {"--in", place + job.file("a"), "--in", b, "--expect", expect, "--print", "mma.0.e"});
    CAPTURE(good.err);
    CHECK(good.status == 0);
    CHECK(contains(good.out, " 9  9  9"));  // places 1 and 2 of each group
  }
  job.write("half", DType::float32, {16, 16}, constant(16 * 16, 1));
  const Outcome unset = job.run("sm_90a", {"--in", "mma.0.a=" + job.file("half"), "--in", b});
  CHECK(unset.status == 1);
  CHECK(contains(unset.err, "e of mma.0.e is read and never written or filled"));
  CHECK(contains(unset.err, "metadata code 0x0"));
  a[0] = 1;
  job.write("a", DType::float32, {16, 32}, a);
  const Outcome dense = job.run("sm_90a", {"--in", "mma.0.a=" + job.file("a"), "--in", b});
  CHECK(dense.status == 1);
  CHECK(
      contains(dense.err, "row 0, group 0 of A (columns 0 to 3) has elements other than zero in columns 0, 1, 2; only two of four may be"));
}

// ---- 4: scale factors ---------------------------------------------------------------------------------------------------------------

std::string scaled_text(const std::string& ids) {
  return "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 "
         "{d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {c0, c1, c2, c3}, sa, " +
         ids + ", sb, {0, 0};\n";
}

TEST_CASE("job 4: mxfp8 with scale factors; codes as numbers, unset factors and a wrong id are named", "[tools][first-hour]") {
  const Job job(scaled_text("{0, 1}"));
  job.write("a", DType::uint8, {16, 32}, constant(16 * 32, 0x38));
  job.write("b", DType::uint8, {32, 8}, constant(32 * 8, 0x38));
  job.write("sa", DType::uint8, {16, 1}, constant(16, 128));
  job.write("sb", DType::uint8, {1, 8}, constant(8, 127));
  job.write("d", DType::float32, {16, 8}, constant(16 * 8, 64));
  const std::vector<std::string> operands{"--in", "0.a=" + job.file("a"), "--in", "0.b=" + job.file("b")};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), operands.begin(), operands.end());
    return more;
  };
  const std::string sb = "0.scale-b=" + job.file("sb");
  const Outcome good = job.run("sm_120a", with({"--in", "0.scale-a=" + job.file("sa"), "--in", sb, "--expect", "0.d=" + job.file("d")}));
  CAPTURE(good.err);
  CHECK(good.status == 0);

  job.write("numbers", DType::int64, {16, 1}, constant(16, 127));
  const Outcome codes = job.run("sm_120a", with({"--in", "0.scale-a=" + job.file("numbers"), "--in", sb}));
  CHECK(codes.status == 1);
  CHECK(contains(codes.err, "int64 could be numbers or bit patterns of ue8m0: write 0.scale-a:values or 0.scale-a:bits"));

  const Outcome unset = job.run("sm_120a", with({"--in", sb}));
  CHECK(contains(unset.err, "sa of mma.0.scale-a is read and never written or filled: scale factors of zero bits are 2^-127 as ue8m0"));

  const Job wrong(scaled_text("{0, 2}"));
  const Outcome checked = run_command({"check", wrong.directory.path("p.ptx"), "--target", "sm_120a"});
  CHECK(contains(checked.err, "line 1: warning: thread-id of ids-a is 2; it must be below 2: the statement will trap"));
}

// ---- 6: many products ---------------------------------------------------------------------------------------------------------------

TEST_CASE("job 6: 10,000 products of matrices as NumPy has them", "[tools][first-hour]") {
  constexpr std::size_t cases = 10'000;
  const TemporaryDirectory directory;
  NpyArray a = NpyArray::zeros(DType::uint16, {cases, 16, 16}), b = NpyArray::zeros(DType::float32, {cases, 16, 8});
  for (std::uint16_t& element : a.as<std::uint16_t>()) element = 0x3c00;
  for (std::size_t i = 0; i < b.as<float>().size(); ++i) b.as<float>()[i] = static_cast<float>(i / 128 % 7);
  write_npy(directory.path("a.npy"), a);
  write_npy(directory.path("b.npy"), b);
  const Outcome outcome =
      run_command({"exec", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "--target", "sm_90a", "--a", directory.path("a.npy"), "--b",
                   directory.path("b.npy"), "--c", "zeros", "--d", directory.path("d.npy"), "--as", "matrix"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const NpyArray d = read_npy(directory.path("d.npy"));
  CHECK(describe(d) == "float32 [10000][16][8]");
  bool right = true;
  for (std::size_t i = 0; i < d.as<float>().size(); ++i) right = right && d.as<float>()[i] == static_cast<float>(16 * (i / 128 % 7));
  CHECK(right);
}

TEST_CASE("the page of support has the table of cards, and README explains every label", "[tools][first-hour]") {
  CHECK(contains(run_command({"support"}).out, card_table()));
  const std::string readme = read_text(source_path("README.md"));
  for (const Label label : all_labels) CHECK(contains(readme, fmt::format("| `{}` | ", name(label))));
}

TEST_CASE("warpmat new writes a project, and not over another", "[tools][first-hour]") {
  const TemporaryDirectory directory;
  const std::string project = directory.path("tests");
  CHECK(run_command({"new", project}).status == 0);
  CHECK(read_text(project + "/readme_example.cpp") == read_text(source_path("tests/readme_example.cpp")));
  CHECK(read_text(project + "/.github/workflows/test.yml") == read_text(source_path("examples/unit_test/test.yml")));
  const Outcome again = run_command({"new", project});
  CHECK(again.status == 1);
  CHECK(contains(again.err, "is there and not empty"));
}

/// The files that a page names, "`tile.h`".
std::vector<std::string> files_named_in(const std::string& markdown) {
  const std::regex name("`([.a-z_/]+[a-z0-9_]+\\.[a-z]+|CMakeLists\\.txt)`");
  std::vector<std::string> files;
  for (std::sregex_iterator found(markdown.begin(), markdown.end(), name), end; found != end; ++found) files.push_back((*found)[1]);
  return files;
}

TEST_CASE("warpmat new: its README names files that are there, its next commands install what was only built", "[tools][first-hour]") {
  const TemporaryDirectory directory;
  for (const bool cuda : {false, true}) {
    const std::string project = directory.path(cuda ? "a project" : "plain");
    const Outcome outcome =
        run_command(cuda ? std::vector<std::string>{"new", "--cuda", project} : std::vector<std::string>{"new", project});
    REQUIRE(outcome.status == 0);
    const std::string quoted = cuda ? "'" + project + "'" : project, build = cuda ? "'" + project + "/build'" : project + "/build";
    CHECK(contains(outcome.out, " --target warpmat"));
    CHECK(contains(outcome.out, " && cmake --install "));
    CHECK(contains(outcome.out, " --component development --prefix "));
    CHECK(contains(outcome.out, "\n  cmake -S " + quoted + " -B " + build + " -DCMAKE_PREFIX_PATH="));
    CHECK(contains(outcome.out, "\n  cmake --build " + build + " && ctest --test-dir " + build));
    const std::vector<std::string> files = files_named_in(read_text(project + "/README.md"));
    CHECK(files.size() >= 4);
    for (const std::string& file : files) {
      CAPTURE(file);
      CHECK(std::filesystem::exists(project + "/" + file));
    }
    CHECK(std::filesystem::exists(project + "/.github/workflows/test.yml"));
  }
  const std::string cmake = read_text(directory.path("a project") + "/CMakeLists.txt");
  CHECK(contains(cmake, "-ptx -lineinfo -arch=sm_90a"));
}

}  // namespace
}  // namespace warpmat::first_hour_test
