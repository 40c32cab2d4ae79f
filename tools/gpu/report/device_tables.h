#pragma once

#include <string>

namespace warpmat {

/// The text of emulator/warpmat/device/tables.h: formats, fragments, forms that multiply, and their lowerings, from the tables that the
/// CPU's reference uses. `warpmat support --device-tables` prints it.
std::string device_tables();

}  // namespace warpmat
