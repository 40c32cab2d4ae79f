
#include <warpmat/numeric/checked_size.h>

#include "test.h"

namespace warpmat::checked_size_test {
namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

TEST_CASE("sizes: sums and products are exact up to 2^64 - 1, and too large beyond", "[numeric][sizes]") {
  CHECK((CheckedSize(most) + 0).value() == most);
  CHECK((CheckedSize(most - 1) + 1).value() == most);
  CHECK((CheckedSize(most) + 1).value() == std::nullopt);
  CHECK((CheckedSize(1u) + most).value() == std::nullopt);
  CHECK((CheckedSize(std::uint64_t{1} << 32) * (std::uint64_t{1} << 31)).value() == std::uint64_t{1} << 63);
  CHECK((CheckedSize(std::uint64_t{1} << 32) * (std::uint64_t{1} << 32)).value() == std::nullopt);
  CHECK((CheckedSize(most) * 1).value() == most);
}

TEST_CASE("sizes: what is too large stays so, unless there are none of it", "[numeric][sizes]") {
  const CheckedSize large = CheckedSize(most) * 2;
  CHECK((large + 1).value() == std::nullopt);
  CHECK((large + 2).value() == std::nullopt);
  CHECK((large * 3).value() == std::nullopt);
  CHECK(large.rounded_up(16).value() == std::nullopt);
  CHECK((large * 0).value() == 0);
  CHECK((0 * large).value() == 0);
  CHECK_FALSE(large.fits(most));
}

TEST_CASE("sizes: a negative number is too large", "[numeric][sizes]") {
  CHECK(CheckedSize(-1).value() == std::nullopt);
  CHECK((CheckedSize(std::int64_t{-8}) + 8).value() == std::nullopt);
}

TEST_CASE("sizes: rounding up to an alignment", "[numeric][sizes]") {
  CHECK(CheckedSize(0).rounded_up(16).value() == 0);
  CHECK(CheckedSize(16).rounded_up(16).value() == 16);
  CHECK(CheckedSize(17).rounded_up(16).value() == 32);
  CHECK(CheckedSize(17).rounded_up(12).value() == 24);
  CHECK(CheckedSize(most - 15).rounded_up(16).value() == most - 15);
  CHECK(CheckedSize(most - 14).rounded_up(16).value() == std::nullopt);
}

TEST_CASE("sizes: a bound is met up to itself", "[numeric][sizes]") {
  CHECK(CheckedSize(4096).fits(4096));
  CHECK_FALSE(CheckedSize(4097).fits(4096));
}

}  // namespace
}  // namespace warpmat::checked_size_test
