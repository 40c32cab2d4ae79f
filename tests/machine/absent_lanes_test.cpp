// Lanes that have exited, are elsewhere or do not execute: what an H100 did (tests/vectors/absent_lanes), and what is reported.

#include "compressed_table.h"
#include "machine/kernel.h"
#include "test.h"

namespace warpmat::absent_lanes_test {
namespace {

constexpr std::size_t words_of_thread = 16, max_in = 384;
constexpr std::uint32_t untouched = 0xcccccccc;

/// Kernels, or cases of one, that the H100 executes although PTX asks otherwise: one statement for all lanes of the warp, all warps of the
/// warpgroup. They end with a report here.
const std::set<std::string> refused{"barrier_two_sites", "arrive_part", "arrive_twice", "setmaxnreg.warp0", "setmaxnreg.warp3"};

Module read_kernels() {
  std::string text;
  for (const std::string& line : read_compressed_lines(source_path("tests/vectors/absent_lanes/kernels.ptx.gz"))) text += line + '\n';
  return Module(text);
}

std::vector<std::string> split_words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

std::vector<std::uint32_t> numbers_of(const std::string& text) {
  std::vector<std::uint32_t> numbers;
  for (const std::string& word : split_words(text)) numbers.push_back(static_cast<std::uint32_t>(std::stoul(word, nullptr, 16)));
  return numbers;
}

/// "" where all words are those of `expected`, in which "-" is an unwritten word and "?" any; else the first word that differs.
std::string difference(const std::vector<std::uint32_t>& found, const std::string& expected) {
  const std::vector<std::string> words = split_words(expected);
  if (words.size() != found.size()) return fmt::format("{} words of {}", found.size(), words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = found[i] == untouched ? "-" : fmt::format("{:x}", found[i]);
    if (words[i] != "?" && words[i] != word)
      return fmt::format("thread {} word {}: {} instead of {}", i / words_of_thread, i % words_of_thread, word, words[i]);
  }
  return "";
}

struct Answer {
  std::vector<std::uint32_t> words;
  std::string trap;
};

Answer run(const Kernel& kernel, const LaunchConfig& config, std::vector<std::uint32_t> in) {
  DeviceMemory memory;
  in.resize(max_in);
  const std::size_t count = words_of_thread * config.grid.count() * config.block.count();
  const std::uint64_t from = memory.allocate(in, "in"), out = memory.allocate(std::vector<std::uint32_t>(count, untouched), "out");
  try {
    launch(kernel, config, memory, {from, out}, {.most_operations = 20'000'000});
  } catch (const Trap& trap) {
    return {{}, trap.what()};
  }
  return {memory.read<std::uint32_t>(out, count), {}};
}

TEST_CASE("absent lanes: where an H100 goes on, every word is the same; where it hangs or faults, there is a report", "[machine][lanes]") {
  const Module module = read_kernels();
  std::map<std::string, Kernel> kernels;
  std::map<std::string, int> seen;
  for (const auto& row : read_table(source_path("tests/vectors/absent_lanes/sm_90.tsv.gz"))) {
    if (row.front().starts_with('#')) continue;
    const std::string &entry = row[0], &outcome = row[6], name = entry + "." + row[1];
    const Kernel& kernel = kernels.try_emplace(entry, module, entry, KernelOptions{.target = "sm_90a"}).first->second;
    const auto number = [&](std::size_t column) { return static_cast<std::uint32_t>(std::stoul(row[column])); };
    const Answer answer = run(kernel, {.grid = {number(2)}, .block = {number(3)}, .cluster = {number(4)}}, numbers_of(row[5]));
    INFO(name << ": " << outcome << "; here: " << (answer.trap.empty() ? "ok" : answer.trap));
    ++seen[outcome.substr(0, outcome.find(':'))];
    if (outcome == "ok" && !refused.contains(entry) && !refused.contains(name))
      CHECK(difference(answer.words, row[7]) == "");
    else
      CHECK_FALSE(answer.trap.empty());
    CHECK(answer.trap.find("operations") == std::string::npos);  // no limit was reached
  }
  CHECK(seen["ok"] > 300);
  CHECK(seen["hang"] > 50);
  CHECK(seen["fault"] > 5);
  CHECK(seen["not executed"] > 30);
}

TEST_CASE("a check reports lanes that a shuffle reads and that take no part; without it the launch names the statement",
          "[machine][lanes]") {
  const auto found = [](const std::string& body, bool check) {
    DeviceMemory memory;
    const std::uint64_t out = memory.allocate(128, "out");
    const Kernel kernel(word_kernel(body), "k");
    std::vector<std::string> statements;
    const std::string message = message_of(
        [&] { statements = launch(kernel, {.grid = {1}, .block = {32}}, memory, {out}, {.checks = {.lanes = check}}).absent_lanes; });
    return message + (statements.empty() ? "" : "; " + statements.front());
  };
  const std::string away = "setp.ge.u32 %p1, %i, 20; @%p1 bra END; ", exit = "setp.ge.u32 %p1, %i, 20; @%p1 exit; ";
  const std::string named = "shfl.sync.down.b32 %d, %i, 1, 31, 0xfffff; END:", all = "shfl.sync.down.b32 %d, %i, 1, 31, -1;";
  CHECK_THAT(found(away + named, true),
             ContainsSubstring("lane 19, line 17 (shfl.sync.down.b32): reads lane 20, which its mask 0x000fffff does not name"));
  CHECK_THAT(found(exit + all, true), ContainsSubstring("lane 19, line 17 (shfl.sync.down.b32): reads lane 20, which has exited"));
  CHECK_THAT(found("setp.lt.u32 %p1, %i, 20; @%p1 " + all, true), ContainsSubstring("reads lane 20, which does not execute the statement"));
  CHECK_THAT(found("and.b32 %r1, %i, 24; shl.b32 %r2, 255, %r1; shfl.sync.idx.b32 %d, %i, 9, 31, %r2;", true),
             ContainsSubstring("lane 0, line 17 (shfl.sync.idx.b32): reads lane 9, which its mask 0x000000ff does not name"));
  CHECK(found(exit + all, false) == "nothing; line 17 (shfl.sync.down.b32)");
  CHECK(found(all, true) == "nothing");
  CHECK(found(exit + "shfl.sync.up.b32 %d, %i, 1, 0, -1;", true) == "nothing");
}

TEST_CASE("what a warp did before it exited comes before the barriers of the others", "[machine][lanes]") {
  const std::string store = ".shared .align 16 .b32 words[64]; mov.u32 %r1, words; shl.b32 %r2, %i, 2; add.u32 %r2, %r2, %r1; ";
  const std::string rest = "setp.ge.u32 %p1, %i, 32; @%p1 exit; bar.sync 0; ld.shared.u32 %d, [%r2+128];";
  const LaunchOptions options{.checks = {.races = true}};
  const auto stored = words_of(word_kernel(store + "st.shared.u32 [%r2], %i; " + rest), {1}, {64}, options);
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(stored[i] == (i < 32 ? i + 32 : 0));
  const std::string copy = "st.global.u32 [%out], %i; cp.async.ca.shared.global [%r2], [%out], 4; cp.async.wait_all; ";
  const auto copied = words_of(word_kernel(store + copy + rest), {1}, {64}, options);
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(copied[i] == (i < 32 ? i + 32 : i));
  const std::string counted = "st.shared.u32 [%r2], %i; setp.ge.u32 %p1, %i, 32; @%p1 exit; bar.sync 0, 32; ld.shared.u32 %d, [%r2+128];";
  // The load may come before the store: then it is uninitialised, too.
  const LaunchOptions races_alone{.checks = {.uninitialised = false, .races = true}};
  CHECK_THAT(message_of([&] { words_of(word_kernel(store + counted), {1}, {64}, races_alone); }), ContainsSubstring("race at"));
}

}  // namespace
}  // namespace warpmat::absent_lanes_test
