// The rule of bank conflicts against the cycles that an H200 took (tests/vectors/banks).

#include <warpmat/explain.h>
#include <warpmat/warp.h>

#include "compressed_table.h"
#include "test.h"
#include "vectors/banks/patterns.h"

namespace warpmat::checks::bank_conflicts_test {
namespace {

/// An instruction of the measurement, as the rule sees it.
struct Measured {
  BankAccess access;
  std::uint32_t bytes;
  LaneMask lanes = all_lanes;
};

/// "ld.64", "ldmatrix.x2.trans", "cp.async.16".
Measured measured(const std::string& name) {
  const auto bits = [&](const char* prefix) { return static_cast<std::uint32_t>(std::stoi(name.substr(std::string(prefix).size()))); };
  if (name.starts_with("cp.async.")) return {BankAccess::copy, bits("cp.async.")};
  if (name.find("matrix") != std::string::npos) {
    const int matrices = name[name.find(".x") + 2] - '0';
    return {BankAccess::matrix, 16, matrices == 4 ? all_lanes : lane_bit(8 * matrices) - 1};
  }
  return name.starts_with("ld.") ? Measured{BankAccess::load, bits("ld.") / 8} : Measured{BankAccess::store, bits("st.") / 8};
}

std::vector<std::uint64_t> pattern(std::uint32_t bytes, int number) {
  const bank_patterns::Addresses addresses = bank_patterns::addresses(bytes, number);
  return {addresses.begin(), addresses.end()};
}

int predicted(const Measured& m, const std::vector<std::uint64_t>& addresses) {
  return wavefronts(bank_phases(m.access, m.bytes, addresses, m.lanes));
}

TEST_CASE("the wavefronts of every measured pattern are the cycles that an H200 took", "[banks]") {
  Tally tally;
  std::map<std::string, int> patterns;
  for (const auto& fields : read_table(source_path("tests/vectors/banks/sm_90.tsv.gz"))) {
    const Measured m = measured(fields.at(0));
    if (bank_evidence(Hardware::sm_90, m.access, m.bytes, m.lanes) != Evidence::measured) continue;
    const int number = std::stoi(fields.at(1)), rule = predicted(m, pattern(m.bytes, number));
    const double cycles = std::stod(fields.at(2));
    ++patterns[fields.at(0)];
    // A wavefront is a cycle. Every batch waits for its copies, which costs a cycle and 3.5 hundredths of each wavefront.
    const bool copies = m.access == BankAccess::copy;
    const double expected = copies ? 1.1 + 1.035 * rule : rule, tolerance = copies ? 0.5 : 0.2;
    const bool as_measured = std::abs(cycles - expected) < tolerance;
    tally.expect(as_measured, [&] { return fields[0] + ", pattern " + fields[1] + ": " + std::to_string(rule) + ", " + fields[2]; });
  }
  CHECK(tally.failures() == "");
  CHECK(patterns.size() == 23);
  for (const auto& [name, count] : patterns) {
    CAPTURE(name);
    CHECK(count == bank_patterns::patterns);
  }
}

/// Rules that are nearly the same must not pass as well.
TEST_CASE("measured patterns refute the neighbours of the rule", "[banks]") {
  int pairs_matter = 0, words_matter = 0, order_matters = 0;
  for (int number = 0; number < bank_patterns::patterns; ++number) {
    const auto addresses = pattern(8, number);
    pairs_matter += predicted({BankAccess::load, 8}, addresses) != predicted({BankAccess::store, 8}, addresses);
    const auto wide = pattern(16, number);
    words_matter += predicted({BankAccess::copy, 16}, wide) != predicted({BankAccess::store, 16}, wide);
    order_matters += predicted({BankAccess::store, 16}, wide) != wavefronts(bank_phases(BankAccess::store, 4, wide, all_lanes));
  }
  CHECK(pairs_matter > 20);
  CHECK(words_matter > 100);
  CHECK(order_matters > 500);
}

TEST_CASE("phases name the lanes and words that collide", "[banks]") {
  std::vector<std::uint64_t> column(warp_size);
  for (std::size_t lane = 0; lane < warp_size; ++lane) column[lane] = lane % 4 * 128;  // four words of bank 0
  const auto phases = bank_phases(BankAccess::load, 4, column, all_lanes);
  REQUIRE(phases.size() == 1);
  CHECK(phases[0].wavefronts == 4);
  CHECK(phases[0].colliding == all_lanes);
  REQUIRE(phases[0].words.size() == 4);
  CHECK(phases[0].words[1].bank == 0);
  CHECK(phases[0].words[1].word == 32);
  CHECK(phases[0].words[1].lanes == 0x22222222);
  const auto few = bank_phases(BankAccess::load, 4, column, 0x1);
  CHECK(wavefronts(few) == 1);
  CHECK(few[0].colliding == 0);
  CHECK(bank_evidence(Hardware::sm_90, BankAccess::load, 4, 0x1) == Evidence::assumed);
  CHECK(bank_evidence(Hardware::sm_80, BankAccess::load, 4, all_lanes) == Evidence::assumed);
}

TEST_CASE("a request to global memory counts sectors and lines", "[banks]") {
  std::vector<std::uint64_t> addresses(warp_size);
  for (std::size_t lane = 0; lane < warp_size; ++lane) addresses[lane] = 4096 + 4 * lane;
  const GlobalRequest dense = global_request(4, addresses, all_lanes);
  CHECK((dense.sectors == 4 && dense.lines == 1 && dense.min_sectors == 4));
  for (std::size_t lane = 0; lane < warp_size; ++lane) addresses[lane] = 4096 + 64 * lane;
  const GlobalRequest spread = global_request(4, addresses, all_lanes);
  CHECK((spread.sectors == 32 && spread.lines == 16 && spread.min_sectors == 4));
}

}  // namespace
}  // namespace warpmat::checks::bank_conflicts_test
