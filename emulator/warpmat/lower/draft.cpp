#include <warpmat/lower/draft.h>

namespace warpmat::code {

Value new_register(DraftFunction& function, const DraftRegister& kind) {
  function.registers.push_back(kind);
  return static_cast<Value>(function.registers.size() - 1);
}

Value new_register_like(DraftFunction& function, Value like) {
  const DraftRegister kind = function.registers[static_cast<std::size_t>(like)];
  return new_register(function, kind);
}

void take_guard(DraftOperation& operation, const DraftOperation& from) {
  operation.operation.guarded = from.operation.guarded;
  operation.operation.guard_inverted = from.operation.guard_inverted;
  operation.guard = from.guard;
}

/// Most constants differ in their low bits alone.
std::size_t Constants::Hash::operator()(const Constant& constant) const {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
  const std::uint64_t kind = static_cast<std::uint64_t>(constant.register_class) << 8 | static_cast<std::uint64_t>(constant.symbol.kind);
  std::uint64_t mixed = (constant.low ^ constant.high << 1) * odd;
  mixed = (mixed ^ mixed >> 32 ^ kind << 32 ^ static_cast<std::uint32_t>(constant.symbol.index)) * odd;
  return static_cast<std::size_t>(mixed ^ mixed >> 32);
}

Value Constants::add(RegisterClass register_class, std::uint64_t low, std::uint64_t high, Symbol symbol) {
  const Constant constant{register_class, low, high, symbol};
  const auto [place, added] = index_.try_emplace(constant, ~static_cast<Value>(all_.size()));
  if (added) all_.push_back(constant);
  return place->second;
}

}  // namespace warpmat::code
