#include <warpmat/instruction.h>
#include <warpmat/warp.h>

#include "execute/both_paths.h"
#include "execute/registers.h"
#include "execute/stored_columns.h"
#include "numeric/operand_classes.h"
#include "numeric/oracle_format.h"
#include "oracle/oracle.h"
#include "test.h"

namespace warpmat::block_scale_test {
namespace {

using Codes = std::vector<std::uint64_t>;

bool in_bytes(const Form& form) {
  return form.kind == Kind::mxf8f6f4;
}
bool is_sparse(const Form& form) {
  return form.sparsity != Sparsity::dense;
}
std::size_t size(int x) {
  return static_cast<std::size_t>(x);
}

/// {byte-id, thread-id} of both operands.
struct Ids {
  std::uint32_t byte_a, thread_a, byte_b, thread_b;
  friend auto operator<=>(const Ids&, const Ids&) = default;
};

/// PTX ISA 9.7.14.3, table 37: byte-id 0 to 3, 0 and 2, or 0; thread-id 0 and 1 for A, 0 to 3 for B.
std::vector<Ids> all_ids(int scale_vector) {
  const auto step = static_cast<std::uint32_t>(scale_vector);
  std::vector<Ids> all;
  for (std::uint32_t byte_a = 0; byte_a < 4; byte_a += step)
    for (std::uint32_t thread_a = 0; thread_a < 2; ++thread_a)
      for (std::uint32_t byte_b = 0; byte_b < 4; byte_b += step)
        for (std::uint32_t thread_b = 0; thread_b < 4; ++thread_b) all.push_back({byte_a, thread_a, byte_b, thread_b});
  return all;
}

void set_ids(FormRegisters& registers, const Ids& ids) {
  registers[OperandName::ids_a][0].fill(ids.byte_a);
  registers[OperandName::ids_a][1].fill(ids.thread_a);
  registers[OperandName::ids_b][0].fill(ids.byte_b);
  registers[OperandName::ids_b][1].fill(ids.thread_b);
}

/// Of one lane: the bytes from `byte_id` on.
Codes scale_factors(const Form& form, const Register& data, std::uint32_t lane, std::uint32_t byte_id) {
  Codes factors;
  for (int i = 0; i < form.scale_vector; ++i) factors.push_back(data[lane] >> 8 * (byte_id + static_cast<std::uint32_t>(i)) & 0xFF);
  return factors;
}

/// PTX ISA 9.7.14.3: of a quad, the pair of lanes that thread-id-a names holds the factors of rows g and g + 8 ...
Codes factors_of_row(const Form& form, FormRegisters& registers, const Ids& ids, int row) {
  const std::uint32_t g = static_cast<std::uint32_t>(row) % 8, high = static_cast<std::uint32_t>(row) / 8;
  return scale_factors(form, registers[OperandName::scale_a][0], 4 * g + 2 * ids.thread_a + high, ids.byte_a);
}

/// ... and the lane that thread-id-b names those of column g.
Codes factors_of_column(const Form& form, FormRegisters& registers, const Ids& ids, int column) {
  return scale_factors(form, registers[OperandName::scale_b][0], 4 * static_cast<std::uint32_t>(column) + ids.thread_b, ids.byte_b);
}

/// A row by row as stored, B column by column, C row by row, and the columns of the expanded A that the stored elements of each row have.
struct Matrices {
  std::vector<Codes> a, b, c;
  std::vector<std::vector<int>> columns;
};

std::vector<int> columns_of_row(const Form& form, FormRegisters& registers, int row) {
  if (is_sparse(form)) return stored_columns(in_bytes(form) ? 8 : 4, form.shape.k, registers[OperandName::e][0], 0, row);
  std::vector<int> all(size(form.shape.k));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Rows and columns of the class: column j of B is drawn with row j of A, at the places that multiply the elements of that row.
Matrices draw(const Form& form, FormRegisters& registers, DotClass operand_class, std::mt19937_64& random) {
  const Format a = form.format(OperandName::a), b = form.format(OperandName::b);
  Matrices x;
  for (int i = 0; i < 16; ++i) {
    const DotOperands drawn = draw_operands(operand_class, a, b, Format::f32, size(form.stored_k()), random);
    x.columns.push_back(columns_of_row(form, registers, i));
    x.a.push_back(drawn.a);
    x.c.emplace_back();
    for (int j = 0; j < 8; ++j) x.c.back().push_back(i == j ? drawn.c : draw_code(operand_class, Format::f32, random));
    if (i >= 8) continue;
    x.b.emplace_back();
    for (int k = 0; k < form.shape.k; ++k) x.b.back().push_back(draw_code(operand_class, b, random));
    for (std::size_t k = 0; k < drawn.b.size(); ++k) x.b.back()[size(x.columns.back()[k])] = drawn.b[k];
  }
  return x;
}

/// PTX ISA 9.7.14.5.14: in a byte, e2m1 lies in the middle and the 6-bit types in the low bits.
void put(Registers& registers, int bits, bool middle, int lane, int i, std::uint64_t code) {
  std::uint32_t& word = registers[size(i * bits / 32)][size(lane)];
  const int shift = i * bits % 32;
  word &= ~(((std::uint32_t{1} << (bits - 1) << 1) - 1) << shift);
  word |= static_cast<std::uint32_t>(code) << (shift + (middle ? 2 : 0));
}

void put_all(const Form& form, const Matrices& x, FormRegisters& registers) {
  const int bits = in_bytes(form) ? 8 : 4, stored_k = form.stored_k(), k = form.shape.k;
  const auto middle = [&](OperandName name) { return in_bytes(form) && form.format(name) == Format::e2m1; };
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 16 * stored_k / 32; ++i) {
      const auto [row, column] = oracle::a_position(16, stored_k, bits, lane, i);
      put(registers[OperandName::a], bits, middle(OperandName::a), lane, i, x.a[size(row)][size(column)]);
    }
    for (int i = 0; i < 8 * k / 32; ++i) {
      const auto [row, column] = oracle::b_position(k, 8, bits, lane, i);
      put(registers[OperandName::b], bits, middle(OperandName::b), lane, i, x.b[size(column)][size(row)]);
    }
    for (int i = 0; i < 4; ++i) {
      const auto [row, column] = oracle::c_position(16, lane, i);
      put(registers[OperandName::c], 32, false, lane, i, x.c[size(row)][size(column)]);
    }
  }
}

/// Scale factors whose codes are at most `spread` from that of 1, or any.
constexpr std::uint64_t anything = 0xFF;
void put_scales(const Form& form, FormRegisters& registers, std::uint64_t spread, std::mt19937_64& random) {
  const std::uint64_t one = form.format(OperandName::scale_a) == Format::ue8m0 ? 127 : 0x38;
  for (const OperandName name : {OperandName::scale_a, OperandName::scale_b})
    for (std::uint32_t& word : registers[name][0]) {
      word = 0;
      for (int byte = 0; byte < 4; ++byte) {
        const std::uint64_t code = spread == anything ? random() & 0xFF : one - spread + random() % (2 * spread + 1);
        word |= static_cast<std::uint32_t>(code) << 8 * byte;
      }
    }
}

std::uint64_t expected(const Form& form, const Matrices& x, const Codes& scales_a, const Codes& scales_b, int i, int j) {
  const Codes& a = x.a[size(i)];
  Codes met;
  for (const int k : x.columns[size(i)]) met.push_back(x.b[size(j)][size(k)]);
  const std::uint64_t c = x.c[size(i)][size(j)];
  if (form.kind == Kind::mxf8f6f4)
    return oracle::scaled_dot(oracle::hopper_unit(32), *oracle_format(form.format(OperandName::a)),
                              *oracle_format(form.format(OperandName::b)), a, met, scales_a[0], scales_b[0], c);
  const bool powers = form.format(OperandName::scale_a) == Format::ue8m0;
  return oracle::grouped_dot(powers ? oracle::ScaleFormat::ue8m0 : oracle::ScaleFormat::ue4m3, a, met, scales_a, scales_b, c);
}

std::vector<const Form*> scaled_forms() {
  std::vector<const Form*> all;
  for (const Form& form : forms())
    if (form.scale_vector != 0) all.push_back(&form);
  return all;
}

/// The text of the trap that `mma` gives, or "".
std::string trap_of(const Instruction& mma, FormRegisters& registers) {
  try {
    execute(mma, registers.batch());
  } catch (const Trap& trap) {
    return trap.what();
  }
  return "";
}

TEST_CASE("every block-scaled mma agrees with the oracle bit for bit, with all byte-ids and thread-ids") {
  std::mt19937_64 random(85);
  Tally tally;
  std::size_t turn = 0, next_ids[5] = {};
  constexpr std::uint64_t spreads[] = {0, 8, anything};
  std::map<int, std::set<Ids>> ids_seen;  // by factors of a row
  std::set<std::string> pairings;
  for (const Form* form : scaled_forms()) {
    const bool wide = form->kind == Kind::mxf8f6f4;
    pairings.insert(fmt::format("{} {} {}", wide, name(form->format(OperandName::a)), name(form->format(OperandName::b))));
    const std::vector<Ids> ids = all_ids(form->scale_vector);
    FormRegisters registers(*form);
    for (std::size_t n = 0; n < case_count(wide ? 10 : 50); ++n, ++turn) {
      const Instruction mma(*form, target(turn % 2 == 0 ? "sm_120a" : "sm_121a"));
      const DotClass operand_class = dot_classes[turn % std::size(dot_classes)];
      const Ids& chosen = ids[next_ids[form->scale_vector]++ % ids.size()];
      ids_seen[form->scale_vector].insert(chosen);
      registers.fill(random);
      set_ids(registers, chosen);
      put_scales(*form, registers, spreads[turn / std::size(dot_classes) % std::size(spreads)], random);
      const Matrices x = draw(*form, registers, operand_class, random);
      put_all(*form, x, registers);
      execute_both_paths(mma, registers.batch());
      for (int lane = 0; lane < 32; ++lane)
        for (int reg = 0; reg < 4; ++reg) {
          const auto [i, j] = oracle::c_position(16, lane, reg);
          const std::uint64_t got = registers[OperandName::d][size(reg)][size(lane)];
          const Codes of_row = factors_of_row(*form, registers, chosen, i), of_column = factors_of_column(*form, registers, chosen, j);
          const std::uint64_t want = expected(*form, x, of_row, of_column, i, j);
          tally.expect(got == want, [&, i = i, j = j] {
            return fmt::format("{}, {}, ids {{{}, {}}} {{{}, {}}}: D[{}][{}] is {:#x}, expected {:#x}", form->opcode, name(operand_class),
                               chosen.byte_a, chosen.thread_a, chosen.byte_b, chosen.thread_b, i, j, got, want);
          });
        }
    }
  }
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() == (100 * case_count(10) + 10 * case_count(50)) * 128);
  CHECK(pairings.size() == 25 + 1);
  CHECK(scaled_forms().size() == 2 * (2 * 25 + 2 + 3));  // dense and sparse; .scale_vec may be left out but for mxf4nvf4
  if (WARPMAT_SANITIZED) return;
  for (const int vector : {1, 2, 4}) CHECK(ids_seen[vector].size() == all_ids(vector).size());
}

TEST_CASE("any other byte-id or thread-id traps, and so do those that differ between lanes") {
  std::mt19937_64 random(87);
  for (const Form* form : scaled_forms()) {
    CAPTURE(form->opcode);
    const Instruction mma(*form, target("sm_120a"));
    FormRegisters registers(*form);
    registers.fill(random);
    for (const OperandName name : {OperandName::ids_a, OperandName::ids_b})
      for (const std::size_t which : {0u, 1u})
        for (std::uint32_t id = 0; id < 6; ++id) {
          CAPTURE(static_cast<int>(name), which, id);
          const std::uint32_t threads = name == OperandName::ids_a ? 2 : 4;
          const bool legal = which == 0 ? id < 4 && id % static_cast<std::uint32_t>(form->scale_vector) == 0 : id < threads;
          set_ids(registers, {});
          registers[name][which].fill(id);
          REQUIRE((trap_of(mma, registers) == "") == legal);
          registers[name][which][17] = id ^ 1;
          REQUIRE(trap_of(mma, registers) != "");
        }
  }
}

TEST_CASE("with scale factors at the limits of the common case the fast path gives the reference's bits") {
  std::mt19937_64 random(88);
  const std::array<std::uint64_t, 4> spreads{3, 29, 30, 31};  // exponents from -30 to 30 are in the common case
  for (const Form* form : scaled_forms()) {
    if (form->kind != Kind::mxf8f6f4) continue;
    CAPTURE(form->opcode);
    const Instruction mma(*form, target("sm_120a"));
    FormRegisters registers(*form);
    for (const std::uint64_t spread : spreads)
      for (int round = 0; round < 8; ++round) {
        registers.fill(random);
        put_scales(*form, registers, spread, random);
        for (std::size_t lane = 0; lane < 32; ++lane) {
          const auto row = lane / 4;  // of A and C, and column of B
          if (row % 4 == 1)           // all products are zero
            for (std::size_t r = 0; r < registers[OperandName::a].size(); ++r) registers[OperandName::a][r][lane] = 0;
          for (std::size_t r = 0; r < registers[OperandName::c].size(); ++r) {
            std::uint32_t& c = registers[OperandName::c][r][lane];
            const auto exponent = static_cast<std::uint32_t>(20 + random() % 180);
            if (row % 4 != 2) c = random() % 4 == 0 ? 0 : (c & 0x807f'ffff) | exponent << 23;
          }
        }
        execute(mma, registers.batch(), 1, {.path = Path::reference});
        const auto expected = registers[OperandName::d].values();
        execute(mma, registers.batch(), 1, {.path = Path::fast});
        REQUIRE(registers[OperandName::d].values() == expected);
      }
  }
}

}  // namespace
}  // namespace warpmat::block_scale_test
