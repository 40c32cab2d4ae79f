#include "tools/gpu/report/device_tables.h"
#include "command.h"
#include "test.h"

namespace warpmat::device_tables_test {

TEST_CASE("the tables of the device header are as the tables of the CPU") {
  const bool same = read_text(source_path("emulator/warpmat/device/tables.h")) == device_tables();
  INFO("run: warpmat support --device-tables --output emulator/warpmat/device/tables.h");
  CHECK(same);
}

}  // namespace warpmat::device_tables_test
