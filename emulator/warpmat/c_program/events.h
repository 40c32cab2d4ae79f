#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

// A struct of C++ as C's, but its warpmat_event, and of a block its kernel. Those with names hold what they point to.
warpmat_block_event given(const machine::BlockEvent& block);
warpmat_run_event given(const machine::RunEvent& run);
warpmat_exchange given(const machine::ExchangeEvent& exchange);
warpmat_access given(const machine::AccessEvent& access);
warpmat_shared_range given(const machine::SharedRange& range);
warpmat_remote_access given(const machine::RemoteAccess& access);
warpmat_copies_event given(const machine::CopiesEvent& copies);
warpmat_tensor_order given(const machine::TensorOrder& order);
warpmat_synchronisation given(const machine::Synchronisation& what);
warpmat_barrier_event given(const machine::BarrierEvent& barrier);
warpmat_async_product given(const machine::Product& product);

/// `Struct` with a text of its own.
template <typename Struct>
struct WithText : Struct {
  WithText(const Struct& fields, const char* Struct::*place, std::string_view name) : Struct(fields), text(name) {
    this->*place = text.c_str();
  }
  WithText(const WithText&) = delete;
  WithText& operator=(const WithText&) = delete;
  std::string text;
};
WithText<warpmat_registers_event> given(const machine::RegistersEvent& registers);
WithText<warpmat_call_event> given(const machine::CallEvent& call);

struct GivenBulk : warpmat_bulk_event {
  explicit GivenBulk(const machine::BulkEvent& copy);
  GivenBulk(const GivenBulk&) = delete;
  GivenBulk& operator=(const GivenBulk&) = delete;
  TensorMap::Encoded encoded;
  std::vector<warpmat_shared_range> ranges;
};
GivenBulk given(const machine::BulkEvent& copy);

struct GivenTensorAccess : warpmat_tensor_access {
  explicit GivenTensorAccess(const machine::TensorAccess& access);
  GivenTensorAccess(const GivenTensorAccess&) = delete;
  GivenTensorAccess& operator=(const GivenTensorAccess&) = delete;
  std::vector<warpmat_tensor_region> read, written;
};
GivenTensorAccess given(const machine::TensorAccess& access);

}  // namespace warpmat::c
