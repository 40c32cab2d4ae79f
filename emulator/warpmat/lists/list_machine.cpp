#include <warpmat/lists/list_machine.h>

#include <algorithm>
#include <optional>

#include <warpmat/lists/list_internals.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/constant_copy.h>
#include <warpmat/numeric/rounding_mode.h>

namespace warpmat::inline v0_1 {
namespace {

code::Program placed(const Program& program, std::uint32_t shared_base) {
  code::Program code = *ListInternals::parts(program).code;
  code.shared_base = shared_base;
  return code;
}

std::vector<std::uint64_t> variable_addresses(const Program& program, std::uint32_t shared_base) {
  std::vector<std::uint64_t> addresses;
  for (const SharedVariable& variable : program.variables())
    addresses.push_back(shared_base + static_cast<std::uint64_t>(variable.address));
  return addresses;
}

/// A grid of one block of one warp, without observers: all memory of a list is initially zero.
class OneWarp : public ListMachine {
 public:
  OneWarp(const Program& program, std::uint32_t shared_base)
      : program_(placed(program, shared_base)),
        constants_(program_, variable_addresses(program, shared_base), {}),
        launch_{.program = program_,
                .config = {.grid = {}, .block = {warp_size}},
                .options = options_,
                .memory = memory_,
                .thread_indices{program_, {warp_size}},
                .constants = constants_.begin(),
                .parameters = {},
                .chunk_lists = program_.products.empty() ? nullptr : &chunk_lists_.emplace()},
        cluster_(launch_, 0) {}

  void execute(std::int32_t first, std::int32_t last, std::span<Register> registers, std::span<std::uint8_t> shared) override {
    const OuterRoundingMode mode(RoundingMode::nearest);  // required by the scalar kernels
    machine::Block& block = cluster_.block(0);
    block.begin_reservation(true);
    block.borrow(shared);
    try {
      block.warps().front()->run_list(first, last, reinterpret_cast<std::uint8_t*>(registers.data()));
    } catch (const Trap& trap) {
      throw Trap(trap.kind, std::nullopt, trap.site.lane, trap.address, trap.reason);
    }
  }

 private:
  code::Program program_;
  machine::ConstantCopy constants_;
  LaunchOptions options_;
  std::optional<machine::ChunkLists> chunk_lists_;
  DeviceMemory memory_;
  machine::LaunchState launch_;
  machine::Cluster cluster_;
};

}  // namespace

std::unique_ptr<ListMachine> ListMachine::make(const Program& program, std::uint32_t shared_base) {
  return std::make_unique<OneWarp>(program, shared_base);
}

}  // namespace warpmat::inline v0_1
