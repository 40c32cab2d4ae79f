// wgmma: four warps multiply together, each its own rows. A warp reads the operands of its part at the statement, the earliest time that
// the ISA allows, and writes its accumulators when it waits for it, the latest time. So a program without the wait reads the old data.
//
// Warps that execute different statements or descriptors are an error here. checks/wgmma_check.cpp finds operands that change between the
// statement and the wait, and what else the ISA leaves undefined. PTX ISA 9.1 section 9.7.15.

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

#include <fmt/core.h>

#include <warpmat/execute/operand_chunks.h>
#include <warpmat/execute/wgmma_chain.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/machine/warpgroup.h>

namespace warpmat::inline v0_1::machine {

using catalogue::Semantics;
using code::Operation;
using code::WarpgroupProduct;

namespace {

constexpr int warps = WgmmaForm::warps;
constexpr int first_warpgroup_barrier = block_barriers;  // the barrier number of the first warpgroup: after the block's barriers

}  // namespace

/// Traps where a warp of the warpgroup does not exist or has exited: an H100 faults there. It accepts warps that have some lanes left.
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
  if (mask == all_lanes) {
    std::uint64_t different = 0;
    for (int lane = 0; lane < warp_size; ++lane) different |= values[lane] ^ values[first];
    if (different == 0) return values[first];
  }
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1)
    if (const int lane = first_lane(rest); values[lane] != values[first])
      trap(lane, std::nullopt,
           fmt::format("{} is {:#x}, and {:#x} in lane {}; all lanes must give the same", what, values[lane], values[first], first));
  return values[first];
}

/// Traps unless this statement is the one with the same number in the other warps of the warpgroup. All four share operand b as the first
/// of them has read it.
void WarpState::agree_with_warpgroup(PendingProduct& product) {
  WarpgroupIssues& group = block_.warpgroup(index_ / warps);
  std::uint64_t& next = group.next[static_cast<std::size_t>(index_ % warps)];
  if (next - group.first == group.issues.size()) {
    product.chunks = launch_.chunk_lists->find(*product.product, product.a_descriptor, product.b_descriptor);
    const auto b = group.make_b();
    read_b(product, *b);
    product.b = b;
    group.issues.push_back({product.statement, product.a_descriptor, product.b_descriptor, product.accumulates, index_, b, product.chunks});
  } else {
    const WarpgroupIssues::Issue own{product.statement, product.a_descriptor, product.b_descriptor, product.accumulates, index_, {}, {}};
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
    product.chunks = first.chunks;
  }
  ++next;
  while (!group.issues.empty() && std::ranges::all_of(group.next, [&](std::uint64_t n) { return n > group.first; })) {
    group.issues.pop_front();
    ++group.first;
  }
}

/// Reads a product's operand A from shared memory, if it is there.
void WarpState::read_a(const PendingProduct& product, std::vector<std::uint32_t>& a) const {
  const Wgmma& instruction = product.product->instruction;
  a.resize(instruction.a_words());
  const Chunks& chunks = chunks_of(product, OperandName::a);
  if (chunks.are_inside(program_.shared_base, block_.shared().size()))
    return OperandChunks(instruction, OperandName::a, chunks.addresses).read(a.data(), block_.shared().data(), program_.shared_base);
  try {
    instruction.read_a(SharedMemory::borrowing(block_.shared(), program_.shared_base), product.a_descriptor, index_ % warps, a.data());
  } catch (const Trap& error) {
    trap(-1, error.address, error.reason);
  }
}

void WarpState::read_b(const PendingProduct& product, std::vector<std::uint32_t>& b) const {
  const Wgmma& instruction = product.product->instruction;
  b.resize(instruction.b_words());
  const Chunks& chunks = chunks_of(product, OperandName::b);
  if (chunks.are_inside(program_.shared_base, block_.shared().size()))
    return OperandChunks(instruction, OperandName::b, chunks.addresses).read(b.data(), block_.shared().data(), program_.shared_base);
  try {
    instruction.read_b(SharedMemory::borrowing(block_.shared(), program_.shared_base), product.b_descriptor, b.data());
  } catch (const Trap& error) {
    trap(-1, error.address, error.reason);
  }
}

/// Whether the product is older than the last `groups` groups.
bool WarpState::is_done(const PendingProduct& product, std::uint32_t groups) const {
  return product.committed && std::uint64_t{product.group} + groups < wgmma_->committed;
}

WarpState::Step WarpState::wgmma(const Operation& operation, LaneMask mask) {
  const WarpgroupProduct& product = program_.of<code::WarpgroupProduct>(operation);
  if (!gather(live_, mask, false)) return Step::leave_split;
  must_be_warpgroup(operation, mask);
  if (mask != all_lanes && (product.a_in_registers || product.instruction.form().sparse()))
    trap(first_lane(mask), std::nullopt,
         fmt::format("{} takes an operand from registers of all lanes; lanes {:#010x} have exited",
                     program_.statements[operation.statement]->opcode, ~mask));
  constexpr EventKinds performed = EventKinds::operations | EventKinds::products;
  if (observers_.want(performed)) observers_.tell(performed, &Observer::performs, Event(*this, operation, mask));
  std::unique_ptr<PendingProduct> made = wgmma_->make();
  PendingProduct& pending = *made;
  pending.product = &product;
  pending.statement = operation.statement;
  pending.group = wgmma_->committed;
  pending.committed = false;
  pending.warp = index_ % warps;
  pending.d.resize(operation.results);
  place_registers(slots(operation), operation.results, pending.d.data());
  pending.b_descriptor = uniform_descriptor(operation, mask, product.b_source(), "the descriptor of operand b");
  pending.a_descriptor = 0;
  if (product.a_in_registers) {
    pending.a.clear();
    for (int i = 0; i < product.instruction.form().a_registers(); ++i) {
      const auto* const words = at<std::uint32_t>(source_slot(operation, i));
      pending.a.insert(pending.a.end(), words, words + warp_size);
    }
  } else {
    pending.a_descriptor = uniform_descriptor(operation, mask, 0, "the descriptor of operand a");
  }
  if (product.instruction.form().sparse())
    std::copy_n(at<std::uint32_t>(source_slot(operation, product.metadata_source())), warp_size, pending.metadata.begin());
  const LaneMask scale = *at<LaneMask>(source_slot(operation, product.scale_source())) & mask;
  if (scale != 0 && scale != mask) trap(first_lane(mask & ~scale), std::nullopt, "scale-d is not the same in all lanes");
  pending.accumulates = scale != 0;
  agree_with_warpgroup(pending);
  if (!product.a_in_registers) read_a(pending, pending.a);
  observers_.tell(EventKinds::products, &Observer::product_issues, ProductEvent{Event(*this, operation, mask), Product(pending, index_)});
  wgmma_->pending.push_back(std::move(made));
  advance_gathered(mask, false);
  return Step::next;
}

/// The four warps synchronise at wgmma.fence and at wgmma.wait_group, as `.sync.aligned` requires and an H200 does. Writes before the fence
/// are visible to all four warps' products, and no warp continues while another one's products may still read. CuTe's wgmma_sm90 relies on
/// both: it has no other synchronisation between a warp's cp.async.wait_all and the products, or between the products and the copies that
/// overwrite their operands.
WarpState::Step WarpState::synchronise_warpgroup(const Operation& operation, LaneMask mask) {
  if (!gather(live_, mask, false)) return Step::leave_split;
  const int first = index_ / warps * warps;
  must_be_warpgroup(operation, mask);
  const int barrier_id = first_warpgroup_barrier + index_ / warps;
  const std::int32_t pc = split().pc;
  const std::uint32_t frame = split().frame;
  for (Split& s : splits_) {
    const bool gathered = s.state == Split::State::gathering && s.pc == pc && s.frame == frame;
    if (&s != &split() && !gathered) continue;
    if (&s == &split()) s.executing = mask;
    s.state = Split::State::at_barrier;
    s.barrier = barrier_id;
  }
  WarpgroupIssues& group = block_.warpgroup(index_ / warps);
  if (group.waiting != 0 && group.waits_at != operation.statement)
    trap(-1, std::nullopt, fmt::format("the warps of a warpgroup diverge: others wait at {}", statement_name(group.waits_at)));
  group.waits_at = operation.statement;
  group.waiting |= 1u << index_ % warps;
  if (operation.semantics == Semantics::wgmma_wait) tell_products_read(operation);
  BarrierEvent event{BarrierEvent::Scope::warpgroup, block_.rank(), index_ / warps, std::uint64_t{1} << index_};
  observers_.tell(EventKinds::synchronisation, &Observer::barrier_arrives, event);
  if (group.waiting != (1u << warps) - 1) return Step::leave_split;
  group.waiting = 0;
  block_.make_progress();
  event.warps = event.waiting = std::uint64_t{(1u << warps) - 1} << first;
  observers_.tell(EventKinds::synchronisation, &Observer::barrier_completes, event);
  for (int warp = first; warp < first + warps; ++warp)
    block_.warps()[static_cast<std::size_t>(warp)]->continue_after(operation, barrier_id);
  return Step::leave_split;
}

/// Executed by each warp when all four have arrived.
void WarpState::continue_after(const Operation& operation, int barrier_id) {
  if (operation.semantics == Semantics::wgmma_wait) wait_for_products(operation);
  release(barrier_id, 0, 0);
}

/// wgmma.commit_group: the statements since the last one become a group.
WarpState::Step WarpState::wgmma_commit(LaneMask mask) {
  if (!gather(live_, mask, false)) return Step::leave_split;
  for (const auto& product : wgmma_->pending) product->committed = true;
  ++wgmma_->committed;
  advance_gathered(mask, false);
  return Step::next;
}

/// The products for which `operation` waits have read their operands: these may change from here on.
void WarpState::tell_products_read(const Operation& operation) const {
  if (!observers_.want(EventKinds::products)) return;
  std::vector<Product>& done = wgmma_->told;
  done.clear();
  for (const auto& product : wgmma_->pending) {
    if (!is_done(*product, operation.detail)) break;
    done.push_back(Product(*product, index_));
  }
  observers_.tell(EventKinds::products, &Observer::products_read, Event(*this, operation, split().executing),
                  std::span<const Product>(done));
}

/// Performs the products of all groups except the last `operation.detail`.
void WarpState::wait_for_products(const Operation& operation) {
  std::vector<std::unique_ptr<PendingProduct>>& pending = wgmma_->pending;
  const auto ready = static_cast<std::size_t>(
      std::ranges::find_if_not(pending, [&](const auto& product) { return is_done(*product, operation.detail); }) - pending.begin());
  for (std::size_t done = 0; done < ready;) {
    const std::size_t count = chain_length(std::span(pending).subspan(done, ready - done));
    perform_products(operation, std::span(pending).subspan(done, count));
    done += count;
  }
  for (std::size_t i = 0; i < ready; ++i) {
    pending[i]->b = nullptr;
    wgmma_->done.push_back(std::move(pending[i]));
  }
  pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(ready));
}

/// The number of products from the first one on that may be performed as one: they add to the same accumulators by the same wgmma, and no
/// observer but the checks may look at what each leaves there.
std::size_t WarpState::chain_length(std::span<const std::unique_ptr<PendingProduct>> products) const {
  const PendingProduct& first = *products.front();
  const Wgmma& wgmma = first.product->instruction;
  if (wgmma.form().sparse() || observers_.want_besides_checks(EventKinds::products)) return 1;
  const auto follows = [&](const auto& product) {
    const Wgmma& other = product->product->instruction;
    return &other.form() == &wgmma.form() && other.immediates().negates_a == wgmma.immediates().negates_a &&
           other.immediates().negates_b == wgmma.immediates().negates_b && product->accumulates && product->d == first.d;
  };
  const auto others = products.subspan(1, std::min(products.size(), most_in_chain) - 1);
  return 1 + static_cast<std::size_t>(std::ranges::find_if_not(others, follows) - others.begin());
}

/// Performs products as one, where that can be, else one after the other. Observers are told of all of them before the first one writes.
void WarpState::perform_products(const Operation& operation, std::span<const std::unique_ptr<PendingProduct>> products) {
  for (const auto& product : products)
    observers_.tell(EventKinds::products, &Observer::product_completes,
                    ProductEvent{Event(*this, operation, live_), Product(*product, index_)});
  const PendingProduct& first = *products.front();
  std::array<TileFactors, most_in_chain> factors;
  for (std::size_t i = 0; i < products.size(); ++i) factors[i] = {products[i]->a.data(), products[i]->b->data()};
  if (products.size() > 1 && multiply_chain(first.product->instruction, first.d, std::span(factors).first(products.size()),
                                            first.accumulates, launch_.options.execution))
    return;
  for (const auto& product : products) perform_product(*product);
}

void WarpState::perform_product(const PendingProduct& product) {
  try {
    product.product->instruction.multiply(product.d, product.a.data(), product.b->data(), product.metadata.data(), product.accumulates,
                                          launch_.options.execution);
  } catch (const Trap& error) {
    trap(error.site.lane, error.address, fmt::format("{}, of the product at {}", error.reason, statement_name(product.statement)));
  }
}

}  // namespace warpmat::inline v0_1::machine
