// How messages name statements and places.

#include <fmt/core.h>

#include <warpmat/ir/address_windows.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/kernel_trap.h>
#include <warpmat/machine/operations.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/ptx/syntax/source_text.h>
#include <warpmat/ptx/text/readable_name.h>

namespace warpmat::machine {

using code::Operation;

std::string WarpState::statement_name(std::uint32_t statement) const {
  const syntax::Statement& s = *program_.statements[statement];
  const std::string source = syntax::source_text(*program_.module, s);
  return fmt::format("line {} ({}{}{})", s.location.line, s.opcode, source.empty() ? "" : "; ", source);
}

std::optional<PlacedVariable> shared_variable_before(const LaunchState& launch, std::uint64_t address) {
  const code::Variable* nearest = nullptr;
  for (const code::Variable& variable : launch.program.shared_variables)
    if (variable.address <= address && (nearest == nullptr || variable.address >= nearest->address)) nearest = &variable;
  if (nearest == nullptr) return std::nullopt;
  const std::uint64_t last = launch.program.shared_base + launch.shared_bytes;
  return PlacedVariable{*nearest, nearest->bytes != 0 ? nearest->bytes : last - nearest->address};
}

std::string WarpState::describe_shared(std::uint64_t address) const {
  address %= code::block_window_bytes;  // variables have their addresses without a rank
  const auto nearest = shared_variable_before(launch_, address);
  const std::uint64_t into_all = address - program_.shared_base;
  if (!nearest && into_all < program_.reserved_shared) return fmt::format("{} bytes into the system's shared memory", into_all);
  if (!nearest) return fmt::format("shared memory has {} bytes from {:#x} on", launch_.shared_bytes, program_.shared_base);
  const std::uint64_t into = address - nearest->variable.address, bytes = nearest->bytes;
  const std::string name = readable_name(nearest->variable.name);
  if (into < bytes) return fmt::format("{} bytes into '{}', a shared variable of {} bytes", into, name, bytes);
  return fmt::format("{} bytes beyond the end of '{}', a shared variable of {} bytes", into - bytes, name, bytes);
}

Trap::Note WarpState::note_of_shared(std::uint64_t address) const {
  return {fmt::format("address {:#x} is {}", address, describe_shared(address))};
}

void check_waiting(const WarpState& warp, int lane, std::size_t waiting, const char* what) {
  constexpr std::size_t most = 16384;  // 16 bytes each are more than the shared memory of a block
  if (waiting >= most)
    warp.trap(lane, std::nullopt, fmt::format("{} {} wait, and no statement waits for them", most, what), Trap::Kind::limit);
}

Trap::Note WarpState::note(std::string text, std::uint32_t statement) const {
  return {std::move(text), place_of(program_, statement)};
}

void WarpState::trap(int lane, std::optional<std::uint64_t> address, const Trap::Reason& reason, Trap::Kind kind,
                     std::optional<OperandName> operand) const {
  trap_at(0, lane, address, reason, kind, operand);
}

void WarpState::trap_ahead(std::uint32_t ahead, const Trap::Reason& reason) const {
  trap_at(ahead, -1, std::nullopt, reason, Trap::Kind::misuse, std::nullopt);
}

void WarpState::trap_at(std::uint32_t ahead, int lane, std::optional<std::uint64_t> address, const Trap::Reason& reason, Trap::Kind kind,
                        std::optional<OperandName> operand) const {
  Trap::Site site{.kernel = std::string(program_.entry), .block = block_.index(), .warp = index_, .lane = lane, .operand = operand};
  if (!splits_.empty()) {
    const Split& s = splits_[current_ % splits_.size()];  // a warp that yields leaves current_ after its last split
    const Operation& operation = program_.operations[static_cast<std::size_t>(s.pc) + ahead];
    site = site_at(std::move(site), program_, operation.statement);
  }
  throw kernel_trap(std::move(site), address, reason, kind);
}

}  // namespace warpmat::machine
