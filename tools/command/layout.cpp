#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/explain/table.h>
#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/tables/opcode.h>
#include <warpmat/warp.h>
#include <warpmat/wgmma.h>
#include <warpmat/words/words.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "commands.h"
#include "layout_options.h"
#include "layout_tensor.h"
#include "layout_wgmma.h"
#include "tools/report/answering_opcode.h"
#include "tools/report/layout_grid.h"
#include "tools/report/layout_notation.h"
#include "tools/report/layout_text.h"
#include "tools/report/meant_forms.h"
#include "tools/report/operand_layout.h"
#include "tools/report/ptx_file.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

/// The operand `wanted` if it is a fragment, or the addresses of rows in memory.
const Operand& operand_with_layout(const Form& form, const std::string& wanted) {
  std::vector<std::string_view> names;
  for (const Operand& operand : form.operands) {
    if (!has_layout(form, operand)) continue;
    if (name(operand.name) == wanted) return operand;
    names.push_back(name(operand.name));
  }
  throw std::invalid_argument(fmt::format("{} has no matrix operand {}; --operand can be {}", form.opcode, wanted, fmt::join(names, ", ")));
}

/// `value` if it is from 0 to count - 1.
int checked(const char* option, int value, int count, const Form& form, const Operand& operand) {
  if (value >= 0 && value < count) return value;
  throw std::invalid_argument(
      fmt::format("--{} must be 0 to {} for operand {} of {}; it is {}", option, count - 1, name(operand.name), form.opcode, value));
}

// ---- One element ----------------------------------------------------------------------------------------------------------------------

/// "row 1, column 2: lane 5, register 0, bits 16 to 31"
std::string sentence(const Fragment& f, const Element& e) {
  const Place p = f.place(e);
  const int first = lowest_bit(f, p), last = first + f.payload_bits() - 1;
  const std::string bits = last == first ? fmt::format("bit {}", first) : fmt::format("bits {} to {}", first, last);
  std::string text = fmt::format("row {}, column {}: lane {}, register {}, {}", e.row, e.column, p.lane, p.reg, bits);
  for (int copy = 1; copy < f.copies(); ++copy) {
    const Place other = f.place(e, copy);
    text += copy == 1 ? "; also in " : ", ";
    text += other.lane == p.lane ? fmt::format("register {}", other.reg) : fmt::format("lane {}", other.lane);
  }
  return text + "\n";
}

/// "row 1, column 2: bytes 4 to 5 of the row whose address lane 1 holds"
std::string row_sentence(const Form& form, const Element& e) {
  return fmt::format("row {}, column {}: {} of the row whose address lane {} holds\n", e.row, e.column, bits_of_row(form, e.column),
                     form.row_place(e).lane);
}

/// "bit" is the lowest of the element's container in the register.
Json element_json(const Fragment& f, const Element& e) {
  const Place p = f.place(e);
  return {{"matrix", e.matrix},
          {"row", e.row},
          {"column", e.column},
          {"lane", p.lane},
          {"register", p.reg},
          {"bit", p.bit},
          {"element_bits", f.element_bits()}};
}

/// "bit" counts from the beginning of the row.
Json row_element_json(const Form& form, const Element& e) {
  const RowPlace p = form.row_place(e);
  return {{"matrix", e.matrix}, {"row", e.row}, {"column", e.column}, {"lane", p.lane}, {"bit", p.bit}, {"element_bits", form.memory_bits}};
}

std::string answer(const Form& form, const Operand& operand, int matrices, const std::vector<Element>& elements, bool json) {
  const Fragment& f = operand.fragment;
  Json array = Json::array();
  std::string text;
  for (const Element& e : elements) {
    array.push_back(is_address(operand) ? row_element_json(form, e) : element_json(f, e));
    if (matrices > 1) text += matrix_text(form, operand, e.matrix) + ", ";
    text += is_address(operand) ? row_sentence(form, e) : sentence(f, e);
  }
  return json ? array.dump(2) + '\n' : text;
}

// ---- A whole fragment ---------------------------------------------------------------------------------------------------------------

/// Calls `visit` for every element, by matrix and row.
template <typename Visit>
void for_each_element(int matrices, int rows, int columns, Visit visit) {
  for (int matrix = 0; matrix < matrices; ++matrix)
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < columns; ++column) visit(Element{row, column, matrix});
}

Json lane_json(const Fragment& f, int lane) {
  Json registers = Json::array();
  for (int reg = 0; reg < f.registers(); ++reg) {
    Json inside = Json::array();
    for (const Element& e : held(f, lane, reg)) inside.push_back({{"matrix", e.matrix}, {"row", e.row}, {"column", e.column}});
    registers.push_back(std::move(inside));
  }
  return registers;
}

Json fragment_json(const Form& form, const Operand& operand) {
  const Fragment& f = operand.fragment;
  Json elements = Json::array(), by_lane = Json::array();
  for_each_element(f.matrices(), f.rows(), f.columns(), [&](const Element& e) { elements.push_back(element_json(f, e)); });
  for (int lane = 0; lane < warp_size; ++lane) by_lane.push_back(lane_json(f, lane));
  return {{"opcode", form.opcode},
          {"operand", name(operand.name)},
          {"format", format_text(operand)},
          {"element_bits", f.element_bits()},
          {"payload_bits", f.payload_bits()},
          {"payload_shift", f.payload_shift()},
          {"register_bits", f.register_bits()},
          {"registers", f.registers()},
          {"matrices", f.matrices()},
          {"rows", f.rows()},
          {"columns", f.columns()},
          {"known", known_text(form)},
          {"elements", std::move(elements)},
          {"lanes", std::move(by_lane)}};
}

// ---- Rows in memory -----------------------------------------------------------------------------------------------------------------

Json rows_json(const Form& form, const Operand& operand) {
  Json elements = Json::array(), by_lane = Json::array();
  for_each_element(form.number, form.shape.m, form.shape.n, [&](const Element& e) { elements.push_back(row_element_json(form, e)); });
  for (int lane = 0; lane < form.rows_in_memory(); ++lane) {
    const Element first = addressed(form, lane).front();
    by_lane.push_back({{"matrix", first.matrix}, {"row", first.row}});
  }
  return {{"opcode", form.opcode},           {"operand", name(operand.name)},
          {"row_bytes", Form::row_bytes},    {"element_bits", form.memory_bits},
          {"matrices", form.number},         {"rows", form.shape.m},
          {"columns", form.shape.n},         {"known", known_text(form)},
          {"elements", std::move(elements)}, {"lanes", std::move(by_lane)}};
}

// ---- Pictures and notations -----------------------------------------------------------------------------------------------------------

std::string notation(const Form& form, const Operand& operand, const LayoutOptions& options) {
  if (is_address(operand))
    throw std::invalid_argument(fmt::format("operand {} of {} holds addresses: formulas and notations are of operands in registers",
                                            name(operand.name), form.opcode));
  std::string out;
  const bool by_columns = operand.name == OperandName::b || operand.name == OperandName::scale_b;  // CuTe counts B as n + N * k
  if (options.formulas) out += layout_formulas(operand.fragment);
  if (options.cute) out += cute_layout(operand.fragment, by_columns) + '\n';
  if (options.linear_layout) out += linear_layout_text(operand.fragment);
  return out;
}

// ---- The command --------------------------------------------------------------------------------------------------------------------

/// The valid ranges of a question.
struct Extent {
  int matrices, rows, columns, lanes, registers;
};

Extent extent_of(const Form& form, const Operand& operand) {
  const Fragment& f = operand.fragment;
  if (is_address(operand)) return {form.number, form.shape.m, form.shape.n, form.rows_in_memory(), operand.registers()};
  return {f.matrices(), f.rows(), f.columns(), warp_size, f.registers()};
}

/// The layout of wgmma: in registers, or in shared memory, where operand b always is.
std::string layout_of(const WgmmaForm& form, const LayoutOptions& options) {
  if (options.formulas || options.cute || options.linear_layout)
    throw std::invalid_argument("formulas and notations are of one warp's operands, and wgmma's are a warpgroup's");
  const bool in_memory = options.tile.given || options.operand == "b";
  if (options.by_address && !(in_memory && options.format == "svg"))
    throw std::invalid_argument("--by-address is for --format svg of an operand in shared memory");
  return in_memory ? wgmma_memory(form, options) : wgmma_registers(form, options);
}

/// The form as `target_name` has it; without one, as later hardware has it.
const Form& form_for(const Form& form, const std::string& target_name) {
  if (target_name.empty()) return form;
  const Target& on = target(target_name);
  if (const auto reason = unavailable(form, on)) throw std::invalid_argument(*reason);
  return form_on(form, on.hardware);
}

std::string layout(LayoutOptions options) {
  std::ranges::transform(options.operand, options.operand.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (options.opcode.starts_with("tcgen05.")) return tensor_layout(options);
  const AnsweringOpcode answering = answering_opcode(options.opcode, options.operand);
  if (answering.forms > 1)
    fmt::print(stderr, "warpmat: '{}' may be {} forms, and operand {} lies alike in all of them\n", options.opcode, answering.forms,
               options.operand);
  options.opcode = answering.opcode;
  if (const WgmmaForm* form = find_wgmma(options.opcode)) {
    if (const auto reason = options.target.empty() ? std::nullopt : unavailable(*form, target(options.target)))
      throw std::invalid_argument(*reason);
    return layout_of(*form, options);
  }
  if (options.tile.given || options.warp || options.by_address)
    throw std::invalid_argument(fmt::format("{} has no matrix descriptor and no warpgroup: these options are for wgmma", options.opcode));
  const Form& form = form_for(*find_form(options.opcode), options.target);
  const Operand& operand = operand_with_layout(form, options.operand);
  const Extent extent = extent_of(form, operand);
  if (options.row) {
    const int row = checked("row", *options.row, extent.rows, form, operand);
    const int column = checked("column", *options.column, extent.columns, form, operand);
    const int matrix = checked("matrix", options.matrix.value_or(0), extent.matrices, form, operand);
    return answer(form, operand, extent.matrices, {{row, column, matrix}}, options.json());
  }
  if (options.lane) {
    const int lane = checked("lane", *options.lane, extent.lanes, form, operand);
    const int reg = checked("register", *options.reg, extent.registers, form, operand);
    const std::vector<Element> elements = is_address(operand) ? addressed(form, lane) : held(operand.fragment, lane, reg);
    return answer(form, operand, extent.matrices, elements, options.json());
  }
  if (options.formulas || options.cute || options.linear_layout) return notation(form, operand, options);
  if (options.picture()) return grid_text(layout_grid(form, operand), options.format, options.colour);
  if (options.json()) return (is_address(operand) ? rows_json(form, operand) : fragment_json(form, operand)).dump(2) + '\n';
  return layout_text(form, operand);
}

constexpr const char* layout_footer =
    R"(Registers are numbered as PTX writes them in the operand's braces; a 64-bit register counts as one. Operand p of ldmatrix and stmatrix shows
which lane holds the address of which row in memory, and which of the row's bytes or bits are which column. Where --matrix chooses, it counts
the matrices of ldmatrix and stmatrix, the products of m8n8k4, the values of the selector (operand e) or of the ids (operands scale-a, scale-b).

Operand e holds a 4-bit code for each group of four elements of a row of the sparse A (tf32: two, packed 4-bit types: eight), whose low two bits are the
place of the first stored element and whose high two bits that of the second: 0x9 is places 1 and 2. The selector says which lanes' codes count.
Of scale factors byte-id says at which byte of the register they begin, thread-id which lanes of each four hold them: with {2, 1} byte 2 of lanes 2
and 3. docs/use/operands.md has worked examples.

--format svg and latex draw each element's cell with its lane and register, of wgmma's shared memory with its address and bank. --cute is (thread, value) -> number of the element, column by column
of A and C, row by row of B: n + N * k. Several matrices count on.

Examples:
  warpmat layout mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 --operand a
  warpmat layout mma.m16n8k32.e4m3 --operand a
  warpmat layout HMMA.16816.F32 --operand a
  warpmat layout mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 --operand a --row 9 --column 2
  warpmat layout mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 --operand e
  warpmat layout ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 --operand r --lane 5 --register 3
  warpmat layout ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 --operand p
  warpmat layout movmatrix.sync.aligned.m8n8.trans.b16 --operand d --json
  warpmat layout mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 --operand a --format svg > a.svg
  warpmat layout mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 --operand a --formulas --cute --linear-layout
  warpmat layout wmma.load.a.sync.aligned.row.m16n16k16.f16 --operand r --target sm_70
  warpmat layout wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 --operand d --row 17 --column 2
  warpmat layout wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 --operand b --major mn --swizzle 128 --start 0x2000
  warpmat layout wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 --operand b --swizzle 128 --format svg > b.svg
  warpmat layout wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 --operand b --swizzle 128 --format svg --by-address > memory.svg
  warpmat layout wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 --operand a --descriptor 0x4000004000010080
  warpmat layout tcgen05.ld.sync.aligned.16x64b.x2.b32 --operand r
  warpmat layout tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale --operand scale-a --descriptor 0x08900000)";

}  // namespace

namespace {

constexpr const char* tile_group = "Shared memory of wgmma";

/// Adds the options for operand a or b of wgmma in shared memory.
Command add_tile_options(Command command, TileOptions& tile) {
  const Command group = command.add_option_group(tile_group, "Where operand a or b of wgmma lies; compact where nothing else is said");
  const CommandOption bits =
      group
          .add_option("--descriptor", tile.descriptor,
                      "The 64 bits of a matrix descriptor: what they say, and which byte each element is read from; of "
                      "tcgen05.mma the 32 bits of its instruction descriptor")
          .type_name("BITS");
  group.add_option("--major", tile.major, "k, or mn for a transposed operand of 16-bit elements (default k)").type_name("k|mn");
  for (const CommandOption option :
       {group.add_option("--swizzle", tile.swizzle, "none, 32, 64 or 128 bytes (default 128)").type_name("BYTES"),
        group.add_option("--start", tile.start, "Address in shared memory, a multiple of 16 (default 0)").type_name("ADDRESS"),
        group.add_option("--leading", tile.leading, "Leading byte offset").type_name("BYTES"),
        group.add_option("--stride", tile.stride, "Stride byte offset").type_name("BYTES"),
        group.add_option("--base-offset", tile.base_offset, "0 to 7").type_name("N")})
    option.excludes(bits);
  return group;
}

}  // namespace

void add_layout(Command app) {
  const Command command = app.add_subcommand("layout", "Print which lane and register hold which element of an operand, both ways");
  const auto options = std::make_shared<LayoutOptions>();
  command
      .add_option(
          "OPCODE", options->opcode,
          "The instruction: PTX with all qualifiers or some (mma.m16n8k32.e4m3), or SASS (HMMA.16816.F32); 'warpmat list' shows all")
      .required();
  command.add_option("--operand", options->operand, "The operand, as PTX names it: d, a, b, c, e, scale-a, scale-b, r or p")
      .required()
      .type_name("NAME");
  command.add_option("--target", options->target, "The GPU: of wmma sm_70 has other layouts than later ones (default: those)")
      .type_name("T");
  const CommandOption row = command.add_option("--row", options->row, "With --column: where this element lies").type_name("I");
  const CommandOption column = command.add_option("--column", options->column, "With --row: where this element lies").type_name("J");
  const CommandOption matrix =
      command.add_option("--matrix", options->matrix, "With --row: in which of several matrices (default 0)").type_name("Q");
  const CommandOption lane = command.add_option("--lane", options->lane, "With --register: which elements it holds").type_name("L");
  const CommandOption reg = command.add_option("--register", options->reg, "With --lane: which elements it holds").type_name("R");
  row.needs(column).excludes(lane);
  column.needs(row);
  matrix.needs(row);
  lane.needs(reg);
  reg.needs(lane);
  command.add_option("--format", options->format, "text, json, csv, markdown, svg or latex (default: text)")
      .type_name("FORMAT")
      .one_of({"text", "json", "csv", "markdown", "svg", "latex"});
  command.add_flag_callback(
      "--json", [options] { options->format = "json"; }, "The same as --format json");
  const std::map<std::string, GridColour> colours{{"lane", GridColour::lane}, {"register", GridColour::reg}};
  command.add_choice("--colour,--color", options->colour, colours, "What a colour means in svg and latex: lane or register (default: lane)")
      .type_name("{lane,register}");
  command.add_flag("--by-address", options->by_address,
                   "With --format svg, of wgmma: shared memory in the order of its addresses, 16 bytes a cell");
  for (const auto& [option, flag, what] :
       {std::tuple{"--formulas", &options->formulas, "lane, register and bit from row and column, and back, in C"},
        std::tuple{"--cute", &options->cute, "the layout of threads and values as CuTe writes it"},
        std::tuple{"--linear-layout", &options->linear_layout, "the layout as Triton's LinearLayout"}})
    command.add_flag(option, *flag, fmt::format("Print {}", what)).excludes(row).excludes(lane);
  command.add_option("--warp", options->warp, "With --lane, of wgmma: the warp of the warpgroup, 0 to 3 (default 0)")
      .type_name("W")
      .needs(lane);
  const Command tile = add_tile_options(command, options->tile);
  command.footer(layout_footer);
  command.callback([options, tile] {
    options->tile.given = !tile.given().empty();
    fmt::print("{}", layout(*options));
  });
}

}  // namespace warpmat
