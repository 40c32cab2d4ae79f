#include "tools/report/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <istream>
#include <limits>
#include <optional>
#include <stdexcept>
#include <system_error>

#include <warpmat/files/standard_stream.h>

#include "tools/report/input_file.h"
#include "tools/report/limits.h"

namespace warpmat {
namespace {

template <typename... Parts>
[[noreturn]] void fail(fmt::format_string<Parts...> format, Parts&&... parts) {
  throw std::runtime_error(fmt::format(format, std::forward<Parts>(parts)...));
}

/// Reads the Python dictionary of a header: strings, True, False and tuples of whole numbers.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  NpyHeader parse() {
    std::optional<DType> dtype;
    std::optional<std::vector<std::size_t>> shape;
    std::optional<bool> fortran_order;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr" && !dtype)
        dtype = parse_dtype();
      else if (key == "shape" && !shape)
        shape = tuple();
      else if (key == "fortran_order" && !fortran_order)
        fortran_order = boolean();
      else
        malformed();
      if (!accept(',') && peek() != '}') malformed();
    }
    peek();
    if (!rest_.empty() || !dtype || !shape || !fortran_order) malformed();
    if (*fortran_order) fail("the array is in Fortran order; C order is needed (numpy.ascontiguousarray)");
    return {*dtype, *shape};
  }

 private:
  [[noreturn]] static void malformed() { fail("the header of the .npy file is malformed"); }

  /// The next character except spaces; '\0' at the end.
  char peek() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) rest_.remove_prefix(1);
    return rest_.empty() ? '\0' : rest_.front();
  }

  bool accept(char c) {
    if (peek() != c || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c)) malformed();
  }

  std::string_view string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') malformed();
    const std::size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) malformed();
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool boolean() {
    peek();
    for (const std::string_view word : {"True", "False"})
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return word == "True";
      }
    malformed();
  }

  std::size_t number() {
    std::size_t value = 0;
    const char first = peek();
    if (std::isdigit(static_cast<unsigned char>(first)) == 0) malformed();
    const std::size_t before = rest_.size();
    while (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_.front())) != 0) {
      const auto digit = static_cast<std::size_t>(rest_.front() - '0');
      if (value > (std::numeric_limits<std::size_t>::max() - digit) / 10) fail("a dimension of the array is too large");
      value = 10 * value + digit;
      rest_.remove_prefix(1);
    }
    if (first == '0' && value != 0 && before - rest_.size() > 1) malformed();  // Python has no 04
    return value;
  }

  std::vector<std::size_t> tuple() {
    std::vector<std::size_t> numbers;
    bool comma = false;
    expect('(');
    while (!accept(')')) {
      numbers.push_back(number());
      comma = accept(',');
      if (!comma && peek() != ')') malformed();
    }
    if (numbers.size() == 1 && !comma) malformed();  // (4) is a number
    return numbers;
  }

  DType parse_dtype() {
    if (peek() == '[') fail("the array has a structured dtype; a plain one is needed");
    const std::string_view text = string();
    if (text.starts_with('>')) fail("the array is big-endian ('{}'); little-endian is needed", printable(text));
    const bool has_order = !text.empty() && (text.front() == '<' || text.front() == '|' || text.front() == '=');
    const std::span<const DTypeRow> dtypes = dtype_rows();
    const auto found = std::ranges::find(dtypes, text.substr(has_order ? 1 : 0), &DTypeRow::code);
    if (found != dtypes.end()) return found->dtype;
    std::vector<std::string_view> names;
    for (const DTypeRow& r : dtypes) names.push_back(r.name);
    fail("the array's dtype '{}' is not known; there are {}", printable(text), fmt::join(names, ", "));
  }

  /// Replaces characters of a file that may not be safe to print in a message.
  static std::string printable(std::string_view text) {
    std::string out(text.substr(0, 16));
    for (char& c : out)
      if (std::isprint(static_cast<unsigned char>(c)) == 0) c = '?';
    return out;
  }

  std::string_view rest_;
};

/// The next `size` bytes of a stream with `left` remaining bytes.
std::string take(std::istream& in, std::uint64_t& left, std::uint64_t size, const char* what) {
  if (size > left) fail("the file ends inside the {}", what);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  if (!in.read(bytes.data(), static_cast<std::streamsize>(size))) fail("cannot read the {}", what);
  left -= size;
  return bytes;
}

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// Reads the header, and subtracts its size from `left`.
NpyHeader parse_header(std::istream& in, std::uint64_t& left) {
  if (left < npy_magic.size() || take(in, left, npy_magic.size(), "magic number") != npy_magic) fail("this is not a .npy file");
  const std::string version = take(in, left, 2, "version");
  if ((version[0] != 1 && version[0] != 2) || version[1] != 0)
    fail(".npy format {}.{} is not known; 1.0 and 2.0 are", static_cast<unsigned char>(version[0]), static_cast<unsigned char>(version[1]));
  const std::uint32_t size = little_endian(take(in, left, version[0] == 1 ? 2 : 4, "header"));
  constexpr std::uint32_t most = 10'000;  // of numpy.load()
  if (size > most) fail("the header has {} bytes; NumPy takes {}", size, most);
  const std::string text = take(in, left, size, "header");
  return HeaderParser(text).parse();
}

}  // namespace

NpyArray NpyArray::zeros(DType dtype, std::vector<std::size_t> shape) {
  NpyArray array{{dtype, std::move(shape)}, {}};
  const auto size = array.byte_count();
  if (!size) throw std::length_error("the array is too large");
  array.bytes.resize(*size);
  return array;
}

NpyHeader read_npy_header(std::istream& in, std::uint64_t size) {
  std::uint64_t left = size;
  NpyHeader header = parse_header(in, left);
  const auto bytes = header.byte_count();
  if (!bytes) fail("the array {} is too large", describe(header));
  if (*bytes > left) fail("the file is truncated: {} needs {} bytes, {} are there", describe(header), *bytes, left);
  if (*bytes < left) fail("the file is too long: {} needs {} bytes, {} are there", describe(header), *bytes, left);
  return header;
}

/// All of standard input as an open, already unlinked file.
static std::ifstream spooled_standard_input() {
  std::string name = (std::filesystem::temp_directory_path() / "warpmat_XXXXXX").string();
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0) fail("cannot make {}", name);
  std::FILE* file = fdopen(descriptor, "wb");
  std::ifstream in(name, std::ios::binary);
  std::filesystem::remove(name);  // before it grows, so that nothing stays where this process is killed
  std::array<char, 1 << 16> piece;
  bool written = file != nullptr;
  std::size_t all = 0;
  for (std::size_t size; written && all <= most_streamed_bytes && (size = std::fread(piece.data(), 1, piece.size(), stdin)) != 0;
       all += size)
    written = std::fwrite(piece.data(), 1, size, file) == size;
  written = file != nullptr && std::fclose(file) == 0 && written;
  if (!written) fail("cannot keep standard input in {}", name);
  if (all > most_streamed_bytes) fail("standard input has more than {}: write a file", bytes_text(most_streamed_bytes));
  return in;
}

NpyReader::NpyReader(const std::filesystem::path& path) : path_(path) {
  std::error_code error;
  if (path == standard_stream) {
    in_ = spooled_standard_input();
  } else {
    if (!std::filesystem::exists(path, error)) refuse("there is no such file");
    if (!std::filesystem::is_regular_file(path, error)) refuse("it is not a regular file");
    in_.open(path, std::ios::binary);
    if (!in_) refuse(std::generic_category().message(errno));
  }
  in_.seekg(0, std::ios::end);
  const auto size = static_cast<std::uint64_t>(in_.tellg());
  in_.seekg(0);
  try {
    header_ = read_npy_header(in_, size);
  } catch (const std::runtime_error& e) {
    refuse(e.what());
  }
  elements_ = size - *header_.byte_count();
}

void NpyReader::read(std::uint64_t offset, std::span<std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  in_.seekg(static_cast<std::streamoff>(elements_ + offset));
  if (!in_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()))) refuse("cannot read the array");
}

void NpyReader::refuse(std::string_view reason) const {
  fail("cannot read {}: {}", path_ == standard_stream ? "standard input" : path_.string(), reason);
}

NpyArray read_npy(const std::filesystem::path& path) {
  NpyReader file(path);
  NpyArray array{file.header(), std::vector<std::byte>(*file.header().byte_count())};
  file.read(0, array.bytes);
  return array;
}

void write_npy(const std::filesystem::path& path, const NpyArray& array) {
  write_npy(path, array, array.bytes);
}

}  // namespace warpmat
