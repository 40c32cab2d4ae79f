#include <warpmat/launch.h>

#include <fmt/core.h>

#include <warpmat/ptx/text/readable_name.h>

namespace warpmat::inline v0_1 {
namespace {

std::string describe(const KernelTrap::Site& site, std::optional<std::uint64_t> address, const std::string& reason) {
  std::string text = fmt::format("kernel '{}', block ({}, {}, {}), warp {}", readable_name(site.kernel), site.block.x, site.block.y,
                                 site.block.z, site.warp);
  if (site.lane >= 0) text += fmt::format(", lane {}", site.lane);
  text += fmt::format(", line {}", site.line);
  if (!site.statement.empty()) text += fmt::format(" ({})", site.statement);
  if (!site.source.empty()) text += fmt::format(", {}", site.source);
  if (address) text += fmt::format(", address {:#x}", *address);
  return text + ": " + reason;
}

}  // namespace

KernelTrap::KernelTrap(Site site_, std::optional<std::uint64_t> address_, const std::string& reason_, Kind kind_)
    : std::runtime_error(describe(site_, address_, reason_)), kind(kind_), site(std::move(site_)), address(address_), reason(reason_) {}

}  // namespace warpmat::inline v0_1
