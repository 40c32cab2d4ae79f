#include <warpmat/program.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>

#include <warpmat/ir/code.h>
#include <warpmat/lists/list_machine.h>
#include <warpmat/lower/list_internals.h>

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

/// Whether the machine may execute `next` in one go with `before`, the statement before it: lanes do not wait, and `next` has no address of
/// a read to record.
bool runs_on(const Statement& before, const Statement& next) {
  return !ListInternals::parts(before).waits && !ListInternals::parts(next).waits && !reads_memory(next);
}

/// Words of the register file, plus those that only the machine uses.
std::size_t all_words(const Program& program) {
  const auto words = static_cast<std::size_t>(program.words());
  const code::Program* const code = ListInternals::parts(program).code.get();
  if (code == nullptr) return words;
  return std::max(words, (code->functions.front().frame_bytes + sizeof(Register) - 1) / sizeof(Register));
}

}  // namespace

Warp::Machine::Machine() = default;
Warp::Machine::Machine(const Machine&) {}
Warp::Machine::Machine(Machine&&) noexcept = default;
Warp::Machine::~Machine() = default;

Warp::Machine& Warp::Machine::operator=(Machine other) noexcept {
  machine_ = std::move(other.machine_);
  return *this;
}

ListMachine& Warp::Machine::made(const Program& program, std::uint32_t shared_base) {
  if (machine_ == nullptr) machine_ = ListMachine::make(program, shared_base);
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
    while (last != end && runs_on(last[-1], *last)) ++last;
    warp.prepare(*first);
    try {
      machine.execute(ListInternals::parts(*first).first_operation, ListInternals::parts(last[-1]).last_operation, warp.registers_,
                      warp.shared_.bytes(), options);
    } catch (const Trap& trap) {
      throw trap.at(fmt::format("line {}", all[machine.statement()].location().line));
    }
  }
}

}  // namespace warpmat
