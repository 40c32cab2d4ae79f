#include <warpmat/forms.h>

#include "compressed_table.h"
#include "layout/cute_atoms.h"
#include "test.h"

namespace warpmat::cute_test {
namespace {

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
  const int bit = (x.value / spread + (is_scale(x.operand) ? copy * form.scale_vector : 0)) * f.element_bits();
  Element e = f.element({lane, bit / f.register_bits(), bit % f.register_bits()});
  int& along_k = x.operand == OperandName::b || x.operand == OperandName::scale_b ? e.row : e.column;
  along_k = along_k * spread + x.value % spread;
  return e;
}

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
    for (const CuteAtom& atom : cute_atoms) {
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

}  // namespace
}  // namespace warpmat::cute_test
