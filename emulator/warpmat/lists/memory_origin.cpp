#include <warpmat/lists/memory_origin.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include <warpmat/matrices.h>
#include <warpmat/matrices/sample.h>

namespace warpmat {
namespace {

constexpr std::size_t row_bytes = Form::row_bytes;  ///< the maximum that a lane reads at once

/// The bytes that a lane has read at its address, and those that it should have read; only bits of `mask` count.
struct ReadRow {
  int lane = 0;
  std::uint64_t address = 0;
  std::size_t size = row_bytes;
  std::array<std::uint8_t, row_bytes> held{}, expected{}, mask{};

  bool wrong() const {
    for (std::size_t i = 0; i < size; ++i)
      if (((held[i] ^ expected[i]) & mask[i]) != 0) return true;
    return false;
  }
  bool expected_at(std::span<const std::uint8_t> bytes) const {
    for (std::size_t i = 0; i < size; ++i)
      if (((bytes[i] ^ expected[i]) & mask[i]) != 0) return false;
    return true;
  }
};

/// Whether `operand` contains the register in `slot`, written by a load.
bool holds(const OperandText& operand, int slot) {
  return std::ranges::any_of(operand.items, [&](const Item& item) { return item.kind == Item::Kind::named && item.slot == slot; });
}

/// The result operand of `statement`, or nullptr.
const OperandText* result_of(const Statement& statement) {
  for (std::size_t i = 0; i < statement.operands().size(); ++i)
    if (statement.described(i).is_written()) return &statement.operands()[i];
  return nullptr;
}

/// The last statement before `end` that writes the register in `slot`, or nullptr.
const Statement* writer(const Program& program, const Statement* end, int slot) {
  for (const Statement* s = end; s != program.statements().data();)
    if (const OperandText* result = result_of(*--s); result != nullptr && holds(*result, slot)) return s;
  return nullptr;
}

/// Actual and expected registers of a load: copies of the words, in the order of its result.
struct LoadedWords {
  std::vector<Register> held, expected;

  static std::vector<std::uint32_t*> pointers(std::vector<Register>& registers) {
    std::vector<std::uint32_t*> out;
    for (Register& r : registers) out.push_back(r.data());
    return out;
  }
};

void put_bits(std::array<std::uint8_t, row_bytes>& bytes, int bit, int width, std::uint64_t value) {
  for (int i = 0; i < width; ++i) {
    const auto at = static_cast<std::size_t>(bit + i);
    bytes[at / 8] = static_cast<std::uint8_t>(bytes[at / 8] | (value >> i & 1) << at % 8);
  }
}

/// The rows in memory that an ldmatrix has read.
std::vector<ReadRow> rows_of(const Form& form, LoadedWords& words, const std::array<std::uint64_t, warp_size>& addresses) {
  const Fragment& fragment = form.operand(OperandName::r).fragment;
  std::vector<ReadRow> rows(static_cast<std::size_t>(form.rows_in_memory()));
  const auto held = LoadedWords::pointers(words.held), expected = LoadedWords::pointers(words.expected);
  const ConstRegisterList held_list(held.data(), held.size()), expected_list(expected.data(), expected.size());
  for (int matrix = 0; matrix < fragment.matrices(); ++matrix)
    for (int row = 0; row < fragment.rows(); ++row)
      for (int column = 0; column < fragment.columns(); ++column) {
        const Element element{row, column, matrix};
        const RowPlace place = form.row_place(element);
        ReadRow& read = rows[static_cast<std::size_t>(place.lane)];
        put_bits(read.held, place.bit, form.memory_bits, read_element(fragment, held_list, element));
        put_bits(read.expected, place.bit, form.memory_bits, read_element(fragment, expected_list, element));
        put_bits(read.mask, place.bit, form.memory_bits, ~std::uint64_t{0});
      }
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].lane = static_cast<int>(i), rows[i].address = addresses[i];
  return rows;
}

/// The words that the lanes have read by an ld.shared whose registers are as wide as its elements.
std::vector<ReadRow> rows_of(const Instruction& load, const LoadedWords& words, const std::array<std::uint64_t, warp_size>& addresses) {
  const auto size = static_cast<std::size_t>(load.access_bytes());
  if (size != words.held.size() * sizeof(std::uint32_t)) return {};
  std::vector<ReadRow> rows(warp_size);
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    ReadRow& row = rows[lane];
    row.lane = static_cast<int>(lane), row.address = addresses[lane], row.size = size;
    for (std::size_t w = 0; w < words.held.size(); ++w) {
      put_bits(row.held, static_cast<int>(32 * w), 32, words.held[w][lane]);
      put_bits(row.expected, static_cast<int>(32 * w), 32, words.expected[w][lane]);
    }
    row.mask.fill(0xff);
  }
  return rows;
}

/// The place of an address in a variable: "row 2, chunk 2 of tile", where a chunk is 16 bytes of a row; "byte 32 of tile" if the variable's
/// rows are not known.
struct VariablePlace {
  std::string variable;
  std::uint64_t byte = 0;
  int row = -1, column = -1, chunk = -1;

  std::string text(bool with_variable = true) const {
    if (variable.empty()) return "";
    const std::string of = with_variable ? " of " + variable : "";
    if (row < 0) return fmt::format("byte {}{}", byte, of);
    return chunk >= 0 ? fmt::format("row {}, chunk {}{}", row, chunk, of) : fmt::format("row {}, column {}{}", row, column, of);
  }
};

VariablePlace place_of(const Warp& warp, std::uint64_t address) {
  for (const SharedVariable& v : warp.program().variables()) {
    const std::uint64_t byte = address - warp.shared().base() - static_cast<std::uint64_t>(v.address);
    if (byte >= static_cast<std::uint64_t>(v.bytes())) continue;
    VariablePlace place{v.name, byte};
    const MemoryMatrix* m = warp.described_variable(v.name);
    for (int i = 0; m != nullptr && i < m->rows; ++i)
      for (int j = 0; j < m->columns; ++j)
        if (m->layout.bit(i, j, m->columns, m->element_bits) == 8 * byte) {
          const int bits = j * m->element_bits;
          place.row = i, place.column = j, place.chunk = bits % 128 == 0 ? bits / 128 : -1;
          return place;
        }
    return place;
  }
  return {};
}

/// The addresses, multiples of the row's size, that hold the expected bytes; at most a few.
std::vector<std::uint64_t> homes(const Warp& warp, const ReadRow& row) {
  constexpr std::size_t enough = 3;
  std::vector<std::uint64_t> found;
  const auto bytes = warp.shared().bytes();
  for (std::size_t at = 0; at + row.size <= bytes.size() && found.size() < enough; at += row.size)
    if (row.expected_at(bytes.subspan(at, row.size))) found.push_back(warp.shared().base() + at);
  return found;
}

/// A wrong row with the address read and the right address; nothing if the latter is not unique.
struct Misplaced {
  VariablePlace read, wanted;
};

std::string row_line(const Warp& warp, const ReadRow& row, std::optional<Misplaced>& misplaced) {
  const VariablePlace read = place_of(warp, row.address);
  std::string text = fmt::format("lane {}'s address {:#x}", row.lane, row.address);
  if (!read.variable.empty()) text += " is " + read.text();
  const auto found = homes(warp, row);
  if (found.empty()) return text + "; the expected values lie nowhere in shared memory\n";
  if (found.size() > 1) return text + "; the expected values lie at several addresses\n";
  if (found.front() == row.address) return text + "; the expected values lie there now: memory has changed since\n";
  const VariablePlace wanted = place_of(warp, found.front());
  misplaced = Misplaced{read, wanted};
  const bool same_row = read.variable == wanted.variable && read.row >= 0 && read.row == wanted.row && wanted.chunk >= 0;
  text += fmt::format("; the expected values lie at {:#x}", found.front());
  if (same_row) return text + fmt::format(", chunk {}\n", wanted.chunk);
  return text + (wanted.variable.empty() ? "" : ", " + wanted.text(wanted.variable != read.variable)) + "\n";
}

/// The common cause of all wrong rows: whole chunks exchanged within their rows, as a forgotten swizzle does.
std::string common_cause(const std::vector<std::optional<Misplaced>>& rows) {
  int period = 0;  // in rows, after which the exchange repeats
  for (const int candidate : {8, 4, 2}) {
    const bool all = std::ranges::all_of(rows, [&](const std::optional<Misplaced>& m) {
      return m && m->read.row >= 0 && m->read.row == m->wanted.row && m->read.variable == m->wanted.variable && m->read.chunk >= 0 &&
             m->wanted.chunk >= 0 && (m->read.chunk ^ m->wanted.chunk) == m->read.row % candidate;
    });
    if (all) period = candidate;
  }
  const bool within_rows = std::ranges::all_of(rows, [](const std::optional<Misplaced>& m) {
    return m && m->read.row >= 0 && m->read.row == m->wanted.row && m->read.variable == m->wanted.variable && m->wanted.chunk >= 0;
  });
  if (period != 0)
    return fmt::format(
        "whole chunks are exchanged: in row r, chunk c is read where chunk c ^ (r % {}) was meant, so either the addresses or {} "
        "lack a swizzle\n",
        period, rows.front()->read.variable);
  return within_rows ? "whole chunks of 16 bytes are exchanged within their rows\n" : "";
}

std::string describe_load(const Warp& warp, const Statement& load, LoadedWords& words) {
  const auto* addresses = warp.addresses_read(load);
  if (addresses == nullptr) return "";
  const bool is_matrix = load.matrix() != nullptr;
  std::vector<ReadRow> rows =
      is_matrix ? rows_of(load.matrix()->form(), words, *addresses) : rows_of(load.instruction(), words, *addresses);
  std::erase_if(rows, [](const ReadRow& row) { return !row.wrong(); });
  if (rows.empty()) return "";
  std::string text = fmt::format("{} in line {} read {} wrong row{}:\n", is_matrix ? "ldmatrix" : "ld.shared", load.location().line,
                                 rows.size(), rows.size() == 1 ? "" : "s");
  std::vector<std::optional<Misplaced>> misplaced(rows.size());
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < rows.size(); ++i) lines.push_back(row_line(warp, rows[i], misplaced[i]));
  for (const std::size_t i : sample(rows.size())) text += "  " + lines[i];
  return text + common_cause(misplaced);
}

}  // namespace

std::string describe_origin(const Warp& warp, const Statement& statement, const Operand& operand, Format format,
                            const numbers::Matrix& expected) {
  const auto index = static_cast<std::size_t>(&operand - statement.matrix()->form().operands.data());
  const OperandText& text = statement.operands()[index];
  if (std::ranges::any_of(text.items, [](const Item& item) { return item.kind != Item::Kind::named || item.words != 1; })) return "";
  std::vector<Register> wanted(text.items.size());
  const auto held = warp.words(text);
  for (std::size_t i = 0; i < held.size(); ++i) std::copy_n(held[i], warp_size, wanted[i].begin());
  numbers::scatter(operand.fragment, format, expected, LoadedWords::pointers(wanted));

  const Program& program = warp.program();
  const Statement* const end = operand.written ? &statement + 1 : &statement;
  std::vector<const Statement*> loads;
  for (const Item& item : text.items)
    if (const Statement* load = writer(program, end, item.slot); load != nullptr && std::ranges::find(loads, load) == loads.end())
      loads.push_back(load);
  std::string lines;
  for (const Statement* load : loads) {
    const OperandText& result = *result_of(*load);
    LoadedWords words;
    for (const std::uint32_t* word : warp.words(result)) std::copy_n(word, warp_size, words.held.emplace_back().begin());
    words.expected = words.held;
    for (std::size_t j = 0; j < result.items.size() && words.held.size() == result.items.size(); ++j)
      for (std::size_t i = 0; i < text.items.size(); ++i)
        if (text.items[i].slot == result.items[j].slot && writer(program, end, text.items[i].slot) == load) words.expected[j] = wanted[i];
    lines += describe_load(warp, *load, words);
  }
  return lines;
}

}  // namespace warpmat
