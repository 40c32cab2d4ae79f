#include <warpmat/machine/tensor_work.h>

#include <cstring>

#include <fmt/core.h>

namespace warpmat::machine {

using code::TensorStatement;
using WorkKind = PendingTensorWork::Kind;

namespace {

constexpr std::uint32_t chunk_bytes = 16;  // of shared memory, contiguous in every layout

/// Calls visit(address, row, byte) for the 16 bytes of a copy's source, line by line.
template <typename Visit>
void for_each_chunk(const PendingTensorWork& work, Visit visit) {
  for (int row = 0; row < work.shape->rows; ++row)
    for (std::uint32_t byte = 0; byte < static_cast<std::uint32_t>(work.shape->columns) * 4; byte += chunk_bytes)
      visit(work.source.address(Major::k, static_cast<std::uint32_t>(row), byte), row, byte);
}

/// The bytes of a copy's source as they go to tensor memory.
ProductBytes copied_bytes(const PendingTensorWork& work, const SharedMemory& memory) {
  ProductBytes bytes;
  for_each_chunk(work, [&](std::uint32_t address, int, std::uint32_t) {
    const std::size_t offset = std::size_t{address} - memory.base();
    if (address < memory.base() || offset > memory.size() || chunk_bytes > memory.size() - offset)
      throw Trap(Trap::Kind::out_of_range, std::nullopt, 0, address,
                 fmt::format("the matrix that the descriptor names leaves shared memory, which has {} bytes from {:#x} on", memory.size(),
                             memory.base()));
    const std::uint8_t* const chunk = memory.bytes().data() + offset;
    if (work.unpacked_bits == 0) {
      bytes.insert(bytes.end(), chunk, chunk + chunk_bytes);
    } else {
      const auto wide = unpacked(chunk, work.unpacked_bits);
      bytes.insert(bytes.end(), wide.begin(), wide.end());
    }
  });
  return bytes;
}

/// The address of scale factors and of metadata: CuTe puts the id of scale factors into bits 30 and 31, which name no lane.
TensorCell scale_cell(std::uint32_t address) {
  return tensor_place(address & 0x3fffffff);
}

[[noreturn]] void refuse(const std::string& reason) {
  throw Trap(Trap::Kind::misuse, std::nullopt, 0, std::nullopt, reason);
}

/// The descriptor of `operand`.
TensorDescriptor decoded_descriptor(std::uint64_t bits, const char* operand, bool absolute = false) {
  const DecodedTensorDescriptor decoded = decode_tensor_descriptor(bits, absolute);
  if (decoded.problem) refuse(fmt::format("the descriptor of {} {}", operand, *decoded.problem));
  return decoded.descriptor;
}

/// Where the operands of a decoded product are in tensor memory.
class ProductPlaces {
 public:
  ProductPlaces(const CheckColumns& check, PendingTensorWork& work) : check_(check), work_(work), product_(work.product) {}

  void place(const TensorStatement& statement, const TensorOperands& operands) {
    work_.d = placed(tensor_place(operands.d), product_.d_columns(), "D", true);
    work_.writes.push_back(region_of(*product_.path, work_.d, product_.d_columns()));
    if (statement.a_in_tensor_memory) place_a(tensor_place(static_cast<std::uint32_t>(operands.a)));
    if (product_.sparse()) place_metadata(tensor_place(operands.metadata));
    if (statement.variant.scale_vector == 0) return;
    work_.scale_a = place_scales(operands.scale_a, OperandName::scale_a, "scale_A");
    work_.scale_b = place_scales(operands.scale_b, OperandName::scale_b, "scale_B");
  }

 private:
  TensorCell placed(TensorCell at, int columns, const char* what, bool in_rows) const {
    const bool halves = in_rows && product_.path->halves;
    if (at.lane != 0 && (!halves || at.lane != 16))
      refuse(
          fmt::format("{} begins in lane {}; with M = {} it begins in lane {}", what, at.lane, product_.shape.m, halves ? "0 or 16" : "0"));
    check_(at, columns, what);
    return at;
  }

  void must_be_beside_d(TensorCell at, const char* what) const {
    if (at.lane != work_.d.lane)
      refuse(fmt::format("{} begins in lane {} and D in lane {}; both must begin in the same", what, at.lane, work_.d.lane));
  }

  void place_a(TensorCell at) {
    if (product_.major_a == Major::mn) refuse("A in tensor memory is K-major; bit 15 of the instruction descriptor is 1");
    work_.a_place = placed(at, a_columns(product_), "A", true);
    must_be_beside_d(at, "A");
    work_.reads.push_back(region_of(*product_.path, at, a_columns(product_)));
  }

  void place_metadata(TensorCell at) {
    const TensorCell named = metadata_cell(product_, at);
    work_.metadata = at;
    placed(named, metadata_columns(product_), "the metadata", true);
    must_be_beside_d(named, "the metadata");
    work_.reads.push_back(region_of(*product_.path, named, metadata_columns(product_)));
  }

  TensorCell place_scales(std::uint32_t address, OperandName operand, const char* what) {
    const int columns = scale_columns(product_, operand);
    const TensorCell at = placed(scale_cell(address), columns, what, false);
    work_.reads.push_back(all_lanes_of(at.column, columns));
    return at;
  }

  const CheckColumns& check_;
  PendingTensorWork& work_;
  const TensorProduct& product_;
};

/// The part of a product in block `number` of its blocks. Each has all of its own rows, and all columns of B.
void multiply_in_block(const PendingTensorWork& work, std::size_t number, TensorMemory& memory, const ExecutionOptions& options) {
  const TensorProduct& product = work.product;
  ProductOperands operands{.a = work.a_place ? warpmat::read_a(product, *work.a_place, memory, work.shifts_a) : work.shared.a[number],
                           .b = work.shared.b[0],
                           .metadata = {},
                           .scales_a = {},
                           .scales_b = {},
                           .accumulates = work.accumulates,
                           .scale_d = work.scale_d};
  operands.b.insert(operands.b.end(), work.shared.b[1].begin(), work.shared.b[1].end());
  clear_columns(product, work.zero, operands.b);
  if (product.sparse()) operands.metadata = read_metadata(product, work.metadata, memory);
  if (product.scale_vector != 0) {
    operands.scales_a = read_scales(product, OperandName::scale_a, work.scale_a, memory);
    operands.scales_b = read_scales(product, OperandName::scale_b, work.scale_b, memory);
  }
  multiply(product, operands, memory, work.d, work.disabled[number], options);
}

/// A copy or a shift in block `number` of its blocks. A shift gives every lane of the warp but the last the words of the next one (the
/// ISA's text leaves the direction open; assumed: .4x256b then writes the last lane anew).
void move_in_block(const PendingTensorWork& work, std::size_t number, TensorMemory& memory) {
  if (work.kind == WorkKind::shift) {
    for (int lane = work.to.lane; lane + 1 < work.to.lane + tensor_quarter; ++lane)
      for (int column = work.to.column; column < work.to.column + shifted_columns; ++column)
        memory.word(lane, column) = memory.word(lane + 1, column);
    return;
  }
  const std::uint8_t* from = work.shared.bytes[number].data();
  for (int row = 0; row < work.shape->rows; ++row)
    for (int column = 0; column < work.shape->columns; ++column, from += 4)
      for (int copy = 0; copy < work.shape->copy_count(); ++copy)
        std::memcpy(&memory.word(work.to.lane + work.shape->lane(row, copy), work.to.column + column), from, 4);
}

}  // namespace

void place_product(const TensorStatement& statement, const TensorOperands& operands, const CheckColumns& check, PendingTensorWork& work) {
  work.kind = WorkKind::product;
  const DecodedTensorProduct decoded = decode_tensor_product(*statement.kind, statement.variant, operands.instruction);
  if (decoded.problem) refuse(*decoded.problem);
  work.product = decoded.product;
  work.scale_d = statement.scale_d;
  work.shifts_a = statement.shifts_a;
  if (work.shifts_a && work.product.path->rows != tensor_lanes)
    refuse(fmt::format(".ashift goes with M = {}; M is {}", tensor_lanes * work.group, work.product.shape.m));
  ProductPlaces(check, work).place(statement, operands);
}

void decode_matrices(const TensorStatement& statement, const TensorOperands& operands, PendingTensorWork& work) {
  const TensorProduct& product = work.product;
  if (!work.a_place) work.a_descriptor = decoded_descriptor(operands.a, "operand a", product.k96());
  work.b_descriptor = decoded_descriptor(operands.b, "operand b", product.k96());
  if (!statement.masks_columns) return;
  work.zero = decode_zero_columns(operands.mask, product.shape.m, product.shape.n);
  if (work.zero.shift > product.max_shift)
    refuse(fmt::format("the zero-column mask shifts B by {} columns; bits 30 and 31 of the instruction descriptor allow {}",
                       work.zero.shift, product.max_shift));
}

void place_copy(const TensorStatement& statement, std::uint32_t to, const CheckColumns& check, PendingTensorWork& work) {
  work.kind = WorkKind::copy;
  work.shape = statement.shape;
  work.unpacked_bits = statement.unpacked_bits;
  work.to = tensor_place(to);
  const int most = work.shape->rows == 4 ? tensor_quarter - 1 : 0;  // 4x256b writes one lane of each quarter
  if (work.to.lane > most)
    refuse(fmt::format("the copy begins in lane {}; .{} begins in lane {}", work.to.lane, work.shape->name, most == 0 ? "0" : "0 to 31"));
  check(work.to, work.shape->columns, "the copy");
  TensorRegion region{{}, work.to.column, work.shape->columns};
  for (int row = 0; row < work.shape->rows; ++row)
    for (int copy = 0; copy < work.shape->copy_count(); ++copy) {
      const int lane = work.to.lane + work.shape->lane(row, copy);
      region.lanes[static_cast<std::size_t>(lane / tensor_quarter)] |= std::uint32_t{1} << lane % tensor_quarter;
    }
  work.writes.push_back(region);
}

void decode_source(std::uint64_t descriptor, PendingTensorWork& work) {
  work.source = decoded_descriptor(descriptor, "the copy");
}

void place_shift(std::uint32_t address, const CheckColumns& check, PendingTensorWork& work) {
  work.kind = WorkKind::shift;
  work.to = tensor_place(address);
  if (work.to.lane % tensor_quarter != 0 || work.to.lane >= tensor_lanes)
    refuse(fmt::format("the lane of the address is 0, 32, 64 or 96; it is {}", work.to.lane));
  check(work.to, shifted_columns, "the shift");
  TensorRegion region{{}, work.to.column, shifted_columns};
  region.lanes[static_cast<std::size_t>(work.to.lane / tensor_quarter)] = all_lanes;
  work.writes.push_back(region);
}

SharedOperands shared_operands(const PendingTensorWork& work, std::span<const SharedMemory> blocks) {
  SharedOperands operands;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (work.kind == WorkKind::copy) {
      operands.bytes[i] = copied_bytes(work, blocks[i]);
      continue;
    }
    if (!work.a_place) operands.a[i] = warpmat::read_a(work.product, work.a_descriptor, blocks[i]);
    operands.b[i] = warpmat::read_b(work.product, work.b_descriptor, blocks[i], work.zero.shift);
  }
  return operands;
}

std::vector<MemoryAccess> shared_accesses(const PendingTensorWork& work) {
  std::vector<MemoryAccess> all;
  if (work.kind == WorkKind::copy)
    for_each_chunk(work, [&](std::uint32_t address, int row, std::uint32_t byte) {
      all.push_back(
          {.bytes = chunk_bytes, .address = address, .lane = -1, .operand = OperandName::p, .element = {row, static_cast<int>(byte), 0}});
    });
  if (work.kind != WorkKind::product) return all;
  if (!work.a_place) all = a_accesses(work.product, work.a_descriptor);
  const std::vector<MemoryAccess> of_b = b_accesses(work.product, work.b_descriptor, work.zero.shift);
  all.insert(all.end(), of_b.begin(), of_b.end());
  return all;
}

void perform(const PendingTensorWork& work, std::size_t number, TensorMemory& memory, const ExecutionOptions& options) {
  if (work.kind == WorkKind::product)
    multiply_in_block(work, number, memory, options);
  else
    move_in_block(work, number, memory);
}

}  // namespace warpmat::machine
