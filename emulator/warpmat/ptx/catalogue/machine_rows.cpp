#include <warpmat/ptx/catalogue/rows.h>

namespace warpmat::catalogue {
void add_machine_rows(std::vector<Row>&) {}
}  // namespace warpmat::catalogue
