#include <zlib.h>

#include "command.h"
#include "test.h"

namespace warpmat::packed_file_test {
namespace {

void write_packed(const std::string& path, const std::string& text) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "wb9"), gzclose);
  REQUIRE(file);
  REQUIRE(gzwrite(file.get(), text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
}

/// A module whose kernel prints the number by trapping or ending: `statement` is what it does.
std::string module_that(const std::string& statement) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n.entry k() {\n" + statement + "\n}\n";
}

TEST_CASE("a .ptx that is only there as .ptx.gz is launched, checked and named by a launch.json", "[tools]") {
  const TemporaryDirectory directory;
  write_packed(directory.path("k.ptx.gz"), module_that("trap;"));
  write_text(directory.path("launch.json"), R"({"ptx": "k.ptx", "grid": [1, 1, 1], "block": [32, 1, 1]})");
  for (const char* const file : {"k.ptx", "launch.json"}) {
    const Outcome outcome = run_command({"launch", directory.path(file)});
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.err, "the kernel executes a trap"));
  }
  CHECK(run_command({"check", directory.path("k.ptx")}).status == 0);

  write_text(directory.path("k.ptx"), module_that("ret;"));  // what a compiler has just written is taken before the packed file
  CHECK(run_command({"launch", directory.path("launch.json"), "--quiet"}).status == 0);
}

TEST_CASE("a damaged .ptx.gz is one clear error", "[tools]") {
  const TemporaryDirectory directory;
  write_packed(directory.path("k.ptx.gz"), module_that("ret;"));
  std::string bytes = read_text(directory.path("k.ptx.gz"));
  bytes.resize(bytes.size() / 2);
  write_text(directory.path("k.ptx.gz"), bytes);
  const Outcome outcome = run_command({"launch", directory.path("k.ptx")});
  CHECK(outcome.status == 1);
  CHECK(outcome.err == "warpmat: error: cannot read " + directory.path("k.ptx.gz") + ": it is damaged, or not compressed by gzip\n");
}

}  // namespace
}  // namespace warpmat::packed_file_test
