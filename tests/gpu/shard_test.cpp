#include "gpu/cases/shard.h"

#include "test.h"

namespace warpmat::shard_test {

TEST_CASE("the parts of a run follow each other, are all of it, and are about equally large", "[gpu]") {
  for (const std::uint64_t total : {0u, 1u, 2u, 7u, 100u, 4096u, 1'000'003u})
    for (const std::size_t count : {1u, 2u, 3u, 8u, 1000u}) {
      CAPTURE(total, count);
      std::uint64_t next = 0, least = total, most = 0;
      for (std::size_t number = 1; number <= count; ++number) {
        const Shard::Range part = Shard{number, count}.of(total);
        CHECK(part.first == next);
        next += part.count;
        least = std::min(least, part.count);
        most = std::max(most, part.count);
      }
      CHECK(next == total);
      CHECK(most - least <= 1);
    }
  CHECK(Shard{1'000'000, 1'000'000}.of(std::uint64_t{1} << 40).first + 1'099'511 == std::uint64_t{1} << 40);
}

TEST_CASE("a part is written as its number and how many there are, and nothing else is one", "[gpu]") {
  CHECK(parse_shard("2/8") == Shard{2, 8});
  CHECK(parse_shard("1/1").whole());
  CHECK(to_string(parse_shard("17/1000")) == "17/1000");
  for (const char* wrong :
       {"", "/", "1", "1/", "/2", "0/2", "3/2", "-1/2", "1/2/3", "1 /2", "1/0x2", "1/2 ", "+1/2", "1/1000001", "1/99999999999999999999"}) {
    CAPTURE(wrong);
    CHECK_THROWS_WITH(parse_shard(wrong),
                      "'" + std::string(wrong) + "' is no part of a run: I/N with I from 1 to N and N at most 1000000, for example 2/8");
  }
}

}  // namespace warpmat::shard_test
