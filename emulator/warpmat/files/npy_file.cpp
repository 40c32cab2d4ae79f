#include <warpmat/files/npy_file.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <warpmat/numeric/checked_size.h>

namespace warpmat {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are kept as the file holds them");

constexpr DTypeRow dtypes[] = {
    {DType::uint8, "uint8", "u1", 1},     {DType::uint16, "uint16", "u2", 2},   {DType::uint32, "uint32", "u4", 4},
    {DType::uint64, "uint64", "u8", 8},   {DType::int8, "int8", "i1", 1},       {DType::int16, "int16", "i2", 2},
    {DType::int32, "int32", "i4", 4},     {DType::int64, "int64", "i8", 8},     {DType::float16, "float16", "f2", 2},
    {DType::float32, "float32", "f4", 4}, {DType::float64, "float64", "f8", 8},
};

const DTypeRow& row(DType dtype) {
  return *std::ranges::find(dtypes, dtype, &DTypeRow::dtype);
}

constexpr std::size_t header_alignment = 64;

std::string header_text(const NpyHeader& header) {
  const DTypeRow& r = row(header.dtype);
  const char* const comma = header.shape.size() == 1 ? "," : "";
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}", r.bytes == 1 ? '|' : '<', r.code,
                                 fmt::join(header.shape, ", "), comma);
  const std::size_t prefix = npy_magic.size() + 4;
  while ((prefix + text.size() + 1) % header_alignment != 0) text += ' ';
  text += '\n';
  if (text.size() > std::numeric_limits<std::uint16_t>::max())
    throw std::runtime_error("the array has too many dimensions for a .npy file");
  const std::string size{static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return std::string(npy_magic) + '\x01' + '\0' + size + text;
}

}  // namespace

std::span<const DTypeRow> dtype_rows() {
  return dtypes;
}

std::optional<DType> find_dtype(std::string_view name) {
  const auto* const found = std::ranges::find(dtypes, name, &DTypeRow::name);
  return found == std::end(dtypes) ? std::nullopt : std::optional(found->dtype);
}

std::string_view name(DType dtype) {
  return row(dtype).name;
}

std::size_t size_of(DType dtype) {
  return row(dtype).bytes;
}

std::optional<std::size_t> NpyHeader::byte_count() const {
  CheckedSize bytes = size_of(dtype);
  for (const std::size_t extent : shape) bytes = bytes * extent;
  return bytes.value();
}

std::string describe(const NpyHeader& header) {
  if (header.shape.empty()) return fmt::format("{} scalar", name(header.dtype));
  return fmt::format("{} [{}]", name(header.dtype), fmt::join(header.shape, "]["));
}

NpyWriter::NpyWriter(const std::filesystem::path& path, const NpyHeader& header) : file_(path) {
  const std::string text = header_text(header);
  file_.write(0, text);
  elements_ = text.size();
}

void NpyWriter::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  file_.write(elements_ + offset, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void write_npy(const std::filesystem::path& path, const NpyHeader& header, std::span<const std::byte> elements) {
  NpyWriter file(path, header);
  file.write(0, elements);
  file.finish();
}

}  // namespace warpmat
