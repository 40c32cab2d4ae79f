#include <warpmat/observer.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/ptx/syntax/source_text.h>

namespace warpmat::inline v0_1::machine {

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
  return program().line(*operation_);
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

void Event::trap(int lane, std::optional<std::uint64_t> address, const std::string& reason, Trap::Kind kind) const {
  warp_->trap(lane, address, reason, kind);
}

const code::Program& Event::program() const {
  return warp_->program();
}

}  // namespace warpmat::inline v0_1::machine
