#include <warpmat/lower/list_slots.h>

#include <algorithm>

namespace warpmat {
namespace {

template <typename Visit>
void for_each_item(ProgramParts& program, Visit visit) {
  for (Statement& statement : program.statements)
    for (OperandText& operand : ListInternals::parts(statement).operands)
      for (Item& item : operand.items) visit(item);
}

int address_slot(ProgramParts& program, const Item& item) {
  const std::uint64_t address = static_cast<std::uint64_t>(program.variables[static_cast<std::size_t>(item.index)].address) + item.bits;
  std::vector<std::uint64_t>& addresses = program.addresses;
  const auto found = std::ranges::find(addresses, address);
  const int slot = program.address_slot(static_cast<std::size_t>(found - addresses.begin()));
  if (found == addresses.end()) addresses.push_back(address);
  return slot;
}

int constant_slot(ProgramParts& program, const std::vector<Register>& value) {
  std::vector<Register>& constants = program.constants;
  auto found = std::search(constants.begin(), constants.end(), value.begin(), value.end());
  const int slot = program.first_constant() + static_cast<int>(found - constants.begin());
  if (found == constants.end()) constants.insert(constants.end(), value.begin(), value.end());
  return slot;
}

int constant_slot(ProgramParts& program, std::uint64_t bits, int words) {
  std::vector<Register> value(static_cast<std::size_t>(words));
  for (Register& word : value) {
    word.fill(static_cast<std::uint32_t>(bits));
    bits >>= 32;
  }
  return constant_slot(program, value);
}

int slot_of(ProgramParts& program, const Item& item) {
  switch (item.kind) {
    case Item::Kind::named: return item.slot;
    case Item::Kind::discard: return program.discard_slot();
    case Item::Kind::number: return constant_slot(program, item.bits, item.words);
    case Item::Kind::variable: return address_slot(program, item);
    case Item::Kind::laneid: {
      Register ids;
      for (std::uint32_t lane = 0; lane < warp_size; ++lane) ids[lane] = lane;
      return constant_slot(program, {ids});
    }
  }
  return 0;
}

}  // namespace

void place_slots(ProgramParts& program) {
  for (const bool addresses : {false, true})
    for_each_item(program, [&](Item& item) {
      if ((item.kind == Item::Kind::variable) == addresses) item.slot = slot_of(program, item);
    });
}

}  // namespace warpmat
