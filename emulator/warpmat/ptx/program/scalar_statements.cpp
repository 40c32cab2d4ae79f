#include <algorithm>

#include <fmt/core.h>

#include <warpmat/ptx/catalogue/video_selectors.h>
#include <warpmat/ptx/program/address_windows.h>
#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Qualifier;
using catalogue::Semantics;
using Kind = syntax::Operand::Kind;

void FunctionResolver::compute(const Match& match) {
  const auto is_vector = [](const syntax::Operand& given) { return given.kind == Kind::vector; };
  if (match.is(catalogue::Name::mov) && list_ == nullptr && std::ranges::any_of(statement_->operands, is_vector)) return pack(match);
  DraftOperation operation;
  operation.operation.semantics = match.pattern->row.semantics;
  draft_.set_function(match, operation);
  if (!catalogue::is_video(match)) {
    read_operands(match, operation);
    if (match.has(Qualifier::fractional) && statement_->operands.size() > 1 && operand(1).kind == Kind::number) {
      const float fraction = std::bit_cast<float>(static_cast<std::uint32_t>(draft_.constants[operation.sources.front()].low));
      if (!(fraction > 0 && fraction <= 1)) fail(operand(1), "a fraction is above 0 and at most 1");
    }
    return add(std::move(operation));
  }
  // The operands' selectors are modifiers of this statement only.
  scalar::Modifiers modifiers = draft_.program.of<scalar::Modifiers>(operation.operation);
  read_operands(match, operation, &modifiers.video);
  if (modifiers.video.needs_third_source() && operation.sources.size() < 3)
    fail(fmt::format("{} takes a third source: a selector of its destination or a second operation needs it", statement_->opcode));
  operation.operation.payload = draft_.program.add(modifiers);
  add(std::move(operation));
}

/// mov.v4.u32 between vectors, or of a special register: of %tid and its likes all elements, of others {value, 0, 0, 0} (an H200's
/// answers).
void FunctionResolver::move_vector(const Match& match) {
  draft_.statement_matches.back() = nullptr;  // its operations are mov.bN: passes must not look for this row's
  const DataType& type = *match.types.front();
  const auto count = static_cast<std::size_t>(match.vector());
  if (statement_->operands.size() != 2) fail(fmt::format("{} takes 2 operands", statement_->opcode));
  const std::vector<Value> results = group(operand(0), type, true, count);
  std::vector<Value> sources;
  if (operand(1).kind == Kind::vector) {
    sources = group(operand(1), type, false, count);
  } else {
    syntax::Operand element = operand(1);
    const auto special = find_special_register(element.text);
    if (count == 2 || !special) fail(element, fmt::format("{} takes {} registers in braces here", statement_->opcode, count));
    const std::size_t letter = element.text.rfind('.');
    const std::string base(element.text.substr(0, letter == 0 ? std::string_view::npos : letter));
    const bool elements = find_special_register(base + ".x").has_value();
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = elements ? fmt::format("{}.{}", base, "xyzw"[i]) : i == 0 ? base : "%tid.w";
      element.text = name;
      sources.push_back(special_register(element, *find_special_register(name), type));
    }
  }
  const std::string opcode = fmt::format("mov.b{}", type.bits);
  // All sources are read before a result is written.
  if (operand(1).kind == Kind::vector)
    for (Value& value : sources) {
      const Value copy = temporary(register_class_of(type.bits));
      prepare(row(opcode, {copy}, {value}));
      value = copy;
    }
  for (std::size_t i = 0; i < count; ++i) add(row(opcode, {results[i]}, {sources[i]}));
}

/// mov between one register and a vector in braces: mov.b32 {lo, hi}, r. As ptxas 13.0 the vector has one, two or four elements.
void FunctionResolver::pack(const Match& match) {
  const DataType& type = *match.types.front();
  if (type.type_class != DataType::Class::bits)
    fail(fmt::format("'{}' packs and unpacks no registers: .b16, .b32, .b64 and .b128 do", statement_->opcode));
  if (statement_->operands.size() != 2) fail(fmt::format("{} takes 2 operands", statement_->opcode));
  const bool packs = operand(1).kind == Kind::vector;
  const syntax::Operand& vector = operand(packs ? 1 : 0);
  const syntax::Operand& whole = operand(packs ? 0 : 1);
  const std::size_t count = vector.items.size();
  const DataType* const part = count == 1 || count == 2 || count == 4 ? find_untyped(type.bits / static_cast<int>(count)) : nullptr;
  if (part == nullptr || whole.kind == Kind::vector) fail(vector, fmt::format("{} registers do not make up .{}", count, type.name));
  const std::string parts =
      count == 1 ? fmt::format("mov.{}", type.name) : fmt::format("{}.{}.{}", packs ? "%pack" : "%unpack", type.name, part->name);
  if (packs) {
    std::vector<Value> sources;
    for (const syntax::Operand& item : vector.items) sources.push_back(source(item, *part));
    return add(row(parts, {result(whole, type)}, std::move(sources)));
  }
  const Value from = source(whole, type);
  std::vector<Value> results;
  may_discard_ = std::ranges::any_of(vector.items, [](const syntax::Operand& item) { return !item.discards(); });  // as ptxas 13.0
  for (const syntax::Operand& item : vector.items) results.push_back(result(item, *part));
  may_discard_ = false;
  add(row(parts, std::move(results), {from}));
}

/// The generic addresses that isspacep takes for those of a space. Global are all but those of the others; on an H200 a kernel's parameter
/// is one. Those of constants lie among them, variable by variable.
struct QueriedRange {
  std::uint64_t start, size;
};

QueriedRange queried_range(Space space, bool of_block) {
  switch (space) {
    case Space::global: return {param_window, shared_window - param_window};  // beyond the highest address on from the lowest
    default: return {window_start(space), of_block ? block_window_bytes : window_bytes};
  }
}

/// Whether the address is in a variable of .const.
Value FunctionResolver::in_constants(Value address) {
  const auto wide = [&](std::uint64_t number, Symbol symbol) { return draft_.constants.add(RegisterClass::wide, number, 0, symbol); };
  const Value found = temporary(RegisterClass::predicate), one = temporary(RegisterClass::predicate);
  prepare(row("%within.b64", {found}, {address, wide(0, {}), wide(0, {})}));
  for (const auto& [index, bytes] : draft_.symbols.constants()) {
    prepare(row("%within.b64", {one}, {address, wide(0, {Symbol::Kind::module, index}), wide(bytes, {})}));
    prepare(row("or.pred", {found}, {found, one}));
  }
  return found;
}

/// isspacep
void FunctionResolver::query_space(Value address, Space space, bool of_block) {
  const Value answer = result(operand(0), *find_ptx_type("pred"));
  if (space == Space::constant) {
    const Value found = in_constants(address);
    return add(row("or.pred", {answer}, {found, found}));
  }
  const QueriedRange range = queried_range(space, of_block);
  const Symbol of = {of_block ? Symbol::Kind::block : Symbol::Kind::none};
  const Value first = draft_.constants.add(RegisterClass::wide, range.start, 0, of),
              size = draft_.constants.add(RegisterClass::wide, range.size);
  if (space != Space::global || draft_.symbols.constants().empty()) return add(row("%within.b64", {answer}, {address, first, size}));
  const Value inside = temporary(RegisterClass::predicate), other = temporary(RegisterClass::predicate);
  prepare(row("not.pred", {other}, {in_constants(address)}));
  prepare(row("%within.b64", {inside}, {address, first, size}));
  add(row("and.pred", {answer}, {inside, other}));
}

/// cvta adds or subtracts the start of the space's window in generic addresses; isspacep tests whether an address is in it.
void FunctionResolver::address_space(const Match& match) {
  const DataType& address = *find_ptx_type("u64");
  const Space space = match.has(Qualifier::shared) || match.has(Qualifier::shared_cta) || match.has(Qualifier::shared_cluster)
                          ? Space::shared
                      : match.has(Qualifier::local)                                      ? Space::local
                      : match.has(Qualifier::param) || match.has(Qualifier::param_entry) ? Space::param
                      : match.has(Qualifier::constant)                                   ? Space::constant
                                                                                         : Space::global;
  const bool query = match.is(catalogue::Name::isspacep);
  const syntax::Operand& from = operand(1);
  if (const auto own = variable_space(from); own && own != space && !match.has(Qualifier::to))
    fail(from, fmt::format("'{}' is a .{} variable, and {} takes another space", from.text, name(*own), statement_->opcode));
  if (query && variable_space(from)) fail(from, fmt::format("'{}' is no register: mov takes its address to one", from.text));
  Value a = 0;
  const auto named = from.kind == Kind::name ? names_.find(from.text) : std::nullopt;
  if (query && named && named->kind == Named::Kind::register_ && bits_of(named->value) == 32) {
    a = temporary(RegisterClass::wide);
    prepare(row("%extend.u32.b64", {a}, {source(from, *find_ptx_type("u32"))}));
  } else {
    a = source(from, address);
  }
  if (statement_->operands.size() > 2) fail(operand(2), fmt::format("{} takes 2 operands", statement_->opcode));
  if (query) return query_space(a, space, match.has(Qualifier::shared) || match.has(Qualifier::shared_cta));
  const Value start = draft_.constants.add(RegisterClass::wide, window_start(space));
  const bool moves = space == Space::global || space == Space::constant;  // their addresses are generic ones
  if (moves) return add(row("mov.b64", {result(operand(0), address)}, {a}));
  add(row(match.has(Qualifier::to) ? "%subtract.b64" : "%add.b64", {result(operand(0), address)}, {a, start}));
}

}  // namespace warpmat::code
