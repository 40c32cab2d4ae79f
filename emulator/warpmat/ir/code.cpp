#include <warpmat/ir/code.h>

#include <cstdint>
#include <utility>

namespace warpmat::code {

std::uint32_t Program::add(Payload payload) {
  payload_types |= std::uint32_t{1} << payload.index();
  payloads.push_back(std::move(payload));
  return static_cast<std::uint32_t>(payloads.size() - 1);
}

}  // namespace warpmat::code
