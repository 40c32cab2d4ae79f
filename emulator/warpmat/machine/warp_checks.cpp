// Checks on shared memory: uninitialised bytes, bytes of pending cp.async, accesses across variables, races. Every access with a valid
// address passes through them. A load of uninitialised bytes marks its register; warp_uninitialised.cpp tracks that.

#include <algorithm>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/ptx/readable_name.h>

namespace warpmat::machine {

using catalogue::Semantics;
using code::Operation;

std::string WarpState::statement_name(std::uint32_t statement) const {
  const syntax::Statement& s = *program_.statements[statement];
  return fmt::format("line {} ({})", s.location.line, s.opcode);
}

std::uint64_t WarpState::shared_address(const SharedShadow::Places& places, int lane) const {
  return program_.shared_base + block_.shadow()->offset(places[static_cast<std::size_t>(lane)]);
}

/// "16 bytes into 'tile', a shared variable of 4096 bytes at 0x400": the variable nearest before the address.
std::string WarpState::describe_shared(std::uint64_t address) const {
  const code::Variable* nearest = nullptr;
  for (const code::Variable& variable : program_.shared_variables)
    if (variable.address <= address && (nearest == nullptr || variable.address >= nearest->address)) nearest = &variable;
  if (nearest == nullptr) return fmt::format("shared memory has {} bytes from {:#x} on", launch_.shared_bytes, program_.shared_base);
  const std::uint64_t last = program_.shared_base + launch_.shared_bytes;
  const std::uint64_t bytes = nearest->bytes != 0 ? nearest->bytes : last - nearest->address;  // .extern arrays extend to the end
  const std::uint64_t into = address - nearest->address;
  if (into < bytes) return fmt::format("{} bytes into '{}', a shared variable of {} bytes", into, readable_name(nearest->name), bytes);
  return fmt::format("{} bytes beyond the end of '{}', a shared variable of {} bytes", into - bytes, readable_name(nearest->name), bytes);
}

void WarpState::check_shared(const Operation& operation, const SharedShadow::Places& places, std::uint32_t bytes, LaneMask mask,
                             SharedUse use) {
  SharedShadow& shadow = *block_.shadow();
  if (shadow.has_starts())
    if (const LaneMask crossing = shadow.crossing(places, bytes, mask); crossing != 0) {
      const int lane = first_lane(crossing);
      const std::uint64_t address = shared_address(places, lane);
      trap(lane, address,
           fmt::format("{} bytes reach across two variables: the first is {}, the last {}", bytes, describe_shared(address),
                       describe_shared(address + bytes - 1)),
           KernelTrap::Kind::out_of_range);
    }
  if (!shadow.complete()) check_defined(shadow, places, bytes, mask, use);
  if (!block_.cluster().copies().empty() || block_.proxies() != nullptr) check_bulk(operation, places, bytes, mask, use);
  if (use == SharedUse::copy) begin_copies(operation, shadow, places, bytes, mask);
  if (block_.races() != nullptr) check_races(operation, places, bytes, mask, use);
}

void WarpState::check_defined(SharedShadow& shadow, const SharedShadow::Places& places, std::uint32_t bytes, LaneMask mask, SharedUse use) {
  const bool reads = use == SharedUse::load || use == SharedUse::atomic;
  const bool conflicts = shadow.has_copies() && use != SharedUse::copy;
  const LaneMask undefined = reads || conflicts ? shadow.undefined(places, bytes, mask) : 0;
  if (undefined != 0 && conflicts) check_copies(shadow, places, bytes, undefined, !reads);
  if (use == SharedUse::store) shadow.define(places, bytes, mask);
  if (reads && launch_.options.checks.uninitialised) undefined_ = undefined;
}

/// Traps if one of these lanes accesses bytes of a cp.async that is pending, or visible only to another warp.
void WarpState::check_copies(const SharedShadow& shadow, const SharedShadow::Places& places, std::uint32_t bytes, LaneMask mask,
                             bool writes) {
  for (; mask != 0; mask &= mask - 1) {
    const int lane = first_lane(mask);
    const std::uint64_t address = shared_address(places, lane);
    const auto copy = shadow.conflict(shadow.offset(places[static_cast<std::size_t>(lane)]), bytes, index_, writes);
    const std::string who = fmt::format("the cp.async of warp {} at {}", copy.warp, statement_name(copy.statement));
    if (copy.state == SharedShadow::Copy::State::pending)
      trap(lane, address, fmt::format("{} at {}: {} has not been waited for", writes ? "store" : "load", describe_shared(address), who),
           KernelTrap::Kind::unordered);
    if (copy.state == SharedShadow::Copy::State::landed)
      trap(lane, address,
           fmt::format("load at {}: warp {} has waited for {}, but no barrier since then lets other warps read it",
                       describe_shared(address), copy.warp, who),
           KernelTrap::Kind::unordered);
  }
}

void WarpState::begin_copies(const Operation& operation, SharedShadow& shadow, const SharedShadow::Places& places, std::uint32_t bytes,
                             LaneMask mask) {
  if (!launch_.options.checks.copies) return shadow.define(places, bytes, mask);
  for (; mask != 0; mask &= mask - 1)
    shadow.begin_copy(shadow.offset(places[static_cast<std::size_t>(first_lane(mask))]), bytes, index_, operation.statement);
}

/// A lane's copy has completed.
void WarpState::land_copy(const std::uint8_t* place, std::uint32_t bytes) {
  SharedShadow& shadow = *block_.shadow();
  const std::size_t offset = shadow.offset(place);
  if (launch_.options.checks.copies) shadow.land_copy(offset, bytes, index_);
  if (block_.races() != nullptr) block_.races()->land_copy(index_, offset, bytes);
}

void WarpState::check_races(const Operation& operation, const SharedShadow::Places& places, std::uint32_t bytes, LaneMask mask,
                            SharedUse use) {
  RaceDetector& races = *block_.races();
  const SharedShadow& shadow = *block_.shadow();
  const bool ordered = use == SharedUse::atomic || (operation.semantics != Semantics::matrix && operation.semantics != Semantics::wgmma &&
                                                    use != SharedUse::copy && program_.accesses[operation.detail].ordered);
  const auto kind = ordered ? RaceDetector::Kind::synchronising : RaceDetector::Kind::plain;
  const bool writes = use != SharedUse::load;
  for (; mask != 0; mask &= mask - 1) {
    const int lane = first_lane(mask);
    const std::size_t offset = shadow.offset(places[static_cast<std::size_t>(lane)]);
    if (offset >= shadow.size()) continue;
    std::optional<RaceDetector::Conflict> conflict =
        use == SharedUse::load || use == SharedUse::atomic ? races.read(index_, offset, bytes, operation.statement, kind) : std::nullopt;
    if (!conflict && writes) conflict = races.write(index_, offset, bytes, operation.statement, kind);
    if (use == SharedUse::copy) races.begin_copy(index_, offset, bytes);
    if (conflict) report_race(lane, offset, writes, *conflict);
  }
}

void WarpState::report_race(int lane, std::size_t offset, bool writes, const RaceDetector::Conflict& conflict) const {
  const std::uint64_t address = program_.shared_base + offset;
  const std::string who = conflict.warp == block_.races()->outside() ? "another block" : fmt::format("warp {}", conflict.warp);
  trap(lane, address,
       fmt::format("race at {}: this {} and the {} of {} at {} have nothing between them that orders them", describe_shared(address),
                   writes ? "store" : "load", conflict.wrote ? "store" : "load", who, statement_name(conflict.statement)),
       KernelTrap::Kind::unordered);
}

/// Makes this warp's copies visible to other warps: after a fence, an atomic operation or a store in a defined order.
void WarpState::publish_copies() {
  if (block_.shadow() != nullptr) block_.shadow()->publish(index_);
}

/// Orders the warps that access these words.
void WarpState::synchronise(const Addresses& addresses, LaneMask mask) {
  if (block_.races() == nullptr) return;
  for (; mask != 0; mask &= mask - 1)
    block_.races()->synchronise(index_, reinterpret_cast<std::uintptr_t>(addresses.host[static_cast<std::size_t>(first_lane(mask))]));
}

}  // namespace warpmat::machine
