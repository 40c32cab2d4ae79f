#include <warpmat/execute/reference/execute.h>
#include <warpmat/instruction.h>

#include "execute/both_paths.h"
#include "execute/registers.h"
#include "numeric/operand_classes.h"
#include "numeric/oracle_format.h"
#include "test.h"

namespace warpmat::volta_test {
namespace {

/// An f16 code as a float, exactly.
float to_float(std::uint64_t code) {
  if (oracle::is_nan(oracle::f16, code)) return NAN;
  const bool negative = oracle::is_negative(oracle::f16, code);
  if (oracle::is_inf(oracle::f16, code)) return negative ? -INFINITY : INFINITY;
  if ((code & 0x7FFF) == 0) return negative ? -0.0f : 0.0f;
  return std::bit_cast<float>(static_cast<std::uint32_t>(oracle::nearest(oracle::f32, oracle::value(oracle::f16, code))));
}

/// The f16 code nearest to a float.
std::uint64_t to_f16(float x) {
  if (std::isnan(x)) return 0x7FFF;
  if (std::isinf(x) || x == 0) return (std::signbit(x) ? 0x8000u : 0u) | (x == 0 ? 0u : 0x7C00u);
  return oracle::nearest(oracle::f16, oracle::value(oracle::f32, std::bit_cast<std::uint32_t>(x)));
}

/// PTX ISA 9.7.14.5.1: row and column of element i that `lane` holds, of product (lane / 4) mod 4.
struct Position {
  int row, column;
};
Position a_position(bool column_major, int lane, int i) {
  return column_major ? Position{i % 4 + (lane < 16 ? 0 : 4), lane % 4} : Position{lane % 4 + (lane < 16 ? 0 : 4), i};
}
Position b_position(bool row_major, int lane, int i) {
  return row_major ? Position{lane % 4, i + (lane < 16 ? 0 : 4)} : Position{i, lane % 4 + (lane < 16 ? 0 : 4)};
}
Position c_position(bool f32, int lane, int i) {
  const int four = lane < 16 ? 0 : 4;
  return f32 ? Position{(lane & 1) + (i & 2) + four, (i & 4) + (lane & 2) + (i & 1)} : Position{lane % 4 + four, i};
}

std::uint64_t element(const Registers& registers, int bits, int lane, int i) {
  return registers[static_cast<std::size_t>(i * bits / 32)][static_cast<std::size_t>(lane)] >> (i * bits % 32) &
         ((std::uint64_t{1} << bits) - 1);
}

void compare_with_f32_cores(const Form& form) {
  std::mt19937_64 random(83);
  Tally tally;
  const Instruction mma(form, target("sm_90"));
  const bool a_column = form.opcode.find("m8n8k4.col") != std::string::npos;
  const bool b_row = form.opcode.find(".row.f") != std::string::npos;
  const bool c_f32 = form.format(OperandName::c) == Format::f32, d_f32 = form.format(OperandName::d) == Format::f32;
  for (const DotClass operand_class : dot_classes)
    for (std::size_t n = 0; n < case_count(10); ++n) {
      FormRegisters registers(form);
      for (const OperandName name : {OperandName::a, OperandName::b, OperandName::c})
        for (std::size_t i = 0; i < registers[name].size(); ++i)
          for (std::uint32_t& word : registers[name][i]) {
            const auto code = [&] { return static_cast<std::uint32_t>(draw_code(operand_class, form.format(name), random)); };
            word = form.format(name) == Format::f32 ? code() : (code() | code() << 16);
          }
      execute_both_paths(mma, registers.batch());
      float a[4][8][4], b[4][4][8], c[4][8][8];
      for (int lane = 0; lane < 32; ++lane) {
        const int product = lane / 4 % 4;
        for (int i = 0; i < 4; ++i) {
          const Position p = a_position(a_column, lane, i), q = b_position(b_row, lane, i);
          a[product][p.row][p.column] = to_float(element(registers[OperandName::a], 16, lane, i));
          b[product][q.row][q.column] = to_float(element(registers[OperandName::b], 16, lane, i));
        }
        for (int i = 0; i < 8; ++i) {
          const Position p = c_position(c_f32, lane, i);
          const std::uint64_t code = element(registers[OperandName::c], c_f32 ? 32 : 16, lane, i);
          c[product][p.row][p.column] = c_f32 ? std::bit_cast<float>(static_cast<std::uint32_t>(code)) : to_float(code);
        }
      }
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < 8; ++i) {
          const int q = lane / 4 % 4;
          const Position at = c_position(d_f32, lane, i);
          const int r = at.row, s = at.column;
          const auto x = [&](int k) { return a[q][r][k]; };
          const auto y = [&](int k) { return b[q][k][s]; };
          const float start = c[q][r][s];
          std::uint64_t want = 0;
          if (d_f32) {
            const float sum = start + std::fmaf(x(3), y(3), std::fmaf(x(2), y(2), std::fmaf(x(1), y(1), std::fmaf(x(0), y(0), 0))));
            want = std::isnan(sum) ? 0x7FFF'FFFF : std::bit_cast<std::uint32_t>(sum);
          } else {
            const float low = std::fmaf(x(1), y(1), x(0) * y(0)), high = std::fmaf(x(3), y(3), x(2) * y(2));
            want = to_f16((start + low) + high);
          }
          const std::uint64_t got = element(registers[OperandName::d], d_f32 ? 32 : 16, lane, i);
          tally.expect(got == want, [&] {
            return fmt::format("{}, {}: product {}, D[{}][{}] is {:#x}, expected {:#x}", form.opcode, name(operand_class), q, r, s, got,
                               want);
          });
        }
    }
  CHECK(tally.failures() == "");
}

TEST_CASE("m8n8k4 of f16 on sm_90 is what the f32 cores compute") {
  std::size_t forms_seen = 0;
  for (const Form& form : forms()) {
    if (form.mnemonic != Mnemonic::mma || form.shape != Shape{8, 8, 4} || form.format(OperandName::a) != Format::f16) continue;
    ++forms_seen;
    DYNAMIC_SECTION(form.opcode) {
      compare_with_f32_cores(form);
    }
  }
  CHECK(forms_seen == 4 * 3);
}

}  // namespace
}  // namespace warpmat::volta_test
