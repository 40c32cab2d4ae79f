#include <algorithm>
#include <array>

#include <fmt/core.h>

#include <warpmat/ptx/catalogue/kernel_row.h>
#include <warpmat/ptx/program/atomic_operation.h>
#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Qualifier;
using catalogue::Semantics;
using Kind = syntax::Operand::Kind;

Space space_of(const Match& match) {
  constexpr auto spaces = std::to_array<std::pair<Qualifier, Space>>({{Qualifier::shared, Space::shared},
                                                                      {Qualifier::shared_cta, Space::shared},
                                                                      {Qualifier::shared_cluster, Space::shared},
                                                                      {Qualifier::global, Space::global},
                                                                      {Qualifier::local, Space::local},
                                                                      {Qualifier::constant, Space::constant},
                                                                      {Qualifier::param, Space::param},
                                                                      {Qualifier::param_entry, Space::param},
                                                                      {Qualifier::param_func, Space::param}});
  for (const auto& [qualifier, space] : spaces)
    if (match.has(qualifier)) return space;
  return Space::generic;
}

namespace {

/// Whether the text names shared memory of the lane's own block.
bool names_own_block(const Match& match) {
  return match.has(Qualifier::shared) || match.has(Qualifier::shared_cta);
}

/// Whether other threads observe the access in a defined order, or it depends on them.
bool is_ordered(const Match& match) {
  using enum Qualifier;
  constexpr std::array ordering{volatile_, relaxed, acquire, release, acq_rel, mmio, cv};
  return std::ranges::any_of(ordering, [&](Qualifier q) { return match.has(q); });
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
  access.within_block = match.has(Qualifier::cta);
  return access;
}

}  // namespace

std::optional<AtomicOperation> atomic_operation(const Match& match) {
  for (const auto& [qualifier, operation] : atomic_names)
    if (match.has(qualifier)) return operation;
  return std::nullopt;
}

std::string arithmetic_row(AtomicOperation operation, const DataType& type) {
  if (!type.is_floating()) return {};
  switch (operation) {
    case AtomicOperation::add: return fmt::format("add.rn.{}", type.name);
    case AtomicOperation::min: return fmt::format("min.{}", type.name);
    case AtomicOperation::max: return fmt::format("max.{}", type.name);
    default: return {};
  }
}

template <typename A>
void FunctionResolver::add_access(DraftOperation operation, A access, const Place& place) {
  if (access.space == Space::generic && place.space) access.space = *place.space;
  if (access.space == Space::param && place.space == Space::local) access.space = Space::local;
  if (place.space == Space::local && access.space != Space::local) fail("the variable is in local memory");
  access.relative = place.space == Space::local;
  access.offset = place.offset;
  access.narrow_address = class_of(place.base) == RegisterClass::word;
  operation.operation.payload = draft_.program.add(access);
  add(std::move(operation));
}

/// Whether registers that a vector lists are declared with several types, which ptxas then does not compare with the statement's.
bool FunctionResolver::has_several_types(std::span<const syntax::Operand> items) const {
  if (items.size() < 2) return false;
  const DataType* first = nullptr;
  for (const syntax::Operand& item : items) {
    const auto named = item.kind == Kind::name ? names_.find(item.text) : std::nullopt;
    if (!named || named->kind != Named::Kind::register_) continue;
    const DataType* const type = function_.registers[static_cast<std::size_t>(named->value)].type;
    if (first != nullptr && type != first) return true;
    first = type;
  }
  return false;
}

/// After `count` operands only the cache policy of .L2::cache_hint may follow; it has no effect.
void FunctionResolver::take_policy(const Match& match, std::size_t count) {
  if (match.has(Qualifier::L2_cache_hint)) source(operand(count++), *find_ptx_type("b64"));
  if (count < statement_->operands.size()) fail(operand(count), fmt::format("{} takes {} operands", statement_->opcode, count));
}

void FunctionResolver::load(const Match& match) {
  const DataType& type = *match.types.back();
  LoadAccess access{plain_access(match), type.is_signed_integer()};
  DraftOperation operation;
  operation.operation.semantics = match.pattern->row.semantics;
  // Registers may be wider than the type, so the access itself extends the value.
  const syntax::Operand& written = operand(0);
  if (list_ != nullptr) static_cast<void>(list_data(0, access.vector));
  const std::span<const syntax::Operand> items = written.kind == Kind::vector ? std::span(written.items) : std::span(&written, 1);
  if (items.size() != access.vector)
    fail(written, fmt::format("{} loads {} registers, {} are given", statement_->opcode, access.vector, items.size()));
  int bits = 0;
  const bool mixed = has_several_types(items);
  for (const syntax::Operand& item : items) {
    if (item.discards() && written.kind == Kind::vector) continue;
    const Value value = named_register(item);
    if (!mixed) check_type(item, value, type);
    const int register_bits = bits_of(value);
    if (bits != 0 && register_bits != bits) fail(item, "the registers of a vector have one width");
    bits = register_bits;
  }
  if (bits == 0) fail(written, fmt::format("{} loads nothing: one register of a vector is not _", statement_->opcode));
  if (bits < type.bits || bits == 1) fail(written, fmt::format("{} does not fit registers of {} bits", statement_->opcode, bits));
  for (const syntax::Operand& item : items)
    operation.results.push_back(item.discards() ? temporary(register_class_of(bits)) : named_register(item));
  access.register_bits = static_cast<std::uint8_t>(bits);
  const Place where = place_in(operand(1), access.space);
  access.uniform = is_constant(where.base) && where.space != Space::local;
  operation.sources = {where.base};
  take_policy(match, 2);
  add_access(std::move(operation), access, where);
}

void FunctionResolver::store(const Match& match) {
  const DataType& type = *match.types.back();
  StoreAccess access{plain_access(match)};
  DraftOperation operation;
  operation.operation.semantics = match.pattern->row.semantics;
  const Place where = place_in(operand(0), access.space);
  if (access.space == Space::param && !where.parameter) fail(operand(0), "st.param writes .param variables that the function declares");
  operation.sources = {where.base};
  const syntax::Operand& read = operand(1);
  take_policy(match, 2);
  const std::vector<Meaning> in_list = list_ != nullptr ? list_data(1, access.vector) : std::vector<Meaning>{};
  const std::span<const syntax::Operand> items = read.kind == Kind::vector ? std::span(read.items) : std::span(&read, 1);
  if (items.size() != access.vector)
    fail(read, fmt::format("{} stores {} registers, {} are given", statement_->opcode, access.vector, items.size()));
  RegisterClass register_class = register_class_of(type.bits);
  for (const syntax::Operand& item : items)
    if (item.kind == Kind::name && item.offset == 0 && names_.find(item.text))
      register_class = std::max(register_class, class_of(named_register(item)));
  const bool mixed = has_several_types(items);
  int width = 0;  // bits of the registers
  for (const syntax::Operand& item : items) {
    // A register wider than the type supplies its low bits; immediates and narrower registers use the type's class.
    const bool names_register =
        item.kind == Kind::name && item.offset == 0 && names_.find(item.text) && names_.find(item.text)->kind == Named::Kind::register_;
    Value value = names_register     ? named_register(item)
                  : list_ == nullptr ? source(item, type)
                                     : source_of(in_list[operation.sources.size() - 1], item, type, {});
    if (!mixed) check_type(item, value, type);
    if (names_register) {
      if (width != 0 && bits_of(value) != width) fail(item, "the registers of a vector have one width");
      width = bits_of(value);
    }
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

/// multimem.ld_reduce d, [a]; multimem.st and multimem.red [a], b.
void FunctionResolver::multimem(const Match& match) {
  const DataType& type = *match.types.back();
  const bool loads = match.has(Qualifier::ld_reduce);
  MultimemAccess access{access_of(match), reduction(match, type)};
  access.space = Space::global;
  access.wide_sums = match.has(Qualifier::acc_f32);
  DraftOperation operation;
  operation.operation.semantics = Semantics::multimem;
  if (loads) operation.results = group(operand(0), type, true, access.vector);
  const Place where = place_in(operand(loads ? 1 : 0), access.space);
  operation.sources = {where.base};
  if (!loads)
    for (const Value value : group(operand(1), type, false, access.vector)) operation.sources.push_back(value);
  add_access(std::move(operation), access, where);
}

/// atom d, [a], b{, c} and red [a], b. A trailing policy has no effect.
void FunctionResolver::atomic(const Match& match) {
  const DataType& type = *match.types.back();
  const bool reads = !match.is(catalogue::Name::red);
  AtomicAccess access{access_of(match), reduction(match, type), catalogue::is_number(type, Format::f32)};
  DraftOperation operation;
  operation.operation.semantics = Semantics::atomic;
  std::size_t next = 0;
  may_discard_ = true;
  if (reads) operation.results = group(operand(next++), type, true, access.vector);
  may_discard_ = false;
  const Place where = place_in(operand(next++), access.space);
  operation.sources = {where.base};
  const int values = access.operation == AtomicOperation::compare_and_swap ? 2 : 1;
  for (int i = 0; i < values; ++i)
    for (const Value value : group(operand(next++), type, false, access.vector)) operation.sources.push_back(value);
  take_policy(match, next);
  add_access(std::move(operation), access, where);
}

/// cp.async.ca [dst], [src], size{, source size or ignored}{, policy}.
void FunctionResolver::cp_async(const Match& match) {
  const std::uint64_t size = immediate(operand(2));
  const bool cached_everywhere = match.has(Qualifier::ca);
  if (size != 16 && (!cached_everywhere || (size != 4 && size != 8)))
    fail(operand(2), cached_everywhere ? "cp.async.ca copies 4, 8 or 16 bytes" : "cp.async.cg copies 16 bytes");
  CopyAccess access{{.space = Space::shared, .bytes = static_cast<std::uint8_t>(size), .own_block = true}};
  DraftOperation operation;
  operation.operation.semantics = Semantics::cp_async;
  const Place to = place_in(operand(0), Space::shared);
  const syntax::Operand& source_text = operand(1);
  const Place from = place(source_text);
  if (from.space.value_or(Space::global) != Space::global) fail(source_text, "cp.async copies from global memory");
  operation.sources = {to.base, from.base};
  access.source_offset = from.offset;
  access.narrow_source = class_of(from.base) == RegisterClass::word;
  std::size_t next = 3;
  const std::size_t policies = match.has(Qualifier::L2_cache_hint) ? 1 : 0;
  if (statement_->operands.size() > next + policies) {
    const syntax::Operand& extra = operand(next++);
    const auto named = extra.kind == Kind::name ? names_.find(extra.text) : std::nullopt;
    access.ignores_source = named && named->kind == Named::Kind::register_ && bits_of(named->value) == 1;
    access.has_source_size = !access.ignores_source;
    if (extra.kind == Kind::number && immediate(extra) > size)
      fail(extra, fmt::format("cp.async reads at most the {} bytes that it writes", size));
    const Requirement ignoring = since(80, {7, 5});
    if (const auto rule = unmet(ignoring, *draft_.program.target, draft_.program.module->version); rule && access.ignores_source)
      fail(extra, fmt::format("cp.async with a predicate {}", *rule));
    operation.sources.push_back(source(extra, *find_ptx_type(access.ignores_source ? "pred" : "u32")));
  }
  take_policy(match, next);
  add_access(std::move(operation), access, to);
}

void FunctionResolver::wait_group(const Match& match) {
  DraftOperation operation;
  operation.operation.semantics = Semantics::cp_async_wait;
  WaitGroups wait{.all = match.has(Qualifier::wait_all)};
  if (!wait.all)
    wait.pending = operand(0).negative ? most_groups : static_cast<std::uint32_t>(std::min(immediate(operand(0)), most_groups));
  operation.operation.payload = draft_.program.add(wait);
  if (statement_->operands.size() > (match.has(Qualifier::wait_all) ? 0 : 1))
    fail(fmt::format("{} takes fewer operands", statement_->opcode));
  add(std::move(operation));
}

}  // namespace warpmat::code
