#include <warpmat/lists/declarations.h>

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include <warpmat/tables/types.h>

namespace warpmat::inline v0_1 {
namespace {

constexpr std::int64_t max_shared_bytes = std::int64_t{1} << 30;
constexpr std::int64_t max_alignment = 1 << 16;
constexpr int max_registers = 1 << 16;

}  // namespace

void Declarations::require_new(Location location, const std::string& name) const {
  if (find_register(name) != nullptr || program_.find_variable(name) != nullptr)
    fail(location, fmt::format("'{}' is already declared", name));
}

const NamedRegister* Declarations::find_register(std::string_view name) const {
  const auto found = register_index_.find(name);
  return found == register_index_.end() ? nullptr : &parts_.registers[found->second];
}

const NamedRegister& Declarations::define_register(Location location, std::string name, const DataType& type) {
  require_new(location, name);
  if (parts_.registers.size() >= max_registers) fail(location, fmt::format("more than {} registers", max_registers));
  register_index_.emplace(name, parts_.registers.size());
  parts_.registers.push_back({std::move(name), &type, parts_.named_words});
  parts_.named_words += type.bits > 32 ? 2 : 1;
  return parts_.registers.back();
}

void Declarations::define_registers(const syntax::Variable& variable, const DataType& type) {
  const std::string name(variable.name);
  if (!variable.extents.empty() || variable.alignment != 0) fail(variable.location, "a register has no elements and no alignment");
  if (variable.registers == 0) return static_cast<void>(define_register(variable.location, name, type));
  for (std::int64_t i = 0; i < variable.registers; ++i) define_register(variable.location, fmt::format("{}{}", name, i), type);
}

void Declarations::define_variable(const syntax::Variable& declared, const DataType& type) {
  const std::int64_t alignment = declared.alignment, bytes = type.bits / 8;
  if (alignment < 0 || alignment > max_alignment || (alignment & (alignment - 1)) != 0)
    fail(declared.location, fmt::format("an alignment is a power of two up to {}", max_alignment));
  if (declared.registers != 0) fail(declared.location, "a shared variable has its elements in brackets");
  SharedVariable variable{std::string(declared.name), &type, 1, declared.extents, std::max(alignment, bytes), 0};
  require_new(declared.location, variable.name);
  for (const std::int64_t extent : declared.extents) {
    const std::int64_t most = max_shared_bytes / bytes / variable.count;
    if (extent < 1 || extent > most)
      fail(declared.location, fmt::format("'{}' needs a number of elements from 1 to {}", declared.name, most));
    variable.count *= extent;
  }
  variable.address = (parts_.shared_bytes + variable.alignment - 1) / variable.alignment * variable.alignment;
  if (variable.address + variable.bytes() > max_shared_bytes)
    fail(declared.location, fmt::format("more than {} bytes of shared memory", max_shared_bytes));
  parts_.shared_bytes = variable.address + variable.bytes();
  parts_.variables.push_back(std::move(variable));
}

void Declarations::define(const syntax::Variable& variable) {
  const bool is_register = !variable.space;
  const DataType* const type = find_data_type(variable.type);
  if (type == nullptr || (is_register ? !type->is_register : type->bits < 8))
    fail(variable.location, fmt::format("'{}' needs a type such as .b32 or .f32{}", variable.name,
                                        variable.type.empty() ? "" : fmt::format(", not '.{}'", variable.type)));
  if (variable.name == "_" || variable.name == "%laneid")
    fail(variable.location, fmt::format("'{}' is no name for a variable", variable.name));
  if (variable.vector != 1 || variable.pointer || !variable.values.empty())
    fail(variable.location, fmt::format("'{}' has no .v2 or .v4, no .ptr and no initial values in a list of statements", variable.name));
  is_register ? define_registers(variable, *type) : define_variable(variable, *type);
}

}  // namespace warpmat::inline v0_1
