// The DWARF in PTX that `warpmat debug` reads: an input is the PTX. Variables and their types are read, or an error says what is wrong.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tools/debug/source_variables.h"

namespace {

using namespace warpmat::debug;

/// Follows what printing a value follows, as deep as that.
std::size_t walk(const SourceType* type, int depth) {
  if (type == nullptr || depth >= 8) return 0;
  std::size_t letters = type->name.size() + walk(type->of, depth + 1);
  for (const SourceType::Member& each : type->members) letters += walk(each.type, depth + 4);
  return letters;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const SourceVariables variables(std::string_view(reinterpret_cast<const char*>(data), size));
  for (const SourceVariable& each : variables.all()) static_cast<void>(walk(each.type, 0));
  static_cast<void>(variables.visible(20));
  return 0;
}
