#include <warpmat/c_observer.h>

#include <algorithm>

#include <warpmat/c/accesses.h>
#include <warpmat/c/entry.h>
#include <warpmat/c_program/doubles.h>
#include <warpmat/c_program/events.h>
#include <warpmat/wgmma.h>

using namespace warpmat;
using namespace warpmat::c;

namespace warpmat::c {

using machine::BarrierEvent;
using machine::Synchronisation;
using machine::TensorOrder;

// Enumerators of C have the numbers of C++.
static_assert(static_cast<int>(TensorOrder::Kind::store_done) == WARPMAT_TENSOR_STORE_DONE);
static_assert(static_cast<int>(TensorOrder::Kind::commit) == WARPMAT_TENSOR_COMMIT);
static_assert(static_cast<int>(Synchronisation::Kind::mbarrier) == WARPMAT_MBARRIER);
static_assert(static_cast<int>(Synchronisation::Kind::proxy_fence) == WARPMAT_PROXY_FENCE);
static_assert(static_cast<int>(BarrierEvent::Scope::warpgroup) == WARPMAT_WARPGROUP_BARRIER);
static_assert(static_cast<int>(BarrierEvent::Scope::cluster) == WARPMAT_CLUSTER_BARRIER);
static_assert(machine::Product::chunk_bytes == WARPMAT_CHUNK_BYTES);

GivenEvent::GivenEvent(const machine::Event& event, const std::string& kernel, std::optional<Ending>& ending)
    : event_(event), ending_(ending), given_{} {
  const Dim3 block = event.block();
  given_.size = sizeof given_;
  given_.opcode = event.opcode().data();  // all of a string, which ends with a null
  given_.line = event.line();
  given_.statement = event.statement();
  given_.block[0] = block.x;
  given_.block[1] = block.y;
  given_.block[2] = block.z;
  given_.warp = event.warp();
  given_.lanes = event.lanes();
  given_.rank = event.rank();
  given_.kernel = kernel.c_str();
  given_.place = this;
}

warpmat_block_event given(const machine::BlockEvent& block) {
  const Dim3 at = block.block;
  return {sizeof(warpmat_block_event), nullptr, {at.x, at.y, at.z}, block.rank, block.warps, block.shared.data(), block.shared.size()};
}

WithText<warpmat_registers_event> given(const machine::RegistersEvent& registers) {
  return {{sizeof(warpmat_registers_event), registers.statement, nullptr}, &warpmat_registers_event::problem, registers.problem};
}

warpmat_run_event given(const machine::RunEvent& run) {
  return {sizeof(warpmat_run_event), nullptr, run.operations};
}

WithText<warpmat_call_event> given(const machine::CallEvent& call) {
  return {{sizeof(warpmat_call_event), nullptr, nullptr}, &warpmat_call_event::function, call.function};
}

warpmat_exchange given(const machine::ExchangeEvent& exchange) {
  return {sizeof(warpmat_exchange), nullptr, exchange.shuffle, exchange.from.data(), exchange.absent, exchange.of_nothing};
}

warpmat_access given(const machine::AccessEvent& access) {
  return {sizeof(warpmat_access), nullptr,      space_of(access.space),  access.reads,         access.writes,
          access.asynchronous,    access.bytes, access.addresses.data(), access.places.data(), access.first_register,
          access.consecutive};
}

warpmat_shared_range given(const machine::SharedRange& range) {
  return {range.rank, range.offset, range.bytes};
}

warpmat_remote_access given(const machine::RemoteAccess& access) {
  return {sizeof(warpmat_remote_access), nullptr, access.lane, given(access.range), access.address, access.writes, access.ended};
}

warpmat_copies_event given(const machine::CopiesEvent& copies) {
  return {sizeof(warpmat_copies_event), copies.rank, copies.warp, copies.lanes, copies.bytes, copies.places.data()};
}

warpmat_tensor_order given(const TensorOrder& order) {
  return {sizeof(warpmat_tensor_order), static_cast<warpmat_tensor_order_kind>(order.kind), order.rank, order.warp, order.issued};
}

warpmat_synchronisation given(const Synchronisation& what) {
  const auto kind = static_cast<warpmat_synchronisation_kind>(what.kind);
  return {sizeof(warpmat_synchronisation), kind, what.rank, what.warp, what.acquired, what.released, what.words.data(), what.waited};
}

warpmat_barrier_event given(const BarrierEvent& barrier) {
  const auto scope = static_cast<warpmat_barrier_scope>(barrier.scope);
  return {sizeof(warpmat_barrier_event), scope, barrier.rank, barrier.number, barrier.warps, barrier.waiting, barrier.exited};
}

warpmat_async_product given(const machine::Product& product) {
  return {sizeof(warpmat_async_product), product.instruction().form().opcode.c_str(),
          product.statement(),           product.a_in_registers(),
          product.accumulates(),         product.a_descriptor(),
          product.b_descriptor(),        &product};
}

GivenBulk::GivenBulk(const machine::BulkEvent& copy)
    : warpmat_bulk_event{}, encoded(copy.map != nullptr ? copy.map->encode() : TensorMap::Encoded{}) {
  const auto if_any = [](const std::optional<machine::SharedRange>& range) {
    return range ? c::given(*range) : warpmat_shared_range{-1, 0, 0};
  };
  for (const machine::SharedRange& range : copy.written) ranges.push_back(c::given(range));
  static_cast<warpmat_bulk_event&>(*this) = {sizeof(warpmat_bulk_event),
                                             copy.number,
                                             copy.rank,
                                             copy.warp,
                                             copy.lane,
                                             copy.statement,
                                             if_any(copy.reads),
                                             if_any(copy.writes),
                                             copy.reduces,
                                             copy.from_registers,
                                             if_any(copy.barrier),
                                             ranges.data(),
                                             ranges.size(),
                                             copy.map != nullptr ? encoded.data() : nullptr};
}

GivenBulk given(const machine::BulkEvent& copy) {
  return GivenBulk(copy);
}

GivenTensorAccess::GivenTensorAccess(const machine::TensorAccess& access) : warpmat_tensor_access{} {
  const auto all = [](std::span<const machine::TensorRegion> regions) {
    std::vector<warpmat_tensor_region> list;
    for (const machine::TensorRegion& region : regions) {
      list.push_back({{}, region.first_column, region.columns});
      std::ranges::copy(region.lanes, list.back().lanes);
    }
    return list;
  };
  read = all(access.reads);
  written = all(access.writes);
  static_cast<warpmat_tensor_access&>(*this) = {sizeof(warpmat_tensor_access),
                                                nullptr,
                                                access.rank,
                                                access.by_a_thread,
                                                read.data(),
                                                read.size(),
                                                written.data(),
                                                written.size(),
                                                access.issued};
}

GivenTensorAccess given(const machine::TensorAccess& access) {
  return GivenTensorAccess(access);
}

namespace {

const GivenEvent* place_of(const warpmat_event* event) {
  return event == nullptr ? nullptr : static_cast<const GivenEvent*>(event->place);
}

/// The kind of trap that has C's status of this number; of others `stopped`.
Trap::Kind kind_of(int status) {
  for (auto kind = Trap::Kind::misuse; kind <= Trap::Kind::refused; kind = static_cast<Trap::Kind>(static_cast<int>(kind) + 1))
    if (static_cast<int>(status_of(kind)) == status) return kind;
  return Trap::Kind::stopped;
}

}  // namespace
}  // namespace warpmat::c

size_t warpmat_event_source(const warpmat_event* event, char* text, size_t capacity) {
  try {
    const GivenEvent* const place = place_of(event);
    const std::string source = place == nullptr ? "" : place->event().source();
    copy_text(source, text, capacity, nullptr);
    return source.size();
  } catch (...) {  // out of memory
    copy_text({}, text, capacity, nullptr);
    return 0;
  }
}

int warpmat_event_end(const warpmat_event* event, warpmat_status status, int lane, const uint64_t* address, const char* reason) {
  try {
    if (const GivenEvent* const place = place_of(event))
      place->end({kind_of(number_of(status)), lane, address == nullptr ? std::nullopt : std::optional(*address),
                  reason == nullptr ? "an observer ended the launch" : reason});
  } catch (...) {  // out of memory: the launch ends without the reason
  }
  return 1;
}

size_t warpmat_async_product_chunks(const warpmat_async_product* product, warpmat_operand operand, uint32_t* list, size_t capacity) {
  const int number = number_of(operand);
  if (product == nullptr || product->product == nullptr || (number != WARPMAT_A && number != WARPMAT_B)) return 0;
  try {
    const auto& of = *static_cast<const machine::Product*>(product->product);
    const std::vector<std::uint32_t> all = number == WARPMAT_A ? of.a_chunks() : of.b_chunks();
    if (list != nullptr) std::copy_n(all.begin(), std::min(all.size(), capacity), list);
    return all.size();
  } catch (...) {  // out of memory
    return 0;
  }
}
