#include <warpmat/warp.h>

#include <utility>

#include <warpmat/text.h>

namespace warpmat::inline v0_1 {

namespace {

std::string describe(int lane, std::optional<std::uint64_t> address, const std::string& reason, const std::string& where) {
  std::string text = where.empty() ? "" : where + ": ";
  if (lane >= 0) text += format_text("lane {}{}", lane, address ? ", " : ": ");
  if (address) text += format_text("shared address {:#x}: ", *address);
  return text + reason;
}

}  // namespace

Trap::Trap(int lane_, std::optional<std::uint64_t> address_, const std::string& reason_, const std::string& where)
    : std::runtime_error(describe(lane_, address_, reason_, where)), lane(lane_), address(address_), reason(reason_) {}

SharedMemory SharedMemory::borrowing(std::span<std::uint8_t> bytes, std::uint32_t base) {
  SharedMemory memory(0, base);
  memory.bytes_ = bytes;
  return memory;
}

SharedMemory& SharedMemory::operator=(SharedMemory other) noexcept {
  owned_ = std::move(other.owned_);
  bytes_ = other.bytes_;
  base_ = other.base_;
  return *this;
}

std::span<std::uint8_t> SharedMemory::at(int lane, std::uint64_t address, std::size_t size, const char* what) {
  const auto bytes = std::as_const(*this).at(lane, address, size, what);
  return bytes_.subspan(static_cast<std::size_t>(bytes.data() - bytes_.data()), size);
}

std::span<const std::uint8_t> SharedMemory::at(int lane, std::uint64_t address, std::size_t size, const char* what) const {
  if (address % size != 0) throw Trap(lane, address, format_text("the {} must be {}-byte aligned", what, size));
  const std::uint64_t position = address - base_;  // below the base: beyond every size
  if (position > bytes_.size() || size > bytes_.size() - position) {
    const std::string from = base_ == 0 ? "" : format_text(" from {:#x} on", base_);
    throw Trap(lane, address, format_text("the {} of {} bytes leaves the shared memory of {} bytes{}", what, size, bytes_.size(), from));
  }
  return bytes_.subspan(static_cast<std::size_t>(position), size);
}

}  // namespace warpmat::inline v0_1
