#include "tools/report/packed_file.h"

#include <fmt/core.h>
#include <zlib.h>

#include <array>
#include <memory>
#include <stdexcept>

#include "tools/report/input_file.h"
#include "tools/report/limits.h"

namespace warpmat {

std::optional<std::string> packed_contents(const std::filesystem::path& path) {
  const std::string packed = path.string() + ".gz";
  if (std::filesystem::exists(path) || !std::filesystem::is_regular_file(packed)) return std::nullopt;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(packed.c_str(), "rb"), gzclose);
  if (!file) throw std::runtime_error(fmt::format("cannot read {}", packed));
  std::string contents;
  std::array<char, 1 << 16> buffer;
  int count = 0;
  while ((count = gzread(file.get(), buffer.data(), buffer.size())) > 0) {
    contents.append(buffer.data(), static_cast<std::size_t>(count));
    if (contents.size() > most_streamed_bytes)
      throw std::runtime_error(fmt::format("cannot read {}: it unpacks to more than {}", packed, bytes_text(most_streamed_bytes)));
  }
  int error = Z_OK;
  gzerror(file.get(), &error);
  if (count < 0 || error != Z_OK) throw std::runtime_error(fmt::format("cannot read {}: it is damaged, or not compressed by gzip", packed));
  return contents;
}

}  // namespace warpmat
