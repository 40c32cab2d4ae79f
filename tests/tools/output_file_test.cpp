#include <sys/stat.h>
#include <warpmat/files/output_file.h>

#include "command.h"
#include "test.h"

namespace warpmat::output_file_test {

namespace fs = std::filesystem;

TEST_CASE("an output has no name before it is whole", "[tools]") {
  const TemporaryDirectory directory;
  {
    OutputFile file(directory.path("a"));
    file.write(0, "half");
    CHECK(directory.files().empty());
  }
  CHECK(directory.files().empty());
  write_file(directory.path("a"), {"one", " two"});
  CHECK(directory.files() == std::vector<std::string>{"a"});
  CHECK(read_text(directory.path("a")) == "one two");
}

TEST_CASE("what is replaced keeps its mode, its other links, and stays behind symbolic ones", "[tools]") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("file"), hard = directory.path("hard"), link = directory.path("link");
  write_text(file, "old");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_hard_link(file, hard);
  fs::create_symlink("file", link);
  write_file(link, {"new"});
  CHECK(fs::is_symlink(link));
  CHECK(read_text(file) == "new");
  CHECK(read_text(hard) == "old");
  CHECK(fs::status(file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  fs::create_symlink("made", directory.path("dangling"));
  write_file(directory.path("dangling"), {"new"});
  CHECK(fs::is_symlink(directory.path("dangling")));
  CHECK(read_text(directory.path("made")) == "new");
  fs::create_symlink("loop", directory.path("loop"));
  CHECK_THROWS_WITH(write_file(directory.path("loop"), {""}), ContainsSubstring("symbolic links"));
  const mode_t mask = umask(0);
  umask(mask);
  write_file(directory.path("fresh"), {""});
  struct stat made {};
  REQUIRE(stat(directory.path("fresh").c_str(), &made) == 0);
  CHECK((made.st_mode & 0777U) == (0666U & ~mask));
}

}  // namespace warpmat::output_file_test
