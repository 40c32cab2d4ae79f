#include <algorithm>
#include <array>

#include <fmt/core.h>

#include <warpmat/ptx/program/atomic_names.h>
#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Semantics;
using catalogue::ValueType;
using Kind = syntax::Operand::Kind;

namespace {

/// The space that the qualifiers name; generic where none does.
Space space_of(const Match& match) {
  for (const std::string_view q : match.qualifiers) {
    if (q == ".global") return Space::global;
    if (q == ".shared" || q == ".shared::cta" || q == ".shared::cluster") return Space::shared;
    if (q == ".local") return Space::local;
    if (q == ".const") return Space::constant;
    if (q == ".param" || q == ".param::entry" || q == ".param::func") return Space::param;
  }
  return Space::generic;
}

std::size_t vector_of(const Match& match) {
  return match.has(".v2") ? 2 : match.has(".v4") ? 4 : match.has(".v8") ? 8 : 1;
}

/// Whether other blocks may see the access in a defined order, or depend on it.
bool is_ordered(const Match& match) {
  constexpr std::array ordering{".volatile", ".relaxed", ".acquire", ".release", ".acq_rel", ".mmio", ".cv"};
  return std::ranges::any_of(ordering, [&](const char* q) { return match.has(q); }) && !match.has(".cta");
}

AtomicOperation atomic_operation(const Match& match) {
  for (const auto& [name, operation] : atomic_names)
    if (match.has(name)) return operation;
  return AtomicOperation::exchange;
}

/// The catalogue's instruction that computes what an atomic stores, where that is arithmetic on formats.
std::string arithmetic_of(const Match& match, const ValueType& type) {
  const std::string_view name = type.name;
  if (type.type_class != ValueType::Class::floating) return {};
  const std::string_view operation = match.has(".min") ? "min" : match.has(".max") ? "max" : match.has(".add") ? "add" : "";
  if (operation.empty()) return {};
  const bool rounds = operation == "add";
  return fmt::format("{}{}.{}", operation, rounds ? ".rn" : "", name);
}

}  // namespace

void FunctionResolver::add_access(DraftOperation operation, Access access, const Place& place) {
  if (access.space == Space::generic && place.space) access.space = *place.space;
  if (access.space == Space::param && place.space == Space::local) access.space = Space::local;
  if (place.space == Space::local && access.space != Space::local) fail("the variable is in local memory");
  access.relative = place.space == Space::local;
  access.uniform = is_constant(place.base) && !access.relative;
  access.offset = place.offset;
  access.narrow_address = class_of(place.base) == RegisterClass::word;
  operation.operation.detail = static_cast<std::uint32_t>(draft_.program.accesses.size());
  draft_.program.accesses.push_back(access);
  add(std::move(operation));
}

void FunctionResolver::load(const Match& match) {
  const ValueType& type = *match.types.back();
  Access access{.space = space_of(match),
                .bytes = static_cast<std::uint8_t>(type.bytes()),
                .vector = static_cast<std::uint8_t>(vector_of(match)),
                .sign_extend = type.is_signed_integer(),
                .ordered = is_ordered(match)};
  DraftOperation operation;
  operation.operation.semantics = Semantics::load;
  // Registers may be wider than the type, so the access extends them itself.
  const syntax::Operand& written = operand(0);
  const std::vector<syntax::Operand> items = written.kind == Kind::vector ? written.items : std::vector{written};
  if (items.size() != access.vector)
    fail(written, fmt::format("{} loads {} registers, {} are given", statement_->opcode, access.vector, items.size()));
  int bits = 0;
  for (const syntax::Operand& item : items) {
    if (item.text == "_") continue;
    const int register_bits = bits_of(named_register(item));
    if (bits != 0 && register_bits != bits) fail(item, "the registers of a vector have one width");
    bits = register_bits;
  }
  if (bits == 0) bits = std::max(type.bits, 16);
  if (bits < type.bits || bits == 1) fail(written, fmt::format("{} does not fit registers of {} bits", statement_->opcode, bits));
  for (const syntax::Operand& item : items)
    operation.results.push_back(item.text == "_" ? temporary(register_class_of(bits)) : named_register(item));
  access.register_bits = static_cast<std::uint8_t>(bits);
  const Place where = place(operand(1));
  operation.sources = {where.base};
  add_access(std::move(operation), access, where);
}

void FunctionResolver::store(const Match& match) {
  const ValueType& type = *match.types.back();
  Access access{.space = space_of(match),
                .bytes = static_cast<std::uint8_t>(type.bytes()),
                .vector = static_cast<std::uint8_t>(vector_of(match)),
                .ordered = is_ordered(match)};
  DraftOperation operation;
  operation.operation.semantics = Semantics::store;
  const Place where = place(operand(0));
  operation.sources = {where.base};
  const syntax::Operand& read = operand(1);
  const std::vector<syntax::Operand> items = read.kind == Kind::vector ? read.items : std::vector{read};
  if (items.size() != access.vector)
    fail(read, fmt::format("{} stores {} registers, {} are given", statement_->opcode, access.vector, items.size()));
  RegisterClass register_class = register_class_of(type.bits);
  for (const syntax::Operand& item : items)
    if (item.kind == Kind::name && names_.find(item.text)) register_class = std::max(register_class, class_of(named_register(item)));
  for (const syntax::Operand& item : items) {
    // A register wider than the type gives its low bits; numbers and narrower registers take the type's class.
    Value value = item.kind == Kind::name && names_.find(item.text) && names_.find(item.text)->kind == Named::Kind::register_
                      ? named_register(item)
                      : source(item, type);
    if (bits_of(value) < type.bits || class_of(value) == RegisterClass::predicate)
      fail(item, fmt::format("'{}' has fewer than {} bits", item.text, type.bits));
    if (class_of(value) != register_class) {
      if (class_of(value) != RegisterClass::word || register_class != RegisterClass::wide)
        fail(item, "the registers of a vector have one width");
      const Value wide = temporary(RegisterClass::wide);
      prepare(row("%extend.u32.b64", {wide}, {value}));
      value = wide;
    }
    operation.sources.push_back(value);
  }
  access.register_bits = register_class == RegisterClass::word ? 32 : register_class == RegisterClass::wide ? 64 : 128;
  add_access(std::move(operation), access, where);
}

/// atom d, [a], b{, c} and red [a], b. Policies behind them change nothing.
void FunctionResolver::atomic(const Match& match) {
  const ValueType& type = *match.types.back();
  const bool reduction = match.pattern->mnemonic == "red";
  Access access{
      .space = space_of(match), .bytes = static_cast<std::uint8_t>(type.bytes()), .vector = static_cast<std::uint8_t>(vector_of(match))};
  access.atomic = atomic_operation(match);
  access.type = &type;
  access.register_bits = static_cast<std::uint8_t>(std::max(type.bits, 32));
  access.result_used = !reduction;
  DraftOperation operation;
  operation.operation.semantics = Semantics::atomic;
  if (const std::string arithmetic = arithmetic_of(match, type); !arithmetic.empty()) {
    const Operation computed = row(arithmetic, {}, {}).operation;
    access.arithmetic = computed.kernel;
    access.modifiers = draft_.program.modifiers[computed.detail];
  }
  std::size_t next = 0;
  if (!reduction) operation.results = group(operand(next++), type, true, access.vector);
  const Place where = place(operand(next++));
  operation.sources = {where.base};
  const int values = access.atomic == AtomicOperation::compare_and_swap ? 2 : 1;
  for (int i = 0; i < values; ++i)
    for (const Value value : group(operand(next++), type, false, access.vector)) operation.sources.push_back(value);
  access.flush = type.name == "f32";
  add_access(std::move(operation), access, where);
}

/// cp.async.ca [dst], [src], size{, source size or ignored}{, policy}.
void FunctionResolver::cp_async(const Match& match) {
  const std::uint64_t size = immediate(operand(2));
  const bool cached_everywhere = match.has(".ca");
  if (size != 16 && (!cached_everywhere || (size != 4 && size != 8)))
    fail(operand(2), cached_everywhere ? "cp.async.ca copies 4, 8 or 16 bytes" : "cp.async.cg copies 16 bytes");
  Access access{.space = Space::shared, .bytes = static_cast<std::uint8_t>(size)};
  DraftOperation operation;
  operation.operation.semantics = Semantics::cp_async;
  const Place to = place(operand(0)), from = place(operand(1));
  operation.sources = {to.base, from.base};
  access.source_offset = from.offset;
  access.narrow_source = class_of(from.base) == RegisterClass::word;
  const std::size_t policies = match.has(".L2::cache_hint") ? 1 : 0;
  if (statement_->operands.size() > 4 + policies) fail(operand(4 + policies), "cp.async takes no more operands");
  if (statement_->operands.size() == 4 + policies) {
    const syntax::Operand& extra = operand(3);
    const auto named = extra.kind == Kind::name ? names_.find(extra.text) : std::nullopt;
    access.ignores_source = named && named->kind == Named::Kind::register_ && bits_of(named->value) == 1;
    access.has_source_size = !access.ignores_source;
    operation.sources.push_back(source(extra, *catalogue::find_value_type(access.ignores_source ? "pred" : "u32")));
  }
  add_access(std::move(operation), access, to);
}

void FunctionResolver::wait_group(const Match& match) {
  DraftOperation operation;
  operation.operation.semantics = Semantics::cp_async_wait;
  operation.operation.detail =
      match.has(".wait_all") ? wait_for_all : static_cast<std::uint32_t>(std::min<std::uint64_t>(immediate(operand(0)), wait_for_all - 1));
  add(std::move(operation));
}

}  // namespace warpmat::code
