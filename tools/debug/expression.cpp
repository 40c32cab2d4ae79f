#include "tools/debug/expression.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <warpmat/formats.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/stored_buffer.h>
#include <warpmat/ptx/program/address_windows.h>
#include <warpmat/ptx/program/special_register.h>
#include <warpmat/ptx/text/readable_name.h>

#include "tools/report/nearest.h"

namespace warpmat::debug {
namespace {

constexpr std::array<std::pair<std::string_view, int>, 19> plain_types{{{"pred", 1},
                                                                        {"b8", 8},
                                                                        {"b16", 16},
                                                                        {"b32", 32},
                                                                        {"b64", 64},
                                                                        {"b128", 128},
                                                                        {"u8", 8},
                                                                        {"u16", 16},
                                                                        {"u32", 32},
                                                                        {"u64", 64},
                                                                        {"s8", 8},
                                                                        {"s16", 16},
                                                                        {"s32", 32},
                                                                        {"s64", 64},
                                                                        {"f16x2", 32},
                                                                        {"bf16x2", 32},
                                                                        {"e4m3x2", 16},
                                                                        {"e5m2x2", 16},
                                                                        {"str", 8}}};

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
  for (const auto& [name, bits] : plain_types)
    if (name == type) return name;
  const FormatRow* const row = find_format(type);
  return row == nullptr ? std::string_view{} : row->name;
}

int bits_of(std::string_view type) {
  for (const auto& [name, bits] : plain_types)
    if (name == type) return bits;
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

std::string pair_text(std::uint64_t bits, Format format) {
  const int width = row(format).bits;
  return fmt::format("{{{}, {}}}", to_double(format, bits & ((std::uint64_t{1} << width) - 1)), to_double(format, bits >> width));
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
    case 'h': return pair_text(value.bits & 0xffffffff, Format::f16);
    case 'b': return pair_text(value.bits & 0xffffffff, Format::bf16);
    default: break;
  }
  if (value.type == "pred") return value.bits != 0 ? "true" : "false";
  if (value.type == "f16x2") return pair_text(value.bits, Format::f16);
  if (value.type == "bf16x2") return pair_text(value.bits, Format::bf16);
  if (value.type == "e4m3x2") return pair_text(value.bits, Format::e4m3);
  if (value.type == "e5m2x2") return pair_text(value.bits, Format::e5m2);
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

const machine::Split* At::split() const {
  const auto& all = warp->splits();
  for (const machine::Split& each : all)
    if ((each.lanes >> lane & 1) != 0) return &each;
  return all.empty() ? nullptr : &all.front();
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
    case Space::shared: return inside(at.block().shared(), address - at.warp->program().shared_base);
    case Space::param: return inside(at.warp->launch().parameters, address);
    case Space::local: return inside({at.warp->whole_local_memory(at.lane), at.warp->launch().local_bytes}, address);
    default: break;
  }
  const auto found = find_range(*at.memory, address, count);
  return found ? std::optional<std::span<const std::uint8_t>>(*found) : std::nullopt;
}

namespace {

Value in_memory(const At& at, std::string_view type, Space space, std::uint64_t address) {
  const int bits = bits_of(type);
  const auto found = bytes_at(at, space, address, static_cast<std::uint64_t>(bits + 7) / 8);
  if (!found) {
    if (at.warp != nullptr && resolve_space(space, address).first == Space::shared)
      throw std::invalid_argument(fmt::format("{:#x} is outside of the block's shared memory, which ends at {:#x}", address,
                                              at.warp->program().shared_base + at.block().shared().size()));
    throw std::invalid_argument(fmt::format("cannot read {:#x}: {}", address, at.memory->describe(address)));
  }
  return {.type = type, .bits = load(found->data(), bits), .address = address, .space = space};
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

Names::Names(const code::Program& program, std::map<std::string, NamedBuffer> buffers, std::map<std::string, NamedBuffer> variables)
    : program_(program), buffers_(std::move(buffers)), variables_(std::move(variables)) {
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
      Value value = in_memory(with_warp(at, name), type, Space::param, offset);
      value.count = count;
      return value;
    };
  }
  for (const code::Variable& each : program_.shared_variables) {
    if (each.name != name && readable_name(each.name) != name && !readable_name(each.name).ends_with("::" + name)) continue;
    return [address = each.address, bytes = each.bytes, name](const At& at) {
      with_warp(at, name);
      const std::uint64_t size = bytes != 0 ? bytes : at.block().shared().size() + at.warp->program().shared_base - address;
      Value value{.type = "b32", .address = address, .space = Space::shared, .count = size / 4};
      if (size >= 4) value.bits = in_memory(at, "b32", Space::shared, address).bits;
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
      if (value.count != 0) value.bits = in_memory(at, type, Space::global, buffer.address).bits;
      return value;
    };
  }
  return std::nullopt;
}

Names::Read Names::find(const std::string& name) const {
  if (auto found = find_special(name)) return *found;
  if (auto found = find_register(name)) return *found;
  if (auto found = find_in_memory(name)) return *found;
  std::vector<std::string> known{"threadIdx.x", "blockIdx.x", "blockDim.x", "gridDim.x", "lane", "warp", "%laneid", "%tid.x", "%ctaid.x"};
  for (const auto& [each, of] : registers_) known.push_back(each);
  for (const code::Parameter& each : program_.parameters) known.push_back(readable_name(each.name));
  for (const code::Variable& each : program_.shared_variables) known.push_back(readable_name(each.name));
  for (const auto& each : buffers_) known.push_back(each.first);
  for (const auto& each : variables_) known.push_back(readable_name(each.first));
  const bool is_register = name.starts_with('%');
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& each : known)
    if (is_register == each.starts_with('%')) near.emplace_back(edit_distance(name, each), each);
  std::ranges::stable_sort(near, {}, &std::pair<std::size_t, std::string>::first);
  std::vector<std::string> names;
  for (const auto& each : near)
    if (names.size() < 5 && each.first <= std::max<std::size_t>(2, name.size() / 2)) names.push_back(each.second);
  throw std::invalid_argument(fmt::format("the kernel has no {} '{}'{}", is_register ? "register" : "name", name,
                                          names.empty() ? "" : fmt::format("; near: {}", fmt::join(names, ", "))));
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
    if (take("&"))
      return [of = unary()](const At& at) {
        const Value value = of(at);
        if (!value.address) throw std::invalid_argument("this value has no address");
        return Value{.type = "u64", .bits = *value.address};
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

  Read primary() {
    skip();
    if (at_ == text_.size()) fail("an operand is missing");
    if (text_[at_] == '{') {
      ++at_;
      const auto found = type('}');
      if (!found) fail("{TYPE}ADDRESS or {TYPE:SPACE}ADDRESS has a type as f32, and a space as shared");
      return [of = unary(), found](const At& at) {
        return in_memory(at, found->first, found->second, static_cast<std::uint64_t>(integer(of(at))));
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
    return names_.find(text_.substr(first, at_ - first));
  }

  /// The same bits as another type; of a value in memory the memory's.
  static Value as(const Value& value, std::string_view type, const At& at) {
    Value cast = value;
    if (value.address) {
      cast = in_memory(at, type, value.space, *value.address);
      cast.count = value.count * static_cast<std::uint64_t>(bits_of(value.type)) / static_cast<std::uint64_t>(bits_of(type));
    }
    cast.type = type;
    const int bits = bits_of(type);
    if (bits < 64) cast.bits &= (std::uint64_t{1} << bits) - 1;
    return cast;
  }

  /// x[i], and of a matrix x[i,j].
  Read postfix(Read of) {
    while (take("[")) {
      const Read row = binary(0);
      Read column;
      if (take(",")) column = binary(0);
      need("]");
      of = [of, row, column](const At& at) { return element(at, of(at), row(at), column ? std::optional(column(at)) : std::nullopt); };
    }
    return of;
  }

  static Value element(const At& at, const Value& of, const Value& row, const std::optional<Value>& column) {
    if (!of.address) throw std::invalid_argument("what has an index is no memory: {TYPE}ADDRESS reads what an address names");
    std::int64_t i = integer(row);
    if (column && of.columns == 0) throw std::invalid_argument("this memory is no matrix: one index");
    if (column && (i < 0 || integer(*column) < 0 || static_cast<std::uint64_t>(integer(*column)) >= of.columns))
      throw std::invalid_argument(fmt::format("[{},{}] is outside: the matrix has {} columns", i, integer(*column), of.columns));
    if (column) i = i * static_cast<std::int64_t>(of.columns) + integer(*column);
    if (i < 0 || static_cast<std::uint64_t>(i) >= of.count)
      throw std::invalid_argument(fmt::format("index {} is outside: there are {} elements of .{}", i, of.count, of.type));
    return in_memory(at, of.type, of.space, *of.address + static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(bits_of(of.type)) / 8);
  }

  Read number() {
    const std::size_t first = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.' ||
            ((text_[at_] == '-' || text_[at_] == '+') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E') && text_[first + 1] != 'x')))
      ++at_;
    const std::string word = text_.substr(first, at_ - first);
    const bool hex = word.starts_with("0x");
    std::uint64_t whole = 0;
    const char* const begin = word.data() + (hex ? 2 : 0);
    const char* const end = word.data() + word.size();
    if (const auto read = std::from_chars(begin, end, whole, hex ? 16 : 10); read.ec == std::errc{} && read.ptr == end)
      return [whole](const At&) { return Value{.type = whole >> 63 != 0 ? "u64" : "s64", .bits = whole}; };
    double real_number = 0;
    const auto read = std::from_chars(word.data(), end, real_number);
    if (read.ec != std::errc{} || read.ptr != end) fail(fmt::format("'{}' is no number", word));
    return [real_number](const At&) { return Value{.type = "f64", .bits = std::bit_cast<std::uint64_t>(real_number)}; };
  }

  const std::string& text_;
  const Names& names_;
  std::size_t at_ = 0;
};

}  // namespace

Expression::Expression(const std::string& text, const Names& names) : evaluate_(Parser(text, names).all()) {}

}  // namespace warpmat::debug
