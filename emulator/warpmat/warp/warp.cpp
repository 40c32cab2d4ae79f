#include <warpmat/warp.h>

#include <string_view>
#include <utility>

#include <warpmat/text.h>

namespace warpmat {

namespace {

std::string describe(int lane, std::optional<std::uint64_t> address, const std::string& reason, const std::string& where) {
  std::string text = where.empty() ? "" : where + ": ";
  if (lane >= 0) text += format_text("lane {}{}", lane, address ? ", " : ": ");
  if (address) text += format_text("address {:#x}: ", *address);
  return text + reason;
}

}  // namespace

Trap::Reason::Reason(std::string of, std::vector<Note> with, std::string do_this)
    : headline(std::move(of)), notes(std::move(with)), help(std::move(do_this)) {}

std::string Trap::Reason::text() const {
  std::string text = headline;
  for (const Note& note : notes) {
    text += "; " + note.text;
    if (note.at.line == 0) continue;
    const std::string_view before_source = note.at.source.empty() ? "" : "; ";
    text += format_text(": line {} ({}{}{})", note.at.line, note.at.statement, before_source, note.at.source);
  }
  return help.empty() ? text : text + "; " + help;
}

Trap::Trap(Kind kind_, Site site_, std::optional<std::uint64_t> address_, Reason reason_, const std::string& text)
    : std::runtime_error(text), kind(kind_), site(std::move(site_)), address(address_), parts(std::move(reason_)), reason(parts.text()) {}

Trap::Trap(Kind kind_, std::optional<OperandName> operand, int lane, std::optional<std::uint64_t> address_, const std::string& reason_,
           const std::string& where)
    : Trap(kind_, Site{.lane = lane, .operand = operand}, address_, reason_, describe(lane, address_, reason_, where)) {}

Trap Trap::at(const std::string& where, std::int64_t warp) const {
  Site named = site;
  named.warp = warp;
  return {kind, std::move(named), address, parts, describe(site.lane, address, reason, where)};
}

Trap Trap::of(OperandName operand) const {
  Site named = site;
  named.operand = operand;
  return {kind, std::move(named), address, parts, what()};
}

Trap Trap::because(const Reason& other_reason) const {
  const std::string_view text = what();
  return {kind, site, address, other_reason, std::string(text.substr(0, text.size() - reason.size())) + other_reason.text()};
}

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
  if (address % size != 0)
    throw Trap(Trap::Kind::misaligned, std::nullopt, lane, address, format_text("the {} must be {}-byte aligned", what, size));
  const std::uint64_t position = address - base_;  // below the base: beyond every size
  if (position > bytes_.size() || size > bytes_.size() - position) {
    const std::string from = base_ == 0 ? "" : format_text(" from {:#x} on", base_);
    throw Trap(Trap::Kind::out_of_range, std::nullopt, lane, address,
               format_text("the {} of {} bytes leaves the shared memory of {} bytes{}", what, size, bytes_.size(), from));
  }
  return bytes_.subspan(static_cast<std::size_t>(position), size);
}

}  // namespace warpmat
