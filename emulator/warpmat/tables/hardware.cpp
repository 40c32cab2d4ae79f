#include <warpmat/tables/hardware.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace warpmat {
namespace {

// Reserved bytes and clusters: CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability". Base: an H100 and an
// H200 place shared variables behind the reserved bytes; assumed of later ones.
constexpr std::array table{
    HardwareTraits{.number = 70, .shared_base = 0, .reserved_shared = 0, .clusters = false},
    HardwareTraits{.number = 80, .shared_base = 0, .reserved_shared = 1024, .clusters = false},
    HardwareTraits{.number = 90, .shared_base = 1024, .reserved_shared = 1024, .clusters = true},
};

}  // namespace

HardwareTraits hardware_traits(int number) {
  return *std::prev(std::ranges::upper_bound(table, number, {}, &HardwareTraits::number));
}

}  // namespace warpmat
