#include <warpmat/checks/origins.h>

#include <algorithm>
#include <cstring>
#include <set>

#include <warpmat/checks/wgmma_chunks.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/tables/scales.h>

namespace warpmat::checks {

using catalogue::Semantics;
using code::Operation;
using code::Slot;
using machine::AccessEvent;
using machine::Event;
using machine::EventKinds;
using machine::WarpState;

Origins::Origins(const Setup& setup)
    : Observer(EventKinds::operations | EventKinds::accesses | EventKinds::shared_accesses | EventKinds::exchanges | EventKinds::copies |
               EventKinds::products),
      setup_(setup),
      has_companions_(block_of(CompanionMatrix::Kind::scale, setup.program) != 0 ||
                      block_of(CompanionMatrix::Kind::metadata, setup.program) != 0) {}

void Origins::block_begins(const machine::BlockEvent& event) {
  blocks_.push_back({event.shared.data(), std::vector<Origin>(event.shared.size()),
                     std::vector<WarpOrigins>(static_cast<std::size_t>(event.warps), WarpOrigins(setup_.frame_bytes)),
                     std::vector<const WarpState*>(static_cast<std::size_t>(event.warps))});
}

Origins::BlockOrigins& Origins::block(const Event& event) {
  return blocks_[static_cast<std::size_t>(event.rank())];
}

WarpOrigins& Origins::registers(const Event& event) {
  return block(event).warps[static_cast<std::size_t>(event.warp())];
}

std::size_t Origins::place(const Event& event, Slot slot) const {
  return event.state().split().frame + static_cast<std::size_t>(slot);
}

const RegisterOrigins* Origins::find(const Event& event, Slot slot) {
  return slot < 0 ? nullptr : registers(event).find(place(event, slot));
}

/// The way `way` with one more statement.
std::uint32_t Origins::step(std::uint32_t way, std::uint32_t Way::*member, std::uint32_t statement, int warp) {
  Way longer = ways_[way];
  longer.*member = statement;
  if (member == &Way::store) {
    longer.read = Way::no_statement;
    longer.warp = warp;
  }
  return ways_.number_of(longer);
}

void Origins::clear_results(const Event& event, LaneMask lanes) {
  for (int i = 0; i < event.operation().results; ++i)
    registers(event).clear(place(event, event.state().result_slot(event.operation(), i)), lanes);
}

// ---- Scalar operations

void Origins::operation(const Event& event) {
  block(event).states[static_cast<std::size_t>(event.warp())] = &event.state();
  if (event.lanes() == 0) return;
  switch (event.operation().semantics) {
    case Semantics::compute: return compute(event);
    case Semantics::select: return select(event);
    case Semantics::matrix:
    case Semantics::wgmma:
    case Semantics::exchange: return;  // when all lanes are there
    case Semantics::call:
    case Semantics::return_: return;
    default: return clear_results(event, event.lanes());  // access() sets those of loads
  }
}

void Origins::compute(const Event& event) {
  const Operation& operation = event.operation();
  std::vector<const RegisterOrigins*> known(operation.sources);
  bool any = false;
  for (int i = 0; i < operation.sources; ++i) {
    known[static_cast<std::size_t>(i)] = find(event, event.state().source_slot(operation, i));
    any |= known[static_cast<std::size_t>(i)] != nullptr;
  }
  if (!any) return clear_results(event, event.lanes());
  const ByteFlow& flow = flow_of(event, known);
  const std::string_view opcode = event.opcode();
  const bool sums = opcode.starts_with("add") || opcode.starts_with("fma") || opcode.starts_with("mad") || opcode.starts_with("sub");
  std::vector<std::vector<Origin>> fresh(operation.results);
  for (int r = 0; r < operation.results; ++r) {
    const int width = flow.results[static_cast<std::size_t>(r)].width;
    std::vector<Origin>& bytes = fresh[static_cast<std::size_t>(r)];
    bytes.resize(static_cast<std::size_t>(width) * warp_size);
    for (LaneMask rest = width == 0 ? 0 : event.lanes(); rest != 0; rest &= rest - 1) {
      const int lane = first_lane(rest);
      for (int b = 0; b < width; ++b) {
        const ByteFlow::Byte& from = flow.of(r, lane, b);
        Origin& to = bytes[static_cast<std::size_t>(lane * width + b)];
        if (from.moved.source >= 0)
          to = known[static_cast<std::size_t>(from.moved.source)]->lane(lane)[from.moved.byte];
        else if (!from.parts.empty())
          to = combined(from.parts, known, lane, sums);
      }
    }
  }
  for (int r = 0; r < operation.results; ++r) {
    const int width = flow.results[static_cast<std::size_t>(r)].width;
    if (width == 0) continue;
    RegisterOrigins& to = registers(event).make(place(event, event.state().result_slot(operation, r)), width);
    for (LaneMask rest = event.lanes(); rest != 0; rest &= rest - 1) {
      const int lane = first_lane(rest);
      std::copy_n(fresh[static_cast<std::size_t>(r)].data() + lane * width, width, to.lane(lane));
    }
  }
}

namespace {

/// Statements whose results' bytes depend on the values of sources as masks, amounts and selectors do.
bool places_bytes(std::string_view opcode) {
  static const std::set<std::string_view> mnemonics{"and",  "or",  "xor", "lop3", "shl", "shr", "shf",
                                                    "prmt", "bfe", "bfi", "mul",  "mad", "add", "sub"};
  return mnemonics.contains(opcode.substr(0, opcode.find('.')));
}

}  // namespace

/// The flow of an operation: the one found last, unless other sources have origins, or those without have other values on which it depends.
const ByteFlow& Origins::flow_of(const Event& event, const std::vector<const RegisterOrigins*>& known) {
  const Operation& operation = event.operation();
  const WarpState& warp = event.state();
  std::uint64_t key = 1;
  bool by_lane = false;
  const bool depends = places_bytes(event.opcode());
  std::vector<FlowSource> sources;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const Slot slot = warp.source_slot(operation, static_cast<int>(i));
    sources.push_back({warp.at<std::uint8_t>(slot), known[i] == nullptr ? 0 : known[i]->width});
    key = key * 31 + static_cast<std::uint64_t>(sources.back().width);
    if (known[i] != nullptr || slot < 0 || !depends) continue;
    const auto* const words = warp.at<std::uint32_t>(slot);
    for (int lane = 0; lane < warp_size; ++lane) {
      key = (key ^ words[lane]) * 0x100000001b3ULL;
      by_lane |= words[lane] != words[0];
    }
  }
  CachedFlow& cached = flows_[&operation];
  if (cached.key != key) cached = {key, byte_flow(setup_.program, operation, sources, by_lane)};
  return cached.flow;
}

/// The origin of a value that depends on these bytes. Bytes that follow each other in memory are one element. A sum of products with
/// factors and terms of other origins stays that sum.
Origin Origins::combined(const std::vector<SourceByte>& parts, const std::vector<const RegisterOrigins*>& known, int lane, bool sums) {
  Origin all;
  SourceByte first;
  std::uint64_t joined = 0;  // the element that `all` was combined with last: all bytes of a source have it
  for (const SourceByte& part : parts) {
    const Origin& next = known[static_cast<std::size_t>(part.source)]->lane(lane)[part.byte];
    if (!next.known() || next.same() == joined) continue;
    const bool same_element = all.in_memory() && next.kind() == all.kind() && part.source == first.source &&
                              next.bit() == all.bit() + 8 * static_cast<std::uint64_t>(part.byte - first.byte);
    const bool of_all = all.kind() == Origin::Kind::beside, of_next = next.kind() == Origin::Kind::beside;
    if (!all.known() || (of_all && !of_next)) {
      all = next;
      first = part;
    } else if (!same_element && next.same() != all.same()) {
      const bool both = all.kind() == Origin::Kind::sum && next.kind() == Origin::Kind::sum;
      if (of_next) {
        all = of_all ? Origin::of_beside(0, 0) : all;
      } else if (both) {
        all = combines(all, next, sums);
        joined = next.same();
      } else if (next.kind() == Origin::Kind::sum)
        all = next;
      else if (all.kind() != Origin::Kind::sum)
        all = Origin::of_many();
    }
  }
  return all.known() ? all.as_derived() : all;
}

void Origins::select(const Event& event) {
  const Operation& operation = event.operation();
  const WarpState& warp = event.state();
  const std::array<const RegisterOrigins*, 2> from{find(event, warp.source_slot(operation, 0)),
                                                   find(event, warp.source_slot(operation, 1))};
  if (from[0] == nullptr && from[1] == nullptr) return clear_results(event, event.lanes());
  const LaneMask chosen = *warp.at<LaneMask>(warp.source_slot(operation, 2));
  const int width = (from[0] != nullptr ? from[0] : from[1])->width;
  std::vector<Origin> fresh(static_cast<std::size_t>(width) * warp_size);
  for (int lane = 0; lane < warp_size; ++lane)
    if (const RegisterOrigins* const one = from[(chosen >> lane & 1) != 0 ? 0 : 1])
      std::copy_n(one->lane(lane), width, &fresh[static_cast<std::size_t>(lane * width)]);
  RegisterOrigins& to = registers(event).make(place(event, warp.result_slot(operation, 0)), width);
  for (LaneMask rest = event.lanes(); rest != 0; rest &= rest - 1)
    std::copy_n(&fresh[static_cast<std::size_t>(first_lane(rest) * width)], width, to.lane(first_lane(rest)));
}

void Origins::exchange(const machine::ExchangeEvent& event) {
  const Operation& operation = event.event.operation();
  const LaneMask lanes = event.event.lanes();
  const RegisterOrigins* const from = event.shuffle ? find(event.event, event.event.state().source_slot(operation, 0)) : nullptr;
  if (from == nullptr) return clear_results(event.event, lanes);
  const RegisterOrigins before = *from;
  RegisterOrigins& to = registers(event.event).make(place(event.event, event.event.state().result_slot(operation, 0)), before.width);
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    if ((event.of_nothing & lane_bit(lane)) != 0)
      std::fill_n(to.lane(lane), before.width, Origin{});
    else
      std::copy_n(before.lane(event.from[static_cast<std::size_t>(lane)]), before.width, to.lane(lane));
  }
}

void Origins::calls(const machine::CallEvent& event) {
  for (const code::RegisterCopy& copy : event.call.register_arguments) {
    WarpOrigins& all = registers(event.event);
    const RegisterOrigins* const from = copy.caller < 0 ? nullptr : all.find(event.caller_frame + static_cast<std::size_t>(copy.caller));
    const std::size_t to = event.callee_frame + static_cast<std::size_t>(copy.callee);
    if (from == nullptr)
      all.clear(to, event.event.lanes());
    else
      all.make(to, from->width) = RegisterOrigins(*from);
  }
}

void Origins::returns(const machine::CallEvent& event) {
  for (const code::RegisterCopy& copy : event.call.register_returns) {
    WarpOrigins& all = registers(event.event);
    const RegisterOrigins* const from = copy.callee < 0 ? nullptr : all.find(event.callee_frame + static_cast<std::size_t>(copy.callee));
    const std::size_t to = event.caller_frame + static_cast<std::size_t>(copy.caller);
    if (from == nullptr)
      all.clear(to, event.event.lanes());
    else
      all.make(to, from->width) = RegisterOrigins(*from);
  }
}

// ---- Memory

/// The origin of byte `at` of what a lane reads.
Origin Origins::read(const AccessEvent& event, int lane, std::size_t at) {
  const auto l = static_cast<std::size_t>(lane);
  const std::uint32_t statement = event.event.statement();
  switch (event.space) {
    case code::Space::shared: {
      const BlockOrigins& of = block(event.event);
      const std::size_t offset = offset_from(of.first, event.places[l]) + at;
      if (offset >= of.shared.size()) return {};
      Origin origin = of.shared[offset];
      if (origin.way == 0 && !origin.known()) return origin;
      origin.address = setup_.program.shared_base + static_cast<std::uint32_t>(offset);
      origin.way = step(origin.way, &Way::read, statement);
      return origin;
    }
    case code::Space::global: {
      const std::uint64_t address = event.addresses[l] + at;
      return follows(address) || has_companions_ ? in_global(address, ways_.number_of({.load = statement})) : Origin{};
    }
    case code::Space::local: {
      const auto found = local_.find(event.places[l] + at);
      return found == local_.end() ? Origin{} : found->second;
    }
    default: return {};
  }
}

Origin Origins::in_global(std::uint64_t address, std::uint32_t way) const {
  if (follows(address)) return Origin::of_memory(address, way);
  return has_companions_ ? Origin::of_beside(address, way) : Origin{};
}

/// Reads `bytes` bytes from offset `at` of each lane's into a register of `width` bytes, from its byte `first_byte` on.
void Origins::load(const AccessEvent& event, Slot slot, std::size_t at, std::uint32_t bytes, int width, int first_byte) {
  const std::size_t to = place(event.event, slot);
  std::array<Origin, 16> found;
  for (LaneMask rest = event.event.lanes(); rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    bool any = false;
    for (std::uint32_t b = 0; b < bytes; ++b) any |= (found[b] = read(event, lane, at + b)).known();
    if (any || registers(event.event).find(to) != nullptr)
      std::copy_n(found.begin(), bytes, registers(event.event).make(to, width).lane(lane) + first_byte);
  }
}

void Origins::store(const AccessEvent& event, Slot slot, std::size_t at, std::uint32_t bytes, int first_byte) {
  static const std::array<Origin, 16> nothing{};
  const RegisterOrigins* const from = find(event.event, slot);
  BlockOrigins& of = block(event.event);
  for (LaneMask rest = event.event.lanes(); rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const auto l = static_cast<std::size_t>(lane);
    const Origin* const origins = from == nullptr ? nothing.data() : from->lane(lane) + first_byte;
    if (event.space == code::Space::shared) {
      const std::size_t offset = offset_from(of.first, event.places[l]) + at;
      for (std::size_t b = 0; b < bytes && offset + b < of.shared.size(); ++b) {
        Origin& to = of.shared[offset + b] = origins[b];
        to.way = step(to.way, &Way::store, event.event.statement(), event.event.warp());
      }
    } else if (event.space == code::Space::local) {
      for (std::size_t b = 0; b < bytes; ++b)
        if (origins[b].known())
          local_[event.places[l] + at + b] = origins[b];
        else if (!local_.empty())
          local_.erase(event.places[l] + at + b);
    } else if (event.space == code::Space::global) {
      writes({event.addresses[l] + at, bytes, origins, event.event.statement(), event.event.warp(), lane, event.reads},
             event.event.state());
    }
  }
}

void Origins::access(const AccessEvent& event) {
  if (event.asynchronous) {
    if (event.writes) copy_asynchronously(event);
    return;
  }
  const Operation& operation = event.event.operation();
  if (operation.semantics == Semantics::matrix) {
    const Form& form = setup_.program.matrices[operation.detail].instruction.form();
    return moves_matrix(form) ? move_run(event) : move_rows(event, form);
  }
  const code::Access& access = setup_.program.accesses[operation.detail];
  const int width = access.register_bits <= 32 ? 4 : access.register_bits / 8;
  if (event.reads && event.writes) {
    for (int e = 0; e < access.vector && 1 + e < operation.sources; ++e)
      store(event, event.event.state().source_slot(operation, 1 + e), static_cast<std::size_t>(e) * access.bytes, access.bytes, 0);
    return;
  }
  for (int e = 0; e < access.vector; ++e) {
    const std::size_t at = static_cast<std::size_t>(e) * access.bytes;
    if (event.writes)
      store(event, event.event.state().source_slot(operation, 1 + e), at, access.bytes, 0);
    else if (e < operation.results)
      load(event, event.event.state().result_slot(operation, e), at, access.bytes, width, 0);
  }
}

/// cp.async: the bytes come from global memory as soon as it is issued; nobody may read them before they land.
void Origins::copy_asynchronously(const AccessEvent& event) {
  const Operation& operation = event.event.operation();
  const WarpState& warp = event.event.state();
  const code::Access& access = setup_.program.accesses[operation.detail];
  BlockOrigins& of = block(event.event);
  const std::uint32_t statement = event.event.statement();
  const std::uint32_t way = ways_.number_of({.load = statement, .store = statement, .warp = event.event.warp()});
  for (LaneMask rest = event.event.lanes(); rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const Slot slot = warp.source_slot(operation, 1);
    const std::uint64_t base = access.narrow_source ? warp.at<std::uint32_t>(slot)[lane] : warp.at<std::uint64_t>(slot)[lane];
    const std::uint64_t address = base + static_cast<std::uint64_t>(access.source_offset);
    std::uint32_t size = access.has_source_size ? warp.source_word(operation, 2, lane) : access.bytes;
    if (access.ignores_source && (*warp.at<LaneMask>(warp.source_slot(operation, 2)) & lane_bit(lane)) != 0) size = 0;
    const std::size_t offset = offset_from(of.first, event.places[static_cast<std::size_t>(lane)]);
    for (std::uint32_t b = 0; b < access.bytes && offset + b < of.shared.size(); ++b) {
      of.shared[offset + b] = b < size ? in_global(address + b, way) : Origin{};
      of.shared[offset + b].way = way;
    }
  }
}

/// Another block's shared memory: what is written there has no origin that is followed.
void Origins::remote_access(const machine::RemoteAccess& event) {
  if (!event.writes || event.ended) return;
  std::vector<Origin>& shared = blocks_[static_cast<std::size_t>(event.range.rank)].shared;
  std::fill_n(shared.begin() + static_cast<std::ptrdiff_t>(event.range.offset), event.range.bytes, Origin::of_many());
}

/// ldmatrix and stmatrix.
void Origins::move_rows(const AccessEvent& event, const Form& form) {
  const Event& at = event.event;
  const Operation& operation = at.operation();
  BlockOrigins& of = block(at);
  const Fragment& fragment = form.operand(OperandName::r).fragment;
  const bool writes = form.mnemonic == Mnemonic::stmatrix;
  if (!writes) clear_results(at, all_lanes);
  const int bytes = std::max(1, fragment.element_bits / 8), memory_bytes = std::max(1, form.memory_bits / 8);
  const int first = writes && form.operands.front().name == OperandName::p ? 1 : 0;
  for (int reg = 0; reg < fragment.registers(); ++reg)
    for (int lane = 0; lane < warp_size; ++lane)
      for (int i = 0; i < fragment.elements_per_register(); ++i) {
        const RowPlace row = form.row_place(fragment.element({lane, reg, i * fragment.element_bits}));
        const std::size_t offset =
            offset_from(of.first, event.places[static_cast<std::size_t>(row.lane)]) + static_cast<std::size_t>(row.bit / 8);
        if (writes) {
          const RegisterOrigins* const from = find(at, at.state().source_slot(operation, first + reg));
          for (int b = 0; b < bytes; ++b) {
            Origin& to = of.shared[offset + static_cast<std::size_t>(b)] = from == nullptr ? Origin{} : from->lane(lane)[i * bytes + b];
            to.way = step(to.way, &Way::store, at.statement(), at.warp());
          }
          continue;
        }
        for (int b = 0; b < memory_bytes; ++b) {
          Origin origin = of.shared[offset + static_cast<std::size_t>(b)];
          if (origin.kind() == Origin::Kind::memory) origin.what += static_cast<std::uint64_t>(row.bit % 8);
          origin.address = setup_.program.shared_base + static_cast<std::uint32_t>(offset) + static_cast<std::uint32_t>(b);
          origin.way = step(origin.way, &Way::read, at.statement());
          registers(at).make(place(at, at.state().result_slot(operation, reg)), 4).lane(lane)[i * bytes + b] = origin;
        }
      }
}

/// wmma.load and wmma.store: their accesses come in the order of their runs.
void Origins::move_run(const AccessEvent& event) {
  const Event& at = event.event;
  const code::Matrix& matrix = setup_.program.matrices[at.operation().detail];
  const MatrixRun& run = matrix.runs.runs[run_++ % matrix.runs.runs.size()];
  const int width = matrix.instruction.form().operand(OperandName::r).fragment.register_bits / 8;
  if (event.writes)
    store(event, at.state().source_slot(at.operation(), 1 + run.reg), 0, matrix.runs.bytes, run.bit / 8);
  else
    load(event, at.state().result_slot(at.operation(), run.reg), 0, matrix.runs.bytes, width, run.bit / 8);
}

void Origins::bulk_reads(const machine::BulkEvent& event) {
  const std::vector<Origin>& shared = blocks_[static_cast<std::size_t>(event.reads->rank)].shared;
  const auto first = shared.begin() + static_cast<std::ptrdiff_t>(event.reads->offset);
  reads_[event.number].assign(first, first + static_cast<std::ptrdiff_t>(event.reads->bytes));
}

void Origins::bulk_completes(const machine::BulkEvent& event) {
  const machine::BulkTransfer& transfer = *event.transfer;
  if (transfer.copy->kind == code::BulkCopy::Kind::load) {
    const std::uint32_t way = ways_.number_of({.load = event.statement, .store = event.statement, .warp = event.warp});
    std::vector<Origin>& shared = blocks_[static_cast<std::size_t>(transfer.shared.rank)].shared;
    for (const machine::SharedRange& range : event.written)
      std::fill_n(shared.begin() + static_cast<std::ptrdiff_t>(range.offset), range.bytes, Origin{0, 0, way});
    for_each_moved(transfer, setup_.program.shared_base, [&](std::uint64_t offset, std::uint64_t address, std::uint64_t bytes) {
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
  for_each_moved(transfer, setup_.program.shared_base, [&](std::uint64_t offset, std::uint64_t address, std::uint64_t bytes) {
    writes({address, static_cast<std::uint32_t>(bytes), read.data() + (offset - transfer.shared.offset), event.statement, event.warp,
            event.lane, event.reduces},
           *warp);
  });
}

// ---- Matrix instructions

namespace {

/// The number of the first register of an operand among the statement's results or sources.
int first_register_of(const Form& form, OperandName name) {
  int next_result = 0, next_source = 0;
  for (const Operand& operand : form.operands) {
    int& next = operand.written ? next_result : next_source;
    if (operand.name == name) return next;
    next += operand.registers();
  }
  return -1;
}

}  // namespace

/// movmatrix.
void Origins::transpose(const Event& event, const Form& form) {
  const Operation& operation = event.operation();
  const RegisterOrigins* const found = find(event, event.state().source_slot(operation, 0));
  if (found == nullptr) return clear_results(event, all_lanes);
  const RegisterOrigins from = *found;
  RegisterOrigins& to = registers(event).make(place(event, event.state().result_slot(operation, 0)), 4);
  for (int row = 0; row < form.shape.m; ++row)
    for (int column = 0; column < form.shape.n; ++column) {
      const Place source = form.operand(OperandName::a).fragment.place({row, column, 0});
      const Place result = form.operand(OperandName::d).fragment.place({row, column, 0});
      std::copy_n(from.lane(source.lane) + source.bit / 8, 2, to.lane(result.lane) + result.bit / 8);
    }
}

void Origins::performs(const Event& event) {
  const Operation& operation = event.operation();
  if (operation.semantics != Semantics::matrix) return;
  const Form& form = setup_.program.matrices[operation.detail].instruction.form();
  run_ = 0;
  if (form.mnemonic == Mnemonic::wmma_load) clear_results(event, all_lanes);
  if (form.mnemonic == Mnemonic::movmatrix) transpose(event, form);
  if (warpmat::multiplies(form.mnemonic)) multiply(event, form);
}

const Origins::FormPlaces& Origins::places(const Form& form) {
  const auto [found, is_new] = places_.try_emplace(&form);
  FormPlaces& all = found->second;
  if (!is_new) return all;
  const auto list = [&](OperandName name, bool by_column, std::vector<ElementPlace>& to) {
    const Operand* const operand = form.find_operand(name);
    if (operand == nullptr) return;
    const Fragment& fragment = operand->fragment;
    all.products = std::max(all.products, fragment.matrices());
    const int lines = by_column ? fragment.columns() : fragment.rows(), along = by_column ? fragment.rows() : fragment.columns();
    for (int product = 0; product < fragment.matrices(); ++product)
      for (int line = 0; line < lines; ++line)
        for (int i = 0; i < along; ++i) {
          const Place place = fragment.place(by_column ? Element{i, line, product} : Element{line, i, product});
          to.push_back({static_cast<std::uint16_t>(place.reg), static_cast<std::uint8_t>(place.lane),
                        static_cast<std::uint8_t>(place.bit / 8), static_cast<std::uint8_t>(place.bit % 8)});
        }
  };
  list(OperandName::a, false, all.a);
  list(OperandName::b, true, all.b);
  list(OperandName::c, false, all.c);
  list(OperandName::d, false, all.d);
  return all;
}

/// The origin of an element: that of its first byte that has one.
Origin Origins::element(const RegisterOrigins* from, const ElementPlace& at, const Fragment& fragment) {
  if (from == nullptr) return {};
  const Origin* const bytes = from->lane(at.lane) + at.byte;
  Origin origin;
  for (int b = 0; b < std::max(1, fragment.element_bits / 8) && !origin.known(); ++b) origin = bytes[b];
  if (fragment.element_bits < 8 && origin.in_memory()) origin.what += at.bit;
  return origin;
}

namespace {

/// Whether the element at this place of a register is zero, of either sign.
bool is_zero(const WarpState& warp, Slot slot, int lane, int byte, const Fragment& fragment) {
  if (fragment.register_bits == 64) return (warp.at<std::uint64_t>(slot)[lane] << 1) == 0;
  const std::uint32_t bits = warp.at<std::uint32_t>(slot)[lane] >> 8 * byte;
  return fragment.element_bits == 32 ? (bits & 0x7fffffff) == 0 : (bits & 0x7fff) == 0;
}

}  // namespace

/// The origins of scale factors or metadata, whose registers begin at source `first_source`; `matrix`: their number in the fragment.
OperandOrigins Origins::companions(const Event& event, const Form& form, OperandName name, int matrix, int first_source) {
  const Fragment& fragment = form.operand(name).fragment;
  const bool by_column = name == OperandName::scale_b;
  OperandOrigins all{by_column ? fragment.columns() : fragment.rows(), by_column ? fragment.rows() : fragment.columns()};
  for (int line = 0; line < all.lines; ++line)
    for (int i = 0; i < all.depth; ++i) {
      const Place at = fragment.place(by_column ? Element{i, line, matrix} : Element{line, i, matrix});
      const RegisterOrigins* const from = find(event, event.state().source_slot(event.operation(), first_source + at.reg));
      all.elements.push_back(element(from,
                                     {static_cast<std::uint16_t>(at.reg), static_cast<std::uint8_t>(at.lane),
                                      static_cast<std::uint8_t>(at.bit / 8), static_cast<std::uint8_t>(at.bit % 8)},
                                     fragment));
    }
  return all;
}

void Origins::find_companions(const Event& event, const Form& form, OriginProduct& product) {
  const auto word = [&](OperandName name, int i) {
    return event.state().source_word(event.operation(), first_register_of(form, name) + i, 0);
  };
  const auto scales = [&](OperandName name, OperandName ids_name) {
    const ScaleIds ids{word(ids_name, 0), word(ids_name, 1)};
    if (undefined_ids(form, ids_name, ids)) return OperandOrigins{};  // the statement's execution reports it
    return companions(event, form, name, scale_matrix(form, ids_name, ids), first_register_of(form, name));
  };
  if (form.scale_vector != 0) {
    product.scales_a = scales(OperandName::scale_a, OperandName::ids_a);
    product.scales_b = scales(OperandName::scale_b, OperandName::ids_b);
  }
  if (form.sparsity != Sparsity::dense)
    product.metadata =
        companions(event, form, OperandName::e, static_cast<int>(word(OperandName::selector, 0)), first_register_of(form, OperandName::e));
}

void Origins::multiply(const Event& event, const Form& form) {
  const FormPlaces& all = places(form);
  const Operation& operation = event.operation();
  const WarpState& warp = event.state();
  struct Result {
    OriginProduct product;
    std::optional<std::uint32_t> number;
  };
  std::vector<Result> results;
  const auto operand = [&](OperandName name, const std::vector<ElementPlace>& from, int product, std::vector<Origin>& to) {
    const Fragment& fragment = form.operand(name).fragment;
    const int first = first_register_of(form, name);
    const std::size_t count = from.size() / static_cast<std::size_t>(fragment.matrices());
    std::vector<const RegisterOrigins*> of_registers(static_cast<std::size_t>(fragment.registers()));
    for (std::size_t i = 0; i < of_registers.size(); ++i)
      of_registers[i] = find(event, warp.source_slot(operation, first + static_cast<int>(i)));
    const std::size_t skipped = static_cast<std::size_t>(product % fragment.matrices()) * count;
    to.reserve(count);
    for (std::size_t i = 0; i < count; ++i) to.push_back(element(of_registers[from[skipped + i].reg], from[skipped + i], fragment));
  };
  const Fragment& of_a = form.operand(OperandName::a).fragment;
  const Fragment& of_b = form.operand(OperandName::b).fragment;
  const Fragment& of_c = form.operand(OperandName::c).fragment;
  for (int p = 0; p < all.products; ++p) {
    OriginProduct product{event, form, {of_a.rows(), of_a.columns()}, {of_b.columns(), of_b.rows()}};
    operand(OperandName::a, all.a, p, product.a.elements);
    operand(OperandName::b, all.b, p, product.b.elements);
    operand(OperandName::c, all.c, p, product.c);
    find_companions(event, form, product);
    const int first = first_register_of(form, OperandName::c);
    for (std::size_t i = 0; i < product.c.size(); ++i) {
      const ElementPlace& at = all.c[static_cast<std::size_t>(p) * product.c.size() + i];
      product.c_zero.push_back(is_zero(warp, warp.source_slot(operation, first + at.reg), at.lane, at.byte, of_c));
    }
    results.push_back({product, multiplies(product)});
  }
  clear_results(event, all_lanes);
  const std::size_t count = all.d.size() / static_cast<std::size_t>(all.products);
  for (std::size_t p = 0; p < results.size(); ++p)
    write_results(event, form.operand(OperandName::d).fragment, all.d, p * count, 0, 0, results[p].number);
}

/// Gives the elements of D, `places` from `first` on, their origins. They are those of columns `first_column` and up of the product.
void Origins::write_results(const Event& event, const Fragment& fragment, const std::vector<ElementPlace>& places, std::size_t first,
                            int first_slot, int first_column, std::optional<std::uint32_t> number) {
  if (!number) return;
  const int columns = fragment.columns(), bytes = std::max(1, fragment.element_bits / 8);
  for (int row = 0; row < fragment.rows(); ++row)
    for (int column = 0; column < columns; ++column) {
      const ElementPlace& at = places[first + static_cast<std::size_t>(row * columns + column)];
      const Slot slot = event.state().result_slot(event.operation(), first_slot + at.reg);
      std::fill_n(registers(event).make(place(event, slot), fragment.register_bits / 8).lane(at.lane) + at.byte, bytes,
                  Origin::of_sum(*number, row, first_column + column));
    }
}

/// The origins of an operand that a descriptor names: `chunks` are its 16 bytes, line by line along k, or for each k along m or n.
OperandOrigins Origins::in_shared(const Event& event, const std::vector<std::uint32_t>& chunks, Major major, int lines, int depth,
                                  int bits) {
  const BlockOrigins& of = block(event);
  OperandOrigins operand{lines, depth};
  operand.elements.resize(static_cast<std::size_t>(lines) * static_cast<std::size_t>(depth));
  const int in_chunk = static_cast<int>(chunk_bytes) * 8 / bits;
  const int along = (major == Major::k ? depth : lines) / in_chunk;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const int outer = static_cast<int>(i) / along, inner = static_cast<int>(i) % along * in_chunk;
    for (int e = 0; e < in_chunk; ++e) {
      const std::size_t offset = chunks[i] - setup_.program.shared_base + static_cast<std::size_t>(e * bits / 8);
      Origin origin = of.shared[offset];
      origin.address = setup_.program.shared_base + static_cast<std::uint32_t>(offset);
      origin.way = step(origin.way, &Way::read, event.statement());
      const int line = major == Major::k ? outer : inner + e, k = major == Major::k ? inner + e : outer;
      operand.elements[static_cast<std::size_t>(line * depth + k)] = origin;
    }
  }
  return operand;
}

void Origins::product_issues(const machine::ProductEvent& event) {
  const machine::PendingProduct& pending = event.product;
  const Event& at = event.event;
  const WarpState& warp = at.state();
  const Wgmma& instruction = pending.product->instruction;
  const WgmmaForm& form = instruction.form();
  const Form& tile = *form.tile;
  const FormPlaces& all = places(tile);
  const int bits = row(tile.format(OperandName::a)).bits;
  const int rows = tile.shape.m, columns = form.shape.n;
  OriginProduct product{at, tile, {rows, tile.stored_k()}, {}};
  if (pending.product->a_in_registers) {
    const Fragment& fragment = tile.operand(OperandName::a).fragment;
    for (const ElementPlace& one : all.a)
      product.a.elements.push_back(element(find(at, warp.source_slot(at.operation(), one.reg)), one, fragment));
  } else {
    product.a = in_shared(at, a_chunks(pending, at.warp()), instruction.immediates().major_a, rows, tile.stored_k(), bits);
  }
  product.b = in_shared(at, b_chunks(pending), instruction.immediates().major_b, columns, form.shape.k, bits);
  const int metadata = (pending.product->a_in_registers ? form.a_registers() : 1) + 1;
  if (form.sparse()) product.metadata = companions(at, tile, OperandName::e, instruction.immediates().selector, metadata);
  const Fragment& d = tile.operand(OperandName::d).fragment;
  product.c.resize(static_cast<std::size_t>(rows * columns));
  product.c_zero.assign(product.c.size(), true);
  for (int t = 0; pending.accumulates && t < form.tiles(); ++t)
    for (int i = 0; i < static_cast<int>(all.d.size()); ++i) {
      const ElementPlace& one = all.d[static_cast<std::size_t>(i)];
      const Slot slot = warp.result_slot(at.operation(), t * d.registers() + one.reg);
      const auto index = static_cast<std::size_t>(i / d.columns() * columns + t * d.columns() + i % d.columns());
      product.c[index] = element(find(at, slot), one, d);
      if (!product.c[index].known()) product.c_zero[index] = is_zero(warp, slot, one.lane, one.byte, d);
    }
  const auto number = multiplies(product);
  clear_results(at, all_lanes);
  for (int t = 0; t < form.tiles(); ++t) write_results(at, d, all.d, 0, t * d.registers(), t * d.columns(), number);
}

}  // namespace warpmat::checks
