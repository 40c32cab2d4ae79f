#include <warpmat/lists/list_machine.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>

#include <warpmat/lower/list_internals.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/constant_copy.h>
#include <warpmat/machine/listed_matrices.h>
#include <warpmat/numeric/rounding_mode.h>

namespace warpmat {
namespace {

std::vector<std::uint64_t> variable_addresses(const Program& program, std::uint32_t shared_base) {
  std::vector<std::uint64_t> addresses;
  for (const SharedVariable& variable : program.variables())
    addresses.push_back(shared_base + static_cast<std::uint64_t>(variable.address));
  return addresses;
}

/// A grid of one block of one warp, without checks: all memory of a list is initially zero.
class OneWarp : public ListMachine {
 public:
  OneWarp(const Program& program, std::uint32_t shared_base)
      : program_(placed(*ListInternals::parts(program).code, shared_base)),
        constants_(program_, variable_addresses(program, shared_base), {}),
        launch_{.program = program_,
                .config = {.grid = {}, .block = {warp_size}},
                .options = options_,
                .memory = memory_,
                .thread_indices{program_, {warp_size}},
                .constants = constants_.begin(),
                .parameters = {},
                .chunk_lists = program_.executes(catalogue::Semantics::wgmma) ? &chunk_lists_.emplace() : nullptr},
        cluster_(launch_, 0),
        listed_(program_) {}

  void execute(std::int32_t first, std::int32_t last, std::span<Register> registers, std::span<std::uint8_t> shared,
               const ExecutionOptions& options) override {
    first = compute(first, last, registers);
    if (first == last) return;
    const InUse in_use(*this, "execute its statements");
    options_.execution = options;
    machine::Block& block = cluster_.block(0);
    block.borrow(shared);
    machine::WarpState& warp = *block.warps().front();
    auto* const words = reinterpret_cast<std::uint8_t*>(registers.data());
    if (warp.observers().none()) first = warp.run_matrices_of_list(first, last, words, listed_);
    if (first == last) return;
    std::optional<OuterRoundingMode> mode;
    if (computes(first, last)) mode.emplace(RoundingMode::nearest);  // required by the scalar kernels
    block.begin_reservation(true);
    warp.run_list(first, last, words);
  }

  void observe(std::vector<machine::Observer*> observers, std::span<std::uint8_t> shared) override {
    const InUse in_use(*this, "give it other observers");
    machine::Block& block = cluster_.block(0);
    block.borrow(shared);
    try {
      block.tell_end();
      cluster_.observers().replace(std::move(observers));
      block.tell_beginning();
    } catch (...) {
      cluster_.observers().replace({});
      throw;
    }
  }

  std::size_t statement() const override { return cluster_.block(0).warps().front()->operation().statement; }

 private:
  /// One call at a time: an observer that is told of one makes no other.
  class InUse {
   public:
    InUse(OneWarp& machine, const char* what) : in_use_(machine.in_use_) {
      if (in_use_) throw std::invalid_argument(fmt::format("an observer of the warp cannot {}", what));
      in_use_ = true;
    }
    ~InUse() { in_use_ = false; }
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;

   private:
    bool& in_use_;
  };

  /// Without observers, executes the operations up to the first that does not only compute, or has a guard. Returns that operation.
  std::int32_t compute(std::int32_t first, std::int32_t last, std::span<Register> registers) {
    machine::WarpState& warp = *cluster_.block(0).warps().front();
    if (first == last || !warp.observers().none() || !catalogue::computes(program_.operations[static_cast<std::size_t>(first)].semantics))
      return first;
    const OuterRoundingMode mode(RoundingMode::nearest);  // required by the scalar kernels
    return warp.compute_list(first, last, reinterpret_cast<std::uint8_t*>(registers.data()));
  }

  /// Whether there are other operations than matrix instructions, which round by themselves.
  bool computes(std::int32_t first, std::int32_t last) const {
    const auto all = program_.operations.begin();
    return std::any_of(all + first, all + last, [](const code::Operation& one) { return one.semantics != catalogue::Semantics::matrix; });
  }

  /// The program itself, or where shared memory begins elsewhere than at 0, a copy that knows it.
  const code::Program& placed(const code::Program& code, std::uint32_t shared_base) {
    if (shared_base == code.shared_base) return code;
    moved_ = code;
    moved_->shared_base = shared_base;
    return *moved_;
  }

  std::optional<code::Program> moved_;
  const code::Program& program_;
  machine::ConstantCopy constants_;
  LaunchOptions options_;
  std::optional<machine::ChunkLists> chunk_lists_;
  DeviceMemory memory_;
  machine::LaunchState launch_;
  machine::Cluster cluster_;
  machine::ListedMatrices listed_;
  bool in_use_ = false;
};

}  // namespace

std::unique_ptr<ListMachine> ListMachine::make(const Program& program, std::uint32_t shared_base) {
  return std::make_unique<OneWarp>(program, shared_base);
}

}  // namespace warpmat
