#include <warpmat/ptx/run.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <warpmat/numeric/rounding_mode.h>
#include <warpmat/tables/capacity.h>

namespace warpmat {
namespace {

constexpr std::size_t max_access_bytes = 16;  // .v4.b32, .v2.b64

/// Register pointers of one operand, without allocation.
struct Words {
  std::array<std::uint32_t*, capacity::operand_words> pointers;
  std::size_t count = 0;
  void add(Register& word) { pointers[count++] = word.data(); }
};

bool reads_memory(const Statement& statement) {
  if (const Instruction* instruction = statement.matrix()) return instruction->form().mnemonic == Mnemonic::ldmatrix;
  return statement.scalar()->operation == ScalarOperation::load;
}

/// A 64-bit register as the catalogue's functions know it.
struct alignas(64) WideRegister : std::array<std::uint64_t, lanes> {};

void join(const Register& low, const Register& high, WideRegister& whole) {
  for (std::size_t lane = 0; lane < lanes; ++lane) whole[lane] = low[lane] | std::uint64_t{high[lane]} << 32;
}

void split(const WideRegister& whole, Register& low, Register& high) {
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    low[lane] = static_cast<std::uint32_t>(whole[lane]);
    high[lane] = static_cast<std::uint32_t>(whole[lane] >> 32);
  }
}

std::uint64_t sign_extend(std::uint64_t bits, int width) {
  const int unused = 64 - width;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused);
}

}  // namespace

Warp::Warp(const Program& program, std::size_t shared_bytes, std::uint32_t shared_base)
    : program_(&program),
      registers_(static_cast<std::size_t>(program.words())),
      shared_(std::max(shared_bytes, static_cast<std::size_t>(program.shared_bytes)), shared_base) {
  std::ranges::copy(program.constants, registers_.begin() + program.first_constant());
  for (std::size_t i = 0; i < program.addresses.size(); ++i) {
    const std::uint64_t address = shared_base + program.addresses[i];
    const auto words = std::span(registers_).subspan(static_cast<std::size_t>(program.address_slot(i)), 2);
    words[0].fill(static_cast<std::uint32_t>(address));
    words[1].fill(static_cast<std::uint32_t>(address >> 32));
  }
  if (std::ranges::any_of(program.statements, reads_memory)) {
    read_.resize(program.statements.size());
    has_read_.resize(program.statements.size());
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
  const auto number = static_cast<std::size_t>(&statement - program_->statements.data());
  for (std::size_t lane = 0; lane < lanes; ++lane) read_[number][lane] = address(address_operand, lane);
  has_read_[number] = true;
}

const std::array<std::uint64_t, lanes>* Warp::addresses_read(const Statement& statement) const {
  if (!reads_memory(statement)) return nullptr;
  const auto number = static_cast<std::size_t>(&statement - program_->statements.data());
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
  for (const Item& item : operand.items)
    for (int i = 0; i < item.words; ++i) out.push_back(word(item, i).data());
  return out;
}

std::vector<const std::uint32_t*> Warp::words(const OperandText& operand) const {
  std::vector<const std::uint32_t*> out;
  for (const Item& item : operand.items)
    for (int i = 0; i < item.words; ++i) out.push_back(word(item, i).data());
  return out;
}

void Warp::execute(const Statement& statement, const ExecutionOptions& options) {
  if (const Instruction* instruction = statement.matrix()) return execute_matrix(statement, *instruction, options);
  execute_scalar(statement, *statement.scalar());
}

void Warp::execute_matrix(const Statement& statement, const Instruction& instruction, const ExecutionOptions& options) {
  std::array<Words, operand_names> lists;
  Arguments arguments;
  arguments.shared = &shared_;
  std::size_t next = 0;
  for (const Operand& operand : instruction.form().operands) {
    const OperandText& text = statement.operands[next];
    Words& list = lists[next++];
    for (const Item& item : text.items)
      for (int i = 0; i < item.words; ++i) list.add(word(item, i));
    if (operand.kind == OperandKind::address) arguments.offset = text.offset;
    if (operand.kind == OperandKind::address && reads_memory(statement)) note_addresses(statement, text);
    if (operand.written) {
      arguments.destination = {list.pointers.data(), list.count};
    } else {
      arguments.source(operand.name) = {list.pointers.data(), list.count};
    }
  }
  instruction.execute(arguments, options);
}

void Warp::execute_scalar(const Statement& statement, const ScalarInstruction& instruction) {
  switch (instruction.operation) {
    case ScalarOperation::compute: return compute(statement, instruction);
    case ScalarOperation::load: return load(statement, instruction);
    case ScalarOperation::store: return store(statement, instruction);
    case ScalarOperation::barrier: return check_barrier(statement);
  }
}

/// Calls the row's function. It knows 64-bit registers as whole numbers; here they are two words.
void Warp::compute(const Statement& statement, const ScalarInstruction& instruction) {
  constexpr std::size_t most_sources = 8;
  std::array<WideRegister, most_sources + 1> wide;
  std::array<const void*, most_sources + 1> sources{};  // kernels ask for a last source that the row may not have
  std::size_t count = 0;
  for (std::size_t i = 1; i < statement.operands.size(); ++i)
    for (const Item& item : statement.operands[i].items) {
      sources[count] = word(item, 0).data();
      if (instruction.operands[i].type->bits > 32) {
        join(word(item, 0), word(item, 1), wide[count]);
        sources[count] = wide[count].data();
      }
      ++count;
    }
  const Item& to = statement.operands[0].items[0];
  const DataType& type = *instruction.operands[0].type;
  WideRegister& wide_result = wide[most_sources];
  void* const results[]{type.bits > 32 ? static_cast<void*>(wide_result.data()) : word(to, 0).data(), nullptr};
  const RoundingMode mode(RoundingMode::nearest);
  if (instruction.kernel != nullptr)
    instruction.kernel(results, sources.data(), instruction.modifiers);
  else
    instruction.function(results, sources.data());
  if (type.bits > 32)
    split(wide_result, word(to, 0), word(to, 1));
  else
    extend(to, type);
}

/// Fills what a register has above a result of `type` in its low bits.
void Warp::extend(const Item& to, const DataType& type) {
  const int bits = register_bits(to);
  if (bits <= type.bits) return;
  Register& low = word(to, 0);
  const bool is_signed = type.is_signed && type.type_class == DataType::Class::integer;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const std::uint64_t value = is_signed ? sign_extend(low[lane], type.bits) : low[lane];
    low[lane] = static_cast<std::uint32_t>(bits == 16 ? value & 0xffff : value);
    if (bits == 64) word(to, 1)[lane] = static_cast<std::uint32_t>(value >> 32);
  }
}

int Warp::register_bits(const Item& item) const {
  return item.kind == Item::Kind::named ? program_->registers[static_cast<std::size_t>(item.index)].type->bits : 32 * item.words;
}

std::uint64_t Warp::address(const OperandText& operand, std::size_t lane) const {
  const Item& base = operand.items[0];
  const std::uint64_t low = word(base, 0)[lane];
  const auto offset = static_cast<std::uint64_t>(operand.offset);
  if (base.words == 2) return (low | std::uint64_t{word(base, 1)[lane]} << 32) + offset;
  return static_cast<std::uint32_t>(low + offset);
}

void Warp::load(const Statement& statement, const ScalarInstruction& instruction) {
  const DataType& type = *instruction.data().type;
  const std::size_t element_bytes = static_cast<std::size_t>(type.bits) / 8;
  const auto bytes = static_cast<std::size_t>(instruction.access_bytes());
  note_addresses(statement, statement.operands[1]);
  std::array<std::array<std::uint8_t, max_access_bytes>, lanes> loaded;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const auto source = std::as_const(shared_).at(static_cast<int>(lane), address(statement.operands[1], lane), bytes, "load");
    std::ranges::copy(source, loaded[lane].begin());
  }
  for (std::size_t element = 0; element < statement.operands[0].items.size(); ++element) {
    const Item& to = statement.operands[0].items[element];
    const std::uint64_t kept = register_bits(to) == 16 ? 0xffff : ~std::uint64_t{0};
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      std::uint64_t bits = 0;
      for (std::size_t i = element_bytes; i-- > 0;) bits = bits << 8 | loaded[lane][element * element_bytes + i];
      if (type.is_signed && type.type_class == DataType::Class::integer) bits = sign_extend(bits, type.bits);
      bits &= kept;
      for (int i = 0; i < to.words; ++i, bits >>= 32) word(to, i)[lane] = static_cast<std::uint32_t>(bits);
    }
  }
}

void Warp::store(const Statement& statement, const ScalarInstruction& instruction) {
  const std::size_t element_bytes = static_cast<std::size_t>(instruction.data().type->bits) / 8;
  const auto bytes = static_cast<std::size_t>(instruction.access_bytes());
  std::array<std::uint8_t*, lanes> places;
  for (std::size_t lane = 0; lane < lanes; ++lane)
    places[lane] = shared_.at(static_cast<int>(lane), address(statement.operands[0], lane), bytes, "store").data();
  for (std::size_t lane = 0; lane < lanes; ++lane)
    for (std::size_t element = 0; element < statement.operands[1].items.size(); ++element) {
      const Item& from = statement.operands[1].items[element];
      std::uint64_t bits = word(from, 0)[lane] | (from.words == 2 ? std::uint64_t{word(from, 1)[lane]} << 32 : 0);
      for (std::size_t i = 0; i < element_bytes; ++i, bits >>= 8)
        places[lane][element * element_bytes + i] = static_cast<std::uint8_t>(bits);
    }
}

void Warp::check_barrier(const Statement& statement) const {
  const Register& masks = word(statement.operands[0].items[0], 0);
  for (std::size_t lane = 0; lane < lanes; ++lane)
    if (masks[lane] != 0xffffffff)
      throw Trap(static_cast<int>(lane), std::nullopt,
                 fmt::format("bar.warp.sync with mask {:#x}: all 32 lanes run together, so the mask must be 0xffffffff", masks[lane]));
}

void run(Warp& warp, const ExecutionOptions& options) {
  for (const Statement& statement : warp.program().statements) {
    try {
      warp.execute(statement, options);
    } catch (const Trap& trap) {
      throw Trap(trap.lane, trap.address, trap.reason, fmt::format("line {}", statement.location.line));
    }
  }
}

}  // namespace warpmat
