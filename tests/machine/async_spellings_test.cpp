// Which spellings of asynchronous statements are taken: those that ptxas 13.0 takes for sm_90a, and no others.

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "catch.h"
#include "compressed_table.h"
#include "contains.h"
#include "machine/kernel.h"
#include "paths.h"
#include "tables/assembler.h"

namespace warpmat {
namespace {

constexpr const char* declarations =
    ".reg .pred %p<8>; .reg .b16 %rs<9>; .reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .f32 %f<9>; .reg .f64 %fd<9>; "
    ".shared .align 128 .b8 tile[1024];";

/// What ptxas takes and warpmat refuses on purpose, by how the statement begins, and what the refusal says.
struct Refusal {
  std::string_view begin, reason;
};
constexpr std::array refusals{
    Refusal{"multimem.", "multimem addresses are memory of several GPUs"},
    Refusal{"mapa.u32 ", "takes a generic address, which has 64 bits"},
    Refusal{"getctarank.u32 ", "takes a generic address, which has 64 bits"},
    Refusal{"mov.u32 %r1, %pm", "counts events of the hardware"},
    Refusal{"mov.u64 %rd1, %pm", "counts events of the hardware"},
    Refusal{"mov.u32 %r1, %gridid", "%gridid has 64 bits"},
    Refusal{"mov.v4.u32 ", "does not move vectors"},
};

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

TEST_CASE("asynchronous statements are taken as ptxas 13.0 takes them for sm_90a, or refused by name", "[machine][spellings]") {
  const Spellings& all = spellings();
  REQUIRE(all.statements.size() > 5000);
  const Complaints complaints = complaints_of(all.statements);
  std::size_t refused = 0;
  std::set<std::string_view> used;
  for (std::size_t i = 0; i < all.statements.size(); ++i) {
    const std::string& statement = all.statements[i];
    const auto complaint = complaints.find(static_cast<int>(i));
    const auto* const refusal = std::ranges::find_if(refusals, [&](const Refusal& r) { return statement.starts_with(r.begin); });
    const bool expected = all.taken[i] && refusal == refusals.end();
    if (expected != (complaint == complaints.end()))
      FAIL_CHECK(fmt::format("{}: {}", statement, complaint == complaints.end() ? "taken, but not by ptxas" : complaint->second));
    if (!all.taken[i] || expected || complaint == complaints.end()) continue;
    CHECK_THAT(complaint->second, ContainsSubstring(std::string(refusal->reason)));
    used.insert(refusal->begin);
    ++refused;
  }
  CHECK(used.size() == refusals.size());
  CHECK(refused < 30);
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
}  // namespace warpmat
