#include <algorithm>
#include <array>

#include <fmt/core.h>

#include <warpmat/ir/atomic_operation.h>
#include <warpmat/lower/makers.h>
#include <warpmat/lower/operands.h>
#include <warpmat/ptx/catalogue/kernel_row.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Qualifier;
using catalogue::Semantics;
using Kind = syntax::Operand::Kind;

namespace {

/// Whether the text names shared memory of the lane's own block.
bool names_own_block(const Match& match) {
  return match.has(".shared") || match.has(".shared::cta");
}

/// Whether other threads observe the access in a defined order, or it depends on them.
bool is_ordered(const Match& match) {
  return match.has_any({".volatile", ".relaxed", ".acquire", ".release", ".acq_rel", ".mmio", ".cv"});
}

template <typename A>
void add_access(Context& in, DraftOperation operation, A access, const Place& place) {
  if (access.space == Space::generic && place.space) access.space = *place.space;
  if (access.space == Space::param && place.space == Space::local) access.space = Space::local;
  if (place.space == Space::local && access.space != Space::local) in.fail("the variable is in local memory");
  access.relative = place.space == Space::local;
  access.offset = place.offset;
  access.narrow_address = in.class_of(place.base) == RegisterClass::word;
  in.add(std::move(operation), access);
}

/// After `count` operands only the cache policy of .L2::cache_hint may follow; it has no effect.
void take_policy(Context& in, const Match& match, std::size_t count) {
  if (match.has(".L2::cache_hint")) source(in, in.operand(count++), *find_ptx_type("b64"));
  in.must_end_at(count);
}

/// The opcode of the row that computes what an operation on that type stores, if that is arithmetic on formats.
std::string arithmetic_row(AtomicOperation operation, const DataType& type) {
  if (!type.is_floating()) return {};
  switch (operation) {
    case AtomicOperation::add: return fmt::format("add.rn.{}", type.name);
    case AtomicOperation::min: return fmt::format("min.{}", type.name);
    case AtomicOperation::max: return fmt::format("max.{}", type.name);
    default: return {};
  }
}

/// What the text says of any access.
Access access_of(const Match& match) {
  const DataType& type = *match.types.back();
  return {.space = space_of(match),
          .bytes = static_cast<std::uint8_t>(type.bytes()),
          .vector = static_cast<std::uint8_t>(match.vector()),
          .register_bits = static_cast<std::uint8_t>(std::max(type.bits, 32)),
          .own_block = names_own_block(match)};
}

/// The same of a load or store.
Access plain_access(const Match& match) {
  Access access = access_of(match);
  access.ordered = is_ordered(match);
  access.within_block = match.has(".cta");
  return access;
}

}  // namespace

Space space_of(const Match& match) {
  constexpr auto spaces = std::to_array<std::pair<Qualifier, Space>>({{Qualifier(".shared"), Space::shared},
                                                                      {Qualifier(".shared::cta"), Space::shared},
                                                                      {Qualifier(".shared::cluster"), Space::shared},
                                                                      {Qualifier(".global"), Space::global},
                                                                      {Qualifier(".local"), Space::local},
                                                                      {Qualifier(".const"), Space::constant},
                                                                      {Qualifier(".param"), Space::param},
                                                                      {Qualifier(".param::entry"), Space::param},
                                                                      {Qualifier(".param::func"), Space::param}});
  for (const auto& [qualifier, space] : spaces)
    if (match.has(qualifier)) return space;
  return Space::generic;
}

std::optional<AtomicOperation> atomic_operation(const Match& match) {
  for (const AtomicRow& row : atomic_rows)
    if (match.has(row.qualifier)) return row.operation;
  return std::nullopt;
}

Reduction reduction(Context& in, const Match& match, const DataType& type) {
  Reduction reduction{.operation = atomic_operation(match).value_or(AtomicOperation::exchange), .type = &type};
  if (const std::string arithmetic = arithmetic_row(reduction.operation, type); !arithmetic.empty()) {
    const Operation computed = in.row(arithmetic, {}, {}).operation;
    reduction.arithmetic = computed.kernel;
    reduction.modifiers = in.draft.program.of<scalar::Modifiers>(computed);
  }
  return reduction;
}

void lower::load(Context& in, const Match& match) {
  const DataType& type = *match.types.back();
  LoadAccess access{plain_access(match), type.is_signed_integer()};
  DraftOperation operation;
  operation.operation.semantics = match.pattern->row.semantics;
  // Registers may be wider than the type, so the access itself extends the value.
  const syntax::Operand& written = in.operand(0);
  const std::span<const syntax::Operand> items = items_of(written);
  if (items.size() != access.vector)
    in.fail(written, fmt::format("{} loads {} registers, {} are given", in.opcode(), access.vector, items.size()));
  int bits = 0;
  const bool mixed = has_several_types(in, items);
  for (const syntax::Operand& item : items) {
    if (item.discards() && written.kind == Kind::vector) continue;
    const Value value = named_register(in, item);
    if (!mixed) check_type(in, item, value, type);
    const int register_bits = in.bits_of(value);
    if (bits != 0 && register_bits != bits) in.fail(item, "the registers of a vector have one width");
    bits = register_bits;
  }
  if (bits == 0) in.fail(written, fmt::format("{} loads nothing: one register of a vector is not _", in.opcode()));
  if (bits < type.bits || bits == 1) in.fail(written, fmt::format("{} does not fit registers of {} bits", in.opcode(), bits));
  for (const syntax::Operand& item : items)
    operation.results.push_back(item.discards() ? in.temporary(register_class_of(bits)) : named_register(in, item));
  access.register_bits = static_cast<std::uint8_t>(bits);
  const Place where = place_in(in, in.operand(1), access.space);
  access.uniform = is_constant(where.base) && where.space != Space::local;
  operation.sources = {where.base};
  take_policy(in, match, 2);
  add_access(in, std::move(operation), access, where);
}

void lower::store(Context& in, const Match& match) {
  const DataType& type = *match.types.back();
  StoreAccess access{plain_access(match)};
  DraftOperation operation;
  operation.operation.semantics = match.pattern->row.semantics;
  const Place where = place_in(in, in.operand(0), access.space);
  if (access.space == Space::param && !where.parameter)
    in.fail(in.operand(0), "st.param writes .param variables that the function declares");
  operation.sources = {where.base};
  const syntax::Operand& read = in.operand(1);
  take_policy(in, match, 2);
  const std::span<const syntax::Operand> items = items_of(read);
  if (items.size() != access.vector)
    in.fail(read, fmt::format("{} stores {} registers, {} are given", in.opcode(), access.vector, items.size()));
  RegisterClass register_class = register_class_of(type.bits);
  for (const syntax::Operand& item : items)
    if (item.kind == Kind::name && item.offset == 0 && in.names.find(item.text))
      register_class = std::max(register_class, in.class_of(named_register(in, item)));
  const bool mixed = has_several_types(in, items);
  int width = 0;  // bits of the registers
  for (const syntax::Operand& item : items) {
    // A register wider than the type supplies its low bits; immediates and narrower registers use the type's class.
    const bool names_register =
        item.kind == Kind::name && item.offset == 0 && in.names.find(item.text) && in.names.find(item.text)->kind == Named::Kind::register_;
    Value value = names_register ? named_register(in, item) : source(in, item, type);
    if (!mixed) check_type(in, item, value, type);
    if (names_register) {
      if (width != 0 && in.bits_of(value) != width) in.fail(item, "the registers of a vector have one width");
      width = in.bits_of(value);
    }
    if (in.bits_of(value) < type.bits || in.class_of(value) == RegisterClass::predicate)
      in.fail(item, fmt::format("'{}' has fewer than {} bits", item.text, type.bits));
    if (in.class_of(value) != register_class) {
      if (in.class_of(value) != RegisterClass::word || register_class != RegisterClass::wide)
        in.fail(item, "the registers of a vector have one width");
      value = in.wide(value);
    }
    operation.sources.push_back(value);
  }
  access.register_bits = register_class == RegisterClass::word ? 32 : register_class == RegisterClass::wide ? 64 : 128;
  add_access(in, std::move(operation), access, where);
}

/// multimem.ld_reduce d, [a]; multimem.st and multimem.red [a], b.
void lower::multimem(Context& in, const Match& match) {
  const DataType& type = *match.types.back();
  const bool loads = match.has(".ld_reduce");
  MultimemAccess access{access_of(match), reduction(in, match, type)};
  access.space = Space::global;
  DraftOperation operation{.operation = {.semantics = Semantics::multimem}};
  if (loads) operation.results = group(in, in.operand(0), type, true, access.vector);
  const Place where = place_in(in, in.operand(loads ? 1 : 0), access.space);
  operation.sources = {where.base};
  if (!loads)
    for (const Value value : group(in, in.operand(1), type, false, access.vector)) operation.sources.push_back(value);
  add_access(in, std::move(operation), access, where);
}

/// atom d, [a], b{, c} and red [a], b. A trailing policy has no effect.
void lower::atomic(Context& in, const Match& match) {
  const DataType& type = *match.types.back();
  const bool reads = !match.is(catalogue::Name::red);
  AtomicAccess access{access_of(match), reduction(in, match, type), catalogue::is_number(type, Format::f32)};
  DraftOperation operation{.operation = {.semantics = Semantics::atomic}};
  std::size_t next = 0;
  in.current.may_discard = true;
  if (reads) operation.results = group(in, in.operand(next++), type, true, access.vector);
  in.current.may_discard = false;
  const Place where = place_in(in, in.operand(next++), access.space);
  operation.sources = {where.base};
  const int values = access.operation == AtomicOperation::compare_and_swap ? 2 : 1;
  for (int i = 0; i < values; ++i)
    for (const Value value : group(in, in.operand(next++), type, false, access.vector)) operation.sources.push_back(value);
  take_policy(in, match, next);
  add_access(in, std::move(operation), access, where);
}

/// cp.async.ca [dst], [src], size{, source size or ignored}{, policy}.
void lower::cp_async(Context& in, const Match& match) {
  const std::uint64_t size = immediate(in, in.operand(2));
  const bool cached_everywhere = match.has(".ca");
  if (size != 16 && (!cached_everywhere || (size != 4 && size != 8)))
    in.fail(in.operand(2), cached_everywhere ? "cp.async.ca copies 4, 8 or 16 bytes" : "cp.async.cg copies 16 bytes");
  CopyAccess access{{.space = Space::shared, .bytes = static_cast<std::uint8_t>(size), .own_block = true}};
  DraftOperation operation{.operation = {.semantics = Semantics::cp_async}};
  const Place to = place_in(in, in.operand(0), Space::shared);
  const syntax::Operand& source_text = in.operand(1);
  const Place from = place(in, source_text);
  if (from.space.value_or(Space::global) != Space::global) in.fail(source_text, "cp.async copies from global memory");
  operation.sources = {to.base, from.base};
  access.source_offset = from.offset;
  access.narrow_source = in.class_of(from.base) == RegisterClass::word;
  std::size_t next = 3;
  const std::size_t policies = match.has(".L2::cache_hint") ? 1 : 0;
  if (in.operands().size() > next + policies) {
    const syntax::Operand& extra = in.operand(next++);
    const auto named = extra.kind == Kind::name ? in.names.find(extra.text) : std::nullopt;
    access.ignores_source = named && named->kind == Named::Kind::register_ && in.bits_of(named->value) == 1;
    access.has_source_size = !access.ignores_source;
    if (extra.kind == Kind::number && immediate(in, extra) > size)
      in.fail(extra, fmt::format("cp.async reads at most the {} bytes that it writes", size));
    const Requirement ignoring = since(80, {7, 5});
    if (const auto rule = in.unmet(ignoring); rule && access.ignores_source)
      in.fail(extra, fmt::format("cp.async with a predicate {}", *rule));
    operation.sources.push_back(source(in, extra, *find_ptx_type(access.ignores_source ? "pred" : "u32")));
  }
  take_policy(in, match, next);
  add_access(in, std::move(operation), access, to);
}

void lower::cp_async_wait(Context& in, const Match& match) {
  WaitGroups wait{.all = match.has(".wait_all")};
  if (!wait.all)
    wait.pending = in.operand(0).negative ? most_groups : static_cast<std::uint32_t>(std::min(immediate(in, in.operand(0)), most_groups));
  if (in.operands().size() > (match.has(".wait_all") ? 0 : 1)) in.fail(fmt::format("{} takes fewer operands", in.opcode()));
  in.add({.operation = {.semantics = Semantics::cp_async_wait}}, wait);
}

}  // namespace warpmat::code
