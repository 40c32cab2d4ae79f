#include "catch.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <warpmat/ptx/lexer.h>

#include "paths.h"
#include "ptx/random_program.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace warpmat {
namespace {

/// Makes inputs from `seeds`: a seed, mutated a few times, or random bytes.
class Mutator {
 public:
  explicit Mutator(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {
    for (const std::string& seed : seeds_)
      for (const Token& token : tokenize(seed)) tokens_.emplace_back(token.text);
  }

  std::string next() {
    if (below(20) == 0) return random_bytes(below(100));
    std::string text = below(2) == 0 ? random_program(random_, 1 + static_cast<int>(below(6)), below(2) == 0) : any(seeds_);
    for (std::size_t i = 1 + below(4); i-- > 0;) mutate(text);
    return text;
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }
  const std::string& any(const std::vector<std::string>& list) { return list[below(list.size())]; }

  std::string random_bytes(std::size_t count) {
    std::string bytes;
    while (bytes.size() < count) bytes += static_cast<char>(random_());
    return bytes;
  }

  void mutate(std::string& text) {
    const std::size_t at = below(text.size() + 1), length = below(std::min<std::size_t>(text.size() - at, 40) + 1);
    switch (below(7)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3:
        text.insert(at, any(tokens_));
        break;
      case 4:
        text.insert(at, random_bytes(1 + below(3)));
        break;
      case 5:
        splice_token(text);
        break;
      case 6:
        text.resize(at);
        break;
    }
  }

  /// Replaces one token of `text` by another.
  void splice_token(std::string& text) {
    const std::vector<Token> tokens = tokenize(text);
    const Token& token = tokens[below(tokens.size())];
    text.replace(static_cast<std::size_t>(token.text.data() - text.data()), token.text.size(), any(tokens_));
  }

  std::mt19937 random_{15};
  std::vector<std::string> seeds_, tokens_;
};

std::vector<std::string> seeds() {
  std::vector<std::string> out;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(source_path("tests/programs")))
    if (entry.path().extension() == ".ptx") paths.push_back(entry.path());
  std::ranges::sort(paths);
  for (const auto& path : paths) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    out.push_back(text.str());
  }
  return out;
}

/// WARPMAT_FUZZ_INPUTS says how many inputs to try instead.
int inputs() {
#ifdef __SANITIZE_ADDRESS__
  constexpr int usual = 4000;
#else
  constexpr int usual = 20000;
#endif
  const char* const wanted = std::getenv("WARPMAT_FUZZ_INPUTS");
  return wanted != nullptr ? std::atoi(wanted) : usual;
}

void feed(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

}  // namespace

TEST_CASE("fuzz: mutated programs and random bytes neither crash the parser nor change on printing") {
  Mutator mutator(seeds());
  const int count = inputs();
  for (int i = 0; i < count; ++i) feed(mutator.next());
  SUCCEED(count);
}

TEST_CASE("fuzz: large programs parse in bounded time") {
  const auto begin = std::chrono::steady_clock::now();
  feed(".reg .b32 %r<65536>;");
  std::string one_line, many_lines, registers;
  for (int i = 0; i < 5000; ++i) {
    one_line += "x;";
    many_lines += "x;\n";
    registers += "mov.u32 a" + std::to_string(i) + "," + std::to_string(i) + ";";
  }
  for (const std::string& text : {one_line, many_lines, registers}) feed(text);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}

}  // namespace warpmat
