#include <algorithm>
#include <map>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/explain/table.h>
#include <nlohmann/json.hpp>

#include <warpmat/wgmma.h>

#include "layout_wgmma.h"
#include "tools/report/memory_picture.h"
#include "tools/report/operand_layout.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

/// Operand a or b in shared memory.
struct Tile {
  const WgmmaForm& form;
  OperandName operand;
  Major major;
  std::uint64_t bits;
  MatrixDescriptor descriptor;

  MatrixLines lines() const { return matrix_lines(form, operand, major); }
  int rows() const { return matrix_extent(form, operand).rows; }
  int columns() const { return matrix_extent(form, operand).columns; }
  int element_bits() const { return row(form.tile->format(operand)).bits; }
  MemoryPlace place(int r, int c) const { return memory_place(form, operand, major, descriptor, r, c); }
};

// ---- Questions ------------------------------------------------------------------------------------------------------------------------

template <typename Value>
Value chosen(const char* option, const std::string& text, const std::map<std::string, Value>& choices) {
  const auto found = choices.find(text);
  if (found != choices.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) names.push_back(name);
  throw std::invalid_argument(fmt::format("--{} is {}; it can be {}", option, text, fmt::join(names, ", ")));
}

Major major_of(const WgmmaForm& form, const TileOptions& options) {
  const Major major = chosen<Major>("major", options.major, {{"k", Major::k}, {"mn", Major::mn}});
  if (major == Major::mn && !form.transposes())
    throw std::invalid_argument(fmt::format("--major mn: {} has K-major operands alone; only 16-bit types may be MN-major", form.opcode));
  return major;
}

/// The descriptor that the options describe; compact by default.
MatrixDescriptor described(const MatrixLines& matrix, const TileOptions& options) {
  const Swizzle swizzle =
      chosen<Swizzle>("swizzle", options.swizzle.empty() ? "128" : options.swizzle,
                      {{"none", Swizzle::none}, {"32", Swizzle::bytes_32}, {"64", Swizzle::bytes_64}, {"128", Swizzle::bytes_128}});
  MatrixDescriptor::Fields d = compact_descriptor(matrix, swizzle, options.start.value_or(0)).fields();
  d.leading = options.leading.value_or(d.leading);
  d.stride = options.stride.value_or(d.stride);
  d.base_offset = options.base_offset.value_or(d.base_offset);
  return MatrixDescriptor(d);
}

Tile tile_of(const WgmmaForm& form, const LayoutOptions& options) {
  const auto operand = find_operand_name(options.operand);
  if (operand != OperandName::a && operand != OperandName::b)
    throw std::invalid_argument(fmt::format("a descriptor names operand a or b of {}, not {}", form.opcode, options.operand));
  const Major major = major_of(form, options.tile);
  if (options.tile.descriptor) {
    const std::uint64_t bits = *options.tile.descriptor;
    return {form, *operand, major, bits, MatrixDescriptor::decode(bits)};
  }
  const MatrixDescriptor d = described(matrix_lines(form, *operand, major), options.tile);
  return {form, *operand, major, d.encode(), d};
}

// ---- Errors ---------------------------------------------------------------------------------------------------------------------------

/// "bits 14 and 47 belong to no field: the hardware ignores them"
void note_ignored_bits(const Tile& tile, std::vector<std::string>& notes) {
  const std::uint64_t rest = tile.bits ^ tile.descriptor.encode();
  std::vector<int> ignored;
  for (int bit = 0; bit < 64; ++bit)
    if (rest >> bit & 1) ignored.push_back(bit);
  if (ignored.size() == 1) notes.push_back(fmt::format("bit {} is set and belongs to no field: the hardware ignores it", ignored.front()));
  if (ignored.size() > 1)
    notes.push_back(fmt::format("bits {} are set and belong to no field: the hardware ignores them", fmt::join(ignored, ", ")));
}

/// A swizzle's pattern uses the number of 128-byte blocks of the absolute address, less the base offset.
void note_pattern(const Tile& tile, std::vector<std::string>& notes) {
  const MatrixDescriptor& d = tile.descriptor;
  if (d.swizzle() == Swizzle::none) {
    if (d.base_offset() != 0)
      notes.push_back(fmt::format("base offset {} (bits 49 to 51) does nothing without a swizzle", d.base_offset()));
    return;
  }
  const int repeat = static_cast<int>(d.line_bytes() / 16), begins = static_cast<int>(d.start() >> 7) % repeat;
  if (begins == d.base_offset() % repeat) return;
  notes.push_back(fmt::format(
      "base offset {} (bits 49 to 51): the pattern of a {}-byte swizzle repeats every {} bytes and does not begin with this matrix, whose "
      "start address {:#x} asks for base offset {}, or for a multiple of {}",
      d.base_offset(), d.line_bytes(), 8 * d.line_bytes(), d.start(), d.start() >> 7 & 7, 8 * d.line_bytes()));
}

/// Notes a field that this matrix does not use.
void note_unused(const Tile& tile, std::vector<std::string>& notes) {
  const MatrixDescriptor& d = tile.descriptor;
  const bool exchanged = tile.major == Major::mn && d.swizzle() == Swizzle::none;
  const bool lines_on = tile.lines().line_steps() != 0, bytes_on = tile.lines().byte_steps(d.swizzle()) != 0;
  if (!(exchanged ? lines_on : bytes_on))
    notes.push_back("the leading byte offset (bits 16 to 29) is not used: the matrix ends before it would count");
  if (!(exchanged ? bytes_on : lines_on))
    notes.push_back("the stride byte offset (bits 32 to 45) is not used: the matrix ends before it would count");
}

/// The number of the matrix's chunks of 16 bytes that overlap another one.
std::size_t shared_chunks(const Tile& tile, const MatrixDescriptor& d) {
  std::vector<std::uint32_t> addresses;
  for (std::uint32_t line = 0; line < tile.lines().lines; ++line)
    for (std::uint32_t byte = 0; byte < tile.lines().line_bytes; byte += 16) addresses.push_back(d.address(tile.major, line, byte));
  const std::size_t all = addresses.size();
  std::ranges::sort(addresses);
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  return all - addresses.size();
}

void note_overlaps(const Tile& tile, std::vector<std::string>& notes) {
  const MatrixDescriptor& d = tile.descriptor;
  const std::size_t shared = shared_chunks(tile, d);
  if (shared == 0) return;
  MatrixDescriptor::Fields exchanged = d.fields();
  std::swap(exchanged.leading, exchanged.stride);
  notes.push_back(fmt::format(
      "{} chunks of 16 bytes are read again as others: leading byte offset {} (bits 16 to 29), stride byte offset {} (bits 32 to 45){}",
      shared, d.leading(), d.stride(),
      shared_chunks(tile, MatrixDescriptor(exchanged)) == 0 ? "; exchanged, no bytes would be shared" : ""));
}

void note_end(const Tile& tile, std::vector<std::string>& notes) {
  constexpr std::uint32_t most = (1 + 227) * 1024;  // the system's part, and the maximum for a block of sm_90
  std::uint32_t end = 0;
  for (std::uint32_t line = 0; line < tile.lines().lines; ++line)
    for (std::uint32_t byte = 0; byte < tile.lines().line_bytes; byte += 16)
      end = std::max(end, tile.descriptor.address(tile.major, line, byte) + 16);
  if (end > most)
    notes.push_back(fmt::format("the matrix reaches to address {:#x}; shared memory of sm_90 ends at {:#x} at the latest", end, most));
}

std::vector<std::string> notes_of(const Tile& tile) {
  std::vector<std::string> notes;
  for (const auto note : {note_ignored_bits, note_pattern, note_unused, note_overlaps, note_end}) note(tile, notes);
  return notes;
}

// ---- Answers ------------------------------------------------------------------------------------------------------------------------

std::string swizzle_text(const MatrixDescriptor& d) {
  return d.swizzle() == Swizzle::none ? "none" : fmt::format("{} bytes", d.line_bytes());
}

std::string fields_text(const Tile& tile) {
  const MatrixDescriptor& d = tile.descriptor;
  Table table({"field", "bits", "value"});
  table.add({"start address", "0-13", fmt::format("{:#x}", d.start())});
  table.add({"leading byte offset", "16-29", std::to_string(d.leading())});
  table.add({"stride byte offset", "32-45", std::to_string(d.stride())});
  table.add({"base offset", "49-51", std::to_string(d.base_offset())});
  table.add({"swizzle", "62-63", swizzle_text(d)});
  std::string text = fmt::format("descriptor {:#018x}\n{}", tile.bits, table.text());
  for (const std::string& note : notes_of(tile)) text += "note: " + note + "\n";
  return text;
}

/// "0x1040", of a bit "0x1040.3".
std::string place_cell(const Tile& tile, int r, int c) {
  const MemoryPlace p = tile.place(r, c);
  return tile.element_bits() < 8 ? fmt::format("{:#x}.{}", p.address, p.bit) : fmt::format("{:#x}", p.address);
}

/// "row 1, column 2: bytes 0x1042 to 0x1043"
std::string sentence(const Tile& tile, int r, int c) {
  const MemoryPlace p = tile.place(r, c);
  const std::uint32_t last = p.address + static_cast<std::uint32_t>(tile.element_bits()) / 8 - 1;
  const std::string where = tile.element_bits() < 8    ? fmt::format("bit {} of byte {:#x}", p.bit, p.address)
                            : tile.element_bits() == 8 ? fmt::format("byte {:#x}", p.address)
                                                       : fmt::format("bytes {:#x} to {:#x}", p.address, last);
  return fmt::format("row {}, column {}: {}\n", r, c, where);
}

std::string element_table(const Tile& tile) {
  std::vector<std::string> header{""};
  for (int c = 0; c < tile.columns(); ++c) header.push_back(std::to_string(c));
  Table table(header, Table::Align::right);
  for (int r = 0; r < tile.rows(); ++r) {
    std::vector<std::string> cells{std::to_string(r)};
    for (int c = 0; c < tile.columns(); ++c) cells.push_back(place_cell(tile, r, c));
    table.add(std::move(cells));
  }
  return table.text();
}

Json element_json(const Tile& tile, int r, int c) {
  const MemoryPlace p = tile.place(r, c);
  return {{"row", r}, {"column", c}, {"address", p.address}, {"bit", p.bit}, {"element_bits", tile.element_bits()}};
}

Json all_json(const Tile& tile) {
  const MatrixDescriptor& d = tile.descriptor;
  Json elements = Json::array();
  for (int r = 0; r < tile.rows(); ++r)
    for (int c = 0; c < tile.columns(); ++c) elements.push_back(element_json(tile, r, c));
  return {{"opcode", tile.form.opcode},
          {"operand", name(tile.operand)},
          {"major", tile.major == Major::k ? "k" : "mn"},
          {"descriptor", fmt::format("{:#018x}", tile.bits)},
          {"start", d.start()},
          {"leading", d.leading()},
          {"stride", d.stride()},
          {"base_offset", d.base_offset()},
          {"swizzle", d.swizzle() == Swizzle::none ? 0 : static_cast<int>(d.line_bytes())},
          {"notes", notes_of(tile)},
          {"known", known_text(tile.form)},
          {"rows", tile.rows()},
          {"columns", tile.columns()},
          {"elements", std::move(elements)}};
}

/// "k 8-15" or "k 8": elements of an axis.
std::string elements_text(const char* axis, std::uint32_t first, std::uint32_t count) {
  return count == 1 ? fmt::format("{} {}", axis, first) : fmt::format("{} {}-{}", axis, first, first + count - 1);
}

/// The elements in each 16 bytes of shared memory.
std::string picture(const Tile& tile) {
  const bool k_major = tile.major == Major::k;
  const char* const other = tile.operand == OperandName::a ? "m" : "n";
  const auto elements = static_cast<std::uint32_t>(16 * 8 / tile.element_bits());
  std::vector<MemoryChunk> chunks;
  for (std::uint32_t line = 0; line < tile.lines().lines; ++line)
    for (std::uint32_t byte = 0; byte < tile.lines().line_bytes; byte += 16)
      chunks.push_back({.address = tile.descriptor.address(tile.major, line, byte),
                        .line = static_cast<int>(line),
                        .above = elements_text(k_major ? other : "k", line, 1),
                        .below = elements_text(k_major ? "k" : other, byte / 16 * elements, elements)});
  const MatrixDescriptor& d = tile.descriptor;
  return memory_svg(
      fmt::format("Operand {} of {} in shared memory", name(tile.operand), tile.form.opcode),
      fmt::format("{}-major, descriptor {:#018x}: start {:#x}, leading byte offset {}, stride byte offset {}, base offset {}, swizzle {}",
                  k_major ? "K" : "MN", tile.bits, d.start(), d.leading(), d.stride(), d.base_offset(), swizzle_text(d)),
      chunks);
}

int checked(const Tile& tile, const char* option, int value, int count) {
  if (value >= 0 && value < count) return value;
  throw std::invalid_argument(
      fmt::format("--{} must be 0 to {} for operand {} of {}; it is {}", option, count - 1, name(tile.operand), tile.form.opcode, value));
}

}  // namespace

std::string wgmma_memory(const WgmmaForm& form, const LayoutOptions& options) {
  const Tile tile = tile_of(form, options);
  if (options.lane || options.matrix)
    throw std::invalid_argument("shared memory has no lanes, registers or selectors: ask with --row and --column");
  if (options.row) {
    const int r = checked(tile, "row", *options.row, tile.rows()), c = checked(tile, "column", *options.column, tile.columns());
    return options.json() ? Json::array({element_json(tile, r, c)}).dump(2) + '\n' : sentence(tile, r, c);
  }
  if (options.by_address) return picture(tile);
  if (options.picture()) return grid_text(memory_grid(form, tile.operand, tile.major, tile.descriptor), options.format, options.colour);
  if (options.json()) return all_json(tile).dump(2) + '\n';
  std::string text =
      fmt::format("Operand {} of {}: {} rows and {} columns of {}-bit elements in shared memory, {}-major\n", name(tile.operand),
                  form.opcode, tile.rows(), tile.columns(), tile.element_bits(), tile.major == Major::k ? "K" : "MN");
  if (tile.operand == OperandName::a && form.sparse()) text += "Columns are those of the stored elements, half of A's.\n";
  text += fmt::format("Known: {}.\n", known_text(form));
  return text + fields_text(tile) +
         fmt::format("\nRow and column -> address of the first byte{}\n{}", tile.element_bits() < 8 ? ", bit" : "", element_table(tile));
}

}  // namespace warpmat
