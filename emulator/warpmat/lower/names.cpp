#include <warpmat/lower/names.h>

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include <warpmat/ptx/text/token_reader.h>
#include <warpmat/tables/types.h>

namespace warpmat::code {

RegisterClass register_class_of(int bits) {
  if (bits == 1) return RegisterClass::predicate;
  return bits <= 32 ? RegisterClass::word : bits <= 64 ? RegisterClass::wide : RegisterClass::quad;
}

void Names::begin_scope() {
  open_.emplace_back();
}

Value Names::new_register(RegisterClass register_class, int bits, const DataType* type) {
  function_.registers.push_back({register_class, static_cast<std::uint8_t>(bits), type});
  return static_cast<Value>(function_.registers.size() - 1);
}

void Names::declare_registers(const syntax::Variable& variable) {
  const DataType* type = find_ptx_type(variable.type);
  if (type == nullptr) throw StatementError{variable.location, fmt::format("a register cannot be .{}", variable.type)};
  has_vectors_ |= variable.vector != 1;
  const int bits = type->is_predicate() ? 1 : type->bits < 16 ? 16 : type->bits;
  const auto first = static_cast<Value>(function_.registers.size());
  const std::int64_t count = std::max<std::int64_t>(variable.registers, 1) * variable.vector;
  function_.registers.resize(function_.registers.size() + static_cast<std::size_t>(count),
                             {register_class_of(bits), static_cast<std::uint8_t>(bits), type});
  function_.declared.push_back({variable.name, first, variable.registers, variable.vector});
  if (variable.registers == 0) return declare(variable.name, {.value = first, .vector = variable.vector});
  Scope& scope = open_.back();
  std::erase_if(scope.ranges, [&](const Range& range) { return range.prefix == variable.name; });
  scope.ranges.push_back({variable.name, first, variable.registers, variable.vector});
}

void Names::declare(std::string_view name, const Named& named) {
  open_.back().names[name] = named;
  open_.back().lengths |= Scope::length_bit(name);
}

std::optional<Named> Names::find(std::string_view name) const {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return find_whole(name);
  const auto vector = find_whole(name.substr(0, dot));
  if (!vector || vector->vector == 1) return find_whole(name);
  constexpr std::string_view letters = "xyzwrgba";  // .r .g .b .a are .x .y .z .w
  const std::size_t letter = dot + 2 == name.size() ? letters.find(name[dot + 1]) : std::string_view::npos;
  if (letter == std::string_view::npos || letter % 4 >= static_cast<std::size_t>(vector->vector)) return std::nullopt;
  return Named{.value = vector->value + static_cast<Value>(letter % 4)};
}

const Names::Range* Names::Scope::find_range(std::string_view prefix) const {
  const auto found = std::ranges::find(ranges, prefix, &Range::prefix);
  return found == ranges.end() ? nullptr : &*found;
}

std::optional<Named> Names::find_whole(std::string_view name) const {
  std::size_t prefix = name.size();
  while (prefix > 0 && name[prefix - 1] >= '0' && name[prefix - 1] <= '9') --prefix;
  std::int64_t number = -1;
  const bool plain = prefix + 1 >= name.size() || name[prefix] != '0';  // %r01 is not in the range %r<8>
  if (prefix < name.size() && plain) std::from_chars(name.data() + prefix, name.data() + name.size(), number);
  for (auto scope = open_.rbegin(); scope != open_.rend(); ++scope) {
    if ((scope->lengths & Scope::length_bit(name)) != 0)
      if (const auto found = scope->names.find(name); found != scope->names.end()) return found->second;
    if (number < 0) continue;
    const Range* const range = scope->find_range(name.substr(0, prefix));
    if (range != nullptr && number < range->count)
      return Named{.value = range->first + static_cast<Value>(number * range->vector), .vector = range->vector};
  }
  return std::nullopt;
}

}  // namespace warpmat::code
