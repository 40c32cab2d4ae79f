#pragma once

#include <memory>

#include <warpmat/machine/launch_state.h>

namespace warpmat::machine {

/// When a grid stops whose warps all wait for memory.
enum class Patience : std::uint8_t {
  brief,  ///< as soon as each has found the same contents again: others may write there
  full,   ///< when its clocks have leapt, too, and many accesses have brought nothing
  last,   ///< then, too, but if this run has brought nothing, that is a deadlock: nobody else writes there
};

/// The blocks of a launch, on `options.jobs` threads. Some operations have a visible order among blocks: atomics with a result, sums of
/// floating-point numbers, exch, cas, inc and dec, volatile, acquire and release accesses, and fences. Only the block that holds the
/// reservation executes these. It holds the reservation until it ends, or until it has executed so many of them that it may be waiting for
/// another block. The next block in the order of numbers then gets it. All other operations run in parallel; a program that has only these
/// needs no turns. So the result is the same for every number of threads, if blocks share memory only through such operations.
class GridRun {
 public:
  GridRun() = default;
  GridRun(const GridRun&) = delete;
  GridRun& operator=(const GridRun&) = delete;
  virtual ~GridRun() = default;

  /// Runs the blocks until all have ended. Returns false where they only wait for memory; the next call goes on. Throws the Trap of the
  /// first block in reservation order that traps: a deadlock only with Patience::last.
  virtual bool run(Patience patience) = 0;
  /// Whether the last run() has done what others may wait for.
  virtual bool moved() const { return true; }
  /// Of a grid that has ended.
  virtual LaunchResult result() = 0;

  /// Whether begin_again() may follow its end: what it keeps saves time, and takes little memory.
  virtual bool can_repeat() const { return false; }
  /// The same blocks are to run again, of a launch with another number and other constants.
  virtual void begin_again() {}
};

/// The launch stays where it is as long as the grid lives.
std::unique_ptr<GridRun> make_grid(const LaunchState& launch);

}  // namespace warpmat::machine
