#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <warpmat/launch.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/observer.h>

#include "tools/debug/expression.h"
#include "tools/debug/process.h"
#include "tools/debug/source_map.h"

namespace warpmat::debug {

/// Where the user looks: a lane of a warp of a block.
struct Focus {
  Dim3 block{0, 0, 0};
  int warp = 0, lane = 0;
};
void to_json(Json& json, const Focus& focus);
void from_json(const Json& json, Focus& focus);

/// What a debuggee knows of its launch.
struct DebuggedLaunch {
  const Kernel& kernel;
  const DeviceMemory& memory;
  const Names& names;
  const SourceMap& source;
};

/// The observer of the active process. Time is the number of operations that have begun, from 1 on: at time T the statement of operation T
/// has had no effect yet. It takes checkpoints, stops where the debugger asked for it, and then answers until it is told to go on.
///
/// A request {"do": "move"} has:
///   target   the time at which to stop at the latest; 0: none
///   scan     whether to go there without stopping, and to tell the last place before `limit` where it would have stopped
///   breaks   [{id, statements, if}]
///   watches  [{id, text, focus}]
///   step     {focus, places (by statement), calls, each}: stops where the lane comes to another place
///   near     whether to take checkpoints close before `target`
///   writers  {focus, text}: with scan, the last statement that wrote what the text names
/// Any other one is a question (inspect.h).
class Follower : public machine::Observer {
 public:
  Follower(const DebuggedLaunch& launch, Connections& connections);

  void block_ends(const machine::BlockEvent& event) override;
  void operation(const machine::Event& event) override {
    ++time_;
    if (time_ >= next_) at_time(event);
    if (examines_ && !operation_of(event).prepares) examine(event);
  }
  void access(const machine::AccessEvent& event) override;
  void bulk_issues(const machine::Event& event, const machine::BulkEvent& copy) override;
  void bulk_completes(const machine::BulkEvent& copy) override;

  /// Before the launch: waits to be told to go.
  void begin();
  /// The launch has ended; `ending` says how. Answers until the process is ended.
  [[noreturn]] void end(Json ending);

  // What questions are about.
  const DebuggedLaunch& launch() const { return launch_; }
  std::uint64_t time() const { return time_; }
  const machine::Event* event() const { return event_; }
  /// The blocks that run, in the order in which they began to.
  std::vector<const machine::Block*> blocks() const;
  const machine::WarpState* find_warp(const Focus& focus) const;
  At at(const Focus& focus) const { return {find_warp(focus), focus.lane, &launch_.memory}; }

 private:
  struct Seen {
    std::uint64_t time = 0;
    Focus focus{};
    std::uint32_t statement = 0;
    LaneMask lanes = 0;
  };
  struct Break {
    int id;
    std::optional<Expression> condition;
  };
  struct Watch {
    int id;
    Focus focus;
    std::optional<Expression> expression;
    const std::uint8_t* place = nullptr;  ///< of memory that does not move; null: it is evaluated
    std::optional<std::string> contents;  ///< bytes
    std::string old{};
  };
  struct Step {
    Focus focus;
    std::vector<int> places;
    int calls = 0;
    bool each = false;
    const machine::WarpState* warp = nullptr;
    int place = -1;      ///< the last
    bool known = false;  ///< whether there was one
    bool gone = false;
    std::optional<Json> first{};
  };
  /// A lane's register or bytes of memory, local memory too, whose last writer is looked for.
  struct Writers {
    Focus focus;
    const code::PlacedRegister* reg = nullptr;
    Space space = Space::global;
    std::uint64_t address = 0, bytes = 0;  ///< of shared memory an offset
    std::optional<std::uint64_t> copy{};   ///< the number of a bulk copy that wrote them
  };

  void at_time(const machine::Event& event);
  void examine(const machine::Event& event);
  std::optional<Json> break_at(const machine::Event& event);
  std::optional<Json> watch_at();
  std::optional<Json> step_at(const machine::Event& event);
  void note_writer(const machine::Event& event, int lane);
  void note_register(const machine::Event& event);
  bool is_watched(Space space, std::uint64_t address, std::uint64_t bytes) const;
  void look_at(Watch& watch);
  void reach(const machine::Event& event, Json stop);
  void stop(const machine::Event& event, Json stop);
  static Json place_of(const Seen& seen);
  Seen seen(const machine::Event& event) const;
  const code::Program& program() const;
  /// Answers until there is a move to make, and begins it.
  void serve();
  void begin_move(const Json& move);
  void plan_next();
  /// Returns true in a process that was woken.
  bool take_checkpoint(bool near);
  void thin_out();
  void note_block(const machine::Block& block);

  DebuggedLaunch launch_;
  Connections& connections_;
  SharedState& shared_;
  std::uint64_t time_ = 0, next_ = 0;
  bool examines_ = false;
  const machine::Event* event_ = nullptr;  ///< where it stops
  std::map<std::uint64_t, const machine::Block*> blocks_{};
  const machine::Block* last_block_ = nullptr;

  // The move.
  std::uint64_t target_ = 0, limit_ = ~std::uint64_t{0}, start_ = 0, next_checkpoint_ = 0, next_pulse_ = 0;
  std::vector<std::uint64_t> near_times_{};  ///< ascending
  bool scans_ = false;
  std::vector<std::vector<Break>> breaks_{};  ///< by statement; empty: none
  std::vector<Watch> watches_{};
  std::optional<Step> step_{};
  std::optional<Writers> writers_{};
  std::map<std::uint64_t, Seen> copies_{};  ///< bulk copies by number, where they were issued
  std::optional<Json> match_{};
  Seen previous_{};  ///< that was examined last
};

}  // namespace warpmat::debug
