// atom and red: executed lane by lane, so that lanes with the same address observe each other.

#include <cassert>
#include <cstdint>
#include <cstring>

#include <warpmat/machine/atomic_update.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/operations.h>

namespace warpmat::machine {

using code::AtomicAccess;
using code::AtomicOperation;
using code::Operation;

namespace {

bool is_nan_f64(std::uint64_t bits) {
  return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
}

/// Calls work(a number of the access's width): a size that the compiler knows, so a copy of it is no call.
template <typename Work>
void with_width(std::uint32_t bytes, Work work) {
  if (bytes == 4) return work(std::uint32_t{});
  if (bytes == 8) return work(std::uint64_t{});
  assert(bytes == 2);
  work(std::uint16_t{});
}

/// The result of the access's arithmetic; of f32 and f64 that is a sum rounded to nearest.
std::uint64_t combined(const AtomicAccess& access, std::uint64_t a, std::uint64_t b) {
  const bool wide = access.register_bits == 64;
  const bool adds = access.operation == AtomicOperation::add && access.type->type_class == DataType::Class::floating;
  if (adds && access.type->bits >= 32) return add_floats(wide, a, b);
  return combine_numbers(access.arithmetic, access.modifiers, wide, a, b);
}

/// The sum that an atomic operation stores. In shared memory it is an add.f64 whose second source is the old value, which decides between
/// two NaNs. In global memory a NaN of f64 is stored unchanged, the operand's in preference to the memory's; add would make it quiet [H200:
/// 144 pairs each].
std::uint64_t atomic_sum(const AtomicAccess& access, bool in_shared, std::uint64_t old, std::uint64_t operand) {
  const bool wide = access.register_bits == 64;
  if (in_shared) return combined(access, operand, old);
  if (wide && is_nan_f64(operand)) return operand;
  if (wide && is_nan_f64(old)) return old;
  const bool flush = access.flush;
  const std::uint64_t sum = combined(access, flush ? flush_f32(old) : old, flush ? flush_f32(operand) : operand);
  return flush ? flush_f32(sum) : sum;
}

/// The common case: integers of 32 bits in shared memory, without an error. False for all others.
template <bool observed>
bool update_shared(WarpState& warp, const Operation& operation, const AtomicAccess& access, LaneMask mask) {
  if (access.space != Space::shared || access.arithmetic != nullptr || access.vector != 1 || access.bytes != 4) return false;
  WarpState::Offsets found;
  if (!warp.find_offsets(operation, access, WarpState::first_address(access), mask, found)) return false;
  if (observed && warp.observers().want(EventKinds::accesses | EventKinds::shared_accesses))
    warp.tell_offsets(operation, WarpState::kind_of(operation, access), mask, found);
  const bool polls = operation.results != 0 && access.result_used;
  WarpState::Addresses addresses;
  if (polls || (observed && warp.observers().want(EventKinds::synchronisation))) {
    std::uint8_t* const memory = found.memory;  // a copy, which no store of a pointer changes for all that the compiler knows
    for (std::size_t lane = 0; lane < warp_size; ++lane) addresses.host[lane] = memory + found.offset[lane];
  }
  if constexpr (observed) warp.tell_order(Synchronisation::Kind::ordered_store, mask, addresses.host.data());
  const auto* const b = warp.at<std::uint32_t>(warp.source_slot(operation, 1));
  const auto* const c = access.operation == AtomicOperation::compare_and_swap ? warp.at<std::uint32_t>(warp.source_slot(operation, 2)) : b;
  std::array<std::uint32_t, warp_size> unread;
  auto* const old = operation.results != 0 ? warp.at<std::uint32_t>(warp.result_slot(operation, 0)) : unread.data();
  if (update_shared_words(access.operation, access.type->is_signed_integer(), found.memory, found.offset.data(), b, c, mask, old))
    warp.block().make_progress();
  if (polls) warp.poll(operation, addresses, access.bytes, mask);
  return true;
}

/// atom.exch.b128 and atom.cas.b128.
void exchange_128(WarpState& warp, const Operation& operation, const AtomicAccess& access, std::uint8_t* place, int lane) {
  std::array<std::uint64_t, 2> old;
  std::memcpy(old.data(), place, 16);
  const auto read = [&](int source) {
    const auto* const halves = warp.at<std::uint64_t>(warp.source_slot(operation, source));
    return std::array<std::uint64_t, 2>{halves[lane], halves[warp_size + lane]};
  };
  std::array<std::uint64_t, 2> value = read(1);
  if (access.operation == AtomicOperation::compare_and_swap) value = old == value ? read(2) : old;
  std::memcpy(place, value.data(), 16);
  if (operation.results == 0) return;
  auto* const to = warp.at<std::uint64_t>(warp.result_slot(operation, 0));
  to[lane] = old[0];
  to[warp_size + lane] = old[1];
}

/// Finds the bytes of one lane in a buffer, as locate() does for all: locks and counters are most often one lane's. False for all others,
/// and where observers are to be told.
template <bool observed>
bool locate_one(WarpState& warp, const Operation& operation, const AtomicAccess& access, LaneMask mask, WarpState::Addresses& addresses) {
  if ((mask & (mask - 1)) != 0 || access.narrow_address || access.relative || !code::is_shared_by_clusters(access.space)) return false;
  if (observed && warp.observers().want(EventKinds::accesses)) return false;
  const auto lane = static_cast<std::size_t>(first_lane(mask));
  const std::uint64_t address = warp.at<std::uint64_t>(warp.source_slot(operation, 0))[lane] + static_cast<std::uint64_t>(access.offset);
  const std::uint32_t bytes = std::uint32_t{access.bytes} * access.vector;
  const StoredBuffer*& buffer = warp.block().last_access(operation.payload).buffer;
  if (buffer == nullptr || address - buffer->address >= buffer->bytes) buffer = find_buffer(warp.launch().memory, address);
  if (buffer == nullptr || !buffer->open() || buffer->live != nullptr || address % bytes != 0) return false;
  const std::uint64_t offset = address - buffer->address;
  if (offset >= buffer->bytes || bytes > buffer->bytes - offset) return false;
  addresses.address[lane] = address;
  addresses.host[lane] = buffer->data.get() + offset;
  return true;
}

}  // namespace

template <bool observed>
void atomic(WarpState& warp, const Operation& operation, LaneMask mask) {
  const auto& access = warp.program().of<AtomicAccess>(operation);
  if (update_shared<observed>(warp, operation, access, mask)) return;
  WarpState::Addresses addresses;
  const bool in_buffer = locate_one<observed>(warp, operation, access, mask, addresses);
  const bool in_shared = !in_buffer && warp.locate(operation, access, mask, addresses) == Space::shared;
  warp.tell_order(Synchronisation::Kind::ordered_store, mask, addresses.host.data());
  const bool wide = access.register_bits == 64;
  const auto value_of = [&](int source, int lane) -> std::uint64_t {
    return wide ? warp.at<std::uint64_t>(warp.source_slot(operation, source))[lane]
                : warp.at<std::uint32_t>(warp.source_slot(operation, source))[lane];
  };
  if (access.vector == 1 && access.bytes == 4 && access.register_bits == 32 && access.arithmetic == nullptr && !in_shared) {
    std::array<std::uint32_t, warp_size> unread;
    auto* const old = operation.results != 0 ? warp.at<std::uint32_t>(warp.result_slot(operation, 0)) : unread.data();
    const auto* const b = warp.at<std::uint32_t>(warp.source_slot(operation, 1));
    const auto* const c =
        access.operation == AtomicOperation::compare_and_swap ? warp.at<std::uint32_t>(warp.source_slot(operation, 2)) : b;
    if (update_global_words(access.operation, access.type->is_signed_integer(), addresses.host.data(), b, c, mask, old))
      warp.block().make_progress();
    if (operation.results > 0 && access.result_used) warp.poll(operation, addresses, access.bytes, mask);
    return;
  }
  bool changed = false;
  std::array<std::uint64_t, warp_size> found{};  // of a single result
  for (LaneMask left = mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    for (int e = 0; e < access.vector; ++e) {
      std::uint8_t* const place = addresses.host[static_cast<std::size_t>(lane)] + e * access.bytes;
      const std::uint64_t b = access.bytes == 16 ? 0 : value_of(1 + e, lane);
      std::uint64_t old = 0;
      if (access.bytes == 16) {
        exchange_128(warp, operation, access, place, lane);
        changed = true;
        continue;
      }
      if (access.arithmetic != nullptr) {
        with_width(access.bytes, [&](auto number) {
          std::memcpy(&number, place, sizeof number);
          old = number;
          number = static_cast<decltype(number)>(atomic_sum(access, in_shared, old, b));
          std::memcpy(place, &number, sizeof number);
        });
        changed = true;
      } else {
        const AtomicUpdate update =
            update_integer(access.operation, *access.type, place, b,
                           access.operation == AtomicOperation::compare_and_swap ? value_of(1 + access.vector + e, lane) : 0, in_shared);
        old = update.old;
        changed |= update.left != old;
      }
      if (operation.results == 1)
        found[static_cast<std::size_t>(lane)] = old;
      else if (operation.results > 1)
        warp.write_word(operation, e, lane, old);
    }
  }
  if (operation.results == 1 && access.bytes != 16) warp.write_words(operation, 0, found, mask);
  if (changed) warp.block().make_progress();
  // without a result that is read, no lane waits for the value
  if (operation.results > 0 && access.result_used) warp.poll(operation, addresses, access.bytes * access.vector, mask);
}

template void atomic<false>(WarpState& warp, const Operation& operation, LaneMask mask);
template void atomic<true>(WarpState& warp, const Operation& operation, LaneMask mask);

}  // namespace warpmat::machine
