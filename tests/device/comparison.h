#pragma once

#include <warpmat/forms.h>
#include <warpmat/wgmma.h>

#include <cstddef>
#include <string>

#include "device/header.h"

namespace warpmat {

/// Executes the header's model for all lanes.
using DeviceProduct = void (*)(device::u32*, const device::HostOperands&);

/// The form of opcode number `number` of the header, and whether it is the tile of a product of a warpgroup.
struct DeviceForm {
  const Form* form;
  const WgmmaForm* wgmma;
};
DeviceForm device_form(int number);

/// What was compared, and the first element of D that differs.
struct DeviceComparison {
  std::size_t forms = 0, words = 0, different = 0;
  std::string first;
};

/// Compares `product`, opcode number `number` on `hardware`, with the reference in `warps` warps of each class of operands and each value
/// of selectors and ids.
void compare_with_reference(int number, Hardware hardware, DeviceProduct product, std::size_t warps, DeviceComparison& comparison);

template <device::Opcode opcode, device::Hardware hardware>
void compare_with_reference(std::size_t warps, DeviceComparison& comparison) {
  compare_with_reference(static_cast<int>(opcode), static_cast<Hardware>(hardware), device::mma_on_host<opcode, hardware>, warps,
                         comparison);
}

}  // namespace warpmat
