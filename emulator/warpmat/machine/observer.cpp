#include <warpmat/observer.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/machine/warpgroup.h>
#include <warpmat/ptx/syntax/source_text.h>

namespace warpmat::machine {

Dim3 Event::block() const {
  return warp_->block().index();
}

int Event::rank() const {
  return warp_->block().rank();
}

int Event::warp() const {
  return warp_->index();
}

std::string_view Event::kernel() const {
  return program().entry;
}

std::string_view Event::opcode() const {
  return program().statements[operation_->statement]->opcode;
}

int Event::line() const {
  return program().statements[operation_->statement]->location.line;
}

std::string Event::source() const {
  return syntax::source_text(*program().module, *program().statements[operation_->statement]);
}

bool Event::prepares() const {
  return operation_->prepares;
}

std::uint32_t Event::statement() const {
  return operation_->statement;
}

void Event::trap(int lane, std::optional<std::uint64_t> address, const Trap::Reason& reason, Trap::Kind kind) const {
  warp_->trap(lane, address, reason, kind);
}

const code::Program& Event::program() const {
  return warp_->program();
}

BlockEvent::BlockEvent(const Block& of)
    : block(of.index()), rank(of.rank()), warps(static_cast<int>(of.warps().size())), shared(of.shared()), program_(&of.launch().program) {}

std::string_view BlockEvent::kernel() const {
  return program_->entry;
}

std::uint32_t Product::statement() const {
  return pending_->statement;
}

const Wgmma& Product::instruction() const {
  return pending_->product->instruction;
}

bool Product::a_in_registers() const {
  return pending_->product->a_in_registers;
}

std::uint64_t Product::a_descriptor() const {
  return pending_->a_descriptor;
}

std::uint64_t Product::b_descriptor() const {
  return pending_->b_descriptor;
}

bool Product::accumulates() const {
  return pending_->accumulates;
}

std::vector<std::uint32_t> Product::a_chunks() const {
  return chunks_of(*pending_, OperandName::a).addresses;
}

std::vector<std::uint32_t> Product::b_chunks() const {
  return chunks_of(*pending_, OperandName::b).addresses;
}

}  // namespace warpmat::machine
