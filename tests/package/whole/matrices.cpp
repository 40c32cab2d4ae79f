// Calls every function that takes or returns Eigen's matrices, as a host that was compiled with other flags than the library: with AVX
// Eigen allocates in another way. Sizes differ, so that wrongly freed memory is detected.

#include <warpmat/warpmat.h>

#include <cstdio>
#include <cstdlib>

using namespace warpmat;

namespace {

constexpr const char* program_text = R"(
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {c0, c1, c2, c3};
    mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {s0, s1, s2, s3}, {e0, e1, e2, e3}, {f0, f1, f2, f3}, {g0, g1, g2, g3}, m, 0x0;
    mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0
      {h0, h1, h2, h3}, {i0, i1, i2, i3}, {j0, j1}, {k0, k1, k2, k3}, {x}, {0, 0}, {y}, {0, 0};
)";

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::exit(1);
}

Eigen::MatrixXd numbered(int rows, int columns) {
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [](Eigen::Index i, Eigen::Index j) { return static_cast<double>((3 * i + j) % 5); });
}

void dense(Warp& warp) {
  const Eigen::MatrixXd a = numbered(16, 16), b = numbered(16, 8);
  set_operand(warp, 0, OperandName::a, a);
  set_operand(warp, 0, OperandName::b, b);
  require(get_operand(warp, 0, OperandName::a) == a, "get_operand");
  const Form& form = *find_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  const Fragment& fragment = form.operand(OperandName::a).fragment;
  std::array<Register, 4> registers{};
  const std::array<std::uint32_t*, 4> written = {registers[0].data(), registers[1].data(), registers[2].data(), registers[3].data()};
  const std::array<const std::uint32_t*, 4> read = {registers[0].data(), registers[1].data(), registers[2].data(), registers[3].data()};
  scatter(fragment, Format::f16, a, written);
  require(gather(fragment, Format::f16, read) == a, "gather");
  scatter_one(fragment, 0, Format::f16, 2 * a, written);
  require(gather_one(fragment, 0, Format::f16, read) == 2 * a, "gather_one");
  require(compare(fragment, Format::f16, read, a).size() == static_cast<std::size_t>((a.array() != 0).count()), "compare");
}

void sparse(Warp& warp) {
  Eigen::MatrixXd a = numbered(16, 32);
  for (int j = 0; j < 32; ++j)
    if (j % 4 > 1) a.col(j).setZero();
  set_sparse_a(warp, 1, a);
  require(get_sparse_a(warp, 1) == a, "get_sparse_a");
  const Form& form = warp.program().matrix_statements()[1]->matrix()->form();
  const SparseMatrix compressed = compress(form, a);
  require(compressed.stored.cols() == 16 && expand(form, compressed) == a, "expand");
}

void scaled(Warp& warp) {
  const Eigen::MatrixXd scales = Eigen::MatrixXd::Constant(16, 2, 4);
  set_scales(warp, 2, OperandName::scale_a, scales);
  require(get_scales(warp, 2, OperandName::scale_a) == scales, "get_scales");
}

void packed() {
  const Eigen::MatrixXd matrix = numbered(5, 32);
  require(unpack_rows(RowPacking::b8x16, Format::e4m3, pack_rows(RowPacking::b8x16, Format::e4m3, matrix), 32) == matrix, "unpack_rows");
}

}  // namespace

int main() {
#if defined(__AVX2__) && defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2")) return 77;
#endif
  const Program program = parse(program_text, "sm_120a");
  for (int i = 0; i < 8; ++i) {
    Warp warp(program);
    dense(warp);
    sparse(warp);
    scaled(warp);
    packed();
    run(warp);
    const Eigen::MatrixXd product = get_operand(warp, 0, OperandName::a) * get_operand(warp, 0, OperandName::b);
    require(compare_operand(warp, 0, OperandName::d, product).empty(), "compare_operand");
  }
  return 0;
}
