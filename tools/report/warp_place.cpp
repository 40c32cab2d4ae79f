#include "tools/report/warp_place.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/files/standard_stream.h>
#include <warpmat/formats.h>
#include <warpmat/forms.h>
#include <warpmat/words/words.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "tools/report/element_source.h"

namespace warpmat {
namespace {

constexpr std::string_view sparse_a_name = "sparse-a";

/// `width` bits of `bytes` from bit `at` on; less than a byte must be within one byte.
std::uint64_t read_bits(std::span<const std::uint8_t> bytes, std::uint64_t at, int width) {
  std::uint64_t value = 0;
  for (int i = 0; i < width; i += 8) value |= std::uint64_t{bytes[at / 8 + static_cast<std::size_t>(i / 8)]} << i;
  return low_bits(value >> at % 8, width);
}

void write_bits(std::span<std::uint8_t> bytes, std::uint64_t at, int width, std::uint64_t value) {
  for (int i = 0; i < width; i += 8) {
    std::uint8_t& byte = bytes[at / 8 + static_cast<std::size_t>(i / 8)];
    const std::uint64_t mask = low_bits(0xff, width) << at % 8;
    byte = static_cast<std::uint8_t>((byte & ~mask) | (value >> i << at % 8 & mask));
  }
}

std::vector<std::size_t> without_ones(std::vector<std::size_t> shape) {
  std::erase(shape, 1u);
  return shape;
}

std::size_t product(const std::vector<std::size_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

/// A message about the place as a whole.
[[noreturn]] void refuse_place(const std::string& place, const std::string& message) {
  throw std::runtime_error(fmt::format("'{}': {}", place, message));
}

}  // namespace

PlaceName PlaceName::parse(std::string_view text) {
  WordReader words(text, "place", "write NAME[:FORMAT][:bits|:values][:COLUMNS]");
  PlaceName place{std::string(words.until(':')), {}, Reading::by_dtype, 0};
  enum class Part { type, reading, columns, nothing } next = Part::type;  // the parts that may follow
  while (!words.ended()) {
    const std::string_view part = words.until(':');
    if (const auto said = find_reading(part); said && next <= Part::reading) {
      place.reading = *said;
      next = Part::columns;
    } else if (number_of<std::size_t>(part) && next <= Part::columns) {
      place.columns = words.number<std::size_t>(part, 1, SIZE_MAX, "number of columns");
      next = Part::nothing;
    } else if (next == Part::type) {
      try {
        place.type = find_element_type(part);
      } catch (const std::runtime_error& e) {
        words.refuse(part, e.what());
      }
      next = Part::reading;
    } else {
      words.refuse(part, fmt::format("'{}' does not belong there", part));
    }
  }
  return place;
}

Layouts parse_layouts(const Program& program, const std::vector<std::string>& texts) {
  Layouts layouts;
  for (const std::string& text : texts) {
    WordReader words(text, "value of --layout", "write NAME=LAYOUT");
    const std::string name(words.before('='));
    if (program.find_variable(name) == nullptr) words.refuse(text, fmt::format("the program has no shared variable '{}'", name));
    layouts[name] = MemoryLayout::parse(words.rest());
  }
  return layouts;
}

namespace {

/// "tile, a0, a1, ...", as many as fit a line.
std::string all_names(const Program& program) {
  constexpr std::size_t most = 24;
  std::vector<std::string> names;
  for (const SharedVariable& variable : program.variables()) names.push_back(variable.name);
  for (const NamedRegister& r : program.registers()) names.push_back(r.name);
  if (names.empty()) return "none";
  const bool all = names.size() <= most;
  if (!all) names.resize(most);
  return fmt::format("{}{}", fmt::join(names, ", "), all ? "" : ", ...");
}

}  // namespace

WarpPlace::WarpPlace(const Program& program, std::string_view text, const Layouts& layouts) : text_(text), name_(PlaceName::parse(text)) {
  variable_ = program.find_variable(name_.name);
  if (variable_ != nullptr)
    resolve_variable(layouts);
  else if (name_.name.find('.') != std::string::npos && program.find_register(name_.name) == nullptr)
    resolve_operand(program);
  else
    resolve_registers(program);
}

void WarpPlace::resolve_operand(const Program& program) {
  kind_ = Kind::operand;
  std::string place = name_.name;
  if (place.ends_with(fmt::format(".{}", sparse_a_name))) {
    kind_ = Kind::sparse_a;
    place.replace(place.size() - sparse_a_name.size(), sparse_a_name.size(), "a");
  }
  try {
    const OperandPlace found = find_operand_place(program, place);
    statement_ = found.statement;
    form_ = &program.matrix_statements()[statement_]->matrix()->form();
    operand_ = form_->find_operand(found.operand);
    if (operand_ == nullptr || operand_->kind != OperandKind::fragment)
      throw std::invalid_argument(
          fmt::format("{} has no matrix operand {}; {}", form_->opcode, name(found.operand), statements_with(program, found.operand)));
  } catch (const std::invalid_argument& e) {
    refuse_place(text_, e.what());
  }
  if (kind_ == Kind::sparse_a && form_->sparsity == Sparsity::dense)
    refuse_place(text_, fmt::format("{} has no sparse A: that is for mma.sp", form_->opcode));
  const std::optional<Format> own = operand_->name == OperandName::e ? std::optional(Format::u4) : operand_->format;
  type_ = name_.type ? *name_.type : own ? ElementType::of(*own) : ElementType{std::nullopt, operand_->fragment.payload_bits()};
  if (name_.reading == Reading::values && !type_.format) refuse_place(text_, "bits have no values: name a format, such as f16");
  check_width(operand_->fragment.payload_bits());
}

void WarpPlace::check_width(int bits) const {
  if (type_.bits != bits)
    refuse_place(text_, fmt::format("the operand's elements have {} bits; {} has {}", bits, warpmat::name(type_), type_.bits));
}

void WarpPlace::resolve_variable(const Layouts& layouts) {
  kind_ = Kind::variable;
  const FormatRow* own = find_format(variable_->type->name);
  type_ = name_.type ? *name_.type : own != nullptr ? ElementType::of(own->format) : ElementType{std::nullopt, variable_->type->bits};
  const auto bytes = static_cast<std::size_t>(variable_->bytes());
  if (8 % type_.bits != 0 && (type_.bits % 8 != 0 || bytes * 8 % static_cast<std::size_t>(type_.bits) != 0))
    refuse_place(text_, fmt::format("elements of {} bits do not fill the variable's {} bytes", type_.bits, bytes));
  columns_ = name_.columns != 0 ? name_.columns : declared_columns();
  if (const auto found = layouts.find(name_.name); found != layouts.end()) {
    layout_ = found->second;
    if (columns_ == 0)
      refuse_place(text_, fmt::format("a matrix with a layout needs its number of columns: {}:{}:64", name_.name, warpmat::name(type_)));
  }
  const auto last_byte_of_row = [&](std::size_t row) {
    std::uint64_t last = 0;
    for (std::size_t j = 0; j < columns_; ++j)
      last = std::max(last, layout_.bit(static_cast<int>(row), static_cast<int>(j), static_cast<int>(columns_), type_.bits) / 8);
    return last;
  };
  const std::size_t max_rows = columns_ == 0 ? 0 : bytes * 8 / (columns_ * static_cast<std::size_t>(type_.bits));
  while (rows_ < max_rows && last_byte_of_row(rows_) < bytes) ++rows_;
  if (columns_ != 0 && rows_ == 0)
    refuse_place(text_, fmt::format("not one row of {} elements fits into the variable's {} bytes", columns_, bytes));
}

/// Elements of a row if the text declares rows, tile[64][32]; 0 if it does not, or if they are not a whole number.
std::size_t WarpPlace::declared_columns() const {
  const auto& extents = variable_->extents;
  if (extents.size() < 2) return 0;
  const auto bits = static_cast<std::size_t>(variable_->count / extents.front() * variable_->type->bits);
  return bits % static_cast<std::size_t>(type_.bits) == 0 ? bits / static_cast<std::size_t>(type_.bits) : 0;
}

void WarpPlace::resolve_registers(const Program& program) {
  for (const std::string_view register_name : split(name_.name, ',')) {
    const NamedRegister* found = program.find_register(register_name);
    if (found == nullptr)
      refuse_place(text_,
                   fmt::format("the program has no register and no shared variable '{}'; it has {}", register_name, all_names(program)));
    if (!registers_.empty() && found->type->bits != registers_.front()->type->bits)
      refuse_place(text_, "registers of one list must have the same width");
    registers_.push_back(found);
  }
  type_ = name_.type ? *name_.type : ElementType{std::nullopt, register_bits()};
  if (type_.bits > register_bits() || register_bits() % type_.bits != 0)
    refuse_place(text_, fmt::format("elements of {} bits do not fill a register of {}", type_.bits, register_bits()));
}

int WarpPlace::register_bits() const {
  return std::max(32, registers_.front()->type->bits);
}

std::vector<std::size_t> WarpPlace::shape() const {
  switch (kind_) {
    case Kind::sparse_a: return {static_cast<std::size_t>(form_->shape.m), static_cast<std::size_t>(form_->shape.k)};
    case Kind::operand: {
      const Fragment& f = operand_->fragment;
      const bool one_matrix =
          operand_->name == OperandName::e || operand_->name == OperandName::scale_a || operand_->name == OperandName::scale_b;
      return {static_cast<std::size_t>(one_matrix ? f.rows() : matrix_rows(f)), static_cast<std::size_t>(f.columns())};
    }
    case Kind::variable:
      if (columns_ != 0) return {rows_, columns_};
      return {static_cast<std::size_t>(variable_->bytes() * 8 / type_.bits)};
    case Kind::registers: {
      const auto per_register = static_cast<std::size_t>(register_bits() / type_.bits);
      if (per_register == 1) return {registers_.size(), warp_size};
      return {registers_.size(), warp_size, per_register};
    }
  }
  return {};
}

std::size_t WarpPlace::count() const {
  return product(shape());
}

Element WarpPlace::element(const Warp& warp, std::size_t index) const {
  const Fragment& f = operand_->fragment;
  const auto columns = static_cast<std::size_t>(f.columns());
  const int row = static_cast<int>(index / columns), column = static_cast<int>(index % columns);
  if (const auto selected = selected_matrix(warp, statement_, operand_->name)) return {row, column, *selected};
  return {row % f.rows(), column, row / f.rows()};
}

std::uint64_t WarpPlace::bit_in_variable(std::size_t index) const {
  if (columns_ == 0) return index * static_cast<std::size_t>(type_.bits);
  return layout_.bit(static_cast<int>(index / columns_), static_cast<int>(index % columns_), static_cast<int>(columns_), type_.bits);
}

/// The registers that filling the place writes.
std::vector<int> WarpPlace::slots(const Program& program) const {
  std::vector<int> slots;
  for (const NamedRegister* r : registers_) slots.push_back(r->slot);
  if (operand_ == nullptr) return slots;
  const Statement& statement = *program.matrix_statements()[statement_];
  const auto add = [&](const Operand& operand) {
    for (const Item& item : statement.operands()[static_cast<std::size_t>(&operand - form_->operands.data())].items)
      if (item.kind == Item::Kind::named) slots.push_back(item.slot);
  };
  add(*operand_);
  if (kind_ == Kind::sparse_a) add(form_->operand(OperandName::e));
  return slots;
}

std::vector<std::uint64_t> WarpPlace::read(const Warp& warp) const {
  std::vector<std::uint64_t> elements;
  elements.reserve(count());
  const Statement* const statement = operand_ == nullptr ? nullptr : warp.program().matrix_statements()[statement_];
  if (kind_ == Kind::sparse_a) {
    const numbers::Matrix a = numbers::get_sparse_a(warp, statement_);
    for (int i = 0; i < a.rows(); ++i)
      for (int j = 0; j < a.columns(); ++j) elements.push_back(from_double(*operand_->format, a(i, j)));
  } else if (kind_ == Kind::operand) {
    const auto words = warp.words(statement->operands()[static_cast<std::size_t>(operand_ - form_->operands.data())]);
    for (std::size_t i = 0; i < count(); ++i) elements.push_back(read_element(operand_->fragment, words, element(warp, i)));
  } else if (kind_ == Kind::variable) {
    const auto bytes = warp.shared().bytes().subspan(static_cast<std::size_t>(variable_->address));
    for (std::size_t i = 0; i < count(); ++i) elements.push_back(read_bits(bytes, bit_in_variable(i), type_.bits));
  } else {
    for (const NamedRegister* r : registers_)
      for (std::size_t lane = 0; lane < warp_size; ++lane) {
        std::uint64_t word = warp.reg(r->name)[lane];
        if (r->type->bits == 64) word |= std::uint64_t{warp.reg(r->name, 1)[lane]} << 32;
        for (int shift = 0; shift < register_bits(); shift += type_.bits) elements.push_back(low_bits(word >> shift, type_.bits));
      }
  }
  return elements;
}

void WarpPlace::write_operand(Warp& warp, const std::vector<std::uint64_t>& elements) const {
  if (kind_ == Kind::sparse_a) {
    numbers::Matrix a(form_->shape.m, form_->shape.k);
    for (std::size_t i = 0; i < elements.size(); ++i)
      a(static_cast<int>(i) / form_->shape.k, static_cast<int>(i) % form_->shape.k) = to_double(*operand_->format, elements[i]);
    return numbers::set_sparse_a(warp, statement_, a);
  }
  const OperandText& text =
      warp.program().matrix_statements()[statement_]->operands()[static_cast<std::size_t>(operand_ - form_->operands.data())];
  if (std::ranges::any_of(text.items, [](const Item& item) { return item.kind != Item::Kind::named; }))
    refuse_place(text_, "the operand is not made of registers");
  const auto words = warp.words(text);
  for (std::size_t i = 0; i < elements.size(); ++i) write_element(operand_->fragment, words, element(warp, i), elements[i]);
}

void WarpPlace::write(Warp& warp, const std::vector<std::uint64_t>& elements) const {
  if (operand_ != nullptr) return write_operand(warp, elements);
  if (kind_ == Kind::variable) {
    const auto bytes = warp.shared().bytes().subspan(static_cast<std::size_t>(variable_->address));
    for (std::size_t i = 0; i < elements.size(); ++i) write_bits(bytes, bit_in_variable(i), type_.bits, elements[i]);
    if (columns_ != 0) warp.describe_variable(variable_->name, {static_cast<int>(rows_), static_cast<int>(columns_), type_.bits, layout_});
    return;
  }
  std::size_t next = 0;
  for (const NamedRegister* r : registers_)
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      std::uint64_t word = 0;
      for (int shift = 0; shift < register_bits(); shift += type_.bits) word |= elements[next++] << shift;
      word = low_bits(word, r->type->bits);
      warp.reg(r->name)[lane] = static_cast<std::uint32_t>(word);
      if (r->type->bits == 64) warp.reg(r->name, 1)[lane] = static_cast<std::uint32_t>(word >> 32);
    }
}

std::vector<std::uint64_t> WarpPlace::elements_of(const NpyArray& array, const std::string& file) const {
  const auto wanted = shape();
  const bool flat = array.shape.size() == 1 && wanted.size() == 1;
  const bool any_shape = kind_ == Kind::variable && columns_ == 0;
  const bool of_matrices =
      operand_ != nullptr && array.shape.size() == 3 && array.shape[0] * array.shape[1] == wanted[0] && array.shape[2] == wanted[1];
  const bool fits =
      any_shape || flat || of_matrices ? product(array.shape) == product(wanted) : without_ones(array.shape) == without_ones(wanted);
  if (!fits) {
    const bool turned = wanted.size() == 2 && array.shape == std::vector{wanted[1], wanted[0]};
    throw std::runtime_error(fmt::format("{} holds {}; {} needs [{}]{}", file, describe(array), text_, fmt::join(wanted, "]["),
                                         turned ? ": it is transposed" : ""));
  }
  std::vector<std::uint64_t> elements(product(wanted));
  try {
    const ElementReader reader(array.dtype, type_, name_.reading,
                               name_.type ? fmt::format("{}:{}", name_.name, warpmat::name(*name_.type)) : name_.name);
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = reader.bits(array.bytes, i);
  } catch (const std::runtime_error& e) {
    throw std::runtime_error(fmt::format("{}: {}", file, e.what()));
  }
  return elements;
}

bool WarpPlace::is_dense_a(const NpyHeader& header) const {
  return kind_ == Kind::operand && operand_->name == OperandName::a && form_->sparsity != Sparsity::dense &&
         header.shape == as_sparse_a().shape();
}

WarpPlace WarpPlace::as_sparse_a() const {
  WarpPlace dense = *this;
  dense.kind_ = Kind::sparse_a;
  return dense;
}

std::vector<int> WarpPlace::fill_from(Warp& warp, const NpyArray& array, const std::string& file) const {
  if (is_dense_a(array)) {
    const WarpPlace dense = as_sparse_a();
    dense.write(warp, dense.elements_of(array, file));
    return dense.slots(warp.program());
  }
  write(warp, elements_of(array, file));
  if (kind_ == Kind::variable && columns_ == 0 && array.shape.size() == 2)
    warp.describe_variable(variable_->name, {static_cast<int>(array.shape[0]), static_cast<int>(array.shape[1]), type_.bits, {}});
  return slots(warp.program());
}

std::vector<int> WarpPlace::fill(Warp& warp, const std::string& source) const {
  std::optional<std::vector<std::uint64_t>> generated;
  try {
    generated = generated_elements(source, type_, count());
  } catch (const std::runtime_error& e) {
    refuse_place(text_, e.what());
  }
  if (generated) {
    write(warp, *generated);
    return slots(warp.program());
  }
  if (source != standard_stream && !source.ends_with(".npy"))
    throw std::runtime_error(
        fmt::format("'{}' is no source: there are FILE.npy, - for standard input, iota, iota-bits, random, random:SEED and zeros", source));
  return fill_from(warp, read_npy(source), source == standard_stream ? "standard input" : source);
}

NpyArray WarpPlace::array(const Warp& warp) const {
  NpyArray array = NpyArray::zeros(written_dtype(type_, name_.reading), shape());
  const std::vector<std::uint64_t> elements = read(warp);
  for (std::size_t i = 0; i < elements.size(); ++i) write_element(array.bytes, i, elements[i], type_, name_.reading);
  return array;
}

std::vector<Assignment> assignments(const Program& program, const std::vector<std::string>& texts, std::string_view option,
                                    std::string_view what, const Layouts& layouts) {
  std::vector<Assignment> result;
  for (const std::string& text : texts) {
    const std::string right = fmt::format("write PLACE={}", what), of_option = fmt::format("value of --{}", option);
    WordReader words(text, of_option, right);
    const std::string_view place = words.before('='), rest = words.rest();
    if (rest.empty()) words.refuse(rest, "nothing follows");
    result.push_back({WarpPlace(program, place, layouts), std::string(rest)});
  }
  return result;
}

}  // namespace warpmat
