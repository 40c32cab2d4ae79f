#include <warpmat/machine/bulk_copies.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include <warpmat/machine/atomic_update.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/cluster.h>
#include <warpmat/machine/mbarrier.h>
#include <warpmat/machine/stored_buffer.h>
#include <warpmat/numeric/canonical_nan.h>
#include <warpmat/tables/types.h>

namespace warpmat::machine {

using code::BulkCopy;

namespace {

/// A load of tf32 rounds f32 to nearest, ties to even; NaN becomes one with 10 fraction bits set (measured on an H200). Loads of f32_ftz
/// and tf32_ftz do not flush (measured).
std::uint32_t round_to_tf32(std::uint32_t bits) {
  constexpr std::uint32_t dropped = 0x1fff, nan = canonical_f32_nan & ~dropped, half = 0x1000;
  if ((bits & 0x7fffffff) > 0x7f800000) return nan;
  return (bits + half - 1 + (bits >> 13 & 1)) & ~dropped;
}

bool rounds(TensorMap::Type type) {
  return type == TensorMap::Type::tf32 || type == TensorMap::Type::tf32_ftz;
}

void round_numbers(TensorMap::Type type, std::uint8_t* numbers, std::uint64_t bytes) {
  if (!rounds(type)) return;
  for (std::uint64_t i = 0; i + 4 <= bytes; i += 4) {
    std::uint32_t word;
    std::memcpy(&word, numbers + i, 4);
    word = round_to_tf32(word);
    std::memcpy(numbers + i, &word, 4);
  }
}

/// Fills bytes outside a tensor: zeros, or 0x7ff7 in every 16 bits whatever the type (measured on an H200).
void fill_outside(const TensorMap& map, std::uint8_t* to, std::uint64_t bytes) {
  for (std::uint64_t i = 0; i < bytes; ++i) to[i] = map.fill() == TensorMap::Fill::zeros ? 0 : i % 2 == 0 ? 0xf7 : 0x7f;
}

/// Adds a range behind the others: to the last one, if it continues that.
void add_range(std::vector<SharedRange>& ranges, const SharedRange& range) {
  if (!ranges.empty() && ranges.back().rank == range.rank && ranges.back().offset + ranges.back().bytes == range.offset)
    ranges.back().bytes += range.bytes;
  else
    ranges.push_back(range);
}

/// The type as which elements of a tensor are reduced; nullptr if they have less than a byte.
const DataType* reduced_type(TensorMap::Type type) {
  static const std::array types = [] {
    constexpr std::array<std::string_view, 13> names{"u8",  "u16", "u32",  "s32", "u64", "s64", "f16",
                                                     "f32", "f64", "bf16", "f32", "f32", "f32"};  // in the order of TensorMap::Type
    static_assert(static_cast<std::size_t>(TensorMap::Type::tf32_ftz) == names.size() - 1);
    std::array<const DataType*, names.size()> found{};
    std::ranges::transform(names, found.begin(), find_ptx_type);
    return found;
  }();
  const auto i = static_cast<std::size_t>(type);
  return i < types.size() ? types[i] : nullptr;
}

}  // namespace

/// Selected by the elements' type, or by their width if the operation works on bits.
const code::Reduction* reduction_of(const BulkCopy& copy, const TensorMap* map) {
  if (copy.reductions.empty()) return nullptr;
  if (map == nullptr) return &copy.reductions.front();
  const DataType* const type = reduced_type(map->type());
  if (type == nullptr) return nullptr;
  const int width = std::max(type->bits, 32);
  const auto found = std::ranges::find_if(copy.reductions, [&](const code::Reduction& r) {
    return r.type == type || (r.type->type_class == DataType::Class::bits && r.type->bits == width);
  });
  return found == copy.reductions.end() ? nullptr : &*found;
}

void for_each_part(const TensorMap& map, const TensorPlace& place, bool stores, std::uint32_t shared, std::uint32_t shared_base,
                   const std::function<void(const TensorPart&)>& visit) {
  std::size_t i = 0;
  for_each_row(stores ? stored_runs(map, place) : tensor_runs(map, place), [&](const TensorRow& row) {
    const auto chunks = [&](std::uint32_t first, std::uint32_t last, bool inside) {
      for_each_chunk(map, shared_base, shared + row.shared, first, last, [&](std::uint32_t begin, std::uint32_t count, std::uint32_t at) {
        const auto address = inside ? std::optional(row.address + (begin - row.begin)) : std::nullopt;
        visit({at, address, count, i, begin});
      });
    };
    if (!stores) chunks(0, row.begin, false);
    chunks(row.begin, row.end, true);
    if (!stores) chunks(row.end, static_cast<std::uint32_t>(map.row_bytes()), false);
    ++i;
  });
}

void for_each_moved(const BulkTransfer& transfer, std::uint32_t shared_base,
                    const std::function<void(std::uint64_t offset, std::uint64_t address, std::uint64_t bytes)>& visit) {
  if (!transfer.map) return visit(transfer.shared.offset, transfer.global, transfer.bytes);
  for_each_part(*transfer.map, transfer.tensor_place, !transfer.loads(), transfer.shared.offset, shared_base, [&](const TensorPart& part) {
    if (part.address) visit(part.offset, *part.address, part.bytes);
  });
}

/// The parity of an mbarrier's phase.
std::uint64_t BulkCopies::phase_of(const SharedPlace& barrier) const {
  std::uint64_t bits;
  std::memcpy(&bits, cluster_.block(barrier.rank).shared().data() + barrier.offset, sizeof bits);
  return MbarrierWord(bits).phase();
}

bool BulkCopies::arrive_at(const SharedPlace& barrier) {
  if (std::ranges::none_of(pending_, [&](const BulkTransfer& transfer) { return transfer.barrier == barrier; })) return false;
  const std::uint64_t phase = phase_of(barrier);
  const bool all = cluster_.launch().options.timing == Timing::card;
  bool over = false;  // a copy that the phase does not need may be later than its end
  std::size_t left = 0;
  for (BulkTransfer& transfer : pending_) {
    if (transfer.barrier == barrier && !over) {
      perform(transfer);
      over = !all && phase_of(barrier) != phase;
    } else {
      if (&transfer != &pending_[left]) pending_[left] = std::move(transfer);
      ++left;
    }
  }
  pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(left), pending_.end());
  cluster_.make_progress();
  return true;
}

void BulkCopies::finish(const SharedPlace& issuer, int warp, int lane, std::uint32_t committed, std::uint32_t groups, bool all) {
  for (std::size_t i = 0; i < pending_.size();) {
    const BulkTransfer& transfer = pending_[i];
    const bool mine = transfer.stores() && transfer.issuer.rank == issuer.rank && transfer.warp == warp && transfer.lane == lane;
    if (!mine || (!all && std::uint64_t{transfer.group} + groups >= committed)) {
      ++i;
      continue;
    }
    perform(pending_[i]);
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  cluster_.make_progress();
}

void BulkCopies::complete(const SharedPlace& issuer, int warp) {
  std::size_t left = 0;
  for (BulkTransfer& transfer : pending_) {
    if (transfer.issuer.rank == issuer.rank && transfer.warp == warp && !adds_floats(transfer)) {
      perform(transfer);
    } else {
      if (&transfer != &pending_[left]) pending_[left] = std::move(transfer);
      ++left;
    }
  }
  if (left == pending_.size()) return;
  pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(left), pending_.end());
  cluster_.make_progress();
}

bool BulkCopies::adds_floats(const BulkTransfer& transfer) {
  return transfer.stores() && !transfer.copy->reductions.empty() &&
         reduction_of(*transfer.copy, transfer.map ? &*transfer.map : nullptr)->arithmetic != nullptr;
}

bool BulkCopies::adds_floats(const SharedPlace& issuer, int warp, int lane) const {
  return std::ranges::any_of(pending_, [&](const BulkTransfer& transfer) {
    return transfer.issuer.rank == issuer.rank && transfer.warp == warp && transfer.lane == lane && adds_floats(transfer);
  });
}

BulkEvent::BulkEvent(const BulkTransfer& transfer)
    : number(transfer.number),
      rank(transfer.issuer.rank),
      warp(transfer.warp),
      lane(transfer.lane),
      statement(transfer.statement),
      reduces(!transfer.copy->reductions.empty()),
      from_registers(transfer.copy->kind == BulkCopy::Kind::from_registers || transfer.copy->kind == BulkCopy::Kind::cancel),
      map(transfer.map ? &*transfer.map : nullptr),
      transfer_(&transfer) {}

BulkEvent BulkTransfer::event() const {
  const auto range = [&](const SharedPlace& place, std::uint64_t count) { return SharedRange{place.rank, place.offset, count}; };
  BulkEvent event(*this);
  if (reads_shared()) event.reads = range(shared, bytes);
  if (writes_shared()) event.writes = range(written(), bytes);
  if (barrier) event.barrier = range(*barrier, sizeof(std::uint64_t));
  return event;
}

void BulkCopies::perform(BulkTransfer& transfer) {
  if (!transfer.loads() && !transfer.has_read) read_source(transfer);
  if (transfer.stores())
    store(transfer);
  else if (transfer.loads())
    load(transfer);
  else
    write_shared(transfer);
  if (transfer.barrier) count(transfer);
  tell_completed(transfer);
}

/// Writes data from another block or from registers.
void BulkCopies::write_shared(const BulkTransfer& transfer) {
  std::uint8_t* const to = cluster_.block(transfer.to.rank).shared().data() + transfer.to.offset;
  if (transfer.copy->reductions.empty()) {
    std::memcpy(to, transfer.read.data(), transfer.read.size());
  } else {
    const code::Reduction& reduction = transfer.copy->reductions.front();
    const auto width = static_cast<std::size_t>(reduction.type->bytes());
    for (std::size_t i = 0; i + width <= transfer.read.size(); i += width) {
      std::uint64_t value = 0;
      std::memcpy(&value, transfer.read.data() + i, width);
      update_integer(reduction.operation, *reduction.type, to + i, value, 0, false);
    }
  }
  written_.push_back({transfer.to.rank, transfer.to.offset, transfer.bytes});
}

void BulkCopies::tell_completed(const BulkTransfer& transfer) {
  if (cluster_.observers().want(EventKinds::copies)) {
    BulkEvent event = transfer.event();
    event.written = written_;
    cluster_.observers().tell(EventKinds::copies, &Observer::bulk_completes, event);
  }
  written_.clear();
}

void BulkCopies::count(const BulkTransfer& transfer) {
  std::uint8_t* const at = cluster_.block(transfer.barrier->rank).shared().data() + transfer.barrier->offset;
  std::uint64_t bits;
  std::memcpy(&bits, at, 8);
  MbarrierWord word(bits);
  if (const auto problem = word.complete(transfer.counted_bytes()))
    cluster_.block(transfer.issuer.rank).warps()[static_cast<std::size_t>(transfer.warp)]->trap(transfer.lane, std::nullopt, *problem);
  const bool completes = word.phase() != MbarrierWord(bits).phase();
  bits = word.bits();
  std::memcpy(at, &bits, 8);
  MbarrierHistory& history = cluster_.block(transfer.barrier->rank).mbarriers()[transfer.barrier->offset];
  history.come(transfer.counted_bytes());
  history.add(transfer.warp, transfer.statement, completes);
}

void BulkCopies::load(const BulkTransfer& transfer) {
  Block& block = cluster_.block(transfer.shared.rank);
  std::uint8_t* const shared = block.shared().data();
  DeviceMemory& memory = cluster_.launch().memory;
  if (!transfer.map) {
    if (transfer.bytes != 0)
      std::memcpy(shared + transfer.shared.offset, memory.bytes(transfer.global, transfer.bytes).data(), transfer.bytes);
    written_.push_back({transfer.shared.rank, transfer.shared.offset, transfer.bytes});
    return;
  }
  for (const TensorRun& run : transfer.runs)
    if (!load_whole_rows(transfer, run))
      for (std::size_t i = 0; i < run.count; ++i) load_row(transfer, run.row(i));
}

/// The common case: whole rows of one buffer, each a line of which the swizzle exchanges the chunks. Returns false for other rows.
bool BulkCopies::load_whole_rows(const BulkTransfer& transfer, const TensorRun& run) {
  constexpr std::uint32_t chunk = 16, cache_line = 64;
  constexpr std::size_t rows_ahead = 8;  // they lie apart, so that the CPU does not foresee them
  const TensorMap& map = *transfer.map;
  const auto bytes = static_cast<std::uint32_t>(map.row_bytes());
  const std::uint32_t base = cluster_.launch().program.shared_base, to = transfer.shared.offset + run.first.shared;
  if (map.interleave() != TensorMap::Interleave::none || map.atom() != TensorMap::Atom::bytes_16 || map.chunk_bytes() != chunk)
    return false;
  if (rounds(map.type()) || run.first.begin != 0 || run.first.end != bytes || bytes != map.row_pitch() || bytes % chunk != 0) return false;
  if (map.swizzle() != TensorMap::Swizzle::none && (base + to) % bytes != 0) return false;
  const auto found = find_range(cluster_.launch().memory, run.first.address, run.reach());
  if (!found) return false;
  const std::uint8_t* from = found->data();
  std::uint8_t* line = cluster_.block(transfer.shared.rank).shared().data() + to;
  for (std::size_t i = 0; i < run.count; ++i, from += run.step, line += bytes) {
    const auto address = static_cast<std::uint32_t>(base + to + i * bytes);
    const std::uint32_t exchange = warpmat::swizzled(map.swizzle(), address) - address;
    for (std::uint32_t at = 0; at < bytes && i + rows_ahead < run.count; at += cache_line)
      __builtin_prefetch(from + rows_ahead * run.step + at);
    for (std::uint32_t at = 0; at < bytes; at += chunk) std::memcpy(line + (at ^ exchange), from + at, chunk);
  }
  add_range(written_, {transfer.shared.rank, to, run.count * bytes});
  return true;
}

void BulkCopies::load_row(const BulkTransfer& transfer, const TensorRow& row) {
  const TensorMap& map = *transfer.map;
  row_.resize(map.row_bytes());
  const std::uint32_t inside = row.end - row.begin;
  const std::uint8_t* from = inside == 0 ? nullptr : std::as_const(cluster_.launch().memory).bytes(row.address, inside).data();
  if (inside != row_.size() || rounds(map.type())) {
    fill_outside(map, row_.data(), row.begin);
    if (inside != 0) std::memcpy(row_.data() + row.begin, from, inside);
    round_numbers(map.type(), row_.data() + row.begin, inside);
    fill_outside(map, row_.data() + row.end, row_.size() - row.end);
    from = row_.data();
  }
  std::uint8_t* const shared = cluster_.block(transfer.shared.rank).shared().data();
  for_each_chunk(map, cluster_.launch().program.shared_base, transfer.shared.offset + row.shared, 0,
                 static_cast<std::uint32_t>(row_.size()), [&](std::uint32_t begin, std::uint32_t part, std::uint32_t at) {
                   std::memcpy(shared + at, from + begin, part);
                   add_range(written_, {transfer.shared.rank, at, part});
                 });
}

/// Reads the source at the latest time that the ISA allows, so that a missing wait becomes visible.
void BulkCopies::read_source(BulkTransfer& transfer) {
  Block& block = cluster_.block(transfer.shared.rank);
  const std::uint8_t* const from = block.shared().data() + transfer.shared.offset;
  transfer.read.assign(from, from + transfer.bytes);
  if (cluster_.observers().want(EventKinds::copies)) cluster_.observers().tell(EventKinds::copies, &Observer::bulk_reads, transfer.event());
  transfer.has_read = true;
}

void BulkCopies::store(const BulkTransfer& transfer) {
  if (!transfer.map) return store_bytes(transfer, transfer.global, transfer.read.data(), transfer.bytes);
  const TensorMap& map = *transfer.map;
  row_.resize(map.row_bytes());
  for_each_row(transfer.runs, [&](const TensorRow& row) {
    if (row.end == row.begin) return;
    const std::uint32_t first = transfer.shared.offset;
    for_each_chunk(map, cluster_.launch().program.shared_base, first + row.shared, row.begin, row.end,
                   [&](std::uint32_t begin, std::uint32_t count, std::uint32_t at) {
                     std::memcpy(row_.data() + begin, transfer.read.data() + (at - first), count);
                   });
    store_bytes(transfer, row.address, row_.data() + row.begin, row.end - row.begin);
  });
}

void BulkCopies::store_bytes(const BulkTransfer& transfer, std::uint64_t address, const std::uint8_t* from, std::uint64_t bytes) {
  if (bytes == 0) return;
  std::uint8_t* const to = cluster_.launch().memory.bytes(address, bytes).data();
  if (transfer.copy->reductions.empty()) {
    std::memcpy(to, from, bytes);
    return;
  }
  const code::Reduction& reduction = *reduction_of(*transfer.copy, transfer.map ? &*transfer.map : nullptr);
  const auto width = static_cast<std::size_t>(reduction.type->bytes());
  for (std::size_t i = 0; i + width <= bytes; i += width) {
    std::uint64_t value = 0, old = 0;
    std::memcpy(&value, from + i, width);
    if (reduction.arithmetic == nullptr) {
      update_integer(reduction.operation, *reduction.type, to + i, value, 0, false);
      continue;
    }
    std::memcpy(&old, to + i, width);
    const bool flush = reduction.type->format == Format::f32;
    std::uint64_t sum = combine_numbers(reduction.arithmetic, reduction.modifiers, width == 8, flush ? flush_f32(old) : old,
                                        flush ? flush_f32(value) : value);
    if (flush) sum = flush_f32(sum);
    std::memcpy(to + i, &sum, width);
  }
}

}  // namespace warpmat::machine
