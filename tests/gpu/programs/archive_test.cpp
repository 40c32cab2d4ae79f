#include "gpu/programs/archive.h"

#include "test.h"
#include "tools/command.h"

namespace warpmat::archive_test {
namespace {

using namespace warpmat::programs;

std::vector<std::uint8_t> numbered(std::size_t count, std::uint8_t first) {
  std::vector<std::uint8_t> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(first + i * 7 + i / 1000);
  return bytes;
}

std::vector<std::string> lines_of(const ArchiveReader& reader) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < reader.lines(); ++i) lines.push_back(reader.line(i));
  return lines;
}

/// Writes `bytes` as the size that the file's first chunk claims.
void claim(const std::string& path, std::uint64_t bytes) {
  std::string file = read_text(path);
  constexpr std::size_t magic = 19, kind_and_hash = 24;
  for (std::size_t i = 0; i < sizeof bytes; ++i) file.at(magic + kind_and_hash + i) = static_cast<char>(bytes >> 8 * i);
  write_text(path, file);
}

TEST_CASE("an archive gives back contents and lines, and has equal blocks once", "[programs]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path("a.launches");
  std::vector<std::uint8_t> long_one = numbered(200'000, 1), changed = long_one;
  changed[150'000] ^= 1;
  Content first, second, empty;
  {
    ArchiveWriter writer(path);
    first = writer.put(long_one);
    const std::uint64_t with_one = writer.bytes();
    CHECK(writer.put(long_one) == first);
    CHECK(writer.bytes() == with_one);
    second = writer.put(changed);
    empty = writer.put({});
    writer.put_line("one");
    writer.put_line("");
  }
  CHECK(first.blocks.size() == 4);
  CHECK(second.blocks[1] == first.blocks[1]);
  CHECK(second.blocks[2] != first.blocks[2]);
  const ArchiveReader reader(path);
  CHECK(lines_of(reader) == std::vector<std::string>{"one", ""});
  CHECK(reader.read(first) == long_one);
  CHECK(reader.read(second) == changed);
  CHECK(reader.read(empty).empty());
  CHECK_FALSE(reader.cut());
  CHECK(parse_hashes(to_text(first.blocks)) == first.blocks);
}

TEST_CASE("archives of several processes become one", "[programs]") {
  const TemporaryDirectory directory;
  const std::vector<std::uint8_t> shared = numbered(1000, 3), own = numbered(1000, 4);
  {
    ArchiveWriter a(directory.path("a")), b(directory.path("b")), all(directory.path("all"));
    a.put(shared);
    a.put_line("a");
    b.put(shared);
    b.put(own);
    b.put_line("b");
    all.append(directory.path("a"));
    all.append(directory.path("b"));
  }
  const ArchiveReader reader(directory.path("all"));
  CHECK(lines_of(reader) == std::vector<std::string>{"a", "b"});
  ArchiveWriter names(directory.path("names"));
  CHECK(reader.read(names.put(own)) == own);
  CHECK(std::filesystem::file_size(directory.path("all")) <
        std::filesystem::file_size(directory.path("a")) + std::filesystem::file_size(directory.path("b")) - 100);
}

TEST_CASE("an archive whose part says that it is longer than any is not added", "[programs]") {
  const TemporaryDirectory directory;
  { ArchiveWriter(directory.path("a")).put_line("a"); }
  std::string bytes = read_text(directory.path("a"));
  const std::size_t size_of_stored = std::string("warpmat launches 1\n").size() + 32;
  for (std::size_t i = 0; i < 8; ++i) bytes[size_of_stored + i] = '\x7f';
  write_text(directory.path("a"), bytes);
  ArchiveWriter all(directory.path("all"));
  CHECK_THROWS_WITH(all.append(directory.path("a")), ContainsSubstring("longer than any"));
}

TEST_CASE("what a killed program leaves can be read; damage and other files are refused", "[programs]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path("a.launches");
  Content content;
  {
    ArchiveWriter writer(path);
    content = writer.put(numbered(1000, 1));
    writer.put_line("first");
    writer.put_line("second");
  }
  const std::string whole = read_text(path);
  write_text(path, whole.substr(0, whole.size() - 1));
  const ArchiveReader shorter(path);
  CHECK(shorter.cut());
  CHECK(lines_of(shorter) == std::vector<std::string>{"first"});
  CHECK(shorter.read(content) == numbered(1000, 1));
  std::string damaged = whole;
  damaged[120] = static_cast<char>(damaged[120] ^ 1);
  write_text(path, damaged);
  CHECK_THROWS_AS(ArchiveReader(path).read(content), std::runtime_error);
  write_text(path, "PTX");
  CHECK_FALSE(is_archive(path));
  CHECK_THROWS_WITH(ArchiveReader(path), ContainsSubstring("is no archive of launches"));
  content.blocks.front()[0] = static_cast<std::uint8_t>(content.blocks.front()[0] ^ 1);
  write_text(path, whole);
  CHECK_THROWS_WITH(ArchiveReader(path).read(content), ContainsSubstring("lacks the block"));
  CHECK_THROWS_AS(parse_hashes("0g"), std::runtime_error);
}

TEST_CASE("what an archive unpacks to is bounded in all, and a claim is not believed", "[programs]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path("a.launches");
  Content content;
  {
    ArchiveWriter writer(path);
    for (int i = 0; i < 3; ++i) writer.put_line(std::string(100'000, ' '));
    content = writer.put(std::vector<std::uint8_t>(200'000));
    CHECK_THROWS_AS(writer.put_line(std::string(17 << 20, ' ')), std::runtime_error);
  }
  CHECK(ArchiveReader(path, 300'000).lines() == 3);
  CHECK_THROWS_WITH(ArchiveReader(path, 299'999), ContainsSubstring("--memory"));
  CHECK(ArchiveReader(path, 300'000).read(content).size() == 200'000);
  Content many = content;  // of which each block is there once
  for (int i = 0; i < 1000; ++i) many.blocks.push_back(many.blocks.front());
  many.bytes = many.blocks.size() * (64 << 10);
  CHECK_THROWS_WITH(ArchiveReader(path, 300'000).read(many), ContainsSubstring("--memory"));
  many.bytes = 200'000;
  CHECK_THROWS_WITH(ArchiveReader(path, 300'000).read(many), ContainsSubstring("for 200000"));
  claim(path, 99'999);
  CHECK_THROWS_WITH(ArchiveReader(path).line(0), ContainsSubstring("damaged"));
  claim(path, 1 << 20);
  CHECK_THROWS_WITH(ArchiveReader(path).line(0), ContainsSubstring("damaged"));
  claim(path, 1 << 30);
  CHECK_THROWS_WITH(ArchiveReader(path), ContainsSubstring("would unpack to 1073741824 bytes"));
}

}  // namespace
}  // namespace warpmat::archive_test
