// wmma on sm_70, whose registers hold other elements than later hardware's.

#include <warpmat/forms.h>
#include <warpmat/instruction.h>

#include "execute/registers.h"
#include "oracle/oracle.h"
#include "oracle/volta_wmma.h"
#include "test.h"

namespace warpmat::volta_wmma_test {
namespace {

using oracle::Coordinates;

/// The published place of element `x` of a lane.
Coordinates published(OperandName matrix, Format format, bool column_major, int lane, int x) {
  if (matrix == OperandName::a) return oracle::volta::a(column_major, lane, x);
  if (matrix == OperandName::b) return oracle::volta::b(column_major, lane, x);
  return format == Format::f16 ? oracle::volta::sum_f16(lane, x) : oracle::volta::sum_f32(lane, x);
}

void compare(Tally& tally, const std::string& what, const Operand& operand, OperandName matrix, bool column_major) {
  const Fragment& f = operand.fragment;
  const int in_register = f.elements_per_register();
  for (int lane = 0; lane < warp_size; ++lane)
    for (int x = 0; x < f.registers() * in_register; ++x) {
      const Element held = f.element({lane, x / in_register, x % in_register * f.element_bits()});
      const Coordinates expected = published(matrix, *operand.format, column_major, lane, x);
      tally.expect(Coordinates{held.row, held.column} == expected, [&] {
        return fmt::format("{}: element {} of lane {} is ({}, {}), published is ({}, {})", what, x, lane, held.row, held.column,
                           expected.row, expected.column);
      });
    }
}

bool is_wmma(const Form& form) {
  return moves_matrix(form) || form.mnemonic == Mnemonic::wmma_mma;
}

std::vector<const Form*> wmma_forms() {
  std::vector<const Form*> found;
  for (const Form& form : forms())
    if (is_wmma(form) && !unavailable(form, target("sm_70"))) found.push_back(&form);
  return found;
}

bool has(const Form& form, const char* part) {
  return form.opcode.find(part) != std::string::npos;
}

TEST_CASE("m16n16k16 on sm_70 has the fragments that were published of Volta", "[wmma][volta]") {
  Tally tally;
  int compared = 0;
  for (const Form* plain : wmma_forms()) {
    const Form& form = Instruction(*plain, target("sm_70")).form();
    CHECK(form.opcode == plain->opcode);
    if (form.shape != Shape{16, 16, 16}) continue;
    if (moves_matrix(form)) {
      compare(tally, form.opcode, form.operand(OperandName::r), form.matrix, form.column_major);
    } else {
      compare(tally, form.opcode, form.operand(OperandName::a), OperandName::a, has(form, "aligned.col."));
      compare(tally, form.opcode, form.operand(OperandName::b), OperandName::b, has(form, ".col.m16"));
      for (const OperandName sum : {OperandName::c, OperandName::d}) compare(tally, form.opcode, form.operand(sum), sum, false);
    }
    ++compared;
  }
  CHECK(tally.failures() == "");
  CHECK(compared == 3 * (4 + 8) + 16);  // three spaces, A and B by rows or columns, C and D also in two types; products
}

TEST_CASE("every octet of sm_70 holds the rows of A and the columns of B that its elements of D need", "[wmma][volta]") {
  Tally tally;
  for (const Form* plain : wmma_forms()) {
    const Form& form = form_on(*plain, Hardware::sm_70);
    if (moves_matrix(form)) continue;
    // By octet, what its eight lanes hold.
    std::map<int, std::set<std::pair<int, int>>> a, b;
    const auto collect = [&](OperandName operand, auto visit) {
      const Fragment& f = form.operand(operand).fragment;
      for (int lane = 0; lane < warp_size; ++lane)
        for (int reg = 0; reg < f.registers(); ++reg)
          for (int bit = 0; bit < 32; bit += f.element_bits()) visit(lane / 4 % 4, f.element({lane, reg, bit}));
    };
    collect(OperandName::a, [&](int octet, const Element& e) { a[octet].emplace(e.row, e.column); });
    collect(OperandName::b, [&](int octet, const Element& e) { b[octet].emplace(e.row, e.column); });
    for (const OperandName sum : {OperandName::c, OperandName::d})
      collect(sum, [&](int octet, const Element& e) {
        for (int k = 0; k < 16; ++k)
          tally.expect(a[octet].contains({e.row, k}) && b[octet].contains({k, e.column}), [&] {
            return fmt::format("{}: octet {} has D ({}, {}) without A or B of k {}", form.opcode, octet, e.row, e.column, k);
          });
      });
  }
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() > 100'000);
}

TEST_CASE("the form on a hardware is found from either form, and executes there alone", "[wmma][volta]") {
  for (const Form& form : forms()) {
    const Form& volta = form_on(form, Hardware::sm_70);
    CHECK((&volta != &form) == (is_wmma(form) && !unavailable(form, target("sm_70"))));
    CHECK(&form_on(volta, Hardware::sm_90) == &form);
    CHECK(&form_on(volta, Hardware::sm_70) == &volta);
    const Form copy = volta;
    CHECK(listed(copy) == &volta);
    if (!unavailable(form, target("sm_90"))) CHECK(&Instruction(copy, target("sm_90")).form() == &form);
  }
}

TEST_CASE("layouts of sm_70 are published for m16n16k16, assumed for the other shapes", "[wmma][volta]") {
  for (const Form* form : wmma_forms()) {
    CAPTURE(form->opcode);
    const LayoutLabel found = layout_label(*form, Hardware::sm_70);
    const bool square = form->shape == Shape{16, 16, 16};
    CHECK(found.label == (square ? Label::published : Label::assumed));
    CHECK(found.source == (square ? "GPGPU-Sim, arXiv 1811.08309; wmma_extension" : "octets as of m16n16k16 on sm_70"));
    CHECK(layout_label(*form, Hardware::sm_90).label == Label::measured);
  }
}

constexpr int stride = 40;  // elements, for each of the matrices
constexpr std::size_t memory_bytes = 8192;

/// Loads or stores all registers of `words` at `address`.
void move(const std::string& opcode, Registers& words, SharedMemory& memory) {
  const Instruction instruction(opcode, "sm_70");
  FormRegisters registers(instruction.form());
  registers[OperandName::p][0].fill(0);
  registers[OperandName::stride][0].fill(stride);
  Registers& moved = registers[OperandName::r];
  for (std::size_t i = 0; i < words.size(); ++i) moved[i] = words[i];
  Batch batch = registers.batch();
  batch.use(memory);
  execute(instruction, batch);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = moved[i];
}

std::uint16_t half(std::mt19937_64& random) {
  return static_cast<std::uint16_t>((random() & 0x83ff) | (13 + random() % 5) << 10);
}

TEST_CASE("a program of wmma on sm_70 multiplies the matrices in memory, whatever the layouts", "[wmma][volta]") {
  std::mt19937_64 random(70);
  Tally tally;
  for (const Shape shape : {Shape{16, 16, 16}, Shape{32, 8, 16}, Shape{8, 32, 16}})
    for (const std::string la : {"row", "col"})
      for (const std::string lb : {"row", "col"}) {
        const std::string name = fmt::format("m{}n{}k{}", shape.m, shape.n, shape.k);
        const Instruction product(fmt::format("wmma.mma.sync.aligned.{}.{}.{}.f32.f32", la, lb, name), "sm_70");
        FormRegisters registers(product.form());
        std::map<std::pair<int, int>, std::uint64_t> a, b;
        const auto fill = [&](char operand, const std::string& layout, int rows, int columns, auto& kept, OperandName to) {
          SharedMemory memory(memory_bytes);
          for (int row = 0; row < rows; ++row)
            for (int column = 0; column < columns; ++column) {
              const std::uint16_t bits = half(random);
              kept[{row, column}] = bits;
              const int number = layout == "row" ? row * stride + column : column * stride + row;
              memory.bytes()[static_cast<std::size_t>(2 * number)] = static_cast<std::uint8_t>(bits);
              memory.bytes()[static_cast<std::size_t>(2 * number + 1)] = static_cast<std::uint8_t>(bits >> 8);
            }
          move(fmt::format("wmma.load.{}.sync.aligned.{}.{}.f16", operand, layout, name), registers[to], memory);
        };
        fill('a', la, shape.m, shape.k, a, OperandName::a);
        fill('b', lb, shape.k, shape.n, b, OperandName::b);
        for (std::size_t i = 0; i < 8; ++i) registers[OperandName::c][i].fill(0);
        execute(product, registers.batch());
        SharedMemory memory(memory_bytes);
        move(fmt::format("wmma.store.d.sync.aligned.col.{}.f32", name), registers[OperandName::d], memory);
        for (int row = 0; row < shape.m; ++row)
          for (int column = 0; column < shape.n; ++column) {
            std::vector<std::uint64_t> x, y;
            for (int k = 0; k < shape.k; ++k) {
              x.push_back(a.at({row, k}));
              y.push_back(b.at({k, column}));
            }
            std::uint32_t found = 0;
            for (std::size_t i = 0; i < 4; ++i)
              found |= std::uint32_t{memory.bytes()[static_cast<std::size_t>(4 * (column * stride + row)) + i]} << 8 * i;
            const std::uint64_t expected = oracle::float_dot(oracle::volta_unit(4), oracle::f16, oracle::f16, oracle::f32, x, y, 0);
            tally.expect(found == expected, [&] {
              return fmt::format("{}.{}.{}: ({}, {}) is {:#x}, expected {:#x}", la, lb, name, row, column, found, expected);
            });
          }
      }
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() == 12 * 256);
}

}  // namespace
}  // namespace warpmat::volta_wmma_test
