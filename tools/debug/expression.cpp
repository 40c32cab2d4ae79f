#include "tools/debug/expression.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <warpmat/formats.h>
#include <warpmat/ir/address_windows.h>
#include <warpmat/ir/special_register.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/stored_buffer.h>
#include <warpmat/ptx/text/readable_name.h>
#include <warpmat/tables/types.h>
#include <warpmat/words/words.h>

#include "tools/report/nearest.h"

namespace warpmat::debug {
namespace {

const FormatRow* float_format(std::string_view type) {
  const FormatRow* const row = find_format(type);
  return row != nullptr && !is_integer(*row) ? row : nullptr;
}

std::uint64_t load(const std::uint8_t* from, int bits) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, static_cast<std::size_t>(std::min(bits, 64) + 7) / 8);
  return bits < 8 ? value & ((1U << bits) - 1) : value;
}

}  // namespace

std::string_view type_named(std::string_view type) {
  if (const DataType* const found = find_ptx_type(type)) return found->name;
  const FormatRow* const row = find_format(type);
  return row == nullptr ? std::string_view{} : row->name;
}

int bits_of(std::string_view type) {
  if (const DataType* const found = find_ptx_type(type)) return found->bits;
  const FormatRow* const row = find_format(type);
  return row == nullptr ? 0 : row->bits;
}

bool is_float(std::string_view type) {
  return float_format(type) != nullptr;
}

double real(const Value& value) {
  if (const FormatRow* const row = float_format(value.type)) return to_double(row->format, value.bits);
  return value.type.front() == 'u' ? static_cast<double>(value.bits) : static_cast<double>(integer(value));
}

std::int64_t integer(const Value& value) {
  if (is_float(value.type)) return static_cast<std::int64_t>(real(value));
  const int bits = bits_of(value.type);
  if (bits >= 64 || value.type.front() == 'u' || bits == 1) return static_cast<std::int64_t>(value.bits);
  const int shift = 64 - bits;
  return static_cast<std::int64_t>(value.bits << shift) >> shift;
}

bool truth(const Value& value) {
  return is_float(value.type) ? real(value) != 0 : value.bits != 0;
}

namespace {

/// The elements of a packed type, the lowest first.
std::string packed_text(std::uint64_t bits, const DataType& type) {
  const int width = type.bits / type.elements;
  std::vector<double> all;
  for (int i = 0; i < type.elements; ++i) all.push_back(to_double(*type.format, bits >> i * width & ((std::uint64_t{1} << width) - 1)));
  return fmt::format("{{{}}}", fmt::join(all, ", "));
}

std::string real_text(std::string_view type, std::uint64_t bits) {
  if (type == "f32") return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  return fmt::format("{}", to_double(find_format(type)->format, bits));
}

}  // namespace

std::string text(const Value& value, char format) {
  const int bits = bits_of(value.type);
  switch (format) {
    case 'x': return fmt::format("{:#x}", bits >= 64 ? value.bits : value.bits & ((std::uint64_t{1} << bits) - 1));
    case 't': return fmt::format("{:#b}", value.bits);
    case 'd': return fmt::format("{}", integer(value));
    case 'u': return fmt::format("{}", bits >= 64 ? value.bits : value.bits & ((std::uint64_t{1} << bits) - 1));
    case 'f':
      return is_float(value.type) ? real_text(value.type, value.bits)
                                  : real_text(bits == 64   ? "f64"
                                              : bits == 16 ? "f16"
                                                           : "f32",
                                              value.bits);
    case 'h': return packed_text(value.bits, *find_ptx_type("f16x2"));
    case 'b': return packed_text(value.bits, *find_ptx_type("bf16x2"));
    default: break;
  }
  if (value.type == "pred") return value.bits != 0 ? "true" : "false";
  if (const DataType* const type = find_ptx_type(value.type); type != nullptr && type->elements > 1 && type->format)
    return packed_text(value.bits, *type);
  if (is_float(value.type)) return real_text(value.type, value.bits);
  if (value.type.front() != 'b') return value.type.front() == 'u' ? fmt::format("{}", value.bits) : fmt::format("{}", integer(value));
  if (value.type == "b32") {  // compilers give numbers of all kinds such registers
    const auto number = std::bit_cast<float>(static_cast<std::uint32_t>(value.bits));
    const double size = std::fabs(static_cast<double>(number));
    const std::string as_real = size > 1e-9 && size < 1e9 ? fmt::format(" (f32 {})", number) : "";
    return fmt::format("{:#x} = {}{}", value.bits, integer(value), as_real);
  }
  return fmt::format("{:#x} = {}", value.bits, integer(value));
}

std::uint64_t Value::bytes() const {
  return source != nullptr ? source->bytes : (static_cast<std::uint64_t>(bits_of(type)) * count + 7) / 8;
}

std::uint64_t Value::generic_address() const {
  const bool has_window = space == Space::shared || space == Space::local || space == Space::param;
  return *address + (has_window ? code::window_start(space) : 0);
}

const machine::Split* At::split() const {
  const auto& all = warp->splits();
  for (const machine::Split& each : all)
    if ((each.lanes >> lane & 1) != 0) return &each;
  return all.empty() ? nullptr : &all.front();
}

int line_at(const At& at) {
  const machine::Split* const split = at.warp == nullptr ? nullptr : at.split();
  if (split == nullptr) return 0;
  const code::Program& program = at.warp->program();
  return program.statements[program.operations[static_cast<std::size_t>(split->pc)].statement]->location.line;
}

std::pair<Space, std::uint64_t> resolve_space(Space space, std::uint64_t address) {
  if (space != Space::generic && space != Space::global && space != Space::constant) return {space, address};
  for (const Space window : {Space::shared, Space::local, Space::param})
    if (address - code::window_start(window) < code::window_bytes) return {window, address - code::window_start(window)};
  return {Space::global, address};
}

std::optional<std::span<const std::uint8_t>> bytes_at(const At& at, Space given, std::uint64_t given_address, std::uint64_t count) {
  const auto inside = [&](std::span<const std::uint8_t> all, std::uint64_t from) -> std::optional<std::span<const std::uint8_t>> {
    if (from > all.size() || count > all.size() - from) return std::nullopt;
    return all.subspan(from, count);
  };
  if (at.warp == nullptr) {
    const auto found = find_range(*at.memory, given_address, count);
    return found ? std::optional<std::span<const std::uint8_t>>(*found) : std::nullopt;
  }
  const auto [space, address] = resolve_space(given, given_address);
  switch (space) {
    case Space::shared: return inside(at.block().shared(), address - at.block().shared_base());
    case Space::param: return inside(at.warp->launch().parameters, address);
    case Space::local: return inside({at.warp->whole_local_memory(at.lane), at.warp->launch().local_bytes}, address);
    default: break;
  }
  const auto found = find_range(*at.memory, address, count);
  return found ? std::optional<std::span<const std::uint8_t>>(*found) : std::nullopt;
}

/// The lowest bits of a word of tensor memory: the lane is above bit 16 of the address, the column below.
static Value in_tensor_memory(const At& at, std::string_view type, std::int64_t address) {
  if (at.warp == nullptr || !at.block().has_tensor_core()) throw std::invalid_argument("there is no tensor memory here");
  const std::int64_t lane = address >> 16, column = address & 0xffff;
  if (lane < 0 || lane >= TensorMemory::lanes || column >= TensorMemory::columns)
    throw std::invalid_argument(fmt::format("{:#x} is outside of tensor memory, which has {} lanes and {} columns", address,
                                            TensorMemory::lanes, TensorMemory::columns));
  const std::uint32_t word = at.block().tensor_core().memory.word(static_cast<int>(lane), static_cast<int>(column));
  return {.type = type, .bits = word & (~std::uint64_t{0} >> (64 - bits_of(type)))};
}

Value value_at(const At& at, std::string_view type, Space space, std::uint64_t address) {
  const int bits = bits_of(type);
  const auto found = bytes_at(at, space, address, static_cast<std::uint64_t>(bits + 7) / 8);
  if (!found) {
    if (at.warp != nullptr && resolve_space(space, address).first == Space::shared)
      throw std::invalid_argument(fmt::format("{:#x} is outside of the block's shared memory, which ends at {:#x}", address,
                                              at.block().shared_base() + at.block().shared().size()));
    throw std::invalid_argument(fmt::format("cannot read {:#x}: {}", address, at.memory->describe(address)));
  }
  return {.type = type, .bits = load(found->data(), bits), .address = address, .space = space};
}

namespace {

/// The lowest bytes of a register.
std::uint64_t load_low(std::uint64_t bits, std::uint64_t bytes) {
  return bytes >= 8 ? bits : bits & ((std::uint64_t{1} << 8 * bytes) - 1);
}

const At& with_warp(const At& at, const std::string& name) {
  if (at.warp == nullptr) throw std::invalid_argument(fmt::format("{} has no value here: no block runs", name));
  return at;
}

std::uint32_t component(Dim3 value, char axis) {
  return axis == 'x' ? value.x : axis == 'y' ? value.y : value.z;
}

std::uint32_t thread_component(const At& at, char axis) {
  const Dim3 block = at.warp->launch().config.block;
  const auto number = static_cast<std::uint32_t>(at.warp->index() * warp_size + at.lane);
  if (axis == 'x') return number % block.x;
  return axis == 'y' ? number / block.x % block.y : number / block.x / block.y;
}

}  // namespace

// ---- Values of the source's types

namespace {

Value of_source(const At& at, const SourceType& type, Space space, std::uint64_t address) {
  if (type.kind == SourceType::Kind::reference && type.of != nullptr)
    return of_source(at, *type.of, Space::generic, value_at(at, "u64", space, address).bits);
  if (type.is_aggregate()) return {.type = type.ptx, .address = address, .space = space, .source = &type};
  Value value = value_at(at, type.ptx, space, address);
  value.source = &type;
  return value;
}

/// A part of a value: of one in a register bits of it.
Value part(const At& at, const Value& of, const SourceType& type, std::uint64_t offset) {
  if (of.address) return of_source(at, type, of.space, *of.address + offset);
  return {.type = type.ptx, .bits = offset < 8 ? load_low(of.bits >> 8 * offset, type.bytes) : 0, .source = &type};
}

Value pointed(const At& at, const Value& pointer, std::int64_t index) {
  if (pointer.source == nullptr || pointer.source->kind != SourceType::Kind::pointer || pointer.source->of == nullptr)
    throw std::invalid_argument("this is no pointer of the source: {TYPE}ADDRESS reads what an address names");
  const SourceType& type = *pointer.source->of;
  return of_source(at, type, Space::generic, pointer.bits + static_cast<std::uint64_t>(index) * type.bytes);
}

/// A member, of base classes and anonymous structures, too.
std::optional<Value> find_member(const At& at, const Value& of, std::string_view name) {
  for (const SourceType::Member& each : of.source->members) {
    Value value = each.name == name || each.name.empty() ? part(at, of, *each.type, each.offset) : Value{};
    if (each.name == name && each.bits != 0) {
      const bool is_signed = value.type.front() == 's';
      value = {.type = is_signed ? "s64" : "u64", .bits = value.bits << (64 - each.shift - each.bits)};
      value.bits = is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value.bits) >> (64 - each.bits))
                             : value.bits >> (64 - each.bits);
    }
    if (each.name == name) return value;
    if (each.name.empty() && value.source != nullptr)
      if (auto found = find_member(at, value, name)) return found;
  }
  return std::nullopt;
}

Value member(const At& at, Value of, const std::string& name) {
  if (of.source != nullptr && of.source->kind == SourceType::Kind::pointer) of = pointed(at, of, 0);
  if (of.source == nullptr || of.source->members.empty())
    throw std::invalid_argument(fmt::format("what has a member '{}' is no structure", name));
  if (auto found = find_member(at, of, name)) return *found;
  std::vector<std::string_view> known;
  for (const SourceType::Member& each : of.source->members) known.push_back(each.name);
  throw std::invalid_argument(fmt::format("{} has no member '{}'; it has {}", of.source->name, name, fmt::join(known, ", ")));
}

constexpr std::uint64_t most_elements = 8;  ///< that are printed of an array
constexpr int most_depth = 8;               ///< of structures within each other: damaged tables may have more

std::string braced(const std::vector<std::string>& all, std::uint64_t count) {
  return fmt::format("{{{}{}}}", fmt::join(all, ", "), count > most_elements ? ", ..." : "");
}

std::string array_text(const Value& value, const At& at, char format) {
  std::vector<std::string> all;
  const auto bits = static_cast<std::uint64_t>(bits_of(value.type));
  for (std::uint64_t i = 0; i < std::min(value.count, most_elements); ++i)
    all.push_back(text(value_at(at, value.type, value.space, *value.address + i * bits / 8), format));
  return braced(all, value.count);
}

std::string aggregate_text(const Value& value, const At& at, char format, int depth) {
  const SourceType& type = *value.source;
  std::vector<std::string> all;
  const auto add = [&](const std::string& name, const Value& each) {
    all.push_back((name.empty() ? "" : name + " = ") + text(each, at, format, depth + 1));
  };
  if (type.kind == SourceType::Kind::array)
    for (std::uint64_t i = 0; i < std::min(type.count, most_elements); ++i) add("", part(at, value, *type.of, i * type.of->bytes));
  for (const SourceType::Member& each : type.members)
    add(each.name, each.bits != 0 ? *find_member(at, value, each.name) : part(at, value, *each.type, each.offset));
  return braced(all, type.count);
}

}  // namespace

std::string text(const Value& value, const At& at, char format, int depth) {
  using Kind = SourceType::Kind;
  if (value.source == nullptr && value.address && value.count > 1) return array_text(value, at, format);
  if (value.source == nullptr || (format != 0 && !value.source->is_aggregate())) return text(value, format);
  switch (value.source->kind) {
    case Kind::unknown: return fmt::format("({}, whose form the DWARF does not say)", value.source->name);
    case Kind::structure:
    case Kind::array: return depth < most_depth ? aggregate_text(value, at, format, depth) : "{...}";
    case Kind::boolean: return value.bits != 0 ? "true" : "false";
    case Kind::pointer: return fmt::format("({}) {:#x}", value.source->name, value.bits);
    case Kind::character:
      if (value.bits < 128 && std::isprint(static_cast<int>(value.bits)) != 0)
        return fmt::format("{} '{}'", text(value, '\0'), static_cast<char>(value.bits));
      return text(value, '\0');
    case Kind::enumeration: {
      const auto name = value.source->names.find(static_cast<std::uint64_t>(integer(value)));
      return name == value.source->names.end() ? text(value, '\0') : fmt::format("{} ({})", name->second, name->first);
    }
    case Kind::number:
    case Kind::reference: break;
  }
  return text(value, '\0');
}

std::vector<std::string> parts(const Value& value) {
  constexpr std::uint64_t most = 256;
  std::vector<std::string> all;
  const bool is_pointer = value.source != nullptr && value.source->kind == SourceType::Kind::pointer;
  const SourceType* const type = is_pointer ? value.source->of : value.source;
  if (type != nullptr && type->kind == SourceType::Kind::structure)
    for (const SourceType::Member& each : type->members)
      if (!each.name.empty()) all.push_back((is_pointer ? "->" : ".") + each.name);
  if (is_pointer && all.empty() && type != nullptr) all.push_back("[0]");
  const std::uint64_t count = type == nullptr ? value.count : type->count;
  for (std::uint64_t i = 0; count > 1 && !is_pointer && i < std::min(count, most); ++i) all.push_back(fmt::format("[{}]", i));
  return all;
}

Names::Names(const code::Program& program, std::map<std::string, NamedBuffer> buffers, std::map<std::string, NamedBuffer> variables)
    : program_(program), buffers_(std::move(buffers)), variables_(std::move(variables)), source_(*program.module->text) {
  for (const code::PlacedRegister& each : program.registers) registers_[each.name].push_back(&each);
}

std::vector<const code::PlacedRegister*> Names::registers(int function) const {
  std::vector<const code::PlacedRegister*> all;
  for (const code::PlacedRegister& each : program_.registers)
    if (each.function == function) all.push_back(&each);
  return all;
}

const std::uint8_t* Names::place(const code::PlacedRegister& reg, const At& at) const {
  const machine::Split* const split = at.split();
  if (split == nullptr) return nullptr;
  const std::size_t size = reg.register_class == code::RegisterClass::predicate ? 0 : code::bytes(reg.register_class) / warp_size;
  return at.warp->registers() + split->frame + reg.slot + size * static_cast<std::size_t>(at.lane);
}

Value Names::read(const code::PlacedRegister& reg, const At& at) const {
  const std::uint8_t* const from = place(reg, with_warp(at, reg.name));
  if (from == nullptr) throw std::invalid_argument(fmt::format("{} has no value: all lanes of the warp have exited", reg.name));
  const std::string_view type = type_named(reg.type);
  if (reg.register_class == code::RegisterClass::predicate) return {.type = "pred", .bits = load(from, 32) >> at.lane & 1};
  return {.type = type.empty() ? "b64" : type, .bits = load(from, std::min(bits_of(type), 64))};
}

std::optional<Names::Read> Names::find_register(const std::string& name) const {
  auto found = registers_.find(name);
  if (found == registers_.end() && !name.starts_with('%')) found = registers_.find("%" + name);
  if (found == registers_.end()) return std::nullopt;
  const std::vector<const code::PlacedRegister*>& all = found->second;
  if (std::ranges::none_of(all, &code::PlacedRegister::written))
    throw std::invalid_argument(fmt::format("{} has no value: the assembler removed the statements that write it", name));
  return [this, &all, name](const At& at) {
    const machine::Split* const split = with_warp(at, name).split();
    if (split == nullptr) throw std::invalid_argument(fmt::format("{} has no value: all lanes of the warp have exited", name));
    for (const code::PlacedRegister* each : all)
      if (each->function == split->function) return read(*each, at);
    throw std::invalid_argument(fmt::format("{} is a register of '{}'; this warp is in '{}'", name,
                                            program_.functions[static_cast<std::size_t>(all.front()->function)].name,
                                            program_.functions[static_cast<std::size_t>(split->function)].name));
  };
}

bool Names::names_source(std::string_view name) const {
  return std::ranges::find(source_.all(), name, &SourceVariable::name) != source_.all().end();
}

Value Names::in_register(const SourceVariable& variable, const std::string& name, const At& at) const {
  const auto found = registers_.find(name);
  if (found != registers_.end())
    for (const code::PlacedRegister* each : found->second) {
      if (each->function != at.split()->function || !each->written) continue;
      const std::uint64_t bits = read(*each, at).bits;
      const SourceType& type = *variable.type;
      if (type.kind == SourceType::Kind::reference && type.of != nullptr) return of_source(at, *type.of, Space::generic, bits);
      return {.type = type.ptx, .bits = load_low(bits, type.bytes), .source = &type, .reg = each};
    }
  throw std::invalid_argument(fmt::format("{} has no value here: the assembler removed what writes {}", variable.name, name));
}

/// In local memory, among the parameters, or a shared variable or one of the module.
Value Names::at_symbol(const SourceVariable& variable, const SourceVariable::Place& place, const At& at) const {
  const auto value = [&](Space space, std::uint64_t address) { return of_source(at, *variable.type, space, address + place.offset); };
  const machine::Split& split = *at.split();
  for (const code::LocalVariable& each : program_.functions[static_cast<std::size_t>(split.function)].locals)
    if (each.name == place.name) return value(Space::local, split.local + each.offset);
  for (const code::Parameter& each : program_.parameters)
    if (each.name == place.name) return value(Space::param, each.offset);
  for (const code::Variable& each : program_.shared_variables)
    if (each.name == place.name) return value(Space::shared, each.address);
  if (const auto found = variables_.find(place.name); found != variables_.end()) return value(Space::global, found->second.address);
  throw std::invalid_argument(fmt::format("{} has no place here: the kernel does not use {}", variable.name, place.name));
}

Value Names::read(const SourceVariable& variable, const At& at) const {
  using Kind = SourceVariable::Place::Kind;
  const int line = line_at(at);
  for (const SourceVariable::Place& place : variable.places) {
    if (!place.lines.has(line)) continue;
    if (place.kind == Kind::reg) return in_register(variable, place.name, at);
    if (place.kind == Kind::symbol) return at_symbol(variable, place, at);
    if (place.kind == Kind::constant) return {.type = variable.type->ptx, .bits = place.offset, .source = variable.type};
  }
  throw std::invalid_argument(
      fmt::format("{} is not at a place at PTX {}: the compiler keeps its value elsewhere or nowhere", variable.name, line));
}

std::optional<Names::Read> Names::find_special(const std::string& name) const {
  using Component = std::function<std::uint32_t(const At&, char)>;
  static const std::map<std::string, Component, std::less<>> vectors{
      {"threadIdx", thread_component},
      {"blockIdx", [](const At& at, char axis) { return component(at.block().index(), axis); }},
      {"blockDim", [](const At& at, char axis) { return component(at.warp->launch().config.block, axis); }},
      {"gridDim", [](const At& at, char axis) { return component(at.warp->launch().config.grid, axis); }},
      {"clusterDim", [](const At& at, char axis) { return component(at.warp->launch().config.cluster, axis); }}};
  static const std::map<std::string, std::string, std::less<>> of_ptx{
      {"%tid", "threadIdx"}, {"%ctaid", "blockIdx"}, {"%ntid", "blockDim"}, {"%nctaid", "gridDim"}, {"%cluster_nctaid", "clusterDim"}};
  static const std::map<std::string, std::function<std::uint64_t(const At&)>, std::less<>> scalars{
      {"lane", [](const At& at) { return static_cast<std::uint64_t>(at.lane); }},
      {"warp", [](const At& at) { return static_cast<std::uint64_t>(at.warp->index()); }},
      {"%laneid", [](const At& at) { return static_cast<std::uint64_t>(at.lane); }},
      {"%warpid", [](const At& at) { return static_cast<std::uint64_t>(at.warp->index()); }},
      {"%lanemask_eq", [](const At& at) { return std::uint64_t{1} << at.lane; }},
      {"%lanemask_lt", [](const At& at) { return (std::uint64_t{1} << at.lane) - 1; }},
      {"%lanemask_le", [](const At& at) { return (std::uint64_t{2} << at.lane) - 1; }},
      {"%lanemask_gt", [](const At& at) { return std::uint64_t{0xffffffff} & ~((std::uint64_t{2} << at.lane) - 1); }},
      {"%lanemask_ge", [](const At& at) { return std::uint64_t{0xffffffff} & ~((std::uint64_t{1} << at.lane) - 1); }},
      {"%nwarpid", [](const At&) { return std::uint64_t{64}; }},
      {"%cluster_ctarank", [](const At& at) { return static_cast<std::uint64_t>(at.block().rank()); }},
      {"%dynamic_smem_size", [](const At& at) { return std::uint64_t{at.warp->launch().config.shared_bytes}; }},
      {"%total_smem_size",
       [](const At& at) { return std::uint64_t{at.warp->launch().shared_bytes - at.warp->program().reserved_shared}; }}};
  if (const auto found = scalars.find(name); found != scalars.end())
    return [found, name](const At& at) { return Value{.type = "u32", .bits = found->second(with_warp(at, name))}; };
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot + 2 != name.size() || name[dot + 1] < 'x' || name[dot + 1] > 'z') return std::nullopt;
  std::string vector = name.substr(0, dot);
  if (const auto known = of_ptx.find(vector); known != of_ptx.end()) vector = known->second;
  const auto found = vectors.find(vector);
  if (found == vectors.end()) return std::nullopt;
  return [found, name, axis = name.back()](const At& at) { return Value{.type = "u32", .bits = found->second(with_warp(at, name), axis)}; };
}

std::optional<Names::Read> Names::find_in_memory(const std::string& name) const {
  for (const code::Parameter& each : program_.parameters) {
    const std::string readable = readable_name(each.name);
    const std::size_t number = readable.rfind("_param_");
    if (each.name != name && readable != name && (number == std::string::npos || readable.substr(number + 1) != name)) continue;
    std::string_view type = type_named(each.type);
    if (type.empty() || each.bytes * 8 > 64) type = "b32";
    const std::uint64_t count = std::uint64_t{each.bytes} * 8 / static_cast<std::uint64_t>(bits_of(type));
    return [type, count, offset = each.offset, name](const At& at) {
      Value value = value_at(with_warp(at, name), type, Space::param, offset);
      value.count = count;
      return value;
    };
  }
  for (const code::Variable& each : program_.shared_variables) {
    if (each.name != name && readable_name(each.name) != name && !readable_name(each.name).ends_with("::" + name)) continue;
    return [address = each.address, bytes = each.bytes, name](const At& at) {
      with_warp(at, name);
      const std::uint64_t size = bytes != 0 ? bytes : at.block().shared().size() + at.warp->program().shared_base - address;
      const std::uint64_t own = address + code::block_window_start(at.block().rank());
      Value value{.type = "b32", .address = own, .space = Space::shared, .count = size / 4};
      if (size >= 4) value.bits = value_at(at, "b32", Space::shared, own).bits;
      return value;
    };
  }
  for (const auto* const table : {&buffers_, &variables_}) {
    auto found = table->find(name);
    if (found == table->end()) found = std::ranges::find_if(*table, [&](const auto& each) { return readable_name(each.first) == name; });
    if (found == table->end()) continue;
    const NamedBuffer& buffer = found->second;
    const std::string_view type = type_named(buffer.type).empty() ? "b32" : type_named(buffer.type);
    return [type, &buffer](const At& at) {
      Value value{.type = type, .address = buffer.address, .space = Space::global};
      value.count = buffer.bytes * 8 / static_cast<std::uint64_t>(bits_of(type));
      value.columns = buffer.columns;
      if (value.count != 0) value.bits = value_at(at, type, Space::global, buffer.address).bits;
      return value;
    };
  }
  return std::nullopt;
}

std::optional<Names::Read> Names::find_in_ptx(const std::string& name) const {
  if (auto found = find_special(name)) return found;
  if (auto found = find_register(name)) return found;
  return find_in_memory(name);
}

/// A variable of the source where its scope has the statement; elsewhere what the PTX calls so.
Names::Read Names::find(const std::string& name) const {
  auto in_ptx = find_in_ptx(name);
  std::vector<const SourceVariable*> named;
  for (const SourceVariable& each : source_.all())
    if (each.name == name) named.push_back(&each);
  if (!named.empty())
    return [this, name, in_ptx, named](const At& at) {
      const int line = line_at(at);
      for (const SourceVariable* each : named)
        if (each->scope.has(line)) return read(*each, at);
      if (in_ptx) return (*in_ptx)(at);
      throw std::invalid_argument(fmt::format("{} has no value here: its scope is elsewhere", name));
    };
  if (in_ptx) return *in_ptx;
  std::vector<std::string> known{"threadIdx.x", "blockIdx.x", "blockDim.x", "gridDim.x", "lane", "warp", "%laneid", "%tid.x", "%ctaid.x"};
  for (const auto& [each, of] : registers_) known.push_back(each);
  for (const code::Parameter& each : program_.parameters) known.push_back(readable_name(each.name));
  for (const code::Variable& each : program_.shared_variables) known.push_back(readable_name(each.name));
  for (const auto& each : buffers_) known.push_back(each.first);
  for (const auto& each : variables_) known.push_back(readable_name(each.first));
  for (const SourceVariable& each : source_.all()) known.push_back(each.name);
  std::ranges::sort(known);
  known.erase(std::unique(known.begin(), known.end()), known.end());
  const bool is_register = name.starts_with('%');
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& each : known)
    if (is_register == each.starts_with('%')) near.emplace_back(edit_distance(name, each), each);
  std::ranges::stable_sort(near, {}, &std::pair<std::size_t, std::string>::first);
  std::vector<std::string> names;
  for (const auto& each : near)
    if (names.size() < 5 && each.first <= std::max<std::size_t>(2, name.size() / 2)) names.push_back(each.second);
  throw std::invalid_argument(fmt::format("the kernel has no {} '{}'{}{}", is_register ? "register" : "name", name,
                                          names.empty() ? "" : fmt::format("; near: {}", fmt::join(names, ", ")),
                                          source_.error().empty() ? "" : "; " + source_.error()));
}

namespace {

using Read = Names::Read;

class Parser {
 public:
  Parser(const std::string& text, const Names& names) : text_(text), names_(names) {}

  Read all() {
    Read found = binary(0);
    skip();
    if (at_ != text_.size()) fail(fmt::format("'{}' is not expected", text_.substr(at_)));
    return found;
  }

 private:
  struct Operator {
    std::string_view text;
    int level;
  };
  static constexpr std::array<Operator, 18> operators{{{"||", 1},
                                                       {"&&", 2},
                                                       {"==", 6},
                                                       {"!=", 6},
                                                       {"<=", 7},
                                                       {">=", 7},
                                                       {"<<", 8},
                                                       {">>", 8},
                                                       {"|", 3},
                                                       {"^", 4},
                                                       {"&", 5},
                                                       {"<", 7},
                                                       {">", 7},
                                                       {"+", 9},
                                                       {"-", 9},
                                                       {"*", 10},
                                                       {"/", 10},
                                                       {"%", 10}}};

  [[noreturn]] void fail(const std::string& what) const { throw std::invalid_argument(fmt::format("in '{}': {}", text_, what)); }
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(std::string_view word) {
    skip();
    if (!std::string_view(text_).substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void need(std::string_view word) {
    if (!take(word)) fail(fmt::format("'{}' is missing", word));
  }

  const Operator* next_operator(int least) {
    skip();
    for (const Operator& each : operators)
      if (std::string_view(text_).substr(at_).starts_with(each.text)) return each.level >= least ? &each : nullptr;
    return nullptr;
  }

  /// Nothing where `op` is no comparison.
  template <typename T>
  static std::optional<bool> compare(std::string_view op, T x, T y) {
    if (op == "==") return x == y;
    if (op == "!=") return x != y;
    if (op == "<") return x < y;
    if (op == ">") return x > y;
    if (op == "<=") return x <= y;
    if (op == ">=") return x >= y;
    return std::nullopt;
  }

  static Value compute(std::string_view op, const Value& a, const Value& b) {
    const auto of = [](bool is) { return Value{.bits = is ? 1U : 0U}; };
    if (is_float(a.type) || is_float(b.type)) {
      const double x = real(a), y = real(b);
      if (const auto holds = compare(op, x, y)) return of(*holds);
      const double z = op == "+" ? x + y : op == "-" ? x - y : op == "*" ? x * y : op == "/" ? x / y : std::nan("");
      if (op != "+" && op != "-" && op != "*" && op != "/")
        throw std::invalid_argument(fmt::format("{} takes integers, and an operand is of floating point", op));
      return {.type = "f64", .bits = std::bit_cast<std::uint64_t>(z)};
    }
    if (a.source != nullptr && a.source->kind == SourceType::Kind::pointer && a.source->of != nullptr && (op == "+" || op == "-") &&
        (b.source == nullptr || b.source->kind != SourceType::Kind::pointer)) {
      Value moved = a;
      moved.bits += static_cast<std::uint64_t>(op == "+" ? integer(b) : -integer(b)) * a.source->of->bytes;
      moved.address.reset(), moved.reg = nullptr;
      return moved;
    }
    const std::int64_t x = integer(a), y = integer(b);
    const auto ux = static_cast<std::uint64_t>(x), uy = static_cast<std::uint64_t>(y);
    if (const auto holds = compare(op, x, y)) return of(*holds);
    if ((op == "/" || op == "%") && (y == 0 || (y == -1 && ux == std::uint64_t{1} << 63)))
      throw std::invalid_argument("a division by zero");
    std::uint64_t z = op == "+" ? ux + uy : op == "-" ? ux - uy : op == "*" ? ux * uy : op == "&" ? ux & uy : op == "|" ? ux | uy : ux ^ uy;
    if (op == "/") z = static_cast<std::uint64_t>(x / y);
    if (op == "%") z = static_cast<std::uint64_t>(x % y);
    if (op == "<<") z = uy < 64 ? ux << uy : 0;
    if (op == ">>") z = static_cast<std::uint64_t>(uy < 64 ? x >> uy : 0);
    return {.bits = z};
  }

  Read binary(int least) {
    Read left = unary();
    while (const Operator* const op = next_operator(std::max(least, 1))) {
      at_ += op->text.size();
      Read right = binary(op->level + 1);
      if (op->text == "&&")
        left = [left, right](const At& at) { return Value{.bits = truth(left(at)) && truth(right(at)) ? 1U : 0U}; };
      else if (op->text == "||")
        left = [left, right](const At& at) { return Value{.bits = truth(left(at)) || truth(right(at)) ? 1U : 0U}; };
      else
        left = [left, right, text = op->text](const At& at) { return compute(text, left(at), right(at)); };
    }
    return left;
  }

  Read unary() {
    if (take("!")) return [of = unary()](const At& at) { return Value{.bits = truth(of(at)) ? 0U : 1U}; };
    if (take("-")) return [of = unary()](const At& at) { return compute("-", Value{}, of(at)); };
    if (take("~")) return [of = unary()](const At& at) { return Value{.bits = ~static_cast<std::uint64_t>(integer(of(at)))}; };
    if (take("*")) return [of = unary()](const At& at) { return pointed(at, of(at), 0); };
    if (take("&"))
      return [of = unary()](const At& at) {
        const Value value = of(at);
        if (!value.address) throw std::invalid_argument("this value has no address");
        return Value{.type = "u64", .bits = value.generic_address()};
      };
    return postfix(primary());
  }

  /// "f32" or "f32:shared" up to `end`; nothing where that is no type.
  std::optional<std::pair<std::string_view, Space>> type(char end) {
    const std::size_t close = text_.find(end, at_);
    if (close == std::string::npos) return std::nullopt;
    std::string word = text_.substr(at_, close - at_), space = "generic";
    if (const std::size_t colon = word.find(':'); colon != std::string::npos) space = word.substr(colon + 1), word.resize(colon);
    const std::string_view found = type_named(word);
    static const std::map<std::string, Space, std::less<>> spaces{{"generic", Space::generic},
                                                                  {"global", Space::global},
                                                                  {"shared", Space::shared},
                                                                  {"local", Space::local},
                                                                  {"param", Space::param}};
    const auto place = spaces.find(space);
    if (found.empty() || place == spaces.end()) return std::nullopt;
    at_ = close + 1;
    return std::pair(found, place->second);
  }

  /// "f32" of "f32:tensor}"; empty where it is something else.
  std::string_view tensor_type() {
    constexpr std::string_view space = ":tensor}";
    const std::size_t close = text_.find(space, at_);
    const std::string_view found = close == std::string::npos ? "" : type_named(text_.substr(at_, close - at_));
    if (found.empty() || bits_of(found) > 32) return "";
    at_ = close + space.size();
    return found;
  }

  Read primary() {
    skip();
    if (at_ == text_.size()) fail("an operand is missing");
    if (text_[at_] == '{') {
      ++at_;
      if (const std::string_view found = tensor_type(); !found.empty())
        return [of = unary(), found](const At& at) { return in_tensor_memory(at, found, integer(of(at))); };
      const auto found = type('}');
      if (!found) fail("{TYPE}ADDRESS or {TYPE:SPACE}ADDRESS has a type as f32, and a space as shared");
      return [of = unary(), found](const At& at) {
        return value_at(at, found->first, found->second, static_cast<std::uint64_t>(integer(of(at))));
      };
    }
    if (take("(")) {
      if (const auto found = type(')')) return [of = unary(), cast = found->first](const At& at) { return as(of(at), cast, at); };
      Read inside = binary(0);
      need(")");
      return inside;
    }
    if (std::isdigit(static_cast<unsigned char>(text_[at_]))) return number();
    if (take("'")) {  // a name with blanks: of a buffer of a program
      const std::size_t begin = at_, end = text_.find('\'', at_);
      if (end == std::string::npos) fail("' is missing");
      at_ = end + 1;
      return names_.find(text_.substr(begin, end - begin));
    }
    const std::size_t first = at_;
    const auto is_name = [&](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.' || (c == '%' && at_ == first);
    };
    while (at_ < text_.size() && (is_name(text_[at_]) || std::string_view(text_).substr(at_).starts_with("::")))
      at_ += text_[at_] == ':' ? std::size_t{2} : std::size_t{1};
    if (at_ == first) fail(fmt::format("'{}' is no operand", text_.substr(at_)));
    const std::string name = text_.substr(first, at_ - first);
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos || !names_.names_source(std::string_view(name).substr(0, dot))) return names_.find(name);
    at_ = first + dot;  // its members follow
    return names_.find(name.substr(0, dot));
  }

  /// The same bits as another type; of a value in memory the memory's.
  static Value as(const Value& value, std::string_view type, const At& at) {
    Value cast = value;
    if (value.address) {
      cast = value_at(at, type, value.space, *value.address);
      cast.count = value.count * static_cast<std::uint64_t>(bits_of(value.type)) / static_cast<std::uint64_t>(bits_of(type));
    }
    cast.type = type;
    cast.source = nullptr;
    const int bits = bits_of(type);
    if (bits < 64) cast.bits &= (std::uint64_t{1} << bits) - 1;
    return cast;
  }

  std::string word() {
    const std::size_t first = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    return text_.substr(first, at_ - first);
  }

  /// x[i], and of a matrix x[i,j]; x.member and x->member.
  Read postfix(Read of) {
    while (true) {
      if (take("->") || take(".")) {
        of = [of, name = word()](const At& at) { return member(at, of(at), name); };
        continue;
      }
      if (!take("[")) return of;
      const Read row = binary(0);
      Read column;
      if (take(",")) column = binary(0);
      need("]");
      of = [of, row, column](const At& at) { return element(at, of(at), row(at), column ? std::optional(column(at)) : std::nullopt); };
    }
  }

  static Value source_element(const At& at, const Value& of, std::int64_t i) {
    const SourceType& type = *of.source;
    if (i < 0 || static_cast<std::uint64_t>(i) >= type.count)
      throw std::invalid_argument(fmt::format("index {} is outside: it is of type {}", i, type.name));
    return part(at, of, *type.of, static_cast<std::uint64_t>(i) * type.of->bytes);
  }

  static Value element(const At& at, const Value& of, const Value& row, const std::optional<Value>& column) {
    if (of.source != nullptr && of.source->kind == SourceType::Kind::pointer) return pointed(at, of, integer(row));
    if (of.source != nullptr && of.source->kind == SourceType::Kind::array) return source_element(at, of, integer(row));
    if (!of.address) throw std::invalid_argument("what has an index is no memory: {TYPE}ADDRESS reads what an address names");
    std::int64_t i = integer(row);
    if (column && of.columns == 0) throw std::invalid_argument("this memory is no matrix: one index");
    if (column && (i < 0 || integer(*column) < 0 || static_cast<std::uint64_t>(integer(*column)) >= of.columns))
      throw std::invalid_argument(fmt::format("[{},{}] is outside: the matrix has {} columns", i, integer(*column), of.columns));
    if (column) i = i * static_cast<std::int64_t>(of.columns) + integer(*column);
    if (i < 0 || static_cast<std::uint64_t>(i) >= of.count)
      throw std::invalid_argument(fmt::format("index {} is outside: there are {} elements of .{}", i, of.count, of.type));
    return value_at(at, of.type, of.space, *of.address + static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(bits_of(of.type)) / 8);
  }

  Read number() {
    const std::size_t first = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.' ||
            ((text_[at_] == '-' || text_[at_] == '+') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E') && text_[first + 1] != 'x')))
      ++at_;
    const std::string word = text_.substr(first, at_ - first);
    if (const auto whole = number_of<std::uint64_t>(word))
      return [bits = *whole](const At&) { return Value{.type = bits >> 63 != 0 ? "u64" : "s64", .bits = bits}; };
    const auto real_number = number_of<double>(word);
    if (!real_number) fail(fmt::format("'{}' is no number", word));
    return [bits = std::bit_cast<std::uint64_t>(*real_number)](const At&) { return Value{.type = "f64", .bits = bits}; };
  }

  const std::string& text_;
  const Names& names_;
  std::size_t at_ = 0;
};

}  // namespace

Expression::Expression(const std::string& text, const Names& names) : evaluate_(Parser(text, names).all()) {}

}  // namespace warpmat::debug
