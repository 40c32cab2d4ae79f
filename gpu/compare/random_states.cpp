#include "gpu/compare/random_states.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "gpu/cases/cases.h"
#include "gpu/cases/operand_classes.h"
#include "gpu/cases/random.h"
#include "gpu/compare/compare.h"

namespace warpmat {
namespace {

constexpr std::uint32_t row_bytes = Form::row_bytes;
constexpr std::size_t memory_for_addresses = 1024;

/// The offsets that a program adds to an address register, 0 included.
struct Offsets {
  std::int64_t lowest = 0, highest = 0;
};

/// A matrix instruction's register operand that no earlier statement wrote.
struct Source {
  const Statement* statement;
  std::size_t operand;
};

/// The registers that a program reads before it writes them.
struct Inputs {
  std::map<const NamedRegister*, Offsets> addresses;
  std::vector<Source> sources;

  explicit Inputs(const Program& program) {
    std::vector<bool> written(static_cast<std::size_t>(program.named_words()));
    for (const Statement& statement : program.statements()) {
      for (std::size_t i = 0; i < statement.operands().size(); ++i) add(program, statement, i, written);
      const Outputs outputs = outputs_of(program, statement);
      for (std::size_t word = 0; word < written.size(); ++word) written[word] = written[word] || outputs.registers[word];
    }
  }

 private:
  void add(const Program& program, const Statement& statement, std::size_t operand, const std::vector<bool>& written) {
    const OperandText& text = statement.operands()[operand];
    const auto is_input = [&](const Item& item) { return item.kind == Item::Kind::named && !written[static_cast<std::size_t>(item.slot)]; };
    if (text.kind == OperandText::Kind::address) {
      if (!is_input(text.items.front())) return;
      Offsets& offsets = addresses[&program.registers()[static_cast<std::size_t>(text.items.front().index)]];
      offsets = {std::min(offsets.lowest, text.offset), std::max(offsets.highest, text.offset)};
    } else if (statement.matrix() != nullptr && !statement.matrix()->form().operands[operand].written &&
               std::ranges::all_of(text.items, is_input)) {
      sources.push_back({&statement, operand});
    }
  }
};

/// Rows of 16 bytes, one for each lane, that stay within `bytes` bytes with every offset.
Register random_rows(Random random, const Offsets& offsets, std::size_t bytes, std::uint32_t base) {
  const auto first = static_cast<std::uint32_t>((-offsets.lowest + row_bytes - 1) / row_bytes);
  const std::int64_t end = (static_cast<std::int64_t>(bytes) - offsets.highest) / row_bytes;
  std::vector<std::uint32_t> rows(static_cast<std::size_t>(std::max<std::int64_t>(1, end - first)));
  std::iota(rows.begin(), rows.end(), first);
  Register addresses;
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    const std::size_t place = rows.size() >= warp_size ? lane : 0;
    std::swap(rows[place], rows[place + random.below(rows.size() - place)]);
    addresses[lane] = base + row_bytes * rows[place];
  }
  return addresses;
}

/// The class of warp `warp`: cycles through all that apply to `form`.
const OperandClass& class_of(const Form& form, std::size_t warp) {
  std::vector<const OperandClass*> classes;
  for (const OperandClass& candidate : operand_classes())
    if (applies(candidate, form)) classes.push_back(&candidate);
  return *classes[warp % classes.size()];
}

void fill_operand(WarpStates& states, std::size_t warp, const Source& source, const Target& target, std::uint64_t seed) {
  const Form& form = source.statement->matrix()->form();
  const Program program = program_for(form, target);
  const WarpStates drawn = make_case(program, form, class_of(form, warp), seed, warp, 1, 0);
  const std::vector<Item>& from = program.statements().front().operands()[source.operand].items;
  const std::vector<Item>& to = source.statement->operands()[source.operand].items;
  for (std::size_t i = 0; i < to.size(); ++i)
    for (int word = 0; word < to[i].words; ++word)
      states.registers_of(warp)[static_cast<std::size_t>(to[i].slot + word)] =
          drawn.registers_of(0)[static_cast<std::size_t>(from[i].slot + word)];
}

/// Clears the unused bits of registers with less than 32 bits.
void clear_unused_bits(const Program& program, std::span<Register> registers) {
  for (const NamedRegister& r : program.registers())
    if (r.type->bits < 32)
      for (std::uint32_t& word : registers[static_cast<std::size_t>(r.slot)]) word &= (std::uint32_t{1} << r.type->bits) - 1;
}

}  // namespace

WarpStates random_states(const Program& program, std::size_t warps, std::uint64_t seed, std::size_t at_least_shared_bytes,
                         std::uint32_t shared_base) {
  const Inputs inputs(program);
  WarpStates states(program, warps,
                    inputs.addresses.empty() ? at_least_shared_bytes : std::max(at_least_shared_bytes, memory_for_addresses));
  for (std::size_t warp = 0; warp < warps; ++warp) {
    Random random(combine(seed, warp));
    for (Register& reg : states.registers_of(warp))
      for (std::uint32_t& word : reg) word = static_cast<std::uint32_t>(random.next());
    for (std::uint8_t& byte : states.shared_of(warp)) byte = static_cast<std::uint8_t>(random.next());
    for (const Source& source : inputs.sources) fill_operand(states, warp, source, *program.target(), seed);
    for (const auto& [address, offsets] : inputs.addresses) {
      const auto words = states.registers_of(warp).subspan(static_cast<std::size_t>(address->slot));
      words[0] = random_rows(Random(random.next()), offsets, states.shared_bytes, shared_base);
      if (address->type->bits > 32) words[1].fill(0);
    }
    clear_unused_bits(program, states.registers_of(warp));
  }
  return states;
}

std::vector<const NamedRegister*> address_inputs(const Program& program) {
  std::vector<const NamedRegister*> registers;
  for (const auto& [address, offsets] : Inputs(program).addresses) registers.push_back(address);
  return registers;
}

}  // namespace warpmat
