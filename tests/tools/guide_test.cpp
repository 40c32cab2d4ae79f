// The commands in docs/guide print what stands below them.

#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "catch.h"
#include "command.h"
#include "paths.h"

namespace warpmat {
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

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

TEST_CASE("the commands of docs/guide print what the pages show", "[guide]") {
  std::size_t commands = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_path("docs/guide"))) {
    if (entry.path().extension() != ".md") continue;
    CAPTURE(entry.path().filename().string());
    const std::vector<Block> blocks = blocks_of(read_text(entry.path()));
    for (std::size_t i = 0; i + 1 < blocks.size(); ++i) {
      if (blocks[i].language != "sh" || blocks[i + 1].language != "text") continue;
      std::vector<std::string> words = words_of(blocks[i].text);
      REQUIRE(words.front() == "warpmat");
      words.erase(words.begin());
      for (std::string& word : words)
        if (word.starts_with("docs/")) word = source_path(word);
      const Outcome outcome = run_command(words);
      CHECK(outcome.status == 0);
      CHECK(outcome.out.ends_with(blocks[i + 1].text));
      ++commands;
    }
  }
  CHECK(commands >= 3);
}

TEST_CASE("the picture of the README is what layout draws", "[guide]") {
  const Outcome outcome = run_command({"layout", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "--operand", "a", "--format", "svg"});
  CHECK(outcome.out == read_text(source_path("docs/guide/mma_m16n8k16_a.svg")));
}

TEST_CASE("the pictures of hopper.md are what the commands below them draw", "[guide]") {
  const std::string page = read_text(source_path("docs/hopper.md"));
  const std::regex picture(R"(!\[[^\]]*\]\((guide/[a-z0-9_]+\.svg)\)\s+`warpmat ([^`]+)`)");
  std::size_t pictures = 0;
  for (std::sregex_iterator it(page.begin(), page.end(), picture), end; it != end; ++it, ++pictures) {
    const Outcome outcome = run_command(words_of((*it)[2]));
    CAPTURE((*it)[2].str());
    CHECK(outcome.out == read_text(source_path("docs/" + (*it)[1].str())));
  }
  CHECK(pictures == 4);
}

}  // namespace
}  // namespace warpmat
