#include "gpu/recordings/gzip.h"

#include <zlib.h>

#include <array>
#include <cstddef>
#include <new>
#include <stdexcept>

namespace warpmat {
namespace {

constexpr int gzip_window = 15 + 16;  // zlib's code for the gzip format
constexpr std::size_t largest_text = std::size_t{1} << 30;

}  // namespace

std::string compress(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_window, 9, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  std::string bytes(deflateBound(&stream, static_cast<uLong>(text.size())) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  deflate(&stream, Z_FINISH);  // cannot fail: the buffer is large enough
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

std::string uncompress(std::string_view bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, gzip_window) != Z_OK) throw std::bad_alloc();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  std::array<char, 1 << 16> buffer;
  int status = Z_OK;
  while (status == Z_OK && text.size() < largest_text) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    status = inflate(&stream, Z_NO_FLUSH);
    text.append(buffer.data(), buffer.size() - stream.avail_out);
  }
  const bool whole = status == Z_STREAM_END && stream.avail_in == 0;
  inflateEnd(&stream);
  if (status == Z_OK) throw std::runtime_error("the file unpacks to more than 1 GiB, and no recording has as much");
  if (status == Z_BUF_ERROR) throw std::runtime_error("the file is cut short");
  if (!whole) throw std::runtime_error("the file is damaged, or no gzip file");
  return text;
}

}  // namespace warpmat
