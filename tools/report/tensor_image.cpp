#include "tools/report/tensor_image.h"

#include <algorithm>

namespace warpmat {
namespace {

constexpr int sixteen = 16;  ///< bytes that are contiguous without a swizzle, or elements of less than 8 bits in as many bytes

/// Bits of memory that an element of A or B takes within sixteen bytes, and elements of these.
struct Packing {
  int bits, elements;
};
Packing packing_of(const TensorProduct& product, OperandName operand) {
  const int bits = row(product.tile->format(operand)).bits;
  const bool padded = bits < 8 && product.tile->operand(operand).fragment.element_bits() == 8;
  return {bits, padded ? sixteen : sixteen * 8 / bits};
}

int line_count(const TensorProduct& product, OperandName operand) {
  return operand == OperandName::a ? product.path->rows : product.b_columns();
}

int stored_depth(const TensorProduct& product, OperandName operand) {
  return operand == OperandName::a && !product.k96() ? product.tile->stored_k() : product.shape.k;
}

/// Sixteen bytes further along K lie behind those of all lines.
std::uint32_t leading_bytes(const TensorProduct& product, OperandName operand) {
  return static_cast<std::uint32_t>(line_count(product, operand) * sixteen);
}

/// The bytes of lines `first` and those after it of A or B; element(line, k) has their bits.
template <typename ElementOf>
std::vector<std::uint8_t> stored(const TensorProduct& product, OperandName operand, int first, ElementOf element) {
  const Packing packing = packing_of(product, operand);
  const int lines = line_count(product, operand), depth = stored_depth(product, operand);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(depth / packing.elements * lines * sixteen));
  for (int line = 0; line < lines; ++line)
    for (int k = 0; k < depth; ++k) {
      const int in_chunk = k % packing.elements * packing.bits;
      const auto at = static_cast<std::size_t>(k / packing.elements * lines * sixteen + line * sixteen + in_chunk / 8);
      const std::uint64_t bits = element(first + line, k) << in_chunk % 8;
      for (int byte = 0; byte < (in_chunk % 8 + packing.bits + 7) / 8; ++byte)
        bytes[at + static_cast<std::size_t>(byte)] |= static_cast<std::uint8_t>(bits >> 8 * byte);
    }
  return bytes;
}

void place_scales(const TensorProduct& product, OperandName operand, const std::vector<std::uint64_t>& factors, int first_line,
                  TensorMemory& memory) {
  const bool of_a = operand == OperandName::scale_a;
  const int parts = of_a ? 1 : product.path->parts, lines = (of_a ? product.path->rows : product.shape.n) / parts;
  const int column = of_a ? TensorImage::scale_a_column : TensorImage::scale_b_column;
  constexpr int quarters = tensor_lanes / tensor_quarter;
  for (int quarter = 0; quarter < quarters; ++quarter)
    for (int line = 0; line < lines; ++line)
      for (int i = 0; i < product.scale_vector; ++i) {
        const int of_all = first_line + quarter * parts / quarters * lines + line;
        const auto index = static_cast<std::size_t>(of_a ? of_all * product.scale_vector + i : i * product.shape.n + of_all);
        const ScalePlace place = scale_place(line, lines, i, of_a ? product.scale_a_byte : product.scale_b_byte, quarter);
        memory.word(place.cell.lane, column + place.cell.column) |= static_cast<std::uint32_t>(factors[index]) << 8 * place.byte;
      }
}

void place_metadata(const TensorProduct& product, const std::vector<std::uint64_t>& codes, int first_row, TensorMemory& memory) {
  const DataPath& path = *product.path;
  const int groups = tensor_extent(product, OperandName::e).columns;
  const TensorCell from = metadata_cell(product, {0, TensorImage::e_column});
  for (int part = 0; part < path.parts; ++part)
    for (int row = 0; row < path.rows; ++row)
      for (int group = 0; group < groups; ++group) {
        const MetadataPlace place = metadata_place(path, metadata_columns(product) == 1, row, group);
        memory.word(path.first_lane(part) + place.cell.lane, from.column + place.cell.column) |=
            static_cast<std::uint32_t>(codes[static_cast<std::size_t>((first_row + row) * groups + group)]) << place.bit;
      }
}

}  // namespace

MatrixExtent tensor_extent(const TensorProduct& product, OperandName operand) {
  const Shape& shape = product.shape;
  switch (operand) {
    case OperandName::a: return {shape.m, stored_depth(product, operand)};
    case OperandName::b: return {shape.k, shape.n};
    case OperandName::d: return {shape.m, shape.n};
    case OperandName::e: return product.sparse() ? MatrixExtent{shape.m, metadata_columns(product) == 1 ? 8 : 16} : MatrixExtent{};
    case OperandName::scale_a: return product.scale_vector != 0 ? MatrixExtent{shape.m, product.scale_vector} : MatrixExtent{};
    case OperandName::scale_b: return product.scale_vector != 0 ? MatrixExtent{product.scale_vector, shape.n} : MatrixExtent{};
    default: return {};
  }
}

TensorDescriptor TensorImage::descriptor(const TensorProduct& product, OperandName operand, std::uint32_t start) {
  TensorDescriptor descriptor;
  descriptor.matrix = MatrixDescriptor(
      {.start = start, .leading = leading_bytes(product, operand), .stride = 8 * sixteen, .base_offset = 0, .swizzle = Swizzle::none});
  return descriptor;
}

std::uint64_t TensorImage::descriptor_bits(const TensorDescriptor& descriptor) {
  constexpr std::uint64_t of_blackwell = std::uint64_t{1} << 46;
  return descriptor.matrix.encode() | of_blackwell;
}

TensorImage tensor_image(const TensorProduct& product, const TensorMatrices& matrices, int block) {
  TensorImage image;
  const int rows = product.path->rows, first_row = block * rows;
  const auto depth = static_cast<std::size_t>(tensor_extent(product, OperandName::a).columns),
             n = static_cast<std::size_t>(product.shape.n);
  image.a = stored(product, OperandName::a, first_row,
                   [&](int line, int k) { return matrices.a[static_cast<std::size_t>(line) * depth + static_cast<std::size_t>(k)]; });
  image.b = stored(product, OperandName::b, block * product.b_columns(),
                   [&](int line, int k) { return matrices.b[static_cast<std::size_t>(k) * n + static_cast<std::size_t>(line)]; });
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < product.shape.n; ++j) {
      const TensorCell cell = d_cell(product, i, j);
      image.memory.word(cell.lane, TensorImage::d_column + cell.column) =
          static_cast<std::uint32_t>(matrices.d[static_cast<std::size_t>(first_row + i) * n + static_cast<std::size_t>(j)]);
    }
  if (product.sparse()) place_metadata(product, matrices.e, first_row, image.memory);
  if (product.scale_vector == 0) return image;
  place_scales(product, OperandName::scale_a, matrices.scale_a, first_row, image.memory);
  place_scales(product, OperandName::scale_b, matrices.scale_b, 0, image.memory);
  return image;
}

TensorCell d_cell(const TensorProduct& product, int row, int column) {
  const DataPath& path = *product.path;
  return {path.first_lane(column / product.d_columns()) + path.lane(row), column % product.d_columns()};
}

std::vector<std::uint64_t> multiplied(const TensorProduct& product, const TensorMatrices& matrices, bool accumulates,
                                      const ExecutionOptions& options) {
  std::vector<TensorImage> images;
  ProductOperands operands{.a = {}, .b = {}, .metadata = {}, .scales_a = {}, .scales_b = {}, .accumulates = accumulates};
  for (int block = 0; block < product.group; ++block) {
    images.push_back(tensor_image(product, matrices, block));
    const ProductWords columns = read_b(product, TensorImage::descriptor(product, OperandName::b, 0), SharedMemory(images.back().b));
    operands.b.insert(operands.b.end(), columns.begin(), columns.end());
  }
  std::vector<std::uint64_t> d;
  for (TensorImage& image : images) {
    operands.a = read_a(product, TensorImage::descriptor(product, OperandName::a, 0), SharedMemory(image.a));
    if (product.sparse()) operands.metadata = read_metadata(product, {0, TensorImage::e_column}, image.memory);
    if (product.scale_vector != 0) {
      operands.scales_a = read_scales(product, OperandName::scale_a, {0, TensorImage::scale_a_column}, image.memory);
      operands.scales_b = read_scales(product, OperandName::scale_b, {0, TensorImage::scale_b_column}, image.memory);
    }
    multiply(product, operands, image.memory, {0, TensorImage::d_column}, {}, options);
    for (int i = 0; i < product.path->rows; ++i)
      for (int j = 0; j < product.shape.n; ++j) {
        const TensorCell cell = d_cell(product, i, j);
        d.push_back(image.memory.word(cell.lane, TensorImage::d_column + cell.column));
      }
  }
  return d;
}

}  // namespace warpmat
