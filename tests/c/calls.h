#pragma once

// Calls of the C interface on what WarpArrays holds.

#include <warpmat/c.h>

#include "execute/warp_arrays.h"
#include "test.h"

template <typename Struct>
Struct sized() {
  Struct out{};
  out.size = sizeof out;
  return out;
}

inline const warpmat_instruction* found(const char* opcode, const char* target) {
  auto error = sized<warpmat_error>();
  const warpmat_instruction* instruction = warpmat_find(opcode, target, &error);
  INFO(error.message);
  REQUIRE(instruction != nullptr);
  return instruction;
}

/// A form's operands for C where WarpArrays has them.
inline std::vector<warpmat_registers> registers_of(const warpmat::Form& form, WarpArrays& warps) {
  const warpmat::Batch batch = warps.batch();
  std::vector<warpmat_registers> out;
  for (const warpmat::Operand& operand : form.operands) {
    const auto stride =
        static_cast<std::ptrdiff_t>(operand.written ? batch.destination.warp_stride() : batch.source(operand.name).warp_stride());
    out.push_back(WARPMAT_REGISTER_MAJOR(warps.word(operand.name, 0, 0), stride));
  }
  return out;
}

inline warpmat_memory memory_of(WarpArrays& warps) {
  const warpmat::Batch batch = warps.batch();
  auto memory = sized<warpmat_memory>();
  memory.bytes = batch.shared;
  memory.byte_count = batch.shared_bytes;
  memory.warp_stride = static_cast<std::ptrdiff_t>(batch.shared_stride);
  memory.base = batch.shared_base;
  return memory;
}

inline warpmat_call call_of(const std::vector<warpmat_registers>& registers, const warpmat_memory& memory) {
  auto call = sized<warpmat_call>();
  call.operands = registers.data();
  call.operand_count = registers.size();
  call.memory = &memory;
  return call;
}
