#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/layout/fragments.h>
#include <warpmat/matrices.h>

#include "execute/registers.h"
#include "execute/small_numbers.h"
#include "test.h"

namespace warpmat::compress_test {
namespace {

constexpr const char* two_of_four = "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
constexpr const char* two_of_four_ordered = "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
constexpr const char* one_of_two = "mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";
constexpr const char* pairs = "mma.sp.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32";
constexpr const char* pairs_fp4 = "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0";
constexpr const char* fp4_in_bytes = "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32";

const Form& form_of(const char* opcode) {
  const Form* form = find_form(opcode);
  REQUIRE(form != nullptr);
  return *form;
}

std::vector<const Form*> sparse_forms() {
  std::vector<const Form*> out;
  for (const Form& form : forms())
    if (form.sparsity != Sparsity::dense) out.push_back(&form);
  return out;
}

/// The elements of A that go together: a pair where two 4-bit elements fill a byte.
int unit_of(const Form& form) {
  const Operand& a = form.operand(OperandName::a);
  return a.fragment.element_bits() == 4 ? 2 : 1;
}

/// Of how many units one (tf32) or two may differ from zero.
int units_of(const Form& form) {
  return form.format(OperandName::a) == Format::tf32 ? 2 : 4;
}

/// A random A whose groups have as many elements other than zero as they may, or fewer.
Eigen::MatrixXd random_sparse(const Form& form, std::mt19937_64& random) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(form.shape.m, form.shape.k);
  const int unit = unit_of(form), units = units_of(form);
  for (int row = 0; row < form.shape.m; ++row)
    for (int first = 0; first < form.shape.k; first += units * unit)
      for (int kept = 0; kept < units / 2; ++kept) {  // perhaps twice the same
        const int column = first + static_cast<int>(random() % static_cast<unsigned>(units)) * unit;
        for (int i = 0; i < unit; ++i) a(row, column + i) = small_number(form.format(OperandName::a), random);
      }
  return a;
}

/// A with one row, its first, that begins with `numbers`.
Eigen::MatrixXd first_row(const Form& form, const std::vector<double>& numbers, int row = 0) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(form.shape.m, form.shape.k);
  for (std::size_t i = 0; i < numbers.size(); ++i) a(row, static_cast<Eigen::Index>(i)) = numbers[i];
  return a;
}

TEST_CASE("compressed and expanded, every A comes back, of every sparse form, through the registers of every selector") {
  std::mt19937_64 random(110);
  std::map<int, int> selectors_seen;
  for (const Form* form : sparse_forms()) {
    CAPTURE(form->opcode);
    const Fragment& fragment = form->operand(OperandName::e).fragment;
    const Fragment& a_fragment = form->operand(OperandName::a).fragment;
    Registers e(1), a(form->operand(OperandName::a).words());
    e.fill(random);
    std::vector<Eigen::MatrixXd> written;
    for (int selector = 0; selector < fragment.matrices(); ++selector) {
      written.push_back(random_sparse(*form, random));
      const SparseMatrix sparse = compress(*form, written.back());
      for (const double code : sparse.metadata.reshaped()) REQUIRE(valid_metadata(*form, static_cast<unsigned>(code)));
      CHECK(expand(*form, sparse) == written.back());
      scatter_one(fragment, selector, Format::u4, sparse.metadata, e.list());
      scatter(a_fragment, form->format(OperandName::a), sparse.stored, a.list());
      CHECK(expand(*form, {gather(a_fragment, form->format(OperandName::a), a.list()),
                           gather_one(fragment, selector, Format::u4, e.list())}) == written.back());
      ++selectors_seen[fragment.matrices()];
    }
    for (int selector = 0; selector < fragment.matrices(); ++selector)  // what was written for one stays when another is written
      CHECK(gather_one(fragment, selector, Format::u4, e.list()) == compress(*form, written[static_cast<std::size_t>(selector)]).metadata);
  }
  CHECK(selectors_seen[4] == 4 * 2 * (2 + 1 + 1));  // m16n8k16 f16 and bf16, m16n8k8 tf32
  CHECK(selectors_seen.size() == 3);
}

TEST_CASE("every sparse mma with a compressed A gives the dense product") {
  std::mt19937_64 random(111);
  std::size_t executed = 0;
  for (const Form* form : sparse_forms())
    for (int selector = 0; selector < form->operand(OperandName::e).fragment.matrices(); ++selector) {
      CAPTURE(form->opcode, selector);
      FormRegisters x(*form);
      x.fill(random);  // what the selector leaves out is random too
      x[OperandName::selector][0].fill(static_cast<std::uint32_t>(selector));
      const Eigen::MatrixXd a = random_sparse(*form, random);
      const Eigen::MatrixXd b = small_matrix(form->format(OperandName::b), form->shape.k, form->shape.n, random);
      const Eigen::MatrixXd c = small_matrix(form->format(OperandName::c), form->shape.m, form->shape.n, random);
      const auto set = [&](OperandName name, const Eigen::MatrixXd& matrix) {
        const Operand& operand = form->operand(name);
        scatter(operand.fragment, *operand.format, matrix, x[name].list());
      };
      const SparseMatrix sparse = compress(*form, a);
      set(OperandName::a, sparse.stored);
      set(OperandName::b, b);
      set(OperandName::c, c);
      scatter_one(form->operand(OperandName::e).fragment, selector, Format::u4, sparse.metadata, x[OperandName::e].list());
      for (const OperandName scale : {OperandName::scale_a, OperandName::scale_b})
        if (const Operand* operand = form->find_operand(scale))
          set(scale, Eigen::MatrixXd::Ones(matrix_rows(operand->fragment), matrix_columns(operand->fragment)));
      execute(Instruction(*form, target_with(*form)), x.batch());
      const Operand& d = form->operand(OperandName::d);
      const Eigen::MatrixXd expected = a * b + c;
      REQUIRE(describe(d.fragment, compare(d.fragment, *d.format, x[OperandName::d].list(), expected)) == "");
      ++executed;
    }
  CHECK(executed > sparse_forms().size());
}

TEST_CASE("compress: elements and codes are those of the ISA's figures") {
  struct Row {
    const char* opcode;
    std::vector<double> dense, stored, codes;
  };
  const Row rows[] = {
      // Every pair of places; then none, one, and the last alone.
      {two_of_four, {1, 2, 0, 0, 3, 0, 4, 0, 5, 0, 0, 6, 0, 7, 8, 0}, {1, 2, 3, 4, 5, 6, 7, 8}, {0x4, 0x8, 0xc, 0x9}},
      {two_of_four_ordered, {0, 1, 0, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0, 0, 0, 5}, {1, 2, 3, 4, 0, 0, 0, 5}, {0xd, 0xe, 0x4, 0xc}},
      {two_of_four, {1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0}, {1, 0, 0, 2, 0, 3, 0, 0}, {0x4, 0x4, 0x8, 0x4}},
      {one_of_two, {1, 0, 0, 2, 0, 0, 3}, {1, 2, 0, 3}, {0x4, 0xe, 0x4, 0x4}},
      {pairs, {0, 0, 1, 2, 0, 0, 0, 3, 4, 0, 0, 0, 0, 0, 5, 6}, {1, 2, 0, 3, 4, 0, 5, 6}, {0xd, 0xc}},
      {pairs_fp4, {0, 0, 0, 0, 0, 1, 2, 0}, {0, 1, 2, 0}, {0xe}},
      {fp4_in_bytes, {0, 1, 0, 2, 0, 0, 0, 3}, {1, 2, 0, 3}, {0xd, 0xc}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.opcode);
    const Form& form = form_of(row.opcode);
    const SparseMatrix sparse = compress(form, first_row(form, row.dense));
    for (std::size_t i = 0; i < row.stored.size(); ++i) CHECK(sparse.stored(0, static_cast<Eigen::Index>(i)) == row.stored[i]);
    for (std::size_t i = 0; i < row.codes.size(); ++i) CHECK(sparse.metadata(0, static_cast<Eigen::Index>(i)) == row.codes[i]);
  }
}

TEST_CASE("compress: a group with too many elements is named") {
  const auto message = [](const char* opcode, const std::vector<double>& numbers, int row) {
    const Form& form = form_of(opcode);
    try {
      static_cast<void>(compress(form, first_row(form, numbers, row)));
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(message(two_of_four, {0, 0, 0, 0, 1, 0, 2, 3}, 5) ==
        "row 5, group 1 of A (columns 4 to 7) has elements other than zero in columns 4, 6, 7; only two of four may be");
  CHECK(message(one_of_two, {0, 0, 0, 0, 1, 2}, 15) ==
        "row 15, group 2 of A (columns 4 to 5) has elements other than zero in columns 4, 5; only one of two may be");
  CHECK(
      message(pairs, {0, 1, 2, 0, 3, 0, 0, 0}, 0) ==
      "row 0, group 0 of A (columns 0 to 7) has elements other than zero in columns 1, 2, 4; only two pairs of neighbours of four may be");
  CHECK(message(pairs, {1, 2, 3, 4, 0, 0, 0, 0}, 0) == "");
  CHECK(message(two_of_four, {1e-30, 1, 2, -0.0}, 0) == "");  // 1e-30 is zero in f16
  CHECK(message(two_of_four, {std::nan(""), 1, 2, 0}, 0) != "");
}

TEST_CASE("compress and expand: forms, sizes and codes that do not fit are named") {
  const Form& form = form_of(two_of_four_ordered);
  const Form& unordered = form_of(two_of_four);
  const Form& dense = form_of("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  const Eigen::MatrixXd zero = Eigen::MatrixXd::Zero(16, 16);
  CHECK_THROWS_WITH(compress(dense, zero), dense.opcode + " has no sparse A: that is for mma.sp");
  CHECK_THROWS_WITH(expand(dense, {zero, zero}), dense.opcode + " has no sparse A: that is for mma.sp");
  CHECK_THROWS_WITH(compress(form, Eigen::MatrixXd::Zero(16, 8)), "A is 16x16; 16x8 given");
  SparseMatrix sparse = compress(form, zero);
  CHECK_THROWS_WITH(expand(form, {zero, sparse.metadata}), "the stored A is 16x8; 16x16 given");
  CHECK_THROWS_WITH(expand(form, {sparse.stored, zero}), "the metadata of A is 16x4; 16x16 given");
  sparse.stored(3, 2) = 7;
  sparse.metadata(3, 1) = 0x2;  // places 2 and 0
  CHECK_THROWS_WITH(expand(form, sparse), "row 3, group 1 of the metadata holds 2; defined are 0x4, 0x8, 0x9, 0xc, 0xd and 0xe");
  CHECK(expand(unordered, sparse)(3, 6) == 7);
  for (const double code : {5.0, 16.0, -1.0, 4.5, std::nan("")}) {
    sparse.metadata(3, 1) = code;
    CHECK_THROWS_AS(expand(unordered, sparse), std::invalid_argument);
  }
}

TEST_CASE("scatter_one and gather_one name a matrix that the fragment does not have, and sizes that do not fit") {
  constexpr Fragment fragment = fragment_metadata(4, 16);
  Registers e(1), two(2);
  const Eigen::MatrixXd codes = Eigen::MatrixXd::Zero(16, 4);
  CHECK_THROWS_WITH(scatter_one(fragment, 4, Format::u4, codes, e.list()), "the fragment's matrices are 0 to 3; 4 given");
  CHECK_THROWS_WITH(gather_one(fragment, -1, Format::u4, e.list()), "the fragment's matrices are 0 to 3; -1 given");
  CHECK_THROWS_WITH(scatter_one(fragment, 0, Format::u4, codes.transpose(), e.list()),
                    "one of the fragment's matrices is 16x4; 4x16 given");
  CHECK_THROWS_WITH(scatter_one(fragment, 0, Format::u4, codes, two.list()), "the fragment fills 1 registers of 32 bits; 2 given");
  CHECK_THROWS_WITH(gather_one(fragment, 0, Format::u8, e.list()), "the fragment's elements have 4 bits; u8 has 8");
}

}  // namespace
}  // namespace warpmat::compress_test
