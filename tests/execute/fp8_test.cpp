#include <warpmat/execute/reference/execute.h>
#include <warpmat/instruction.h>

#include "execute/both_paths.h"
#include "execute/registers.h"
#include "execute/split_fp8.h"
#include "numeric/operand_classes.h"
#include "test.h"

namespace warpmat::fp8_test {

TEST_CASE("fp8 products of hardware without a unit for them are two f16 products and an addition") {
  std::mt19937_64 random(81);
  Tally tally;
  std::size_t pairs = 0, turn = 0;
  for (const Form& form : forms())
    for (const char* const name_of_target : {"sm_90a", "sm_100a"}) {
      const Target& on = target(name_of_target);
      if (form.mnemonic != Mnemonic::mma || form.sparsity != Sparsity::dense || unavailable(form, on)) continue;
      const Instruction mma(form, on);
      if (mma.lowering().semantics != Semantics::split_dot) continue;
      ++pairs;
      const Operand &a = form.operand(OperandName::a), &b = form.operand(OperandName::b), &c = form.operand(OperandName::c),
                    &d = form.operand(OperandName::d);
      FormRegisters registers(form);
      Registers &ra = registers[OperandName::a], &rb = registers[OperandName::b], &rc = registers[OperandName::c],
                &rd = registers[OperandName::d];
      for (std::size_t n = 0; n < case_count(std::size(dot_classes)); ++n) {
        const DotClass operand_class = dot_classes[turn++ % std::size(dot_classes)];
        using Codes = std::vector<std::uint64_t>;
        std::vector<Codes> rows, columns(8);
        for (int i = 0; i < 16; ++i) {
          const DotOperands x =
              draw_operands(operand_class, *a.format, *b.format, *c.format, static_cast<std::size_t>(form.shape.k), random);
          rows.push_back(x.a);
          if (i < 8) columns[static_cast<std::size_t>(i)] = x.b;
          for (int k = 0; k < form.shape.k; ++k) {
            write_element(a.fragment, ra.list(), {i, k}, x.a[static_cast<std::size_t>(k)]);
            if (i < 8) write_element(b.fragment, rb.list(), {k, i}, x.b[static_cast<std::size_t>(k)]);
          }
          for (int j = 0; j < 8; ++j)
            write_element(c.fragment, rc.list(), {i, j}, i == j ? x.c : draw_code(operand_class, *c.format, random));
        }
        execute_both_paths(mma, registers.batch());
        for (int i = 0; i < 16; ++i)
          for (int j = 0; j < 8; ++j) {
            const std::uint64_t want = oracle_split_fp8_dot(*oracle_format(*a.format), *oracle_format(*b.format), *oracle_format(*d.format),
                                                            rows[static_cast<std::size_t>(i)], columns[static_cast<std::size_t>(j)],
                                                            read_element(c.fragment, rc.list(), {i, j}));
            const std::uint64_t got = read_element(d.fragment, rd.list(), {i, j});
            tally.expect(got == want, [&] {
              return fmt::format("{} on {}, {}: D[{}][{}] is {:#x}, expected {:#x}", form.opcode, on.name, name(operand_class), i, j, got,
                                 want);
            });
          }
      }
    }
  CHECK(tally.failures() == "");
  CHECK(pairs == 16 + 2 * 16);  // sm_100 has them with kind::f8f6f4 too
}

}  // namespace warpmat::fp8_test
