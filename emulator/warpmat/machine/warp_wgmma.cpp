// wgmma: four warps multiply together, but each its own rows. A warp performs its part when it waits for it, which is as late as the ISA
// allows: then it reads shared memory and writes its accumulators. A program that forgets to wait finds what was there before.
//
// What the ISA leaves undefined is an error here: accumulators that are touched before the wait, registers written since the last
// wgmma.fence, shared memory that changes between a statement and the wait for it, warps that execute different statements or descriptors.
// PTX ISA 9.1 section 9.7.15.

#include <algorithm>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/machine/warpgroup.h>

namespace warpmat::machine {

using catalogue::Semantics;
using code::Operation;
using code::WarpgroupProduct;

namespace {

constexpr int warps = WgmmaForm::warps;
constexpr int first_meeting = block_barriers;  // where the first warpgroup meets: behind the block's barriers

}  // namespace

/// Traps where a warp of the warpgroup does not exist or has exited: an H100 faults there. It takes warps of which some lanes are left.
void WarpState::must_be_warpgroup(const Operation& operation, LaneMask mask) const {
  const auto& all = block_.warps();
  const auto first = static_cast<std::size_t>(index_ / warps * warps);
  bool whole = first + warps <= all.size();
  for (std::size_t warp = first; whole && warp < first + warps; ++warp) whole = !all[warp]->finished();
  if (!whole)
    trap(first_lane(mask), std::nullopt,
         fmt::format("{} needs all four warps of the warpgroup; some have exited or do not exist",
                     program_.statements[operation.statement]->opcode));
}

/// The value of a source that must be the same in all lanes of `mask`.
std::uint64_t WarpState::uniform_descriptor(const Operation& operation, LaneMask mask, int source, const char* what) const {
  const auto* const values = at<std::uint64_t>(source_slot(operation, source));
  const int first = first_lane(mask);
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1)
    if (const int lane = first_lane(rest); values[lane] != values[first])
      trap(lane, std::nullopt,
           fmt::format("{} is {:#x}, and {:#x} in lane {}; all lanes must give the same", what, values[lane], values[first], first));
  return values[first];
}

/// Traps unless this statement is the one that the other warps of the warpgroup execute as their statement of the same number.
/// All four share what the first of them has read of operand b.
void WarpState::agree_with_warpgroup(PendingProduct& product) {
  WarpgroupIssues& group = block_.warpgroup(index_ / warps);
  std::uint64_t& next = group.next[static_cast<std::size_t>(index_ % warps)];
  WarpgroupIssues::Issue own{product.statement, product.a_descriptor, product.b_descriptor, product.accumulates, index_, nullptr};
  if (next - group.first == group.issues.size()) {
    own.b = product.b = std::make_shared<const std::vector<std::uint32_t>>(read_b(product));
    group.issues.push_back(std::move(own));
  } else {
    const WarpgroupIssues::Issue& first = group.issues[next - group.first];
    if (own.statement != first.statement)
      trap(-1, std::nullopt,
           fmt::format("the warps of a warpgroup execute different products: warp {} executes that at {} here", first.warp,
                       statement_name(first.statement)));
    if (!own.same_operands(first))
      trap(-1, std::nullopt,
           fmt::format("the warps of a warpgroup give different descriptors or scale-d: {:#x}, {:#x}, {}; warp {} gave {:#x}, {:#x}, {}",
                       own.a_descriptor, own.b_descriptor, own.accumulates, first.warp, first.a_descriptor, first.b_descriptor,
                       first.accumulates));
    product.b = first.b;
  }
  ++next;
  while (!group.issues.empty() && std::ranges::all_of(group.next, [&](std::uint64_t n) { return n > group.first; })) {
    group.issues.pop_front();
    ++group.first;
  }
}

/// What a product has in shared memory, of A where it is not in registers: read at its statement, and again when it is performed.
std::vector<std::uint32_t> WarpState::read_a(const PendingProduct& product) const {
  const Wgmma& instruction = product.product->instruction;
  std::vector<std::uint32_t> a(instruction.a_words());
  try {
    instruction.read_a(SharedMemory::borrowing(block_.shared(), program_.shared_base), product.a_descriptor, index_ % warps, a.data());
  } catch (const Trap& error) {
    trap(-1, error.address, error.reason);
  }
  return a;
}

std::vector<std::uint32_t> WarpState::read_b(const PendingProduct& product) const {
  const Wgmma& instruction = product.product->instruction;
  std::vector<std::uint32_t> b(instruction.b_words());
  try {
    instruction.read_b(SharedMemory::borrowing(block_.shared(), program_.shared_base), product.b_descriptor, b.data());
  } catch (const Trap& error) {
    trap(-1, error.address, error.reason);
  }
  return b;
}

/// Whether the product is of none of the last `groups` groups.
bool WarpState::is_done(const PendingProduct& product, std::uint32_t groups) const {
  return product.committed && std::uint64_t{product.group} + groups < wgmma_->committed;
}

WarpState::Step WarpState::wgmma(const Operation& operation, LaneMask mask) {
  const WarpgroupProduct& product = program_.products[operation.detail];
  if (!gather(operation, live_, mask, false)) return Step::leave_strand;
  must_be_warpgroup(operation, mask);
  if (mask != all_lanes && (product.a_in_registers || product.instruction.form().sparse()))
    trap(first_lane(mask), std::nullopt,
         fmt::format("{} takes an operand from registers of all lanes; lanes {:#010x} have exited",
                     program_.statements[operation.statement]->opcode, ~mask));
  check_fence(operation, product);
  PendingProduct pending{.product = &product,
                         .statement = operation.statement,
                         .group = wgmma_->committed,
                         .committed = false,
                         .d = {},
                         .places = {},
                         .reads = {},
                         .a_descriptor = 0,
                         .b_descriptor = 0,
                         .a = {},
                         .b = nullptr,
                         .metadata = {},
                         .accumulates = true};
  for (int i = 0; i < operation.results; ++i) pending.d.push_back(at<std::uint32_t>(result_slot(operation, i)));
  for_each_place(slots(operation), operation.results, strand().frame, [&](std::size_t place) { pending.places.push_back(place); });
  pending.b_descriptor = uniform_descriptor(operation, mask, product.b_source(), "the descriptor of operand b");
  if (product.a_in_registers) {
    for (int i = 0; i < product.instruction.form().a_registers(); ++i) {
      const auto* const words = at<std::uint32_t>(source_slot(operation, i));
      pending.a.insert(pending.a.end(), words, words + lanes);
    }
    for_each_place(slots(operation) + operation.results, product.instruction.form().a_registers(), strand().frame,
                   [&](std::size_t place) { pending.reads.push_back(place); });
  } else {
    pending.a_descriptor = uniform_descriptor(operation, mask, 0, "the descriptor of operand a");
  }
  if (product.instruction.form().sparse())
    std::copy_n(at<std::uint32_t>(source_slot(operation, product.metadata_source())), lanes, pending.metadata.begin());
  const LaneMask scale = *at<LaneMask>(source_slot(operation, product.scale_source())) & mask;
  if (scale != 0 && scale != mask) trap(first_lane(mask & ~scale), std::nullopt, "scale-d is not the same in all lanes");
  pending.accumulates = scale != 0;
  agree_with_warpgroup(pending);
  if (!product.a_in_registers) pending.a = read_a(pending);
  check_operands(operation, pending);
  for (const std::size_t place : pending.places) ++wgmma_->users[place];
  for (const std::size_t place : pending.reads) ++wgmma_->readers[place];
  wgmma_->pending.push_back(std::move(pending));
  advance_gathered(operation, mask, false);
  return Step::next;
}

/// The four warps meet at wgmma.fence and at wgmma.wait_group, as `.sync.aligned` wants it and an H200 does it: what they did before the
/// fence is there for the products of all, and none goes on while another one's products may still read. CuTe's wgmma_sm90 rests on both:
/// nothing else stands between a warp's cp.async.wait_all and the products, or between the products and the copies that overwrite what they
/// read.
WarpState::Step WarpState::meet_warpgroup(const Operation& operation, LaneMask mask) {
  if (!gather(operation, live_, mask, false)) return Step::leave_strand;
  const int first = index_ / warps * warps;
  must_be_warpgroup(operation, mask);
  const int meeting = first_meeting + index_ / warps;
  const std::int32_t pc = strand().pc;
  const std::uint32_t frame = strand().frame;
  for (Strand& s : strands_) {
    const bool gathered = s.state == Strand::State::gathering && s.pc == pc && s.frame == frame;
    if (&s != &strand() && !gathered) continue;
    if (&s == &strand()) s.executing = mask;
    s.state = Strand::State::at_barrier;
    s.barrier = meeting;
  }
  WarpgroupIssues& group = block_.warpgroup(index_ / warps);
  if (group.waiting != 0 && group.meeting != operation.statement)
    trap(-1, std::nullopt, fmt::format("the warps of a warpgroup part: others wait at {}", statement_name(group.meeting)));
  group.meeting = operation.statement;
  group.waiting |= 1u << index_ % warps;
  if (operation.semantics == Semantics::wgmma_wait) release_operands(operation.detail);
  if (block_.races() != nullptr) block_.races()->arrive(index_, meeting);
  if (group.waiting != (1u << warps) - 1) return Step::leave_strand;
  group.waiting = 0;
  block_.make_progress();
  for (int warp = first; warp < first + warps; ++warp) block_.warps()[static_cast<std::size_t>(warp)]->go_on_from(operation, meeting);
  if (block_.races() != nullptr) block_.races()->complete(meeting);
  return Step::leave_strand;
}

/// What a warp does when all four have met.
void WarpState::go_on_from(const Operation& operation, int meeting) {
  if (operation.semantics == Semantics::wgmma_wait)
    wait_for_products(operation.detail);
  else
    wgmma_->fenced_at = operations_;
  if (block_.shadow() != nullptr) block_.shadow()->publish(index_);
  if (block_.races() != nullptr) block_.races()->leave(index_, meeting);
  release(meeting, 0, 0);
}

/// wgmma.commit_group: what the warp has issued since the last one is a group.
WarpState::Step WarpState::wgmma_commit(const Operation& operation, LaneMask mask) {
  if (!gather(operation, live_, mask, false)) return Step::leave_strand;
  for (PendingProduct& product : wgmma_->pending) product.committed = true;
  ++wgmma_->committed;
  advance_gathered(operation, mask, false);
  return Step::next;
}

/// Performs the products of all groups but the last `groups`.
void WarpState::wait_for_products(std::uint32_t groups) {
  std::vector<PendingProduct>& pending = wgmma_->pending;
  std::size_t done = 0;
  while (done < pending.size() && is_done(pending[done], groups)) perform_product(pending[done++]);
  pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(done));
}

/// The four warps perform a product one behind the other, and nothing else runs in between: one of them looks at B again.
void WarpState::perform_product(const PendingProduct& product) {
  const Wgmma& instruction = product.product->instruction;
  const bool a_changed = !product.product->a_in_registers && read_a(product) != product.a;
  if (a_changed || (index_ % warps == 0 && read_b(product) != *product.b))
    trap(-1, std::nullopt,
         fmt::format("shared memory that operand {} of the product at {} reads has changed since that statement: it may be read until here",
                     a_changed ? 'a' : 'b', statement_name(product.statement)));
  try {
    instruction.multiply(product.d, product.a.data(), product.b->data(), product.metadata.data(), product.accumulates,
                         launch_.options.execution);
  } catch (const Trap& error) {
    trap(error.lane, error.address, fmt::format("{}, of the product at {}", error.reason, statement_name(product.statement)));
  }
  for (const std::size_t place : product.places) --wgmma_->users[place];
  for (const std::size_t place : product.reads) --wgmma_->readers[place];
}

}  // namespace warpmat::machine
