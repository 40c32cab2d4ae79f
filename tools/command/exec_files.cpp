#include "exec_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/formats.h>
#include <warpmat/matrices.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "tools/report/register_array.h"

namespace warpmat {
namespace {

FileRole memory_role(bool written) {
  return {written ? memory_out_option : memory_option, written, "shared memory", DType::uint8, {{"bytes", std::nullopt}}, nullptr};
}

FileRole role_of(const Operand& operand) {
  const Dimension all_lanes{"32", warp_size};
  if (operand.kind == OperandKind::address)
    return {std::string(name(operand.name)), false, "byte address in shared memory for each lane", DType::uint32, {all_lanes}, &operand};
  return {std::string(name(operand.name)),
          operand.written,
          "registers",
          register_dtype(operand.fragment.register_bits()),
          {{"registers", static_cast<std::size_t>(operand.registers())}, all_lanes},
          &operand};
}

bool addresses_memory(const Form& form) {
  return std::ranges::any_of(form.operands, [](const Operand& o) { return o.kind == OperandKind::address; });
}

/// An instruction that addresses memory and writes no register writes memory.
bool stores(const Form& form) {
  return addresses_memory(form) && std::ranges::none_of(form.operands, [](const Operand& o) { return o.written; });
}

bool fits(const NpyHeader& header, const FileRole& file) {
  if (header.dtype != file.dtype || header.shape.size() != file.dimensions.size() + 1) return false;
  for (std::size_t i = 0; i < file.dimensions.size(); ++i)
    if (file.dimensions[i].extent.value_or(header.shape[i + 1]) != header.shape[i + 1]) return false;
  return true;
}

bool fits(const NpyHeader& header, const MatrixSize& size) {
  return header.shape.size() == 3 && header.shape[1] == size.rows && header.shape[2] == size.columns;
}

/// Whether an operand's fragment holds several matrices, one of which the selector or the ids choose.
bool chooses_one(const Operand& operand) {
  return operand.name == OperandName::e || operand.name == OperandName::scale_a || operand.name == OperandName::scale_b;
}

std::size_t elements_of(const Operand& operand) {
  const Fragment& f = operand.fragment;
  return static_cast<std::size_t>(f.columns()) * static_cast<std::size_t>(chooses_one(operand) ? f.rows() : matrix_rows(f));
}

}  // namespace

Element element_at(const Operand& operand, std::size_t index, int selected) {
  const Fragment& f = operand.fragment;
  const int row = static_cast<int>(index) / f.columns(), column = static_cast<int>(index) % f.columns();
  if (chooses_one(operand)) return {row, column, selected};
  return {row % f.rows(), column, row / f.rows()};
}

std::vector<FileRole> file_roles(const Form& form) {
  std::vector<FileRole> roles;
  for (const Operand& operand : form.operands)
    if (operand.kind == OperandKind::fragment || operand.kind == OperandKind::address) roles.push_back(role_of(operand));
  if (addresses_memory(form)) roles.push_back(memory_role(false));
  if (stores(form)) roles.push_back(memory_role(true));
  return roles;
}

std::string layout_text(const FileRole& file, bool extents) {
  std::string text = fmt::format("{} [cases]", name(file.dtype));
  for (const Dimension& d : file.dimensions) text += extents && d.extent ? fmt::format("[{}]", *d.extent) : fmt::format("[{}]", d.name);
  return text;
}

std::optional<MatrixSize> matrix_size(const FileRole& file) {
  if (file.operand == nullptr || file.operand->kind != OperandKind::fragment) return std::nullopt;
  return matrix_size(*file.operand);
}

MatrixSize matrix_size(const Operand& operand) {
  const auto columns = static_cast<std::size_t>(operand.fragment.columns());
  return {elements_of(operand) / columns, columns};
}

ElementType element_type(const Operand& operand) {
  if (operand.name == OperandName::e) return ElementType::of(Format::u4);
  return operand.format ? ElementType::of(*operand.format) : ElementType{std::nullopt, operand.fragment.payload_bits()};
}

FileArgument FileArgument::parse(const std::string& text) {
  if (text == "zeros") return {"", As::by_shape, true};
  constexpr std::pair<std::string_view, As> endings[] = {{":registers", As::registers}, {":values", As::values}, {":bits", As::bits}};
  for (const auto& [ending, as] : endings)
    if (text.ends_with(ending)) return {text.substr(0, text.size() - ending.size()), as, false};
  return {text, As::by_shape, false};
}

Input::Input(const FileRole& role, const FileArgument& argument) : argument_(argument), role_(role), file_(argument.path) {
  choose();
}

Input::Input(const FileRole& role, const FileArgument& argument, MatrixSize only_matrix)
    : argument_(argument), role_(role), size_(only_matrix), file_(argument.path) {
  if (!fits(header(), size_))
    throw std::runtime_error(fmt::format("{}: --{} must be a matrix [cases][{}][{}]; the file holds {}", path(), role_.option, size_.rows,
                                         size_.columns, describe(header())));
  const Reading said = argument.as == FileArgument::As::values ? Reading::values
                       : argument.as == FileArgument::As::bits ? Reading::bits
                                                               : Reading::by_dtype;
  reader_.emplace(header().dtype, element_type(*role_.operand), said, path());
}

std::unique_ptr<Input> Input::sparse_a(const Form& form, const FileArgument& argument) {
  FileRole role = role_of(form.operand(OperandName::a));
  role.option = sparse_a_option;
  return std::unique_ptr<Input>(
      new Input(role, argument, MatrixSize{static_cast<std::size_t>(form.shape.m), static_cast<std::size_t>(form.shape.k)}));
}

/// Decides between registers and a matrix: by the file's shape, or by the argument if both fit.
void Input::choose() {
  using As = FileArgument::As;
  const auto size = matrix_size(role_);
  const bool registers = fits(header(), role_), matrix = size && fits(header(), *size);
  if (registers && matrix && argument_.as == As::by_shape)
    throw std::runtime_error(fmt::format("{}: {} could be registers or a matrix: write {}:registers, or {}:bits or :values", path(),
                                         describe(header()), path(), path()));
  const bool as_registers = argument_.as == As::registers || (argument_.as == As::by_shape && registers);
  if (as_registers ? registers : matrix) {
    if (as_registers) return;
    size_ = *size;
    const Reading said = argument_.as == As::values ? Reading::values : argument_.as == As::bits ? Reading::bits : Reading::by_dtype;
    const Operand& operand = *role_.operand;
    for (int i = 0; i < (chooses_one(operand) ? operand.fragment.matrices() : 1); ++i)
      tables_.emplace_back(operand.fragment, chooses_one(operand) ? i : -1);
    try {
      reader_.emplace(header().dtype, element_type(operand), said, path());
    } catch (const std::runtime_error& e) {
      throw std::runtime_error(fmt::format("{}: --{}: {}", path(), role_.option, e.what()));
    }
    return;
  }
  const std::string or_matrix =
      size ? fmt::format(", or a matrix [cases][{}][{}] of {}", size->rows, size->columns, name(element_type(*role_.operand))) : "";
  throw std::runtime_error(
      fmt::format("{}: --{} must be {}{}; the file holds {}", path(), role_.option, layout_text(role_), or_matrix, describe(header())));
}

std::size_t Input::case_bytes() const {
  std::size_t elements = 1;
  for (std::size_t i = 1; i < header().shape.size(); ++i) elements *= header().shape[i];
  return elements * size_of(header().dtype);
}

void Input::scatter(std::span<const std::byte> bytes, std::uint32_t* words, int selected) const {
  std::vector<std::byte> scratch;
  const std::span<const std::byte> codes = reader_->codes(bytes, scratch);
  const ElementTable& table = tables_[chooses_one(*role_.operand) ? static_cast<std::size_t>(selected) : 0];
  table.scatter(table.whole(reinterpret_cast<const std::uint8_t*>(codes.data()), codes.size() / (size_.rows * size_.columns)), words);
}

void Input::compress(const Form& form, std::span<const std::byte> bytes, RegisterList a, RegisterList e, int selector) const {
  const Format format = *role_.operand->format;
  numbers::Matrix dense(form.shape.m, form.shape.k);
  for (std::size_t i = 0; i < size_.rows * size_.columns; ++i)
    dense(static_cast<int>(i / size_.columns), static_cast<int>(i % size_.columns)) = to_double(format, reader_->bits(bytes, i));
  const numbers::SparseMatrix sparse = numbers::compress(form, dense);
  numbers::scatter(role_.operand->fragment, format, sparse.stored, a);
  numbers::scatter_one(form.operand(OperandName::e).fragment, selector, Format::u4, sparse.metadata, e);
}

MatrixOutput::MatrixOutput(const Operand& operand, Reading reading)
    : type_(element_type(operand)), reading_(reading), table_(operand.fragment) {}

void MatrixOutput::gather(const std::uint32_t* words, std::span<std::byte> bytes) const {
  if (holds_codes(type_, reading_))
    return table_.gather(words, table_.whole(reinterpret_cast<std::uint8_t*>(bytes.data()), size_of(dtype())));
  const std::size_t code_bytes = size_of(written_dtype(type_, Reading::bits)), count = bytes.size() / size_of(dtype());
  std::vector<std::uint8_t> codes(count * code_bytes);
  table_.gather(words, table_.whole(codes.data(), code_bytes));
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t code = 0;
    std::memcpy(&code, codes.data() + i * code_bytes, code_bytes);
    write_element(bytes, i, code, type_, reading_);
  }
}

}  // namespace warpmat
