// Statements on mbarriers, bulk copies, tensor maps and clusters. Every address among their sources has 64 bits and includes its offset.

#include <array>
#include <utility>

#include <fmt/core.h>

#include <warpmat/ir/address_windows.h>
#include <warpmat/ir/atomic_operation.h>
#include <warpmat/lower/makers.h>
#include <warpmat/lower/operands.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Name;
using catalogue::Qualifier;
using catalogue::Semantics;
using Kind = syntax::Operand::Kind;

namespace {

const DataType& type_named(std::string_view name) {
  return *find_ptx_type(name);
}

bool names_shared(const Match& match) {
  return match.has(".shared") || match.has(".shared::cta") || match.has(".shared::cluster");
}

/// The element types that `operation` can reduce in a tensor (PTX ISA 9.1 section 9.7.9.27.1.4).
std::vector<std::string_view> reducible_types(AtomicOperation operation) {
  switch (operation) {
    case AtomicOperation::add: return {"u32", "s32", "u64", "f16", "bf16", "f32", "f64"};
    case AtomicOperation::min:
    case AtomicOperation::max: return {"u32", "s32", "u64", "s64", "f16", "bf16"};
    case AtomicOperation::increase:
    case AtomicOperation::decrease: return {"u32"};
    default: return {"b32", "b64"};
  }
}

/// st.async [a], value or {values}, [mbarrier]; red.async [a], value, [mbarrier].
void remote_store(Context& in, const Match& match) {
  const DataType& type = *match.types.back();
  const auto values = static_cast<std::size_t>(match.vector());
  BulkCopy copy{.kind = BulkCopy::Kind::from_registers,
                .remote = true,
                .space = match.has(".shared::cluster") ? Space::shared : Space::generic,
                .values = static_cast<std::uint8_t>(values),
                .value_bytes = static_cast<std::uint8_t>(type.bytes())};
  if (match.is(Name::red)) copy.reductions = {reduction(in, match, type)};
  DraftOperation operation{.operation = {.semantics = Semantics::bulk_copy}};
  operation.sources = {address(in, in.operand(0), copy.space), address(in, in.operand(2), copy.space)};
  for (const Value value : group(in, in.operand(1), type, false, values)) operation.sources.push_back(value);
  in.must_end_at(3);
  in.add(std::move(operation), std::move(copy));
}

BulkCopy described_copy(Context& in, const Match& match) {
  BulkCopy copy{.kind = match.has(".prefetch")     ? BulkCopy::Kind::prefetch
                        : match.has(".bulk_group") ? BulkCopy::Kind::store
                        : match.has(".global")     ? BulkCopy::Kind::load
                                                   : BulkCopy::Kind::between_blocks,
                .im2col = match.has(".im2col") || match.has(".im2col_no_offs"),
                .multicast = match.has(".multicast::cluster") || match.has(".multicast::cluster::all"),
                .remote = match.has(".shared::cluster"),
                .pair = match.has(".cta_group::2")};
  constexpr std::array<Qualifier, 5> ranks{".1d", ".2d", ".3d", ".4d", ".5d"};
  if (match.has(".tensor"))
    for (std::size_t i = 0; i < ranks.size(); ++i)
      if (match.has(ranks[i])) copy.rank = static_cast<int>(i) + 1;
  if (match.has(".reduce")) {
    if (copy.rank == 0) {
      copy.reductions = {reduction(in, match, *match.types.back())};
    } else {
      const AtomicOperation operation = reduction(in, match, type_named("b32")).operation;
      for (const std::string_view type : reducible_types(operation)) copy.reductions.push_back(reduction(in, match, type_named(type)));
    }
  }
  return copy;
}

/// clusterlaunchcontrol.try_cancel [answer], [mbarrier].
void cancel_sources(Context& in, const BulkCopy& copy, DraftOperation& operation) {
  in.must_end_at(2);
  operation.sources = {address(in, in.operand(0), copy.space), address(in, in.operand(1), copy.space)};
}

/// st.bulk [a], bytes, 0.
void fill_sources(Context& in, const BulkCopy& copy, DraftOperation& operation) {
  in.must_end_at(3);
  const syntax::Operand& bytes = in.operand(1);
  constexpr std::uint64_t unit = 8, most = 16 << 20;
  if (bytes.kind == Kind::number && (bytes.negative || immediate(in, bytes) % unit != 0 || immediate(in, bytes) > most))
    in.fail(bytes, fmt::format("{} bytes: st.bulk sets a multiple of 8 up to 16777216", bytes.text));
  operation.sources = {address(in, in.operand(0), copy.space), source(in, bytes, type_named("u64"))};
  if (immediate(in, in.operand(2)) != 0) in.fail(in.operand(2), "st.bulk writes zeros: its value is 0");
}

/// [to], [from], bytes, [mbarrier], offsets, mask, policy. For a tensor, [map, {coordinates}] replaces one of the two, and there are no
/// bytes.
void bulk_sources(Context& in, const Match& match, const BulkCopy& copy, DraftOperation& operation) {
  std::size_t next = 0;
  const auto take_address = [&](Space space) { operation.sources.push_back(address(in, in.operand(next++), space)); };
  const auto take = [&](std::string_view type) { operation.sources.push_back(source(in, in.operand(next++), type_named(type))); };
  const Space outside = copy.rank == 0 ? Space::global : Space::generic;  // tensor maps have generic addresses
  std::size_t map_at = 0;
  if (copy.kind != BulkCopy::Kind::prefetch) take_address(copy.kind == BulkCopy::Kind::store ? outside : Space::shared);
  if (copy.kind == BulkCopy::Kind::load || copy.kind == BulkCopy::Kind::prefetch) map_at = next;
  take_address(copy.kind == BulkCopy::Kind::load || copy.kind == BulkCopy::Kind::prefetch ? outside : Space::shared);
  if (copy.rank == 0) {
    take("u32");
  } else {
    const syntax::Operand& map = in.operand(map_at);
    const int coordinates = match.has(".tile::gather4") || match.has(".tile::scatter4") ? 5 : copy.rank;  // four rows, one column
    if (map.items.size() != 2) in.fail(map, fmt::format("{} takes [map, {{coordinates}}]", in.opcode()));
    for (const Value value : group(in, map.items[1], type_named("s32"), false, static_cast<std::size_t>(coordinates)))
      operation.sources.push_back(value);
  }
  if (copy.kind == BulkCopy::Kind::load || copy.kind == BulkCopy::Kind::between_blocks) take_address(Space::shared);
  const bool wide = match.has(".im2col::w") || match.has(".im2col::w::128");
  if (match.has(".im2col") || wide)
    for (const Value value : group(in, in.operand(next++), type_named("u16"), false, wide ? 2 : static_cast<std::size_t>(copy.rank) - 2))
      operation.sources.push_back(value);
  if (copy.multicast) take("u16");
  if (match.has(".L2::cache_hint")) source(in, in.operand(next++), type_named("b64"));
  if (match.has(".cp_mask")) source(in, in.operand(next++), type_named("u16"));
  in.must_end_at(next);
}

}  // namespace

/// The address in brackets as 64 bits, in `space`. A variable's address becomes generic if `space` is.
Value address(Context& in, const syntax::Operand& operand, Space space) {
  const Place where = place(in, operand);
  const syntax::Operand& written = operand.items.front();
  if (where.number) in.fail(written, "only .local addresses may be numbers: move it to a register");
  const Space own = where.parameter ? Space::param : where.space.value_or(space);
  if (space != Space::generic && own != space)
    in.fail(written, fmt::format("'{}' is a .{} variable, and {} means {} memory", written.text, name(own), in.opcode(), name(space)));
  const Value base = in.wide(where.base);
  auto offset = static_cast<std::uint64_t>(where.offset);
  if (where.space == Space::local) in.fail(operand, fmt::format("{} takes no address of local memory", in.opcode()));
  if (space == Space::generic && (where.space == Space::shared || where.space == Space::param)) offset += window_start(*where.space);
  return offset == 0 ? base : in.computed(RegisterClass::wide, "add.s64", {base, in.constant(RegisterClass::wide, offset)});
}

/// mbarrier.init [a], count; .inval [a]; .expect_tx [a], bytes; .arrive state, [a]{, count}; .test_wait p, [a], state{, time}.
void lower::mbarrier(Context& in, const Match& match) {
  using Action = Mbarrier::Action;
  const bool arrives_now = match.has(".arrive") || match.has(".arrive_drop"), waits = match.has(".test_wait") || match.has(".try_wait");
  Mbarrier what{.space = names_shared(match) ? Space::shared : Space::generic,
                .remote = match.has(".shared::cluster"),
                .expects = arrives_now && match.has(".expect_tx"),
                .parity = match.has(".parity"),
                .completes = !match.has(".noComplete")};
  what.action = match.is(Name::cp)          ? Action::copies_arrive
                : match.has(".init")        ? Action::init
                : match.has(".inval")       ? Action::invalidate
                : match.has(".arrive")      ? Action::arrive
                : match.has(".arrive_drop") ? Action::arrive_and_drop
                : waits                     ? Action::wait
                : match.has(".expect_tx")   ? Action::expect
                                            : Action::complete;
  const bool arrives = what.action == Action::arrive || what.action == Action::arrive_and_drop;
  DraftOperation operation{.operation = {.semantics = Semantics::mbarrier}};
  std::size_t next = 0;
  if (arrives || waits) {
    const syntax::Operand& written = in.operand(next++);
    const bool ignored = written.kind == Kind::name && written.discards();
    if (what.remote && arrives && !ignored) in.fail(written, fmt::format("{} returns no state: the operand is _", in.opcode()));
    if (waits || !ignored) operation.results = {result(in, written, type_named(waits ? "pred" : "b64"))};
  }
  operation.sources = {address(in, in.operand(next++), what.space)};
  const bool needs_count = what.action == Action::init || what.action == Action::expect || what.action == Action::complete ||
                           what.expects || (arrives && !what.completes);
  if (needs_count || (arrives && next < in.operands().size())) {
    const Requirement counts_arrivals{.baseline = 90, .ptx = {7, 8}};
    if (!needs_count)
      if (const auto rule = in.unmet(counts_arrivals)) in.fail(fmt::format("{} with a count {}", in.opcode(), *rule));
    what.has_count = true;
    operation.sources.push_back(source(in, in.operand(next++), type_named("u32")));
  }
  if (waits) operation.sources.push_back(source(in, in.operand(next++), type_named(what.parity ? "u32" : "b64")));
  if (match.has(".try_wait") && next < in.operands().size())
    source(in, in.operand(next++), type_named("u32"));  // the suspend time hint has no effect
  in.must_end_at(next);
  in.add(std::move(operation), what);
}

void lower::bulk_copy(Context& in, const Match& match) {
  const bool cancels = match.is(Name::clusterlaunchcontrol), fills = match.is(Name::st) && match.has(".bulk");
  if (!match.is(Name::cp) && !cancels && !fills) return remote_store(in, match);
  BulkCopy copy = described_copy(in, match);
  if (cancels || fills) copy.space = match.has(".shared::cta") ? Space::shared : Space::generic;
  DraftOperation operation{.operation = {.semantics = Semantics::bulk_copy}};
  if (cancels) {
    copy.kind = BulkCopy::Kind::cancel;
    cancel_sources(in, copy, operation);
  } else if (fills) {
    copy.kind = BulkCopy::Kind::fill;
    fill_sources(in, copy, operation);
  } else {
    bulk_sources(in, match, copy, operation);
  }
  in.add(std::move(operation), std::move(copy));
}

void check_bulk_copy(Context& in, const Match& match) {
  DraftOperation unread;
  bulk_sources(in, match, described_copy(in, match), unread);
}

/// cp.async.bulk.wait_group{.read} n.
void lower::bulk_wait(Context& in, const Match&) {
  const auto groups = static_cast<std::uint32_t>(std::min<std::uint64_t>(immediate(in, in.operand(0)), most_groups / 2));
  in.add({.operation = {.semantics = Semantics::bulk_wait}}, WaitGroups{.pending = groups});
}

/// mapa and getctarank.
void lower::cluster_rank(Context& in, const Match& match) {
  DraftOperation operation{.operation = {.semantics = Semantics::cluster_rank}};
  const bool wide = match.types.front()->bits == 64;
  // Of 32 bits an H200 takes any address for one of shared memory.
  const bool shared = match.has(".shared::cluster") || !wide;
  operation.operation.payload =
      in.draft.program.add(ClusterAddress{.asks_rank = match.is(Name::getctarank), .generic = !shared, .wide = wide});
  read_operands(in, match, operation);
  if (const auto own = variable_space(in, in.operand(1)); own.value_or(Space::shared) != Space::shared)
    in.fail(in.operand(1), fmt::format("'{}' is a .{} variable, and {} takes shared memory", in.operand(1).text, name(*own), in.opcode()));
  in.add(std::move(operation));
}

/// tensormap.replace.tile.FIELD [map], {ordinal,} value; tensormap.cp_fenceproxy [to], [from], 128.
void lower::tensor_map(Context& in, const Match& match) {
  using enum TensorMapEdit::Field;
  struct Row {
    Qualifier qualifier;
    TensorMapEdit::Field field;
    bool has_ordinal;
  };
  constexpr std::array rows{Row{".global_address", global_address, false},
                            Row{".rank", rank, false},
                            Row{".box_dim", box_dim, true},
                            Row{".global_dim", global_dim, true},
                            Row{".global_stride", global_stride, true},
                            Row{".element_stride", element_stride, true},
                            Row{".elemtype", elemtype, false},
                            Row{".interleave_layout", interleave_layout, false},
                            Row{".swizzle_mode", swizzle_mode, false},
                            Row{".fill_mode", fill_mode, false},
                            Row{".swizzle_atomicity", swizzle_atomicity, false}};
  TensorMapEdit edit{.field = copy, .space = names_shared(match) ? Space::shared : match.has(".global") ? Space::global : Space::generic};
  for (const Row& row : rows)
    if (match.has(row.qualifier)) {
      edit.field = row.field;
      edit.has_ordinal = row.has_ordinal;
    }
  DraftOperation operation{.operation = {.semantics = Semantics::tensor_map}};
  std::size_t next = 0;
  if (edit.field == copy) {
    edit.space = Space::global;
    operation.sources = {address(in, in.operand(0), Space::global), address(in, in.operand(1), Space::shared)};
    if (immediate(in, in.operand(2)) != 128) in.fail(in.operand(2), "a tensor map has 128 bytes");
    next = 3;
  } else {
    operation.sources = {address(in, in.operand(next++), edit.space)};
    if (edit.has_ordinal) {
      const std::uint64_t ordinal = immediate(in, in.operand(next));
      if (ordinal > 4) in.fail(in.operand(next), "a tensor has 5 dimensions, from 0 on");
      operation.sources.push_back(in.constant(RegisterClass::word, ordinal));
      ++next;
    }
    const bool number = edit.field == elemtype || edit.field == interleave_layout || edit.field == swizzle_mode ||
                        edit.field == fill_mode || edit.field == swizzle_atomicity;
    if (number) immediate(in, in.operand(next));  // ptxas does not accept a register here
    operation.sources.push_back(source(in, in.operand(next++), *match.types.back()));
  }
  in.must_end_at(next);
  in.add(std::move(operation), edit);
}

}  // namespace warpmat::code
