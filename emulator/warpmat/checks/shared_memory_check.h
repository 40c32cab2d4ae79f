#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <warpmat/checks/checks.h>
#include <warpmat/checks/shared_shadow.h>
#include <warpmat/checks/uninitialised_values.h>
#include <warpmat/ir/code.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/observers.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/scalar/lane_offsets.h>

namespace warpmat::checks {

/// Which bytes of shared memory are initialised and visible, which of global memory somebody has written, and which registers hold values
/// of bytes that are not.
///
/// Reports accesses that reach across two variables, and accesses to bytes that a cp.async still writes or that only its own warp may read.
/// Programs may move uninitialised values and compute with them, as compilers do with unused halves of vectors. They are an error if they
/// affect control flow, a guard, an address, or a store to global memory (a warning without Checks::stores, after which these bytes count
/// as initialised). A value of global memory that a store moves makes the bytes there unwritten; what is computed from it is a warning,
/// too. A register of which a part is written counts as initialised, as structures have padding. Operations are followed only while a
/// register of the cluster holds such a value, and accesses only as long as bytes are uninitialised or may become so; those of initialised
/// bytes alone are then passed over (plain_bytes()). Accesses to global memory are looked at with Setup::follows_global alone.
class SharedMemoryCheck : public machine::ByteCheck {
 public:
  SharedMemoryCheck(const Setup& setup, std::uint64_t cluster);

  // Bytes: shared_memory_check.cpp
  void block_begins(const machine::BlockEvent& event) override;
  const std::uint16_t* plain_bytes(int rank, std::uint32_t bytes) const override;
  bool lets_stores_enter(int rank) override;
  bool note(const machine::SharedLanes& access) override;
  void begin_with(int rank, const std::uint16_t* plain) override;
  void access(const machine::AccessEvent& event) override;
  void remote_access(const machine::RemoteAccess& event) override;
  void shared_written(const machine::SharedRange& range) override;
  void copies_land(const machine::CopiesEvent& event) override;
  void copies_complete(const machine::Event& event) override;
  void bulk_issues(const machine::Event& event, const machine::BulkEvent& copy) override;
  void bulk_completes(const machine::BulkEvent& copy) override;
  void synchronises(const machine::Synchronisation& event) override;
  void barrier_arrives(const machine::BarrierEvent& event) override;
  void barrier_completes(const machine::BarrierEvent& event) override;

  // Registers and global memory: uninitialised_check.cpp, global_check.cpp
  void operation(const machine::Event& event) override;
  void performs(const machine::Event& event) override;
  void calls(const machine::CallEvent& event) override;
  void returns(const machine::CallEvent& event) override;
  void exchange(const machine::ExchangeEvent& event) override;
  void product_issues(const machine::ProductEvent& event) override;

 private:
  enum class Use : std::uint8_t { load, store, atomic, copy };
  using Origin = UninitialisedValues::Origin;
  /// A cp.async of one lane that other warps do not see yet, and that reads bytes which nobody has written.
  struct LateCopy {
    int warp;
    std::size_t offset;  ///< in shared memory
    std::uint64_t address, bytes;
    std::uint32_t statement;
    bool landed = false;
  };
  struct BlockState {
    SharedShadow shadow;
    std::vector<UninitialisedValues> values;         ///< by warp
    std::unordered_map<std::size_t, Origin> stored;  ///< where uninitialised values came from, by 4 bytes of their place
    std::vector<LateCopy> late;
    std::vector<std::vector<std::uint32_t>> issued;  ///< by warp: the statements of its cp.async since it last released what it had done
  };

  BlockState& block(int rank) { return blocks_[static_cast<std::size_t>(rank)]; }
  SharedShadow& shadow(const machine::Event& event) { return block(warp_of(event).block().rank()).shadow; }
  UninitialisedValues& values(const machine::Event& event) {
    return block(warp_of(event).block().rank()).values[static_cast<std::size_t>(warp_of(event).index())];
  }
  std::vector<std::uint32_t>& issued(const machine::Event& event, int warp) {
    BlockState& here = block(warp_of(event).block().rank());
    if (here.issued.empty()) here.issued.resize(here.values.size());
    return here.issued[static_cast<std::size_t>(warp)];
  }
  void publish(int rank, std::uint64_t warps);
  void publish_warp(int rank, int warp);
  void choose_events();

  // Bytes
  /// Where lanes access, if that is known: WarpState::told_places().
  using Lanes = std::optional<scalar::LanePlaces>;
  LaneMask check_bytes(const machine::Event& event, SharedShadow::Places places, std::uint32_t bytes, LaneMask mask, Use use,
                       const Lanes& lanes);
  static bool defines_or_has_defined(SharedShadow& shadow, std::uint32_t bytes, LaneMask mask, Use use, const Lanes& lanes);
  LaneMask check_defined(const machine::Event& event, SharedShadow::Places places, std::uint32_t bytes, LaneMask mask, Use use);
  void check_copies(const machine::Event& event, SharedShadow::Places places, std::uint32_t bytes, LaneMask mask, bool writes);
  void begin_copies(const machine::Event& event, SharedShadow::Places places, std::uint32_t bytes, LaneMask mask, const Lanes& lanes);
  std::uint64_t shared_address(const machine::Event& event, SharedShadow::Places places, int lane);

  // Registers. A register is named by its byte offset among those of its warp.
  std::size_t place(const machine::Event& event, code::Slot slot) const;
  LaneMask uninitialised_of(const machine::Event& event, code::Slot slot);
  Origin origin_of(const machine::Event& event, code::Slot slot);
  LaneMask uninitialised_of_sources(const machine::Event& event);
  std::array<LaneMask, 2> decided_lanes(const machine::Event& event);
  std::array<LaneMask, 2> lanes_without_condition(const machine::Event& event);
  void mark_computed(const machine::Event& event, LaneMask guard);
  void set(const machine::Event& event, std::size_t place, LaneMask mask, LaneMask uninitialised, const Origin& origin);
  Trap::Reason reason_of(const machine::Event& event, code::Slot slot, const char* role);
  void must_be_defined(const machine::Event& event, code::Slot slot, LaneMask mask, const char* role);
  void mark_results(const machine::Event& event, LaneMask mask, LaneMask uninitialised);
  void mark_exchanged(const machine::Event& event, LaneMask mask);
  void mark_shuffled(const machine::ExchangeEvent& event);
  bool may_cross(const SharedShadow& shadow, std::uint32_t bytes) const;
  void follow_access(const machine::AccessEvent& event, LaneMask undefined);
  void mark_loaded(const machine::AccessEvent& event, LaneMask undefined, code::Slot slot, std::size_t at, std::uint32_t bytes);
  std::optional<std::uint64_t> first_unwritten(std::uint64_t address, std::uint64_t bytes);
  bool reads_nothing(const machine::AccessEvent& event, int lane, std::size_t at, std::uint32_t bytes);
  Origin origin_in_shared(const machine::Event& event, std::size_t offset);
  void undefine(int rank, std::size_t offset, std::size_t bytes, const Origin& origin);
  std::uint32_t line_of(std::uint32_t statement);

  // Global memory: global_check.cpp
  LaneMask check_global(const machine::AccessEvent& event);
  const StoredBuffer* buffer_at(std::uint64_t address);
  bool exchanges(const machine::AccessEvent& event) const;
  LaneMask unwritten_lanes(const machine::AccessEvent& event);
  void write_global(const machine::AccessEvent& event);
  void report_atomic(const machine::AccessEvent& event, int lane);
  bool keep_unwritten(const machine::AccessEvent& event, code::Slot slot, int lane, std::size_t at, std::uint32_t bytes);
  void note_late_copies(const machine::AccessEvent& event, LaneMask undefined);
  void land_late_copies(const machine::CopiesEvent& event);
  void publish_late_copies(int rank, int warp);
  void bring_unwritten(int rank, std::size_t offset, std::uint64_t address, std::uint64_t bytes, std::uint32_t statement);
  void follow_bulk(const machine::BulkEvent& copy);
  std::optional<std::size_t> uninitialised_source(const machine::Event& event, const machine::BulkEvent& copy);

  void report_store(const machine::Event& event, code::Slot slot, int lane);
  /// What an operand of a store or an atomic is: what is stored, or what decides that.
  enum class Stored { value, decision };
  void store_uninitialised(const machine::AccessEvent& event, code::Slot slot, std::size_t at, std::uint32_t bytes, LaneMask lanes,
                           Stored what);
  void follow_swap(const machine::AccessEvent& event);
  void mark_product(const machine::Event& event, const Form& form);
  void mark_rows(const machine::AccessEvent& event, const Form& form, LaneMask undefined);
  void store_uninitialised_rows(const machine::AccessEvent& event, const Form& form);
  void check_chunks(const machine::Event& event, const std::vector<std::uint32_t>& chunks,
                    const std::function<void(std::size_t)>& undefined);
  void mark_warpgroup_product(const machine::ProductEvent& event, std::vector<bool> rows, const std::vector<bool>& columns, Origin origin);

  const Setup& setup_;
  std::uint64_t cluster_;
  std::uint32_t alignment_;                                         ///< code::Program::shared_alignment()
  std::vector<BlockState> blocks_;                                  ///< by rank
  bool has_copies_ = false;                                         ///< the program has cp.async, which makes bytes uninitialised again
  std::unordered_map<std::uint32_t, std::uint32_t> first_of_line_;  ///< of statements that have stored such a value
  const StoredBuffer* last_buffer_ = nullptr;                       ///< that a lane has accessed
  std::array<const std::uint8_t*, warp_size> copied_to_{};          ///< by the lanes of a cp.async, whose access to global memory follows
  int following_ = 0;  ///< warps of the cluster in which a register holds an uninitialised value
};

}  // namespace warpmat::checks
