// multimem: memory of several GPUs at one address of a multicast object.

#include <array>
#include <cstdint>
#include <cstring>

#include <fmt/core.h>

#include <warpmat/machine/atomic_update.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/each_lane.h>
#include <warpmat/machine/operations.h>
#include <warpmat/machine/stored_buffer.h>
#include <warpmat/scalar/half.h>

namespace warpmat::machine {

using code::AtomicOperation;
using code::MultimemAccess;
using code::Operation;

namespace {

/// The bytes of one lane on each GPU.
using Copies = std::vector<std::uint8_t*>;

/// Traps unless the lane's address is a multicast object's that the GPU may access.
Copies find_copies(const WarpState& warp, int lane, std::uint64_t address, std::uint64_t bytes) {
  const StoredBuffer* const buffer = find_buffer(warp.launch().memory, address);
  const auto fail = [&](std::string_view why, Trap::Kind kind) {
    const Trap::Note place{fmt::format("address {:#x}: {}", address, warp.launch().memory.describe(address))};
    warp.trap(lane, address, {fmt::format("multimem of {} bytes: {}", bytes, why), {place}}, kind);
  };
  if (address % bytes != 0) fail(fmt::format("the address is not a multiple of {}", bytes), Trap::Kind::misaligned);
  if (buffer == nullptr || buffer->copies.empty()) fail("the address is no multicast object's", Trap::Kind::out_of_range);
  if (bytes > buffer->end() - address) fail("across the end of the multicast object", Trap::Kind::out_of_range);
  if (!buffer->multimem)
    fail(fmt::format("GPU {} has no access: cuMemSetAccess gives it", gpu_of(warp.launch().memory)), Trap::Kind::out_of_range);
  Copies copies = buffer->copies;
  for (std::uint8_t*& copy : copies) copy += address - buffer->address;
  return copies;
}

std::uint64_t read(const std::uint8_t* at, std::size_t bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, at, bytes);
  return number;
}

/// The sum of halves, of which the number of a GPU has one or two: each is added in f32, and rounded once.
template <typename H>
std::uint64_t sum_of_halves(const Copies& copies, std::size_t offset, std::size_t bytes) {
  std::uint64_t all = 0;
  for (std::size_t at = 0; at < bytes; at += 2) {
    float sum = 0;
    for (std::size_t i = 0; i < copies.size(); ++i) {
      const float next = scalar::widen_code<H>(static_cast<std::uint32_t>(read(copies[i] + offset + at, 2)));
      sum = i == 0 ? next : sum + next;
    }
    all |= std::uint64_t{scalar::narrow_code<H>(sum) & 0xffff} << 8 * at;
  }
  return all;
}

std::uint64_t combine(const MultimemAccess& access, std::uint64_t a, std::uint64_t b) {
  if (access.arithmetic != nullptr) return combine_numbers(access.arithmetic, access.modifiers, access.register_bits == 64, a, b);
  std::array<std::uint8_t, 8> place{};
  std::memcpy(place.data(), &a, sizeof a);
  return update_integer(access.operation, *access.type, place.data(), b, 0, true).left;
}

/// multimem.ld_reduce of one element: in the order in which the GPUs' memory was bound.
std::uint64_t reduced(const MultimemAccess& access, bool wide_sums, const Copies& copies, std::size_t offset) {
  if (wide_sums)
    return access.type->name.starts_with("bf16") ? sum_of_halves<scalar::Bf16>(copies, offset, access.bytes)
                                                 : sum_of_halves<scalar::F16>(copies, offset, access.bytes);
  std::uint64_t result = read(copies.front() + offset, access.bytes);
  for (std::size_t i = 1; i < copies.size(); ++i) result = combine(access, result, read(copies[i] + offset, access.bytes));
  return result;
}

/// multimem.st and multimem.red of one element. Those of integers are atomic, as blocks run at once.
void update(const MultimemAccess& access, const Copies& copies, std::size_t offset, std::uint64_t operand) {
  for (std::uint8_t* const copy : copies) {
    std::uint8_t* const place = copy + offset;
    if (access.arithmetic == nullptr && access.bytes >= 4 && access.operation != AtomicOperation::exchange) {
      static_cast<void>(update_integer(access.operation, *access.type, place, operand, 0, false));
      continue;
    }
    const std::uint64_t left =
        access.operation == AtomicOperation::exchange ? operand : combine(access, read(place, access.bytes), operand);
    std::memcpy(place, &left, access.bytes);
  }
}

}  // namespace

void multimem(WarpState& warp, const Operation& operation, LaneMask mask) {
  const auto& access = warp.program().of<MultimemAccess>(operation);
  WarpState::Addresses addresses;
  warp.find_addresses(operation, WarpState::first_address(access), addresses);
  std::array<Copies, warp_size> copies;
  for_each_lane(mask, [&](std::size_t lane) {
    copies[lane] = find_copies(warp, static_cast<int>(lane), addresses.address[lane], std::uint64_t{access.bytes} * access.vector);
    addresses.host[lane] = copies[lane].front();
  });
  warp.tell_order(Synchronisation::Kind::ordered_store, mask, addresses.host.data());
  const bool wide = access.register_bits == 64, wide_sums = warp.program().has(operation, ".acc::f32");
  for_each_lane(mask, [&](std::size_t lane) {
    for (int e = 0; e < access.vector; ++e) {
      const auto offset = static_cast<std::size_t>(e) * access.bytes;
      if (operation.results != 0) {
        const std::uint64_t value = reduced(access, wide_sums, copies[lane], offset);
        const auto slot = warp.result_slot(operation, e);
        wide ? void(warp.at<std::uint64_t>(slot)[lane] = value)
             : void(warp.at<std::uint32_t>(slot)[lane] = static_cast<std::uint32_t>(value));
        continue;
      }
      const auto slot = warp.source_slot(operation, 1 + e);
      update(access, copies[lane], offset, wide ? warp.at<std::uint64_t>(slot)[lane] : warp.at<std::uint32_t>(slot)[lane]);
    }
  });
  if (operation.results == 0)
    warp.block().make_progress();
  else
    warp.poll(operation, addresses, std::uint32_t{access.bytes} * access.vector, mask);
}

}  // namespace warpmat::machine
