#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <warpmat/cuda/context.h>
#include <warpmat/cuda/stream.h>
#include <warpmat/machine/grid.h>

namespace warpmat::cuda {

// Work that waits. A launch whose warps all poll memory that others may write is paused, and its call returns. What its stream gets then
// waits behind it, as do streams and events that wait for that. Whatever a later call does may let it go on: each call that has run work,
// or asks for the state of a stream, tries all that is paused, in the order of the launches, until none goes on any more. So the order
// depends on the program's calls alone. For what the host writes without a call, a thread tries now and then.

/// A piece of work that has not ended; 0: it has.
using Ticket = std::uint64_t;

/// A launch that has not ended.
class Paused {
 public:
  Paused() = default;
  Paused(const Paused&) = delete;
  Paused& operator=(const Paused&) = delete;
  virtual ~Paused() = default;
  /// Goes on. Returns whether it has ended.
  virtual bool run(Context& context, machine::Patience patience) = 0;
  /// Whether the last run() has done what others may wait for.
  virtual bool moved() const = 0;
};

/// Runs work of a stream, or keeps it until what it comes behind has ended: the stream's work, and `also`.
Ticket run_in_order(Context& context, Stream* stream, const Work& work, const std::vector<Ticket>& also = {});
/// The same for work of no stream, which comes behind `after` alone.
Ticket run_behind(Context& context, const Work& work, const std::vector<Ticket>& after);
/// The work that runs ends when this launch has ended.
void pause(Context& context, std::unique_ptr<Paused> launch);
/// Work of several parts calls it between them: ends the launches that one of them has paused.
void end_paused_part(Context& context);

/// Whether work of the stream, or any at all, has not ended.
bool is_busy(Context& context, Stream* stream);
bool is_busy(Context& context);
bool has_ended(Context& context, Ticket ticket);

/// Lets paused launches go on, as the program asks for the state of a stream or an event.
void look_at_paused(Context& context);
// Return when the work has ended. If nothing can go on, the first paused launch has a deadlock. Throw ApiError with its fault.
void finish(Context& context);
void finish(Context& context, Stream* stream);
void finish(Context& context, Ticket ticket);

/// Prints what a kernel has printed. Of work that has waited it comes with the next call that waits or looks, as the work may end at any
/// time.
void print(Context& context, const std::string& text);

}  // namespace warpmat::cuda
