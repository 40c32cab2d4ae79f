// Every form of the device header, on each hardware whose arithmetic is another one, against the reference: a program of its own, for its
// thousands of products take minutes to compile. Part WARPMAT_PART of WARPMAT_PARTS.

#include <cstdio>
#include <utility>

#include "device/comparison.h"
#include "sanitizers.h"

using namespace warpmat;

namespace {

constexpr int hardware_count = static_cast<int>(Hardware::sm_121) + 1;

/// Whether form `number` is on this hardware what it is on none before it.
constexpr bool is_new(int number, int hardware) {
  const auto& lowerings = device::lowering_sets[device::forms[number].lowering_set];
  for (int before = 0; before < hardware; ++before)
    if (lowerings[before] == lowerings[hardware]) return false;
  return device::lowerings[lowerings[hardware]].arithmetic != device::Arithmetic::none;
}

template <int number, int hardware>
void compare(DeviceComparison& comparison) {
  if constexpr (is_new(number, hardware))
    compare_with_reference<static_cast<device::Opcode>(number), static_cast<device::Hardware>(hardware)>(WARPMAT_SANITIZED ? 1 : 8,
                                                                                                         comparison);
}

template <int number, int... hardware>
void compare_on_each(DeviceComparison& comparison, std::integer_sequence<int, hardware...>) {
  (compare<number, hardware>(comparison), ...);
}

template <int... index>
void compare_all(DeviceComparison& comparison, std::integer_sequence<int, index...>) {
  (compare_on_each<index * WARPMAT_PARTS + WARPMAT_PART>(comparison, std::make_integer_sequence<int, hardware_count>()), ...);
}

}  // namespace

int main() {
  DeviceComparison comparison;
  compare_all(comparison, std::make_integer_sequence<int, (device::form_count - WARPMAT_PART + WARPMAT_PARTS - 1) / WARPMAT_PARTS>());
  std::printf("%zu products of forms and hardware, %zu words, %zu differ\n%s\n", comparison.forms, comparison.words, comparison.different,
              comparison.first.c_str());
  return comparison.different == 0 && comparison.forms > 0 ? 0 : 1;
}
