#include "tools/debug/debuggee.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include <fmt/core.h>

#include <warpmat/ir/code.h>
#include <warpmat/machine/block.h>

#include "tools/debug/inspect.h"

namespace warpmat::debug {
namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};
constexpr int any_calls = 1 << 20;        ///< Step::calls without a limit
constexpr std::uint64_t pulse = 1 << 17;  ///< operations between two looks whether the user interrupts

std::uint64_t block_number(Dim3 block) {
  return std::uint64_t{block.z} << 48 | std::uint64_t{block.y} << 32 | block.x;
}

}  // namespace

void to_json(Json& json, const Focus& focus) {
  json = {{"block", {focus.block.x, focus.block.y, focus.block.z}}, {"warp", focus.warp}, {"lane", focus.lane}};
}

void from_json(const Json& json, Focus& focus) {
  const Json& block = json.at("block");
  focus = {{block[0], block[1], block[2]}, json.at("warp"), json.at("lane")};
}

Follower::Follower(const DebuggedLaunch& launch, Connections& connections)
    : Observer(machine::EventKinds::operations), launch_(launch), connections_(connections), shared_(connections.shared()) {
  breaks_.resize(launch.source.size());
}

std::vector<const machine::Block*> Follower::blocks() const {
  std::vector<const machine::Block*> all;
  for (const auto& each : blocks_) all.push_back(each.second);
  return all;
}

const machine::WarpState* Follower::find_warp(const Focus& focus) const {
  const auto found = blocks_.find(block_number(focus.block));
  if (found == blocks_.end()) return nullptr;
  const auto& warps = found->second->warps();
  return static_cast<std::size_t>(focus.warp) < warps.size() ? warps[static_cast<std::size_t>(focus.warp)] : nullptr;
}

void Follower::note_block(const machine::Block& block) {
  last_block_ = &block;
  if (!blocks_.emplace(block_number(block.index()), &block).second) return;
  for (Watch& watch : watches_) look_at(watch);
  if (step_) step_->warp = find_warp(step_->focus);
}

void Follower::block_ends(const machine::BlockEvent& event) {
  const auto found = blocks_.find(block_number(event.block));
  if (found == blocks_.end()) return;
  const machine::Block* const block = found->second;
  blocks_.erase(found);
  last_block_ = nullptr;
  for (Watch& watch : watches_)
    if (block_number(watch.focus.block) == block_number(event.block)) look_at(watch);
  if (step_ && step_->warp != nullptr && &step_->warp->block() == block) step_->warp = nullptr, step_->gone = true;
}

// ---- Checkpoints

bool Follower::take_checkpoint(bool near) {
  const auto used = [&](std::size_t i) { return shared_.all[i].pid != 0; };
  std::size_t slot = 0;
  if (near) {
    slot = grid_checkpoints + shared_.next_near++ % near_checkpoints;
    if (used(slot)) kill(shared_.all[slot].pid, SIGKILL);
  } else {
    while (slot < grid_checkpoints && used(slot)) ++slot;
    if (slot == grid_checkpoints) thin_out();
    slot = 0;
    while (used(slot)) ++slot;
  }
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child > 0) shared_.all[slot] = {child, time_};
  if (child != 0) return false;
  prctl(PR_SET_NAME, "checkpoint");
  const Channel channel = connections_.of_checkpoint(slot);
  while (channel.receive()) {
    const pid_t woken = fork();
    if (woken == 0) return true;
  }
  _exit(0);
}

/// Every other checkpoint of the grid goes, but the first.
void Follower::thin_out() {
  std::vector<Checkpoint*> all;
  for (std::size_t i = 0; i < grid_checkpoints; ++i) all.push_back(&shared_.all[i]);
  std::ranges::sort(all, {}, &Checkpoint::time);
  for (std::size_t i = 1; i < all.size(); i += 2) {
    kill(all[i]->pid, SIGKILL);
    *all[i] = {};
  }
  shared_.spacing *= 2;
}

void Follower::plan_next() {
  next_ = std::min(next_checkpoint_, next_pulse_);
  if (target_ != 0) next_ = std::min(next_, target_);
  if (!near_times_.empty()) next_ = std::min(next_, near_times_.front());
}

void Follower::at_time(const machine::Event& event) {
  if (last_block_ != &warp_of(event).block()) note_block(warp_of(event).block());
  if (target_ != 0 && time_ >= target_) {
    if (!operation_of(event).prepares) reach(event, {{"reason", "target"}});
    return;
  }
  bool woken = false;
  if (!near_times_.empty() && time_ >= near_times_.front()) {
    near_times_.erase(near_times_.begin());
    woken = take_checkpoint(true);
  } else if (time_ >= next_checkpoint_) {
    woken = take_checkpoint(false);
    next_checkpoint_ = time_ + shared_.spacing;
  }
  if (woken) {
    connections_.debuggee().send({{"ready", true}, {"pid", getpid()}});
    event_ = &event;
    serve();
    event_ = nullptr;
    return;
  }
  if (time_ >= next_pulse_) next_pulse_ = time_ + pulse;
  if (shared_.interrupted && !scans_ && !operation_of(event).prepares) {
    shared_.interrupted = false;
    return stop(event, {{"reason", "interrupted"}});
  }
  plan_next();
}

// ---- Stops

Follower::Seen Follower::seen(const machine::Event& event) const {
  const LaneMask lanes = warp_of(event).split().lanes;
  return {time_, {event.block(), event.warp(), first_lane(lanes)}, event.statement(), lanes};
}

Json Follower::place_of(const Seen& seen) {
  return {{"time", seen.time}, {"focus", seen.focus}, {"statement", seen.statement}, {"lanes", seen.lanes}};
}

/// The target of a move, or the end of a scan.
void Follower::reach(const machine::Event& event, Json stop_) {
  if (!scans_) return stop(event, std::move(stop_));
  if (const auto changed = watch_at()) match_ = changed;
  Json answer{{"reason", "scanned"}, {"match", match_ ? *match_ : Json()}};
  if (step_) answer["first"] = step_->first ? *step_->first : Json(), answer["last"] = step_->known ? step_->place : -1;
  stop(event, std::move(answer));
}

void Follower::stop(const machine::Event& event, Json stop) {
  Json answer = place_of(seen(event));
  answer.update(stop);
  connections_.debuggee().send(answer);
  event_ = &event;
  serve();
  event_ = nullptr;
}

void Follower::examine(const machine::Event& event) {
  const machine::WarpState& warp = warp_of(event);
  if (last_block_ != &warp.block()) note_block(warp.block());
  if (writers_ && writers_->reg != nullptr) note_register(event);
  std::optional<Json> found;
  if (time_ != start_) {
    found = watch_at();
    if (!found && time_ < limit_ && !breaks_[event.statement()].empty()) found = break_at(event);
    if (!found && step_) found = step_at(event);
  }
  previous_ = seen(event);
  if (!found) return;
  if (!scans_) return stop(event, *found);
  Json match = place_of(previous_);
  match.update(*found);
  match_ = std::move(match);
}

std::optional<Json> Follower::break_at(const machine::Event& event) {
  const machine::WarpState& warp = warp_of(event);
  for (const Break& each : breaks_[event.statement()]) {
    Json hit{{"reason", "break"}, {"id", each.id}};
    if (!each.condition) return hit;
    for (LaneMask lanes = warp.split().lanes; lanes != 0; lanes &= lanes - 1) {
      const int lane = first_lane(lanes);
      try {
        if (!truth((*each.condition)({&warp, lane, &launch_.memory}))) continue;
      } catch (const std::invalid_argument& error) {
        hit["error"] = error.what();
      }
      hit["focus"] = Focus{event.block(), event.warp(), lane};
      return hit;
    }
  }
  return std::nullopt;
}

/// Finds where what is watched lies now, and its value.
void Follower::look_at(Watch& watch) {
  watch.place = nullptr;
  watch.contents.reset();
  try {
    const At here = at(watch.focus);
    const Value value = (*watch.expression)(here);
    watch.old = text(value, here);
    watch.contents = std::string(reinterpret_cast<const char*>(&value.bits), sizeof value.bits);
    const auto found = value.address ? bytes_at(here, value.space, *value.address, value.bytes()) : std::nullopt;
    if (!found) return;
    watch.contents = std::string(found->begin(), found->end());
    if (value.space != Space::local) watch.place = found->data();
  } catch (const std::invalid_argument&) {  // it does not exist yet, or no longer
  }
}

/// What has changed since the last statement, by that.
std::optional<Json> Follower::watch_at() {
  for (Watch& watch : watches_) {
    if (!watch.contents) {
      if (block_number(previous_.focus.block) == block_number(watch.focus.block)) look_at(watch);
      continue;
    }
    if (watch.place != nullptr) {
      if (std::memcmp(watch.place, watch.contents->data(), watch.contents->size()) == 0) continue;
    } else if (block_number(previous_.focus.block) != block_number(watch.focus.block)) {
      continue;
    }
    const std::string before = *watch.contents, old = watch.old;
    look_at(watch);
    if (!watch.contents || *watch.contents == before) continue;
    Json change{{"reason", "watch"}, {"id", watch.id}, {"old", old}, {"new", watch.old}, {"writer", place_of(previous_)}};
    if (scans_) change.update(place_of(previous_));  // going back one is before the change
    return change;
  }
  return std::nullopt;
}

std::optional<Json> Follower::step_at(const machine::Event& event) {
  Step& step = *step_;
  const machine::WarpState& warp = warp_of(event);
  const Json exited{{"reason", "exited"}, {"focus", step.focus}};
  if (!scans_ && (step.gone || (step.warp != nullptr && (step.warp->live() >> step.focus.lane & 1) == 0))) {
    return Json{{"reason", "exited"}};
  }
  if (&warp != step.warp || (warp.split().lanes >> step.focus.lane & 1) == 0) return std::nullopt;
  const auto calls = static_cast<int>(warp.split().calls.size());
  if (calls > step.calls) return std::nullopt;
  const int place = step.places.empty() ? 0 : step.places[event.statement()];
  if (place < 0) return std::nullopt;
  const bool is_new = step.each || (step.known && (place != step.place || (calls < step.calls && step.calls < any_calls)));
  if (!step.known && time_ < limit_) {
    step.first = place_of(seen(event));
    (*step.first)["focus"] = step.focus;
    (*step.first)["place"] = place;
  }
  step.known = true;
  step.place = place;
  if (!is_new || time_ >= limit_) return std::nullopt;
  return Json{{"reason", "step"}, {"focus", step.focus}};
}

// ---- Writers

void Follower::note_writer(const machine::Event& event, int lane) {
  Json match = place_of(seen(event));
  match["focus"] = Focus{event.block(), event.warp(), lane};
  match["reason"] = "writer";
  if (time_ < limit_) match_ = std::move(match);
}

void Follower::note_register(const machine::Event& event) {
  const machine::WarpState& warp = warp_of(event);
  const code::Operation& operation = operation_of(event);
  if (event.warp() != writers_->focus.warp || block_number(event.block()) != block_number(writers_->focus.block)) return;
  if ((event.lanes() >> writers_->focus.lane & 1) == 0 || warp.split().function != writers_->reg->function) return;
  // What widens the result of a statement follows it.
  for (std::size_t i = static_cast<std::size_t>(warp.split().pc); i < warp.program().operations.size(); ++i) {
    const code::Operation& each = warp.program().operations[i];
    if (each.statement != operation.statement || (i != static_cast<std::size_t>(warp.split().pc) && !each.prepares)) break;
    for (int k = 0; k < each.results; ++k)
      if (warp.result_slot(each, k) == writers_->reg->slot) return note_writer(event, writers_->focus.lane);
  }
}

bool Follower::is_watched(Space space, std::uint64_t address, std::uint64_t bytes) const {
  if (!writers_ || writers_->reg != nullptr || space != writers_->space) return false;
  return address < writers_->address + writers_->bytes && writers_->address < address + bytes;
}

void Follower::access(const machine::AccessEvent& event) {
  if (!writers_ || !event.writes || event.space != writers_->space) return;
  const bool is_local = event.space == Space::local;
  if (event.space != Space::global && block_number(event.event.block()) != block_number(writers_->focus.block)) return;
  if (is_local && event.event.warp() != writers_->focus.warp) return;
  const std::uint32_t base = event.space == Space::shared ? warp_of(event.event).block().shared_base() : 0;
  for (LaneMask lanes = event.event.lanes(); lanes != 0; lanes &= lanes - 1) {
    const int lane = first_lane(lanes);
    if (is_local && lane != writers_->focus.lane) continue;
    const std::uint64_t address = event.addresses[static_cast<std::size_t>(lane)];
    if (is_watched(event.space, address - base, event.bytes) || (base != 0 && is_watched(event.space, address, event.bytes)))
      return note_writer(event.event, lane);
  }
}

void Follower::bulk_issues(const machine::Event& event, const machine::BulkEvent& copy) {
  Seen place = seen(event);
  place.focus.lane = copy.lane;
  copies_[copy.number] = place;
  if (!writers_ || !writers_->copy || *writers_->copy != copy.number || time_ >= limit_) return;
  match_ = place_of(place);
  (*match_)["reason"] = "writer";
}

void Follower::bulk_completes(const machine::BulkEvent& copy) {
  const machine::BulkTransfer& transfer = transfer_of(copy);
  bool writes = false;
  if (transfer.writes_shared()) {
    const auto in_block = [&](const machine::SharedRange& range) { return is_watched(Space::shared, range.offset, range.bytes); };
    writes = copy.writes && in_block(*copy.writes);
    if (!copy.written.empty()) writes = std::ranges::any_of(copy.written, in_block);
  } else if (transfer.stores() && last_block_ != nullptr) {
    machine::for_each_moved(
        transfer, last_block_->launch().program.shared_base,
        [&](std::uint64_t, std::uint64_t address, std::uint64_t bytes) { writes |= is_watched(Space::global, address, bytes); });
  }
  if (!writes || time_ >= limit_) return;
  const auto issued = copies_.find(copy.number);
  match_ = place_of(issued != copies_.end() ? issued->second : Seen{time_, writers_->focus, copy.statement, 0});
  if (issued == copies_.end()) (*match_)["copy"] = copy.number;
  (*match_)["reason"] = "writer";
}

// ---- Moves

void Follower::begin_move(const Json& move) {
  target_ = move.value("target", std::uint64_t{0});
  limit_ = move.value("limit", never);
  scans_ = move.value("scan", false);
  start_ = time_;
  match_.reset();
  copies_.clear();
  previous_ = event_ != nullptr ? seen(*event_) : Seen{};
  for (auto& each : breaks_) each.clear();
  for (const Json& each : move.value("breaks", Json::array())) {
    std::optional<Expression> condition;
    if (const std::string text = each.value("if", ""); !text.empty()) condition.emplace(text, launch_.names);
    for (const std::uint32_t statement : each.at("statements")) breaks_.at(statement).push_back({each.at("id"), condition});
  }
  watches_.clear();
  for (const Json& each : move.value("watches", Json::array())) {
    Watch& watch = watches_.emplace_back(Watch{.id = each.at("id"), .focus = each.at("focus"), .expression = {}, .contents = {}});
    watch.expression.emplace(each.at("text").get<std::string>(), launch_.names);
    look_at(watch);
  }
  step_.reset();
  if (move.contains("step")) {
    const Json& given = move.at("step");
    Step& step = step_.emplace(Step{});
    step.focus = given.at("focus");
    step.places = given.at("places").get<std::vector<int>>();
    step.calls = given.at("calls");
    step.each = given.at("each");
    step.warp = find_warp(step.focus);
    const machine::Split* const split = step.warp == nullptr ? nullptr : at(step.focus).split();
    if (!scans_ && split != nullptr && !step.places.empty()) {
      step.place = step.places[step.warp->program().operations[static_cast<std::size_t>(split->pc)].statement];
      step.known = true;
    }
  }
  writers_.reset();
  if (move.contains("writers")) {
    const Json& given = move.at("writers");
    Writers& writers = writers_.emplace(Writers{});
    writers.focus = given.at("focus");
    writers.space = static_cast<Space>(given.at("space").get<int>());
    writers.address = given.at("address");
    writers.bytes = given.at("bytes");
    if (given.contains("copy")) writers.copy = given.at("copy").get<std::uint64_t>();
    if (const std::string name = given.at("register"); !name.empty())
      for (const code::PlacedRegister& each : program().registers)
        if (each.name == name && each.function == given.at("function").get<int>()) writers.reg = &each;
  }
  using machine::EventKinds;
  want(writers_ ? EventKinds::operations | EventKinds::accesses | EventKinds::copies : EventKinds::operations);
  examines_ = step_ || writers_ || !watches_.empty() || !move.value("breaks", Json::array()).empty();
  near_times_.clear();
  if (move.value("near", false) && target_ > time_)
    for (std::uint64_t distance = (target_ - time_) / 4; distance > 400; distance /= 4) near_times_.push_back(target_ - distance);
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < grid_checkpoints; ++i) last = std::max(last, shared_.all[i].time);
  next_checkpoint_ = std::max(last + shared_.spacing, time_ + 1);
  next_pulse_ = time_ + pulse;
  plan_next();
}

const code::Program& Follower::program() const {
  return launch_.names.program();
}

void Follower::serve() {
  while (const auto request = connections_.debuggee().receive()) {
    if (request->at("do") == "move") {
      try {
        return begin_move(*request);
      } catch (const std::exception& error) {
        connections_.debuggee().send({{"error", error.what()}});
        continue;
      }
    }
    connections_.debuggee().send(answer(*this, *request));
  }
  _exit(0);
}

void Follower::begin() {
  static_cast<void>(take_checkpoint(false));
  connections_.debuggee().send({{"ready", true}, {"pid", getpid()}});
  serve();
}

void Follower::end(Json ending) {
  ++time_;
  ending["time"] = time_;
  blocks_.clear();
  last_block_ = nullptr;
  Json answer_ = ending;
  if (scans_) {
    if (const auto changed = watch_at()) match_ = changed;
    answer_["match"] = match_ ? *match_ : Json();
    if (step_) answer_["first"] = step_->first ? *step_->first : Json(), answer_["last"] = step_->known ? step_->place : -1;
  } else if (const auto changed = watch_at()) {
    answer_["changed"] = *changed;
  }
  connections_.debuggee().send(answer_);
  while (true) {
    serve();
    connections_.debuggee().send(ending);
  }
}

}  // namespace warpmat::debug
