// A program as the code of its operations, by pieces: what follows one after another without a jump into it. A piece counts down its
// operations before it executes them, so that a run has exactly as many as its caller allows. A piece that no branch leads to goes on with
// the vectors of the one before it; the machine, which may enter each piece, comes by a place that loads them.

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include <warpmat/machine_code/live_slots.h>
#include <warpmat/machine_code/ordered_accesses.h>
#include <warpmat/machine_code/writer.h>

namespace warpmat::machine_code {
namespace {

using catalogue::Semantics;
using code::MachineCode;
using code::Program;

constexpr std::int32_t longest_piece = 48;

/// How an operation is executed.
enum class Way : std::uint8_t { inside, branch, by_machine };

/// As execute_straight() of the machine: what it does not execute, the machine's step() does. And exchanges of all lanes, and accesses with
/// an order by which no warp waits.
Way way_of(const Program& program, OrderedAccesses& ordered, std::int32_t number, bool all_lanes) {
  const Operation& operation = program.operations[static_cast<std::size_t>(number)];
  switch (operation.semantics) {
    case Semantics::exchange:
    case Semantics::warp_barrier: return all_lanes && exchanges_at_once(program, operation) ? Way::inside : Way::by_machine;
    case Semantics::compute:
    case Semantics::select:
    case Semantics::special: return Way::inside;
    case Semantics::load:
    case Semantics::store: return program.access(operation).ordered && !ordered.can_be_inside(number) ? Way::by_machine : Way::inside;
    case Semantics::atomic: return code::may_have_order(program, operation) ? Way::by_machine : Way::inside;
    case Semantics::branch: return Way::branch;
    default: return Way::by_machine;
  }
}

/// Code in memory that is first written and then executed, never both.
class Pages {
 public:
  explicit Pages(const asmjit::CodeHolder& holder) : bytes_(holder.codeSize()) {
    void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    std::memcpy(memory, holder.textSection()->data(), holder.textSection()->bufferSize());
    if (mprotect(memory, bytes_, PROT_READ | PROT_EXEC) == 0)
      memory_ = static_cast<std::uint8_t*>(memory);
    else
      munmap(memory, bytes_);
  }
  ~Pages() {
    if (memory_ != nullptr) munmap(memory_, bytes_);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  std::uint8_t* memory() const { return memory_; }

 private:
  std::size_t bytes_;
  std::uint8_t* memory_ = nullptr;
};

class CompiledProgram final : public MachineCode {
 public:
  CompiledProgram(const asmjit::CodeHolder& holder, std::vector<Place> places, std::deque<scalar::Modifiers> modifiers, bool exchanges)
      : pages_(holder), modifiers_(std::move(modifiers)) {
    exchanges_ = exchanges;
    places_ = std::move(places);
    code_ = pages_.memory();
    enter_ = reinterpret_cast<void (*)(code::CodeContext*, const std::uint8_t*)>(pages_.memory());
  }
  bool works() const { return pages_.memory() != nullptr; }

 private:
  Pages pages_;
  std::deque<scalar::Modifiers> modifiers_;  ///< stay where they were when the deque moved here
};

class Compiler {
 public:
  Compiler(const Program& program, bool all_lanes, Vectors vectors)
      : program_(program), writer_(holder_after_init(), program, all_lanes, vectors, modifiers_), all_lanes_(all_lanes) {}

  std::unique_ptr<const MachineCode> compile() {
    find_ways();
    find_pieces();
    live_.emplace(program_, begins_);
    writer_.begin_code();
    for (std::int32_t at = 0; at < count(); at = write_piece(at)) {
    }
    writer_.end_code();
    if (errors_.failed) return nullptr;
    if (holder_.flatten() != asmjit::kErrorOk || holder_.resolveUnresolvedLinks() != asmjit::kErrorOk) return nullptr;
    auto made = std::make_unique<CompiledProgram>(holder_, find_places(), std::move(modifiers_), exchanges_);
    return made->works() ? std::move(made) : nullptr;
  }

 private:
  struct Errors final : asmjit::ErrorHandler {
    void handleError(asmjit::Error, const char*, asmjit::BaseEmitter*) override { failed = true; }
    bool failed = false;
  };

  asmjit::CodeHolder& holder_after_init() {
    holder_.init(asmjit::Environment::host());
    holder_.setErrorHandler(&errors_);
    return holder_;
  }

  std::int32_t count() const { return static_cast<std::int32_t>(program_.operations.size()); }
  const Operation& operation(std::int32_t i) const { return program_.operations[static_cast<std::size_t>(i)]; }
  Way way(std::int32_t i) const { return ways_[static_cast<std::size_t>(i)]; }

  void find_ways() {
    OrderedAccesses ordered(program_);
    ways_.resize(program_.operations.size());
    for (std::int32_t i = 0; i < count(); ++i) ways_[static_cast<std::size_t>(i)] = way_of(program_, ordered, i, all_lanes_);
  }

  /// Pieces begin where branches lead, behind branches, where lanes converge, and around what the machine executes.
  void find_pieces() {
    begins_.assign(program_.operations.size() + 1, false);
    is_target_ = begins_;
    is_entry_.assign(program_.operations.size() + 1, false);
    labels_.resize(program_.operations.size());
    for (std::int32_t i = 0; i < count(); ++i) {
      const Operation& op = operation(i);
      const auto at = static_cast<std::size_t>(i);
      if (op.converges) is_target_[at] = true;
      if (way(i) == Way::by_machine || way(i) == Way::branch) begins_[at + 1] = true;
      if (way(i) == Way::by_machine) begins_[at] = true;
      if (op.target >= 0) is_target_[static_cast<std::size_t>(op.target)] = true;
      if (op.semantics == Semantics::branch_table)
        for (const std::int32_t target : program_.of<code::BranchTable>(op)) is_target_[static_cast<std::size_t>(target)] = true;
    }
    for (const code::Function& function : program_.functions) is_target_[static_cast<std::size_t>(function.first)] = true;
    std::int32_t length = 0;
    for (std::int32_t i = 0; i < count(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (length == longest_piece || is_target_[at]) begins_[at] = true;
      length = begins_[at] ? 1 : length + 1;
      if (begins_[at]) labels_[at] = writer_.a().newLabel();
      is_entry_[at] = begins_[at] && (way(i) != Way::by_machine || operation(i).guarded);
    }
  }

  std::vector<MachineCode::Place> find_places() const {
    std::vector<MachineCode::Place> places(program_.operations.size() + 1);
    std::uint32_t distance = 0;
    for (std::size_t i = program_.operations.size(); i-- > 0;) {
      if (way(static_cast<std::int32_t>(i)) == Way::branch) distance = 0;  // it may lead to an entry
      places[i].to_next_entry = ++distance;
      places[i].steps = way(static_cast<std::int32_t>(i)) == Way::by_machine && program_.operations[i].semantics != Semantics::matrix;
      if (!is_entry_[i]) continue;
      places[i].code = static_cast<std::uint32_t>(holder_.labelOffset(labels_[i]));
      distance = 0;
    }
    return places;
  }

  /// Returns where the next piece begins.
  std::int32_t write_piece(std::int32_t first) {
    std::int32_t end = first + 1;
    while (end < count() && !begins_[static_cast<std::size_t>(end)]) ++end;
    writer_.bind_entry(labels_[static_cast<std::size_t>(first)]);
    if (way(first) == Way::by_machine) {
      write_step(first);
      return end;
    }
    const asmjit::Label leaves = writer_.leaving_before(first, 0);
    leave_if_converging(first, leaves);
    count_down(end - first, leaves);
    live_->look_at(first, end);
    for (std::int32_t i = first; i < end; ++i) {
      writer_.forget_dead([&](code::Slot slot, int bytes) { return live_->is_live_before(i, slot, bytes); });
      write_operation(i, end - i - 1);
    }
    if (way(end - 1) != Way::branch) end_piece(end - 1);
    if (end == count()) writer_.leave_before(end, 0);
    return end;
  }

  /// Leaves where the run may not execute so many operations.
  void count_down(std::int32_t operations, const asmjit::Label& leaves) {
    x86::Assembler& a = writer_.a();
    a.cmp(left, operations);
    a.jl(leaves);
    a.sub(left, operations);
  }

  Writer::IsLive live_behind(std::int32_t last) const {
    return [this, last](code::Slot slot, int bytes) { return live_->is_live_behind(last, slot, bytes); };
  }

  /// Whether the piece that begins there is entered from the one before it alone, and by the machine.
  bool is_joined(std::int32_t begin) const {
    if (begin == count() || is_target_[static_cast<std::size_t>(begin)]) return false;
    return operation(begin - 1).guarded || way(begin - 1) == Way::inside;
  }

  void end_piece(std::int32_t last) { is_joined(last + 1) ? writer_.forget_dead(live_behind(last)) : writer_.end_piece(live_behind(last)); }

  /// An operation of the machine's step(): without lanes that execute it nothing is to be done.
  void write_step(std::int32_t i) {
    const Operation& op = operation(i);
    if (!op.guarded) {
      writer_.store_all();
      writer_.forget();
      return writer_.leave_before(i, 0);
    }
    x86::Assembler& a = writer_.a();
    const asmjit::Label leaves = writer_.leaving_before(i, 0);
    leave_if_converging(i, leaves);
    a.mov(x86::eax, writer_.predicate(op.guard));
    if (op.guard_inverted) a.not_(x86::eax);
    a.test(x86::dword_ptr(context, static_cast<std::int32_t>(offsetof(code::CodeContext, lanes))), x86::eax);
    a.jnz(leaves);
    count_down(1, leaves);
    if (op.results != 0 || !catalogue::has(op.semantics, catalogue::fact::reads_sources_alone)) writer_.forget_uniform();
    end_piece(i);
  }

  void leave_if_converging(std::int32_t i, const asmjit::Label& leaves) {
    if (!operation(i).converges) return;
    writer_.a().cmp(x86::dword_ptr(context, static_cast<std::int32_t>(offsetof(code::CodeContext, converges_at))), i);
    writer_.a().je(leaves);
  }

  void write_operation(std::int32_t i, std::int32_t ahead) {
    writer_.begin(i, ahead);
    const Operation& op = operation(i);
    if (op.semantics == Semantics::branch) return write_branch(op, i);
    if (op.semantics == Semantics::exchange || op.semantics == Semantics::warp_barrier) {
      exchanges_ = true;
      return write_exchange(writer_);
    }
    if (is_access(op) && op.shortcut == code::Shortcut::none) {
      exchanges_ = exchanges_ || program_.access(op).ordered;
      if (!write_access(writer_)) writer_.execute_outside();
    } else if (op.semantics == Semantics::special) {
      if (!write_special(writer_)) writer_.execute_outside();
    } else if (op.semantics == Semantics::atomic) {
      if (!write_update(writer_)) writer_.execute_outside();
    } else if (!write_computation(writer_)) {
      writer_.is_row() ? writer_.call_row() : writer_.execute_outside();
    }
  }

  static bool is_access(const Operation& op) { return op.semantics == Semantics::load || op.semantics == Semantics::store; }

  /// A branch of all lanes of the split, or of none: the machine separates lanes.
  void write_branch(const Operation& op, std::int32_t i) {
    x86::Assembler& a = writer_.a();
    const asmjit::Label& target = labels_[static_cast<std::size_t>(op.target)];
    const bool goes_on = op.guarded && op.target > i && is_joined(i + 1);  // else the branch is a loop's, or all lanes take it
    if (!goes_on) writer_.end_piece(live_behind(i));
    if (!op.guarded) {
      a.jmp(target);
      return;
    }
    a.mov(x86::eax, writer_.predicate(op.guard));
    if (op.guard_inverted) a.not_(x86::eax);
    if (all_lanes_) {
      a.cmp(x86::eax, -1);
    } else {
      const x86::Mem lanes = x86::dword_ptr(context, static_cast<std::int32_t>(offsetof(code::CodeContext, lanes)));
      a.and_(x86::eax, lanes);
      a.cmp(x86::eax, lanes);
    }
    a.je(goes_on ? writer_.ending_to(target, live_behind(i)) : target);
    a.test(x86::eax, x86::eax);
    a.jnz(writer_.leaving_before(i, 1));
    if (goes_on) writer_.forget_dead(live_behind(i));
  }

  const Program& program_;
  Errors errors_;
  asmjit::CodeHolder holder_;
  std::deque<scalar::Modifiers> modifiers_;
  Writer writer_;
  bool all_lanes_;
  bool exchanges_ = false;
  std::vector<Way> ways_;
  std::vector<bool> begins_, is_entry_, is_target_;  ///< is_target_: where branches and functions lead, and where lanes converge
  std::optional<LiveSlots> live_;
  std::vector<asmjit::Label> labels_;
};

}  // namespace

std::unique_ptr<const MachineCode> compile(const Program& program, bool all_lanes, Vectors vectors) {
  return Compiler(program, all_lanes, vectors).compile();
}

}  // namespace warpmat::machine_code
