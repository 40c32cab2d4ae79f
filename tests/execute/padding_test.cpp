#include <warpmat/instruction.h>

#include "execute/registers.h"
#include "test.h"

namespace warpmat::padding_test {
namespace {

/// The bits of a byte that are no padding: e2m1 lies in the middle, the 6-bit types in the low bits (PTX ISA 9.7.14.5.14).
std::uint32_t element_bits(Format format) {
  return format == Format::e2m1 ? 0x3C : row(format).bits == 6 ? 0x3F : 0xFF;
}

bool in_bytes(const Form& form) {
  return form.kind == Kind::f8f6f4 || form.kind == Kind::mxf8f6f4;
}

TEST_CASE("padding that is not zero traps in every byte container, whatever is asked of undefined behaviour") {
  std::mt19937_64 random(140);
  std::size_t trapped = 0;
  for (const Form& form : forms()) {
    if (!in_bytes(form)) continue;
    FormRegisters x(form);
    x.fill(random);
    const Instruction mma(form, target_with(form));
    for (const Undefined undefined : {Undefined::trap, Undefined::hardware})
      for (const OperandName name : {OperandName::a, OperandName::b}) {
        Registers& registers = x[name];
        const std::size_t reg = random() % registers.size(), lane = random() % 32;
        for (int bit = 0; bit < 32; ++bit) {
          const bool padding = (element_bits(form.format(name)) >> bit % 8 & 1) == 0;
          const std::uint32_t before = registers[reg][lane];
          registers[reg][lane] ^= 1u << bit;
          const std::vector<Register> d = x[OperandName::d].values();
          const auto trap = trap_in([&] { execute(mma, x.batch(), 1, {.undefined = undefined}); });
          CAPTURE(form.opcode, reg, lane, bit);
          REQUIRE(trap.has_value() == padding);
          if (trap) {
            REQUIRE(trap->site.lane == static_cast<int>(lane));
            REQUIRE(trap->reason.starts_with("operand " + std::string(warpmat::name(name)) + " holds 0x"));
            REQUIRE(x[OperandName::d].values() == d);
            ++trapped;
          }
          registers[reg][lane] = before;
        }
      }
  }
  CHECK(trapped > 1000);
}

TEST_CASE("a trap for padding names element, register and the bits that count") {
  const Instruction mma("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32", "sm_120a");
  FormRegisters x(mma.form());
  x[OperandName::a][1][6] = 0x3C02'3C3C;  // row 8 + 1, columns 8 to 11: the third is in the low bits, as ldmatrix leaves it
  const auto of_a = trap_in([&] { execute(mma, x.batch()); });
  REQUIRE(of_a.has_value());
  CHECK(of_a->reason ==
        "operand a holds 0x02 for row 9, column 10 (register 1, bits 16-23); of the byte of an e2m1 all but bits 2-5 must be zero");
  x[OperandName::a][1][6] = 0;
  x[OperandName::b][0][31] = 0x8000'0000;
  const auto of_b = trap_in([&] { execute(mma, x.batch()); });
  REQUIRE(of_b.has_value());
  CHECK(of_b->reason ==
        "operand b holds 0x80 for row 15, column 7 (register 0, bits 24-31); of the byte of an e3m2 all but bits 0-5 must be zero");
}

}  // namespace
}  // namespace warpmat::padding_test
