#include "gpu/programs/archive.h"

#include <fmt/core.h>

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace warpmat::programs {
namespace {

constexpr std::string_view magic = "warpmat launches 1\n";
constexpr std::size_t block_bytes = 64 << 10;
constexpr std::size_t most_line_bytes = 16 << 20;  // the names of 32 GiB of blocks
constexpr int compression_level = 3;
enum Kind : std::uint32_t { block = 1, line = 2 };

/// The start of each chunk; `stored` bytes follow. All numbers are little-endian, as those of every CPU that has a GPU.
struct Head {
  std::uint32_t kind = 0, reserved = 0;
  Hash hash{};
  std::uint64_t bytes = 0, stored = 0;
};
static_assert(sizeof(Head) == 40);

Hash hash_of(std::span<const std::uint8_t> bytes) {
  const XXH128_hash_t value = XXH3_128bits(bytes.data(), bytes.size());
  Hash hash;
  std::memcpy(hash.data(), &value.low64, 8);
  std::memcpy(hash.data() + 8, &value.high64, 8);
  return hash;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  throw std::runtime_error(fmt::format("'{}' is no hexadecimal digit", c));
}

bool begins_as_archive(const std::vector<std::uint8_t>& bytes) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

/// All bytes of an archive, which may come by a pipe; of another file, which may have no end, the first.
std::vector<std::uint8_t> read_whole(const std::filesystem::path& path) {
  constexpr std::size_t piece = 1 << 20;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(fmt::format("cannot read {}", path.string()));
  std::vector<std::uint8_t> bytes;
  if (std::filesystem::is_regular_file(path)) bytes.reserve(std::filesystem::file_size(path) + piece);
  while (in) {
    const std::size_t before = bytes.size();
    bytes.resize(before + piece);
    in.read(reinterpret_cast<char*>(bytes.data() + before), piece);
    bytes.resize(before + static_cast<std::size_t>(in.gcount()));
    if (!begins_as_archive(bytes)) return bytes;
  }
  if (in.bad()) throw std::runtime_error(fmt::format("cannot read {}", path.string()));
  return bytes;
}

}  // namespace

std::string to_text(const std::vector<Hash>& blocks) {
  std::string text;
  for (const Hash& hash : blocks)
    for (const std::uint8_t byte : hash) text += fmt::format("{:02x}", byte);
  return text;
}

std::vector<Hash> parse_hashes(std::string_view text) {
  constexpr std::size_t digits = 2 * sizeof(Hash);
  if (text.size() % digits != 0) throw std::runtime_error(fmt::format("{} digits are no whole number of hashes", text.size()));
  std::vector<Hash> blocks(text.size() / digits);
  for (std::size_t i = 0; i < blocks.size() * sizeof(Hash); ++i)
    blocks[i / sizeof(Hash)][i % sizeof(Hash)] = static_cast<std::uint8_t>(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
  return blocks;
}

ArchiveWriter::ArchiveWriter(const std::filesystem::path& path) : path_(path), file_(path, std::ios::binary | std::ios::trunc) {
  write(magic.data(), magic.size());
}

void ArchiveWriter::write(const void* from, std::size_t count) {
  file_.write(static_cast<const char*>(from), static_cast<std::streamsize>(count));
  if (!file_) throw std::runtime_error(fmt::format("cannot write {}", path_.string()));
  bytes_ += count;
}

void ArchiveWriter::write_chunk(std::uint32_t kind, const Hash& hash, std::span<const std::uint8_t> raw) {
  std::vector<std::uint8_t> stored(ZSTD_compressBound(raw.size()));
  const std::size_t count = ZSTD_compress(stored.data(), stored.size(), raw.data(), raw.size(), compression_level);
  if (ZSTD_isError(count) != 0) throw std::runtime_error(fmt::format("cannot compress: {}", ZSTD_getErrorName(count)));
  const Head head{.kind = kind, .hash = hash, .bytes = raw.size(), .stored = count};
  write(&head, sizeof head);
  write(stored.data(), count);
}

Content ArchiveWriter::put(std::span<const std::uint8_t> bytes) {
  Content content{.bytes = bytes.size(), .blocks = {}};
  for (std::size_t at = 0; at < bytes.size(); at += block_bytes) {
    const auto part = bytes.subspan(at, std::min(block_bytes, bytes.size() - at));
    const Hash hash = hash_of(part);
    content.blocks.push_back(hash);
    if (known_.insert(hash).second) write_chunk(block, hash, part);
  }
  return content;
}

void ArchiveWriter::put_line(std::string_view text) {
  if (text.size() > most_line_bytes) throw std::runtime_error(fmt::format("a launch of {} bytes is too long for an archive", text.size()));
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  write_chunk(line, hash_of(bytes), bytes);
  file_.flush();
}

void ArchiveWriter::append(const std::filesystem::path& path) {
  if (!is_archive(path)) throw std::runtime_error(fmt::format("{} is no archive of launches", path.string()));
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(magic.size()));
  Head head;
  while (in.read(reinterpret_cast<char*>(&head), sizeof head)) {
    if (head.stored > ZSTD_compressBound(most_line_bytes))
      throw std::runtime_error(fmt::format("{}: a part of {} bytes is longer than any", path.string(), head.stored));
    std::vector<char> stored(head.stored);
    if (!in.read(stored.data(), static_cast<std::streamsize>(stored.size()))) break;
    if (head.kind == block && !known_.insert(head.hash).second) continue;
    write(&head, sizeof head);
    write(stored.data(), stored.size());
  }
  file_.flush();
}

ArchiveReader::ArchiveReader(const std::filesystem::path& path, std::uint64_t most_bytes)
    : path_(path), most_bytes_(most_bytes), file_(read_whole(path)) {
  if (!begins_as_archive(file_))
    throw std::runtime_error(fmt::format("{} is no archive of launches: 'warpmat record -- PROGRAM' writes one", path.string()));
  CheckedSize line_bytes = 0;
  for (std::size_t at = magic.size(); at != file_.size();) {
    Head head;
    cut_ = file_.size() - at < sizeof head;
    if (cut_) return;
    std::memcpy(&head, file_.data() + at, sizeof head);
    at += sizeof head;
    cut_ = head.stored > file_.size() - at;
    if (cut_) return;
    if (const std::size_t most = head.kind == Kind::line ? most_line_bytes : block_bytes; head.bytes > most)
      throw std::runtime_error(
          fmt::format("{}: the part at byte {} would unpack to {} bytes; {} are the most", path.string(), at, head.bytes, most));
    const Place place{.at = at, .stored = static_cast<std::size_t>(head.stored), .bytes = static_cast<std::size_t>(head.bytes)};
    if (head.kind == block) blocks_[head.hash] = place;
    if (head.kind == Kind::line) {
      lines_.push_back(place);
      line_bytes = line_bytes + head.bytes;
    }
    at += place.stored;
  }
  check_total(line_bytes, "its lines");
}

void ArchiveReader::fail_at(std::size_t at) const {
  throw std::runtime_error(fmt::format("{} is damaged at byte {}", path_.string(), at));
}

void ArchiveReader::check_total(CheckedSize bytes, std::string_view what) const {
  if (bytes.fits(most_bytes_)) return;
  throw std::runtime_error(fmt::format("{}: {} unpack to more than the {} bytes that --memory allows", path_.string(), what, most_bytes_));
}

std::vector<std::uint8_t> ArchiveReader::chunk(const Place& place) const {
  std::vector<std::uint8_t> bytes(place.bytes);
  const std::size_t count = ZSTD_decompress(bytes.data(), bytes.size(), file_.data() + place.at, place.stored);
  if (ZSTD_isError(count) != 0 || count != bytes.size()) fail_at(place.at);
  return bytes;
}

std::string ArchiveReader::line(std::size_t number) const {
  const std::vector<std::uint8_t> text = chunk(lines_.at(number));
  return {text.begin(), text.end()};
}

std::vector<std::uint8_t> ArchiveReader::read(const Content& content) const {
  check_total(content.bytes, "the contents of one buffer");
  std::vector<std::uint8_t> all;
  for (const Hash& hash : content.blocks) {
    const auto found = blocks_.find(hash);
    if (found == blocks_.end()) throw std::runtime_error(fmt::format("{} lacks the block {}", path_.string(), to_text({hash})));
    const std::vector<std::uint8_t> bytes = chunk(found->second);
    if (hash_of(bytes) != hash) throw std::runtime_error(fmt::format("{}: the block {} has other bytes", path_.string(), to_text({hash})));
    all.insert(all.end(), bytes.begin(), bytes.end());
    if (all.size() > content.bytes) break;
  }
  if (all.size() != content.bytes)
    throw std::runtime_error(fmt::format("{}: blocks of {} bytes for {}", path_.string(), all.size(), content.bytes));
  return all;
}

std::string ArchiveReader::read_text(const Content& content) const {
  const std::vector<std::uint8_t> bytes = read(content);
  return {bytes.begin(), bytes.end()};
}

bool is_archive(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string start(magic.size(), '\0');
  return static_cast<bool>(in.read(start.data(), static_cast<std::streamsize>(start.size()))) && start == magic;
}

}  // namespace warpmat::programs
