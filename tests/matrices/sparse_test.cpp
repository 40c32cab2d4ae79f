#include <warpmat/execute/reference/execute.h>
#include <warpmat/instruction.h>

#include "execute/both_paths.h"
#include "execute/registers.h"
#include "execute/split_fp8.h"
#include "execute/stored_columns.h"
#include "numeric/operand_classes.h"
#include "oracle/oracle.h"
#include "test.h"

namespace warpmat::sparse_test {
namespace {

using Codes = std::vector<std::uint64_t>;

std::uint64_t expected(const Form& form, Semantics semantics, const Codes& a, const Codes& b, std::uint64_t c) {
  const Format a_format = form.format(OperandName::a), b_format = form.format(OperandName::b), d = form.format(OperandName::d);
  const int bits = row(a_format).bits;
  if (semantics == Semantics::integer_dot)
    return oracle::integer_dot(bits, row(a_format).is_signed, row(b_format).is_signed, form.satfinite, a, b, static_cast<std::uint32_t>(c));
  if (semantics == Semantics::split_dot)
    return oracle_split_fp8_dot(*oracle_format(a_format), *oracle_format(b_format), *oracle_format(d), a, b, c);
  return oracle::float_dot(oracle::hopper_unit(256 / bits), *oracle_format(a_format), *oracle_format(b_format), *oracle_format(d), a, b, c);
}

void put(const Operand& operand, Registers& registers, DotClass operand_class, std::mt19937_64& random) {
  const Fragment& f = operand.fragment;
  if (is_integer(row(*operand.format))) return registers.fill(random);
  for (int i = 0; i < f.rows(); ++i)
    for (int j = 0; j < f.columns(); ++j) write_element(f, registers.list(), {i, j}, draw_code(operand_class, *operand.format, random));
}

TEST_CASE("every sparse mma of sm_90 is the dense product of what its metadata selects") {
  std::mt19937_64 random(80);
  Tally tally;
  std::map<int, std::size_t> forms_seen;  // by bits of an element
  std::size_t turn = 0;
  for (const Form& form : forms()) {
    if (form.sparsity == Sparsity::dense || unavailable(form, target("sm_90a"))) continue;
    const Instruction mma(form, target("sm_90a"));
    const Operand &a = form.operand(OperandName::a), &b = form.operand(OperandName::b), &c = form.operand(OperandName::c),
                  &d = form.operand(OperandName::d);
    const int bits = row(*a.format).bits;
    ++forms_seen[bits];
    FormRegisters registers(form);
    for (std::size_t n = 0; n < case_count(2 * std::size(dot_classes)); ++n) {
      const DotClass operand_class = dot_classes[turn++ % std::size(dot_classes)];
      registers.fill(random);
      for (const Operand* operand : {&a, &b, &c}) put(*operand, registers[operand->name], operand_class, random);
      execute_both_paths(mma, registers.batch());
      const auto selector = static_cast<int>(registers[OperandName::selector][0][0]);
      for (int i = 0; i < form.shape.m; ++i) {
        const std::vector<int> columns = stored_columns(bits, form.shape.k, registers[OperandName::e][0], selector, i);
        REQUIRE(static_cast<int>(columns.size()) == form.shape.k / 2);
        Codes stored;
        for (int k = 0; k < form.shape.k / 2; ++k) stored.push_back(read_element(a.fragment, registers[OperandName::a].list(), {i, k}));
        for (int j = 0; j < form.shape.n; ++j) {
          Codes met;
          for (const int k : columns) met.push_back(read_element(b.fragment, registers[OperandName::b].list(), {k, j}));
          const std::uint64_t want =
              expected(form, mma.lowering().semantics, stored, met, read_element(c.fragment, registers[OperandName::c].list(), {i, j}));
          const std::uint64_t got = read_element(d.fragment, registers[OperandName::d].list(), {i, j});
          tally.expect(got == want, [&] {
            return fmt::format("{}, {}: D[{}][{}] is {:#x}, expected {:#x}", form.opcode, name(operand_class), i, j, got, want);
          });
        }
      }
    }
  }
  CHECK(tally.failures() == "");
  // Plain and ordered: f16 4 and bf16 2, tf32 2; bytes 2 shapes, 4 pairings, with and without .satfinite, and fp8 4 pairings; the same of 4
  // bits.
  CHECK(forms_seen == std::map<int, std::size_t>{{32, 2 * 2}, {16, 2 * 6}, {8, 2 * (16 + 4)}, {4, 2 * 16}});
}

}  // namespace
}  // namespace warpmat::sparse_test
