#include <warpmat/machine/quick_blocks.h>

#include <algorithm>

#include <warpmat/machine/block.h>
#include <warpmat/machine/execute_row.h>
#include <warpmat/machine/operations.h>
#include <warpmat/machine/warp_compiled.h>

namespace warpmat::machine {

using catalogue::Semantics;
using code::CodeContext;
using code::Helped;
using code::Operation;

namespace {

constexpr std::uint64_t fewest_blocks = 16;  // fewer are not worth a look at the first one's observers
constexpr std::size_t map_slack = 32;        // words behind a map, which the code may read

/// CodeContext::execute: nothing is executed, the code ends before the operation.
Helped refuse(CodeContext& context, std::uint32_t, std::uint32_t) {
  context.refused = 1;
  return Helped::stop;
}

/// Whether nothing but registers, shared memory and places in the code can tell two ways to run a block apart.
bool is_plain(const LaunchState& launch) {
  const LaunchOptions& options = launch.options;
  return launch.config.cluster.count() == 1 && options.schedule == 0 && options.observers_of_clusters.empty() &&
         options.observers.empty() && options.timing != Timing::card && options.most_operations == 0 && !launch.end &&
         !launch.program.reads_clock;
}

/// Whether no check looks at the launch's clusters. False where that takes more than a look: a check of races keeps what it has made.
bool is_unobserved(const LaunchState& launch) {
  return launch.shared_bytes == 0 && !launch.options.checks.races && Observers(launch, 0).none();
}

/// A barrier of all threads of the block that all lanes reach.
bool is_usual_barrier(const code::Program& program, const Operation& operation) {
  if (operation.semantics != Semantics::barrier || operation.guarded || operation.results != 0) return false;
  const code::Barrier& what = program.of<code::Barrier>(operation);
  return what.action == code::Barrier::Action::sync && !what.has_count && program.slots[operation.slots] < 0;
}

}  // namespace

QuickBlocks::QuickBlocks(const LaunchState& launch) : launch_(launch), usable_(is_plain(launch)) {
  context_.execute = refuse;
  if (!usable_) return;
  find_code();
  if (code_ != nullptr && is_unobserved(launch)) {
    looked_ = true;
    context_.plain_bytes = all_plain_bytes();
  } else {
    usable_ = launch.config.grid.count() >= (code::compiles_at_once() ? 2 : fewest_blocks);
  }
}

QuickBlocks::~QuickBlocks() = default;

void QuickBlocks::find_code() {
  if (code_ != nullptr) return;
  partial_ = launch_.program.hot_code->find(false);
  code_ = partial_ == nullptr ? nullptr : launch_.program.hot_code->find(true);
}

void QuickBlocks::look_at(Cluster& cluster) {
  if (!usable_) return;
  find_code();
  if (looked_) return;
  looked_ = true;
  const Observers& observers = cluster.observers();
  // The code copies nothing and multiplies no matrices, and lanes exchange values where all are there.
  constexpr EventKinds harmless = EventKinds::copies | EventKinds::products | EventKinds::shared_accesses | EventKinds::absent_lanes;
  usable_ = !observers.want(static_cast<EventKinds>(~static_cast<std::uint32_t>(harmless) & 0x7ff));
  follows_bytes_ = observers.want(EventKinds::shared_accesses);
  const std::uint16_t* const plain = follows_bytes_ ? observers.plain_bytes(0, 1) : all_plain_bytes();
  if (plain == nullptr) usable_ = false;
  if (!usable_ || !follows_bytes_) {
    context_.plain_bytes = plain;
    return;
  }
  const std::size_t words = (launch_.shared_bytes + 15) / 16;
  at_first_.assign(plain, plain + words);
  at_first_.resize(words + map_slack);
  plain_ = at_first_;
  context_.plain_bytes = plain_.data();
  context_.defines = 1;
}

void QuickBlocks::begin_launch() {
  begun_ = left_to_machine_ = 0;
  context_.known = nullptr;
}

/// Prepares the storage for a block of this index.
bool QuickBlocks::begin(const Dim3& index) {
  if (launch_.options.stop != nullptr && launch_.options.stop->load(std::memory_order_relaxed)) return false;
  const std::size_t count = warps_of(launch_.config.block);
  if (storage_ == nullptr)
    storage_ = std::make_unique<BlockStorage>(launch_, count);
  else
    storage_->clear(launch_);
  if (follows_bytes_) std::ranges::copy(at_first_, plain_.begin());
  set_block(context_, launch_, index, storage_->shared(), launch_.program.shared_base);
  if (context_.known == nullptr) context_.known = known_memory_of(launch_);
  const std::int32_t first = launch_.program.functions.front().first;
  for (std::size_t i = new_warps_.size(); i < count; ++i)
    new_warps_.push_back({.pc = first, .lanes = lanes_of_warp(launch_.config.block, i), .exited = 0, .apart = {}});
  warps_ = new_warps_;
  return true;
}

std::unique_ptr<Cluster> QuickBlocks::run(std::uint64_t number, std::uint64_t& operations) {
  constexpr std::uint64_t trials = 16;
  if (!begin(cluster_index(launch_.config, number))) return std::make_unique<Cluster>(launch_, number);
  ++begun_;
  if (run_warps()) {
    operations = 0;
    for (const ResumedWarp& warp : warps_) operations += warp.operations;
    return nullptr;
  }
  if (++left_to_machine_ > trials && 2 * left_to_machine_ > begun_) usable_ = false;
  return go_on(number);
}

/// Runs the warps in Block::run()'s order, each until it waits at the barrier or exits. False: the current one needs the machine.
bool QuickBlocks::run_warps() {
  waiting_ = 0;
  current_ = run_straight();
  for (std::size_t finished = current_; finished < warps_.size();) {
    ResumedWarp& warp = warps_[current_];
    if (!warp.finished && !warp.waits) {
      const End end = run_warp(warp, current_);
      if (end == End::machine) return false;
      finished += end == End::exit;
      if (end == End::exit && waiting_ == static_cast<std::ptrdiff_t>(warps_.size() - finished)) release_barrier();
    }
    current_ = current_ + 1 == warps_.size() ? 0 : current_ + 1;
    warps_[current_].slice = 0;
  }
  return true;
}

/// Runs the first warps, as many as code alone takes from the first operation to an exit, with all lanes. Returns the one where it does
/// not, which goes on from there. Most kernels have no others, and what run_warp() does between warps would be a third of their time.
std::size_t QuickBlocks::run_straight() {
  CodeContext& c = context_;
  const std::size_t full = launch_.config.block.count() / warp_size;
  const std::int32_t first = warps_.front().pc;
  if (code_->place(first).code == 0) return 0;
  c.lanes = all_lanes;
  c.converges_at = -1;
  c.refused = 0;
  c.most = warp_slice - 1;
  for (std::size_t index = 0; index < full; ++index) {
    ResumedWarp& warp = warps_[index];
    c.frame = storage_->registers(index);
    c.thread_indices = launch_.thread_indices.first_row(static_cast<int>(index));
    c.pc = first;
    c.left = c.most;
    code_->run(c);
    const std::int32_t executed = c.most - c.left - static_cast<std::int32_t>(c.refused);
    const Operation& next = operation(c.pc);
    warp.finished = next.semantics == Semantics::exit && !next.guarded && c.refused == 0 && c.left > 0;
    if (!warp.finished) {
      warp.pc = c.pc - static_cast<std::int32_t>(c.refused);
      warp.count(executed);
      return index;
    }
    warp.operations = static_cast<std::uint64_t>(executed) + 1;
  }
  return full;
}

/// All warps that are left wait.
void QuickBlocks::release_barrier() {
  for (ResumedWarp& warp : warps_) {
    if (!warp.waits) continue;
    warp.waits = false;
    ++warp.pc;
  }
  waiting_ = 0;
}

/// The warp comes to a barrier. False: not to that at which others wait.
bool QuickBlocks::arrive_at_barrier(ResumedWarp& warp) {
  const code::Slot id_slot = launch_.program.slots[operation(warp.pc).slots];
  const std::uint64_t id = launch_.program.constants[static_cast<std::size_t>(~id_slot) / 8];
  if (waiting_ != 0 && id != barrier_) return false;
  barrier_ = id;
  ++waiting_;
  warp.waits = true;
  warp.count_last();
  return true;
}

/// The one that comes last to a barrier goes on.
QuickBlocks::End QuickBlocks::run_warp(ResumedWarp& warp, std::size_t index) {
  while (true) {
    const End end = run_code(warp, index, warp.lanes, false, warp.pc);
    if (end == End::exit) {
      warp.finished = true;
      warp.count_last();
      return end;
    }
    if (end == End::barrier) {
      if (!arrive_at_barrier(warp)) return End::machine;
      if (waiting_ != std::ranges::count(warps_, false, &ResumedWarp::finished)) return end;
      release_barrier();
      warp.of_split = 1;  // it has left its split, and come back
    } else if (!end_some(warp, index) && !separate(warp, index)) {
      return End::machine;
    }
  }
}

/// The warp is at an exit of some of its lanes.
bool QuickBlocks::end_some(ResumedWarp& warp, std::size_t index) {
  const Operation& exit = operation(warp.pc);
  if (exit.semantics != Semantics::exit || warp.left() <= 1) return false;
  const LaneMask taken = executing(exit, index, warp.lanes);
  warp.lanes &= ~taken;
  warp.exited |= taken;
  warp.count(1);
  ++warp.pc;
  return true;
}

/// Executes what the code can, from `pc` on. `machine`: it ends before something else than an exit or the usual barrier.
QuickBlocks::End QuickBlocks::run_code(ResumedWarp& warp, std::size_t index, LaneMask lanes, bool apart, std::int32_t& pc) {
  const code::MachineCode& code = code_for(lanes);
  CodeContext& c = context_;
  c.frame = storage_->registers(index);
  c.thread_indices = launch_.thread_indices.first_row(static_cast<int>(index));
  c.lanes = lanes;
  c.converges_at = apart ? warp.apart.converges_at : -1;
  c.refused = 0;
  c.pc = pc;
  // The machine executes a slice's last operation, and a split's, by itself.
  c.most = c.left = (apart ? std::min(warp.left(), warp.left_of_split()) : warp.left()) - 1;
  if (code.place(pc).code != 0 && c.most > 0) code.run(c);
  pc = c.pc - static_cast<std::int32_t>(c.refused);
  warp.count(c.most - c.left - static_cast<std::int32_t>(c.refused));
  const Operation& next = operation(pc);
  if (c.refused != 0 || apart || warp.left() <= 1) return End::machine;
  if (next.semantics == Semantics::exit && executing(next, index, lanes) == lanes) return End::exit;
  return is_usual_barrier(launch_.program, next) ? End::barrier : End::machine;
}

LaneMask QuickBlocks::executing(const Operation& next, std::size_t index, LaneMask lanes) const {
  return guarded_lanes(next, lanes, storage_->registers(index), launch_.constants);
}

/// The warp is at a branch that some of its lanes take: runs both parts until they converge. False: something in them needs the machine, or
/// it is no such branch.
bool QuickBlocks::separate(ResumedWarp& warp, std::size_t index) {
  const Operation& branch = operation(warp.pc);
  if (branch.semantics != Semantics::branch || !branch.guarded || branch.converges_at < 0 || warp.left() <= 1) return false;
  const LaneMask taken = executing(branch, index, warp.lanes), others = warp.lanes & ~taken;
  if (taken == 0 || others == 0) return false;
  warp.count(1);
  warp.apart = {.branch = warp.pc, .taken = taken, .converges_at = branch.converges_at};
  warp.pc = warp.apart.branch + 1;
  if (!arrives(warp, index, others, warp.pc)) return false;
  warp.apart.others_arrived = true;
  warp.pc = branch.target;
  if (!arrives(warp, index, taken, warp.pc)) return false;
  warp.apart = {};
  return true;
}

/// Whether these lanes come to the convergence point by code alone. Their arrival uses up a part of the slice.
bool QuickBlocks::arrives(ResumedWarp& warp, std::size_t index, LaneMask lanes, std::int32_t& pc) {
  const std::int32_t to = warp.apart.converges_at;
  if (pc != to) static_cast<void>(run_code(warp, index, lanes, true, pc));
  if (pc != to || warp.left() <= 1 || warp.left_of_split() <= 1) return false;
  warp.arrive();
  return true;
}

std::unique_ptr<Cluster> QuickBlocks::go_on(std::uint64_t number) {
  auto cluster = std::make_unique<Cluster>(launch_, number, nullptr, std::move(storage_));
  cluster->block(0).resume(warps_, current_, follows_bytes_ ? plain_.data() : nullptr);
  return cluster;
}

}  // namespace warpmat::machine
