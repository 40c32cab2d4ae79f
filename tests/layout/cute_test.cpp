#include <fmt/format.h>
#include <warpmat/tables/form.h>

#include <map>
#include <set>
#include <vector>

#include "catch.h"
#include "compressed_table.h"
#include "paths.h"
#include "tally.h"

using namespace warpmat;

namespace {

/// An atom of CUTLASS, and a form with the same registers.
struct Atom {
  std::string_view name, opcode;
};

// In names, T is a matrix stored by rows and N one by columns, of A first and then of B.
constexpr Atom atoms[] = {
    {"SM70_8x8x4_F16F16F16F16_NN", "mma.sync.aligned.m8n8k4.col.col.f16.f16.f16.f16"},
    {"SM70_8x8x4_F16F16F16F16_NT", "mma.sync.aligned.m8n8k4.col.row.f16.f16.f16.f16"},
    {"SM70_8x8x4_F16F16F16F16_TN", "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16"},
    {"SM70_8x8x4_F16F16F16F16_TT", "mma.sync.aligned.m8n8k4.row.row.f16.f16.f16.f16"},
    {"SM70_8x8x4_F32F16F16F32_NT", "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32"},
    {"SM70_8x8x4_F32F16F16F32_TN", "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32"},
    {"SM80_16x8x8_F32TF32TF32F32_TN", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"},
    {"SM80_16x8x16_F32F16F16F32_TN", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"},
    {"SM80_16x8x16_S32S8S8S32_TN", "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32"},
    {"SM80_16x8x32_S32S8S8S32_TN", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"},
    {"SM80_16x8x32_S32S4S4S32_TN", "mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32"},
    {"SM80_16x8x64_S32S4S4S32_TN", "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32"},
    {"SM89_16x8x32_F32E4M3E4M3F32_TN", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"},
    {"SM120_f8f6f4_k32", "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32"},
    {"SM120_mxf8f6f4_k32", "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e2m3.e4m3.f32.ue8m0"},
    {"SM120_mxf4_k64", "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0"},
    {"SM120_mxf4_k64", "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"},
    {"SM120_sp_f8f6f4_k64", "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e5m2.e2m1.f32"},
    {"SM120_sp_mxf8f6f4_k64", "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e2m1.e2m1.f32.ue8m0"},
    {"SM120_sp_mxf4_k128", "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0"},
    {"SM120_sp_mxf4_k128",
     "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"},
};

const std::map<std::string, OperandName> operands{{"A", OperandName::a}, {"B", OperandName::b},         {"C", OperandName::c},
                                                  {"E", OperandName::e}, {"SFA", OperandName::scale_a}, {"SFB", OperandName::scale_b}};

/// What CuTe says: `thread` of the atom holds, as its `value`th element, the one that `index` numbers.
struct Line {
  OperandName operand;
  int thread, value, index;
};

bool is_scale(OperandName name) {
  return name == OperandName::scale_a || name == OperandName::scale_b;
}

bool is_volta(const Form& form) {
  return form.shape == Shape{8, 8, 4};
}

/// How many neighbours along k of the expanded matrix one element of the fragment stands for.
int neighbours(const Form& form, OperandName name) {
  if (name == OperandName::e) return form.shape.k / form.operand(name).fragment.columns();
  if (is_scale(name)) return form.shape.k / form.scale_vector;
  return name == OperandName::a && form.sparsity != Sparsity::dense ? 2 : 1;
}

/// How often a form has what an atom describes once: Volta's four products, and the byte-ids that scale factors may have.
int copies(const Form& form, OperandName name) {
  return is_volta(form) ? 4 : is_scale(name) ? 4 / form.scale_vector : 1;
}

/// CuTe counts column by column, m + M k, m + M n, or n + N k. The matrix number is that of `copy`, and of scales also the thread-id, which
/// is that of the thread's pair for A and of the thread for B.
Element expected(const Form& form, const Line& x, int copy) {
  const auto [m, n, k] = form.shape;
  const int thread_id = x.operand == OperandName::scale_a ? x.thread % 4 / 2 : x.operand == OperandName::scale_b ? x.thread % 4 : 0;
  const int matrix = copy + thread_id * copies(form, x.operand);
  if (x.operand == OperandName::b || x.operand == OperandName::scale_b) return {x.index / n, x.index % n, matrix};
  return {x.index % m, x.index / m, matrix};
}

/// The element of the form's fragment, its place along k spread over its neighbours.
Element held(const Form& form, const Line& x, const std::map<int, int>& quad_pair, int copy) {
  const Fragment& f = form.operand(x.operand).fragment;
  const int lane = is_volta(form) ? quad_pair.at(x.thread) + 4 * copy : x.thread;
  const int spread = neighbours(form, x.operand);
  const int bit = (x.value / spread + (is_scale(x.operand) ? copy * form.scale_vector : 0)) * f.element_bits;
  Element e = f.element({lane, bit / f.register_bits, bit % f.register_bits});
  int& along_k = x.operand == OperandName::b || x.operand == OperandName::scale_b ? e.row : e.column;
  along_k = along_k * spread + x.value % spread;
  return e;
}

}  // namespace

TEST_CASE("fragments agree with CUTLASS's thread-value layouts", "[vectors]") {
  const std::string file = source_path("tests/vectors/cute/mma_layouts.tsv.gz");
  std::map<int, int> quad_pair;  // lanes of a product of Volta, by the atom's thread
  std::map<std::string, std::vector<Line>> by_atom;
  for (const auto& fields : read_table(file)) {
    REQUIRE(fields.size() == 5);
    const int thread = std::stoi(fields[2]), value = std::stoi(fields[3]), index = std::stoi(fields[4]);
    if (fields[1] == "ThrID")
      quad_pair[thread] = index;
    else
      by_atom[fields[0]].push_back({operands.at(fields[1]), thread, value, index});
  }
  Tally tally;
  std::set<std::string> layouts;
  std::size_t lines = quad_pair.size();
  for (const auto& [atom_name, all] : by_atom) {
    lines += all.size();
    for (const Atom& atom : atoms) {
      if (atom.name != atom_name) continue;
      const Form* form = find_form(atom.opcode);
      REQUIRE(form != nullptr);
      for (const Line& x : all) {
        layouts.insert(fmt::format("{} {}", atom_name, name(x.operand)));
        for (int copy = 0; copy < copies(*form, x.operand); ++copy) {
          const Element want = expected(*form, x, copy), got = held(*form, x, quad_pair, copy);
          tally.expect(got == want, [&] {
            return fmt::format("{}, operand {}: thread {}, value {}, copy {}: ({}, {}) of {}, expected ({}, {}) of {}", atom.opcode,
                               name(x.operand), x.thread, x.value, copy, got.row, got.column, got.matrix, want.row, want.column,
                               want.matrix);
          });
        }
      }
    }
  }
  CHECK(tally.failures() == "");
  CHECK(lines == 36296);  // the whole file
  CHECK(layouts.size() == 64);
}
