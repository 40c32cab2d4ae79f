// Which spellings of asynchronous statements are taken: those that ptxas 13.0 takes for sm_90a, and no others.

#include "compressed_table.h"
#include "machine/kernel.h"
#include "tables/assembler.h"
#include "test.h"

namespace warpmat::async_spellings_test {
namespace {

constexpr const char* declarations =
    ".reg .pred %p<8>; .reg .b16 %rs<9>; .reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .f32 %f<9>; .reg .f64 %fd<9>; "
    ".shared .align 128 .b8 tile[1024];";

struct Spellings {
  std::vector<std::string> statements;
  std::vector<bool> taken;  ///< by ptxas
};

const Spellings& spellings() {
  static const Spellings all = [] {
    Spellings read;
    for (const std::string& line : read_compressed_lines(source_path("tests/vectors/ptxas_13.0_async.tsv.gz"))) {
      if (line.starts_with('#')) continue;
      read.taken.push_back(line[0] == '1');
      read.statements.push_back(line.substr(2));
    }
    return read;
  }();
  return all;
}

/// What resolving kernels of these statements complains of, by the statement's number.
Complaints complaints_of(std::span<const std::string> statements) {
  constexpr std::size_t together = 50;  // a kernel's first hundred errors are told
  constexpr int first_line = 8;         // of the statements in module_of's text
  Complaints complaints;
  for (std::size_t first = 0; first < statements.size(); first += together) {
    std::string text = std::string(declarations) + "\n";
    for (const std::string& statement : statements.subspan(first, std::min(together, statements.size() - first))) text += statement + "\n";
    try {
      Kernel(module_of("", text + "ret;", "sm_90a"), "k");
    } catch (const SyntaxError& error) {
      for (const Diagnostic& diagnostic : error.errors)
        complaints.try_emplace(static_cast<int>(first) + diagnostic.location.line - first_line, diagnostic.message);
    }
  }
  return complaints;
}

TEST_CASE("asynchronous statements are taken as ptxas 13.0 takes them for sm_90a", "[machine][spellings]") {
  const Spellings& all = spellings();
  REQUIRE(all.statements.size() > 5000);
  const Complaints complaints = complaints_of(all.statements);
  for (std::size_t i = 0; i < all.statements.size(); ++i) {
    const auto complaint = complaints.find(static_cast<int>(i));
    if (all.taken[i] != (complaint == complaints.end()))
      FAIL_CHECK(fmt::format("{}: {}", all.statements[i], complaint == complaints.end() ? "taken, but not by ptxas" : complaint->second));
  }
}

TEST_CASE("the installed ptxas takes what the table of asynchronous statements says", "[machine][ptxas]") {
  if (!has_ptxas()) {
    WARN("skipped: no ptxas 13.0 to compare the recorded table with");
    return;
  }
  std::vector<std::string> taken;
  for (std::size_t i = 0; i < spellings().statements.size(); ++i)
    if (spellings().taken[i]) taken.push_back(spellings().statements[i]);
  const auto complaints = ptxas_says("sm_90a", {9, 0}, declarations, taken);
  REQUIRE(complaints);
  CHECK(complaints->empty());
}

}  // namespace
}  // namespace warpmat::async_spellings_test
