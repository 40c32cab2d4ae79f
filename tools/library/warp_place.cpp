#include "tools/library/warp_place.h"

#include <fmt/format.h>
#include <warpmat/numeric/value.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>

#include "tools/library/split.h"
#include "tools/library/table.h"

namespace warpmat {
namespace {

constexpr std::size_t default_columns = 16;

std::optional<std::size_t> whole_number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// The dtype that holds every number of `format` exactly; without a format, the bits.
DType dtype_of(std::optional<Format> format, int bits) {
  if (!format) return bits <= 8 ? DType::uint8 : bits <= 16 ? DType::uint16 : bits <= 32 ? DType::uint32 : DType::uint64;
  switch (*format) {
    case Format::f64: return DType::float64;
    case Format::f16: return DType::float16;
    case Format::s32: return DType::int32;
    case Format::s8:
    case Format::s4: return DType::int8;
    case Format::u8:
    case Format::u4:
    case Format::b1: return DType::uint8;
    default: return DType::float32;
  }
}

/// Number `index` of an array as a double.
double number_at(const NpyArray& array, std::size_t index) {
  const auto as_double = [](auto value) { return static_cast<double>(value); };
  switch (array.dtype) {
    case DType::uint8: return as_double(array.as<std::uint8_t>()[index]);
    case DType::uint16: return as_double(array.as<std::uint16_t>()[index]);
    case DType::uint32: return as_double(array.as<std::uint32_t>()[index]);
    case DType::uint64: return as_double(array.as<std::uint64_t>()[index]);
    case DType::int8: return as_double(array.as<std::int8_t>()[index]);
    case DType::int16: return as_double(array.as<std::int16_t>()[index]);
    case DType::int32: return as_double(array.as<std::int32_t>()[index]);
    case DType::int64: return as_double(array.as<std::int64_t>()[index]);
    case DType::float16: return to_double(Format::f16, array.as<std::uint16_t>()[index]);
    case DType::float32: return as_double(array.as<float>()[index]);
    case DType::float64: return array.as<double>()[index];
  }
  return 0;
}

void store_bits(NpyArray& array, std::size_t index, std::uint64_t bits) {
  std::memcpy(array.bytes.data() + index * size_of(array.dtype), &bits, size_of(array.dtype));
}

/// The bits of a number as an element of `dtype`: numbers travel through the format that the dtype has.
std::uint64_t bits_for(DType dtype, double value) {
  switch (dtype) {
    case DType::float16: return from_double(Format::f16, value);
    case DType::float32: return from_double(Format::f32, value);
    case DType::float64: return from_double(Format::f64, value);
    case DType::int32: return from_double(Format::s32, value);
    case DType::int8: return from_double(Format::s8, value);
    default: return from_double(Format::u8, value);
  }
}

std::uint64_t low_bits(std::uint64_t value, int bits) {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

std::uint64_t random_element(std::mt19937_64& generator, std::optional<Format> format, int bits) {
  const std::uint64_t random = generator();
  if (!format || is_integer(row(*format))) return low_bits(random >> (64 - bits), bits);
  return from_double(*format, std::ldexp(static_cast<double>(random >> 11), -52) - 1);
}

}  // namespace

WarpPlace::WarpPlace(const Program& program, std::string_view text) : program_(program), text_(text) {
  const auto fail = [&](const std::string& message) { throw std::runtime_error(fmt::format("'{}': {}", text, message)); };
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() > 3) fail("a place is NAME[:FORMAT[:COLUMNS]]");
  if (parts.size() > 1) {
    const FormatRow* found = find_format(parts[1]);
    if (found == nullptr)
      fail(fmt::format("unknown format '{}': there are f64, f32, tf32, bf16, f16, e4m3, e5m2, s32, s8, u8 and others", parts[1]));
    format_ = found->format;
  }
  if (parts.size() > 2) {
    columns_ = whole_number(parts[2]).value_or(0);
    if (columns_ == 0) fail(fmt::format("'{}' is not a number of columns", parts[2]));
  }

  const std::string& place = parts[0];
  const std::size_t dot = place.find('.');
  if (dot != std::string::npos) {
    kind_ = Kind::operand;
    const auto statement = whole_number(std::string_view(place).substr(0, dot));
    const auto operand = find_operand_name(std::string_view(place).substr(dot + 1));
    const auto statements = program.matrix_statements();
    if (!statement || !operand)
      fail("a matrix operand is written 0.a: the number of a matrix instruction, counted from 0, and an operand's name");
    if (*statement >= statements.size()) fail(fmt::format("the program has {} matrix instructions, counted from 0", statements.size()));
    statement_ = *statement;
    const Form& form = statements[statement_]->matrix()->form();
    operand_ = form.find_operand(*operand);
    if (operand_ == nullptr || operand_->kind != OperandKind::fragment)
      fail(fmt::format("{} has no matrix operand {}", form.opcode, name(*operand)));
    if (!format_) format_ = operand_->format;
    if (!format_) fail(fmt::format("{} moves bits without a format: write {}:f16, for example", form.opcode, place));
    if (row(*format_).bits != operand_->fragment.payload_bits)
      fail(fmt::format("the operand's elements have {} bits; {} has {}", operand_->fragment.payload_bits, name(*format_),
                       row(*format_).bits));
    return;
  }
  variable_ = program.find_variable(place);
  if (variable_ != nullptr) {
    kind_ = Kind::variable;
    if (!format_)
      if (const FormatRow* found = find_format(variable_->type->name)) format_ = found->format;
    const int bits = element_bits();
    if (bits % 8 != 0 || variable_->bytes() * 8 % bits != 0)
      fail(fmt::format("elements of {} bits do not fill the variable's {} bytes", bits, variable_->bytes()));
    return;
  }
  kind_ = Kind::registers;
  for (const std::string& register_name : split(place, ',')) {
    const NamedRegister* found = program.find_register(register_name);
    if (found == nullptr) fail(fmt::format("the program has no register and no shared variable '{}'", register_name));
    if (!registers_.empty() && found->type->bits != registers_.front()->type->bits) fail("registers of one list must have the same width");
    registers_.push_back(found);
  }
  const int register_bits = std::max(32, registers_.front()->type->bits);
  if (format_ && (row(*format_).bits > register_bits || register_bits % row(*format_).bits != 0))
    fail(fmt::format("elements of {} bits do not fill a register of {}", row(*format_).bits, register_bits));
}

int WarpPlace::element_bits() const {
  if (format_) return row(*format_).bits;
  return kind_ == Kind::variable ? variable_->type->bits : std::max(32, registers_.front()->type->bits);
}

std::vector<std::size_t> WarpPlace::shape() const {
  switch (kind_) {
    case Kind::operand:
      return {static_cast<std::size_t>(matrix_rows(operand_->fragment)), static_cast<std::size_t>(matrix_columns(operand_->fragment))};
    case Kind::variable: return {static_cast<std::size_t>(variable_->bytes() * 8 / element_bits())};
    case Kind::registers: {
      const auto per_register = static_cast<std::size_t>(std::max(32, registers_.front()->type->bits) / element_bits());
      if (per_register == 1) return {registers_.size(), lanes};
      return {registers_.size(), lanes, per_register};
    }
  }
  return {};
}

std::size_t WarpPlace::count() const {
  std::size_t product = 1;
  for (const std::size_t extent : shape()) product *= extent;
  return product;
}

std::vector<std::uint64_t> WarpPlace::read(const Warp& warp) const {
  std::vector<std::uint64_t> elements;
  elements.reserve(count());
  const int bits = element_bits();
  if (kind_ == Kind::operand) {
    const Eigen::MatrixXd matrix = get_operand(warp, statement_, operand_->name, format_);
    for (Eigen::Index i = 0; i < matrix.rows(); ++i)
      for (Eigen::Index j = 0; j < matrix.cols(); ++j) elements.push_back(from_double(*format_, matrix(i, j)));
  } else if (kind_ == Kind::variable) {
    const auto bytes = warp.shared().bytes().subspan(static_cast<std::size_t>(variable_->address));
    for (std::size_t i = 0; i < count(); ++i) {
      std::uint64_t element = 0;
      std::memcpy(&element, bytes.data() + i * static_cast<std::size_t>(bits / 8), static_cast<std::size_t>(bits / 8));
      elements.push_back(element);
    }
  } else {
    for (const NamedRegister* r : registers_)
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        std::uint64_t word = warp.reg(r->name)[lane];
        if (r->type->bits == 64) word |= std::uint64_t{warp.reg(r->name, 1)[lane]} << 32;
        for (int shift = 0; shift < std::max(32, r->type->bits); shift += bits) elements.push_back(low_bits(word >> shift, bits));
      }
  }
  return elements;
}

void WarpPlace::write(Warp& warp, const std::vector<std::uint64_t>& elements) const {
  const int bits = element_bits();
  std::size_t next = 0;
  if (kind_ == Kind::operand) {
    const auto extents = shape();
    Eigen::MatrixXd matrix(static_cast<Eigen::Index>(extents[0]), static_cast<Eigen::Index>(extents[1]));
    for (Eigen::Index i = 0; i < matrix.rows(); ++i)
      for (Eigen::Index j = 0; j < matrix.cols(); ++j) matrix(i, j) = to_double(*format_, elements[next++]);
    set_operand(warp, statement_, operand_->name, matrix, format_);
  } else if (kind_ == Kind::variable) {
    auto bytes = warp.shared().bytes().subspan(static_cast<std::size_t>(variable_->address));
    const auto size = static_cast<std::size_t>(bits / 8);
    for (const std::uint64_t element : elements) std::memcpy(bytes.data() + size * next++, &element, size);
  } else {
    for (const NamedRegister* r : registers_)
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        std::uint64_t word = 0;
        for (int shift = 0; shift < std::max(32, r->type->bits); shift += bits) word |= elements[next++] << shift;
        word = low_bits(word, r->type->bits);
        warp.reg(r->name)[lane] = static_cast<std::uint32_t>(word);
        if (r->type->bits == 64) warp.reg(r->name, 1)[lane] = static_cast<std::uint32_t>(word >> 32);
      }
  }
}

std::vector<std::uint64_t> WarpPlace::elements_of(const std::string& source) const {
  std::vector<std::uint64_t> elements(count());
  const int bits = element_bits();
  if (source == "zeros") return elements;
  if (source == "iota") {
    for (std::size_t i = 0; i < elements.size(); ++i)
      elements[i] = format_ ? from_double(*format_, static_cast<double>(i)) : low_bits(i, bits);
    return elements;
  }
  if (source == "random" || source.starts_with("random:")) {
    const auto seed = source == "random" ? std::optional<std::size_t>(0) : whole_number(std::string_view(source).substr(7));
    if (!seed) throw std::runtime_error(fmt::format("'{}': a seed is a whole number: random:7", source));
    std::mt19937_64 generator(*seed);
    for (std::uint64_t& element : elements) element = random_element(generator, format_, bits);
    return elements;
  }
  if (!source.ends_with(".npy"))
    throw std::runtime_error(fmt::format("'{}' is no source: there are FILE.npy, iota, random, random:SEED and zeros", source));
  const NpyArray file = read_npy(source);
  std::size_t numbers = 1;
  for (const std::size_t extent : file.shape) numbers *= extent;
  const NpyHeader wanted{dtype_of(format_, bits), shape()};
  const bool same_bits = file.bytes.size() * 8 == elements.size() * static_cast<std::size_t>(bits);
  if (numbers != elements.size() || (!format_ && !same_bits))
    throw std::runtime_error(fmt::format("{} holds {}; {} needs {}", source, describe(file), text_, describe(wanted)));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (format_)
      elements[i] = from_double(*format_, number_at(file, i));
    else
      std::memcpy(&elements[i], file.bytes.data() + i * static_cast<std::size_t>(bits / 8), static_cast<std::size_t>(bits / 8));
  }
  return elements;
}

void WarpPlace::fill(Warp& warp, const std::string& source) const {
  write(warp, elements_of(source));
}

NpyArray WarpPlace::array(const Warp& warp) const {
  NpyArray array = NpyArray::zeros(dtype_of(format_, element_bits()), shape());
  const std::vector<std::uint64_t> elements = read(warp);
  for (std::size_t i = 0; i < elements.size(); ++i)
    store_bits(array, i, format_ ? bits_for(array.dtype, to_double(*format_, elements[i])) : elements[i]);
  return array;
}

std::string WarpPlace::show_element(std::uint64_t bits) const {
  if (!format_) return fmt::format("{:#0{}x}", bits, 2 + element_bits() / 4);
  const double value = to_double(*format_, bits);
  return *format_ == Format::f64 || is_integer(row(*format_)) ? fmt::format("{}", value)
                                                              : fmt::format("{}", static_cast<float>(value));  // the shortest that is exact
}

std::string WarpPlace::show_registers(const std::vector<std::uint64_t>& elements) const {
  std::vector<std::string> header{"lane"};
  for (const NamedRegister* r : registers_) header.push_back(r->name);
  Table table(header, Table::Align::right);
  const std::size_t per_register = elements.size() / (registers_.size() * lanes);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    std::vector<std::string> cells{std::to_string(lane)};
    for (std::size_t r = 0; r < registers_.size(); ++r) {
      std::string cell;
      for (std::size_t i = 0; i < per_register; ++i)
        cell += (i == 0 ? "" : " ") + show_element(elements[(r * lanes + lane) * per_register + i]);
      cells.push_back(cell);
    }
    table.add(cells);
  }
  return table.text();
}

std::string WarpPlace::show_grid(const std::vector<std::uint64_t>& elements) const {
  const std::size_t columns = columns_ != 0 ? columns_ : kind_ == Kind::operand ? shape()[1] : default_columns;
  std::vector<std::string> header{""};
  for (std::size_t j = 0; j < columns; ++j) header.push_back(std::to_string(j));
  Table table(header, Table::Align::right);
  for (std::size_t i = 0; i < elements.size(); i += columns) {
    std::vector<std::string> cells{std::to_string(i / columns)};
    for (std::size_t j = i; j < std::min(i + columns, elements.size()); ++j) cells.push_back(show_element(elements[j]));
    table.add(cells);
  }
  return table.text();
}

std::string WarpPlace::show(const Warp& warp) const {
  const std::vector<std::uint64_t> elements = read(warp);
  return text_ + "\n" + (kind_ == Kind::registers ? show_registers(elements) : show_grid(elements));
}

std::vector<Assignment> assignments(const Program& program, const std::vector<std::string>& texts, std::string_view option,
                                    std::string_view what) {
  std::vector<Assignment> result;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size())
      throw std::runtime_error(fmt::format("--{} takes PLACE={}, not '{}'", option, what, text));
    result.push_back({WarpPlace(program, text.substr(0, equals)), text.substr(equals + 1)});
  }
  return result;
}

}  // namespace warpmat
