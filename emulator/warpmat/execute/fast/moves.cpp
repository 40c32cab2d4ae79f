// ldmatrix, stmatrix and movmatrix. Compiled once for each instruction set.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include <warpmat/execute/fast/fast.h>
#include <warpmat/execute/fast/row_moves.h>
#include <warpmat/numeric/kernels_target.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/execute/fast/moves.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/execute/fast/matrix_rows-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

std::size_t move(const MovePlan&, const Form&, const Warps&) {
  return 0;
}
bool load_rows_at(const MovePlan&, const std::uint8_t*, const std::uint32_t*, std::uint32_t* const*) {
  return false;
}

#else

constexpr std::size_t row_bytes = Form::row_bytes;
constexpr std::size_t lanes_of_row = 4;  // of an 8x8 matrix of 16-bit elements

using Rows = std::array<std::uint8_t*, 32>;

/// The byte range that covers the registers r of a load or store.
class RegisterRange {
 public:
  RegisterRange(const MovePlan& plan, const Warps& warps) {
    const bool load = plan.kind == MovePlan::Kind::load;
    const ConstRegisterView& read = warps.view(OperandName::r);
    stride_ = load ? warps.written.warp_stride() : read.warp_stride();
    for (const std::uint32_t* reg : load ? ConstRegisterList(warps.written.list()) : read.list()) {
      begin_ = std::min(begin_, reinterpret_cast<std::uintptr_t>(reg));
      end_ = std::max(end_, reinterpret_cast<std::uintptr_t>(reg) + sizeof(std::uint32_t) * warp_size);
    }
  }

  /// Whether registers of warp `warp` may overlap the memory that it addresses. The order of reading and writing would then be visible.
  bool overlaps_memory(const Warps& warps, std::size_t warp) const {
    const auto memory = reinterpret_cast<std::uintptr_t>(warps.memory->shared) + warp * warps.memory->shared_stride;
    const std::uintptr_t offset = warp * stride_ * sizeof(std::uint32_t);
    return begin_ + offset < memory + warps.memory->shared_bytes && memory < end_ + offset;
  }

 private:
  std::uintptr_t begin_ = UINTPTR_MAX, end_ = 0;
  std::size_t stride_ = 0;
};

/// Finds the rows that the lanes address; returns false if an address is wrong.
bool find_rows(const MovePlan& plan, const Warps& warps, std::size_t warp, Rows& addressed) {
  const std::uint32_t* const low = warps.source(OperandName::p, 0, warp);
  const CallMemory& memory = *warps.memory;
  if (memory.shared_bytes < row_bytes) return false;
  const std::uint64_t last = memory.shared_bytes - row_bytes, base = memory.shared_base;
  const auto offset = static_cast<std::uint64_t>(memory.offset);
  std::uint64_t positions[32];
  std::uint64_t wrong = 0;
  if (memory.wide_addresses) {
    const std::uint32_t* const high = warps.source(OperandName::p, 1, warp);
    for (int lane = 0; lane < plan.address_lanes; ++lane) {
      const std::uint64_t address = (low[lane] | std::uint64_t{high[lane]} << 32) + offset;
      positions[lane] = address - base;
      wrong |= static_cast<std::uint64_t>(positions[lane] > last) | (address % row_bytes);
    }
  } else {
    for (int lane = 0; lane < plan.address_lanes; ++lane) {
      const auto address = static_cast<std::uint32_t>(low[lane] + offset);
      positions[lane] = address - base;
      wrong |= static_cast<std::uint64_t>(positions[lane] > last) | (address % row_bytes);
    }
  }
  if (wrong != 0) return false;
  std::uint8_t* const bytes = memory.shared + warp * memory.shared_stride;
  for (int lane = 0; lane < plan.row_lanes; ++lane) addressed[static_cast<std::size_t>(lane)] = bytes + positions[lane];
  return true;
}

HWY_INLINE void read_register(const std::uint32_t* reg, Row* m) {
  for (int i = 0; i < matrix_rows; ++i) m[i] = hn::BitCast(D16(), hn::LoadU(D32(), reg + i * static_cast<int>(lanes_of_row)));
}
HWY_INLINE void write_register(const Row* m, std::uint32_t* reg) {
  for (int i = 0; i < matrix_rows; ++i) hn::StoreU(hn::BitCast(D32(), m[i]), D32(), reg + i * static_cast<int>(lanes_of_row));
}

/// Loads the plan's 8x8 matrices: row i is at row_at(i), matrix m goes to register(m).
template <typename RowAt, typename RegisterOf>
HWY_INLINE void load_matrices(const MovePlan& plan, RowAt row_at, RegisterOf register_of) {
  for (int matrix = 0; matrix < plan.matrices; ++matrix) {
    Row m[matrix_rows];
    for (int i = 0; i < matrix_rows; ++i) m[i] = load_row(row_at(static_cast<std::size_t>(matrix * matrix_rows + i)));
    if (plan.transposed) transpose(m);
    write_register(m, register_of(matrix));
  }
}

bool load_rows_at(const MovePlan& plan, const std::uint8_t* memory, const std::uint32_t* offsets, std::uint32_t* const* registers) {
  load_matrices(
      plan, [&](std::size_t row) { return memory + offsets[row]; }, [&](int matrix) { return registers[matrix]; });
  return true;
}

/// `field` in each `distance` bits of 64.
constexpr std::uint64_t repeated(std::uint64_t field, int distance) {
  std::uint64_t all = 0;
  for (int at = 0; at < 64; at += distance) all |= field << at;
  return all;
}

/// Moves the upper half, of `bits` bits, of each group of 2 * bits up to bit `distance` of the group's 2 * distance.
template <int bits, int distance>
HWY_INLINE std::uint64_t halve(std::uint64_t groups) {
  constexpr std::uint64_t low = repeated((std::uint64_t{1} << bits) - 1, 2 * distance);
  return (groups & low) | (groups & low << bits) << (distance - bits);
}

/// Unpacks 16 consecutive elements of `bits` bits from each row on to a byte each, eight at a time.
template <int bits>
void unpack(const Rows& addressed, int row_count, std::uint8_t* to) {
  for (int row = 0; row < row_count; ++row)
    for (int eight = 0; eight < 2; ++eight, to += 8) {
      std::uint64_t elements;
      std::memcpy(&elements, addressed[static_cast<std::size_t>(row)] + eight * bits, sizeof elements);
      elements = halve<bits, 8>(halve<2 * bits, 16>(halve<4 * bits, 32>(elements)));
      std::memcpy(to, &elements, sizeof elements);
    }
}

/// Copies the rows of a load to `to`, with each element in a byte of its own.
void copy_elements(const MovePlan& plan, const Rows& addressed, std::uint8_t* to) {
  switch (plan.memory_bits) {
    case 4: return unpack<4>(addressed, plan.row_lanes, to);
    case 6: return unpack<6>(addressed, plan.row_lanes, to);
  }
  for (std::size_t lane = 0; lane < static_cast<std::size_t>(plan.row_lanes); ++lane)
    std::memcpy(to + lane * row_bytes, addressed[lane], row_bytes);
}

/// The bytes of `from` at eight places, the first lowest. It returns one number because a vector load after eight byte stores stalls. Each
/// byte depends on the previous ones, to keep compilers from vectorising this, which takes five times as long.
HWY_INLINE std::uint64_t eight_bytes(const std::uint8_t* from, const std::uint16_t* places) {
  std::uint64_t eight = 0;
  for (int i = 8; i-- > 0;) eight = eight << 8 | from[places[i]];
  return eight;
}

constexpr std::size_t register_bytes = warp_size * sizeof(std::uint32_t);

bool load(const MovePlan& plan, const Warps& warps, const RegisterRange& range, std::size_t warp) {
  Rows addressed;
  if (range.overlaps_memory(warps, warp) || !find_rows(plan, warps, warp, addressed)) return false;
  if (plan.table.empty()) {
    load_matrices(
        plan, [&](std::size_t row) { return addressed[row]; }, [&](int matrix) { return warps.destination(matrix, warp); });
    return true;
  }
  HWY_ALIGN std::uint8_t bytes[32 * row_bytes];
  copy_elements(plan, addressed, bytes);
  const std::uint16_t* places = plan.table.data();
  const auto registers = WarpWords(warps, warp).destination();
  for (int i = 0, count = static_cast<int>(plan.table.size() / register_bytes); i < count; ++i) {
    std::uint32_t* const reg = registers[i];
    for (int lane = 0; lane < warp_size; lane += 2, places += 8) {
      const std::uint64_t two_lanes = eight_bytes(bytes, places);
      std::memcpy(reg + lane, &two_lanes, sizeof two_lanes);
    }
  }
  return true;
}

bool store(const MovePlan& plan, const Warps& warps, const RegisterRange& range, std::size_t warp) {
  Rows addressed;
  if (range.overlaps_memory(warps, warp) || !find_rows(plan, warps, warp, addressed)) return false;
  if (plan.table.empty()) {
    for (int matrix = 0; matrix < plan.matrices; ++matrix) {
      Row m[matrix_rows];
      read_register(warps.source(OperandName::r, matrix, warp), m);
      if (plan.transposed) transpose(m);
      for (int i = 0; i < matrix_rows; ++i) store_row(m[i], addressed[static_cast<std::size_t>(matrix * matrix_rows + i)]);
    }
    return true;
  }
  const std::uint16_t* places = plan.table.data();
  const auto registers = WarpWords(warps, warp).source(OperandName::r);
  for (std::size_t lane = 0; lane < static_cast<std::size_t>(plan.row_lanes); ++lane, places += row_bytes) {
    const auto reg = static_cast<int>(lane * row_bytes / register_bytes);  // one register's bytes hold the rows of a matrix
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(registers[reg]);
    for (std::size_t half = 0; half < row_bytes; half += 8) {
      const std::uint64_t eight = eight_bytes(bytes, places + half);
      std::memcpy(addressed[lane] + half, &eight, sizeof eight);
    }
  }
  return true;
}

/// movmatrix: one register, transposed.
std::size_t exchange(const Warps& warps) {
  const ConstRegisterView& source = warps.view(OperandName::a);
  const std::uint32_t* const from = source.list()[0];
  std::uint32_t* const to = warps.written.list()[0];
  const std::size_t from_stride = source.warp_stride(), to_stride = warps.written.warp_stride();
  for (std::size_t warp = 0; warp < warps.count; ++warp) {
    Row m[matrix_rows];
    read_register(from + static_cast<std::ptrdiff_t>(warp * from_stride), m);
    transpose(m);
    write_register(m, to + static_cast<std::ptrdiff_t>(warp * to_stride));
  }
  return warps.count;
}

std::size_t move(const MovePlan& plan, const Form&, const Warps& warps) {
  if (plan.kind == MovePlan::Kind::move) return exchange(warps);
  const RegisterRange range(plan, warps);
  return execute_each(warps, [&](std::size_t warp) {
    return plan.kind == MovePlan::Kind::load ? load(plan, warps, range, warp) : store(plan, warps, range, warp);
  });
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat {

HWY_EXPORT(move);
HWY_EXPORT(load_rows_at);

std::size_t fast_move(const MovePlan& plan, const Form& form, const Warps& warps) {
  return WARPMAT_KERNEL(move)(plan, form, warps);
}

bool fast_load_rows(const MovePlan& plan, const std::uint8_t* memory, const std::uint32_t* offsets, std::uint32_t* const* registers) {
  return WARPMAT_KERNEL(load_rows_at)(plan, memory, offsets, registers);
}

}  // namespace warpmat
#endif
