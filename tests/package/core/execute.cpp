// Executes an mma with the core alone.

#include "../mma.h"

#include <cstdio>

#include <warpmat/version.h>

#if __has_include(<Eigen/Core>)
#error "the core is to be built where Eigen cannot be found"
#endif

int main() {
  for (const warpmat::Path path : {warpmat::Path::fast, warpmat::Path::reference})
    if (package::sum_of_products(path) != package::sum_of_25_bits) return 1;
  std::printf("warpmat %s\n", warpmat::version().data());
  return 0;
}
