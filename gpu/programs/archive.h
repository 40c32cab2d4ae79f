#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/numeric/checked_size.h>

namespace warpmat::programs {

// The file of a program's recorded launches: lines of JSON, and the contents of memory in blocks of 64 KiB, each once, compressed by zstd.
// It is only appended to, so that what a killed program leaves behind can be read.

/// XXH3 of 128 bits: the name of a block.
using Hash = std::array<std::uint8_t, 16>;

/// Bytes as a list of blocks.
struct Content {
  std::uint64_t bytes = 0;
  std::vector<Hash> blocks;
  friend bool operator==(const Content&, const Content&) = default;
};

/// Hexadecimal digits, 32 for each block.
std::string to_text(const std::vector<Hash>& blocks);
/// The inverse. Throws std::runtime_error.
std::vector<Hash> parse_hashes(std::string_view text);

class ArchiveWriter {
 public:
  /// Creates the file. Throws std::runtime_error.
  explicit ArchiveWriter(const std::filesystem::path& path);

  /// Adds the blocks that the file does not have.
  Content put(std::span<const std::uint8_t> bytes);
  /// Adds a line, and gives all to the operating system.
  void put_line(std::string_view text);
  /// Adds all of another archive, in its order. Throws std::runtime_error unless it is one.
  void append(const std::filesystem::path& path);

  std::uint64_t bytes() const { return bytes_; }  ///< of the file

 private:
  void write_chunk(std::uint32_t kind, const Hash& hash, std::span<const std::uint8_t> raw);
  void write(const void* from, std::size_t count);

  std::filesystem::path path_;
  std::ofstream file_;
  std::set<Hash> known_;
  std::uint64_t bytes_ = 0;
};

class ArchiveReader {
 public:
  static constexpr std::uint64_t usual_most_bytes = std::uint64_t{4} << 30;

  /// Reads the list of what the file has. Throws std::runtime_error unless it is an archive, and where its lines, or later the contents of
  /// a launch, are more than `most_bytes`.
  explicit ArchiveReader(const std::filesystem::path& path, std::uint64_t most_bytes = usual_most_bytes);

  std::size_t lines() const { return lines_.size(); }
  /// Precondition: number < lines().
  std::string line(std::size_t number) const;
  /// Throws std::runtime_error with the limit, and that --memory raises it, where `what` unpacks to more bytes.
  void check_total(CheckedSize bytes, std::string_view what) const;
  /// Whether the file ends within a chunk, as a killed program leaves it.
  bool cut() const { return cut_; }
  /// Throws std::runtime_error where a block is missing or its bytes are not those of its name.
  std::vector<std::uint8_t> read(const Content& content) const;
  std::string read_text(const Content& content) const;

 private:
  struct Place {
    std::size_t at = 0, stored = 0, bytes = 0;
  };
  std::vector<std::uint8_t> chunk(const Place& place) const;
  [[noreturn]] void fail_at(std::size_t at) const;

  std::filesystem::path path_;
  std::uint64_t most_bytes_;
  std::vector<std::uint8_t> file_;
  std::vector<Place> lines_;
  std::map<Hash, Place> blocks_;
  bool cut_ = false;
};

/// Whether the file begins as an archive does.
bool is_archive(const std::filesystem::path& path);

}  // namespace warpmat::programs
