// Labels and jumps: what is in which register there. Where that differs between a jump and its label, a way of its own lies between them,
// behind the code.

#include <warpmat/machine_code/avx2_assembler.h>

#include <algorithm>

namespace warpmat::machine_code {

namespace Inst = x86::Inst;
using asmjit::Label;

namespace {

/// The masks of the lanes that execute, which the writer keeps within an operation.
constexpr std::array kept_masks{6, 7};

}  // namespace

bool Avx2Assembler::is_undefined(int half, const Undefined& undefined) {
  return half >= 0 && half < 2 * temporaries && undefined[static_cast<std::size_t>(half)];
}

void Avx2Assembler::end_path() {
  now_ = {};
  reachable_ = false;
}

/// Stores and loads what is elsewhere behind the label than here. False: that is nothing.
bool Avx2Assembler::make_way(const Target& target, bool writes) {
  bool any = false;
  for (std::uint32_t i = 0; i < cached_registers; ++i) {
    Cached& own = now_.cached[i];
    const Cached& there = target.cached[i];
    const bool needless = !own.dirty || own.half >= 2 * vectors || is_undefined(own.half, target.undefined);
    if (needless || (there.half == own.half && there.dirty)) continue;
    any = true;
    if (writes) store(own, i);
  }
  for (int half = 2 * temporaries; half < 2 * vectors; ++half) any |= move_home(target, half, writes);
  for (std::uint32_t i = 0; i < cached_registers; ++i) {
    const int half = target.cached[i].half;
    if (half < 0 || half == now_.cached[i].half) continue;
    any = true;
    if (writes) put(Inst::kIdVmovdqu, x86::ymm(i), memory_of(half));
  }
  return any;
}

/// Where behind the label a half is to be in its place, and here it is only elsewhere in memory.
bool Avx2Assembler::move_home(const Target& target, int half, bool writes) {
  const auto at = static_cast<std::size_t>(half);
  if (now_.home[at].base == Home::place || target.home[at].base != Home::place) return false;
  if (std::ranges::any_of(target.cached, [half](const Cached& there) { return there.half == half && there.dirty; })) return false;
  if (writes) {
    put(Inst::kIdVmovdqu, t(0), memory_of(half));
    put(Inst::kIdVmovdqu, place(half), t(0));
  }
  return true;
}

void Avx2Assembler::jump(InstId id, const Label& label) {
  const bool returns = id != Inst::kIdJmp;
  const auto found = targets_.find(label.id());
  if (found != targets_.end()) {
    if (!returns) make_way(found->second, true);
    put(id, returns && make_way(found->second, false) ? way_to(label) : label);
  } else if (std::ranges::all_of(now_.cached, [](const Cached& cached) { return cached.half < 0; }) && now_.home == State{}.home) {
    plain_.insert(label.id());
    put(id, label);
  } else {
    put(id, way_to(label));
  }
  if (!returns) end_path();
}

/// A label of this jump's own, or of one before in the same state.
Label Avx2Assembler::way_to(const Label& label) {
  const auto same = [](const Cached& a, const Cached& b) { return a.half == b.half && a.dirty == b.dirty; };
  std::vector<Jump>& jumps = targets_.contains(label.id()) ? ways_ : waiting_[label.id()];
  for (const Jump& jump : jumps)
    if (jump.target == label && std::ranges::equal(jump.state.cached, now_.cached, same) && jump.state.home == now_.home &&
        jump.state.undefined == now_.undefined)
      return jump.own;
  return jumps.emplace_back(Jump{newLabel(), label, now_}).own;
}

/// Homes of which all jumps know.
std::array<Avx2Assembler::Home, 2 * Avx2Assembler::vectors> Avx2Assembler::common_homes(const std::vector<Jump>& jumps) {
  auto homes = jumps.front().state.home;
  for (const Jump& jump : jumps)
    for (std::size_t i = 0; i < homes.size(); ++i)
      if (jump.state.home[i] != homes[i]) homes[i] = {};
  return homes;
}

/// Where code comes to a label by jumps alone that are all in one state, it goes on in that. Where it also comes to it without a jump, what
/// is in registers there stays. Else all is in its place.
asmjit::Error Avx2Assembler::bind(const Label& label) {
  const std::vector<Jump> jumps = std::move(waiting_[label.id()]);
  const bool plain = plain_.contains(label.id()), alone = !reachable_ && !plain && jumps.size() == 1;
  if (alone) {
    Assembler::bind(jumps.front().own);
    now_ = jumps.front().state;
  } else {
    if (reachable_ && plain) make_way({}, true);
    if (plain || !reachable_) now_ = {};
    if (!reachable_ && !plain && !jumps.empty()) now_.home = common_homes(jumps);
    if (reachable_ && !plain && !jumps.empty()) now_.undefined.set();
    for (const Jump& jump : jumps) now_.undefined |= jump.state.undefined;
    ways_.insert(ways_.end(), jumps.begin(), jumps.end());
  }
  for (Cached& cached : now_.cached)
    if (is_undefined(cached.half, now_.undefined) || cached.half >= 2 * vectors) cached = {};
  now_.mask = {};
  for (const int number : kept_masks) now_.mask[static_cast<std::size_t>(number)] = {.bits = true, .at = number};
  targets_[label.id()] = {now_.cached, now_.home, now_.undefined};
  reachable_ = true;
  return Assembler::bind(label);
}

void Avx2Assembler::write_ways() {
  for (const Jump& jump : ways_) {
    Assembler::bind(jump.own);
    now_ = jump.state;
    make_way(targets_[jump.target.id()], true);
    put(Inst::kIdJmp, jump.target);
  }
}

}  // namespace warpmat::machine_code
