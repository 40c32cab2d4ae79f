#include <algorithm>

#include <fmt/core.h>

#include <warpmat/ir/address_windows.h>
#include <warpmat/lower/makers.h>
#include <warpmat/lower/operands.h>
#include <warpmat/ptx/catalogue/video_selectors.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Semantics;
using Kind = syntax::Operand::Kind;

namespace {

/// mov between one register and a vector in braces: mov.b32 {lo, hi}, r. As ptxas 13.0 the vector has one, two or four elements.
void pack(Context& in, const Match& match) {
  const DataType& type = *match.types.front();
  if (type.type_class != DataType::Class::bits)
    in.fail(fmt::format("'{}' packs and unpacks no registers: .b16, .b32, .b64 and .b128 do", in.opcode()));
  if (in.operands().size() != 2) in.fail(fmt::format("{} takes 2 operands", in.opcode()));
  const bool packs = in.operand(1).kind == Kind::vector;
  const syntax::Operand& vector = in.operand(packs ? 1 : 0);
  const syntax::Operand& whole = in.operand(packs ? 0 : 1);
  const std::size_t count = vector.items.size();
  const DataType* const part = count == 1 || count == 2 || count == 4 ? find_untyped(type.bits / static_cast<int>(count)) : nullptr;
  if (part == nullptr || whole.kind == Kind::vector) in.fail(vector, fmt::format("{} registers do not make up .{}", count, type.name));
  const std::string parts =
      count == 1 ? fmt::format("mov.{}", type.name) : fmt::format("{}.{}.{}", packs ? "%pack" : "%unpack", type.name, part->name);
  if (packs) {
    std::vector<Value> sources;
    for (const syntax::Operand& item : vector.items) sources.push_back(source(in, item, *part));
    return in.add(in.row(parts, {result(in, whole, type)}, std::move(sources)));
  }
  const Value from = source(in, whole, type);
  std::vector<Value> results;
  in.current.may_discard =
      std::ranges::any_of(vector.items, [](const syntax::Operand& item) { return !item.discards(); });  // as ptxas 13.0
  for (const syntax::Operand& item : vector.items) results.push_back(result(in, item, *part));
  in.current.may_discard = false;
  in.add(in.row(parts, std::move(results), {from}));
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
Value in_constants(Context& in, Value address) {
  const auto wide = [&](std::uint64_t number, Symbol symbol) { return in.draft.constants.add(RegisterClass::wide, number, 0, symbol); };
  Value found = in.computed(RegisterClass::predicate, "%within.b64", {address, wide(0, {}), wide(0, {})});
  for (const auto& [index, bytes] : in.draft.symbols.constants()) {
    const Value first = wide(0, {Symbol::Kind::module, index});
    const Value one = in.computed(RegisterClass::predicate, "%within.b64", {address, first, wide(bytes, {})});
    found = in.computed(RegisterClass::predicate, "or.pred", {found, one});
  }
  return found;
}

/// isspacep
void query_space(Context& in, Value address, Space space, bool of_block) {
  const Value answer = result(in, in.operand(0), *find_ptx_type("pred"));
  if (space == Space::constant) {
    const Value found = in_constants(in, address);
    return in.add(in.row("or.pred", {answer}, {found, found}));
  }
  const QueriedRange range = queried_range(space, of_block);
  const Symbol of = {of_block ? Symbol::Kind::block : Symbol::Kind::none};
  const Value first = in.draft.constants.add(RegisterClass::wide, range.start, 0, of), size = in.constant(RegisterClass::wide, range.size);
  if (space != Space::global || in.draft.symbols.constants().empty())
    return in.add(in.row("%within.b64", {answer}, {address, first, size}));
  const Value other = in.computed(RegisterClass::predicate, "not.pred", {in_constants(in, address)});
  const Value inside = in.computed(RegisterClass::predicate, "%within.b64", {address, first, size});
  in.add(in.row("and.pred", {answer}, {inside, other}));
}

}  // namespace

void lower::compute(Context& in, const Match& match) {
  const auto is_vector = [](const syntax::Operand& given) { return given.kind == Kind::vector; };
  if (match.is(catalogue::Name::mov) && in.list == nullptr && std::ranges::any_of(in.operands(), is_vector)) return pack(in, match);
  DraftOperation operation;
  operation.operation.semantics = match.pattern->row.semantics;
  in.draft.set_function(match, operation);
  if (!catalogue::is_video(match)) {
    read_operands(in, match, operation);
    if (match.has(".fractional") && in.operands().size() > 1 && in.operand(1).kind == Kind::number) {
      const float fraction = std::bit_cast<float>(static_cast<std::uint32_t>(in.draft.constants[operation.sources.front()].low));
      if (!(fraction > 0 && fraction <= 1)) in.fail(in.operand(1), "a fraction is above 0 and at most 1");
    }
    return in.add(std::move(operation));
  }
  // The operands' selectors are modifiers of this statement only.
  scalar::Modifiers modifiers = in.draft.program.of<scalar::Modifiers>(operation.operation);
  read_operands(in, match, operation, &modifiers.video);
  if (modifiers.video.needs_third_source() && operation.sources.size() < 3)
    in.fail(fmt::format("{} takes a third source: a selector of its destination or a second operation needs it", in.opcode()));
  in.add(std::move(operation), modifiers);
}

/// mov.v4.u32 between vectors, or of a special register: of %tid and its likes all elements, of others {value, 0, 0, 0} (an H200's
/// answers).
void lower::move_vector(Context& in, const Match& match) {
  in.draft.statement_matches.back() = nullptr;  // its operations are mov.bN: passes must not look for this row's
  const DataType& type = *match.types.front();
  const auto count = static_cast<std::size_t>(match.vector());
  if (in.operands().size() != 2) in.fail(fmt::format("{} takes 2 operands", in.opcode()));
  const std::vector<Value> results = group(in, in.operand(0), type, true, count);
  std::vector<Value> sources;
  if (in.operand(1).kind == Kind::vector) {
    sources = group(in, in.operand(1), type, false, count);
  } else {
    syntax::Operand element = in.operand(1);
    const auto special = find_special_register(element.text);
    if (count == 2 || !special) in.fail(element, fmt::format("{} takes {} registers in braces here", in.opcode(), count));
    const std::size_t letter = element.text.rfind('.');
    const std::string base(element.text.substr(0, letter == 0 ? std::string_view::npos : letter));
    const bool elements = find_special_register(base + ".x").has_value();
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = elements ? fmt::format("{}.{}", base, "xyzw"[i]) : i == 0 ? base : "%tid.w";
      element.text = name;
      sources.push_back(special_register(in, element, *find_special_register(name), type));
    }
  }
  const std::string opcode = fmt::format("mov.b{}", type.bits);
  // All sources are read before a result is written.
  if (in.operand(1).kind == Kind::vector)
    for (Value& value : sources) value = in.computed(register_class_of(type.bits), opcode, {value});
  for (std::size_t i = 0; i < count; ++i) in.add(in.row(opcode, {results[i]}, {sources[i]}));
}

/// cvta adds or subtracts the start of the space's window in generic addresses; isspacep tests whether an address is in it.
void lower::address_space(Context& in, const Match& match) {
  const DataType& address = *find_ptx_type("u64");
  const Space named_space = space_of(match), space = named_space == Space::generic ? Space::global : named_space;
  const bool query = match.is(catalogue::Name::isspacep);
  const syntax::Operand& from = in.operand(1);
  if (const auto own = variable_space(in, from); own && own != space && !match.has(".to"))
    in.fail(from, fmt::format("'{}' is a .{} variable, and {} takes another space", from.text, name(*own), in.opcode()));
  if (query && variable_space(in, from)) in.fail(from, fmt::format("'{}' is no register: mov takes its address to one", from.text));
  const auto named = from.kind == Kind::name ? in.names.find(from.text) : std::nullopt;
  const bool narrow = query && named && named->kind == Named::Kind::register_ && in.bits_of(named->value) == 32;
  const Value a = in.wide(source(in, from, narrow ? *find_ptx_type("u32") : address));
  in.must_end_at(2);
  if (query) return query_space(in, a, space, match.has(".shared") || match.has(".shared::cta"));
  const Value start = in.constant(RegisterClass::wide, window_start(space));
  const bool moves = space == Space::global || space == Space::constant;  // their addresses are generic ones
  if (moves) return in.add(in.row("mov.b64", {result(in, in.operand(0), address)}, {a}));
  in.add(in.row(match.has(".to") ? "%subtract.b64" : "%add.b64", {result(in, in.operand(0), address)}, {a, start}));
}

}  // namespace warpmat::code
