#include <regex>

#include "test.h"
#include "tools/command.h"

// What runs for the project elsewhere: the workflows, and the action that others use.

namespace warpmat::workflows_test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> workflows() {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(source_path(".github/workflows"))) files.push_back(entry.path());
  return files;
}

/// A release in a folder, as the action finds it by an address.
class Release {
 public:
  explicit Release(const std::string& archive) {
    fs::create_directories(folder());
    write_text(folder() / name(), archive);
  }

  void publish(const std::string& digests) { write_text(folder() / "SHA256SUMS", digests); }

  static std::string name() { return "warpmat-1.2.3-linux-" + machine() + ".tar.gz"; }

  Outcome download(const std::string& digest = "") {
    return run_program(source_path("tools/action"), {"download", "1.2.3", directory_.path("got")},
                       {"GITHUB_SERVER_URL=file://" + directory_.path("server"), "WARPMAT_REPOSITORY=o/w", "WARPMAT_SHA256=" + digest});
  }
  std::vector<std::string> got() const {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory_.path("got"))) names.push_back(entry.path().filename());
    return names;
  }

 private:
  static std::string machine() {
    std::string text = run_program("uname", {"-m"}).out;
    return text.substr(0, text.find('\n'));
  }
  fs::path folder() const { return directory_.path("server/o/w/releases/download/v1.2.3"); }

  TemporaryDirectory directory_;
};

constexpr const char* digest_of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";  // FIPS 180-2
constexpr const char* digest_of_nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

TEST_CASE("actions of others are named by their commits, and each workflow says what it may do", "[structure]") {
  std::vector<fs::path> files = workflows();
  for (const fs::path& file : files) {
    INFO(file);
    CHECK_THAT(read_text(file), ContainsSubstring("\npermissions:\n  contents: read\n"));
  }
  files.push_back(source_path("action.yml"));
  const std::regex by_commit(R"(uses: [\w/-]+@[0-9a-f]{40}  # v[0-9.]+$)");
  int named = 0;
  for (const fs::path& file : files) {
    std::istringstream lines(read_text(file));
    for (std::string line; std::getline(lines, line);) {
      if (line.find(" uses: ") == std::string::npos || line.starts_with('#') || line.find("uses: ./") != std::string::npos) continue;
      INFO(file << ": " << line);
      CHECK(std::regex_search(line, by_commit));
      ++named;
    }
  }
  CHECK(named > 10);
}

TEST_CASE("the action takes a release's archive by its digest alone", "[structure]") {
  if (run_program("sh", {"-c", "command -v curl && command -v sha256sum"}).status != 0) {
    WARN("skipped: no curl or no sha256sum in PATH");
    return;
  }
  Release release("abc");
  release.publish(digest_of_nothing + std::string("  other.deb\n") + digest_of_abc + "  " + Release::name() + "\n");
  const Outcome right = release.download();
  INFO(right.err);
  CHECK(right.status == 0);
  CHECK(release.got() == std::vector{Release::name()});
  CHECK(release.download(digest_of_abc).status == 0);
  const struct {
    std::string published, digest;
  } wrong[] = {{digest_of_nothing + ("  " + Release::name()) + "\n", ""},
               {digest_of_abc + std::string("  other.tar.gz\n"), ""},
               {"", ""},
               {digest_of_abc + ("  " + Release::name()) + "\n", digest_of_nothing}};
  for (const auto& each : wrong) {
    release.publish(each.published);
    const Outcome refused = release.download(each.digest);
    CHECK(refused.status != 0);
    CHECK_THAT(refused.err, ContainsSubstring("SHA-256"));
    CHECK(release.got().empty());
  }
}

}  // namespace
}  // namespace warpmat::workflows_test
