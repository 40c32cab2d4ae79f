// Which bytes of shared memory count as initialised after a warp has stored a row of them.

#include <string>

#include "catch.h"
#include "machine/kernel.h"

namespace warpmat::shared_shadow_test {

TEST_CASE("a row that a warp stores initialises its own bytes and no others", "[checks]") {
  for (const int bytes : {1, 2, 4, 8})
    for (const int first : {8, 16, 24, 64, 72, 120, 128, 200}) {
      const int last = first + 32 * bytes - 1;
      const std::string size = std::to_string(bytes), row = std::to_string(first);
      const std::string value = bytes == 1 || bytes == 2 ? "%s1" : bytes == 4 ? "%r1" : "%l1";
      const auto reads = [&](int at) {
        const Module module =
            word_kernel(".shared .align 16 .b8 tile[1024]; mov.u16 %s1, 1; mov.u32 %r1, 1; mov.u64 %l1, 1; mad.lo.u32 %r2, %i, " + size +
                        ", " + row + "; mov.u32 %r3, tile; add.u32 %r2, %r2, %r3; st.shared.u" + std::to_string(8 * bytes) + " [%r2], " +
                        value + "; ld.shared.u8 %d, [tile+" + std::to_string(at) + "];");
        return message_of([&] { words_of(module, {1}, {32}); });
      };
      CAPTURE(bytes, first);
      for (const int at : {first, first + 16 * bytes, last}) CHECK(reads(at) == "nothing");
      for (const int at : {first - 1, last + 1}) CHECK(reads(at).find("uninitialised") != std::string::npos);
    }
}

}  // namespace warpmat::shared_shadow_test
