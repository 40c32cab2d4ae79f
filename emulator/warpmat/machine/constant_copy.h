#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <warpmat/ir/address_windows.h>
#include <warpmat/ir/code.h>
#include <warpmat/machine/spare_storage.h>
#include <warpmat/warp.h>

namespace warpmat::machine {

/// Aligned copies of a program's constants with the variables' addresses and the parameters inserted.
class ConstantCopy {
 public:
  /// `variables`: the address of each variable, indexed by Relocation::variable. `spare` is where its memory comes from; null: its own.
  /// `ranks`: of the blocks of a cluster, each of which has constants of its own if one of these is an address in its shared memory.
  ConstantCopy(const code::Program& program, const std::vector<std::uint64_t>& variables, std::span<const std::uint8_t> parameters,
               std::size_t ranks = 1, SpareStorage* spare = nullptr)
      : spare_(spare),
        ranks_(ranks),
        of_rank_(ranks == 1 || program.own_addresses.empty() ? 0 : aligned(program.constants.size() * 8)),
        piece_(SpareStorage::take_from(spare, program.constants.size() * 8 + (ranks - 1) * of_rank_ + code::register_alignment)) {
    begin_ = reinterpret_cast<std::uint8_t*>(aligned(reinterpret_cast<std::uintptr_t>(piece_.bytes.get())));
    if (!program.constants.empty()) std::memcpy(begin_, program.constants.data(), program.constants.size() * 8);
    insert(program, variables, parameters);
  }
  ~ConstantCopy() {
    if (spare_ != nullptr) spare_->give(std::move(piece_));
  }
  ConstantCopy(const ConstantCopy&) = delete;
  ConstantCopy& operator=(const ConstantCopy&) = delete;

  /// Takes others of the same program.
  void insert(const code::Program& program, const std::vector<std::uint64_t>& variables, std::span<const std::uint8_t> parameters) {
    for (const code::Relocation& relocation : program.constant_relocations) {
      const std::uint64_t value = variables[static_cast<std::size_t>(relocation.variable)] + relocation.addend;
      for (int lane = 0; lane < warp_size; ++lane)
        std::memcpy(begin_ + relocation.at + static_cast<std::size_t>(lane * relocation.bytes), &value,
                    static_cast<std::size_t>(relocation.bytes));
    }
    for (const code::ParameterRow& row : program.parameter_rows) {
      std::uint64_t value = 0;
      std::memcpy(&value, parameters.data() + row.offset, row.bytes);
      if (row.sign_extend)
        value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << (64 - 8 * row.bytes)) >> (64 - 8 * row.bytes));
      if (row.bits == 16) value &= 0xffff;
      if (row.bits <= 32) value = value << 32 | (value & 0xffffffff);
      std::fill_n(reinterpret_cast<std::uint64_t*>(begin_ + row.at), warp_size * (row.bits <= 32 ? 4 : 8) / 8, value);
    }
    for (std::size_t rank = 1; of_rank_ != 0 && rank < ranks_; ++rank) {
      std::uint8_t* const own = begin_ + rank * of_rank_;
      std::memcpy(own, begin_, program.constants.size() * 8);
      const auto add_rank = [&](auto* row) {
        for (int lane = 0; lane < warp_size; ++lane) row[lane] += code::block_window_start(static_cast<int>(rank));
      };
      for (const code::OwnAddress& each : program.own_addresses)
        each.wide ? add_rank(reinterpret_cast<std::uint64_t*>(own + each.at)) : add_rank(reinterpret_cast<std::uint32_t*>(own + each.at));
    }
  }

  const std::uint8_t* begin() const { return begin_; }
  /// From the constants of one rank to those of the next.
  std::size_t of_rank() const { return of_rank_; }

 private:
  static constexpr std::size_t aligned(std::size_t bytes) {
    return (bytes + code::register_alignment - 1) / code::register_alignment * code::register_alignment;
  }

  SpareStorage* spare_;
  std::size_t ranks_, of_rank_;
  SpareStorage::Piece piece_;
  std::uint8_t* begin_;
};

}  // namespace warpmat::machine
