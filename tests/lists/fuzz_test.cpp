#include "catch.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "lists/random_program.h"
#include "paths.h"
#include "ptx/mutator.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace warpmat::fuzz_test {
namespace {

/// Makes inputs from `seeds`: a seed or a random program, mutated a few times, or random bytes.
class Inputs {
 public:
  explicit Inputs(std::vector<std::string> seeds) : seeds_(std::move(seeds)), mutator_(seeds_, 15) {}

  std::string next() {
    if (mutator_.below(20) == 0) return mutator_.random_bytes(mutator_.below(100));
    std::string text = mutator_.below(2) == 0
                           ? random_program(mutator_.random(), 1 + static_cast<int>(mutator_.below(6)), mutator_.below(2) == 0)
                           : seeds_[mutator_.below(seeds_.size())];
    for (std::size_t i = 1 + mutator_.below(4); i-- > 0;) mutator_.mutate(text);
    return text;
  }

 private:
  std::vector<std::string> seeds_;
  Mutator mutator_;
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

void feed(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

}  // namespace

TEST_CASE("fuzz: mutated programs and random bytes neither crash the parser nor change on printing") {
  Inputs inputs(seeds());
  const int count = fuzz_inputs(20000);
  for (int i = 0; i < count; ++i) feed(inputs.next());
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

}  // namespace warpmat::fuzz_test
