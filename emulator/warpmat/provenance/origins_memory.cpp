#include <warpmat/provenance/origins.h>

#include <algorithm>
#include <array>

#include <warpmat/forms.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/each_lane.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/provenance/async_copies.h>

// Origins through memory: loads, stores, copies, rows of ldmatrix, bulk copies.

namespace warpmat::provenance {

using catalogue::Semantics;
using code::Operation;
using code::Slot;
using machine::AccessEvent;
using machine::Event;
using machine::WarpState;

/// The origins of what a lane reads, from byte `at` on.
void Origins::read(const AccessEvent& event, int lane, std::size_t at, std::span<Origin> to) {
  const auto l = static_cast<std::size_t>(lane);
  const std::uint32_t statement = event.event.statement();
  std::ranges::fill(to, Origin{});
  switch (event.space) {
    case Space::shared: {
      const BlockOrigins& of = block(event.event);
      const std::size_t offset = offset_from(of.first, event.places[l]) + at;
      for (std::size_t b = 0; b < to.size() && offset + b < of.shared.size(); ++b) {
        to[b] = of.shared[offset + b];
        if (to[b].way == 0 && !to[b].known()) continue;
        to[b].address = program_.shared_base + static_cast<std::uint32_t>(offset + b);
        to[b].way = step(to[b].way, &Way::read, statement);
      }
      return;
    }
    case Space::global: {
      const std::uint32_t way = ways_.number_of({.load = statement});
      for (std::size_t b = 0; b < to.size(); ++b) to[b] = in_global(event.addresses[l] + at + b, way);
      return;
    }
    case Space::local: {
      for (std::size_t b = 0; !local_.empty() && b < to.size(); ++b)
        if (const auto found = local_.find(event.places[l] + at + b); found != local_.end()) to[b] = found->second;
      return;
    }
    default: return;
  }
}

Origin Origins::in_global(std::uint64_t address, std::uint32_t way) const {
  if (follows(address)) return Origin::of_memory(address, way);
  return has_companions_ ? Origin::of_beside(address, way) : Origin{};
}

/// Reads `bytes` bytes from offset `at` of each lane's into a register of `width` bytes, from its byte `first_byte` on.
void Origins::load(const AccessEvent& event, Slot slot, std::size_t at, std::uint32_t bytes, int width, int first_byte) {
  const std::size_t to = place(event.event, slot);
  WarpOrigins& of_warp = registers(event.event);
  std::array<Origin, std::size_t{16} * warp_size> found;
  bool any = of_warp.find(to) != nullptr;
  for (LaneMask rest = event.event.lanes(); rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const std::span of_lane = std::span(found).subspan(static_cast<std::size_t>(lane) * bytes, bytes);
    read(event, lane, at, of_lane);
    any = any || std::ranges::any_of(of_lane, &Origin::known);
  }
  if (!any) return;
  RegisterOrigins& made = of_warp.make(to, width);
  for (LaneMask rest = event.event.lanes(); rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    std::copy_n(&found[static_cast<std::size_t>(lane) * bytes], bytes, made.lane(lane) + first_byte);
  }
}

void Origins::store(const AccessEvent& event, Slot slot, std::size_t at, std::uint32_t bytes, int first_byte) {
  static const std::array<Origin, 16> nothing{};
  const RegisterOrigins* const from = find(event.event, slot);
  BlockOrigins& of = block(event.event);
  if (event.space == Space::shared) ++of.changes;
  const auto store_one = [&](std::size_t l) {
    const int lane = static_cast<int>(l);
    const Origin* const origins = from == nullptr ? nothing.data() : from->lane(lane) + first_byte;
    if (event.space == Space::shared) {
      const std::size_t offset = offset_from(of.first, event.places[l]) + at;
      for (std::size_t b = 0; b < bytes && offset + b < of.shared.size(); ++b) {
        Origin& to = of.shared[offset + b] = origins[b];
        to.way = step(to.way, &Way::store, event.event.statement(), event.event.warp());
      }
    } else if (event.space == Space::local) {
      for (std::size_t b = 0; b < bytes; ++b)
        if (origins[b].known())
          local_[event.places[l] + at + b] = origins[b];
        else if (!local_.empty())
          local_.erase(event.places[l] + at + b);
    } else if (event.space == Space::global) {
      writes({event.addresses[l] + at, bytes, origins, event.event.statement(), event.event.warp(), lane, event.reads},
             warp_of(event.event));
    }
  };
  // Of lanes that store to one place the last one visited is kept.
  const LaneMask lanes = event.event.lanes();
  const LaneMask stay = machine::lanes_that_stay(event);
  machine::for_each_lane(lanes & ~stay, store_one);
  machine::for_each_lane(stay, store_one);
}

void Origins::access(const AccessEvent& event) {
  if (event.asynchronous) {
    if (event.writes) copy_asynchronously(event);
    return;
  }
  const Operation& operation = operation_of(event.event);
  if (operation.semantics == Semantics::matrix) {
    const Form& form = program_.of<code::Matrix>(operation).instruction.form();
    return moves_matrix(form) ? move_run(event) : move_rows(event, form);
  }
  const code::Access& access = program_.access(operation);
  const int width = access.register_bits <= 32 ? 4 : access.register_bits / 8;
  if (event.reads && event.writes) {
    for (int e = 0; e < access.vector && 1 + e < operation.sources; ++e)
      store(event, warp_of(event.event).source_slot(operation, 1 + e), static_cast<std::size_t>(e) * access.bytes, access.bytes, 0);
    return;
  }
  for (int e = 0; e < access.vector; ++e) {
    const std::size_t at = static_cast<std::size_t>(e) * access.bytes;
    if (event.writes)
      store(event, warp_of(event.event).source_slot(operation, 1 + e), at, access.bytes, 0);
    else if (e < operation.results)
      load(event, warp_of(event.event).result_slot(operation, e), at, access.bytes, width, 0);
  }
}

/// cp.async: the bytes come from global memory as soon as it is issued; reading them before they land is a fault.
void Origins::copy_asynchronously(const AccessEvent& event) {
  BlockOrigins& of = block(event.event);
  ++of.changes;
  const std::uint32_t statement = event.event.statement();
  const std::uint32_t way = ways_.number_of({.load = statement, .store = statement, .warp = event.event.warp()});
  for_each_copied(event, program_, [&](int lane, std::uint64_t address, std::uint32_t size, std::uint32_t bytes) {
    const std::size_t offset = offset_from(of.first, event.places[static_cast<std::size_t>(lane)]);
    for (std::uint32_t b = 0; b < bytes && offset + b < of.shared.size(); ++b) {
      of.shared[offset + b] = b < size ? in_global(address + b, way) : Origin{};
      of.shared[offset + b].way = way;
    }
  });
}

/// Another block's shared memory: what is written there has no origin that is followed.
void Origins::remote_access(const machine::RemoteAccess& event) {
  if (!event.writes || event.ended) return;
  BlockOrigins& of = blocks_[static_cast<std::size_t>(event.range.rank)];
  ++of.changes;
  std::vector<Origin>& shared = of.shared;
  std::fill_n(shared.begin() + static_cast<std::ptrdiff_t>(event.range.offset), event.range.bytes, Origin::of_many());
}

const std::vector<Origins::RowByte>& Origins::row_bytes(const Form& form) {
  const auto [found, is_new] = row_bytes_.try_emplace(&form);
  const Fragment& fragment = form.operand(OperandName::r).fragment;
  const int bytes = std::max(1, fragment.element_bits() / 8);
  for (int reg = 0; is_new && reg < fragment.registers(); ++reg)
    for (int lane = 0; lane < warp_size; ++lane)
      for (int i = 0; i < fragment.elements_per_register(); ++i) {
        const RowPlace row = form.row_place(fragment.element({lane, reg, i * fragment.element_bits()}));
        found->second.push_back({static_cast<std::uint8_t>(reg), static_cast<std::uint8_t>(lane), static_cast<std::uint8_t>(i * bytes),
                                 static_cast<std::uint8_t>(row.lane), static_cast<std::uint16_t>(row.bit)});
      }
  return found->second;
}

/// ldmatrix and stmatrix.
void Origins::move_rows(const AccessEvent& event, const Form& form) {
  const Event& at = event.event;
  const Operation& operation = operation_of(at);
  BlockOrigins& of = block(at);
  const Fragment& fragment = form.operand(OperandName::r).fragment;
  const bool writes = form.mnemonic == Mnemonic::stmatrix;
  if (!writes) clear_results(at, all_lanes);
  if (writes) ++of.changes;
  const int bytes = std::max(1, fragment.element_bits() / 8), memory_bytes = std::max(1, form.memory_bits / 8);
  const int first = writes && form.operands.front().name == OperandName::p ? 1 : 0;
  std::vector<const RegisterOrigins*> from;
  std::vector<RegisterOrigins*> to;
  for (int reg = 0; reg < fragment.registers(); ++reg)
    if (writes)
      from.push_back(find(at, warp_of(at).source_slot(operation, first + reg)));
    else
      to.push_back(&registers(at).make(place(at, warp_of(at).result_slot(operation, reg)), 4));
  for (const RowByte& row : row_bytes(form)) {
    const std::size_t offset = offset_from(of.first, event.places[row.row_lane]) + row.row_bit / 8u;
    Origin* const shared = &of.shared[offset];
    if (writes) {
      for (int b = 0; b < bytes; ++b) {
        shared[b] = from[row.reg] == nullptr ? Origin{} : from[row.reg]->lane(row.lane)[row.byte + b];
        shared[b].way = step(shared[b].way, &Way::store, at.statement(), at.warp());
      }
      continue;
    }
    for (int b = 0; b < memory_bytes; ++b) {
      Origin origin = shared[b];
      if (origin.in_memory()) origin.what += row.row_bit % 8u;
      origin.address = program_.shared_base + static_cast<std::uint32_t>(offset) + static_cast<std::uint32_t>(b);
      origin.way = step(origin.way, &Way::read, at.statement());
      to[row.reg]->lane(row.lane)[row.byte + b] = origin;
    }
  }
}

/// wmma.load and wmma.store: their accesses come in the order of their runs.
void Origins::move_run(const AccessEvent& event) {
  const Event& at = event.event;
  const code::Matrix& matrix = program_.of<code::Matrix>(operation_of(at));
  const MatrixRun& run = matrix.runs.runs[run_++ % matrix.runs.runs.size()];
  const int width = matrix.instruction.form().operand(OperandName::r).fragment.register_bits() / 8;
  if (event.writes)
    store(event, warp_of(at).source_slot(operation_of(at), 1 + run.reg), 0, matrix.runs.bytes, run.bit / 8);
  else
    load(event, warp_of(at).result_slot(operation_of(at), run.reg), 0, matrix.runs.bytes, width, run.bit / 8);
}

void Origins::bulk_reads(const machine::BulkEvent& event) {
  const std::vector<Origin>& shared = blocks_[static_cast<std::size_t>(event.reads->rank)].shared;
  const auto first = shared.begin() + static_cast<std::ptrdiff_t>(event.reads->offset);
  reads_[event.number].assign(first, first + static_cast<std::ptrdiff_t>(event.reads->bytes));
}

void Origins::bulk_completes(const machine::BulkEvent& event) {
  const machine::BulkTransfer& transfer = transfer_of(event);
  for (BlockOrigins& of : blocks_) ++of.changes;
  if (transfer.copy->kind == code::BulkCopy::Kind::load) {
    const std::uint32_t way = ways_.number_of({.load = event.statement, .store = event.statement, .warp = event.warp});
    std::vector<Origin>& shared = blocks_[static_cast<std::size_t>(transfer.shared.rank)].shared;
    for (const machine::SharedRange& range : event.written)
      std::fill_n(shared.begin() + static_cast<std::ptrdiff_t>(range.offset), range.bytes, Origin{0, 0, way});
    for_each_moved(transfer, program_.shared_base, [&](std::uint64_t offset, std::uint64_t address, std::uint64_t bytes) {
      for (std::uint64_t b = 0; b < bytes; ++b)
        if (const Origin origin = in_global(address + b, way); origin.known()) shared[offset + b] = origin;
    });
    return;
  }
  const auto found = reads_.find(event.number);
  const std::vector<Origin> read = found == reads_.end() ? std::vector<Origin>(transfer.bytes) : std::move(found->second);
  if (found != reads_.end()) reads_.erase(found);
  if (transfer.copy->kind != code::BulkCopy::Kind::store) {
    std::vector<Origin>& shared = blocks_[static_cast<std::size_t>(transfer.written().rank)].shared;
    for (std::size_t b = 0; b < read.size(); ++b) shared[transfer.written().offset + b] = event.reduces ? Origin::of_many() : read[b];
    return;
  }
  const WarpState* const warp = blocks_[static_cast<std::size_t>(event.rank)].states[static_cast<std::size_t>(event.warp)];
  for_each_moved(transfer, program_.shared_base, [&](std::uint64_t offset, std::uint64_t address, std::uint64_t bytes) {
    writes({address, static_cast<std::uint32_t>(bytes), read.data() + (offset - transfer.shared.offset), event.statement, event.warp,
            event.lane, event.reduces},
           *warp);
  });
}

}  // namespace warpmat::provenance
