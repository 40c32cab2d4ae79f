// exec of tcgen05.

#include "command.h"
#include "test.h"
#include "tools/report/npy.h"

namespace warpmat::tensor_commands_test {
namespace {

constexpr std::size_t cases = 2;

/// Small whole numbers, [cases][rows][columns].
struct Matrices {
  std::size_t rows, columns;
  std::vector<double> values;

  Matrices(std::size_t r, std::size_t c, unsigned seed, std::vector<double> choice = {0, 1, -1, 2, -3}) : rows(r), columns(c) {
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < cases * r * c; ++i) values.push_back(choice[random() % choice.size()]);
  }
  double at(std::size_t i, std::size_t row, std::size_t column) const { return values[(i * rows + row) * columns + column]; }

  std::string write(const TemporaryDirectory& directory, const std::string& name) const {
    NpyArray array = NpyArray::zeros(DType::float64, {cases, rows, columns});
    std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
    write_npy(directory.path(name), array);
    return directory.path(name);
  }
};

Outcome exec(const std::string& opcode, const std::string& descriptor, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"exec", opcode, "--descriptor", descriptor, "--target", "sm_100a", "--quiet"});
  return run_command(arguments);
}

/// D as exec writes it, and as sums of factor(case, row, k) and b.
template <typename Factor>
void check(const std::string& opcode, const std::string& descriptor, const TemporaryDirectory& directory,
           std::vector<std::string> arguments, const Matrices& b, const Matrices* c, std::size_t m, Factor factor) {
  arguments.insert(arguments.end(), {"--b", b.write(directory, "b.npy"), "--c", c != nullptr ? c->write(directory, "c.npy") : "zeros",
                                     "--d", directory.path("d.npy")});
  const Outcome outcome = exec(opcode, descriptor, arguments);
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const NpyArray d = read_npy(directory.path("d.npy"));
  REQUIRE(d.shape == std::vector<std::size_t>{cases, m, b.columns});
  REQUIRE(d.dtype == DType::float32);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < cases; ++i)
    for (std::size_t row = 0; row < m; ++row)
      for (std::size_t column = 0; column < b.columns; ++column) {
        double sum = c != nullptr ? c->at(i, row, column) : 0;
        for (std::size_t k = 0; k < b.rows; ++k) sum += factor(i, row, k, column) * b.at(i, k, column);
        wrong += static_cast<double>(d.as<float>()[(i * m + row) * b.columns + column]) != sum;
      }
  CHECK(wrong == 0);
}

TEST_CASE("exec of tcgen05.mma multiplies matrices of a block and of a pair", "[tools][tcgen05]") {
  const TemporaryDirectory directory;
  for (const auto& [opcode, descriptor, m] : {std::tuple("tcgen05.mma.cta_group::1.kind::f16", "0x08060010", 128u),
                                              std::tuple("tcgen05.mma.cta_group::1.kind::f16", "0x04060010", 64u),
                                              std::tuple("tcgen05.mma.cta_group::2.kind::f16", "0x10080010", 256u),
                                              std::tuple("tcgen05.mma.ws.cta_group::1.kind::f16", "0x04100010", 64u)}) {
    CAPTURE(opcode, descriptor);
    const std::size_t n = (std::stoul(descriptor, nullptr, 16) >> 17 & 63) * 8;
    const Matrices a(m, 16, 1), b(16, n, 2), c(m, n, 3);
    const std::vector<std::string> of_a{"--a", a.write(directory, "a.npy")};
    const auto factor = [&](std::size_t i, std::size_t row, std::size_t k, std::size_t) { return a.at(i, row, k); };
    check(opcode, descriptor, directory, of_a, b, &c, m, factor);
    check(opcode, descriptor, directory, of_a, b, nullptr, m, factor);
    std::vector<std::string> without_d = of_a;
    without_d.insert(without_d.end(), {"--reference"});
    check(opcode, descriptor, directory, without_d, b, &c, m, factor);
    const Outcome unscaled =
        exec(opcode, descriptor,
             {"--a", directory.path("a.npy"), "--b", directory.path("b.npy"), "--scale-d", "0", "--d", directory.path("without_c.npy")});
    CAPTURE(unscaled.err);
    REQUIRE(unscaled.status == 0);
    check(opcode, descriptor, directory, of_a, b, nullptr, m, factor);
    CHECK(read_text(directory.path("without_c.npy")) == read_text(directory.path("d.npy")));
  }
}

TEST_CASE("exec of tcgen05.mma takes scale factors and metadata", "[tools][tcgen05]") {
  const TemporaryDirectory directory;
  {
    const Matrices a(128, 32, 4), b(32, 16, 5), scale_a(128, 1, 6, {1, 2, 0.5}), scale_b(1, 16, 7, {1, 4});
    check("tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale", "0x08840000", directory,
          {"--a", a.write(directory, "a.npy"), "--scale-a", scale_a.write(directory, "sa.npy") + ":values", "--scale-b",
           scale_b.write(directory, "sb.npy") + ":values"},
          b, nullptr, 128, [&](std::size_t i, std::size_t row, std::size_t k, std::size_t column) {
            return a.at(i, row, k) * scale_a.at(i, row, 0) * scale_b.at(i, 0, column);
          });
  }
  // PTX ISA 9.1 section 9.7.16.10.8: of four elements two are stored, at the indices in bits 0 and 1, 2 and 3 of the code.
  const Matrices a(128, 16, 8), b(32, 16, 9), codes(128, 8, 10, {0x4, 0x8, 0xc, 0x9, 0xd, 0xe});
  NpyArray e = NpyArray::zeros(DType::uint8, {cases, 128, 8});
  for (std::size_t i = 0; i < codes.values.size(); ++i) e.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(codes.values[i]);
  write_npy(directory.path("e.npy"), e);
  check("tcgen05.mma.sp.cta_group::1.kind::f16", "0x08040014", directory,
        {"--a", a.write(directory, "a.npy"), "--e", directory.path("e.npy")}, b, nullptr, 128,
        [&](std::size_t i, std::size_t row, std::size_t k, std::size_t) {
          const auto code = static_cast<unsigned>(codes.at(i, row, k / 4));
          for (const unsigned stored : {0u, 1u})
            if ((code >> 2 * stored & 3) == k % 4) return a.at(i, row, k / 4 * 2 + stored);
          return 0.0;
        });
}

}  // namespace
}  // namespace warpmat::tensor_commands_test
