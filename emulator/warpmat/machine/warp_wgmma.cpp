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
#include <warpmat/execute/wgmma_products.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/operations.h>
#include <warpmat/machine/warpgroup.h>

namespace warpmat::machine {

using catalogue::Semantics;
using code::Operation;
using code::WarpgroupProduct;

namespace {

constexpr int warps = WgmmaForm::warps;
constexpr int first_warpgroup_barrier = block_barriers;  // the barrier number of the first warpgroup: after the block's barriers

/// Traps where a warp of the warpgroup does not exist or has exited: an H100 faults there. It accepts warps that have some lanes left.
void must_be_warpgroup(WarpState& warp, const Operation& operation, LaneMask mask) {
  const auto& all = warp.block().warps();
  const auto first = static_cast<std::size_t>(warp.index() / warps * warps);
  bool whole = first + warps <= all.size();
  for (std::size_t i = first; whole && i < first + warps; ++i) whole = !all[i]->finished();
  if (!whole)
    warp.trap(first_lane(mask), std::nullopt,
              fmt::format("{} needs all four warps of the warpgroup; some have exited or do not exist",
                          warp.program().statements[operation.statement]->opcode));
}

/// The value of a source that must be the same in all lanes of `mask`.
std::uint64_t uniform_descriptor(WarpState& warp, const Operation& operation, LaneMask mask, int source, const char* what) {
  const auto* const values = warp.at<std::uint64_t>(warp.source_slot(operation, source));
  const int first = first_lane(mask);
  if (mask == all_lanes) {
    std::uint64_t different = 0;
    for (int lane = 0; lane < warp_size; ++lane) different |= values[lane] ^ values[first];
    if (different == 0) return values[first];
  }
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1)
    if (const int lane = first_lane(rest); values[lane] != values[first])
      warp.trap(lane, std::nullopt,
                fmt::format("{} is {:#x}, and {:#x} in lane {}; all lanes must give the same", what, values[lane], values[first], first));
  return values[first];
}

/// Reads a product's operand A from shared memory, if it is there.
void read_a(WarpState& warp, const PendingProduct& product, std::vector<std::uint32_t>& a) {
  const Wgmma& instruction = product.product->instruction;
  a.resize(a_words(instruction.form()));
  const Chunks& chunks = chunks_of(product, OperandName::a);
  if (chunks.are_inside(warp.program().shared_base, warp.block().shared().size()))
    return OperandChunks(instruction, OperandName::a, chunks.addresses)
        .read(a.data(), warp.block().shared().data(), warp.program().shared_base);
  try {
    warpmat::read_a(instruction, SharedMemory::borrowing(warp.block().shared(), warp.program().shared_base), product.a_descriptor,
                    warp.index() % warps, a.data());
  } catch (const Trap& error) {
    warp.trap(-1, error.address, error.reason, error.kind);
  }
}

void read_b(WarpState& warp, const PendingProduct& product, std::vector<std::uint32_t>& b) {
  const Wgmma& instruction = product.product->instruction;
  b.resize(b_words(instruction.form()));
  const Chunks& chunks = chunks_of(product, OperandName::b);
  if (chunks.are_inside(warp.program().shared_base, warp.block().shared().size()))
    return OperandChunks(instruction, OperandName::b, chunks.addresses)
        .read(b.data(), warp.block().shared().data(), warp.program().shared_base);
  try {
    warpmat::read_b(instruction, SharedMemory::borrowing(warp.block().shared(), warp.program().shared_base), product.b_descriptor,
                    b.data());
  } catch (const Trap& error) {
    warp.trap(-1, error.address, error.reason, error.kind);
  }
}

/// Traps unless this statement is the one with the same number in the other warps of the warpgroup. All four share operand b as the first
/// of them has read it.
void agree_with_warpgroup(WarpState& warp, PendingProduct& product) {
  WarpgroupIssues& group = warp.block().warpgroup(warp.index() / warps);
  std::uint64_t& next = group.next[static_cast<std::size_t>(warp.index() % warps)];
  if (next - group.first == group.issues.size()) {
    product.chunks = warp.launch().chunk_lists->find(*product.product, product.a_descriptor, product.b_descriptor);
    const auto b = group.make_b();
    read_b(warp, product, *b);
    product.b = b;
    group.issues.push_back(
        {product.statement, product.a_descriptor, product.b_descriptor, product.accumulates, warp.index(), b, product.chunks});
  } else {
    const WarpgroupIssues::Issue own{
        product.statement, product.a_descriptor, product.b_descriptor, product.accumulates, warp.index(), {}, {}};
    const WarpgroupIssues::Issue& first = group.issues[next - group.first];
    if (own.statement != first.statement)
      warp.trap(-1, std::nullopt,
                {"the warps of a warpgroup execute different products",
                 {warp.note(fmt::format("warp {} executes this one", first.warp), first.statement)}});
    if (!own.same_operands(first))
      warp.trap(
          -1, std::nullopt,
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

/// Whether the product is older than the last `groups` groups.
bool is_done(WarpState& warp, const PendingProduct& product, std::uint32_t groups) {
  return product.committed && std::uint64_t{product.group} + groups < warp.warpgroup_state().committed;
}

/// Whether `operation` waits for the product.
bool waits_for(WarpState& warp, const Operation& operation, const PendingProduct& product) {
  const code::WaitGroups& wait = warp.program().of<code::WaitGroups>(operation);
  return wait.early || is_done(warp, product, wait.pending);
}

/// The products for which `operation` waits have read their operands: these may change from here on.
void tell_products_read(WarpState& warp, const Operation& operation) {
  if (!warp.observers().want(EventKinds::products)) return;
  std::vector<Product>& done = warp.warpgroup_state().told;
  done.clear();
  for (const auto& product : warp.warpgroup_state().pending) {
    if (!waits_for(warp, operation, *product)) break;
    done.push_back(warp.told(*product));
  }
  warp.observers().tell(EventKinds::products, &Observer::products_read, warp.event(operation, warp.split().executing),
                        std::span<const Product>(done));
}

/// The number of products from the first one on that may be performed as one: they add to the same accumulators by the same wgmma, and no
/// observer but the checks may look at what each leaves there.
std::size_t chain_length(WarpState& warp, std::span<const std::unique_ptr<PendingProduct>> products) {
  const PendingProduct& first = *products.front();
  const Wgmma& wgmma = first.product->instruction;
  if (wgmma.form().sparse() || warp.observers().want_besides_checks(EventKinds::products)) return 1;
  const auto follows = [&](const auto& product) {
    const Wgmma& other = product->product->instruction;
    return &other.form() == &wgmma.form() && other.immediates().negates_a == wgmma.immediates().negates_a &&
           other.immediates().negates_b == wgmma.immediates().negates_b && product->accumulates && product->d == first.d;
  };
  const auto others = products.subspan(1, std::min(products.size(), most_in_chain) - 1);
  return 1 + static_cast<std::size_t>(std::ranges::find_if_not(others, follows) - others.begin());
}

void perform_product(WarpState& warp, const PendingProduct& product) {
  try {
    multiply(product.product->instruction, product.d, product.a.data(), product.b->data(), product.metadata.data(), product.accumulates,
             warp.launch().options.execution);
  } catch (const Trap& error) {
    warp.trap(error.site.lane, error.address, {error.reason, {warp.note("the product", product.statement)}});
  }
}

/// Performs products as one, where that can be, else one after the other. Observers are told of all of them before the first one writes.
void perform_products(WarpState& warp, const Operation& operation, std::span<const std::unique_ptr<PendingProduct>> products) {
  for (const auto& product : products)
    warp.observers().tell(EventKinds::products, &Observer::product_completes,
                          ProductEvent{warp.event(operation, warp.live()), warp.told(*product)});
  const PendingProduct& first = *products.front();
  std::array<TileFactors, most_in_chain> factors;
  for (std::size_t i = 0; i < products.size(); ++i) factors[i] = {products[i]->a.data(), products[i]->b->data()};
  if (products.size() > 1 && multiply_chain(first.product->instruction, first.d, std::span(factors).first(products.size()),
                                            first.accumulates, warp.launch().options.execution))
    return;
  for (const auto& product : products) perform_product(warp, *product);
}

/// Performs the products of all groups except the last ones, as many as may be pending.
void wait_for_products(WarpState& warp, const Operation& operation) {
  std::vector<std::unique_ptr<PendingProduct>>& pending = warp.warpgroup_state().pending;
  const auto ready = static_cast<std::size_t>(
      std::ranges::find_if_not(pending, [&](const auto& product) { return waits_for(warp, operation, *product); }) - pending.begin());
  for (std::size_t done = 0; done < ready;) {
    const std::size_t count = chain_length(warp, std::span(pending).subspan(done, ready - done));
    perform_products(warp, operation, std::span(pending).subspan(done, count));
    done += count;
  }
  for (std::size_t i = 0; i < ready; ++i) {
    pending[i]->b = nullptr;
    warp.warpgroup_state().done.push_back(std::move(pending[i]));
  }
  pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(ready));
}

/// Executed by each warp when all four have arrived.
void continue_after(WarpState& warp, const Operation& operation, int barrier_id) {
  if (operation.semantics == Semantics::wgmma_wait) wait_for_products(warp, operation);
  release(warp, barrier_id, 0, 0);
}

/// The four warps synchronise at wgmma.fence and at wgmma.wait_group, as `.sync.aligned` requires and an H200 does. Writes before the fence
/// are visible to all four warps' products, and no warp continues while another one's products may still read. CuTe's wgmma_sm90 relies on
/// both: it has no other synchronisation between a warp's cp.async.wait_all and the products, or between the products and the copies that
/// overwrite their operands.
Step synchronise(WarpState& warp, const Operation& operation, LaneMask mask) {
  if (!warp.gather(warp.live(), mask, false)) return Step::leave_split;
  const int first = warp.index() / warps * warps;
  must_be_warpgroup(warp, operation, mask);
  const int barrier_id = first_warpgroup_barrier + warp.index() / warps;
  warp.wait_at(barrier_id, mask, true);
  WarpgroupIssues& group = warp.block().warpgroup(warp.index() / warps);
  if (group.waiting != 0 && group.waits_at != operation.statement)
    warp.trap(-1, std::nullopt, {"the warps of a warpgroup diverge", {warp.note("others wait here", group.waits_at)}});
  group.waits_at = operation.statement;
  group.waiting |= 1u << warp.index() % warps;
  if (operation.semantics == Semantics::wgmma_wait) tell_products_read(warp, operation);
  BarrierEvent event{BarrierEvent::Scope::warpgroup, warp.block().rank(), warp.index() / warps, std::uint64_t{1} << warp.index()};
  warp.observers().tell(EventKinds::synchronisation, &Observer::barrier_arrives, event);
  if (group.waiting != (1u << warps) - 1) return Step::leave_split;
  group.waiting = 0;
  warp.block().make_progress();
  event.warps = event.waiting = std::uint64_t{(1u << warps) - 1} << first;
  warp.observers().tell(EventKinds::synchronisation, &Observer::barrier_completes, event);
  for (int i = first; i < first + warps; ++i) continue_after(*warp.block().warps()[static_cast<std::size_t>(i)], operation, barrier_id);
  return Step::leave_split;
}

/// Of a wait before accumulators are read (WaitGroups::early): whether none of them is one of a pending product.
bool has_nothing_to_wait_for(WarpState& warp, const Operation& operation) {
  if (!warp.program().of<code::WaitGroups>(operation).early) return false;
  if (warp.warpgroup_state().pending.empty()) return true;
  std::vector<std::uint32_t*> read(operation.sources);
  warp.place_registers(warp.slots(operation) + operation.results, operation.sources, read.data());
  return std::ranges::none_of(warp.warpgroup_state().pending,
                              [&](const auto& product) { return std::ranges::find_first_of(product->d, read) != product->d.end(); });
}

}  // namespace

Step body::wgmma(WarpState& warp, const Operation& operation, LaneMask mask) {
  const WarpgroupProduct& product = warp.program().of<code::WarpgroupProduct>(operation);
  if (!warp.gather(warp.live(), mask, false)) return Step::leave_split;
  must_be_warpgroup(warp, operation, mask);
  if (mask != all_lanes && (product.a_in_registers || product.instruction.form().sparse()))
    warp.trap(first_lane(mask), std::nullopt,
              fmt::format("{} takes an operand from registers of all lanes; lanes {:#010x} have exited",
                          warp.program().statements[operation.statement]->opcode, ~mask));
  constexpr EventKinds performed = EventKinds::operations | EventKinds::products;
  if (warp.observers().want(performed)) warp.observers().tell(performed, &Observer::performs, warp.event(operation, mask));
  std::unique_ptr<PendingProduct> made = warp.warpgroup_state().make();
  PendingProduct& pending = *made;
  pending.product = &product;
  pending.statement = operation.statement;
  pending.group = warp.warpgroup_state().committed;
  pending.committed = false;
  pending.warp = warp.index() % warps;
  pending.d.resize(operation.results);
  warp.place_registers(warp.slots(operation), operation.results, pending.d.data());
  pending.b_descriptor = uniform_descriptor(warp, operation, mask, product.b_source(), "the descriptor of operand b");
  pending.a_descriptor = 0;
  if (product.a_in_registers) {
    pending.a.clear();
    for (int i = 0; i < product.instruction.form().a_registers(); ++i) {
      const auto* const words = warp.at<std::uint32_t>(warp.source_slot(operation, i));
      pending.a.insert(pending.a.end(), words, words + warp_size);
    }
  } else {
    pending.a_descriptor = uniform_descriptor(warp, operation, mask, 0, "the descriptor of operand a");
  }
  if (product.instruction.form().sparse())
    std::copy_n(warp.at<std::uint32_t>(warp.source_slot(operation, product.metadata_source())), warp_size, pending.metadata.begin());
  const LaneMask scale = *warp.at<LaneMask>(warp.source_slot(operation, product.scale_source())) & mask;
  if (scale != 0 && scale != mask) warp.trap(first_lane(mask & ~scale), std::nullopt, "scale-d is not the same in all lanes");
  pending.accumulates = scale != 0;
  check_waiting(warp, first_lane(mask), warp.warpgroup_state().pending.size(), "products of the warp");
  agree_with_warpgroup(warp, pending);
  if (!product.a_in_registers) read_a(warp, pending, pending.a);
  warp.observers().tell(EventKinds::products, &Observer::product_issues, ProductEvent{warp.event(operation, mask), warp.told(pending)});
  warp.warpgroup_state().pending.push_back(std::move(made));
  return warp.advance_gathered(mask, false);
}

Step body::wgmma_fence(WarpState& warp, const Operation& operation, LaneMask mask) {
  return warp.has_warpgroup_state() ? synchronise(warp, operation, mask) : warp.advance();
}

Step body::wgmma_wait(WarpState& warp, const Operation& operation, LaneMask mask) {
  return warp.has_warpgroup_state() && !has_nothing_to_wait_for(warp, operation) ? synchronise(warp, operation, mask) : warp.advance();
}

/// wgmma.commit_group: the statements since the last one become a group.
Step body::wgmma_commit(WarpState& warp, const Operation&, LaneMask mask) {
  if (!warp.has_warpgroup_state()) return warp.advance();
  if (!warp.gather(warp.live(), mask, false)) return Step::leave_split;
  for (const auto& product : warp.warpgroup_state().pending) product->committed = true;
  ++warp.warpgroup_state().committed;
  return warp.advance_gathered(mask, false);
}

}  // namespace warpmat::machine
