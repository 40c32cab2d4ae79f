#include <warpmat/ptx/program/names.h>

#include <charconv>

#include <fmt/core.h>

#include <warpmat/ptx/catalogue/value_type.h>
#include <warpmat/ptx/token_reader.h>

namespace warpmat::code {

RegisterClass register_class_of(int bits) {
  if (bits == 1) return RegisterClass::predicate;
  return bits <= 32 ? RegisterClass::word : bits <= 64 ? RegisterClass::wide : RegisterClass::quad;
}

void Names::begin_scope() {
  open_.emplace_back();
}

Value Names::new_register(RegisterClass register_class, int bits) {
  function_.registers.push_back({register_class, static_cast<std::uint8_t>(bits)});
  return static_cast<Value>(function_.registers.size() - 1);
}

void Names::declare_registers(const syntax::Variable& variable) {
  const catalogue::ValueType* type = catalogue::find_value_type(variable.type);
  if (type == nullptr) throw StatementError{variable.location, fmt::format("a register cannot be .{}", variable.type)};
  if (variable.vector != 1) throw StatementError{variable.location, "vector registers are not executed; declare their elements"};
  const int bits = type->is_predicate() ? 1 : type->bits < 16 ? 16 : type->bits;
  const RegisterClass register_class = register_class_of(bits);
  if (variable.registers == 0) return declare(variable.name, {.value = new_register(register_class, bits)});
  const auto first = static_cast<Value>(function_.registers.size());
  open_.back().ranges[variable.name] = {first, variable.registers};
  function_.registers.resize(function_.registers.size() + static_cast<std::size_t>(variable.registers),
                             {register_class, static_cast<std::uint8_t>(bits)});
}

void Names::declare(std::string_view name, const Named& named) {
  open_.back().names[name] = named;
}

std::optional<Named> Names::find(std::string_view name) const {
  const std::size_t prefix = name.find_last_not_of("0123456789") + 1;
  std::int64_t number = -1;
  const bool plain = prefix + 1 >= name.size() || name[prefix] != '0';  // %r01 is no name of the range %r<8>
  if (prefix < name.size() && plain) std::from_chars(name.data() + prefix, name.data() + name.size(), number);
  for (auto scope = open_.rbegin(); scope != open_.rend(); ++scope) {
    if (const auto found = scope->names.find(name); found != scope->names.end()) return found->second;
    if (number < 0) continue;
    const auto range = scope->ranges.find(name.substr(0, prefix));
    if (range != scope->ranges.end() && number < range->second.count)
      return Named{.value = range->second.first + static_cast<Value>(number)};
  }
  return std::nullopt;
}

}  // namespace warpmat::code
