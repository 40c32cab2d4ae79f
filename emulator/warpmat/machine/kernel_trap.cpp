#include <warpmat/machine/kernel_trap.h>

#include <utility>

#include <fmt/core.h>

#include <warpmat/ptx/text/readable_name.h>

namespace warpmat::machine {
namespace {

std::string describe(const Trap::Site& site, std::optional<std::uint64_t> address, const std::string& reason) {
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

Trap kernel_trap(Trap::Site site, std::optional<std::uint64_t> address, const std::string& reason, Trap::Kind kind) {
  const std::string text = describe(site, address, reason);
  return {kind, std::move(site), address, reason, text};
}

}  // namespace warpmat::machine
