#include <warpmat/program.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>

#include <warpmat/ir/code.h>
#include <warpmat/lower/list_internals.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/constant_copy.h>
#include <warpmat/machine/each_lane.h>
#include <warpmat/machine/operations.h>
#include <warpmat/numeric/rounding_mode.h>

namespace warpmat {
namespace {

bool reads_memory(const Statement& statement) {
  return ListInternals::parts(statement).read_address >= 0;
}

/// Which statement of the program it is; throws if it is none.
std::size_t number_in(const Program& program, const Statement& statement) {
  const std::vector<Statement>& all = program.statements();
  const std::less<const Statement*> before;
  if (all.empty() || before(&statement, all.data()) || before(&all.back(), &statement))
    throw std::invalid_argument("the statement is a copy or another program's: a warp knows those of its program().statements()");
  return static_cast<std::size_t>(&statement - all.data());
}

/// Words of the register file, plus those that only the machine uses.
std::size_t all_words(const Program& program) {
  const auto words = static_cast<std::size_t>(program.words());
  const code::Program* const code = ListInternals::parts(program).code.get();
  if (code == nullptr) return words;
  return std::max(words, (code->functions.front().frame_bytes + sizeof(Register) - 1) / sizeof(Register));
}

std::vector<std::uint64_t> variable_addresses(const Program& program, std::uint32_t shared_base) {
  std::vector<std::uint64_t> addresses;
  for (const SharedVariable& variable : program.variables())
    addresses.push_back(shared_base + static_cast<std::uint64_t>(variable.address));
  return addresses;
}

/// The named registers of a program that are no words in the machine: its 64-bit registers and predicates.
class Apart {
 public:
  Apart(const Program& program, const code::Program& code) {
    auto named = program.registers().begin();
    for (const code::PlacedRegister& placed : code.registers) {  // in the same order
      while (named->name != placed.name) ++named;
      if (placed.register_class != code::RegisterClass::word)
        all_.push_back({static_cast<std::size_t>(named->slot), placed.slot, placed.register_class, placed.written});
    }
  }

  /// From the words that the warp's user sees to where the machine has them.
  void take(std::span<Register> registers) const {
    for (const Both& placed : all_) {
      const Register &low = registers[placed.word], &high = registers[placed.word + 1];
      if (placed.register_class == code::RegisterClass::predicate) {
        *at<LaneMask>(registers, placed) = machine::lanes_where([&](std::size_t lane) { return low[lane] != 0; });
      } else {
        auto* const wide = at<std::uint64_t>(registers, placed);
        for (std::size_t lane = 0; lane < warp_size; ++lane) wide[lane] = low[lane] | std::uint64_t{high[lane]} << 32;
      }
    }
  }

  void put_back(std::span<Register> registers) const {
    for (const Both& placed : all_) {
      if (!placed.written) continue;
      Register &low = registers[placed.word], &high = registers[placed.word + 1];
      if (placed.register_class == code::RegisterClass::predicate) {
        for (std::size_t lane = 0; lane < warp_size; ++lane) low[lane] = *at<LaneMask>(registers, placed) >> lane & 1;
      } else {
        const auto* const wide = at<std::uint64_t>(registers, placed);
        for (std::size_t lane = 0; lane < warp_size; ++lane) {
          low[lane] = static_cast<std::uint32_t>(wide[lane]);
          high[lane] = static_cast<std::uint32_t>(wide[lane] >> 32);
        }
      }
    }
  }

 private:
  struct Both {
    std::size_t word;  ///< the first, among the warp's registers
    code::Slot slot;
    code::RegisterClass register_class;
    bool written;
  };

  template <typename T>
  static T* at(std::span<Register> registers, const Both& placed) {
    return reinterpret_cast<T*>(reinterpret_cast<std::uint8_t*>(registers.data()) + placed.slot);
  }

  std::vector<Both> all_;
};

}  // namespace

/// Executes the statements of a program for a warp: a grid of one block of one warp, without checks, as all memory of a list is initially
/// zero.
class ListMachine {
 public:
  /// For a warp whose shared memory begins at `shared_base`. `program` must outlive the machine.
  ListMachine(const Program& program, std::uint32_t shared_base)
      : program_(placed(*ListInternals::parts(program).code, shared_base)),
        constants_(program_, variable_addresses(program, shared_base), {}),
        apart_(program, program_),
        launch_{.program = program_,
                .config = {.grid = {}, .block = {warp_size}},
                .options = options_,
                .memory = memory_,
                .thread_indices{program_, {warp_size}},
                .constants = constants_.begin(),
                .parameters = {},
                .one_by_one = true,
                .chunk_lists = program_.executes(catalogue::Semantics::wgmma) ? &chunk_lists_.emplace() : nullptr},
        cluster_(launch_, 0) {}

  /// Executes the operations from `first` up to `last` in all lanes, on the warp's register file and shared memory. Throws Trap; the
  /// statement of its line has then changed no named register and no memory, but where an observer ended it after its effect. Throws
  /// std::invalid_argument in a call of one of the warp's observers.
  void execute(std::int32_t first, std::int32_t last, std::span<Register> registers, std::span<std::uint8_t> shared,
               const ExecutionOptions& options) {
    const InUse in_use(*this, "execute its statements");
    options_.execution = options;
    machine::Block& block = cluster_.block(0);
    block.borrow(shared);
    const OuterRoundingMode mode(RoundingMode::nearest);  // required by the scalar kernels
    block.begin_reservation(true);
    machine::WarpState& warp = *block.warps().front();
    if (!warp.observers().none()) warp.observers().refresh();  // other warps may tell the same ones
    warp.restart(first, reinterpret_cast<std::uint8_t*>(registers.data()));
    apart_.take(registers);
    const struct PutsBack {  // of what precedes a trap, too
      const Apart& apart;
      std::span<Register> registers;
      ~PutsBack() { apart.put_back(registers); }
    } puts_back{apart_, registers};
    try {
      perform_first_matrices(warp, last);
      if (int budget = last - warp.split().pc; budget > 0) warp.run(budget);
    } catch (const Trap& trap) {  // a list has no kernel and no block
      const Trap placeless(trap.kind, trap.site.operand, trap.site.lane, trap.address, trap.reason);
      throw Trap(trap.kind, {.lane = trap.site.lane, .line = trap.site.line, .operand = trap.site.operand}, trap.address, trap.parts,
                 placeless.what());
    }
  }

  /// Ends the block for the observers so far, and begins it for these; `shared` is its memory. If one of them throws, none is left.
  /// Throws std::invalid_argument in a call of one of them, which stay.
  void observe(std::vector<machine::Observer*> observers, std::span<std::uint8_t> shared) {
    const InUse in_use(*this, "give it other observers");
    machine::Block& block = cluster_.block(0);
    block.borrow(shared);
    try {
      block.tell_end();
      cluster_.observers().replace(std::move(observers));
      block.tell_beginning();
    } catch (...) {
      cluster_.observers().replace({});
      throw;
    }
  }

 private:
  /// One call at a time: an observer that is told of one makes no other.
  class InUse {
   public:
    InUse(ListMachine& machine, const char* what) : in_use_(machine.in_use_) {
      if (in_use_) throw std::invalid_argument(fmt::format("an observer of the warp cannot {}", what));
      in_use_ = true;
    }
    ~InUse() { in_use_ = false; }
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;

   private:
    bool& in_use_;
  };

  /// Matrix instructions that come first need no schedule. They have no guard.
  void perform_first_matrices(machine::WarpState& warp, std::int32_t last) const {
    if (!warp.observers().none()) return;
    for (std::int32_t& pc = warp.split().pc; pc < last;) {
      const code::Operation& operation = program_.operations[static_cast<std::size_t>(pc)];
      if (operation.semantics != catalogue::Semantics::matrix) return;
      pc += machine::perform_matrices(warp, operation, last - pc);
    }
  }

  /// The program itself, or where shared memory begins elsewhere than at 0, a copy that knows it.
  const code::Program& placed(const code::Program& code, std::uint32_t shared_base) {
    if (shared_base == code.shared_base) return code;
    moved_ = code;
    moved_->shared_base = shared_base;
    return *moved_;
  }

  std::optional<code::Program> moved_;
  const code::Program& program_;
  machine::ConstantCopy constants_;
  Apart apart_;
  LaunchOptions options_;
  std::optional<machine::ChunkLists> chunk_lists_;
  DeviceMemory memory_;
  machine::LaunchState launch_;
  machine::Cluster cluster_;
  bool in_use_ = false;
};

Warp::Machine::Machine() = default;
Warp::Machine::Machine(const Machine&) {}
Warp::Machine::Machine(Machine&&) noexcept = default;
Warp::Machine::~Machine() = default;

Warp::Machine& Warp::Machine::operator=(Machine other) noexcept {
  machine_ = std::move(other.machine_);
  return *this;
}

ListMachine& Warp::Machine::made(const Program& program, std::uint32_t shared_base) {
  if (machine_ == nullptr) machine_ = std::make_unique<ListMachine>(program, shared_base);
  return *machine_;
}

Warp::Warp(const Program& program, std::size_t shared_bytes, std::uint32_t shared_base)
    : program_(&program),
      registers_(all_words(program)),
      shared_(std::max(shared_bytes, static_cast<std::size_t>(program.shared_bytes())), shared_base) {
  const ProgramParts& parts = ListInternals::parts(program);
  std::ranges::copy(parts.constants, registers_.begin() + parts.first_constant());
  for (std::size_t i = 0; i < parts.addresses.size(); ++i) {
    const std::uint64_t address = shared_base + parts.addresses[i];
    const auto words = std::span(registers_).subspan(static_cast<std::size_t>(parts.address_slot(i)), 2);
    words[0].fill(static_cast<std::uint32_t>(address));
    words[1].fill(static_cast<std::uint32_t>(address >> 32));
  }
  if (parts.code != nullptr) machine_.made(program, shared_base);
  if (std::ranges::any_of(program.statements(), reads_memory)) {
    read_.resize(program.statements().size());
    has_read_.resize(program.statements().size());
  }
}

void Warp::describe_variable(std::string_view name, const MemoryMatrix& matrix) {
  matrices_[std::string(name)] = matrix;
}

const MemoryMatrix* Warp::described_variable(std::string_view name) const {
  const auto found = matrices_.find(name);
  return found == matrices_.end() ? nullptr : &found->second;
}

void Warp::note_addresses(const Statement& statement, const OperandText& address_operand) {
  const std::size_t number = number_in(*program_, statement);
  std::array<std::uint64_t, warp_size>& addresses = read_[number];
  const Item& base = address_operand.items[0];
  const Register& low = word(base, 0);
  const auto offset = static_cast<std::uint64_t>(address_operand.offset);
  if (base.words == 2) {
    const Register& high = word(base, 1);
    for (std::size_t lane = 0; lane < warp_size; ++lane) addresses[lane] = (low[lane] | std::uint64_t{high[lane]} << 32) + offset;
  } else {
    const auto narrow = static_cast<std::uint32_t>(offset);
    for (std::size_t lane = 0; lane < warp_size; ++lane) addresses[lane] = low[lane] + narrow;
  }
  has_read_[number] = true;
}

const std::array<std::uint64_t, warp_size>* Warp::addresses_read(const Statement& statement) const {
  const std::size_t number = number_in(*program_, statement);
  if (!reads_memory(statement)) return nullptr;
  return has_read_[number] ? &read_[number] : nullptr;
}

Register& Warp::reg(std::string_view name, int word) {
  return const_cast<Register&>(std::as_const(*this).reg(name, word));
}

const Register& Warp::reg(std::string_view name, int word) const {
  const NamedRegister* found = program_->find_register(name);
  if (found == nullptr) throw std::invalid_argument(fmt::format("the program has no register '{}'", name));
  if (word < 0 || word > (found->type->bits > 32 ? 1 : 0))
    throw std::invalid_argument(fmt::format("register '{}' has {} bits, no word {}", name, found->type->bits, word));
  return registers_[static_cast<std::size_t>(found->slot + word)];
}

std::vector<std::uint32_t*> Warp::words(const OperandText& operand) {
  std::vector<std::uint32_t*> out;
  for (const std::uint32_t* const word : std::as_const(*this).words(operand)) out.push_back(const_cast<std::uint32_t*>(word));
  return out;
}

std::vector<const std::uint32_t*> Warp::words(const OperandText& operand) const {
  std::vector<const std::uint32_t*> out;
  for (const Item& item : operand.items) {
    if (item.slot < 0 || item.words > program_->words() - item.slot)
      throw std::invalid_argument("the operand is not of the warp's program: its registers do not exist");
    for (int i = 0; i < item.words; ++i) out.push_back(word(item, i).data());
  }
  return out;
}

void Warp::execute(const Statement& statement, const ExecutionOptions& options) {
  static_cast<void>(number_in(*program_, statement));
  prepare(statement);
  const StatementParts& parts = ListInternals::parts(statement);
  machine_.made(*program_, shared_.base()).execute(parts.first_operation, parts.last_operation, registers_, shared_.bytes(), options);
}

void Warp::observe(std::vector<machine::Observer*> observers) {
  if (const auto null = std::ranges::find(observers, nullptr); null != observers.end())
    throw std::invalid_argument(fmt::format("observer {} is null", null - observers.begin()));
  if (ListInternals::parts(*program_).code != nullptr)
    machine_.made(*program_, shared_.base()).observe(std::move(observers), shared_.bytes());
}

/// Notes the addresses that the statement is about to read.
void Warp::prepare(const Statement& statement) {
  if (const int address = ListInternals::parts(statement).read_address; address >= 0)
    note_addresses(statement, statement.operands()[static_cast<std::size_t>(address)]);
}

LaneMask Warp::executing(const Statement& statement) const {
  static_cast<void>(number_in(*program_, statement));
  if (!statement.guard()) return all_lanes;
  LaneMask mask = 0;
  const Register& predicate = word(*statement.guard(), 0);
  for (int lane = 0; lane < warp_size; ++lane)
    if ((predicate[static_cast<std::size_t>(lane)] != 0) != statement.guard()->inverted) mask |= lane_bit(lane);
  return mask;
}

void run(Warp& warp, const ExecutionOptions& options) {
  const std::vector<Statement>& all = warp.program().statements();
  if (all.empty()) return;
  ListMachine& machine = warp.machine_.made(warp.program(), warp.shared_.base());
  const Statement* const end = all.data() + all.size();
  for (const Statement *first = all.data(), *last = first; first != end; first = last) {
    ++last;
    while (last != end && !reads_memory(*last)) ++last;  // up to the next address to record
    warp.prepare(*first);
    try {
      machine.execute(ListInternals::parts(*first).first_operation, ListInternals::parts(last[-1]).last_operation, warp.registers_,
                      warp.shared_.bytes(), options);
    } catch (const Trap& trap) {
      throw trap.at(fmt::format("line {}", trap.site.line));
    }
  }
}

}  // namespace warpmat
