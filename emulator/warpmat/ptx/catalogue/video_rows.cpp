// Video instructions: PTX ISA 9.1 section 9.7.18.

#include <warpmat/ptx/catalogue/rows.h>

namespace warpmat::catalogue {
void add_video_rows(std::vector<Row>&) {}
}  // namespace warpmat::catalogue
