// Bank conflicts through the C interface. The expected wavefronts are counted by hand from which lanes ask for which words.

#include <warpmat/c_explain.h>

#include "c/calls.h"
#include "test.h"

namespace warpmat::c_banks_test {
namespace {

using Addresses = std::array<std::uint64_t, 32>;

Addresses stride_of(std::uint64_t bytes) {
  Addresses addresses;
  for (std::size_t lane = 0; lane < addresses.size(); ++lane) addresses[lane] = lane * bytes;
  return addresses;
}

warpmat_bank_conflicts conflicts_of(warpmat_bank_access access, std::uint32_t bytes, const Addresses& addresses,
                                    std::uint32_t lanes = 0xffffffff, const char* target = nullptr) {
  auto conflicts = sized<warpmat_bank_conflicts>();
  auto error = sized<warpmat_error>();
  const warpmat_status status = warpmat_find_bank_conflicts(access, bytes, addresses.data(), lanes, target, &conflicts, &error);
  INFO(error.message);
  REQUIRE(status == WARPMAT_OK);
  return conflicts;
}

TEST_CASE("C: wavefronts of a warp's access, phase by phase", "[c][banks]") {
  CHECK(conflicts_of(WARPMAT_BANK_LOAD, 4, stride_of(4)).wavefronts == 1);
  CHECK(conflicts_of(WARPMAT_BANK_LOAD, 4, stride_of(8)).wavefronts == 2);     // lanes 0 and 16 have bank 0
  CHECK(conflicts_of(WARPMAT_BANK_LOAD, 4, stride_of(128)).wavefronts == 32);  // all have bank 0
  CHECK(conflicts_of(WARPMAT_BANK_LOAD, 4, stride_of(0)).wavefronts == 1);     // one word
  const warpmat_bank_conflicts wide = conflicts_of(WARPMAT_BANK_STORE, 16, stride_of(16), 0xffffffff, "sm_90");
  CHECK(wide.wavefronts == 4);
  REQUIRE(wide.phases == 4);
  CHECK(wide.phase[1].lanes == 0xff00);
  CHECK(wide.phase[1].wavefronts == 1);
  CHECK(wide.phase[1].colliding == 0);
  CHECK(wide.evidence == std::string("measured"));
  CHECK(conflicts_of(WARPMAT_BANK_STORE, 16, stride_of(16), 0xffffffff, "sm_80").evidence == std::string("assumed"));
  // Rows of 64 bytes, as of a tile of 32 f16: rows 0 and 2 lie in the same banks.
  const warpmat_bank_conflicts rows = conflicts_of(WARPMAT_BANK_MATRIX, 16, stride_of(64), 0xff);
  CHECK(rows.wavefronts == 4);
  REQUIRE(rows.phases == 1);
  CHECK(rows.phase[0].lanes == 0xff);
  CHECK(rows.phase[0].colliding == 0xff);
  CHECK(rows.evidence == nullptr);
  CHECK(conflicts_of(WARPMAT_BANK_LOAD, 4, stride_of(4), 0).phases == 0);
  // Lanes do not share the writes of cp.async.
  CHECK(conflicts_of(WARPMAT_BANK_COPY, 16, stride_of(0)).wavefronts == 32);
}

TEST_CASE("C: the words of a phase, and the traffic of global memory", "[c][banks]") {
  std::size_t count = 0;
  auto error = sized<warpmat_error>();
  const Addresses addresses = stride_of(8);
  REQUIRE(warpmat_bank_words(WARPMAT_BANK_LOAD, 4, addresses.data(), 0x10001, 0, nullptr, 0, &count, &error) == WARPMAT_OK);
  REQUIRE(count == 2);
  std::vector<warpmat_bank_word> words(3, warpmat_bank_word{-7, 0, 0});
  REQUIRE(warpmat_bank_words(WARPMAT_BANK_LOAD, 4, addresses.data(), 0x10001, 0, words.data(), 1, &count, &error) == WARPMAT_OK);
  CHECK(count == 2);
  CHECK((words[0].bank == 0 && words[0].word == 0 && words[0].lanes == 1));
  CHECK(words[1].bank == -7);  // beyond the capacity
  REQUIRE(warpmat_bank_words(WARPMAT_BANK_LOAD, 4, addresses.data(), 0x10001, 0, words.data(), 3, &count, &error) == WARPMAT_OK);
  CHECK((words[1].bank == 0 && words[1].word == 32 && words[1].lanes == 0x10000));
  CHECK(warpmat_bank_words(WARPMAT_BANK_LOAD, 4, addresses.data(), 0x10001, 1, words.data(), 3, &count, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(contains(error.message, "the access has 1 phases; number 1 does not exist"));

  auto request = sized<warpmat_global_request>();
  REQUIRE(warpmat_find_global_request(4, addresses.data(), 0xffffffff, &request, &error) == WARPMAT_OK);
  CHECK((request.sectors == 8 && request.lines == 2 && request.least_sectors == 4));
}

TEST_CASE("C: bank conflicts of what is no access are errors", "[c][banks]") {
  auto error = sized<warpmat_error>();
  auto conflicts = sized<warpmat_bank_conflicts>();
  const Addresses addresses = stride_of(4);
  const auto expect = [&](warpmat_status wanted, warpmat_status status, const char* part) {
    CHECK(status == wanted);
    CHECK(contains(error.message, part));
    error = sized<warpmat_error>();
  };
  const auto find = [&](warpmat_bank_access access, std::uint32_t bytes, const std::uint64_t* of, const char* target) {
    return warpmat_find_bank_conflicts(access, bytes, of, 1, target, &conflicts, &error);
  };
  expect(WARPMAT_BAD_ARGUMENT, find(WARPMAT_BANK_LOAD, 3, addresses.data(), nullptr), "1, 2, 4, 8 or 16 bytes");
  expect(WARPMAT_BAD_ARGUMENT, find(WARPMAT_BANK_LOAD, 4, nullptr, nullptr), "addresses is null");
  expect(WARPMAT_UNKNOWN_TARGET, find(WARPMAT_BANK_LOAD, 4, addresses.data(), "sm_1"), "unknown target");
  expect(WARPMAT_BAD_ARGUMENT, warpmat_find_bank_conflicts(WARPMAT_BANK_LOAD, 4, addresses.data(), 1, nullptr, nullptr, &error),
         "conflicts is null");
  conflicts.size = 8;
  expect(WARPMAT_BAD_ARGUMENT, find(WARPMAT_BANK_LOAD, 4, addresses.data(), nullptr), "the size of conflicts");
  expect(WARPMAT_BAD_ARGUMENT, warpmat_bank_words(WARPMAT_BANK_LOAD, 4, addresses.data(), 1, 0, nullptr, 0, nullptr, &error),
         "count is null");
  conflicts = sized<warpmat_bank_conflicts>();
  expect(WARPMAT_BAD_ARGUMENT, find(WARPMAT_BANK_MATRIX, 8, addresses.data(), nullptr), "ldmatrix and stmatrix access 16 bytes");
  expect(WARPMAT_BAD_ARGUMENT, find(WARPMAT_BANK_COPY, 2, addresses.data(), nullptr), "cp.async copies 4, 8 or 16 bytes");
  const Addresses odd = {2, 1}, last = {std::numeric_limits<std::uint64_t>::max() - 2, 1};
  expect(WARPMAT_BAD_ARGUMENT, find(WARPMAT_BANK_LOAD, 4, odd.data(), nullptr), "lane 0: address 0x2 is not a multiple of 4 bytes");
  CHECK(find(WARPMAT_BANK_LOAD, 2, odd.data(), nullptr) == WARPMAT_OK);  // lane 1 accesses nothing
  auto request = sized<warpmat_global_request>();
  expect(WARPMAT_BAD_ARGUMENT, warpmat_find_global_request(4, last.data(), 1, &request, &error), "lane 0: 4 bytes from address 0xfff");
  CHECK(warpmat_find_global_request(2, last.data(), 1, &request, &error) == WARPMAT_OK);
  for (const std::uint32_t bytes : {0u, 129u, 0xffffffffu})
    expect(WARPMAT_BAD_ARGUMENT, warpmat_find_global_request(bytes, addresses.data(), 1, &request, &error), "accesses 1 to 128 bytes");
  expect(WARPMAT_BAD_ARGUMENT, warpmat_find_global_request(4, nullptr, 1, &request, &error), "addresses is null");
  expect(WARPMAT_BAD_ARGUMENT, warpmat_find_global_request(4, addresses.data(), 1, nullptr, &error), "request is null");
}

}  // namespace
}  // namespace warpmat::c_banks_test
