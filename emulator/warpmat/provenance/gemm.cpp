#include <warpmat/provenance/gemm.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <span>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <warpmat/provenance/pointers.h>
#include <warpmat/forms.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/stored_buffer.h>
#include <warpmat/ptx/text/readable_name.h>

namespace warpmat::checks {
namespace {

constexpr std::string_view right_product =
    "write C=A*B^T:128x128x64, with ^T for a matrix whose columns are contiguous, then M, N and K, then ,lda=72 where rows lie further "
    "apart, ,bits=16x16x32 where buffers are larger than the matrices, ,types=e4m3xe4m3xf32 to look at formats, too, ,sfa=SA,sfb=SB for "
    "block scale factors, ,e=E for the metadata of a sparse A";
constexpr std::string_view right_convolution =
    "write Y=conv(X,F):NxHxWxC*KxRxS, then ,stride=2 ,pad=1 ,dilation=2 where they are not 1, 0 and 1; 2x1 is by height and width";

constexpr std::array widths{64, 32, 16, 8, 6, 4};  ///< of elements, in bits

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  const bool convolution = text.find("=conv(") != std::string_view::npos;
  throw std::invalid_argument(fmt::format("'{}' is no {}: {}; {}", text, convolution ? "convolution" : "matrix product", why,
                                          convolution ? right_convolution : right_product));
}

std::int64_t size_of(std::string_view text, std::string_view number) {
  std::int64_t size = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), size);
  if (error != std::errc() || end != number.data() + number.size() || size <= 0 || size > 1 << 28)
    refuse(text, fmt::format("'{}' is no size", number));
  return size;
}

/// Takes what comes before `separator` off the front of `rest`; all of it where there is none.
std::string_view take(std::string_view& rest, char separator) {
  const std::size_t at = std::min(rest.find(separator), rest.size());
  const std::string_view first = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return first;
}

GemmMatrix matrix_of(std::string_view text, std::string_view name) {
  GemmMatrix matrix;
  if (name.ends_with("^T")) {
    matrix.transposed = true;
    name.remove_suffix(2);
  }
  if (name.empty()) refuse(text, "a matrix has no name");
  matrix.name = name;
  return matrix;
}

/// A parameter with an address in a buffer.
struct Pointer {
  std::string name;
  std::uint64_t address = 0;
  DeviceMemory::Buffer buffer;
};

std::vector<Pointer> pointers_of(const DeviceMemory& memory, const code::Program& program, const std::vector<std::uint8_t>& parameters) {
  std::vector<Pointer> all;
  for (const code::Parameter& parameter : program.parameters) {
    const std::span bytes = std::span(parameters).subspan(parameter.offset, parameter.bytes);
    if (const auto address = pointer_of(bytes, memory)) all.push_back({readable_name(parameter.name), *address, *memory.find(*address)});
  }
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

/// "A" and 4096 of "A+4096", a matrix that begins behind the first bytes; 0 where the name has no number of bytes.
std::pair<std::string_view, std::uint64_t> offset_of(std::string_view name) {
  const std::size_t plus = name.rfind('+');
  if (plus == std::string_view::npos) return {name, 0};
  std::uint64_t offset = 0;
  const auto [end, error] = std::from_chars(name.data() + plus + 1, name.data() + name.size(), offset);
  if (error != std::errc() || end != name.data() + name.size()) return {name, 0};
  return {name.substr(0, plus), offset};
}

/// Sets the matrix's address: that of a buffer, of a parameter, or of the parameter with that number among those that are pointers.
DeviceMemory::Buffer buffer_of(GemmMatrix& matrix, const DeviceMemory& memory, const code::Program& program,
                               const std::vector<std::uint8_t>& parameters) {
  const std::vector<Pointer> pointers = pointers_of(memory, program, parameters);
  if (const auto found = named(matrix.name, memory, pointers)) {
    matrix.name = found->name;
    matrix.address = found->address;
    return found->buffer;
  }
  const auto [name, offset] = offset_of(matrix.name);
  if (const auto found = offset == 0 ? std::nullopt : named(name, memory, pointers);
      found && offset < found->buffer.end() - found->address) {
    matrix.name = fmt::format("{}+{}", found->name, offset);
    matrix.address = found->address + offset;
    return found->buffer;
  }
  throw std::invalid_argument(fmt::format("there is no buffer '{}', nor a pointer parameter of that name or number; {}", matrix.name,
                                          names_text(memory, pointers)));
}

/// The width of elements with which the matrix fills its buffer; 0 if there is none.
int width_by_size(const GemmMatrix& matrix, std::uint64_t bits) {
  const auto whole = static_cast<std::uint64_t>(matrix.stored_rows() * matrix.pitch);
  const auto least = static_cast<std::uint64_t>((matrix.stored_rows() - 1) * matrix.pitch + matrix.stored_columns());
  const auto found = std::ranges::find_if(widths, [&](int width) {
    return bits == static_cast<std::uint64_t>(width) * whole || bits == static_cast<std::uint64_t>(width) * least;
  });
  return found == widths.end() ? 0 : *found;
}

void place_matrix(GemmMatrix& matrix, const DeviceMemory& memory, const code::Program& program,
                  const std::vector<std::uint8_t>& parameters) {
  const DeviceMemory::Buffer buffer = buffer_of(matrix, memory, program, parameters);
  if (matrix.pitch == 0) matrix.pitch = matrix.stored_columns();
  if (matrix.pitch < matrix.stored_columns())
    throw std::invalid_argument(
        fmt::format("'{}' has {} elements in a row, and its rows lie {} apart", matrix.name, matrix.stored_columns(), matrix.pitch));
  const std::uint64_t bytes = buffer.end() - matrix.address;
  if (matrix.bits == 0) matrix.bits = width_by_size(matrix, bytes * 8);
  if (matrix.bits == 0)
    throw std::invalid_argument(fmt::format("'{}' has {} bytes: no {} by {} matrix of elements of {} bits", matrix.name, bytes,
                                            matrix.stored_rows(), matrix.pitch, fmt::join(widths, ", ")));
  if (matrix.end() > buffer.end())
    throw std::invalid_argument(fmt::format("'{}' has {} bytes, and {} rows of elements of {} bits {} apart need {}", matrix.name, bytes,
                                            matrix.stored_rows(), matrix.bits, matrix.pitch, matrix.end() - matrix.address));
}

void place_companion(CompanionMatrix& companion, const Gemm& gemm, const DeviceMemory& memory, const code::Program& program,
                     const std::vector<std::uint8_t>& parameters) {
  companion.depth = gemm.k;
  if (!companion.told()) return;
  GemmMatrix& matrix = companion.matrix;
  const int block = block_of(companion.kind, program);
  const bool scales = companion.kind == CompanionMatrix::Kind::scale;
  if (block == 0)
    throw std::invalid_argument(
        fmt::format("the product has {}={}, and the kernel has no {}", companion.key, matrix.name, scales ? "block-scaled mma" : "mma.sp"));
  const DeviceMemory::Buffer buffer = buffer_of(matrix, memory, program, parameters);
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

/// Row and column of "C[5,3]" or "Y[0,5,7,3]"; nothing if it is no element of the matrix.
std::optional<std::pair<int, int>> place_named(const GemmMatrix& matrix, std::string_view text) {
  const std::string_view name = take(text, '[');
  const auto pointer = pointer_number(name);
  if ((name != matrix.name && !(pointer && pointer_name(*pointer) == matrix.name)) || !text.ends_with(']')) return std::nullopt;
  text.remove_suffix(1);
  const std::vector<int> sizes =
      matrix.sizes.empty() ? std::vector<int>{static_cast<int>(matrix.rows), static_cast<int>(matrix.columns)} : matrix.sizes;
  std::int64_t number = 0;
  for (const int size : sizes) {
    const std::string_view digits = take(text, ',');
    int index = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (error != std::errc() || end != digits.data() + digits.size() || index < 0 || index >= size) return std::nullopt;
    number = number * size + index;
  }
  if (!text.empty()) return std::nullopt;
  return std::pair(static_cast<int>(number / matrix.columns), static_cast<int>(number % matrix.columns));
}

}  // namespace

GemmElement parse_element(std::string_view text, const std::vector<Gemm>& gemms) {
  for (std::size_t i = 0; i < gemms.size(); ++i) {
    const auto place = gemms[i].c.bits == 0 ? std::nullopt : place_named(gemms[i].c, text);
    if (place) return {i, *place};
  }
  const GemmMatrix& last = gemms.back().c;
  throw std::invalid_argument(fmt::format("'{}' is no element of the product: write {}, up to {}", text, last.element(0, 0),
                                          last.element(last.rows - 1, last.columns - 1)));
}

namespace {

/// "2" or "2x1": along the height and the width.
Convolution::Pair pair_of(std::string_view text, std::string_view number) {
  const std::string_view height = take(number, 'x');
  const auto value = [&](std::string_view digits) { return digits == "0" ? 0 : static_cast<int>(size_of(text, digits)); };  // below 2^29
  return {value(height), value(number.empty() ? height : number)};
}

/// The tensor of a name with these sizes, as a matrix whose rows or, if it is transposed, columns are the sizes but for the last `inner`.
GemmMatrix tensor_of(std::string_view text, std::string_view name, std::vector<int> sizes, std::size_t inner, bool transposed = false) {
  GemmMatrix matrix = matrix_of(text, name);
  if (matrix.transposed) refuse(text, fmt::format("'{}' is no matrix: tensors lie as NHWC, KRSC and NPQK", name));
  std::int64_t outer_size = 1, inner_size = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::int64_t& size = i + inner < sizes.size() ? outer_size : inner_size;
    size *= sizes[i];
    if (size > 1 << 28) refuse(text, fmt::format("'{}' is too large", name));
  }
  matrix.rows = transposed ? inner_size : outer_size;
  matrix.columns = transposed ? outer_size : inner_size;
  matrix.transposed = transposed;
  matrix.sizes = std::move(sizes);
  return matrix;
}

/// "Y=conv(X,F)" and "2x16x16x32*64x3x3,pad=1".
Gemm parse_convolution(std::string_view text, std::string_view names, std::string_view rest) {
  const std::string_view y = take(names, '=');
  take(names, '(');
  const std::string_view x = take(names, ',');
  if (!names.ends_with(')')) refuse(text, "the two names do not end with )");
  const std::string_view f = names.substr(0, names.size() - 1);
  Convolution convolution;
  std::string_view shape = take(rest, ',');
  std::string_view image = take(shape, '*');
  for (int* const size : {&convolution.images, &convolution.image[0], &convolution.image[1], &convolution.channels})
    *size = static_cast<int>(size_of(text, take(image, 'x')));
  for (int* const size : {&convolution.filters, &convolution.filter[0], &convolution.filter[1]})
    *size = static_cast<int>(size_of(text, take(shape, 'x')));
  if (!image.empty() || !shape.empty()) refuse(text, "a convolution has four sizes and three, NxHxWxC*KxRxS");
  while (!rest.empty()) {
    std::string_view number = take(rest, ',');
    const std::string_view which = take(number, '=');
    Convolution::Pair* const pair = which == "stride"     ? &convolution.stride
                                    : which == "pad"      ? &convolution.padding
                                    : which == "dilation" ? &convolution.dilation
                                                          : nullptr;
    if (pair == nullptr) refuse(text, fmt::format("'{}' is none of stride, pad and dilation", which));
    *pair = pair_of(text, number);
    if (pair != &convolution.padding && ((*pair)[0] == 0 || (*pair)[1] == 0)) refuse(text, fmt::format("{} is 0", which));
  }
  const auto [height, width] = convolution.result();
  if (height == 0 || width == 0) refuse(text, "the filter is larger than the image");
  Gemm gemm;
  gemm.c = tensor_of(text, y, {convolution.images, height, width, convolution.filters}, 1);
  gemm.a = tensor_of(text, x, {convolution.images, convolution.image[0], convolution.image[1], convolution.channels}, 1);
  gemm.b = tensor_of(text, f, {convolution.filters, convolution.filter[0], convolution.filter[1], convolution.channels}, 3, true);
  gemm.k = convolution.taps();
  gemm.convolution = convolution;
  return gemm;
}

}  // namespace

Gemm parse_gemm(std::string_view text) {
  std::string_view rest = text;
  std::string_view names = take(rest, ':');
  if (const std::size_t equals = names.find('='); equals != std::string_view::npos && names.substr(equals + 1).starts_with("conv("))
    return parse_convolution(text, names, rest);
  if (names.find('=') == std::string_view::npos || names.find('*') == std::string_view::npos) refuse(text, "it has no = or no *");
  Gemm gemm;
  gemm.c = matrix_of(text, take(names, '='));
  gemm.a = matrix_of(text, take(names, '*'));
  gemm.b = matrix_of(text, names);
  std::string_view shape = take(rest, ',');
  std::array<std::int64_t, 3> sizes{};
  for (std::int64_t& size : sizes) {
    if (shape.empty()) refuse(text, "it has fewer than three sizes");
    size = size_of(text, take(shape, 'x'));
  }
  if (!shape.empty()) refuse(text, "it has more than three sizes");
  gemm.k = sizes[2];
  gemm.c.rows = gemm.a.rows = sizes[0];
  gemm.c.columns = gemm.b.columns = sizes[1];
  gemm.a.columns = gemm.b.rows = gemm.k;
  while (!rest.empty()) {
    std::string_view number = take(rest, ',');
    const std::string_view which = take(number, '=');
    const auto companion = std::ranges::find(gemm.companions, which, &CompanionMatrix::key);
    if (companion != gemm.companions.end()) {
      companion->matrix = matrix_of(text, number);
      continue;
    }
    const auto set_each = [&](const char* right, auto set) {  // of A, B and C
      for (GemmMatrix* const matrix : {&gemm.a, &gemm.b, &gemm.c}) set(*matrix, take(number, 'x'));
      if (!number.empty()) refuse(text, right);
    };
    if (which == "bits") {
      set_each("bits are those of A, B and C, as in 16x16x32", [&](GemmMatrix& matrix, std::string_view width) {
        matrix.bits = static_cast<int>(size_of(text, width));
        if (std::ranges::find(widths, matrix.bits) == widths.end()) refuse(text, fmt::format("no element has {} bits", matrix.bits));
      });
      continue;
    }
    if (which == "types") {
      constexpr const char* right = "types are those of A, B and C, as in e4m3xe4m3xf32";
      set_each(right, [&](GemmMatrix& matrix, std::string_view type) {
        const FormatRow* const row = find_format(type);
        if (row == nullptr) refuse(text, fmt::format("{}, and '{}' is none", right, type));
        matrix.format = row->format;
        matrix.bits = row->bits;
      });
      continue;
    }
    GemmMatrix* const matrix = which == "lda" ? &gemm.a : which == "ldb" ? &gemm.b : which == "ldc" ? &gemm.c : nullptr;
    if (matrix == nullptr) refuse(text, fmt::format("'{}' is none of lda, ldb, ldc, bits, types, sfa, sfb and e", which));
    matrix->pitch = size_of(text, number);
  }
  return gemm;
}

std::vector<Gemm> find_gemms(std::string_view text, const DeviceMemory& memory, const code::Program& program,
                             const std::vector<std::uint8_t>& parameters) {
  std::vector<Gemm> gemms;
  while (!text.empty()) gemms.push_back(parse_gemm(take(text, ';')));
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
        place_matrix(matrix, memory, program, parameters);
    };
    place(gemms[i].c, in_registers[i]);
    for (GemmMatrix* const factor : {&gemms[i].a, &gemms[i].b}) place(*factor, factor->producer >= 0);
    for (CompanionMatrix& companion : gemms[i].companions) place_companion(companion, gemms[i], memory, program, parameters);
  }
  return gemms;
}

}  // namespace warpmat::checks
