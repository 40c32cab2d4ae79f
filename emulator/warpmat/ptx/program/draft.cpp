#include <warpmat/ptx/program/draft.h>

namespace warpmat::code {

Value Constants::add(RegisterClass register_class, std::uint64_t low, std::uint64_t high, Symbol symbol) {
  const Constant constant{register_class, low, high, symbol};
  const auto [place, added] = index_.try_emplace(constant, ~static_cast<Value>(all_.size()));
  if (added) all_.push_back(constant);
  return place->second;
}

}  // namespace warpmat::code
