#include <warpmat/ir/code.h>

#include <bit>
#include <cstdint>
#include <utility>

namespace warpmat::code {

std::uint32_t Program::add(Payload payload) {
  payload_types |= std::uint32_t{1} << payload.index();
  payloads.push_back(std::move(payload));
  return static_cast<std::uint32_t>(payloads.size() - 1);
}

std::uint32_t Program::shared_alignment() const {
  std::uint64_t starts = 16;
  for (const Variable& variable : shared_variables) starts |= variable.address - shared_base;
  return std::uint32_t{1} << std::countr_zero(starts);
}

}  // namespace warpmat::code
