// The commands in docs/use print what stands below them. Those of debug.md are tests/planted/run's, which makes the folders that they run
// in.

#include <regex>

#include "command.h"
#include "test.h"

namespace warpmat::guide_test {
namespace {

/// A fenced block of a page: its language and its lines.
struct Block {
  std::string language, text;
};

std::vector<Block> blocks_of(const std::string& page) {
  std::vector<Block> blocks;
  std::istringstream in(page);
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) blocks.push_back({line.substr(3), ""});
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

/// The words of a command, with quotes around some of them as for a shell; what is written in docs is found wherever the tests run.
std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> std::quoted(word, '\'');) {
    const std::size_t file = word.starts_with("docs/") ? 0 : word.find("=docs/") + 1;
    if (word.starts_with("docs/") || file != 0) word = word.substr(0, file) + source_path(word.substr(file));
    words.push_back(word);
  }
  return words;
}

/// Runs a block's command. "sh fails" is one that ends with another status than 0.
void check_command(const Block& command, const Block& shown) {
  std::vector<std::string> words = words_of(command.text);
  REQUIRE(words.front() == "warpmat");
  words.erase(words.begin());
  const Outcome outcome = run_command(words);
  CAPTURE(command.text, outcome.err);
  CHECK((outcome.status != 0) == (command.language == "sh fails"));
  std::string printed = outcome.out + outcome.err;
  for (const std::string root = source_path(""); printed.find(root) != std::string::npos;) printed.erase(printed.find(root), root.size());
  CHECK(printed.ends_with(shown.text));
}

TEST_CASE("the commands of docs/use print what the pages show", "[guide]") {
  std::size_t commands = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_path("docs/use"))) {
    if (entry.path().extension() != ".md" || entry.path().filename() == "debug.md") continue;
    CAPTURE(entry.path().filename().string());
    const std::vector<Block> blocks = blocks_of(read_text(entry.path()));
    for (std::size_t i = 0; i + 1 < blocks.size(); ++i) {
      if (!blocks[i].language.starts_with("sh") || blocks[i + 1].language != "text") continue;
      check_command(blocks[i], blocks[i + 1]);
      ++commands;
    }
  }
  CHECK(commands >= 20);
}

/// The pictures of the pages, and the options of `layout` that draw them.
TEST_CASE("the pictures of docs/use are what layout draws", "[guide]") {
  const std::vector<std::pair<std::string, std::vector<std::string>>> pictures{
      {"mma_m16n8k16_a.svg", {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "--operand", "a"}},
      {"sparse_e.svg", {"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "--operand", "e"}},
      {"block_scales_a.svg",
       {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", "--operand", "scale-a"}},
      {"tile_b_swizzled.svg", {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "--operand", "b", "--swizzle", "32"}}};
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_path("docs/use")))
    found += entry.path().extension() == ".svg" && entry.path().filename() != "debug_tile.svg";
  CHECK(found == pictures.size());
  for (const auto& [file, options] : pictures) {
    std::vector<std::string> arguments{"layout", "--format", "svg"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    CHECK(run_command(arguments).out == read_text(source_path("docs/use/" + file)));
  }
}

TEST_CASE("the picture of hopper.md is what the command below it draws", "[guide]") {
  const std::string page = read_text(source_path("docs/use/hopper.md"));
  const std::regex picture(R"(!\[[^\]]*\]\((hopper/[a-z0-9_]+\.svg)\)\s+`warpmat ([^`]+)`)");
  std::size_t pictures = 0;
  for (std::sregex_iterator it(page.begin(), page.end(), picture), end; it != end; ++it, ++pictures) {
    const Outcome outcome = run_command(words_of((*it)[2]));
    CAPTURE((*it)[2].str());
    CHECK(outcome.out == read_text(source_path("docs/use/" + (*it)[1].str())));
  }
  CHECK(pictures == 1);
}

}  // namespace
}  // namespace warpmat::guide_test
