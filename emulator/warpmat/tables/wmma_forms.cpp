#include <warpmat/tables/wmma_forms.h>

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_set>

#include <warpmat/layout/fragments.h>
#include <warpmat/text.h>

namespace warpmat {
namespace {

// PTX ISA 9.1 sections 9.7.14.3 and 9.7.14.4. Where ptxas 13.0 and the text differ, the rows follow ptxas: it loads and stores C and D of
// m8n8k32 and m8n8k128 as f32 too. It parses f64 of m16n16k16 and m16n16k8 but emits nothing for their products, so these are no forms
// here. Nor is .satfinite of f16, which PTX 6.5 removed.

/// Allowed pairs of C's and D's types.
enum class Accumulators : std::uint8_t { f32, f32_and_f16, s32, f64 };

enum class Layouts : std::uint8_t { any, row_col };  ///< layouts of A and B: any, or only .row and .col

/// Qualifiers of wmma.mma in addition to shape and types.
enum class Variants : std::uint8_t { none, satfinite, xor_popc, and_popc, roundings };

/// The products of a shape and a type of A and B. The loads and stores of their operands exist from the same version on.
struct Row {
  Shape shape;
  Format multiplicands;
  Accumulators accumulators;
  Layouts layouts;
  Variants variants;
  int baseline;
  PtxVersion ptx;
};

using enum Layouts;
using enum Variants;
using Acc = Accumulators;

constexpr Shape m16n16k16{16, 16, 16}, m8n32k16{8, 32, 16}, m32n8k16{32, 8, 16}, m16n16k8{16, 16, 8}, m8n8k4{8, 8, 4}, m8n8k32{8, 8, 32},
    m8n8k128{8, 8, 128};

constexpr Row rows[] = {
    // clang-format off
    // shape      A and B       C and D           layouts  variants   since
    {m16n16k16, Format::f16,  Acc::f32_and_f16, any,     none,      70, {6, 0}},
    {m8n32k16,  Format::f16,  Acc::f32_and_f16, any,     none,      70, {6, 1}},
    {m32n8k16,  Format::f16,  Acc::f32_and_f16, any,     none,      70, {6, 1}},
    {m16n16k16, Format::bf16, Acc::f32,         any,     none,      80, {7, 0}},
    {m8n32k16,  Format::bf16, Acc::f32,         any,     none,      80, {7, 0}},
    {m32n8k16,  Format::bf16, Acc::f32,         any,     none,      80, {7, 0}},
    {m16n16k8,  Format::tf32, Acc::f32,         any,     none,      80, {7, 0}},
    {m8n8k4,    Format::f64,  Acc::f64,         any,     roundings, 80, {7, 0}},
    {m16n16k16, Format::s8,   Acc::s32,         any,     satfinite, 72, {6, 3}},
    {m16n16k16, Format::u8,   Acc::s32,         any,     satfinite, 72, {6, 3}},
    {m8n32k16,  Format::s8,   Acc::s32,         any,     satfinite, 72, {6, 3}},
    {m8n32k16,  Format::u8,   Acc::s32,         any,     satfinite, 72, {6, 3}},
    {m32n8k16,  Format::s8,   Acc::s32,         any,     satfinite, 72, {6, 3}},
    {m32n8k16,  Format::u8,   Acc::s32,         any,     satfinite, 72, {6, 3}},
    {m8n8k32,   Format::s4,   Acc::s32,         row_col, satfinite, 75, {6, 3}},
    {m8n8k32,   Format::u4,   Acc::s32,         row_col, satfinite, 75, {6, 3}},
    {m8n8k128,  Format::b1,   Acc::s32,         row_col, xor_popc,  75, {6, 3}},
    {m8n8k128,  Format::b1,   Acc::s32,         row_col, and_popc,  80, {7, 1}},
    // clang-format on
};

constexpr int f16_registers = 8;  ///< of A and B of f16, whatever the shape (PTX ISA 9.1 section 9.7.14.4)

/// Whose fragments a form has: layout.h. Volta's depend on the layout in memory.
enum class Generation : std::uint8_t { volta, later };

Fragment multiplicand(const Row& r, OperandName operand, bool column_major, Generation generation) {
  const bool is_a = operand == OperandName::a;
  const Axis line = is_a ? Axis::row : Axis::column, other = is_a ? Axis::column : Axis::row;
  if (generation == Generation::volta) return fragment_volta_wmma_multiplicand(r.shape, line, other, column_major != is_a);
  const int lines = is_a ? r.shape.m : r.shape.n;
  // The unit's 16 lines are A's if A has 16 or more; they are B's if the transposed matrices are multiplied.
  const int tile = is_a ? std::min(lines, 16) : lines == 32 ? 16 : 8;
  const int registers = r.multiplicands == Format::f16 ? f16_registers : 0;
  return fragment_wmma_multiplicand(line, other, lines, r.shape.k, tile, row(r.multiplicands).bits, registers);
}

Fragment accumulator(const Row& r, Format format, Generation generation) {
  const int bits = row(format).bits;
  return generation == Generation::volta ? fragment_volta_wmma_c(r.shape, bits) : fragment_wmma_c(r.shape, bits);
}

OperandRow fragment_operand(OperandName operand, Format format, const Fragment& fragment, bool written = false) {
  return {.name = operand, .written = written, .format = format, .fragment = fragment};
}

std::string_view layout_name(bool column_major) {
  return column_major ? "col" : "row";
}

std::string shape_name(const Shape& s) {
  return concatenated({"m", std::to_string(s.m), "n", std::to_string(s.n), "k", std::to_string(s.k)});
}

// ---- wmma.load, wmma.store ----------------------------------------------------------------------------------------------------------

/// One matrix in memory and in registers.
struct Moved {
  OperandName matrix;
  Format format;
  Generation generation;

  Fragment fragment(const Row& r, bool column_major) const {
    const bool is_sum = matrix == OperandName::c || matrix == OperandName::d;
    return is_sum ? accumulator(r, format, generation) : multiplicand(r, matrix, column_major, generation);
  }
};

FormRow move_form(const Row& r, const Moved& moved, Space space, bool column_major) {
  const bool load = moved.matrix != OperandName::d;
  FormRow form{.mnemonic = load ? Mnemonic::wmma_load : Mnemonic::wmma_store,
               .opcode = {},
               .requirement = {.baseline = r.baseline, .ptx = r.ptx},
               .operands = {},
               .shape = r.shape,
               .memory_bits = row(moved.format).bits,
               .matrix = moved.matrix,
               .space = space,
               .column_major = column_major};
  const std::string_view space_name = space == Space::generic ? "" : space == Space::global ? ".global" : ".shared";
  form.opcode = concatenated({name(form.mnemonic), ".", name(moved.matrix), ".sync.aligned.", layout_name(column_major), ".",
                              shape_name(r.shape), space_name, ".", name(moved.format)});
  const OperandRow registers = fragment_operand(OperandName::r, moved.format, moved.fragment(r, column_major), load);
  const OperandRow address{.name = OperandName::p, .kind = OperandKind::address, .format = std::nullopt, .fragment = {}};
  const OperandRow stride{.name = OperandName::stride, .kind = OperandKind::stride, .format = std::nullopt, .fragment = {}};
  form.operands = load ? std::vector{registers, address, stride} : std::vector{address, registers, stride};
  return form;
}

/// Forms, and the opcodes of those that move, because C of s8 is also that of u8.
struct Made {
  std::vector<FormRow>& forms;
  std::unordered_set<std::string> moves{};
};

void add_moves(const Row& r, const Moved& moved, bool both_layouts, Made& out) {
  for (const Space space : {Space::generic, Space::global, Space::shared})
    for (const bool column_major : {false, true}) {
      if (!both_layouts && column_major != (moved.matrix == OperandName::b)) continue;
      FormRow form = move_form(r, moved, space, column_major);
      if (out.moves.insert(form.opcode).second) out.forms.push_back(std::move(form));
    }
}

/// The types in which C and D can be loaded and stored.
std::vector<Format> moved_accumulators(const Row& r) {
  switch (r.accumulators) {
    case Acc::f32_and_f16: return {Format::f32, Format::f16};
    case Acc::f32: return {Format::f32};
    case Acc::f64: return {Format::f64};
    case Acc::s32: return r.layouts == row_col ? std::vector{Format::s32, Format::f32} : std::vector{Format::s32};
  }
  return {};
}

void add_all_moves(const Row& r, Generation generation, Made& out) {
  for (const OperandName operand : {OperandName::a, OperandName::b})
    add_moves(r, {operand, r.multiplicands, generation}, r.layouts == any, out);
  for (const OperandName matrix : {OperandName::c, OperandName::d})
    for (const Format format : moved_accumulators(r)) add_moves(r, {matrix, format, generation}, true, out);
}

// ---- wmma.mma -----------------------------------------------------------------------------------------------------------------------

/// One product: its layouts and the types of C and D.
struct Choice {
  bool a_column, b_column;
  Format d, c;
  Generation generation;
};

FormRow& add_product(const Row& r, const Choice& x, std::string_view suffix, std::vector<FormRow>& out) {
  FormRow form{.mnemonic = Mnemonic::wmma_mma,
               .opcode = {},
               .requirement = {.baseline = r.baseline, .ptx = r.ptx},
               .operands = {},
               .shape = r.shape};
  const std::string_view a_and_b = name(r.multiplicands);
  const std::string types = r.multiplicands == Format::f16 ? "" : concatenated({a_and_b, ".", a_and_b, "."});
  form.opcode = concatenated({name(form.mnemonic), ".sync.aligned.", layout_name(x.a_column), ".", layout_name(x.b_column), ".",
                              shape_name(r.shape), ".", name(x.d), ".", types, name(x.c), suffix});
  form.operands = {
      fragment_operand(OperandName::d, x.d, accumulator(r, x.d, x.generation), true),
      fragment_operand(OperandName::a, r.multiplicands, multiplicand(r, OperandName::a, x.a_column, x.generation)),
      fragment_operand(OperandName::b, r.multiplicands, multiplicand(r, OperandName::b, x.b_column, x.generation)),
      fragment_operand(OperandName::c, x.c, accumulator(r, x.c, x.generation)),
  };
  return out.emplace_back(std::move(form));
}

void add_variants(const Row& r, const Choice& x, std::vector<FormRow>& out) {
  switch (r.variants) {
    case none: add_product(r, x, "", out); break;
    case satfinite:
      add_product(r, x, "", out);
      add_product(r, x, ".satfinite", out).satfinite = true;
      break;
    case xor_popc: add_product(r, x, ".xor.popc", out).bit_operation = BitOperation::bit_xor; break;
    case and_popc: add_product(r, x, ".and.popc", out).bit_operation = BitOperation::bit_and; break;
    case roundings:
      add_product(r, x, "", out);
      add_product(r, x, ".rn", out);
      add_product(r, x, ".rz", out).rounding = Rounding::toward_zero;
      add_product(r, x, ".rm", out).rounding = Rounding::down;
      add_product(r, x, ".rp", out).rounding = Rounding::up;
      break;
  }
}

std::vector<std::pair<Format, Format>> accumulator_pairs(Accumulators accumulators) {
  using enum Format;
  switch (accumulators) {
    case Acc::f32: return {{f32, f32}};
    case Acc::f32_and_f16: return {{f32, f32}, {f32, f16}, {f16, f32}, {f16, f16}};
    case Acc::s32: return {{s32, s32}};
    case Acc::f64: return {{f64, f64}};
  }
  return {};
}

void add_products(const Row& r, Generation generation, std::vector<FormRow>& out) {
  for (const bool a_column : {false, true})
    for (const bool b_column : {false, true}) {
      if (r.layouts == row_col && (a_column || !b_column)) continue;
      for (const auto& [d, c] : accumulator_pairs(r.accumulators)) add_variants(r, {a_column, b_column, d, c, generation}, out);
    }
}

}  // namespace

void add_wmma_forms(std::vector<FormRow>& out) {
  Made made{out};
  for (const Row& r : rows) add_all_moves(r, Generation::later, made);
  for (const Row& r : rows) add_products(r, Generation::later, out);
}

void add_volta_wmma_forms(std::vector<FormRow>& out) {
  constexpr int volta = 70;
  Made made{out};
  for (const Row& r : rows)
    if (r.baseline == volta) add_all_moves(r, Generation::volta, made);
  for (const Row& r : rows)
    if (r.baseline == volta) add_products(r, Generation::volta, out);
}

}  // namespace warpmat
