#include <warpmat/machine/block.h>
#include <warpmat/machine/kernel_trap.h>
#include <warpmat/machine/operations.h>
#include <warpmat/machine/warp_compiled.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <numeric>

#include <fmt/core.h>

#include <warpmat/ir/address_windows.h>
#include <warpmat/numeric/rounding_mode.h>
#include <warpmat/ptx/syntax/source_text.h>

namespace warpmat::machine {
namespace {

/// A step of xorshift64* (Vigna, 2016).
std::uint64_t next_random(std::uint64_t& state) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545f4914f6cdd1d;
}

}  // namespace

Block::Block(Cluster& cluster, Dim3 index, int rank, std::unique_ptr<BlockStorage> storage)
    : cluster_(cluster),
      launch_(cluster.launch()),
      index_(index),
      rank_(rank),
      shared_base_(launch_.program.shared_base + code::block_window_start(rank)),
      resumed_(std::move(storage)),
      storage_(resumed_ != nullptr ? *resumed_ : own_.emplace(launch_, warps_of(launch_.config.block))),
      shared_(storage_.shared()),
      warps_(storage_.warps()) {
  const LaunchState& launch = launch_;
  const std::uint64_t number = index.x + std::uint64_t{launch.config.grid.x} * (index.y + std::uint64_t{launch.config.grid.y} * index.z);
  random_ = (launch.options.schedule ^ number << 32) * 0x9e3779b97f4a7c15 | 1;
  for (std::size_t i = 0; i < warps_of(launch.config.block); ++i) storage_.add_warp(*this, lanes_of_warp(launch.config.block, i));
  if (launch.program.executes(catalogue::Semantics::wgmma)) warpgroups_.resize((warps_.size() + WgmmaForm::warps - 1) / WgmmaForm::warps);
  if (launch.program.executes(catalogue::Semantics::tensor_memory)) tensor_core_ = std::make_unique<TensorCore>();
  if (launch.options.schedule != 0) {
    order_.resize(warps_.size());
    std::iota(order_.begin(), order_.end(), 0);
  }
  tell_beginning();
}

void Block::prepare_code() {
  code::CodeContext& c = code_context_.emplace();
  set_block(c, launch_, index_, shared_, shared_base_);
  c.constants = warps_.front()->constants();
  if (launch_.program.orders_clusters) known_memory_.resize(std::min(code::known_memories, launch_.program.payloads.size()));
  c.known = known_memory_.empty() ? known_memory_of(launch_) : known_memory_.data();
  c.execute = execute_for_code;
  if (cluster_.observers().none()) c.plain_bytes = all_plain_bytes();
}

void Block::resume(std::span<const ResumedWarp> warps, std::size_t current, const std::uint16_t* plain_bytes) {
  if (plain_bytes != nullptr) cluster_.observers().begin_with(rank_, plain_bytes);
  for (std::size_t i = 0; i < warps.size(); ++i) {
    warps_[i]->resume(warps[i]);
    clock_ += warps_[i]->operations();
    finished_ += warps[i].finished;
  }
  next_warp_ = current;
  slice_ = warps[current].left();
}

void Block::tell_beginning() {
  cluster_.observers().tell_all(&Observer::block_begins, BlockEvent(*this));
}

void Block::tell_end() {
  cluster_.observers().tell_all(&Observer::block_ends, BlockEvent(*this));
}

std::uint64_t Block::operations() const {
  std::uint64_t sum = 0;
  for (const auto& warp : warps_) sum += warp->operations();
  return sum;
}

Block::Use Block::use_reservation(const WarpState& warp) {
  constexpr int between_looks = 64;
  if (--reservation_left_ < 0) return Use::is_over;
  if (reservation_left_ % between_looks != 0 || !warp.only_polls()) return Use::granted;
  return cluster_.only_polls() ? Use::is_over : Use::gives_way;
}

/// A wait for a time, between two polls, uses up the reservation as polls do. What comes before the first ordered operation does not count:
/// a block may come that far without the reservation.
std::uint64_t Block::read_clock() {
  if (reservation_left_ > 0 && reservation_left_ < reservation_accesses) --reservation_left_;
  return cluster_.read_clock() + clock_;
}

void Block::begin_reservation(bool has_reservation) {
  has_reservation_ = has_reservation;
  reservation_left_ = reservation_accesses;
  reads_ = 0;
}

/// Ends the launch beyond a limit of its options, as by `warp`, which has run.
void Block::check_limits(WarpState& warp) const {
  const LaunchOptions& options = launch_.options;
  const auto end = [&](const std::string& reason) { warp.trap(-1, std::nullopt, reason, Trap::Kind::limit); };
  if (options.most_operations != 0 && operations() > options.most_operations)
    end(fmt::format("the block has executed more than {} operations", options.most_operations));
  if (launch_.end && std::chrono::steady_clock::now() > *launch_.end)
    end(fmt::format("the launch took longer than {:g} s", options.most_seconds));
  if (options.stop != nullptr && options.stop->load(std::memory_order_relaxed)) end("the launch was stopped from outside");
}

Block::Status Block::run() {
  const OuterRoundingMode mode(RoundingMode::nearest);  // required by the scalar kernels
  const bool alone = cluster_.size() == 1;
  while (finished_ < warps_.size()) {
    if (slice_ <= 0) begin_slice();
    WarpState& warp = *warps_[order_.empty() ? next_warp_ : order_[next_warp_]];
    const std::uint64_t before = warp.operations();
    const bool was_finished = warp.finished();
    const WarpState::Status status = warp.run(slice_);
    clock_ += warp.operations() - before;
    launch_.program.hot_code->count(launch_.program, warp.operations() - before);
    if (launch_.options.timing == Timing::card) complete_copies(warp);
    check_limits(warp);
    if (status == WarpState::Status::needs_reservation) return Status::needs_reservation;
    if (status == WarpState::Status::reservation_is_over) return Status::reservation_is_over;
    const bool stuck = warp.polls() && all_wait();
    if (stuck && alone && !cluster_.leap()) report_deadlock({});
    if (!was_finished && warp.finished()) {
      ++finished_;
      make_progress();
      check_all_barriers();
    }
    if (++next_warp_ == warps_.size()) next_warp_ = 0;
    slice_ = 0;
    idle_ = warp.operations() != before || status == WarpState::Status::yielded ? 0 : idle_ + 1;
    if (idle_ > 2 * warps_.size() && finished_ < warps_.size() && alone) report_deadlock({});
    if (!alone && next_warp_ == 0 && finished_ < warps_.size()) return all_wait() ? Status::waits : Status::yielded;
  }
  end();
  return Status::finished;
}

/// A bulk load that no thread has waited for ends with its block: pipelines prefetch stages beyond the last tile, and an H200 accepts that.
void Block::end() {
  check_warpgroups();
  check_tensor_memory();
  if (launch_.program.limits.registers != 0)  // else ptxas ignores setmaxnreg
    for (WarpState* const warp : warps_) check_max_registers(*warp);
  tell_end();
}

/// A warp's slice has the same length in every run: a warp that waits for the reservation continues with the rest of its slice.
void Block::begin_slice() {
  slice_ = warp_slice;
  if (launch_.options.schedule == 0) return;
  if (next_warp_ == 0)
    for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[next_random(random_) % i]);
  slice_ = static_cast<int>(1 + next_random(random_) % warp_slice);
}

void Block::check_barrier(int id) {
  BarrierState& state = barrier(id);
  if (!state.in_use) return;
  const std::uint32_t expected =
      state.expected != 0 ? state.expected : static_cast<std::uint32_t>(warps_.size() - exited_) * std::uint32_t{warp_size};
  if (state.arrived < expected || state.arrived == 0) return;
  const BarrierState done = state;
  state = {};
  make_progress();
  if (cluster_.observers().want(EventKinds::synchronisation)) {
    // A barrier of all threads comes after what warps that have exited did: their exit counts as their arrival.
    std::uint64_t exited = 0;
    for (std::size_t i = 0; done.expected == 0 && i < warps_.size(); ++i) exited |= std::uint64_t{warps_[i]->finished()} << i;
    cluster_.observers().tell(EventKinds::synchronisation, &Observer::barrier_completes,
                              BarrierEvent{BarrierEvent::Scope::block, rank_, id, done.participants, done.arrived_warps, exited});
  }
  for (std::size_t i = 0; i < warps_.size(); ++i)
    if ((done.arrived_warps >> i & 1) != 0) release(*warps_[i], id, done.count, done.contributed);
}

void Block::check_all_barriers() {
  for (int id = 0; id < known_barriers_; ++id)
    if (barrier(id).in_use) check_barrier(id);
}

/// Traps if a warp has exited without a product that another warp of its warpgroup has executed.
void Block::check_warpgroups() const {
  for (std::size_t g = 0; g < warpgroups_.size(); ++g) {
    const WarpgroupIssues& group = warpgroups_[g];
    if (group.issues.empty()) continue;
    const auto absent = static_cast<int>(std::ranges::min_element(group.next) - group.next.begin());
    const WarpgroupIssues::Issue& issue = group.issues.front();
    throw kernel_trap(site_of(issue.warp, issue.statement), std::nullopt,
                      fmt::format("warp {} of the warpgroup has ended and never came to this statement",
                                  static_cast<int>(g) * WgmmaForm::warps + absent));
  }
}

/// Traps if tensor memory has not been freed: the blocks that come next would wait for it.
void Block::check_tensor_memory() const {
  if (tensor_core_ == nullptr || tensor_core_->allocations().empty()) return;
  const TensorAllocation& left = tensor_core_->allocations().front();
  throw kernel_trap(site_of(left.warp, left.statement), std::nullopt,
                    fmt::format("the block has ended without tcgen05.dealloc of the {} columns from column {} on that this statement gave",
                                left.count, left.first));
}

Trap::Site Block::site_of(int warp, std::uint32_t statement) const {
  return site_at({.kernel = std::string(launch_.program.entry), .block = index_, .warp = warp}, launch_.program, statement);
}

bool Block::all_wait() const {
  return std::ranges::all_of(warps_, [](const auto& warp) { return warp->finished() || warp->waits(); });
}

bool Block::only_polls() const {
  return std::ranges::all_of(warps_, [](const auto& warp) { return warp->only_polls(); });
}

bool Block::only_waits() const {
  return std::ranges::all_of(warps_, [](const auto& warp) { return warp->only_waits(); });
}

bool Block::polls() const {
  return std::ranges::any_of(warps_, [](const auto& warp) { return !warp->finished() && warp->polls(); });
}

}  // namespace warpmat::machine
