#include <fmt/format.h>
#include <warpmat/layout/fragment.h>

#include <algorithm>
#include <set>

#include "catch.h"
#include "tally.h"
#include "vectors_published.h"

using namespace warpmat;

namespace {

/// An atom of CUTLASS whose registers follow the rule of the mma fragments. Sparse A counts the elements of its uncompressed matrix.
struct Atom {
  std::string_view name;
  int k, bits;  ///< of B, and of A when it is dense
  bool sparse;
};

constexpr Atom atoms[] = {{"SM80_16x8x8_F32TF32TF32F32_TN", 8, 32, false},
                          {"SM80_16x8x16_F32F16F16F32_TN", 16, 16, false},
                          {"SM80_16x8x16_S32S8S8S32_TN", 16, 8, false},
                          {"SM80_16x8x32_S32S8S8S32_TN", 32, 8, false},
                          {"SM80_16x8x32_S32S4S4S32_TN", 32, 4, false},
                          {"SM80_16x8x64_S32S4S4S32_TN", 64, 4, false},
                          {"SM89_16x8x32_F32E4M3E4M3F32_TN", 32, 8, false},
                          {"SM120_f8f6f4_k32", 32, 8, false},
                          {"SM120_mxf8f6f4_k32", 32, 8, false},
                          {"SM120_mxf4_k64", 64, 4, false},
                          {"SM120_sp_f8f6f4_k64", 64, 8, true},
                          {"SM120_sp_mxf4_k128", 128, 4, true}};

/// A CuTe index is column-major in the order of the fragment's own axes: m + 16 k, n + 8 k, m + 16 n.
Element element_of(std::string_view operand, int index) {
  if (operand == "B") return {index / 8, index % 8};
  return {index % 16, index / 16};
}

/// The element that `thread` holds as its `value`th, counted through its registers from the lowest bit on.
Element held(const Fragment& fragment, int thread, int value) {
  const int bit = value * fragment.element_bits;
  return fragment.element({thread, bit / fragment.register_bits, bit % fragment.register_bits});
}

Element element_by_rule(const Atom& atom, std::string_view operand, int thread, int value) {
  const Shape shape{16, 8, atom.k};
  if (operand == "C") return held(fragment_c(shape, 32), thread, value);
  if (operand == "B") return held(fragment_b(shape, atom.bits), thread, value);
  if (!atom.sparse) return held(fragment_a(shape, atom.bits), thread, value);
  // One stored element stands for two neighbours.
  const Element stored = held(fragment_a({16, 8, atom.k / 2}, atom.bits), thread, value / 2);
  return {stored.row, 2 * stored.column + value % 2};
}

}  // namespace

TEST_CASE("fragments agree with CUTLASS's thread-value layouts", "[vectors]") {
  constexpr auto file = "cute_mma_layouts.tsv.gz";
  if (!has_vectors(file)) {
    WARN(no_vectors(file));
    return;
  }
  Tally tally;
  std::set<std::string> layouts;
  std::size_t others = 0;
  for (const auto& fields : read_vectors(file)) {
    REQUIRE(fields.size() == 5);
    const std::string& operand = fields[1];
    const auto atom = std::ranges::find(atoms, fields[0], &Atom::name);
    // Volta's own layouts, metadata and scales follow other rules.
    if (atom == std::end(atoms) || (operand != "A" && operand != "B" && operand != "C")) {
      ++others;
      continue;
    }
    const int thread = std::stoi(fields[2]), value = std::stoi(fields[3]), index = std::stoi(fields[4]);
    const Element expected = element_of(operand, index), got = element_by_rule(*atom, operand, thread, value);
    layouts.insert(fields[0] + operand);
    tally.expect(got == expected, [&] {
      return fmt::format("{} {}: thread {}, value {}: ({}, {}), expected ({}, {})", fields[0], operand, thread, value, got.row, got.column,
                         expected.row, expected.column);
    });
  }
  CHECK(tally.failures() == "");
  CHECK(layouts.size() == 3 * std::size(atoms));
  WARN(fmt::format("compared {} elements of {} layouts with CUTLASS; {} lines of Volta's layouts, metadata and scales are of other rules",
                   tally.comparisons(), layouts.size(), others));
}
