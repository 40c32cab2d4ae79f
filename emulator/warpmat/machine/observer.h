#pragma once

#include <cstdint>
#include <span>

#include <warpmat/export.h>
#include <warpmat/machine/launch.h>
#include <warpmat/ptx/program/code.h>
#include <warpmat/warp/lane_mask.h>

namespace warpmat::machine {

/// The place of an event.
struct Event {
  const code::Program& program;
  const code::Operation& operation;
  Dim3 block;
  int warp;
  LaneMask lanes;  ///< the executing lanes
};

/// An access to memory, before it takes effect. An asynchronous copy causes two: it reads global and writes shared memory.
struct AccessEvent {
  Event event;
  code::Space space;  ///< never generic
  bool reads, writes;
  std::uint32_t bytes;                       ///< of each lane
  std::span<const std::uint64_t> addresses;  ///< by lane, in the space: shared addresses are offsets, global ones are generic addresses
  bool asynchronous = false;
};

/// Receives the events of kernels, for tracers, cache simulators and checks. Called from the executing thread.
class WARPMAT_API Observer {
 public:
  virtual ~Observer() = default;
  virtual void operation(const Event&) {}
  virtual void access(const AccessEvent&) {}
  virtual void block_begins(const code::Program&, Dim3 /*block*/) {}
  virtual void block_ends(const code::Program&, Dim3 /*block*/) {}
  /// A barrier releases its warps: bit w of `warps` is warp w.
  virtual void barrier_completes(const code::Program&, Dim3 /*block*/, int /*barrier*/, std::uint64_t /*warps*/) {}
  /// Asynchronous copies of these lanes have completed, because the lanes waited.
  virtual void copies_complete(const Event&) {}
};

}  // namespace warpmat::machine
