#include "command.h"
#include "test.h"

namespace warpmat::identify_test {

TEST_CASE("identify hands its words to the Python module, or says where that is", "[tools]") {
  const Outcome missing = run_command({"identify", "none.npy", "a.npy", "b.npy", "--cards", "H100"});
  CHECK(missing.status != 0);
  CHECK((contains(missing.err, "none.npy") || contains(missing.err, "python3-warpmat")));
  CHECK(run_command({"identify", "d.npy"}).status != 0);
}

}  // namespace warpmat::identify_test
