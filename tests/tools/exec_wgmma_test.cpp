// warpmat exec of wgmma, against products of integers that are exact in every type, and layouts as the ISA's figures and CuTe have them.

#include "command.h"
#include "test.h"
#include "tools/report/npy.h"

namespace warpmat::exec_wgmma_test {
namespace {

constexpr std::size_t cases = 3, m = 64;
const std::string f16 = "wgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16";

/// Matrices of small integers, one a case.
struct Matrices {
  std::size_t rows, columns;
  std::vector<double> values;

  Matrices(std::size_t r, std::size_t c, std::mt19937* random = nullptr) : rows(r), columns(c), values(cases * r * c) {
    if (random != nullptr)
      for (double& value : values) value = static_cast<double>((*random)() % 13) - 6;
  }
  double& at(std::size_t index, std::size_t row, std::size_t column) { return values[(index * rows + row) * columns + column]; }
  double at(std::size_t index, std::size_t row, std::size_t column) const { return values[(index * rows + row) * columns + column]; }
};

/// sign * A * B + C.
Matrices product(const Matrices& a, const Matrices& b, const Matrices* c, double sign = 1) {
  Matrices d(a.rows, b.columns);
  for (std::size_t i = 0; i < cases; ++i)
    for (std::size_t row = 0; row < a.rows; ++row)
      for (std::size_t column = 0; column < b.columns; ++column) {
        double sum = c == nullptr ? 0 : c->at(i, row, column);
        for (std::size_t k = 0; k < b.rows; ++k) sum += sign * a.at(i, row, k) * b.at(i, k, column);
        d.at(i, row, column) = sum;
      }
  return d;
}

/// The bits of an integer from -64 to 64 in f16.
std::uint16_t half(double value) {
  const auto bits = [](double x) {
    int exponent = 0;
    while (x >= 2) x /= 2, ++exponent;
    return static_cast<std::uint16_t>((15 + exponent) << 10 | static_cast<int>((x - 1) * 1024));
  };
  if (value == 0) return 0;
  return value < 0 ? static_cast<std::uint16_t>(0x8000 | bits(-value)) : bits(value);
}

class Files {
 public:
  std::string write(const std::string& name, const Matrices& matrices) {
    NpyArray array = NpyArray::zeros(DType::float64, {cases, matrices.rows, matrices.columns});
    std::memcpy(array.bytes.data(), matrices.values.data(), array.bytes.size());
    return write(name, array);
  }
  std::string write(const std::string& name, const NpyArray& array) {
    write_npy(directory_.path(name), array);
    return directory_.path(name);
  }
  NpyArray read(const std::string& name) const { return read_npy(directory_.path(name)); }
  std::string path(const std::string& name) const { return directory_.path(name); }

 private:
  TemporaryDirectory directory_;
};

Outcome exec(const std::string& opcode, std::vector<std::string> arguments, const std::string& target = "sm_90a") {
  arguments.insert(arguments.begin(), {"exec", opcode, "--target", target, "--quiet"});
  return run_command(arguments);
}

/// Runs and expects D as a matrix of T.
template <typename T>
void check(Files& files, const std::string& opcode, std::vector<std::string> arguments, const Matrices& expected) {
  arguments.insert(arguments.end(), {"--d", files.path("d.npy"), "--as", "matrix"});
  const Outcome outcome = exec(opcode, arguments);
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const NpyArray d = files.read("d.npy");
  REQUIRE(d.shape == std::vector<std::size_t>{cases, expected.rows, expected.columns});
  REQUIRE(d.bytes.size() == expected.values.size() * sizeof(T));
  for (std::size_t i = 0; i < expected.values.size(); ++i) REQUIRE(static_cast<double>(d.as<T>()[i]) == expected.values[i]);
}

TEST_CASE("exec of wgmma multiplies matrices", "[tools][wgmma]") {
  std::mt19937 random(1);
  Files files;
  const Matrices a(m, 16, &random), b(16, 24, &random), c(m, 24, &random);
  const std::vector<std::string> given{"--a", files.write("a.npy", a), "--b", files.write("b.npy", b)};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), given.begin(), given.end());
    return more;
  };
  const std::string c_file = files.write("c.npy", c);
  check<float>(files, f16, with({"--c", c_file}), product(a, b, &c));
  check<float>(files, f16, with({"--c", c_file, "--jobs", "1", "--reference"}), product(a, b, &c));
  check<float>(files, f16, with({"--c", "zeros"}), product(a, b, nullptr));
  check<float>(files, f16, with({"--c", c_file, "--scale-d", "0"}), product(a, b, nullptr));
  check<float>(files, f16, with({"--c", c_file, "--negate-a"}), product(a, b, &c, -1));
  check<float>(files, f16, with({"--c", c_file, "--negate-a", "--negate-b"}), product(a, b, &c));
  check<float>(files, f16, with({"--c", c_file, "--transpose-b"}), product(a, b, &c));  // where it lies is exec's own affair
}

TEST_CASE("exec of wgmma takes and gives registers as the ISA's figures have them", "[tools][wgmma]") {
  // PTX ISA 9.1, section 9.7.15.5.1: D of 32 bits, A of 16-bit types.
  std::mt19937 random(2);
  Files files;
  const Matrices a(m, 16, &random), b(16, 24, &random), c(m, 24, &random);
  NpyArray a_registers = NpyArray::zeros(DType::uint32, {cases, 4, 4, 32}),
           c_registers = NpyArray::zeros(DType::uint32, {cases, 4, 12, 32});
  const auto d_place = [&](std::size_t i, std::size_t warp, std::size_t reg, std::size_t lane, const Matrices& of) {
    return of.at(i, 16 * warp + lane / 4 + 8 * (reg / 2 % 2), reg / 4 * 8 + lane % 4 * 2 + reg % 2);
  };
  for (std::size_t i = 0; i < cases; ++i)
    for (std::size_t warp = 0; warp < 4; ++warp)
      for (std::size_t lane = 0; lane < 32; ++lane) {
        for (std::size_t reg = 0; reg < 4; ++reg) {
          const std::size_t row = 16 * warp + lane / 4 + 8 * (reg % 2), column = lane % 4 * 2 + 8 * (reg / 2);
          a_registers.as<std::uint32_t>()[((i * 4 + warp) * 4 + reg) * 32 + lane] =
              half(a.at(i, row, column)) | std::uint32_t{half(a.at(i, row, column + 1))} << 16;
        }
        for (std::size_t reg = 0; reg < 12; ++reg)
          c_registers.as<float>()[((i * 4 + warp) * 12 + reg) * 32 + lane] = static_cast<float>(d_place(i, warp, reg, lane, c));
      }
  const Outcome outcome = exec(f16, {"--a", files.write("a.npy", a_registers), "--b", files.write("b.npy", b), "--c",
                                     files.write("c.npy", c_registers), "--d", files.path("d.npy")});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const NpyArray d = files.read("d.npy");
  CHECK(describe(d) == "uint32 [3][4][12][32]");
  const Matrices expected = product(a, b, &c);
  for (std::size_t i = 0; i < cases; ++i)
    for (std::size_t warp = 0; warp < 4; ++warp)
      for (std::size_t reg = 0; reg < 12; ++reg)
        for (std::size_t lane = 0; lane < 32; ++lane)
          REQUIRE(d.as<float>()[((i * 4 + warp) * 12 + reg) * 32 + lane] == d_place(i, warp, reg, lane, expected));
}

TEST_CASE("exec of wgmma finds A and B in shared memory by descriptors", "[tools][wgmma]") {
  std::mt19937 random(3);
  Files files;
  const Matrices a(m, 16, &random), b(16, 24, &random);
  const std::string a_file = files.write("a.npy", a);
  // K-major with a swizzle of 128 bytes, a descriptor a case: one K step of 32 bytes further in each.
  // CuTe: row r has 128 bytes, whose 16-byte chunk c lies at c ^ r % 8. A at 0, B at 8192.
  NpyArray memory = NpyArray::zeros(DType::uint8, {cases, 12288}), descriptors = NpyArray::zeros(DType::uint64, {cases});
  for (std::size_t i = 0; i < cases; ++i) {
    const auto put = [&](std::size_t start, std::size_t row, std::size_t k, double value) {
      const std::size_t column = k + 16 * i, at = start + row * 128 + (column / 8 ^ row % 8) * 16 + column % 8 * 2;
      const std::uint16_t bits = half(value);
      std::memcpy(&memory.as<std::uint8_t>()[i * 12288 + at], &bits, 2);
    };
    for (std::size_t k = 0; k < 16; ++k) {
      for (std::size_t row = 0; row < m; ++row) put(0, row, k, a.at(i, row, k));
      for (std::size_t column = 0; column < 24; ++column) put(8192, column, k, b.at(i, k, column));
    }
    descriptors.as<std::uint64_t>()[i] = 0x4000004000010200 + 2 * i;
  }
  NpyArray a_descriptors = descriptors;
  for (std::uint64_t& bits : a_descriptors.as<std::uint64_t>()) bits -= 0x200;
  const std::string shared = files.write("m.npy", memory);
  check<float>(files, f16,
               {"--a-descriptor", files.write("da.npy", a_descriptors), "--b-descriptor", files.write("db.npy", descriptors), "--shared",
                shared, "--c", "zeros"},
               product(a, b, nullptr));
  check<float>(files, f16, {"--a", a_file, "--b-descriptor", files.path("db.npy"), "--shared", shared, "--c", "zeros"},
               product(a, b, nullptr));
}

TEST_CASE("exec of wgmma: integers, and a sparse A", "[tools][wgmma]") {
  std::mt19937 random(4);
  Files files;
  {
    const Matrices a(m, 32, &random), b(32, 16, &random), c(m, 16, &random);
    check<std::int32_t>(files, "wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.s8",
                        {"--a", files.write("a.npy", a), "--b", files.write("b.npy", b), "--c", files.write("c.npy", c)},
                        product(a, b, &c));
  }
  // Metadata 0x4 for four columns: the two stored elements are columns 0 and 1.
  const Matrices stored(m, 16, &random), b(32, 8, &random), c(m, 8, &random);
  Matrices dense(m, 32);
  for (std::size_t i = 0; i < cases; ++i)
    for (std::size_t row = 0; row < m; ++row)
      for (std::size_t k = 0; k < 16; ++k) dense.at(i, row, k / 2 * 4 + k % 2) = stored.at(i, row, k);
  NpyArray metadata = NpyArray::zeros(DType::uint32, {cases, 4, 1, 32});
  for (std::uint32_t& word : metadata.as<std::uint32_t>()) word = 0x44444444;
  check<float>(files, "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16",
               {"--a", files.write("a.npy", stored), "--b", files.write("b.npy", b), "--c", files.write("c.npy", c), "--e",
                files.write("e.npy", metadata), "--selector", "1"},
               product(dense, b, &c));
}

}  // namespace
}  // namespace warpmat::exec_wgmma_test
