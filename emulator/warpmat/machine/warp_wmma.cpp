// wmma.load and wmma.store: each lane moves the elements of its registers, one run of bytes at a time (execute/operands/matrix_storage.h).
// All addresses of a statement are checked before any byte is accessed.

#include <array>
#include <cstring>

#include <fmt/core.h>

#include <warpmat/machine/operations.h>
#include <warpmat/tables/capacity.h>

namespace warpmat::machine {

using code::Operation;
using Addresses = WarpState::Addresses;

namespace {

constexpr std::size_t most_runs = 4 * capacity::move_words;  // a run has a byte of each lane at least

/// Address and stride, which must be the same in all lanes; the ISA leaves other cases undefined.
MatrixStorage matrix_storage(WarpState& warp, const Operation& operation, const code::Matrix& matrix) {
  const Form& form = matrix.instruction.form();
  const auto uniform = [&](auto* values, const char* what) {
    for (int lane = 1; lane < warp_size; ++lane)
      if (values[lane] != values[0])
        warp.trap(lane, std::nullopt,
                  fmt::format("the {} of {} is {:#x}, and {:#x} in lane 0; all lanes must give the same", what, form.opcode, values[lane],
                              values[0]));
    return values[0];
  };
  MatrixStorage storage;
  const code::Slot slot = warp.source_slot(operation, 0);
  storage.address =
      matrix.narrow_address ? uniform(warp.at<std::uint32_t>(slot), "address") : uniform(warp.at<std::uint64_t>(slot), "address");
  storage.address += static_cast<std::uint64_t>(matrix.offset);
  if (matrix.narrow_address) storage.address = static_cast<std::uint32_t>(storage.address);
  const int registers = form.operands.front().written ? 0 : form.operand(OperandName::r).registers();
  const bool has_stride = operation.sources > 1 + registers;
  storage.stride = has_stride ? uniform(warp.at<std::uint32_t>(warp.source_slot(operation, 1 + registers)), "stride")
                              : static_cast<std::uint32_t>(form.leading_dimension());
  if (const auto wrong = misaligned(form, storage)) warp.trap(0, storage.address, *wrong, Trap::Kind::misaligned);
  return storage;
}

/// The bytes of one run in every lane.
void locate_run(WarpState& warp, const Operation& operation, const code::Matrix& matrix, const MatrixStorage& storage, const MatrixRun& run,
                bool writes, Addresses& out) {
  for (int lane = 0; lane < warp_size; ++lane)
    out.address[static_cast<std::size_t>(lane)] = address_of(matrix.instruction.form(), storage, run, lane);
  warp.locate(operation, matrix.space, matrix.runs.bytes, all_lanes, !writes, writes, out, false, run.reg);
}

void load_matrix(WarpState& warp, const Operation& operation, const code::Matrix& matrix, const MatrixStorage& storage) {
  const std::uint32_t bytes = matrix.runs.bytes;
  std::array<Addresses, most_runs> from;
  for (std::size_t i = 0; i < matrix.runs.runs.size(); ++i)
    locate_run(warp, operation, matrix, storage, matrix.runs.runs[i], false, from[i]);
  for (std::size_t i = 0; i < matrix.runs.runs.size(); ++i) {
    const MatrixRun& run = matrix.runs.runs[i];
    const code::Slot slot = warp.result_slot(operation, run.reg);
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      std::uint8_t* const to = bytes == 8 ? reinterpret_cast<std::uint8_t*>(warp.at<std::uint64_t>(slot) + lane)
                                          : reinterpret_cast<std::uint8_t*>(warp.at<std::uint32_t>(slot) + lane);
      std::memcpy(to + run.bit / 8, from[i].host[lane], bytes);
    }
  }
}

void store_matrix(WarpState& warp, const Operation& operation, const code::Matrix& matrix, const MatrixStorage& storage) {
  const std::uint32_t bytes = matrix.runs.bytes;
  std::array<Addresses, most_runs> to;
  for (std::size_t i = 0; i < matrix.runs.runs.size(); ++i) locate_run(warp, operation, matrix, storage, matrix.runs.runs[i], true, to[i]);
  for (std::size_t i = 0; i < matrix.runs.runs.size(); ++i) {
    const MatrixRun& run = matrix.runs.runs[i];
    const code::Slot slot = warp.source_slot(operation, 1 + run.reg);
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      const std::uint8_t* const from = bytes == 8 ? reinterpret_cast<const std::uint8_t*>(warp.at<std::uint64_t>(slot) + lane)
                                                  : reinterpret_cast<const std::uint8_t*>(warp.at<std::uint32_t>(slot) + lane);
      std::memcpy(to[i].host[lane], from + run.bit / 8, bytes);
    }
  }
}

}  // namespace

void move_matrix(WarpState& warp, const Operation& operation, const code::Matrix& matrix) {
  const MatrixStorage storage = matrix_storage(warp, operation, matrix);
  if (matrix.instruction.form().mnemonic == Mnemonic::wmma_load)
    load_matrix(warp, operation, matrix, storage);
  else
    store_matrix(warp, operation, matrix, storage);
}

}  // namespace warpmat::machine
