#include <warpmat/tables/hardware.h>

#include "test.h"

#include <warpmat/forms.h>

namespace warpmat::hardware_test {

TEST_CASE("launches differ by hardware as the Programming Guide says, and as an H200 places shared memory", "[tables]") {
  for (const Target& target : targets()) {
    INFO(target.name);
    const HardwareTraits traits = hardware_traits(target.number);
    CHECK(traits.clusters == (target.number >= 90));
    CHECK(traits.reserved_shared == (target.number >= 80 ? 1024 : 0));
    CHECK(traits.shared_base == (target.number >= 90 ? 1024 : 0));
  }
}

}  // namespace warpmat::hardware_test
