#include <warpmat/provenance/gemm.h>

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <warpmat/forms.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/stored_buffer.h>
#include <warpmat/provenance/pointers.h>
#include <warpmat/ptx/text/readable_name.h>

namespace warpmat::provenance {
namespace {

/// A parameter with an address in a buffer.
struct Pointer {
  std::string name;
  std::uint64_t address = 0;
  DeviceMemory::Buffer buffer;
};

std::vector<Pointer> pointers_of(const DeviceMemory& memory, const code::Program& program, const std::vector<Argument>& arguments) {
  std::vector<Pointer> all;
  for (std::size_t i = 0; i < std::min(arguments.size(), program.parameters.size()); ++i)
    if (const auto address = pointer_of(arguments[i], memory))
      all.push_back({readable_name(program.parameters[i].name), *address, *memory.find(*address)});
  return all;
}

/// What a matrix may be called: "'0' or 'k_param_0' (buffer 'x' of 4000 bytes), 'y' of 64 bytes".
std::string names_text(const DeviceMemory& memory, const std::vector<Pointer>& pointers) {
  constexpr std::size_t most = 16;
  std::vector<std::string> texts;
  for (const Pointer& p : pointers)
    texts.push_back(
        fmt::format("'{}' or '{}' (buffer '{}' of {} bytes)", pointer_name(texts.size()), p.name, p.buffer.name, p.buffer.bytes));
  for (const StoredBuffer& buffer : Internals::buffers(memory)) {
    if (texts.size() == most) break;
    const bool is_told = std::ranges::find(pointers, buffer.address, [](const Pointer& p) { return p.buffer.address; }) != pointers.end();
    if (!is_told && !buffer.freed && buffer.name != nullptr) texts.push_back(fmt::format("'{}' of {} bytes", *buffer.name, buffer.bytes));
  }
  return texts.empty() ? "the kernel has no buffers" : fmt::format("there are {}", fmt::join(texts, ", "));
}

/// The buffer or the parameter of that name, or the parameter with that number among those that are pointers. Its name is that by which
/// reports call it.
std::optional<Pointer> named(std::string_view name, const DeviceMemory& memory, const std::vector<Pointer>& pointers) {
  if (const auto buffer = memory.find_name(name)) return Pointer{std::string(name), buffer->address, *buffer};
  if (const auto parameter = std::ranges::find(pointers, name, &Pointer::name); parameter != pointers.end()) return *parameter;
  const auto number = pointer_number(name);
  if (!number || *number >= pointers.size()) return std::nullopt;
  return Pointer{pointer_name(*number), pointers[*number].address, pointers[*number].buffer};
}

/// Sets the matrix's address: from that of a buffer, of a parameter, or of the parameter with that number among those that are pointers.
DeviceMemory::Buffer buffer_of(GemmMatrix& matrix, const DeviceMemory& memory, const std::vector<Pointer>& pointers) {
  const auto found = named(matrix.name, memory, pointers);
  if (!found || (matrix.offset != 0 && matrix.offset >= found->buffer.end() - found->address))
    throw std::invalid_argument(fmt::format("there is no buffer '{}', nor a pointer parameter of that name or number{}; {}", matrix.name,
                                            matrix.offset == 0 ? "" : fmt::format(", of more than {} bytes", matrix.offset),
                                            names_text(memory, pointers)));
  matrix.name = matrix.offset == 0 ? found->name : fmt::format("{}+{}", found->name, matrix.offset);
  matrix.address = found->address + matrix.offset;
  return found->buffer;
}

/// The width of elements with which the matrix fills its buffer; 0 if there is none.
int width_by_size(const GemmMatrix& matrix, std::uint64_t bits) {
  const auto whole = static_cast<std::uint64_t>(matrix.stored_rows() * matrix.pitch);
  const auto least = static_cast<std::uint64_t>((matrix.stored_rows() - 1) * matrix.pitch + matrix.stored_columns());
  const auto found = std::ranges::find_if(element_widths, [&](int width) {
    return bits == static_cast<std::uint64_t>(width) * whole || bits == static_cast<std::uint64_t>(width) * least;
  });
  return found == element_widths.end() ? 0 : *found;
}

void place_matrix(GemmMatrix& matrix, const DeviceMemory& memory, const std::vector<Pointer>& pointers) {
  const DeviceMemory::Buffer buffer = buffer_of(matrix, memory, pointers);
  if (matrix.pitch == 0) matrix.pitch = matrix.stored_columns();
  if (matrix.pitch < matrix.stored_columns())
    throw std::invalid_argument(
        fmt::format("'{}' has {} elements in a row, and its rows lie {} apart", matrix.name, matrix.stored_columns(), matrix.pitch));
  const std::uint64_t bytes = buffer.end() - matrix.address;
  if (matrix.bits == 0) matrix.bits = width_by_size(matrix, bytes * 8);
  if (matrix.bits == 0)
    throw std::invalid_argument(fmt::format("'{}' has {} bytes: no {} by {} matrix of elements of {} bits", matrix.name, bytes,
                                            matrix.stored_rows(), matrix.pitch, fmt::join(element_widths, ", ")));
  if (matrix.end() > buffer.end())
    throw std::invalid_argument(fmt::format("'{}' has {} bytes, and {} rows of elements of {} bits {} apart need {}", matrix.name, bytes,
                                            matrix.stored_rows(), matrix.bits, matrix.pitch, matrix.end() - matrix.address));
}

void place_companion(CompanionMatrix& companion, const Gemm& gemm, const code::Program& program, const DeviceMemory& memory,
                     const std::vector<Pointer>& pointers) {
  companion.depth = gemm.k;
  if (!companion.told()) return;
  GemmMatrix& matrix = companion.matrix;
  const int block = block_of(companion.kind, program);
  const bool scales = companion.kind == CompanionMatrix::Kind::scale;
  if (block == 0)
    throw std::invalid_argument(
        fmt::format("the product has {}={}, and the kernel has no {}", companion.key, matrix.name, scales ? "block-scaled mma" : "mma.sp"));
  const DeviceMemory::Buffer buffer = buffer_of(matrix, memory, pointers);
  matrix.rows = companion.of_b ? gemm.b.columns : gemm.a.rows;
  matrix.columns = (gemm.k + block - 1) / block;
  matrix.pitch = matrix.stored_columns();
  matrix.bits = scales ? 8 : 4;
  if (matrix.end() > buffer.end())
    throw std::invalid_argument(fmt::format("'{}' has {} bytes, and {} by {} {} of {} bits each are {}", matrix.name,
                                            buffer.end() - matrix.address, matrix.stored_rows(), matrix.stored_columns(),
                                            scales ? "scale factors" : "codes of metadata", matrix.bits, matrix.end() - matrix.address));
}

}  // namespace

int block_of(CompanionMatrix::Kind kind, const code::Program& program) {
  const auto of = [&](const Form& form) {
    if (kind == CompanionMatrix::Kind::metadata) return form.sparsity == Sparsity::dense ? 0 : metadata_group(form);
    return form.scale_vector == 0 ? 0 : form.shape.k / form.scale_vector;
  };
  int block = 0;
  program.for_each<code::Matrix>([&](const code::Matrix& matrix) { block = std::max(block, of(matrix.instruction.form())); });
  program.for_each<code::WarpgroupProduct>(
      [&](const code::WarpgroupProduct& product) { block = std::max(block, of(*product.instruction.form().tile)); });
  return block;
}

std::optional<std::pair<int, int>> GemmMatrix::place(std::uint64_t bit) const {
  if (bits == 0 || bit < address * 8 || bit >= end() * 8) return std::nullopt;
  const std::uint64_t from_start = bit - address * 8,
                      number = bits == 6 ? from_start / 6 : from_start >> std::countr_zero(static_cast<unsigned>(bits));
  std::int64_t outer, inner;
  if (number >> 32 == 0) {  // the common case: a division of 32 bits takes a third of the time
    outer = static_cast<std::int64_t>(static_cast<std::uint32_t>(number) / static_cast<std::uint32_t>(pitch));
    inner = static_cast<std::int64_t>(static_cast<std::uint32_t>(number) % static_cast<std::uint32_t>(pitch));
  } else {
    outer = static_cast<std::int64_t>(number / static_cast<std::uint64_t>(pitch));
    inner = static_cast<std::int64_t>(number % static_cast<std::uint64_t>(pitch));
  }
  if (inner >= stored_columns()) return std::nullopt;
  return transposed ? std::pair(static_cast<int>(inner), static_cast<int>(outer))
                    : std::pair(static_cast<int>(outer), static_cast<int>(inner));
}

std::uint64_t GemmMatrix::bit_of(std::int64_t row, std::int64_t column) const {
  const std::int64_t number = transposed ? column * pitch + row : row * pitch + column;
  return address * 8 + static_cast<std::uint64_t>(number * bits);
}

std::string GemmMatrix::element(std::int64_t row, std::int64_t column) const {
  if (sizes.empty()) return fmt::format("{}[{},{}]", name, row, column);
  std::int64_t number = transposed ? column * rows + row : row * columns + column;
  std::string indices;
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
    indices = fmt::format("{}{}{}", number % *size, indices.empty() ? "" : ",", indices);
    number /= *size;
  }
  return fmt::format("{}[{}]", name, indices);
}

namespace {

constexpr std::int64_t most_size = 1 << 28;

/// The elements of sizes; at most one more than a matrix may have.
std::int64_t count_of(std::initializer_list<std::int64_t> sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count = std::min(count * size, most_size + 1);
  return count;
}

/// What is told, still to be placed.
Gemm gemm_of(const MatrixProduct& told) {
  Gemm gemm{
      .c{told.c, told.m, told.n}, .a{told.a, told.m, told.k}, .b{told.b, told.k, told.n}, .k = told.k, .convolution = told.convolution};
  if (const auto& conv = told.convolution) {  // tensors as matrices, the filters transposed
    const auto [height, width] = conv->result();
    gemm.k = count_of({conv->filter[0], conv->filter[1], conv->channels});
    gemm.c = {told.c, count_of({conv->images, height, width}), conv->filters, 0, -1, {conv->images, height, width, conv->filters}};
    gemm.a = {told.a, count_of({conv->images, conv->image[0], conv->image[1]}),      conv->channels, 0,
              -1,     {conv->images, conv->image[0], conv->image[1], conv->channels}};
    gemm.b = {told.b, gemm.k, conv->filters, 0, -1, {conv->filters, conv->filter[0], conv->filter[1], conv->channels}};
    gemm.b.transposed = true;
  }
  for (const GemmMatrix* const matrix : {&gemm.c, &gemm.a, &gemm.b})
    if (matrix->rows < 1 || matrix->columns < 1 || matrix->rows > most_size || matrix->columns > most_size)
      throw std::invalid_argument(
          fmt::format("'{}' has {} by {} elements; each is 1 to {}", matrix->name, matrix->rows, matrix->columns, most_size));
  const std::array companions{&told.scales_a, &told.scales_b, &told.metadata};
  for (std::size_t i = 0; i < companions.size(); ++i) gemm.companions[i].matrix = {*companions[i]};
  return gemm;
}

}  // namespace

std::vector<Gemm> find_gemms(const std::vector<MatrixProduct>& products, const DeviceMemory& memory, const code::Program& program,
                             const std::vector<Argument>& arguments) {
  const std::vector<Pointer> pointers = pointers_of(memory, program, arguments);
  std::vector<Gemm> gemms;
  for (const MatrixProduct& product : products) gemms.push_back(gemm_of(product));
  const bool sparse = program.any<code::Matrix>([](const code::Matrix& m) { return m.instruction.form().sparsity != Sparsity::dense; }) ||
                      program.any<code::WarpgroupProduct>([](const code::WarpgroupProduct& p) { return p.instruction.form().sparse(); });
  std::vector<bool> in_registers(gemms.size());
  for (std::size_t i = 0; i < gemms.size(); ++i)
    for (GemmMatrix* const factor : {&gemms[i].a, &gemms[i].b})
      for (std::size_t j = 0; j < i; ++j)
        if (factor->name == gemms[j].c.name && !memory.find_name(factor->name)) {
          factor->producer = static_cast<int>(j);
          in_registers[j] = true;
        }
  for (std::size_t i = 0; i < gemms.size(); ++i) {
    if (sparse) gemms[i].a.columns = (gemms[i].k + 1) / 2;
    const auto place = [&](GemmMatrix& matrix, bool is_result) {
      if (is_result)
        matrix.bits = 0;
      else
        place_matrix(matrix, memory, pointers);
    };
    place(gemms[i].c, in_registers[i]);
    for (GemmMatrix* const factor : {&gemms[i].a, &gemms[i].b}) place(*factor, factor->producer >= 0);
    for (CompanionMatrix& companion : gemms[i].companions) place_companion(companion, gemms[i], program, memory, pointers);
  }
  return gemms;
}

GemmElement find_element(const ProductElement& element, const std::vector<Gemm>& gemms) {
  const auto pointer = pointer_number(element.matrix);
  for (std::size_t i = 0; i < gemms.size(); ++i) {
    const GemmMatrix& c = gemms[i].c;
    const std::vector<std::int64_t> sizes =
        c.sizes.empty() ? std::vector{c.rows, c.columns} : std::vector<std::int64_t>(c.sizes.begin(), c.sizes.end());
    const bool named = element.matrix == c.name || (pointer && pointer_name(*pointer) == c.name);
    const bool inside = std::ranges::equal(element.indices, sizes, [](auto index, auto size) { return index >= 0 && index < size; });
    if (c.bits == 0 || !named || !inside) continue;
    std::int64_t number = 0;
    for (std::size_t d = 0; d < sizes.size(); ++d) number = number * sizes[d] + element.indices[d];
    return {i, {static_cast<int>(number / c.columns), static_cast<int>(number % c.columns)}};
  }
  const GemmMatrix& last = gemms.back().c;
  throw std::invalid_argument(fmt::format("'{}[{}]' is no element of the product: write {}, up to {}", element.matrix,
                                          fmt::join(element.indices, ","), last.element(0, 0),
                                          last.element(last.rows - 1, last.columns - 1)));
}

}  // namespace warpmat::provenance
