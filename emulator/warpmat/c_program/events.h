#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <warpmat/c_observer.h>
#include <warpmat/observer.h>

namespace warpmat::c {

/// What a callback asked for by warpmat_event_end.
struct Ending {
  Trap::Kind kind = Trap::Kind::stopped;
  int lane = -1;
  std::optional<std::uint64_t> address = {};
  std::string reason = {};
};

/// A warpmat_event with what its `place` points to. Not to be copied: it points to itself.
class GivenEvent {
 public:
  /// `kernel`: the name of its kernel.
  GivenEvent(const machine::Event& event, const std::string& kernel, std::optional<Ending>& ending);
  GivenEvent(const GivenEvent&) = delete;
  GivenEvent& operator=(const GivenEvent&) = delete;

  const warpmat_event* get() const { return &given_; }
  const machine::Event& event() const { return event_; }
  void end(Ending ending) const { ending_ = std::move(ending); }

 private:
  const machine::Event& event_;
  std::optional<Ending>& ending_;
  warpmat_event given_;
};

warpmat_block_event given_block(const machine::BlockEvent& block, const std::string& kernel);
warpmat_exchange given_exchange(const machine::ExchangeEvent& exchange, const warpmat_event* event);
warpmat_access given_access(const machine::AccessEvent& access, const warpmat_event* event);
warpmat_shared_range given_range(const machine::SharedRange& range);
warpmat_remote_access given_remote(const machine::RemoteAccess& access, const warpmat_event* event);
warpmat_copies_event given_copies(const machine::CopiesEvent& copies);
warpmat_tensor_order given_order(const machine::TensorOrder& order);
warpmat_synchronisation given_synchronisation(const machine::Synchronisation& what);
warpmat_barrier_event given_barrier(const machine::BarrierEvent& barrier);
warpmat_async_product given_product(const machine::Product& product);

/// A warpmat_bulk_event with what it points to.
class GivenBulk {
 public:
  explicit GivenBulk(const machine::BulkEvent& copy);
  GivenBulk(const GivenBulk&) = delete;
  GivenBulk& operator=(const GivenBulk&) = delete;

  const warpmat_bulk_event& given() const { return given_; }

 private:
  TensorMap::Encoded map_;
  std::vector<warpmat_shared_range> written_;
  warpmat_bulk_event given_;
};

/// Regions of tensor memory as C has them.
std::vector<warpmat_tensor_region> given_regions(std::span<const machine::TensorRegion> regions);

}  // namespace warpmat::c
