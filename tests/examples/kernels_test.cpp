// The kernels of examples/kernels, as nvcc compiled them, against sums of whole numbers, and bit for bit against chains of mma
// instructions.

#include <warpmat/formats.h>
#include <warpmat/launch.h>
#include <warpmat/operands.h>
#include <warpmat/program.h>

#include "compressed_table.h"
#include "test.h"

namespace warpmat::kernels_test {
namespace {

using Matrix = Eigen::MatrixXd;
using Bytes = std::vector<std::uint8_t>;

std::string text_of(const std::string& name) {
  return read_compressed_text(source_path("examples/kernels/" + name + ".ptx.gz"));
}

Kernel kernel_of(const std::string& name, std::string_view target) {
  return Kernel(Module(text_of(name)), name, {.target = target});
}

/// Consecutive rows, each element in the bytes of its format.
Bytes rows_of(const Matrix& matrix, Format format, std::size_t bytes) {
  Bytes out;
  for (Eigen::Index i = 0; i < matrix.rows(); ++i)
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
      const std::uint64_t code = from_double(format, matrix(i, j));
      for (std::size_t byte = 0; byte < bytes; ++byte) out.push_back(static_cast<std::uint8_t>(code >> 8 * byte));
    }
  return out;
}

template <typename T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes out(values.size() * sizeof(T));
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

Matrix random_matrix(Eigen::Index rows, Eigen::Index columns, unsigned seed, const std::function<double(unsigned)>& value) {
  std::mt19937 random(seed);
  return Matrix::NullaryExpr(rows, columns, [&] { return value(static_cast<unsigned>(random())); });
}

double small_integer(unsigned draw) {
  return static_cast<double>(draw % 5) - 2;
}

/// Numbers of e4m3, and so of f16, with exponents far apart: sums of them are rounded.
double uneven(unsigned draw) {
  return std::ldexp(8 + draw % 8, -static_cast<int>(draw / 8 % 10)) * (draw / 128 % 2 == 0 ? 1 : -1);
}

/// Launches with buffers in the order of the parameters, then n and k, and more; returns the contents of the last buffer, as T.
template <typename T>
std::vector<T> result_of(const Kernel& kernel, Dim3 grid, const std::vector<Bytes>& inputs, std::size_t count,
                         const std::vector<Argument>& numbers, std::uint32_t shared_bytes = 0) {
  DeviceMemory memory;
  std::vector<Argument> arguments;
  for (const Bytes& input : inputs) arguments.emplace_back(memory.allocate(input));
  const std::uint64_t result = memory.allocate(count * sizeof(T), "c");
  arguments.emplace_back(result);
  arguments.insert(arguments.end(), numbers.begin(), numbers.end());
  launch(kernel, {grid, {128}, shared_bytes}, memory, arguments, {.jobs = 2});
  return memory.read<T>(result, count);
}

constexpr int m = 128, n = 128;

/// What one m16n8 tile holds after `steps` executions of `statement`, whose d is its c too. `set` puts the operands of a step into the
/// warp.
Matrix chain(const std::string& statement, std::string_view target, int steps, const std::function<void(Warp&, int)>& set) {
  const Program program = parse(statement, target);
  Warp warp(program);
  for (int step = 0; step < steps; ++step) {
    set(warp, step);
    run(warp);
  }
  return get_operand(warp, 0, OperandName::d);
}

/// Compares some of the tiles of `c` with what `tile(row, column)` gives.
void check_tiles(const std::vector<float>& c, const std::function<Matrix(int row, int column)>& tile) {
  int wrong = 0;
  for (const int row : {0, 16, 80, 112})
    for (const int column : {0, 8, 56, 72, 120}) {
      const Matrix expected = tile(row, column);
      for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 8; ++j) wrong += static_cast<double>(c[static_cast<std::size_t>((row + i) * n + column + j)]) != expected(i, j);
    }
  CHECK(wrong == 0);
}

int differing(const std::vector<float>& c, const Matrix& expected) {
  int wrong = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) wrong += static_cast<double>(c[static_cast<std::size_t>(i * n + j)]) != expected(i, j);
  return wrong;
}

TEST_CASE("gemm_f16 of examples/kernels", "[examples]") {
  constexpr int k = 192;
  const Kernel kernel = kernel_of("gemm_f16", "sm_90");
  const auto product = [&](const Matrix& a, const Matrix& b) {
    return result_of<float>(kernel, {1}, {rows_of(a, Format::f16, 2), rows_of(b.transpose(), Format::f16, 2)}, m * n, {n, k}, 65536);
  };
  const Matrix a = random_matrix(m, k, 1, small_integer), b = random_matrix(k, n, 2, small_integer);
  CHECK(differing(product(a, b), a * b) == 0);

  const Matrix x = random_matrix(m, k, 3, uneven), y = random_matrix(k, n, 4, uneven);
  check_tiles(product(x, y), [&](int row, int column) {
    return chain("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {d0, d1, d2, d3};",
                 "sm_90", k / 16, [&](Warp& warp, int step) {
                   set_operand(warp, 0, OperandName::a, x.block(row, 16 * step, 16, 16));
                   set_operand(warp, 0, OperandName::b, y.block(16 * step, column, 16, 8));
                 });
  });
}

/// A number rounded to bf16.
double as_bf16(float value) {
  return to_double(Format::bf16, from_double(Format::bf16, static_cast<double>(value)));
}

std::vector<float> from_bf16(const std::vector<std::uint16_t>& codes) {
  std::vector<float> values;
  for (const std::uint16_t code : codes) values.push_back(static_cast<float>(to_double(Format::bf16, code)));
  return values;
}

TEST_CASE("gemm_fp8 of examples/kernels", "[examples]") {
  constexpr int k = 256;
  constexpr float scale = 0.3f;
  const Kernel kernel = kernel_of("gemm_fp8", "sm_90");
  const auto product = [&](const Matrix& a, const Matrix& b) {
    return from_bf16(result_of<std::uint16_t>(kernel, {2, 2}, {rows_of(a, Format::e4m3, 1), rows_of(b.transpose(), Format::e4m3, 1)}, m * n,
                                              {n, k, scale}));
  };
  const auto scaled = [&](const Matrix& sums) -> Matrix {
    return sums.unaryExpr([&](double sum) { return as_bf16(static_cast<float>(sum) * scale); });
  };
  const Matrix a = random_matrix(m, k, 1, small_integer), b = random_matrix(k, n, 2, small_integer);
  CHECK(differing(product(a, b), scaled(a * b)) == 0);

  const Matrix x = random_matrix(m, k, 3, uneven), y = random_matrix(k, n, 4, uneven);
  check_tiles(product(x, y), [&](int row, int column) {
    return scaled(
        chain("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {d0, d1, d2, d3};",
              "sm_90", k / 32, [&](Warp& warp, int step) {
                set_operand(warp, 0, OperandName::a, x.block(row, 32 * step, 16, 32));
                set_operand(warp, 0, OperandName::b, y.block(32 * step, column, 32, 8));
              }));
  });
}

/// A matrix with two zeros among each four neighbours of a row, compressed for the kernel and complete.
struct Pruned {
  Matrix stored, whole;
  std::vector<std::uint16_t> metadata;
};

Pruned pruned(const Matrix& stored, unsigned seed) {
  constexpr int first[] = {0, 0, 0, 1, 1, 2}, second[] = {1, 2, 3, 2, 3, 3};
  Pruned matrix{stored, Matrix::Zero(stored.rows(), 2 * stored.cols()), {}};
  std::mt19937 random(seed);
  for (Eigen::Index i = 0; i < stored.rows(); ++i)
    for (Eigen::Index word = 0; word < stored.cols() / 8; ++word) {
      unsigned bits = 0;
      for (int group = 0; group < 4; ++group) {
        const auto choice = random() % 6;
        bits |= static_cast<unsigned>(first[choice] | second[choice] << 2) << 4 * group;
        matrix.whole(i, 16 * word + 4 * group + first[choice]) = stored(i, 8 * word + 2 * group);
        matrix.whole(i, 16 * word + 4 * group + second[choice]) = stored(i, 8 * word + 2 * group + 1);
      }
      matrix.metadata.push_back(static_cast<std::uint16_t>(bits));
    }
  return matrix;
}

TEST_CASE("gemm_sparse of examples/kernels", "[examples]") {
  constexpr int k = 256;
  const Kernel kernel = kernel_of("gemm_sparse", "sm_90");
  const auto product = [&](const Pruned& a, const Matrix& b) {
    return result_of<float>(
        kernel, {2, 2}, {rows_of(a.stored, Format::f16, 2), bytes_of(a.metadata), rows_of(b.transpose(), Format::f16, 2)}, m * n, {n, k});
  };
  const Pruned a = pruned(random_matrix(m, k / 2, 1, small_integer), 5);
  const Matrix b = random_matrix(k, n, 2, small_integer);
  CHECK(differing(product(a, b), a.whole * b) == 0);

  const Pruned x = pruned(random_matrix(m, k / 2, 3, uneven), 6);
  const Matrix y = random_matrix(k, n, 4, uneven);
  check_tiles(product(x, y), [&](int row, int column) {
    return chain(
        "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1, b2, b3}, {d0, "
        "d1, d2, d3}, "
        "e, 0x0;",
        "sm_90", k / 32, [&](Warp& warp, int step) {
          set_sparse_a(warp, 0, x.whole.block(row, 32 * step, 16, 32));
          set_operand(warp, 0, OperandName::b, y.block(32 * step, column, 32, 8));
        });
  });
}

TEST_CASE("gemm_int8 of examples/kernels", "[examples]") {
  constexpr int k = 256;
  const Kernel kernel = kernel_of("gemm_int8", "sm_90");
  const Matrix a = random_matrix(m, k, 1, [](unsigned draw) { return static_cast<double>(draw % 256) - 128; });
  const Matrix b = random_matrix(k, n, 2, [](unsigned draw) { return static_cast<double>(draw % 256) - 128; });
  std::vector<float> scale, bias;
  for (int column = 0; column < n; ++column) {
    scale.push_back(std::ldexp(1 + static_cast<float>(column) / 99, -12));
    bias.push_back(static_cast<float>(column % 7) - 2.7f);
  }
  const auto c = result_of<std::int8_t>(
      kernel, {2, 2}, {rows_of(a, Format::s8, 1), rows_of(b.transpose(), Format::s8, 1), bytes_of(scale), bytes_of(bias)}, m * n, {n, k});
  const Matrix sums = a * b;  // whole numbers: exact
  int wrong = 0, saturated = 0, zero = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      const auto column = static_cast<std::size_t>(j);
      const float value = std::max(std::fma(static_cast<float>(sums(i, j)), scale[column], bias[column]), 0.0f);  // ptxas makes an fma
      const int expected = std::min(static_cast<int>(std::nearbyint(value)), 127);
      wrong += c[static_cast<std::size_t>(i * n + j)] != expected;
      saturated += expected == 127;
      zero += expected == 0;
    }
  CHECK(wrong == 0);
  CHECK(saturated > 0);
  CHECK(zero > 1000);
}

TEST_CASE("gemm_mxf8 of examples/kernels", "[examples]") {
  constexpr int k = 256;
  const Kernel kernel = kernel_of("gemm_mxf8", "sm_120a");
  const auto power = [](unsigned draw) { return std::ldexp(1.0, static_cast<int>(draw % 4) - 1); };
  const Matrix a_scales = random_matrix(m, k / 32, 5, power), b_scales = random_matrix(n, k / 32, 6, power);
  const auto product = [&](const Matrix& a, const Matrix& b) {
    return result_of<float>(kernel, {2, 2},
                            {rows_of(a, Format::e4m3, 1), rows_of(a_scales, Format::ue8m0, 1), rows_of(b.transpose(), Format::e4m3, 1),
                             rows_of(b_scales, Format::ue8m0, 1)},
                            m * n, {n, k});
  };
  const Matrix a = random_matrix(m, k, 1, small_integer), b = random_matrix(k, n, 2, small_integer);
  Matrix scaled_a = a, scaled_b = b;
  for (int at = 0; at < k; ++at) {
    scaled_a.col(at).array() *= a_scales.col(at / 32).array();
    scaled_b.row(at).array() *= b_scales.col(at / 32).transpose().array();
  }
  CHECK(differing(product(a, b), scaled_a * scaled_b) == 0);

  const Matrix x = random_matrix(m, k, 3, uneven), y = random_matrix(k, n, 4, uneven);
  check_tiles(product(x, y), [&](int row, int column) {
    return chain(
        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 {d0, d1, d2, d3}, {a0, a1, a2, "
        "a3}, "
        "{b0, b1}, {d0, d1, d2, d3}, s, {0, 0}, t, {0, 0};",
        "sm_120a", k / 32, [&](Warp& warp, int step) {
          set_operand(warp, 0, OperandName::a, x.block(row, 32 * step, 16, 32));
          set_operand(warp, 0, OperandName::b, y.block(32 * step, column, 32, 8));
          set_scales(warp, 0, OperandName::scale_a, a_scales.block(row, step, 16, 1));
          set_scales(warp, 0, OperandName::scale_b, b_scales.block(column, step, 8, 1).transpose());
        });
  });
}

/// The tensor map of a matrix of `rows` rows of `columns` elements; a copy moves `box` (columns, rows).
TensorMap map_of(std::uint64_t address, TensorMap::Type type, std::uint64_t rows, std::uint64_t columns, std::array<std::uint32_t, 2> box,
                 TensorMap::Swizzle swizzle) {
  return TensorMap({.type = type,
                    .rank = 2,
                    .address = address,
                    .dims = {columns, rows},
                    .strides = {columns * (type == TensorMap::Type::u8 ? 1 : 2)},
                    .box = {box[0], box[1]},
                    .swizzle = swizzle});
}

/// Every check that the machine has, in another order of the warps.
LaunchOptions strict(std::uint64_t schedule) {
  return {.jobs = 2, .schedule = schedule, .checks = {.races = true}};
}

/// A kernel of f16 with tiles by TMA, of blocks of `threads`. Its sums of 16 products are rounded as those of mma on `as`.
void check_f16_by_tensor_maps(const std::string& name, const std::string& target, std::uint32_t threads, const std::string& as) {
  constexpr int k = 328;  // the last step has 8 columns, the rest of it is filled with zeros
  const Kernel kernel = kernel_of(name, target);
  const auto product = [&](const Matrix& a, const Matrix& b, std::uint64_t schedule) {
    DeviceMemory memory;
    const std::uint64_t c = memory.allocate(m * n * sizeof(float), "c");
    const auto map = [&](const Matrix& matrix) {
      const std::uint64_t address = memory.allocate(rows_of(matrix, Format::f16, 2));
      return map_of(address, TensorMap::Type::f16, m, k, {64, 128}, TensorMap::Swizzle::bytes_128).encode();
    };
    launch(kernel, {{1}, {threads}, 98304}, memory, {map(a), map(b.transpose()), c, n, k}, strict(schedule));
    return memory.read<float>(c, m * n);
  };
  const Matrix a = random_matrix(m, k, 1, small_integer), b = random_matrix(k, n, 2, small_integer);
  CHECK(differing(product(a, b, 1), a * b) == 0);

  // Beyond column 328, both add zeros.
  Matrix x = Matrix::Zero(m, 336), y = Matrix::Zero(336, n);
  x.leftCols(k) = random_matrix(m, k, 3, uneven);
  y.topRows(k) = random_matrix(k, n, 4, uneven);
  check_tiles(product(x.leftCols(k), y.topRows(k), 2), [&](int row, int column) {
    return chain("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {d0, d1, d2, d3};", as,
                 336 / 16, [&](Warp& warp, int step) {
                   set_operand(warp, 0, OperandName::a, x.block(row, 16 * step, 16, 16));
                   set_operand(warp, 0, OperandName::b, y.block(16 * step, column, 16, 8));
                 });
  });
}

TEST_CASE("gemm_wgmma of examples/kernels", "[examples]") {
  check_f16_by_tensor_maps("gemm_wgmma", "sm_90a", 384, "sm_90");
}

TEST_CASE("gemm_tcgen05 of examples/kernels", "[examples]") {
  check_f16_by_tensor_maps("gemm_tcgen05", "sm_100a", 128, "sm_100");
}

/// What the launch of gemm_wgmma says where its text has `to` instead of `from`, wherever that stands.
std::string report_of_changed(std::string_view from, std::string_view to, std::uint64_t schedule) {
  constexpr int k = 512;
  std::string text = text_of("gemm_wgmma");
  REQUIRE(text.find(from) != std::string::npos);
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  DeviceMemory memory;
  const std::uint64_t a = memory.allocate(std::vector<float>(m * k / 2, 1.0f)), c = memory.allocate(m * n * sizeof(float), "c");
  const auto map = map_of(a, TensorMap::Type::f16, m, k, {64, 128}, TensorMap::Swizzle::bytes_128).encode();
  try {
    const LaunchResult done = launch(Kernel(Module(text), "gemm_wgmma", {.target = "sm_90a"}), {{1}, {384}, 98304}, memory,
                                     {map, map, c, n, k}, strict(schedule));
    if (!done.warnings.empty()) return done.warnings.front();
  } catch (const Trap& trap) {
    return trap.what();
  }
  return "nothing";
}

TEST_CASE("gemm_wgmma with a mistake is reported", "[examples]") {
  const auto says = [](const std::string& report, const std::vector<std::string>& one_of) {
    INFO(report);
    CHECK(std::ranges::any_of(one_of, [&](const std::string& part) { return report.find(part) != std::string::npos; }));
  };
  for (const std::uint64_t schedule : {0u, 1u, 2u}) {
    // The stage of the step before goes back although its products may still read it.
    says(report_of_changed("wgmma.wait_group.sync.aligned 1;", "wgmma.wait_group.sync.aligned 2;", schedule),
         {"may read until here", "may be read until here", "race at"});
    // The accumulators are stored without a wait.
    says(report_of_changed("wgmma.wait_group.sync.aligned 0;", "", schedule), {"an accumulator is read before wgmma.wait_group"});
    says(report_of_changed("wgmma.fence.sync.aligned;", "", schedule), {"no wgmma.fence"});
  }
}

TEST_CASE("gemm_cluster of examples/kernels", "[examples]") {
  constexpr int k = 688;  // six steps for a ring of four stages, the last one with 48 columns
  constexpr float scale = 0.3f;
  const Kernel kernel = kernel_of("gemm_cluster", "sm_90a");
  const Matrix a = random_matrix(m, k, 1, small_integer), b = random_matrix(k, n, 2, small_integer);
  for (const std::uint64_t schedule : {1u, 2u}) {
    DeviceMemory memory;
    const std::uint64_t c = memory.allocate(m * n * sizeof(std::uint16_t), "c");
    const auto map = [&](const Matrix& matrix) {
      const std::uint64_t address = memory.allocate(rows_of(matrix, Format::e4m3, 1));
      return map_of(address, TensorMap::Type::u8, m, k, {128, 64}, TensorMap::Swizzle::bytes_128).encode();
    };
    const TensorMap stored = map_of(c, TensorMap::Type::bf16, m, n, {128, 64}, TensorMap::Swizzle::none);
    launch(kernel, {{1, 2}, {160}, 98304}, memory, {map(a), map(b.transpose()), stored.encode(), k, scale}, strict(schedule));
    const Matrix expected = (a * b).unaryExpr([&](double sum) { return as_bf16(static_cast<float>(sum) * scale); });
    CHECK(differing(from_bf16(memory.read<std::uint16_t>(c, m * n)), expected) == 0);
  }
}

}  // namespace
}  // namespace warpmat::kernels_test
