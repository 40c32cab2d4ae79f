#include <warpmat/lower/module_symbols.h>

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include <warpmat/forms.h>
#include <warpmat/ir/special_register.h>
#include <warpmat/ptx/text/number.h>
#include <warpmat/ptx/text/token_reader.h>
#include <warpmat/tables/hardware.h>
#include <warpmat/tables/types.h>

namespace warpmat::code {
namespace {

constexpr std::uint64_t most_parameter_bytes = 32764;  // PTX ISA 9.1 section 7.1
constexpr std::uint64_t most_shared_bytes = 1 << 24;   // more than any GPU has: the launch checks the actual limit

std::uint64_t round_up(std::uint64_t value, std::int64_t alignment) {
  const auto a = static_cast<std::uint64_t>(alignment);
  return (value + a - 1) / a * a;
}

std::uint64_t number_bits(const syntax::Initialiser& value, const DataType& type, Location location) {
  if (const auto bits = parse_number(value.number, value.negative, type)) return *bits;
  const auto integer = parse_integer(value.number);  // integers of another sign, of more bits or of 16-bit formats
  if (!integer) throw StatementError{location, fmt::format("'{}' is not a number that fits .{}", value.number, type.name)};
  return value.negative ? ~*integer + 1 : *integer;
}

}  // namespace

ModuleSymbols::ModuleSymbols(const syntax::Module& module) : module_(module) {
  for (const syntax::Variable& variable : module.variables) {
    if (variable.space == Space::shared) {
      names_[variable.name] = {.kind = Named::Kind::shared, .index = static_cast<int>(shared_.size())};
      shared_.push_back({&variable, false});
    } else {
      // A definition replaces a declaration.
      const auto [place, added] =
          names_.try_emplace(variable.name, Named{.kind = Named::Kind::module, .index = static_cast<int>(variables_.size())});
      if (added) {
        variables_.push_back(&variable);
      } else if (!variable.external) {
        variables_[static_cast<std::size_t>(place->second.index)] = &variable;
      }
    }
  }
  for (const syntax::Function& function : module.functions)
    for (const syntax::Element& element : function.body)
      if (const auto* variable = std::get_if<syntax::Variable>(&element);
          variable != nullptr && (variable->space == Space::global || variable->space == Space::constant)) {
        in_bodies_[variable] = static_cast<int>(variables_.size());
        variables_.push_back(variable);
      }
  for (std::size_t i = 0; i < module.functions.size(); ++i)  // kernels that launch others take the addresses of entries
    names_.try_emplace(module.functions[i].name, Named{.kind = Named::Kind::function, .index = static_cast<int>(i)});
}

std::optional<Named> ModuleSymbols::find(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? std::nullopt : std::optional(found->second);
}

int ModuleSymbols::add_shared(const syntax::Variable& variable) {
  shared_.push_back({&variable, true});
  return static_cast<int>(shared_.size() - 1);
}

std::vector<std::uint64_t> ModuleSymbols::place_shared(Program& program) const {
  std::vector<std::uint64_t> addresses(shared_.size());
  const HardwareTraits traits = hardware_traits(program.target->number);
  if (program.any<SpecialRegister>(is_place_of_reserved_shared)) program.reserved_shared = traits.reserved_shared;
  // Where a GPU's variables begin at 0, those of such a program begin behind the reserved bytes.
  const std::uint32_t first_variable = std::max(traits.shared_base, program.reserved_shared);
  program.shared_base = first_variable - program.reserved_shared;
  std::uint64_t end = 0, dynamic_alignment = 1;
  for (const bool dynamic : {false, true}) {
    if (dynamic) {
      program.shared_bytes = static_cast<std::uint32_t>(end);
      for (const Shared& shared : shared_)
        if (shared.used && shared.variable->external)
          dynamic_alignment = std::max(dynamic_alignment, static_cast<std::uint64_t>(alignment_of(*shared.variable)));
      end = round_up(end, static_cast<std::int64_t>(dynamic_alignment));
      program.dynamic_offset = static_cast<std::uint32_t>(end);
    }
    for (std::size_t i = 0; i < shared_.size(); ++i) {
      const syntax::Variable& variable = *shared_[i].variable;
      if (!shared_[i].used || variable.external != dynamic) continue;
      if (!dynamic) end = round_up(end, alignment_of(variable));
      addresses[i] = first_variable + end;
      const auto bytes = static_cast<std::uint64_t>(size_of(variable));
      program.shared_variables.push_back({variable.name, Space::shared, addresses[i], bytes});
      if (!dynamic) end += bytes;
      if (end > most_shared_bytes)
        throw StatementError{variable.location, fmt::format("the shared variables have more than {} bytes", most_shared_bytes)};
    }
  }
  return addresses;
}

std::vector<std::pair<int, std::uint64_t>> ModuleSymbols::constants() const {
  std::vector<std::pair<int, std::uint64_t>> all;
  for (std::size_t i = 0; i < variables_.size(); ++i)
    if (variables_[i]->space == Space::constant) all.emplace_back(static_cast<int>(i), static_cast<std::uint64_t>(size_of(*variables_[i])));
  return all;
}

void ModuleSymbols::place_module(Program& program) const {
  std::uint64_t end = 0, all = 0;
  for (const syntax::Variable* const variable : variables_) {
    const auto bytes = static_cast<std::uint64_t>(size_of(*variable));
    const std::uint64_t contents = variable->values.size() * static_cast<std::uint64_t>(type_of(*variable).bytes());
    if (contents > bytes)
      throw StatementError{variable->location, fmt::format("'{}' has more initial values than elements", variable->name)};
    all += round_up(bytes, alignment_of(*variable));
    if (all > std::uint64_t{syntax::largest_variable})
      throw StatementError{variable->location, fmt::format("the module's variables have more than {} bytes", syntax::largest_variable)};
    program.module_variables.push_back(
        {variable->name, variable->space == Space::constant ? Space::constant : Space::global, end, bytes, contents});
    end += contents;
  }
  program.module_bytes.assign(end, 0);
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    const syntax::Variable& variable = *variables_[i];
    const DataType& type = type_of(variable);
    const auto element = static_cast<std::size_t>(type.bytes());
    std::size_t at = program.module_variables[i].address;
    for (const syntax::Initialiser& value : variable.values) {
      std::uint64_t bits = 0;
      if (value.symbol.empty()) {
        bits = number_bits(value, type, variable.location);
      } else {
        const auto named = find(value.symbol);
        const int shift = value.byte_mask == 0 ? 0 : std::countr_zero(value.byte_mask);
        if (named && named->kind == Named::Kind::function) {
          bits = module_.function_address(module_.functions[static_cast<std::size_t>(named->index)]) >> shift;
          std::memcpy(program.module_bytes.data() + at, &bits, std::min<std::size_t>(element, 8));
          at += element;
          continue;
        }
        if (!named || named->kind != Named::Kind::module)
          throw StatementError{
              variable.location,
              fmt::format("'{}' is initialised with the address of '{}', which is no variable of the module", variable.name, value.symbol)};
        program.module_relocations.push_back({at, static_cast<int>(std::min<std::size_t>(element, 8)), static_cast<std::uint64_t>(shift),
                                              named->index, static_cast<std::uint64_t>(value.offset)});
      }
      std::memcpy(program.module_bytes.data() + at, &bits, std::min<std::size_t>(element, 8));
      at += element;
    }
  }
}

std::int32_t place_local(std::uint32_t& used, std::int64_t bytes, std::int64_t alignment, const syntax::Function& function) {
  constexpr std::uint64_t most = 512 << 10;
  const std::uint64_t at = round_up(used, alignment), end = at + static_cast<std::uint64_t>(bytes);
  if (end > most) throw StatementError{function.location, fmt::format("'{}' has more than {} bytes of local memory", function.name, most)};
  used = static_cast<std::uint32_t>(end);
  return static_cast<std::int32_t>(at);
}

void place_parameters(const syntax::Function& entry, Program& program) {
  std::uint64_t end = 0;
  for (const syntax::Variable& variable : entry.parameters) {
    if (variable.space != Space::param) throw StatementError{variable.location, "the parameters of an entry are .param"};
    const std::int64_t alignment = alignment_of(variable);
    const std::uint64_t at = round_up(end, alignment);
    end = at + static_cast<std::uint64_t>(size_of(variable));
    if (end > most_parameter_bytes)
      throw StatementError{variable.location, fmt::format("the parameters have more than {} bytes", most_parameter_bytes)};
    program.parameters.push_back({variable.name, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end - at),
                                  static_cast<std::uint32_t>(alignment), variable.type, variable.pointer});
  }
  program.parameter_bytes = static_cast<std::uint32_t>(end);
}

}  // namespace warpmat::code
