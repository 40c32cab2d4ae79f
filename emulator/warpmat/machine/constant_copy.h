#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <warpmat/ir/code.h>
#include <warpmat/machine/spare_storage.h>
#include <warpmat/warp.h>

namespace warpmat::machine {

/// An aligned copy of a program's constants with the variables' addresses and the parameters inserted.
class ConstantCopy {
 public:
  /// `variables`: the address of each variable, indexed by Relocation::variable. `spare` is where its memory comes from; null: its own.
  ConstantCopy(const code::Program& program, const std::vector<std::uint64_t>& variables, std::span<const std::uint8_t> parameters,
               SpareStorage* spare = nullptr)
      : spare_(spare), piece_(SpareStorage::take_from(spare, program.constants.size() * 8 + code::register_alignment)) {
    auto address = reinterpret_cast<std::uintptr_t>(piece_.bytes.get());
    address = (address + code::register_alignment - 1) / code::register_alignment * code::register_alignment;
    begin_ = reinterpret_cast<std::uint8_t*>(address);
    if (!program.constants.empty()) std::memcpy(begin_, program.constants.data(), program.constants.size() * 8);
    for (const code::Relocation& relocation : program.constant_relocations) {
      const std::uint64_t value = variables[static_cast<std::size_t>(relocation.variable)] + relocation.addend;
      for (int lane = 0; lane < warp_size; ++lane)
        std::memcpy(begin_ + relocation.at + static_cast<std::size_t>(lane * relocation.bytes), &value,
                    static_cast<std::size_t>(relocation.bytes));
    }
    for (const code::ParameterRow& row : program.parameter_rows) {
      std::uint64_t value = 0;
      std::memcpy(&value, parameters.data() + row.offset, row.bytes);
      if (row.bytes == 4) value |= value << 32;
      std::fill_n(reinterpret_cast<std::uint64_t*>(begin_ + row.at), warp_size * row.bytes / 8, value);
    }
  }
  ~ConstantCopy() {
    if (spare_ != nullptr) spare_->give(std::move(piece_));
  }
  ConstantCopy(const ConstantCopy&) = delete;
  ConstantCopy& operator=(const ConstantCopy&) = delete;

  const std::uint8_t* begin() const { return begin_; }

 private:
  SpareStorage* spare_;
  SpareStorage::Piece piece_;
  std::uint8_t* begin_;
};

}  // namespace warpmat::machine
