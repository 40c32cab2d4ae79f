#include <warpmat/provenance/origins.h>

#include <warpmat/forms.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/provenance/gemm.h>

namespace warpmat::provenance {

using code::Slot;
using machine::Event;
using machine::EventKinds;
using machine::WarpState;

Origins::Origins(const code::Program& program)
    : Observer(EventKinds::operations | EventKinds::accesses | EventKinds::shared_accesses | EventKinds::exchanges | EventKinds::copies |
               EventKinds::products),
      program_(program),
      has_companions_(block_of(CompanionMatrix::Kind::scale, program) != 0 || block_of(CompanionMatrix::Kind::metadata, program) != 0) {}

void Origins::block_begins(const machine::BlockEvent& event) {
  const std::uint64_t frame_bytes = program_.call_tree.level_bytes * program_.call_tree.levels();
  blocks_.push_back({event.shared.data(), std::vector<Origin>(event.shared.size()),
                     std::vector<WarpOrigins>(static_cast<std::size_t>(event.warps), WarpOrigins(static_cast<std::uint32_t>(frame_bytes))),
                     std::vector<const WarpState*>(static_cast<std::size_t>(event.warps))});
}

Origins::BlockOrigins& Origins::block(const Event& event) {
  return blocks_[static_cast<std::size_t>(event.rank())];
}

WarpOrigins& Origins::registers(const Event& event) {
  return block(event).warps[static_cast<std::size_t>(event.warp())];
}

std::size_t Origins::place(const Event& event, Slot slot) const {
  return warp_of(event).split().frame + static_cast<std::size_t>(slot);
}

const RegisterOrigins& Origins::peek(const Event& event, Slot slot) {
  static const RegisterOrigins nothing{};
  return slot < 0 ? nothing : registers(event).peek(place(event, slot));
}

const RegisterOrigins* Origins::find(const Event& event, Slot slot) {
  return slot < 0 ? nullptr : registers(event).find(place(event, slot));
}

/// The way `way` with one more statement.
std::uint32_t Origins::step(std::uint32_t way, std::uint32_t Way::*member, std::uint32_t statement, int warp) {
  LastStep& last = last_steps_[member == &Way::store ? 1 : 0];  // of the many bytes of an access
  if (last.way == way && last.statement == statement && last.warp == warp && last.member == member) return last.longer;
  Way longer = ways_[way];
  longer.*member = statement;
  if (member == &Way::store) {
    longer.read = Way::no_statement;
    longer.warp = warp;
  }
  last = {way, member, statement, warp, ways_.number_of(longer)};
  return last.longer;
}

void Origins::clear_results(const Event& event, LaneMask lanes) {
  for (int i = 0; i < operation_of(event).results; ++i)
    registers(event).clear(place(event, warp_of(event).result_slot(operation_of(event), i)), lanes);
}

}  // namespace warpmat::provenance
